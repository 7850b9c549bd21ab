"""Values of a submission that are written otherwise than those of the sample submission.

If some are, the file is scored and its author is warned; if all are, the file is refused with what to change, because
no answer could be right. Neither depends on the answers: only the sample's label and the separator are looked at, which
are public. ``cure`` writes a cell like the sample, for a conversion that a person confirms.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.arrays import Coded
from ..core.errors import Problem, shown
from ..core.messages import EXAMPLES, Message, Plural, joined, listed
from ..numerics.tokens import labels_in, labels_of, mark_between
from .columns import Cells, to_decimal
from .label_forms import (
    CAPITALS,
    COUNTED,
    DAMAGED,
    JOINED,
    LISTED,
    LOST,
    SIGNS,
    SMALL,
    TOKENS,
    TWO_WRITINGS,
    UNCLEAR,
    Fault,
    LabelForm,
    twins_of,
)
from .repairs import CURLY, RUNS, mend_letters, with_signs, without_tokens
from .tables import pick, places_where, raw_cells
from .writings import (
    CONJUNCTIONS,
    RARE_SEPARATORS,
    SEPARATORS,
    Writing,
    items_joined_by_words,
    joining_words,
    may_join,
    read_list,
)

_ALL = Plural(
    "No value of {column} is written like those in sample_submission.csv: {examples}. {cures}",
    "No value of {column} is written like those in sample_submission.csv: {examples}. {cures}",
)
_SOME = Plural(
    "{count} value of {column} is written otherwise than those in sample_submission.csv: {examples}. {cures}",
    "{count} values of {column} are written otherwise than those in sample_submission.csv: {examples}. {cures}",
)
_MOST_LABELS = 10_000
"""The most labels, and lists in another writing, that are looked at once some are written like the sample's."""
_MOST_CURES = 3
FEW_LABELS = 1000
"""The most distinct labels of a file that is told that none of them looks like the sample's."""
_MAX_SETS = 100
"""The most sets of labels that are remembered as faultless: the files of a class mostly have the same ones."""
_QUOTES = "'\"`´‘’‚‹›“”„«»「」『』《》"
_MARKS = f"[](){{}}［］（）【】〔〕｛｝{_QUOTES}"
_OPENING = (*_MARKS, "b", "a", "n", "c", "s", "f", "l")
"""Marks and letters with which a list begins: array, np.array, c, set, frozenset, list, and bytes of Python."""
_SEPARATORS = (*SEPARATORS, *RARE_SEPARATORS)
_BLOCK = 1 << 20
_SPACE, _JOINED = re.compile(r"\s"), re.compile("[_\u2581]")
_JOINED_LABELS = re.compile(r"->|\\[nt]|[-–_:~·•→>^=.#!/&+\\]")
"""Marks between labels that may as well be inside of one."""
_RUN = re.compile(r"(.)\1+")


class _Findings:
    """The faults of the distinct values of a column, by their codes."""

    def __init__(self, size: int) -> None:
        self.is_faulty = np.zeros(size, bool)
        self.has_good = False
        """Whether a value is written like the sample's."""
        self.cures: dict[str, Message] = {}
        """A sentence for each kind of fault, with its first example."""

    def note(self, words: Message, found: str, cured: str | None) -> None:
        self.cures.setdefault(words, Message(words, found=shown(found), expected=shown(cured or "")))

    def tell(self, cells: Cells, codes: np.ndarray) -> None:
        """Refuse the cells if no value is good; else warn of the faulty ones."""
        places = np.flatnonzero(self.is_faulty[codes])
        if not len(places):
            return
        facts = {"cures": joined(list(self.cures.values())[:_MOST_CURES], name="cure")}
        if self.has_good:
            cells.warn("foreign_labels", _SOME, places, facts)
        else:
            cells.refuse("foreign_labels", _ALL, places, facts)


