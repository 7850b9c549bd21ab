"""Set up a draft from a host's files: find the answers, propose the columns to predict, give the rest to students."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.common.storage import clean_name, path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, StudentPreview, TruthDraft
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs
from metrics.reading.headers import USAGE

from . import data_files, publishing
from .copying import NEW_TITLE, file_chunks, free_slug
from .services import checks, drafts
from .specs import TruthSpec

ANSWER_FILE = re.compile(r"answer|solution|truth|gold|label|(^|[^a-z])key([^a-z]|$)")
ANSWER_COLUMNS = (
    "target", "label", "labels", "y", "class", "answer", "answers", "outcome", "response", "truth", "prediction",
)  # fmt: skip


@dataclass(frozen=True)
class NewFile:
    """An uploaded file in a temporary folder, with its columns if it is a table."""

    name: str
    path: Path
    columns: tuple[str, ...] = ()
    is_sound: bool = False

    @property
    def word(self) -> str:
        return self.name.casefold()


def add_files(*, competition: Competition, user: User, files: Sequence[tuple[str, Iterable[bytes]]]) -> list[str]:
    """Sort files into answers and data files, and check the answers; returns sentences about refused files.

    The file with the answers becomes the draft; the others become data files for students, and so does a copy of a test
    set without its answers. Raises `storage.TooLarge`, and `JobFailed` if the check broke.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = [_stored(Path(folder), number, name, chunks) for number, (name, chunks) in enumerate(files)]
        answers = _file_with_answers(found, has_answers=_has_answers(competition))
        refused = [
            refusal
            for file in found
            if file is not answers and (refusal := _give_students(competition, user, file.name, file.path))
        ]
        if answers is not None:
            set_answers(competition=competition, user=user, file=answers)
        elif found:
            with suppress(table_jobs.JobFailed):  # the earlier report is kept then
                checks.recheck_draft(competition=competition)
    return refused


def set_answers(*, competition: Competition, user: User, file: NewFile, asked_before: Sequence[str] = ()) -> TruthDraft:
    """Make a file the draft with the answers, with a proposal for the columns that students predict.

    Raises as `save_draft` does.
    """
    answers, why = propose_answers(file, students_columns(competition))
    spec = TruthSpec(file_name=file.name, chunks=file_chunks(file.path), answers=answers, why=why)
    draft = drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
    update_students_copy(competition=competition, user=user)
    _name_draft(competition, user, draft, asked_before)
    return draft


def use_as_answers(*, competition: Competition, user: User, name: str) -> TruthDraft:
    """Make a data file the file with the answers; students no longer get it. Raises as `save_draft` does.

    The earlier file with answers becomes a data file if it shares no column with the new one, like a test set.
    """
    given = competition.data_files.filter(name=name).first()
    if given is None:
        raise CannotHost(_("There is no file “%(name)s”.") % {"name": name})
    path = path_of(given.file_key, given.sha256)
    with tempfile.TemporaryDirectory() as folder:
        file = _stored(Path(folder), 0, given.name, file_chunks(path))
        data_files.remove_data_file(data_file=given, user=user)
        _remove_copy(competition, user)
        earlier = TruthDraft.objects.filter(competition=competition).first()
        asked = asked_columns(earlier)
        if earlier and not set(file.columns[1:]) & set(checks.column_names(earlier)):
            with suppress(CannotHost):
                give_answers_to_students(competition=competition, user=user)
        return set_answers(competition=competition, user=user, file=file, asked_before=asked)


def give_answers_to_students(*, competition: Competition, user: User) -> None:
    """Make the file with the answers a data file for students. Raises `CannotHost`."""
    draft = TruthDraft.objects.filter(competition=competition).first()
    if draft is None:
        raise CannotHost(_("There is no file with answers."))
    _remove_copy(competition, user)
    with tempfile.TemporaryDirectory() as folder:
        file = _stored(Path(folder), 0, draft.file_name, file_chunks(path_of(draft.file_key)))
        drafts.discard_draft(competition=competition)
        if refusal := _give_students(competition, user, file.name, file.path):
            raise CannotHost(refusal)


def drop_file(*, competition: Competition, user: User, name: str) -> None:
    """Remove a data file, or with an empty name the file with the answers."""
    if not name:
        _remove_copy(competition, user)
        drafts.discard_draft(competition=competition)
        return
    for given in competition.data_files.filter(name=name):
        data_files.remove_data_file(data_file=given, user=user)
    checks.recheck_draft(competition=competition)


