"""The kinds of column with labels and texts: how text becomes arrays, and every complaint about a cell.

A kind reads columns of trimmed text and hands the metric arrays that need no further care:

=================  ==========================================================
``Label``          ``Coded`` texts (or exact numbers, where all of the truth is numeric)
``LabelSet``       ``Coded`` texts; empty means no label
``Words``          ``Coded`` texts; empty means no word
``RankedLabel``    ``Ranked``: label codes and confidences
=================  ==========================================================
"""

import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from ..core.arrays import Coded, Ranked
from ..core.messages import Message, Plural
from ..numerics.tokens import arrow_texts, labels_in, mark_between
from .columns import NAME_OF_DIGITS, WORDS, Cells, Kind, in_form, to_decimal
from .foreign import FEW_LABELS, ListForm, TextForm, judge_labels, judge_lists, judge_looks, judge_texts
from .label_forms import LabelForm, typical_label
from .list_cells import ListFormat
from .numbers import read_ranked
from .same_labels import are_numbers, composed_texts, normal_labels, number_names

_NOT_ONE_WORD = Plural(
    "{count} value of {column} is not one word: {examples}.", "{count} values of {column} are not one word: {examples}."
)


class Label(Kind):
    """One label per row, never empty. If all labels of the truth are plain numbers, labels are compared as numbers."""

    words = Message("label")

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        coded = in_form(cells.coded(), normal_labels)
        cells.refuse_blank(coded)
        cells.refuse_line_breaks()
        if truth is not None and not any(isinstance(value, Decimal) for value in truth.values):
            return _without_points(coded)
        numbers = [to_decimal(text) for text in coded.values]
        if truth is None and (None in numbers or any(NAME_OF_DIGITS.match(text) for text in coded.values)):
            return _without_points(coded)
        return Coded(coded.codes, [t if n is None else n for n, t in zip(numbers, coded.values, strict=True)])

    def judge(self, columns: Sequence[Cells], values: Coded, truth: Any, params: Mapping[str, Any]) -> None:
        if self.sample(truth):
            _judge_unless_met(columns[0], values, self.form(truth, params))

    def form(self, truth: Any, params: Mapping[str, Any]) -> LabelForm:
        found: LabelForm = truth.once(_label_form)
        return found

    def sample(self, truth: Any) -> str:
        found: str = truth.once(_typical_label)
        return found

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        return [str(dice.choice(_possible_answers(truth))) for _ in range(width)]


def _judge_unless_met(cells: Cells, labels: Coded, form: LabelForm) -> None:
    """Look at labels, unless a file with the same ones was faultless, as most files of a class are."""
    if labels.size > FEW_LABELS or frozenset(map(str, labels.values)) not in form.faultless:
        judge_labels(cells, labels, form)


def _typical_label(labels: Coded) -> str:
    """The label in the sample submission: the least of numbers, else the first one that is written like most."""
    if any(isinstance(label, Decimal) for label in labels.values):
        return str(min(labels.values))
    return typical_label(labels.values)


def _label_form(labels: Coded) -> LabelForm:
    are_numbers = any(isinstance(label, Decimal) for label in labels.values)
    return LabelForm(_typical_label(labels), map(str, labels.values), is_least=are_numbers)


def _item_form(lists: Coded, separator: str | None, is_graded: bool) -> LabelForm:
    """The form of the labels in lists; graded ones are ``label:grade``."""
    labels = labels_in(lists.array, separator)[2].to_pylist()
    sample = typical_label(labels)
    if is_graded:
        sample, labels = sample.rpartition(":")[0], [label.rpartition(":")[0] for label in labels]
    return LabelForm(sample, labels)


def _without_points(labels: Coded) -> Coded:
    """Labels of which some may be texts, with ``1`` in place of ``1.0``."""
    names = number_names(labels.array, in_any_form=False)
    return Coded(labels.codes, [names.get(text, text) for text in labels.values]) if names else labels


def _possible_answers(truth: Any) -> Sequence[Any]:
    return WORDS if truth is None else truth.values


