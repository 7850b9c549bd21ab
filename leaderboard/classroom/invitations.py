"""Invitations by e-mail to students on the roster, each with a one-time link.

The outbox calls `build_invitation` when it sends an e-mail. The link is made then, and only its digest is stored, so a
second e-mail invalidates the link of the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from leaderboard.accounts.models import User
from leaderboard.common import outbox
from leaderboard.common.clock import database_now
from leaderboard.common.display_time import day_text, moment_text
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.outbox import Outcome
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import CannotHost
from leaderboard.notifications.emails import reply_to

from . import people
from .models import JOIN_CARD_LIFETIME, RosterEntry

KIND = "invitation"


def no_email_reason() -> str:
    """The reason why this site cannot send invitations, for a host; "" if it can."""
    if not outbox.sends_mail():
        return _("This site has no mail server, so it can't send e-mail.")
    if not settings.SITE_URL:
        return _(
            "This site doesn't know its own address, so e-mails can't include links. Ask your administrator to set it."
        )
    return ""


def build_invitation(entry_id: int) -> EmailMessage | None:
    """The e-mail with a new link for one student; None if the invitation is not wanted any more or cannot be sent."""
    entries = RosterEntry.objects.filter(pk=entry_id, mail_requested_at__isnull=False)
    entry = entries.select_related("invited_to", "mail_requested_by").first()
    if entry is None:
        return None  # has joined, or got a printed join card
    if (refusal := _send_refusal(entry)) is not None:
        entries.update(mail_requested_at=None, mail_problem=refusal)
        return None
    code = entry.new_join_card_code(database_now())
    # `entries` filters again: the student may have joined by the earlier link meanwhile.
    entries.update(join_card_digest=entry.join_card_digest, join_card_expires_at=entry.join_card_expires_at)
    return _build_email(entry, code)


def note_outcome(entry_id: int, outcome: Outcome) -> None:
    """Store the outcome of an invitation on the entry, where the host sees it."""
    entries = RosterEntry.objects.filter(pk=entry_id, mail_requested_at__isnull=False)
    if outcome is Outcome.SENT:
        entries.update(mail_requested_at=None, mail_problem="", invited_at=Now())
    elif outcome is Outcome.DELAYED:
        entries.update(mail_problem=gettext_noop("Not sent yet. We'll try again."))
    elif outcome is Outcome.REJECTED:
        entries.update(mail_requested_at=None, mail_problem=gettext_noop("The mail server rejected this address."))
    else:
        reason = gettext_noop("The mail server didn't answer after several tries.")
        entries.update(mail_requested_at=None, mail_problem=reason)


def _send_refusal(entry: RosterEntry) -> str | None:
    """The reason not to send a requested invitation, as `RosterEntry.mail_problem` stores it; None to send it.

    "" for a student who has joined or left, or a deleted competition: no e-mail, and no problem to report.
    """
    if entry.user_id or entry.left_at or entry.invited_to is None:
        return ""
    if not entry.email:
        return gettext_noop("This person no longer has an e-mail address.")
    if database_now() >= entry.invited_to.closes_at:
        return gettext_noop("The deadline passed before the e-mail was sent.")
    return None


def _build_email(entry: RosterEntry, code: str) -> EmailMessage:
    """The e-mail with a student's link, in plain text. Of personal data it holds only the name."""
    link = settings.SITE_URL + reverse("join_card", kwargs={"code": code})
    host = entry.mail_requested_by.signature if entry.mail_requested_by else ""
    competition = entry.invited_to
    assert competition is not None
    subject, text = invitation_text(competition, name=entry.name, link=link, host=host, language=entry.mail_language)
    headers = {"Auto-Submitted": "auto-generated"}
    return EmailMessage(subject, text, None, [entry.email], reply_to=reply_to(competition), headers=headers)


def invitation_text(competition: Competition, *, name: str, link: str, host: str, language: str) -> tuple[str, str]:
    """(subject, text) of an invitation, signed by the host who requested it.

    In the host's language, because the student's is not known before there is an account.
    """
    course = competition.course.title
    title = f"{competition.title} ({course})" if course else competition.title
    with translation.override(language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE):
        text = _(
            "%(greeting)s\n\nyou're invited to the competition “%(title)s”. This link is only for you and works "
            "once:\n\n%(link)s\n\nIt works until %(until)s. Sign in, or create an account there. You can submit until "
            "%(closes)s.\n\n%(signature)s-- \nYour teacher asked for this e-mail. If you aren't in this class, "
            "ignore it.\n"
        ) % {
            "greeting": _("Hello %(name)s,") % {"name": name} if name else _("Hello,"),
            "title": " ".join(title.split()),
            "link": link,
            "until": day_text(database_now() + JOIN_CARD_LIFETIME),
            "closes": moment_text(competition.closes_at, competition.zone),
            "signature": f"{host}\n\n" if host else "",
        }
        return " ".join((_("Invitation: %(title)s") % {"title": title}).split()), text


# For one host per UTC day: enough for several large classes, too few to flood strangers with mail.
MAX_INVITATIONS_PER_DAY = 1_000


def not_invited(competition: Competition) -> QuerySet[RosterEntry]:
    """Entries for a first invitation: with an e-mail address, and not joined, left or invited yet."""
    return _invitable_entries(competition).filter(invited_at=None)


def _invitable_entries(competition: Competition) -> QuerySet[RosterEntry]:
    return competition.course.roster.filter(user=None, left_at=None, mail_requested_at=None).exclude(email="")


def invitations_left(user: User) -> int:
    """Number of invitations that a host may still send today (UTC)."""
    today = database_now().replace(hour=0, minute=0, second=0, microsecond=0)
    entries = AuditEntry.objects.filter(by=user.pk, event=AuditEvent.INVITED.value, at__gte=today)
    sent: int = sum(after.get("emails", 0) for after in entries.values_list("after", flat=True))
    return max(0, MAX_INVITATIONS_PER_DAY - sent)


def invite_refusal(competition: Competition) -> str:
    """The reason why no invitations can be sent for this competition now, for its host; "" if they can."""
    if refusal := no_email_reason():
        return refusal
    if competition.launched_at is None:
        return _("Students can't join a draft. Launch the competition first; it can open later.")
    if database_now() >= competition.closes_at:
        return _("The deadline has passed, so students can't join any more.")
    return ""


def invite_entries(*, competition: Competition, entries: Sequence[int], user: User) -> int:
    """Queue an e-mail with a new one-time link for each chosen student who has not joined; returns how many.

    A second invitation invalidates the link of the first. Raises `CannotHost`.
    """
    if refusal := invite_refusal(competition):
        raise CannotHost(refusal)
    with transaction.atomic():
        competition = people.lock_class_list(competition)
        host = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        chosen = list(
            _invitable_entries(competition).filter(pk__in=entries).values_list("pk", flat=True).order_by("pk")
        )
        if not chosen:
            raise CannotHost(_("Everyone you selected has joined, left the course or has no e-mail address."))
        if len(chosen) > (left := invitations_left(host)):
            raise CannotHost(
                _(
                    "You can send {left} more e-mails today, but you selected {number} people. Print join "
                    "cards for the rest."
                ).format(left=left, number=len(chosen))
            )
        competition.course.roster.filter(pk__in=chosen).update(
            mail_requested_at=database_now(),
            invited_to=competition,
            mail_problem="",
            mail_requested_by=host,
            mail_language=host.notification_language,
        )
        AuditEntry.append(
            AuditEvent.INVITED, user=user, competition=competition, after={"emails": len(chosen), "people": chosen[:50]}
        )
        outbox.queue_references(KIND, chosen)
    return len(chosen)
