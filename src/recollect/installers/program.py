"""Where the command `recollect` is, as a client will have to start it: by its whole path."""

import os
import re
import shutil
from typing import Final

from recollect.core.errors import Refused

_NAMES: Final = ("recollect", "recollect.exe")
_PASSING: Final = (
    (re.compile(r"/(archive|builds|environments)-v\d+/"), "uvx", "uv tool install"),
    (re.compile(r"/pipx/(\.cache/)?[0-9a-f]{15}/"), "pipx run", "pipx install"),
)
"""The folders in which uv and pipx keep what is run without being installed, until they tidy up."""


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
    for folder, runner, lasting in _PASSING:
        if folder.search(found.replace("\\", "/")):
            raise Refused(
                f"{runner} keeps Recollect only for a while, so a client could lose it: "
                f"`{lasting} recollect`, then retry."
            )
    return found
