"""Recall on public data stays as good as it was when it was chosen."""

import os
from pathlib import Path

import pytest

from command_line import CommandLine

DATASETS = Path(os.environ.get("RECOLLECT_DATASETS") or Path(__file__).parents[3] / "shared" / "datasets")
"""By default the folder `shared` beside the checkout."""


@pytest.mark.parametrize(("name", "measure", "least"), [("locomo", "R@10", 0.61), ("scifact", "nDCG@10", 0.69)])
def test_words_alone_find_what_they_should(tmp_path: Path, name: str, measure: str, least: float) -> None:
    """On the test split, words alone keep the recall on conversations and the ranking of abstracts that they had."""
    cli = CommandLine(tmp_path)
    (run,) = cli.data("bench", "run", "--set", name, "--arm", "lexical", "--datasets", str(DATASETS))
    assert run["figures"]["sets"][name][measure][0] >= least
