"""The arms that need a Postgres: the product as a server, and the common recipe over Postgres' own full-text search."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx2
import psycopg
import pytest

from given import DOCUMENTS, QUESTIONS, Given, Letters
from recollect.bench.arms import ARMS, HARNESS, values_of, vary
from recollect.bench.cache import CachedEmbedder
from recollect.bench.campaign import Campaign, run_campaign
from recollect.bench.errors import BenchError
from recollect.bench.load import Plan, load
from recollect.bench.metrics import ENTERED
from recollect.bench.names import id_of
from recollect.bench.run import Desk
from recollect.bench.scratch import scratch_database
from recollect.bench.served import ask, serve, start_server
from recollect.bench.sources import Document, take_part
from recollect.bench.tsrank import TsRankLeg
from recollect.core.hits import Ref
from recollect.core.query import Query, Scope
from recollect.core.settings import Value

WORDS: Mapping[str, Value] = {"weight.dense": 0.0}
OWN = Document("own/1", "The Ferry leaves at noon.", "Anna & Co.", 9)


@pytest.fixture
def leg(tmp_path: Path, postgres_url: str) -> Iterator[TsRankLeg]:
    """Give the leg over the tests' documents."""
    with (
        closing(load(Plan(Given(), tmp_path))) as loaded,
        scratch_database(postgres_url) as url,
        closing(TsRankLeg(loaded.store, url)) as opened,
    ):
        yield opened


def _find(leg: TsRankLeg, text: str, scope: Scope | None = None, exclude: frozenset[str] = frozenset()) -> list[str]:
    names = {id_of(each.id): each.id for each in DOCUMENTS}
    hits = leg.search(Query(text, scope or Scope(("one",)), exclude=exclude), 10, 1.0)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [names[hit.ref.id] for hit in hits]


def _databases(server: str) -> list[str]:
    with closing(psycopg.connect(server, autocommit=True)) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'recollect_bench_%'").fetchall()
    return [name for (name,) in rows]


def test_ts_rank_has_all_words_first_then_any(leg: TsRankLeg) -> None:
    """Stemmed, in the space and before the place that was asked for, without what is excluded."""
    assert _find(leg, "painting boats") == ["d/2", "d/1"]
    assert _find(leg, "the boat's key?") == ["d/1", "d/2"]
    assert sorted(_find(leg, "boat submarine")) == ["d/1", "d/2"]
    assert _find(leg, "boat", Scope(("one",), before=2)) == ["d/1"]
    assert _find(leg, "boat", exclude=frozenset({id_of("d/1")})) == ["d/2"]
    assert _find(leg, "tea") == _find(leg, "?!") == _find(leg, "boat", Scope(("nowhere",))) == []
    assert leg.weigh(Query("boat", Scope(("one",))), Ref("one", id_of("d/1"))).summary == "found by ts_rank"


def test_ts_rank_leaves_out_a_word_that_is_there_by_chance(leg: TsRankLeg) -> None:
    """One word of a hundred has a rank too low to count."""
    assert _find(leg, "boat " + " ".join(f"word{number}" for number in range(10))) != []
    assert _find(leg, "boat " + " ".join(f"word{number}" for number in range(100))) == []


def test_the_recipe_on_postgres_answers_and_leaves_nothing_behind(tmp_path: Path, postgres_url: str) -> None:
    """It asks both legs, and its database is gone when the desk is closed."""
    before = _databases(postgres_url)
    with (
        closing(CachedEmbedder(Letters(), tmp_path)) as embedder,
        closing(Desk(take_part(Given(), "all"), tmp_path, embedder, postgres=postgres_url)) as desk,
    ):
        result = desk.run(ARMS["seeds-postgres"])
        words = desk.run(ARMS["ts-rank"])
        assert len(_databases(postgres_url)) == len(before) + 2
    assert _databases(postgres_url) == before
    assert result.failures == {}
    assert all(row.metrics["R@10"] == 1 for row in result.rows)
    assert {row.query: row.top for row in words.rows}["q/early"] == ("d/1",)


