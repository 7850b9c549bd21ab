"""All submissions of a competition as one streamed zip."""

from __future__ import annotations

import codecs
import csv
import io
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from django.db.models import Prefetch, Q

from leaderboard.accounts.models import User
from leaderboard.common.file_formats import add_to_zip, safe_cell
from leaderboard.common.storage import open_stored
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Competition, Score, Submission
from leaderboard.competitions.models.competition import Split

BATCH = 200
LONGEST_NAME = 60
MANIFEST = (
    "path",
    "submission",
    "team",
    "pseudonym",
    "user",
    "name",
    "student_id",
    "file_name",
    "note",
    "bytes",
    "sha256",
    "received_at",
    "status",
    "problems",
    "is_late",
    "is_final_pick",
    "is_hidden",
    "is_disqualified",
    "public_score",
    "private_score",
    "ground_truth",
)


def write_submissions(archive: zipfile.ZipFile, competition: Competition, at: datetime) -> None:
    """Write all files that teams submitted before `at`, and `manifest.csv` with hashes, times and scores.

    Only a piece of one file is in memory at a time. A file that is missing in the storage is in the manifest without a
    path.
    """
    lost: set[str] = set()
    for submission in _files_in_order(competition, at):
        try:
            with open_stored(submission.file_key, submission.sha256) as file:
                entry = zipfile.ZipInfo(path_in(submission), submission.received_at.astimezone(UTC).timetuple()[:6])
                add_to_zip(archive, entry, file)
        except FileNotFoundError:
            lost.add(str(submission.pk))
    with archive.open("manifest.csv", "w", force_zip64=True) as target:
        target.write(codecs.BOM_UTF8)  # for Excel
        for line in _manifest_lines(competition, at, lost):
            target.write(line.encode())


def path_in(submission: Submission) -> str:
    """Path of a file in the zip: a folder per team, sorted by receipt. Paths are unique and never leave the folder."""
    assert submission.team is not None, "baselines are not part of it"
    team = f"{_safe_path_name(submission.team.name)}-{submission.team.pk}"
    time = f"{submission.received_at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return f"{team}/{time}-{str(submission.pk)[:13]}-{_safe_path_name(submission.file_name)}"


def _safe_path_name(name: str) -> str:
    """A name that is safe in any file system: no separators, no dots at its ends, no invisible characters."""
    visible = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
    return visible[-LONGEST_NAME:].strip("._-") or "file"


def _files_in_order(competition: Competition, at: datetime) -> Iterator[Submission]:
    """Teams' files received before `at`, in order of receipt; a query per `BATCH`."""
    scores = Score.objects.filter(ground_truth=competition.ground_truth_id)
    files = (
        Submission.objects.filter(competition=competition, team__isnull=False, received_at__lt=at)
        .select_related("team", "user")
        .prefetch_related(Prefetch("scores", scores, to_attr="now"))
        .order_by("received_at", "pk")
    )
    batch = list(files[:BATCH])
    while batch:
        yield from batch
        last = batch[-1]
        after = Q(received_at__gt=last.received_at) | Q(received_at=last.received_at, pk__gt=last.pk)
        batch = list(files.filter(after)[:BATCH])


def _manifest_lines(competition: Competition, at: datetime, lost: set[str]) -> Iterator[str]:
    number = competition.ground_truth.number if competition.ground_truth else ""
    listed = hooks.roster.names_and_ids(competition)
    yield _csv_line(MANIFEST)
    for submission in _files_in_order(competition, at):
        assert submission.team is not None, "baselines are not part of it"
        values = {score.split: repr(score.value) for score in submission.now}  # type: ignore[attr-defined]
        yield _csv_line(
            (
                "" if str(submission.pk) in lost else safe_cell(path_in(submission)),
                submission.pk,
                safe_cell(submission.team.name),
                safe_cell(submission.team.pseudonym),
                safe_cell(submission.user.get_username() if submission.user else ""),
                *map(safe_cell, _person_columns(submission.user, listed)),
                safe_cell(submission.file_name),
                safe_cell(submission.note),
                submission.size,
                submission.sha256,
                submission.received_at.astimezone(UTC).isoformat(),
                submission.status,
                safe_cell(" ".join(str(problem.get("code", "")) for problem in submission.problems)),
                _yes_or_empty(submission.is_late),
                _yes_or_empty(submission.is_selected),
                _yes_or_empty(submission.hidden_at),
                _yes_or_empty(submission.team.disqualified_at),
                values.get(Split.PUBLIC, ""),
                values.get(Split.PRIVATE, ""),
                number if values else "",
            )
        )


def _person_columns(user: User | None, listed: Mapping[int, tuple[str, str]]) -> tuple[str, str]:
    """(name, student ID) from the roster, else (name of the account, "")."""
    if user is None:
        return "", ""
    return listed.get(user.pk, (user.get_full_name(), ""))


def _yes_or_empty(fact: object) -> str:
    return "yes" if fact else "no"


def _csv_line(cells: tuple[object, ...]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()
