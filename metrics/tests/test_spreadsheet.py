"""What a teacher's spreadsheet saves, and what is read from it once the teacher has agreed."""

import pytest

import metrics
from metrics.core.messages import restore_message
from metrics.reading.encodings import guess_encoding
from metrics.reading.headers import ExpectedHeader
from metrics.reading.spreadsheet import convert_spreadsheet

CLEAN = b"id,price,Usage\nH1,179.27,public\nH2,81,PRIVATE\n"
AS_EXCEL_SAVES_IT = ";id;price;USAGE\r\n0;H1;179,27;public\r\n1;H2;81;PRIVATE\r\n"


def changes(data: bytes) -> list[str]:
    found = convert_spreadsheet(data)
    return [] if found is None else [str(change) for change in found.changes]


def test_everything_that_a_spreadsheet_does_at_once_is_read_in_one_go() -> None:
    found = convert_spreadsheet(AS_EXCEL_SAVES_IT.encode("utf-8-sig"))
    assert found is not None
    assert found.text == CLEAN
    assert [str(change) for change in found.changes] == [
        "Columns are separated by semicolons.",
        'Decimal commas become points in "price", such as 179,27 → 179.27.',
        "The first column, which only counts the rows, is left out.",
        '"USAGE" becomes "Usage", which holds the split.',
    ]
    assert metrics.check_truth("rmse", found.text).ok


def test_what_is_in_order_is_left_as_it_is() -> None:
    assert convert_spreadsheet(CLEAN) is None
    assert convert_spreadsheet(convert_spreadsheet(AS_EXCEL_SAVES_IT.encode()).text) is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("data", "text", "words"),
    [
        ("id\ty\n1\t0,5\n".encode("utf-16"), b"id,y\n1,0.5\n", "UTF-16"),
        ("id;y\n1;größer\n".encode("cp1252"), "id,y\n1,größer\n".encode(), 'such as "größer"'),
        (b"sep=;\nid;y\n1;2\n", b"id,y\n1,2\n", "semicolons"),
        (b"id|y\n1|a,b\n", b'id,y\n1,"a,b"\n', "vertical bars"),
        (b"id,y,,\n1,2,,\n", b"id,y\n1,2\n", "Empty columns"),
        (b"id;y\n1;2\n;\n;\n", b"id,y\n1,2\n", "Empty rows"),
        (b"Unnamed: 0,id,y\n1,a,2\n2,b,3\n", b"id,y\na,2\nb,3\n", "counts the rows"),
        (b'id;y\n1;"a;b"\n', b"id,y\n1,a;b\n", "semicolons"),
    ],
)
def test_each_habit_is_known_and_said(data: bytes, text: bytes, words: str) -> None:
    found = convert_spreadsheet(data)
    assert found is not None
    assert found.text == text
    assert words in " ".join(found.changes)


def test_commas_stay_where_anything_but_numbers_stands() -> None:
    found = convert_spreadsheet(b"id;tags;y\n1;3,4;0,5\n2;cat,dog;1\n")
    assert found is not None
    assert found.text == b'id,tags,y\n1,"3,4",0.5\n2,"cat,dog",1\n'


def test_thousands_are_no_decimals() -> None:
    """Whether 1.234 is more than a thousand or a little more than one is said by another number or by nobody."""
    found = convert_spreadsheet(b"id;y\n1;1.234\n2;7,5\n")
    assert found is not None
    assert b'"7,5"' in found.text
    found = convert_spreadsheet(b"id;y;z\n1;1.234;a\n2;7,5;b\n3;-2.345.678,25;c\n4;;d\n5;12;e\n")
    assert found is not None
    assert found.text == b"id,y,z\n1,1234,a\n2,7.5,b\n3,-2345678.25,c\n4,,d\n5,12,e\n"
    assert "-2.345.678,25 → -2345678.25" in found.changes[1]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x01",
        b"PK\x03\x04 a zip",
        b"Dear professor, here is my file.\n",
        b"id;y\n1;2;3\n",
        b'id;y\n1;"open\n',
        b"only one column\n1\n2\n",
        b"id,y\n1,2\n",
        b"\xff\xfeo",
        b"a,b\n\x81,2\n",
    ],
)
def test_what_is_no_table_or_needs_nothing_is_left_to_the_check(data: bytes) -> None:
    assert changes(data) == []


