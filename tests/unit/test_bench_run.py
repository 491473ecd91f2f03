"""A source is loaded into the product once, and every arm asks it through the product's own recall."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from given import DOCUMENTS, QUESTIONS, Given, Letters
from recollect.bench.arm_store import RememberedLeg, as_arm
from recollect.bench.arms import ARMS, HARNESS, Arm, find_arm, read_value, resolve, values_of, vary
from recollect.bench.cache import CachedEmbedder
from recollect.bench.errors import BenchError, LegMissing
from recollect.bench.fts5 import Fts5Leg
from recollect.bench.load import BEGINNING, Plan, load, store_path
from recollect.bench.names import id_of
from recollect.bench.run import SEED, Desk
from recollect.bench.sources import Document, take_part
from recollect.core.hits import Ref
from recollect.core.memory import is_id
from recollect.core.ports import Leg
from recollect.core.query import Query, Scope
from recollect.core.settings import CONSTANTS, SETTINGS, Settings


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(Desk(take_part(Given(), "all"), tmp_path)) as opened:
        yield opened


def _plan(folder: Path, source: Given | None = None, embedder: CachedEmbedder | None = None, **how: bool) -> Plan:
    return Plan(source or Given(), folder, embedder, **how)


def test_a_document_becomes_a_memory_that_says_nothing_of_its_id(tmp_path: Path) -> None:
    """Its id is a UUID, its place its seq, its time that of the source or the beginning plus its seq."""
    with closing(load(_plan(tmp_path))) as loaded:
        keys = loaded.store.memories.get([Ref("one", id_of("d/1"))])[Ref("one", id_of("d/1"))]
        tea = loaded.store.memories.get([Ref("two", id_of("d/4"))])[Ref("two", id_of("d/4"))]
        assert loaded.names.documents([keys.id, tea.id]) == ("d/1", "d/4")
    assert is_id(keys.id)
    assert (keys.content, keys.session, keys.place) == ("Anna keeps the boat keys.", "s", 1)
    assert keys.created_at == keys.updated_at == BEGINNING + timedelta(seconds=1)
    assert tea.created_at == datetime(2026, 3, 2, tzinfo=UTC)
    assert loaded.memories == 5


def test_what_was_superseded_is_linked(tmp_path: Path) -> None:
    """The newer supersedes the older one, as the product has it."""
    with closing(load(_plan(tmp_path))) as loaded:
        (link,) = loaded.store.links.among([Ref("two", id_of("d/3"))])
    assert (link.source, link.kind, link.target) == (id_of("d/4"), "supersedes", id_of("d/3"))


def test_a_second_load_finds_the_first(tmp_path: Path) -> None:
    """Nothing is read again; other data has a store of its own."""
    with closing(load(_plan(tmp_path))):
        pass

    class Unread(Given):
        def documents(self) -> Iterator[Document]:
            raise AssertionError

    with closing(load(_plan(tmp_path, Unread()))) as loaded:
        assert loaded.memories == 5
    assert store_path(_plan(tmp_path)) != store_path(_plan(tmp_path, Given(state="2")))


def test_a_load_that_was_cut_short_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there stays, what is missing is added, and the result is whole."""
    monkeypatch.setattr("recollect.bench.load.BATCH", 2)

    class Killed(Given):
        def documents(self) -> Iterator[Document]:
            yield from DOCUMENTS[:3]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(_plan(tmp_path, Killed()))
    with closing(load(_plan(tmp_path))) as loaded:
        assert loaded.memories == 5
        assert len(loaded.store.links.among([Ref("two", id_of("d/4"))])) == 1


def test_the_cache_keeps_the_stores_used_last(tmp_path: Path) -> None:
    """A set measured again and again does not fill the disk."""
    for state in range(7):
        load(_plan(tmp_path, Given(state=str(state)))).close()
    assert len(list((tmp_path / "stores" / "given").glob("*.db"))) == 4


def test_an_arm_asks_every_question_in_its_space(desk: Desk) -> None:
    """Rankings are of documents, and what does not exist yet is not found."""
    result = desk.run(ARMS["lexical"])
    tops = {row.query: row.top for row in result.rows}
    assert tops["q/keys"][0] == "d/1"
    assert tops["q/blue"][0] == "d/2"
    assert tops["q/early"] == ("d/1",)
    assert tops["q/tea"] == ("d/4",)
    assert {row.query: row.metrics["R@10"] for row in result.rows} == dict.fromkeys(tops, 1.0)
    assert (result.memories, result.failures, result.embedding) == (5, {}, {})
    assert all(row.milliseconds > 0 for row in result.rows)


