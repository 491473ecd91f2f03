"""The command line as tests use it: in this process, as a process of its own, and in a terminal."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from making import wait_until
from recollect.cli.app import app

_LONGEST = 60
"""Seconds after which a process is taken for stuck."""
OURS = ("RECOLLECT_HOME", "RECOLLECT_STORE", "RECOLLECT_SPACE", "RECOLLECT_PROJECT", "RECOLLECT_DATABASE_URL")
NO_MODEL = "dense was left out: no embedding model is set up (`recollect embed` does that)."
"""What a recall says as long as nothing is embedded."""
LOOKS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "TTY_COMPATIBLE", "PY_COLORS", "GITHUB_ACTIONS")


class CommandLine:
    """Recollect with a home of its own, standing in no project."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.settings = {"RECOLLECT_HOME": str(home), "RECOLLECT_PROJECT": ""}

    def run(
        self,
        *arguments: str,
        stdin: str | bytes | None = None,
        code: int = 0,
        settings: Mapping[str, str] | None = None,
    ) -> Result:
        """Run a command in this process; it must end with this code, and never by an error of Python's."""
        environment = {**dict.fromkeys((*OURS, *LOOKS)), **self.settings, **(settings or {})}
        result = CliRunner().invoke(app, arguments, input=stdin, env=environment, prog_name="recollect")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code == code, result.output
        return result

    def say(self, *arguments: str, stdin: str | bytes | None = None, code: int = 0) -> str:
        """Run a command that has nothing to complain about, and give what it wrote."""
        result = self.run(*arguments, stdin=stdin, code=code)
        assert not result.stderr
        return result.stdout

    def data(self, *arguments: str, code: int = 0) -> Any:  # noqa: ANN401 - whatever JSON it is
        return json.loads(self.say(*arguments, "--json", code=code))

    def keep(self, text: str, *options: str) -> str:
        """Remember something and give its id."""
        identity: str = self.data("remember", text, *options)["id"]
        return identity

    def process(
        self, *arguments: str | bytes, stdin: bytes = b"", settings: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "recollect", *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=_LONGEST,
            cwd=self.home.parent,
            env=self.environment(settings or {}),
        )

    def start(self, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - as Popen takes them
        return subprocess.Popen(
            [sys.executable, "-m", "recollect", *arguments], cwd=self.home.parent, env=self.environment({}), **streams
        )

    def as_in_terminal(self, *arguments: str, columns: int) -> str:
        """Run a command in this process as if in a terminal, and give its lines without their colours."""
        shown = self.run(*arguments, settings={"FORCE_COLOR": "1", "COLUMNS": str(columns)}).stdout
        return re.sub(r"\x1b\[[\d;]*m", "", shown)

    def terminal(self, *arguments: str, columns: int = 80, **settings: str) -> str:
        """Run a command in a terminal and give all that reached its screen."""
        own, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        environment = self.environment({"TERM": "xterm-256color", **settings})
        command = [sys.executable, "-m", "recollect", *arguments]
        with subprocess.Popen(
            command, stdin=its, stdout=its, stderr=its, cwd=self.home.parent, env=environment
        ) as process:
            os.close(its)
            written = _read_all(own)
            process.wait(_LONGEST)
        os.close(own)
        return written.decode().replace("\r\n", "\n")

    def talk(self, *arguments: str, keys: str, prompt: str = " quit", **settings: str) -> str:
        """Run a command in a terminal, press a key each time that it asks for one, and give all that it showed."""
        own, its = pty.openpty()
        environment = self.environment({"TERM": "xterm-256color", "NO_COLOR": "1", **settings})
        command = [sys.executable, "-m", "recollect", *arguments]
        with subprocess.Popen(
            command, stdin=its, stdout=its, stderr=its, cwd=self.home.parent, env=environment
        ) as process:
            os.close(its)
            written = b""
            for count, key in enumerate(keys, start=1):
                while written.count(prompt.encode()) < count:
                    written += os.read(own, 65536)
                # Whoever waits for a key throws away what was pressed before.
                wait_until(lambda: not termios.tcgetattr(own)[3] & termios.ICANON)
                os.write(own, key.encode())
            written += _read_all(own)
            process.wait(_LONGEST)
        os.close(own)
        return written.decode().replace("\r\n", "\n")

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in (*OURS, *LOOKS)}
        return {**kept, **self.settings, **settings}


def _read_all(terminal: int) -> bytes:
    written = b""
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end is closed
            return written
        if not some:
            return written
        written += some
