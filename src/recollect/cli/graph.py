"""`graph`: a memory among others."""

from typing import Annotated, Final

import typer

from recollect.cli.options import AsOf, Id, Json, moment

_SHOWN: Final = 5


def graph(
    handle: Id,
    *,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Most memories under each tie.")] = _SHOWN,
    dot: Annotated[bool, typer.Option("--dot", help="Print it for Graphviz: `... --dot | dot -Tsvg`.")] = False,
    json: Json = False,
) -> None:
    """Show what ties a memory to others: names, rare words, relations, links, the rarest first."""
    if dot and json:
        raise typer.BadParameter("--dot and --json exclude each other.")
    from recollect.cli.reading import read_waiting
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        read_waiting(memory.store)
        drawn = memory.graph(handle, moment(as_of))
    if json:
        from recollect.cli.as_json import from_graph, write_json

        write_json(from_graph(drawn, limit))
    elif dot:
        from recollect.cli.as_dot import to_dot
        from recollect.cli.as_json import write_utf8

        write_utf8(to_dot(drawn, limit))
    else:
        from recollect.cli.paper import Paper
        from recollect.cli.show_graph import show_graph

        show_graph(Paper(), drawn, limit)
