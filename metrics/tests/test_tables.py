"""How files are read beyond the single inputs of the list: many faults at once, large files, exactness."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metrics

NUMBERS = b"id,y\n1,0.5\n2,1.5\n3,-2\n"


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


# --- quotes and rows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b'"id","y"\n"1","0.5"\n2,1.5\n3,"-2"\n',
        b"id,y\n1,5e-1\n2,+1.5\n3,-2.0E0\n",
        b"\xef\xbb\xbf\r\n y , id\r\r0.5,1.0\n\n 1.5 ,2\r\n-2,3",
    ],
)
def test_harmless_differences_may_come_together(data: bytes) -> None:
    assert value_of(data) == 0.0


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


def test_the_sniffer_sees_the_beginning_only() -> None:
    assert metrics.sniff(NUMBERS, len(NUMBERS), ["id", "y"]) == []
    assert metrics.sniff(NUMBERS, len(NUMBERS), None) == []
    assert metrics.sniff("id,y\n1,é".encode()[:-1], 10**6, ["id", "y"]) == []
    assert [problem.code for problem in metrics.sniff(b"", 0, None)] == ["empty_file"]
    assert [problem.code for problem in metrics.sniff(b"id,y\n", 5, ["id", "y"])] == ["no_rows"]
    assert [problem.code for problem in metrics.sniff(b"id;y\n1;2\n", 9, None)] == ["separator"]


# --- ids --------------------------------------------------------------------------------------------------------


def test_missing_ids_come_with_count_and_five_examples() -> None:  # 63
    truth = "id,y\n" + "".join(f"i{row},1\n" for row in range(20))
    problem = only(b"id,y\ni0,1\n", truth.encode())
    assert (problem.code, problem.count) == ("missing_ids", 19)
    assert '"i1", "i2", "i3", "i4", "i5" and 14 more.' in problem.message


def test_a_far_too_long_file_is_refused_early() -> None:  # 84
    data = b"id,y\n" + b"123456,0.5\n" * 3_000_000
    start = time.process_time()
    assert only(data).code == "too_many_rows"
    assert time.process_time() - start < 5


# --- values -----------------------------------------------------------------------------------------------------


def test_a_bad_value_is_named_with_its_place() -> None:
    problem = only(b"id,y\n1,0.5\n2," + b"x" * 100 + b"\n3,-2\n")
    assert (problem.code, problem.column, problem.line, problem.id, problem.count) == ("not_a_number", "y", 3, "2", 1)
    assert f'"{"x" * 40}…"' in problem.message


def test_thousands_of_bad_values_are_one_message() -> None:
    truth = "id,y\n" + "".join(f"{row},1\n" for row in range(1000))
    problem = only(truth.replace(",1\n", ",a\n").encode(), truth.encode())
    assert problem.count == 1000
    assert "and 995 more" in problem.message


def test_tiny_and_negative_zeros_are_numbers() -> None:  # 99
    assert str(value_of(b"id,y\n1,-0.0\n2,5e-324\n", b"id,y\n1,0\n2,-0\n", "mae")) != "-0.0"


def test_labels_are_text_unless_the_truth_is_numeric() -> None:  # 92
    assert value_of(b"id,y\n1,Cat\n2,dog\n", b"id,y\n1,cat\n2,dog\n", "accuracy") == 0.5
    assert value_of(b"id,y\n1,1.0\n2,2\n", b"id,y\n1,1\n2,2\n", "accuracy") == 1.0
    assert value_of(b"id,y\n1,1.0\n2,b\n", b"id,y\n1,1\n2,b\n", "accuracy") == 1.0
    assert value_of(b"id,y\n1,7\n2,1\n3,007\n", b"id,y\n1,007\n2,1\n3,007\n", "accuracy") == 2 / 3
    large = b"id,y\n1,9007199254740993\n2,1\n"
    assert value_of(b"id,y\n1,9007199254740992\n2,1\n", large, "accuracy") == 0.5
    assert only(b"id,y\n1,\n2,1\n", large, "accuracy").code == "missing_value"  # 94


def test_frames_and_paths_are_read_like_files(tmp_path: Path) -> None:
    path = tmp_path / "sub.csv"
    path.write_bytes(NUMBERS)
    frame = pd.DataFrame({"id": [1, 2, 3], "y": [0.5, 1.5, -2.0]})
    assert metrics.evaluate("rmse", path, frame).overall == 0.0
    assert metrics.evaluate("rmse", str(path), path).overall == 0.0
    assert problems_of(frame.assign(y=np.nan).to_csv(index=False).encode())[0].code == "missing_value"
