"""`recollect serve` as a process that waits for nobody for long, and ways to send it anything."""

import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2

from postgres import made_database
from serving import DOCUMENT, Client, ServerProcess

TOKEN = re.compile(r"rk_[a-z2-7]{12}_[a-z2-7]{52}")
KIB, MIB = 1 << 10, 1 << 20
BODY_LIMIT = 64 * KIB
THREADS = 4
SECONDS = 0.5
"""How long the server waits for what trickles in."""
EXPORT = b'{"recollect":"export","format":1}\n'
TAKES_BODY = [
    (method.upper(), path.format(memory_id="dadadada", space="admin", person="admin"))
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if "application/json" in operation.get("requestBody", {}).get("content", {})
] + [("POST", "/mcp")]


class ImpatientProcess(ServerProcess):
    """A server that waits for heads and for readers no longer than for bodies: there is no option for those."""

    program = (
        "-c",
        f"""
from recollect.__main__ import main
from recollect.api.connection import PatientProtocol
PatientProtocol.header_seconds = PatientProtocol.read_seconds = {SECONDS}
main()
""",
    )


@dataclass(frozen=True)
class Target:
    process: ServerProcess
    token: str

    @property
    def place(self) -> tuple[str, int]:
        parts = urlsplit(self.process.address)
        return parts.hostname or "", parts.port or 0

    @contextmanager
    def client(self) -> Iterator[Client]:
        with httpx2.Client(base_url=self.process.address, timeout=60) as http:
            yield Client(http, {"Authorization": f"Bearer {self.token}"})

    def head(self, method: str, path: str, *more: str) -> bytes:
        lines = (f"{method} {path} HTTP/1.1", "Host: test", f"Authorization: Bearer {self.token}", *more)
        return "\r\n".join((*lines, "", "")).encode()

    @contextmanager
    def wire(self, room: int = 1 << 16) -> Iterator[socket.socket]:
        """Connect, with little room or more for what comes."""
        with closing(socket.socket()) as wire:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
            wire.settimeout(60)
            wire.connect(self.place)
            yield wire

    def say(self, octets: bytes) -> bytes:
        """Send anything, and give all that comes back until the server hangs up."""
        with self.wire() as wire:
            wire.sendall(octets)
            return read_all(wire)

    def open_requests(self) -> int:
        with self.client() as anybody:
            found = re.search(r"recollect_http_requests_open (\d+)", anybody.ask("GET", "/metrics").text)
        assert found
        return int(found[1])


def read_all(wire: socket.socket) -> bytes:
    received = b""
    try:
        while piece := wire.recv(65536):
            received += piece
    except ConnectionResetError:
        # It was hung up on while it was still sending.
        pass
    return received


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@contextmanager
def open_target(postgres_url: str, template_database: str) -> Iterator[Target]:
    """Serve; in the end not one answer may have been a fault of the server's own."""
    options = (f"--body-limit={BODY_LIMIT}", f"--body-seconds={SECONDS}", f"--threads={THREADS}", "--rate=0")
    with made_database(postgres_url, f"TEMPLATE {template_database} STRATEGY FILE_COPY") as url:
        process = ImpatientProcess(url, *options)
        try:
            assert process.address
            target = Target(process, TOKEN.findall(process.output)[0])
            yield target
            with target.client() as anybody:
                figures = anybody.ask("GET", "/metrics").text
            assert not re.findall(r'^recollect_http_requests_total\{.*status="5.*$', figures, re.MULTILINE)
            assert process.end() == 0
            assert "Traceback" not in process.output
        finally:
            process.process.kill()
            process.wait()
