"""Read class lists exported from Canvas, Moodle, Brightspace, Blackboard and spreadsheets.

Columns are found by their titles in these systems and by their cells, in several languages and in any order. Every line
becomes a student, or is skipped with a reason. This module does not use the database.
"""

from __future__ import annotations

import codecs
import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.common.names import clean_text
from metrics.reading.encodings import encoding_title, guess_encoding
from metrics.reading.repairs import mend_double_utf8

from . import roster_titles
from .roster_columns import EMAIL, NAMED_EMAIL, RosterTable, find_columns, find_table
from .roster_rows import UnreadableRoster as UnreadableRoster
from .roster_rows import count_titles, numbered_rows

MAX_ROSTER_BYTES = 1_000_000
MAX_ROSTER_ROWS = 5_000
FIELD_LABELS = {
    "name": gettext_lazy("Name"),
    "email": gettext_lazy("E-mail address"),
    "student_id": gettext_lazy("Student ID"),
    "sis_user_id": gettext_lazy("SIS user ID"),
    "login": gettext_lazy("Login"),
    "lms_user": gettext_lazy("Person of a learning platform"),
    "section": gettext_lazy("Section"),
}
MAX_CHARACTERS = {
    "name": 200,
    "email": 254,
    "student_id": 100,
    "sis_user_id": 100,
    "login": 150,
    "section": 200,
    "lms_user": 300,
}

