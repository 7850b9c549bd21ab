"""Find the header of a class list, and the column of each field by its title and its cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from . import roster_titles

EMAIL = re.compile(r"[^@\s,;<>\"]+@[^@\s,;<>\"]+\.[^@\s,;<>\".]{2,}")
NAMED_EMAIL = re.compile(rf"(?P<name>[^<>]*)<(?P<email>{EMAIL.pattern})>")
MAX_ADDRESS_CELL = 500
"""Characters; the search for an address takes the square of them."""
MAX_ROLES = 6
"""Different texts in a column of roles."""
# Rows among which the header is searched: there may be a title above it.
MAX_HEADER_ROW = 25
_DETAILS = ("section", "role", "infix", "second_family")
_NAME_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_STUDENT_NUMBER = re.compile(r"=?[\"'#]*[A-Za-z]{0,4}-?\d{3,}[\w.-]*\"?")
_LIST_MARK = re.compile(r"\s*(?:\d+[.)]|[-*•])\s+")

Row = tuple[int, list[str]]
"""(row number from 1, cells)"""


@dataclass
class RosterTable:
    """A class list: titles of its columns and its rows."""

    titles: list[str]
    rows: list[Row]
    above: list[Row] = field(default_factory=list)
    """Rows above the header, such as the title of the list."""
    has_header: bool = True

    def cells(self, place: int) -> Iterator[str]:
        """The cells of a column that are not empty."""
        return (cells[place] for _number, cells in self.rows if place < len(cells) and cells[place].strip())

    def share(self, place: int, test: Callable[[str], bool]) -> float:
        """The share of a column's cells that pass the test."""
        passed = [test(cell) for cell in self.cells(place)]
        return sum(passed) / len(passed) if passed else 0.0


def find_table(rows: Sequence[Row]) -> RosterTable | None:
    """The table with the header; for a list without one, columns by content. None for a file that is no class list."""
    places = [place for place, (_number, cells) in enumerate(rows[:MAX_HEADER_ROW]) if _is_header(cells)]
    if places:
        place = max(places, key=lambda place: number_of_known_titles(rows[place][1]))
        return RosterTable(rows[place][1], list(rows[place + 1 :]), list(rows[:place]))
    return _table_without_header(rows)


def number_of_known_titles(cells: Sequence[str]) -> int:
    return len({found[0] for cell in cells if (found := roster_titles.field_of(cell))})


def _is_header(cells: Sequence[str]) -> bool:
    """Whether a title identifies people. A single “id” does not: files of answers or data have one too."""
    fields = {roster_titles.title_key(cell): found[0] for cell in cells if (found := roster_titles.field_of(cell))}
    identifying = {key: name for key, name in fields.items() if name not in _DETAILS}
    return bool(identifying) and list(identifying) != ["id"] and not any(map(has_address, cells))


def _table_without_header(rows: Sequence[Row]) -> RosterTable | None:
    if len(rows) == 1 and sum(map(has_address, rows[0][1])) > 1:
        # Recipients copied from an e-mail: all people in one line.
        rows = [(rows[0][0], [cell]) for cell in rows[0][1]]
    with_address = [any(map(has_address, cells)) for _number, cells in rows]
    if sum(with_address) * 2 < len(rows) and not all(_is_name(cells) for _number, cells in rows):
        return None
    # A row without address in front of the first one has titles that are not known.
    first = with_address.index(True) if any(with_address) else 0
    people = [(number, _cells_by_content(cells)) for number, cells in rows[first:]]
    return RosterTable(["Name", "Email", "Student ID"], people, list(rows[:first]), has_header=False)


def _cells_by_content(cells: Sequence[str]) -> list[str]:
    """[name, address, number] of a row without titles."""
    email = next(filter(has_address, cells), "")
    number = next((cell for cell in cells if _is_number(cell) and len(cell.strip(" #")) > 2), "")
    others = (_LIST_MARK.sub("", cell) for cell in cells if cell not in (email, number))
    words = [cell for cell in others if _NAME_WORD.match(cell.strip())]
    if len(words) > 1 and len(words[0].split()) == 1:
        # Without quotation marks a comma in a name looks like one between cells.
        return [f"{words[0]}, {words[1]}" if words[1].startswith(" ") else f"{words[0]} {words[1]}", email, number]
    return [words[0] if words else "", email, number]


