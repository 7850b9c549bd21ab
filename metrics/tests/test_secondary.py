"""Secondary metrics: the same values as alone, from one reading of the file, and never a reason to lose the score."""

import logging
from pathlib import Path

import pytest

import metrics
from metrics.__main__ import main
from metrics.core.registry import built_in
from metrics.core.secondary import Asked

BUILT_IN = tuple(built_in().values())
TRUTH = b"id,y,w,Usage\n1,0,1,Public\n2,1,2,Public\n3,0,1,Private\n4,1,3,Private\n"
FILE = b"id,y\n4,0.9\n1,0.1\n2,0.7\n3,0\n"


def alone(key: str, truth: str, submission: str) -> tuple[float | None, ...] | None:
    """What a metric by itself says of a file; None where it says nothing."""
    try:
        found = metrics.evaluate(key, truth.encode(), submission.encode())
    except metrics.MetricError:
        return None
    return found.overall, found.public, found.private


@pytest.mark.thorough
@pytest.mark.parametrize("metric", BUILT_IN, ids=lambda metric: metric.key)
def test_beside_another_metric_each_says_what_it_says_alone(metric: metrics.Metric) -> None:
    """The others of its group, as far as they can read its example."""
    example = metric.example
    others = [one for one in BUILT_IN if one.group == metric.group and not one.roles]
    truth = metrics.prepare(
        metric.key, example.truth.encode(), example.params, secondary=[(one.key, {}) for one in others]
    )
    result = truth.evaluate(example.submission.encode())
    assert result.overall == example.score
    assert [value.key for value in result.secondary] == [one.key for one in others]
    if metric.roles:
        return
    for value, secondary_metric in zip(result.secondary, truth.secondary, strict=True):
        said = None if value.problem else (value.overall, value.public, value.private)
        if secondary_metric.truth is not None and secondary_metric.truth.submission_columns == truth.submission_columns:
            assert said == alone(value.key, example.truth, example.submission), value


def test_columns_with_a_role_in_any_of_them_are_nobodys_answers() -> None:
    truth = metrics.prepare("mae", TRUTH, secondary=[("weighted_mae", {"weight": "w"}), ("rmse", {})])
    weighted, rmse = truth.evaluate(FILE).secondary
    assert weighted.public == metrics.evaluate("weighted_mae", TRUTH, FILE, {"weight": "w"}).public
    assert rmse.public == pytest.approx(((0.1**2 + 0.3**2) / 2) ** 0.5)
    backwards = metrics.prepare("weighted_mae", TRUTH, {"weight": "w"}, secondary=[("mae", {})])
    assert backwards.evaluate(FILE).secondary[0].public == truth.evaluate(FILE).public


def test_the_same_metric_twice_with_other_parameters() -> None:
    asked: list[Asked] = [
        ("pinball", {"quantile": 0.1}),
        ("pinball", {"quantile": 0.9}),
        ("weighted_mae", {"weight": "w"}),
    ]
    low, high, _ = metrics.prepare("mae", TRUTH, secondary=asked).evaluate(FILE).secondary
    assert low.params == {"quantile": 0.1}
    assert low.public != high.public


def test_a_file_that_a_secondary_metric_cannot_score_keeps_its_score() -> None:
    file = FILE.replace(b"0.7", b"1.7")
    asked: list[Asked] = [("brier", {}), ("weighted_mae", {"weight": "w"})]
    result = metrics.prepare("mae", TRUTH, secondary=asked).evaluate(file)
    brier, weighted = result.secondary
    assert result.public == pytest.approx(0.4)
    assert (brier.overall, brier.public, brier.private) == (None, None, None)
    assert brier.problem == '1 value of "y" is outside 0 to 1: line 4 (id "2") is "1.7".'
    assert weighted.problem == ""


def test_missing_rows_are_forgiven_only_by_metrics_that_forgive_them() -> None:
    truth = b"id,label\n1,a\n2,b\n3,c\n"
    asked: list[Asked] = [("exact_match", {}), ("global_average_precision", {})]
    result = metrics.prepare("global_average_precision", truth, secondary=asked).evaluate(b"id,label\n1,a 0.5\n3,c 1\n")
    strict, forgiving = result.secondary
    assert strict.problem == "This metric needs every row: 1 id missing."
    assert forgiving.overall == result.overall


