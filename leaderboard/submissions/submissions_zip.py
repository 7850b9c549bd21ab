"""All submissions of a competition as one streamed zip."""

from __future__ import annotations

import codecs
import csv
import io
import shlex
import zipfile
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import PurePosixPath
from typing import NamedTuple
from uuid import UUID

from django.db.models import Prefetch, Q

from leaderboard.accounts.models import User
from leaderboard.boards.ranking import final_submissions
from leaderboard.common.file_formats import add_to_zip, safe_cell
from leaderboard.common.storage import open_stored
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Attachment, Competition, GroundTruth, Score, Submission
from leaderboard.competitions.models.competition import Split

from . import attachments

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
    "attachment",
    "declared",
    "attached_by",
    "attached_at",
)


def write_submissions(archive: zipfile.ZipFile, competition: Competition, at: datetime) -> None:
    """Write all files that teams submitted before `at`, and `manifest.csv` with hashes, times and scores.

    Only a piece of one file is in memory at a time. A file that is missing in the storage is in the manifest without a
    path. Where attachments are taken, each final submission, and each other one with an attachment, has a folder with
    the attachment and a line that scores the file at home with `truth.csv`.
    """
    lost: set[str] = set()
    finals = _finals_with_folder(competition)
    for submission in _files_in_order(competition, at):
        paths = _paths_in(submission, finals)
        if not _add_stored(archive, paths.file, submission, submission.received_at):
            lost.add(paths.file)
        if paths.attachment and not _add_stored(
            archive, paths.attachment, submission.attachment, submission.attachment.at
        ):
            lost.add(paths.attachment)
        if paths.folder and competition.ground_truth is not None:
            line = _scoring_line(competition.ground_truth, PurePosixPath(paths.file).name)
            archive.writestr(f"{paths.folder}/score.txt", f"{line}\n")
    if finals and competition.ground_truth is not None:
        _add_stored(archive, "truth.csv", competition.ground_truth, competition.ground_truth.published_at)
    with archive.open("manifest.csv", "w", force_zip64=True) as target:
        target.write(codecs.BOM_UTF8)  # for Excel
        for line in _manifest_lines(competition, at, finals, lost):
            target.write(line.encode())


def _add_stored(archive: zipfile.ZipFile, path: str, row: Submission | Attachment | GroundTruth, at: datetime) -> bool:
    """Add the stored file of a row; False if the storage does not have it."""
    try:
        with open_stored(row.file_key, row.sha256) as file:
            add_to_zip(archive, zipfile.ZipInfo(path, at.astimezone(UTC).timetuple()[:6]), file)
    except FileNotFoundError:
        return False
    return True


def _finals_with_folder(competition: Competition) -> set[UUID]:
    """The final submissions of all teams, if the competition takes attachments, else none."""
    if not attachments.takes_attachments(competition) or competition.ground_truth is None:
        return set()
    deciding = final_submissions(competition.ground_truth)
    return {final.submission_id for finals in deciding.values() for final in finals}


class _Paths(NamedTuple):
    """Paths of a submission in the zip. `folder` and `attachment` are "" for a submission without them."""

    file: str
    folder: str = ""
    attachment: str = ""


def _paths_in(submission: Submission, finals: Collection[UUID]) -> _Paths:
    """Paths in a folder per team, sorted by receipt. They are unique and never leave the folder."""
    assert submission.team is not None, "baselines are not part of it"
    team = f"{_safe_path_name(submission.team.name)}-{submission.team.pk}"
    path = f"{team}/{submission.received_at.astimezone(UTC):%Y%m%dT%H%M%SZ}-{str(submission.pk)[:13]}"
    name, attachment = _safe_path_name(submission.file_name), getattr(submission, "attachment", None)
    if submission.pk not in finals and attachment is None:
        return _Paths(f"{path}-{name}")
    attached = f"{path}/attachment-{_safe_path_name(attachment.file_name)}" if attachment else ""
    return _Paths(f"{path}/submission-{name}", path, attached)


def _scoring_line(ground_truth: GroundTruth, file_name: str) -> str:
    """The command that scores a file at home, in its folder of the zip."""
    params = [("-p", f"{name}={value}") for name, value in ground_truth.params.items() if value is not None]
    words = ["python", "-m", "metrics", "score", ground_truth.metric, "../../truth.csv", file_name]
    return shlex.join([*words, *chain.from_iterable(params), "--id", ground_truth.id_column])


def _safe_path_name(name: str) -> str:
    """A name that is safe in any file system: no separators, no dots at its ends, no invisible characters."""
    visible = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
    return visible[-LONGEST_NAME:].strip("._-") or "file"


def _files_in_order(competition: Competition, at: datetime) -> Iterator[Submission]:
    """Teams' files received before `at`, in order of receipt; a query per `BATCH`."""
    scores = Score.objects.filter(ground_truth=competition.ground_truth_id)
    files = (
        Submission.objects.filter(competition=competition, team__isnull=False, received_at__lt=at)
        .select_related("team", "user", "attachment__by")
        .prefetch_related(Prefetch("scores", scores, to_attr="now"))
        .order_by("received_at", "pk")
    )
    batch = list(files[:BATCH])
    while batch:
        yield from batch
        last = batch[-1]
        after = Q(received_at__gt=last.received_at) | Q(received_at=last.received_at, pk__gt=last.pk)
        batch = list(files.filter(after)[:BATCH])


def _manifest_lines(competition: Competition, at: datetime, finals: Collection[UUID], lost: set[str]) -> Iterator[str]:
    number = competition.ground_truth.number if competition.ground_truth else ""
    listed = hooks.roster.names_and_ids(competition)
    yield _csv_line(MANIFEST)
    for submission in _files_in_order(competition, at):
        assert submission.team is not None, "baselines are not part of it"
        paths, attachment = _paths_in(submission, finals), getattr(submission, "attachment", None)
        values = {score.split: repr(score.value) for score in submission.now}  # type: ignore[attr-defined]
        yield _csv_line(
            (
                "" if paths.file in lost else safe_cell(paths.file),
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
                _yes_or_no(submission.is_late),
                _yes_or_no(submission.is_selected),
                _yes_or_no(submission.hidden_at),
                _yes_or_no(submission.team.disqualified_at),
                values.get(Split.PUBLIC, ""),
                values.get(Split.PRIVATE, ""),
                number if values else "",
                "" if paths.attachment in lost else safe_cell(paths.attachment),
                safe_cell(attachment.declared if attachment else ""),
                safe_cell(attachment.by.get_username() if attachment and attachment.by else ""),
                attachment.at.astimezone(UTC).isoformat() if attachment else "",
            )
        )


def _person_columns(user: User | None, listed: Mapping[int, tuple[str, str]]) -> tuple[str, str]:
    """(name, student ID) from the roster, else (name of the account, "")."""
    if user is None:
        return "", ""
    return listed.get(user.pk, (user.get_full_name(), ""))


def _yes_or_no(fact: object) -> str:
    return "yes" if fact else "no"


def _csv_line(cells: tuple[object, ...]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()
