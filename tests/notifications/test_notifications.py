"""What people are notified: on their page, by mail as they choose, never twice."""

from __future__ import annotations

import re
import smtplib
import uuid
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.core import mail
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import resolve
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common import outbox
from leaderboard.common.models import OutgoingEmail
from leaderboard.competitions import tasks, wake_ups
from leaderboard.competitions.models import Competition
from leaderboard.notifications import emails, kinds, queries, services
from leaderboard.notifications.kinds import NoticeKind, NoticeText
from leaderboard.notifications.models import Notice
from tests.pages import signed_in, tidy


def tell(
    *users: User,
    kind: str = "deadline",
    title: str = "The deadline moved",
    text: str = "Now on Sunday.",
    competition: Competition | None = None,
    key: str = "",
) -> int:
    notice = NoticeText(NoticeKind(kind), "%(title)s", "%(text)s", "/c/pets/")
    return services.notify_people(notice, users, competition=competition, key=key, title=title, text=text)


def long_ago() -> datetime:
    return timezone.now() - timedelta(hours=1)


# --- on the page ------------------------------------------------------------------------------------------------


def test_bo_reads_what_is_new_first_and_the_header_counts_it(bo: User, pets: Competition) -> None:
    tell(bo, title="Old one", competition=pets)
    services.mark_read(user=bo)
    tell(bo, title="Fresh one", competition=pets)
    page = signed_in(bo).get("/notifications/").content.decode()
    assert page.index("Fresh one") < page.index("Old one")
    assert "Notifications: 1 unread" in tidy(page)
    assert "Cats or dogs" in page


def test_nobody_reads_what_cy_was_told(bo: User, cy: User) -> None:
    tell(cy, title="For Cy alone")
    (notice,) = Notice.objects.all()
    client = signed_in(bo)
    assert "For Cy alone" not in client.get("/notifications/").content.decode()
    assert client.get(f"/notifications/{notice.pk}/").status_code == 404
    client.post("/notifications/")
    notice.refresh_from_db()
    assert notice.read_at is None


def test_a_stranger_signs_in_first_and_costs_no_query(db: None) -> None:
    assert Client().get("/notifications/").status_code == 302
    with CaptureQueriesContext(connection) as queries:
        Client().get("/metrics/")
    assert not any("notice" in query["sql"] for query in queries)


def test_following_a_notice_marks_it_read_and_leads_there(bo: User) -> None:
    tell(bo), tell(bo, title="Another")
    notice = Notice.objects.get(title="Another")
    client = signed_in(bo)
    for look, unread in ((client.get, 2), (client.post, 1)):
        response = look(f"/notifications/{notice.pk}/")
        assert (response.status_code, response["Location"]) == (302, "/c/pets/")
        assert bo.notices.filter(read_at=None).count() == unread


def test_all_are_marked_read_at_once(bo: User) -> None:
    tell(bo), tell(bo, title="Another")
    client = signed_in(bo)
    assert "Mark all as read" in client.get("/notifications/").content.decode()
    page = client.post("/notifications/", follow=True).content.decode()
    assert "2 notifications marked as read." in page
    assert "Mark all as read" not in page
    assert bo.notices.filter(read_at=None).count() == 0


def test_an_empty_page_says_what_will_be_here(bo: User) -> None:
    assert "No notifications" in signed_in(bo).get("/notifications/").content.decode()


def test_a_long_history_has_pages_and_few_queries(bo: User, pets: Competition) -> None:
    for number in range(60):
        tell(bo, title=f"Notice {number}", competition=pets)
    client = signed_in(bo)
    with CaptureQueriesContext(connection) as queries:
        page = client.get("/notifications/?page=3").content.decode()
    assert len(queries) <= 8
    assert "Page 3 of 3" in page
    assert page.count('<h2 class="break"') == 10


def test_texts_of_others_are_text(bo: User) -> None:
    tell(bo, title="<script>x</script>", text="<b>bold</b>\n[a](javascript:alert(1))")
    tell(bo, kind="announcement", text="**Hello**\n\n<script>x</script>")
    page = signed_in(bo).get("/notifications/").content.decode()
    assert "<script>x" not in page
    assert "<b>bold" not in page
    assert "<strong>Hello</strong>" in page


