"""Whether a label is written like the one in the sample submission, and how it would be written so.

A label is compared with the form of the sample's label, which is public: its type, leading zeros and case. Of the
truth's labels only this counts: their characters, their most words, and which differences are usual among them.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from ..core.messages import Message
from .columns import NAME_OF_DIGITS, to_decimal
from .repairs import mend_letters
from .writings import Writing, read_list

_TRUE = {"true": "false", "yes": "no", "t": "f", "y": "n", "1": "0", "1.0": "0.0"}
_TRUTH_VALUES = dict.fromkeys(_TRUE, True) | dict.fromkeys(_TRUE.values(), False)
_TRUE_ABROAD = "wahr vrai vero verdadero verdadeiro waar ja oui sí sì sim tak да истина evet 是"
_FALSE_ABROAD = "falsch faux falso onwaar nein non nee nie нет ложь hayır 否"
"""As spreadsheets and people write them in other languages."""
_TRUTH_VALUES |= dict.fromkeys(_TRUE_ABROAD.split(), True) | dict.fromkeys(_FALSE_ABROAD.split(), False)
_PAIRS = {"true": ("false", "true"), "false": ("false", "true"), "yes": ("no", "yes"), "no": ("no", "yes")}
"""Samples that are truth values, and how both are written there; single letters are left out: F is female, too."""

_MISSING = frozenset({"na", "nan", "<na>", "null", "none", "nil", "nat", "#n/a", "n/a"})
_PADDED = re.compile(r"(\D*)(0\d+)(\D*)")
_NUMBERED = re.compile(r"(\D*)(\d+)(?:\.0*)?(\D*)")
_MOST_LABELS = 10_000
_LARGE = Decimal(10) ** 15
_JOINERS = " _-"
_JOINER = re.compile(r"(?<=[^\W_])[ _-]+(?=[^\W\d_])|(?<=[^\W\d_])[ _-]+(?=[^\W_])")
_WIDE = re.compile("[\uff01-\uff5e]")
_POINT = re.compile(r"(?<=[0-9])\.0*$")
_UNMARKED = re.compile(r"[\w .-]*")
_LOOSE_END = re.compile(r"[:,;|]+$")

ZEROS = Message("Leading zeros differ: the file has {found}, write {expected}.")
CASE = Message("Upper and lower case differ: the file has {found}, write {expected}.")
OTHER_CASE = Message("Upper and lower case differ from the sample's: the file has {found}.")
TRUTH_VALUES = Message("True and false are written in another way: the file has {found}, write {expected}.")
NUMBER = Message("Numbers are written in another way: the file has {found}, write {expected}.")
WIDE = Message("Letters or digits of full width differ from others: the file has {found}, write {expected}.")
WRAPPED = Message("Brackets, quotes or separators stand around a label: the file has {found}, write {expected}.")
JOINED = Message("Words are joined in another way: the file has {found}, write {expected}.")
DAMAGED = Message("Letters are damaged: the file has {found}, write {expected}.")
SIGNS = Message("Characters only look alike: the file has {found}, write {expected}.")
CAPITALS = Message("All letters are capitals: the file has {found}.")
LISTED = Message("Lists are written in another way: the file has {found}, write {expected}.")
UNCLEAR = Message("Lists are written in another way: the file has {found}.")
ABSENT = Message("A missing value is written as a label: the file has {found}.")
FRACTION = Message("Labels are whole numbers: the file has {found}.")
NO_NUMBER = Message("Labels are numbers: the file has {found}.")
NO_TEXT = Message("Labels are texts: the file has the number {found}.")
TWO_WRITINGS = Message("One label is written in two ways: the file has {found} and {expected}.")


@dataclass(frozen=True)
class Fault:
    """A label that is written otherwise than the sample's: the sentence that names the difference, and the label
    ``cured``, ``None`` if that is unclear. ``is_sure`` is false for a label that may well be one of the truth."""

    words: Message
    cured: str | None
    is_sure: bool = True


def _sort_of(fault: Fault, label: str) -> object:
    """A key that is equal for differences of which one is usual if the other is; ``None`` if none ever is."""
    if fault.words in (ZEROS, TRUTH_VALUES, NUMBER, FRACTION, NO_NUMBER, NO_TEXT):
        return None
    return frozenset(_cases_of(label)) if fault.words in (CASE, OTHER_CASE) else fault.words


class LabelForm:
    """The form of the label in the sample submission. ``labels`` are those of the truth: a difference of letters or
    marks that some of them have, as ``USA`` has from ``Germany``, is none."""

    def __init__(self, sample: str, labels: Iterable[str] = ()) -> None:
        self.sample = sample
        self.is_bare = _bare_label(sample) == sample
        value = to_decimal(sample)
        self.is_number = value is not None
        self.is_whole = value is not None and _is_whole(value)
        self.padded = _PADDED.fullmatch(sample)
        self.joiner = next((mark for mark in _JOINERS if mark in sample), None)
        self.styles = _cases_of(sample)
        self.is_word = sample[:1].isalpha() and not any(map(str.isdigit, sample))
        """Whether labels are words, so that a number is hardly one of them."""
        some = [sample, *islice(filter(None, labels), _MOST_LABELS)]
        self.letters = set("".join(some))
        """The characters of labels."""
        self.most_words = max(len(label.split()) for label in some)
        self.faultless: set[frozenset[str]] = set()
        """Labels of files in which nothing is written otherwise."""
        self._usual: set[object] = set()
        self._is_of_cases = False
        """Whether labels are in several cases, so that it is unclear which one is meant."""
        self._usual = {_sort_of(fault, label) for label in some if (fault := self.fault(label)) is not None} - {None}
        self._is_of_cases = any(isinstance(sort, frozenset) for sort in self._usual)

    def fault(self, label: str) -> Fault | None:
        found = None if label == self.sample else self._fault(label)
        return None if found is None or (self._usual and _sort_of(found, label) in self._usual) else found

    def _fault(self, label: str) -> Fault | None:
        if self.is_bare and (bare := _bare_label(label)) != label and bare:
            within = self.fault(bare)
            return Fault(WRAPPED, bare if within is None else within.cured)
        if (narrow := _with_usual_width(label)) != label:
            within = self.fault(narrow)
            return Fault(WIDE, narrow if within is None else within.cured)
        if (whole := mend_letters(label)) != label:
            return Fault(DAMAGED, whole)
        if (padded := self._padded(label)) is not None and padded != label:
            return Fault(ZEROS, padded)
        return self._fault_of_number(label) if self.is_number else self._fault_of_text(label)

    def _padded(self, label: str) -> str | None:
        """A numbered label with as many digits as the sample has, or ``None`` if one of them has other letters."""
        found = _NUMBERED.fullmatch(label)
        if self.padded is None or found is None:
            return None
        before, digits, after = self.padded.groups()
        if (before.casefold(), after.casefold()) != (found[1].casefold(), found[3].casefold()):
            return None
        return f"{before}{found[2].lstrip('0').zfill(len(digits))}{after}"

    def _fault_of_number(self, label: str) -> Fault | None:
        value = to_decimal(label)
        if value is not None:
            return Fault(FRACTION, None) if self.is_whole and not _is_whole(value, 4) else None
        if label.casefold() in _MISSING:
            return Fault(ABSENT, None)
        if self.sample in ("0", "1") and (truth := _TRUTH_VALUES.get(label.casefold())) is not None:
            return Fault(TRUTH_VALUES, "1" if truth else "0" if self.sample == "0" else None)
        plain = unicodedata.normalize("NFKC", label).replace("\u2212", "-").replace(",", ".").lstrip("'")
        if to_decimal(plain) is not None:
            return Fault(NUMBER, plain)
        return Fault(NO_NUMBER, None, is_sure=False)

    def _fault_of_text(self, label: str) -> Fault | None:
        if (same := self._same_truth_value(label)) is not None:
            return None if same == label else Fault(TRUTH_VALUES, same)
        if to_decimal(label) is not None:
            return Fault(NO_TEXT, None, is_sure=self.is_word)
        if self.styles and (styles := _cases_of(label)) and not self.styles & styles:
            if label.casefold() in _MISSING:
                return Fault(ABSENT, None)
            return Fault(OTHER_CASE, None) if self._is_of_cases else Fault(CASE, self._styled(label))
        if self.joiner and self.joiner not in label:
            other = next((mark for mark in _JOINERS if mark in label and mark not in self.sample), None)
            if other is not None:
                return Fault(JOINED, label.replace(other, self.joiner))
        if "_" in label and "_" not in self.letters and " " in self.letters:
            return Fault(JOINED, label.replace("_", " "))
        return None

    def _same_truth_value(self, label: str) -> str | None:
        """The truth value that a label means, written like the sample; ``None`` if one of them is none."""
        pair, truth = _PAIRS.get(self.sample.casefold()), _TRUTH_VALUES.get(label.casefold())
        return None if pair is None or truth is None else self._styled(pair[truth])

    def _styled(self, label: str) -> str:
        """The label in the sample's case."""
        if "lower" in self.styles:
            return label.lower()
        if "upper" in self.styles:
            return label.upper()
        words = label if any(map(str.islower, label[1:])) else label.lower()
        return words[:1].upper() + words[1:]


