"""What is let through: bodies by size and time, requests by rate, recalls by number, connections by patience."""

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import httpx2
import pytest

from making import wait_until
from recollect.api.connection import PatientProtocol
from recollect.api.limits import Rate, Throttled, Turns
from recollect.core.access import Caller
from recollect.stores.postgres.store import PostgresStore
from serving import FREE, Client, World, in_process, over_network

SMALL = replace(FREE, body_bytes=2048, body_seconds=0.3)


@pytest.fixture
def address(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(PatientProtocol, "header_seconds", 0.3)
    with over_network(world.server, SMALL) as url:
        yield url


class Wire:
    """A connection on which a test sends what it likes."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.socket = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30)

    def send(self, octets: bytes) -> None:
        self.socket.sendall(octets)

    def read_all(self) -> bytes:
        """Read until the server hangs up."""
        received = b""
        while piece := self.socket.recv(65536):
            received += piece
        return received

    def close(self) -> None:
        self.socket.close()


@pytest.fixture
def dial(address: str) -> Iterator[Callable[[], Wire]]:
    opened: list[Wire] = []

    def make() -> Wire:
        opened.append(Wire(address))
        return opened[-1]

    yield make
    for wire in opened:
        wire.close()


def head(world: World, *more: str) -> bytes:
    lines = [
        "POST /v1/memories HTTP/1.1",
        "Host: test",
        f"Authorization: {world.headers('ada')['Authorization']}",
        "Content-Type: application/json",
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_huge_body_is_refused(world: World, address: str) -> None:
    """One that says its length is refused before it is read; one in chunks as soon as it is too long."""
    with httpx2.Client(base_url=address, timeout=30) as http:
        ada = Client(http, world.headers("ada"))
        problem = ada.refused("POST", "/v1/memories", 413, json={"content": "x" * 3000})
        assert "2,048 bytes" in problem["detail"]
        taken = 0

        def endless() -> Iterator[bytes]:
            nonlocal taken
            yield b'{"content": "'
            for _ in range(1000):
                taken += 1
                yield b"x" * 1024

        ada.refused("POST", "/v1/memories", 413, content=endless(), headers={"Content-Type": "application/json"})
        ada.refused("POST", "/mcp", 413, json={"jsonrpc": "x" * 3000})
        assert ada.keep("Still here.")


def test_a_body_that_says_too_little_or_too_much(world: World, dial: Callable[[], Wire]) -> None:
    """A length that is none, or a lie, ends that connection and nothing else."""
    for length in ("-5", "many", "99999999999999999999"):
        wire = dial()
        wire.send(head(world, f"Content-Length: {length}") + b"{}")
        answer = wire.read_all()
        assert answer.split()[1] in {b"400", b"413"}


def test_a_body_that_trickles_in_is_not_waited_for(world: World, dial: Callable[[], Wire]) -> None:
    """A body that does not arrive in time is answered with 408, and the connection is closed."""
    wire = dial()
    wire.send(head(world, "Content-Length: 100") + b'{"content"')
    answer = wire.read_all()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"urn:recollect:too-slow" in answer


def test_a_stream_has_to_go_on(world: World, dial: Callable[[], Wire]) -> None:
    """An import whose next piece does not come in time is ended too."""
    wire = dial()
    request = head(world, "Transfer-Encoding: chunked").replace(b"/v1/memories", b"/v1/import")
    wire.send(request + b'4\r\n{"re\r\n')
    assert wire.read_all().startswith(b"HTTP/1.1 408 ")


def test_slow_imports_hold_up_nobody_else(world: World) -> None:
    """An import that waits for its client has a thread of its own kind, and a key only so many of them."""
    limits = replace(FREE, imports_at_once=1, threads=1)
    with over_network(world.server, limits) as address, httpx2.Client(base_url=address, timeout=60) as http:
        ada = Client(http, world.headers("ada"))
        lines = ada.ask("GET", "/v1/export").content
        slow = Wire(address)
        try:
            slow.send(head(world, f"Content-Length: {len(lines) + 1}").replace(b"/v1/memories", b"/v1/import") + lines)
            wait_until(lambda: "recollect_http_requests_open 2.0" in http.get("/metrics").text)
            assert "1 imports of this key" in ada.refused("POST", "/v1/import", 429, content=lines)["detail"]
            assert ada.recall("anything") == []
            slow.send(b"\n")
            assert slow.socket.recv(65536).startswith(b"HTTP/1.1 200")
        finally:
            slow.close()
        ada.ok("POST", "/v1/import", content=lines)


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: te"])
def test_who_does_not_ask_is_hung_up_on(dial: Callable[[], Wire], sent: bytes) -> None:
    """A connection on which no request arrives in time is closed, also after a first request was answered."""
    wire = dial()
    wire.send(sent)
    assert wire.read_all() == b""
    second = dial()
    second.send(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\nGET /hea")
    assert second.read_all().count(b"HTTP/1.1 200") == 1


def test_endless_headers_are_refused(dial: Callable[[], Wire]) -> None:
    """Headers beyond any use end the connection."""
    wire = dial()
    wire.send(b"GET /healthz HTTP/1.1\r\nHost: test\r\nX-Long: " + b"x" * 100_000)
    assert wire.read_all().startswith(b"HTTP/1.1 400")


def test_a_key_asks_only_so_often(world: World) -> None:
    """Beyond its burst a key is told to wait and how long; another key is not held up by it."""
    with in_process(world.server, replace(FREE, requests_per_second=0.001, burst=3)) as http:
        ada, ben = (Client(http, world.headers(name)) for name in ("ada", "ben"))
        for _ in range(3):
            ada.ok("GET", "/v1/me")
        problem = ada.refused("GET", "/v1/me", 429)
        assert problem["type"] == "urn:recollect:too-many"
        assert int(ada.ask("GET", "/v1/me").headers["retry-after"]) > 100
        ada.refused("POST", "/v1/recall", 429, json={"nonsense": 1})
        ada.refused("POST", "/mcp", 429, json={})
        ben.ok("GET", "/v1/me")
        # Who has no key that holds takes nothing of anybody's.
        for _ in range(5):
            ben.refused(
                "GET", "/v1/me", 401, headers={"Authorization": world.headers("ben")["Authorization"][:-1] + "_"}
            )
        ben.ok("GET", "/v1/me")


def test_a_bucket_fills_again() -> None:
    """Tokens come back with time, never more than the burst; full buckets are forgotten."""
    now = 0.0
    rate = Rate(2.0, 4, lambda: now)
    for _ in range(4):
        rate.take("a")
    with pytest.raises(Throttled) as caught:
        rate.take("a")
    assert caught.value.seconds == 0.5
    now = 0.5
    rate.take("a")
    now = 1000.0
    for _ in range(4):
        rate.take("a")
    with pytest.raises(Throttled):
        rate.take("a")
    for number in range(10_001):
        rate.take(f"other {number}")
    now = 2000.0
    rate.take("last")
    assert len(rate._buckets) == 1  # noqa: SLF001 - that memory does not grow is the point


def test_turns_are_given_back() -> None:
    """Only so many of one key run at once; whoever ends, well or not, makes room."""
    turns = Turns(1)
    with turns.take("a"), turns.take("b"), pytest.raises(Throttled), turns.take("a"):
        pass
    with pytest.raises(ValueError, match="trouble"), turns.take("a"):
        raise ValueError("trouble")
    with turns.take("a"):
        pass
    assert turns._running == {}  # noqa: SLF001 - that memory does not grow is the point


def test_only_so_many_recalls_run_side_by_side(world: World) -> None:
    """A key's recall beyond its number is told to wait; other requests of the key and other keys go on."""
    began, go_on = threading.Event(), threading.Event()

    class SlowStore(PostgresStore):
        @property
        def asks_in_turn(self) -> bool:  # type: ignore[override]
            began.set()
            go_on.wait(60)
            return True

    def open_store(caller: Caller | None) -> PostgresStore:
        store = world.server.open_store(caller)
        assert isinstance(store, PostgresStore)
        return SlowStore(store._database)  # noqa: SLF001

    with in_process(replace(world.server, open_store=open_store), replace(FREE, recalls_at_once=1)) as http:
        ada, ben = (Client(http, world.headers(name)) for name in ("ada", "ben"))
        first = threading.Thread(target=lambda: ada.recall("anything"))
        first.start()
        assert began.wait(60)
        problem = ada.refused("POST", "/v1/recall", 429, json={"query": "anything"})
        assert "running already" in problem["detail"]
        ada.ok("GET", "/v1/memories")
        go_on.set()
        first.join()
        assert ada.recall("anything") == []
        assert ben.recall("anything") == []