def choose_answers(*, competition: Competition, user: User, names: Sequence[str]) -> None:
    """Choose the columns that students predict; makes their copy of the file again. Raises as the service for
    drafts does."""
    _remove_copy(competition, user)  # it may contain the new answers
    asked = asked_columns(TruthDraft.objects.filter(competition=competition).first())
    try:
        draft = drafts.choose_answers(competition=competition, names=names)
    finally:
        update_students_copy(competition=competition, user=user)
    draft.refresh_from_db()
    _name_draft(competition, user, draft, asked)


def update_students_copy(*, competition: Competition, user: User) -> None:
    """Give students a copy of the answer file without the answers, if it has features and they have no test set."""
    draft = TruthDraft.objects.filter(competition=competition).first()
    chosen = draft.answer_choice if draft else {}
    has_test = any("test" in name.casefold() for name in _names(competition))
    if draft is None or not chosen.get("left_out") or has_test or not draft.report.get("rows"):
        return
    stem = PurePath(draft.file_name).name.split(".")[0]
    name = clean_name(f"{stem if 'test' in stem.casefold() else 'test'}.csv")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "students.csv"
        columns = {*chosen["columns"], USAGE}.intersection(checks.column_names(draft))
        checks.drop_columns(path_of(draft.file_key), sorted(columns), target)
        data_files.add_data_file(competition=competition, file_name=name, chunks=[target.read_bytes()], user=user)
    draft.answer_choice["copy"] = name
    checks.mark_report_as_current(draft)  # the ids of the new file are those of the answers
    draft.save(update_fields=["answer_choice", "report"])


def propose_answers(file: NewFile, students: Sequence[Sequence[str]]) -> tuple[list[str], str]:
    """(proposed columns for students to predict, reason), by names only; no columns if all are answers or it is no
    table.

    The reason is `absent` from the students' tables, by `name`, or `last` column. `students` are the columns of the
    data files.
    """
    free = [name for name in file.columns[1:] if name != USAGE]
    if not file.is_sound or len(free) < 2:
        return [], ""
    # Columns that are missing in a data file with the same features are the answers.
    tests = [columns for columns in students if set(columns) & set(free) and not set(free) <= set(columns)]
    absent = [name for name in free if tests and all(name not in columns for columns in tests)]
    among = absent or free
    named = [name for name in among if name.strip().casefold() in ANSWER_COLUMNS]
    if len(absent) == 1:
        return absent, "absent"
    if named:
        return named[:1], "name"
    if absent:
        return absent[-1:], "last"
    if len(free) > MOST_ANSWERS or any(set(free) <= set(columns) for columns in students):
        return free[-1:], "last"
    return [], ""


MOST_ANSWERS = 2
"""A file with more columns and no other sign is taken for a test set, with the answers in its last column."""


def propose_again(*, competition: Competition, user: User) -> None:
    """Propose the columns to predict again, after the file has been converted to a readable one."""
    draft = TruthDraft.objects.get(competition=competition)
    asked = asked_columns(draft)
    with tempfile.TemporaryDirectory() as folder:
        file = _stored(Path(folder), 0, draft.file_name, file_chunks(path_of(draft.file_key)))
    answers, why = propose_answers(file, students_columns(competition))
    if answers:
        drafts.choose_answers(competition=competition, names=answers, why=why)
    update_students_copy(competition=competition, user=user)
    draft.refresh_from_db()
    _name_draft(competition, user, draft, asked)


def remove_leaks(*, competition: Competition, user: User) -> None:
    """Remove the data files that contain answers, by the findings of the draft, and check the draft again."""
    draft = TruthDraft.objects.filter(competition=competition).first()
    found = checks.blocking_in(draft.report) if draft else []
    leaks = [one["message"] for one in found if one["code"] == data_files.ANSWERS_IN_DATA]
    for given in competition.data_files.all():
        if any(f"“{given.name}”" in message for message in leaks):
            data_files.remove_data_file(data_file=given, user=user)
    checks.recheck_draft(competition=competition)


def students_columns(competition: Competition) -> list[list[str]]:
    """The columns of each data file with a stored header."""
    return [file.head[0] for file in competition.data_files.all() if file.head]


def _stored(folder: Path, number: int, name: str, chunks: Iterable[bytes]) -> NewFile:
    path = folder / f"{number}"
    with path.open("wb") as target:
        for chunk in chunks:
            target.write(chunk)
    try:
        found = table_jobs.run_page_job("describe_table", truth=str(path))
    except table_jobs.JobFailed:
        return NewFile(clean_name(name), path)
    return NewFile(clean_name(name), path, tuple(found["columns"]), found["is_sound"])