def test_a_column_that_does_not_count_the_rows_stays() -> None:
    assert changes(b",id,y\n7,a,1\n3,b,2\n") == []
    assert changes(b",y\n0,1\n1,2\n") == [], "one column would be left, and no ids"


def test_a_column_called_usage_that_holds_something_else_stays() -> None:
    assert changes(b"id,USAGE\n1,often\n2,seldom\n") == []
    assert changes(b"id,y,usage,Usage\n1,2,public,Public\n") == []


def test_the_words_can_be_said_in_other_languages() -> None:
    found = convert_spreadsheet(AS_EXCEL_SAVES_IT.encode())
    assert found is not None
    for kept, change in zip(found.as_stored(), found.changes, strict=True):
        assert restore_message(kept["message"], kept["forms"]["message"]) == change


EXPECTED = ExpectedHeader(("id", "House price"))
FAULTS: dict[str, tuple[list[list[str]], str]] = {
    "none": ([], ""),
    "decimal commas": ([["id", "House price"], ["a", "0,5"], ["b", "2"]], "Decimal commas"),
    "other names": ([["ID", "House  Price [EUR]"], ["a", "0.5"], ["b", "2"]], "becomes"),
    "a name with underscores": (
        [["id", "house_price"], ["a", "0.5"], ["b", "2"]],
        '"house_price" becomes "House price"',
    ),
    "a wrong name": ([["id", "Prediction"], ["a", "0.5"], ["b", "2"]], '"Prediction" becomes "House price"'),
    "an extra column": ([["id", "House price", "note"], ["a", "0.5", "x"], ["b", "2", ""]], '"note" is left out'),
    "columns swapped": ([["House price", "id"], ["0.5", "a"], ["2", "b"]], ""),
    "an index": ([["", "id", "House price"], ["0", "a", "0.5"], ["1", "b", "2"]], "only counts the rows"),
    "a title": ([["Results of Bo"], [], ["id", "House price"], ["a", "0.5"], ["b", "2"]], "above the header"),
    "a short title": ([["Results"], ["id", "House price"], ["a", "0.5"], ["b", "2"]], "above the header"),
    "a remark": ([["# by R"], ["id", "House price"], ["a", "0.5"], ["b", "2"]], "Remarks"),
    "empty cells": ([["id", "House price"], ["a", "0.5", ""], ["b", "2", ""]], "ends of rows"),
    "empty columns": ([["id", "House price", "", ""], ["a", "0.5", "", ""], ["b", "2", "", ""]], "Empty columns"),
    "no header": ([["a", "0.5"], ["b", "2"]], "are added"),
}


