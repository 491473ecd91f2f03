"""How good one ranking is: the field's own measures by ir-measures, and two that memory needs."""

from collections.abc import Mapping, Sequence
from typing import Final

import ir_measures

from recollect.bench.sources import Question
from recollect.bench.strata import MULTI_HOP

LIMIT: Final = 10
"""How many memories are asked for; no measure looks further."""

RECALL_5: Final = "R@5"
RECALL_10: Final = "R@10"
NDCG: Final = "nDCG@10"
RECIPROCAL: Final = "RR"
ALL_GOLD: Final = "all-gold@10"
"""Every relevant document in the top ten, for questions that need several."""
NEWEST: Final = "newest-above-stale"
"""The best relevant document above every outdated one, for questions that have any."""

ENTERED: Final = "entered@10"
"""How many of the top ten no leg had found, and score flowed to: none at all would mean that the graph is silent."""

MEASURES: Final = (RECALL_5, RECALL_10, NDCG, RECIPROCAL, ALL_GOLD, NEWEST, ENTERED)
_THEIRS: Final = (RECALL_5, RECALL_10, NDCG, RECIPROCAL)
TOGETHER: Final = (_THEIRS, (ALL_GOLD,), (NEWEST,), (ENTERED,))
"""Measures by which questions have them: all have the first, only some the others."""

Metrics = Mapping[str, float]


def measure(questions: Sequence[Question], rankings: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """Give the measures of each question by its id, from the document ids found for it, best first."""
    qrels = {question.id: dict(question.relevant) for question in questions}
    # Only the order counts, so any falling numbers will do for scores.
    run = {
        question.id: {document: -float(rank) for rank, document in enumerate(rankings[question.id])}
        for question in questions
    }
    found: dict[str, dict[str, float]] = {question.id: {} for question in questions}
    for metric in ir_measures.iter_calc([ir_measures.parse_measure(name) for name in _THEIRS], qrels, run):
        found[metric.query_id][str(metric.measure)] = float(metric.value)
    for question in questions:
        found[question.id] |= _ours(question, rankings[question.id])
    return {identity: {name: values[name] for name in MEASURES if name in values} for identity, values in found.items()}


def _ours(question: Question, ranking: Sequence[str]) -> dict[str, float]:
    ours = {}
    if question.hops > 1 or question.stratum == MULTI_HOP:
        ours[ALL_GOLD] = float(question.relevant.keys() <= set(ranking[:LIMIT]))
    if question.stale:
        ours[NEWEST] = float(_newest_above_stale(question, ranking))
    return ours


def _newest_above_stale(question: Question, ranking: Sequence[str]) -> bool:
    """Whether the best relevant one was found, and no outdated one before it."""
    for document in ranking:
        if document in question.stale:
            return False
        if document in question.relevant:
            return True
    return False
