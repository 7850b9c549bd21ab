"""Phrases in a cell, their word-level similarity, and the three ways to match them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Phrases = tuple[frozenset[str], ...]
Counts = tuple[int, int, int]


def words_of_phrase(phrase: str) -> frozenset[str]:
    """The distinct lower-cased words."""
    return frozenset(phrase.lower().split())


def phrases_of(cell: str) -> Phrases:
    """The word sets of a cell's phrases, in the alphabetical order of the phrases; blank ones are none."""
    return tuple(words_of_phrase(phrase) for phrase in sorted(cell.split("|")) if phrase.strip())


def distinct_phrases(cell: str) -> str:
    """The cell without phrases whose words were there before.

    >>> distinct_phrases("a b|B a|c|")
    'a b|c'
    """
    first: dict[frozenset[str], str] = {}
    for phrase in cell.split("|"):
        if phrase.strip():
            first.setdefault(words_of_phrase(phrase), phrase.strip())
    return "|".join(first.values())


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity of two word sets; two empty ones are equal."""
    shared = len(one & other)
    union = len(one) + len(other) - shared
    return shared / union if union else 1.0


def similarities(true: Phrases, said: Phrases) -> list[list[float]]:
    """The matrix of true phrases (rows) and predictions (columns)."""
    return [[similarity(one, other) for other in said] for one in true]


def takers(true: Phrases, said: Phrases, threshold: float) -> list[int]:
    """For each true phrase the place of the prediction it takes, or -1 (``per_truth``)."""
    found = []
    for row in similarities(true, said):
        best = max(row, default=0.0)
        found.append(row.index(best) if row and best >= threshold else -1)
    return found


def per_truth(true: Phrases, said: Phrases, threshold: float) -> Counts:
    """Each true phrase takes its best prediction; one prediction can serve several."""
    found = takers(true, said, threshold)
    tp = sum(place >= 0 for place in found)
    return tp, len(said) - len(set(found) - {-1}), len(true) - tp


def one_to_one(true: Phrases, said: Phrases, threshold: float) -> Counts:
    """Each true phrase in turn takes its best prediction that is still free."""
    free = [True] * len(said)
    tp = 0
    for one in true:
        best, where = 0.0, -1
        for place, other in enumerate(said):
            if free[place] and (alike := similarity(one, other)) > best:
                best, where = alike, place
        if where >= 0 and best >= threshold:
            free[where] = False
            tp += 1
    return tp, len(said) - tp, len(true) - tp


def per_prediction(true: Phrases, said: Phrases, threshold: float) -> Counts:
    """Each prediction is judged by itself; a true phrase is lost only if none of its words was said."""
    tp = sum(_best(other, true) >= threshold for other in said)
    fn = sum(_best(one, said) == 0.0 for one in true)
    return tp, len(said) - tp, fn


def _best(phrase: frozenset[str], others: Sequence[frozenset[str]]) -> float:
    return max((similarity(phrase, other) for other in others), default=0.0)


MATCHINGS: dict[str, Callable[[Phrases, Phrases, float], Counts]] = {
    "per_truth": per_truth,
    "one_to_one": one_to_one,
    "per_prediction": per_prediction,
}
