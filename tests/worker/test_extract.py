"""A worker reads what waits: what was there before it, what comes later, and all again when its rules are newer."""

import pytest

from making import change_memory, forget_memory, make_memory
from recollect.core.concepts import RULES
from recollect.service import extract
from recollect.stores.postgres.jobs import retry_jobs
from recollect.worker import tasks
from recollect.worker.queue import Backoff
from recollect.worker.run import Pace
from working import Shop

ONCE = Pace(backoff=Backoff(first=0.0, tries=1))


def _mentioned(shop: Shop, name: str, space: str = "personal") -> int:
    concept = shop.store.concepts.find(space, name)
    return 0 if concept is None else len(concept.mentions)


def _is_healthy(shop: Shop) -> bool:
    return shop.store.examine(lambda _done, _total: None) == []


def test_what_was_there_before_the_worker_is_read(shop: Shop) -> None:
    """A worker that starts reads every space, without anybody having asked for it."""
    shop.store.memories.add([make_memory(1, "We met Anna."), make_memory(2, "We met Anna.", space="ours")])
    assert [job.task for job in shop.jobs()] == ["embed", "embed"]
    shop.work()
    assert (_mentioned(shop, "Anna"), _mentioned(shop, "Anna", "ours")) == (1, 1)
    assert shop.jobs() == []
    assert shop.ask("SELECT count(*) FROM unread") == [(0,)]
    assert _is_healthy(shop)


def test_a_write_defers_one_job_a_space_to_read_it(shop: Shop) -> None:
    """However much is written, a space has one job of each task that waits; a sensitive memory has none."""
    shop.store.concepts.begin(RULES)
    shop.store.memories.add([make_memory(1, sensitive=True)])
    assert shop.jobs() == []
    for number in (2, 3):
        shop.store.memories.add([make_memory(number, "We met Anna.")])
    shop.store.memories.change(change_memory(make_memory(2), 60, content="We met Berta."))
    assert [(job.task, job.space) for job in shop.jobs()] == [("embed", "personal"), ("extract", "personal")]
    shop.work()
    assert (_mentioned(shop, "Anna"), _mentioned(shop, "Berta")) == (1, 1)
    assert _is_healthy(shop)


def test_an_edit_of_tags_is_read_and_not_embedded(shop: Shop) -> None:
    """Each task has a job for what it depends on, and for nothing else."""
    memory = make_memory(1)
    shop.store.memories.add([memory])
    shop.work()
    tagged = change_memory(memory, 60, tags=("Anna",))
    shop.store.memories.change(tagged)
    assert [job.task for job in shop.jobs()] == ["extract"]
    shop.work()
    assert _mentioned(shop, "Anna") == 1
    shop.store.memories.change(forget_memory(tagged, 70))
    assert shop.jobs() == []


def test_a_model_in_trouble_keeps_nobody_from_reading(shop: Shop) -> None:
    """Concepts need no model: they are read while a job that embeds fails."""

    def refuse(_: str) -> None:
        raise OSError("no model")

    shop.workshop.gates = type(shop.workshop.gates)(refuse)  # type: ignore[arg-type]
    shop.store.memories.add([make_memory(1, "We met Anna.")])
    shop.work(ONCE)
    assert _mentioned(shop, "Anna") == 1
    assert [job.task for job in shop.jobs("failed")] == ["embed"]


def test_a_reading_that_fails_is_tried_again(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that could not read is kept with its reason, and does its work when it is retried."""
    with monkeypatch.context() as patch:
        patch.setattr(extract, "read_concepts", lambda _: 1 // 0)
        shop.store.memories.add([make_memory(1, "We met Anna.")])
        shop.work(ONCE)
    (job,) = shop.jobs("failed")
    assert (job.task, job.reason) == ("extract", "ZeroDivisionError")
    with shop.database.write() as connection:
        retry_jobs(connection, job.id)
    shop.work()
    assert _mentioned(shop, "Anna") == 1
    assert shop.jobs() == []


def test_newer_rules_read_everything_again(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose rules are newer drops what older ones read; one whose rules are older leaves it to that."""
    shop.store.memories.add([make_memory(1, "We met Anna.")])
    shop.work()
    with monkeypatch.context() as patch:
        patch.setattr(extract.Rules, "name", "rules 999")
        shop.work()
        shop.store.memories.add([make_memory(2, "We met Anna.")])
        shop.work()
        assert [(each.name, each.waiting) for each in shop.store.concepts.readers()] == [("rules 999", 0)]
        assert _mentioned(shop, "Anna") == 2
    shop.store.memories.add([make_memory(3, "We met Anna.")])
    shop.work()
    (job,) = shop.jobs()
    assert job.reason == "newer rules are in use than this worker has: upgrade it"
    assert [(each.name, each.waiting) for each in shop.store.concepts.readers()] == [("rules 999", 1)]


def test_a_worker_that_is_stopped_puts_back_what_it_did_not_read(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two batches a job that is asked to stop is put back; one that was done then is done."""
    monkeypatch.setattr(extract, "BATCH", 2)
    shop.store.concepts.begin(RULES)
    shop.store.memories.add([make_memory(number) for number in (1, 2, 3)])
    shop.workshop.stopping.set()
    with pytest.raises(tasks.Unfinished, match="stopped") as stopped:
        tasks.extract(shop.workshop, shop.key_of())
    assert (stopped.value.again, stopped.value.moved) == ("now", True)
    shop.workshop.stopping.clear()
    tasks.extract(shop.workshop, shop.key_of())
    shop.workshop.stopping.set()
    tasks.extract(shop.workshop, shop.key_of())
    assert _is_healthy(shop)


def test_a_space_that_is_gone_is_no_trouble_to_read(shop: Shop) -> None:
    """A job whose space was removed meanwhile ends well."""
    with shop.database.write() as connection:
        connection.execute("SELECT recollect_defer('extract', 999)")
    shop.work()
    assert shop.jobs() == []
