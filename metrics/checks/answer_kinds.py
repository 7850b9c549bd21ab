"""The kind of a truth's answers, guessed from a few thousand cells: 0 and 1, classes, quantities, texts, masks …"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..core.messages import Message
from ..reading.columns import to_decimal
from ..reading.writings import read_list
from .lists import writing_of_lists

MOST_CELLS = 20_000
_FEW = 30
_LABEL_WORDS = 15
_MOST_DIGITS = 18
"""The most digits of a pixel's number; Python converts at most 4,300."""
_LONG = 65_536
_NUMBERS = re.compile(r"[0-9]+( [0-9]+)*")
_FOREIGN = (
    (re.compile(r"[+-]?\d+,\d+"), Message("numbers with a decimal comma, to be written with a point")),
    (re.compile(r"[+-]?[\d.,]+\s*%"), Message("numbers with a percent sign, to be written without it")),
    (
        re.compile(r"[+-]?\d{1,3}(\.\d{3})*(,\d+)?|[+-]?\d{1,3}(,\d{3})*(\.\d+)?"),
        Message("numbers with marks between the thousands, to be written without them and with a point"),
    ),
    (
        re.compile(r"[€$£]\s*[+-]?\d[\d.,]*|[+-]?\d[\d.,]*\s*[€$£]"),
        Message("numbers with a currency, to be written without it"),
    ),
    (
        re.compile(
            r"\(?[+−–-]?(?:\d+(?:['’_\u00a0\u202f]\d{3})*(?:[.,]\d+)?"
            r"|\d{1,3}(?: \d{3})+[.,]\d+|\d{1,2}(?:,\d{2})*,\d{3})\)?"
        ),
        Message("numbers with other marks than digits, - and a point, to be written without them"),
    ),
    (re.compile(r"\d{1,3}:\d{2}(:\d{2}(\.\d+)?)?"), Message("times, to be written as numbers, such as seconds")),
)
_WITH_UNIT = re.compile(
    r"(?P<before>(?:[A-Z]{2,3}\.? |[~≈<>] ?)?)[+−-]?\d[\d.,'’ ]*(?P<after>[^\W\d_]{1,5}\.?|± ?\d[\d.,]*|)"
)
_TIMES = ("time", "times", "duration", "days", "weeks", "months", "years", "tenure", "lifetime", "survival", "followup")
_EVENTS = ("event", "events", "status", "death", "dead", "died", "churn", "churned", "failure", "failed", "observed")
_CLASS_NAME = re.compile(r"(?i)label|class|klasse|[ck]ategor|digit|species|etiqu|etikett|type")
_ANSWER_NAME = re.compile(r"(?i)target|^y$")
"""Names that say neither class nor amount: whole numbers with gaps between them are taken for classes."""

_CODE = re.compile(r"[^\W\d_]{0,4}[-_]?[0-9]+|[0-9a-fA-F-]{8,}")
"""A word that names a thing by a number: `d12`, `0412`."""

_MOST_TAGS = 50
"""More different words than this are things to be found, such as articles, rather than tags."""

_BETWEEN = re.compile(r"[\s,;|]+")


@dataclass(frozen=True)
class Nature:
    """The kind of the answers. ``words`` describe it; ``groups`` and ``keys`` are the usual metrics for it, most usual
    first. Keys of metrics that do not exist are ignored."""

    name: str
    words: Message
    groups: tuple[str, ...]
    keys: tuple[str, ...]