def judge_labels(cells: Cells, labels: Coded, form: LabelForm) -> None:
    """Look at a column with one label in each cell."""
    texts = list(map(str, labels.values))
    findings, before = _Findings(max(1, len(texts))), len(cells.warnings) + len(cells.problems)
    faults = form.faults(texts)
    for code, fault in faults.items():
        findings.note(fault.words, texts[code], fault.cured)
    _mark_faulty(findings, faults, sum(map(bool, texts)))
    _note_twins(findings, texts, faults)
    findings.tell(cells, labels.codes)
    if not faults:
        _warn_of_other_looks(cells, texts, form.sample)
        _warn_of_other_count(cells, texts, form)
    is_faultless = not faults and before == len(cells.warnings) + len(cells.problems)
    if is_faultless and len(texts) <= FEW_LABELS and len(form.faultless) < _MAX_SETS:
        form.faultless.add(frozenset(texts))


def judge_clusters(cells: Cells, labels: Coded) -> None:
    """Look at a column of names that mean nothing: only one that is written in two ways is told."""
    texts = list(map(str, labels.values))
    findings = _Findings(max(1, len(texts)))
    findings.has_good = True
    _note_twins(findings, texts, {})
    findings.tell(cells, labels.codes)


def _warn_of_other_looks(cells: Cells, texts: Sequence[str], sample: str) -> None:
    """Warn if no label looks like the sample's, as ``class_1`` beside ``cat``."""
    met = list(filter(None, texts[: FEW_LABELS + 1]))
    if not met or len(met) > FEW_LABELS or _look_of(sample) in map(_look_of, met):
        return
    message = Message(
        "No label of {column} is written like the one in sample_submission.csv: the file has {labels}. Labels are "
        "compared as text, so one that is written otherwise is a wrong answer.",
        column=shown(cells.column),
        labels=listed(list(map(shown, met))[:EXAMPLES], len(met)),
    )
    cells.warnings.append(Problem("foreign_labels", message, cells.column))


def _warn_of_other_count(cells: Cells, texts: Sequence[str], form: LabelForm) -> None:
    """Warn if labels are numbers from one above the least on, as programs that count from 1 write them."""
    met = set(map(to_decimal, texts)) if form.least is not None and 1 < len(texts) <= FEW_LABELS else set()
    if form.least is not None and met and met == {form.least + place for place in range(1, len(met) + 1)}:
        message = Message(COUNTED, found=shown(str(form.least + 1)), expected=shown(form.sample))
        cells.warnings.append(Problem("foreign_labels", message, cells.column))


def _look_of(label: str) -> str:
    """The look of a label: numbers are all alike; letters are reduced to their case, digits to ``9``, and runs to one
    character.

    >>> _look_of("True"), _look_of("TRUE"), _look_of("class_10"), _look_of("-1.50")
    ('Aa', 'A', 'a_9', '9')
    """
    if to_decimal(label) is not None:
        return "9"
    sorts = [
        "9" if letter.isdigit() else letter if not letter.isalpha() else "A" if letter.isupper() else "a"
        for letter in label
    ]
    return _RUN.sub(r"\1", "".join(sorts))


def _mark_faulty(findings: _Findings, faults: dict[int, Fault], filled: int) -> None:
    """Mark the faulty values; those that may be labels of the truth only if no value is good."""
    findings.has_good = len(faults) < filled
    marked = [place for place, fault in faults.items() if fault.is_sure or not findings.has_good]
    findings.is_faulty[marked] = True
    if findings.has_good:
        unsure = {fault.words for fault in faults.values() if not fault.is_sure}
        for words in unsure - {fault.words for fault in faults.values() if fault.is_sure}:
            findings.cures.pop(words, None)


def _note_twins(findings: _Findings, texts: Sequence[str], faults: dict[int, Fault]) -> None:
    twins = twins_of([text for place, text in enumerate(texts[:_MOST_LABELS]) if place not in faults])
    for place, text in enumerate(texts[:_MOST_LABELS] if twins else ()):
        if (other := twins.get(text)) is not None and place not in faults:
            findings.is_faulty[place] = True
            findings.note(TWO_WRITINGS, text, other)


# --- lists ------------------------------------------------------------------------------------------------------


