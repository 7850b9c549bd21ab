"""Scoring without other processes, for tests and benches; the answer goes through the same form."""

from __future__ import annotations

import json
from collections import OrderedDict
from pathlib import Path

import metrics
from leaderboard.scoring.scorer_answer import (
    ScorerAnswer,
    ScoringLimits,
    TruthSpec,
    failure_of,
    read_answer,
    score_bytes,
)

_MAX_TRUTHS = 8
_prepared: OrderedDict[tuple[str, str], metrics.Truth] = OrderedDict()


def score_here(ground_truth: TruthSpec, file: Path, limits: ScoringLimits, *, alone: bool = False) -> ScorerAnswer:
    """Measure one submission in this process, without limits."""
    key = (ground_truth.key, ground_truth.truth)
    try:
        if key not in _prepared:
            _prepared[key] = ground_truth.prepared()
    except Exception as error:
        return read_answer(failure_of(error))
    while len(_prepared) > _MAX_TRUTHS:
        _prepared.popitem(last=False)
    _prepared.move_to_end(key)
    return read_answer(json.loads(json.dumps(score_bytes(_prepared[key], file, limits.memory_mb))))


def forget() -> None:
    """Read every truth again."""
    _prepared.clear()
