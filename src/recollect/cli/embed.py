"""`embed`: choose the model that finds by meaning, and bring its vectors up to date."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli.errors import PROBLEM
from recollect.cli.options import Json

if TYPE_CHECKING:
    from recollect.config import Config
    from recollect.service.embed import Embedded
    from recollect.service.recollect import Recollect

DEFAULT_MODEL: Final = "bge-small-en-v1.5"
_MOST_SHOWN: Final = 5


def embed(
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help=f"{DEFAULT_MODEL}, bge-large-en-v1.5, a folder, ollama:MODEL, openai:MODEL[@URL], voyage:MODEL, "
            "cohere:MODEL. Built beside the one in use, then switched to. Default: the one in use.",
            show_default=False,
        ),
    ] = None,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before a download, or before text leaves.")
    ] = False,
    models: Annotated[bool, typer.Option("--list", "-l", help="List the models and how far they are.")] = False,
    off: Annotated[bool, typer.Option("--off", help="Recall by words alone; the vectors are kept.")] = False,
    drop: Annotated[
        str | None, typer.Option("--drop", metavar="MODEL", help="Remove the vectors of a model that is not in use.")
    ] = None,
    json: Json = False,
) -> None:
    """Find by meaning too: embed what waits, or everything anew with another model.

    It can be interrupted at any time and goes on where it stood. Sensitive memories are never embedded.
    """
    from recollect.config import read_config
    from recollect.wiring import open_recollect

    config = read_config()
    with open_recollect(config) as memory:
        refused = 0
        if off:
            memory.store.vectors.switch(None)
        elif drop is not None:
            memory.store.vectors.drop(_find_set(memory, drop) or drop)
        elif not models:
            refused = _embed(memory, config, model or memory.store.vectors.active() or DEFAULT_MODEL, yes=yes)
        sets = memory.store.vectors.sets()
    if json:
        from recollect.cli.as_json import write_json

        write_json({"refused": refused, "models": [asdict(each) for each in sets]})
    else:
        from recollect.cli.paper import Paper
        from recollect.cli.show_care import show_sets

        show_sets(Paper(), sets)
    if refused:
        raise typer.Exit(PROBLEM)


def _embed(memory: "Recollect", config: "Config", model: str, *, yes: bool) -> int:
    from recollect.cli.asking import ask_first
    from recollect.cli.progress import show_rate
    from recollect.service.embed import build
    from recollect.wiring import consent_to, open_embedder

    known = _find_set(memory, model) is not None
    if not yes and (terms := consent_to(model, config, known=known)):
        ask_first(f"{terms} Go on?", "Nothing was embedded; --yes agrees beforehand.")
    gate = memory.gates.add(open_embedder(model, config, allow_download=True))
    with show_rate("Embedding") as progress:
        embedded = build(memory.store, gate, progress=progress)
    _report(embedded)
    return len(embedded.refused)


def _find_set(memory: "Recollect", name: str) -> str | None:
    """Find the set that a person means, who need not know a model's whole name."""
    from recollect.embedders.naming import parse_model

    models = [each.model for each in memory.store.vectors.sets()]
    if name in models:
        return name
    whole = str(parse_model(name))
    return next((model for model in models if model == whole or model.partition("#")[0] == whole), None)


def _report(embedded: "Embedded") -> None:
    from recollect.cli.paper import NOTICE, Paper, plain

    paper = Paper(errors=True)
    for ref, reason in embedded.refused[:_MOST_SHOWN]:
        paper.write(plain(f"{ref.id} was not embedded: {reason}", NOTICE))
    if len(embedded.refused) > _MOST_SHOWN:
        paper.write(plain(f"and {len(embedded.refused) - _MOST_SHOWN:,} more.", NOTICE))
