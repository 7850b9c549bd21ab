"""Set up a draft from a host's files: find the answers, propose the columns to predict, give the rest to students."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.common.storage import clean_name, file_chunks, path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, StudentPreview, TruthDraft
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs
from metrics.reading.headers import USAGE

from ..queries import chosen_answers
from ..specs import GroundTruthSpec
from . import checks, data_files, drafts, publishing
from .copying import NEW_TITLE, free_slug

ANSWER_FILE = re.compile(r"answer|solution|truth|gold|label|(^|[^a-z])key([^a-z]|$)")
ANSWER_COLUMNS = (
    "target", "label", "labels", "y", "class", "answer", "answers", "outcome", "response", "truth", "prediction",
)  # fmt: skip
MAX_ANSWERS = 2
"""A file with more columns and no other sign is taken for a test set, with the answers in its last column."""


@dataclass(frozen=True)
class NewFile:
    """An uploaded file in a temporary folder, with its columns if it is a table."""

    name: str
    path: Path
    columns: tuple[str, ...] = ()
    is_sound: bool = False

    @property
    def is_sample(self) -> bool:
        return "sample" in self.name.casefold() and "sub" in self.name.casefold()

    def has_in_name(self, text: str) -> bool:
        return text in self.name.casefold()


def add_files(*, competition: Competition, user: User, files: Sequence[tuple[str, Iterable[bytes]]]) -> list[str]:
    """Sort files into answers and data files, and check the answers; returns sentences about refused files.

    The file with the answers becomes the draft; the others become data files for students, and so does a copy of a test
    set without its answers. Raises `storage.TooLarge`, and `JobFailed` if the check broke.
    """
    with tempfile.TemporaryDirectory() as folder:
        new_files = [_new_file(Path(folder), number, name, chunks) for number, (name, chunks) in enumerate(files)]
        has_answers = competition.ground_truth_id is not None or _draft_of(competition) is not None
        answers = _file_with_answers(new_files, has_answers=has_answers)
        others = [file for file in new_files if file is not answers]
        if answers is not None:
            with _changing_answers(competition, user):
                refusals = _give_students(competition, user, others)
                _set_answers(competition, answers)
        else:
            refusals = _give_students(competition, user, others)
            with suppress(table_jobs.JobFailed):  # the earlier report is kept then
                checks.recheck_draft(competition=competition)
    return refusals


def use_as_answers(*, competition: Competition, user: User, name: str) -> None:
    """Make a data file the file with the answers; students no longer get it. Raises as `save_draft` does.

    The earlier file with answers becomes a data file if it shares no column with the new one, like a test set.
    """
    data_file = competition.data_files.filter(name=name).first()
    if data_file is None:
        raise CannotHost(_("There is no file “%(name)s”.") % {"name": name})
    with tempfile.TemporaryDirectory() as folder, _changing_answers(competition, user):
        chunks = file_chunks(path_of(data_file.file_key, data_file.sha256))
        file = _new_file(Path(folder), 0, data_file.name, chunks)
        data_files.remove_data_file(data_file=data_file, user=user)
        earlier = _draft_of(competition)
        if earlier and not set(file.columns[1:]) & set(checks.column_names(earlier)):
            with suppress(CannotHost):
                give_answers_to_students(competition=competition, user=user)
        _set_answers(competition, file)


def give_answers_to_students(*, competition: Competition, user: User) -> None:
    """Make the file with the answers a data file for students. Raises `CannotHost`."""
    draft = _draft_of(competition)
    if draft is None:
        raise CannotHost(_("There is no file with answers."))
    _remove_copy(competition, user)
    with tempfile.TemporaryDirectory() as folder:
        file = _new_file(Path(folder), 0, draft.file_name, file_chunks(path_of(draft.file_key)))
        drafts.discard_draft(competition=competition)
        if refusals := _give_students(competition, user, [file]):
            raise CannotHost(refusals[0])


def drop_file(*, competition: Competition, user: User, name: str) -> None:
    """Remove a data file, or with an empty name the file with the answers."""
    if not name:
        _remove_copy(competition, user)
        drafts.discard_draft(competition=competition)
        return
    for data_file in competition.data_files.filter(name=name):
        data_files.remove_data_file(data_file=data_file, user=user)
    checks.recheck_draft(competition=competition)


def choose_answers(*, competition: Competition, user: User, names: Sequence[str]) -> None:
    """Choose the columns that students predict; makes their copy of the file again. Raises as the service for drafts
    does."""
    with _changing_answers(competition, user):
        drafts.choose_answers(competition=competition, names=names)


def convert_answers(*, competition: Competition, user: User) -> None:
    """Convert the answers from a spreadsheet's format, and propose the columns to predict again.

    Raises as `apply_spreadsheet_conversion` does.
    """
    with _changing_answers(competition, user), tempfile.TemporaryDirectory() as folder:
        draft = drafts.apply_spreadsheet_conversion(competition=competition)
        file = _new_file(Path(folder), 0, draft.file_name, file_chunks(path_of(draft.file_key)))
        answers, why = propose_answers(file, _columns_of_data_files(competition))
        if answers:
            drafts.choose_answers(competition=competition, names=answers, why=why)


def remove_leaks(*, competition: Competition, user: User) -> None:
    """Remove the data files that contain answers, by the findings of the draft, and check the draft again."""
    draft = _draft_of(competition)
    blocking = checks.blocking_in(draft.report) if draft else []
    leaks = [finding["message"] for finding in blocking if finding["code"] == data_files.ANSWERS_IN_DATA]
    for data_file in competition.data_files.all():
        if any(f"“{data_file.name}”" in message for message in leaks):
            data_files.remove_data_file(data_file=data_file, user=user)
    checks.recheck_draft(competition=competition)


def make_ready(*, competition: Competition, user: User, is_confirmed: bool = False) -> None:
    """Do all that a launch needs: publish the draft, fill an empty overview, start the student preview.

    The sample submission also becomes the first baseline. Raises `CannotHost` if the answers are missing or have
    errors, and `JobFailed`.
    """
    draft = _draft_of(competition)
    if draft is None and competition.ground_truth is None:
        raise CannotHost(_("Add the answer file first."))
    published_at = competition.ground_truth.published_at if competition.ground_truth else None
    if draft is not None and (published_at is None or draft.uploaded_at > published_at):
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
    preview = StudentPreview.objects.filter(ground_truth=competition.ground_truth_id).first()
    if preview is None or (preview.finished_at and not preview.is_good):
        publishing.start_preview(competition=competition, user=user)


# --- which file has the answers, and in which columns -----------------------------------------------------------


def _file_with_answers(files: Sequence[NewFile], *, has_answers: bool) -> NewFile | None:
    """The new file that holds the answers, by name, columns and size; None if none does.

    With `has_answers` only a file whose name says so replaces the earlier one.
    """
    by_name = [file for file in files if ANSWER_FILE.search(file.name.casefold()) and not file.is_sample]
    if by_name or has_answers:
        return by_name[0] if by_name else None
    train = [file for file in files if file.has_in_name("train")]
    others = [file for file in files if file not in train and not file.is_sample]
    train_columns = {name for file in train for name in file.columns}
    id_columns = {file.columns[0] for file in files if file.columns}
    whole = [file for file in others if train_columns and train_columns <= {*file.columns, *id_columns}]
    split = [file for file in others if USAGE in file.columns]
    is_unsure = len(others) == 1 and train_columns and not whole
    if is_unsure and (others[0].has_in_name("test") or len(others[0].columns) > 2):
        return None  # a test set without its answers
    narrow = sorted(others, key=lambda file: (len(file.columns) < 2, len(file.columns)))
    return next(iter([*split, *whole, *narrow]), None)


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
    named = [name for name in absent or free if name.strip().casefold() in ANSWER_COLUMNS]
    if len(absent) == 1:
        return absent, "absent"
    if named:
        return named[:1], "name"
    is_test_set = len(free) > MAX_ANSWERS or any(set(free) <= set(columns) for columns in students)
    return ((absent or free)[-1:], "last") if absent or is_test_set else ([], "")


def _columns_of_data_files(competition: Competition) -> list[list[str]]:
    return [file.head[0] for file in competition.data_files.all() if file.head]


# --- the draft, the students' copy of its file and its title ----------------------------------------------------


def _draft_of(competition: Competition) -> TruthDraft | None:
    """The stored draft, read again: services change it."""
    return TruthDraft.objects.filter(competition=competition).first()


def _new_file(folder: Path, number: int, name: str, chunks: Iterable[bytes]) -> NewFile:
    path = folder / f"{number}"
    with path.open("wb") as target:
        target.writelines(chunks)
    try:
        table = table_jobs.run_page_job("describe_table", truth=str(path))
    except table_jobs.JobFailed:
        return NewFile(clean_name(name), path)
    return NewFile(clean_name(name), path, tuple(table["columns"]), table["is_sound"])


def _set_answers(competition: Competition, file: NewFile) -> None:
    """Make a file the draft with the answers, with a proposal for the columns that students predict."""
    answers, why = propose_answers(file, _columns_of_data_files(competition))
    spec = GroundTruthSpec(file_name=file.name, chunks=file_chunks(file.path), answers=answers, why=why)
    drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)


def _give_students(competition: Competition, user: User, files: Sequence[NewFile]) -> list[str]:
    """Add data files; returns the reasons for refused ones."""
    refusals = []
    for file in files:
        try:
            chunks = file_chunks(file.path)
            data_files.add_data_file(competition=competition, file_name=file.name, chunks=chunks, user=user)
        except CannotHost as error:
            refusals.append(" ".join([error.message, *error.details]))
    return refusals


@contextmanager
def _changing_answers(competition: Competition, user: User) -> Iterator[None]:
    """Have the students' copy of the answer file, and the draft's title, follow what students predict."""
    earlier_answers = chosen_answers(_draft_of(competition))
    _remove_copy(competition, user)  # it may contain the new answers
    try:
        yield
    finally:
        _make_copy(competition, user)
    _name_draft(competition, user, earlier_answers)


def _make_copy(competition: Competition, user: User) -> None:
    """Give students a copy of the answer file without the answers, if it has features and they have no test set."""
    draft = _draft_of(competition)
    names = competition.data_files.values_list("name", flat=True)
    has_test = any("test" in name.casefold() for name in names)
    if draft is None or not draft.answer_choice.get("left_out") or has_test or not draft.report.get("rows"):
        return
    stem = PurePath(draft.file_name).name.split(".")[0]
    name = clean_name(f"{stem if 'test' in stem.casefold() else 'test'}.csv")
    with tempfile.TemporaryDirectory() as folder:
        columns = {*draft.answer_choice["columns"], USAGE}.intersection(checks.column_names(draft))
        copy = checks.drop_columns(path_of(draft.file_key), sorted(columns), Path(folder) / "students.csv")
        data_files.add_data_file(competition=competition, file_name=name, chunks=file_chunks(copy), user=user)
    draft.answer_choice["copy"] = name
    draft.save(update_fields=["answer_choice"])


def _remove_copy(competition: Competition, user: User) -> None:
    draft = _draft_of(competition)
    if draft is None or not (name := draft.answer_choice.pop("copy", "")):
        return
    draft.save(update_fields=["answer_choice"])
    for data_file in competition.data_files.filter(name=name):
        data_files.remove_data_file(data_file=data_file, user=user)


def _name_draft(competition: Competition, user: User, earlier_answers: Sequence[str]) -> None:
    """Set title and subtitle by the columns to predict, unless the host has changed them."""
    answers = chosen_answers(_draft_of(competition))
    if not answers:
        return
    (title, subtitle), (earlier_title, earlier_subtitle) = _draft_title(answers), _draft_title(earlier_answers)
    is_new = competition.title == NEW_TITLE
    fields = {}
    if is_new:
        fields["slug"] = free_slug(title)
    if is_new or competition.title == earlier_title:
        fields["title"] = title
    if competition.subtitle == earlier_subtitle or (is_new and not competition.subtitle):
        fields["subtitle"] = subtitle
    competitions.change_competition(competition=competition, user=user, **fields)
    for name, value in fields.items():
        setattr(competition, name, value)


def _draft_title(answers: Sequence[str]) -> tuple[str, str]:
    """(title, subtitle) of a draft that asks for these columns."""
    columns = {"columns": ", ".join(answers)[:80]}
    return _("Predict %(columns)s") % columns, _("Predict %(columns)s for each row of the test data.") % columns
