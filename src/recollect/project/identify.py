"""Names the project of a folder. The first of these that is there names it:

1. what the user said: `git config recollect.project NAME`, in the repository's own config
2. where its remote is (`github.com/owner/name`), so that clones agree; a remote that is a folder leads on to that one,
   a host that has a name of its own in `~/.ssh/config` to what it is called elsewhere
3. the repository's folder, or the one it was first remembered in, if it was moved since
4. outside git the folder itself, other than the user's home and the root

Worktrees are the repository that they belong to, a submodule is one of its own (decision 16).
"""

import os
from contextlib import suppress
from typing import Final

from recollect.project.paths import find_real, reach, spell
from recollect.project.remote import local_folder, normalise_remote
from recollect.project.repository import Repository, bare_repository_at, find_repository, read, repository_at

_KEPT: Final = "recollect"
"""The file in the git directory that keeps a name."""
_FOLLOWED: Final = 3
"""A clone of a clone of a clone is found out; a circle ends."""


def identify_project(folder: str) -> str | None:
    """Name the project that a folder is in."""
    here = find_real(folder)
    repository = find_repository(here)
    return _name_folder(here) if repository is None else _name(repository, _FOLLOWED)


def project_of(told: str | None, folder: str) -> str | None:
    """Name the project of a folder, unless somebody told another; an empty name says that it is none."""
    if told is not None:
        return told or None
    return identify_project(folder) if folder else None


def find_root(folder: str) -> str | None:
    """Give the folder that a folder's project begins in, in this clone and worktree."""
    here = find_real(folder)
    repository = find_repository(here)
    if repository is not None:
        return repository.top
    return None if _name_folder(here) is None else here


def keep_name(folder: str) -> None:
    """Have a repository that is known by its folder keep that name, wherever it is moved to."""
    repository = find_repository(find_real(folder))
    if repository is None or _told(repository) or repository.settings.remote or not os.path.isdir(repository.common):
        return
    name, path = _name_place(repository), os.path.join(repository.common, _KEPT)
    if read(path).strip() == name:
        return
    beside = f"{path}.{os.getpid()}"
    # Whoever may not write here still remembers, by the folder's name.
    with suppress(OSError):
        try:
            with open(beside, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(f"{name}\n")
            os.replace(beside, path)
        except OSError:
            os.unlink(beside)


def _name(repository: Repository, follow: int) -> str:
    return _told(repository) or _name_remote(repository.settings.remote, follow) or _name_place(repository)


def _told(repository: Repository) -> str:
    name = repository.settings.values.get("recollect.project", "").strip()
    # An address may hold credentials, though a name was asked for.
    is_address = "://" in name or "@" in name.partition(":")[2]
    return (normalise_remote(name) or "") if is_address else name


def _name_remote(url: str, follow: int) -> str | None:
    folder = local_folder(url)
    if folder is None or not follow:
        name = normalise_remote(url)
        return name if name is None or url.lower().startswith("http") else _name_behind_alias(name)
    folder = find_real(folder).removesuffix("/.git")
    leads_to = repository_at(folder) or bare_repository_at(folder)
    return spell(folder) if leads_to is None else _name(leads_to, follow - 1)


def _name_behind_alias(name: str) -> str:
    from recollect.project.ssh_alias import find_host

    host, _, path = name.partition("/")
    known = find_host(host)
    return name if known == host else normalise_remote(f"ssh://{known}/{path}") or name


def _name_place(repository: Repository) -> str:
    here = spell(repository.root)
    kept = read(os.path.join(repository.common, _KEPT)).strip()
    # If the folder that it was named after is still there, this is a copy.
    return kept if kept and kept.isprintable() and not os.path.exists(reach(kept)) else here


def _name_folder(folder: str) -> str | None:
    if folder == os.path.realpath(os.path.expanduser("~")):
        return None
    name = spell(folder)
    # Programs that were started nowhere in particular stand in the root, and on Windows in its own folders.
    is_drive, within = name[1:3] == ":/", name[3:].lower().partition("/")[0]
    return None if name == "/" or (is_drive and within in {"", "windows"}) else name
