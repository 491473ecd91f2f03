"""A client: what it is called, which files of it change, and what is put into each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recollect.installers.entries import NAME, Entry, Hook, Server, quote

PROMPT_SECONDS: Final = 5
"""How long a client waits for the hook before a prompt, which ends itself long before."""
OTHER_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class File:
    """A file of a client's, and what Recollect puts into it."""

    path: str
    entries: tuple[Entry, ...]
    toml: bool = False


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    title: str
    files: tuple[File, ...]
    after: str
    """What the user does next."""


def server(box: str, program: str, *, kind: str | None = None, **more: object) -> Server:
    """Give the entry that starts the server, for the object or table that a client keeps its servers in."""
    return Server((box, NAME), {**({"type": kind} if kind else {}), "command": program, "args": ["mcp"], **more})


def call(hook: str, client: str) -> str:
    return f"hook {hook} --client {client}"


def seconds(hook: str) -> int:
    return PROMPT_SECONDS if hook == "prompt" else OTHER_SECONDS


def command(program: str, hook: str, client: str) -> str:
    return f"{quote(program)} {call(hook, client)}"


def grouped_hooks(program: str, client: str, events: Sequence[tuple[str, str]]) -> tuple[Hook, ...]:
    """Give the hooks of a client that keeps them as Claude Code does: a list of groups to an event."""
    return tuple(
        Hook(
            ("hooks", event),
            {"hooks": [{"type": "command", "command": command(program, hook, client), "timeout": seconds(hook)}]},
            call(hook, client),
        )
        for event, hook in events
    )


def plain_hooks(program: str, client: str, events: Sequence[tuple[str, str]], **first: object) -> tuple[Hook, ...]:
    """Give the hooks of a client that keeps a plain list of commands to an event."""
    return tuple(
        Hook(
            ("hooks", event),
            {**first, "command": command(program, hook, client), "timeout": seconds(hook)},
            call(hook, client),
        )
        for event, hook in events
    )
