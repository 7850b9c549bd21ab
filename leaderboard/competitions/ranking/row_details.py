"""Facts about the teams on one page of a board: their files over time, members, secondary metrics.

What each row needs a single fact of is asked for together with the rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Count, OuterRef, QuerySet, Subquery

from ..models import GroundTruth, Membership, Score, Standing, Submission
from ..models.competition import Split
from .ladder import Ladder, ladder_of, linked_answers, ranked_files, teams_with_moves


def with_page_facts(standings: QuerySet[Standing], ground_truth: GroundTruth, split: Split) -> QuerySet[Standing]:
    """Standings with their teams, with `total` (how many there are on the board), `last_at` (the receipt of the team's
    last ranked file) and `stored` (what secondary metrics say of the file that stands there, where the ground truth has
    some)."""
    everybody = Standing.objects.filter(ground_truth=ground_truth, split=split).values("split")
    files = Submission.objects.filter(ranked_files(), team=OuterRef("team")).order_by("-received_at")
    found = standings.select_related("team").annotate(
        total=Subquery(everybody.annotate(number=Count("pk")).values("number")),
        last_at=Subquery(files.values("received_at")[:1]),
    )
    if not ground_truth.secondary:
        return found
    score = Score.objects.filter(submission=OuterRef("submission"), ground_truth=ground_truth, split=split)
    return found.annotate(stored=Subquery(score.values("secondary")[:1]))


def trend_histories(ground_truth: GroundTruth, standings: Sequence[Standing]) -> dict[int, list[float]]:
    """Team → the public scores of all its ranked files in order of receipt, as shown.

    What has a score is scored, so the status is not asked for, and each score is looked up by its file: otherwise the
    database goes through all files of the site that are scored, or through every score of the ground truth.
    """
    score = Score.objects.filter(submission=OuterRef("pk"), ground_truth=ground_truth, split=Split.PUBLIC)
    files = Submission.objects.filter(
        team__in=[standing.team_id for standing in standings], is_late=False, hidden_at=None
    ).annotate(shown=Subquery(score.values("value")[:1]))
    values: dict[int, list[float]] = defaultdict(list)
    for team_id, value in files.order_by("received_at", "pk").values_list("team_id", "shown"):
        if value is not None:
            values[team_id].append(value)
    ladder = ladder_of(ground_truth)
    if ladder is None:
        return values
    linked = teams_with_moves(ground_truth) & values.keys()
    shown = {
        team_id: [shown for shown, _ in ladder.answers(exact)]
        for team_id, exact in values.items()
        if team_id not in linked
    }
    return shown | (_linked_histories(ground_truth, ladder, linked) if linked else {})


def _linked_histories(ground_truth: GroundTruth, ladder: Ladder, teams: set[int]) -> dict[int, list[float]]:
    """The same for teams between which people have moved: after each file, the best score that a file of theirs set."""
    found: dict[int, list[float]] = defaultdict(list)
    for file, shown, is_new in linked_answers(ground_truth, ladder, teams):
        mine = found[file.team_id]
        if is_new and (not mine or ladder.sign * shown < ladder.sign * mine[-1]):
            mine.append(shown)
        elif mine:
            mine.append(mine[-1])
    return {team_id: mine for team_id, mine in found.items() if team_id in teams}


def member_names(standings: Sequence[Standing]) -> dict[int, list[str]]:
    """Team → the names of its accounts."""
    found: dict[int, list[str]] = defaultdict(list)
    for team_id, name in Membership.objects.filter(team__in=[standing.team_id for standing in standings]).values_list(
        "team_id", "user__username"
    ):
        found[team_id].append(name)
    return found
