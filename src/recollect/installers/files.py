"""Reading and writing the files of a client: whole or not at all, through links, with the mode they had."""

import os
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from recollect.core.errors import Conflict, Refused


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file; None is no file."""

    path: str
    """With links followed, so that a link to a file elsewhere stays a link."""
    before: bytes | None
    after: bytes | None
    folders: tuple[str, ...] = ()
    """Folders that come or go with the file, outermost first."""


def read_file(path: str) -> bytes | None:
    """Give a file's content, or None if there is none."""
    try:
        return _content(path)
    except OSError as error:
        raise Refused(f"{path} cannot be read ({error.strerror}): see to that first. Nothing was changed.") from None


def refuse_read_only(path: str) -> None:
    """Refuse to change a file that its owner may not write, although it could be replaced."""
    with suppress(FileNotFoundError):
        if not os.stat(path).st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
            raise Refused(f"{path} is read-only: make it writable first (chmod u+w). Nothing was changed.")


def missing_folders(path: str) -> tuple[str, ...]:
    """Give the folders that a file would need and that are not there, outermost first."""
    missing: list[str] = []
    folder = os.path.dirname(path)
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(missing))


def apply(changes: Sequence[Change]) -> None:
    """Make all changes, or none: what was written is put back if a later one fails."""
    for change in changes:
        if _content(change.path) != change.before:
            raise Conflict(f"{change.path} changed meanwhile: try again. Nothing was changed.")
    done: list[Change] = []
    try:
        for change in changes:
            done.append(change)
            _make(change)
    except OSError as error:
        for change in reversed(done):
            with suppress(OSError):
                _make(Change(change.path, change.after, change.before, change.folders))
        where = error.filename or done[-1].path
        raise Refused(f"{where} cannot be written ({error.strerror}). Nothing was changed.") from None


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _make(change: Change) -> None:
    if change.after is not None:
        for folder in change.folders:
            os.makedirs(folder, exist_ok=True)
        _write(change.path, change.after)
        return
    with suppress(FileNotFoundError):
        os.remove(change.path)
    for folder in reversed(change.folders):
        # One that holds something else by now stays.
        with suppress(OSError):
            os.rmdir(folder)


def _write(path: str, content: bytes) -> None:
    handle, draft = tempfile.mkstemp(dir=os.path.dirname(path), prefix=f".{os.path.basename(path)}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(draft, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(draft, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(draft)
        raise
