"""Which columns of an answer file students predict, by its cells, the names of its columns and those of other files.

A wrong guess asks a class for the wrong thing, so the rules decide only where one reading is left. Names are compared
without case, spaces and punctuation.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..reading.column_names import without_accents
from ..reading.columns import to_decimal
from ..reading.header_problems import is_index, letters_of
from ..reading.split_words import USAGE, are_parts, are_split_words
from ..reading.tables import Table, blank_rows, pick, spread_rows

_MOST_ROWS, _MOST_CELLS = 2_000, 200_000
"""The most rows that are looked at, and the most cells of all columns together."""

_SHARE_OF_NAMES = 0.9
_ENOUGH_ROWS = 10
_WORDS_OF_TEXT, _LETTERS_OF_TEXT = 5, 40
_MOST_TOGETHER = 30
"""More 0/1 columns than this are answers together only if their names share a word."""

_DATE = re.compile(
    r"([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2}))"
    r"([T ,]+[0-9]{1,2}:[0-9]{2}.*)?|[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?"
)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(without_accents(text).split())


_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]+")
_ID_OF = re.compile(
    r"(user|item|movie|image|customer|passenger|product|patient|session|test|row|doc|document|query|order|store)ids?"
)

_ANSWER_WORDS = _word_set(
    "target targets label labels class classes answer answers outcome response truth prediction gold y category rating"
    " ratings sentiment ziel zielwert zielvariable klasse kategorie antwort antworten ergebnis etikett losung loesung"
    " cible classe etiquette reponse objetivo clase etiqueta respuesta alvo rotulo resposta obiettivo etichetta"
    " risposta gabarito etykieta klasa odpowiedz trida odpoved svar facit klass antwoord etiket sinif cevap метка класс"
    " ответ 标签 类别 答案 ラベル 正解 答え"
)
_FILLERS = _word_set("true correct actual final real value values name id test the is wert valeur valor")
"""Words that may stand beside an answer's: `true_label`, `target value`."""

_REMARKS = _word_set(
    "checked check comment comments remark remarks reviewer reviewed annotator annotated grader gepruft"
    " geprueft kommentar kommentare bemerkung bemerkungen notiz notizen pruefer prufer verifie verifiee commentaire"
    " commentaires remarque remarques revisado comentario comentarios observacion observaciones controllato commento"
    " commenti corrigido verificado observacao observacoes opmerking opmerkingen gecontroleerd granskad anmarkning"
    " sprawdzil sprawdzila sprawdzone uwagi komentarz kontroloval poznamka kontrol not notlar проверил проверила"
    " комментарий примечание 备注 审核人 備考 確認者"
)
_NOTES = _word_set("note notes")
"""Remarks where they are texts; numbers are marks in French and German."""

_DESCRIPTIONS = _word_set(
    "email mail by author source url link file filename path image img picture photo text title name description"
    " created updated"
    " von quelle bild datei titel beschreibung par auteur fichier titre texte nom por autor fuente archivo titulo texto"
    " nombre da fonte"
)
_PEOPLE = _word_set("by von par por door av od")
"""Words in front of a person who did something to a row."""
_ROLES = _word_set(
    "fold group groups gruppe groupe grupo gruppo subject patient user item session customer confidence index row split"
    " usage"
)
_IDS = _word_set("id ids key uuid guid nr no num number row nummer numero identifier kennung code")
_WEIGHTS = _word_set("sampleweight rowweight exampleweight weights wt w")
_PAIRS = (
    (
        _word_set("time duration days tenure lifetime survival followup"),
        _word_set("event status death dead churn censored"),
    ),
    (_word_set("lat latitude"), _word_set("lon lng long longitude")),
)

_SAMPLE_FILE = re.compile(r"sample.*sub|sub.*(sample|format|example)|submission")
_PERFECT_FILE = re.compile(r"perfect|best|true|gold")
_TRAIN_FILE = re.compile(r"train|lern|entrain|entren|apprend")
_TEST_FILE = re.compile(r"test|predict|eval|holdout|hold.out|unlabel")


@dataclass(frozen=True)
class ColumnFacts:
    """Facts about a column: its ``kind`` (``blank``, ``sparse``, ``constant``, ``split``, ``usage``, ``counter``,
    ``binary``, ``numbers``, ``dates``, ``text``, ``names`` or ``labels``), and whether each row has another cell."""

    name: str
    kind: str
    is_distinct: bool

    @property
    def may_be_answer(self) -> bool:
        return self.kind in ("binary", "numbers", "labels")


@dataclass(frozen=True)
class AnswerProposal:
    """The columns of an answer file by their part. Without ``answers`` the host must choose among ``possible``;
    ``split_column`` is to become ``Usage``.

    ``why`` is the reason: ``absent`` from the test set, ``train``: of all columns only these are in the training data,
    ``sample``, ``name``, ``together``, ``only``, or ``asked``.
    """

    id_column: str
    split_column: str
    answers: tuple[str, ...]
    possible: tuple[str, ...]
    why: str


