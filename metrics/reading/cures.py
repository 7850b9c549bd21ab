"""Cells of a submission written as the sample submission has them, for a conversion that a person confirms."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.types import PreparedTruth
from ..numerics.tokens import arrow_texts
from .columns import Kind, to_decimal
from .foreign import is_written_as_list
from .label_forms import TRUTH_VALUES_OF, LabelForm, with_usual_letters
from .label_kinds import Label, LabelSet, RankedLabel, Words
from .number_kinds import Plain
from .spreadsheet import Cures
from .thousands import without_marks
from .writings import read_list

_PER_CENT = re.compile(r"([+-]?[0-9]+(?:[.,][0-9]+)?)\s*%")
_GROUPED = re.compile(
    r"([+-]?\d{1,3}(?:(?:[\s_'’]\d{3})+|(?:,\d{2,3})*,\d{3}(?=\.)|(?:\.\d{3})+(?=,)|(?:,\d{2,3})+,\d{3}))(?:[.,](\d+))?"
)
"""Marks between thousands, as in German, English, French, Swiss and Indian numbers."""
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""Numbers that may be whole, with a comma between thousands."""
_BETWEEN_PAIR = re.compile(r"[\s,;:|]+")


def cures_for(truth: PreparedTruth) -> Cures:
    """A function that finds the distinct cells of a submission's column that can be written as the sample has them."""

    def cures(column: str, texts: Sequence[str]) -> Mapping[str, str]:
        if column not in (*truth.scored_columns, *truth.metric.format.aliases):
            return {}
        cure = _cure_of(*truth.metric.submission.reader_of(column, truth.target, truth.params), texts)
        found = {text: cure(text) for text in texts if text} if cure is not None else {}
        return {text: cured for text, cured in found.items() if cured and cured != text}

    return cures


def text_columns_for(truth: PreparedTruth) -> tuple[str, ...]:
    """The columns of a submission if they hold labels, lists or texts, where a comma is never decimal."""
    kind = truth.metric.submission
    readers = {name: kind.reader_of(name, truth.target, truth.params)[0] for name in truth.scored_columns}
    return tuple(name for name, one in readers.items() if isinstance(one, Label | LabelSet | RankedLabel | Words))


def _cure_of(
    kind: Kind, truth: Any, params: Mapping[str, Any], texts: Sequence[str]
) -> Callable[[str], str | None] | None:
    if isinstance(kind, Plain):
        grouped = without_marks(texts, ".") or without_marks(texts, ",")
        return lambda text: grouped.get(text) or _cured_number(text)
    if not isinstance(kind, Label | LabelSet | RankedLabel | Words):
        return None
    if isinstance(kind, LabelSet):
        lists = kind.form(truth, params)
        lists.look_at(arrow_texts(list(texts)))
        lists.joined_by_words(arrow_texts(list(texts)))
        return lists.cure
    if isinstance(kind, Label | RankedLabel):
        form = kind.form(truth, params)
        if not form.sample or isinstance(kind, RankedLabel):
            return lambda text: _cured_pair(form, text) if form.sample else None
        cured = {texts[place]: fault.cured for place, fault in form.faults(texts).items()}
        return cured.get
    if "|" in kind.sample_with(truth, params):
        return lambda text: "|".join(read_list(text).items) if is_written_as_list(text, ";") else None
    return None


def _cured_label(form: LabelForm, label: str) -> str | None:
    fault = form.fault(label)
    return None if fault is None else fault.cured


def _cured_pair(form: LabelForm, text: str) -> str | None:
    """``label confidence`` from both in brackets, or with another mark between them."""
    items = read_list(text).items
    parts = items if len(items) == 2 else [part for part in _BETWEEN_PAIR.split(" ".join(items)) if part]
    if len(parts) != 2 or to_decimal(parts[1].strip("'\"")) is None:
        return None
    label = parts[0].strip().rstrip(":")
    return f"{_cured_label(form, label) or label} {parts[1].strip()}"


def _cured_number(text: str) -> str | None:
    """A plain number from one in brackets or quotes, with another minus or digits, in per cent, or grouped."""
    if text.startswith("(") and "," not in text:  # which accountants write for less than 0
        return None
    items = read_list(text).items
    plain = unicodedata.normalize("NFKC", items[0] if len(items) == 1 else text).replace("\u2212", "-").lstrip("'")
    plain = with_usual_letters(plain.replace("٬", "").replace("٫", "."))
    if to_decimal(plain) is None and (truth := TRUTH_VALUES_OF.get(plain.casefold())) is not None:
        return "1" if truth else "0"
    if share := _PER_CENT.fullmatch(plain):
        value = to_decimal(share[1].replace(",", "."))
        return None if value is None else f"{value / 100}"
    if grouped := _GROUPED.fullmatch(plain):
        plain = re.sub(r"[^\d+-]", "", grouped[1]) + (f".{grouped[2]}" if grouped[2] else "")
    if "," in plain and not _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", ".")
    return plain if to_decimal(plain) is not None else None
