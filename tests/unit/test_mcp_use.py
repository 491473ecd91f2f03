"""Which memories an agent made use of, as the server tells whoever counts it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from making import StandingClock, id_of, make_memory, open_recollect
from recollect.config import Config
from recollect.mcp.asking import Owner
from recollect.mcp.server import MemoryServer
from recollect.service.recollect import Recollect
from recollect.wiring import open_use_notes

FIRST, SECOND = id_of(1), id_of(2)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "memory.db", StandingClock()) as opened:
        opened.store.memories.add([make_memory(1, "The crane is green."), make_memory(2, "The crane is red.")])
        yield opened


class Used:
    """A server, and the ids that it said were used."""

    def __init__(self, memory: Recollect, note_use: Callable[[list[str]], None] | None = None) -> None:
        self.ids: list[list[str]] = []
        self._server = MemoryServer(lambda: Owner(memory), note_use=note_use or self.ids.append)

    def call(self, name: str, **arguments: Any) -> CallToolResult:  # noqa: ANN401 - whatever a tool takes
        answer = anyio.run(self._server.call_tool, name, arguments)
        assert isinstance(answer, CallToolResult)
        return answer


@pytest.mark.parametrize(
    ("name", "arguments", "used"),
    [
        ("memory_get", {"id": FIRST[-8:]}, [FIRST]),
        ("memory_update", {"id": FIRST, "importance": 0.9}, [FIRST]),
        ("memory_delete", {"id": SECOND}, [SECOND]),
        ("memory_link", {"source": SECOND, "kind": "supersedes", "target": FIRST[-8:]}, [SECOND, FIRST]),
    ],
)
def test_a_memory_that_is_named_is_used(
    memory: Recollect, name: str, arguments: dict[str, object], used: list[str]
) -> None:
    """Reading, changing, forgetting and linking by id count, and the id is told whole however it was given."""
    server = Used(memory)
    server.call(name, **arguments)
    assert server.ids == [used]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_recall", {"query": "green crane"}),
        ("memory_list", {}),
        ("memory_stats", {}),
        ("memory_why_not", {"query": "green crane", "id": FIRST}),
        ("memory_store", {"content": "The crane is blue."}),
    ],
)
def test_a_memory_that_is_only_shown_is_not_used(memory: Recollect, name: str, arguments: dict[str, object]) -> None:
    """What an agent is shown among others, or asks about because it is missing, says nothing of its use."""
    server = Used(memory)
    assert FIRST in str(server.call(name, **arguments)) or name in {"memory_stats", "memory_store"}
    assert server.ids == []


def test_a_tool_that_failed_used_nothing(memory: Recollect) -> None:
    """A refusal is no use."""
    server = Used(memory)
    with pytest.raises(ToolError):
        server.call("memory_get", id="00000000")
    assert server.ids == []


def test_a_journal_that_cannot_be_written_costs_the_count_alone(memory: Recollect, tmp_path: Path) -> None:
    """Where nothing can be noted, the agent has its answer all the same."""
    config = Config(store=str(tmp_path / "memory.db"), space="personal", folder=".", project="")
    Path(config.journal).mkdir()
    answer = Used(memory, open_use_notes(config)).call("memory_get", id=FIRST)
    assert "The crane is green." in str(answer.content)
