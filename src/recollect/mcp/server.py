"""The MCP server: an agent's way to the memory, over stdin and stdout.

Nothing but the protocol reaches stdout; the log goes to stderr and is quiet unless something is wrong.
"""

import logging
import signal
import sys
from collections.abc import Callable
from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations

from recollect import __version__
from recollect.config import read_config
from recollect.core.errors import RecollectError
from recollect.mcp import teaching
from recollect.mcp.asking import UNDO, FindAsker, Owner
from recollect.mcp.reading import Reading
from recollect.mcp.refusals import describe, describe_unknown
from recollect.mcp.schemas import may_be_null, shorten
from recollect.mcp.writing import Writing
from recollect.service.keep_up import KeepUp
from recollect.wiring import open_recollect, open_resident, open_use_notes

_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_CONNECTS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_CHANGES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


_USES: Final = frozenset({"memory_get", "memory_update", "memory_delete", "memory_link"})
"""Tools that take the id of a memory: an agent that names one makes use of it."""


class MemoryServer(MCPServer[Any]):
    """The tools, for whoever calls them over whatever transport.

    `undo` is the command that brings a memory back, `reword` what turns a refusal's words for a laptop into words for
    where the caller is, and `note_use` is told the ids of memories that were read, changed or linked by name.
    """

    def __init__(
        self,
        find_asker: FindAsker,
        *,
        undo: str = UNDO,
        reword: Callable[[str], str] = lambda message: message,
        note_use: Callable[[list[str]], None] = lambda _: None,
    ) -> None:
        reading, writing = Reading(find_asker), Writing(find_asker, undo)
        delete = teaching.DELETE.format(undo=undo.removesuffix(" {id}"))
        self._reword = reword
        self._note_use = note_use
        tools = [
            _tool(writing.memory_store, "Store a memory", teaching.STORE, _ADDS),
            _tool(reading.memory_recall, "Recall memories", teaching.RECALL, _READS),
            _tool(reading.memory_get, "Read a memory", teaching.GET, _READS),
            _tool(writing.memory_update, "Update a memory", teaching.UPDATE, _CHANGES),
            _tool(writing.memory_delete, "Forget a memory", delete, _CHANGES),
            _tool(reading.memory_list, "List memories", teaching.LIST, _READS),
            _tool(writing.memory_link, "Link two memories", teaching.LINK, _CONNECTS),
            _tool(reading.memory_why_not, "Why a memory is missing", teaching.WHY_NOT, _READS),
            _tool(reading.memory_stats, "Count memories", teaching.STATS, _READS),
        ]
        self._known = {tool.name: frozenset(tool.parameters["properties"]) for tool in tools}
        self._nullable = {tool.name: may_be_null(tool.parameters) for tool in tools}
        for tool in tools:
            tool.parameters = {**shorten(tool.parameters), "additionalProperties": False}
            tool.fn_metadata.output_schema = shorten(tool.fn_metadata.output_schema or {})
        super().__init__(
            "recollect",
            title="Recollect",
            version=__version__,
            instructions=teaching.INSTRUCTIONS,
            tools=tools,
            subscriptions=False,
            log_level="WARNING",
        )

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Refuse misspelt arguments, which the SDK would drop in silence, and word what it refuses itself."""
        known = self._known.get(name, frozenset(arguments))
        if unknown := arguments.keys() - known:
            raise ToolError(describe_unknown(name, unknown, known))
        # Models write null for what they leave out.
        nullable = self._nullable.get(name, known)
        arguments = {each: value for each, value in arguments.items() if value is not None or each in nullable}
        try:
            answer = await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            raise ToolError(self._reword(describe(error))) from error.__cause__
        if name in _USES and isinstance(answer, CallToolResult) and answer.structured_content:
            told = answer.structured_content
            self._note_use([told[each] for each in ("id", "source", "target") if each in told])
        return answer


def main() -> None:
    """Serve until the client closes stdin."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="recollect: %(message)s")
    # A write is whole or not at all, so a Ctrl-C may end the process at once; the SDK would wait for another line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    config = read_config()
    try:
        recollect = open_recollect(config)
    except RecollectError as error:
        raise SystemExit(f"recollect: {error}") from None
    with recollect:
        keep_up = KeepUp(recollect.store, recollect.gates)
        resident = open_resident(recollect, config)
        keep_up.start()
        if resident is not None:
            resident.start()
        owner = Owner(recollect)
        try:
            MemoryServer(lambda: owner, note_use=open_use_notes(config)).run()
        finally:
            if resident is not None:
                resident.stop()
            keep_up.stop()


def _tool(function: Callable[..., CallToolResult], title: str, description: str, hints: ToolAnnotations) -> Tool:
    return Tool.from_function(function, title=title, description=description, annotations=hints, structured_output=True)