@pytest.mark.parametrize("start", ["", "\ufeff", "sep={}\n", "\ufeffsep={}\n"], ids=["", "mark", "sep", "mark and sep"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CR LF"])
@pytest.mark.parametrize("separator", [";", "\t", "|", ","], ids=["semicolons", "tabs", "bars", "commas"])
@pytest.mark.parametrize("fault", FAULTS)
def test_another_separator_with_a_second_fault_is_cured_in_one_step(
    fault: str, separator: str, end: str, start: str
) -> None:
    table, words = FAULTS[fault]
    table = table or [["id", "House price"], ["a", "0.5"], ["b", "2"]]
    lines = [separator.join(f'"{cell}"' if separator in cell else cell for cell in row) for row in table]
    data = (start.format(separator) + end.join(lines) + end).encode()
    found = convert_spreadsheet(data, is_truth=False, expected=EXPECTED)
    if found is None:
        assert (separator, words) == (",", ""), "only a good file needs nothing"
        return
    names, *rows = [line.split(",") for line in found.text.decode().splitlines()]
    assert {tuple(sorted(zip(names, row, strict=True))) for row in rows} == {
        (("House price", "0.5"), ("id", "a")),
        (("House price", "2"), ("id", "b")),
    }
    said = " ".join(map(str, found.changes))
    assert words in said
    assert separator == "," or "separated by" in said


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"id,y\n1,0,5\n2,3\n", b"id,y\n1,0.5\n2,3\n"),
        (b'id,y\n1,"0,5"\n2,3\n', b"id,y\n1,0.5\n2,3\n"),
        (b"id,y\n1;0,5\n2;3\n", b"id,y\n1,0.5\n2,3\n"),
        (b'id,y\n1,"1,234"\n2,"0,500"\n', b"id,y\n1,1.234\n2,0.500\n"),
    ],
)
def test_decimal_commas_are_cured_where_no_thousands_can_be_meant(data: bytes, text: bytes) -> None:
    for expected in (None, ExpectedHeader(("id", "y"))):
        found = convert_spreadsheet(data, expected=expected)
        assert found is not None
        assert found.text == text


@pytest.mark.parametrize(
    "data",
    [
        b'id,y\n1,"1,234"\n2,"5,678"\n',
        b"id,y,z\n1,0,5,2\n2,3,4,5\n",
        b"id,a,b\n1,2,3\n2,3,4\n",
        b"a,b,c\n1,2,3\n2,3,4\n",
        b"id,y,y\n1,2,3\n2,3,4\n",
        b"id,y\n1,2,x\n2,3\n",
    ],
)
def test_where_more_than_one_thing_can_be_meant_nothing_is_offered(data: bytes) -> None:
    assert convert_spreadsheet(data, is_truth=False, expected=ExpectedHeader(("id", "y"))) is None


def as_r_writes(separator: str, quote: str, ids: str = "00123 00124", number: str = "{}") -> bytes:
    """A table as R's `write.table` saves it; its rows begin with names of the form `number`, if there is one."""
    first = [number.format(place) + separator if number else "" for place in (1, 2)]
    names = separator.join(f"{quote}{name}{quote}" for name in ("id", "y"))
    rows = [
        f"{quote if start else ''}{start.rstrip(separator)}{quote + separator if start else ''}"
        f"{quote}{name}{quote}{separator}{value}"
        for start, name, value in zip(first, ids.split(), ("183.8", "2.5"), strict=True)
    ]
    return "\n".join([names, *rows, ""]).encode()


@pytest.mark.parametrize("quote", ["", '"'], ids=["bare", "quoted"])
@pytest.mark.parametrize("separator", [" ", "\t", ";"], ids=["spaces", "tabs", "semicolons"])
def test_a_table_that_r_wrote_is_told_by_its_separator_and_read(separator: str, quote: str) -> None:
    data = as_r_writes(separator, quote, number="")
    assert [problem.code for problem in metrics.sniff(data, len(data), ["id", "y"])] == ["separator"]
    found = convert_spreadsheet(data, is_truth=False, expected=ExpectedHeader(("id", "y")))
    assert found is not None
    assert found.text == b"id,y\n00123,183.8\n00124,2.5\n"


IDS = ["00123", "00124"]