def has_address(cell: str) -> bool:
    return "@" in cell and len(cell) <= MAX_ADDRESS_CELL and EMAIL.search(cell) is not None


def _is_number(cell: str) -> bool:
    return cell.strip(" #").isdecimal()


def _is_name(cells: Sequence[str]) -> bool:
    """Whether a row is the name of a person, up to six words with a capital: “Ida Berg” or “Berg, Ida”."""
    parts = [_LIST_MARK.sub("", cell) for cell in cells if cell.strip() and not _is_number(cell)]
    words = " ".join(parts).split()
    is_one = len(parts) == 1 or (len(parts) == 2 and parts[1].startswith(" "))
    return is_one and len(words) <= 6 and all(map(_NAME_WORD.fullmatch, words)) and not "".join(words).islower()


def find_columns(table: RosterTable) -> dict[str, int]:
    """The place of the column of each field that the list has."""
    ranked: dict[str, tuple[int, int, int]] = {}
    for place, title in enumerate(table.titles):
        if found := roster_titles.field_of(title):
            name, rank = _field_by_cells(table, place, found)
            if name == "email" and roster_titles.is_someone_elses(title):
                continue
            key = (2 * (not any(table.cells(place))) + roster_titles.is_second_choice(title), rank, place)
            ranked[name] = min(ranked.get(name, key), key)
    if all(name in ranked for name in ("student_id", "platform_id")) and ranked["student_id"][0]:
        ranked["student_id"] = ranked["platform_id"]
    columns = {name: place for name, (_is_empty, _rank, place) in ranked.items()}
    _find_addresses(table, columns)
    _find_numbers(table, columns)
    _find_roles(table, columns)
    _find_names(table, columns)
    _settle_names(table, columns)
    if "student_id" not in columns and "platform_id" in columns:
        columns["student_id"] = columns["platform_id"]
    columns.pop("platform_id", None)
    return columns


def _field_by_cells(table: RosterTable, place: int, found: tuple[str, int]) -> tuple[str, int]:
    """(field, rank) of a column whose cells may say otherwise than its title."""
    name, _rank = found
    if roster_titles.title_key(table.titles[place]) == "userid" and "canvas_user_id" in table.titles:
        return "sis_user_id", 0
    # A login has no spaces: PrairieLearn's “user_name” is a name.
    if name == "login" and table.share(place, lambda cell: " " in cell.strip()) >= 0.5:
        return "bare", len(table.titles)
    if name in ("name", "bare") and table.share(place, _is_student_number) >= 0.5:
        return "student_id", len(table.titles)
    return found


def _find_addresses(table: RosterTable, columns: dict[str, int]) -> None:
    """Choose the first column of addresses where no title tells it, or has less than half of them; private ones last,
    but none of somebody else, such as an advisor."""
    named = sum(map(has_address, table.cells(columns["email"]))) if "email" in columns else 0
    for place, title in sorted(enumerate(table.titles), key=lambda column: roster_titles.is_second_choice(column[1])):
        is_free = place not in columns.values() and not roster_titles.is_someone_elses(title)
        is_better = sum(map(has_address, table.cells(place))) > 2 * named
        if is_free and is_better and table.share(place, has_address) >= 0.5:
            columns["email"] = place
            return


def _find_numbers(table: RosterTable, columns: dict[str, int]) -> None:
    """Choose a column of different numbers with a title such as “NSHE ID”, if no other title tells the number."""
    if columns.keys() & {"student_id", "platform_id", "university_id", "sis_user_id"}:
        return
    for place, title in enumerate(table.titles):
        numbers = list(table.cells(place))
        is_free = place not in columns.values() and roster_titles.is_number_title(title)
        if is_free and len(set(numbers)) == len(numbers) and table.share(place, _is_student_number) == 1:
            columns["student_id"] = place
            return
    unknown = [
        place for place in range(len(table.titles)) if place not in columns.values() and _has_numbers(table, place)
    ]
    if len(unknown) == 1 and columns:
        (columns["student_id"],) = unknown


