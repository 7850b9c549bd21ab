"""Every way a CSV goes wrong, and what Bo reads about it. The numbers are those of the list of inputs."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metrics

NUMBERS = b"id,y\n1,0.5\n2,1.5\n3,-2\n"
WORDS = b"id,y\nNA,cat\nnull,dog\n007,cat\n7,dog\n"


def problems_of(data: bytes | Path, truth: bytes = NUMBERS, key: str = "rmse") -> list[metrics.Problem]:
    with pytest.raises(metrics.SubmissionError) as caught:
        metrics.prepare(key, truth).evaluate(data)
    for problem in caught.value.problems:
        assert len(problem.message) < 700
        assert problem.message.isprintable()
    return caught.value.problems


def only(data: bytes, truth: bytes = NUMBERS, key: str = "rmse") -> metrics.Problem:
    (problem,) = problems_of(data, truth, key)
    return problem


def value_of(data: bytes, truth: bytes = NUMBERS, key: str = "rmse") -> float:
    return metrics.evaluate(key, truth, data).overall


# --- container and encoding -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "code", "words", "line"),
    [
        (b"", "empty_file", "0 bytes", None),  # 1
        (b"\n \r\n\n", "no_rows", "no rows", None),  # 2
        (b"id,y\n", "no_rows", "header but no rows; 3 expected", 1),  # 3
        (NUMBERS.decode().encode("utf-16"), "encoding", "CSV UTF-8", 1),  # 5
        (NUMBERS.decode().encode("utf-16-le"), "control_character", "NUL", 1),  # 6
        (b"id,y\n1,0.5\n2,caf\xe9\n3,1\n", "encoding", "Line 3, byte 6", 3),  # 7
        (b"id,y\n1,0.5\n2,1\n3,\xe2\x82", "encoding", "Line 4", 4),  # 8
        (b"id,y\n1,\xed\xa0\x80\n", "encoding", "surrogate", 2),  # 9
        (b"id,y\n1,0.5\n2,\x001\n3,1\n", "control_character", "Line 3, byte 3: NUL", 3),  # 10
        (NUMBERS + b"\x1a", "control_character", "Ctrl-Z", 5),  # 35
        (b"id,y\n1," + b"0" * 100_000 + b"\n", "long_line", "longer than 65,536", 2),  # 36
        (b"id,y\n1,\x1b[31m5\n2,1\n3,1\n", "control_character", "0x1B", 2),  # 42
        (b"id,y\n1,5\n2,\xc2\x9b1\n3,1\n", "control_character", "0x9B", 3),
    ],
)
def test_bytes_that_are_no_text(data: bytes, code: str, words: str, line: int | None) -> None:
    problem = only(data)
    assert (problem.code, problem.line) == (code, line)
    assert words in problem.message


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + NUMBERS,  # 4
        NUMBERS.replace(b"\n", b"\r\n"),  # 30
        NUMBERS.replace(b"\n", b"\r"),  # 31
        b"id,y\r\n1,0.5\n2,1.5\r3,-2",  # 32, 33
        b"\n\nid,y\n\n1,0.5\n2,1.5\n  \n\t\n3,-2\n\n\n",  # 34
        b" id ,\xe2\x80\x8by\n1,0.5\n2,1.5\n3,-2\n",  # 53, 54
        b"y,id\n0.5,1\n1.5,2\n-2,3\n",  # 59
        b'"id","y"\n"1","0.5"\n2,1.5\n3,"-2"\n',
        b"id,y\n 1 ,0.5\n2\xc2\xa0, 1.5\n3,-2\t\n",  # 74
        b"id,y\n3,-2\n1,0.5\n2,1.5\n",  # 83
        b"id,y\n1.0,0.5\n2.00,1.5\n3,-2\n",  # 68
        b"id,y\n1,5e-1\n2,+1.5\n3,-2.0E0\n",
    ],
)
def test_harmless_differences_are_accepted(data: bytes) -> None:
    assert value_of(data) == 0.0


# --- quotes and rows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "codes", "words", "line"),
    [
        (b'id,y\n"1,0.5\n2,1.5\n3,-2\n', {"quote_open"}, "on or after line 2 is never closed", 2),  # 38
        (b'id,y\n1,0.5\n"2,1.5\n3",-2\n', {"line_break", "unknown_ids", "missing_ids", "row_width"}, "quote", 3),  # 39
        (b'id,y\n1,"0.5\n2,1.5"\n3,-2\n', {"missing_ids", "line_break", "not_a_number"}, "ines 2–3", 2),  # 39
        (b'id,y\n"1"x,0.5\n2,1.5\n3,-2\n', {"quote"}, "line 2", 2),  # 40
        (b'id,y\n1,0.5\n2,1"5\n3,-2\n', {"quote", "quote_open"}, "line 3", 3),
        (b"id,y\n1,0,5\n2,1.5\n3,-2\n", {"row_width"}, "Line 2 has 3 values; the header names 2. If the comma", 2),
        (b"id,y\n1,0.5,\n2,1.5\n3,-2\n", {"row_width"}, "ends with a comma", 2),  # 48
        (b"id,y\n1,0.5,\n2,1.5,\n3,-2,\n", {"row_width"}, "3 rows have another number of values", 2),  # 47
        (b"id,y\n1,0.5\n2,1.5,9\n3,-2\n", {"row_width"}, "Line 3 has 3 values", 3),  # 50
        (b"id,y\n1,0.5\n2\n3,-2\n", {"row_width"}, "Line 3 has 1 value", 3),  # 51
    ],
)
def test_rows_that_a_reader_would_have_to_guess(data: bytes, codes: set[str], words: str, line: int) -> None:
    found = problems_of(data)
    assert {problem.code for problem in found} <= codes
    assert any(words in problem.message for problem in found)
    assert line in {problem.line for problem in found}


def test_all_problems_are_told_at_once() -> None:
    found = problems_of(b"id,y\n1,x\n1,2\n,3\n9,inf\n2,1,1\n")
    assert [problem.code for problem in found] == [
        "row_width",
        "blank_id",
        "unknown_ids",
        "repeated_ids",
        "not_a_number",
        "not_finite",
    ]


def test_a_text_may_hold_commas_quotes_and_line_breaks() -> None:
    truth = b'id,y\n1,"a, ""b""\nc"\n2,d\n'
    assert value_of(b'id,y\n2,"d"\n1,"c a,\n""b"""\n', truth, "word_jaccard") == 1.0


