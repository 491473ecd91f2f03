"""The arms about the graph: triples imported, sets without capitals, and the graph as a leg, as the seeds had it."""

import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from given import Given, Letters
from making import make_query
from recollect.bench.arms import ARMS
from recollect.bench.cache import CachedEmbedder
from recollect.bench.campaign import open_source
from recollect.bench.datasets import Dataset
from recollect.bench.graph import GraphLeg
from recollect.bench.load import Plan, load, store_path
from recollect.bench.lowered import Lowered
from recollect.bench.metrics import ENTERED
from recollect.bench.names import id_of
from recollect.bench.run import Desk
from recollect.bench.sources import Document, Question, take_part
from recollect.core.concepts import Relation
from recollect.core.hits import Ref

TEXTS = {
    "palmer": "Lilli Palmer\nA German actress, married to Rex Harrison.",
    "harrison": "Rex Harrison\nAn English actor of stage and screen.",
    "harbour": "The harbour opens at noon.",
    "tide": "The tide turns at noon.",
}


class People(Given):
    def documents(self) -> Iterator[Document]:
        for index, (name, text) in enumerate(TEXTS.items()):
            yield Document(name, text, self.name, index)

    def questions(self) -> Sequence[Question]:
        return [Question("spouse", "Lilli Palmer's husband", self.name, "multi-hop", {"harrison": 1}, hops=2)]

    def triples(self) -> Iterator[tuple[str, Relation]]:
        yield "palmer", Relation("Lilli Palmer", "married to", "Rex Harrison")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(Desk(take_part(People(), "all"), tmp_path)) as opened:
        yield opened


def test_what_score_flowed_to_is_counted(desk: Desk) -> None:
    """A memory that no leg found enters by the name it shares, and is counted; without spread none does."""
    (row,) = desk.run(ARMS["default"]).rows
    (without,) = desk.run(ARMS["no-spread"]).rows
    assert row.metrics[ENTERED] == 1
    assert "harrison" in row.top
    assert without.metrics[ENTERED] == 0
    assert "harrison" not in without.top


def test_triples_are_imported_where_an_arm_asks_for_them(tmp_path: Path) -> None:
    """The arm's store has the relations, the default's has not, and they are two stores."""
    plain, with_triples = (Plan(People(), tmp_path, triples=triples) for triples in (False, True))
    assert store_path(plain) != store_path(with_triples)
    for plan, relations in ((plain, []), (with_triples, ["married to"])):
        with closing(load(plan)) as loaded:
            concept = loaded.store.concepts.find("given", "rex harrison")
        assert concept is not None
        assert [said.relation for said in concept.relations] == relations


def test_a_set_brings_its_triples_along(tmp_path: Path) -> None:
    """They are read from its folder; a set without them has none."""
    for name in ("corpus.jsonl.gz", "queries.jsonl.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b""))
    (tmp_path / "qrels.tsv").write_text("")
    assert list(Dataset(tmp_path).triples()) == []
    record = {"doc_id": "d", "subject": "A", "relation": "knows", "object": "B"}
    (tmp_path / "triples.jsonl.gz").write_bytes(gzip.compress(json.dumps(record).encode()))
    assert list(Dataset(tmp_path).triples()) == [("d", Relation("A", "knows", "B"))]


def test_a_set_can_lose_its_capitals(tmp_path: Path) -> None:
    """Documents and questions are in lower case, under a name and a fingerprint of their own."""
    lowered = Lowered(People())
    assert all(each.text == each.text.lower() for each in lowered.documents())
    assert lowered.questions()[0].text == "lilli palmer's husband"
    assert (lowered.name, lowered.corpus) == ("given_lower", lowered)
    assert lowered.fingerprint() != People().fingerprint()
    (tmp_path / "set").mkdir()
    for name in ("corpus.jsonl.gz", "queries.jsonl.gz"):
        (tmp_path / "set" / name).write_bytes(gzip.compress(b""))
    (tmp_path / "set" / "qrels.tsv").write_text("")
    assert open_source(tmp_path, "set_lower").name == "set_lower"


@pytest.mark.parametrize(("base", "found"), [(False, ["harrison"]), (True, ["harrison"])])
def test_the_graph_can_be_a_leg(tmp_path: Path, base: bool, found: list[str]) -> None:
    """It brings what shares a name with the best, and of those that others found only if it may."""
    with closing(load(Plan(People(), tmp_path))) as loaded:
        leg = GraphLeg(loaded.store, loaded.store.legs[:1], base=base)
        query = make_query("Lilli Palmer", "given")
        hits = leg.search(query, 10, 10.0)
        both = leg.search(make_query("Palmer Harrison", "given"), 10, 10.0)
        assert leg.weigh(query, Ref("given", id_of("palmer"))).summary
    assert [hit.ref.id for hit in hits] == [id_of(each) for each in found]
    assert len(both) == (2 if base else 0)


@pytest.mark.parametrize("name", ["seeds-graph", "seeds-graph-base", "spread-all", "spread-relations", "triples"])
def test_every_arm_of_the_graph_runs(tmp_path: Path, name: str) -> None:
    """Each answers through the product's own recall."""
    with (
        closing(CachedEmbedder(Letters(), tmp_path)) as embedder,
        closing(Desk(take_part(People(), "all"), tmp_path, embedder)) as desk,
    ):
        (row,) = desk.run(ARMS[name]).rows
    assert "palmer" in row.top
