"""What Ada reads about each input of the list when it comes as her answer file, by number."""

import pytest

import metrics
from metrics.reading.headers import read_header
from metrics.tests.hostile import CASES
from metrics.tests.hostile_case import NUMBERS, Case

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)


@every_case
def test_a_truth_is_read_as_it_is_meant_or_blocked_with_words(case: Case) -> None:
    report = metrics.check_truth(case.metric, case.data)
    blocking = [finding for finding in report.findings if finding.blocking]
    assert {finding.code for finding in blocking} == case.blocking
    assert report.ok == (not case.blocking)
    for finding in report.findings:
        assert finding.message.isprintable()
        assert len(finding.message) < 700


@every_case
def test_what_blocks_a_truth_is_no_exception_but_this_one(case: Case) -> None:
    if case.blocking:
        with pytest.raises(metrics.GroundTruthError) as caught:
            metrics.prepare(case.metric, case.data)
        assert {problem.code for problem in caught.value.problems} == case.blocking
    else:
        assert metrics.prepare(case.metric, case.data).rows > 0


def codes(key: str, text: str, **arguments: object) -> dict[str, metrics.Finding]:
    report = metrics.check_truth(key, text.encode(), **arguments)  # type: ignore[arg-type]
    return {finding.code: finding for finding in report.findings}


def test_all_faults_of_a_truth_are_told_together_whatever_they_are() -> None:  # 125, 126, 128
    found = codes("rmse", "id,y,Usage\n1,1,Public\n1,,Hidden\n,x,Private\n4,2\n5,,Test\n")
    assert set(found) == {"row_width", "repeated_ids", "blank_id", "unknown_usage", "missing_value", "not_a_number"}
    assert found["unknown_usage"].count == 2
    assert found["missing_value"].count == 2
    assert set(codes("rmse", "id,y,z\n1,1,2\n1,1,2\n,1,2\n4,2\n")) == {
        "row_width",
        "repeated_ids",
        "blank_id",
        "target_columns",
    }


def test_a_split_under_another_name_is_no_answer() -> None:  # 128
    for name in ("usage", "USAGE"):
        found = codes("rmse", f"id,y,{name}\n1,1,Public\n2,2,Private\n")
        assert set(found) == {"usage_name"}
        assert '"Usage"' in found["usage_name"].message
    assert metrics.check_truth("rmse", b"id,usage\n1,2.5\n2,3\n").ok


def test_the_names_of_a_header_are_known_from_its_beginning() -> None:
    import gzip

    assert read_header(b"\n\n id ,\xe2\x80\x8by\n1,2\n") == ["id", "y"]
    assert read_header(gzip.compress(NUMBERS)) == ["id", "y"]
    assert read_header(b"\x89PNG\r\n\x1a\n") == read_header(b"") == read_header(b"\n\n") == []
