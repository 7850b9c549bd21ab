"""Bo's spreadsheet saves its file in its own way; what it means is offered, looked at and handed in."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions import page_tasks, wake_ups
from leaderboard.competitions.models import Competition, Conversion, DailyAttempts, PageTask, Submission
from leaderboard.scoring import table_jobs
from leaderboard.submissions import converting, scoring_again
from tests.conftest import answers, close, enter, submit
from tests.pages import signed_in, text_of, upload

GOOD = answers(public=2)
SEMICOLONS = GOOD.replace(b",", b";")
WESTERN = GOOD.replace(b"\n", b"\r\n").decode().encode("utf-16")


@pytest.fixture
def bos(pets: Competition, bo: User) -> Client:
    enter(pets, bo)
    return signed_in(bo)


def submit_on_page(client: Client, data: bytes) -> None:
    assert client.post("/c/pets/submit/", {"file": upload(data, "mine.csv")}).status_code == 303


def only_file(pets: Competition) -> Submission:
    (found,) = Submission.objects.filter(competition=pets)
    return found


TWO_FAULTS = {
    "semicolons": SEMICOLONS,
    "UTF-16": WESTERN,
    "a title": b"\xef\xbb\xbfMy pets\r\n\r\n" + SEMICOLONS,
    "the line sep=": b"sep=;\r\n" + SEMICOLONS.replace(b"\n", b"\r\n"),
    "other names": SEMICOLONS.replace(b"id;label", b"Id;Predicted pet"),
    "no names": SEMICOLONS.partition(b"\n")[2],
    "a further column": SEMICOLONS.replace(b"\n", b";0,5\n"),
    "a remark": b"# by R\n" + GOOD,
    "the end-of-file mark of DOS": GOOD + b"\x1a",
    "a wrong name alone": GOOD.replace(b"label", b"prediction"),
    "no right name": GOOD.replace(b"id,label", b"pet,prediction"),
}


@pytest.mark.parametrize("data", TWO_FAULTS.values(), ids=list(TWO_FAULTS))
def test_one_click_hands_in_what_bos_spreadsheet_meant(bos: Client, pets: Competition, data: bytes) -> None:
    submit_on_page(bos, data)
    original = only_file(pets)
    assert original.status == "invalid"
    page = bos.get(f"/c/pets/submissions/{original.pk}/").content.decode()
    assert 'data-testid="convert"' in page
    assert bos.post(f"/c/pets/submissions/{original.pk}/convert/").status_code == 303
    made = Submission.objects.get(conversion__original=original)
    assert path_of(made.file_key).read_bytes().split() == GOOD.split()
    assert path_of(original.file_key).read_bytes() == data
    of_made, of_original = (bos.get(f"/c/pets/submissions/{one.pk}/").content.decode() for one in (made, original))
    assert f'href="/c/pets/submissions/{original.pk}/"' in of_made.partition('data-testid="original"')[2]
    assert made.sha256 in of_made
    assert f'href="/c/pets/submissions/{made.pk}/"' in of_original.partition('data-testid="converted"')[2]


def test_ids_with_other_zeros_are_written_as_in_the_sample(bos: Client, pets: Competition, bo: User) -> None:
    original = submit(pets, bo, re.sub(rb"(?m)^(\d+),", rb"00\1,", GOOD))
    assert [problem["code"] for problem in original.problems] == ["unknown_ids", "missing_ids"]
    assert bos.post(f"/c/pets/submissions/{original.pk}/convert/").status_code == 303
    made = Submission.objects.get(conversion__original=original)
    assert path_of(made.file_key).read_bytes().split() == GOOD.split()
    assert "sample submission" in made.conversion.changes[0]["message"]


def test_a_fault_that_is_found_while_scoring_is_looked_at_before_bo_opens_the_page(
    bos: Client, pets: Competition, bo: User, jobs: list[str]
) -> None:
    for ids, is_offered in ((rb"00\1,", True), (rb"x\1,", False)):
        original = submit(pets, bo, re.sub(rb"(?m)^(\d+),", ids, GOOD))
        assert original.status == "invalid"
        done = len(jobs)
        page = text_of(bos.get(f"/c/pets/submissions/{original.pk}/"))
        assert ("We can convert this file for you" in page) == is_offered
        assert "We can try to convert this file" not in page
        assert len(jobs) == done, "no page reads a file"


def test_what_a_conversion_would_leave_is_told_at_once(bos: Client, pets: Competition) -> None:
    """As of a training set: without its further columns its ids are still unknown."""
    rows = b"".join(b"t%d,0.%d,cat\n" % (place, place) for place in range(12))
    submit_on_page(bos, b"id,weight,label\n" + rows)
    original = only_file(pets)
    assert [problem["code"] for problem in original.problems] == ["column_extra"]
    page = bos.get(f"/c/pets/submissions/{original.pk}/")
    assert '12 ids unknown: "t0" (line 2)' in text_of(page)
    assert "Convert and submit" not in text_of(page)
    assert bos.post(f"/c/pets/submissions/{original.pk}/convert/").status_code == 409


def test_asking_twice_hands_in_once_and_uses_one_attempt(bos: Client, pets: Competition) -> None:
    submit_on_page(bos, SEMICOLONS)
    original = only_file(pets)
    for _ in range(2):
        assert bos.post(f"/c/pets/submissions/{original.pk}/convert/").status_code == 303
    assert Conversion.objects.count() == 1
    assert DailyAttempts.objects.get().used == 1
    assert 'data-testid="convert"' not in bos.get(f"/c/pets/submissions/{original.pk}/").content.decode()


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs that were done from now on."""
    done, really = list[str](), table_jobs.run_page_job

    def run(job: str, **arguments: Any) -> Any:
        done.append(job)
        return really(job, **arguments)

    monkeypatch.setattr(table_jobs, "run_page_job", run)
    return done


