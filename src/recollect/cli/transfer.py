"""`export` and `import`: everything, as a file of JSON lines."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Annotated, BinaryIO, Final

import typer

from recollect.cli.errors import PROBLEM
from recollect.cli.foreign import complete, import_from, suggest
from recollect.cli.options import Json
from recollect.core.errors import Refused

STDIO: Final = "-"


def export_all(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="Where to; `-` is standard output.")] = STDIO,
) -> None:
    """Write every memory with its history and its links, as JSON lines that `import` reads."""
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        if file == STDIO:
            from recollect.cli.as_json import escape, write_utf8

            for line in memory.export_lines():
                write_utf8(escape(line))
            return
        tally = _Tally()
        with _replacing(file) as target:
            for line in tally.count(memory.export_lines()):
                target.write(line.encode() + b"\n")
    tally.report(file)


def import_all(
    file: Annotated[str, typer.Argument(metavar="PATH|-", help="An export; `-` is standard input.")],
    *,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FORMAT", help="What else it is, as docs/howto/import.md lists.", autocompletion=complete
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be taken in.")] = False,
    project: Annotated[str | None, typer.Option("--project", "-p", help="With --from: put all into this one.")] = None,
    general: Annotated[bool, typer.Option("--general", "-g", help="With --from: put all into no project.")] = False,
    json: Json = False,
) -> None:
    """Take in an export, or another system's memories. Doing it twice changes nothing; what is left is reported."""
    from recollect.cli.progress import show_reading
    from recollect.wiring import open_recollect

    if source is not None:
        import_from(source, file, project=project, general=general, dry_run=dry_run, as_json=json)
        return
    if project is not None or general:
        raise typer.BadParameter("--project and --general need --from: an export knows where its memories belong.")
    try:
        with opened(file) as opened_file, open_recollect() as memory, show_reading(opened_file) as advance:
            outcome = memory.import_lines(read_lines(opened_file, advance), dry_run=dry_run)
    except Refused:
        suggest(file)
        raise
    if json:
        from recollect.cli.as_json import write_json

        write_json({"dry_run": dry_run, **asdict(outcome)})
    else:
        from recollect.cli.paper import NOTICE, Paper, plain
        from recollect.cli.words import count

        taken = count(outcome.added, "memory", "memories")
        parts = [f"{outcome.updated:,} updated", f"{outcome.unchanged:,} unchanged", count(outcome.links, "new link")]
        Paper().write(f"{'Would add' if dry_run else 'Added'} {taken}; {', '.join(parts)}.")
        for problem in outcome.problems:
            Paper(errors=True).write(plain(problem, NOTICE))
    if outcome.problems:
        raise typer.Exit(PROBLEM)


class _Tally:
    """Counts what goes into an export."""

    def __init__(self) -> None:
        self.memories = self.links = self.sensitive = 0

    def count(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self.memories += line.startswith('{"type":"memory"')
            self.links += line.startswith('{"type":"link"')
            self.sensitive += '"sensitive":true' in line
            yield line

    def report(self, file: str) -> None:
        from recollect.cli.paper import NOTICE, Paper, plain
        from recollect.cli.words import count

        many = f"{count(self.memories, 'memory', 'memories')} and {count(self.links, 'link')}"
        Paper().write(f"Exported {many} to {file}.")
        if self.sensitive:
            verb = "is" if self.sensitive == 1 else "are"
            words = f"{count(self.sensitive, 'sensitive memory', 'sensitive memories')} {verb} in it as plain text."
            Paper(errors=True).write(plain(words, NOTICE))


@contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    """Write a file that only its owner can read, and that is there whole or not at all."""
    try:
        folder = os.path.dirname(os.path.abspath(path))
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".recollect-")
    except OSError as error:
        raise _refusal(path, "written", error) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise _refusal(path, "written", error) from None
        raise


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    if path == STDIO:
        yield sys.stdin.buffer
        return
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise _refusal(path, "read", error) from None
    with file:
        yield file


def read_lines(source: BinaryIO, advance: Callable[[int], None]) -> Iterator[str]:
    """Give the lines of a file; bytes that are not UTF-8 are left for the import to refuse, line by line."""
    for line in source:
        advance(len(line))
        yield line.decode("utf-8", "surrogateescape")


def _refusal(path: str, done: str, error: OSError) -> Refused:
    return Refused(f"{path} cannot be {done}: {error.strerror or error}.")
