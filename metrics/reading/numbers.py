"""The number grammar: ``[+-]?digits[.digits][e±dd]``, finite; ``.5`` and ``5.`` are numbers, too. Everything else is
refused with a reason."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import Coded
from ..core.messages import Plural
from .columns import MISSING, NOT_FINITE
from .tables import pick, plain, raw_cells

if TYPE_CHECKING:
    from .columns import Cells

_DIGITS = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
GRAMMAR = _DIGITS + r"([eE][+-]?[0-9]+)?"
"""What Arrow's parser takes as well, ``inf`` and ``nan`` apart."""
_NUMBER = re.compile(GRAMMAR)
_EXACT = re.compile(_DIGITS + r"([eE][+-]?0*[0-9]{1,9})?")
"""Numbers whose exponent a ``Decimal`` can hold."""
NAME_OF_DIGITS = re.compile(r"[+-]?0[0-9]")
"""Begins a name made of digits, such as ``007``, which is another label than ``7``."""
_MISSING = {"nan", "na", "n/a", "#n/a", "null", "none", "-", "", "nil", "<na>", "missing"}
_INFINITE = re.compile(r"[+-]?(inf|infinity)", re.IGNORECASE)
_FOREIGN = re.compile(r"[+＋−–—‐‑－﹣-]?\d+([.٫]\d+)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(([\s_'’]\d{3})+|([.,]\d{3})+[.,]\d+|,\d{3}(,\d{3})+)([.,]\d+)?")
_REASONS = (
    ("missing_value", MISSING, lambda text: text.lower() in _MISSING),
    ("not_finite", NOT_FINITE, _INFINITE.fullmatch),
    (
        "decimal_comma",
        Plural(
            "{count} value of {column} is written with a comma that divides thousands or stands for a point "
            "(write 1000 or 0.5): {examples}.",
            "{count} values of {column} are written with a comma that divides thousands or stands for a point "
            "(write 1000 or 0.5): {examples}.",
        ),
        re.compile(r"[+-]?[1-9]\d{0,2},\d{3}").fullmatch,
    ),
    (
        "decimal_comma",
        Plural(
            "{count} value of {column} is written with a decimal comma (write 0.5, not 0,5): {examples}.",
            "{count} values of {column} are written with a decimal comma (write 0.5, not 0,5): {examples}.",
        ),
        re.compile(r"[+-]?\d+,\d+").fullmatch,
    ),
    (
        "not_a_number",
        Plural(
            "{count} value of {column} is written with marks between thousands (write 1000): {examples}.",
            "{count} values of {column} are written with marks between thousands (write 1000): {examples}.",
        ),
        _GROUPED.fullmatch,
    ),
    (
        "not_a_number",
        Plural(
            "{count} value of {column} is written with a percent sign (write 0.5, not 50%): {examples}.",
            "{count} values of {column} are written with a percent sign (write 0.5, not 50%): {examples}.",
        ),
        re.compile(r"[+-]?[\d.,]+\s*%").fullmatch,
    ),
    (
        "not_a_number",
        Plural(
            "{count} value of {column} is true or false, not a number (write 1 and 0): {examples}.",
            "{count} values of {column} are true or false, not a number (write 1 and 0): {examples}.",
        ),
        re.compile("(?i)true|false").fullmatch,
    ),
    (
        "not_a_number",
        Plural(
            "{count} value of {column} is written with another minus sign or other digits than - and 0 to 9: "
            "{examples}.",
            "{count} values of {column} are written with another minus sign or other digits than - and 0 to 9: "
            "{examples}.",
        ),
        _FOREIGN.fullmatch,
    ),
    (
        "not_a_number",
        Plural(
            "{count} value of {column} is no plain number: {examples}.",
            "{count} values of {column} are no plain number: {examples}.",
        ),
        lambda text: True,
    ),
)
_NO_PAIR = Plural(
    '{count} value of {column} is not "label confidence": {examples}.',
    '{count} values of {column} are not "label confidence": {examples}.',
)
_NO_CONFIDENCE = Plural(
    "{count} value of {column} is given a confidence that is no finite number: {examples}.",
    "{count} values of {column} are given a confidence that is no finite number: {examples}.",
)


def to_decimal(text: str) -> Decimal | None:
    """The exact number a text stands for, or ``None`` if it is none."""
    return Decimal(text) if len(text) < 1000 and _EXACT.fullmatch(text) else None


