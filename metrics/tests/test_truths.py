"""What Ada is told about her answer file before it is published, and how the system splits one that has no split."""

import csv
import dataclasses
import io
import json
import pickle
import random
from collections import Counter
from typing import Any

import pytest

import metrics

SECRET = bytes(range(16))


def codes(key: str, text: str, **arguments: Any) -> dict[str, metrics.Finding]:
    report = metrics.check_truth(key, text.encode(), **arguments)
    json.dumps(dataclasses.asdict(report))
    return {finding.code: finding for finding in report.findings}


def test_ada_sees_every_fault_of_her_file_at_once() -> None:
    found = codes("accuracy", "id,y,Usage\n1,a,Public\n1,b,Private\n,c,Private\n3,,Public\n4,d,Test\n")
    assert set(found) == {"repeated_ids", "blank_id", "missing_value", "unknown_usage"}
    assert all(finding.blocking and finding.why for finding in found.values())
    assert (found["repeated_ids"].line, found["blank_id"].line, found["missing_value"].line) == (3, 4, 5)
    assert '"Test"' in found["unknown_usage"].message


@pytest.mark.parametrize(
    ("key", "text", "code"),
    [
        ("accuracy", "id,y,Usage\n1,a,Public\n2,b,Public\n", "empty_split"),
        ("accuracy", "id,y,Usage\n1,a,Public\n2,b,Ignored\n", "empty_split"),
        ("accuracy", "id,y,Usage\n", "no_rows"),
        ("accuracy", "id\n1\n", "no_target"),
        ("accuracy", "id,y,z\n1,a,b\n", "target_columns"),
        ("accuracy", "id,y,y\n1,a,b\n", "column_repeated"),
        ("accuracy", "id,y,\n1,a,b\n", "column_unnamed"),
        ("accuracy", "id;y\n1;a\n", "separator"),
        ("accuracy", "id,y\n1,a,b\n", "row_width"),
        ("accuracy", '{"id": 1}', "container"),
        ("survival_concordance", "id,event\n1,1\n", "target_columns"),
        ("survival_concordance", "id,time,event\n1,3,0\n2,4,1\n", "unscorable"),
        ("roc_auc", "id,y,Usage\n1,1,Public\n2,1,Public\n3,0,Private\n4,1,Private\n", "unscorable"),
        ("concordance_index", "id,y\n1,1\n2,1\n", "unscorable"),
        ("global_average_precision", "id,y\n1,\n2,\n", "unscorable"),
        ("global_average_precision", "id,y\n1,a b\n2,c\n", "label_with_space"),
        ("rmse", "id,y\n1,nan\n2,1\n", "missing_value"),
        ("rmse", "id,y\n1,1e999\n2,1\n", "not_finite"),
        ("binary_f1", "id,y\n1,2\n2,1\n", "not_binary"),
        ("thresholded_f1", "id,a,b\n1,1,0\n2,0.5,1\n", "not_binary"),
    ],
)
def test_a_file_that_cannot_be_a_truth_is_blocked(key: str, text: str, code: str) -> None:
    found = codes(key, text)
    assert [name for name, finding in found.items() if finding.blocking] == [code]
    assert found[code].blocking
    with pytest.raises(metrics.GroundTruthError) as caught:
        metrics.prepare(key, text.encode())
    assert [problem.code for problem in caught.value.problems] == [code]


def test_ignored_rows_need_no_answer_but_must_be_sent() -> None:
    truth = metrics.prepare("rmse", b"id,y,Usage\n1,1,public\n2,,Ignored\n3,x,ignored\n4,2,PRIVATE\n")
    assert (truth.rows, truth.public_rows, truth.private_rows, truth.ignored_rows) == (4, 1, 1, 2)
    assert truth.evaluate(b"id,y\n4,2\n3,9\n2,9\n1,1\n").overall == 0.0
    assert truth.evaluate(b"id,y\n4,2\n3,9\n2,9\n1,1\n").rows == 2
    for bad in (b"id,y\n4,2\n3,9\n1,1\n", b"id,y\n4,2\n3,9\n2,\n1,1\n"):
        with pytest.raises(metrics.SubmissionError):
            truth.evaluate(bad)


