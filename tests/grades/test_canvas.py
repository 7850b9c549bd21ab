"""A file of Canvas comes back as it came but for one column, and no file of ours is computed by a spreadsheet."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.classroom import roster_files
from leaderboard.grades import canvas, files
from leaderboard.grades.canvas import BadGradebook
from leaderboard.grades.students import Student

# As Canvas writes it: a line about posting, one about points, a test student, columns that it computes.
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Homework (101),Pets (102),Current Score\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,10,100,(read only)\r\n"
    '"Bello, Bo",1001,s-1,bo@uni.example,"Stat 451, ""A""",9.5,,95\r\n'
    '"Costa, Cy",1002,s-2,cy@uni.example,B,8,EX,80\r\n'
    '"Ngo, Dee",1003,s-3,dee@uni.example,B,7,55,70\r\n'
    '"Student, Test",9999,,abc,B,,,\r\n'
)
PETS = "Pets (102)"
BO = Student("Bo Bello", student_id="1001", points="81.3", is_listed=True)
CY = Student("Cy Costa", sis_user_id="S-2", points="70.0", is_listed=True)
DEE = Student("Dee N.", login="DEE@uni.example", points=None, is_listed=True)


def fill(data: bytes, people: list[Student], column: str = PETS) -> bytes:
    book = canvas.read_canvas_gradebook(data)
    return canvas.fill_gradebook(book, canvas.match_students(book, people), column=column, title="Pets", most="100")


def by(people: list[Student], text: str = CANVAS) -> dict[str, str]:
    """Whom we found, and by which column."""
    return {
        match.student.name: match.by
        for match in canvas.match_students(canvas.read_canvas_gradebook(text.encode()), people).matches
    }


def test_only_the_cells_of_one_column_change() -> None:
    assert fill(CANVAS.encode(), [BO, CY, DEE]).decode() == CANVAS.replace('"A""",9.5,,95', '"A""",9.5,81.3,95')


def test_people_are_found_by_id_then_sis_id_then_login_then_name() -> None:
    fay = Student("F.", sis_user_id="i-9", is_listed=True)
    book = (
        CANVAS.replace(",Section,", ",Integration ID,Section,").replace("abc,B", "abc,,B") + "Fay,1009,,,I-9,B,,,\r\n"
    )
    assert by([fay], book) == {"F.": "Integration ID"}
    eva = Student("Eva Ruiz", points="1", is_listed=True)
    text = CANVAS + '"RUIZ,  Eva",1004,,,B,,,\r\n'
    assert by([BO, CY, DEE, eva], text) == {
        "Bo Bello": "ID",
        "Cy Costa": "SIS User ID",
        "Dee N.": "SIS Login ID",
        "Eva Ruiz": "Student",
    }


def test_the_id_counts_more_than_a_name_that_somebody_else_has_too() -> None:
    impostor = Student("Bo Bello", login="x", points="100")
    assert by([BO, impostor]) == {"Bo Bello": "ID"}


def test_two_people_of_one_name_are_not_guessed() -> None:
    text = CANVAS + '"Bello, Bo",1005,,bo2,B,,,\r\n'
    nameless = replace(BO, student_id="")
    found = canvas.match_students(canvas.read_canvas_gradebook(text.encode()), [nameless])
    assert found.matches == []
    assert found.students == [nameless]
    assert len(found.records) == 4


def test_an_id_that_a_student_could_have_chosen_does_not_count() -> None:
    liar = Student("Somebody", student_id="1001", sis_user_id="s-1", points="100")
    assert by([liar]) == {}
    chosen = Student("Bo Bello", points="100")
    (match,) = canvas.match_students(canvas.read_canvas_gradebook(CANVAS.encode()), [chosen]).to_review
    assert match.by == "Student"


def test_a_new_column_stands_in_front_of_the_first_assignment_with_its_points() -> None:
    lines = fill(CANVAS.encode(), [BO], column="").decode().split("\r\n")
    assert lines[0] == "Student,ID,SIS User ID,SIS Login ID,Section,Pets,Homework (101),Pets (102),Current Score"
    assert lines[2] == "    Points Possible,,,,,100,10,100,(read only)"
    assert lines[3].endswith('"Stat 451, ""A""",81.3,9.5,,95')
    assert lines[4].endswith("B,,8,EX,80")