# --- the header -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "code", "words"),
    [
        (b"id;y", "separator", "semicolons"),  # 43
        (b"id\ty", "separator", "tabs"),  # 44
        (b"id|y", "separator", "vertical bars"),  # 45
        (b"id,y,", "column_unnamed", "ends with a comma"),  # 49
        (b"ID,y", "column_missing", '"ID" instead'),  # 52
        (b"1,0.5", "header_missing", "id,y"),  # 55
        (b"id,value", "column_missing", '"y" is missing'),  # 56
        (b"id,y,y", "column_repeated", "2 times"),  # 57
        (b"id,y,z", "column_extra", '"z"'),  # 58
        (b",id,y", "column_unnamed", "index=False"),  # 60
        (b"Unnamed: 0,id,y", "column_extra", "index=False"),  # 60
        (b"# my best model", "column_missing", '"id"'),  # 61
        (b"id,y," + b",".join(b"c%d" % number for number in range(1000)), "column_extra", "1,000 columns"),
        (b"id,y," + b",".join(b"c%d" % number for number in range(9998)), "too_many_columns", "10,000"),  # 62
    ],
)
def test_a_header_is_exact(header: bytes, code: str, words: str) -> None:
    data = header + b"\n1,0.5\n2,1.5\n3,-2\n"
    problem = next(problem for problem in problems_of(data) if problem.code == code)
    assert words in problem.message
    assert problem.line == 1
    if code != "too_many_columns":
        assert code in {problem.code for problem in metrics.sniff(data, len(data), ["id", "y"])}


def test_the_sniffer_sees_the_beginning_only() -> None:
    assert metrics.sniff(NUMBERS, len(NUMBERS), ["id", "y"]) == []
    assert metrics.sniff(NUMBERS, len(NUMBERS), None) == []
    assert metrics.sniff("id,y\n1,é".encode()[:-1], 10**6, ["id", "y"]) == []
    assert [problem.code for problem in metrics.sniff(b"", 0, None)] == ["empty_file"]
    assert [problem.code for problem in metrics.sniff(b"id,y\n", 5, ["id", "y"])] == ["no_rows"]
    assert [problem.code for problem in metrics.sniff(b"id;y\n1;2\n", 9, None)] == ["separator"]


# --- ids --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ("NA,null,007,07", "Leading zeros differ"),  # 66
        ("na,null,007,7", "case differ"),  # 80
        ("NA,null,007,7.0", "as text, not as numbers"),  # 67
        ("NA,null,007,7e0", "as text, not as numbers"),  # 69
        ("N\u200bA,null,007,7", "Invisible characters differ"),  # 75
        ("\u202eNA,null,007,7", "Invisible characters differ"),  # 76
        ("NA,null,007,７", "other code points"),  # 77
        ("NА,null,007,7", "another alphabet"),  # 79
    ],
)
def test_ids_are_text_and_near_misses_are_explained(ids: str, words: str) -> None:
    rows = "".join(f"{name},cat\n" for name in ids.split(","))
    unknown, missing = problems_of(f"id,y\n{rows}".encode(), WORDS, "accuracy")
    assert (unknown.code, unknown.count) == ("unknown_ids", 1)
    assert words in unknown.message
    assert (missing.code, missing.count) == ("missing_ids", 1)