def test_the_order_of_rows_and_the_ids_may_give_answers_away() -> None:
    rows = sorted((f"{number},{'ab'[number >= 30]}" for number in range(60)), key=lambda row: row[-1])
    found = codes("accuracy", "id,y\n" + "\n".join(rows))
    assert set(found) == {"sorted_by_answer", "id_tells_answer"}
    assert not any(finding.blocking for finding in found.values())
    numbers = "id,y\n" + "\n".join(f"{number},{number * 2}" for number in range(60))
    assert set(codes("rmse", numbers)) == {"sorted_by_answer", "id_tells_answer"}
    dice = random.Random(1)
    fair = "id,y\n" + "\n".join(f"{number},{dice.choice('ab')}" for number in range(60))
    assert codes("accuracy", fair) == {}


def test_classes_missing_from_a_split_and_leading_zeros_are_told() -> None:
    rows = ["1,a,Public", "2,b,Public", "3,a,Private", "04,c,Private", "5,c,Public", "6,a,Public"]
    found = codes("accuracy", "id,y,Usage\n" + "\n".join(rows))
    assert set(found) == {"missing_class", "leading_zeros"}
    assert '"b"' in found["missing_class"].message
    assert "private" in found["missing_class"].message


def test_a_truth_that_no_file_can_match_is_blocked() -> None:
    found = codes("thresholded_f1", "id,a,b\n1,1,1\n2,0,1\n", params={"count": 1})
    assert set(found) == {"self_test"}
    assert metrics.check_truth("thresholded_f1", b"id,a,b\n1,1,1\n2,0,1\n", {"threshold": 3}).ok


def test_bad_parameters_are_findings_too() -> None:
    assert set(codes("fbeta", "id,y\n1,1\n", params={"beta": -1})) == {"parameter"}


def test_another_id_column_can_be_named() -> None:
    report = metrics.check_truth("accuracy", b"y,Usage,name\na,Public,x\nb,Private,z\n", {}, "name")
    assert report.ok
    assert (report.id_column, report.target_columns, report.submission_columns) == ("name", ("y",), ("name", "y"))
    assert set(codes("accuracy", "id,y\n1,a\n", id_column="nope")) == {"column_missing"}


def test_concordance_takes_a_column_called_risk() -> None:
    assert metrics.evaluate("concordance_index", b"id,event\n1,1\n2,0\n", b"id,risk\n1,2\n2,1\n").overall == 1.0


def test_missing_answers_are_allowed_where_the_metric_says_so() -> None:
    truth = b"id,y,Usage\n1,a,Public\n2,b,Public\n3,,Private\n4,c,Private\n"
    result = metrics.evaluate("global_average_precision", truth, b"id,y\n4,c 0.5\n1,a 0.25\n")
    assert (result.public, result.private, result.overall) == (0.5, 1.0, 2 / 3)


def test_what_is_the_same_on_whatever_rows_has_no_interval() -> None:
    """One answer in each row has a kappa of 0; sums in floating point made an interval of 4e-17 of it."""
    rows = "".join(f"{i},{i % 3}\n" for i in range(300))
    split = metrics.add_split(f"id,y\n{rows}".encode(), 0.3, 7, True, secret=SECRET)
    report = metrics.check_truth("cohen_kappa", split)
    (same,) = [one for one in report.baselines if one.is_constant]
    assert same.values["public"] == {"value": 0.0, "standard_error": None, "low": None, "high": None}
    assert all(one.values["public"]["low"] for one in report.baselines if "andom" in one.name)


def test_the_sample_does_not_follow_the_order_of_the_answers() -> None:
    truth = metrics.prepare("accuracy", b"id,y\n10,a\n9,a\n1,b\n2,b\n")
    assert truth.sample_submission() == b"id,y\n1,a\n2,a\n9,a\n10,a\n"


