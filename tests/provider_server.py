"""A real HTTP server on this machine that speaks as OpenAI, Voyage and Cohere document it, and remembers every byte.

Its vectors depend on the text alone, so that a test can tell which vector belongs to which text; what it reads in a
note are the note's words with a capital, and that the first of them knows the others.
"""

import hashlib
import json
import re
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path
from typing import Any

DIMENSION = 8


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """Give the vector that the server makes of a text."""
    octets = hashlib.sha256(text.encode()).digest()
    return [octets[place % len(octets)] / 256 + 0.001 for place in range(dimension)]


@dataclass
class Scripted:
    """An answer that a test wants instead of the usual one."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection without an answer."""
    hold: bool = False
    """Answer nothing until the test is over."""
    drip: bool = False
    """Answer a space a twentieth of a second until the test is over: no single read is slow."""


@dataclass
class Provider:
    """What a test sees of the server."""

    address: str
    dimension: int = DIMENSION
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of all requests that arrived whole."""
    headers: list[dict[str, str]] = field(default_factory=list)
    received: bytearray = field(default_factory=bytearray)
    script: deque[Scripted] = field(default_factory=deque)
    over: threading.Event = field(default_factory=threading.Event)
    answered: Callable[[dict[str, Any]], object] = lambda _answer: None
    """Told of every answer of the usual kind, before it is sent."""

    def answer_next(self, *answers: Scripted) -> None:
        self.script.extend(answers)


@contextmanager
def serve(certificate: Path | None = None) -> Iterator[Provider]:
    """Serve until the test is over, behind TLS if there is a file with a certificate and its key."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    provider = Provider(f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}")
    server.provider = provider  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        provider.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Recording:
    """Keeps what is read, byte for byte."""

    def __init__(self, stream: BufferedIOBase, kept: bytearray) -> None:
        self._stream = stream
        self._kept = kept

    def read(self, size: int) -> bytes:
        return self._keep(self._stream.read(size))

    def readline(self, size: int = -1) -> bytes:
        return self._keep(self._stream.readline(size))

    def _keep(self, octets: bytes) -> bytes:
        self._kept.extend(octets)
        return octets

    def close(self) -> None:
        self._stream.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        # Whoever hangs up during the handshake, or while an answer is on its way, did so on purpose.
        with suppress(OSError):
            super().handle()

    def setup(self) -> None:
        super().setup()
        self.provider: Provider = self.server.provider  # type: ignore[attr-defined]
        self.rfile = _Recording(self.rfile, self.provider.received)  # type: ignore[assignment]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.provider.asked.append(body)
        self.provider.headers.append({name.lower(): value for name, value in self.headers.items()})
        if self.provider.script:
            self._play(self.provider.script.popleft())
            return
        try:
            answer = _ROUTES[self.path](body, self.provider.dimension)
        except KeyError:
            self._send(404, {"error": {"message": f"no such path: {self.path}"}})
        except _Refusal as refusal:
            self._send(refusal.status, {"message": str(refusal), "detail": str(refusal)})
        else:
            self.provider.answered(answer)
            self._send(200, answer)

    def _play(self, scripted: Scripted) -> None:
        if scripted.hold:
            self.provider.over.wait()
        if scripted.drop or scripted.hold:
            self.close_connection = True
        elif scripted.drip:
            self._drip()
        else:
            self._reply(scripted.status, scripted.body, scripted.headers)

    def _drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        while not self.provider.over.wait(0.05):
            try:
                self.wfile.write(b" ")
            except OSError:
                return

    def _send(self, status: int, answer: object) -> None:
        self._reply(status, json.dumps(answer).encode(), {"content-type": "application/json"})

    def _reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _check(body: dict[str, Any], needed: Sequence[str], allowed: Sequence[str], texts: str, most: int) -> None:
    if any(name not in body for name in needed):
        raise _Refusal(422, "a field is missing")
    if unknown := set(body) - {*needed, *allowed}:
        raise _Refusal(400, f"unknown fields: {sorted(unknown)}")
    if not 0 < len(body[texts]) <= most or not all(isinstance(text, str) and text for text in body[texts]):
        raise _Refusal(400, f"{texts} must be 1 to {most} texts")


