"""Services for data files, and the check that none of them contains answers."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.file_formats import add_to_zip
from leaderboard.common.library_messages import translated_message
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.storage import StoredFile, clean_name, open_stored, path_of, remove_file, store_file
from leaderboard.competitions.models import Competition, DataFile, GroundTruth, TruthDraft
from leaderboard.competitions.services import CannotHost
from metrics.checks.answer_columns import is_sample_file
from metrics.core.custom_parameters import first_lines
from metrics.core.messages import with_templates
from metrics.reading.column_names import MAX_LINES
from metrics.reading.headers import read_header, sniff

from ..leaks import TruthAnswers, describe_leak, is_table_unread, open_table
from ..specs import non_answer_columns

HEAD_ROWS, HEAD_BYTES = 6, 65_536
SAMPLE = "sample_submission.csv"
ANSWERS_IN_DATA = "answers_in_data"
DATA_UNREAD, DATA_SEPARATOR = "data_unread", "data_separator"
MAX_TEST_FILE_BYTES = 50_000_000
MAX_TEST_FILES = 10


def add_data_file(
    *,
    competition: Competition,
    file_name: str,
    chunks: Iterable[bytes],
    description: str = "",
    user: User | None = None,
) -> DataFile:
    """Add a file for students; the same name replaces an earlier one.

    Raises `CannotHost` for files that contain the answers (CSV, also gzipped or zipped), and `storage.TooLarge`.
    """
    name = clean_name(file_name)
    stored = store_file(chunks, f"data/{competition.pk}")
    try:
        head, rows = _table_head(stored, name)
        _refuse_answers(competition, stored, name)
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
            AuditEntry.append(
                AuditEvent.DATA_ADDED,
                user=user,
                competition=competition,
                about=name,
                before=_data_file_facts(earlier) if earlier else {},
                after=_data_file_facts(added),
            )
    except BaseException:
        remove_file(stored.key)
        raise
    if earlier:
        remove_file(earlier.file_key)
    return added


def write_data(archive: zipfile.ZipFile, competition: Competition, sample: bytes) -> None:
    """Write all data files and the sample submission (`sample`, b"" without one)."""
    for file in competition.data_files.all():
        with open_stored(file.file_key, file.sha256) as source:
            add_to_zip(archive, zipfile.ZipInfo(file.name), source)
    if sample and not competition.data_files.filter(name=SAMPLE).exists():
        # Its date is that of every entry without one, and not now: the same files are the same bytes.
        archive.writestr(zipfile.ZipInfo(SAMPLE), sample, zipfile.ZIP_DEFLATED)


def remove_data_file(*, data_file: DataFile, user: User | None = None) -> None:
    """Delete a data file with its bytes."""
    with transaction.atomic():
        data_file.delete()
        AuditEntry.append(
            AuditEvent.DATA_REMOVED,
            user=user,
            competition=data_file.competition,
            about=data_file.name,
            before=_data_file_facts(data_file),
        )
    remove_file(data_file.file_key)


# As long as a form has that a worker answers.
SEARCH_SECONDS = 600.0


class LeakSearch:
    """A search of the data files for a truth's answers. They may hold the truth's `other_columns`
    (`non_answer_columns`). A thread searches while sealed processes check the same files."""

    def __init__(self, truth: GroundTruth | TruthDraft, path: Path, id_column: str = "") -> None:
        data = path.read_bytes()
        self.id_column = id_column or truth.id_column or next(iter(read_header(data[:HEAD_BYTES])), "")
        self.other_columns = frozenset(non_answer_columns(truth))
        files = [(file.name, path_of(file.file_key)) for file in truth.competition.data_files.all()]
        answers = TruthAnswers(data, self.id_column, self.other_columns)
        thread = ThreadPoolExecutor(1)
        self._found = thread.submit(_leak_findings, answers, files)
        thread.shutdown(wait=False)

    def findings(self) -> list[dict[str, Any]]:
        """Findings about data files that contain the answers, or cannot be checked for them."""
        return self._found.result(SEARCH_SECONDS)


def _leak_findings(answers: TruthAnswers, files: Iterable[tuple[str, Path]]) -> list[dict[str, Any]]:
    findings = []
    for name, path in files:
        if is_table_unread(name):
            message = metrics.Message("The data file “{name}” wasn't checked for answers.", name=name)
            why = metrics.Message("We only check CSV files. Make sure it contains no answers, or upload it as CSV.")
            findings.append(metrics.Finding(DATA_UNREAD, message, blocking=False, why=why))
        data = path.read_bytes()
        for problem in sniff(data[:HEAD_BYTES], len(data), None) if name.casefold().endswith(".csv") else ():
            if problem.code == "separator":
                message = metrics.Message("The data file “{name}”: {problem}", name=name, problem=problem.message)
                why = metrics.Message("Students get the file as it is, and most programs would read one column.")
                findings.append(metrics.Finding(DATA_SEPARATOR, message, blocking=False, why=why))
        if leak := describe_leak(data, answers):
            message = metrics.Message(
                "The data file “{name}” {leak}. Students could download the answers.", name=name, leak=leak
            )
            why = metrics.Message("Remove the file, or upload it without the answers of the scored ids.")
            findings.append(metrics.Finding(ANSWERS_IN_DATA, message, blocking=True, why=why))
    return list(map(with_templates, findings))


def _refuse_answers(competition: Competition, stored: StoredFile, name: str) -> None:
    """Raise `CannotHost` if a file contains answers of any ground truth, or of the draft."""
    truths: list[GroundTruth | TruthDraft] = [
        *GroundTruth.objects.filter(competition=competition),
        *TruthDraft.objects.filter(competition=competition),
    ]
    offered = path_of(stored.key).read_bytes() if truths else b""
    for truth in truths:
        id_column, label = truth.id_column, f"“{truth.file_name}”"
        if isinstance(truth, TruthDraft):
            id_column = truth.report.get("id_column") or id_column
        else:
            label = _("answers no. %(number)s") % {"number": truth.number}
        answers = TruthAnswers(path_of(truth.file_key).read_bytes(), id_column, non_answer_columns(truth))
        if leak := describe_leak(offered, answers):
            raise CannotHost(
                _("“%(name)s” %(leak)s (%(whose)s). Students could download the answers.")
                % {"name": name, "leak": translated_message(leak), "whose": label},
                [_("Remove the answer column for the scored ids, and upload the file again.")],
            )


def _data_file_facts(data_file: DataFile) -> dict[str, object]:
    return {"sha256": data_file.sha256, "bytes": data_file.size}


def _table_head(stored: StoredFile, name: str) -> tuple[list[list[str]], int | None]:
    """(names and first rows, number of data rows) of a CSV in UTF-8 or Windows-1252; ([], None) for other files."""
    for encoding in ("utf-8-sig", "cp1252") if name.lower().endswith(".csv") else ():
        with (
            suppress(UnicodeDecodeError, csv.Error),
            path_of(stored.key).open(encoding=encoding, newline="") as file,
        ):
            # A wrong encoding is found here: `open_table` would go on behind the damage.
            names, rows = open_table(chain(list(islice(file, MAX_LINES)), file))
            if names:
                # PostgreSQL stores no NUL.
                first = [names, *islice(rows, HEAD_ROWS - 1)]
                head = [[cell[:80].replace("\0", "") for cell in row[:20]] for row in first]
                return head, len(head) - 1 + sum(1 for _ in rows)
    return [], None


def sample_lines(competition: Competition, id_column: str) -> str:
    """The first two lines of a sample submission among the data files; "" without one that has the ID column."""
    sample, _tests = data_files_to_compare(competition)
    if sample is None:
        return ""
    try:
        with Path(sample).open(encoding="utf-8-sig", newline="") as file:
            names, cells = ([cell.strip() for cell in row] for row in islice(csv.reader(file), 2))
    except (UnicodeDecodeError, csv.Error, ValueError):  # no table of two lines
        return ""
    return first_lines(names, cells) if id_column in names and len(names) == len(cells) else ""


def data_files_to_compare(competition: Competition) -> tuple[str | None, dict[str, str]]:
    """(path of a sample submission among the data files or None, name → path of other tables), to compare ids with."""
    sample: str | None = None
    tests: dict[str, str] = {}
    for file in competition.data_files.order_by("name"):
        name = file.name.casefold()
        if not name.endswith((".csv", ".csv.gz", ".zip")) or file.size > MAX_TEST_FILE_BYTES:
            continue
        if is_sample_file(name):
            sample = str(path_of(file.file_key))
        elif len(tests) < MAX_TEST_FILES:
            tests[file.name] = str(path_of(file.file_key))
    return sample, tests
