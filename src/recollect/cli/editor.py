"""A text in the user's own editor and back."""

import os
import shlex
import subprocess
import tempfile
from typing import Final

from recollect.core.errors import Refused

_FALLBACK: Final = "notepad" if os.name == "nt" else "vi"


def edit_text(text: str) -> str:
    """Let the user change a text; it lies in a file that only they can read, and only for so long."""
    # Where every program finds the editor: no setting of Recollect's, so not in its configuration.
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _FALLBACK
    handle, path = tempfile.mkstemp(prefix="recollect-", suffix=".md")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        subprocess.run([*shlex.split(command), path], check=True)  # noqa: S603 - the user's own choice
        with open(path, encoding="utf-8", newline="") as file:
            edited = file.read()
    except subprocess.CalledProcessError as error:
        raise Refused(f"{command} ended with {error.returncode}, so nothing was changed.") from None
    except (OSError, ValueError) as error:
        raise Refused(f"{command} could not be used ({error}): set EDITOR, or use --content.") from None
    finally:
        os.unlink(path)
    # Editors end the last line, whether or not it was ended before.
    return edited if text.endswith("\n") else edited.rstrip("\r\n")
