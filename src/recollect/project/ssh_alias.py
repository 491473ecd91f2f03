"""The host behind a name that only this user's ssh knows: who has two accounts at one host calls it by two names.

What a colleague, or a clone over https, calls the project must not depend on that.
"""

import os
from typing import Final

from recollect.project.repository import read

_EVERYBODYS: Final = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
"""Names that need no looking up before every prompt."""


def find_host(name: str) -> str:
    """Give the host that a name stands for in `~/.ssh/config`, or the name itself."""
    if name in _EVERYBODYS:
        return name
    hosts = _hosts(os.path.join(os.path.expanduser("~"), ".ssh", "config"))
    host = next((host for names, host in hosts if name in names), "").replace("%h", name).lower()
    # A name that is a host's own can have another way in, by which nobody else knows it.
    is_alias = "." not in name or host in name
    # Nor does anybody else know it by an address of IP.
    return host if is_alias and "." in host and not host.rpartition(".")[2].isdigit() else name


def _hosts(path: str) -> list[tuple[list[str], str]]:
    """Give the names in a config that have a host, in its order, which decides."""
    found: list[tuple[list[str], str]] = []
    names: list[str] = []
    for key, value in _settings(path):
        if key in {"host", "match"}:
            names = value.lower().split() if key == "host" else []
        elif key == "hostname" and names:
            found.append((names, value))
    return found


def _settings(path: str) -> list[tuple[str, str]]:
    words = (line.replace("=", " ", 1).replace('"', "").split(None, 1) for line in read(path).splitlines())
    return [(each[0].lower(), each[1].strip()) for each in words if len(each) > 1]