@pytest.mark.parametrize("notice", [row for row in vars(kinds).values() if isinstance(row, NoticeText)])
def test_every_notice_leads_to_a_page_of_the_site(notice: NoticeText) -> None:
    facts = {"slug": "pets", "announcement_id": 1, "page": "finals", "submission_id": uuid.uuid4()}
    facts |= {"course_slug": "stat-451"}
    path = str(notice.link % facts)
    assert path.startswith("/")
    assert not path.startswith("//")
    resolve(urlsplit(path).path)


# --- telling ----------------------------------------------------------------------------------------------------


def test_what_is_taken_back_was_never_told(bo: User) -> None:
    with transaction.atomic():
        tell(bo)
        transaction.set_rollback(True)
    assert bo.notices.filter(read_at=None).count() == 0


def test_a_fault_in_telling_undoes_nothing(bo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(Notice.objects, "bulk_create", broken)
    with transaction.atomic():
        bo.first_name = "Bo"
        bo.save()
        assert tell(bo) == 0
    bo.refresh_from_db()
    assert bo.first_name == "Bo"


def test_with_a_key_each_is_told_once(bo: User, cy: User) -> None:
    assert tell(bo, key="reminder:1") == 1
    assert tell(bo, cy, key="reminder:1") == 1
    assert tell(bo, cy, key="reminder:1") == 0
    assert bo.notices.filter(read_at=None).count() == cy.notices.filter(read_at=None).count() == 1


def test_who_left_the_site_is_told_nothing(bo: User) -> None:
    bo.is_active = False
    bo.save()
    assert tell(bo) == 0


# --- e-mails ----------------------------------------------------------------------------------------------------


def test_an_email_goes_out_once(bo: User, pets: Competition, post: list[mail.EmailMessage]) -> None:
    tell(bo, competition=pets)
    for _ in range(3):
        assert outbox.send_due_emails() is False
    (email,) = post
    assert email.to == ["bo@example.org"]
    assert email.subject == "Cats or dogs: The deadline moved"
    assert "Now on Sunday." in email.body
    assert "https://class.example/c/pets/" in email.body
    assert Notice.objects.get().mailed_at is not None


def test_the_sweep_rings_for_emails_that_are_due(
    bo: User, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []

    def wake_workers(task: Any, *_: object, **__: object) -> bool:
        rung.append(task)
        return True

    monkeypatch.setattr(wake_ups, "wake_workers", wake_workers)
    tasks.sweep()
    assert rung == []
    tell(bo)
    tasks.sweep()
    assert rung == ["leaderboard.notifications.tasks.send_due_emails"]


def test_an_email_in_somebodys_hands_is_not_sent_by_another(
    bo: User, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(bo)
    real = mail.EmailMessage.send

    def meanwhile(self: mail.EmailMessage, fail_silently: bool = False) -> int:
        monkeypatch.setattr(mail.EmailMessage, "send", real)
        outbox.send_due_emails()
        return real(self)

    monkeypatch.setattr(mail.EmailMessage, "send", meanwhile)
    outbox.send_due_emails()
    assert len(post) == 1


def test_a_server_that_refuses_gets_the_email_later(
    bo: User, cy: User, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def refused(self: object, fail_silently: bool = False) -> int:
        asked.append(1)
        raise ConnectionRefusedError

    tell(bo, cy)
    with monkeypatch.context() as patch:
        patch.setattr(mail.EmailMessage, "send", refused)
        outbox.send_due_emails()
        tell(bo, title="Another")
        outbox.send_due_emails()
    assert asked == [1]  # a server that answers nobody is left alone for a while
    assert not outbox.is_email_due()
    Notice.objects.filter(title="Another").delete()
    OutgoingEmail.objects.update(due_at=long_ago(), refused_all_at=None)
    outbox.send_due_emails()
    assert sorted(email.to[0] for email in post) == ["bo@example.org", "cy@example.org"]


def test_one_wrong_address_holds_up_nobody(
    bo: User, cy: User, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = mail.EmailMessage.send

    def picky(self: mail.EmailMessage, fail_silently: bool = False) -> int:
        if self.to == ["bo@example.org"]:
            raise smtplib.SMTPRecipientsRefused({})
        return real(self)

    monkeypatch.setattr(mail.EmailMessage, "send", picky)
    tell(bo, cy)
    for _ in range(20):
        OutgoingEmail.objects.update(due_at=long_ago())
        outbox.send_due_emails()
    assert [email.to for email in post] == [["cy@example.org"]]
    assert not OutgoingEmail.objects.exists()  # given up; the page still says it
    assert bo.notices.filter(read_at=None).count() == 1


def test_an_email_after_a_death_has_the_same_name(
    bo: User, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise SystemExit

    tell(bo)
    with monkeypatch.context() as patch:
        # Before the process notes that the server took the e-mail.
        patch.setattr(outbox, "_note_outcome", die)
        with pytest.raises(SystemExit):
            outbox.send_due_emails()
    OutgoingEmail.objects.update(due_at=long_ago())
    outbox.send_due_emails()
    first, second = post
    assert first.extra_headers["Message-ID"] == second.extra_headers["Message-ID"]


def test_without_a_mail_server_nothing_waits_to_be_sent(bo: User) -> None:
    tell(bo)
    assert Notice.objects.exists()
    assert not OutgoingEmail.objects.exists()


def test_a_title_is_one_line_of_the_letter(bo: User, post: list[mail.EmailMessage]) -> None:
    tell(bo, title="Hello\r\nBcc: all@example.org")
    outbox.send_due_emails()
    assert post[0].message()["Bcc"] is None
    assert post[0].subject == "Hello Bcc: all@example.org"


# --- as people choose -------------------------------------------------------------------------------------------


def prefer(user: User, **choices: str) -> Any:
    """Press Save with the boxes that these choices stand for; all others stay."""
    kinds = queries.notice_choices_of(user).items()
    ways = {kind.value: way for kind, way in kinds if user.is_host_anywhere or not kind.is_for_hosts} | choices
    sent = {
        "on_site": [kind for kind, way in ways.items() if way != "none"],
        "by_mail": [kind for kind, way in ways.items() if way == "email"],
    }
    return signed_in(user).post("/account/preferences/", sent)


def test_bo_wants_no_emails_about_deadlines(bo: User, post: list[mail.EmailMessage]) -> None:
    assert prefer(bo, deadline="page").status_code == 303
    tell(bo)
    outbox.send_due_emails()
    assert post == []
    assert bo.notices.filter(read_at=None).count() == 1


def test_bo_wants_to_hear_nothing_of_his_team(bo: User) -> None:
    prefer(bo, team="none")
    assert tell(bo, kind="team") == 0
    assert bo.notices.filter(read_at=None).count() == 0


def test_nobody_can_be_deaf_to_what_changes_their_rights(bo: User) -> None:
    assert prefer(bo, deadline="none").status_code == 303
    assert queries.notice_choices_of(bo)[NoticeKind.DEADLINE] != "none"
    services.save_choices(user=bo, choices={NoticeKind.DEADLINE: "none"})
    assert tell(bo) == 1


def test_a_change_of_mind_holds_for_emails_that_wait(bo: User, post: list[mail.EmailMessage]) -> None:
    tell(bo)
    prefer(bo, deadline="page")
    outbox.send_due_emails()
    assert post == []


def test_without_mail_bo_is_asked_about_the_site_alone_and_keeps_his_choice_of_mail(
    bo: User, settings: LazySettings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    prefer(bo, deadline="email")
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    client = signed_in(bo)
    page = client.get("/account/preferences/").content.decode()
    assert 'name="by_mail"' not in page
    assert 'name="on_site"' in page
    shown = [kind.value for kind in NoticeKind if not kind.is_for_hosts and kind != NoticeKind.TEAM]
    client.post("/account/preferences/", {"on_site": shown})
    chosen = queries.notice_choices_of(bo)
    assert (chosen[NoticeKind.DEADLINE], chosen[NoticeKind.TEAM]) == ("email", "none")


def test_bo_mends_his_name_and_leaving_it_empty_keeps_it(bo: User) -> None:
    bo.set_password("blue heron 7")
    bo.save()
    client = signed_in(bo)
    for given, first, last in (("Bo van  Dyk", "Bo van", "Dyk"), ("", "Bo van", "Dyk"), ("Bo", "Bo", "")):
        assert client.post("/account/preferences/", {"full_name": given}).status_code == 303
        bo.refresh_from_db()
        assert (bo.first_name, bo.last_name) == (first, last)
    assert client.post("/account/preferences/", {"full_name": "B" * 121}).status_code == 422


def test_a_name_from_an_institution_is_no_choice(bo: User) -> None:
    bo.set_unusable_password()
    bo.save()
    client = signed_in(bo)
    assert 'name="full_name"' not in client.get("/account/preferences/").content.decode()
    client.post("/account/preferences/", {"full_name": "Cy"})
    bo.refresh_from_db()
    assert bo.first_name != "Cy"


def test_only_hosts_choose_about_failed_files(bo: User, ada: User) -> None:
    assert "A submission in your class can" not in signed_in(bo).get("/account/preferences/").content.decode()
    assert "A submission in your class can" in signed_in(ada).get("/account/preferences/").content.decode()


# --- no more e-mails --------------------------------------------------------------------------------------------


def unsubscribe_link(email: mail.EmailMessage) -> str:
    found = re.fullmatch(
        r"<https://class\.example(/notifications/stop/[^>]+)>", email.extra_headers["List-Unsubscribe"]
    )
    assert found
    return found.group(1)


def test_one_click_in_the_mail_program_ends_emails_of_that_kind_without_signing_in(
    bo: User, post: list[mail.EmailMessage]
) -> None:
    tell(bo)
    outbox.send_due_emails()
    assert post[0].extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    program = Client(enforce_csrf_checks=True)
    assert program.post(unsubscribe_link(post[0]), {"List-Unsubscribe": "One-Click"}).status_code == 200
    tell(bo), tell(bo, kind="extension", title="Extension granted")
    outbox.send_due_emails()
    assert [email.subject for email in post] == ["The deadline moved", "Extension granted"]
    assert bo.notices.filter(read_at=None).count() == 3


def test_a_scanner_that_follows_the_link_ends_nothing(bo: User, post: list[mail.EmailMessage]) -> None:
    tell(bo)
    outbox.send_due_emails()
    page = Client().get(unsubscribe_link(post[0])).content.decode()
    assert "Unsubscribe" in page
    assert "bo" not in re.findall(r"\w+", re.sub(r"<[^>]+>", " ", page))
    assert queries.notice_choices_of(bo)[NoticeKind.DEADLINE] == "email"


def test_a_changed_link_ends_nothing(bo: User) -> None:
    token = emails.unsubscribe_token(bo, NoticeKind.DEADLINE)
    for wrong in (token[:-1], "x" + token, "nonsense", token.replace(":", "")):
        assert Client().post(f"/notifications/stop/{wrong}/").status_code == 404
    assert queries.notice_choices_of(bo)[NoticeKind.DEADLINE] == "email"


def test_the_link_makes_nobody_hear_what_they_had_switched_off(bo: User) -> None:
    services.save_choices(user=bo, choices={NoticeKind.TEAM: "none"})
    emails.unsubscribe_kind(emails.unsubscribe_token(bo, NoticeKind.TEAM), stop=True)
    assert queries.notice_choices_of(bo)[NoticeKind.TEAM] == "none"


def test_a_subject_names_the_competition_once(bo: User, pets: Competition, post: list[mail.EmailMessage]) -> None:
    tell(bo, title="Your grade in Cats or dogs", competition=pets)
    outbox.send_due_emails()
    assert post[0].subject == "Your grade in Cats or dogs"


def test_a_link_that_a_host_wrote_leads_to_the_site_from_an_email_too(
    bo: User, pets: Competition, post: list[mail.EmailMessage]
) -> None:
    tell(bo, kind="announcement", text="See [the data](/c/pets/data/).", competition=pets)
    outbox.send_due_emails()
    assert "[the data](https://class.example/c/pets/data/)" in post[0].body
