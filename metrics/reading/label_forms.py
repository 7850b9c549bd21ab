"""Whether a label is written like the one in the sample submission, and how it would be written so.

A label is compared with the form of the sample's label, which is public: its type, leading zeros and case. Of the
truth's labels only this counts: their characters, their most words, and which differences are usual among them.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from ..core.messages import Message
from .column_names import without_accents
from .columns import NAME_OF_DIGITS, to_decimal
from .dates import date_form
from .header_problems import letters_of
from .repairs import LATIN_LOOKS, mend_letters
from .writings import Writing, read_list

_WORDS = (
    "false/true no/yes off/on falsch/wahr nein/ja faux/vrai non/oui falso/vero no/sì falso/verdadero no/sí"
    " falso/verdadeiro não/sim onwaar/waar nee/ja fałsz/prawda nie/tak nepravda/pravda ne/ano falskt/sant nej/ja"
    " falsk/sand usann/sann nei/ja epätosi/tosi ei/kyllä hamis/igaz nem/igen yanlış/doğru yanliş/doğru hayır/evet"
    " hayir/evet ложь/истина нет/да хибність/істина ні/так fals/adevărat nu/da ψευδησ/αληθησ όχι/ναι 假/真 否/是 错/对"
    " いいえ/はい 아니오/예 ✗/✓ ✘/✔ ☐/☑"
)
_PAIRS = [tuple(pair.split("/")) for pair in _WORDS.split()]
"""False and true, as spreadsheets and people write them."""
_LETTERS = [("f", "t"), ("n", "y"), ("0", "1"), ("0.0", "1.0"), ("no", "si"), ("nao", "sim")]
"""Further ones, which samples may have for other reasons: F is female, too."""
TRUTH_VALUES_OF = {pair[is_true].casefold(): bool(is_true) for pair in [*_PAIRS, *_LETTERS] for is_true in (0, 1)}

_MISSING = frozenset({"na", "nan", "<na>", "null", "none", "nil", "nat", "#n/a", "n/a"})
_PADDED = re.compile(r"(\D*)(0\d+)(\D*)")
_NUMBERED = re.compile(r"(\D*)(\d+)(?:\.0*)?(\D*)")
_MOST_LABELS = 10_000
_LARGE = Decimal(10) ** 15
_JOINERS = " _-"
_JOINER = re.compile(r"(?<=[^\W_])[ _-]+(?=[^\W\d_])|(?<=[^\W\d_])[ _-]+(?=[^\W_])")
_OTHER_FORMS = re.compile("[\uff01-\uffee\ufb00-\ufb06\u2160-\u217f\u2460-\u2473\U0001d400-\U0001d7ff]+")
"""Letters and digits of full and half width, in ligatures and circles, and as formulas have them."""
_POINT = re.compile(r"(?<=[0-9])\.0*$")
_UNMARKED = re.compile(r"[^\W\d_](?:[\w-]*\w)?")
_PLACE = re.compile(r"\d{1,3}[.)] (?=\S)")
_SCORE = re.compile(r"(?<=\S)(?:\s?(?:[:=]\s?|(\())|\s)(?:[01]?\.\d+|\d+(?:[.,]\d+)?\s?%)(?(1)\))$")
"""A probability behind a label: ``cat:0.9``, ``cat (93 %)``."""
_NEVER = frozenset({"nan", "<na>", "nat", "#n/a", "#value!", "#ref!", "#name?", "#div/0!"})
"""Missing values that are hardly a label."""
_WORD_AND_NUMBER = re.compile(r"(\D{0,40})(\d+)")
_NUMBER_AND_WORD = re.compile(r"(?=.{0,40}$)[^\W\d]*[\W_]*?((?:(?<![^\W_])-)?\d+(?:\.\d+)?)(-?)[\W_]*[^\W\d]*")
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_MARKS = re.compile(r"[\s_.'’-]+")
_CAMEL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")

ZEROS = Message("Leading zeros differ: the file has {found}, write {expected}.")
CASE = Message("Upper and lower case differ: the file has {found}, write {expected}.")
OTHER_CASE = Message("Upper and lower case differ from the sample's: the file has {found}.")
TRUTH_VALUES = Message("True and false are written in another way: the file has {found}, write {expected}.")
NUMBER = Message("Numbers are written in another way: the file has {found}, write {expected}.")
WRAPPED = Message("Brackets, quotes or separators stand around a label: the file has {found}, write {expected}.")
JOINED = Message("Words are joined in another way: the file has {found}, write {expected}.")
DAMAGED = Message("Letters are damaged: the file has {found}, write {expected}.")
LOST = Message("Letters are lost: the file has {found}. Save it as UTF-8.")
LOOKALIKE_LETTERS = Message("Letters or marks differ from the sample's: the file has {found}, write {expected}.")
NUMBERED = Message("Words stand otherwise beside a number: the file has {found}, write {expected}.")
DATE = Message("Dates are written in another way: the file has {found}.")
SIGNS = Message("Characters only look alike: the file has {found}, write {expected}.")
CAPITALS = Message("All letters are capitals: the file has {found}.")
SMALL = Message("No letter is a capital: the file has {found}.")
TOKENS = Message("Marks of a program stand among the words: the file has {found}, write {expected}.")
LISTED = Message("Lists are written in another way: the file has {found}, write {expected}.")
UNCLEAR = Message("Lists are written in another way: the file has {found}.")
ABSENT = Message("A missing value is written as a label: the file has {found}.")
COUNTED = Message("Labels begin at another number: the file has {found}, the least one is {expected}.")
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
    if fault.words in (ZEROS, NUMBER, FRACTION, NO_NUMBER, NO_TEXT):
        return None
    return frozenset(_cases_of(label)) if fault.words in (CASE, OTHER_CASE) else fault.words


class LabelForm:
    """The form of the label in the sample submission. ``labels`` are those of the truth: a difference of letters or
    marks that some of them have, as ``USA`` has from ``Germany``, is none."""

    def __init__(self, sample: str, labels: Iterable[str] = (), *, is_least: bool = False) -> None:
        self.sample = sample
        self.is_bare = _bare_label(sample) == sample
        value = to_decimal(sample)
        self.least = value if is_least else None
        """The number in the sample, if none of the truth is less."""
        self.is_number = value is not None
        self.is_whole = value is not None and _is_whole(value)
        self.padded = _PADDED.fullmatch(sample)
        self.joiner = next((mark for mark in _JOINERS if mark in sample), None)
        self.numbered = _WORD_AND_NUMBER.fullmatch(sample) if sample[:1].isalpha() else None
        self.styles, self.spellings = _cases_of(sample), _spellings(sample)
        self.is_word = sample[:1].isalpha() and not any(map(str.isdigit, sample))
        """Whether labels are words, so that a number is hardly one of them."""
        some = [sample, *islice(filter(None, labels), _MOST_LABELS)]
        self.letters = set("".join(some))
        """The characters of labels."""
        self.is_latin = not any("\u0370" <= letter <= "\u04ff" for letter in self.letters)
        self._known = some
        self.most_words = max(len(label.split()) for label in some)
        self.dates = date_form(sample, some[1:])
        self.pair = _pair_of(sample, {label.casefold() for label in some})
        self._plain = _plain_form(sample) if self.pair is None and not (self.least and self.least > 0) else None
        self.faultless: set[frozenset[str]] = set()
        """Labels of files in which nothing is written otherwise."""
        self._usual: set[object] = set()
        self._is_of_cases = False
        """Whether labels are in several cases, so that it is unclear which one is meant."""
        self._usual = {_sort_of(fault, label) for label in some if (fault := self.fault(label)) is not None} - {None}
        self._is_of_cases = any(isinstance(sort, frozenset) for sort in self._usual)

    def faults(self, labels: Sequence[str]) -> dict[int, Fault]:
        """The faults of distinct labels by their places; of very many the first ones stand for all."""
        found: dict[int, Fault] = {}
        first, last = self._further_words(labels[:_MOST_LABELS])
        for place, label in enumerate(labels):
            if place >= _MOST_LABELS and len(found) < place:
                break
            fault = self.fault(label) if label else None
            is_longer = bool(first or last) and label.startswith(first) and label.endswith(last)
            if is_longer and (fault is None or not fault.is_sure or fault.words in (CASE, OTHER_CASE)):
                fault = Fault(WRAPPED, label[len(first) : len(label) - len(last)])
            if fault is not None:
                found[place] = fault
        return found

    def _further_words(self, labels: Sequence[str]) -> tuple[str, str]:
        """What stands in front of and behind a label that has the sample in it, as in ``Answer: cat``, or all labels;
        ``""`` if labels of the truth have it."""
        met = [label for label in labels if label]
        if not met or self.is_number:
            return "", ""
        within = next((one for one in met if self._holds_sample(one)), None) if self.is_word else None
        if within is not None:
            first, _, last = within.partition(self.sample)
        else:
            first, last = _shared_start(met), _shared_start([label[::-1] for label in met])[::-1]
            if not (first or last) or any(map(_is_number, met)):
                return "", ""
            rest = [label[len(first) : len(label) - len(last)] for label in met]
            if len(met) < 2 or not all(one and self.fault(one) is None for one in rest):
                return "", ""
        first = "" if any(label.startswith(first) for label in self._known) else first
        return first, "" if any(label.endswith(last) for label in self._known) else last

    def _holds_sample(self, label: str) -> bool:
        """Whether a label is the sample with other words beside it."""
        if self.sample not in label or label == self.sample:
            return False
        first, _, last = label.partition(self.sample)
        return not first[-1:].isalnum() and not last[:1].isalnum()

    def fault(self, label: str) -> Fault | None:
        is_plain = label == self.sample or (self._plain is not None and self._plain.fullmatch(label) is not None)
        found = None if is_plain and label not in _NEVER else self._fault(label)
        return None if found is None or (self._usual and _sort_of(found, label) in self._usual) else found

    def _fault(self, label: str) -> Fault | None:
        if self.is_bare and (bare := _bare_label(label)) != label and bare:
            within = self.fault(bare)
            return Fault(WRAPPED, bare if within is None else within.cured)
        if (usual := with_usual_letters(label)) != label:
            within = self.fault(usual)
            return Fault(SIGNS, usual if within is None else within.cured)
        if (whole := mend_letters(label)) != label:
            return Fault(DAMAGED, whole)
        if "\ufffd" in label or ("?" in label and "?" not in self.letters and not "".join(self.letters).isascii()):
            return Fault(LOST, None)
        if self.is_latin and not label.isascii() and (looks := label.translate(LATIN_LOOKS)).isascii():
            return Fault(SIGNS, looks)
        if self.dates is not None and self.dates.is_foreign(label):
            return Fault(DATE, self.dates.cure(label))
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
            if self.least is not None and value < self.least:
                return Fault(COUNTED, self.sample)
            if value < 0 and self.least is None and "-" not in self.letters:  # in lists of one length
                return Fault(ABSENT, None)
            return Fault(FRACTION, None) if self.is_whole and not _is_whole(value, 4) else None
        if label.casefold() in _MISSING:
            return Fault(ABSENT, None)
        if self.sample in ("0", "1") and (truth := TRUTH_VALUES_OF.get(label.casefold())) is not None:
            return Fault(TRUTH_VALUES, "1" if truth else "0" if self.sample == "0" else None)
        plain = unicodedata.normalize("NFKC", label).replace("\u2212", "-").replace(",", ".").lstrip("'")
        if to_decimal(plain) is not None:
            return Fault(NUMBER, plain)
        if (numbered := _NUMBER_AND_WORD.fullmatch(label)) is not None:
            return Fault(NUMBERED, None if numbered[2] else numbered[1])
        return Fault(NO_NUMBER, None, is_sure=False)

    def _fault_of_text(self, label: str) -> Fault | None:
        if (same := self._same_truth_value(label)) is not None:
            return None if same == label else Fault(TRUTH_VALUES, same)
        if label.casefold() in _NEVER:
            return Fault(ABSENT, None)
        if (numbered := self._numbered_otherwise(label)) is not None:
            return numbered
        if to_decimal(label) is not None or _DECIMAL_COMMA.fullmatch(label):
            return Fault(NO_TEXT, None, is_sure=self.is_word)
        if self.styles and (styles := _cases_of(label)) and not self.styles & styles:
            if label.casefold() in _MISSING:
                return Fault(ABSENT, None)
            is_unclear = self._is_of_cases or self.pair is not None
            return Fault(OTHER_CASE, None) if is_unclear else Fault(CASE, self._styled(label))
        if (joined := self._joined(label)) != label:
            return Fault(JOINED, joined)
        return None if self.spellings.isdisjoint(_spellings(label)) else Fault(LOOKALIKE_LETTERS, self.sample)

    def _numbered_otherwise(self, label: str) -> Fault | None:
        """The fault of a number alone or behind another word than the sample's, as ``1`` beside ``class_0``."""
        other = _WORD_AND_NUMBER.fullmatch(label) if self.numbered is not None else None
        if self.numbered is None or other is None or letters_of(other[1]) == letters_of(self.numbered[1]):
            return None
        return Fault(NUMBERED, f"{self.numbered[1]}{other[2]}")

    def _joined(self, label: str) -> str:
        """The label with its words joined as in the sample, or with spaces if no label has an underscore."""
        if self.joiner and self.joiner not in label:
            other = next((mark for mark in _JOINERS if mark in label and mark not in self.sample), None)
            return label.replace(other, self.joiner) if other is not None else _CAMEL.sub(self.joiner, label)
        is_spaced = "_" in label and "_" not in self.letters and " " in self.letters
        return label.replace("_", " ") if is_spaced else label

    def _same_truth_value(self, label: str) -> str | None:
        """The truth value that a label means, written like the sample; ``None`` if one of them is none."""
        truth = TRUTH_VALUES_OF.get(label.casefold())
        return None if self.pair is None or truth is None else self._styled(self.pair[truth])

    def _styled(self, label: str) -> str:
        """The label in the sample's case."""
        if "lower" in self.styles:
            return label.lower()
        if "upper" in self.styles:
            return label.upper()
        words = label if any(map(str.islower, label[1:])) else label.lower()
        return words[:1].upper() + words[1:]


