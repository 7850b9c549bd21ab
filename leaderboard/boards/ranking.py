"""Ranking computed from scores and final picks: the conditions for files and scores that are ranked, and the standings
that follow from them. Equal scores are ordered by `Standing.order`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Max, Min, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from leaderboard.competitions.models import GroundTruth, Score, Standing, Submission, Team
from leaderboard.competitions.models.competition import Split

IN_ONE_QUERY = 5000
FACTS = ("submission__team_id", "submission_id", "value", "submission__received_at")


def ranked_files(of: str = "") -> Q:
    """Condition for files that are ranked if their team is: scored, in time, not hidden. `ranked_scores` also leaves
    out baselines and disqualified teams.

    For a query of submissions, or of a model that reaches them by the relation `of`.
    """
    facts = {"status": Submission.Status.SCORED, "is_late": False, "hidden_at": None}
    return Q(**{f"{of}__{name}" if of else name: value for name, value in facts.items()})


def ranked_scores(
    ground_truth: GroundTruth,
    split: Split,
    *,
    teams: Iterable[int] | QuerySet[Any, Any] | None = None,
    until: datetime | None = None,
    is_disqualified: bool = False,
) -> QuerySet[Score]:
    """Scores that are ranked: of teams that are not disqualified, received in time and not hidden.

    `teams` limits them to these teams (primary keys, or a query for them). That is a subquery, because for a join the
    database would read all scores of the ground truth. `until` limits them to files received by then. With
    `is_disqualified` they are those of the disqualified teams instead.
    """
    scores = Score.objects.all() if until is None else Score.objects.filter(submission__received_at__lte=until)
    if teams is not None:
        named = teams if isinstance(teams, QuerySet) else list(teams)
        scores = scores.filter(submission__in=Submission.objects.filter(team__in=named).order_by().values("pk"))
    return scores.filter(
        ground_truth=ground_truth,
        split=split,
        submission__team__isnull=False,
        submission__status=Submission.Status.SCORED,
        submission__is_late=False,
        submission__hidden_at=None,
        submission__team__disqualified_at__isnull=not is_disqualified,
    )


def best_submissions(ground_truth: GroundTruth) -> Iterator[Standing]:
    """Each team's best public submission, computed from the scores."""
    sign, scores = ground_truth.sort_sign, ranked_scores(ground_truth, Split.PUBLIC)
    return (make_standing(sign, *facts) for facts in best_per_team(scores, ground_truth).values_list(*FACTS))


def best_values(ground_truth: GroundTruth, *, teams: Sequence[int] | None = None, **which: Any) -> dict[int, float]:
    """Team → best public score, of all teams or of `teams`. For hosts: also on a hidden board and after the reveal.

    Read from the public standings while they hold each team's best score, else computed from all scores. `which` limits
    the scores, see `ranked_scores`.
    """
    competition = ground_truth.competition
    is_current = competition.ground_truth_id == ground_truth.pk and competition.revealed_at is None
    if is_current and not any(which.values()):
        standings = Standing.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC)
        if teams is not None:
            standings = standings.filter(team__in=teams)
        return dict(standings.values_list("team_id", "value"))
    scores = ranked_scores(ground_truth, Split.PUBLIC, teams=teams, **which)
    best = Min("value") if ground_truth.sort_sign > 0 else Max("value")
    rows = scores.order_by().values_list("submission__team_id").annotate(best=best)
    return {team_id: value for team_id, value in rows if team_id is not None}


def final_submissions(
    ground_truth: GroundTruth, *, team: Team | None = None, with_awaited: bool = True, **which: Any
) -> dict[int, list[Standing]]:
    """Team → its final submissions with their public scores: those it selected, else its best public ones.

    `team` limits it to one team; without `with_awaited`, teams are left out that the open final ranking still awaits.
    `which` limits the scores, see `ranked_scores`.
    """
    scores = ranked_scores(ground_truth, Split.PUBLIC, teams=None if team is None else [team.pk], **which)
    if not with_awaited:
        scores = scores.filter(submission__team__is_awaited=False)
    # Selected files and other files are numbered separately, so that one query finds both.
    placed = scores.annotate(place=_place_within_team(ground_truth, "submission__is_selected"))
    chosen = placed.filter(Q(submission__is_selected=True) | Q(place__lte=ground_truth.competition.limits.final_count))
    picked: dict[int, list[Standing]] = defaultdict(list)
    left: dict[int, list[Standing]] = defaultdict(list)
    sign = ground_truth.sort_sign
    for *facts, is_selected in chosen.order_by("place").values_list(*FACTS, "submission__is_selected"):
        best = make_standing(sign, *facts, is_picked_by_system=not is_selected)
        (picked if is_selected else left)[best.team_id].append(best)
    return {**left, **picked}


def _place_within_team(ground_truth: GroundTruth, *apart: str) -> Window:
    """SQL expression for the place of a score within its team, best first; numbered separately for each value of the
    fields `apart`. With it only the first few scores per team are read, of hundreds of thousands."""
    best_first = F("value").asc() if ground_truth.sort_sign > 0 else F("value").desc()
    return Window(
        RowNumber(),
        partition_by=[F("submission__team_id"), *map(F, apart)],
        order_by=[best_first, F("submission__received_at").asc(), F("submission_id").asc()],
    )


