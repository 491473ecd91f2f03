"""What happens when a command cannot do what was asked: one line on standard error, and an exit code that says why.

| code | meaning                                                            |
|------|--------------------------------------------------------------------|
| 0    | done; a recall that finds nothing too                              |
| 1    | a problem in `doctor`, `import`, `embed`, `bench gate`; or a no    |
| 2    | the command or its input cannot be taken as given                  |
| 3    | no such memory, person, space or key; an id that fits several      |
| 4    | a conflict: it changed meanwhile, or the id or the name is taken   |
| 5    | trouble with the store                                             |
| 6    | trouble with an embedding model or a language model                |
| 130  | interrupted                                                        |
| 141  | whoever read the output stopped reading                            |
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, Final

import typer
from typer.core import TyperGroup

from recollect.core.errors import (
    Ambiguous,
    Conflict,
    EmbedderError,
    ExtractorError,
    NotFound,
    RecollectError,
    Refused,
    StoreError,
)

PROBLEM: Final = 1
REFUSED: Final = 2
NOT_FOUND: Final = 3
CONFLICT: Final = 4
STORE: Final = 5
MODEL: Final = 6
_UNREAD: Final = 141
_CODES: Final[tuple[tuple[type[RecollectError], int], ...]] = (
    (NotFound, NOT_FOUND),
    (Ambiguous, NOT_FOUND),
    (Conflict, CONFLICT),
    (StoreError, STORE),
    (EmbedderError, MODEL),
    (ExtractorError, MODEL),
)


class Commands(TyperGroup):
    """All commands, with their errors caught in one place."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # noqa: ANN401 - as in Typer
    ) -> int:
        _open_streams()
        extra |= {"prog_name": prog_name, "complete_var": complete_var, "windows_expand_args": windows_expand_args}
        code = self._run(args, extra)
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _stop_writing()
            code = _UNREAD
        if standalone_mode:
            sys.exit(code)
        return code

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - its type is Click's, which Typer hides
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _stop_writing()
            raise typer.Exit(_UNREAD) from None

    def _run(self, args: Sequence[str] | None, options: dict[str, Any]) -> int:
        given = list(sys.argv[1:] if args is None else args)
        try:
            _check_text(given)
            code = super().main(args, standalone_mode=False, **options)
        except typer.Abort:
            return PROBLEM
        except Exception as error:
            code = _code(error)
            if code is None:
                raise
            _complain(error, as_json="--json" in takewhile(lambda each: each != "--", given))
        return int(code or 0)


def _code(error: Exception) -> int | None:
    """Give the exit code of an error, or nothing for one that is no fault of the user."""
    if isinstance(error, RecollectError):
        return next((code for kind, code in _CODES if isinstance(error, kind)), REFUSED)
    if isinstance(error, UnicodeEncodeError):
        return REFUSED
    if isinstance(error, OSError):
        return STORE
    # Typer's own errors are of a class that it does not show.
    return REFUSED if hasattr(error, "format_message") else None


def _complain(error: Exception, *, as_json: bool) -> None:
    message, kind, hint = _describe(error)
    if as_json:
        import json

        print(json.dumps({"error": message, "kind": kind}), file=sys.stderr)  # noqa: T201
        return
    from rich.text import Text

    from recollect.cli.paper import DIM, WRONG, Paper, plain

    paper = Paper(errors=True)
    paper.write(plain(message), Text.assemble(("error:", WRONG), " "))
    if hint:
        paper.write(Text(hint, DIM))


def _describe(error: Exception) -> tuple[str, str, str]:
    """Give an error's message, its kind, and where to read on."""
    if isinstance(error, RecollectError):
        return str(error), type(error).__name__, ""
    if isinstance(error, UnicodeEncodeError):
        return "Something here is not text in UTF-8, so it cannot be stored or looked for.", Refused.__name__, ""
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror or error}{where}", StoreError.__name__, ""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    return message, "Usage", f"`{context.command_path} --help` says how." if context else ""


def _check_text(given: Sequence[str]) -> None:
    """Refuse bytes that are not UTF-8, which Python hands on as halves of surrogate pairs."""
    for argument in given:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise Refused(f"{argument!a} is not text in UTF-8: check your terminal's encoding.") from None


def _open_streams() -> None:
    """Have somewhere to write to, and never fail for a letter that the terminal does not have."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open to the end
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace" if name == "stderr" else "replace")


def _stop_writing() -> None:
    """Point standard output at nothing, so that the last flush of all does not fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
