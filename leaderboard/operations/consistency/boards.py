"""Checks 7, 9 and 10: boards follow from scores and scores from files; who could reach what."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import F, Max, Q

import metrics
from leaderboard.competitions.models import (
    Competition,
    DataFile,
    Extension,
    GroundTruth,
    Membership,
    Score,
    Standing,
    Submission,
    TruthDraft,
)
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
        outcome = measuring.measure_outside_queue(score.submission, ground_truth, alone=True)
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
    """Fifty scores of the last day on which files were scored: earlier ones had their nights."""
    last = Submission.objects.aggregate(last=Max("finished_at"))["last"]
    if last is None:
        return []
    since = last - timedelta(days=1)
    is_new = Q(submission__finished_at__gt=since) | Q(ground_truth__published_at__gt=since)
    keys = list(Score.objects.filter(is_new).values_list("pk", flat=True))
    drawn = random.Random(seed).sample(sorted(keys), min(SAMPLE, len(keys)))  # noqa: S311
    return list(Score.objects.select_related("ground_truth", "submission").filter(pk__in=drawn).order_by("pk"))


def _version(metric_key: str) -> str:
    try:
        return metrics.get(metric_key).version
    except metrics.UnknownMetric:
        return ""


def check_privacy(findings: CheckRun) -> Iterator[str]:
    yield from _readable_by_others(findings)
    yield from _boards_opened_early()
    yield from _foreign_files()
    yield from _hosts_who_compete()


def _readable_by_others(findings: CheckRun) -> Iterator[str]:
    """What other accounts of the machine could open: nothing behind a closed folder, otherwise by its own mode."""
    var, files = Path(settings.VAR_DIR), Path(settings.FILES_DIR)
    if not _is_closed(var):
        for path in (*var.glob("leaderboard.sqlite3*"), var / "secret_key"):
            if path.exists() and not _is_closed(path):
                yield _open(path)
    is_behind = _is_closed(files) or (var in files.parents and _is_closed(var))
    for folder, _, names in os.walk(files):
        for name in names:
            path = Path(folder, name)
            findings.looked_at += 1
            if path.is_symlink():
                yield f"{path.relative_to(files)}: it is a link, and the site makes none"
            elif not is_behind and not _is_closed(path):
                yield _open(path)


def _is_closed(path: Path) -> bool:
    return path.exists() and path.stat().st_mode & 0o077 == 0


def _open(path: Path) -> str:
    return f"{path.name}: others on this machine could open it (mode {stat.S_IMODE(path.stat().st_mode):o})"


def _boards_opened_early() -> Iterator[str]:
    private = Standing.objects.filter(split=Split.PRIVATE, ground_truth__competition__revealed_at=None)
    for slug in private.order_by().values_list("ground_truth__competition__slug", flat=True).distinct():
        yield f"{slug}: private standings are stored before the reveal"
    early = Competition.objects.filter(revealed_at__lt=F("closes_at"))
    for slug in early.values_list("slug", flat=True):
        yield f"{slug}: the private board is open before the deadline"
    extended = Extension.objects.active().filter(
        team__disqualified_at=None, closes_at__gt=F("team__competition__revealed_at")
    )
    for slug in extended.order_by().values_list("team__competition__slug", flat=True).distinct():
        yield f"{slug}: the private board is open while a team has more time"


def _foreign_files() -> Iterator[str]:
    truths = {*GroundTruth.objects.values_list("sha256", flat=True)}
    truth_keys = {
        *GroundTruth.objects.values_list("file_key", flat=True),
        *TruthDraft.objects.values_list("file_key", flat=True),
    }
    for pk, name, key, sha256, competition in DataFile.objects.values_list(
        "pk", "name", "file_key", "sha256", "competition"
    ):
        if sha256 in truths or key in truth_keys:
            yield f"data file {pk} (“{name}”) is a ground-truth file"
        elif not key.startswith(f"data/{competition}/"):
            yield f"data file {pk} (“{name}”) is the file of something else: {key}"
    files = Submission.objects.values_list("pk", "file_key", "competition").order_by()
    for number, key, competition in files.iterator(chunk_size=5000):
        if not key.startswith(f"submissions/{competition}/"):
            yield f"submission {number} has the file of something else: {key}"
    teams = Submission.objects.exclude(team=None).exclude(team__competition=F("competition"))
    for number in teams.values_list("pk", flat=True):
        yield f"submission {number} belongs to a team of another competition"


def _hosts_who_compete() -> Iterator[str]:
    for role, words in (("hosts", "hosts it"), ("assistants", "assists in it")):
        both = Membership.objects.filter(user__in=F(f"competition__{role}"))
        for name, slug in both.values_list("user__username", "competition__slug"):
            yield f"{slug}: {name} {words}, sees the private scores, and competes in it"
    strangers = Membership.objects.exclude(team__competition=F("competition"))
    for number in strangers.values_list("pk", flat=True):
        yield f"membership {number} is of a team of another competition"
