"""`/mcp`: the official client over HTTP, and the laptop's tools behind the walls of the server."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, Tool

from recollect.api import examples
from recollect.mcp.asking import Asker
from recollect.mcp.server import MemoryServer
from serving import Client, World, over_network


class Agent:
    """A connected MCP client, called from plain functions."""

    def __init__(self, portal: BlockingPortal, client: McpClient) -> None:
        self.portal = portal
        self.client = client

    def call(self, name: str, **arguments: Any) -> CallToolResult:  # noqa: ANN401 - whatever an agent may send
        result: CallToolResult = self.portal.call(self.client.call_tool, name, arguments)
        return result

    def ask(self, name: str, **arguments: Any) -> Any:  # noqa: ANN401 - JSON
        result = self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        return result.structured_content

    def refusal(self, name: str, **arguments: Any) -> str:  # noqa: ANN401
        result = self.call(name, **arguments)
        assert result.is_error
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


@contextmanager
def connect(address: str, headers: dict[str, str]) -> Iterator[Agent]:
    with start_blocking_portal() as portal:
        http = httpx2.AsyncClient(headers=headers, timeout=60)
        client = McpClient(streamable_http_client(f"{address}/mcp", http_client=http))
        with portal.wrap_async_context_manager(http), portal.wrap_async_context_manager(client):
            yield Agent(portal, client)


@pytest.fixture
def address(world: World) -> Iterator[str]:
    with over_network(world.server) as url:
        yield url


def test_an_agent_remembers_and_recalls(world: World, address: str) -> None:
    """Every tool works for the holder of a key, in their own space."""
    with connect(address, world.headers("ada")) as agent:
        old = agent.ask("memory_store", content="Deploys run on Fridays.", category="decisions")["id"]
        new = agent.ask("memory_store", content="Deploys run on Tuesdays.", category="decisions")["id"]
        agent.ask("memory_link", source=new, kind="supersedes", target=old)
        (found,) = agent.ask("memory_recall", query="deploys fridays", explain=True)["memories"]
        assert (found["id"], found["instead_of"]) == (new, [old])
        assert agent.ask("memory_get", id=new[-8:])["links"][0]["how"] == "supersedes"
        assert agent.ask("memory_update", id=new, importance=0.9)["version"] == 2
        assert len(agent.ask("memory_list")["memories"]) == 2
        assert agent.ask("memory_why_not", query="deploys", id=old)["stage"] == "links"
        assert agent.ask("memory_stats")["memories"] == 2
        deleted = agent.ask("memory_delete", id=new)
        assert deleted["undo"] == f"POST /v1/memories/{new[-8:]}/restore"
        assert "POST /v1/memories/" in agent.refusal("memory_update", id=new, importance=0.1)
        assert "memory_list" in agent.refusal("memory_get", id="00000000")
    ada = Client(httpx2.Client(base_url=address), world.headers("ada"))
    assert ada.ok("POST", f"/v1/memories/{new[-8:]}/restore")["space"] == "ada"
    ada.http.close()


def test_the_tools_are_those_of_the_laptop(world: World, address: str) -> None:
    """Names, schemas and descriptions are the same over HTTP, but for the command that brings a memory back."""
    at_home = anyio.run(MemoryServer(nobody).list_tools)
    with connect(address, world.headers("ada")) as agent:
        served = agent.portal.call(agent.client.list_tools).tools
    undo = ("`POST /v1/memories/{id}/restore`", "`recollect undo`")
    assert plain(served).replace(*undo) == plain(at_home)
    assert plain(served) != plain(at_home)


def plain(tools: Sequence[Tool]) -> str:
    return json.dumps([tool.model_dump(exclude={"meta"}) for tool in tools], sort_keys=True)


def nobody() -> Asker:
    raise AssertionError("No tool is called.")


def test_a_client_says_which_space_and_project_it_means(world: World, address: str) -> None:
    """The headers choose the space and the project; a space of others is as good as not there."""
    crew = {**world.headers("ben"), "X-Recollect-Space": examples.CREW, "X-Recollect-Project": "caf%C3%A9"}
    with connect(address, crew) as agent:
        kept = agent.ask("memory_store", content="The crew meets at nine.")
        assert kept["project"] == "café"
        assert agent.ask("memory_stats")["project"] == "café"
    with connect(address, world.headers("ben")) as agent:
        assert agent.ask("memory_recall", query="crew meets")["memories"] == []
    with connect(address, {**world.headers("ada"), "X-Recollect-Space": examples.CREW}) as agent:
        assert [found["id"] for found in agent.ask("memory_recall", query="crew meets")["memories"]] == [kept["id"]]
    for space in ("ada", "nobody"):
        with connect(address, {**world.headers("ben"), "X-Recollect-Space": space}) as agent:
            assert agent.refusal("memory_recall", query="x") == f"There is no space '{space}' that you may see."
            assert "There is no space" in agent.refusal("memory_store", content="x")


def test_a_reading_key_does_not_write(world: World, address: str) -> None:
    """Tools that look work with a key of scope read; those that change are refused."""
    world.add_key("ada", "read", "looks")
    with connect(address, world.headers("looks")) as agent:
        assert agent.ask("memory_list") == {"memories": []}
        for name, arguments in (
            ("memory_store", {"content": "x"}),
            ("memory_update", {"id": examples.NEW, "importance": 1}),
            ("memory_delete", {"id": examples.NEW}),
            ("memory_link", {"source": examples.NEW, "kind": "see-also", "target": examples.PLAN}),
        ):
            assert "You may not write in ada" in agent.refusal(name, **arguments)


def test_two_at_once_each_see_their_own(world: World, address: str) -> None:
    """Requests that run side by side are each answered for the holder of their own key."""
    with connect(address, world.headers("ada")) as ada, connect(address, world.headers("ben")) as ben:
        for name, agent in (("ada", ada), ("ben", ben)):
            agent.ask("memory_store", content=f"This belongs to {name}.")

        async def crowd(agent: Agent, name: str) -> None:
            async def recall() -> None:
                answer = await agent.client.call_tool("memory_recall", {"query": "belongs"})
                assert [found["content"] for found in answer.structured_content["memories"]] == [
                    f"This belongs to {name}."
                ]

            async with anyio.create_task_group() as tasks:
                for _ in range(20):
                    tasks.start_soon(recall)

        one = ada.portal.start_task_soon(crowd, ada, "ada")
        two = ben.portal.start_task_soon(crowd, ben, "ben")
        one.result()
        two.result()


def test_without_a_key_there_is_no_session(world: World, address: str) -> None:
    """A request without a key that holds is answered with 401 before the protocol is spoken."""
    with httpx2.Client(base_url=address) as http:
        for headers in ({}, {"Authorization": "Bearer rk_nonsense"}):
            answer = http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.json()["type"] == "urn:recollect:unauthorised"
        answer = http.post("/mcp", content=b"{", headers={**world.headers("ada"), "Content-Type": "application/json"})
        assert answer.status_code < 500


def test_what_agents_read_is_logged(world: World, address: str) -> None:
    """Reads through the tools stand in the space's log like those of the API."""
    with connect(address, world.headers("ada")) as agent:
        kept = agent.ask("memory_store", content="Deploys run on Tuesdays.")["id"]
        agent.ask("memory_recall", query="deploys")
        agent.ask("memory_get", id=kept)
        agent.ask("memory_list")
        agent.ask("memory_why_not", query="deploys", id=kept)
    world.flush_log()
    entries = world.server.open_directory(None).audit("ada", 10)
    assert {"recall", "read", "list", "why-not"} <= {entry.deed for entry in entries}
    assert all(entry.memories == (kept,) for entry in entries)
