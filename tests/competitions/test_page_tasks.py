"""Ada's forms that take long are answered by a worker, and her page looks again."""

from __future__ import annotations

import io
import time
import uuid
import zipfile
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.accounts.personal_data import delete_account, export_account
from leaderboard.celery import PAGES_QUEUE, app
from leaderboard.common import storage
from leaderboard.common.claims import claim_key
from leaderboard.competitions import page_tasks, tasks, wake_ups
from leaderboard.competitions.models import Competition, PageTask
from tests.conftest import answers, enter, make_competition, person, submit
from tests.pages import signed_in, text_of, upload

ROWS, SIMILAR = "/host/pets/rows/", "/host/pets/teams/similar/"
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def worker_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake_ups, "wake_workers", lambda *_, **__: False)


@pytest.fixture
def scored(pets: Competition, bo: User) -> Competition:
    """Bo has a score, so there is something to look for."""
    enter(pets, bo)
    submit(pets, bo, answers(public=1))
    return pets


def work(wake_up: str = "") -> bool:
    """A worker answers one form."""
    return page_tasks.answer_next_task(wake_up or str(uuid.uuid4()))


def kill_the_worker() -> None:
    """A worker that took the next form dies, and its lease ends."""
    taken = page_tasks.claim_next_task(str(uuid.uuid4()))
    assert taken is not None
    PageTask.objects.filter(pk=taken.pk).update(lease_until=Now() - timedelta(seconds=1))


def find_rows(client: Client, page: str = ROWS, **fields: str) -> str:
    """Ask for the hardest rows; gives the address of the page that looks again."""
    response = client.post(page, {"action": "find", **fields})
    assert response.status_code == 303
    return response["Location"]


def test_ada_reads_at_once_that_her_form_is_at_work_and_then_its_answer(scored: Competition, ada: User) -> None:
    client = signed_in(ada)
    page, seconds = "", list[float]()
    for _ in range(3):  # the machine may be busy, and the same form is the same task
        begun = time.monotonic()
        page = find_rows(client)
        seconds.append(time.monotonic() - begun)
    assert min(seconds) <= 0.3
    assert page.startswith("/tasks/")
    shown = client.get(page)
    assert "Reading the answers and the best submissions" in text_of(shown)
    assert "Waiting for its turn" in text_of(shown)
    assert 'http-equiv="refresh"' in shown.content.decode(), "without a script the page looks again as well"
    assert client.get(page, headers=HTMX).status_code == 200
    assert client.get(ROWS).context["stored"] is None
    assert work()
    assert client.get(page, headers=HTMX)["HX-Redirect"] == page
    assert client.get(page, follow=True).redirect_chain == [(ROWS, 303)]
    assert client.get(ROWS).context["stored"] is not None
    assert not work(), "nothing is left to do"


