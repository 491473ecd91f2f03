"""What waits is embedded by a worker: each once, of its newest text, whatever a model does meanwhile."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from fakes import ToyEmbedder
from making import change_memory, forget_memory, id_of, make_memory, use_model
from provider_server import Provider, Scripted, serve, vector_of
from recollect.config import read_config
from recollect.core.errors import EmbedderError, TextRefused
from recollect.core.vectors import Vector, to_unit
from recollect.stores.postgres.jobs import job_lag, retry_jobs
from recollect.wiring import open_embedder
from recollect.worker.queue import Backoff
from recollect.worker.run import Pace
from working import EAGER, Shop, open_shop


@dataclass
class PickyEmbedder(ToyEmbedder):
    """Refuses texts with a certain word."""

    word: str = "unspeakable"

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.shown += texts
        if any(self.word in text for text in texts):
            raise TextRefused(f"The server answered: status 400, 'cannot read {texts}'. See the model's options.")
        return [self.vector(text) for text in texts]


@dataclass
class MeddlingEmbedder(ToyEmbedder):
    """Lets something happen while it embeds, once."""

    meanwhile: list[Callable[[], object]] = field(default_factory=list)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        while self.meanwhile:
            self.meanwhile.pop()()
        return super().embed_documents(texts)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serve() as serving:
        yield serving


def test_everything_is_embedded_once(empty_store_database: str) -> None:
    """Several spaces in several threads: each text reaches the model once, and nothing is left to do."""
    toy = ToyEmbedder()
    with open_shop(empty_store_database, lambda _: toy) as shop:
        spaces = ("personal", "ours", "theirs")
        for number in range(1, 151):
            memory = make_memory(number, f"Memory {number}.", space=spaces[number % 3])
            shop.store.memories.add([memory])
        shop.work(concurrency=3)
        assert sorted(toy.shown) == sorted(f"Memory {number}." for number in range(1, 151))
        vectors = shop.vectors()
        assert vectors.keys() == {id_of(number) for number in range(1, 151)}
        assert vectors[id_of(7)] == pytest.approx(toy.vector("Memory 7."), abs=1e-3)
        assert shop.jobs() == []
        assert shop.ask("SELECT count(*) FROM outbox") == [(0,)]


def test_a_model_that_is_added_is_embedded_for_too(shop: Shop) -> None:
    """Setting up another model queues every space again, and both sets become complete."""
    shop.store.memories.add([make_memory(1), make_memory(2, space="ours")])
    use_model(shop.store, "other")
    assert len(shop.jobs()) == 2
    shop.work()
    assert [(each.model, each.vectors, each.waiting) for each in shop.store.vectors.sets()] == [
        ("toy", 2, 0),
        ("other", 2, 0),
    ]


def test_an_edit_while_it_is_embedded_wins(empty_store_database: str) -> None:
    """A memory that is edited while its old text is with the model ends up with the vector of the new one."""
    meddling = MeddlingEmbedder()
    with open_shop(empty_store_database, lambda _: meddling) as shop:
        old = make_memory(1, "Deploys run on Tuesdays.")
        shop.store.memories.add([old, make_memory(2, "The lantern is green.")])
        edited = change_memory(old, 60, content="Deploys run on Fridays.")
        meddling.meanwhile = [lambda: shop.store.memories.change(edited)]
        shop.work()
        assert shop.vectors()[id_of(1)] == pytest.approx(meddling.vector("Deploys run on Fridays."), abs=1e-3)
        assert shop.jobs() == []


def test_what_became_sensitive_meanwhile_has_no_vector(empty_store_database: str) -> None:
    """A memory that is marked while it is with the model, or forgotten, has no vector in the end."""
    meddling = MeddlingEmbedder()
    with open_shop(empty_store_database, lambda _: meddling) as shop:
        old, forgotten = make_memory(1, "The code is 4711."), make_memory(2, "It rains.")
        shop.store.memories.add([old, forgotten, make_memory(3, "The lantern is green.")])
        meddling.meanwhile = [
            lambda: shop.store.memories.change(change_memory(old, 60, sensitive=True)),
            lambda: shop.store.memories.change(forget_memory(forgotten, 60)),
        ]
        shop.work()
        assert shop.vectors().keys() == {id_of(3)}
        assert shop.jobs() == []


@pytest.mark.parametrize("status", [429, 500])
def test_a_busy_provider_is_asked_again_later(empty_store_database: str, provider: Provider, status: int) -> None:
    """A job that meets a provider's limit or outage is put back, says why without quoting, and succeeds in the end."""
    secret = b'{"error": {"message": "no room for \'The lantern is green.\'"}}'
    model = f"openai:m@{provider.address}/openai/v1"
    with open_shop(empty_store_database, lambda name: open_embedder(name, read_config({})), model) as shop:
        shop.store.memories.add([make_memory(1, "The lantern is green.")])
        provider.answer_next(*[Scripted(status, secret, {"retry-after": "0"})] * 5)
        shop.work()
        (job,) = shop.jobs()
        assert (job.state, job.attempts) == ("waiting", 1)
        assert job.reason is not None
        assert job.reason.endswith(f"status {status}")
        assert shop.vectors(model) == {}
        shop.work()
        assert shop.vectors(model)[id_of(1)] == pytest.approx(to_unit(vector_of("The lantern is green.")), abs=1e-3)
        assert shop.jobs() == []


