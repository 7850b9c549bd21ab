"""Ada invites her class by mail: each person gets a link of their own, and she reads what became of every e-mail."""

from __future__ import annotations

import re
import smtplib
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import invitations, people, roles
from leaderboard.classroom.models import HostingRole, RosterEntry
from leaderboard.common import outbox
from leaderboard.common.models import AuditEntry, AuditEvent, OutgoingEmail
from leaderboard.competitions.models import Competition, Membership
from tests.classroom.test_roster import read
from tests.common.languages import CODE, second_language
from tests.conftest import close
from tests.pages import signed_in, text_of

COURSE_SIZES = (1, 3)

INVITE, PEOPLE = "/host/pets/people/invite/", "/host/pets/people/"
ALL = {"all": "yes"}
LINK = re.compile(r"https://class\.example/slip/([A-Z2-9]+)/")


@pytest.fixture
def hers(ada: User, pets: Competition) -> Client:
    """Ada, with Bo, Cy and somebody without an address on the roster."""
    client = signed_in(ada)
    read(client, "Name,Email\nBo Berg,bo@example.org\nCy Clay,cy@example.org\nEve Moss,\n")
    return client


def entry(name: str) -> RosterEntry:
    return RosterEntry.objects.get(name=name)


def codes(post: list[mail.EmailMessage]) -> list[str]:
    return [code for email in post for code in LINK.findall(str(email.body))]


def soon() -> None:
    """The time of the next try."""
    OutgoingEmail.objects.update(due_at=timezone.now() - timedelta(hours=1), refused_all_at=None)


def test_everybody_not_invited_yet_gets_an_email_with_their_own_link(
    hers: Client, post: list[mail.EmailMessage]
) -> None:
    page = text_of(hers.get(INVITE))
    assert "2 people" in page
    assert "1 person has no e-mail address" in page
    hers.post(INVITE, ALL)
    assert {entry(name).state for name in ("Bo Berg", "Cy Clay")} == {RosterEntry.State.SENDING}
    assert outbox.is_email_due()
    outbox.send_due_emails()
    assert sorted(email.to[0] for email in post) == ["bo@example.org", "cy@example.org"]
    assert len(set(codes(post))) == 2
    assert all(len(LINK.findall(str(email.body))) == 1 for email in post)
    assert entry("Bo Berg").state == RosterEntry.State.INVITED
    assert entry("Eve Moss").state == RosterEntry.State.NEW
    assert not outbox.is_email_due()
    assert "There are no first invitations left to send" in text_of(hers.get(INVITE))


def test_an_invitation_is_signed_by_the_host_who_asked_for_it(
    hers: Client, ada: User, post: list[mail.EmailMessage]
) -> None:
    User.objects.filter(pk=ada.pk).update(first_name="Ada", last_name="Lovelace")
    Competition.objects.update(contact="help@class.example")
    assert "Ada Lovelace" in text_of(hers.get(INVITE))
    hers.post(INVITE, ALL)
    outbox.send_due_emails()
    assert len(post) == 2
    for email in post:
        assert "Ada Lovelace\n\n-- " in str(email.body)
        assert email.reply_to == ["help@class.example"]
        assert ada.email not in str(email.message())
    for person in RosterEntry.objects.exclude(email=""):
        hers.post(INVITE, {"entry": person.pk})
    RosterEntry.objects.update(mail_requested_by=None)
    outbox.send_due_emails()
    assert len(post) == 4
    assert "Ada" not in str(post[-1].body), "an account that is gone signs nothing"


def test_without_a_tick_ada_is_shown_first_how_many_letters_there_would_be(
    hers: Client, post: list[mail.EmailMessage]
) -> None:
    assert "Send 2 e-mails" in text_of(hers.post(INVITE))
    assert not outbox.is_email_due()


def test_the_link_of_an_email_lets_exactly_its_person_in(
    hers: Client, post: list[mail.EmailMessage], bo: User, dee: User, pets: Competition
) -> None:
    hers.post(INVITE, {"entry": entry("Bo Berg").pk})
    outbox.send_due_emails()
    (code,) = codes(post)
    signed_in(bo).post(f"/slip/{code}/", {"accepted": "on"})
    assert entry("Bo Berg").user == bo
    assert signed_in(dee).post(f"/slip/{code}/", {"accepted": "on"}).status_code == 404
    assert list(Membership.objects.values_list("user", flat=True)) == [bo.pk]