def best_per_team(scores: QuerySet[Score], ground_truth: GroundTruth) -> QuerySet[Score]:
    """The best of these scores for each team."""
    return scores.annotate(place=_place_within_team(ground_truth)).filter(place=1).order_by()


def make_standing(
    sign: float,
    team_id: int | None,
    submission_id: UUID,
    value: float,
    received_at: datetime,
    *,
    is_picked_by_system: bool = False,
) -> Standing:
    """A standing that is not stored: a scored, ranked submission of a team, without its ground truth and split."""
    assert team_id is not None, "baselines are not ranked"
    return Standing(
        team_id=team_id,
        submission_id=submission_id,
        value=value,
        sort_key=sign * value,
        received_at=received_at,
        is_picked_by_system=is_picked_by_system,
    )


def final_standings(ground_truth: GroundTruth, **which: Any) -> Iterator[tuple[Split, Standing]]:
    """Standings after the reveal: on both boards each team's final submission with the best private score, without the
    teams that the final ranking still awaits."""
    sign, picks = ground_truth.sort_sign, final_submissions(ground_truth, with_awaited=False, **which)
    private = _private_values(
        ground_truth, [best.submission_id for candidates in picks.values() for best in candidates]
    )
    for team_id, candidates in picks.items():
        on_private = [
            make_standing(
                sign, team_id, c.submission_id, value, c.received_at, is_picked_by_system=c.is_picked_by_system
            )
            for c in candidates
            if (value := private.get(c.submission_id)) is not None
        ]
        if not on_private:
            continue
        chosen = min(on_private, key=lambda best: best.order)
        yield Split.PRIVATE, chosen
        yield Split.PUBLIC, next(c for c in candidates if c.submission_id == chosen.submission_id)


def _private_values(ground_truth: GroundTruth, submissions: Sequence[UUID]) -> dict[UUID, float]:
    """Submission → private score. Several queries, because the number of parameters in one is limited."""
    values: dict[UUID, float] = {}
    for first in range(0, len(submissions), IN_ONE_QUERY):
        part = submissions[first : first + IN_ONE_QUERY]
        scores = Score.objects.filter(ground_truth=ground_truth, split=Split.PRIVATE, submission__in=part)
        values |= dict(scores.values_list("submission_id", "value"))
    return values


def deciding_standings(ground_truth: GroundTruth) -> Iterator[tuple[Split, Standing]]:
    """The standings of both boards as the reveal made them, or would now. Before the reveal only for hosts."""
    competition = ground_truth.competition
    if competition.revealed_at is None or competition.ground_truth_id != ground_truth.pk:
        yield from final_standings(ground_truth)
        return
    for standing in Standing.objects.filter(ground_truth=ground_truth):
        yield Split(standing.split), standing


def expected_standings(ground_truth: GroundTruth) -> Iterator[tuple[Split, Standing]]:
    """The correct standings, computed from scores and selected files only."""
    shown = None
    if ground_truth.competition.revealed_at is not None:
        yield from final_standings(ground_truth)
        # On a board that was hidden, an awaited team would find its public score.
        shown = _team_numbers(ground_truth, is_awaited=True)
        if ground_truth.competition.board.hides_scores or not shown:
            return
    vacated = _team_numbers(ground_truth, vacated_at__isnull=False)
    for best in best_submissions(ground_truth):
        if best.team_id not in vacated and (shown is None or best.team_id in shown):
            yield Split.PUBLIC, best


def _team_numbers(ground_truth: GroundTruth, **which: Any) -> set[int]:
    teams = Team.objects.filter(competition=ground_truth.competition_id, **which)
    return set(teams.order_by().values_list("pk", flat=True))


def best_standings(ground_truth: GroundTruth) -> Iterator[Standing]:
    """Each team's deciding submission: its best public one, or after the reveal its final with the best private score.

    Read from the standings for the competition's current ground truth, else computed.
    """
    competition = ground_truth.competition
    is_revealed = competition.revealed_at is not None
    if competition.ground_truth_id == ground_truth.pk:
        split = Split.PRIVATE if is_revealed else Split.PUBLIC
        return iter(Standing.objects.filter(ground_truth=ground_truth, split=split))
    if not is_revealed:
        return best_submissions(ground_truth)
    return (best for split, best in final_standings(ground_truth) if split == Split.PRIVATE)


STANDING_FACTS = ("team_id", "submission_id", "value", "received_at")


def standings_before(ground_truth: GroundTruth, before: datetime) -> Iterator[Standing]:
    """Public standings of the current ground truth as they were at a time before the reveal; one query.

    A standing whose file was received before that time was the same then. So only files of teams that have improved
    since are read.
    """
    here = Standing.objects.filter(ground_truth=ground_truth, split=Split.PUBLIC).order_by()
    still = here.filter(received_at__lt=before).values_list(*STANDING_FACTS)
    moved = ranked_scores(ground_truth, Split.PUBLIC, teams=here.filter(received_at__gte=before).values("team"))
    moved = moved.filter(submission__received_at__lt=before).order_by()
    sign = ground_truth.sort_sign
    then = best_per_team(moved, ground_truth).values_list(*FACTS)
    return (make_standing(sign, *facts) for facts in still.union(then, all=True))
