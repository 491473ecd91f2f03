"""The MCP server as an agent meets it: the official client, real stdio, a real process."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_type_hints

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent, Tool
from pydantic import TypeAdapter

import recollect
from making import wait_until
from recollect.core.memory import is_id
from recollect.mcp import results
from recollect.mcp.showing import Showing
from recollect.mcp.wording import word_recall

PROJECT = "github.com/acme/shop"
TOOLS = {
    "memory_store": results.KeptResult,
    "memory_recall": results.RecallResult,
    "memory_get": results.GetResult,
    "memory_update": results.KeptResult,
    "memory_delete": results.DeleteResult,
    "memory_list": results.ListResult,
    "memory_link": results.LinkResult,
    "memory_why_not": results.WhyNotResult,
    "memory_stats": results.StatsResult,
}


class Agent:
    """A connected client, called from plain functions."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.portal.call(self.client.list_tools).tools}

    def call(self, name: str, **arguments: Any) -> CallToolResult:  # noqa: ANN401 - whatever an agent may send
        result: CallToolResult = self.portal.call(self.client.call_tool, name, arguments)
        return result

    def ask(self, name: str, **arguments: Any) -> Any:  # noqa: ANN401 - read as the tool's own type
        """Give a tool's typed answer; the client itself has checked it against the published schema."""
        result = self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        assert text_of(result)
        assert result.structured_content.keys() <= get_type_hints(TOOLS[name]).keys()
        return TypeAdapter(TOOLS[name]).validate_python(result.structured_content, strict=True)

    def read(self, name: str, **arguments: Any) -> str:  # noqa: ANN401
        result = self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def refusal(self, name: str, **arguments: Any) -> str:  # noqa: ANN401
        result = self.call(name, **arguments)
        assert result.is_error
        return text_of(result)

    def store(self, content: str, **arguments: Any) -> str:  # noqa: ANN401
        kept: results.KeptResult = self.ask("memory_store", content=content, **arguments)
        return kept["id"]

    def recall(self, query: str, **arguments: Any) -> list[results.RecalledMemory]:  # noqa: ANN401
        answer: results.RecallResult = self.ask("memory_recall", query=query, **arguments)
        return answer["memories"]


@contextmanager
def connect(home: Path) -> Iterator[Agent]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "recollect", "mcp"],
        env={**os.environ, "RECOLLECT_HOME": str(home), "RECOLLECT_PROJECT": PROJECT},
    )
    log = home / "stderr.txt"
    with log.open("a", encoding="utf-8") as errors, start_blocking_portal() as portal:
        client = Client(stdio_client(parameters, errlog=errors))
        with portal.wrap_async_context_manager(client):
            yield Agent(portal, client)
    assert not log.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """One server for the tests that do not count what it holds: each works in a project of its own."""
    with connect(tmp_path_factory.mktemp("shared")) as connected:
        yield connected


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def test_the_tools_teach_and_are_typed(agent: Agent) -> None:
    """Every tool has a description, a schema for its answer, and a line for each of its parameters."""
    tools = agent.tools()
    assert list(tools) == list(TOOLS)
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert all(each["description"] for each in tool.input_schema["properties"].values()), tool.name
    store = tools["memory_store"].description or ""
    assert all(word in store for word in ("When:", "Not:", "How:", "heading", "pronouns", "dates"))
    assert "Recall before" in (agent.client.instructions or "")


def test_the_words_every_session_pays_for_are_few(agent: Agent) -> None:
    """What a model is shown of the tools stays under 2,500 tokens of four characters."""
    shown = [f"{tool.name}{tool.description}{tool.input_schema}" for tool in agent.tools().values()]
    assert len("".join(shown)) + len(agent.client.instructions or "") < 10_000


def test_hints_tell_reading_from_changing(agent: Agent) -> None:
    """A client can allow the reading tools without asking, and knows which ones take something away."""
    hints = {name: tool.annotations for name, tool in agent.tools().items()}
    assert {name for name, hint in hints.items() if hint and hint.read_only_hint} == {
        "memory_recall", "memory_get", "memory_list", "memory_why_not", "memory_stats",
    }  # fmt: skip
    assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == {
        "memory_update",
        "memory_delete",
    }
    assert not any(hint.open_world_hint for hint in hints.values() if hint)


