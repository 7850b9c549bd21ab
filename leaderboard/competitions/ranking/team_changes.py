"""A steady board where people have changed teams: what they were shown follows them.

Each file is answered by the team that handed it in. From the moment at which a member of another team comes to a team,
it is shown only what is clearly better than the best score that either has been shown. Without this, leaving and
merging back would buy a fresh answer to every file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID


class LadderRules(Protocol):
    """How a steady board rounds; a `Ladder`."""

    @property
    def sign(self) -> float: ...

    @property
    def is_hidden(self) -> bool: ...

    def rounded(self, score: float) -> float: ...

    def bar_above(self, shown: float) -> float: ...


class Origin(NamedTuple):
    """At a moment, a member of the team `former` came to `team`."""

    team: int
    former: int
    at: datetime


class ScoredFile(NamedTuple):
    """A file with its exact public score. `by` is the team that handed it in, which may be part of `team_id` by now."""

    received_at: datetime
    submission_id: UUID
    team_id: int
    by: int
    value: float


def replay_transfers(
    ladder: LadderRules, files: Iterable[ScoredFile], origins: Iterable[Origin]
) -> Iterator[tuple[ScoredFile, float, bool]]:
    """For each file in order of receipt: the best score that its team has been shown after it, and whether it set it.

    A hidden board shows no score, so nothing follows anybody: the first file of each team is the new one.
    """
    shown: dict[int, float] = {}
    moves = [] if ladder.is_hidden else [(origin.at, 0, origin.team, origin.former, None) for origin in origins]
    steps = [*moves, *((file.received_at, 1, file.submission_id.int, 0, file) for file in files)]
    for _, _, team, former, file in sorted(steps, key=lambda step: step[:4]):
        if file is None:
            _take_over(ladder, shown, team, former)
            continue
        bar = ladder.bar_above(shown[file.by]) if file.by in shown else None
        is_new = bar is None or ladder.sign * file.value < ladder.sign * bar
        if is_new:
            shown[file.by] = ladder.rounded(file.value)
        yield file, shown[file.by], is_new


def _take_over(ladder: LadderRules, shown: dict[int, float], team: int, former: int) -> None:
    """The better of two shown scores holds for the team from now on."""
    known = [shown[one] for one in (team, former) if one in shown]
    if known:
        shown[team] = min(known, key=lambda score: ladder.sign * score)


def linked_teams(origins: Sequence[Origin], teams: Iterable[int]) -> set[int]:
    """These teams and all that people have come from or gone to, over any number of teams between."""
    found, grown = set(teams), True
    while grown:
        before = len(found)
        for origin in origins:
            if origin.team in found or origin.former in found:
                found |= {origin.team, origin.former}
        grown = len(found) > before
    return found