class ListForm:
    """The form of a cell with several labels: that of its labels, and the separator, ``None`` for white space."""

    def __init__(self, label: LabelForm, separator: str | None) -> None:
        self.separator = mark_between(separator)
        self.sample, self.most_words = label.sample, label.most_words
        self.label = label if label.sample else None
        self.marks = "".join(sorted({*_MARKS, *_SEPARATORS} - label.letters - set(self.separator or "\t")))
        """Characters that no label has, as far as is known."""
        self._whole: set[str] | None = None
        self._joining: set[str] = set()

    def joined_by_words(self, cells: Any) -> list[int]:
        """The places of distinct cells in which words such as ``and`` join labels that white space parts."""
        if self.separator is not None or may_join(self.sample):
            return []
        lists = [cell.split() for cell in cells[:_MOST_LABELS].to_pylist()]
        self._joining = joining_words(lists)
        return [place for place, items in enumerate(lists) if not self._joining.isdisjoint(items)]

    def look_at(self, cells: Any) -> np.ndarray:
        """Which distinct cells of an Arrow array are lists in another writing."""
        import pyarrow.compute as pc

        found = np.zeros(len(cells), bool)
        is_parted = self.separator is None or _holds_text(cells, self.separator.strip())
        marks = self.marks if is_parted else self.marks + " "
        if not _holds_any(cells, marks):
            return found
        odd = places_where(pc.match_substring_regex(cells, f"[{re.escape(marks)}]"))
        if self.separator is not None and is_parted:
            self._whole = self._labels_of(cells, np.delete(np.arange(len(cells)), odd))
        for place in odd[:_MOST_LABELS]:
            found[place] = self.is_foreign(cells[int(place)].as_py())
        if found[odd[:_MOST_LABELS]].all():
            found[odd] = True
        return found

    def _labels_of(self, cells: Any, places: np.ndarray) -> set[str]:
        """The labels of some cells, by which a list in another writing is told from a label with odd letters."""
        return set(labels_in(pick(cells, places), self.separator)[2].to_pylist())

    def is_foreign(self, cell: str) -> bool:
        """Whether a cell is a list in another writing."""
        if not cell:
            return False
        read = read_list(cell, _SEPARATORS)
        if self._is_wrapped(cell, read.writing):
            return True
        if self.separator is None:
            mark = read.writing.separator
            return mark in set(self.marks) and _parts_words(cell, mark or "")
        if self.separator.strip() in cell or len(read.items) < 2:
            return False
        if read.writing.separator is None and self.most_words > 1:
            return len(read.items) > self.most_words
        if read.writing.separator is not None and read.writing.separator not in self.marks:
            return False
        return self._whole is None or not self._whole.isdisjoint(read.items)

    def _is_wrapped(self, cell: str, writing: Writing) -> bool:
        """Whether brackets or quotes stand around the labels that are not theirs."""
        if writing.brackets and writing.brackets[0] in self.marks:
            return True
        return writing.quoted and any(quote in self.marks for quote in _QUOTES if quote in cell)

    def cure(self, cell: str) -> str | None:
        """The cell written like the sample, ``None`` if that is unclear."""
        is_foreign = self.is_foreign(cell)
        read = read_list(cell, _SEPARATORS)
        items: Iterable[str] = read.items if is_foreign else map(str.strip, cell.split(self.separator))
        if self.separator is None:
            items = [item for item in items if item not in self._joining]
        elif is_foreign:
            parts = [part for item in items for part in items_joined_by_words(item)]
            items = parts[:1] + [part for part in parts[1:-1] if part not in CONJUNCTIONS] + parts[1:][-1:]
        if is_foreign and not read.is_clear:
            return None
        cured = [self.cure_label(item) for item in items if item]
        if None in cured or (self.separator is None and any(len((item or "").split()) > 1 for item in cured)):
            return None
        return (self.separator or " ").join(filter(None, cured))

    def cure_label(self, label: str) -> str | None:
        """The label written like the sample's, ``None`` if that is unclear."""
        fault = None if self.label is None else self.label.fault(label)
        return label if fault is None or not fault.is_sure else fault.cured


