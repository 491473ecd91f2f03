"""Where the command `recollect` is, as a client will have to start it: by its whole path."""

import os
import shutil
from typing import Final

from recollect.core.errors import Refused

_NAMES: Final = ("recollect", "recollect.exe")
_PASSING: Final = "archive-v0"
"""The folder in which uv keeps what `uvx` runs, until it tidies up."""


def find_program(called_as: str, python: str) -> str:
    """Give the path of the command that runs now, links not followed: they outlive what they point to."""
    beside = [os.path.join(os.path.dirname(python), name) for name in _NAMES]
    called = [called_as] if os.path.basename(called_as) in _NAMES else []
    found = next((each for each in (*called, *beside) if os.path.isfile(each)), None) or shutil.which("recollect")
    if found is None:
        raise Refused(
            "The command `recollect` was not found: install the package (pipx install recollect), then retry."
        )
    found = os.path.abspath(found)
    if _PASSING in found.replace("\\", "/").split("/"):
        raise Refused(
            "uvx keeps Recollect only for a while, so a client could lose it: `uv tool install recollect`, then retry."
        )
    return found
