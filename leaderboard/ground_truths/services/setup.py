"""Set up a draft from a host's files: find the answers, propose the columns to predict, give the rest to students."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.common.library_messages import stored_text
from leaderboard.common.storage import clean_name, file_chunks, path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, StudentPreview
from leaderboard.competitions.services import CannotHost
from leaderboard.scoring import table_jobs
from leaderboard.submissions import outside_queue
from metrics.checks.answer_columns import ColumnFacts, is_sample_file, is_train_file, propose_answers
from metrics.reading.header_problems import letters_of
from metrics.reading.split_words import USAGE

from ..queries import chosen_answers, current_truth, free_slug
from ..specs import GroundTruthSpec
from . import checks, data_files, drafts, publishing
from .copying import NEW_TITLE

ANSWER_FILE = re.compile(
    r"answer|solution|truth|gold|label|target|outcome|perfect|(^|[^a-z])(key|y)([^a-z]|$)|y_?test"
    r"|antwort|l(ö|oe|o)sung|r[ée]ponse|corrig|respuesta|soluci|gabarito|resposta|rispost|soluzion"
)


@dataclass(frozen=True)
class NewFile:
    """An uploaded file in a temporary folder, with the facts about its columns if it is a table."""

    name: str
    path: Path
    columns: tuple[ColumnFacts, ...] = ()
    is_sound: bool = False

    @property
    def letters(self) -> list[str]:
        """The names of the columns, as they are compared with those of other files."""
        return [letters_of(column.name) for column in self.columns]


def add_files(*, competition: Competition, user: User, files: Sequence[tuple[str, Iterable[bytes]]]) -> list[str]:
    """Sort files into answers and data files, and check the answers; returns sentences about refused files.

    The file with the answers becomes the draft; the others become data files for students, and so does a copy of a test
    set without its answers. Raises `storage.TooLarge`, and `JobFailed` if the check broke.
    """
    with tempfile.TemporaryDirectory() as folder:
        new_files = [_new_file(Path(folder), number, name, chunks) for number, (name, chunks) in enumerate(files)]
        has_answers = competition.ground_truth_id is not None or drafts.stored_draft(competition) is not None
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
                _propose_again(competition, user)
    return refusals


def set_answers(*, competition: Competition, user: User, spec: GroundTruthSpec) -> None:
    """Make a spec the draft with the answers, with proposals for what it leaves open in a new file. Raises as
    `save_draft` does."""
    with tempfile.TemporaryDirectory() as folder, _changing_answers(competition, user):
        if spec.chunks is None:
            drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
        else:
            _set_answers(competition, _new_file(Path(folder), 0, spec.file_name, spec.chunks), spec)


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
        earlier = drafts.stored_draft(competition)
        if earlier and not set(file.letters[1:]) & set(map(letters_of, checks.column_names(earlier))):
            with suppress(CannotHost):
                give_answers_to_students(competition=competition, user=user)
        _set_answers(competition, file)


def give_answers_to_students(*, competition: Competition, user: User) -> None:
    """Make the file with the answers a data file for students. Raises `CannotHost`."""
    draft = drafts.stored_draft(competition)
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


def fix_answers(*, competition: Competition, user: User, fix: str) -> None:
    """Do the fix that a finding offers (`queries.ShownFinding`). Raises as `save_draft` does."""
    match fix:
        case "convert":
            convert_answers(competition=competition, user=user)
        case "redraw":
            spec = replace(GroundTruthSpec.from_truth(current_truth(competition)), redraws_split=True)
            drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
        case "plain_lists" if draft := drafts.stored_draft(competition):
            spec = replace(drafts.spec_of_same_split(draft), plain_lists=draft.report["target_columns"])
            drafts.save_draft(competition=competition, spec=spec, suggests_metrics=True)
        case "remove_leaks":
            remove_leaks(competition=competition, user=user)


def convert_answers(*, competition: Competition, user: User) -> None:
    """Convert the answers from a spreadsheet's format, and before the launch propose the columns to predict again.

    Raises `CannotHost` if no conversion helps, and as `save_draft` does.
    """
    draft = drafts.stored_draft(competition)
    if draft is None or not draft.report.get("as_meant"):
        raise CannotHost(_("There is no file to convert. Choose one."))
    with _changing_answers(competition, user), tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "as_meant.csv"
        checks.convert_spreadsheet(path_of(draft.file_key), converted)
        file = _new_file(Path(folder), 0, draft.file_name, file_chunks(converted))
        id_column = draft.id_column if competition.launched_at else ""
        _set_answers(competition, file, replace(drafts.spec_of_same_split(draft), id_column=id_column))


def remove_leaks(*, competition: Competition, user: User) -> None:
    """Remove the data files that contain answers, by the findings of the draft, and check the draft again."""
    draft = drafts.stored_draft(competition)
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
    draft = drafts.stored_draft(competition)
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


def launch_after_test(*, competition: Competition, user: User, is_confirmed: bool = False) -> None:
    """Do all that a launch needs, score the sample submission at once, and launch. Raises as `make_ready` and
    `launch_tested` do."""
    make_ready(competition=competition, user=user, is_confirmed=is_confirmed)
    outside_queue.score_preview(competition.ground_truth_id or 0)
    launch_tested(competition=competition, user=user)


def launch_tested(*, competition: Competition, user: User) -> None:
    """Launch a competition whose sample submission has its scores. Raises `CannotHost` if it has none, and as
    `publishing.launch_competition` does."""
    preview = StudentPreview.objects.filter(ground_truth=competition.ground_truth_id).first()
    if preview is not None and preview.finished_at and not preview.is_good:
        problems = [*filter(None, [preview.failure_text]), *map(stored_text, preview.problems)]
        raise CannotHost(_("Scoring the sample submission failed. Students would see the same."), problems)
    if competition.ground_truth_id and (preview is None or not preview.finished_at):
        reason = _("The sample submission has no score yet. Try again in a minute.")
        raise CannotHost(_("The competition can't launch yet."), [reason])
    publishing.launch_competition(competition=competition, user=user)


# --- which file has the answers, and in which columns -----------------------------------------------------------


def _file_with_answers(files: Sequence[NewFile], *, has_answers: bool) -> NewFile | None:
    """The new file that holds the answers, by name, columns and size; None if none does.

    With `has_answers` only a file whose name says so replaces the earlier one.
    """
    others = [file for file in files if not is_sample_file(file.name) and not is_train_file(file.name)]
    by_name = [file for file in others if ANSWER_FILE.search(file.name.casefold())]
    if by_name or has_answers:
        return by_name[0] if by_name else None
    others = [file for file in others if not any(_is_test_set_of(file, more) for more in files)] or others
    train_columns = {name for file in files if is_train_file(file.name) for name in file.letters}
    id_columns = {file.letters[0] for file in files if file.columns}
    whole = [file for file in others if train_columns and train_columns <= {*file.letters, *id_columns}]
    split = [file for file in others if any(column.kind in ("usage", "split") for column in file.columns)]
    if len(others) == 1 and train_columns and not whole and _is_test_set(others[0], train_columns):
        return None
    narrow = sorted(others, key=lambda file: (len(file.columns) < 2, len(file.columns)))
    return next(iter([*split, *whole, *narrow]), None)


def _is_test_set_of(file: NewFile, more: NewFile) -> bool:
    """Whether a file has most columns of another one, which has the answers too."""
    return set(file.letters) < set(more.letters) and _is_test_set(file, set(more.letters))


def _is_test_set(file: NewFile, train_columns: set[str]) -> bool:
    """Whether the only file beside training data is the test set, without its answers."""
    shared = train_columns & set(file.letters)
    return 2 * len(shared) >= len(train_columns) and ("test" in file.name.casefold() or len(file.columns) > 2)


def _students_tables(competition: Competition) -> dict[str, list[str]]:
    """The names of the columns of all tables that students get, by file."""
    tables = {}
    for file in competition.data_files.all():
        path = path_of(file.file_key)
        names = checks.header_of(path)
        if len(names) < 2 and file.size <= data_files.MAX_TEST_FILE_BYTES:
            names = [column.name for column in _columns_of(path)[0]]
        tables[file.name] = names
    return tables


# --- the draft, the students' copy of its file and its title ----------------------------------------------------


def _new_file(folder: Path, number: int, name: str, chunks: Iterable[bytes]) -> NewFile:
    path = folder / f"{number}"
    with path.open("wb") as target:
        target.writelines(chunks)
    return NewFile(clean_name(name), path, *_columns_of(path))


def _columns_of(path: Path) -> tuple[tuple[ColumnFacts, ...], bool]:
    """The facts about a table's columns, and whether it was read as it is; no columns if it is no table."""
    try:
        table = table_jobs.run_page_job("describe_table", truth=str(path))
    except table_jobs.JobFailed:
        return (), False
    return tuple(ColumnFacts(**column) for column in table["columns"]), table["is_sound"]