def test_a_secondary_metric_that_stumbles_costs_nobody_the_score(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stumble(*_: object, **__: object) -> float:
        raise RuntimeError("the answer of row 4 is 1")

    prepared = metrics.prepare("mae", TRUTH, secondary=[("weighted_mae", {"weight": "w"}), ("r2", {})])
    monkeypatch.setattr("metrics.core.secondary.score_prediction", stumble)
    with caplog.at_level(logging.ERROR):
        result = prepared.evaluate(FILE)
    assert result.public == pytest.approx(0.2)
    assert {value.problem for value in result.secondary} == {
        "This metric could not be computed, through no fault of your file."
    }
    assert "the answer" not in caplog.text
    assert "weighted_mae stumbled: RuntimeError" in caplog.text


def test_why_a_truth_cannot_be_read_is_not_told_with_a_file() -> None:
    """The reason may quote the truth; whoever prepares it reads it there."""
    truth = metrics.prepare("accuracy", b"id,label\n1,secretcat\n2,dog\n", secondary=[("mae", {})])
    assert "secretcat" in truth.secondary[0].problem
    assert "secretcat" not in truth.evaluate(b"id,label\n1,dog\n2,dog\n").secondary[0].problem


def test_a_secondary_metric_says_what_it_refuses() -> None:
    asked: list[Asked] = [("rmsle", {}), ("mae", {})]
    prepared = metrics.prepare("rmse", b"id,y\n1,3\n2,4\n", secondary=asked)
    refused, scored = prepared.evaluate(b"id,y\n1,3\n2,-4\n").secondary
    assert "below 0" in refused.problem
    assert scored.overall == 4


def test_a_column_called_by_an_alias_of_the_main_metric_is_read_by_the_others() -> None:
    asked: list[Asked] = [("roc_auc", {})]
    prepared = metrics.prepare("concordance_index", b"id,event\n1,1\n2,0\n", secondary=asked)
    (found,) = prepared.evaluate(b"id,risk\n1,2\n2,1\n").secondary
    assert (found.overall, found.problem) == (1.0, "")


def test_json_of_the_home_scorer_has_them_only_where_they_were_asked_for() -> None:
    by_itself = metrics.evaluate("weighted_mae", TRUTH, FILE, {"weight": "w"})
    assert "secondary" not in by_itself.as_dict()
    found = metrics.prepare("mae", TRUTH, secondary=[("weighted_mae", {"weight": "w"})]).evaluate(FILE).as_dict()
    assert [one["metric"] for one in found["secondary"]] == ["weighted_mae"]


def messages(*asked: Asked, truth: bytes = TRUTH) -> list[str]:
    """What blocks the publication of MAE with these beside it."""
    found = metrics.check_truth("mae", truth, secondary=list(asked), is_quick=True)
    return [finding.message for finding in found.findings if finding.blocking]


def test_the_check_of_a_truth_tests_each_of_them_and_says_how_far_files_must_be_apart() -> None:
    rows = "".join(f"{i},{i % 2},{1 + i % 3},{'Public' if i % 3 else 'Private'}\n" for i in range(60))
    truth = f"id,y,w,Usage\n{rows}".encode()
    found = metrics.check_truth("mae", truth, secondary=[("weighted_mae", {"weight": "w"})])
    assert found.ok, found.findings
    (weighted,) = found.secondary
    assert (weighted.key, weighted.title, weighted.params) == ("weighted_mae", "Weighted MAE", {"weight": "w"})
    assert weighted.self_test == {"best": 0.0, "overall": 0.0, "public": 0.0, "private": 0.0, "passed": True}
    assert weighted.apart.keys() == {"public", "private"}


def test_the_check_names_the_metric_that_complains() -> None:
    weighted: Asked = ("weighted_mae", {"weight": "w"})
    assert messages(weighted) == []
    assert messages(weighted, ("nothing", {})) == ['Secondary metric nothing: No metric is called "nothing".']
    assert messages(weighted, ("mae", {})) == ["Secondary metric MAE: it is already there with the same parameters."]
    assert messages(weighted, ("pinball", {"quantile": 7})) == [
        "Secondary metric Pinball loss: quantile: Must be at most 1."
    ]
    (columns,) = messages(weighted, ("multiclass_log_loss", {}))
    assert columns == "Secondary metric Multi-class log loss: It reads 0, 1, and a submission has id, y."
    one_class = TRUTH.replace(b"4,1,", b"4,0,")
    assert messages(weighted, ("roc_auc", {}), truth=one_class) == [
        "Secondary metric ROC AUC: The private part cannot be scored: all its answers are 0; both 0 and 1 are needed."
    ]


def test_the_home_scorer_shows_further_metrics_of_the_same_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "truth.csv").write_bytes(TRUTH)
    (tmp_path / "mine.csv").write_bytes(FILE.replace(b"0.7", b"1.7"))
    call = ["score", "mae", str(tmp_path / "truth.csv"), str(tmp_path / "mine.csv")]
    assert main([*call, "--also", "weighted_mae,weight=w", "--also", "brier"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3] == "weighted_mae, weight=w: overall 0.2571428571428571, public 0.5, private 0.07499999999999998"
    assert lines[4].startswith('brier: – 1 value of "y" is outside 0 to 1')
    assert main([*call, "--also", "brie"]) == 1
    assert main([*call, "--also", "pinball,quantile=7"]) == 1
    assert "at most 1" in capsys.readouterr().err


@pytest.mark.parametrize("metric", BUILT_IN, ids=lambda metric: metric.key)
def test_named_parts_come_with_every_metric_that_has_them_where_they_are_asked_for(metric: metrics.Metric) -> None:
    example = metric.example
    truth = metrics.prepare(metric.key, example.truth.encode(), example.params)
    found = truth.evaluate(example.submission.encode(), with_parts=True)
    assert bool(metric.computation.parts) is bool(found.parts.get("overall"))
    assert set(found.parts.get("overall", ())) <= set(metric.computation.parts)
