"""`recollect hook NAME [--client NAME] [--verbose]`: what clients run when a session starts, at a prompt, and later.

The client's JSON comes in on stdin, at most one JSON object goes out on stdout, and the exit code is 0 whatever
happens: a memory that cannot answer must not stand in the way of the work. Dispatched before the command line is
imported, and importing nothing that a prompt need not wait for. `--verbose` says on stderr what went wrong, and takes
its time.
"""

import gc
import os
import sys
import threading
import time
from typing import Final

from recollect.hooks import clients

SECONDS: Final = {clients.PROMPT: 0.15, clients.SESSION_START: 1.0, clients.PRE_COMPACT: 10.0, clients.STOP: 10.0}
"""What each hook may take, from the start of the process on; past it, it says nothing."""
LEAVING_SECONDS: Final = 0.015
"""What of that is kept for giving up: a process takes a moment to be gone."""
MOST_INPUT: Final = 1 << 20
"""Bytes of JSON that are read. A prompt that is longer says nothing about what its few telling words are."""
_UNHURRIED_SECONDS: Final = 60.0
_CHUNK: Final = 1 << 16


def main(arguments: list[str]) -> None:
    # Everything is gone in a moment: nothing that is looked through meanwhile could be worth it.
    gc.disable()
    began = time.perf_counter() - process_age()
    hook, client, verbose = _read_arguments(arguments)
    seconds = _UNHURRIED_SECONDS if verbose else SECONDS.get(hook, 0.0)
    try:
        if not verbose:
            _give_up_at(began + seconds - LEAVING_SECONDS)
        _run(hook, client, began, seconds)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the client goes on
        if verbose:
            sys.stderr.write(f"recollect hook {hook}: {type(error).__name__}: {error}\n")
    sys.stderr.flush()
    # Nothing is left to be done; taking the interpreter apart would only take time.
    os._exit(0)


def process_age() -> float:
    """Say for how long this process has been there: what the interpreter took to get here counts too."""
    computed = time.process_time()
    try:
        # In ticks since the system was started, behind the name, which may hold anything.
        with open("/proc/self/stat", "rb") as file:
            started = int(file.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, LookupError, AttributeError):
        return computed
    # In a container the two clocks may differ.
    return age if computed <= age < _UNHURRIED_SECONDS else computed


def _run(hook: str, client: str, began: float, seconds: float) -> None:
    fields = _read_input()
    if fields is None or hook not in SECONDS:
        return
    event = clients.read_event(client, hook, fields)
    if hook == clients.PROMPT:
        from recollect.hooks.prompt import run

        run(event, began, seconds, _write)
    elif hook == clients.SESSION_START:
        from recollect.hooks.session_start import run as start

        start(event, began, _write)
    elif hook == clients.PRE_COMPACT:
        from recollect.hooks.pre_compact import run as keep

        keep(event)
    else:
        from recollect.hooks.stop import run as learn

        learn(event)


def _read_arguments(arguments: list[str]) -> tuple[str, str, bool]:
    """Read what little there is; anything unknown is passed over, since a hook has nobody to complain to."""
    client = "claude-code"
    for flag, following in zip(arguments, [*arguments, ""][1:], strict=True):
        if flag == "--client":
            client = following
    return arguments[0] if arguments else "", client, "--verbose" in arguments


def _read_input() -> dict[str, object] | None:
    """Read one JSON object from stdin, as soon as it is whole: not every client closes the pipe."""
    import json

    read = b""
    while chunk := os.read(0, _CHUNK):
        if len(read) > MOST_INPUT:
            # Taken off the pipe all the same, for whoever writes into it.
            continue
        read += chunk
        if chunk.rstrip().endswith(b"}"):
            try:
                fields = json.loads(read)
            except ValueError:
                continue
            return fields if isinstance(fields, dict) else None
    return None


def _write(answer: dict[str, object]) -> None:
    import json

    left = json.dumps(answer).encode() + b"\n"
    while left:
        left = left[os.write(1, left) :]


def _give_up_at(end: float) -> None:
    """End the process at a time, whatever it is doing: waiting for a file, for a lock, or for a client."""

    def wait() -> None:
        time.sleep(max(0.0, end - time.perf_counter()))
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()
