"""Queries for boards: pages, ranks with ties, movement, baselines."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.core.cache import caches
from django.db.models import Count, F, Max, Min, OuterRef, QuerySet, Subquery

from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import (
    Baseline,
    Competition,
    GroundTruth,
    Membership,
    Score,
    Standing,
    Submission,
    Team,
)
from leaderboard.competitions.models.competition import Split

from .ranking import best_submissions, deciding_standings, ranked_files, standings_before
from .rows import MEDALS, BoardPageData, BoardRowData, shown_moment
from .secondary import SecondaryMetric, secondary_metrics_of, shown_secondary_values

PAGE_SIZE = 100
LEADERS = 10
EARLIER_SECONDS = 60


def board_page(
    competition: Competition,
    split: Split,
    *,
    page: int = 1,
    at: datetime,
    sees_names: bool = False,
    people: Mapping[int, list[str]] | None = None,
) -> BoardPageData:
    """One page of the current board; a `page` beyond the end is the last one. Raises `ValueError` without ground truth.

    Callers must check `private_is_visible_to` for the private board, and `is_run_by` for `sees_names`, which shows the
    names behind pseudonyms. `people` are the members of all teams, if the caller has them already. On an open public
    board only an index is read of other pages, and once a minute yesterday's ranks (`earlier_ranks`).
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        raise ValueError(f"{competition.slug} has no ground truth yet")
    ground_truth.competition = competition
    sign = ground_truth.sort_sign
    whole = standings_in_order(ground_truth, split).aggregate(total=Count("pk"), best=Min("sort_key"))
    total, leader = whole["total"], None
    if total and not is_hidden(ground_truth, split):
        leader = sign * whole["best"]
    pages = max(1, -(-total // PAGE_SIZE))
    page = min(max(page, 1), pages)
    before = (page - 1) * PAGE_SIZE
    # With the last row of the page before, because a tie may continue from there.
    standings = list(shown_standings(ground_truth, split)[max(before - 1, 0) : before + PAGE_SIZE])
    last = standings.pop(0) if before else None
    is_tie = last is not None and last.order == standings[0].order
    first = rank_of(standings[0]) if is_tie else None
    ranks = shared_ranks([standing.order for standing in standings], above=before, first=first)
    podium = standings[:3] if last is None else standings_in_order(ground_truth, split)[:3]
    discs = discs_of(standing.sort_key for standing in podium)
    rows = ranked_rows(ground_truth, split, standings, ranks, discs, at, sees_names, people)
    references = baseline_rows(ground_truth, split)
    previous = None if last is None else 0.0 if is_hidden(ground_truth, split) else last.sort_key
    merged = merge_baselines(rows, references, sign, previous=previous, is_last=page == pages)
    return BoardPageData(tuple(merged), page, pages, total, leader)


def with_page_facts(standings: QuerySet[Standing], ground_truth: GroundTruth, split: Split) -> QuerySet[Standing]:
    """Standings with their teams, annotated with the columns of a board.

    `submission_count` and `last_at`: number and last receipt of the team's files that can be ranked. `stored`:
    secondary metrics of the standing's file, only if the ground truth has some.
    """
    files = Submission.objects.filter(ranked_files(), team=OuterRef("team"))
    with_facts = standings.select_related("team").annotate(
        submission_count=count_rows(files.order_by(), "team"),
        last_at=Subquery(files.order_by("-received_at").values("received_at")[:1]),
    )
    if not ground_truth.secondary:
        return with_facts
    score = Score.objects.filter(submission=OuterRef("submission"), ground_truth=ground_truth, split=split)
    return with_facts.annotate(stored=Subquery(score.values("secondary")[:1]))


def member_names(standings: Sequence[Standing]) -> dict[int, list[str]]:
    """Team → user names of its members."""
    names: dict[int, list[str]] = defaultdict(list)
    memberships = Membership.objects.filter(team__in=[standing.team_id for standing in standings])
    for team_id, name in memberships.values_list("team_id", "user__username"):
        names[team_id].append(name)
    return names


def is_hidden(ground_truth: GroundTruth, split: Split) -> bool:
    """Whether this board is hidden until the end: it lists teams without scores and ranks."""
    return split == Split.PUBLIC and ground_truth.competition.board_is_hidden


def standings_in_order(ground_truth: GroundTruth | OuterRef, split: Split | OuterRef) -> QuerySet[Standing]:
    return Standing.objects.filter(ground_truth=ground_truth, split=split).order_by(
        "sort_key", "received_at", "team_id"
    )


def shown_standings(ground_truth: GroundTruth, split: Split) -> QuerySet[Standing]:
    """Standings `with_page_facts` in the order of the board; on a hidden board by the time of the last file, which
    reveals nothing about scores."""
    standings = with_page_facts(standings_in_order(ground_truth, split), ground_truth, split)
    return standings.order_by(F("last_at").desc(), "team_id") if is_hidden(ground_truth, split) else standings


def rank_of(standing: Standing) -> int:
    """Rank of a standing: one more than the number of strictly better ones; one query."""
    better = Standing.is_better(standing.sort_key, standing.received_at)
    return 1 + standings_in_order(standing.ground_truth, Split(standing.split)).filter(better).count()


def shared_ranks(orders: Sequence[object], *, above: int = 0, first: int | None = None) -> list[int]:
    """Ranks of a sorted sequence in which equal items share a rank: 1, 2, 2, 4.

    `above` is the number of items before the sequence; `first` is the rank of its first item, if that is tied with
    the item before it.
    """
    ranks: list[int] = []
    for index, order in enumerate(orders):
        shares = index > 0 and order == orders[index - 1]
        ranks.append(ranks[-1] if shares else above + index + 1)
        if index == 0 and first is not None:
            ranks[0] = first
    return ranks


def ranks_by_team(candidates: Iterable[Standing]) -> dict[int, int]:
    """Team → rank; ties share a rank."""
    ordered = sorted(candidates, key=attrgetter("order"))
    ranks = shared_ranks([best.order for best in ordered])
    return dict(zip((best.team_id for best in ordered), ranks, strict=True))


def earlier_ranks(ground_truth: GroundTruth, at: datetime) -> dict[int, int]:
    """Team → public rank at the last midnight in the competition's time zone.

    Cached for a minute: only rare events change it, such as a hidden file or a disqualified team.
    """
    begin = ground_truth.competition.begin_of_day(at)
    ranks: Any = caches["local"].get_or_set(
        f"earlier:{ground_truth.pk}:{begin.timestamp():.0f}",
        lambda: ranks_by_team(standings_before(ground_truth, begin)),
        EARLIER_SECONDS,
    )
    return dict(ranks)


def rank_movements(
    ground_truth: GroundTruth, split: Split, standings: Sequence[Standing], ranks: Sequence[int], at: datetime
) -> dict[int, int]:
    """Team → ranks gained (negative: lost): since yesterday while live, from public to private after the reveal."""
    if split == Split.PRIVATE:
        # Without teams that still have time: their places would be gains of all others.
        final = standings_in_order(ground_truth, split).order_by().values("team")
        shown = standings_in_order(ground_truth, Split.PUBLIC).filter(team__in=final)
        public = list(shown.values_list("team_id", "sort_key", "received_at"))
        earlier = dict(zip((row[0] for row in public), shared_ranks([row[1:] for row in public]), strict=True))
    elif ground_truth.competition.revealed_at is not None or is_hidden(ground_truth, split):
        return {}
    else:
        earlier = earlier_ranks(ground_truth, at)
    return {
        standing.team_id: earlier[standing.team_id] - rank
        for standing, rank in zip(standings, ranks, strict=True)
        if standing.team_id in earlier
    }


def names_of(team: Team, competition: Competition, *, sees_names: bool) -> tuple[str, str]:
    """(shown name, real name behind a pseudonym if the reader may see it, else "")."""
    team.competition = competition
    shown = team.shown_name
    return shown, team.name if sees_names and shown != team.name else ""


def discs_of(first_three: Iterable[float]) -> dict[float, str]:
    """Sort key → disc, by the sort keys of the first three of the whole board; equal scores have equal discs."""
    discs: dict[float, str] = {}
    for key, disc in zip(first_three, MEDALS.values(), strict=False):
        discs.setdefault(key, disc)
    return discs


def ranked_rows(
    ground_truth: GroundTruth,
    split: Split,
    standings: Sequence[Standing],
    ranks: Sequence[int],
    discs: Mapping[float, str],
    at: datetime,
    sees_names: bool,
    people: Mapping[int, list[str]] | None = None,
) -> list[BoardRowData]:
    competition, hides = ground_truth.competition, is_hidden(ground_truth, split)
    moved = rank_movements(ground_truth, split, standings, ranks, at)
    secondary_metrics = secondary_metrics_of(ground_truth)
    if competition.board.uses_pseudonyms and not sees_names:
        people = {}
    elif people is None:
        people = member_names(standings)
    for standing in standings:
        standing.ground_truth = ground_truth
    return [
        _ranked_row(
            standing,
            rank,
            secondary_metrics,
            sees_names=sees_names,
            hides=hides,
            medal=discs.get(standing.sort_key, "") if rank in MEDALS else "",
            movement=moved.get(standing.team_id),
            members=people.get(standing.team_id, ()),
        )
        for standing, rank in zip(standings, ranks, strict=True)
    ]


def _ranked_row(
    standing: Standing,
    rank: int,
    secondary_metrics: Sequence[SecondaryMetric],
    *,
    sees_names: bool,
    hides: bool,
    medal: str = "",
    movement: int | None = None,
    members: Sequence[str] = (),
) -> BoardRowData:
    """The row of a standing with the facts of `with_page_facts`. With `hides` it does not reveal which file of the team
    is the best."""
    competition = standing.ground_truth.competition
    name, real_name = names_of(standing.team, competition, sees_names=sees_names)
    received_at, last_at = (
        shown_moment(moment, competition, sees_names=sees_names)
        for moment in (standing.received_at, standing.last_at)  # type: ignore[attr-defined]
    )
    return BoardRowData(
        rank=None if hides else rank,
        name=name,
        real_name=real_name,
        team_id=standing.team_id,
        value=None if hides else standing.value,
        movement=movement,
        medal="" if hides else medal,
        members=tuple(members),
        submission_id="" if hides else str(standing.submission_id),
        received_at=last_at if hides else received_at,
        submission_count=standing.submission_count,  # type: ignore[attr-defined]
        last_at=last_at,
        is_picked_by_system=standing.is_picked_by_system,
        secondary=() if hides else shown_secondary_values(secondary_metrics, getattr(standing, "stored", None) or ()),
    )


def baseline_rows(ground_truth: GroundTruth, split: Split) -> list[BoardRowData]:
    """Rows of the baselines with a score, best first; on a hidden board by name and without scores."""
    sign, secondary_metrics = ground_truth.sort_sign, secondary_metrics_of(ground_truth)
    hides = is_hidden(ground_truth, split)
    scores = _baseline_scores.rows(
        competition=ground_truth.competition_id, ground_truth=ground_truth.pk, split=str(split)
    )
    rows = [
        BoardRowData(
            rank=None,
            name=score.submission.baseline.name,
            team_id=0,
            value=None if hides else score.value,
            movement=None,
            submission_id=str(score.submission_id),
            received_at=score.submission.received_at,
            is_baseline=True,
            secondary=() if hides else shown_secondary_values(secondary_metrics, score.secondary),
        )
        for score in scores
        if score.submission.baseline is not None
    ]
    return sorted(rows, key=lambda row: (_sort_key_of_row(row, sign), row.name))


@PreparedQuery
def _baseline_scores(competition: int, ground_truth: int, split: str) -> QuerySet[Score]:
    scores = reference_scores(competition, split).filter(ground_truth=ground_truth)
    return scores.select_related("submission__baseline")


def reference_scores(competition_id: int, split: str) -> QuerySet[Score]:
    """Scores of a competition's baselines on a split, under every ground truth.

    By subqueries that start at the few baselines: for a join the database would read all scores of a ground truth.
    """
    files = Submission.objects.filter(
        baseline__in=Baseline.objects.filter(competition=competition_id).order_by().values("pk")
    )
    return Score.objects.filter(
        submission__in=files.order_by().values("pk"), submission__status=Submission.Status.SCORED, split=split
    )


def baseline_scores(ground_truth: GroundTruth | None, split: Split) -> dict[str, float]:
    """Baseline → score. Only for hosts."""
    return baseline_scores_by_ground_truth([ground_truth], split)[ground_truth.pk] if ground_truth else {}


def baseline_scores_by_ground_truth(
    ground_truths: Iterable[GroundTruth | None], split: Split
) -> dict[int, dict[str, float]]:
    """Ground truth → baseline → score, for ground truths of one competition; one query. Only for hosts."""
    present = [ground_truth for ground_truth in ground_truths if ground_truth is not None]
    by_ground_truth: dict[int, dict[str, float]] = defaultdict(dict)
    if present:
        scores = reference_scores(present[0].competition_id, split).filter(ground_truth__in=present)
        for ground_truth_id, name, value in scores.values_list("ground_truth", "submission__baseline__name", "value"):
            assert name is not None, "only baselines are read"
            by_ground_truth[ground_truth_id][name] = value
    return by_ground_truth


def _sort_key_of_row(row: BoardRowData, sign: float) -> float:
    """Sort key of a row; 0 for all rows of a hidden board."""
    return sign * row.value if row.value is not None else 0.0


def merge_baselines(
    rows: Sequence[BoardRowData],
    references: Sequence[BoardRowData],
    sign: float,
    *,
    previous: float | None,
    is_last: bool,
) -> list[BoardRowData]:
    """The rows of one page with the baselines that belong among them; a team ranks above an equal baseline.

    `previous` is the sort key of the last row of the page before, None on the first page.
    """
    if not rows:
        return list(references) if previous is None else []
    low, high = -math.inf if previous is None else previous, _sort_key_of_row(rows[-1], sign)
    here = [row for row in references if low <= (key := _sort_key_of_row(row, sign)) and (is_last or key < high)]
    return sorted([*rows, *here], key=lambda row: (_sort_key_of_row(row, sign), row.is_baseline, row.rank or 0))


def ranked_lines(competition: Competition, split: Split, *, sees_names: bool = False) -> Iterator[BoardRowData]:
    """Ranked rows of a board for exports; without movements, members and baselines."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return
    ground_truth.competition = competition
    secondary_metrics, hides = secondary_metrics_of(ground_truth), is_hidden(ground_truth, split)
    standings = list(shown_standings(ground_truth, split))
    ranks = shared_ranks([standing.order for standing in standings])
    for standing, rank in zip(standings, ranks, strict=True):
        standing.ground_truth = ground_truth
        yield _ranked_row(standing, rank, secondary_metrics, sees_names=sees_names, hides=hides)


def ranked_lines_now(competition: Competition, split: Split) -> Iterator[BoardRowData]:
    """Like `ranked_lines`, for hosts before the reveal: with the scores of a hidden board, and the private board as a
    reveal would make it now."""
    ground_truth = competition.ground_truth
    if ground_truth is None:
        return
    ground_truth.competition = competition
    if split == Split.PUBLIC:
        standings = list(best_submissions(ground_truth))
    else:
        standings = [best for board, best in deciding_standings(ground_truth) if board == split]
    secondary_metrics, ranks = secondary_metrics_of(ground_truth), ranks_by_team(standings)
    files = ranked_files("submissions")
    facts = {"files": Count("submissions", filter=files), "last_at": Max("submissions__received_at", filter=files)}
    teams = competition.teams.annotate(**facts).in_bulk(ranks)
    scores = Score.objects.filter(
        ground_truth=ground_truth, split=split, submission__in=[standing.submission_id for standing in standings]
    )
    stored = dict(scores.values_list("submission", "secondary")) if secondary_metrics else {}
    for standing in sorted(standings, key=attrgetter("order")):
        team: Any = teams[standing.team_id]
        standing.ground_truth, standing.team = ground_truth, team
        # As `with_page_facts` annotates.
        standing.submission_count, standing.last_at = team.files, team.last_at  # type: ignore[attr-defined]
        standing.stored = stored.get(standing.submission_id)  # type: ignore[attr-defined]
        yield _ranked_row(standing, ranks[team.pk], secondary_metrics, sees_names=True, hides=False)