def _plain_form(sample: str) -> re.Pattern[str] | None:
    """The labels that are certainly written like a plain sample, so that most labels need no closer look."""
    if found := re.fullmatch("([A-Za-z]*[-_]?)(0|[1-9][0-9]*|0[0-9]+)", sample):
        digits = "[0-9]" * len(found[2]) if NAME_OF_DIGITS.match(found[2]) else "(?:0|[1-9][0-9]*)"
        return re.compile(re.escape(found[1]) + digits)
    forms = ("[a-z]{2,}", "[A-Z]{2,}", "[A-Z][a-z]+")
    return next((re.compile(form) for form in forms if re.fullmatch(form, sample)), None)


def _shared_start(labels: Collection[str]) -> str:
    """The beginning that all labels share, up to a space or mark."""
    least, most = min(labels), max(labels)
    size = next((at for at, (one, other) in enumerate(zip(least, most, strict=False)) if one != other), len(least))
    return least[: max((at + 1 for at in range(size) if not least[at].isalnum()), default=0)]


def _pair_of(sample: str, labels: set[str]) -> tuple[str, ...] | None:
    """False and true in the sample's language, if it is one of them; several languages may have it."""
    pairs = [pair for pair in _PAIRS if sample.casefold() in pair]
    pairs += [pair for pair in _LETTERS if sample.casefold() in pair and labels == {*pair}]
    return next((pair for pair in pairs if labels.issuperset(pair)), pairs[0] if pairs else None)


