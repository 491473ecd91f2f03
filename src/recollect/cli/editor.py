"""A text in the user's own editor and back."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from typing import Final, TypeVar

from recollect.core.errors import RecollectError, Refused

_FALLBACK: Final = "notepad" if os.name == "nt" else "vi"
_Kept = TypeVar("_Kept")


def edit_text(text: str, keep: Callable[[str], _Kept]) -> _Kept:
    """Have the user change a text, and keep what they made of it.

    It lies in a file that only they can read. What cannot be kept stays there: nobody has to write it again.
    """
    handle, path = tempfile.mkstemp(prefix="recollect-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    try:
        edited = _edit(path)
    except RecollectError:
        os.unlink(path)
        raise
    try:
        # Editors end the last line, whether or not it was ended before.
        kept = keep(edited if text.endswith("\n") else edited.rstrip("\r\n"))
    except RecollectError as error:
        raise type(error)(f"{error} Your text is in {path}.") from None
    os.unlink(path)
    return kept


def _edit(path: str) -> str:
    # Where every program finds the editor: no setting of Recollect's, so not in its configuration.
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _FALLBACK
    try:
        subprocess.run([*shlex.split(command), path], check=True)  # noqa: S603 - the user's own choice
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except subprocess.CalledProcessError as error:
        raise Refused(f"{command} ended with {error.returncode}, so nothing was changed.") from None
    except (OSError, ValueError) as error:
        raise Refused(f"{command} could not be used ({error}): set EDITOR, or use --content.") from None
