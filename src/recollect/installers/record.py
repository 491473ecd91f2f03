"""What an installation had to make beyond its entries, noted so that taking it away leaves nothing behind.

An empty object in a file may have been there before or have been made for us: the text alone does not tell.
"""

import json
import os
from dataclasses import dataclass
from typing import Any

from recollect.installers.json_edit import Path


@dataclass(frozen=True, slots=True)
class Made:
    """What was made in and around one file."""

    paths: tuple[Path, ...] = ()
    """Objects, arrays and values in it."""
    new: bool = False
    """The file itself."""
    folders: tuple[str, ...] = ()
    """Folders for it, outermost first."""


Record = dict[str, Made]
"""By the file's real path."""


def record_path(folder: str, client: str) -> str:
    return os.path.join(folder, f"{client}.json")


def read_record(path: str) -> Record:
    """Read what was noted; a record that is gone or cannot be read holds nothing, and entries can still be found."""
    try:
        with open(path, encoding="utf-8") as file:
            files: dict[str, Any] = json.load(file)["files"]
        return {
            name: Made(tuple(tuple(each) for each in made["paths"]), bool(made["new"]), tuple(made["folders"]))
            for name, made in files.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write_record(record: Record) -> bytes:
    files = {name: {"paths": made.paths, "new": made.new, "folders": made.folders} for name, made in record.items()}
    return (json.dumps({"files": files}, ensure_ascii=False, indent=2) + "\n").encode()
