"""Where things are and who is asking: the only reader of the environment.

| variable          | meaning                                              | default        |
|-------------------|------------------------------------------------------|----------------|
| RECOLLECT_HOME    | the folder that holds the store                      | ~/.recollect   |
| RECOLLECT_STORE   | the store's file                                     | HOME/memory.db |
| RECOLLECT_SPACE   | the space to write to and recall from                | personal       |
| RECOLLECT_PROJECT | the project to stand in; empty for none              | from git       |
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Config:
    store: str
    space: str
    folder: str
    """Where the caller stands; empty if that folder is gone."""
    project: str | None
    """What overrides the project of that folder; empty means none."""


def read_config(environment: Mapping[str, str] | None = None) -> Config:
    environment = os.environ if environment is None else environment
    home = environment.get("RECOLLECT_HOME") or os.path.join("~", ".recollect")
    return Config(
        # Clients that set the variable in a file of theirs leave the tilde as it is.
        store=os.path.expanduser(environment.get("RECOLLECT_STORE") or os.path.join(home, "memory.db")),
        space=environment.get("RECOLLECT_SPACE") or "personal",
        folder=_here(),
        project=environment.get("RECOLLECT_PROJECT"),
    )


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""