def _rows(texts: Sequence[str], dimension: int) -> dict[str, Any]:
    rows = [
        {"object": "embedding", "index": index, "embedding": vector_of(text, dimension)}
        for index, text in enumerate(texts)
    ]
    # Nothing documented promises their order.
    return {"object": "list", "data": rows[::-1], "model": "m", "usage": {"total_tokens": 1}}


def _openai(body: dict[str, Any], dimension: int) -> dict[str, Any]:
    _check(body, ("model", "input"), ("encoding_format", "dimensions", "user"), "input", 2048)
    if body.get("encoding_format", "float") != "float":
        raise _Refusal(400, "this server speaks float only")
    return _rows(body["input"], body.get("dimensions", dimension))


def _voyage(body: dict[str, Any], dimension: int) -> dict[str, Any]:
    allowed = ("input_type", "truncation", "output_dimension", "output_dtype", "encoding_format")
    _check(body, ("model", "input"), allowed, "input", 1000)
    if body.get("input_type") not in (None, "query", "document"):
        raise _Refusal(400, "no such input_type")
    return _rows(body["input"], body.get("output_dimension", dimension))


def _cohere(body: dict[str, Any], dimension: int) -> dict[str, Any]:
    allowed = ("output_dimension", "max_tokens", "truncate", "images", "inputs")
    _check(body, ("model", "texts", "input_type", "embedding_types"), allowed, "texts", 96)
    if body["input_type"] not in ("search_query", "search_document") or body["embedding_types"] != ["float"]:
        raise _Refusal(400, "no such input_type or embedding_types")
    dimension = body.get("output_dimension", dimension)
    return {"id": "1", "embeddings": {"float": [vector_of(text, dimension) for text in body["texts"]]}, "meta": {}}


def chat(content: str, used: int = 1, reason: str = "stop", refusal: str | None = None) -> dict[str, Any]:
    """Give a whole answer of a chat."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": {"total_tokens": used}}


def read_note(number: int, text: str) -> dict[str, Any]:
    """Give what the server reads in a note."""
    names = [name for name in re.findall(r"\w+", text) if name[0].isupper()]
    return {
        "number": number,
        "entities": [{"name": name, "aliases": []} for name in names],
        "relations": [[names[0], "knows", other] for other in names[1:]],
    }


def notes_of(body: dict[str, Any]) -> list[str]:
    """Give the notes that a request asks about."""
    return [note["text"] for note in json.loads(body["messages"][-1]["content"]).get("notes", [])]


def _chat(body: dict[str, Any], _dimension: int) -> dict[str, Any]:
    fields = {"model", "messages", "temperature", "max_tokens", "response_format"}
    if set(body) != fields or body["response_format"] != {"type": "json_object"} or body["temperature"] != 0:
        raise _Refusal(400, "this is not how to ask")
    if not any("JSON" in message["content"] for message in body["messages"]):
        raise _Refusal(400, "the word JSON must be in the messages")
    notes = [read_note(number, text) for number, text in enumerate(notes_of(body), start=1)]
    # Nothing promises their order. As many tokens as any tokeniser could make of it.
    answer = json.dumps({"notes": notes[::-1]} if notes else {"same": True})
    asked = sum(len(message["content"].encode()) for message in body["messages"])
    return chat(answer, asked + min(len(answer), body["max_tokens"]))


_ROUTES = {
    "/openai/v1/embeddings": _openai,
    "/openai/v1/chat/completions": _chat,
    "/voyage/v1/embeddings": _voyage,
    "/cohere/v2/embed": _cohere,
}