class LabelSet(Kind):
    """Any number of labels in one cell; empty means none."""

    words = Message("labels (several in one cell)")
    is_ordered = False
    """Whether the order of labels in a cell counts."""

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_line_breaks()
        return in_form(cells.coded(), normal_labels)

    def judge(self, columns: Sequence[Cells], values: Coded, truth: Any, params: Mapping[str, Any]) -> None:
        judge_lists(columns[0], values, self.form(truth, params))

    def list_format(self, params: Mapping[str, Any]) -> ListFormat:
        return ListFormat(mark_between(params.get("separator")), self.is_ordered)

    def form(self, truth: Any, params: Mapping[str, Any]) -> ListForm:
        is_graded = params.get("gain", "binary") != "binary"
        return ListForm(truth.once(_item_form, params.get("separator") or None, is_graded), params.get("separator"))

    def sample(self, truth: Any) -> str:
        return self.sample_with(truth, {})

    def sample_with(self, truth: Any, params: Mapping[str, Any]) -> str:
        return self.form(truth, params).sample

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        if truth is not None:
            return [dice.choice(_possible_answers(truth)) for _ in range(width)]
        return [" ".join(dice.sample(WORDS, dice.randint(0, 3))) for _ in range(width)]


class Words(Kind):
    """Free text; empty means no word. Cells may span lines. ``minds_case``: capitals differ from small letters unless a
    parameter ``lowercase`` is on."""

    def __init__(self, words: str = Message("text"), example: str = "some words", *, minds_case: bool = True) -> None:
        self.minds_case = minds_case
        self.words = words
        self.example = example

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        return in_form(cells.coded(may_repeat=True), composed_texts)

    def judge(self, columns: Sequence[Cells], values: Coded, truth: Any, params: Mapping[str, Any]) -> None:
        judge_texts(columns[0], values, self.example)
        minds_case = self.minds_case and not params.get("lowercase")
        judge_looks(columns[0], values, truth.once(TextForm), minds_case=minds_case)

    def sample(self, truth: Any) -> str:
        return self.example

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        if truth is not None:
            return [dice.choice(_possible_answers(truth)) for _ in range(width)]
        phrases = [" ".join(dice.sample(WORDS[:5], dice.randint(1, 3))) for _ in range(dice.randint(0, 3))]
        return ["|".join(phrases) for _ in range(width)]


class LabelOrNone(Kind):
    """One label without white space, or empty for none."""

    words = Message("label or empty")

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Coded:
        (cells,) = columns
        cells.refuse_line_breaks()
        coded = in_form(cells.coded(), normal_labels)
        spaced = [code for code, text in enumerate(coded.values) if len(text.split()) > 1]
        cells.refuse("label_with_space", _NOT_ONE_WORD, np.flatnonzero(np.isin(coded.codes, spaced)))
        names = number_names(coded.array, in_any_form=are_numbers(filter(None, coded.values)))
        return Coded(coded.codes, [names.get(text, text) for text in coded.values]) if names else coded

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        return [dice.choice(("", *WORDS)) for _ in range(width)]


class RankedLabel(Kind):
    """``label confidence`` in one cell, or empty for no answer."""

    words = Message("label and confidence in one cell, or empty")

    def read(self, columns: Sequence[Cells], truth: Any = None) -> Ranked:
        (cells,) = columns
        cells.refuse_line_breaks()
        cells.array = normal_labels(cells.array)
        labels, confidence = read_ranked(cells)
        cells.labels = labels
        known = {text: code for code, text in enumerate(truth.values) if text}
        names = number_names(arrow_texts([*labels.values]), in_any_form=are_numbers(known))
        said = [names.get(text, text) for text in labels.values]
        codes = np.array([known.get(text, len(truth.values)) if text else -1 for text in said] or [-1])
        return Ranked(codes[labels.codes], confidence)

    def judge(self, columns: Sequence[Cells], values: Ranked, truth: Any, params: Mapping[str, Any]) -> None:
        if self.sample(truth) and columns[0].labels is not None:
            _judge_unless_met(columns[0], columns[0].labels, self.form(truth, params))

    def form(self, truth: Any, params: Mapping[str, Any]) -> LabelForm:
        found: LabelForm = truth.once(_label_form)
        return found

    def fill(self, places: np.ndarray, values: Ranked) -> Ranked:
        if not len(values):
            return Ranked(np.full(len(places), -1), np.zeros(len(places)))
        filled = values.take(np.maximum(places, 0))
        return Ranked(np.where(places < 0, -1, filled.codes), np.where(places < 0, 0.0, filled.confidence))

    def sample(self, truth: Any) -> str:
        label = truth.once(_typical_label)
        return f"{label} 0.5" if label else ""

    def random(self, dice: random.Random, width: int, truth: Any = None) -> list[str]:
        label = dice.choice([text for text in _possible_answers(truth) if text] or WORDS)
        return [dice.choice(("", f"{label} {dice.randint(0, 9) / 10}"))]
