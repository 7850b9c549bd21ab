"""Checks 7 and 9: boards follow from scores, and scores from files."""

from __future__ import annotations

import random
from collections.abc import Iterator

import metrics
from leaderboard.competitions.models import Competition, Score
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import standings
from leaderboard.competitions.scoring import measuring
from leaderboard.competitions.scoring import score as score_module

from .verdict import CheckRun

SAMPLE = 50


def check_boards_match_scores(findings: CheckRun) -> Iterator[str]:
    """Every current board is made again from its scores."""
    ground_truths = Competition.objects.filter(ground_truth__isnull=False).select_related("ground_truth")
    for competition in ground_truths.order_by("slug"):
        ground_truth = competition.ground_truth
        assert ground_truth is not None
        ground_truth.competition = competition
        findings.looked_at += 1
        yield from (f"{competition.slug}: {sentence}" for sentence in standings.standing_differences(ground_truth))


def check_scores_recompute(findings: CheckRun) -> Iterator[str]:
    """Measure the files of fifty scores again, here: this is a scorer's process and none that serves pages."""
    other_metric = 0
    for score in _sample(findings.seed):
        ground_truth = score.ground_truth
        if _version(ground_truth.metric_key) != ground_truth.metric_version:
            other_metric += 1
            continue
        findings.looked_at += 1
        outcome = measuring.measure_slow_submission(score.submission, ground_truth)
        if outcome.result is None:
            yield f"score {score.pk}: its file cannot be measured any more"
            continue
        value = outcome.result.public if score.split == "public" else outcome.result.private
        if value != score.value:
            yield f"score {score.pk} of submission {score.submission_id}: stored {score.value!r}, computed {value!r}"
        yield from _others(score, outcome.result)
    if other_metric:
        findings.left_out.append(f"{other_metric} scores of metrics whose file is another one by now")


def _others(score: Score, result: metrics.Result) -> Iterator[str]:
    """Secondary values that differ; of those whose file is another one by now nothing is asked."""
    computed = score_module.stored_secondary(result, Split(score.split))
    ground_truth = score.ground_truth
    if len(score.secondary) != len(ground_truth.secondary):
        yield f"score {score.pk} has {len(score.secondary)} secondary values of {len(ground_truth.secondary)}"
        return
    for one, stored, found in zip(ground_truth.secondary, score.secondary, computed, strict=True):
        if stored != found and _version(f"{one['key']}@{one['version']}") == one["version"]:
            yield f"score {score.pk}: {one['key']} stored {stored}, computed {found}"


def _sample(seed: int | None) -> list[Score]:
    """Fifty scores; keys are drawn, so that no database has to shuffle a million rows."""
    first, last = Score.objects.order_by("pk").first(), Score.objects.order_by("-pk").first()
    if first is None or last is None:
        return []
    chance = random.Random(seed)  # noqa: S311
    found: dict[int, Score] = {}
    rows = Score.objects.select_related("ground_truth", "submission").order_by("pk")
    for _ in range(4 * SAMPLE):
        score = rows.filter(pk__gte=chance.randint(first.pk, last.pk)).first()
        if score is not None:
            found[score.pk] = score
        if len(found) == SAMPLE:
            break
    return list(found.values())


def _version(metric_key: str) -> str:
    try:
        return metrics.get(metric_key).version
    except metrics.UnknownMetric:
        return ""
