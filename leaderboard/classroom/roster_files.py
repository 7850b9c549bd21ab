"""Read class lists exported from Canvas, Moodle, Brightspace, Blackboard and spreadsheets.

Columns are found by their titles in these systems, in several languages and in any order; other columns are ignored.
This module does not use the database.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

MAX_ROSTER_BYTES = 1_000_000
MAX_ROSTER_ROWS = 5_000
FIELD_LABELS = {
    "name": gettext_lazy("Name"),
    "email": gettext_lazy("E-mail address"),
    "student_id": gettext_lazy("Student ID"),
    "sis_user_id": gettext_lazy("SIS user ID"),
    "login": gettext_lazy("Login"),
    "section": gettext_lazy("Section"),
}
MAX_CHARACTERS = {"name": 200, "email": 254, "student_id": 100, "sis_user_id": 100, "login": 150, "section": 200}

# Titles reduced to lower-case letters and digits: "SIS User ID", "sis_user_id" and "SIS-User-ID" are the same.
_ALIASES = {
    "name": "name student studentname fullname displayname participant person nameofstudent vollername nomcomplet "
    "nombrecompleto studierende teilnehmer sortablename",
    "first": "firstname first givenname forename vorname prenom nombre nombres voornaam nome",
    "last": "lastname last surname familyname nachname familienname nom apellidos apellido achternaam cognome",
    "email": "email emailaddress mail emailadresse adressedecourriel courriel adresseemail correo correoelectronico "
    "direcciondecorreo primaryemail useremail studentemail emailid",
    "student_id": "id canvasid canvasuserid studentid studentnumber matrikelnummer matriculationnumber matrnr "
    "numeroetudiant externalpersonkey userid",
    "university_id": "orgdefinedid idnumber idnummer numerodeid numerodidentification codiceidentificativo",
    "sis_user_id": "sisuserid sisid sisstudentid integrationid",
    "login": "login loginid sisloginid username user benutzername anmeldename nomdutilisateur nombredeusuario netid "
    "uid account",
    "section": "section sections sectionname group groups class gruppe gruppen groupe groupes grupo grupos tutorial "
    "coursesection childcourseid",
}
_FIELD_OF = {alias: name for name, aliases in _ALIASES.items() for alias in aliases.split()}
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_EMAIL = re.compile(r"[^@\s,;<>\"]+@[^@\s,;<>\"]+\.[^@\s,;<>\".]{2,}")
_SUFFIXES = {"jr", "sr", "ii", "iii", "iv", "phd", "md"}


class UnreadableRoster(Exception):
    """A file that is no class list; the message is shown to the host."""


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


@dataclass
class RosterReading:
    """The content of a class list: people, skipped lines, and the recognised columns as (title, field)."""

    lines: list[RosterLine] = field(default_factory=list)
    skipped: list[SkippedLine] = field(default_factory=list)
    columns: list[tuple[str, str]] = field(default_factory=list)


def decode_roster(data: bytes) -> str:
    """The text of a file in UTF-8 or UTF-16, with or without byte order mark, else in Windows-1252.

    Raises `UnreadableRoster`.
    """
    if len(data) > MAX_ROSTER_BYTES:
        raise UnreadableRoster(
            _("This file is larger than %(number)s MB, the limit for a class list.")
            % {"number": MAX_ROSTER_BYTES // 1_000_000}
        )
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_bytes(data, encoding)
    if data[1:2] == b"\0" or data[:1] == b"\0":
        return _decode_bytes(data, "utf-16-le" if data[1:2] == b"\0" else "utf-16-be")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _decode_bytes(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableRoster(_("The characters in this file can't be read. Save it as CSV in UTF-8.")) from error


def read_roster(text: str) -> RosterReading:
    """The content of a class list. Raises `UnreadableRoster` if the text is no class list."""
    if "\0" in text or text.startswith("PK\x03\x04"):
        raise UnreadableRoster(_("This isn't a text file. Save the list as CSV; Excel files can't be read."))
    rows = _numbered_rows(text.removeprefix("\ufeff"))
    header = next(rows, None)
    if header is None:
        raise UnreadableRoster(_("The list is empty."))
    _number, titles = header
    # The field of each column, each field at most once; "" for columns that are ignored.
    fields: list[str] = []
    for title in titles:
        name = _FIELD_OF.get(_header_key(title), "")
        fields.append(name if name not in fields else "")
    if not _identifies_people(titles, fields):
        shown = ", ".join(f"“{title.strip()[:40]}”" for title in titles[:8])
        fault = _(
            "The first row has no column that identifies people. It has %(shown)s. Include headers such as "
            "Name, Email, Student ID or Username."
        )
        raise UnreadableRoster(fault % {"shown": shown})
    reading = RosterReading(columns=[(title.strip(), name) for title, name in zip(titles, fields, strict=True) if name])
    for number, cells in rows:
        if len(reading.lines) + len(reading.skipped) >= MAX_ROSTER_ROWS:
            raise UnreadableRoster(
                _("This list has more than %(number)s rows. Split it into smaller files.")
                % {"number": f"{MAX_ROSTER_ROWS:,}"}
            )
        shown = ", ".join(cell.strip() for cell in cells if cell.strip())[:80]
        cells_by_field = {
            name: cells[place].strip() if place < len(cells) else "" for place, name in enumerate(fields) if name
        }
        if reason := _skip_reason(cells_by_field, shown):
            reading.skipped.append(SkippedLine(number, shown, reason, is_bad=False))
            continue
        values = _line_values(cells_by_field)
        if problem := _line_problem(values, len(cells) - len(fields), cells):
            reading.skipped.append(SkippedLine(number, shown, problem))
        else:
            reading.lines.append(RosterLine(number, values))
    if not reading.lines and not reading.skipped:
        raise UnreadableRoster(_("The list has a header but no rows."))
    return reading


def _numbered_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """(row number, cells) for each line that is not empty. Raises `UnreadableRoster`."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_find_delimiter(text))
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise UnreadableRoster(
                _("Row %(number)s can't be read: %(error)s.") % {"number": number, "error": error}
            ) from error
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield number, cells