def read_numbers(cells: Cells) -> np.ndarray:
    """The column as finite float64; NaN where a cell was complained about."""
    values = _fast(cells.array)
    return values if values is not None else _slow(cells)


def _fast(array: Any) -> np.ndarray | None:
    """Arrow's own parser, for columns without a cell that our grammar refuses."""
    import pyarrow as pa

    if not len(array):
        return None
    try:
        values: np.ndarray = plain(array.cast(pa.float64()), np.float64)
    except pa.ArrowInvalid:
        return None
    return values if np.isfinite(values).all() else None


def _slow(cells: Cells) -> np.ndarray:
    """Cell by cell where needed; distinct texts are looked at once."""
    cells.refuse_line_breaks()
    coded = cells.coded()
    numbers = np.full(max(1, len(coded.values)), np.nan)
    bad: dict[tuple[str, Plural], list[int]] = {}
    for code, text in enumerate(coded.values):
        if _NUMBER.fullmatch(text):
            numbers[code] = float(text)
            if not np.isfinite(numbers[code]):
                bad.setdefault(("not_finite", NOT_FINITE), []).append(code)
        elif "\n" not in text:
            bad.setdefault(reason(text), []).append(code)
    for (kind, words), codes in bad.items():
        numbers[codes] = np.nan
        cells.refuse(kind, words, np.flatnonzero(np.isin(coded.codes, codes)), quote=kind != "missing_value")
    found: np.ndarray = numbers[coded.codes]
    return found


def reason(text: str) -> tuple[str, Plural]:
    """Code and words for a text that is no number."""
    return next((code, words) for code, words, fits in _REASONS if fits(text))


def read_ranked(cells: Cells) -> tuple[Coded, np.ndarray]:
    """Labels and confidences of ``label confidence`` cells; an empty cell has the label ``""``."""
    array = cells.array
    offsets, _ = raw_cells(array)
    filled = offsets[1:] > offsets[:-1]
    fine, flat = _halves(array, filled) or _words(cells, filled)
    coded = pick(flat, np.arange(0, len(flat), 2)).dictionary_encode()
    texts = pick(flat, np.arange(1, len(flat), 2))
    values = _fast(texts)
    if values is None:
        numbers = [float(text) if _NUMBER.fullmatch(text) else np.nan for text in texts.to_pylist()]
        values = np.array(numbers, np.float64)
        cells.refuse("not_a_number", _NO_CONFIDENCE, fine[~np.isfinite(values)])
    codes = np.zeros(len(array), np.int64)
    codes[fine] = plain(coded.indices, np.int32) + 1
    confidence = np.zeros(len(array))
    confidence[fine] = values
    return Coded(codes, ["", *(text.rstrip(" ") for text in coded.dictionary.to_pylist())]), confidence


def _halves(array: Any, filled: np.ndarray) -> tuple[np.ndarray, Any] | None:
    """As ``_words``, a space left at the end of each label, where each cell is two words of visible ASCII with one
    space between; ``None`` elsewhere."""
    import pyarrow as pa

    offsets, data = raw_cells(array)
    used = data[offsets[0] : offsets[-1]]
    soft = np.flatnonzero((used - np.uint8(33)) > 93) + offsets[0]
    fine = np.flatnonzero(filled)
    starts, ends = offsets[fine], offsets[fine + 1]
    if len(soft) != len(fine) or not len(fine) or (data[soft] != 32).any():
        return None
    if (soft <= starts).any() or (soft + 1 >= ends).any():
        return None
    halves = np.empty(2 * len(fine) + 1, np.int32)
    halves[:-1:2], halves[1::2], halves[-1] = starts, soft + 1, ends[-1]
    return fine, pa.StringArray.from_buffers(2 * len(fine), pa.py_buffer(halves), array.buffers()[2])


def _words(cells: Cells, filled: np.ndarray) -> tuple[np.ndarray, Any]:
    """The places of cells of two words, and these words one after the other; complains about the other cells."""
    import pyarrow.compute as pc

    parts = pc.utf8_split_whitespace(cells.array)
    widths = plain(pc.list_value_length(parts), np.int32)
    cells.refuse("not_label_and_confidence", _NO_PAIR, np.flatnonzero(filled & (widths != 2)))
    fine = np.flatnonzero(filled & (widths == 2))
    return fine, pick(parts, fine).flatten()
