"""Handing in a file in the browser, with and without JavaScript."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import reveal
from leaderboard.classroom import joining
from leaderboard.competitions.models import Admission, Competition, Limits, Membership, Submission
from leaderboard.submissions import claims, score, submitting
from tests.conftest import answers, close, enter, make_competition, person, submit, with_clock
from tests.pages import board_fact, signed_in, tidy

SUBMIT = "/c/pets/submit/"


def csv(data: bytes | None = None, name: str = "mine.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, answers() if data is None else data, "text/csv")


def send(client: Client, data: bytes | None = None, **fields: Any) -> Any:
    return client.post(SUBMIT, {"file": csv(data), **fields})


def progress_of(client: Client, submission: Submission, **query: str) -> Any:
    return client.get(f"/c/pets/submissions/{submission.pk}/progress/", query, headers={"HX-Request": "true"})


@pytest.fixture
def as_bo(pets: Competition, bo: User) -> Client:
    enter(pets, bo)
    return signed_in(bo)


def test_bo_hands_in_a_file_and_is_led_to_its_progress(as_bo: Client, work: Callable[[], int]) -> None:
    assert "0 submissions" in as_bo.get(SUBMIT).content.decode()
    response = send(as_bo, note="first try", upload_key="k1")
    submission = Submission.objects.get()
    assert "1 submission<" in as_bo.get(SUBMIT).content.decode(), "the number is fresh after the own file"
    assert (response.status_code, response["Location"]) == (303, f"{SUBMIT}?submission={submission.pk}#progress")
    assert (submission.note, submission.file_name) == ("first try", "mine.csv")
    page = as_bo.get(response["Location"]).content.decode()
    assert "Waiting…" in page
    assert ">Refresh</a></noscript>" in tidy(page)
    work()
    page = as_bo.get(response["Location"]).content.decode()
    assert "1.000" in page
    assert board_fact(page, "rank") == "Rank 1 of 1"
    assert board_fact(page, "gain").startswith("Progress Your first score")
    assert 'data-testid="personal-best"' not in page
    assert ">Refresh</a>" not in tidy(page)


def test_the_sixth_upload_of_the_day_is_refused_in_words(as_bo: Client) -> None:
    Competition.objects.update(closes_at=timezone.now() + timedelta(days=2))
    for number in range(5):
        assert send(as_bo, answers(public=number), upload_key=str(number)).status_code == 303
    response = send(as_bo, upload_key="6")
    page = response.content.decode()
    assert response.status_code == 409
    assert "used all 5 attempts for today" in page
    assert "no attempt was used" in page
    assert "No attempts left today" in page
    assert 'id="upload"' not in page
    assert Submission.objects.count() == 5


def test_who_has_one_attempt_a_day_reads_of_one(as_bo: Client) -> None:
    Limits.objects.update(daily_attempts=1)
    send(as_bo, upload_key="1")
    assert "Your team has used today" in send(as_bo, answers(public=1), upload_key="2").content.decode()
    assert "You share submissions and one attempt a day" in as_bo.get("/c/pets/team/").content.decode()


def test_another_file_from_a_page_found_by_going_back_is_handed_in_as_well(as_bo: Client) -> None:
    """Browsers show the page as it was, with the key that keeps a double click from being two files."""
    files = [answers(), answers(public=1)]
    shown = [send(as_bo, file, upload_key="k1")["Location"] for file in files for _ in range(2)]
    stored = list(Submission.objects.order_by("received_at"))
    assert [one.sha256 for one in stored] == [hashlib.sha256(file).hexdigest() for file in files]
    assert shown == [f"{SUBMIT}?submission={one.pk}#progress" for one in stored for _ in range(2)]
    fields = {"file_name": "mine.csv", "note": "", "upload_key": "k2"}
    for one in stored * 2:
        assert as_bo.post(SUBMIT, {**fields, "again": str(one.pk)}).status_code == 303
    assert sorted(Submission.objects.values_list("sha256", flat=True)) == sorted(2 * [one.sha256 for one in stored])


def test_a_bad_file_uses_no_attempt_and_shows_all_its_problems(as_bo: Client, work: Callable[[], int]) -> None:
    response = send(as_bo, b"id,label\n1,cat\n1,dog\n99,cat\n" + b"".join(b"%d,\n" % i for i in range(2, 8)))
    work()
    page = as_bo.get(response["Location"]).content.decode()
    submission = Submission.objects.get()
    assert submission.status == "invalid"
    assert {problem["code"] for problem in submission.problems} == {
        "missing_ids",
        "missing_value",
        "repeated_ids",
        "unknown_ids",
    }
    assert "mine.csv was not scored. No attempt used." in tidy(page)
    assert page.count('<th scope="row">') >= len(submission.problems)
    assert "5 of 5" in page


def test_a_file_that_is_no_table_is_invalid_at_once(as_bo: Client) -> None:
    response = send(as_bo, b"\x89PNG\r\n\x1a\n" + bytes(200))
    assert Submission.objects.get().status == "invalid"
    page = as_bo.get(response["Location"]).content.decode()
    assert "No attempt used." in page
    assert "<table" not in page, "one problem is a sentence"


def test_nothing_chosen_and_nothing_in_the_file_are_asked_for_again(as_bo: Client) -> None:
    assert "Choose a file first" in as_bo.post(SUBMIT, {"note": "x"}).content.decode()
    response = send(as_bo, b"")
    assert response.status_code == 422
    assert "This file is empty" in response.content.decode()


def test_before_the_start_there_is_no_form(ada: User, bo: User) -> None:
    now = timezone.now()
    pets = make_competition(ada, opens_at=now + timedelta(hours=1), closes_at=now + timedelta(days=1))
    enter(pets, bo)
    client = signed_in(bo)
    page = client.get(SUBMIT).content.decode()
    assert "Not open yet" in page
    assert "Attempts left" not in page, "there is nothing yet that could be attempted"
    assert "drop-zone" not in page
    assert send(client).status_code == 409


def test_a_competition_that_closed_meanwhile_says_so_and_keeps_nothing(as_bo: Client, pets: Competition) -> None:
    assert "drop-zone" in as_bo.get(SUBMIT).content.decode()
    close(pets)
    response = send(as_bo)
    page = response.content.decode()
    assert response.status_code == 409
    assert "The deadline has passed" in page
    assert "Nothing was saved, and no attempt was used" in page
    assert not Submission.objects.exists()


def test_after_the_deadline_no_attempts_are_counted(as_bo: Client, pets: Competition) -> None:
    assert "Attempts left" in as_bo.get("/c/pets/submit/").content.decode()
    close(pets)
    assert "Attempts left" not in as_bo.get("/c/pets/submit/").content.decode()


def test_after_the_reveal_the_card_beside_calls_the_public_rank_public(
    as_bo: Client, pets: Competition, bo: User
) -> None:
    submit(pets, bo, answers())
    assert ">Today</h2>" in tidy(as_bo.get(SUBMIT).content.decode())
    close(pets)
    page = tidy(as_bo.get(SUBMIT).content.decode())
    assert (">Today</h2>" in page, ">Your team</h2>" in page, "Public rank" in page) == (False, True, False)
    reveal.reveal_private_board(pets, timezone.now() - timedelta(milliseconds=1))
    assert "Public rank" in as_bo.get(SUBMIT).content.decode()


def test_late_files_are_scored_and_never_ranked(as_bo: Client, pets: Competition, work: Callable[[], int]) -> None:
    close(pets)
    Limits.objects.update(allows_late=True)
    assert "Late submissions are scored but not ranked" in as_bo.get(SUBMIT).content.decode()
    response = send(as_bo)
    work()
    page = as_bo.get(response["Location"]).content.decode()
    assert "scored but not ranked" in page
    assert "Late, not ranked" in page


def test_who_has_not_accepted_the_rules_is_led_to_them(pets: Competition, bo: User) -> None:
    joining.enter_competition(user=bo, competition=pets)
    client = signed_in(bo)
    assert "Read and accept the rules" in client.get(SUBMIT).content.decode()
    assert send(client).status_code == 409


def test_the_host_is_told_about_baselines(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    assert "You run this competition" in client.get(SUBMIT).content.decode()
    assert send(client).status_code == 409


def test_dee_is_sent_away(pets: Competition, dee: User) -> None:
    assert signed_in(dee).get(SUBMIT).status_code == 404
    Admission.objects.update(is_listed=True)
    assert signed_in(dee).get(SUBMIT)["Location"] == "/c/pets/"
    assert send(signed_in(dee))["Location"] == "/c/pets/"
    assert Client().get(SUBMIT)["Location"].startswith("/accounts/login/")
    assert not Submission.objects.exists()


def test_the_same_file_again_is_pointed_out(as_bo: Client, pets: Competition, bo: User) -> None:
    submit(pets, bo, answers(), file_name="before.csv")
    again = submit(pets, bo, answers())
    page = as_bo.get(f"{SUBMIT}?submission={again.pk}").content.decode()
    assert "submitted on" in page
    assert board_fact(page, "gain").startswith("Compared with your best Same score")


def again(client: Client, page: Any, **changed: object) -> Any:
    """Answer the question about the same bytes with yes."""
    given = {field.name: field.value() for field in page.context["same"]["form"]}
    return client.post(SUBMIT, {**given, **changed})


@pytest.mark.case(124)
def test_the_same_bytes_ask_before_they_cost_an_attempt(as_bo: Client, pets: Competition, bo: User) -> None:
    first = submit(pets, bo, answers(), file_name="before.csv")
    page = send(as_bo, note="once more", upload_key="k2")
    text = " ".join(page.content.decode().split())
    assert page.status_code == 409
    assert "before.csv</a>, submitted on <time" in text
    assert "You have 4 of 5 attempts left today." in text
    assert list(Submission.objects.all()) == [first]
    response = again(as_bo, page)
    second = Submission.objects.exclude(pk=first.pk).get()
    assert response["Location"] == f"{SUBMIT}?submission={second.pk}#progress"
    assert (second.sha256, second.note, second.file_name) == (first.sha256, "once more", "mine.csv")
    assert second.file_key != first.file_key
    assert again(as_bo, page)["Location"] == response["Location"]
    assert Submission.objects.count() == 2


def test_the_bytes_of_an_invalid_file_are_not_asked_about(as_bo: Client, pets: Competition, bo: User) -> None:
    submit(pets, bo, b"id,label\n1,cat\n")
    assert send(as_bo, b"id,label\n1,cat\n").status_code == 303


def test_bo_cannot_hand_in_cys_file_by_its_number(as_bo: Client, pets: Competition, bo: User, cy: User) -> None:
    enter(pets, cy)
    theirs = submit(pets, cy, answers())
    submit(pets, bo, answers(public=1))
    page = send(as_bo, answers(public=1))
    assert again(as_bo, page, again=str(theirs.pk)).status_code == 404
    assert again(as_bo, page, again="nonsense").status_code == 422
    assert again(signed_in(theirs.competition.hosts.get()), page, again=str(theirs.pk)).status_code == 422
    assert Submission.objects.count() == 2


def test_after_the_deadline_yes_comes_too_late(as_bo: Client, pets: Competition, bo: User) -> None:
    submit(pets, bo, answers())
    page = send(as_bo)
    close(pets)
    assert again(as_bo, page).status_code == 409
    assert Submission.objects.count() == 1


def test_another_teams_equal_file_is_not_mentioned(as_bo: Client, pets: Competition, bo: User, cy: User) -> None:
    enter(pets, cy)
    submit(pets, cy, answers())
    mine = submit(pets, bo, answers())
    assert "submitted on" not in as_bo.get(f"{SUBMIT}?submission={mine.pk}").content.decode()


def test_bo_sees_how_the_file_compares_and_the_rank_before(
    as_bo: Client, pets: Competition, bo: User, cy: User
) -> None:
    enter(pets, cy)
    submit(pets, bo, answers(public=3))
    submit(pets, cy, answers(public=1))
    better = submit(pets, bo, answers())
    page = " ".join(as_bo.get(f"{SUBMIT}?submission={better.pk}").content.decode().split())
    assert 'data-testid="personal-best"' in page
    assert board_fact(page, "rank") == "Rank 2 → 1 1 of 2"
    assert board_fact(page, "gain").startswith("Compared with your best +0.500 better")
    assert 'class="chart histogram"' not in page, "two scores are no distribution"
    assert re.search(r"95 % interval: 0\.\d+ to 1\.0", page), "six right rows are no proof of a file without a mistake"
    worse = submit(pets, bo, answers(public=2))
    page = as_bo.get(f"{SUBMIT}?submission={worse.pk}").content.decode()
    assert board_fact(page, "gain").startswith("Compared with your best −0.333 worse")
    assert board_fact(page, "rank") == "Your best file: rank 1 of 2"
    assert 'data-testid="personal-best"' not in page
    assert re.search(r"95 % interval: 0\.[1-5]\d to 0\.[7-9]\d", page)


def test_the_next_rank_is_that_of_the_next_better_score(as_bo: Client, pets: Competition, bo: User, cy: User) -> None:
    for user, wrong in ((cy, 1), (person("di"), 2), (person("ed"), 2)):
        enter(pets, user)
        submit(pets, user, answers(public=wrong))
    mine = submit(pets, bo, answers(public=2))
    page = as_bo.get(f"{SUBMIT}?submission={mine.pk}").content.decode()
    assert board_fact(page, "rank").startswith("Rank 4")
    assert board_fact(page, "to-next").startswith("To 1st 0.167")
    assert board_fact(as_bo.get("/c/pets/leaderboard/").content.decode(), "next").startswith("Next rank 0.167 to 1st")


def test_a_number_of_nothing_is_not_found(as_bo: Client) -> None:
    assert as_bo.get(f"{SUBMIT}?submission=nonsense").status_code == 404
    assert as_bo.get(f"{SUBMIT}?submission=12345678-1234-1234-1234-123456789012").status_code == 404


# --- progress ---------------------------------------------------------------------------------------------------


def waiting(pets: Competition, user: User, *, since: timedelta = timedelta(0)) -> Submission:
    submission = submitting.submit_file(competition=pets, user=user, file_name="a.csv", chunks=[answers()])
    Submission.objects.filter(pk=submission.pk).update(received_at=timezone.now() - since)
    submission.refresh_from_db()
    return submission


def test_a_poll_gets_the_end_once_and_stops(as_bo: Client, pets: Competition, bo: User) -> None:
    submission = waiting(pets, bo)
    first = progress_of(as_bo, submission)
    assert first.status_code == 200
    seen = first.context["progress"].seen
    assert progress_of(as_bo, submission, seen=seen).status_code == 204
    score.score_one(submission.pk)
    last = progress_of(as_bo, submission, seen=seen)
    assert last.status_code == 286
    assert "hx-get" not in last.content.decode()
    assert 'hx-swap-oob="true"' in last.content.decode()
    assert 'data-words="a.csv scored 1.000, rank 1 of 1."' in last.content.decode()


def test_the_form_comes_back_if_the_file_on_the_last_attempt_is_invalid(
    as_bo: Client, pets: Competition, work: Callable[[], int]
) -> None:
    Limits.objects.update(daily_attempts=1)
    page = as_bo.get(send(as_bo, answers()[:-8])["Location"])
    assert "No attempts left today" in page.content.decode()
    assert work() == 1
    last = progress_of(as_bo, Submission.objects.get())
    assert (last.status_code, last["HX-Refresh"]) == (286, "true")
    assert "No attempts left today" not in as_bo.get(SUBMIT).content.decode()


def test_progress_opened_by_hand_leads_to_the_page(as_bo: Client, pets: Competition, bo: User) -> None:
    submission = waiting(pets, bo)
    response = as_bo.get(f"/c/pets/submissions/{submission.pk}/progress/")
    assert response["Location"] == f"{SUBMIT}?submission={submission.pk}"


def test_a_waiting_file_says_how_many_are_ahead(as_bo: Client, pets: Competition, bo: User, cy: User) -> None:
    enter(pets, cy)
    for _ in range(4):
        waiting(pets, cy, since=timedelta(seconds=5))
    assert "4 ahead of you" in progress_of(as_bo, waiting(pets, bo)).content.decode()


def test_when_no_worker_lives_the_file_is_said_to_be_safe(as_bo: Client, pets: Competition, bo: User) -> None:
    submission = waiting(pets, bo, since=timedelta(seconds=61))
    assert (
        "Your file is saved and will be scored when the scorer is back"
        in progress_of(as_bo, submission).content.decode()
    )


def test_who_waits_longer_than_usual_reads_that_the_page_may_be_closed(
    as_bo: Client, pets: Competition, bo: User
) -> None:
    fresh = progress_of(as_bo, waiting(pets, bo))
    assert "You can close this page" not in fresh.content.decode()
    old = progress_of(as_bo, waiting(pets, bo, since=timedelta(seconds=20)), seen=fresh.context["progress"].seen)
    assert "You can close this page" in old.content.decode()


def test_attempts_that_come_after_the_deadline_are_not_promised(as_bo: Client, pets: Competition, bo: User) -> None:
    midnight = (timezone.now() + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    Limits.objects.filter(pk=pets.pk).update(daily_attempts=1)
    Competition.objects.filter(pk=pets.pk).update(closes_at=midnight)
    pets.refresh_from_db()
    for address in (SUBMIT, "/c/pets/submissions/"):
        assert "not before the deadline" in as_bo.get(address).content.decode()
    waiting(pets, bo)
    page = as_bo.get(SUBMIT).content.decode()
    assert ", after your team's deadline, so you can't submit again" in page
    Competition.objects.filter(pk=pets.pk).update(closes_at=timezone.now() + timedelta(days=9))
    page = as_bo.get(SUBMIT).content.decode()
    assert "No attempts left today" in page
    assert 'id="upload"' not in page
    for address in (SUBMIT, "/c/pets/submissions/"):
        assert "not before the deadline" not in as_bo.get(address).content.decode()


def test_a_long_queue_is_not_taken_for_a_dead_scorer(as_bo: Client, pets: Competition, bo: User, cy: User) -> None:
    enter(pets, cy)
    submission = waiting(pets, bo, since=timedelta(seconds=61))
    submit(pets, cy, answers())
    assert "when the scorer is back" not in progress_of(as_bo, submission).content.decode()


def test_a_file_in_a_workers_hands_is_at_the_third_step(as_bo: Client, pets: Competition, bo: User) -> None:
    submission = waiting(pets, bo)
    Submission.objects.update(claim=uuid.uuid4(), lease_until=timezone.now() + timedelta(seconds=30))
    page = progress_of(as_bo, submission).content.decode()
    assert '<li class="current" aria-current="step">Scoring<' in tidy(page)


def test_our_own_failure_is_told_as_ours(as_bo: Client, pets: Competition, bo: User) -> None:
    submission = waiting(pets, bo)
    Submission.objects.update(status="failed", finished_at=timezone.now(), failure=claims.OUR_FAULT)
    assert "through no fault of your file" in progress_of(as_bo, submission).content.decode()


def test_cy_cannot_watch_bos_file(as_bo: Client, pets: Competition, bo: User, cy: User) -> None:
    submission = waiting(pets, bo)
    enter(pets, cy)
    assert progress_of(signed_in(cy), submission).status_code == 404
    assert signed_in(cy).get(f"{SUBMIT}?submission={submission.pk}").status_code == 404


def test_bos_file_is_not_found_under_another_competition(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    other = make_competition(ada, slug="birds", title="Birds")
    enter(other, bo)
    submission = waiting(pets, bo)
    assert signed_in(bo).get(f"/c/birds/submissions/{submission.pk}/").status_code == 404
    assert signed_in(bo).get(f"/c/birds/submissions/{submission.pk}/file/").status_code == 404


def test_the_page_asks_the_database_modestly(
    as_bo: Client, pets: Competition, bo: User, django_assert_max_num_queries: Any
) -> None:
    submission = submit(pets, bo, answers())
    assert Membership.objects.count() == 1
    submit(pets, bo, b"id,label\n1,cat\n")
    with django_assert_max_num_queries(with_clock(13)):
        as_bo.get(f"{SUBMIT}?submission={submission.pk}")
