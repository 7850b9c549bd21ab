"""Everybody reads pages in their own language, where the site has it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.core import mail
from django.test import Client, override_settings
from django.utils import timezone, translation

from leaderboard.accounts.models import User
from leaderboard.common import outbox
from leaderboard.common.viewer import languages_in
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Submission
from leaderboard.notifications import events
from leaderboard.notifications.kinds import NoticeKind, NoticeText
from leaderboard.notifications.models import Notice
from leaderboard.notifications.services import notify_people
from leaderboard.submissions import claims
from tests.common.languages import CODE
from tests.conftest import answers, enter, make_competition, submit
from tests.pages import signed_in

FOREIGN = {"Accept-Language": f"{CODE}, en;q=0.5"}


def choose_language(user: User, language: str) -> None:
    User.objects.filter(pk=user.pk).update(language=language)


def test_a_site_with_english_alone_asks_nobody(bo: User) -> None:
    page = signed_in(bo).get("/account/preferences/", headers=FOREIGN)
    assert "language" not in page.context["form"].fields
    assert '<html lang="en"' in page.content.decode()
    assert "Accept-Language" not in page.headers["Vary"]


def test_a_folder_with_compiled_words_is_a_language_and_one_without_is_none(tmp_path: Path) -> None:
    for name in ("de", "pt_BR", "xx"):
        (tmp_path / name / "LC_MESSAGES").mkdir(parents=True)
    for name in ("pt_BR", "xx"):
        (tmp_path / name / "LC_MESSAGES" / "django.mo").touch()
    found = languages_in([tmp_path, tmp_path / "nowhere"])
    assert found == [("en", "English"), ("pt-br", "Português Brasileiro"), ("xx", "xx")]


@pytest.mark.usefixtures("two_languages", "db")
def test_a_stranger_reads_what_their_browser_asks_for() -> None:
    page = Client().get("/", headers=FOREIGN)
    assert f'<html lang="{CODE}"' in page.content.decode()
    assert "⟦Competitions⟧" in page.content.decode()
    assert "Accept-Language" in page.headers["Vary"]
    assert '<html lang="en"' in Client().get("/", headers={"Accept-Language": "tlh"}).content.decode()


@pytest.mark.usefixtures("two_languages")
def test_what_bo_chose_comes_before_what_the_browser_asks_for(bo: User) -> None:
    client = signed_in(bo)
    fields = client.get("/account/preferences/").context["form"].fields.items()
    choices = {name: field.initial for name, field in fields}
    client.post("/account/preferences/", {**choices, "language": "en"})
    assert '<html lang="en"' in client.get("/", headers=FOREIGN).content.decode()
    client.post("/account/preferences/", {**choices, "language": CODE})
    assert f'<html lang="{CODE}"' in client.get("/").content.decode()
    assert client.post("/account/preferences/", {**choices, "language": "tlh"}).status_code == 422


@pytest.mark.usefixtures("two_languages")
def test_a_language_that_left_the_site_is_no_choice(bo: User) -> None:
    choose_language(bo, CODE)
    with override_settings(LANGUAGES=[("en", "English"), ("de", "Deutsch")]):
        page = signed_in(bo).get("/account/preferences/")
    assert '<html lang="en"' in page.content.decode()
    assert page.context["form"].fields["language"].initial == ""


@pytest.mark.usefixtures("two_languages")
def test_a_board_that_is_kept_is_kept_for_each_language(ada: User, bo: User) -> None:
    competition = make_competition(ada, is_listed=True)
    enter(competition, bo)
    submit(competition, bo, answers())
    path = "/c/pets/leaderboard/"
    english = Client().get(path)
    foreign = Client().get(path, headers={**FOREIGN, "If-None-Match": english.headers["ETag"]})
    assert '<html lang="en"' in english.content.decode()
    assert "⟦" not in english.content.decode()
    assert f'<html lang="{CODE}"' in foreign.content.decode()
    assert "⟦" not in Client().get(path).content.decode()


@pytest.mark.usefixtures("two_languages")
def test_programs_read_english(ada: User, bo: User) -> None:
    choose_language(bo, CODE)
    client = signed_in(bo)
    for path in ("/api/v1/competitions/none", "/api/v1/openapi.json", "/healthz"):
        answer = client.get(path, headers=FOREIGN)
        assert "⟦" not in answer.content.decode()
        assert "Content-Language" not in answer.headers


@pytest.mark.usefixtures("two_languages")
def test_an_email_is_in_the_language_of_who_gets_it(ada: User, bo: User, cy: User) -> None:
    choose_language(bo, CODE)
    with override_settings(ACCOUNT_EMAIL_VERIFICATION="mandatory"):
        notify_people(NoticeText(NoticeKind.ROLE, "A word", "", "/"), [bo, cy], competition=None)
        outbox.send_due_emails()
    bodies = {message.to[0]: str(message.body) for message in mail.outbox}
    assert "⟦Notification settings" in bodies["bo@example.org"]
    assert "⟦" not in bodies["cy@example.org"]


@pytest.mark.usefixtures("two_languages")
def test_a_notice_is_in_the_language_of_who_gets_it_whoever_writes_it(ada: User, bo: User, cy: User) -> None:
    competition = make_competition(ada)
    for user in (bo, cy):
        enter(competition, user)
    choose_language(bo, CODE)
    with translation.override(CODE):
        competitions.pause_competition(competition=competition, user=ada, reason="The seminar room burns.")
    competitions.resume_competition(competition=competition, user=ada)
    said_to_user = {
        user: [(notice.title, notice.text) for notice in Notice.objects.filter(user=user).order_by("pk")]
        for user in (bo, cy)
    }
    assert [title for title, _text in said_to_user[bo]] == [
        "⟦The competition is paused⟧",
        "⟦The competition has resumed⟧",
    ]
    assert [title for title, _text in said_to_user[cy]] == [
        "The competition is paused",
        "The competition has resumed",
    ]
    assert all(text.startswith("⟦") for _title, text in said_to_user[bo])
    assert "⟦" not in str(said_to_user[cy])
    assert "The seminar room burns." in said_to_user[bo][0][1]


@pytest.mark.usefixtures("two_languages")
def test_a_reminder_is_in_the_language_of_each_member_of_a_team(ada: User, bo: User, cy: User) -> None:
    at = timezone.now()
    competition = make_competition(ada, opens_at=at - timedelta(days=9), closes_at=at + timedelta(hours=20))
    team = enter(competition, bo).team
    enter(competition, cy)
    cy.memberships.update(team=team)
    choose_language(cy, CODE)
    assert events.notify_due(at) == 2
    notices = {notice.user: notice for notice in Notice.objects.select_related("user")}
    assert notices[bo].title == "The deadline is near"
    assert notices[bo].text.endswith("Your team has no valid submission yet.")
    assert notices[cy].title == "⟦The deadline is near⟧"
    assert notices[cy].text.endswith("⟧⟧")


@pytest.mark.usefixtures("two_languages")
@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (claims.OUR_FAULT, f"⟦{claims.OUR_FAULT}⟧"),
        (claims.TOO_LONG % {"seconds": "2.5"}, f"⟦{claims.TOO_LONG % {'seconds': '2.5'}}⟧"),
    ],
)
def test_why_a_file_failed_is_stored_in_english_and_read_in_each_language(stored: str, shown: str) -> None:
    submission = Submission(failure=stored)
    assert submission.failure_text == stored
    with translation.override(CODE):
        assert submission.failure_text == shown
    assert Submission().failure_text == ""


def test_the_pages_of_second_factors_speak_the_language_that_their_library_knows_in_our_frame(bo: User) -> None:
    with override_settings(LANGUAGES=[("en", "English"), ("de", "Deutsch")]):
        page = signed_in(bo).get("/accounts/2fa/", headers={"Accept-Language": "de"}).content.decode()
    assert '<html lang="de"' in page
    assert '<h1 class="page-title">' in page
    assert "Zwei-Faktor-Authentifizierung" in page
    assert '<header class="site-header">' in page