# --- making a split ---------------------------------------------------------------------------------------------

LABELS = [(f"r{number}", "abc"[min(number % 10, 2)]) for number in range(100)]


def split(rows: list[tuple[str, str]], share: float = 0.3, seed: int = 1, stratify: bool = True) -> dict[str, str]:
    text = "id,y\n" + "".join(f"{name},{label}\n" for name, label in rows)
    made = metrics.add_split(text.encode(), share, seed, stratify, secret=SECRET)
    return {row["id"]: row["Usage"] for row in csv.DictReader(io.StringIO(made.decode()))}


def test_a_split_depends_on_ids_and_seed_only() -> None:
    shuffled = random.Random(5).sample(LABELS, len(LABELS))
    assert split(LABELS) == split(shuffled)
    assert split(LABELS) != split(LABELS, seed=2)
    assert split(LABELS, stratify=False) == split(shuffled, stratify=False)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.77])
def test_a_stratified_split_keeps_the_share_of_each_answer(share: float) -> None:
    made = split(LABELS, share)
    assert Counter(made.values())["Public"] == round(100 * share)
    for label, count in Counter(label for _, label in LABELS).items():
        public = sum(made[name] == "Public" for name, one in LABELS if one == label)
        assert abs(public - count * share) <= 1


def test_numbers_that_do_not_repeat_are_drawn_by_the_seed_and_not_by_their_size() -> None:
    prices = [(f"r{number}", f"{number * 1.5}") for number in range(100)]
    assert split(prices) == split(prices, stratify=False)
    assert split(prices) != split(prices, seed=2)
    assert Counter(split(prices).values())["Public"] == 30


@pytest.mark.parametrize("stratify", [True, False])
def test_a_corrected_answer_moves_no_row_to_the_other_part(stratify: bool) -> None:
    made = metrics.add_split(b"n,id,y\n1,a,x\n2,b,x\n3,c,y\n4,d,y\n", 0.5, 1, stratify, "id", secret=SECRET)
    before = {row["id"]: row["Usage"] for row in csv.DictReader(io.StringIO(made.decode()))}
    corrected = b"n,id,y\n5,e,x\n1,d,x\n2,c,x\n3,b,y\n4,a,x\n"
    again = metrics.add_split(corrected, 0.5, 9, stratify, "id", secret=SECRET, earlier=made, earlier_id_column="id")
    after = {row["id"]: row["Usage"] for row in csv.DictReader(io.StringIO(again.decode()))}
    assert after.pop("e") in ("Public", "Private")
    assert after == before


def test_no_part_is_ever_empty() -> None:
    for share in (0.0, 1.0, 0.001):
        assert set(split(LABELS, share).values()) == {"Public", "Private"}
    with pytest.raises(metrics.GroundTruthError):
        metrics.add_split(b"id,y\n1,a\n", 0.5, 1, True, secret=SECRET)
    with pytest.raises(metrics.GroundTruthError, match="Usage column already"):
        metrics.add_split(b"id,y,Usage\n1,a,Public\n", 0.5, 1, True, secret=SECRET)


def test_a_split_truth_is_a_good_truth() -> None:
    text = 'id,y\n1,"a, b"\n2,"c ""d"""\n3,"a, b"\n4,é\n'
    made = metrics.add_split(text.encode(), 0.5, 3, False, secret=SECRET)
    assert metrics.check_truth("word_jaccard", made).ok
    assert metrics.evaluate("word_jaccard", made, text.encode()).overall == 1.0


def test_errors_survive_the_way_between_processes() -> None:
    problem = metrics.Problem("code", "words", "y", 3, "id", 2)
    for error in (metrics.SubmissionError([problem]), metrics.GroundTruthError([problem])):
        assert pickle.loads(pickle.dumps(error)).problems == [problem]
    assert pickle.loads(pickle.dumps(metrics.ParameterError({"beta": "no"}))).errors == {"beta": "no"}
