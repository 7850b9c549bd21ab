"""Files for the benchmarks of the metrics: a truth with a split, and a submission in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
import pandas as pd

LABELS = ["scab", "healthy", "frog_eye_leaf_spot", "rust", "complex", "scab frog_eye_leaf_spot"]
_DICE = np.random.default_rng(20)
_WORDS = np.array([f"word{number}" for number in range(2000)])
_TITLES = np.array([" ".join(_DICE.choice(_WORDS, _DICE.integers(2, 7))) for _ in range(150)])


def _text(rows: int) -> list[str]:
    """Eight words in each cell: hardly two cells are alike."""
    return [" ".join(words) for words in _DICE.choice(_WORDS, (rows, 8)).tolist()]


def _phrases(rows: int) -> list[str]:
    """One to four of 150 titles in each cell."""
    titles = _DICE.choice(_TITLES, (rows, 4)).tolist()
    return ["|".join(some[:count]) for some, count in zip(titles, _DICE.integers(1, 5, rows).tolist(), strict=True)]


def _dataset(rows: int) -> list[str]:
    """One title in most cells, as in the competition's training data."""
    titles = _DICE.choice(_TITLES, (rows, 3)).tolist()
    counts = _DICE.choice([1, 1, 1, 1, 2, 3], rows).tolist()
    return ["|".join(some[:count]) for some, count in zip(titles, counts, strict=True)]


def _numbers(rows: int) -> list[str]:
    return [f"{value:.6f}" for value in _DICE.random(rows).tolist()]


def _long_numbers(rows: int) -> list[str]:
    return list(map(repr, _DICE.random(rows).tolist()))


CELLS: dict[str, Callable[[int], Iterable[str]]] = {
    "label": lambda rows: _DICE.choice(LABELS, rows).tolist(),
    "word": lambda rows: _DICE.choice(LABELS[:5], rows).tolist(),
    "bit": lambda rows: _DICE.integers(0, 2, rows).astype(str).tolist(),
    "number": _numbers,
    "long number": _long_numbers,
    "ranked": lambda rows: [
        f"{word} {number}" for word, number in zip(CELLS["word"](rows), _numbers(rows), strict=True)
    ],
    "text": _text,
    "phrases": _phrases,
    "data set": _dataset,
}


NUMBERED = "img_{:08d}"
SCATTERED = "{:012x}"
"""Ids as of a hash: neither a prefix nor numbers that follow each other."""


FRAMES: dict[str, tuple[str, Callable[[int], np.ndarray], Callable[[int], np.ndarray]]] = {
    # the metric, its answers and its predictions
    "numbers": ("rmse", _DICE.random, _DICE.random),
    "numbers in 32 bits": ("rmse", _DICE.random, lambda rows: _DICE.random(rows, np.float32)),
    "probabilities": ("log_loss", lambda rows: _DICE.integers(0, 2, rows), _DICE.random),
    "scores in 32 bits": (
        "roc_auc",
        lambda rows: _DICE.integers(0, 2, rows),
        lambda rows: _DICE.random(rows, np.float32),
    ),
    "labels as whole numbers": (
        "accuracy",
        lambda rows: _DICE.integers(0, 10, rows),
        lambda rows: _DICE.integers(0, 10, rows),
    ),
    "labels": ("accuracy", lambda rows: _DICE.choice(LABELS[:5], rows), lambda rows: _DICE.choice(LABELS[:5], rows)),
}


def frames(cells: str, rows: int, *, ids_like: str = "", is_shuffled: bool = True) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers and predictions as a notebook holds them, with numbers as ids or texts of the form ``ids_like``."""
    _, answers, predictions = FRAMES[cells]
    numbers = _DICE.permutation(rows)
    ids = pd.Series([ids_like.format(number) for number in numbers.tolist()] if ids_like else numbers)
    sent = pd.DataFrame({"id": ids, "y": predictions(rows)})
    return pd.DataFrame({"id": ids, "y": answers(rows)}), sent.sample(frac=1, random_state=1) if is_shuffled else sent


@lru_cache(maxsize=1)
def files(truth: str, submission: str, rows: int, ids_like: str = NUMBERED) -> tuple[bytes, bytes]:
    """Two CSV files with the columns ``id``, ``y`` and, in the truth, ``Usage``."""
    spread = 1 if ids_like == NUMBERED else 0x9E3779B97F4B  # odd, so that no two meet
    numbers = (number * spread % 2**48 for number in _DICE.permutation(rows).tolist())
    ids = np.array([ids_like.format(number) for number in numbers])
    usage = _DICE.choice(["Public", "Private"], rows).tolist()
    answers = zip(ids.tolist(), CELLS[truth](rows), usage, strict=True)
    sent = zip(_DICE.permutation(ids).tolist(), CELLS[submission](rows), strict=True)
    return (
        ("id,y,Usage\n" + "".join([f"{name},{cell},{used}\n" for name, cell, used in answers])).encode(),
        ("id,y\n" + "".join([f"{name},{cell}\n" for name, cell in sent])).encode(),
    )