def test_meaning_takes_part_where_there_is_a_model(tmp_path: Path) -> None:
    """Vectors and queries are embedded once; some queries once more, to be timed."""
    embedder = Letters()
    with (
        closing(CachedEmbedder(embedder, tmp_path)) as cached,
        closing(Desk(take_part(Given(), "all"), tmp_path, cached)) as desk,
    ):
        result = desk.run(ARMS["dense"])
        desk.run(ARMS["rrf"])
    assert all(row.top for row in result.rows)
    assert set(result.embedding) == {question.id for question in QUESTIONS}
    assert len(embedder.asked) == len(DOCUMENTS) + 2 * len(QUESTIONS)


def test_turns_are_embedded_together_or_alone(tmp_path: Path) -> None:
    """The arms have a store each where there are sessions, and share one where there are none."""
    with closing(CachedEmbedder(Letters(), tmp_path)) as cached:
        together, alone = (store_path(_plan(tmp_path, None, cached, alone=alone)) for alone in (False, True))
        assert together != alone
        apart = Given(kept=DOCUMENTS[3:])
        assert store_path(_plan(tmp_path, apart, cached, alone=True)) == store_path(_plan(tmp_path, apart, cached))
        embedder = Letters()
        with closing(CachedEmbedder(embedder, tmp_path / "other")) as fresh:
            load(_plan(tmp_path / "other", None, fresh, alone=True)).close()
            assert sorted(embedder.asked) == sorted(each.text for each in DOCUMENTS)
            load(_plan(tmp_path / "other", None, fresh)).close()
            assert len(embedder.asked) > len(DOCUMENTS)


class Broken:
    """A leg that cannot answer."""

    name = "lexical"
    least = 0.0

    def __init__(self, inside: Leg) -> None:
        self.weigh = inside.weigh

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[object]:
        raise RuntimeError(f"no {query.text} at {depth} in {seconds}")


def _break_words(leg: Leg) -> Leg:
    return Broken(leg) if leg.name == "lexical" else leg  # type: ignore[return-value]


def test_a_leg_that_fails_ends_the_run(desk: Desk) -> None:
    """Figures without it would pass for those of the whole."""
    desk.wrap = _break_words
    with pytest.raises(LegMissing, match=r"given · lexical: lexical was left out: it failed"):
        desk.run(ARMS["lexical"])


def test_failures_can_be_counted_instead(desk: Desk) -> None:
    """Then they stand beside the figures."""
    desk.wrap, desk.strict = _break_words, False
    result = desk.run(ARMS["lexical"])
    assert sum(result.failures.values()) == len(QUESTIONS)
    assert all(row.metrics["R@10"] == 0 for row in result.rows)


def test_a_leg_that_is_not_asked_counts_as_failed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that silently lacks a leg cannot be measured as if it had it."""
    monkeypatch.setattr(desk, "_legs_of", lambda _arm, _path, loaded: loaded.store.legs[:1])
    with pytest.raises(LegMissing, match="exact was not asked"):
        desk.run(vary(ARMS["lexical"], {"weight.exact": 1.0}))


def test_fts5_wants_all_words_then_any(tmp_path: Path) -> None:
    """With all words in one memory only that is found; without, whatever has one of them."""
    with closing(load(_plan(tmp_path))) as loaded, closing(Fts5Leg(loaded.store, tmp_path / "fts5")) as leg:
        scope = Scope(("one",))

        def find(text: str, scope: Scope = scope, exclude: frozenset[str] = frozenset()) -> list[str]:
            hits = leg.search(Query(text, scope, exclude=exclude), 10, 1.0)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            return sorted(loaded.names.documents([hit.ref.id for hit in hits]))

        assert find("boat keys") == ["d/1"]
        assert find("boat submarine") == ["d/1", "d/2"]
        assert find("boat", Scope(("one",), before=2)) == ["d/1"]
        assert find("boat", exclude=frozenset({id_of("d/1")})) == ["d/2"]
        assert find("tea") == find("?!") == find("boat", Scope(("nowhere",))) == []
    with closing(load(_plan(tmp_path))) as loaded, closing(Fts5Leg(loaded.store, tmp_path / "fts5")) as again:
        assert len(again.search(Query("boat", scope), 10, 1.0)) == 2


def test_random_importance_is_the_same_every_time_and_changes_nothing_else(tmp_path: Path) -> None:
    """It is drawn by the memory's id."""
    with closing(load(_plan(tmp_path))) as loaded:
        refs = list(loaded.store.memories.walk())
        before = loaded.store.memories.get(refs)
        first, second, other = (
            as_arm(loaded.store, {}, seed=seed).memories.get(refs) for seed in (SEED, SEED, SEED + 1)
        )
        assert list(as_arm(loaded.store, {}, seed=SEED).memories.walk()) == refs
    assert first == second != other
    assert len({memory.importance for memory in first.values()}) == len(refs)
    assert {ref: memory.content for ref, memory in first.items()} == {ref: before[ref].content for ref in refs}


