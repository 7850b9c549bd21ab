"""Files for students, and the watch that none of them holds the answers."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from typing import IO, Any

from django.db import transaction
from django.utils.translation import gettext as _

import metrics

from ..models import AuditEntry, Competition, DataFile, Deed, GroundTruth, TruthDraft, User
from ..sentences import in_words
from ..storage import StoredFile, clean_name, path_of, store
from ..storage import remove as remove_file
from ._archives import BROKEN
from .secondary import beside_answers
from .setting_up import CannotHost

HEAD_ROWS = 6
LARGEST = 500_000_000
LONGEST_LINE = 1_000_000
LEAK = 0.9
# A column of another name is a copy of the answers if all are the same, with this many that are not the commonest.
FEWEST_TELLING = 3
ANSWERS_IN_DATA = "answers_in_data"
# Archives that cannot be read hold nothing for students either.
UNREADABLE = (OSError, *BROKEN)

Answers = dict[str, dict[str, str]]
"""Column → id → cell."""


def add_data_file(
    *,
    competition: Competition,
    file_name: str,
    chunks: Iterable[bytes],
    description: str = "",
    user: User | None = None,
) -> DataFile:
    """Give students a file; the same name again replaces it.

    Raises `CannotHost` for files that hold the answers (plain, gzipped or zipped CSV), and `storage.TooLarge`.
    """
    name = clean_name(file_name)
    stored = store(chunks, f"data/{competition.pk}")
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
                Deed.DATA_ADDED,
                user=user,
                competition=competition,
                about=name,
                before=_facts(earlier) if earlier else {},
                after=_facts(added),
            )
    except BaseException:
        remove_file(stored.key)
        raise
    if earlier:
        remove_file(earlier.file_key)
    return added


def remove_data_file(*, data_file: DataFile, user: User | None = None) -> None:
    """Take a file back from students."""
    with transaction.atomic():
        data_file.delete()
        AuditEntry.append(
            Deed.DATA_REMOVED,
            user=user,
            competition=data_file.competition,
            about=data_file.name,
            before=_facts(data_file),
        )
    remove_file(data_file.file_key)


def _facts(data_file: DataFile) -> dict[str, object]:
    return {"sha256": data_file.sha256, "bytes": data_file.size}


def leaks_of(
    competition: Competition, truth: bytes, id_column: str, beside: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Findings about data files that hold the answers of a truth file; columns `beside` them may be told."""
    found = []
    for data_file in competition.data_files.all():
        leak = leak_in(path_of(data_file.file_key).read_bytes(), truth, id_column, beside)
        if leak:
            message = metrics.said(
                "The data file “{name}” {leak}: students could download the answers.", name=data_file.name, leak=leak
            )
            why = metrics.said("Remove the file, or upload it again without the answers of the ids that are scored.")
            found.append(metrics.kept(metrics.Finding(ANSWERS_IN_DATA, message, blocking=True, why=why)))
    return found


def leak_in(offered: bytes, truth: bytes, id_column: str, beside: Iterable[str] = ()) -> str:
    """Which answers of `truth` a file gives away, as the rest of a sentence; empty when it gives none.

    Columns `beside` the answers (`beside_answers`) may stand in it: students often need them.
    """
    if offered == truth:
        return metrics.said("is the ground-truth file itself")
    known = _columns(next(_tables_in(truth)), id_column)
    for name in beside:
        known.pop(name, None)
    ids = next((answers.keys() for answers in known.values()), set[str]())
    # Twice, side by side: ids may stand in a column of another name, which nobody knows before the last row.
    for looked_through, table in zip(_tables_in(offered), _tables_in(offered), strict=False):
        given = _columns(table, _ids_in(looked_through, id_column, ids), known)
        for name, cells in given.items():
            for target, answers in known.items():
                number = _given_away(answers, cells) if name == target else _copied(answers, cells)
                if number:
                    return metrics.said(
                        "holds the answers of {number} scored ids in the column “{name}”", number=number, name=name
                    )
    return ""


def _refuse_answers(competition: Competition, stored: StoredFile, name: str) -> None:
    rulers = [
        (
            ruler.file_key,
            ruler.id_column,
            beside_answers(ruler),
            _("ground truth %(number)s") % {"number": ruler.number},
        )
        for ruler in GroundTruth.objects.filter(competition=competition)
    ]
    rulers += [
        (
            draft.file_key,
            draft.report.get("id_column") or draft.id_column,
            beside_answers(draft),
            f"“{draft.file_name}”",
        )
        for draft in TruthDraft.objects.filter(competition=competition)
    ]
    if not rulers:
        return
    offered = path_of(stored.key).read_bytes()
    for key, id_column, beside, whose in rulers:
        leak = leak_in(offered, path_of(key).read_bytes(), id_column, beside)
        if leak:
            raise CannotHost(
                _("“%(name)s” %(leak)s (%(whose)s): students would download the answers.")
                % {"name": name, "leak": in_words(leak), "whose": whose},
                [_("Remove the answer column for the ids that are scored, and upload the file again.")],
            )


