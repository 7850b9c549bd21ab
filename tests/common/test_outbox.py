"""No request waits for the mail server: an e-mail is a row, and a task sends it."""

from __future__ import annotations

import io
import json
import smtplib
import time
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import LazySettings
from django.core import mail
from django.db import transaction
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.accounts.personal_data import delete_account, export_account
from leaderboard.celery import PAGES_QUEUE, app
from leaderboard.common import outbox
from leaderboard.common.models import OutgoingEmail
from leaderboard.competitions import tasks, wake_ups
from leaderboard.notifications.kinds import NoticeKind, NoticeText
from leaderboard.notifications.services import notify_people
from leaderboard.notifications.tasks import send_due_emails
from tests.mail_servers import silent_server, taking_server

RESET = "/accounts/password/reset/"


@pytest.fixture
def site(db: None, settings: LazySettings) -> LazySettings:
    """A site with a mail server, as `EMAIL_URL` makes one."""
    settings.EMAIL_BACKEND = "leaderboard.common.outbox.OutboxBackend"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.SITE_URL = "https://class.example"
    return settings


def use_smtp(settings: LazySettings, port: int) -> None:
    settings.EMAIL_SERVER_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", port, 10


def write(to: str = "bo@example.org", subject: str = "Hello") -> None:
    mail.EmailMessage(subject, "Text.", None, [to]).send()


def make_due() -> None:
    OutgoingEmail.objects.update(due_at=timezone.now() - timedelta(hours=1), refused_all_at=None)


def test_a_reset_is_answered_while_the_mail_server_says_nothing_and_sent_once_there_is_one(
    site: LazySettings, bo: User, client: Client
) -> None:
    with silent_server() as port:
        use_smtp(site, port)
        site.EMAIL_TIMEOUT = 60
        begun = time.monotonic()
        for number in range(12):
            User.objects.create_user(f"u{number}", f"u{number}@example.org")
            page = client.post(RESET, {"email": f"u{number}@example.org"}, follow=True)
            assert page.status_code == 200
        assert time.monotonic() - begun < 60, "no request waits for the server"
        site.EMAIL_TIMEOUT = 0.1
        assert [outbox.send_due_emails() for _ in range(12)] == [False] * 12
        assert sum(OutgoingEmail.objects.values_list("tries", flat=True)) == 1, "the others wait without a try"
    with taking_server() as server:
        use_smtp(site, server.port)
        make_due()
        while outbox.send_due_emails():
            pass
        assert len(server.received) == 12
        assert "https://class.example/accounts/password/reset/key/" in server.received[0]
    assert not OutgoingEmail.objects.exists(), "no link is kept longer than needed"


def test_an_email_of_a_request_that_fails_is_not_sent(site: LazySettings) -> None:
    with transaction.atomic():
        write()
        transaction.set_rollback(True)
    assert not OutgoingEmail.objects.exists()


