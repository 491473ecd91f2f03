"""`remember` and `edit`."""

import sys
from typing import Annotated, Any

import typer

from recollect.cli.options import (
    Category,
    General,
    Id,
    Importance,
    Json,
    Keywords,
    OwnProject,
    Place,
    Session,
    Tags,
    choose_project,
)
from recollect.core.errors import Refused
from recollect.core.memory import Memory
from recollect.service.recollect import Recollect

STDIN = "-"


def remember(
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT|-", help="What to keep; `-` reads it from standard input.")
    ],
    *,
    category: Category = "facts",
    tags: Tags = None,
    keywords: Keywords = None,
    importance: Importance = 0.5,
    project: OwnProject = None,
    general: General = False,
    session: Session = None,
    place: Place = None,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Keep its text from agents.")] = False,
    identity: Annotated[
        str | None, typer.Option("--id", metavar="UUID", help="Its id, so that storing it again is harmless.")
    ] = None,
    json: Json = False,
) -> None:
    """Keep something worth knowing."""
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        kept = memory.remember(
            read_text() if text == [STDIN] else " ".join(text),
            category="facts" if category is None else category,
            tags=tags or (),
            keywords=keywords or (),
            importance=0.5 if importance is None else importance,
            project=choose_project(project, none=general, flag="--general"),
            session=session,
            place=place,
            sensitive=sensitive,
            id=identity,
        )
    _say("Remembered", kept, as_json=json)


def edit(
    handle: Id,
    *,
    content: Annotated[
        str | None, typer.Option("--content", help="The new text; `-` reads it from standard input.")
    ] = None,
    category: Category = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", "-t", help="All its tags; '' for none. Repeatable.")
    ] = None,
    keywords: Annotated[
        list[str] | None, typer.Option("--keyword", "-k", help="All its keywords; '' for none. Repeatable.")
    ] = None,
    importance: Importance = None,
    project: OwnProject = None,
    general: General = False,
    session: Annotated[str | None, typer.Option("--session", help="The session it comes from; '' for none.")] = None,
    place: Place = None,
    sensitive: Annotated[
        bool | None, typer.Option("--sensitive/--not-sensitive", help="Whether to keep its text from agents.")
    ] = None,
    json: Json = False,
) -> None:
    """Change a memory; what it was stays in its history. Without options, opens your editor on its text."""
    from recollect.wiring import open_recollect

    changes: dict[str, Any] = {
        name: value
        for name, value in (
            ("content", read_text() if content == STDIN else content),
            ("category", category),
            ("tags", None if tags is None else tuple(filter(None, tags))),
            ("keywords", None if keywords is None else tuple(filter(None, keywords))),
            ("importance", importance),
            ("session", session),
            ("place", place),
            ("sensitive", sensitive),
        )
        if value is not None
    }
    if session == "":
        changes["session"] = None
    with open_recollect() as memory:
        if general or project is not None:
            changes["project"] = memory.scope(project=choose_project(project, none=general, flag="--general")).project
        before = memory.get(handle)
        after = memory.edit(before.id, **changes) if changes else _edit_in_editor(memory, before)
    _say("Nothing changed in" if after.version == before.version else "Edited", after, as_json=json)


def read_text() -> str:
    """Read standard input as UTF-8, without the line end that a shell puts behind it."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise Refused(f"Standard input is not text in UTF-8: its byte {error.start} does not fit.") from None


def _edit_in_editor(memory: Recollect, before: Memory) -> Memory:
    from recollect.cli.editor import edit_text

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("Say what to change, for example --content or --importance.")
    return edit_text(before.content, lambda text: memory.edit(before.id, version=before.version, content=text))


def _say(done: str, memory: Memory, *, as_json: bool) -> None:
    if as_json:
        from recollect.cli.as_json import write_json
        from recollect.core.record import to_record

        write_json(to_record(memory))
        return
    from recollect.cli.paper import Paper
    from recollect.cli.show import details

    Paper().flow(details(memory), f"{done} ")