def test_an_email_sent_again_ends_the_link_before(hers: Client, post: list[mail.EmailMessage], bo: User) -> None:
    for _ in range(2):
        hers.post(INVITE, {"entry": entry("Bo Berg").pk})
        outbox.send_due_emails()
    old, new = codes(post)
    assert signed_in(bo).get(f"/slip/{old}/").status_code == 404
    assert signed_in(bo).get(f"/slip/{new}/").status_code == 200


def test_no_link_is_kept_that_could_be_read_and_the_audit_log_says_who_was_invited(
    hers: Client, post: list[mail.EmailMessage], ada: User
) -> None:
    hers.post(INVITE, ALL)
    outbox.send_due_emails()
    rows = [*RosterEntry.objects.values(), *AuditEntry.objects.values(), *OutgoingEmail.objects.values()]
    stored = str(rows)
    assert not [code for code in codes(post) if code in stored]
    event = AuditEntry.objects.get(event=AuditEvent.INVITED.value)
    assert event.by == ada.pk
    assert dict((name, after) for name, _, after in event.changes)["emails"] == 2


def test_a_server_that_is_away_gets_the_emails_later_and_the_last_link_works(
    hers: Client, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch, bo: User
) -> None:
    hers.post(INVITE, ALL)
    asked = []

    def refused(self: object, fail_silently: bool = False) -> int:
        asked.append(1)
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr(mail.EmailMessage, "send", refused)
        outbox.send_due_emails()
        outbox.send_due_emails()
    assert len(asked) == 1  # the others wait too, without a try
    assert "Sending" in text_of(hers.get(PEOPLE))
    soon()
    outbox.send_due_emails()
    assert len(post) == 2
    assert "tried again" not in text_of(hers.get(PEOPLE))
    mine = next(email for email in post if email.to == ["bo@example.org"])
    assert signed_in(bo).get(f"/slip/{codes([mine])[0]}/").status_code == 200


