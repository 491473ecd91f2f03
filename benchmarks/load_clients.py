"""Clients that cost next to nothing: requests go in, one at a time for each client, and how each was answered out.

One thread waits for all sockets at once (`selectors`), and of an answer only the status and the length are read.
"""

import json
import selectors
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

_HOST: Final = "127.0.0.1"
_LEAST_WAIT: Final = 0.01
_PATIENCE: Final = 60.0
"""An answer that takes longer is an error."""


class Kind(Enum):
    RECALL = "recall"
    STORE = "store"


_PATHS: Final = {Kind.RECALL: "/v1/recall", Kind.STORE: "/v1/memories"}


class Request(NamedTuple):
    kind: Kind
    octets: bytes

    @classmethod
    def make(cls, kind: Kind, token: str, body: Mapping[str, Any]) -> "Request":
        text = json.dumps(body).encode()
        head = (
            f"POST {_PATHS[kind]} HTTP/1.1\r\nhost: {_HOST}\r\nauthorization: Bearer {token}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(text)}\r\n\r\n"
        )
        return cls(kind, head.encode() + text)


class Answer(NamedTuple):
    second: float
    """Since the beginning, when it was asked."""
    kind: Kind
    milliseconds: float
    status: int
    """0 if there was no answer."""


@dataclass(slots=True)
class _Client:
    requests: Iterator[Request]
    socket: socket.socket
    kind: Kind = Kind.RECALL
    asked: float = 0.0
    received: bytes = b""

    def ask(self, now: float) -> None:
        request = next(self.requests)
        self.kind, self.asked, self.received = request.kind, now, b""
        # A request fits into the socket's buffer.
        self.socket.sendall(request.octets)

    def read(self) -> int | None:
        """Take in what has come; give the status of an answer that is whole, and 0 if it will never be."""
        try:
            some = self.socket.recv(1 << 18)
        except OSError:
            return 0
        if not some:
            return 0
        self.received += some
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end or len(body) < _length(head):
            return None
        return int(head[9:12])


def drive(
    port: int,
    clients: Sequence[Iterator[Request]],
    seconds: float,
    look: Callable[[], None],
    pause: float,
) -> list[Answer]:
    """Have all clients ask for so many seconds, each as soon as it was answered; `look` every so often."""
    answers: list[Answer] = []
    begin = time.perf_counter()
    next_look = begin
    with selectors.DefaultSelector() as selector:
        for requests in clients:
            client = _Client(requests, _connect(port))
            selector.register(client.socket, selectors.EVENT_READ, client)
            client.ask(time.perf_counter())
        while selector.get_map():
            now = time.perf_counter()
            if now >= next_look:
                look()
                next_look = now + pause
            for key, _ in selector.select(max(_LEAST_WAIT, min(pause, next_look - now))):
                _take(selector, key.data, answers, begin, until=begin + seconds, port=port)
            _give_up(selector, answers, begin)
    look()
    return answers


def _take(
    selector: selectors.BaseSelector, client: _Client, answers: list[Answer], begin: float, *, until: float, port: int
) -> None:
    status = client.read()
    if status is None:
        return
    now = time.perf_counter()
    answers.append(Answer(client.asked - begin, client.kind, (now - client.asked) * 1000, status))
    if status == 0 or now >= until:
        selector.unregister(client.socket)
        client.socket.close()
        if now >= until:
            return
        client.socket = _connect(port)
        selector.register(client.socket, selectors.EVENT_READ, client)
    client.ask(now)


def _give_up(selector: selectors.BaseSelector, answers: list[Answer], begin: float) -> None:
    """Let go of those whom nobody answers."""
    now = time.perf_counter()
    for key in list(selector.get_map().values()):
        client: _Client = key.data
        if now - client.asked > _PATIENCE:
            answers.append(Answer(client.asked - begin, client.kind, (now - client.asked) * 1000, 0))
            selector.unregister(client.socket)
            client.socket.close()


def _connect(port: int) -> socket.socket:
    made = socket.create_connection((_HOST, port))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _length(head: bytes) -> int:
    lower = head.lower()
    start = lower.find(b"content-length:")
    if start < 0:
        return 0
    return int(lower[start + len(b"content-length:") :].partition(b"\r\n")[0])