def _set_answers(competition: Competition, file: NewFile, spec: GroundTruthSpec | None = None) -> None:
    """Make a file the draft with the answers, with a proposal for its columns; `spec` has the split's settings."""
    spec = replace(spec or GroundTruthSpec(), file_name=file.name, chunks=file_chunks(file.path))
    drafts.save_draft(competition=competition, spec=_proposed_spec(competition, file, spec), suggests_metrics=True)


def _proposed_spec(competition: Competition, file: NewFile, spec: GroundTruthSpec) -> GroundTruthSpec:
    """The spec with the proposed columns of a file, unless it names them; all columns are answers where it cannot be
    read, and in a correction."""
    if spec.answers:
        return spec
    if competition.launched_at or not file.is_sound or len(file.columns) < 2:
        return replace(spec, answers=())
    found = propose_answers(file.columns, _students_tables(competition))
    return replace(
        spec,
        id_column=spec.id_column or ("" if found.id_column == file.columns[0].name else found.id_column),
        split_column=found.split_column,
        answers=found.answers,
        possible=found.possible,
        why=found.why,
    )


def _propose_again(competition: Competition, user: User) -> None:
    """Propose the columns of the draft again, if they were asked for: data files may have answered the question."""
    draft = drafts.stored_draft(competition)
    if draft is not None and draft.answer_choice.get("is_asked"):
        path = path_of(draft.file_key)
        spec = _proposed_spec(
            competition,
            NewFile(draft.file_name, path, *_columns_of(path)),
            replace(drafts.spec_of_same_split(draft), id_column=""),
        )
        with _changing_answers(competition, user):
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
    """Have the students' copy of the answer file, and the draft's title, follow what students predict; after the launch
    both stay."""
    if competition.launched_at:
        yield
        return
    earlier_answers = chosen_answers(drafts.stored_draft(competition))
    _remove_copy(competition, user)  # it may contain the new answers
    try:
        yield
    finally:
        _make_copy(competition, user)
    _name_draft(competition, user, earlier_answers)


