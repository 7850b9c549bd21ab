"""What is another answer in a corrected ground truth, and what only looks like one."""

import pytest

from metrics.checks.splits import TruthDifference, compare_truths

BEFORE = b"id,y,Usage\n1,5,Public\n2,7,Private\n3,9,Private\n"


def test_a_truth_does_not_differ_from_itself_in_any_order() -> None:
    found = compare_truths(b"Usage,id,y\nprivate,3,9\nPublic,1,5.0\nPRIVATE,2, 7 \n", BEFORE, "id", "id")
    assert (found.answers, found.moved, found.added, found.gone, found.examples) == ({}, 0, 0, 0, ())
    assert (found.columns, found.columns_gone) == ((), ())


def test_rows_are_counted_by_the_part_that_they_are_in_now() -> None:
    found = compare_truths(b"id,y,Usage\n1,6,Public\n2,8,Public\n4,9,Private\n", BEFORE)
    assert found.answers == {"public": 2}
    assert (found.moved, found.added, found.gone) == (1, 1, 1)
    assert found.examples == (
        TruthDifference("1", "y", "5", "6", "public"),
        TruthDifference("2", "y", "7", "8", "public"),
    )


def test_columns_that_come_and_go_are_named() -> None:
    found = compare_truths(b"id,a,b\n1,x,y\n", b"id,a,c\n1,x,z\n")
    assert (found.columns, found.columns_gone, found.answers) == (("b",), ("c",), {})


def test_ids_may_stand_in_a_column_of_another_name() -> None:
    assert compare_truths(b"row,y\n1,5\n", b"y,id\n5,1\n", "row", "id").answers == {}


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [("1", "1.0", True), ("1e2", "100", True), ("007", "7", False), ("cat", "Cat", False), ("", "0", False)],
)
def test_numbers_are_compared_as_numbers_and_names_as_texts(one: str, other: str, is_same: bool) -> None:
    found = compare_truths(f"id,y\n1,{one}\n2,z\n".encode(), f"id,y\n1,{other}\n2,z\n".encode())
    assert (found.answers == {}) is is_same


def test_of_many_answers_all_are_counted_and_some_shown() -> None:
    def truth(plus: int) -> bytes:
        return ("id,y\n" + "".join(f"{row},{row + plus}\n" for row in range(100))).encode()

    found = compare_truths(truth(1), truth(0))
    assert found.answers == {"": 100}
    assert len(found.examples) == 20