def judge_lists(cells: Cells, lists: Coded, form: ListForm) -> None:
    """Look at a column with several labels in each cell."""
    is_foreign = form.look_at(lists.array)
    findings = _Findings(max(1, lists.size))
    findings.is_faulty[: lists.size] = is_foreign
    for place in np.flatnonzero(is_foreign)[:1]:
        text = lists.array[int(place)].as_py()
        cured = form.cure(text)
        findings.note(UNCLEAR if cured is None else LISTED, text, cured)
    plainly = np.flatnonzero(~is_foreign)
    if is_foreign.any():
        owner, codes, labels = labels_in(pick(lists.array, plainly), form.separator)
    else:
        owner, codes, labels = lists.once(labels_of, form.separator)
    findings.has_good = bool(len(labels))
    if form.separator is None and any(map(may_join, labels.to_pylist())):
        for place in form.joined_by_words(lists.array):
            findings.is_faulty[place] = True
            text = lists.array[place].as_py()
            findings.note(LISTED, text, form.cure(text))
    if form.label is not None:
        texts = labels.to_pylist()
        faults = form.label.faults(texts)
        faults |= lists_among(texts, form.separator)
        marks = _Findings(max(1, len(texts)))
        _mark_faulty(marks, faults, len(texts))
        findings.has_good = marks.has_good
        for place, fault in faults.items():
            if marks.is_faulty[place]:
                findings.note(fault.words, texts[place], fault.cured)
        findings.is_faulty[plainly[owner[marks.is_faulty[codes]]]] = True
        if not faults and not is_foreign.any():
            _warn_of_other_looks(cells, texts, form.sample)
    findings.tell(cells, lists.codes)


def lists_among(labels: Sequence[str], separator: str | None) -> dict[int, Fault]:
    """Labels that are made of other labels with white space between them, or with marks where white space parts labels,
    by their places."""
    known, found = set(labels), {}
    for place, label in enumerate(labels[:_MOST_LABELS]):
        if separator is not None:
            parts = _parts_of(label, known) if " " in label else []
        else:
            parts = list(filter(None, _JOINED_LABELS.split(label))) if _JOINED_LABELS.search(label) else []
            parts = parts if known.issuperset(parts) else []
        if parts:
            found[place] = Fault(LISTED, (separator or " ").join(parts))
    return found


def _parts_of(label: str, known: set[str]) -> list[str]:
    """The other known labels of which a label is made, the longest first; empty if it is made of more."""
    words, start = label.split(), 0
    parts: list[str] = []
    while start < len(words):
        ends = (
            end
            for end in range(len(words), start, -1)
            if end - start < len(words) and " ".join(words[start:end]) in known
        )
        if (end := next(ends, None)) is None:
            may_join = words[start] in CONJUNCTIONS and (parts or len(words[start]) > 1)
            if not may_join or start == len(words) - 1:
                return []
            start += 1
            continue
        parts.append(" ".join(words[start:end]))
        start = end
    return parts


def judge_texts(cells: Cells, texts: Coded, sample: str) -> None:
    """Look at a column of texts, or of phrases between bars, as the sample shows. Texts that are lists in brackets or
    quotes are told only if all are, because a text may have them."""
    is_phrases = "|" in sample
    is_listed = np.zeros(max(1, texts.size), bool)
    if not is_phrases or not _holds_text(texts.array, "|"):
        for place, text in enumerate(map(str, texts.array[:_MOST_LABELS])):
            is_listed[place] = is_written_as_list(text, ";" if is_phrases else None)
            if text and not is_phrases and not is_listed[place]:
                return
    is_filled = np.diff(raw_cells(texts.array)[0]) > 0
    is_listed[_MOST_LABELS : texts.size] = is_listed[:_MOST_LABELS][is_filled[:_MOST_LABELS]].all()
    findings = _Findings(len(is_listed))
    findings.is_faulty = is_listed
    for place in np.flatnonzero(is_listed)[:1]:
        text = texts.array[int(place)].as_py()
        findings.note(LISTED, text, ("|" if is_phrases else " ").join(read_list(text).items))
    findings.has_good = not is_phrases or bool((~is_listed[: texts.size] & is_filled).any())
    findings.tell(cells, texts.codes)


