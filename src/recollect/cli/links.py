"""`link`."""

from typing import Annotated

import typer

from recollect.cli.options import Json
from recollect.core.memory import LINK_KINDS


def link(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The id of the memory that it links from.")],
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="supersedes, resolved-by, part-of or see-also.",
            autocompletion=lambda: list(LINK_KINDS),
        ),
    ],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The id of the memory that it links to.")],
    end: Annotated[bool, typer.Option("--end", help="End this link instead of making it.")] = False,
    json: Json = False,
) -> None:
    """Link two memories.

    supersedes: SOURCE is served in place of TARGET.
    resolved-by: TARGET comes attached to SOURCE.
    part-of, see-also: each points to the other in a line.
    """
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        made = memory.unlink(source, kind, target) if end else memory.link(source, kind, target)
        ends = [memory.get(each) for each in (made.source, made.target)]
    if json:
        from recollect.cli.as_json import write_json
        from recollect.core.record import to_link_record

        write_json(to_link_record(made))
        return
    from rich.text import Text

    from recollect.cli.paper import HANDLE, Paper

    words = Text(f" {kind} ").join(Text(each.short_id, HANDLE) for each in ends)
    Paper().write(words, "Ended " if end else "Linked ")
