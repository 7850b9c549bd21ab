"""What Ada is told about her answers beside their faults, and how rows of one group stay together."""

import csv
import io
import random
from collections.abc import Sequence
from typing import Any

import pytest

import metrics
from metrics.checks.splits import remove_columns
from metrics.tests.answer_files import split_table, table

SECRET = bytes(range(16))


def warned(key: str, data: bytes, **arguments: Any) -> dict[str, metrics.Finding]:
    report = metrics.check_truth(key, data, is_quick=True, **arguments)
    return {finding.code: finding for finding in report.findings}


@pytest.mark.parametrize(
    ("ids", "code"),
    [
        (["007", "x"], "leading_zeros"),
        (["1.50", "x"], "ids_like_decimals"),
        (["1e5", "x"], "ids_like_decimals"),
        (["9007199254740993", "x"], "long_ids"),
        (["2020-01-02", "x"], "ids_like_dates"),
        (["1/2/2020", "x"], "ids_like_dates"),
        (["NA", "x"], "ids_like_nothing"),
        (["true", "x"], "ids_like_nothing"),
        (["cafe\u0301", "caf\u00e9"], "similar_ids"),
        (["A1", "a1"], "similar_ids"),
        (["a\u200b", "a"], "similar_ids"),
    ],
)
def test_ids_that_programs_change_or_readers_confuse_are_told(ids: Sequence[str], code: str) -> None:
    found = warned("rmse", f"id,y\n{ids[0]},1\nq,3\n{ids[1]},2\n".encode())
    assert set(found) == {code}
    assert not found[code].blocking
    assert found[code].why
    assert found[code].line in (2, 4, None)
    assert found[code].id in ids


def test_an_exported_index_is_told_as_ids_and_as_answers() -> None:
    found = warned("rmse", b"Unnamed: 0,y\n7,1\n3,5\n")
    assert 'The ids are in "Unnamed: 0"' in found["index_column"].message
    assert not found["index_column"].blocking
    found = warned("columnwise_rmse", b"id,index,y\n7,0,3\n3,1,1\n")
    assert 'The answers are in "index"' in found["index_column"].message


@pytest.mark.parametrize(
    ("key", "header", "cells"), [("accuracy", "99,cat", ["cat", "dog"]), ("rmse", "r0,0.53", ["0.1", "2.7", "1.3"])]
)
def test_a_first_line_that_is_a_row_is_told(key: str, header: str, cells: Sequence[str]) -> None:
    found = warned(key, table(header, lambda i, dice: dice.choice(cells)))
    assert found["header_like_row"].line == 1
    assert "is called like an answer" in found["header_like_row"].message
    named = table("id,animal", lambda i, dice: dice.choice(cells))
    assert "header_like_row" not in warned(key, named)


def test_a_column_may_be_called_like_one_of_its_classes() -> None:
    assert "header_like_row" not in warned("accuracy", table("id,spam", lambda i, dice: dice.choice(["spam", "ham"])))


def test_a_missing_id_column_is_said_once_beside_groups() -> None:
    report = metrics.check_truth("accuracy", b"id,g,y\n1,a,x\n2,b,z\n", id_column="nr", group="g")
    assert [one.code for one in report.findings] == ["column_missing"]


def test_combinations_of_labels_are_no_classes_that_a_part_lacks() -> None:
    some = ["a b", "b c", "c", "a", "b a c"]
    text = "".join(f"{n},{some[n % 5]},{'Public' if n % 5 < 3 else 'Private'}\n" for n in range(100))
    data = f"id,y,Usage\n{text}".encode()
    assert "missing_class" not in warned("multilabel_f1", data)
    assert "missing_class" in warned("accuracy", data)