class TextForm:
    """The form of the truth's texts: their characters, and whether some have small letters, some white space, and none
    is damaged."""

    def __init__(self, texts: Coded) -> None:
        some = texts.array[:_MOST_LABELS].to_pylist()
        self.has_small, self.has_spaces = any(text != text.upper() for text in some), any(" " in text for text in some)
        self.has_capitals = 2 * sum(text != text.lower() for text in some) > len(some)
        known = {*"".join(some), *(run for run in RUNS for text in some if run in text)}
        pairs = [signs for signs in CURLY if signs[-1].strip() in known and signs[0] not in known]
        self.odd_signs = "&=\\%<[#`" + "".join(plain.strip() for plain, *_signs in pairs)
        """Characters of ASCII that only texts with a fault have, beside double spaces."""
        self.cures: dict[Message, Callable[[str], str]] = {SIGNS: partial(with_signs, known=known, curly=pairs)}
        if all(mend_letters(text) == text for text in some):
            self.cures[DAMAGED] = mend_letters
        if all(without_tokens(text) == text for text in some):
            self.cures[TOKENS] = without_tokens
        if "\ufffd" not in known:
            self.cures[LOST] = lambda text: text.replace("\ufffd", "")


def judge_looks(cells: Cells, texts: Coded, form: TextForm, *, minds_case: bool) -> None:
    """Warn of texts with damaged letters, and if all are in capitals or have other marks between words."""
    some = texts.array[:_MOST_LABELS]
    findings = _Findings(max(1, texts.size))
    findings.has_good = True
    for place in map(int, _perhaps_damaged(some, form.odd_signs)):
        text = some[place].as_py()
        for words, cure in form.cures.items():
            if (cured := cure(text)) != text:
                findings.is_faulty[place] = True
                findings.note(words, text, cured)
    first = next(filter(None, map(str, some)), "")
    if minds_case and form.has_small and first and all(_is_in_capitals(text) for text in map(str, some) if text):
        findings.is_faulty[: texts.size] = True
        findings.note(CAPITALS, first, None)
    if minds_case and form.has_capitals and first and all(text == text.lower() for text in map(str, some)):
        findings.is_faulty[: texts.size] = True
        findings.note(SMALL, first, None)
    if form.has_spaces and first and all(_is_joined(text) for text in map(str, some) if text):
        findings.is_faulty[: texts.size] = True
        findings.note(JOINED, first, _JOINED.sub(" ", first).strip())
    findings.tell(cells, texts.codes)


def _perhaps_damaged(texts: Any, signs: str) -> np.ndarray:
    """The places of texts that a form's cures can change: with a character that is not of ASCII or is one of the
    ``signs``, or with two spaces or apostrophes. All are looked at together."""
    offsets, data = raw_cells(texts)
    letters = data[offsets[0] : offsets[-1]]
    odd_letters = np.arange(256) > 127
    odd_letters[[*signs.encode()]] = True
    is_odd = odd_letters[letters]
    for sign in " '":
        is_odd[1:] |= (letters[1:] == ord(sign)) & (letters[:-1] == ord(sign))
    odd = np.flatnonzero(is_odd) + offsets[0]
    return np.unique(np.searchsorted(offsets, odd, side="right") - 1) if len(odd) else odd


def _is_in_capitals(text: str) -> bool:
    return text == text.upper() != text.lower()


def _is_joined(text: str) -> bool:
    return bool(_JOINED.search(text)) and not _SPACE.search(text)


def is_written_as_list(text: str, separator: str | None) -> bool:
    """Whether a text is a list in quotes, or has this separator."""
    if separator is not None and separator in text:
        return True
    return text[:1] in _OPENING and bool(text) and read_list(text).writing.quoted


def _parts_words(cell: str, mark: str) -> bool:
    """Whether a mark stands between the words of a cell, or parts its only word; one inside one of several words may
    belong to a label."""
    words = cell.split()
    return len(words) == 1 or any(word.startswith(mark) or word.endswith(mark) for word in words)


def _holds_text(cells: Any, text: str) -> bool:
    offsets, data = raw_cells(cells)
    return text.encode() in data[offsets[0] : offsets[-1]].tobytes() if len(data) else False


def _holds_any(cells: Any, marks: str) -> bool:
    """Whether a cell has one of these characters; in blocks, so that it takes no memory."""
    offsets, data = raw_cells(cells)
    sought = bytes({byte for mark in marks for byte in mark.encode()})
    for start in range(int(offsets[0]), int(offsets[-1]), _BLOCK):
        block = data[start : min(start + _BLOCK, int(offsets[-1]))].tobytes()
        if len(block.translate(None, sought)) < len(block):
            return True
    return False