def test_a_server_answers_as_the_laptop_does(tmp_path: Path, postgres_url: str) -> None:
    """Over HTTP, whatever the sets call their spaces, with the arm's settings; its database is gone afterwards."""
    before = _databases(postgres_url)
    questions = (*QUESTIONS, replace(QUESTIONS[0], id="q/own", text="the ferry", space=OWN.space, relevant={OWN.id: 1}))
    source = Given(kept=(*DOCUMENTS, OWN), asked=questions)
    with closing(Desk(take_part(source, "all"), tmp_path, postgres=postgres_url)) as desk:
        laptop, server = (desk.run(ARMS[name]) for name in ("default", "server"))
    assert [row.top for row in server.rows] == [row.top for row in laptop.rows]
    # A server does not tell which of them no leg had found.
    told = [{name: value for name, value in row.metrics.items() if name != ENTERED} for row in laptop.rows]
    assert [row.metrics for row in server.rows] == told
    assert {row.query: row.top for row in server.rows}["q/own"] == (OWN.id,)
    assert (server.memories, server.failures, server.embedding) == (len(DOCUMENTS) + 1, {}, {})
    assert server.octets > 0
    assert _databases(postgres_url) == before


def test_what_a_server_refuses_ends_the_run() -> None:
    """A question that it does not take is no answer."""

    def refuse(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(422, text=f"{request.method} {request.url.path}: no")

    with (
        httpx2.Client(transport=httpx2.MockTransport(refuse), base_url="http://server") as client,
        pytest.raises(BenchError, match="The server answered q/keys with 422: POST /v1/recall: no"),
    ):
        ask(client, QUESTIONS[0])


def test_a_server_that_does_not_start_says_why(fresh_database: str) -> None:
    """What it said last is repeated, such as what to run first."""
    with (
        pytest.raises(BenchError, match=r"did not get ready: (.|\n)*recollect db upgrade"),
        start_server(fresh_database),
    ):
        pytest.fail("it has no schema")


def test_a_server_takes_settings_but_no_constants(tmp_path: Path, postgres_url: str) -> None:
    """What nobody can set on a server cannot be measured through one."""
    arm = vary(ARMS["server"], {"rrf.k": 10})
    values = values_of(arm, has_model=False)
    assert values.keys() == {*HARNESS, "rrf.k", "weight.dense"}
    with (
        pytest.raises(BenchError, match=r"does not let one set rrf\.k"),
        serve(Plan(Given(), tmp_path), values, postgres_url),
    ):
        pytest.fail("it was set")


@pytest.mark.parametrize("name", ["server", "seeds-postgres", "ts-rank"])
def test_an_arm_that_needs_a_postgres_says_so(tmp_path: Path, name: str) -> None:
    """Before anything is loaded."""
    (tmp_path / "datasets").mkdir()
    campaign = Campaign(tmp_path / "datasets", tmp_path, (), (ARMS[name],))
    with pytest.raises(BenchError, match=f"The arm {name} needs a Postgres .* --database"):
        run_campaign(campaign)
    with (
        closing(Desk(take_part(Given(), "all"), tmp_path)) as desk,
        pytest.raises(BenchError, match="needs a Postgres"),
    ):
        desk.run(replace(ARMS[name], values=dict(WORDS)))


def test_a_postgres_that_is_not_there_or_does_not_let_one_is_named(postgres_url: str) -> None:
    """With what to do about it."""
    nowhere = "postgresql://postgres@127.0.0.1:1/postgres"
    with pytest.raises(BenchError, match="cannot be reached"), scratch_database(nowhere):
        pytest.fail("there is none")
    with closing(psycopg.connect(postgres_url, autocommit=True)) as connection:
        connection.execute("CREATE ROLE recollect_bench_nobody LOGIN PASSWORD 'nobody'")
        try:
            there = urlsplit(postgres_url)
            place = there.netloc.rpartition("@")[2]
            nobody = urlunsplit(there._replace(netloc=f"recollect_bench_nobody:nobody@{place}"))
            with pytest.raises(BenchError, match="name a user who may"), scratch_database(nobody):
                pytest.fail("it may not")
        finally:
            connection.execute("DROP ROLE recollect_bench_nobody")