def _bare_label(label: str) -> str:
    """The label without brackets, quotes and a separator behind it; a list of several is left as it is."""
    if _UNMARKED.fullmatch(label):
        return label
    found = read_list(label)
    if len(found.items) == 1 and found.is_clear and found.writing != Writing():
        return found.items[0]
    return _LOOSE_END.sub("", label)


def _with_usual_width(label: str) -> str:
    """The label with letters and digits of full width, as East Asian keyboards write them, in their usual form."""
    return label if label.isascii() else _WIDE.sub(lambda found: chr(ord(found[0]) - 0xFEE0), label)


def _is_whole(value: Decimal, parts: int = 1) -> bool:
    """Whether a number is whole, or made of whole halves or quarters, as ratings are."""
    return value.copy_abs() >= _LARGE or (value * parts) % 1 == 0


def _cases_of(label: str) -> set[str]:
    """The cases that a label is written in; a single capital is upper case and capitalised, no letter is of any."""
    letters = [letter for letter in label if letter.isalpha() and letter.lower() != letter.upper()]
    if not letters:
        return set()
    found = set()
    if not any(map(str.isupper, letters)):
        found.add("lower")
    if all(map(str.isupper, letters)):
        found.add("upper")
    if letters[0].isupper() and (len(letters) == 1 or any(map(str.islower, letters))):
        found.add("capital")
    return found


