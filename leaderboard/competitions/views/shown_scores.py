"""The scores and secondary values that a team may see of its files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..access import PageContext
from ..models import GroundTruth, Score, Submission
from ..models.competition import Split
from ..ranking import secondary

SecondaryValues = tuple[secondary.ShownSecondaryValue, ...]


@dataclass(frozen=True)
class SecondaryLine:
    """One secondary metric of one file; `private` is None until the private board is open to the viewer."""

    secondary_metric: secondary.SecondaryMetric
    public: secondary.ShownSecondaryValue | None
    private: secondary.ShownSecondaryValue | None


@dataclass(frozen=True)
class ShownScores:
    """Of one file: split → value under the current ground truth, and the lines of the secondary metrics."""

    scores: Mapping[str, float]
    secondary: tuple[SecondaryLine, ...] = ()


NO_SCORES = ShownScores({})


def shown_scores_of(submissions: Sequence[Submission], page_context: PageContext) -> dict[str, ShownScores]:
    """Submission → the scores that its viewer may see; files without any are left out. One query where exact
    scores are seen.

    Private values are not even read before the reveal, and public ones not where the board shows something else.
    """
    ground_truth = page_context.competition.ground_truth
    if ground_truth is None:
        return {}
    return (
        _exact_scores(submissions, page_context, ground_truth)
        if page_context.sees_exact
        else _board_scores(submissions, page_context, ground_truth)
    )


def _exact_scores(
    submissions: Sequence[Submission], page_context: PageContext, ground_truth: GroundTruth
) -> dict[str, ShownScores]:
    splits = [Split.PUBLIC, Split.PRIVATE] if page_context.sees_private else [Split.PUBLIC]
    rows = Score.objects.filter(
        submission__in=[submission.pk for submission in submissions], ground_truth=ground_truth, split__in=splits
    )
    secondary_metrics = secondary.secondary_metrics_of(ground_truth)
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    values: dict[str, dict[str, SecondaryValues]] = defaultdict(dict)
    for pk, split, value, stored in rows.values_list("submission_id", "split", "value", "secondary"):
        scores[str(pk)][split] = value
        values[str(pk)][split] = secondary.shown_secondary_values(secondary_metrics, stored, None)
    return {key: ShownScores(scores[key], _lines(secondary_metrics, values[key])) for key in scores}


def _board_scores(
    submissions: Sequence[Submission], page_context: PageContext, ground_truth: GroundTruth
) -> dict[str, ShownScores]:
    """Only of files whose public score a steady board shows."""
    teams = {submission.team_id for submission in submissions}
    shown = {key: value for team in teams for key, value in page_context.shown_scores(team).items()}
    files = [submission.pk for submission in submissions if str(submission.pk) in shown]
    secondary_metrics = secondary.secondary_metrics_of(ground_truth)
    public = secondary.secondary_values(ground_truth, Split.PUBLIC, files, page_context.ladder)
    return {
        str(pk): ShownScores(
            {Split.PUBLIC.value: shown[str(pk)]},
            _lines(secondary_metrics, {Split.PUBLIC.value: public.get(str(pk), ())}),
        )
        for pk in files
    }


def _lines(
    secondary_metrics: Sequence[secondary.SecondaryMetric], values: Mapping[str, SecondaryValues]
) -> tuple[SecondaryLine, ...]:
    """One line for each metric; none for a file that was scored before the ground truth had them."""
    public, private = values.get(Split.PUBLIC, ()), values.get(Split.PRIVATE, ())
    if len(public) != len(secondary_metrics):
        return ()
    return tuple(
        SecondaryLine(
            secondary_metric, public[place], private[place] if len(private) == len(secondary_metrics) else None
        )
        for place, secondary_metric in enumerate(secondary_metrics)
    )
