"""Named models of fastembed, fetched only with consent: what one weighs and allows, whether it is here, opening it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.core.errors import EmbedderError

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    Opened = TypeVar("Opened", TextEmbedding, TextCrossEncoder)

_SPELLED = {"mit": "MIT", "apache-2.0": "Apache-2.0", "cc-by-nc-4.0": "CC-BY-NC-4.0"}


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a user agrees to."""

    model: str
    """The name that opens it again."""
    megabytes: int
    licence: str
    dimension: int | None
    is_here: bool
    """Whether it can be used without fetching anything."""


def describe_named(kind: "type[Opened]", name: str, models: str) -> ModelCard:
    """Say what a model of fastembed's is; nothing is fetched."""
    card = _find(kind.list_supported_models(), name)
    try:
        kind(card["model"], cache_dir=models, local_files_only=True, lazy_load=True)
    except ValueError:
        is_here = False
    except OSError as error:
        raise EmbedderError(f"{models} cannot hold models ({error}): set RECOLLECT_MODELS to a folder.") from error
    else:
        is_here = True
    return ModelCard(
        model=f"fastembed:{card['model']}",
        megabytes=round(card["size_in_GB"] * 1000),
        licence=_SPELLED.get(card["license"], card["license"]),
        dimension=card.get("dim"),
        is_here=is_here,
    )


def open_named(kind: "type[Opened]", card: ModelCard, models: str, threads: int | None, consent: str) -> "Opened":
    """Open a described model; one that is not here is fetched, unless `consent` says what is to be done before."""
    name = card.model.removeprefix("fastembed:")
    if consent and not card.is_here:
        raise EmbedderError(f"{name} ({card.megabytes} MB, licence {card.licence}) is not on this machine: {consent}")
    try:
        return kind(name, cache_dir=models, threads=threads, local_files_only=card.is_here)
    except Exception as error:
        # Whatever the hub, the disk or the runtime raise: none of them is the project's own.
        what = "opened: remove it from there, and fetch it again" if card.is_here else "fetched: see to the network"
        raise EmbedderError(f"{name} could not be {what} ({models}). {shorten(error)}") from error


def require_fastembed() -> None:
    """Make sure that fastembed can be imported, which is an extra."""
    try:
        import fastembed  # noqa: F401
        from loguru import logger
    except ImportError as error:
        raise EmbedderError(
            f"Local models need more packages ({error}). Run: pip install 'recollect[local]'"
        ) from error
    # It writes to the terminal what it raises as well.
    logger.disable("fastembed")


def shorten(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _find(cards: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    for card in cards:
        if card["model"].lower() == name.lower():
            return card
    known = ", ".join(sorted(card["model"] for card in cards if card["model"].startswith("BAAI/")))
    raise EmbedderError(f"fastembed knows no model {name!r} of this kind. It knows {known} and others.")