@pytest.mark.attack("Convert pressed again and again, so that others wait")
def test_pressing_convert_again_does_no_work(bos: Client, pets: Competition, jobs: list[str]) -> None:
    submit_on_page(bos, SEMICOLONS)
    submit_on_page(bos, SEMICOLONS.replace(b"\n3;", b"\n2;"))
    for original, status in zip(Submission.objects.order_by("received_at"), (303, 409), strict=True):
        for _ in range(3):
            assert bos.post(f"/c/pets/submissions/{original.pk}/convert/").status_code == status
    assert len(jobs) == 3, "two looked what would change, and one file was converted"


@pytest.mark.attack("Convert pressed again and again, so that others wait")
def test_a_file_that_takes_too_long_to_convert_is_read_once(
    bos: Client, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit_on_page(bos, SEMICOLONS)
    tried = []

    def times_out(job: str, **arguments: Any) -> Any:
        tried.append(job)
        raise table_jobs.JobTimedOut("10 s")

    monkeypatch.setattr(table_jobs, "run_page_job", times_out)
    for _ in range(3):
        assert bos.post(f"/c/pets/submissions/{only_file(pets).pk}/convert/").status_code == 409
    assert len(tried) == 1


def test_a_file_is_not_converted_after_the_deadline(bos: Client, pets: Competition, jobs: list[str]) -> None:
    submit_on_page(bos, SEMICOLONS)
    jobs.clear()
    original = only_file(pets)
    close(pets)
    response = bos.post(f"/c/pets/submissions/{original.pk}/convert/")
    assert (response.status_code, jobs) == (409, [])
    assert "The deadline has passed." in response.content.decode()


def test_a_file_is_not_converted_without_an_attempt_left(bos: Client, pets: Competition, jobs: list[str]) -> None:
    submit_on_page(bos, SEMICOLONS)
    jobs.clear()
    original = only_file(pets)
    DailyAttempts.objects.update(used=5)
    response = bos.post(f"/c/pets/submissions/{original.pk}/convert/")
    assert (response.status_code, jobs) == (409, [])
    assert "attempts for today" in response.content.decode()


def test_nothing_is_offered_that_could_not_be_scored(bos: Client, pets: Competition) -> None:
    submit_on_page(bos, SEMICOLONS.replace(b"\n3;", b"\n2;"))
    original = only_file(pets)
    page = text_of(bos.get(f"/c/pets/submissions/{original.pk}/"))
    assert "Convert and submit" not in page
    assert "This file can't be converted. More is wrong with it:" in page
    assert bos.post(f"/c/pets/submissions/{original.pk}/convert/").status_code == 409
    assert not Conversion.objects.exists()


def test_a_file_that_no_conversion_helps_says_again_what_is_wrong(bos: Client, pets: Competition, bo: User) -> None:
    original = submit(pets, bo, GOOD + b"Total,cat\n")
    answer = bos.post(f"/c/pets/submissions/{original.pk}/convert/")
    assert answer.status_code == 409
    assert original.problems[0]["message"] in text_of(answer)


def test_a_good_file_is_never_converted(pets: Competition, bos: Client, bo: User) -> None:
    submission = submit(pets, bo, GOOD)
    assert bos.post(f"/c/pets/submissions/{submission.pk}/convert/").status_code == 409


def test_nobody_converts_the_file_of_another_team(bos: Client, pets: Competition, ada: User, cy: User) -> None:
    submit_on_page(bos, SEMICOLONS)
    original = only_file(pets)
    enter(pets, cy)
    assert signed_in(cy).post(f"/c/pets/submissions/{original.pk}/convert/").status_code == 404
    assert signed_in(ada).post(f"/c/pets/submissions/{original.pk}/convert/").status_code == 404
    assert not Conversion.objects.exists()


def test_the_original_of_a_conversion_stays_stored(bos: Client, pets: Competition) -> None:
    submit_on_page(bos, SEMICOLONS)
    original = only_file(pets)
    bos.post(f"/c/pets/submissions/{original.pk}/convert/")
    assert original.finished_at is not None
    later = original.finished_at + 2 * scoring_again.INVALID_FILES_STAY
    assert scoring_again.remove_invalid_files(at=later) == 0
    assert path_of(original.file_key).exists()


def test_the_host_sees_a_roster_from_excel(pets: Competition, ada: User) -> None:
    from leaderboard.classroom import roster
    from metrics.tests.test_workbooks import rows, workbook

    data = workbook(rows(("Name", "Email"), ("Bo", "bo@example.org")))
    draft = roster.save_roster_draft(competition=pets, user=ada, file_name="class.xlsx", data=data)
    assert [change.line.values["email"] for change in roster.preview_roster(pets, draft).new] == ["bo@example.org"]


def test_a_file_that_no_worker_has_read_yet_is_converted_unseen(
    bos: Client, pets: Competition, monkeypatch: pytest.MonkeyPatch, jobs: list[str]
) -> None:
    monkeypatch.setattr(wake_ups, "wake_workers", lambda *_, **__: False)
    submit_on_page(bos, SEMICOLONS)
    original = only_file(pets)
    page = bos.get(f"/c/pets/submissions/{original.pk}/")
    assert jobs == [], "no page reads a file"
    assert "We can try to convert this file" in text_of(page)
    looks_again = f"/c/pets/submissions/{original.pk}/?looked="
    assert f'hx-get="{looks_again}1"' in page.content.decode()
    assert f'hx-get="{looks_again}4"' in bos.get(f"{looks_again}3").content.decode()
    assert "hx-get=" not in bos.get(f"{looks_again}4").content.decode(), "that is enough"
    waiting = bos.post(f"/c/pets/submissions/{original.pk}/convert/")["Location"]
    assert "Converting your file" in text_of(bos.get(waiting))
    assert page_tasks.answer_next_task("a worker")
    assert "/c/pets/submit/?submission=" in bos.get(waiting)["Location"]
    assert Conversion.objects.get().original == original


@pytest.mark.attack("files that take long to convert, so that hosts and others wait")
def test_files_are_looked_at_one_after_the_other_and_no_thread_waits(
    bos: Client, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as away:
        away.setattr(wake_ups, "wake_workers", lambda *_, **__: False)
        submit_on_page(bos, SEMICOLONS)
        submit_on_page(bos, SEMICOLONS + b"\n")
    first, second = Submission.objects.order_by("received_at")
    really, at_work = table_jobs.run_page_job, list[str]()

    def run(job: str, **arguments: Any) -> Any:
        at_work.append(job)
        if len(at_work) == 1:
            converting.preview_conversion(second.pk)
            assert len(at_work) == 1, "another thread found this one at work and left"
        return really(job, **arguments)

    monkeypatch.setattr(table_jobs, "run_page_job", run)
    converting.preview_conversion(first.pk)
    assert len(at_work) == 2
    for submission in (first, second):
        offer = converting.offer_conversion(submission)
        assert offer is not None
        assert offer.changes


def test_a_conversion_counts_from_when_bo_asked_for_it(
    bos: Client, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit_on_page(bos, SEMICOLONS)
    original = only_file(pets)
    monkeypatch.setattr(wake_ups, "wake_workers", lambda *_, **__: False)
    waiting = bos.post(f"/c/pets/submissions/{original.pk}/convert/")["Location"]
    asked_at = PageTask.objects.get().created_at
    close(pets)
    PageTask.objects.update(created_at=pets.closes_at - timedelta(seconds=5))
    assert page_tasks.answer_next_task("a worker after the deadline")
    assert bos.get(waiting)["Location"].startswith("/c/pets/submit/?submission=")
    made = Conversion.objects.get().submission
    assert not made.is_late
    assert abs(made.received_at - (pets.closes_at - timedelta(seconds=5))) < timedelta(seconds=2)
    assert asked_at > made.received_at