_USUAL: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "binary": (
        ("Probabilities", "Labels"),
        ("roc_auc", "log_loss", "average_precision", "brier", "binary_f1", "accuracy", "matthews_correlation", "f1"),
    ),
    "classes": (
        ("Labels", "Probabilities", "Clusterings"),
        ("accuracy", "f1", "balanced_accuracy", "cohen_kappa", "multiclass_log_loss", "matthews_correlation"),
    ),
    "binary labels": (
        ("Labels", "Probabilities"),
        ("accuracy", "binary_f1", "f1", "balanced_accuracy", "matthews_correlation", "roc_auc", "log_loss"),
    ),
    "levels": (
        ("Labels", "Numbers", "Probabilities"),
        ("cohen_kappa", "accuracy", "f1", "rmse", "mae", "multiclass_log_loss"),
    ),
    "numbers": (("Numbers",), ("rmse", "mae", "r2", "median_absolute_error", "spearman", "pearson")),
    "foreign numbers": (("Numbers",), ("rmse", "mae", "r2")),
    "sizes": (("Numbers",), ("rmsle", "rmse", "mae", "mape", "r2")),
    "number columns": (
        ("Numbers",),
        ("columnwise_rmse", "columnwise_mae", "columnwise_r2", "columnwise_rmsle", "columnwise_spearman"),
    ),
    "mixed numbers": ((), ("columnwise_rmse", "columnwise_rmsle", "columnwise_spearman")),
    "shares": (("Probabilities", "Numbers"), ("kl_divergence", "columnwise_rmse")),
    "binary columns": (("Probabilities", "Labels"), ("columnwise_roc_auc", "columnwise_log_loss", "thresholded_f1")),
    "class columns": (("Probabilities", "Labels"), ("multiclass_log_loss", "top_k_accuracy", "columnwise_roc_auc")),
    "time and event": (("Survival",), ("survival_concordance",)),
    "label sets": (("Labels", "Rankings", "Text"), ("multilabel_f1", "jaccard", "map_at_k", "exact_match")),
    "ranked labels": (("Rankings", "Labels"), ("map_at_k", "ndcg_at_k", "multilabel_f1")),
    "sparse labels": (("Rankings", "Labels"), ("global_average_precision", "multilabel_f1", "map_at_k")),
    "phrases": (("Text", "Labels"), ("coleridge_fbeta", "word_jaccard")),
    "text": (("Text",), ("word_jaccard", "token_f1", "levenshtein")),
    "names": (("Rankings", "Labels", "Text"), ("map_at_k", "accuracy", "levenshtein")),
    "masks": (("Masks and boxes",), ("dice", "iou")),
    "boxes": (("Masks and boxes",), ("box_map", "mean_precision_at_iou")),
}


def nature_of(columns: Sequence[Sequence[str]], names: Sequence[str]) -> Nature:
    """The kind of the target columns, judged by their cells."""
    if not columns:
        return Nature("nothing", Message("missing"), (), ())
    name, words = _of_several(columns, names) if len(columns) > 1 else _of_one(columns[0])
    if len(columns) == 1:
        is_class = _CLASS_NAME.search(names[0]) or (name == "codes" and _ANSWER_NAME.search(names[0]))
        name = _of_whole_numbers(name, columns[0], is_class=bool(is_class))
    groups, keys = _USUAL.get(name, ((), ()))
    return Nature(name, words, groups, keys)


def labels_of_0_and_1() -> Nature:
    """The kind of 0 and 1 where submissions have labels and no chances."""
    return Nature("binary labels", Message("0 and 1"), *_USUAL["binary labels"])


def _of_whole_numbers(name: str, cells: Sequence[str], *, is_class: bool) -> str:
    """The kind of whole numbers, which are amounts, or classes where their column is called so."""
    if name not in ("levels", "codes", "numbers", "sizes"):
        return name
    if name != "levels" and not is_class:
        return "numbers" if name == "codes" else name
    numbers = {to_decimal(cell) for cell in cells}
    is_few = 1 < len(numbers) <= _FEW and 3 * len(numbers) <= len(cells)
    is_whole = all(one is not None and one == int(one) for one in numbers)
    return "classes" if is_class and is_few and is_whole else "numbers" if name == "codes" else name