def _find_delimiter(text: str) -> str:
    """The delimiter of the first line that is not empty: comma, tab, semicolon or bar, whichever is most frequent."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    bare = re.sub(r'"[^"]*"', "", first)
    return max(",\t;|", key=bare.count) if any(mark in bare for mark in ",\t;|") else ","


def _header_key(cell: str) -> str:
    bases = cell.casefold().translate(str.maketrans("áàâäéèêëíìîïóòôöúùûüñç", "aaaaeeeeiiiioooouuuunc"))
    return re.sub(r"[^a-z0-9]", "", re.sub(r"\(.*?\)", "", bases)) or re.sub(r"[^a-z0-9]", "", bases)


def _identifies_people(header: Sequence[str], fields: Sequence[str]) -> bool:
    """Whether a column identifies people. A single column "id" does not: files of answers or data have one too."""
    named = [
        (_header_key(cell), name) for cell, name in zip(header, fields, strict=True) if name not in ("", "section")
    ]
    return bool(named) and named != [("id", "student_id")]


def _skip_reason(cells: dict[str, str], shown: str) -> str:
    """The reason to skip a line that is not about a person; "" for people."""
    if "points possible" in shown.casefold()[:40]:
        return _("Canvas's points row, not a person")
    who = cells.get("name", "").casefold()
    if who in ("student, test", "test student", "teststudent") or cells.get("last", "").casefold() == "demo student":
        return _("test student, not a person")
    if not any(value for name, value in cells.items() if name != "section"):
        return _("no name, address or id")
    return ""


def _line_values(cells: dict[str, str]) -> dict[str, str]:
    if number := cells.get("university_id"):
        # Brightspace and Moodle export the university's number, which is the SIS ID in a list from Canvas.
        cells = {"student_id": number, "sis_user_id": number, **cells}
    values = {name: " ".join(value.split()) for name, value in cells.items() if name in FIELD_LABELS}
    if "name" in values:
        values["name"] = plain_name(values["name"])
    elif "first" in cells or "last" in cells:
        values["name"] = " ".join(f"{cells.get('first', '')} {cells.get('last', '')}".split())
    for name in ("student_id", "sis_user_id", "login"):
        if name in values:
            # Brightspace writes `#` before numbers, so that spreadsheets keep leading zeros.
            values[name] = values[name].removeprefix("#").removeprefix("'")
    if not values.get("email") and _EMAIL.fullmatch(values.get("login", "")):
        values["email"] = values["login"]
    if "email" in values:
        values["email"] = values["email"].removeprefix("mailto:").casefold()
    return values


def plain_name(text: str) -> str:
    """“Marie Curie” for “Curie, Marie”. Names with no comma, several commas, or “Jr.” after it are not changed."""
    last, comma, first = (part.strip() for part in text.partition(","))
    if not comma or not first or "," in first or first.casefold().rstrip(".") in _SUFFIXES:
        return text
    return f"{first} {last}"


def _line_problem(values: dict[str, str], surplus: int, cells: Sequence[str]) -> str:
    if surplus > 0 and any(cell.strip() for cell in cells[-surplus:]):
        problem = ngettext(
            "%(number)s cell more than the header; put names with commas in quotes",
            "%(number)s cells more than the header; put names with commas in quotes",
            surplus,
        )
        return problem % {"number": surplus}
    email = values.get("email", "")
    if email and not _EMAIL.fullmatch(email):
        return _("“%(email)s” isn't an e-mail address") % {"email": email[:60]}
    for name, value in values.items():
        if len(value) > MAX_CHARACTERS[name]:
            return _("“%(field)s” is longer than %(number)s characters") % {
                "field": FIELD_LABELS[name],
                "number": MAX_CHARACTERS[name],
            }
        if any(ord(sign) < 32 or 0xD800 <= ord(sign) < 0xE000 for sign in value):
            return _("“%(field)s” contains unprintable characters") % {"field": FIELD_LABELS[name]}
    return ""
