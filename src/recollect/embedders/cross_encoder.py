"""Local cross-encoders for the stage `rerank`: a query and texts in, one score a text out, higher is better.

A model is one that fastembed knows by name, fetched once and with consent, or a folder that holds one.
"""

import contextlib
import math
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from recollect.core.errors import EmbedderError
from recollect.embedders.consent import ModelCard, describe_named, open_named, require_fastembed, shorten
from recollect.embedders.folder import identify, megabytes
from recollect.embedders.naming import parse_model

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

DEFAULT_MODEL = "Xenova/ms-marco-MiniLM-L-6-v2"
BATCH = 32


class Runner(Protocol):
    """What is asked of fastembed's `TextCrossEncoder`."""

    def rerank(self, query: str, documents: list[str], batch_size: int) -> Iterable[float]: ...


class CrossEncoder:
    def __init__(self, name: str, runner: Runner) -> None:
        self.name: Final = name
        self._runner = runner

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score each text against the query, in the order given."""
        # A batch is padded to its longest text, so that texts of about one length belong together.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]), reverse=True)
        try:
            made = [float(score) for score in self._runner.rerank(query, [texts[place] for place in order], BATCH)]
        except Exception as error:
            # The runtime's errors are not the project's own.
            raise EmbedderError(
                f"{self.name} could not score: {shorten(error)}. See whether it is a cross-encoder."
            ) from error
        if len(made) != len(texts) or not all(map(math.isfinite, made)):
            raise EmbedderError(f"{self.name} did not give one number a text: see whether it is a cross-encoder.")
        scores = [0.0] * len(texts)
        for place, score in zip(order, made, strict=True):
            scores[place] = score
        return scores


class LazyCrossEncoder:
    """A cross-encoder that is opened when it is first asked: most commands never do, and opening takes a second."""

    def __init__(self, model: str, models: str) -> None:
        self._model = model
        self._models = models
        self._opening = threading.Lock()
        self._opened: CrossEncoder | None = None

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        with self._opening:
            self._opened = self._opened or open_cross_encoder(self._model, self._models)
        return self._opened.score(query, texts)


def describe_cross_encoder(model: str, models: str) -> ModelCard:
    """Say what a cross-encoder weighs and allows, and whether it is here; nothing is fetched."""
    named = parse_model(model)
    if named.provider == "folder":
        named = identify(named, pools=False)
        return ModelCard(str(named), megabytes(named.name), "see its own page", None, is_here=True)
    return describe_named(_text_cross_encoder(), named.name, models)


def open_cross_encoder(
    model: str, models: str, *, threads: int | None = None, allow_download: bool = False
) -> CrossEncoder:
    """Open a cross-encoder by name or folder; `models` is the folder that fetched ones are kept in."""
    named = parse_model(model)
    if named.provider == "folder":
        return _open_folder(model, threads)
    kind = _text_cross_encoder()
    card = describe_named(kind, named.name, models)
    consent = "" if allow_download else "allow that it is fetched, or name a folder that holds one."
    return CrossEncoder(card.model, open_named(kind, card, models, threads, consent))


def _open_folder(model: str, threads: int | None) -> CrossEncoder:
    kind = _text_cross_encoder()
    from fastembed.common.model_description import ModelSource

    named = identify(parse_model(model), pools=False)
    # fastembed looks models up by name and never forgets one; the same content may as well have the same name.
    registered = f"recollect/{named.digest}"
    with contextlib.suppress(ValueError):
        kind.add_custom_model(model=registered, sources=ModelSource(hf=registered), model_file="model.onnx")
    try:
        runner = kind(registered, cache_dir=named.name, threads=threads, specific_model_path=named.name)
    except Exception as error:
        raise EmbedderError(
            f"The cross-encoder in {named.name} could not be opened: {shorten(error)}. Export it as ONNX again."
        ) from error
    return CrossEncoder(str(named), runner)


def _text_cross_encoder() -> "type[TextCrossEncoder]":
    require_fastembed()
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return TextCrossEncoder