def test_a_stored_memory_is_recalled_whole(agent: Agent) -> None:
    """What was stored comes back word for word, with what an agent needs to judge it."""
    began = f"{datetime.now(UTC):%Y-%m-%d}"
    content = "Ana chose Postgres for acme/shop on 2026-05-01.\nSQLite locked up under the nightly import."
    identity = agent.store(
        content, category="decisions", tags=["database"], keywords=["storage"], importance=0.8, project="whole"
    )
    (memory,) = agent.recall("why Postgres storage", project="whole")
    assert began <= memory["created"] <= f"{datetime.now(UTC):%Y-%m-%d}"
    assert memory == {
        "id": identity, "content": content, "category": "decisions", "created": memory["created"], "age": "today",
        "tags": ["database"], "importance": 0.8, "project": "whole", "score": memory["score"],
    }  # fmt: skip
    assert content in agent.read("memory_recall", query="why Postgres storage", project="whole")


def test_nothing_found_says_what_to_try(agent: Agent) -> None:
    """An empty answer is no error and tells where else to look."""
    assert 'project "*"' in agent.read("memory_recall", query="xylophone", project="nothing")


def test_a_project_sees_its_own_and_the_general(agent: Agent) -> None:
    """A scope sees its project and what belongs to none; `*` and null see everything; the default is the server's."""
    here = agent.store("The walrus build runs on Linux.")
    there = agent.store("The walrus build runs on Windows.", project="elsewhere")
    general = agent.store("A walrus build takes an hour.", general=True)
    starred = agent.store("A walrus build needs a licence.", project="*")
    everything = {here, there, general, starred}
    assert {memory["id"] for memory in agent.recall("walrus build")} == everything - {there}
    assert {memory["id"] for memory in agent.recall("walrus build", project="elsewhere")} == everything - {here}
    assert {memory["id"] for memory in agent.recall("walrus build", project="*")} == everything
    assert {memory["id"] for memory in agent.recall("walrus build", project=None)} == everything
    assert agent.ask("memory_get", id=here)["project"] == PROJECT


def test_every_way_to_narrow_a_recall(agent: Agent) -> None:
    """Limit, budget, exclude, sessions, categories, before and sort do what they say; what is left out is counted."""
    ids = [
        agent.store(
            f"Otter number {number} sleeps.", project="narrow", session=f"night {number % 2}", place=number,
            category="facts" if number else "people", importance=number / 10,
        )
        for number in range(4)
    ]  # fmt: skip

    def found(**arguments: Any) -> list[str]:  # noqa: ANN401
        return [memory["id"] for memory in agent.recall("otter sleeps", project="narrow", **arguments)]

    assert set(found()) == set(ids)
    assert found(sort="importance") == ids[::-1]
    assert found(sort="recency") == ids[::-1]
    assert set(found(sessions=["night 1"])) == {ids[1], ids[3]}
    assert found(categories=["people"]) == [ids[0]]
    third = agent.ask("memory_get", id=ids[3])
    assert (third["session"], third["place"]) == ("night 1", 3)
    assert set(found(before=2)) == {ids[0], ids[1]}
    assert set(found(exclude=[ids[0], ids[1][-8:]])) == {ids[2], ids[3]}
    limited = agent.ask("memory_recall", query="otter sleeps", project="narrow", limit=1)
    assert limited["left_out"] == {"over the limit": 3}
    packed = agent.ask("memory_recall", query="otter sleeps", project="narrow", budget=12)
    assert len(packed["memories"]) == 2
    assert packed["left_out"] == {"over the budget": 2}
    assert "Left out: 2 over the budget." in agent.read(
        "memory_recall", query="otter sleeps", project="narrow", budget=12
    )


def test_a_recall_can_look_back(agent: Agent) -> None:
    """`as_of` answers with what was believed at that time."""
    identity = agent.store("The badger release is in May.", project="past")
    before = datetime.now(UTC).isoformat()
    agent.ask("memory_update", id=identity, content="The badger release is in June.")
    (then,) = agent.recall("badger release", project="past", as_of=before)
    (now,) = agent.recall("badger release", project="past")
    assert (then["content"], now["content"]) == ("The badger release is in May.", "The badger release is in June.")
    assert agent.recall("badger release", project="past", as_of="2020-01-01") == []


def test_an_agent_is_told_how_old_a_memory_is(tmp_path: Path) -> None:
    """Ages are in the largest unit that fits, since a model may not know today's date."""
    ages = {800: "2 years ago", 65: "2 months ago", 8: "1 week ago", 1: "1 day ago", 0: "today"}
    with recollect.open(tmp_path / "memory.db") as owner:
        for days in ages:
            owner.remember("The marmot wakes.", at=datetime.now(UTC) - timedelta(days=days, minutes=1))
    with connect(tmp_path) as agent:
        assert [memory["age"] for memory in agent.recall("marmot", sort="recency")] == list(ages.values())[::-1]


