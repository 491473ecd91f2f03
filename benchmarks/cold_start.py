"""From the start of the process to the first recall answered, against an empty server of the same SDK.

Both are started in turn, so that whatever else the machine does hits both alike: only the ratio of the medians
means anything. Byte code is compiled first, as an installer does.

    python benchmarks/cold_start.py [--runs 15] [--memories 1000]
"""

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any, Final

import recollect

ALLOWED: Final = 1.6
"""How much longer than the empty server ours may take."""

_REFERENCE: Final = """\
from mcp.server.mcpserver import MCPServer

server = MCPServer("reference")


@server.tool()
def empty() -> str:
    return ""


if __name__ == "__main__":
    server.run()
"""
_HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "cold start", "version": "1"},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15, help="starts of each server, after one to warm up")
    parser.add_argument("--memories", type=int, default=1000, help="memories in the store")
    options = parser.parse_args()
    compileall.compile_dir(os.path.dirname(recollect.__file__), quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "reference.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(_REFERENCE)
        fill(os.path.join(folder, "memory.db"), options.memories)
        # Without this variable Python keeps the byte code that it compiles.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"RECOLLECT_HOME": folder, "RECOLLECT_PROJECT": ""}
        servers: dict[str, tuple[list[str], dict[str, Any]]] = {
            "empty": ([sys.executable, script], {"name": "empty", "arguments": {}}),
            "recollect": (
                [sys.executable, "-m", "recollect", "mcp"],
                {"name": "memory_recall", "arguments": {"query": "which port does service 7 listen on"}},
            ),
        }
        times: dict[str, list[float]] = {name: [] for name in servers}
        for run in range(options.runs + 1):
            for name, (command, call) in servers.items():
                took = answer_once(command, environment, call)
                if run:
                    times[name].append(took)
    return report(times)


def fill(path: str, memories: int) -> None:
    with recollect.open(path) as store:
        for number in range(memories):
            store.remember(
                f"Service {number} listens on port {8000 + number}.\n"
                f"The team of area {number % 37} decided so after incident {number * 7 % 101}, to keep the ports apart."
            )


def answer_once(command: Sequence[str], environment: dict[str, str], call: dict[str, Any]) -> float:
    """Start a server, ask it once, and give the seconds until the answer was there."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
        ):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if message.get("id") == 1:
                json.loads(process.stdout.readline())
        answer = json.loads(process.stdout.readline())
        took = time.perf_counter() - began
        process.stdin.close()
        process.wait()
    if answer["id"] != 2 or answer["result"].get("isError"):
        raise SystemExit(f"{command} did not answer: {answer}")
    return took


def report(times: dict[str, list[float]]) -> int:
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, each in times.items():
        print(f"{name:>10}: median {medians[name]:.3f} s, {min(each):.3f} to {max(each):.3f} s, {len(each)} starts")
    ratio = medians["recollect"] / medians["empty"]
    print(f"     ratio: {ratio:.2f} (at most {ALLOWED})")
    return int(ratio > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