def _of_several(columns: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[str, Message]:
    natures = {_of_one(column)[0] for column in columns}
    many = len(columns)
    folded = [name.casefold() for name in names]
    if set(folded) == {"time", "event"} or (len(folded) == 2 and folded[0] in _TIMES and folded[1] in _EVENTS):
        return "time and event", Message("a time and whether the event was seen")
    if natures <= {"binary"}:
        if all(row.count("1") == 1 for row in zip(*columns, strict=True)):
            return "class columns", Message.counted(
                many,
                "{count} column of 0 and 1 with one 1 in each row",
                "{count} columns of 0 and 1 with one 1 in each row",
            )
        return "binary columns", Message.counted(many, "{count} column of 0 and 1", "{count} columns of 0 and 1")
    if natures <= {"binary", "numbers", "sizes", "levels"}:
        sums = [sum(map(float, row)) for row in zip(*columns, strict=True)]
        if all(abs(total - 1) < 1e-3 for total in sums):
            return "shares", Message.counted(
                many,
                "{count} column of numbers that add up to 1",
                "{count} columns of numbers that add up to 1",
            )
        if "binary" in natures:
            return "mixed numbers", Message.counted(
                many,
                "{count} column, some of 0 and 1 and some of other numbers",
                "{count} columns, some of 0 and 1 and some of other numbers",
            )
        return "number columns", Message.counted(many, "{count} column of numbers", "{count} columns of numbers")
    return "mixed", Message.counted(many, "{count} column of different kinds", "{count} columns of different kinds")


def _of_one(cells: Sequence[str]) -> tuple[str, Message]:
    filled = [cell for cell in cells if cell]
    if not filled:
        return "nothing", Message("only empty cells")
    numbers = [to_decimal(cell) for cell in filled]
    if all(number is not None for number in numbers):
        return _of_numbers([float(number) for number in numbers if number is not None], len(filled) < len(cells))
    distinct = set(filled)
    are_many = len(distinct) > _FEW or 10 * len(distinct) > len(filled)
    for form, words in _FOREIGN if are_many and not _are_lists_of_codes(distinct) else ():
        if all(form.fullmatch(cell) for cell in distinct):
            return "foreign numbers", words
    if are_many and _have_unit(distinct):
        return "foreign numbers", Message("numbers with a unit or sign, to be written without it")
    if _are_masks(filled):
        return "masks", Message("run-lengths")
    if _are_boxes(filled[:1000]):
        return "boxes", Message("lists of four numbers or more")
    if writing_of_lists(filled) is not None:
        filled = [" ".join(item.replace(" ", "_") for item in read_list(cell).items) for cell in filled]
    return _of_texts(filled, len(filled) < len(cells))


def _are_lists_of_codes(cells: Collection[str]) -> bool:
    """Whether numbers of three digits stand between commas: of thousands some begin with 0, or have fewer digits."""
    parts = [part for cell in cells if "," in cell for part in cell.split(",")]
    return len(parts) > _FEW and all(len(part) == len(part.lstrip("0")) == 3 for part in parts)


def _have_unit(cells: Collection[str]) -> bool:
    """Whether all cells are numbers with the same unit or sign beside them."""
    found = [_WITH_UNIT.fullmatch(cell) for cell in cells]
    units = {(one["before"].strip(), re.sub(r"[\d.,]", "", one["after"])) if one else ("", "") for one in found}
    return len(units) == 1 and ("", "") not in units


def _of_numbers(values: Sequence[float], has_blanks: bool) -> tuple[str, Message]:
    distinct = set(values)
    are_whole = all(value == int(value) for value in distinct if abs(value) < 1e15)
    if distinct <= {0.0, 1.0}:
        return "binary", Message("0 and 1")
    if len(distinct) == 1:
        return "numbers", Message("the same number in each row")
    if are_whole and len(distinct) <= _FEW and 10 * len(distinct) <= len(values):
        if has_blanks:
            return "sparse labels", _some_labels(len(distinct))
        if sorted(distinct) == [min(distinct) + step for step in range(len(distinct))] and len(distinct) <= 10:
            return "levels", Message(
                "whole numbers from {low} to {high}", low=f"{min(distinct):g}", high=f"{max(distinct):g}"
            )
        return "codes", Message.counted(len(distinct), "{count} whole number", "{count} different whole numbers")
    middle = sorted(values)[len(values) // 2]
    if min(distinct) >= 0 and max(distinct) > 100 * middle > 0:
        return "sizes", Message.counted(
            len(distinct),
            "{count} different number from 0, a few of them very large",
            "{count} different numbers from 0, a few of them very large",
        )
    return "numbers", Message.counted(len(distinct), "{count} different number", "{count} different numbers")


def _some_labels(count: int) -> Message:
    return Message.counted(count, "{count} label, or none", "{count} labels, or none")


def _are_masks(filled: Sequence[str]) -> bool:
    """Whether all cells are run lengths: pairs of a start and a length, in ascending order."""
    if max(map(len, filled)) < 3:
        return False
    looked_at = [text for text in filled[:1000] if len(text) <= _LONG] or filled[:1]
    for cell in (mask.strip() for text in looked_at for mask in text.split("|")):
        if not _NUMBERS.fullmatch(cell):
            return False
        words = cell.split()
        if max(map(len, words)) > _MOST_DIGITS:
            return False
        numbers = list(map(int, words))
        starts, lengths = numbers[::2], numbers[1::2]
        if len(starts) != len(lengths):
            return False
        if any(s + n > after for s, n, after in zip(starts, lengths, starts[1:], strict=False)):
            return False
    return True


def _are_boxes(filled: Sequence[str]) -> bool:
    """Whether cells have four numbers for each box, perhaps beside a label or a confidence, and hardly another word."""
    widths = []
    for cell in filled:
        tokens = _BETWEEN.split(cell)
        numbers = sum(to_decimal(token) is not None for token in tokens)
        if numbers < 4 or 4 * numbers < 3 * len(tokens):
            return False
        widths.append((numbers, len(tokens)))
    return any(all(pair[place] % width == 0 for pair in widths) for place, width in ((0, 4), (1, 5), (1, 6)))


def _of_texts(filled: Sequence[str], has_blanks: bool) -> tuple[str, Message]:
    words = [cell.split() for cell in filled]
    longest = max(map(len, words))
    distinct = {word for cell in words for word in cell}
    if longest == 1:
        if has_blanks:
            return "sparse labels", _some_labels(len(distinct))
        if 2 * len(distinct) > len(filled) > _FEW:
            return "names", Message("{words} different words in {rows} rows", words=len(distinct), rows=len(filled))
        return "classes", Message.counted(len(distinct), "{count} class", "{count} classes")
    if any("|" in cell for cell in filled):
        return "phrases", Message("phrases with | between them")
    # Labels of a set also occur alone in a cell; words of a text do not.
    alone = {cell[0] for cell in words if len(cell) == 1}
    is_set = any(word in alone for cell in words if len(cell) > 1 for word in cell)
    if len(set(filled)) <= _FEW and 10 * len(set(filled)) <= len(filled) and not is_set:
        return "classes", Message.counted(
            len(set(filled)), "{count} class of several words", "{count} classes of several words"
        )
    total = sum(map(len, words))
    if 10 * sum(bool(_CODE.fullmatch(word)) for cell in words for word in cell) >= 9 * total:
        kind = "ranked labels" if len(distinct) > _MOST_TAGS else "label sets"
        return kind, Message("cells with up to {most} of {labels} labels", most=longest, labels=len(distinct))
    if 3 * len(distinct) <= total and total <= _LABEL_WORDS * len(filled):
        return "label sets", Message("cells with up to {most} of {labels} labels", most=longest, labels=len(distinct))
    return "text", Message("texts")
