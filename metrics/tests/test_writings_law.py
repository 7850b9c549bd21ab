"""No writing of a value scores in silence: it scores the same, is refused with what to change, or its author is told.

Every metric that reads labels, lists, texts or numbers is asked, with the writings of pandas, R, Excel, numpy, Julia,
polars and JSON, for all rows and for some.
"""

import csv
import io
import json
import random
import unicodedata
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

import metrics
from metrics.core.registry import built_in
from metrics.reading import label_kinds, number_kinds

Writing = Callable[[str], str]

LABELS: dict[str, Sequence[str]] = {
    "numbers": ("1", "2", "3", "10"),
    "zeros": ("01", "02", "03", "10"),
    "names": ("cat", "dog", "emu", "fox"),
    "capitals": ("Cat", "Dog", "Emu", "Fox"),
    "signs": ("CAT", "DOG", "EMU", "FOX"),
    "truth values": ("False", "True", "False", "True"),
    "numbered": ("class_01", "class_02", "class_03", "class_10"),
    "accents": ("café", "crème", "île", "été"),
}
OF_LABELS: dict[str, Writing] = {
    "float": lambda text: f"{text}.0" if text.isdigit() else text,
    "float with a point": lambda text: f"{text}." if text.isdigit() else text,
    "zeros lost": lambda text: text.lstrip("0"),
    "zeros lost inside": lambda text: text.replace("_0", "_"),
    "upper": str.upper,
    "lower": str.lower,
    "title": str.title,
    "quoted": lambda text: f"'{text}'",
    "doubly quoted": lambda text: f'"{text}"',
    "bytes": lambda text: f"b'{text}'",
    "numpy": lambda text: f"np.str_('{text}')",
    "list": lambda text: f"['{text}']",
    "bare list": lambda text: f"[{text}]",
    "tuple": lambda text: f"('{text}',)",
    "set": lambda text: f"{{{text}}}",
    "array": lambda text: f"array(['{text}'], dtype=object)",
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "spaces": lambda text: f" {text}  ",
    "no-break space": lambda text: f"{text}\u00a0",
    "zero width": lambda text: f"{text}\u200b",
    "decimal comma": lambda text: f"{text},0" if text.isdigit() else text,
    "full width": lambda text: "".join(chr(ord(letter) + 0xFEE0) if letter.isdigit() else letter for letter in text),
    "bits": lambda text: {"True": "1", "False": "0"}.get(text, text),
    "float bits": lambda text: {"True": "1.0", "False": "0.0"}.get(text, text),
    "yes and no": lambda text: {"True": "yes", "False": "no"}.get(text, text),
    "t and f": lambda text: {"True": "T", "False": "F"}.get(text, text),
    "Excel in German": lambda text: {"True": "WAHR", "False": "FALSCH"}.get(text, text),
    "Excel in French": lambda text: {"True": "VRAI", "False": "FAUX"}.get(text, text),
    "more zeros": lambda text: f"00{text}" if text.startswith("0") else text,
    "saved twice": lambda text: text.encode().decode("latin-1"),
    "HTML": lambda text: text.replace("é", "&eacute;").replace("è", "&egrave;").replace("î", "&icirc;"),
    "formula": lambda text: f'="{text}"',
    "Cyrillic": lambda text: text.replace("o", "\u043e") if text.isascii() else text,
    "trailing comma": lambda text: f"{text},",
}
OF_LISTS: dict[str, Callable[[list[str]], str]] = {
    "spaces": " ".join,
    "double spaces": "  ".join,
    "tabs": "\t".join,
    "commas": ",".join,
    "commas and spaces": ", ".join,
    "semicolons": ";".join,
    "semicolons and spaces": "; ".join,
    "bars": "|".join,
    "bars and spaces": " | ".join,
    "commas in Chinese": "、".join,
    "commas in Arabic": "، ".join,
    "slashes": "/".join,
    "plus signs": " + ".join,
    "ampersands": "&".join,
    "Python": str,
    "Python without quotes": lambda items: f"[{', '.join(items)}]",
    "JSON": json.dumps,
    "close JSON": lambda items: json.dumps(items, separators=(",", ":")),
    "tuple": lambda items: str(tuple(items)),
    "set": lambda items: f"{{{', '.join(items)}}}",
    "frozenset": lambda items: f"frozenset({{{', '.join(map(repr, items))}}})",
    "numpy": lambda items: str(np.array(items)),
    "numpy without quotes": lambda items: f"[{' '.join(items)}]",
    "repr of numpy": lambda items: repr(np.array(items, object)),
    "R": lambda items: f"c({', '.join(json.dumps(item) for item in items)})",
    "R without quotes": lambda items: f"c({', '.join(items)})",
    "Julia": lambda items: f"Any[{', '.join(json.dumps(item) for item in items)}]",
    "Postgres": lambda items: f"{{{','.join(items)}}}",
    "floats": lambda items: " ".join(f"{item}.0" if item.isdigit() else item for item in items),
    "numpy floats": lambda items: f"[{' '.join(f'{item}.' if item.isdigit() else item for item in items)}]",
    "quoted items": lambda items: " ".join(f"'{item}'" for item in items),
    "upper": lambda items: " ".join(items).upper(),
    "title": lambda items: " ".join(items).title(),
    "zeros lost": lambda items: " ".join(item.lstrip("0") for item in items),
    "decomposed": lambda items: unicodedata.normalize("NFD", " ".join(items)),
}
OF_NUMBERS: dict[str, Writing] = {
    "comma": lambda text: text.replace(".", ","),
    "float32": lambda text: repr(float(np.float32(text))),
    "exponent": lambda text: f"{float(text):E}",
    "plus": lambda text: f"+{text}",
    "point first": lambda text: text.removeprefix("0") if text.startswith("0.") else text,
    "per cent": lambda text: f"{float(text) * 100}%",
    "list": lambda text: f"[{text}]",
    "quoted": lambda text: f"'{text}'",
    "truth": lambda text: {"1": "True", "0": "False"}.get(text, text),
    "more than float32": lambda text: {"1": "1.0000001192092896", "0": "-1e-9"}.get(text, text),
}
TEXTS_OF_PROGRAMS: tuple[Writing, ...] = (
    lambda text: text.encode().decode("mac_roman"),
    lambda text: json.dumps(text)[1:-1],
    lambda text: text.encode("ascii", "replace").decode().replace("?", "\ufffd"),
    lambda text: f"<s>{text}</s>",
    lambda text: f"[CLS] {text} [SEP]",
    lambda text: text.replace("ce", "c ##e"),
    lambda text: text.replace(" ", "\u2581"),
)
ROWS = 8