@pytest.mark.parametrize(
    "points",
    """Mögliche Punkte;Points possibles;Puntos posibles;Mogelijke punten;满分;النقاط الممكنة;Mahdolliset pisteet;
    Lehetséges pontok;Pwyntiau Posib;Mögliche Punktzahl""".replace("\n    ", "").split(";"),
)
def test_a_new_column_has_its_points_in_whatever_language_canvas_writes(points: str) -> None:
    lines = fill(CANVAS.replace("Points Possible", points).encode(), [BO], column="").decode().split("\r\n")
    assert lines[2] == f"    {points},,,,,100,10,100,(read only)"


@pytest.mark.parametrize("names", ["Student", "LastName,FirstName"])
@pytest.mark.parametrize("numbers", ["", "SIS User ID,SIS Login ID,Integration ID,Root Account"])
@pytest.mark.parametrize("custom", ["", "Notes", "Notes,Team (2)"])
@pytest.mark.parametrize("assignments", ["", "Essay (7)", "Essay (7),Pets (9)"])
@pytest.mark.parametrize("totals", ["", "Current Score,Final Score"])
def test_canvas_drops_no_new_column_with_the_columns_of_the_course(
    names: str, numbers: str, custom: str, assignments: str, totals: str
) -> None:
    """Canvas's importer drops by place: as many columns from the left as it wrote names, numbers and notes."""
    dropped = ",".join(part for part in (names, "ID", numbers, "Section", custom) if part)
    count = dropped.count(",") + 1
    header = ",".join(part for part in (dropped, assignments, totals) if part)
    possible = "    Points Possible" + "," * count + ("20," * (assignments.count(",") + 1) if assignments else "")
    possible += "(read only),(read only)" if totals else ""
    bo = "Bello,Bo,1001" if "," in names else '"Bello, Bo",1001'
    head, top, line = rows_of(fill(f"{header}\n{possible}\n{bo}\n".encode(), [BO], column="").decode())
    place = head.index("Pets")
    assert place >= count
    assert (top[place], line[place]) == ("100", "81.3")


SPLIT = (
    "LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,Notes,Pets (102)\r\n"
    "    Points Possible,,,,,,,100\r\n"
    "Bello,Bo,1001,s-1,bo@uni.example,B,talk,\r\n"
    "Costa,Cy,1002,s-2,cy@uni.example,B,,\r\n"
    "Student,Test,9999,,abc,B,,\r\n"
)


def test_names_in_two_columns_are_filled_like_names_in_one() -> None:
    eva = Student("Cy Costa", points="70.0", is_listed=True)
    assert fill(SPLIT.encode(), [BO, eva]).decode() == SPLIT.replace("talk,", "talk,81.3").replace("B,,", "B,,70.0", 1)
    assert by([BO, eva], SPLIT) == {"Bo Bello": "ID", "Cy Costa": "Student"}
    for text in (SPLIT, SPLIT.replace("Student,Test", "Étudiant,Test")):
        assert len(canvas.read_canvas_gradebook(text.encode()).students) == 2


@pytest.mark.parametrize("line", ["sep=;\r\n", '"sep=;"\r\n', "SEP=;\n"])
def test_a_line_that_names_the_separator_stays_above_the_header(line: str) -> None:
    text = line + CANVAS.replace(",", ";")
    assert fill(text.encode(), [BO]).decode() == text.replace("9.5;;", "9.5;81.3;")


@pytest.mark.parametrize(
    ("number", "name", "is_found"),
    [
        ("123", "Bo Bello", True),
        ("123", "B. Bello-Sanchez Bello", True),
        ("123", "Somebody Else", False),
        ("1230", "Robert Bello", False),
        ("0", "Robert Bello", False),
    ],
)
def test_a_number_without_its_zeros_matches_where_the_name_agrees(number: str, name: str, is_found: bool) -> None:
    text = CANVAS.replace("s-1", "00123")
    people = [replace(BO, name=name, student_id="", sis_user_id=number)]
    assert bool(by(people, text)) is is_found


def test_two_numbers_that_differ_by_their_zeros_alone_are_not_guessed() -> None:
    text = CANVAS.replace("s-1", "0123").replace("s-2", "00123")
    assert by([Student("Bello Costa", sis_user_id="123", is_listed=True)], text) == {}


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_the_mark_at_the_beginning_and_the_line_ends_stay(bom: bytes, end: str) -> None:
    data = bom + CANVAS.replace("\r\n", end).encode()
    assert fill(data, []) == data