def test_odd_answers_are_told_with_line_and_id() -> None:
    rows = table("id,y", lambda i, dice: "Cat" if i == 7 else "nan" if i in (9, 11) else dice.choice(["cat", "dog"]))
    found = warned("accuracy", rows)
    assert set(found) == {"similar_answers", "answer_like_nothing", "rare_answer"}
    assert found["answer_like_nothing"].count == 2
    assert found["answer_like_nothing"].line == 11
    assert '"Cat" and "cat"' in found["similar_answers"].message
    assert '"Cat" (line 9)' in found["rare_answer"].message
    for damaged in ("MÃ¼ller", "R&amp;D", '"=""01"""', "Асеr"):
        found = warned("f1", ("id,y\n" + "".join(f"{i},{('cat', damaged)[i % 2]}\n" for i in range(40))).encode())
        assert found["damaged_answer"].line is not None
    found = warned("rmse", table("id,y", lambda i, dice: "-999" if i in (3, 5) else f"{dice.gauss(5, 1):.3f}"))
    assert set(found) == {"odd_value"}
    assert "line 5 is -999, line 7 is -999" in found["odd_value"].message
    assert found["odd_value"].count == 2


@pytest.mark.parametrize(
    ("key", "row"),
    [
        ("accuracy", lambda i, dice: dice.choice("aab" if i % 3 == 0 else "abb")),
        ("rmse", lambda i, dice: f"{dice.gauss(1 if i % 3 == 0 else 0, 1):.4f}"),
    ],
)
def test_parts_with_other_answers_are_told_and_parts_like_each_other_are_not(key: str, row: Any) -> None:
    assert "distribution_gap" in warned(key, split_table("id,y", row))
    assert "distribution_gap" not in warned(key, split_table("id,y", lambda i, dice: row(1, dice)))


def test_the_shares_of_few_classes_are_told_for_each_part() -> None:
    data = split_table("id,y", lambda i, dice: "a" if i % 3 == 0 else dice.choice("ab"), 300)
    shares = {one.answer: one.shares for one in metrics.check_truth("accuracy", data, is_quick=True).balance}
    assert shares["a"]["public"] == 1.0
    assert shares["b"]["public"] == 0.0
    assert shares["a"]["private"] == pytest.approx(0.5, abs=0.1)
    assert shares["a"]["private"] + shares["b"]["private"] == 1.0
    assert metrics.check_truth("rmse", split_table("id,y", lambda i, dice: f"{dice.random()}")).balance == []


SORTED = "id,y,Usage\n" + "".join(f"0{i},{i // 20},{'Public' if i % 3 else 'Private'}\n" for i in range(10, 90))


@pytest.mark.parametrize(
    ("key", "fault", "blocks"),
    [
        ("mae", ("010,0,", "010,x,"), "not_a_number"),
        ("accuracy", ("025,1,", "025,,"), "missing_value"),
        ("accuracy", ("031,1,", "030,1,"), "repeated_ids"),
        ("accuracy", ("031,1,", ",1,"), "blank_id"),
        ("accuracy", ("Public", "Hidden"), "unknown_usage"),
        ("accuracy", ("031,1,", "031,1,1,"), "row_width"),
        ("roc_auc", ("", ""), "not_binary"),
        ("multiclass_log_loss", ("025,1,", "025,,"), "missing_value"),
    ],
)
def test_what_blocks_hides_no_warning(key: str, fault: tuple[str, str], blocks: str) -> None:
    found = warned(key, SORTED.replace(*fault, 1).encode(), tests={"test.csv": b"id,x\n010,1\n011,2\n"})
    assert found[blocks].blocking
    assert {"leading_zeros", "sorted_by_answer"} <= set(found)
    assert not found["sorted_by_answer"].blocking


def test_a_typing_error_among_numbers_makes_no_labels_of_the_others() -> None:
    data = table("id,y", lambda i, dice: "x" if i == 3 else "-999" if i == 5 else f"{dice.gauss(5, 1):.3f}")
    found = warned("rmse", data)
    assert set(found) == {"not_a_number", "odd_value"}
    assert "line 7 is -999" in found["odd_value"].message


