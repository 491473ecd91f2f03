"""The MCP server as bytes on its pipes: nothing but the protocol, and nothing of a sensitive memory."""

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver.exceptions import ToolError

import recollect
from recollect.mcp.refusals import refusing

PROJECT = "github.com/acme/shop"
SECRETS = ("hunter2", "swordfish", "vaultmark", "Tr0ub4dor")
"""What the sensitive memories hold in their first line, in the rest of their text, their tags and their keywords."""


class Wire:
    """A server process and everything it ever wrote."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.written: list[bytes] = []
        self._last = 0

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Send a request and give the answer to it, whatever else comes before."""
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": parameters}
        self.send(json.dumps(request).encode())
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.written.append(line)
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._last:
                return message
        raise AssertionError("The server ended without an answer.")

    def open(self) -> None:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}}
        assert self.ask("initialize", **hello)["result"]["serverInfo"]["name"] == "recollect"
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        result: dict[str, Any] = self.ask("tools/call", name=name, arguments=arguments)["result"]
        return result

    def close(self) -> bytes:
        """Close the server's stdin, as a client that leaves, and give what it had to say on stderr."""
        rest, errors = self.process.communicate(timeout=60)
        self.written.append(rest)
        return errors


@contextmanager
def serve(home: Path) -> Iterator[Wire]:
    environment = {**os.environ, "RECOLLECT_HOME": str(home), "RECOLLECT_PROJECT": PROJECT}
    with subprocess.Popen(
        [sys.executable, "-m", "recollect", "mcp"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield Wire(process)
        finally:
            process.kill()


def test_only_the_protocol_is_on_stdout(tmp_path: Path) -> None:
    """Every line of stdout is a JSON-RPC message, stderr stays quiet, and a client that leaves ends the process."""
    with serve(tmp_path) as wire:
        wire.open()
        wire.ask("tools/list")
        stored = wire.call("memory_store", content="Prints nothing.\nReally.")
        wire.call("memory_recall", query="prints nothing", explain=True)
        assert wire.call("memory_get", id="00000000")["isError"]
        assert "error" in wire.ask("no/such/method")
        assert stored["structuredContent"]["version"] == 1
        assert wire.close() == b""
        assert wire.process.returncode == 0
    messages = [json.loads(line) for line in b"".join(wire.written).splitlines()]
    assert len(messages) == 6
    assert all(message["jsonrpc"] == "2.0" for message in messages)


def test_a_bad_line_costs_only_itself(tmp_path: Path) -> None:
    """After lines that are no JSON, no JSON-RPC, no UTF-8 and no valid call, the server still answers."""
    with serve(tmp_path) as wire:
        wire.send(b"not json before anything else")
        wire.open()
        for line in (
            b"this is not json",
            b'{"jsonrpc": "2.0"}',
            b"[]",
            b'\xff\xfe{"id": 1}',
            b'{"jsonrpc": "2.0", "id": 90, "method": "tools/call", "params": {"name": "memory_get", "arguments": 7}}',
            b'{"jsonrpc": "2.0", "id": 91, "method": "tools/call", "params": {"name": "memory_get\\ud800"}}',
            b"",
        ):
            wire.send(line)
        assert not wire.call("memory_store", content="Still here.")["isError"]
        assert wire.call("memory_recall", query="still here")["structuredContent"]["memories"]
        assert wire.close() == b""


def test_no_sensitive_text_leaves_by_any_tool(tmp_path: Path) -> None:
    """What a sensitive memory holds is in no answer, refusal or log of any tool; its placeholder and id are."""
    with serve(tmp_path) as wire:
        wire.open()
        private = {
            "content": "The hunter2 login of the otter bank.\nIts PIN is swordfish.",
            "tags": ["vaultmark"],
            "keywords": ["Tr0ub4dor"],
            "sensitive": True,
        }
        stored = wire.call("memory_store", **private)
        identity = stored["structuredContent"]["id"]
        assert stored["structuredContent"]["sensitive"] is True
        plain = wire.call("memory_store", content="The otter bank asks for a login.")["structuredContent"]["id"]
        again = wire.call("memory_store", **{**private, "id": "0190a0b0-c0d0-7000-8000-00000000000e"})
        other = again["structuredContent"]["id"]
        wire.call("memory_store", **{**private, "id": other})
        for kind, target in (("resolved-by", identity), ("see-also", identity), ("part-of", other)):
            wire.call("memory_link", source=plain, kind=kind, target=target)
        for arguments in ({}, {"explain": True}, {"project": "*", "sort": "recency"}, {"budget": 5}):
            answer = wire.call("memory_recall", query="otter bank login hunter2 vaultmark Tr0ub4dor", **arguments)
            assert not answer["isError"]
        found = wire.call("memory_recall", query="otter bank login")["structuredContent"]["memories"]
        (symptom,) = (memory for memory in found if memory["id"] == plain)
        assert f"[sensitive memory {identity}" in symptom["answers"][0]["content"]
        assert {pointer["id"] for pointer in symptom["pointers"]} == {identity, other}
        explained = wire.call("memory_recall", query="swordfish", explain=True)["structuredContent"]["memories"]
        assert all(len(memory["explanation"]) == 1 for memory in explained)
        wire.call("memory_get", id=identity)
        wire.call("memory_get", id=plain)
        wire.call("memory_list")
        wire.call("memory_why_not", query="swordfish hunter2", id=identity)
        why_not = wire.call("memory_why_not", query="nothing of it", id=identity)["structuredContent"]
        assert why_not["reason"] == "No leg brought it."
        wire.call("memory_update", id=identity, content="Now the PIN is swordfish, not hunter2.", tags=["vaultmark"])
        wire.call("memory_update", id=plain, content="Plain until Tr0ub4dor came.", sensitive=True)
        assert wire.call("memory_update", id=identity, sensitive=False)["isError"]
        assert wire.call("memory_update", id=identity, content="hunter2 " * 400)["isError"]
        assert wire.call("memory_update", id=identity, content="hunter2", version=1)["isError"]
        assert wire.call("memory_store", **{**private, "content": "hunter2 " * 400})["isError"]
        assert wire.call("memory_store", **{**private, "content": ["hunter2"]})["isError"]
        assert wire.call("memory_store", **{**private, "content": {"swordfish": 1}, "tags": "vaultmark"})["isError"]
        assert wire.call("memory_store", **{**private, "importance": "Tr0ub4dor"})["isError"]
        assert "error" in wire.ask("tools/call", name="memory_store", arguments="hunter2")
        assert wire.call("memory_store", **{**private, "id": other, "content": "hunter2"})["isError"]
        wire.send(b'{"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": {"name": "memory_store hunter2"')
        wire.call("memory_stats")
        wire.call("memory_delete", id=identity)
        wire.call("memory_get", id=identity)
        errors = wire.close()
    written = b"".join(wire.written)
    assert b"[sensitive memory " + identity.encode() in written
    for secret in SECRETS:
        assert secret.lower().encode() not in written.lower(), secret
        assert secret.lower().encode() not in errors.lower(), secret


def test_what_became_sensitive_is_hidden_in_its_past_too(tmp_path: Path) -> None:
    """A memory that its owner marked is not readable by looking back to before, even once it is harmless again."""
    with recollect.open(tmp_path / "memory.db") as owner:
        marked = owner.remember("The hunter2 login of the otter bank.")
        mended = owner.remember("The otter bank takes swordfish.")
        before = datetime.now(UTC).isoformat()
        for memory in (marked, mended):
            owner.edit(memory.id, sensitive=True)
        owner.edit(mended.id, sensitive=False, content="The otter bank has a password.")
    with serve(tmp_path) as wire:
        wire.open()
        past = wire.call("memory_recall", query="otter bank", as_of=before, explain=True)["structuredContent"]
        assert {memory["id"] for memory in past["memories"]} == {marked.id, mended.id}
        assert all(memory["content"].startswith("[sensitive memory ") for memory in past["memories"])
        present = wire.call("memory_get", id=mended.id)["structuredContent"]
        assert present["content"] == "The otter bank has a password."
        wire.close()
    written = b"".join(wire.written)
    assert not any(secret.encode() in written for secret in SECRETS)


def test_a_fault_of_our_own_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """An unexpected error becomes a tool error and a line of log, neither of which quotes what it was about."""

    def memory_break() -> None:
        raise ValueError("hunter2")

    with caplog.at_level(logging.DEBUG), pytest.raises(ToolError, match="ValueError") as caught:
        refusing(memory_break)()
    assert "hunter2" not in str(caught.value)
    assert "memory_break failed: ValueError" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_store_that_cannot_be_opened_is_said_so(tmp_path: Path) -> None:
    """The server ends at once with the reason on stderr and nothing on stdout."""
    (tmp_path / "memory.db").write_text("This is no database. " * 100, encoding="utf-8")
    with serve(tmp_path) as wire:
        errors = wire.close().decode()
        assert wire.process.returncode == 1
    assert errors.startswith("recollect: ")
    assert "Traceback" not in errors
    assert wire.written == [b""]


def test_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    """An interrupt ends the process without a traceback and without waiting for another line."""
    with serve(tmp_path) as wire:
        wire.open()
        wire.process.send_signal(signal.SIGINT)
        assert wire.process.wait(timeout=60) == -signal.SIGINT
        assert wire.close() == b""


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    """Typer and NumPy stay out of the server's process: its client waits for the start."""
    program = "import sys; from recollect.__main__ import main; main(); print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", program, "mcp"],
        env={**os.environ, "RECOLLECT_HOME": str(tmp_path), "RECOLLECT_PROJECT": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {name.partition(".")[0] for name in ended.stderr.split()}
    assert {"mcp", "recollect", "sqlite3"} <= imported
    assert imported.isdisjoint({"typer", "numpy"})