@pytest.mark.parametrize(
    ("encoding", "bom"), [("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"), ("latin-1", b"")]
)
def test_other_encodings_come_back_as_they_were(encoding: str, bom: bytes) -> None:
    text = CANVAS.replace("Bello", "Bellö")
    data = bom + text.encode(encoding)
    assert fill(data, []) == data
    assert fill(data, [replace(BO, student_id="", name="Bo Bellö")]) == bom + text.replace(
        '"A""",9.5,', '"A""",9.5,81.3'
    ).encode(encoding)


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("cp1250", "Łukasz Wiśniewski"),
        ("cp1251", "Иван Петров"),
        ("mac_roman", "Stéphane Agnès"),
        ("gb18030", "李小明"),
    ],
)
def test_a_name_in_an_old_encoding_is_found_and_comes_back_as_it_was(encoding: str, name: str) -> None:
    text = CANVAS.replace('"Bello, Bo"', name)
    filled = fill(text.encode(encoding), [Student(name, points="81.3", is_listed=True)])
    assert filled == text.replace('"A""",9.5,', '"A""",9.5,81.3').encode(encoding)


def test_a_title_that_the_encoding_cannot_write_is_written_as_far_as_it_can() -> None:
    book = canvas.read_canvas_gradebook(CANVAS.replace("Bello", "Bellö").encode("latin-1"))
    filled = canvas.fill_gradebook(book, canvas.match_students(book, []), column="", title="Cat 猫", most="100")
    assert b",Cat ?,Homework (101)," in filled


CLASS_LISTS = {
    "the gradebook": "",
    "numbers": "Student number\ns-1\ns-2\n",
    "names": "Name;Vorname\nBello;Bo\nCosta;Cy\n",
    "logins": "Username\nbo@uni.example\ncy@uni.example\n",
    "addresses": "Kontakt;Name\nBO@uni.example;x\ncy@uni.example;y\n",
}


@pytest.mark.parametrize("book", [CANVAS, SPLIT, "sep=;\n" + SPLIT.replace(",", ";")])
@pytest.mark.parametrize("class_list", CLASS_LISTS)
def test_every_student_of_a_class_list_gets_the_grade_in_the_gradebook(book: str, class_list: str) -> None:
    lines = roster_files.read_roster(CLASS_LISTS[class_list] or book).lines[:2]
    values: list[dict[str, Any]] = [{"name": "", **line.values} for line in lines]
    students = [Student(points=f"{place}.5", is_listed=True, **fields) for place, fields in enumerate(values)]
    read = canvas.read_canvas_gradebook(book.encode())
    matching = canvas.match_students(read, students)
    assert matching.students == []
    filled = canvas.fill_gradebook(read, matching, column="", title="Quiz", most="100").decode()
    rows = list(csv.reader(io.StringIO(filled.removeprefix("sep=;\n")), delimiter=read.delimiter))
    points = [row[rows[0].index("Quiz")] for row in rows if any(cell in ("s-1", "s-2") for cell in row)]
    assert points == ["0.5", "1.5"]


def test_where_canvas_writes_commas_so_do_we() -> None:
    text = "Student;ID;Pets (102)\n    Points Possible;;100,00\nBo;1001;\n"
    assert fill(text.encode(), [BO]).decode().endswith("Bo;1001;81,3\n")


def test_a_name_that_begins_like_a_formula_is_found_and_is_none_any_more() -> None:
    text = 'Student,ID,Pets (102)\r\n"=HYPERLINK(""http://evil"",""Bo"")",1001,\r\n'
    assert fill(text.encode(), [BO]).decode() == (
        'Student,ID,Pets (102)\r\n"\'=HYPERLINK(""http://evil"",""Bo"")",1001,81.3\r\n'
    )
    assert canvas.read_canvas_gradebook(text.encode()).computed() == 1


def test_numbers_below_zero_and_dashes_are_no_formulas() -> None:
    text = "Student,ID,Pets (102),Extra (103)\r\nBo,1001,-5,-\r\n"
    assert fill(text.encode(), []) == text.encode()


def test_a_formula_after_a_closed_quotation_mark_is_one_too() -> None:
    assert b"'=1+1" in fill(b'Student,ID\r\n"=1"+1,7\r\n', [])


CELLS = st.text(st.characters(codec="utf-8", exclude_characters='"'), max_size=8)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=5), max_size=6), st.sampled_from([",", ";", "\t"]), st.booleans())
def test_whatever_is_in_a_file_filling_it_with_nothing_changes_formulas_alone(
    rows: list[list[str]], delimiter: str, quotes: bool
) -> None:
    text = io.StringIO(newline="")
    lines = [["Student", "ID", PETS], *rows]
    if quotes:
        csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(lines)
    else:
        csv.writer(text, delimiter=delimiter).writerows(lines)
    data = text.getvalue().encode()
    once = fill(data, [])
    assert fill(once, []) == once
    assert canvas.read_canvas_gradebook(once).computed() == 0
    if canvas.read_canvas_gradebook(data).computed() == 0:
        assert once == data


