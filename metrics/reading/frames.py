"""A pandas frame → the bytes of the CSV file that it means: what ``frame.to_csv(index=False)`` writes.

``to_csv`` takes seconds for a million rows. Columns of numbers, truth values and plain texts are written by Arrow, for
which the tests ask that each byte is the same; a frame with any other column is left to ``to_csv``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import Problem, Refused, shown
from ..core.messages import Message

if TYPE_CHECKING:
    import pandas as pd

_QUOTED = b',"\r\n\0'
"""A cell with one of these bytes may need quotes, which are left to ``to_csv``."""
_SMALLEST, _LARGEST = 1e-4, 1e10
"""Between these Arrow writes numbers as Python does: without an exponent."""


def bytes_of_frame(source: object) -> bytes:
    """The CSV file of a frame. Raises ``Refused`` for what is no frame, and for ids that may be in an index without a
    name."""
    pandas = sys.modules.get("pandas")  # a frame can only come from a program that has imported it
    if pandas is None or not isinstance(source, pandas.DataFrame):
        message = Message(
            "The data is given as {kind}, which is no table. Give a pandas DataFrame with a column of ids, or a CSV "
            "file by its path or its bytes.",
            kind=shown(_name_of(type(source))),
        )
        raise Refused(Problem("no_table", message))
    frame = _with_index(source)
    body = _body(frame)
    if body is not None:
        return _text(frame.iloc[:0]) + body
    return _text(frame)


def _name_of(kind: type) -> str:
    library = kind.__module__.partition(".")[0]
    return kind.__qualname__ if library == "builtins" else f"{library}.{kind.__qualname__}"


def _text(frame: pd.DataFrame) -> bytes:
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text.encode("utf-8", "surrogatepass")  # the reader says in which line there is no character


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the named levels of its index as first columns, unless there are columns of these names."""
    names = list(frame.index.names)
    if names == [None] and _counts_rows(frame.index):
        return frame
    if None in names:
        message = Message(
            "The index of the DataFrame has no name and does not number the rows from 0. If it holds the ids, give it "
            "the name of the id column ({name}); if not, remove it ({remove}).",
            name='"frame.index.name = …"',
            remove='"frame.reset_index(drop=True)"',
        )
        raise Refused(Problem("unnamed_index", message))
    missing = [name for name in names if name not in frame.columns]
    return frame.reset_index(level=missing) if missing else frame


def _counts_rows(index: pd.Index) -> bool:
    """Whether an index is 0, 1, 2, …, in any order: a frame that was sorted or shuffled keeps its row numbers."""
    rows = len(index)
    if not rows:
        return True
    if index.nlevels > 1 or not isinstance(index.dtype, np.dtype) or index.dtype.kind not in "iu":
        return False
    numbers = index.to_numpy()
    if numbers.min() != 0 or numbers.max() != rows - 1:
        return False
    return bool(np.bincount(numbers.astype(np.int64), minlength=rows).max() == 1)


def _body(frame: pd.DataFrame) -> bytes | None:
    """The lines below the header; ``None`` where ``to_csv`` has to write them."""
    # A line that is one empty cell is written as "".
    if not len(frame) or len(frame.columns) < 2 or frame.columns.nlevels > 1:
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    nothing, comma, line_end = (pa.scalar(text, pa.large_string()) for text in ("", ",", "\n"))
    parts: list[Any] = []
    for place in range(len(frame.columns)):
        cells = _cells(frame.iloc[:, place])
        if cells is None:
            return None
        parts += [cells, comma]
    parts[-1] = line_end
    lines = pc.binary_join_element_wise(*parts, nothing, null_handling="replace", null_replacement="")
    return _data_of(lines).tobytes()


def _cells(column: pd.Series) -> Any:
    """The cells of a column as an Arrow array of large strings, null where nothing is written; ``None`` where only
    ``to_csv`` knows."""
    import pyarrow as pa

    kind = column.dtype
    if not isinstance(kind, np.dtype) or kind.kind == "O":
        return _texts(column)
    values = column.to_numpy()
    if kind.kind in "iu":
        return pa.array(values).cast(pa.large_string())
    if kind.kind == "b":
        return pa.array(np.where(values, "True", "False").astype(object), pa.large_string())
    return _floats(values) if kind == np.float64 else None


def _texts(column: pd.Series) -> Any:
    """The cells of a column of texts without a character that needs quotes."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = _texts(column.cat.categories.to_series())
        return None if labels is None else labels.take(pa.array(column.cat.codes.to_numpy(), mask=column.isna()))
    if not isinstance(column.dtype, pd.StringDtype) and pd.api.types.infer_dtype(column, skipna=True) != "string":
        return None
    try:
        found = pa.array(column.array, pa.large_string(), from_pandas=True)
    except (UnicodeEncodeError, pa.ArrowInvalid, pa.ArrowTypeError):
        return None
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    data = _data_of(found)
    return None if any((data == byte).any() for byte in _QUOTED) else found


def _floats(values: np.ndarray) -> Any:
    """As ``repr`` writes them, nothing for NaN. Arrow finds the same shortest digits, and writes them in the same way
    between two bounds, but for the point of whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with np.errstate(invalid="ignore"):
        sizes = np.abs(values)
        is_usual = ((sizes >= _SMALLEST) & (sizes < _LARGEST)) | (sizes == 0)
        is_whole = is_usual & (values == np.floor(values))
    texts = pa.array(values).cast(pa.large_string())
    if is_whole.any():
        point = pa.array(np.where(is_whole, ".0", "").astype(object), pa.large_string())
        texts = pc.binary_join_element_wise(texts, point, pa.scalar("", pa.large_string()))
    if not is_usual.all():
        others = [None if number != number else repr(number) for number in values[~is_usual].tolist()]
        texts = pc.replace_with_mask(texts, pa.array(~is_usual), pa.array(others, pa.large_string()))
    return texts


def _data_of(array: Any) -> np.ndarray:
    """The bytes of all cells of an Arrow array of large strings, one after the other."""
    if not len(array):
        return np.zeros(0, np.uint8)
    _, offsets, data = array.buffers()
    places = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data, np.uint8)[places[0] : places[-1]] if data is not None else np.zeros(0, np.uint8)