def test_words_for_nothing_are_ordinary_ids() -> None:  # 71
    assert value_of(WORDS, WORDS, "accuracy") == 1.0


def test_large_ids_are_exact() -> None:  # 70
    truth = b"id,y\n9007199254740993,1\n9007199254740992,2\n"
    assert value_of(truth, truth) == 0.0
    found = problems_of(b"id,y\n9007199254740993.0,1\n9007199254740992,2\n", truth)
    assert {problem.code for problem in found} == {"unknown_ids", "missing_ids"}


def test_composed_and_decomposed_letters_are_two_ids() -> None:  # 78
    truth = "id,y\nx,1\ncaf\u00e9,2\n".encode()
    found = problems_of("id,y\nx,1\ncafe\u0301,2\n".encode(), truth)
    assert "other code points" in found[0].message


def test_missing_ids_come_with_count_and_five_examples() -> None:  # 63
    truth = "id,y\n" + "".join(f"i{row},1\n" for row in range(20))
    problem = only(b"id,y\ni0,1\n", truth.encode())
    assert (problem.code, problem.count) == ("missing_ids", 19)
    assert problem.message.endswith('"i1", "i2", "i3", "i4", "i5" and 14 more.')


def test_the_rows_of_another_data_set_are_recognised() -> None:  # 85
    found = problems_of(b"id,y\n11,1\n12,1\n13,1\n")
    assert "another data set" in found[0].message


def test_a_far_too_long_file_is_refused_early() -> None:  # 84
    data = b"id,y\n" + b"123456,0.5\n" * 3_000_000
    start = time.process_time()
    assert only(data).code == "too_many_rows"
    assert time.process_time() - start < 5


# --- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "code", "words"),
    [
        ("", "missing_value", "is missing"),  # 86
        ("NaN", "missing_value", "is missing"),
        ("null", "missing_value", "is missing"),
        ("-", "missing_value", "is missing"),
        ("inf", "not_finite", "not finite"),  # 87
        ("-Infinity", "not_finite", "not finite"),
        ("1e400", "not_finite", "not finite"),  # 88
        ('"0,5"', "decimal_comma", "write 0.5"),
        ("50%", "not_a_number", "no plain number"),  # 89
        ("$5", "not_a_number", '"$5"'),
        ("1 000", "not_a_number", '"1 000"'),
        ("1_000", "not_a_number", '"1_000"'),
        ("0x1F", "not_a_number", '"0x1F"'),
        ("1d5", "not_a_number", '"1d5"'),
        ("1.2.3", "not_a_number", '"1.2.3"'),
        (".5", "not_a_number", "write 0.5"),
        ("5.", "not_a_number", "write 0.5"),
        ("-.5", "not_a_number", "write 0.5"),
        ("5.e3", "not_a_number", "write 0.5"),
        ("−0.5", "not_a_number", "minus sign"),  # 90
        ("٣", "not_a_number", "0 to 9"),
        ("True", "not_a_number", "write 1 and 0"),  # 91
        ("x" * 100, "not_a_number", f'"{"x" * 40}…"'),
        ("=cmd|' /C calc'!A1", "not_a_number", "=cmd"),  # 100
    ],
)
def test_a_number_is_a_plain_number(cell: str, code: str, words: str) -> None:
    problem = only(f"id,y\n1,0.5\n2,{cell}\n3,-2\n".encode())
    assert (problem.code, problem.column, problem.line, problem.id, problem.count) == (code, "y", 3, "2", 1)
    assert words in problem.message


def test_the_accepted_form_of_a_number_does_not_depend_on_its_neighbours() -> None:
    assert only(b"id,y\n1,.5\n2,1\n3,2\n").message == only(b"id,y\n1,.5\n2,+1\n3,2\n").message


def test_thousands_of_bad_values_are_one_message() -> None:
    truth = "id,y\n" + "".join(f"{row},1\n" for row in range(1000))
    problem = only(truth.replace(",1\n", ",a\n").encode(), truth.encode())
    assert problem.count == 1000
    assert "and 995 more" in problem.message


@pytest.mark.parametrize(("cell", "code"), [("1.1", "not_a_probability"), ("-0.1", "not_a_probability")])  # 96
def test_a_probability_is_between_0_and_1(cell: str, code: str) -> None:
    problem = only(f"id,y\n1,0.5\n2,{cell}\n".encode(), b"id,y\n1,0\n2,1\n", "log_loss")
    assert (problem.code, problem.line) == (code, 3)
    assert cell in problem.message


