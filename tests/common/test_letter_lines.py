"""E-mails are read in programs that break no lines, and a link that is broken leads nowhere."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.classroom import invitations
from leaderboard.classroom.models import RosterEntry
from leaderboard.common import outbox
from leaderboard.competitions.models import Competition
from leaderboard.notifications.kinds import NoticeKind, NoticeText
from leaderboard.notifications.services import notify_people

LINK = "https://class.example/" + "x" * 90
FIRST = "A deadline is a deadline, and whoever reads this in a terminal of eighty"
REST = "columns wants to read all of it."
LONG = f"{FIRST} {REST}"


def check(text: str) -> None:
    for line in text.split("\n"):
        assert len(line) <= 72 or " " not in line.strip(), line


def test_every_email_of_the_site_has_short_lines(
    pets: Competition, ada: User, bo: User, post: list[mail.EmailMessage]
) -> None:
    EmailAddress.objects.create(user=bo, email=bo.email, verified=True, primary=True)
    Competition.objects.update(title="Cats or dogs, and what else there is in a house with a garden and a pond")
    notify_people(NoticeText(NoticeKind.ROLE, "A word", f"{LONG} See {LINK} for it.", "/c/"), [bo], competition=pets)
    entry = RosterEntry.objects.create(course=pets.course, name="Dee", email="dee@example.org")
    invitations.invite_entries(competition=pets, user=ada, entries=[entry.pk])
    outbox.send_due_emails()
    Client().post("/accounts/password/reset/", {"email": bo.email})
    assert {email.to[0] for email in post} == {"bo@example.org", "dee@example.org"}
    assert len(post) == 3
    for email in post:
        check(str(email.body))
    noted = next(email for email in post if email.subject == "A word" or "A word" in str(email.subject))
    assert LINK in str(noted.body)
    assert "\n-- \n" in str(noted.body), "mail programs know a signature by its space"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Short.\n\nShort.", ["Short.", "", "Short."]),
        (f"See {LINK}.", ["See", f"{LINK}."]),
        (f"- {LINK}", ["-", LINK]),
        (LONG, [FIRST, REST]),
        (f"    {LONG}", [f"    {LONG}"]),
        (f"| {LONG} |", [f"| {LONG} |"]),
        ("w" * 100, ["w" * 100]),
    ],
)
def test_lines_are_broken_between_words_alone(text: str, lines: list[str]) -> None:
    assert outbox.wrap_email_text(text).split("\n") == lines
    assert outbox.wrap_email_text("\n".join(lines)) == "\n".join(lines)


def test_no_word_is_lost() -> None:
    text = f"{LONG}\n\n1. {LONG} {LINK}\n2) {LONG}\n\n{LONG * 3}"
    assert outbox.wrap_email_text(text).split() == text.split()
    check(outbox.wrap_email_text(text))
