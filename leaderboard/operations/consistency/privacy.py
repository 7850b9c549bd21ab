"""Check 10, as far as data can show it: who could reach which files, and boards that opened too early."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db.models import F

from leaderboard.competitions.models import (
    Competition,
    DataFile,
    Extension,
    GroundTruth,
    Membership,
    Standing,
    Submission,
    TruthDraft,
)
from leaderboard.competitions.models.competition import Split

from .verdict import CheckRun


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
