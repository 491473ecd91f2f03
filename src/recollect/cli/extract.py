"""`concepts extract`: have a language model read memories, within a budget."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli.errors import PROBLEM
from recollect.cli.options import Json
from recollect.core.errors import BadSetting, BudgetSpent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.core.language_model import LanguageModel
    from recollect.core.ports import Queued, Reader, Store

    Unread = Mapping[Queued, str]

_MOST_SHOWN: Final = 5


def extract(
    *,
    calls: Annotated[
        int | None, typer.Option("--calls", min=0, help="The most calls it may make, those made before included.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option("--tokens", min=0, help="The most tokens it may use, those used before included.")
    ] = None,
    tie_break: Annotated[
        bool, typer.Option("--tie-break", help="Ask it too whether names that are written nearly alike are the same.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before text leaves.")] = False,
    json: Json = False,
) -> None:
    """Have the language model that RECOLLECT_EXTRACTOR names read what waits for it, within its budget.

    It can be interrupted at any time and goes on where it stood. Sensitive memories are never sent.
    """
    from recollect.cli.asking import ask_first
    from recollect.config import read_config
    from recollect.wiring import consent_to_reading, open_extractor, open_recollect

    config = read_config()
    with open_recollect(config) as memory:
        model = open_extractor(memory.store.budgets, config)
        if model is None:
            raise BadSetting(
                "No language model may read concepts: RECOLLECT_EXTRACTOR names one, such as ollama:MODEL or "
                "openai:MODEL. The rules need none."
            )
        known = any(each.name == model.name for each in memory.store.concepts.readers())
        if not yes and (terms := consent_to_reading(config, known=known)):
            ask_first(f"{terms} Go on?", "Nothing was sent; --yes agrees beforehand.")
        memory.store.concepts.begin(model.name)
        _limit(memory.store, model.name, calls, tokens)
        before = _find(memory.store, model.name).waiting
        unread, spent = _extract(memory.store, model, tie_break=tie_break)
        reader = _find(memory.store, model.name)
    _report(unread, spent)
    if json:
        from recollect.cli.as_json import write_json

        write_json({"read": before - reader.waiting, "unread": len(unread), "extractor": asdict(reader)})
    else:
        from recollect.cli.paper import Paper
        from recollect.cli.show_concepts import show_readers

        show_readers(Paper(), [reader])
    if spent or unread:
        raise typer.Exit(PROBLEM)


def _limit(store: "Store", name: str, calls: int | None, tokens: int | None) -> None:
    """Set what was given of the limits; what was not stays as it is."""
    reader = _find(store, name)
    most_calls = reader.most_calls if calls is None else calls
    most_tokens = reader.most_tokens if tokens is None else tokens
    if most_calls is None or most_tokens is None:
        raise typer.BadParameter("Give --calls and --tokens: a language model reads nothing without a limit to both.")
    store.budgets.limit(name, most_calls, most_tokens)


def _extract(store: "Store", model: "LanguageModel", *, tie_break: bool) -> "tuple[Unread, str]":
    """Have all read that waits; give what the model could not read, and what it says if its budget ends before."""
    from recollect.cli.progress import show_rate
    from recollect.service.extract_llm import extract_by_model

    unread: dict[Queued, str] = {}
    try:
        with show_rate("Reading") as progress:
            extract_by_model(store, model, progress=progress, unread=unread, tie_break=tie_break)
    except BudgetSpent as error:
        return unread, str(error)
    return unread, ""


def _find(store: "Store", name: str) -> "Reader":
    return next(each for each in store.concepts.readers() if each.name == name)


def _report(unread: "Unread", spent: str) -> None:
    from recollect.cli.paper import NOTICE, Paper, plain

    paper = Paper(errors=True)
    for (ref, _), reason in list(unread.items())[:_MOST_SHOWN]:
        paper.write(plain(f"{ref.id} was not read: {reason}", NOTICE))
    if len(unread) > _MOST_SHOWN:
        paper.write(plain(f"and {len(unread) - _MOST_SHOWN:,} more.", NOTICE))
    if spent:
        paper.write(plain(spent, NOTICE))
