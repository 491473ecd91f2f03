"""The repository that a folder is in, found as git finds it: worktrees lead to the one they belong to."""

import os

from recollect.project.config_file import Settings
from recollect.project.paths import resolve


class Repository:
    """Where its files are: `top` of this worktree, the git directory that all worktrees share, and its own folder."""

    __slots__ = ("common", "root", "settings", "top")

    def __init__(self, top: str, git: str) -> None:
        self.top = top
        shared = read(os.path.join(git, "commondir")).strip()
        self.common = resolve(shared, git) if shared else git
        self.settings = Settings(read(os.path.join(self.common, "config")))
        self.root = self._main_folder() if shared else top

    def _main_folder(self) -> str:
        """Give the folder that a linked worktree was made from."""
        inside = self.settings.values.get("core.worktree")
        if inside:
            return resolve(inside, self.common)
        return os.path.dirname(self.common) if os.path.basename(self.common) == ".git" else self.common


def find_repository(here: str) -> Repository | None:
    """Find the repository around a folder."""
    while True:
        if found := repository_at(here):
            return found
        # A git directory without files of its own, in which one makes worktrees; others belong to what is around them.
        bare = bare_repository_at(here)
        if bare is not None and bare.settings.values.get("core.bare") == "true":
            return bare
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def repository_at(folder: str) -> Repository | None:
    """Give the repository whose worktree begins in a folder."""
    git = os.path.join(folder, ".git")
    if os.path.isdir(git):
        return Repository(folder, git)
    if os.path.isfile(git):
        pointer = read(git)
        if pointer.startswith("gitdir:"):
            return Repository(folder, resolve(pointer.removeprefix("gitdir:").strip(), folder))
    return None


def bare_repository_at(folder: str) -> Repository | None:
    """Give the repository whose git directory a folder is, as one that is only pushed to has it."""
    is_one = os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects"))
    return Repository(folder, folder) if is_one else None


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except (OSError, ValueError):
        return ""
