"""The parsing of numbers: ``[+-]?digits[.digits][e±dd]``, finite; ``.5`` and ``5.`` are numbers, too.

Everything else is refused with a reason.
"""

import re
from typing import Any

import numpy as np

from ..core.arrays import Coded
from ..core.messages import Plural
from .columns import DIGITS, MISSING, Cells
from .short_floats import shortest
from .tables import pick, plain

NOT_FINITE = Plural(
    "{count} value of {column} is not finite: {examples}.", "{count} values of {column} are not finite: {examples}."
)

PLAIN_NUMBER = re.compile(DIGITS + r"([eE][+-]?[0-9]+)?")
"""The numbers that Arrow's parser accepts, without ``inf`` and ``nan``."""
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
            "{count} value of {column} is no plain number (write 12.5, without text or unit): {examples}.",
            "{count} values of {column} are no plain number (write 12.5, without text or unit): {examples}.",
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


def read_numbers(cells: Cells) -> np.ndarray:
    """The column as finite float64; NaN for refused cells."""
    values = fast_numbers(cells.values)
    return values if values is not None else _read_numbers_slowly(cells)


def fast_numbers(array: Any) -> np.ndarray | None:
    """The numbers of texts by Arrow's parser, or those of a frame; None if a cell is refused by our grammar."""
    import pyarrow as pa

    if not len(array):
        return None
    if array.type == pa.float32():
        return shortest(array)
    try:
        values: np.ndarray = plain(array.cast(pa.float64()), np.float64)
    except pa.ArrowInvalid:
        return None
    return values if np.isfinite(values).all() else None


def numbers_in(texts: Any) -> np.ndarray:
    """The values of an Arrow array of texts; NaN for those that are not plain numbers."""
    values = fast_numbers(texts)
    if values is not None:
        return values
    encoded = texts.dictionary_encode()
    known = [float(text) if PLAIN_NUMBER.fullmatch(text) else np.nan for text in encoded.dictionary.to_pylist()]
    return np.array(known, np.float64)[plain(encoded.indices, np.int32)]


def _read_numbers_slowly(cells: Cells) -> np.ndarray:
    """The numbers by our grammar, with problems for refused cells; each distinct text is parsed once."""
    cells.refuse_line_breaks()
    coded = cells.coded()
    numbers = np.full(max(1, len(coded.values)), np.nan)
    bad: dict[tuple[str, Plural], list[int]] = {}
    for code, text in enumerate(coded.values):
        if PLAIN_NUMBER.fullmatch(text):
            numbers[code] = float(text)
            if not np.isfinite(numbers[code]):
                bad.setdefault(("not_finite", NOT_FINITE), []).append(code)
        elif "\n" not in text:
            bad.setdefault(number_problem(text), []).append(code)
    for (kind, words), codes in bad.items():
        numbers[codes] = np.nan
        cells.refuse(kind, words, np.flatnonzero(np.isin(coded.codes, codes)), quote=kind != "missing_value")
    found: np.ndarray = numbers[coded.codes]
    return found


def number_problem(text: str) -> tuple[str, Plural]:
    """Code and message templates for a text that is not a number."""
    return next((code, words) for code, words, fits in _REASONS if fits(text))


def read_ranked(cells: Cells) -> tuple[Coded, np.ndarray]:
    """Labels and confidences of ``label confidence`` cells; an empty cell has the label ``""``."""
    import pyarrow.compute as pc

    array = cells.array
    parts = pc.utf8_split_whitespace(array)
    words = plain(pc.list_value_length(parts), np.int32)
    is_filled = plain(pc.binary_length(array), np.int32) > 0
    cells.refuse("not_label_and_confidence", _NO_PAIR, np.flatnonzero(is_filled & (words != 2)))
    fine = np.flatnonzero(is_filled & (words == 2))
    flat = pick(parts, fine).flatten()
    coded = pick(flat, np.arange(0, len(flat), 2)).dictionary_encode()
    texts = pick(flat, np.arange(1, len(flat), 2))
    values = numbers_in(texts)
    cells.refuse("not_a_number", _NO_CONFIDENCE, fine[~np.isfinite(values)])
    codes = np.zeros(len(array), np.int64)
    codes[fine] = plain(coded.indices, np.int32) + 1
    confidence = np.zeros(len(array))
    confidence[fine] = values
    return Coded(codes, ["", *coded.dictionary.to_pylist()]), confidence


_ROUNDING = 1e-6
"""The largest excess over an end of a range that is rounding, of the end or of 1: floats of 32 bits have 7 digits."""


def set_near_ends(values: np.ndarray, low: float | None, high: float | None) -> np.ndarray:
    """The numbers, with those that are beyond an end of a range by rounding set to the end."""
    for end, beyond in ((low, np.less), (high, np.greater)):
        if end is None or not (is_out := beyond(values, end)).any():
            continue
        is_near = np.abs(values - end) <= _ROUNDING * max(1.0, abs(end))
        values = np.where(is_out & is_near, end, values)
    return values