def test_a_leg_that_was_left_out_is_said_so(tmp_path: Path) -> None:
    """What a recall has to say about how it came about reaches the agent in both forms of the answer."""
    with recollect.open(tmp_path / "memory.db") as memory:
        answer = replace(memory.recall("anything"), notices=("lexical was left out: it took too long.",))
        result = Showing(memory).recall(answer, explained=False)
    assert dict(result) == {"memories": [], "notices": ["lexical was left out: it took too long."]}
    assert "Notice: lexical was left out: it took too long." in word_recall(result)


def test_an_explained_recall_shows_the_stages(agent: Agent) -> None:
    """`explain` adds where a memory stood after each stage and which words matched."""
    agent.store("The lynx proxy drops idle connections.", project="explained")
    (memory,) = agent.recall("lynx proxy", project="explained", explain=True)
    way, matched, *_ = memory["explanation"]
    assert way.startswith("lexical #1 ")
    assert [step.split()[0] for step in way.split(" > ")][-4:] == ["fusion", "prior", "links", "pack"]
    assert "lynx" in matched
    assert "explanation" not in agent.recall("lynx proxy", project="explained")[0]


def test_an_explained_recall_shows_the_way_of_a_memory_that_no_leg_found(agent: Agent) -> None:
    """What shares a rare word with the best comes along; `explain` and `why_not` say by what, and from which memory."""
    source = agent.store("The quokka cron job is run by Zsofia.", project="spread")
    target = agent.store("Zsofia is away until May.", project="spread")
    first, second = agent.recall("quokka cron", project="spread", explain=True)
    assert (first["id"], second["id"]) == (source, target)
    way, spread, *_ = second["explanation"]
    assert [step.split()[0] for step in way.split(" > ")] == ["spread", "prior", "links", "pack"]
    assert spread.lower() == (
        f"spread: found by no leg; came by 'zsofia' from {source[-8:]} (the quokka cron job is run by zsofia.)"
    )
    why_not = agent.ask("memory_why_not", query="quokka cron", id=target, project="spread")
    assert why_not["found"]
    assert f"it came by 'zsofia' from {source[-8:]}" in why_not["reason"].lower()


def test_links_shape_a_recall(agent: Agent) -> None:
    """The newer stands in for the older, an answer comes attached and whole, the rest is one line each."""
    old = agent.store("Ferret deploys run on Monday.", project="links")
    new = agent.store("Ferret rollouts are on Tuesday.", project="links")
    problem = agent.store("Ferret deploys fail with E1101.", project="links")
    remedy = agent.store("Clear the cache.\nThen try again.", project="links")
    whole = agent.store("Everything about releases.\nLong.", project="links")
    for source, kind, target in (
        (new, "supersedes", old),
        (problem, "resolved-by", remedy),
        (problem, "part-of", whole),
        (problem, "see-also", new),
    ):
        linked = agent.ask("memory_link", source=source, kind=kind, target=target)
        assert (linked["source"], linked["kind"], linked["target"]) == (source, kind, target)
        assert linked["effect"]
    found = {memory["id"]: memory for memory in agent.recall("ferret deploys", project="links")}
    # The whole has no word of the query: it comes along by its link to what has.
    assert found.keys() == {new, problem, whole}
    assert found[new]["instead_of"] == [old]
    assert [answer["content"] for answer in found[problem]["answers"]] == ["Clear the cache.\nThen try again."]
    assert found[problem]["pointers"] == [
        {"how": "part-of", "id": whole, "heading": "Everything about releases."},
        {"how": "see-also", "id": new, "heading": "Ferret rollouts are on Tuesday."},
    ]
    links = agent.ask("memory_get", id=old)["links"]
    assert links == [{"how": "superseded-by", "id": new, "heading": "Ferret rollouts are on Tuesday."}]


def test_an_update_changes_only_what_is_given(agent: Agent) -> None:
    """Fields that are left out or null stay, a list can be emptied, and the version counts up."""
    identity = agent.store("The heron job runs nightly.", project="update", tags=["jobs"], keywords=["cron"])
    updated = agent.ask("memory_update", id=identity[-8:], importance=0.9, content=None, tags=None, version=1)
    assert (updated["id"], updated["version"]) == (identity, 2)
    agent.ask("memory_update", id=identity, keywords=[], project="*")
    memory = agent.ask("memory_get", id=identity)
    assert (memory["content"], memory["importance"], memory["tags"]) == ("The heron job runs nightly.", 0.9, ["jobs"])
    assert (memory["version"], "keywords" in memory, "project" in memory) == (3, False, False)


