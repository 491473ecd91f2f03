"""The README says nothing that does not run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def _block(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(os.name == "nt", reason="the README's commands are for a Unix shell")
def test_the_commands_of_the_readme_run_as_written(tmp_path: Path) -> None:
    """Every command but the installations succeeds in an empty folder, and prints what the README shows."""
    (tmp_path / "recollect").symlink_to(CHECKOUT)
    environment = {
        "HOME": str(tmp_path / "home"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    blocks = _block("console")
    assert "pip install ./recollect" in blocks[0]
    ran = 0
    for block in (each for each in blocks if "pip install" not in each):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            done = subprocess.run(
                ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            assert shown.strip() in done.stdout, command
            ran += 1
    assert ran > 5


def test_the_python_of_the_readme_runs_as_written(tmp_path: Path) -> None:
    """The Python example prints the memory that it stored."""
    (example,) = _block("python")
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "Deploys run from the main branch every Tuesday.\n", done.stderr