def test_an_email_wakes_a_sender_after_its_commit(
    site: LazySettings, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    woken: list[str] = []
    monkeypatch.setattr(wake_ups, "wake_workers", lambda task, *_, **__: woken.append(task))
    with django_capture_on_commit_callbacks(execute=True):
        write()
        assert woken == []
    assert woken == ["leaderboard.notifications.tasks.send_due_emails"]


def test_the_sweep_finds_an_email_whose_wake_up_was_lost(site: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[str] = []

    def wake_workers(task: Any, *_: object, **__: object) -> bool:
        woken.append(task)
        return True

    write()
    monkeypatch.setattr(wake_ups, "wake_workers", wake_workers)
    tasks.sweep()
    assert woken == ["leaderboard.notifications.tasks.send_due_emails"]
    send_due_emails.apply(throw=True)
    assert [one.subject for one in mail.outbox] == ["Hello"]


def test_an_email_does_not_wait_for_a_clock_that_was_set_back(site: LazySettings) -> None:
    """The server refused everything while the clock was a year ahead."""
    write()
    ahead = timezone.now() + timedelta(days=365)
    OutgoingEmail.objects.update(due_at=ahead + outbox.MAX_PAUSE, refused_all_at=ahead)
    assert outbox.is_email_due()
    outbox.send_due_emails()
    assert [one.subject for one in mail.outbox] == ["Hello"]


def test_a_person_who_waits_is_served_before_notices(site: LazySettings, bo: User, cy: User, client: Client) -> None:
    notify_people(NoticeText(NoticeKind.DEADLINE, "The deadline moved", "", "/"), [bo, cy], competition=None)
    client.post(RESET, {"email": "bo@example.org"})
    outbox.send_due_emails()
    assert len(mail.outbox) == 3
    assert "password" in mail.outbox[0].body.lower()


def test_no_file_waits_for_the_mail_server_and_no_email_for_the_forms_of_a_class() -> None:
    routes = [app.amqp.router.route({}, task.name) for task in (send_due_emails, tasks.answer_page)]
    assert [route["queue"].name for route in routes] == [PAGES_QUEUE, PAGES_QUEUE]
    assert routes[0]["priority"] < routes[1]["priority"], "the lower number is taken first"


def test_while_one_sends_another_wake_up_ends_at_once(site: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = []

    def turn() -> bool:
        turns.append(1)
        send_due_emails.apply(throw=True)
        return False

    monkeypatch.setattr(outbox, "send_due_emails", turn)
    send_due_emails.apply(throw=True)
    assert turns == [1]
    send_due_emails.apply(throw=True)
    assert turns == [1, 1]


def test_each_try_has_the_same_message_id_and_waits_longer(site: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def refuse(self: mail.EmailMessage, fail_silently: bool = False) -> int:
        tried.append(self.extra_headers["Message-ID"])
        raise smtplib.SMTPRecipientsRefused({"bo@example.org": (450, b"later")})

    write()
    monkeypatch.setattr(mail.EmailMessage, "send", refuse)
    pauses = []
    for _ in range(4):
        make_due()
        outbox.send_due_emails()
        pauses.append(OutgoingEmail.objects.get().due_at - timezone.now())
    assert len(tried) == 4
    assert len(set(tried)) == 1
    assert "@class.example>" in tried[0]
    assert pauses == sorted(pauses)
    assert outbox.waiting_emails()["error"] == "SMTPRecipientsRefused"
    for _ in range(20):
        make_due()
        outbox.send_due_emails()
    assert len(tried) == outbox.MAX_TRIES
    assert not OutgoingEmail.objects.exists()


def test_an_address_that_the_server_never_takes_is_tried_once_and_holds_up_nobody(
    site: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tried = mail.EmailMessage.send, []

    def picky(self: mail.EmailMessage, fail_silently: bool = False) -> int:
        tried.append(self.to[0])
        if self.to == ["bo@example.org"]:
            raise smtplib.SMTPRecipientsRefused({"bo@example.org": (550, b"no such user")})
        return real(self)

    write("bo@example.org")
    write("cy@example.org")
    monkeypatch.setattr(mail.EmailMessage, "send", picky)
    for _ in range(3):
        make_due()
        outbox.send_due_emails()
    assert tried == ["bo@example.org", "cy@example.org"]
    assert not OutgoingEmail.objects.exists()


def test_an_email_in_the_hands_of_one_process_is_left_alone_by_another(
    site: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = mail.EmailMessage.send

    def meanwhile(self: mail.EmailMessage, fail_silently: bool = False) -> int:
        outbox.send_due_emails()
        return real(self)

    write()
    monkeypatch.setattr(mail.EmailMessage, "send", meanwhile)
    outbox.send_due_emails()
    assert len(mail.outbox) == 1


def test_one_whose_lease_ran_out_leaves_the_row_to_the_other(
    site: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(self: mail.EmailMessage, fail_silently: bool = False) -> int:
        make_due()
        assert outbox._claim_next() is not None
        return 1

    write()
    monkeypatch.setattr(mail.EmailMessage, "send", late)
    monkeypatch.setattr(outbox, "TURN_SECONDS", 0)
    outbox.send_due_emails()
    assert OutgoingEmail.objects.get().tries == 2


def test_headers_and_addresses_arrive_as_they_were_written(site: LazySettings) -> None:
    mail.EmailMessage(
        "Ünï",
        "Täxt\n\nTwo.",
        "site@example.org",
        ["bo@example.org"],
        cc=["cy@example.org"],
        bcc=["dee@example.org"],
        reply_to=["ada@example.org"],
        headers={"Auto-Submitted": "auto-generated"},
    ).send()
    outbox.send_due_emails()
    (email,) = mail.outbox
    assert (email.subject, email.body, email.from_email) == ("Ünï", "Täxt\n\nTwo.", "site@example.org")
    assert email.recipients() == ["bo@example.org", "cy@example.org", "dee@example.org"]
    assert email.reply_to == ["ada@example.org"]
    assert email.extra_headers["Auto-Submitted"] == "auto-generated"


def test_an_email_with_a_file_is_refused_at_once(site: LazySettings) -> None:
    message = mail.EmailMessage("Hello", "Text.", None, ["bo@example.org"])
    message.attach("a.txt", "text")
    with pytest.raises(ValueError, match="plain text"):
        message.send()


def test_an_account_takes_its_waiting_emails_along_and_to_the_end(site: LazySettings, bo: User, client: Client) -> None:
    EmailAddress.objects.create(user=bo, email="Bo@Example.org", verified=True, primary=True)
    client.post(RESET, {"email": "bo@example.org"})
    write("cy@example.org")
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        export_account(archive, account=bo, at=timezone.now())
        waiting = json.loads(archive.read("emails_not_sent_yet.json"))
    assert [one["recipients"] for one in waiting] == ["bo@example.org"]
    assert "key" not in str(waiting), "a link is for who reads the address"
    delete_account(account=bo, user=bo)
    assert [one.recipients for one in OutgoingEmail.objects.all()] == ["cy@example.org"]