def _has_numbers(table: RosterTable, place: int) -> bool:
    """Whether a column has a different number for each person, all equally long, and not as long as for telephones."""
    numbers = [cell.strip() for cell in table.cells(place)]
    is_complete = 2 * len(numbers) >= max(4, len(table.rows)) and len(set(map(len, numbers))) == 1
    is_other = roster_titles.is_other_number(table.titles[place]) or len(set(numbers)) < len(numbers)
    return (
        is_complete and not is_other and all(re.fullmatch(r"\d{5,}", n) and not re.match(r"0\d{8}", n) for n in numbers)
    )


def _is_student_number(cell: str) -> bool:
    return _STUDENT_NUMBER.fullmatch(cell.strip()) is not None


def _find_roles(table: RosterTable, columns: dict[str, int]) -> None:
    """Choose a column of roles by its cells where no title tells it, such as Stud.IP's “Status”."""
    for place in range(len(table.titles)):
        if "role" in columns:
            return
        students = table.share(place, lambda cell: len(cell.split()) == 1 and roster_titles.is_student(cell))
        is_role = students and table.share(place, roster_titles.is_role) >= 0.8
        is_status = students >= 0.5 and len(set(table.cells(place))) <= MAX_ROLES
        if (is_role or is_status) and place not in columns.values():
            columns["role"] = place


def _find_names(table: RosterTable, columns: dict[str, int]) -> None:
    """Choose a column of different names by its cells where no title tells it, such as one in another language."""
    if columns.keys() & {"name", "bare", "given", "family"}:
        return
    for place in range(len(table.titles)):
        cells = list(table.cells(place))
        are_names = table.share(place, lambda cell: " " in cell.strip() and _is_name([cell])) >= 0.8
        if are_names and place not in columns.values() and len(set(cells)) >= 0.8 * len(cells):
            columns["name"] = place
            return


def _settle_names(table: RosterTable, columns: dict[str, int]) -> None:
    """Decide which part of a name a column “Name” has: beside first names the last names, unless it is the whole."""
    bare = columns.pop("bare", None)
    parts = [name for name in ("given", "family") if name in columns]
    whole = columns.get("name", bare)
    if whole is None:
        return
    if not parts and _has_other_part(table, whole):
        columns["given"], columns["family"] = whole, whole + 1
        columns.pop("name", None)
        return
    columns["name"] = whole
    if len(parts) != 1:
        return
    if _is_whole_name(table, whole, columns[parts[0]], has_sure_title=whole != bare):
        columns.pop(parts[0])
    else:
        columns["family" if parts == ["given"] else "given"] = columns.pop("name")


def _has_other_part(table: RosterTable, place: int) -> bool:
    """Whether a title “Name” belongs to two columns with the parts of names: the second one is blank or the same."""
    other = table.titles[place + 1] if place + 1 < len(table.titles) else "?"
    is_same = not other.strip() or roster_titles.title_key(other) == roster_titles.title_key(table.titles[place])
    return is_same and all(
        table.share(part, lambda cell: all(map(_NAME_WORD.fullmatch, cell.split()))) >= 0.8
        and table.share(part, lambda cell: " " in cell.strip()) < 0.5
        for part in (place, place + 1)
    )


def _is_whole_name(table: RosterTable, whole: int, part: int, *, has_sure_title: bool) -> bool:
    """Whether a column has whole names: the other one repeats a part of them, or is mostly empty."""
    rows = (cells for _number, cells in table.rows if max(whole, part) < len(cells))
    pairs = [(cells[whole], cells[part]) for cells in rows if not roster_titles.is_summary_row(cells[whole])]
    repeated = [part.strip().casefold() in name.casefold() for name, part in pairs if part.strip()]
    has_spaces = has_sure_title and table.share(whole, lambda cell: " " in cell.strip()) > 0.5
    return has_spaces or len(repeated) * 2 < len(pairs) or sum(repeated) * 2 > len(repeated)