def test_a_provider_that_stays_away_leaves_a_dead_job(empty_store_database: str, provider: Provider) -> None:
    """After its last try a job is dead and counted as such, its memory still waits; retried, it does its work."""
    model = f"openai:m@{provider.address}/openai/v1"
    twice = Pace(backoff=Backoff(first=0.0, tries=2))
    with open_shop(empty_store_database, lambda name: open_embedder(name, read_config({})), model) as shop:
        shop.store.memories.add([make_memory(1)])
        provider.answer_next(*[Scripted(503, b"", {"retry-after": "0"})] * 10)
        shop.work(twice)
        shop.work(twice)
        (job,) = shop.jobs("failed")
        assert job.attempts == 2
        with shop.database.read() as connection:
            lag = job_lag(connection)
        assert (lag.waiting, lag.failed) == (0, 1)
        assert shop.store.vectors.count_waiting(["personal"]) == 1
        with shop.database.write() as connection:
            assert retry_jobs(connection, job.id) == [job.id]
        shop.work()
        assert shop.vectors(model).keys() == {id_of(1)}
        assert shop.jobs() == []


def test_the_next_job_takes_the_place_of_a_dead_one(shop: Shop) -> None:
    """A space has one dead job at most: the newest says all that there is to say."""

    def refuse(_: str) -> ToyEmbedder:
        raise EmbedderError("api.example.com refused the key that is set by EXAMPLE_KEY (status 401).")

    shop.workshop.gates = type(shop.workshop.gates)(refuse)
    once = Pace(backoff=Backoff(first=0.0, tries=1))
    for number in (1, 2, 3):
        shop.store.memories.add([make_memory(number)])
        shop.work(once)
    (job,) = shop.jobs()
    assert (job.state, job.reason) == (
        "failed",
        "api.example.com refused the key that is set by EXAMPLE_KEY (status 401).",
    )
    shop.workshop.gates = type(shop.workshop.gates)(ToyEmbedder)
    shop.store.memories.add([make_memory(4)])
    shop.work(once)
    assert len(shop.vectors()) == 4
    assert shop.jobs() == []


def test_a_refused_text_holds_up_nothing_else(empty_store_database: str) -> None:
    """What a model will never take stays visible, by its id and not its text; all else around it is embedded."""
    picky = PickyEmbedder()
    with open_shop(empty_store_database, lambda _: picky) as shop:
        bad = make_memory(5, "An unspeakable word.")
        shop.store.memories.add([*(make_memory(number, f"Memory {number}.") for number in range(1, 5)), bad])
        shop.work()
        assert shop.vectors().keys() == {id_of(number) for number in range(1, 5)}
        (job,) = shop.jobs()
        assert (job.state, job.attempts) == ("failed", 1)
        assert job.reason == (f"toy refuses the text of {id_of(5)}: edit or shorten it; meanwhile it is found by words")
        # It is not sent again with what comes after it, unless somebody says so.
        picky.shown.clear()
        shop.store.memories.add([make_memory(6, "Memory 6.")])
        shop.work()
        assert picky.shown == ["Memory 6."]
        assert [(each.state, each.reason) for each in shop.jobs()] == [("failed", job.reason)]
        with shop.database.write() as connection:
            retry_jobs(connection)
        shop.work()
        assert picky.shown == ["Memory 6.", bad.content]
        shop.store.memories.change(change_memory(bad, 60, content="A kind word."))
        shop.work()
        assert len(shop.vectors()) == 6
        assert shop.jobs() == []


def test_one_models_trouble_does_not_keep_another(empty_store_database: str) -> None:
    """Where a kept set's model cannot be had any more, the set in use is still filled; the job says what is wrong."""

    def open_model(model: str) -> ToyEmbedder:
        if model == "gone":
            raise EmbedderError("gone is not here: fetch it again.")
        return ToyEmbedder(model)

    with open_shop(empty_store_database, open_model, "gone") as shop:
        use_model(shop.store, "toy")
        shop.store.memories.add([make_memory(1)])
        shop.work()
        assert shop.vectors("toy").keys() == {id_of(1)}
        (job,) = shop.jobs("waiting")
        assert job.reason == "gone is not here: fetch it again."


def test_getting_somewhere_starts_patience_anew(empty_store_database: str) -> None:
    """A job that keeps some vectors before its model is busy again has all its tries once more."""

    @dataclass
    class Tiring(ToyEmbedder):
        left: int = 1

        def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
            self.left -= 1
            if self.left < 0:
                raise EmbedderError("It is tired.")
            return super().embed_documents(texts)

    tiring = Tiring(left=0)
    with open_shop(empty_store_database, lambda _: tiring) as shop:
        shop.store.memories.add([make_memory(number) for number in range(1, 130)])
        for _ in range(3):
            shop.work()
        assert [job.attempts for job in shop.jobs()] == [3]
        tiring.left = 1
        shop.work()
        assert [job.attempts for job in shop.jobs()] == [1]
        assert len(shop.vectors()) == 64


def test_a_space_that_is_gone_is_no_trouble(shop: Shop) -> None:
    """A job whose space was removed meanwhile ends well."""
    with shop.database.write() as connection:
        connection.execute("SELECT recollect_defer('embed', 999)")
    assert [job.space for job in shop.jobs()] == [None]
    shop.work(EAGER)
    assert shop.jobs() == []


def test_a_mistake_of_ours_is_seen_in_the_queue(shop: Shop) -> None:
    """A task that fails for an unforeseen reason is tried again, and says no more than what kind of failure it was."""

    def fail(_: str) -> ToyEmbedder:
        raise ZeroDivisionError("The vault opens with 4711.")

    shop.workshop.gates = type(shop.workshop.gates)(fail)
    shop.store.memories.add([make_memory(1)])
    shop.work()
    (job,) = shop.jobs("waiting")
    assert job.reason == "ZeroDivisionError"
