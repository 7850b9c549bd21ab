"""Class lists of every system become the same people, whatever their spelling, mark or separator."""

from __future__ import annotations

import codecs

import pytest

from leaderboard.classroom import roster_files, roster_rows

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Homework (123)\n"
    "    Points Possible,,,,,10\n"
    '"Curie, Marie",17,S-1,marie@uni.example,Lab 1,9\n'
    '"Student, Test",99,,,Lab 1,\n'
)
MOODLE = 'First name,Last name,ID number,Email address,Groups\nMarie,Curie,17,Marie@Uni.example,"Lab 1"\n'
BRIGHTSPACE = (
    "OrgDefinedId,Username,Last Name,First Name,Email,End-of-Line Indicator\n#17,#mc,Curie,Marie,marie@uni.example,#\n"
)
BLACKBOARD = (
    '"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Availability"\n"Curie"\t"Marie"\t"mc"\t"17"\t"Yes"\n'
)
MOODLE_ABROAD = [
    f"Name,{number},Email\nMarie Curie,17,marie@uni.example\n"
    for number in ("ID-Nummer", "Número de ID", "Numéro d'identification", "Codice identificativo")
]
GERMAN = "Nachname;Vorname;Matrikelnummer;E-Mail-Adresse;Gruppe\nCurie;Marie;17;marie@uni.example;Lab 1\n"


@pytest.mark.parametrize("text", [CANVAS, MOODLE, *MOODLE_ABROAD, BRIGHTSPACE, BLACKBOARD, GERMAN])
@pytest.mark.parametrize(
    "data",
    [
        lambda text: text.encode(),
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.replace("\n", "\r\n").encode(),
    ],
)
def test_marie_is_found_in_every_systems_list(text: str, data: object) -> None:
    reading = roster_files.read_roster(roster_files.decode_roster(data(text)))  # type: ignore[operator]
    (marie,) = reading.lines
    assert marie.values["name"] == "Marie Curie"
    assert marie.values["student_id"] == "17"
    assert marie.values.get("email", "marie@uni.example") == "marie@uni.example"
    assert not [line for line in reading.skipped if line.is_bad]


@pytest.mark.parametrize(("text", "number"), [(CANVAS, "S-1"), (BRIGHTSPACE, "17"), (MOODLE, "17"), (GERMAN, None)])
def test_the_number_of_the_university_is_told_from_the_one_that_canvas_gave(text: str, number: str | None) -> None:
    assert roster_files.read_roster(text).lines[0].values.get("sis_user_id") == number


def test_what_canvas_writes_beside_people_is_left_out_with_a_word() -> None:
    left = {line.number: line.reason for line in roster_files.read_roster(CANVAS).skipped}
    assert left == {2: "about the course, not a person", 4: "test student, not a person"}


def test_a_login_that_is_an_address_is_the_address() -> None:
    assert roster_files.read_roster(CANVAS).lines[0].values["email"] == "marie@uni.example"


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ("Bo,not an address", "an e-mail address"),
        ("Curie, Marie,marie@uni.example", "put names with commas in quotes"),
        ("x" * 201 + ",", "longer than 200"),
    ],
)
def test_a_bad_line_says_which_and_why(cells: str, reason: str) -> None:
    (line,) = roster_files.read_roster(f"Name,Email\n\n{cells}\n").skipped
    assert (line.number, line.is_bad) == (3, True)
    assert reason in line.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("Name,Email\n", "no rows"),
        ("Points,Grade\n1,2\n", "column"),
        ("id,species\n0001,oak\n", "column"),
        ("PK\x03\x04rest", "text"),
        ("Name\n" + "Bo\n" * (roster_files.MAX_ROSTER_ROWS + 1), "more than"),
        ("Name" + ",Name" * roster_rows.MAX_ROSTER_COLUMNS, "more than"),
    ],
)
def test_what_is_no_class_list_is_refused_with_a_way_out(text: str, reason: str) -> None:
    with pytest.raises(roster_files.UnreadableRoster, match=reason):
        roster_files.read_roster(text)


def test_numbers_alone_are_a_class_list_where_the_header_says_whose() -> None:
    assert [line.values["student_id"] for line in roster_files.read_roster("Student ID\n007\n008\n").lines] == [
        "007",
        "008",
    ]


def test_a_file_that_is_too_large_is_not_read() -> None:
    with pytest.raises(roster_files.UnreadableRoster, match="larger than 1 MB"):
        roster_files.decode_roster(b"x" * (roster_files.MAX_ROSTER_BYTES + 1))


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("Curie, Marie", "Marie Curie"),
        ("King, Jr.", "King, Jr."),
        ("Marie Curie", "Marie Curie"),
        ("A, B, C", "A, B, C"),
        ("Curie,", "Curie,"),
    ],
)
def test_names_are_turned_the_usual_way_round(given: str, plain: str) -> None:
    assert roster_files.plain_name(given) == plain
