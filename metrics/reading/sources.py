"""Read a table from bytes, a path or a frame."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..core.errors import Problem, Refused
from ..core.messages import Message
from .archives import LIMIT, too_large, unpack_gzip, unpack_zip
from .formats import ARCHIVES, NAMES, PACKED, container_of, refuse_container
from .frames import read_frame, table_of_frame
from .headers import HeaderRule
from .list_cells import UNKNOWN, Wanted
from .tables import Table, read_table
from .workbook_limits import broken
from .workbooks import parquet_to_csv, with_sheet_note, xlsx_to_csv

if TYPE_CHECKING:
    import pandas as pd

    class _ArrowStream(Protocol):
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

    Source = bytes | str | os.PathLike[str] | pd.DataFrame | _ArrowStream
else:
    Source = object
"""A table given by a caller: the bytes of a CSV file (plain, gzip or zip), the path of one, or a frame: a pandas
DataFrame, or a table of Arrow, polars or another library that hands out Arrow streams.

A frame means the file that ``frame.to_csv(index=False)`` writes, cell by cell: truth values are ``True`` and ``False``,
a ``float32`` has the few digits that it is written with, a missing value is an empty cell. ``reading.frames`` says what
an index and lists in cells mean."""

READERS: dict[str, Callable[..., bytes]] = {"xlsx": xlsx_to_csv, "parquet": parquet_to_csv}


def read_source(
    source: Source, header: HeaderRule, *, limit: int = LIMIT, wanted: Wanted | None = None, **others: Any
) -> Table:
    """The table of a source, as ``read_table`` reads its bytes, with notes on its container. Raises ``Refused``."""
    notes: list[Problem] = []
    if isinstance(source, bytes):
        data = unpack(source, limit, notes, wanted or UNKNOWN)
    elif isinstance(source, str | os.PathLike):
        data = read_file(source, limit, notes, wanted or UNKNOWN)
    else:
        frame = read_frame(source, header, wanted or Wanted())
        if (table := table_of_frame(frame, header, **others)) is not None:
            return table
        data = frame.to_csv()
    try:
        table = read_table(data, header, **others)
    except Refused as refused:
        raise Refused(*with_sheet_note(refused.problems, notes)) from None
    table.notes = notes + table.notes
    return table


def read_file(
    path: str | os.PathLike[str],
    limit: int = LIMIT,
    notes: list[Problem] | None = None,
    wanted: Wanted = UNKNOWN,
) -> bytes:
    """The CSV bytes of a file (plain, gzip, zip, Excel or Parquet), with ``notes`` and ``wanted`` as for ``unpack``.
    Raises ``Refused``."""
    with Path(path).open("rb") as stream:
        # Python allocates the requested size, so it is that of the file; a pipe has none and may send any number.
        size = os.fstat(stream.fileno()).st_size or limit
        data = stream.read(min(size, limit) + 1)
    return unpack(data, limit, notes, wanted)


def unpack(data: bytes, limit: int = LIMIT, notes: list[Problem] | None = None, wanted: Wanted = UNKNOWN) -> bytes:
    """The CSV bytes of a plain file, a ``.gz`` or a ``.zip`` with one CSV, an Excel workbook or a Parquet file; adds
    ``notes`` on how a workbook was read. Lists in cells are joined as ``wanted``.

    The result has at most ``limit`` bytes, and a compressed file may grow by a factor of 100 at most. Raises
    ``Refused`` for a file that is too large, broken, or of another format.
    """
    kind = container_of(data[:4096])
    if kind is None:
        if len(data) > limit:
            raise Refused(too_large(limit))
        return data
    if kind in READERS:
        return READERS[kind](data, limit, [] if notes is None else notes, wanted)
    if kind not in PACKED:
        raise Refused(refuse_container(kind))
    inner = unpack_gzip(data, limit) if kind == "gzip" else unpack_zip(data, limit)
    nested = container_of(inner[:4096])
    if nested in ARCHIVES:
        raise Refused(refuse_container(nested))
    if nested is not None:
        what = NAMES.get(nested, nested)
        raise Refused(broken(Message("Inside the archive is {kind}, not a CSV file.", kind=what)))
    return inner
