"""What goes wrong: each kind with its status, nothing of what it was about, and figures for whoever runs the server."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NoReturn

import httpx2
import pytest

from recollect.api.wording import reword
from recollect.core.access import Caller
from recollect.core.errors import EmbedderBusy, RecollectError, StoreAway, StoreBusy, StoreDamaged, StoreTooNew
from recollect.core.hits import Ref
from recollect.service.server import Server
from recollect.stores.postgres.memories import PostgresMemories
from recollect.stores.postgres.store import PostgresStore
from serving import Client, World, in_process, over_network


def broken(server: Server, break_it: Callable[[PostgresStore], None]) -> Server:
    """Give a server whose callers' stores were tampered with."""

    def open_store(caller: Caller | None) -> PostgresStore:
        store = server.open_store(caller)
        assert isinstance(store, PostgresStore)
        break_it(store)
        return store

    return replace(server, open_store=open_store)


def raising(error: Exception) -> Callable[..., NoReturn]:
    def fail(*_: Any, **__: Any) -> NoReturn:  # noqa: ANN401 - whatever it is called with
        raise error

    return fail


def test_an_address_that_is_none(ada: Client) -> None:
    """An unknown path and a method that a path does not take are problems too, key or not."""
    assert ada.refused("GET", "/v1/nothing", 404)["type"] == "urn:recollect:not-found"
    assert ada.refused("GET", "/", 404)["detail"]
    ada.refused("PUT", "/v1/memories", 405)
    assert "POST" in ada.ask("GET", "/v1/recall").headers["allow"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreAway("at 10.0.0.7"), 503),
        (StoreBusy("held"), 503),
        (StoreTooNew("newer"), 503),
        (EmbedderBusy("busy"), 503),
        (StoreDamaged("swordfish"), 500),
        (RecollectError("swordfish"), 500),
        (ValueError("swordfish"), 500),
        (RuntimeError(), 500),
    ],
)
def test_what_is_not_the_clients_fault(
    world: World, caplog: pytest.LogCaptureFixture, error: Exception, status: int
) -> None:
    """What may pass is 503 with when to try again; a fault of ours is 500; neither quotes what it was about."""

    def break_it(store: PostgresStore) -> None:
        store.memories.add = raising(error)  # type: ignore[method-assign]

    with in_process(broken(world.server, break_it)) as http, caplog.at_level(logging.DEBUG):
        answer = Client(http, world.headers("ada")).ask("POST", "/v1/memories", json={"content": "x"})
    assert answer.status_code == status
    assert ("retry-after" in answer.headers) == (status == 503)
    assert answer.headers["content-type"] == "application/problem+json"
    assert "10.0.0.7" not in answer.text
    assert "swordfish" not in answer.text + caplog.text


def test_an_export_that_breaks_off_looks_broken(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """When the database goes in the middle of a stream, the client sees that it has not all of it."""

    class Fading(PostgresMemories):
        def walk(self, spaces: Any = ()) -> Iterator[Ref]:  # noqa: ANN401 - as above
            yield from super().walk(spaces)
            raise StoreAway("swordfish")

    def break_it(store: PostgresStore) -> None:
        store.memories.__class__ = Fading

    server = broken(world.server, break_it)
    with over_network(server) as address, httpx2.Client(base_url=address) as http, caplog.at_level(logging.DEBUG):
        ada = Client(http, world.headers("ada"))
        for number in range(100):
            ada.keep(f"{number} {'x' * 1000}")
        with pytest.raises(httpx2.RemoteProtocolError):
            ada.ask("GET", "/v1/export")
        assert ada.ok("GET", "/healthz") == {"status": "ok"}
    assert "swordfish" not in caplog.text


def test_health_needs_no_key(world: World, ada: Client) -> None:
    """Whether it lives and can serve is told to anybody, and nothing else is."""
    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json"):
        assert ada.http.get(path).status_code == 200
    assert ada.http.get("/readyz").json()["finds_by"] == "words and meaning"
    with in_process(replace(world.server, examine=raising(StoreAway("at 10.0.0.7")))) as http:
        answer = http.get("/readyz")
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:recollect:not-ready")
        assert "10.0.0.7" not in answer.text
    with in_process(replace(world.server, examine=raising(StoreTooNew("Upgrade it.")))) as http:
        assert http.get("/readyz").json()["detail"] == "Upgrade it."


def test_what_was_done_is_counted(world: World) -> None:
    """Recalls with their stages, stored memories and requests by route are in the metrics, without ids."""
    with in_process(world.server) as http:
        ada = Client(http, world.headers("ada"))
        identity = ada.keep("Deploys run on Tuesdays.")
        ada.recall("deploys")
        ada.ok("GET", f"/v1/memories/{identity}")
        figures = http.get("/metrics").text
    assert "recollect_recalls_total 1.0" in figures
    assert "recollect_memories_stored_total 1.0" in figures
    assert 'recollect_stage_seconds_count{stage="fusion"} 1.0' in figures
    assert 'route="/v1/memories/{memory_id}"' in figures
    assert identity not in figures


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("`recollect undo 0a1b2c3d` brings it back.", "`POST /v1/memories/0a1b2c3d/restore` brings it back."),
        ("`recollect list` shows what there is.", "`GET /v1/memories` shows what there is."),
        ("There is no such word.", "There is no such word."),
    ],
)
def test_commands_become_requests(said: str, heard: str) -> None:
    """What a laptop's owner would type is told to a client as what it would send."""
    assert reword(said) == heard
