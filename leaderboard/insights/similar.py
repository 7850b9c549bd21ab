"""Report of teams with identical or similar predictions. It has no consequences; hosts judge it themselves."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.utils.translation import gettext as _

from leaderboard.boards import ranking
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs

from .activity import files_of_teams

MAX_TEAMS = 100
MAX_GROUPS = 50


@dataclass(frozen=True)
class SharedResult:
    """Files of several teams with the same content or scores (`value`); one file per team, its first."""

    value: str
    files: tuple[Submission, ...]


def find_identical_results(competition: Competition) -> tuple[list[SharedResult], list[SharedResult]]:
    """(groups of files with the same bytes, groups with different bytes but exactly equal public and private scores).

    A group has files of at least two teams.
    """
    of_teams = files_of_teams(competition)
    hashes = of_teams.values("sha256").annotate(teams=Count("team", distinct=True)).filter(teams__gt=1)
    shared = hashes.order_by("-teams").values_list("sha256", flat=True)[:MAX_GROUPS]
    same_bytes = _group_by_teams(of_teams.filter(sha256__in=list(shared)), key=lambda file: file.sha256)
    scores = {pk: pair for pair, files in _same_scores(competition).items() for pk in files}
    same_scores = _group_by_teams(of_teams.filter(pk__in=list(scores)), key=lambda file: scores[file.pk])
    return same_bytes, [shared for shared in same_scores if len({file.sha256 for file in shared.files}) > 1]


def _same_scores(competition: Competition) -> dict[tuple[float, float], list[Any]]:
    """(public score, private score) → the scored files with both, if there is more than one."""
    rows = Score.objects.filter(
        ground_truth=competition.ground_truth_id, submission__team__isnull=False, submission__status="scored"
    )
    repeated = (
        rows.filter(split=Split.PRIVATE)
        .order_by()
        .values("value")
        .annotate(teams=Count("submission__team", distinct=True))
    )
    values = list(repeated.filter(teams__gt=1).order_by("-teams").values_list("value", flat=True)[: 4 * MAX_GROUPS])
    private = dict(rows.filter(split=Split.PRIVATE, value__in=values).values_list("submission_id", "value"))
    files_of_pair: dict[tuple[float, float], list[Any]] = defaultdict(list)
    public = rows.filter(split=Split.PUBLIC, submission__in=list(private)[:5000])
    for pk, value in public.values_list("submission_id", "value"):
        files_of_pair[value, private[pk]].append(pk)
    return {pair: files for pair, files in files_of_pair.items() if len(files) > 1}


def _group_by_teams(files: Any, key: Any) -> list[SharedResult]:
    """Groups of at least two teams by `key` of a file, largest first; of each team its first file."""
    groups: dict[Any, dict[int, Submission]] = defaultdict(dict)
    for file in files.select_related("team", "user").order_by("received_at", "pk"):
        groups[key(file)].setdefault(file.team_id, file)
    shared = [SharedResult(str(value), tuple(teams.values())) for value, teams in groups.items() if len(teams) > 1]
    return sorted(shared, key=lambda group: -len(group.files))[:MAX_GROUPS]


@dataclass(frozen=True)
class AnswerComparison:
    """Result of comparing the best files of all pairs of teams; `left_out` counts files that were not compared.

    `pairs` share more wrong answers than expected by chance; `correlated_pairs` have correlated errors. Each pair has
    the fields that the job `find_agreement` returns, with the teams as `first` and `second`.
    """

    rows: int
    files: int
    left_out: int
    pairs: list[dict[str, Any]]
    correlated_pairs: list[dict[str, Any]]


def compare_answers(*, competition: Competition) -> AnswerComparison:
    """Compare the mistakes in the best files of the first `MAX_TEAMS` teams, in a sealed process.

    Raises `CannotHost` without a ground truth or with fewer than three scored teams, and `JobFailed`.
    """
    ground_truth = competition.ground_truth
    if ground_truth is None:
        raise CannotHost(_("Publish the answers first."))
    ground_truth.competition = competition
    best = sorted(ranking.best_standings(ground_truth), key=lambda candidate: candidate.order)
    chosen = best[:MAX_TEAMS]
    if len(chosen) < 3:
        raise CannotHost(_("At least three teams need a score to estimate chance."))
    by_id = Submission.objects.select_related("team").in_bulk([candidate.submission_id for candidate in chosen])
    files = [by_id[candidate.submission_id] for candidate in chosen]
    result = table_jobs.run_page_job(
        "find_agreement",
        metric=ground_truth.metric_key,
        truth=str(path_of(ground_truth.file_key, ground_truth.sha256)),
        params=ground_truth.params,
        id_column=ground_truth.id_column,
        submissions=[str(path_of(file.file_key, file.sha256)) for file in files],
    )
    pairs, correlated_pairs = (
        [{**pair, "first": files[pair["first"]].team, "second": files[pair["second"]].team} for pair in result[name]]
        for name in ("pairs", "correlated_pairs")
    )
    left_out = len(best) - result["files"]
    return AnswerComparison(result["rows"], result["files"], left_out, pairs, correlated_pairs)
