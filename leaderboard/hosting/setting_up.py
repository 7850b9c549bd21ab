"""A competition from its first line to its launch."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from ..models import Competition, DataFile, GroundTruth, Submission, Team, TruthDraft, User
from ..storage import StoredFile, clean_name, path_of, store
from ..storage import remove as remove_file

HEAD_ROWS = 6
EDITABLE = (
    "slug",
    "title",
    "subtitle",
    "course",
    "overview",
    "rules",
    "contact",
    "is_listed",
    "join_code",
    "needs_code",
    "opens_at",
    "closes_at",
    "zone",
    "reveals_itself",
    "daily_attempts",
    "final_count",
    "team_size",
    "max_bytes",
    "allows_late",
)


class CannotHost(Exception):
    """Why something a host asked for was not done; `details` are further lines for them."""

    def __init__(self, message: str, details: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = list(details)


def create(*, user: User, **fields: Any) -> Competition:
    """A draft competition hosted by `user`; `fields` are those of `EDITABLE`. Raises `ValidationError`."""
    competition = Competition(**_known(fields))
    competition.full_clean()
    with transaction.atomic():
        competition.save()
        competition.hosts.add(user)
    return competition


def change(*, competition: Competition, **fields: Any) -> Competition:
    """Change what may be changed; new rules text asks members to accept again. Raises `ValidationError`."""
    with transaction.atomic():
        held = Competition.objects.select_for_update().get(pk=competition.pk)
        had_rules = held.rules
        for name, value in _known(fields).items():
            setattr(held, name, value)
        if held.revealed_at is not None and held.closes_at > timezone.now():
            raise ValidationError(
                {"closes_at": "The private board is open, so the deadline cannot move into the future."}
            )
        if held.rules != had_rules:
            held.rules_version += 1
        held.full_clean()
        held.save()
        held.touch_board()
    return held


def remove(*, competition: Competition) -> None:
    """Delete a competition with all its rows and files."""
    truths = list(competition.ground_truths.values_list("file_key", flat=True))
    keys = [
        *truths,
        *(sample_key(key) for key in truths),
        *TruthDraft.objects.filter(competition=competition).values_list("file_key", flat=True),
        *competition.data_files.values_list("file_key", flat=True),
        *competition.submissions.values_list("file_key", flat=True),
    ]
    with transaction.atomic():
        # A ruler in use is protected; let go of it before everything falls.
        Competition.objects.filter(pk=competition.pk).update(
            launched_at=None, revealed_at=None, ground_truth=None, candidate=None
        )
        Submission.objects.filter(competition=competition).delete()
        Team.objects.filter(competition=competition).delete()
        competition.delete()
    for key in keys:
        remove_file(key)


def sample_key(truth_key: str) -> str:
    """Where the sample submission of a truth file is kept once somebody asked for it."""
    return f"{truth_key}.sample"


def launch_checklist(competition: Competition) -> list[tuple[str, bool]]:
    """What a launch needs, each with whether it is there."""
    return [
        ("A ground truth is published", competition.ground_truth_id is not None),
        ("The overview says what the question is", bool(competition.overview.strip())),
        ("The deadline lies in the future", competition.closes_at > timezone.now()),
    ]


def launch(*, competition: Competition) -> None:
    """Let students in. Raises `CannotHost` with what is missing."""
    missing = [text for text, is_there in launch_checklist(competition) if not is_there]
    if missing:
        raise CannotHost("The competition cannot be launched yet.", [f"Missing: {text}." for text in missing])
    Competition.objects.filter(pk=competition.pk, launched_at=None).update(launched_at=timezone.now())
    competition.refresh_from_db()


def add_data_file(
    *, competition: Competition, file_name: str, chunks: Iterable[bytes], description: str = ""
) -> DataFile:
    """Give students a file; the same name again replaces it. Refuses files that hold the answers."""
    name = clean_name(file_name)
    stored = store(chunks, f"data/{competition.pk}")
    try:
        head, rows = _table_head(stored, name)
        _refuse_answers(competition, stored, head)
        with transaction.atomic():
            earlier = DataFile.objects.filter(competition=competition, name=name).first()
            if earlier:
                earlier.delete()
            added = DataFile.objects.create(
                competition=competition,
                name=name,
                description=description,
                file_key=stored.key,
                sha256=stored.sha256,
                size=stored.size,
                rows=rows,
                head=head,
            )
    except BaseException:
        remove_file(stored.key)
        raise
    if earlier:
        remove_file(earlier.file_key)
    return added


def remove_data_file(*, data_file: DataFile) -> None:
    """Take a file back from students."""
    data_file.delete()
    remove_file(data_file.file_key)


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    unknown = fields.keys() - set(EDITABLE)
    if unknown:
        raise TypeError(f"not fields a host sets: {sorted(unknown)}")
    return fields


def _table_head(stored: StoredFile, name: str) -> tuple[list[list[str]], int | None]:
    """The first rows of a CSV with its number of data rows; nothing for other kinds of file."""
    if not name.lower().endswith(".csv"):
        return [], None
    try:
        with path_of(stored.key).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            head = [row[:20] for row, _ in zip(reader, range(HEAD_ROWS), strict=False)]
            return [[cell[:80] for cell in row] for row in head], max(0, len(head) - 1 + sum(1 for _ in reader))
    except (UnicodeDecodeError, csv.Error):
        return [], None


def _refuse_answers(competition: Competition, stored: StoredFile, head: list[list[str]]) -> None:
    """Raise when a file is a truth file, or has its answers for the ids that are scored."""
    rulers = list(GroundTruth.objects.filter(competition=competition))
    if any(ruler.sha256 == stored.sha256 for ruler in rulers):
        raise CannotHost(
            "This is the ground-truth file: students would download the answers.",
            ["Upload the test file without its answer column instead."],
        )
    header = [cell.strip() for cell in head[0]] if head else []
    for ruler in rulers:
        targets = [column for column in ruler.submission_columns if column != ruler.id_column]
        if ruler.id_column in header and any(target in header for target in targets):
            _refuse_same_answers(stored, ruler, targets)


def _refuse_same_answers(stored: StoredFile, ruler: GroundTruth, targets: list[str]) -> None:
    truth = _answers(path_of(ruler.file_key).read_bytes(), ruler.id_column, targets)
    offered = _answers(path_of(stored.key).read_bytes(), ruler.id_column, targets)
    shared = truth.keys() & offered.keys()
    same = sum(truth[key] == offered[key] for key in shared)
    # A sample submission shares ids and by chance some answers; a leaked test file shares nearly all.
    if shared and same > 0.9 * len(shared) and len({truth[key] for key in shared}) > 1:
        raise CannotHost(
            f"This file holds the answers of {same} scored ids in {', '.join(targets)}.",
            ["Remove the answer column for the ids that are scored, and upload it again."],
        )


def _answers(data: bytes, id_column: str, targets: list[str]) -> dict[str, tuple[str, ...]]:
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig", errors="replace"), newline=""))
    reader.fieldnames = [name.strip() for name in reader.fieldnames or []]
    return {
        (row.get(id_column) or "").strip(): tuple((row.get(target) or "").strip() for target in targets)
        for row in reader
    }
