"""What reaches a terminal, and what reaches a pipe."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

import recollect
from command_line import CommandLine
from recollect.__main__ import main
from recollect.cli.editor import edit_text
from recollect.cli.paper import clean
from recollect.cli.words import ago, project_name, size
from recollect.core.errors import Refused
from recollect.mcp import server

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])(?:;\d+)*m")
ANY_ESCAPE = re.compile(r"\x1b")
NASTY = "[bold red]no markup[/] \x1b[31mred \x9b31m \x07 :smile: end"


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


def test_text_is_wrapped_to_the_terminal(cli: CommandLine) -> None:
    """In a terminal, every line fits its width and nothing of a memory is lost."""
    words = [f"word{number}" for number in range(60)]
    cli.keep(" ".join(words), "-t", "a-long-tag", "-t", "another-long-tag", "--project", "github.com/acme/long-name")
    cli.keep("日本語のメモ" * 20)
    for columns in (40, 80, 120):
        for command in (["recall", "word3 word5"], ["list", "-a"], ["config"], ["stats"], ["recall", "日本", "-x"]):
            shown = cli.as_in_terminal(*command, columns=columns)
            assert max(cell_len(line) for line in shown.splitlines()) <= columns
        shown = cli.as_in_terminal("recall", "word3", columns=columns)
        assert [word for word in shown.split() if word.startswith("word")] == words
    assert cli.terminal("list", "-a", columns=60, NO_COLOR="1").splitlines()[1].endswith("…")


def test_a_pipe_gets_plain_text_uncut(cli: CommandLine) -> None:
    """A pipe gets no escape sequence, and every line whole however long it is."""
    text = "cart " * 200
    cli.keep(text)
    for command in (["recall", "cart", "-x"], ["list"], ["--help"]):
        written = cli.process(*command)
        assert written.returncode == 0
        assert b"\x1b" not in written.stdout
        assert written.stderr == b""
    assert text.strip() in cli.process("list").stdout.decode()
    assert text.strip() in cli.process("recall", "cart").stdout.decode()


def test_colour_is_for_terminals_that_want_it(cli: CommandLine) -> None:
    """A terminal gets colours; with NO_COLOR it gets none."""
    cli.keep("cart")
    assert COLOUR.search(cli.terminal("recall", "cart"))
    assert not COLOUR.search(cli.terminal("recall", "cart", NO_COLOR="1"))
    assert COLOUR.search(cli.terminal("show", "ffffffff"))


def test_memories_cannot_speak_to_the_terminal(cli: CommandLine) -> None:
    """Markup is shown as it is, and control characters as pictures, wherever a memory's text is written."""
    identity = cli.keep(NASTY, "-t", "\x1b[32mtag", "-c", "[red]c\x1b[33m", "--project", "p\x1b[34m")
    seen = "[bold red]no markup[/] ␛[31mred �31m ␇ :smile: end"
    for command in (
        ["recall", "markup", "-a"],
        ["recall", "markup", "-a", "-x"],
        ["show", identity],
        ["history", identity],
        ["list", "-a"],
    ):
        piped = cli.say(*command)
        assert seen in piped
        assert not ANY_ESCAPE.search(piped)
    for command in (["recall", "markup", "-a", "-x"], ["stats"]):
        shown = cli.terminal(*command, columns=120)
        assert "\x1b[31m" not in shown
        assert "\x9b" not in shown
        assert not re.search(r"\x1b\[3[234]m(?:tag|c|p)", shown)
    assert not ANY_ESCAPE.search(cli.run("show", "\x1b[31mnone", code=3).stderr)
    assert not ANY_ESCAPE.search(cli.run("recall", "x", "--sort", "\x1b[31m", code=2).stderr)
    assert not ANY_ESCAPE.search(cli.run("\x1b[31m", code=2).stderr)


def test_forced_colours_reach_a_pipe(cli: CommandLine) -> None:
    """FORCE_COLOR makes a pipe look like a terminal, progress bars and all."""
    cli.keep("cart " * 100)
    cli.keep("other")
    settings = {"FORCE_COLOR": "1", "COLUMNS": "60"}
    assert COLOUR.search(cli.run("recall", "cart", "-x", settings=settings).stdout)
    assert "--after" in cli.run("list", "-n", "1", settings=settings).stdout
    assert "All is well" in cli.run("doctor", settings=settings).stdout
    assert "unchanged" in cli.run("import", "-", stdin=cli.say("export"), settings=settings).stdout