# --- the cells --------------------------------------------------------------------------------------------------


def describe_columns(table: Table) -> list[ColumnFacts]:
    """The facts about each column, from at most 2,000 rows drawn evenly; whether cells differ or agree, from all."""
    most = min(_MOST_ROWS, max(200, _MOST_CELLS // max(len(table.names), 1)))
    rows = spread_rows(table.rows, most)
    return [_facts_of(name, table.column(name), rows) for name in table.names]


def _facts_of(name: str, array: Any, rows: np.ndarray) -> ColumnFacts:
    cells = pick(array, rows).to_pylist()
    filled = [cell for cell in cells if cell]
    is_distinct = len(set(cells)) == len(cells) == len(filled) > 0
    is_distinct = is_distinct and (len(rows) == len(array) or len(array.unique()) == len(array))
    if 2 * len(filled) < len(cells):
        is_blank = not filled and len(blank_rows(array)) == len(array)
        return ColumnFacts(name, "blank" if is_blank else "sparse", is_distinct)
    if len(set(filled)) == 1 and len(array) > 1 and len([text for text in array.unique().to_pylist() if text]) == 1:
        return ColumnFacts(name, "constant", is_distinct)
    kind = "split" if are_split_words(set(filled), name) else _kind_of(filled, is_distinct)
    if name == USAGE and are_parts(filled):
        kind = "usage"
    return ColumnFacts(name, kind, is_distinct)


def _kind_of(filled: Sequence[str], is_distinct: bool) -> str:
    distinct = set(filled)
    numbers = [to_decimal(cell) for cell in filled]
    values = [float(number) for number in numbers if number is not None]
    if len(values) == len(filled):
        if set(values) <= {0.0, 1.0}:
            return "binary"
        steps = set(np.diff(values).tolist())
        return "counter" if is_distinct and len(filled) > _ENOUGH_ROWS and steps == {1.0} else "numbers"
    if all(_DATE.fullmatch(cell) for cell in distinct):
        return "dates"
    return _kind_of_texts(filled, distinct)


def _kind_of_texts(filled: Sequence[str], distinct: Collection[str]) -> str:
    words = [cell.split() for cell in filled]
    of_letters = sum(any(map(str.isalpha, word)) for cell in words for word in cell)
    is_prose = 2 * of_letters > sum(map(len, words)) and 2 * len(distinct) > len(filled)
    if is_prose and (
        sum(map(len, words)) > _WORDS_OF_TEXT * len(words) or sum(map(len, filled)) > _LETTERS_OF_TEXT * len(filled)
    ):
        return "text"
    are_single = all(len(cell) <= 1 for cell in words) or is_prose
    is_each_another = len(distinct) >= _SHARE_OF_NAMES * len(filled) and len(filled) >= _ENOUGH_ROWS
    return "names" if are_single and is_each_another else "labels"


# --- the other files --------------------------------------------------------------------------------------------


def is_sample_file(name: str) -> bool:
    """Whether a file of this name is a sample submission, as `gender_submission.csv` is."""
    folded = name.casefold()
    return bool(_SAMPLE_FILE.search(folded)) and not _PERFECT_FILE.search(folded)


def is_train_file(name: str) -> bool:
    return bool(_TRAIN_FILE.search(name.casefold()))


def _train_and_test(files: Mapping[str, frozenset[str]]) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The columns of training data and of test sets, by the names of files; else a table with all columns of another
    and more is training data, and the other a test set."""
    named = {name: (is_train_file(name), bool(_TEST_FILE.search(name.casefold()))) for name in files}
    train = [names for file, names in files.items() if named[file][0]]
    test = [names for file, names in files.items() if named[file] == (False, True)]
    others = [names for file, names in files.items() if not any(named[file])]
    smaller = [names for names in others if any(names < more for more in (*train, *others))]
    larger = [names for names in others if any(names > fewer for fewer in (*test, *others))]
    return train + larger, test + smaller


# --- the proposal -----------------------------------------------------------------------------------------------


def propose_answers(columns: Sequence[ColumnFacts], files: Mapping[str, Sequence[str]]) -> AnswerProposal:
    """The columns that students predict; ``files`` are the tables that students get: name → names of its columns."""
    lettered = {file: frozenset(map(letters_of, names)) for file, names in files.items() if not is_sample_file(file)}
    in_train, in_test = (frozenset().union(*tables) for tables in _train_and_test(lettered))
    in_sample = next((list(map(letters_of, names)) for file, names in files.items() if is_sample_file(file)), [])
    split = _split_column(columns, in_train)
    others = [one for one in columns if one.name not in (USAGE, split)]
    key = _id_column(others, in_sample[:1], in_test)
    free = [one for one in others if one.name != key]
    answers, why = _answers_among(free, in_train, in_test, in_sample[1:])
    possible = tuple(one.name for one in _leave_out(free, _is_unlikely))
    return AnswerProposal(key, split, tuple(one.name for one in answers), possible, why if answers else "asked")


def _split_column(columns: Sequence[ColumnFacts], in_train: Collection[str]) -> str:
    """The column that names public and private rows and must be renamed or translated; ``""`` if there is none."""
    found = [one.name for one in columns if one.kind == "split"]
    if USAGE in found:
        return USAGE
    is_named = any(one.name == USAGE for one in columns)
    return next((name for name in found if letters_of(name) not in in_train and not is_named and len(columns) > 2), "")


def _id_column(columns: Sequence[ColumnFacts], first_of_sample: Collection[str], in_test: Collection[str]) -> str:
    """The sample's first column; else, of the columns whose cells all differ and that may be ids, one that the test set
    has, then one named like an id, then the first. If there are none, the same order decides among all columns."""

    def rank(place: int) -> tuple[Any, ...]:
        one = columns[place]
        letters = letters_of(one.name)
        # A number that happens to differ in each row, such as a price, is no id.
        is_key = not place or _is_id(one.name) or letters in in_test or one.kind in ("names", "labels", "counter")
        return (
            letters not in first_of_sample,
            not (one.is_distinct and is_key),
            is_index(one.name),
            letters not in in_test,
            not _is_id(one.name),
            place,
        )

    return columns[min(range(len(columns)), key=rank)].name if columns else ""


def _answers_among(
    free: Sequence[ColumnFacts], in_train: Collection[str], in_test: Collection[str], in_sample: Collection[str]
) -> tuple[list[ColumnFacts], str]:
    """The answers and the reason; none if several readings are left."""
    if asked := [one for one in free if letters_of(one.name) in in_sample]:
        return asked, "sample" if len(free) > 1 else "only"
    left, why = list(free), "only"
    if absent := [one for one in free if letters_of(one.name) not in in_test]:
        left = absent
        why = "absent" if in_test and len(absent) < len(free) else "only"
    if trained := [one for one in left if letters_of(one.name) in in_train]:
        why = "train" if why == "only" and len(trained) < len(left) else why
        left = trained
        if in_test and len(trained) > 1:
            return _leave_out(left, lambda one: not one.may_be_answer), "absent"
    left = _leave_out(left, lambda one: not one.may_be_answer)
    left = _leave_out(left, _is_unlikely)
    named = [one for one in left if _is_named_like_an_answer(one.name)]
    if len(left) > 1 and named and not _are_family(left):
        left, why = named, "name"
    if len(left) > 1:
        why = "together"
    return (left, why) if len(left) == 1 or _belong_together(left) else ([], "asked")


def _leave_out(columns: Sequence[ColumnFacts], is_out: Callable[[ColumnFacts], bool]) -> list[ColumnFacts]:
    """The columns that are not out; all of them if none would be left."""
    return [one for one in columns if not is_out(one)] or list(columns)


def _is_unlikely(one: ColumnFacts) -> bool:
    """Whether a column is more likely a remark, an id, a group or a weight than an answer."""
    words = _words_of(one.name)
    if not one.may_be_answer or is_index(one.name) or not words or letters_of(one.name) in _WEIGHTS:
        return True
    if words & _ANSWER_WORDS:
        return False
    if words & _REMARKS or words <= _ROLES | _IDS or _is_id(one.name):
        return True
    return one.kind == "labels" and (bool(words & (_NOTES | _PEOPLE)) or words <= _DESCRIPTIONS | _FILLERS)


def _is_named_like_an_answer(name: str) -> bool:
    words = _words_of(name)
    return bool(words & _ANSWER_WORDS) and words <= _ANSWER_WORDS | _FILLERS


def _is_id(name: str) -> bool:
    words = _words_of(name)
    return bool(words & {"id", "ids", "uuid", "guid"}) or words <= _IDS or bool(_ID_OF.fullmatch(letters_of(name)))


def _belong_together(columns: Sequence[ColumnFacts]) -> bool:
    """Whether columns are answers together: all 0 and 1, a time with its event, a place, or names of one family."""
    names = [_words_of(one.name) for one in columns]
    if len(columns) == 2 and any((a & x and b & y) or (a & y and b & x) for a, b in _PAIRS for x, y in [names]):
        return True
    kinds = {one.kind for one in columns}
    if kinds == {"binary"} and len(columns) <= _MOST_TOGETHER:
        return True
    return bool(columns) and kinds <= {"binary", "numbers"} and bool(frozenset.intersection(*names) - _FILLERS)


def _are_family(columns: Sequence[ColumnFacts]) -> bool:
    """Whether columns of numbers share a word for answers, as `target_x` and `target_y` do."""
    shared = frozenset.intersection(*(_words_of(one.name) for one in columns))
    return bool(shared & _ANSWER_WORDS) and {one.kind for one in columns} <= {"binary", "numbers"}


def _words_of(name: str) -> frozenset[str]:
    """The words of a name, without case, accents and digits.

    >>> sorted(_words_of("trueLabel_2")), sorted(_words_of("Geprüft von"))
    (['label', 'true'], ['gepruft', 'von'])
    """
    words = _WORD.findall(_CAMEL.sub(" ", without_accents(name)))
    return frozenset(word.casefold() for word in words)
