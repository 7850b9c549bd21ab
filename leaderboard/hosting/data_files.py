"""Files for students, and the watch that none of them holds the answers."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from django.db import transaction

from ..models import Competition, DataFile, GroundTruth
from ..storage import StoredFile, clean_name, path_of, store
from ..storage import remove as remove_file
from .setting_up import CannotHost

HEAD_ROWS = 6
LARGEST_MEMBER = 500_000_000
LEAK = 0.9


def add_data_file(
    *, competition: Competition, file_name: str, chunks: Iterable[bytes], description: str = ""
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


def leaks_of(competition: Competition, truth: bytes, id_column: str) -> list[str]:
    """Sentences about data files that hold the answers of a truth file."""
    found = []
    for data_file in competition.data_files.all():
        leak = leak_in(path_of(data_file.file_key).read_bytes(), truth, id_column)
        if leak:
            found.append(f"The data file “{data_file.name}” {leak}: students could download the answers.")
    return found


def leak_in(offered: bytes, truth: bytes, id_column: str) -> str:
    """Which answers of `truth` a file gives away, as the rest of a sentence; empty when it gives none."""
    if offered == truth:
        return "is the ground-truth file itself"
    known = _columns(truth, id_column)
    for table in _tables_in(offered):
        given = _columns(table, id_column)
        for target in known.keys() & given.keys():
            number = _given_away(known[target], given[target])
            if number:
                return f"holds the answers of {number:,} scored ids in the column “{target}”"
    return ""


def _refuse_answers(competition: Competition, stored: StoredFile, name: str) -> None:
    rulers = list(GroundTruth.objects.filter(competition=competition))
    if not rulers:
        return
    offered = path_of(stored.key).read_bytes()
    for ruler in rulers:
        leak = leak_in(offered, path_of(ruler.file_key).read_bytes(), ruler.id_column)
        if leak:
            raise CannotHost(
                f"“{name}” {leak} (ground truth {ruler.number}): students would download the answers.",
                ["Remove the answer column for the ids that are scored, and upload the file again."],
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


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False


def _columns(data: bytes, id_column: str) -> dict[str, dict[str, str]]:
    """Column → id → cell, for all columns but the ids and `Usage`; nothing for what is no table with these ids."""
    text = io.StringIO(data.decode("utf-8-sig", errors="replace"), newline="")
    first = text.readline()
    text.seek(0)
    reader = csv.reader(text, delimiter=max(",;\t", key=first.count))
    try:
        header = [cell.strip() for cell in next(reader, [])]
        if id_column not in header:
            return {}
        place = header.index(id_column)
        columns: dict[str, dict[str, str]] = {name: {} for name in header if name not in (id_column, "Usage", "")}
        for row in reader:
            for name, cell in zip(header, row, strict=False):
                if name in columns and place < len(row):
                    columns[name][row[place].strip()] = cell.strip()
    except csv.Error:
        return {}
    return columns


def _tables_in(data: bytes) -> Iterator[bytes]:
    """The file itself, or what a gzip or zip holds; archives that cannot be read hold nothing for students either."""
    try:
        if data.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(data)) as file:
                yield file.read(LARGEST_MEMBER)
        elif data.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for member in archive.infolist():
                    with archive.open(member) as part:
                        yield part.read(LARGEST_MEMBER)
        else:
            yield data
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return


def _table_head(stored: StoredFile, name: str) -> tuple[list[list[str]], int | None]:
    """The first rows of a CSV with its number of data rows; nothing for other kinds of file."""
    if not name.lower().endswith(".csv"):
        return [], None
    try:
        with path_of(stored.key).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            head = [row[:20] for row in islice(reader, HEAD_ROWS)]
            return [[cell[:80] for cell in row] for row in head], max(0, len(head) - 1 + sum(1 for _ in reader))
    except (UnicodeDecodeError, csv.Error):
        return [], None