def _given_away(truth: dict[str, str], offered: dict[str, str]) -> int:
    """How many shared ids have the right answer, where that cannot be chance; else 0.

    A sample submission or a train file with overlapping ids agrees on the commonest answer at most.
    """
    shared = truth.keys() & offered.keys()
    if not shared:
        return 0
    commonest = Counter(truth[key] for key in shared).most_common(1)[0][0]
    telling = [key for key in shared if truth[key] != commonest]
    same = sum(_is_same(truth[key], offered[key]) for key in shared)
    same_telling = sum(_is_same(truth[key], offered[key]) for key in telling)
    return same if telling and same > LEAK * len(shared) and same_telling > LEAK * len(telling) else 0


def _copied(truth: dict[str, str], offered: dict[str, str]) -> int:
    """How many answers a column of another name holds, if it says nothing but answers; else 0. One that merely predicts
    them well is what a data file is for."""
    telling = shared = 0
    commonest = Counter(truth.values()).most_common(1)[0][0] if truth else ""
    for key, cell in offered.items():
        if key not in truth or not _is_same(truth[key], cell):
            return 0
        shared += 1
        telling += truth[key] != commonest
    return shared if telling >= FEWEST_TELLING else 0


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False


def _columns(lines: Iterator[str], id_column: str, known: Answers | None = None) -> Answers:
    """All columns but the ids and `Usage`; nothing for what is no table with these ids.

    With `known`, its ids and columns alone, and those that are the same as one of them cell by cell: a file for
    students may be far larger than the answers.
    """
    columns: Answers = {}
    try:
        header, reader = _reader(lines)
        if id_column not in header:
            return {}
        place = header.index(id_column)
        wanted = {name: at for at, name in enumerate(header) if name not in (id_column, "Usage", "")}
        columns = {name: {} for name in wanted}
        for row in reader:
            if place < len(row):
                cells = {name: row[wanted[name]].strip() for name in columns if wanted[name] < len(row)}
                _take(columns, row[place].strip(), cells, known)
    except (csv.Error, *UNREADABLE):
        pass  # what came before is there all the same
    return columns


def _reader(lines: Iterator[str]) -> tuple[list[str], Iterator[list[str]]]:
    """The names of a table's columns, and its rows."""
    first = next(lines, "")
    reader = csv.reader(chain([first], lines), delimiter=max(",;\t", key=first.count))
    return [cell.strip() for cell in next(reader, [])], reader


def _ids_in(lines: Iterator[str], id_column: str, ids: AbstractSet[str]) -> str:
    """The column with the ids: the one of that name, else that in which the most of them stand, each of them once."""
    try:
        header, reader = _reader(lines)
        if id_column in header:
            return id_column
        found: dict[str, set[str]] = {name: set() for name in header if name not in ("", "Usage")}
        for row in reader:
            for name, cell in zip(header, row, strict=False):
                if name in found and (key := cell.strip()) in ids:
                    if key in found[name]:
                        del found[name]  # a number of something else, which says nothing of a row
                    else:
                        found[name].add(key)
    except (csv.Error, *UNREADABLE):
        return id_column
    best = max(found, key=lambda name: len(found[name]), default=id_column)
    return best if len(found.get(best, ())) >= FEWEST_TELLING else id_column


def _take(columns: Answers, key: str, cells: dict[str, str], known: Answers | None) -> None:
    """Add a row. A column that the answers do not name is let go at its first cell that is none of the answers."""
    for name, cell in cells.items():
        if known is None or key in known.get(name, ()):
            columns[name][key] = cell
        elif name not in known and (answers := [column[key] for column in known.values() if key in column]):
            if any(_is_same(answer, cell) for answer in answers):
                columns[name][key] = cell
            else:
                del columns[name]


def _tables_in(data: bytes) -> Iterator[Iterator[str]]:
    """The lines of the file itself, or of what a gzip or zip holds; of all together no more than `LARGEST`."""
    left = LARGEST

    def lines(part: IO[bytes]) -> Iterator[str]:
        nonlocal left
        text = io.TextIOWrapper(part, "utf-8-sig", errors="replace", newline="")
        while left > 0 and (line := text.readline(LONGEST_LINE)):
            left -= len(line)
            yield line

    try:
        if data.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(data)) as file:
                yield lines(file)  # type: ignore[arg-type]
        elif data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for member in archive.infolist():
                    with archive.open(member) as part:
                        yield lines(part)
        else:
            yield lines(io.BytesIO(data))
    except UNREADABLE:
        return


def _table_head(stored: StoredFile, name: str) -> tuple[list[list[str]], int | None]:
    """The first rows of a CSV with its number of data rows; nothing for other kinds of file."""
    if not name.lower().endswith(".csv"):
        return [], None
    try:
        with path_of(stored.key).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            # PostgreSQL stores no NUL.
            head = [[cell[:80].replace("\0", "") for cell in row[:20]] for row in islice(reader, HEAD_ROWS)]
            return head, max(0, len(head) - 1 + sum(1 for _ in reader))
    except (UnicodeDecodeError, csv.Error):
        return [], None