def _letters_of(label: str) -> str:
    """The label without case, marks between words, and leading zeros of its numbers."""
    letters = _JOINER.sub("", unicodedata.normalize("NFKC", label).casefold())
    return re.sub(r"(?<!\d)0+(?=\d)", "", letters)


def typical_label(labels: Iterable[str]) -> str:
    """The first label of the form that most labels have, ``""`` without labels: a sample shows how labels are written.

    >>> typical_label(["NASA", "2020", "moon", "space"])
    'moon'
    """
    by_form: dict[object, list[str]] = {}
    for label in sorted(filter(None, labels))[:_MOST_LABELS]:
        by_form.setdefault(_form_key(label), []).append(label)
    return max(by_form.values(), key=len, default=[""])[0]


def _form_key(label: str) -> object:
    if to_decimal(label) is not None:
        return bool(NAME_OF_DIGITS.match(label))
    return frozenset(_cases_of(label)) or "no letters"


def twins_of(labels: list[str]) -> dict[str, str]:
    """Labels that are hardly another than an earlier one, and that one: they differ only in case, marks between or
    around words, width, leading zeros, or the word for true.

    Two numbers are no twins, because they are compared by their values; two letters neither, because some are labels
    for both cases.

    >>> twins_of(["Benign", "benign", "x-1", "x_1", "other"])
    {'benign': 'Benign', 'x_1': 'x-1'}
    """
    first: dict[object, str] = {}
    found = {}
    has_words = any(label.casefold() in _PAIRS for label in labels)
    for label in labels:
        earlier = first.setdefault(_meaning_of(label, has_words=has_words), label)
        if earlier != label and not (_is_number(earlier) and _is_number(label)):
            found[label] = earlier
    return found


def _is_number(label: str) -> bool:
    return to_decimal(label) is not None and not NAME_OF_DIGITS.match(label)


def _meaning_of(label: str, *, has_words: bool) -> object:
    """A key that labels share if they are hardly two. With ``has_words`` 1 and 0 may be truth values, too."""
    bare = mend_letters(_with_usual_width(_bare_label(label)))
    if has_words and (truth := _TRUTH_VALUES.get(bare.casefold())) is not None:
        return truth
    if (number := to_decimal(bare.replace(",", "."))) is not None:
        return number
    return bare if len(bare) == 1 else _letters_of(_POINT.sub("", bare))