def _bare_label(label: str) -> str:
    """The label without brackets, quotes, other marks around it and a score behind it; a list of several is left as it
    is."""
    if _UNMARKED.fullmatch(label) or to_decimal(label) is not None:
        return label
    found = read_list(label.removeprefix("="))
    if found.is_clear and (found.writing != Writing() or found.items[:1] != (label,)):
        if len(found.items) == 1:
            return found.items[0]
        if len(found.items) == 2 and found.writing.brackets and "." in found.items[1] and to_decimal(found.items[1]):
            return found.items[0].strip("'\"")
    bare = _PLACE.sub("", _SCORE.sub("", label), count=1).strip("*_~ ").rstrip(":,;|.!…/ ")
    bare = bare[2:] if bare[:2] in ("- ", "– ") else bare.lstrip("#•@' ")
    return (bare if "(" in bare else bare.rstrip(")")) or label


def with_usual_letters(label: str) -> str:
    """The label with letters and digits in their usual form, as East Asian keyboards, formulas and other scripts have
    others.

    >>> with_usual_letters("ｃａｔ"), with_usual_letters("٣"), with_usual_letters("ﬁn")
    ('cat', '3', 'fin')
    """
    if label.isascii():
        return label
    found = _OTHER_FORMS.sub(lambda some: unicodedata.normalize("NFKC", some[0]), label)
    return "".join(str(unicodedata.decimal(one)) if one.isdecimal() else one for one in found)


