"""Clients that mean no good, against `recollect serve` as a process: each is answered or hung up on, and nobody else
notices. When all of them are done, the server has not once answered with a fault of its own.
"""

import re
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from api.attacking import EXPORT, KIB, MIB, TAKES_BODY, THREADS, Target, open_target, status_of
from making import wait_until


@pytest.fixture(scope="module")
def target(postgres_url: str, template_database: str) -> Iterator[Target]:
    with open_target(postgres_url, template_database) as opened:
        yield opened


def test_bad_keys(target: Target) -> None:
    """Whatever is wrong with a key, the answer is the same 401, and tells nothing of what is kept."""
    token = target.token
    prefix, secret = token[3:15], token[16:]
    wrong = [
        "", "Bearer", "Bearer ", f"Bearer {token[:-1]}", f"Bearer {token}x", f"Bearer {token} {token}",
        f"Basic {token}", f"Digest username={token}", token, f"Bearer {token.upper()}", f"Bearer {'rk_' * 9000}",
        f"Bearer rk_{prefix}_{secret[::-1]}", f"Bearer rk_{'z' * 12}_{secret}", "Bearer rk__", "Bearer ' OR 1=1 --",
        "Bearer \xff\xfe",
    ]  # fmt: skip
    answers = set()
    for path in ("/v1/me", "/v1/memories", "/mcp"):
        for header in wrong:
            octets = target.head("GET" if path != "/mcp" else "POST", path, "Connection: close", "Content-Length: 0")
            answer = target.say(octets.replace(f"Bearer {token}".encode(), header.encode("latin-1")))
            assert status_of(answer) == 401, header
            answers.add(answer.partition(b"\r\n\r\n")[2])
            assert b'www-authenticate: bearer realm="recollect"' in answer.lower()
    assert len(answers) == 1


