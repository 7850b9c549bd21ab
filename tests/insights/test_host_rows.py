"""Ada finds a wrong answer in her truth file where the best teams agree, and puts it right."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, GroundTruth, RowReport, Submission, TruthDraft
from leaderboard.ground_truths.services import drafts, publishing, rescoring
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.insights import hardest_rows
from leaderboard.scoring import table_jobs
from leaderboard.submissions import outside_queue
from tests.conftest import TRUTH, answers, enter, make_competition, submit
from tests.pages import drawing_of, signed_in, text_of

PAGE = "/host/pets/rows/"
# Row 4 is a cat in the truth; Bo and Cy both call it a bird, Cy row 6 too.
WRONG = {"bo": answers(private=0).replace(b"4,cat", b"4,bird"), "cy": answers().replace(b"4,cat", b"4,bird")}


@pytest.fixture
def with_uncertainties(pets: Competition, bo: User, cy: User) -> Competition:
    for user, data in ((bo, WRONG["bo"]), (cy, WRONG["cy"].replace(b"6,dog", b"6,cow"))):
        enter(pets, user)
        submit(pets, user, data)
    return pets


def find(client: Client, row: str = "4", page: str = PAGE) -> str:
    """Look for the rows; gives when they were found, as the form about a row sends it along."""
    assert client.post(page, {"action": "find"}).status_code == 303
    made = re.search(r'name="made" value="([^"]+)"', client.get(f"{page}?row={row}").content.decode())
    return made[1] if made else ""


def suspicious(client: Client, page: str = PAGE) -> list[str]:
    return [row.id for row in client.get(page).context["report"].suspicious]


def test_ada_finds_the_row_and_corrects_it_on_the_usual_way(
    hers: Client, with_uncertainties: Competition, ada: User
) -> None:
    assert hers.get(PAGE).context["stored"] is None
    made = find(hers)
    page = text_of(hers.get(PAGE))
    assert suspicious(hers) == ["4"], "on row 6 only one of both says another animal"
    assert "cat bird 2 of 2 Correct 4" in page
    form = hers.get(f"{PAGE}?row=4").content.decode()
    assert 'name="answer-0-0"' in form
    assert 'value="bird"' not in form, "nothing is filled in for the host"
    rows = {row.id: row.number for row in hers.get(PAGE).context["report"].rows}
    sent = {"action": "correct", "made": made, "row": "4"}
    sent |= {f"answer-{rows['4']}-0": "bird", f"ignore-{rows['6']}": "on"}
    assert hers.post(PAGE, sent)["Location"] == "/host/pets/truth/#check"
    with_uncertainties.refresh_from_db()
    candidate = with_uncertainties.candidate
    assert candidate is not None
    assert candidate.ignored_rows == 1
    text = path_of(candidate.file_key).read_text()
    assert text == TRUTH.replace("4,cat,", "4,bird,").replace("6,dog,Private", "6,dog,Ignored")
    outside_queue.rescore_batch(candidate.pk)
    rescoring.apply_candidate(competition=with_uncertainties, user=ada)
    assert hers.get(PAGE).context["stored"] is None


def test_what_was_found_stays_until_it_is_looked_for_again(
    hers: Client, with_uncertainties: Competition, dee: User
) -> None:
    find(hers)
    enter(with_uncertainties, dee)
    submit(with_uncertainties, dee, answers())
    assert suspicious(hers) == ["4"]
    find(hers)
    assert suspicious(hers) == [], "two of three are no agreement of all good teams"
    assert RowReport.objects.count() == 1


NUMBERS = "/host/numbers/rows/"


@pytest.fixture
def numbers(ada: User, bo: User, cy: User, dee: User) -> Competition:
    """Three teams know all but three of 300 answers: a lost point, a lost digit, and one whose reason nobody knows."""
    dice = random.Random(4)
    right = {number: dice.uniform(50, 500) for number in range(1, 301)}
    typed = right | {13: right[13] * 10, 150: right[150] / 10, 166: right[166] + 700}
    truth = "".join(f"{name},{value:.2f},{'Public' if name % 2 else 'Private'}\n" for name, value in typed.items())
    competition = make_competition(ada, slug="numbers", truth=f"id,y,Usage\n{truth}", metric="rmse")
    for user in (bo, cy, dee):
        enter(competition, user)
        rows = "".join(f"{name},{value + dice.gauss(0, 5):.2f}\n" for name, value in right.items())
        submit(competition, user, f"id,y\n{rows}".encode())
    return competition


def test_numbers_that_all_teams_miss_by_far_are_named_with_a_sound_guess(hers: Client, numbers: Competition) -> None:
    find(hers, page=NUMBERS)
    page = hers.get(NUMBERS)
    report = page.context["report"]
    assert {row.id: row.guess for row in report.suspicious} == {"13": "point", "150": "digit", "166": ""}
    assert all(row.off > 10 for row in report.suspicious)
    drawn = drawing_of(page.content.decode(), "residuals")
    assert all(f">{name}</text>" in drawn for name in ("13", "150", "166"))
    assert drawn.count('class="outlier"') == 3


def test_the_form_about_a_number_is_empty_and_names_its_row_first(hers: Client, numbers: Competition) -> None:
    made = find(hers, row="150", page=NUMBERS)
    response = hers.get(f"{NUMBERS}?row=150")
    lines = response.context["lines"]
    assert lines[0].row.id == "150"
    assert {line.row.id for line in lines} == {"13", "150", "166"}
    assert {answer for line in lines for answer in line.answers} == {""}
    sent = {"action": "correct", "made": made, "row": "150", f"answer-{lines[0].row.number}-0": "200.5"}
    assert hers.post(NUMBERS, sent).status_code == 303
    assert "150,200.5,Private" in path_of(GroundTruth.objects.get(number=2).file_key).read_text()


@pytest.mark.parametrize("row", ["nowhere", "", "<script>"])
def test_a_row_that_is_not_in_the_report_opens_no_form(hers: Client, with_uncertainties: Competition, row: str) -> None:
    find(hers)
    response = hers.get(PAGE, {"row": row})
    assert response.status_code == 200
    assert response.context["lines"] == []


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "at least one right answer"),
        ({"answer-0-0": " "}, "at least one right answer"),
        ({"made": "2020-01-01"}, "changed in the meantime"),
    ],
)
def test_what_cannot_be_corrected_is_said_and_nothing_lost(
    hers: Client, with_uncertainties: Competition, sent: dict[str, str], words: str
) -> None:
    made = find(hers)
    is_late = {"answer-0-0": "mouse"} if "made" in sent else {}
    response = hers.post(PAGE, {"action": "correct", "made": made, "row": "4", **is_late, **sent})
    assert response.status_code == 409
    assert words in text_of(response)
    assert ('value="mouse"' in response.content.decode()) is bool(is_late)
    assert not TruthDraft.objects.exists()


def test_a_file_on_its_way_is_not_overwritten(hers: Client, with_uncertainties: Competition, ada: User) -> None:
    made = find(hers)
    drafts.save_draft(competition=with_uncertainties, spec=GroundTruthSpec(metric="accuracy"))
    sent = {"action": "correct", "made": made, "row": "4", "ignore-0": "on"}
    assert "Another file is being checked under" in text_of(hers.post(PAGE, sent))
    publishing.publish_draft(competition=with_uncertainties, user=ada)
    assert "A correction is pending" in text_of(hers.post(PAGE, sent))


def test_a_metric_of_whole_columns_says_so(hers: Client, ada: User, bo: User) -> None:
    truth = "id,y,Usage\n" + "".join(f"{i},{i % 2},{'Public' if i < 5 else 'Private'}\n" for i in range(1, 9))
    competition = make_competition(ada, truth=truth, metric="roc_auc")
    enter(competition, bo)
    submit(competition, bo, ("id,y\n" + "".join(f"{i},0.{i}\n" for i in range(1, 9))).encode())
    find(hers)
    assert "computed on whole columns" in text_of(hers.get(PAGE))


def test_without_a_score_or_a_truth_there_is_nothing_to_look_for(hers: Client, pets: Competition, ada: User) -> None:
    assert "No team has a score yet" in text_of(hers.post(PAGE, {"action": "find"}))
    now = timezone.now()
    competitions.create_competition(
        user=ada, slug="bare", title="Bare", opens_at=now, closes_at=now + timedelta(days=1)
    )
    assert "Publish the answers first" in text_of(hers.post("/host/bare/rows/", {"action": "find"}))
    assert hers.get("/host/bare/rows/").status_code == 200


def test_perfect_files_lose_no_row(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    find(hers)
    assert suspicious(hers) == []


def test_a_look_that_breaks_is_nobodys_fault(
    hers: Client, with_uncertainties: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Any:
        raise table_jobs.JobFailed("out of memory")

    monkeypatch.setattr(table_jobs, "run_page_job", broken)
    response = hers.post(PAGE, {"action": "find"})
    assert response.status_code == 503
    assert "out of memory" not in text_of(response)


def test_no_student_reads_the_page(with_uncertainties: Competition, bo: User, hers: Client) -> None:
    find(hers)
    assert signed_in(bo).get(PAGE).status_code == 404
    assert signed_in(bo).post(PAGE, {"action": "find"}).status_code == 404


def test_the_page_is_cheap(hers: Client, with_uncertainties: Competition) -> None:
    find(hers)
    with CaptureQueriesContext(connection) as queries:
        hers.get(PAGE)
    assert len(queries) <= 12


def test_only_the_best_file_of_the_first_ten_teams_is_read(with_uncertainties: Competition, bo: User) -> None:
    before = hardest_rows.find_hard_rows(competition=with_uncertainties).found["files"]
    submit(with_uncertainties, bo, answers(public=5, private=5))
    found = hardest_rows.find_hard_rows(competition=with_uncertainties).found
    assert found["files"] == before == 2
    assert {row["id"] for row in found["rows"]} == {"4", "6"}
    assert Submission.objects.count() == 3


def test_ten_times_as_much_that_chance_says_is_no_slip() -> None:
    row = hardest_rows.HardRow("1", "", ("740",), (), 0.0, "74.2", 0, 14.0, 9.0)
    assert row.guess == "point"
    assert replace(row, other="120").guess == ""
    assert replace(row, truth=("-999",), other="30").guess == "placeholder"
    assert replace(row, truth=("-74",)).guess == "sign"
    assert replace(row, truth=("0",)).guess == ""
    assert row.team_median_text == "74 ± 9"