def test_a_reader_that_stops_is_no_error(cli: CommandLine) -> None:
    """When whoever reads the output stops, the command ends without a word."""
    for number in range(30):
        cli.keep(f"cart {number} " + "x" * 1000)
    for command in (["list"], ["export"], ["recall", "cart"], ["recall", "cart", "--json"], ["show", "ffffffff"]):
        reading, writing = os.pipe()
        os.close(reading)
        process = cli.start(*command, stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        _, complaint = process.communicate(timeout=60)
        if command[0] == "show":
            assert (process.returncode, complaint[:6]) == (3, b"error:")
        else:
            assert (process.returncode, complaint) == (141, b"")


def test_an_interrupt_is_quiet(cli: CommandLine) -> None:
    """Ctrl-C at a question changes nothing, says nothing and exits with 130."""
    identity = cli.keep("cart")
    process = cli.start(
        "forget", identity, "--purge", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    question = b""
    while b"[y/N]" not in question:
        question += os.read(process.stderr.fileno(), 1024)
    process.send_signal(signal.SIGINT)
    written, complaint = process.communicate(timeout=60)
    assert (process.returncode, written) == (130, b"")
    assert b"Traceback" not in complaint
    assert cli.data("show", identity)["content"] == "cart"


def test_arguments_that_are_no_text(cli: CommandLine) -> None:
    """Bytes that are not UTF-8 in an argument are refused in a line."""
    for command in ((b"remember", b"caf\xe9"), (b"recall", b"\xff"), (b"show", b"\xff\xfe\xfd\xfc")):
        written = cli.process(*command)
        assert written.returncode == 2
        assert written.stderr.startswith(b"error: ")
        assert b"Traceback" not in written.stderr


def test_a_terminal_without_our_letters(cli: CommandLine) -> None:
    """Output in an encoding that lacks a letter shows a stand-in for it."""
    cli.keep("日本語")
    written = cli.process("list", settings={"PYTHONIOENCODING": "ascii"})
    assert (written.returncode, written.stderr) == (0, b"")
    assert b"???" in written.stdout


def test_the_editor_changes_the_text(cli: CommandLine, tmp_path: Path) -> None:
    """`edit` without options opens $EDITOR on the text, and keeps what it left."""
    identity = cli.keep("Orders use ULIDs.")
    editor = tmp_path / "editor.py"
    editor.write_text("import sys\nopen(sys.argv[1], 'w').write('Orders use UUIDs.\\n')\n")
    shown = cli.terminal("edit", identity, EDITOR=f"{sys.executable} {editor}")
    assert "Edited" in shown
    assert cli.data("show", identity)["content"] == "Orders use UUIDs."


def test_an_editor_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing or failing editor is named, and the text stays."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "true")
    assert edit_text("same\n", str) == "same\n"
    assert edit_text("same", str) == "same"
    for editor, words in (("false", "nothing was changed"), ("/nowhere/vi", "set EDITOR"), ("'", "set EDITOR")):
        monkeypatch.setenv("EDITOR", editor)
        with pytest.raises(Refused, match=words):
            edit_text("same", str)


def test_what_was_written_in_the_editor_is_not_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that cannot be kept stays in its file, and the message names it."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "true")

    def refuse(_: str) -> str:
        raise Refused("Too long.")

    with pytest.raises(Refused, match=r"Too long. Your text is in (?P<path>\S+)\.$") as refused:
        edit_text("an hour's work", refuse)
    file = Path(str(refused.value).rsplit(" ", 1)[1].removesuffix("."))
    assert file.read_text(encoding="utf-8") == "an hour's work"
    file.unlink()


def test_the_server_starts_without_the_command_line() -> None:
    """`recollect mcp` reaches the server without importing Typer or Rich."""
    code = """
import sys, types
server = types.ModuleType("recollect.mcp.server")
server.main = lambda: print(sorted({"typer", "rich", "click"} & sys.modules.keys()))
sys.modules["recollect.mcp.server"] = server
sys.argv = ["recollect", "mcp"]
from recollect.__main__ import main
main()
"""
    written = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=60)
    assert written.stdout == "[]\n"


def test_both_ways_to_the_server_are_one(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """`mcp` as a registered command and as dispatched by `main` start the same server; Ctrl-C ends it with 130."""
    started: list[str] = []
    monkeypatch.setattr(server, "main", lambda: started.append("server"))
    cli.say("mcp")
    monkeypatch.setattr(sys, "argv", ["recollect", "mcp"])
    main()
    assert started == ["server", "server"]

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "main", interrupt)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


def test_the_command_runs_as_a_module(cli: CommandLine) -> None:
    """`python -m recollect` is the same command, and a whole session works across processes."""
    assert cli.process("--version").stdout.decode() == f"recollect {recollect.__version__}\n"
    assert cli.process("remember", "-", stdin="Die Züge fahren dienstags.\n".encode()).returncode == 0
    assert "Züge" in cli.process("recall", "dienstags").stdout.decode()
    assert cli.process("doctor").returncode == 0


def test_words_for_times_sizes_and_names() -> None:
    """Ages, sizes and project names are put as a person would put them."""
    from datetime import UTC, datetime, timedelta

    now = datetime(2026, 5, 31, tzinfo=UTC)
    ages = {0: "just now", 60: "1 min ago", 7200: "2 hours ago", 86400: "yesterday", 86400 * 400: "1 year ago"}
    assert {seconds: ago(now - timedelta(seconds=seconds), now) for seconds in ages} == ages
    assert ago(now + timedelta(days=1), now) == "tomorrow"
    assert ago(now + timedelta(days=60), now) == "in 2 months"
    assert [size(1), size(1500), size(2_500_000), size(10**15)] == ["1 byte", "1.5 KB", "2.5 MB", "1000000.0 GB"]
    assert [project_name(name) for name in ("github.com/a/b", "/home/me/b", "b", "/")] == ["a/b", "b", "b", "/"]
    assert clean("a\r\nb\rc\ud800") == "a\nb␍c�"