def _spellings(label: str) -> set[str]:
    """The letters of a label without accents, case and marks between words, also with umlauts written out."""
    letters = label.casefold()
    if letters.isascii():
        return {letters if letters.isalnum() else _MARKS.sub("", letters)}
    return {_MARKS.sub("", without_accents(one)) for one in (letters, letters.translate(_WRITTEN_OUT))}


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
    return frozenset(_cases_of(label)) or "no letters", _bare_label(label) == label


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
    folded = {label.casefold() for label in labels}
    has_words = not folded.isdisjoint(("true", "false", "yes")) or any(map(folded.issuperset, _PAIRS))
    for label in labels:
        earlier = first.setdefault(_meaning_of(label, has_words=has_words), label)
        if earlier != label and not (_is_number(earlier) and _is_number(label)):
            found[label] = earlier
    return found


def _is_number(label: str) -> bool:
    return to_decimal(label) is not None and not NAME_OF_DIGITS.match(label)


def _meaning_of(label: str, *, has_words: bool) -> object:
    """A key that labels share if they are hardly two. With ``has_words`` 1 and 0 may be truth values, too."""
    bare = mend_letters(with_usual_letters(_bare_label(label)))
    if has_words and (truth := TRUTH_VALUES_OF.get(bare.casefold())) is not None:
        return truth
    if (number := to_decimal(bare.replace(",", "."))) is not None:
        return number
    return bare if len(bare) == 1 else _letters_of(_POINT.sub("", bare))