def _make_copy(competition: Competition, user: User) -> None:
    """Give students a copy of the answer file without the answers, if it has features and they have no test set."""
    draft = drafts.stored_draft(competition)
    names = competition.data_files.values_list("name", flat=True)
    has_test = any("test" in name.casefold() for name in names)
    if draft is None or not draft.answer_choice.get("left_out") or has_test or not draft.report.get("rows"):
        return
    stem = PurePath(draft.file_name).name.split(".")[0]
    name = clean_name(f"{stem if 'test' in stem.casefold() else 'test'}.csv")
    with tempfile.TemporaryDirectory() as folder:
        columns = {*draft.answer_choice["columns"], USAGE}.intersection(checks.column_names(draft))
        target = Path(folder) / "students.csv"
        copy = checks.rewrite_answers("drop_columns", path_of(draft.file_key), target, columns=sorted(columns))
        data_files.add_data_file(competition=competition, file_name=name, chunks=file_chunks(copy), user=user)
    draft.answer_choice["copy"] = name
    draft.save(update_fields=["answer_choice"])


def _remove_copy(competition: Competition, user: User) -> None:
    draft = drafts.stored_draft(competition)
    if draft is None or not (name := draft.answer_choice.pop("copy", "")):
        return
    draft.save(update_fields=["answer_choice"])
    for data_file in competition.data_files.filter(name=name):
        data_files.remove_data_file(data_file=data_file, user=user)


def _name_draft(competition: Competition, user: User, earlier_answers: Sequence[str]) -> None:
    """Set title and subtitle by the columns to predict, unless the host has changed them."""
    draft = drafts.stored_draft(competition)
    answers = chosen_answers(draft)
    if draft is None or not answers or not checks.is_readable(draft):
        return
    (title, subtitle), (earlier_title, earlier_subtitle) = _draft_title(answers), _draft_title(earlier_answers)
    is_new = competition.title == NEW_TITLE
    fields: dict[str, Any] = {}
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
