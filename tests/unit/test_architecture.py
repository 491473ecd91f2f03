"""The architecture is what import-linter checks, and import-linter checks it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 400


def _lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def _copy(folder: Path) -> Path:
    """Copy the package, and the contracts, to where a test may break them."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "recollect", folder / "src" / "recollect", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder / "src" / "recollect"


def test_imports_run_one_way() -> None:
    """Every contract is kept by the package as it is."""
    done = _lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("core/fusion.py", "import sqlite3", "The core is pure"),
        ("core/pack.py", "import os", "The core is pure"),
        ("core/links.py", "from recollect.service import ask", "Imports run one way"),
        ("service/recall.py", "from recollect.stores.sqlite import store", "Imports run one way"),
        ("service/remember.py", "import sqlite3", "A service knows ports"),
        ("service/embed.py", "from recollect.remote import http", "Only embedders and extractors speak to a server"),
        ("extractors/llm.py", "from recollect.embedders import naming", "Imports run one way"),
        ("stores/sqlite/rows.py", "from recollect.service import ask", "Imports run one way"),
    ],
)
def test_a_forbidden_import_is_caught(tmp_path: Path, file: str, line: str, contract: str) -> None:
    """In a copy with one import too many, the contract it breaks is named and the check fails."""
    package = _copy(tmp_path)
    broken = package / file
    broken.write_text(f"{broken.read_text()}\n{line}\n")
    done = _lint_imports(tmp_path)
    assert done.returncode != 0
    verdicts = [verdict for verdict in done.stdout.splitlines() if verdict.endswith(" BROKEN")]
    assert [verdict for verdict in verdicts if contract in verdict], done.stdout + done.stderr


def test_a_copy_without_a_forbidden_import_passes(tmp_path: Path) -> None:
    """The copy itself is no reason to fail, so the line that was added is."""
    _copy(tmp_path)
    done = _lint_imports(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_too_long(path: Path) -> None:
    """A file past 400 lines does a second thing, which belongs into a file of its own."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