def test_the_parts_are_compared_although_one_of_them_cannot_be_scored() -> None:
    text = "id,y,Usage\n" + "".join(
        f"q{i * 7919 % 1009},{i % 3 // 2},{'Public' if i % 3 else 'Private'}\n" for i in range(90)
    )
    report = metrics.check_truth("roc_auc", text.encode())
    codes = {finding.code: finding for finding in report.findings}
    assert codes["unscorable"].blocking
    assert {"missing_class", "distribution_gap"} <= set(codes)
    assert [share.shares["private"] for share in report.balance] == [1.0, 0.0]


def test_other_files_are_compared_where_only_answers_are_at_fault() -> None:
    data = b"id,y\n1,2\n2,x\n3,4\n4,5\n"
    found = warned("rmse", data, sample=b"id,y\n1,0\n2,0\n3,0\n", tests={"t.csv": b"id,x\n1,1\n2,1\n3,1\n9,1\n"})
    assert found["not_a_number"].blocking
    assert "1 id of 4 missing" in found["sample_differs"].message
    assert found["ids_differ"].count == 1
    # A row that could not be read may hold the missing id.
    found = warned("rmse", data.replace(b"4,5", b"4,5,6"), tests={"t.csv": b"id,x\n1,1\n2,1\n3,1\n4,1\n"})
    assert "ids_differ" not in found


def test_rows_in_free_text_are_told() -> None:  # 39
    data = b'id,y\n1,"a\n2,b\n3,c"\n4,d\n'
    assert set(warned("word_jaccard", data)) == {"swallowed_rows"}
    assert warned("word_jaccard", data)["swallowed_rows"].line == 2
    assert "swallowed_rows" not in warned("word_jaccard", b'id,y\n1,"a\nb"\n4,d\n')


TRUTH = b"id,y,Usage\n1,1.5,Public\n2,2,Private\n3,2.5,Private\n4,7,Public\n"


def test_a_sample_that_students_could_not_hand_in_blocks() -> None:  # 129
    assert metrics.check_truth("rmse", TRUTH, sample=b"id,y\n4,0\n1,0\n2,0\n3,0\n").ok
    for sample, words in (
        (b"id,y\n1,0\n2,0\n3,0\n5,0\n", '1 id unknown: "5"'),
        (b"id,y\n1,0\n2,0\n3,0\n", '1 id of 4 missing: "4"'),
        (b"id,target\n1,0\n2,0\n3,0\n4,0\n", '"y" is missing'),
    ):
        found = warned("rmse", TRUTH, sample=sample)
        assert words in found["sample_differs"].message
        assert found["sample_differs"].blocking


def test_ids_that_differ_from_the_test_file_are_told() -> None:  # 129
    assert not warned("rmse", TRUTH, tests={"test.csv": b"id,x\n4,0\n1,0\n2,0\n3,0\n"})
    found = metrics.check_truth("rmse", TRUTH, tests={"test.csv": b"x,id\n0,4\n0,1\n0,2\n0,9\n0,8\n"}).findings
    told = [finding for finding in found if finding.code == "ids_differ"]
    assert [finding.count for finding in told] == [1, 2]
    assert '"test.csv"' in told[0].message
    assert not any(finding.blocking for finding in told)
    for other in (b"id,x\n11,0\n12,0\n13,0\n", b"name,x\n1,2\n", b"\x89PNG\r\n\x1a\n", b""):
        assert not warned("rmse", TRUTH, tests={"other.csv": other})


def test_a_group_in_both_parts_is_told() -> None:  # 131
    data = b"id,patient,y,Usage\n1,p,1,Public\n2,p,2,Private\n3,q,3,Private\n4,r,4,Ignored\n5,r,4,Public\n"
    found = warned("rmse", data, group="patient")
    assert set(found) == {"group_in_both_parts"}
    assert '1 group of "patient" (of 3) in both parts: "p"' in found["group_in_both_parts"].message
    assert set(warned("rmse", data.replace(b"2,p,", b"2,q,"), group="patient")) == set()
    assert set(warned("log_mae_by_group", data, params={"group": "patient"})) == {"group_in_both_parts"}
    assert set(warned("rmse", data, group="nurse")) >= {"group_missing"}
    assert metrics.prepare("rmse", remove_columns(data, ["patient"])).target_columns == ("y",)