_NUMBERS = ("student_id", "sis_user_id", "login")
_FORMULA = re.compile(r'=(?:T\()?"(.*?)"\)?')
_ENTITY = re.compile(r"&#?\w{2,8};")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3}){2,}|\d{1,3}(?:['’]\d{3})+")
# With three zeros it may be twelve thousand.
_WHOLE_DECIMAL = re.compile(r"(\d+)[.,]00?")
_EXPONENT = re.compile(r"\d([.,]\d+)?[eE]\+\d{1,3}")
_MONTH = (
    "jan|feb|fév|fev|mar|mär|mrt|apr|avr|abr|ene|gen|mag|mai|may|mei|maj|jui|jun|giu|jul|lug|aug|aoû|ago|sep|set|oct|okt"
    "|ott|out|nov|dec|dez|déc|dic"
)
# A section 1-31 or a number 12.3 becomes one of these.
_DATE = re.compile(
    rf"(\d{{4}}-\d\d-\d\d|\d{{1,2}}([./])\d{{1,2}}\2(\d\d){{1,2}})([ T]\d\d?:\d\d(:\d\d)?)?"
    rf"|\d{{1,2}}\.?[ -]({_MONTH})[a-zéû]?\.?([ -]\d{{2,4}})?|({_MONTH})[a-zéû]?\.?([ -]\d{{1,2}}|[ ]\d{{4}})",
    re.IGNORECASE,
)
_FAILED_FORMULA = re.compile(r"#(?:#+|[A-ZÄÖÜ0/]+[!?]|N/A|NV)|=(?!\"|T\(|HYPERLINK).*")
_SUFFIXES = {"jr", "sr", "ii", "iii", "iv", "phd", "md"}


@dataclass(frozen=True)
class RosterLine:
    """One person of a class list."""

    number: int
    """Row number, from 1 as in a spreadsheet."""
    values: dict[str, str]
    """Field → text, "" for an empty cell; only fields that the list has a column for."""


@dataclass(frozen=True)
class SkippedLine:
    """A roster line that was skipped, with the reason shown to the host."""

    number: int
    text: str
    reason: str
    is_bad: bool = True
    """False for lines that such exports always contain besides people, like Canvas's row of points."""


@dataclass(frozen=True)
class RosterText:
    """The decoded text of a class list, and the name of its encoding if that was guessed."""

    text: str
    guessed_encoding: str = ""


@dataclass
class RosterReading:
    """The content of a class list: people, skipped lines, and the recognised columns as (title, field)."""

    lines: list[RosterLine] = field(default_factory=list)
    skipped: list[SkippedLine] = field(default_factory=list)
    columns: list[tuple[str, str]] = field(default_factory=list)
    unused_columns: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was guessed or may be wrong, in sentences for the host."""
    table: RosterTable | None = None
    """All cells, for columns that are not about people."""


def decode_roster(data: bytes) -> RosterText:
    """The text of a file in UTF-8 or UTF-16, with or without byte order mark, else in the most plausible encoding.

    Raises `UnreadableRoster`.
    """
    if len(data) > MAX_ROSTER_BYTES:
        raise UnreadableRoster(
            _("This file is larger than %(number)s MB, the limit for a roster.")
            % {"number": MAX_ROSTER_BYTES // 1_000_000}
        )
    data = data.removeprefix(codecs.BOM_UTF8)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return RosterText(_decode_bytes(data, "utf-16"))
    if b"\0" in data:
        # Separators and line ends are ASCII, of which UTF-16 makes a zero byte and another.
        is_little_endian = data[1::2].count(0) > data[::2].count(0)
        return RosterText(_decode_bytes(data, "utf-16-le" if is_little_endian else "utf-16-be"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text, encoding = guess_encoding(data, count_titles)
        return RosterText(text, encoding_title(encoding))
    mended = mend_double_utf8(text)
    return RosterText(mended, "" if mended == text else "UTF-8 in UTF-8")


def _decode_bytes(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableRoster(_("The characters in this file can't be read. Save it as CSV in UTF-8.")) from error


def read_roster(source: RosterText | str) -> RosterReading:
    """The content of a class list. Raises `UnreadableRoster` if the text is no class list."""
    if isinstance(source, str):
        source = RosterText(source)
    if "\0" in source.text or source.text.startswith("PK\x03\x04"):
        raise UnreadableRoster(_("This isn't a text file. Save the list as CSV; Excel files can't be read."))
    rows = list(numbered_rows(source.text.removeprefix("\ufeff")))
    if not rows:
        raise UnreadableRoster(_("The list is empty."))
    table = find_table(rows)
    if table is None:
        raise UnreadableRoster(_unknown_header(rows[0][1]))
    if len(table.rows) > MAX_ROSTER_ROWS:
        raise UnreadableRoster(
            _("This list has more than %(number)s rows. Split it into smaller files.")
            % {"number": f"{MAX_ROSTER_ROWS:,}"}
        )
    if not table.rows:
        raise UnreadableRoster(_("The list has a header but no rows."))
    reading = _read_table(table)
    if source.guessed_encoding:
        reading.notes.insert(0, _("Read as {encoding}; check the names.").format(encoding=source.guessed_encoding))
    return reading


def _unknown_header(titles: Sequence[str]) -> str:
    shown = ", ".join(f"“{title.strip()[:40]}”" for title in titles[:8])
    fault = _(
        "The first row has no column that identifies people. It has %(shown)s. Include headers such as "
        "Name, Email, Student ID or Username."
    )
    return fault % {"shown": shown}


def _read_table(table: RosterTable) -> RosterReading:
    columns = find_columns(table)
    field_of_place = {place: name for name, place in columns.items()}
    titles = [(clean_text(title, "NFC"), field_of_place.get(place, "")) for place, title in enumerate(table.titles)]
    reading = RosterReading(columns=[(title, name) for title, name in titles if name], table=table)
    if table.has_header:
        reading.unused_columns = [title for title, name in titles if title and not name]
    else:
        reading.columns = []
        reading.notes.append(_("No header: names, addresses and numbers were found by their form."))
    if "student_id" in columns and not roster_titles.is_number_column(table.titles[columns["student_id"]]):
        reading.notes.append(
            _("Read as numbers of students: “{title}”.").format(title=table.titles[columns["student_id"]])
        )
    if not {"name"} & columns.keys() and len({"given", "family"} & columns.keys()) == 1:
        reading.notes.append(_("Only one part of each name was found."))
    if "role" in columns:
        roles = sorted({role for role in table.cells(columns["role"]) if not roster_titles.is_role(role)})
        if roles:
            reading.notes.append(_("Read as students: {roles}.").format(roles=", ".join(roles[:3])[:200]))
    for number, cells in table.above:
        reading.skipped.append(SkippedLine(number, _shown(cells), _("above the header"), is_bad=False))
    for number, cells in table.rows:
        if cells == table.titles:
            reading.skipped.append(SkippedLine(number, _shown(cells), _("the header again"), is_bad=False))
        else:
            _read_line(reading, number, cells, columns, len(table.titles))
    _skip_lone_texts(reading)
    for look in (_notes_about_letters, _notes_about_zeros, _notes_about_dates):
        reading.notes += look(reading.lines)
    return reading


def _shown(cells: Sequence[str]) -> str:
    return ", ".join(cell.strip() for cell in cells if cell.strip())[:80]


def _read_line(reading: RosterReading, number: int, cells: Sequence[str], columns: dict[str, int], width: int) -> None:
    raw = {name: cells[place] if place < len(cells) else "" for name, place in columns.items()}
    plain = {name: _ENTITY.sub(lambda entity: html.unescape(entity.group()), cell) for name, cell in raw.items()}
    texts = {name: _FORMULA.sub(r"\1", clean_text(cell, "NFC")) for name, cell in plain.items()}
    texts = {name: text if text.strip("-–—") and text.casefold() != "n/a" else "" for name, text in texts.items()}
    values = _line_values(texts)
    if reason := _skip_reason(values, texts.get("role", "")):
        reading.skipped.append(SkippedLine(number, _shown(cells), reason, is_bad=False))
    elif problem := _line_problem(values, raw, cells[width:]):
        reading.skipped.append(SkippedLine(number, _shown(cells), problem))
    else:
        reading.lines.append(RosterLine(number, values))


def _line_values(texts: dict[str, str]) -> dict[str, str]:
    """The values of a person by field, from the texts of the cells."""
    if named := NAMED_EMAIL.fullmatch(texts.get("name", "")):
        texts = {**texts, "name": named["name"].strip(' "'), "email": texts.get("email") or named["email"]}
    values = {name: text for name, text in texts.items() if name in FIELD_LABELS}
    if number := texts.get("university_id"):
        # Brightspace and Moodle export the university's number, which is the SIS ID in a list from Canvas.
        values = {"student_id": number, "sis_user_id": number, **values}
    if {"name", "given", "family"} & set(texts):
        values["name"] = _full_name(texts)
    for name in _NUMBERS:
        if name in values:
            values[name] = _whole_number(clean_text(values[name]))
    if address := next((values[key] for key in _NUMBERS if EMAIL.fullmatch(values.get(key, ""))), ""):
        values["email"] = values.get("email") or address
    if "email" in values:
        values["email"] = clean_text(values["email"])
        if values["email"].startswith("=") and (linked := EMAIL.search(values["email"])):
            values["email"] = linked.group()
        if named := NAMED_EMAIL.fullmatch(values["email"]):
            values["email"] = named["email"]
            values["name"] = values.get("name") or plain_name(named["name"].strip(' "'))
        values["email"] = values["email"].strip("'\"").removeprefix("mailto:").casefold()
    return values


def _full_name(texts: dict[str, str]) -> str:
    family = " ".join(texts[name] for name in ("infix", "family", "second_family") if texts.get(name))
    given = texts.get("given", "")
    if not (given and family) and texts.get("name"):
        return plain_name(texts["name"])
    # East Asian names begin with the family name.
    parts = (family, given) if family[:1] >= "\u3040" else (given, family)
    return " ".join(part for part in parts if part)


def plain_name(text: str) -> str:
    """“Marie Curie” for “Curie, Marie”. Names with no comma, several commas, or “Jr.” after it are not changed."""
    last, comma, first = (part.strip() for part in text.partition(","))
    if not comma or not first or "," in first or first.casefold().rstrip(".") in _SUFFIXES:
        return text
    return f"{first} {last}"


def _whole_number(text: str) -> str:
    """A number as it was before a spreadsheet or Brightspace wrote it otherwise: “00123” for “#00123” or “'00123”.

    “1001.0” and “2.023E+3” become whole again. One that has lost digits is not changed.
    """
    text = text.removeprefix("#").strip("'\"‘’`´")
    if _GROUPED.fullmatch(text):
        return re.sub(r"\D", "", text)
    if decimal := _WHOLE_DECIMAL.fullmatch(text):
        return decimal[1]
    if _EXPONENT.fullmatch(text):
        number = Decimal(text.replace(",", "."))
        exponent = number.as_tuple().exponent
        # With fewer digits than the exponent says, the last ones are lost.
        return f"{number:f}" if exponent == 0 else text
    return text


def _skip_reason(values: dict[str, str], role: str) -> str:
    """The reason to skip a line that is not about a student; "" for students."""
    name, login = values.get("name", ""), values.get("login", "")
    known = [value for field_name, value in values.items() if value and field_name != "section"]
    if not known:
        return _("no name, address or id")
    if roster_titles.is_staff(role):
        return _("{role}, not a student").format(role=role[:60])
    if roster_titles.has_staff_name(name):
        return _("by its name not a student")
    if roster_titles.is_test_student(name) or roster_titles.is_test_student(login):
        return _("test student, not a person")
    is_heading = len(known) == 1 and (roster_titles.is_role(name) or _is_section_title(name))
    is_footer = known == [name] and re.search(r"\d", name) and values.keys() & {"email", *_NUMBERS}
    if is_heading or is_footer or all(map(roster_titles.is_summary_row, known)):
        return _("about the course, not a person")
    return ""


def _is_section_title(text: str) -> bool:
    """Whether a text is a heading such as “Gruppe A” or “Section 001”."""
    first, _space, rest = text.partition(" ")
    return bool(rest) and len(rest) <= 4 and (roster_titles.field_of(first) or ("",))[0] == "section"


def _line_problem(values: dict[str, str], raw: dict[str, str], surplus: Sequence[str]) -> str:
    if any(cell.strip() for cell in surplus):
        problem = ngettext(
            "%(number)s cell more than the header; put names with commas in quotes",
            "%(number)s cells more than the header; put names with commas in quotes",
            len(surplus),
        )
        return problem % {"number": len(surplus)}
    if any(re.search(r"[\r\n]", cell.strip()) for name, cell in raw.items() if name != "section"):
        return _("a cell spans several lines; a quotation mark may be missing")
    texts = (*map(str.strip, raw.values()), *(value for value in values.values() if value.startswith("=")))
    if failed := next(filter(_FAILED_FORMULA.fullmatch, texts), ""):
        return _("a spreadsheet has written {text} for a value").format(text=failed[:20])
    email = values.get("email", "")
    if email and not EMAIL.fullmatch(email):
        return _("“%(email)s” isn't an e-mail address") % {"email": email[:60]}
    for name, value in values.items():
        if len(value) > MAX_CHARACTERS[name]:
            return _("“%(field)s” is longer than %(number)s characters") % {
                "field": FIELD_LABELS[name],
                "number": MAX_CHARACTERS[name],
            }
        if "\ufffd" in value:
            return _("“%(field)s” has a damaged letter; save the list as CSV in UTF-8") % {"field": FIELD_LABELS[name]}
        if name in ("student_id", "sis_user_id") and _DATE.fullmatch(value):
            return _("a spreadsheet has made a date of the number, {date}; format the column as text").format(
                date=value
            )
        if name in _NUMBERS and _EXPONENT.fullmatch(value):
            return _("a spreadsheet has shortened the number to {number}; format the column as text").format(
                number=value
            )
    return ""


def _skip_lone_texts(reading: RosterReading) -> None:
    """Skip lines that have one text alone, unlike most others, if it does not look like a person: “Fin de la liste”.
    With a note on the first one that does.
    """
    texts = [{text for name, text in line.values.items() if text and name != "section"} for line in reading.lines]
    people = [place for place, known in enumerate(texts) if len(known) > 1]
    if len(people) * 2 < len(texts):
        return
    lines, reading.lines = reading.lines, []
    single = sum(" " not in lines[place].values.get("name", "") for place in people)
    notes = []
    for place, (line, known) in enumerate(zip(lines, texts, strict=True)):
        text, is_among_people = next(iter(known)), people[0] < place < people[-1]
        may_be_single = is_among_people and single * 2 > len(people)
        if len(known) > 1 or EMAIL.fullmatch(text):
            reading.lines.append(line)
        elif _may_be_person(line.values, text, is_among_people=is_among_people, may_be_single=may_be_single):
            reading.lines.append(line)
            notes.append(_("Row {row} has nothing but “{text}”.").format(row=line.number, text=text[:60]))
        else:
            reason = _("nothing but this; add a number or an address if it's a person")
            reading.skipped.append(SkippedLine(line.number, text[:80], reason))
    reading.notes += notes[:1]


def _may_be_person(values: dict[str, str], text: str, *, is_among_people: bool, may_be_single: bool) -> bool:
    """Whether a lone text is a number, or a name with capitals, of several words unless it `may_be_single`; in a script
    without capitals, a name among people."""
    if not values.get("name"):
        return " " not in text and (text == values.get("login") or bool(re.search(r"\d", text)))
    words = text.split()
    is_name = all(re.fullmatch(r"[^\W\d_][\w.'’-]*,?", word) for word in words)
    has_capitals = (len(words) > 1 or may_be_single) and not words[0][0].islower() and not words[-1][0].islower()
    return is_name and (has_capitals if text.lower() != text.upper() else is_among_people)


def _notes_about_letters(lines: Sequence[RosterLine]) -> list[str]:
    """A note on the first name in which a program has written a question mark for a letter that it did not have."""
    damaged = (line for line in lines if re.search(r"[^\W\d_]\?|\?[^\W\d_]", line.values.get("name", "")))
    note = _("“{name}” in row {row} may have lost a letter.")
    return [note.format(name=line.values["name"][:60], row=line.number) for line in islice(damaged, 1)]


def _notes_about_dates(lines: Sequence[RosterLine]) -> list[str]:
    """A note on the first section that may have been “1-31” before a spreadsheet made a date of it."""
    dates = (line for line in lines if _DATE.fullmatch(line.values.get("section", "")))
    note = _("The section “{section}” in row {row} looks like a date that a spreadsheet has made.")
    return [note.format(section=line.values["section"][:40], row=line.number) for line in islice(dates, 1)]


def _notes_about_zeros(lines: Sequence[RosterLine]) -> list[str]:
    """A note on numbers that seem to have lost their leading zeros: shorter than most, or than others with zeros."""
    for name in ("student_id", "sis_user_id"):
        numbers = {line.number: number for line in lines if (number := line.values.get(name, "")).isdecimal()}
        lengths = Counter(map(len, numbers.values()))
        padded = {len(number) for number in numbers.values() if number.startswith("0")}
        usual = max(padded, default=0) or max(lengths, default=0)
        short = {row: number for row, number in numbers.items() if len(number) < usual}
        is_usual = bool(padded) or (usual >= 4 and lengths[usual] * 2 >= len(numbers))
        if short and is_usual:
            row, number = min(short.items())
            note = ngettext(
                "%(count)s number may have lost leading zeros: %(number)s in row %(row)s is shorter than others.",
                "%(count)s numbers may have lost leading zeros: %(number)s in row %(row)s is shorter than others.",
                len(short),
            )
            return [note % {"count": len(short), "number": number, "row": row}]
    return []