def test_what_the_form_was_refused_for_is_shown_with_its_page(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    page = client.post(SIMILAR)["Location"]
    assert work()
    shown = client.get(page, follow=True)
    assert shown.status_code == 409
    assert "At least three teams need a score" in text_of(shown)
    assert shown.redirect_chain[-1][0].startswith(f"{SIMILAR}?task=")


def test_a_file_that_a_worker_made_is_downloaded_by_who_asked_for_it(scored: Competition, ada: User) -> None:
    client, address = signed_in(ada), "/host/pets/submissions.zip"
    page = client.post(address)["Location"]
    assert work()
    assert client.get(page, headers=HTMX)["HX-Redirect"] == page
    shown = client.get(page)
    assert "Your file is ready" in text_of(shown)
    link = shown.context["download"]
    download = client.get(link)
    assert download["Content-Disposition"] == 'attachment; filename="pets-submissions.zip"'
    assert len(zipfile.ZipFile(io.BytesIO(download.getvalue())).namelist()) == 2
    for other in (signed_in(person("cleo", can_host=True)), signed_in(User.objects.get(username="bo")), Client()):
        assert other.get(link).status_code in (302, 403, 404)
    page_tasks.remove_old_tasks(timezone.now() + timedelta(days=page_tasks.STORED_DAYS + 1))
    assert not [key for key, _ in storage.list_stored() if key.startswith(page_tasks.FOLDER)]
    assert client.get(link)["Location"] == "/host/pets/submissions/"


def test_the_form_of_an_answer_can_be_sent(pets: Competition, ada: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    token = client.get(SIMILAR).context["csrf_token"]
    page = client.post(SIMILAR, {"csrfmiddlewaretoken": token})["Location"]
    assert work()
    shown = client.get(page, follow=True).content.decode()
    token = shown.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    assert client.post(SIMILAR, {"csrfmiddlewaretoken": token}).status_code == 303
    assert client.post(SIMILAR, {"csrfmiddlewaretoken": "x" * 64}).status_code == 403


def test_a_form_whose_worker_was_killed_is_answered_by_another(scored: Competition, ada: User) -> None:
    client = signed_in(ada)
    page = find_rows(client)
    kill_the_worker()
    assert "Working on it" in text_of(client.get(page))
    assert work()
    assert client.get(page)["Location"] == ROWS


def test_a_form_that_kills_its_workers_fails_with_a_sentence(scored: Competition, ada: User) -> None:
    client = signed_in(ada)
    page = find_rows(client)
    for _ in range(page_tasks.MAX_TRIES):
        kill_the_worker()
    assert not work()
    tasks.sweep()
    shown = text_of(client.get(page))
    assert "This failed several times, through no fault of yours" in shown
    assert client.get(page, headers=HTMX)["HX-Redirect"] == page
    find_rows(client)
    assert work(), "the next one has its turn"


def test_an_answer_that_comes_after_its_lease_was_lost_is_thrown_away(
    scored: Competition, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_rows(signed_in(ada))
    call = page_tasks._call_view

    def slow(request: page_tasks.StoredForm) -> HttpResponseBase:
        monkeypatch.setattr(page_tasks, "_call_view", call)
        PageTask.objects.update(lease_until=Now() - timedelta(seconds=1))
        assert page_tasks.claim_next_task("another") is not None
        return call(request)

    monkeypatch.setattr(page_tasks, "_call_view", slow)
    assert work()
    held = PageTask.objects.get()
    assert (held.status, held.claim) == ("running", claim_key("another"))


def test_the_sweep_wakes_a_worker_for_a_form_whose_message_was_lost(
    scored: Competition, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_rows(signed_in(ada))
    woken: list[object] = []

    def wake_workers(task: object, *_: object, **__: object) -> bool:
        woken.append(task)
        return True

    monkeypatch.setattr(wake_ups, "wake_workers", wake_workers)
    tasks.sweep()
    assert woken.count(wake_ups.ANSWER_PAGE) == 1
    assert app.amqp.router.route({}, tasks.answer_page.name)["queue"].name == PAGES_QUEUE


def test_a_second_form_of_ada_waits_and_a_third_is_refused(scored: Competition, ada: User) -> None:
    client = signed_in(ada)
    first = find_rows(client)
    second = client.post(SIMILAR)["Location"]
    assert page_tasks.claim_next_task("first") is not None
    assert "This starts as soon as your other request is done" in text_of(client.get(second))
    assert page_tasks.claim_next_task("second") is None, "one at work at a time"
    third = client.post(ROWS, {"action": "correct"}, follow=True)
    assert third.redirect_chain == [(first, 303)]
    assert "It wasn't saved" in text_of(third)
    assert PageTask.objects.count() == 2


def test_the_same_form_sent_twice_is_answered_once(scored: Competition, ada: User) -> None:
    client = signed_in(ada)
    assert find_rows(client) == find_rows(client)
    assert work()
    assert not work()


def test_bo_waits_for_no_more_than_one_form_of_ada(scored: Competition, ada: User) -> None:
    hal = person("hal", can_host=True)
    make_competition(hal, slug="birds")
    find_rows(signed_in(ada))
    signed_in(ada).post(SIMILAR)
    others = find_rows(signed_in(hal), "/host/birds/rows/")
    work()
    work()
    assert signed_in(hal).get(others).status_code == 302, "it was done before the second one of Ada"
    assert PageTask.objects.get(status="waiting").user == ada


def test_nobody_else_sees_the_page_or_its_answer(scored: Competition, ada: User, bo: User, dee: User) -> None:
    hal = person("hal", can_host=True)
    scored.hosts.add(hal)
    page = signed_in(ada).post(SIMILAR)["Location"]
    for other in (bo, dee, hal):
        assert signed_in(other).get(page).status_code == 404
    assert Client().get(page).status_code == 302
    assert work()
    answer = signed_in(ada).get(page)["Location"]
    assert "At least three teams" in text_of(signed_in(ada).get(answer))
    assert "At least three teams" not in text_of(signed_in(hal).get(answer))
    assert signed_in(dee).get(answer).status_code == 404


def test_ada_who_hosts_no_more_gets_no_answer(scored: Competition, ada: User) -> None:
    hal = person("hal", can_host=True)
    scored.hosts.add(hal)
    client = signed_in(ada)
    page = find_rows(client)
    scored.hosts.remove(ada)
    assert work()
    assert client.get(page, follow=True).status_code == 404
    assert signed_in(hal).get(ROWS).context["stored"] is None


def test_files_of_a_form_are_kept_until_it_is_answered_and_no_longer(scored: Competition, ada: User) -> None:
    client = signed_in(ada)
    client.post(ROWS, {"action": "find", "file": upload()})
    assert [key.partition("/")[0] for key, _ in storage.list_stored()].count("page-tasks") == 1
    client.post(ROWS, {"action": "find", "file": upload()})
    assert [key.partition("/")[0] for key, _ in storage.list_stored()].count("page-tasks") == 1
    assert work()
    assert "page-tasks" not in [key.partition("/")[0] for key, _ in storage.list_stored()]


def test_forms_go_after_some_days_and_with_their_account(scored: Competition, dee: User, ada: User) -> None:
    page = find_rows(signed_in(ada))
    page_tasks.remove_old_tasks(timezone.now())
    assert signed_in(ada).get(page).status_code == 200
    page_tasks.remove_old_tasks(timezone.now() + timedelta(days=page_tasks.STORED_DAYS, seconds=5))
    assert signed_in(ada).get(page).status_code == 404
    make_competition(dee, slug="birds")
    signed_in(dee).post("/host/birds/rows/", {"action": "find", "file": upload()})
    with zipfile.ZipFile(io.BytesIO(), "w") as exported:
        export_account(exported, account=dee, at=timezone.now())
        assert "/host/birds/rows/" in exported.read("forms.json").decode()
    Competition.objects.get(slug="birds").hosts.add(ada)
    delete_account(account=dee, user=dee)
    assert not PageTask.objects.exists()
    assert "page-tasks" not in [key.partition("/")[0] for key, _ in storage.list_stored()]


@pytest.mark.attack("files that take long to convert, so that hosts and others wait")
def test_however_many_students_convert_their_files_ada_finds_a_thread(
    scored: Competition, ada: User, bo: User, cy: User
) -> None:
    enter(scored, cy)
    for user in (bo, cy):
        made = submit(scored, user, answers().replace(b",", b";"))
        assert signed_in(user).post(f"/c/pets/submissions/{made.pk}/convert/").status_code == 303
    find_rows(signed_in(ada))
    claimed = [page_tasks.claim_next_task(name) for name in ("first", "second", "third")]
    assert [task and task.user for task in claimed] == [bo, ada, None]


def test_a_message_is_shown_once_though_two_looks_saw_the_end(scored: Competition, ada: User) -> None:
    client = signed_in(ada)
    page = find_rows(client)
    assert work()
    PageTask.objects.update(answer={**PageTask.objects.get().answer, "messages": [[20, "Three rows are hard.", ""]]})
    for _ in range(2):
        assert client.get(page)["Location"] == ROWS
    assert text_of(client.get(ROWS)).count("Three rows are hard.") == 1
