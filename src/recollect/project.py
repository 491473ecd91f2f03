"""Which project a folder belongs to, read from git's own files: worktrees and clones of one remote agree.

A repository with a remote is known by where the remote is (`github.com/owner/name`), without credentials; one
without, by the folder of its common git directory. A folder outside any repository belongs to no project.
"""

import os
import re
from typing import Final

_REMOTE: Final = re.compile(r'^\s*\[remote "(?P<name>[^"]+)"\]', re.IGNORECASE)
_SECTION: Final = re.compile(r"^\s*\[")
_URL: Final = re.compile(r'^\s*url\s*=\s*(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s;#]+))', re.IGNORECASE)
_SCHEME: Final = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP_LIKE: Final = re.compile(r"^(?:[^@/]+@)?(?P<host>[^:/]+):(?!//)(?P<path>.+)$")
_PORT: Final = re.compile(r":\d+$")


def identify_project(folder: str) -> str | None:
    """Name the project that a folder is in."""
    common = _common_git_directory(folder)
    if common is None:
        return None
    url = _remote_url(os.path.join(common, "config"))
    name = url and normalise_remote(url)
    if name:
        return name
    root = os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return os.path.realpath(root)


def find_root(folder: str) -> str | None:
    """Give the folder that a folder's project begins in."""
    here = os.path.realpath(folder)
    while not os.path.exists(os.path.join(here, ".git")):
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent
    return here


def normalise_remote(url: str) -> str | None:
    """Reduce a remote's address to host and path, so that every way of writing it gives the same name.

    Credentials, scheme, port and the ending `.git` are dropped. A remote that is a folder gives that folder.
    """
    url = url.strip()
    scheme = _SCHEME.match(url)
    if scheme and scheme.group().lower() != "file://":
        address, _, path = url[scheme.end() :].partition("/")
        host = _PORT.sub("", address.rpartition("@")[2])
    elif scheme is None and not re.match(r"^[A-Za-z]:[\\/]", url) and (match := _SCP_LIKE.match(url)):
        host, path = match["host"], match["path"]
    else:
        local = url[scheme.end() :] if scheme else url
        return os.path.realpath(local).removesuffix("/.git") if os.path.isabs(local) else None
    path = re.sub(r"/+", "/", path.partition("?")[0].partition("#")[0]).strip("/").removesuffix(".git")
    return f"{host.lower()}/{path}" if host and path else None


def _common_git_directory(folder: str) -> str | None:
    """Find the git directory that all worktrees of a repository share."""
    here = os.path.realpath(folder)
    while True:
        candidate = os.path.join(here, ".git")
        if os.path.isdir(candidate):
            return candidate
        if os.path.isfile(candidate):
            pointer = _read(candidate)
            if pointer.startswith("gitdir:"):
                git = os.path.normpath(os.path.join(here, pointer.removeprefix("gitdir:").strip()))
                common = _read(os.path.join(git, "commondir")).strip()
                return os.path.normpath(os.path.join(git, common)) if common else git
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def _remote_url(config: str) -> str | None:
    """Read the address of `origin`, or of the first remote there is."""
    urls: dict[str, str] = {}
    remote = None
    for line in _read(config).splitlines():
        rest = line
        if match := _REMOTE.match(line):
            remote, rest = match["name"], line[match.end() :]
        elif _SECTION.match(line):
            remote = None
        if remote and (match := _URL.match(rest)):
            urls.setdefault(remote, match["quoted"] or match["bare"] or "")
    return urls.get("origin") or next(iter(urls.values()), None)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