def doubly_spaced(text: str) -> str:
    return text.replace(" ", "  ")


def of_kind(*wanted: type) -> list[metrics.Metric]:
    return [
        one
        for one in built_in().values()
        if isinstance(one.submission, wanted) and not one.submission.many and not one.is_composite
    ]


def names(one: metrics.Metric) -> str:
    return one.key


def prepared(metric: metrics.Metric, cells: Sequence[str]) -> metrics.Truth | None:
    """The truth with these answers, if the metric can score them; further columns are made up."""
    dice = random.Random(3)
    rows = [
        [f"r{place}", cell, *(role.kind.random(dice, 1)[0] for role in metric.roles.values())]
        for place, cell in enumerate(cells)
    ]
    try:
        return metrics.prepare(metric.key, table(["id", "y", *metric.roles], rows))
    except metrics.MetricError:
        return None


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue().encode()


def files(good: list[str], other: list[str]) -> Iterator[list[str]]:
    """The cells of a file in another writing in all rows, in the first half, and in one row."""
    yield other
    yield [*other[: ROWS // 2], *good[ROWS // 2 :]]
    yield [*good[:-1], other[-1]]


def told(truth: metrics.Truth, cells: Sequence[str]) -> tuple[float | None, bool]:
    """The score, ``None`` if the file is refused, and whether anything is said."""
    rows = [[f"r{place}", cell] for place, cell in enumerate(cells)]
    try:
        result = truth.evaluate(table(truth.submission_columns, rows))
    except metrics.SubmissionError as refused:
        return None, all(problem.message for problem in refused.problems)
    return result.overall, bool(result.warnings)


def nothing_is_silent(truth: metrics.Truth, good: list[str], other: list[str]) -> None:
    best, _ = told(truth, good)
    for cells in files(good, other):
        score, is_said = told(truth, cells)
        assert is_said or score == best, (truth.metric.key, cells)


def perfect_cells(truth: metrics.Truth) -> list[str]:
    (column,) = truth.perfect_columns()
    return list(column)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("metric", of_kind(label_kinds.Label, label_kinds.RankedLabel), ids=names)
def test_no_writing_of_a_label_scores_in_silence(metric: metrics.Metric, labels: str) -> None:
    answers = [LABELS[labels][place % 4] for place in range(ROWS)]
    truth = prepared(metric, answers)
    if truth is None:
        pytest.skip("this metric reads other labels")
    good = perfect_cells(truth)
    for write in OF_LABELS.values():
        cells = [cell.rpartition(" ") for cell in good]
        other = [f"{write(label)} {rest}" if label else write(rest) for label, _, rest in cells]
        nothing_is_silent(truth, good, other)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("metric", of_kind(label_kinds.LabelSet), ids=names)
def test_no_writing_of_a_list_scores_in_silence(metric: metrics.Metric, labels: str) -> None:
    words = LABELS[labels]
    answers = [" ".join(words[at % 4] for at in range(place, place + 1 + place % 3)) for place in range(ROWS)]
    truth = prepared(metric, answers)
    if truth is None:
        pytest.skip("this metric reads other labels")
    good = perfect_cells(truth)
    for write in OF_LISTS.values():
        nothing_is_silent(truth, good, [write(cell.split()) for cell in good])


@pytest.mark.parametrize("separator", [",", ";", "|"])
@pytest.mark.parametrize("metric", of_kind(label_kinds.LabelSet), ids=names)
def test_no_writing_of_a_list_with_a_separator_scores_in_silence(metric: metrics.Metric, separator: str) -> None:
    if "separator" not in {one.name for one in metric.parameters}:
        pytest.skip("its lists have white space")
    lists = [["red"], ["red", "dark blue"], ["dark blue", "green"], ["green", "red", "dark blue"]] * 2
    rows = [[f"r{place}", separator.join(items)] for place, items in enumerate(lists)]
    truth = metrics.prepare(metric.key, table(["id", "y"], rows), {"separator": separator})
    good = [separator.join(items) for items in lists]
    for name, write in OF_LISTS.items():
        if name not in ("spaces", "double spaces", "tabs", "floats", "numpy without quotes", "numpy floats"):
            nothing_is_silent(truth, good, [write(items) for items in lists])


@pytest.mark.parametrize("metric", of_kind(label_kinds.Words), ids=names)
def test_no_writing_of_a_text_scores_in_silence(metric: metrics.Metric) -> None:
    answers = [
        "the café has a crème",
        "Nguyễn Hiếu is not here today",
        "a survey of all ponds",
        "the census of 1912",
    ] * 2
    truth = prepared(metric, answers)
    assert truth is not None
    for write in (OF_LABELS["decomposed"], OF_LABELS["spaces"]):
        nothing_is_silent(truth, answers, list(map(write, answers)))
    for write in (
        OF_LABELS["saved twice"],
        OF_LABELS["HTML"],
        doubly_spaced,
        lambda text: text.replace(" ", "\u00a0\u200b"),
    ):
        nothing_is_silent(truth, answers, list(map(write, answers)))
    for write in TEXTS_OF_PROGRAMS:
        nothing_is_silent(truth, answers, list(map(write, answers)))
    for write in (str.upper, lambda text: text.replace(" ", "_")):
        score, is_said = told(truth, list(map(write, answers)))
        assert is_said or score == told(truth, answers)[0]
    for name in ("list", "quoted", "doubly quoted", "bytes", "tuple", "array"):
        _, is_said = told(truth, list(map(OF_LABELS[name], answers)))
        assert is_said, name


@pytest.mark.parametrize("metric", of_kind(number_kinds.Plain), ids=names)
def test_no_writing_of_a_number_scores_in_silence(metric: metrics.Metric) -> None:
    answers = ["0", "1", "1", "0"] * 2
    truth = prepared(metric, answers) or prepared(metric, ["1", "2", "1", "2"] * 2)
    if truth is None or len(truth.submission_columns) != 2:
        pytest.skip("its answers have several columns")
    good = [repr(0.25 + place / 16) if place % 3 else "1" for place in range(ROWS)]
    if told(truth, good)[0] is None:
        good = perfect_cells(truth)
    for name, write in OF_NUMBERS.items():
        if name != "more than float32" or isinstance(metric.submission, number_kinds.Probability):
            nothing_is_silent(truth, good, list(map(write, good)))


def test_the_law_is_asked_of_every_metric_with_cells_of_labels_or_texts() -> None:
    asked = {
        one.key
        for one in of_kind(
            label_kinds.Label, label_kinds.RankedLabel, label_kinds.LabelSet, label_kinds.Words, number_kinds.Plain
        )
    }
    rest = [one for one in built_in().values() if one.key not in asked and not one.is_composite]
    others = {type(one.submission).__name__ for one in rest}
    assert not others & {"Label", "Cluster", "LabelSet", "LabelList", "RankedLabel", "Words"}