@pytest.mark.parametrize("content", ['{"port": 8080}', "[1, 2]", "null", "true", "42"])
def test_text_that_looks_like_json_stays_text(agent: Agent, content: str) -> None:
    """The SDK reads JSON out of strings for other types; a memory's text is kept as it was given."""
    identity = agent.store(content, project="json")
    assert agent.ask("memory_get", id=identity)["content"] == content
    agent.ask("memory_update", id=identity, content="changed")
    agent.ask("memory_update", id=identity, content=content)
    assert agent.ask("memory_get", id=identity)["content"] == content


def test_concepts_are_read_while_it_runs(tmp_path: Path) -> None:
    """Without a model and without anybody asking, what an agent stores has its concepts soon."""
    with connect(tmp_path) as agent, recollect.open(tmp_path / "memory.db") as owner:
        for content in ("The stork server is in Lisbon.", "It rains in Lisbon."):
            agent.store(content)
        known = owner.store.concepts

        def is_read() -> bool:
            concept = known.find("personal", "Lisbon")
            return concept is not None and len(concept.mentions) == 2

        wait_until(is_read)
        assert [reader.waiting for reader in known.readers()] == [0]


def test_a_deleted_memory_can_be_brought_back(tmp_path: Path) -> None:
    """No recall finds it, its owner is told how to undo that, and the command works."""
    with connect(tmp_path) as agent:
        identity = agent.store("The stork server is in Lisbon.")
        deleted = agent.ask("memory_delete", id=identity)
        assert deleted == {
            "id": identity,
            "heading": "The stork server is in Lisbon.",
            "undo": f"recollect undo {identity[-8:]}",
        }
        assert agent.recall("stork server") == []
        assert "forgotten" in agent.ask("memory_get", id=identity)
        with recollect.open(tmp_path / "memory.db") as owner:
            owner.undo(identity[-8:])
        assert [memory["id"] for memory in agent.recall("stork server")] == [identity]


def test_a_list_pages_through_headings(tmp_path: Path) -> None:
    """Pages go from new to old by cursor, with headings only, and the last one has no next."""
    with connect(tmp_path) as agent:
        ids = [
            agent.store(f"Heading {number}\nBody {number}", category="people" if number == 2 else "facts")
            for number in range(5)
        ]
        first = agent.ask("memory_list", limit=3)
        assert [memory["id"] for memory in first["memories"]] == ids[:1:-1]
        assert first["memories"][0]["heading"] == "Heading 4"
        second = agent.ask("memory_list", limit=3, after=first["next"])
        assert [memory["id"] for memory in second["memories"]] == ids[1::-1]
        assert "next" not in second
        assert [memory["id"] for memory in agent.ask("memory_list", categories=["people"])["memories"]] == [ids[2]]
        assert agent.ask("memory_list", project="elsewhere")["memories"] == []
        assert "Body" not in agent.read("memory_list")


def test_stats_count_what_is_kept(tmp_path: Path) -> None:
    """Counts start at zero and follow what is stored, linked and deleted."""
    with connect(tmp_path) as agent:
        nothing = {"memories": 0, "forgotten": 0, "sensitive": 0, "links": 0, "categories": {}, "projects": {}}
        assert agent.ask("memory_stats") == {**nothing, "project": PROJECT}
        first, second, third = (agent.store(f"Crane {number}", sensitive=number == 1) for number in range(3))
        agent.ask("memory_link", source=first, kind="see-also", target=second)
        agent.ask("memory_delete", id=third)
        assert agent.ask("memory_stats") == {
            "memories": 2, "forgotten": 1, "sensitive": 1, "links": 1,
            "categories": {"facts": 2}, "projects": {PROJECT: 2}, "project": PROJECT,
        }  # fmt: skip


def test_why_not_names_the_stage(agent: Agent) -> None:
    """A missing memory is explained by the scope, the legs, the links or the pack; one that is there is said to be."""
    plain = agent.store("The toucan index is sharded.", project="why")
    other = agent.store("The toucan index is sharded by day.", project="why-other")

    def stage(query: str, **arguments: Any) -> str:  # noqa: ANN401
        why: results.WhyNotResult = agent.ask("memory_why_not", query=query, **arguments)
        return why["stage"]

    assert stage("toucan", id=other, project="why") == "scope"
    assert stage("pelican", id=plain, project="why") == "legs"
    found = agent.ask("memory_why_not", query="toucan", id=plain, project="why")
    assert (found["found"], found["rank"]) == (True, 1)
    assert stage("toucan", id=plain, project="why", exclude=[plain]) == "scope"
    agent.store("Toucan toucan toucan.", project="why")
    assert "over the limit" in agent.read("memory_why_not", query="toucan", id=plain, project="why", limit=1)