def test_a_huge_head(target: Target) -> None:
    """A head beyond any use is refused and the connection closed, in one long line or in many."""
    for lines in (f"X-Long: {'x' * 200_000}", "\r\n".join(f"X-{number}: {'x' * 100}" for number in range(2000))):
        assert status_of(target.say(target.head("GET", "/v1/me", lines))) == 400
    assert status_of(target.say(b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: test\r\n\r\n")) == 400


@pytest.mark.parametrize(("method", "path"), TAKES_BODY)
def test_a_huge_body(target: Target, method: str, path: str) -> None:
    """It is refused wherever one is taken: by the length it tells, and in chunks as soon as there are too many."""
    with target.wire() as wire:
        wire.sendall(target.head(method, path, "Content-Type: application/json", f"Content-Length: {10 * MIB}"))
        assert status_of(wire.recv(65536)) == 413
    with target.client() as admin:
        pieces = (b'{"x":"' if not number else b"x" * KIB for number in range(200))
        admin.refused(method, path, 413, content=pieces, headers={"Content-Type": "application/json"})


def test_a_huge_line_of_an_import(target: Target) -> None:
    """An import may be longer than any body, but no line of it; what came before that line is kept."""
    with target.client() as admin:
        blank = b" " * KIB + b"\n"
        assert admin.ok("POST", "/v1/import", content=EXPORT + blank * 200)["problems"] == []
        problem = admin.refused("POST", "/v1/import", 422, content=EXPORT + b'{"x":"' + b"x" * (9 * MIB))
        assert "A line of an import has at most" in problem["detail"]


def test_who_dawdles_is_hung_up_on_and_holds_nobody_up(target: Target) -> None:
    """Heads and bodies that trickle in, streams that stop and answers that nobody reads end, and others go on."""
    with target.client() as admin:
        tokens = [
            admin.ok("POST", "/v1/keys", 201, json={"name": f"slow {number}", "scope": "admin"})["token"]
            for number in range(2 * THREADS)
        ]
    counted = ("Content-Length: 99", "Content-Type: application/json")
    chunked = ("Transfer-Encoding: chunked", "Content-Type: application/json")
    stream = target.head("POST", "/v1/import", *chunked)
    beginnings = [
        target.head("GET", "/v1/me")[:-4],
        target.head("POST", "/v1/recall", *counted) + b"{",
        target.head("POST", "/v1/memories", *chunked) + b"1\r\n{\r\n",
        target.head("POST", "/mcp", *counted) + b"{",
        # Answers of some megabytes, of which none is read.
        target.head("GET", "/openapi.json") * 400,
    ] * 6
    for token in tokens:
        # The beginning of a line: an import has begun, and waits in a thread for the rest.
        head = stream.replace(target.token.encode(), token.encode())
        beginnings.append(head + b"%x\r\n%s\r\n" % (len(EXPORT) + 1, EXPORT + b"{"))
    with ExitStack() as stack:
        wires = [stack.enter_context(target.wire(room=4096)) for _ in beginnings]
        for wire, octets in zip(wires, beginnings, strict=True):
            send_some(wire, octets)

        def are_gone() -> bool:
            with target.client() as honest:
                assert honest.keep("The harbour opens at nine.")
                assert honest.recall("harbour")
                assert honest.ok("GET", "/readyz")["status"] == "ready"
            return all(is_hung_up_on(wire) for wire in wires)

        wait_until(are_gone)
    wait_until(lambda: target.open_requests() == 1)


def send_some(wire: socket.socket, octets: bytes) -> None:
    """Send what the buffers take."""
    wire.setblocking(False)
    try:
        while octets:
            octets = octets[wire.send(octets) :]
    except BlockingIOError:
        pass


def is_hung_up_on(wire: socket.socket) -> bool:
    watch = select.poll()
    watch.register(wire, select.POLLRDHUP)
    return bool(watch.poll(0))


def test_what_is_no_request(target: Target) -> None:
    """Other protocols, and heads that contradict themselves, are refused or hung up on."""
    token = target.token
    for octets in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /v1/me\r\n\r\n",
        b"GET /v1/me HTTP/9.9\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"GET /v1/me HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: x\r\n folded: y\r\nConnection: close\r\n\r\n",
        b"POST /v1/recall HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: nonsense\r\n\r\n",
        b"POST /v1/recall HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"\x00" * 1000,
        b"\r\n" * 1000,
    ):
        answer = target.say(octets)
        assert not answer or 400 <= status_of(answer) < 500, (octets[:60], answer)
        assert token.encode() not in answer


def test_a_body_within_a_body(target: Target) -> None:
    """Two ways to tell a body's length never make two requests of one: the second is not answered as a request."""
    hidden = b"GET /v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    octets = target.head(
        "POST", "/v1/recall", "Content-Length: 4", "Transfer-Encoding: chunked", "Content-Type: application/json"
    )
    answer = target.say(octets + b"0\r\n\r\n" + hidden)
    assert answer.count(b"HTTP/1.1 ") <= 2
    assert b'"person"' not in answer


def test_many_requests_at_once_on_one_connection(target: Target) -> None:
    """Requests that do not wait for each other's answers are answered all, in their order, each for its own key."""
    with target.client() as admin:
        admin.ok("POST", "/v1/people", 201, json={"id": "guest"})
        token = admin.ok("POST", "/v1/keys", 201, json={"name": "x", "scope": "read", "person": "guest"})["token"]
    mine = target.head("GET", "/v1/me", "Connection: keep-alive")
    theirs = mine.replace(target.token.encode(), token.encode())
    nobodys = mine.replace(target.token.encode(), b"rk_nobody")
    last = target.head("GET", "/healthz", "Connection: close")
    answer = target.say((mine + theirs + nobodys) * 5 + last)
    people = re.findall(rb'"person":"(\w+)"|"status": (401)|"status":"(ok)"', answer)
    assert [b"".join(each) for each in people] == [b"admin", b"guest", b"401"] * 5 + [b"ok"]
