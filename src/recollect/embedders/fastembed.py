"""Local models: text in, vectors out, by ONNX Runtime in this process. Nothing leaves the machine.

A model is one that fastembed knows by name, fetched once and with consent, or a folder that holds one.
"""

import contextlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from recollect.core.errors import EmbedderError
from recollect.core.vectors import Vector
from recollect.embedders.consent import ModelCard, describe_named, open_named, require_fastembed, shorten
from recollect.embedders.folder import identify, megabytes, pooling_of
from recollect.embedders.naming import ModelName, parse_model

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from numpy.typing import NDArray

# Large enough to keep the cores busy, small enough that a batch of the longest memories needs no 100 MB.
BATCH = 32
# The prefix that the model's authors give for short queries to long passages. The small one does as well without.
_QUERY_PREFIXES = {"fastembed:BAAI/bge-large-en-v1.5": "Represent this sentence for searching relevant passages: "}


class Runner(Protocol):
    """What is asked of fastembed's `TextEmbedding`."""

    def embed(self, documents: list[str], batch_size: int) -> "Iterable[NDArray[Any]]": ...


class FastEmbedder:
    """A model in memory. A query cannot be stopped midway; it takes as long as its one short text takes."""

    where: Final[Literal["local", "remote"]] = "local"

    def __init__(self, model: str, runner: Runner, dimension: int | None = None, query_prefix: str = "") -> None:
        self.model: Final = model
        self._runner = runner
        self._dimension = dimension
        self._query_prefix = query_prefix

    @property
    def dimension(self) -> int | None:
        return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        # A batch is padded to its longest text, so that texts of about one length belong together.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]), reverse=True)
        made = self._run([texts[place] for place in order])
        vectors: list[Vector] = [()] * len(texts)
        for place, vector in zip(order, made, strict=True):
            vectors[place] = vector
        return vectors

    def embed_query(self, text: str, seconds: float) -> Vector:  # noqa: ARG002
        return self._run([self._query_prefix + text])[0]

    def _run(self, texts: list[str]) -> list[list[float]]:
        try:
            vectors = [vector.tolist() for vector in self._runner.embed(texts, batch_size=BATCH)]
        except Exception as error:
            # The runtime's errors are not the project's, and most mean that the pooling does not fit the model.
            raise EmbedderError(
                f"{self.model} could not embed: {shorten(error)}. If it is a folder of yours, see whether its "
                "model.onnx gives one vector a token, or name it with ?pooling=none if it gives one a text."
            ) from error
        lengths = {len(vector) if isinstance(vector, list) else 0 for vector in vectors}
        self._dimension = self._dimension or next(iter(lengths), None)
        if len(vectors) != len(texts) or lengths - {self._dimension} or 0 in lengths:
            raise EmbedderError(
                f"{self.model} gave {len(vectors)} vectors of {sorted(lengths)} numbers for {len(texts)} texts, "
                f"where {self._dimension} numbers were expected: its files are damaged or its pooling does not fit."
            )
        return vectors


def describe(model: str, models: str) -> ModelCard:
    """Say what a local model weighs and allows, and whether it is here; nothing is fetched."""
    named = parse_model(model)
    if named.provider == "folder":
        named = identify(named)
        return ModelCard(str(named), megabytes(named.name), "see its own page", None, is_here=True)
    if named.provider != "fastembed":
        raise EmbedderError(f"{named} is not a local model: there is nothing to fetch.")
    return describe_named(_text_embedding(), named.name, models)


def open_fastembed(
    named: ModelName, models: str, *, threads: int | None = None, allow_download: bool = False
) -> FastEmbedder:
    """Open a model by its name; `models` is the folder that fetched ones are kept in."""
    kind = _text_embedding()
    card = describe_named(kind, named.name, models)
    consent = "" if allow_download else f"run `recollect embed --model {card.model}`, which asks before it fetches it."
    runner = open_named(kind, card, models, threads, consent)
    return FastEmbedder(card.model, runner, card.dimension, _QUERY_PREFIXES.get(card.model, ""))


def open_folder(named: ModelName, *, threads: int | None = None) -> FastEmbedder:
    """Open the model in a folder, which must still hold what the name says it does."""
    kind = _text_embedding()
    from fastembed.common.model_description import ModelSource, PoolingType

    named = identify(named)
    pooling = {
        "mean": PoolingType.MEAN,
        "cls": PoolingType.CLS,
        "last": PoolingType.LAST_TOKEN,
        "none": PoolingType.DISABLED,
    }[pooling_of(named)]
    # fastembed looks models up by name and never forgets one; the same content may as well have the same name.
    registered = f"recollect/{named.digest}"
    with contextlib.suppress(ValueError):
        kind.add_custom_model(
            model=registered,
            pooling=pooling,
            normalization=True,
            sources=ModelSource(hf=registered),
            dim=0,
            model_file="model.onnx",
        )
    try:
        runner = kind(registered, cache_dir=named.name, threads=threads, specific_model_path=named.name)
    except Exception as error:
        raise EmbedderError(
            f"The model in {named.name} could not be opened: {shorten(error)}. Export it as ONNX again, or see that "
            "its tokenizer files are whole."
        ) from error
    return FastEmbedder(str(named), runner)


def _text_embedding() -> "type[TextEmbedding]":
    require_fastembed()
    from fastembed import TextEmbedding

    return TextEmbedding