def test_a_client_id_makes_storing_idempotent(agent: Agent) -> None:
    """The same id and text twice is one memory; another text under that id, or a forgotten one, is refused."""
    identity = "0190a0b0-c0d0-7000-8000-00000000000e"
    assert [agent.store("The ibis key rotates.", id=identity, project="client") for _ in range(2)] == [identity] * 2
    assert len(agent.recall("ibis", project="client")) == 1
    assert "already" in agent.refusal("memory_store", content="Another text.", id=identity, project="client")
    agent.ask("memory_delete", id=identity)
    assert "recollect undo" in agent.refusal(
        "memory_store", content="The ibis key rotates.", id=identity, project="client"
    )
    assert "UUID" in agent.refusal("memory_store", content="Another text.", id="my-id")


def test_refusals_say_what_to_do(agent: Agent) -> None:
    """Whatever is wrong with a call, the agent reads why and what would be right."""
    identity = agent.store("The moose gateway retries.", project="refusals")
    agent.ask("memory_update", id=identity, importance=0.6)
    too_long = agent.refusal("memory_store", content="long " * 400)
    assert all(words in too_long for words in ("2,000 characters", "1,400", "Split it", "part-of"))
    assert "memory_list" in agent.refusal("memory_get", id="00000000")
    assert "supersedes" in agent.refusal("memory_link", source=identity, kind="replaces", target=identity)
    assert "itself" in agent.refusal("memory_link", source=identity, kind="see-also", target=identity)
    assert "recency" in agent.refusal("memory_recall", query="moose", sort="best")
    assert "empty" in agent.refusal("memory_recall", query=" ")
    assert "2026-05-31" in agent.refusal("memory_recall", query="moose", as_of="last week")
    assert "version 2" in agent.refusal("memory_update", id=identity, importance=0.7, version=1)
    assert "nothing to change" in agent.refusal("memory_update", id=identity)
    assert "0 to 1" in agent.refusal("memory_store", content="Moose.", importance=7)
    assert "greater than" in agent.refusal("memory_list", limit=0)


def test_arguments_that_do_not_fit_are_named(agent: Agent) -> None:
    """A misspelt, missing or mistyped argument is refused by its name, and never dropped or repeated."""
    assert agent.refusal("memory_store", content="Gnu.", tag=["a"]).startswith("memory_store takes no tag: ")
    assert "query: Field required" in agent.refusal("memory_recall")
    wrong = agent.refusal("memory_store", content=["very private"], tags="also private", importance="high")
    assert all(name in wrong for name in ("content:", "tags:", "importance:"))
    assert "private" not in wrong
    assert "pydantic" not in wrong
    assert "memory_forget" in agent.refusal("memory_forget")


def test_calls_run_side_by_side(agent: Agent) -> None:
    """Forty calls at once, half of them writing, are all answered, and every write is there."""
    kept: list[CallToolResult] = []

    async def store(number: int) -> None:
        arguments = {"content": f"Swallow nest number {number}.", "project": "crowd"}
        kept.append(await agent.client.call_tool("memory_store", arguments))

    async def recall() -> None:
        answer = await agent.client.call_tool("memory_recall", {"query": "swallow nest", "project": "crowd"})
        assert not answer.is_error

    async def crowd() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(store, number)
                tasks.start_soon(recall)

    agent.portal.call(crowd)
    ids = {result.structured_content["id"] for result in kept}
    assert all(map(is_id, ids))
    assert {memory["id"] for memory in agent.recall("swallow nest", project="crowd", limit=100)} == ids


def test_two_servers_share_a_store(tmp_path: Path) -> None:
    """What one process stores or changes, another that was already running recalls at once."""
    with connect(tmp_path) as first, connect(tmp_path) as second:
        assert second.recall("puffin") == []
        identity = first.store("The puffin cluster has nine nodes.")
        assert [memory["id"] for memory in second.recall("puffin")] == [identity]
        second.ask("memory_update", id=identity, content="The puffin cluster has ten nodes.")
        assert first.recall("puffin")[0]["content"] == "The puffin cluster has ten nodes."
