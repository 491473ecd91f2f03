"""What a run was made with: the code that shapes its figures, the versions around it, the state of the checkout."""

import hashlib
import os
import platform
import sqlite3
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

_PACKAGE: Final = Path(__file__).parents[1]
_SHAPING: Final = (
    "core/**/*",
    "service/**/*",
    "stores/**/*",
    "embedders/**/*",
    "bench/sources.py",
    "bench/datasets.py",
    "bench/strata.py",
    "bench/exact.py",
    "bench/names.py",
    "bench/load.py",
    "bench/cache.py",
    "bench/arms.py",
    "bench/arm_store.py",
    "bench/fts5.py",
    "bench/tsrank.py",
    "bench/served.py",
    "bench/metrics.py",
    "bench/run.py",
    "api/recall.py",
    "api/showing.py",
)
"""Where a change may change a figure."""
_VERSIONS: Final = ("recollect", "numpy", "ir-measures", "pytrec-eval-terrier", "PyStemmer", "fastembed", "onnxruntime")
_SECONDS: Final = 10


def code_digest() -> str:
    """Tell apart any two versions of the code that could give other figures."""
    digest = hashlib.sha256()
    files = {path for pattern in _SHAPING for path in _PACKAGE.glob(pattern) if path.suffix in {".py", ".sql"}}
    for path in sorted(files):
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for name in _VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def checkout() -> dict[str, Any] | None:
    """Give the commit of the checkout that the package lies in, and whether it was changed since."""
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _git("status", "--porcelain", "--untracked-files=all", "--", ".")
    return {"commit": commit, "dirty": bool(changed)}


def machine() -> dict[str, Any]:
    """Say what the timings were taken on."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": sys.version,
    }


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            ["git", "-C", str(_PACKAGE), *arguments],  # noqa: S607 - whichever git the user has
            capture_output=True,
            text=True,
            check=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