def test_an_address_that_nobody_has_is_told_to_ada_and_holds_up_nobody(
    hers: Client, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = mail.EmailMessage.send

    def picky(self: mail.EmailMessage, fail_silently: bool = False) -> int:
        if self.to == ["bo@example.org"]:
            raise smtplib.SMTPRecipientsRefused({"bo@example.org": (550, b"no such user")})
        return real(self)

    hers.post(INVITE, ALL)
    with monkeypatch.context() as patch:
        patch.setattr(mail.EmailMessage, "send", picky)
        outbox.send_due_emails()
    assert [email.to for email in post] == [["cy@example.org"]]
    assert entry("Bo Berg").state == RosterEntry.State.FAILED
    assert "The mail server rejected this address" in text_of(hers.get(PEOPLE + "?state=failed"))
    soon()
    outbox.send_due_emails()
    assert len(post) == 1
    hers.post(INVITE, {"entry": entry("Bo Berg").pk})
    outbox.send_due_emails()
    assert entry("Bo Berg").state == RosterEntry.State.INVITED


def test_a_server_that_never_answers_is_given_up_one_day(
    hers: Client, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: object, fail_silently: bool = False) -> int:
        raise ConnectionRefusedError

    hers.post(INVITE, {"entry": entry("Bo Berg").pk})
    monkeypatch.setattr(mail.EmailMessage, "send", refused)
    for _ in range(13):
        soon()
        outbox.send_due_emails()
    assert entry("Bo Berg").state == RosterEntry.State.FAILED
    assert not outbox.is_email_due()


def test_two_workers_send_one_email(
    hers: Client, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = mail.EmailMessage.send

    def meanwhile(self: mail.EmailMessage, fail_silently: bool = False) -> int:
        outbox.send_due_emails()
        return real(self)

    hers.post(INVITE, {"entry": entry("Bo Berg").pk})
    monkeypatch.setattr(mail.EmailMessage, "send", meanwhile)
    outbox.send_due_emails()
    assert len(post) == 1


def test_who_left_joined_or_got_a_join_card_meanwhile_gets_no_email(
    hers: Client, post: list[mail.EmailMessage], pets: Competition, ada: User
) -> None:
    hers.post(INVITE, ALL)
    people.mark_left(competition=pets, entries=[entry("Bo Berg").pk], user=ada)
    people.make_join_cards(competition=pets, entries=[entry("Cy Clay").pk], user=ada)
    outbox.send_due_emails()
    assert post == []
    assert entry("Bo Berg").state == RosterEntry.State.LEFT
    assert entry("Cy Clay").state == RosterEntry.State.INVITED


def test_after_the_deadline_a_waiting_email_is_not_sent_and_ada_reads_why(
    hers: Client, post: list[mail.EmailMessage], pets: Competition
) -> None:
    hers.post(INVITE, ALL)
    close(pets)
    outbox.send_due_emails()
    assert post == []
    assert "The deadline passed before the e-mail was sent." in text_of(hers.get(PEOPLE))
    assert "The deadline has passed, so students" in text_of(hers.get(INVITE))


def test_an_email_is_in_the_language_of_the_host_who_asked_for_it(
    hers: Client, post: list[mail.EmailMessage], ada: User
) -> None:
    with second_language():
        User.objects.filter(pk=ada.pk).update(language=CODE)
        assert "⟦Invitation: Cats or dogs⟧" in hers.get(INVITE).content.decode()
        hers.post(INVITE, ALL)
        # What she chooses later is not asked about any more.
        User.objects.filter(pk=ada.pk).update(language="en")
        outbox.send_due_emails()
    assert {email.subject for email in post} == {"⟦Invitation: Cats or dogs⟧"}
    assert all("⟦" in str(email.body) for email in post)


def test_an_email_whose_language_left_the_site_is_in_that_of_the_site(
    hers: Client, post: list[mail.EmailMessage], ada: User
) -> None:
    with second_language():
        User.objects.filter(pk=ada.pk).update(language=CODE)
        hers.post(INVITE, ALL)
    outbox.send_due_emails()
    assert {email.subject for email in post} == {"Invitation: Cats or dogs"}


def test_why_an_email_did_not_go_out_is_read_in_the_language_of_the_host(
    hers: Client, post: list[mail.EmailMessage], pets: Competition, ada: User
) -> None:
    hers.post(INVITE, ALL)
    close(pets)
    outbox.send_due_emails()
    with second_language():
        User.objects.filter(pk=ada.pk).update(language=CODE)
        assert "⟦The deadline passed before the e-mail was sent.⟧" in hers.get(PEOPLE).content.decode()


def test_a_site_without_a_mail_server_says_so_and_offers_join_cards(hers: Client) -> None:
    page = hers.get(INVITE).content.decode()
    assert "no mail server" in page
    assert 'action="/host/pets/people/slips/"' in page
    assert "no mail server" in text_of(hers.post(INVITE, ALL, follow=True))
    assert not OutgoingEmail.objects.exists()


def test_a_draft_invites_nobody(hers: Client, post: list[mail.EmailMessage]) -> None:
    Competition.objects.update(launched_at=None)
    assert "Launch the competition first" in text_of(hers.post(INVITE, ALL, follow=True))
    assert not outbox.is_email_due()


def test_a_host_can_ask_for_so_many_emails_a_day_and_no_more(
    hers: Client, post: list[mail.EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invitations, "MAX_INVITATIONS_PER_DAY", 3)
    hers.post(INVITE, ALL)
    outbox.send_due_emails()
    both = [entry("Bo Berg").pk, entry("Cy Clay").pk]
    assert "1 more e-mails today" in text_of(hers.post(INVITE, {"entry": both}, follow=True))
    outbox.send_due_emails()
    assert len(post) == 2


def test_strangers_assistants_and_other_classes_send_nothing(
    hers: Client, post: list[mail.EmailMessage], bo: User, cy: User, pets: Competition
) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT)
    outbox.send_due_emails()  # Cy reads about the new role
    post.clear()
    assert signed_in(cy).post(INVITE, ALL).status_code == 403
    assert signed_in(bo).post(INVITE, ALL).status_code == 404
    assert not outbox.is_email_due()
    assert post == []


def test_a_title_cannot_add_lines_to_the_head_of_a_letter(
    hers: Client, post: list[mail.EmailMessage], pets: Competition
) -> None:
    Competition.objects.update(title="Cats\r\nBcc: dee@example.org")
    hers.post(INVITE, {"entry": entry("Bo Berg").pk})
    outbox.send_due_emails()
    assert post[0].subject == "Invitation: Cats Bcc: dee@example.org"
    assert post[0].recipients() == ["bo@example.org"]
