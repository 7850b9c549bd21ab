"""What a team is told of its files: scores, and what secondary metrics say beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..access import Visit
from ..models import GroundTruth, Score, Submission
from ..models.competition import Split
from ..ranking import secondary

Said = tuple[secondary.Beside, ...]


@dataclass(frozen=True)
class Line:
    """One secondary metric of one file; `private` is None until the private board is open to the viewer."""

    aside: secondary.Aside
    public: secondary.Beside | None
    private: secondary.Beside | None


@dataclass(frozen=True)
class Told:
    """Of one file: split → value under the current ground truth, and the lines of the secondary metrics."""

    scores: Mapping[str, float]
    beside: tuple[Line, ...] = ()


NOTHING = Told({})


def told_of(submissions: Sequence[Submission], visit: Visit) -> dict[str, Told]:
    """Submission → what its viewer may be told; files of which nothing may be said are left out. One query where exact
    scores are seen.

    Private values are not even read before the reveal, and public ones not where the board shows something else.
    """
    ground_truth = visit.competition.ground_truth
    if ground_truth is None:
        return {}
    return _exact(submissions, visit, ground_truth) if visit.sees_exact else _as_shown(submissions, visit, ground_truth)


def _exact(submissions: Sequence[Submission], visit: Visit, ground_truth: GroundTruth) -> dict[str, Told]:
    splits = [Split.PUBLIC, Split.PRIVATE] if visit.sees_private else [Split.PUBLIC]
    rows = Score.objects.filter(
        submission__in=[submission.pk for submission in submissions], ground_truth=ground_truth, split__in=splits
    )
    asides = secondary.asides_of(ground_truth)
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    said: dict[str, dict[str, Said]] = defaultdict(dict)
    for pk, split, value, stored in rows.values_list("submission_id", "split", "value", "secondary"):
        scores[str(pk)][split] = value
        said[str(pk)][split] = secondary.told(asides, stored, None)
    return {key: Told(scores[key], _lines(asides, said[key])) for key in scores}


def _as_shown(submissions: Sequence[Submission], visit: Visit, ground_truth: GroundTruth) -> dict[str, Told]:
    """Only of files whose public score a steady board shows."""
    teams = {submission.team_id for submission in submissions}
    shown = {key: value for team in teams for key, value in visit.shown_scores(team).items()}
    files = [submission.pk for submission in submissions if str(submission.pk) in shown]
    asides = secondary.asides_of(ground_truth)
    public = secondary.beside(ground_truth, Split.PUBLIC, files, visit.ladder)
    return {
        str(pk): Told(
            {Split.PUBLIC.value: shown[str(pk)]}, _lines(asides, {Split.PUBLIC.value: public.get(str(pk), ())})
        )
        for pk in files
    }


def _lines(asides: Sequence[secondary.Aside], said: Mapping[str, Said]) -> tuple[Line, ...]:
    """One line for each metric; none for a file that was scored before the ruler had them."""
    public, private = said.get(Split.PUBLIC, ()), said.get(Split.PRIVATE, ())
    if len(public) != len(asides):
        return ()
    return tuple(
        Line(aside, public[place], private[place] if len(private) == len(asides) else None)
        for place, aside in enumerate(asides)
    )
