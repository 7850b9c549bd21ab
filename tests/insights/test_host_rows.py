"""Ada finds a wrong answer in her truth file where the best teams agree, and puts it right."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, RowReport, Submission, TruthDraft
from leaderboard.competitions.scoring import score
from leaderboard.competitions.services import competitions, publishing, rescoring, truth_drafts
from leaderboard.insights import hardest_rows
from leaderboard.scorer import jobs_for_pages
from tests.conftest import TRUTH, answers, enter, hand_in, make_competition
from tests.pages import signed_in, text_of

PAGE = "/host/pets/rows/"
# Row 4 is a cat in the truth; Bo and Cy both call it a bird, Cy row 6 too.
WRONG = {"bo": answers(private=0).replace(b"4,cat", b"4,bird"), "cy": answers().replace(b"4,cat", b"4,bird")}


@pytest.fixture
def with_uncertainties(pets: Competition, bo: User, cy: User) -> Competition:
    for user, data in ((bo, WRONG["bo"]), (cy, WRONG["cy"].replace(b"6,dog", b"6,cow"))):
        enter(pets, user)
        hand_in(pets, user, data)
    return pets


@pytest.fixture
def hers(ada: User) -> Client:
    return signed_in(ada)


def find(client: Client) -> str:
    """Look for the rows; gives when they were found, as the form sends it along."""
    assert client.post(PAGE, {"action": "find"}).status_code == 303
    made = re.search(r'name="made" value="([^"]+)"', client.get(PAGE).content.decode())
    return made[1] if made else ""


def test_ada_finds_the_row_and_corrects_it_on_the_usual_way(
    hers: Client, with_uncertainties: Competition, ada: User
) -> None:
    assert "Not looked for yet" in text_of(hers.get(PAGE))
    made = find(hers)
    page = text_of(hers.get(PAGE))
    assert "Found in 2 files under ground truth 1" in page
    assert "On 1 row most of them agree" in page
    assert page.index("2 of 2 say bird") < page.index("1 of 2 say cow")
    sent = {"action": "correct", "made": made, "do-0": "correct", "answer-0-0": "bird", "do-1": "ignore"}
    assert hers.post(PAGE, sent)["Location"] == "/host/pets/truth/#check"
    draft = TruthDraft.objects.get()
    assert draft.report["ok"]
    assert draft.report["ignored_rows"] == 1
    text = path_of(draft.file_key).read_text()
    assert text == TRUTH.replace("4,cat,", "4,bird,").replace("6,dog,Private", "6,dog,Ignored")
    ground_truth = publishing.publish_draft(competition=with_uncertainties, user=ada)
    assert with_uncertainties.candidate == ground_truth
    score.rescore_batch(ground_truth.pk)
    rescoring.apply_candidate(competition=with_uncertainties, user=ada)
    assert "Not looked for yet" in text_of(hers.get(PAGE))


def test_what_was_found_stays_until_it_is_looked_for_again(
    hers: Client, with_uncertainties: Competition, dee: User
) -> None:
    find(hers)
    enter(with_uncertainties, dee)
    hand_in(with_uncertainties, dee, answers())
    assert "2 of 2 say bird" in text_of(hers.get(PAGE))
    find(hers)
    assert "2 of 3 say bird" in text_of(hers.get(PAGE))
    assert RowReport.objects.count() == 1


def test_by_agreement_the_doubtful_rows_come_first(hers: Client, ada: User, bo: User, cy: User) -> None:
    truth = "id,y,Usage\n1,10,Public\n2,20,Private\n3,30,Public\n4,40,Private\n"
    competition = make_competition(ada, truth=truth, metric="mae")
    for user, first in ((bo, "-90"), (cy, "110")):
        enter(competition, user)
        hand_in(competition, user, f"id,y\n1,{first}\n2,20\n3,34\n4,40\n".encode())
    find(hers)
    by_loss, by_agreement = text_of(hers.get(PAGE)), text_of(hers.get(f"{PAGE}?sort=agree"))
    assert by_loss.index("0 of 2 say 10" if "0 of 2 say 10" in by_loss else "1 public") < by_loss.index("2 of 2 say 34")
    assert by_agreement.index("2 of 2 say 34") < by_agreement.index("1 public")


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "Choose at least one row"),
        ({"do-0": "correct", "answer-0-0": " "}, "Write the right answer for the row 4"),
        ({"made": "2020-01-01"}, "made anew meanwhile"),
    ],
)
def test_what_cannot_be_corrected_is_said_and_nothing_lost(
    hers: Client, with_uncertainties: Competition, sent: dict[str, str], words: str
) -> None:
    made = find(hers)
    response = hers.post(PAGE, {"action": "correct", "made": made, "do-1": "keep", "answer-1-0": "mouse", **sent})
    assert response.status_code == 409
    assert words in text_of(response)
    assert 'value="mouse"' in response.content.decode()
    assert not TruthDraft.objects.exists()


def test_a_file_on_its_way_is_not_overwritten(hers: Client, with_uncertainties: Competition, ada: User) -> None:
    made = find(hers)
    truth_drafts.draft_truth(competition=with_uncertainties, metric="accuracy", params={})
    sent = {"action": "correct", "made": made, "do-0": "ignore"}
    assert "Another file is being checked under" in text_of(hers.post(PAGE, sent))
    publishing.publish_draft(competition=with_uncertainties, user=ada)
    assert "Another ground truth is waiting" in text_of(hers.post(PAGE, sent))


def test_a_metric_of_whole_columns_says_so(hers: Client, ada: User, bo: User) -> None:
    truth = "id,y,Usage\n" + "".join(f"{i},{i % 2},{'Public' if i < 5 else 'Private'}\n" for i in range(1, 9))
    competition = make_competition(ada, truth=truth, metric="roc_auc")
    enter(competition, bo)
    hand_in(competition, bo, ("id,y\n" + "".join(f"{i},0.{i}\n" for i in range(1, 9))).encode())
    find(hers)
    assert "computed on whole columns" in text_of(hers.get(PAGE))


def test_without_a_score_or_a_truth_there_is_nothing_to_look_for(hers: Client, pets: Competition, ada: User) -> None:
    assert "No team has a score yet" in text_of(hers.post(PAGE, {"action": "find"}))
    now = timezone.now()
    competitions.create_competition(
        user=ada, slug="bare", title="Bare", opens_at=now, closes_at=now + timedelta(days=1)
    )
    assert "Publish a ground truth first" in text_of(hers.post("/host/bare/rows/", {"action": "find"}))
    assert hers.get("/host/bare/rows/").status_code == 200


def test_perfect_files_lose_no_row(hers: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    hand_in(pets, bo, answers())
    find(hers)
    assert "No row is lost" in text_of(hers.get(PAGE))


def test_a_look_that_breaks_is_nobodys_fault(
    hers: Client, with_uncertainties: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Any:
        raise jobs_for_pages.JobFailed("out of memory")

    monkeypatch.setattr(jobs_for_pages, "run_page_job", broken)
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
    hand_in(with_uncertainties, bo, answers(public=5, private=5))
    found = hardest_rows.find_hard_rows(competition=with_uncertainties).found
    assert found["files"] == before == 2
    assert {row["id"] for row in found["rows"]} == {"4", "6"}
    assert Submission.objects.count() == 3


def test_files_that_know_nothing_agree_on_no_other_number(
    hers: Client, ada: User, bo: User, cy: User, dee: User
) -> None:
    """Two of any three numbers are nearer to their median than to the truth; only those close together tell."""
    truth = "id,y,Usage\n1,10,Public\n2,50,Private\n3,30,Public\n4,40,Private\n"
    competition = make_competition(ada, truth=truth, metric="mae")
    for user, first, second in ((bo, "15", "149"), (cy, "22", "150"), (dee, "41", "152")):
        enter(competition, user)
        hand_in(competition, user, f"id,y\n1,{first}\n2,{second}\n3,30\n4,40\n".encode())
    find(hers)
    page = text_of(hers.get(PAGE))
    assert "On 1 row most of them agree" in page
    assert "3 of 3 are near 150" in page
    assert "1 of 3 say 22" in page