@pytest.mark.parametrize("cell", ["2", "0.9", "yes"])  # 95
def test_zero_or_one_is_nothing_else(cell: str) -> None:
    assert only(f"id,y\n1,1\n2,{cell}\n".encode(), b"id,y\n1,0\n2,1\n", "binary_f1").line == 3
    assert value_of(b"id,y\n1,0.0\n2,1.0\n", b"id,y\n1,0\n2,1\n", "binary_f1") == 1.0


def test_constant_answers_have_a_value() -> None:  # 97
    truth = b"id,y\n1,0\n2,1\n3,1\n"
    assert value_of(b"id,y\n1,3\n2,3\n3,3\n", truth, "roc_auc") == 0.5


def test_an_overflow_is_the_fault_of_the_values() -> None:  # 98
    problem = only(b"id,y\n2,1\n1,1e308\n3,1\n")
    assert "too large" in problem.message
    assert (problem.column, problem.line, problem.id) == ("y", 3, "1")
    assert "too large" in only(b"id,y\n1,1.3e154\n2,1.3e154\n3,1\n").message


def test_tiny_and_negative_zeros_are_numbers() -> None:  # 99
    assert str(value_of(b"id,y\n1,-0.0\n2,5e-324\n", b"id,y\n1,0\n2,-0\n", "mae")) != "-0.0"


def test_labels_are_text_unless_the_truth_is_numeric() -> None:  # 92
    assert value_of(b"id,y\n1,Cat\n2,dog\n", b"id,y\n1,cat\n2,dog\n", "accuracy") == 0.5
    assert value_of(b"id,y\n1,1.0\n2,2\n", b"id,y\n1,1\n2,2\n", "accuracy") == 1.0
    assert value_of(b"id,y\n1,1.0\n2,b\n", b"id,y\n1,1\n2,b\n", "accuracy") == 0.5
    assert value_of(b"id,y\n1,7\n2,1\n", b"id,y\n1,007\n2,1\n", "accuracy") == 0.5
    large = b"id,y\n1,9007199254740993\n2,1\n"
    assert value_of(b"id,y\n1,9007199254740992\n2,1\n", large, "accuracy") == 0.5
    assert only(b"id,y\n1,\n2,1\n", large, "accuracy").code == "missing_value"  # 94


def test_hostile_texts_are_escaped_in_messages() -> None:  # 101
    found = problems_of("id,y\n<img onerror=x>,1\n\u202eabc,2\n3,1\n".encode())
    assert "<img onerror=x>" in found[0].message
    assert "\\u202eabc" in found[0].message


def test_frames_and_paths_are_read_like_files(tmp_path: Path) -> None:
    path = tmp_path / "sub.csv"
    path.write_bytes(NUMBERS)
    frame = pd.DataFrame({"id": [1, 2, 3], "y": [0.5, 1.5, -2.0]})
    assert metrics.evaluate("rmse", path, frame).overall == 0.0
    assert metrics.evaluate("rmse", str(path), path).overall == 0.0
    flags = pd.DataFrame({"id": [1, 2], "y": [True, False]})
    assert metrics.evaluate("binary_f1", b"id,y\n1,1\n2,0\n", flags).overall == 1.0
    assert problems_of(frame.assign(y=np.nan).to_csv(index=False).encode())[0].code == "missing_value"


# --- nothing is misread -----------------------------------------------------------------------------------------

GOOD = b'id,y\n1,0.5\n2,"1.5"\n10,-2\n11,7e2\n'


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(GOOD)),
            st.integers(0, 3),
            st.sampled_from(
                [
                    b"",
                    b",",
                    b'"',
                    b"\n",
                    b"\r",
                    b" ",
                    b"0",
                    b".",
                    b"\xff",
                    b"\x00",
                    b";",
                    b"\n\n",
                    b'""',
                    b"e",
                    b"-",
                    b"\xc3\xa9",
                    b"\t",
                ]
            ),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_mutated_file_is_refused_or_read_as_the_csv_module_reads_it(edits: list[tuple[int, int, bytes]]) -> None:
    data = GOOD
    for place, length, new in edits:
        data = data[:place] + new + data[place + length :]
    truth = metrics.prepare("rmse", GOOD)
    try:
        prediction, _, _ = truth.read_submission(data)
    except metrics.SubmissionError:
        return
    lines = [row for row in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")) if any(map(str.strip, row))]
    names = [name.strip() for name in lines[0]]
    rows = {row[names.index("id")].strip(): float(row[names.index("y")]) for row in lines[1:]}
    rows = {name.partition(".")[0]: value for name, value in rows.items()}
    assert len(rows) == len(lines) - 1
    assert [rows[name] for name in truth.ids.texts] == prediction.tolist()
