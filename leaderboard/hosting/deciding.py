"""What decides for each team. It is made of every score, so a page hands in a way to keep it until the board changes.

A verb that writes hands in none: what it decides by is read in its own transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Protocol, TypeVar

from .. import ranking
from ..models import GroundTruth, Score, Split

T = TypeVar("T")


class Keep(Protocol):
    """Gives what is kept under a key for this state of the board, made by the function if it is not there."""

    def __call__(self, key: tuple[Hashable, ...], make: Callable[[], T], /) -> T: ...


def anew(_key: tuple[Hashable, ...], make: Callable[[], T], /) -> T:
    return make()


def decided(
    ruler: GroundTruth, keep: Keep = anew, *, measured: int | None = None
) -> Sequence[tuple[Split, ranking.Best]]:
    """Both boards as the reveal made them or would make them now; `measured` as for `expected`."""
    return keep(("decided", *_state(ruler, measured)), lambda: tuple(ranking.decided(ruler)))


def expected(ruler: GroundTruth, keep: Keep = anew, *, measured: int | None = None) -> Sequence[ranking.Best]:
    """The files that decide now: the best public ones, after the reveal the finals. `measured`: how many files have a
    score under a ruler that waits, where that was counted already."""
    return keep(("expected", *_state(ruler, measured)), lambda: tuple(ranking.expected(ruler)))


def values(ruler: GroundTruth, split: Split, keep: Keep = anew) -> Mapping[int, float]:
    """Team → its exact value on a split: of its best public file, or of the final that counts on the private rows."""
    if split == Split.PRIVATE:
        return {best.team_id: best.value for its, best in decided(ruler, keep) if its == split}
    if _is_current(ruler):
        return ranking.best_values(ruler)
    return keep(("best values", *_state(ruler)), lambda: ranking.best_values(ruler))


def _is_current(ruler: GroundTruth) -> bool:
    return ruler.competition.ground_truth_id == ruler.pk


def _state(ruler: GroundTruth, measured: int | None = None) -> tuple[int, ...]:
    """Scores under a ruler that waits come in without any change of the board."""
    if _is_current(ruler):
        return (ruler.pk,)
    if measured is None:
        measured = Score.objects.filter(ground_truth=ruler, split=Split.PUBLIC).count()
    return ruler.pk, measured