def _file_with_answers(files: Sequence[NewFile], *, has_answers: bool) -> NewFile | None:
    """The new file that holds the answers, by name, columns and size; None if none does.

    With `has_answers` only a file whose name says so replaces the earlier one.
    """
    by_name = [file for file in files if ANSWER_FILE.search(file.word) and not _is_sample(file)]
    if by_name or has_answers:
        return by_name[0] if by_name else None
    train = [file for file in files if "train" in file.word]
    others = [file for file in files if file not in train and not _is_sample(file)]
    known = {name for file in train for name in file.columns}
    whole = [file for file in others if known and known <= {*file.columns, *_ids(files)}]
    split = [file for file in others if USAGE in file.columns]
    if len(others) == 1 and known and not whole and ("test" in others[0].word or len(others[0].columns) > 2):
        return None  # a test set without its answers
    narrow = sorted(others, key=lambda file: (len(file.columns) < 2, len(file.columns)))
    return next(iter([*split, *whole, *narrow]), None)


def _ids(files: Sequence[NewFile]) -> set[str]:
    return {file.columns[0] for file in files if file.columns}


def _is_sample(file: NewFile) -> bool:
    return "sample" in file.word and "sub" in file.word


def _has_answers(competition: Competition) -> bool:
    return competition.ground_truth_id is not None or TruthDraft.objects.filter(competition=competition).exists()


def _names(competition: Competition) -> list[str]:
    return list(competition.data_files.values_list("name", flat=True))


def _give_students(competition: Competition, user: User, name: str, path: Path) -> str:
    """Add a data file; returns the reason if it was refused, else ""."""
    try:
        data_files.add_data_file(competition=competition, file_name=name, chunks=file_chunks(path), user=user)
    except CannotHost as error:
        return " ".join([error.message, *error.details])
    return ""


def _remove_copy(competition: Competition, user: User) -> None:
    draft = TruthDraft.objects.filter(competition=competition).first()
    name = draft.answer_choice.pop("copy", "") if draft else ""
    if draft is None or not name:
        return
    draft.save(update_fields=["answer_choice"])
    for given in competition.data_files.filter(name=name):
        data_files.remove_data_file(data_file=given, user=user)


def asked_columns(draft: TruthDraft | None) -> list[str]:
    """The columns that students predict, from the report of the draft; [] if unknown."""
    return list(draft.report.get("target_columns") or draft.answer_choice.get("columns") or []) if draft else []


def _name_draft(competition: Competition, user: User, draft: TruthDraft, asked_before: Sequence[str] = ()) -> None:
    """Set title and subtitle by the columns to predict, unless the host has changed them."""
    asked = asked_columns(draft)
    if not asked:
        return
    (title, subtitle), (title_before, subtitle_before) = _draft_words(asked), _draft_words(asked_before)
    is_new = competition.title == NEW_TITLE
    named = {
        "title": title if is_new or competition.title == title_before else competition.title,
        "subtitle": subtitle
        if competition.subtitle == subtitle_before or (is_new and not competition.subtitle)
        else competition.subtitle,
        "slug": free_slug(title) if is_new else competition.slug,
    }
    changed = competitions.change_competition(competition=competition, user=user, **named)
    competition.title, competition.slug, competition.subtitle = changed.title, changed.slug, changed.subtitle


def _draft_words(asked: Sequence[str]) -> tuple[str, str]:
    """(title, subtitle) of a draft that asks for these columns."""
    words = {"columns": ", ".join(asked)[:80]}
    return _("Predict %(columns)s") % words, _("Predict %(columns)s for each row of the test data.") % words


def make_ready(*, competition: Competition, user: User, is_confirmed: bool = False) -> None:
    """Do all that a launch needs: publish the draft, fill an empty overview, start the student preview.

    The sample submission also becomes the first baseline. Raises `CannotHost` if the answers are missing or have
    errors, and `JobFailed`.
    """
    draft = TruthDraft.objects.filter(competition=competition).first()
    if draft is None and competition.ground_truth is None:
        raise CannotHost(_("Add the answer file first."))
    published = competition.ground_truth.published_at if competition.ground_truth else None
    if draft is not None and (published is None or draft.uploaded_at > published):
        ground_truth = publishing.publish_draft(
            competition=competition, user=user, is_confirmed=is_confirmed, keeps_draft=True
        )
        sample = publishing.make_sample_submission(ground_truth)
        boards.add_baseline(
            competition=competition, user=user, name=_("Sample submission"), file_name="sample.csv", chunks=[sample]
        )
    if not competition.overview.strip():
        overview = competition.subtitle or competition.title
        competitions.change_competition(competition=competition, user=user, overview=overview)
        competition.refresh_from_db()
    tested = StudentPreview.objects.filter(ground_truth=competition.ground_truth_id).first()
    if tested is None or (tested.finished_at and not tested.is_good):
        publishing.start_preview(competition=competition, user=user)