# --- making a split ---------------------------------------------------------------------------------------------


def parts_of(text: bytes) -> dict[str, dict[str, str]]:
    return {row["id"]: row for row in csv.DictReader(io.StringIO(text.decode()))}


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_rows_of_one_group_stay_in_one_part(share: float) -> None:
    data = table("id,patient,y", lambda i, dice: f"p{dice.randint(0, 60)},{dice.choice('ab')}")
    made = metrics.add_split(data, share, 1, True, secret=SECRET, group="patient")
    rows = parts_of(made)
    where: dict[str, set[str]] = {}
    for row in rows.values():
        where.setdefault(row["patient"], set()).add(row["Usage"])
    assert all(len(parts) == 1 for parts in where.values())
    public = [row for row in rows.values() if row["Usage"] == "Public"]
    assert len(public) / len(rows) == pytest.approx(share, abs=0.03)
    lines = data.decode().splitlines()
    shuffled = "\n".join([lines[0], *random.Random(2).sample(lines[1:], len(lines) - 1)]).encode()
    assert parts_of(metrics.add_split(shuffled, share, 1, True, secret=SECRET, group="patient")) == rows
    assert parts_of(metrics.add_split(data, share, 2, True, secret=SECRET, group="patient")) != rows
    assert "group_in_both_parts" not in warned("accuracy", made, group="patient")


def test_groups_of_one_kind_are_split_in_the_same_proportion() -> None:
    data = table("id,patient,y", lambda i, dice: f"p{i // 4},{'ab'[i // 4 % 10 == 0]}", 800)
    rows = parts_of(metrics.add_split(data, 0.3, 1, True, secret=SECRET, group="patient"))
    rare = [row["Usage"] for row in rows.values() if row["y"] == "b"]
    assert rare.count("Public") / len(rare) == pytest.approx(0.3, abs=0.05)


def test_a_group_that_was_there_before_stays_where_it_was() -> None:
    data = table("id,patient,y", lambda i, dice: f"p{i % 30},{dice.choice('ab')}")
    made = metrics.add_split(data, 0.3, 1, True, secret=SECRET, group="patient")
    before = parts_of(made)
    published = remove_columns(made, ["patient"])
    more = data + b"".join(b"new%d,p%d,a\n" % (i, i) for i in range(30))
    after = parts_of(
        metrics.add_split(more, 0.7, 9, True, secret=SECRET, group="patient", earlier=published, earlier_id_column="id")
    )
    assert all(after[name]["Usage"] == row["Usage"] for name, row in before.items())
    where = {row["patient"]: row["Usage"] for row in before.values()}
    assert all(after[f"new{i}"]["Usage"] == where[f"p{i}"] for i in range(30))


def test_columns_that_play_a_role_are_no_answers_of_a_stratified_split() -> None:
    data = table("id,y,weight", lambda i, dice: f"{'ab'[i % 10 == 0]},{dice.random()}")
    rows = parts_of(metrics.add_split(data, 0.3, 1, True, secret=SECRET, roles=["weight"]))
    rare = [row["Usage"] for row in rows.values() if row["y"] == "b"]
    assert rare.count("Public") == round(0.3 * len(rare))


def test_a_split_by_group_needs_groups() -> None:
    for text, group in (("id,g,y\n1,a,1\n2,a,2\n", "g"), ("id,y\n1,1\n2,2\n", "g"), ("id,y\n1,1\n2,2\n", "id")):
        with pytest.raises(metrics.GroundTruthError, match="group"):
            metrics.add_split(text.encode(), 0.5, 1, True, secret=SECRET, group=group)
    smallest = metrics.add_split(b"id,g,y\n1,a,1\n2,b,2\n", 0.01, 1, False, secret=SECRET, group="g")
    assert {row["Usage"] for row in parts_of(smallest).values()} == {"Public", "Private"}