@pytest.mark.parametrize("ids", ["00123 00124", "123 124"], ids=["ids", "ids without zeros"])
@pytest.mark.parametrize("number", ["{}", "7{}"], ids=["counted", "picked"])
@pytest.mark.parametrize("quote", ["", '"'], ids=["bare", "quoted"])
@pytest.mark.parametrize("separator", [" ", "\t", ";", ","], ids=["spaces", "tabs", "semicolons", "commas"])
def test_row_names_under_a_header_without_them_are_left_out(separator: str, quote: str, number: str, ids: str) -> None:
    data = as_r_writes(separator, quote, ids, number)
    found = convert_spreadsheet(data, is_truth=False, expected=ExpectedHeader(("id", "y")), ids=IDS)
    assert found is not None
    assert found.text == b"id,y\n00123,183.8\n00124,2.5\n"
    assert "row names" in " ".join(found.changes)
    other = convert_spreadsheet(data, is_truth=False, expected=ExpectedHeader(("id", "y")), ids=["a", "b"])
    assert other is None, "only the ids tell what is a row name"


@pytest.mark.parametrize("number", ["{}", "7{}"], ids=["counted", "picked"])
@pytest.mark.parametrize("quote", ["", '"'], ids=["bare", "quoted"])
def test_row_names_are_called_so_and_never_decimal_commas(number: str, quote: str) -> None:
    if not quote and number != "{}":
        return  # which may be ids
    with pytest.raises(metrics.SubmissionError) as caught:
        metrics.evaluate("rmse", b"id,y\n00123,1\n00124,2\n", as_r_writes(",", quote, number=number))
    (problem,) = [one for one in caught.value.problems if one.code == "row_width"]
    assert "row.names = FALSE" in problem.message
    assert "decimal" not in problem.message


def test_numbers_that_may_be_cut_at_decimal_commas_are_no_row_names() -> None:
    with pytest.raises(metrics.SubmissionError) as caught:
        metrics.evaluate("rmse", b"id,y\n1,1\n2,2\n", b"id,y\n1,0,5\n2,0,7\n")
    assert "decimal sign" in caught.value.problems[0].message
    both = b"id,y\n1,2,5\n2,1,7\n"
    assert convert_spreadsheet(both, is_truth=False, expected=ExpectedHeader(("id", "y")), ids=["1", "2"]) is None
    tabs = convert_spreadsheet(
        both.replace(b",", b"\t"), is_truth=False, expected=ExpectedHeader(("id", "y")), ids=["1", "2"]
    )
    assert tabs is not None
    assert tabs.text == b"id,y\n2,5\n1,7\n"


def test_words_that_are_no_columns_are_not_read_as_columns() -> None:
    data = b"a letter\n1 2\n"
    assert convert_spreadsheet(data, is_truth=False, expected=ExpectedHeader(("id", "y"))) is None
    assert [one.code for one in metrics.sniff(data, len(data), ["id", "y"])] == ["column_missing"] * 2 + [
        "column_extra"
    ]


@pytest.mark.parametrize("names", ["no,guess", ",guess", "y,guess"])
def test_the_column_with_the_expected_ids_is_known_by_them(names: str) -> None:
    expected = ExpectedHeader(("id", "House price"))
    data = f"{names}\na,0.5\nb,2\n".encode()
    found = convert_spreadsheet(data, is_truth=False, expected=expected, ids=["b", "a"])
    assert found is not None
    assert found.text == b"id,House price\na,0.5\nb,2\n"
    assert convert_spreadsheet(data, is_truth=False, expected=expected, ids=["b", "a", "c"]) is None


def test_a_truth_is_read_below_its_title_in_one_step() -> None:
    found = convert_spreadsheet("Lösungen\n\nid;Preis;Usage\n1;0,5;Public\n2;3;Private\n".encode("cp1252"))
    assert found is not None
    assert found.text == b"id,Preis,Usage\n1,0.5,Public\n2,3,Private\n"
    assert metrics.check_truth("rmse", found.text).ok


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman"])
def test_signs_of_units_are_no_damage(encoding: str) -> None:
    text = "id;Temp °C (max);m²\n1;12,5;3\n" if encoding == "cp1252" else "id;Temp °C (max)\n1;12,5\n"
    assert guess_encoding(text.encode(encoding)) == (text, encoding)
