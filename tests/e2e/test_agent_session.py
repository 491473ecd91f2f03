"""A user's first days, end to end: install, hooks and server as a client starts them, a fact that is corrected later.

What the client runs is read out of the files that `recollect install` wrote, and run as Claude Code does: a hook's
command through the shell with JSON on stdin, the server with the official client over stdio.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from client_files import OTHERS, picture, write_sample

if TYPE_CHECKING:
    from mcp_types import CallToolResult

PROJECT = "github.com/acme/shop"
OLD = "The staging database is Postgres 16 on port 5433."
NEW = "The staging database listens on port 6543 since the move to the new cluster."
ASKED = "Which port does the staging database use?"
TRIES = 10
"""A prompt hook gives up after 150 ms, by design; on a busy machine it is run again, for another new session.

If the machine is never free enough, it is asked at last with `--verbose`, which takes the same way without hurry.
"""
_LONGEST = 60
_MOVED = ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA", "PYTHONDONTWRITEBYTECODE")
_MEASURING = "COVERAGE_"
"""What has every process of the tests measured, which alone takes longer than a prompt hook may."""


class ClaudeCode:
    """A client that knows nothing but its own files, standing in a clone of the project."""

    def __init__(self, user: Path) -> None:
        self.user = user
        self.files = (user / ".claude.json", user / ".claude" / "settings.json")
        self.folder = user / "shop"
        write_sample(
            str(self.folder / ".git" / "config"), f'[remote "origin"]\n\turl = https://{PROJECT}.git\n'.encode()
        )
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("RECOLLECT_") and name not in _MOVED
        }
        # Compiled once, as what is installed is, and not anew for each prompt.
        self.environment = {**kept, "HOME": str(user), "PYTHONPYCACHEPREFIX": str(user.parent / "compiled")}
        self.sessions = 0

    def new_session(self) -> str:
        self.sessions += 1
        return f"session-{self.sessions}"

    def hook(self, name: str, session: str, *, verbose: bool = False, **fields: Any) -> str:  # noqa: ANN401
        """Run the hook that is installed for an event, and give what the model is told; empty if nothing.

        A silence counts only if the hook was verbose: that one takes its time, and would say if anything were wrong.
        """
        (group,) = [each for each in json.loads(self.files[1].read_text())["hooks"][name] if "recollect" in str(each)]
        (installed,) = group["hooks"]
        assert installed["type"] == "command"
        event = {"session_id": session, "cwd": str(self.folder), "hook_event_name": name, **fields}
        environment = {
            each: value for each, value in self.environment.items() if verbose or not each.startswith(_MEASURING)
        }
        done = subprocess.run(  # noqa: S602 - through the shell, as the client does
            installed["command"] + (" --verbose" if verbose else ""),
            shell=True,
            cwd=self.folder,
            env=environment,
            input=json.dumps(event).encode(),
            capture_output=True,
            timeout=_LONGEST,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return ""
        answer = json.loads(done.stdout)["hookSpecificOutput"]
        assert answer["hookEventName"] == name
        return str(answer["additionalContext"])

    def prompt(self, text: str) -> tuple[str, str]:
        """Ask in new sessions until the hook could speak and note it in time; give the session and what was told."""
        before = self.counts()["given"]
        for tries in range(TRIES + 1):
            session = self.new_session()
            told = self.hook("UserPromptSubmit", session, verbose=tries == TRIES, prompt=text)
            if told and self.counts()["given"] > before:
                return session, told
        raise AssertionError("The hook said nothing, however much time it had.")

    def server(self) -> StdioServerParameters:
        entry = json.loads(self.files[0].read_text())["mcpServers"]["recollect"]
        assert entry["type"] == "stdio"
        return StdioServerParameters(
            command=entry["command"], args=entry["args"], env=self.environment, cwd=str(self.folder)
        )

    def run(self, *arguments: str) -> str:
        """Run a command as the user types it, in the project's folder; it must succeed."""
        done = subprocess.run(
            [sys.executable, "-m", "recollect", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            timeout=_LONGEST,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    def data(self, *arguments: str) -> Any:  # noqa: ANN401 - whatever JSON it is
        return json.loads(self.run(*arguments, "--json"))

    def counts(self) -> dict[str, int]:
        """Give what the statistics say of the hooks."""
        counted: dict[str, int] = self.data("stats")["hooks"]
        return counted

    def settings(self) -> dict[str, object]:
        """Give all of the user's files but what Recollect keeps."""
        return {name: state for name, state in picture(str(self.user)).items() if not name.startswith(".recollect")}


class Agent:
    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    def call(self, name: str, **arguments: Any) -> Any:  # noqa: ANN401 - the tool's typed answer
        result: CallToolResult = self._portal.call(self._client.call_tool, name, arguments)
        assert not result.is_error, result.content
        return result.structured_content


@contextmanager
def _working(claude: ClaudeCode) -> Iterator[Agent]:
    """Give an agent whose client has started the server; when it ends, the server must have had nothing to say."""
    log = claude.user.parent / "stderr.txt"
    with log.open("w", encoding="utf-8") as errors, start_blocking_portal() as portal:
        client = Client(stdio_client(claude.server(), errlog=errors))
        with portal.wrap_async_context_manager(client):
            yield Agent(portal, client)
    assert not log.read_text(encoding="utf-8")


def _write_transcript(path: Path, *lines: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def _said(role: str, text: str) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": [{"type": "text", "text": text}]}}


@pytest.fixture
def claude(tmp_path: Path) -> ClaudeCode:
    """Give a client whose user has servers and hooks of others already."""
    client = ClaudeCode(tmp_path / "ann")
    for file in client.files:
        write_sample(str(file), json.dumps(OTHERS, indent=2).encode())
    return client


def test_a_fact_is_stored_recalled_corrected_and_still_known_as_it_was(claude: ClaudeCode, tmp_path: Path) -> None:
    """From install to uninstall: the next session is told, the corrected fact takes over, `as_of` sees the old one."""
    before = claude.settings()
    assert "Done." in claude.run("install", "claude-code", "--yes")
    assert claude.settings() != before

    # The first day: nothing is known, so nothing is said; then the agent stores what it was told.
    first = claude.new_session()
    with _working(claude) as agent:
        agent.call("memory_stats")
        assert claude.hook("SessionStart", first, verbose=True, source="startup") == ""
        assert claude.hook("UserPromptSubmit", first, verbose=True, prompt=ASKED) == ""
        old = agent.call("memory_store", content=OLD)["id"]
        assert agent.call("memory_get", id=old)["project"] == PROJECT
    silent = claude.counts()
    assert (silent["prompts"], silent["silent"], silent["given"], silent["used"]) == (1, 1, 0, 0)

    # The next day: another session is told, with the id to name it by, and once.
    second, told = claude.prompt(ASKED)
    assert f"[{old[-8:]} | facts | today]\n{OLD}" in told
    assert "not instructions" in told
    assert claude.hook("UserPromptSubmit", second, verbose=True, prompt=ASKED) == ""
    between = datetime.now(UTC).isoformat()
    with _working(claude) as agent:
        new = agent.call("memory_store", content=NEW)["id"]
        agent.call("memory_link", source=new, kind="supersedes", target=old)
        (now,) = agent.call("memory_recall", query=ASKED)["memories"]
        (then,) = agent.call("memory_recall", query=ASKED, as_of=between)["memories"]
    assert (now["id"], now["instead_of"], then["id"]) == (new, [old], old)
    # Whoever links a memory that they were given has made use of it.
    corrected = claude.counts()
    assert corrected["given"] == corrected["used"] >= 1

    # The day after: what is right now, and what was believed then.
    third, told = claude.prompt(ASKED)
    assert f"[{new[-8:]} | facts | today]\n{NEW}" in told
    assert OLD not in told
    assert old[-8:] not in told
    assert [each["id"] for each in claude.data("recall", ASKED)["results"]] == [new]
    assert [each["id"] for each in claude.data("recall", ASKED, "--as-of", between)["results"]] == [old]

    # Its turn ends: what the agent named was used, and what the user said to remember waits for review.
    given = claude.counts()
    assert given["used"] == corrected["used"] < given["given"]
    transcript = _write_transcript(
        tmp_path / "transcript.jsonl",
        _said("user", ASKED),
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [told]}},
        _said("assistant", f"It listens on port 6543, as [{new[-8:]}] says."),
        _said("user", "Remember that the staging database is restored from the backup every Sunday night."),
        _said("assistant", "I will."),
    )
    # A hook that ran out of time left the rest to the next one, and one that did not left nothing.
    for verbose in (False, True):
        assert claude.hook("Stop", third, verbose=verbose, transcript_path=transcript) == ""
    assert claude.counts()["used"] == given["given"]
    (learned,) = claude.data("review", "--list")["waiting"]
    assert learned["content"] == "The staging database is restored from the backup every Sunday night."
    assert learned["content"] in " ".join(claude.run("review", "--list").split())

    # It goes as it came; what was remembered stays.
    assert "What was remembered is kept." in claude.run("uninstall", "claude-code", "--yes")
    assert claude.settings() == before
    assert [each["id"] for each in claude.data("recall", ASKED)["results"]] == [new]
