"""Model names as the harness keeps them: without the folder they lie in, which differs between machines."""

import re
from typing import Final

_FOLDER: Final = re.compile(r"(?:folder:)?[~./].*/(?=[^/]+$)|folder:")


def portable(model: str) -> str:
    """Give a model's name without its path; the digest behind a folder's name says which one it is."""
    return _FOLDER.sub("", model, count=1)
