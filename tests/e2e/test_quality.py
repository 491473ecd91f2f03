"""Recall on public data stays as good as it was when it was chosen."""

from pathlib import Path

import pytest

from datasets import DATASETS, read_documents, read_questions
from lexical_quality import ndcg_at_10, recall_at_10, through_recollect

needs_data = pytest.mark.skipif(not DATASETS.is_dir(), reason=f"no evaluation sets at {DATASETS}")


@needs_data
def test_words_find_the_turns_of_a_conversation(tmp_path: Path) -> None:
    """On LoCoMo's test split, words alone bring at least 0.61 of the evidence into the top ten."""
    search = through_recollect(list(read_documents("locomo")), tmp_path)
    questions = read_questions("locomo")
    found = [recall_at_10(search(question), question.relevant) for question in questions]
    assert sum(found) / len(found) >= 0.61


@needs_data
def test_words_find_the_abstracts_behind_claims(tmp_path: Path) -> None:
    """On SciFact's test split, words alone rank with an nDCG@10 of at least 0.69."""
    search = through_recollect(list(read_documents("scifact")), tmp_path)
    questions = read_questions("scifact")
    found = [ndcg_at_10(search(question), question.relevant) for question in questions]
    assert sum(found) / len(found) >= 0.69
