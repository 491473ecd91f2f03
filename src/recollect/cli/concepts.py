"""`concepts`: what memories are about, who reads it, and what a person has to say to it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli.errors import PROBLEM
from recollect.cli.extract import extract
from recollect.cli.options import Json, Yes
from recollect.core.errors import NotFound

if TYPE_CHECKING:
    from recollect.core.ports import Concept
    from recollect.service.recollect import Recollect

concepts = typer.Typer(
    help="Look at what memories are about, and say what is the same.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)

_SHOWN: Final = 20

Name = Annotated[str, typer.Argument(metavar="NAME", help="A concept, by any of its names.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many to show.")]


@concepts.callback()
def show_concepts(context: typer.Context, *, limit: Limit = _SHOWN, json: Json = False) -> None:
    if context.invoked_subcommand is None:
        list_concepts(limit=limit, json=json)


@concepts.command("list")
def list_concepts(*, limit: Limit = _SHOWN, json: Json = False) -> None:
    """Read what waits, then list who reads concepts and how far they are, and the concepts that most memories share."""
    from recollect.cli.reading import read_waiting
    from recollect.core.spread import limits_of
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        read_waiting(memory.store)
        readers = memory.store.concepts.readers()
        common = memory.store.concepts.common(memory.space, limit)
        size = next((each.memories for each in memory.store.count() if each.space == memory.space), 0)
    most = limits_of(size).names
    if json:
        from recollect.cli.as_json import write_json

        write_json(
            {
                "extractors": [asdict(each) for each in readers],
                "concepts": [{**asdict(each), "too_common": each.memories > most} for each in common],
            }
        )
        return
    from recollect.cli.paper import Paper
    from recollect.cli.show_concepts import show_common, show_readers

    paper = Paper()
    show_readers(paper, readers)
    show_common(paper, common, most)


@concepts.command()
def show(name: Name, *, limit: Limit = _SHOWN, json: Json = False) -> None:
    """Show a concept: its other names, what is said of it and since when, and the memories that mention it."""
    from recollect.cli.reading import read_waiting
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        read_waiting(memory.store)
        concept = _find(memory, name)
        refs = sorted({ref for ref, _ in concept.mentions}, reverse=True)
        read = memory.store.memories.get(refs[:limit])
    shown = {ref: read[ref] for ref in refs if ref in read}
    if json:
        from recollect.cli.as_json import from_concept, write_json

        write_json(from_concept(concept, shown, len(refs)))
        return
    from recollect.cli.paper import Paper
    from recollect.cli.show_concepts import show_concept

    show_concept(Paper(), concept, shown, len(refs))


@concepts.command()
def alias(
    name: Name,
    other: Annotated[str, typer.Argument(metavar="ALIAS", help="What it is called too.")],
    *,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Give a concept another name. If that is a concept already, both become one, which cannot be taken back."""
    from recollect.cli.asking import ask_first
    from recollect.cli.reading import read_waiting
    from recollect.cli.words import count
    from recollect.core.memory import check_label
    from recollect.wiring import open_recollect

    check_label("alias", other)
    with open_recollect() as memory:
        read_waiting(memory.store)
        concept = _find(memory, name)
        twin = memory.store.concepts.find(memory.space, other)
        if twin is not None and twin.name != concept.name and not yes:
            many = count(len({ref for ref, _ in twin.mentions}), "memory mentions", "memories mention")
            ask_first(f"{many} {twin.name!r}. Make one concept of both, for good?", "Nothing was changed.")
        memory.store.concepts.alias(memory.space, name, other)
        concept = _find(memory, name)
    if json:
        from recollect.cli.as_json import write_json

        write_json({"name": concept.name, "aliases": list(concept.aliases)})
        return
    from recollect.cli.paper import Paper, label

    Paper().write(label(f"{concept.name} is also called {', '.join(concept.aliases) or concept.name}."))


concepts.command()(extract)


@concepts.command("import")
def import_concepts(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="JSON lines; `-` is standard input.")],
    *,
    name: Annotated[
        str, typer.Option("--name", help="Whose they are: a later import by the same name replaces them.")
    ] = "import",
    json: Json = False,
) -> None:
    """Take in what somebody else read in memories.

    A line is {"memory": ID, "subject": NAME, "relation": WORDS, "object": NAME}. What cannot be taken in is reported.
    """
    from recollect.cli.progress import show_reading
    from recollect.cli.transfer import opened, read_lines
    from recollect.service.triples import import_triples
    from recollect.wiring import open_recollect

    with opened(file) as source, open_recollect() as memory, show_reading(source) as advance:
        outcome = import_triples(memory.store, memory.space, read_lines(source, advance), name=name)
    if json:
        from recollect.cli.as_json import write_json

        write_json({"name": name, **asdict(outcome)})
    else:
        from recollect.cli.paper import NOTICE, Paper, plain
        from recollect.cli.words import count

        many = count(outcome.memories, "memory", "memories")
        Paper().write(f"Took in {count(outcome.triples, 'triple')} of {many}.")
        for problem in outcome.problems:
            Paper(errors=True).write(plain(problem, NOTICE))
    if outcome.problems:
        raise typer.Exit(PROBLEM)


def _find(memory: "Recollect", name: str) -> "Concept":
    concept = memory.store.concepts.find(memory.space, name)
    if concept is None:
        raise NotFound(f"There is no concept {name!r}: `recollect concepts` lists some, `recollect graph` others.")
    return concept