@given(st.binary(max_size=200))
def test_no_bytes_at_all_make_it_stumble(data: bytes) -> None:
    try:
        assert canvas.read_canvas_gradebook(b"Student,ID\n" + data).as_bytes() == b"Student,ID\n" + data
    except BadGradebook:
        assert b'"' in data


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the first row has no columns “Student” and “ID”"),
        (b"name,points\nBo,1\n", "the first row has no columns “Student” and “ID”"),
        (b"\xff\xfeS", "damaged"),
        (b'Student,ID\n"Bo,1\n', "never closed"),
        (b"Student,ID\n" + b"," * (5 * 1024 * 1024), "limit is 5 MB"),
        (b"Student,ID,Pets (1)\nBo,1.70000000000011E+14,\n", "shortened the IDs, such as 1.7"),
        (b"Student;ID;Pets (1)\nBo;1,7E+14;\n", "shortened the IDs, such as 1,7"),
        (b"OrgDefinedId,Username,Pets Points Grade,End-of-Line Indicator\n#1,#bo,9,#\n", "gradebook of Brightspace"),
        (b"First name,Last name,Email address,Pets (Real)\nBo,Bello,bo@x.org,9\n", "gradebook of Moodle"),
        (b"Vorname,Nachname,E-Mail-Adresse,Pets (Punkte)\nBo,Bello,bo@x.org,9\n", "gradebook of Moodle"),
        ('"Last Name"\t"Pets [Total Pts: 10 Score] |5"\n'.encode("utf-16"), "gradebook of Blackboard"),
        (b"PK\x03\x04", "a workbook"),
    ],
)
def test_what_is_no_gradebook_is_refused_with_what_to_do(data: bytes, words: str) -> None:
    with pytest.raises(BadGradebook, match=words):
        canvas.read_canvas_gradebook(data)


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


PEOPLE = [
    Student("Bo Bello", "Bo", "Bello", "bo@uni.example", "1001", "s-1", "bo", "A", "Owls", "81.3", "private 0.87"),
    Student("Dee Ngo", "Dee", "Ngo", "dee@uni.example"),
]


def test_moodle_reads_its_columns_with_a_dash_for_no_grade() -> None:
    assert rows_of(files.moodle_file(PEOPLE, "Pets")) == [
        ["Email address", "ID number", "First name", "Last name", "Pets", "Pets (feedback)"],
        ["bo@uni.example", "s-1", "Bo", "Bello", "81.3", "private 0.87"],
        ["dee@uni.example", "", "Dee", "Ngo", "-", ""],
    ]


def test_brightspace_reads_its_columns_and_whom_it_cannot_find_is_left_out() -> None:
    assert rows_of(files.brightspace_file(PEOPLE, "Pets")) == [
        ["OrgDefinedId", "Username", "Pets Points Grade", "End-of-Line Indicator"],
        ["s-1", "bo", "81.3", "#"],
    ]


def test_whom_a_list_knows_by_one_number_is_found_by_it() -> None:
    (_header, row) = rows_of(files.brightspace_file([Student("Cy Costa", student_id="1002")], "Pets"))
    assert row == ["1002", "", "", "#"]


def test_nobody_gets_the_mark_of_an_account_that_calls_itself_like_them() -> None:
    """A platform would take the last line; whose account it is nobody has said."""
    listed = Student("Dee Ngo", "Dee", "Ngo", "dee@uni.example", "9", "s-9", "dngo", points="0.0", is_listed=True)
    account = Student("DNgo", "DNgo", "", "Dee@uni.example", login="DNgo", team="Owls", points="95.0")
    assert rows_of(files.brightspace_file([account, listed], "Pets"))[1:] == [["s-9", "dngo", "0.0", "#"]]
    moodle = rows_of(files.moodle_file([account, listed], "Pets"))[1:]
    assert [row[0] for row in moodle] == ["", "dee@uni.example"]
    plain = rows_of(files.full_file([account, listed], "Pets"))[1:]
    assert [row[1] for row in plain] == ["Dee@uni.example", "dee@uni.example"]


@pytest.mark.parametrize("kind", sorted(files.GRADE_FILES))
def test_no_cell_of_our_files_is_a_formula(kind: str) -> None:
    cmd = "=cmd|' /C calc'!A0"
    evil = Student(cmd, cmd, cmd, cmd, cmd, cmd, cmd, cmd, cmd, points="1.0", reasons="+1")
    for row in rows_of(files.GRADE_FILES[kind]([evil], "@SUM(1)")):
        assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@"))]
