import os
import subprocess
import sys

import pytest

import recollect


def test_the_public_names_of_the_package() -> None:
    """These names are what programs may rely on; adding or removing one is a decision."""
    assert sorted(recollect.__all__) == ["Recollect", "__version__", "open"]
    assert all(getattr(recollect, name) for name in recollect.__all__)


def test_names_are_what_they_say() -> None:
    """The names given late are the real class and function."""
    from recollect.service.recollect import Recollect
    from recollect.wiring import open_file

    assert recollect.Recollect is Recollect
    assert recollect.open is open_file


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """Asking for anything else fails the usual way."""
    with pytest.raises(AttributeError, match="module 'recollect' has no attribute 'remember'"):
        _ = recollect.remember


def test_importing_the_package_costs_nothing() -> None:
    """The import alone brings in neither the store nor the stemmer nor any framework."""
    code = "import sys, recollect; print(sorted(set(sys.modules) & {'sqlite3', 'Stemmer', 'typer', 'mcp', 'asyncio'}))"
    # What measures coverage starts itself in every process that finds its variables, and imports what it needs.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, env=plain)
    assert done.stdout.strip() == "[]"