def test_an_arms_settings_cannot_be_changed_by_the_product(tmp_path: Path) -> None:
    """What is recorded is what was in force."""
    with closing(load(_plan(tmp_path))) as loaded:
        store = as_arm(loaded.store, {"depth": 50})
        assert store.settings.read() == Settings({"depth": 50})
        with pytest.raises(BenchError, match="depth cannot become 10"):
            store.settings.set("depth", 10)


def test_a_remembered_leg_is_asked_once(tmp_path: Path) -> None:
    """The same question at the same depth has the same hits; another is asked anew."""
    with closing(load(_plan(tmp_path))) as loaded:
        asked: list[tuple[str, int]] = []
        inside = loaded.store.legs[0]

        class Noting(Broken):
            def search(self, query: Query, depth: int, seconds: float) -> Sequence[object]:
                asked.append((query.text, depth))
                return inside.search(query, depth, seconds)

        leg = RememberedLeg(Noting(inside))  # type: ignore[arg-type]
        query = Query("boat", Scope(("one",)))
        assert leg.search(query, 10, 1.0) == leg.search(query, 10, 1.0) == inside.search(query, 10, 1.0)
        leg.search(query, 20, 1.0)
        assert leg.weigh(query, Ref("one", id_of("d/1"))).parts
    assert asked == [("boat", 10), ("boat", 20)]
    assert (leg.name, leg.least) == ("lexical", 0.0)


@pytest.mark.parametrize("arm", ARMS.values(), ids=lambda arm: arm.name)
def test_every_arm_sets_only_what_the_product_reads(arm: Arm) -> None:
    """Each value is one that its setting takes, and all others are recorded with their defaults."""
    values = values_of(arm, has_model=True)
    assert {name: read_value(name, str(value)) for name, value in values.items()} == values
    resolved = resolve(values)
    assert resolved.keys() == SETTINGS.keys() | CONSTANTS.keys()
    assert resolved["leg-timeout-ms"] == HARNESS["leg-timeout-ms"]
    assert all(resolved[name] == value for name, value in arm.values.items())


def test_the_default_arm_changes_nothing_of_the_product() -> None:
    """Only the time limits, which a busy machine must not run into."""
    assert values_of(ARMS["default"], has_model=True) == HARNESS


def test_an_arm_about_meaning_needs_a_model() -> None:
    """The default does not: it is then the product without one."""
    with pytest.raises(BenchError, match="name a model with --model"):
        values_of(ARMS["dense"], has_model=False)
    assert values_of(ARMS["default"], has_model=False)["weight.dense"] == 0.0


def test_unknown_names_are_refused() -> None:
    """With those that there are."""
    with pytest.raises(BenchError, match="There is no arm 'best'"):
        find_arm("best")
    with pytest.raises(BenchError, match=r"There is no setting 'rrf\.q'"):
        values_of(vary(ARMS["rrf"], {"rrf.q": 1}), has_model=True)


def test_a_varied_arm_has_a_name_of_its_own() -> None:
    """A changed setting shows in the name."""
    varied = vary(ARMS["rrf"], {"rrf.k": 10})
    assert (varied.name, varied.values["rrf.k"]) == ("rrf+rrf.k=10", 10)
    assert vary(ARMS["rrf"], {}) is ARMS["rrf"]
