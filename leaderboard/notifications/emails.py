"""E-mails: what is due goes out, at most one e-mail per person and round, and nothing goes out twice.

A claim says who sends an e-mail; while the mail server refuses, it waits longer each time. Only when a process dies
between the server's yes and the note of it, an e-mail is sent again, with the same Message-ID, so that mail programs
show it once.
"""

from __future__ import annotations

import hashlib
import logging
import smtplib
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, get_connection
from django.core.validators import validate_email
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.email_lines import WIDTH, wrap_email_text
from leaderboard.competitions.models import Competition

from . import hooks
from .models import Announcement, Delivery, Notice, NoticeKind
from .notices import notice_choices_of, save_choices, sends_mail

log = logging.getLogger(__name__)

# A sender queries again for what is due after so long.
ROUND_SECONDS = 2.0
SALT = "leaderboard.stop-mail"
LEASE = timedelta(minutes=10)
MOST_TRIES = 12
LONGEST_PAUSE = timedelta(hours=6)
# While the server refuses everything, all e-mails wait.
SERVER_PAUSE = timedelta(minutes=1)


class EmailNotSent(Exception):
    """An e-mail was not sent. `answers`: the server takes others; `is_final`: it never takes this one."""

    def __init__(self, reason: str, *, answers: bool, is_final: bool = False) -> None:
        super().__init__(reason)
        self.answers, self.is_final = answers, is_final


def send_email(email: EmailMessage, server: Any) -> None:
    """Send an e-mail over a connection that is opened when the first one needs it. Raises `EmailNotSent`."""
    email.connection, email.body = server, wrap_email_text(str(email.body))
    try:
        server.open()
        email.send()
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        is_final = bool(codes) and min(codes) >= 500
        raise EmailNotSent(type(error).__name__, answers=True, is_final=is_final) from error
    except Exception as error:  # a frozen, absent or wrongly named server, of whatever kind
        raise EmailNotSent(type(error).__name__, answers=False) from error


def reply_to(competition: Competition | None) -> list[str]:
    """The reply address of a host's e-mail: the competition's contact, if that is an address and nothing else. A
    host's own address is never shown."""
    contact = competition.contact.strip() if competition else ""
    try:
        validate_email(contact)
    except ValidationError:
        return []
    return [contact]


def pause_after(tries: int) -> timedelta | None:
    """How long to wait after so many tries, each time longer; None when it was enough."""
    return min(timedelta(minutes=2**tries), LONGEST_PAUSE) if tries < MOST_TRIES else None


def is_mail_due() -> bool:
    return sends_mail() and (Notice.objects.filter(mail_at__lte=Now()).exists() or any(hooks.is_mail_due()))


def send_due_emails(within: float = ROUND_SECONDS) -> bool:
    """Send e-mails for about so many seconds; True when some may remain."""
    if not sends_mail():
        return False
    enough = time.monotonic() + within
    due = Notice.objects.filter(mail_at__lte=Now()).order_by("mail_at").values_list("user", flat=True)
    emails: list[Callable[[Any], bool]] = [partial(_send_to_user, user_id) for user_id in dict.fromkeys(due[:1000])]
    emails += chain.from_iterable(hooks.mails_due())
    server = get_connection()
    try:
        for send in emails:
            if not send(server):
                return False
            if time.monotonic() > enough:
                return True
    finally:
        with suppress(Exception):  # a server that hangs up early has received the e-mails all the same
            server.close()
    return False


def _send_to_user(user_id: int, server: Any) -> bool:
    """Send one person everything that is due; False when the server answers nobody."""
    claim = uuid.uuid4()
    taken = Notice.objects.filter(user=user_id, mail_at__lte=Now())
    if not taken.update(mail_claim=claim, mail_at=Now() + LEASE, mail_tries=F("mail_tries") + 1):
        return True  # somebody else was quicker
    mine = Notice.objects.filter(mail_claim=claim)
    notices = list(mine.select_related("competition", "user").order_by("created_at", "pk"))
    user = notices[0].user
    if not user.email or not user.is_active:
        mine.update(mail_claim=None, mail_at=None)
        return True
    try:
        with translation.override(user.notification_language):
            words = build_email(user, notices)
        send_email(words, server)
    except EmailNotSent as error:
        _retry_later(notices, error)
        if not error.answers:
            Notice.objects.filter(mail_at__lte=Now()).update(mail_at=Now() + SERVER_PAUSE)
        return error.answers
    mine.update(mail_claim=None, mail_at=None, mailed_at=Now())
    return True


def _retry_later(notices: list[Notice], error: EmailNotSent) -> None:
    """Try again later, each time after a longer pause, and in the end no more: the notice stays on the page."""
    log.warning("an e-mail about %s notices could not be sent: %s", len(notices), error)
    now = timezone.now()
    for notice in notices:
        pause = pause_after(notice.mail_tries)
        due = now + pause if pause else None
        Notice.objects.filter(pk=notice.pk, mail_claim=notice.mail_claim).update(mail_claim=None, mail_at=due)


# --- what an e-mail says -----------------------------------------------------------------------------------------


def build_email(user: User, notices: list[Notice]) -> EmailMessage:
    """One e-mail about one or more notices, in plain text."""
    stop = _absolute_address(
        f"/notifications/stop/{unsubscribe_token(user, {NoticeKind(notice.kind) for notice in notices})}/"
    )
    # Who wrote an announcement; of notices of other kinds the site writes the words.
    keys = [notice.key for notice in notices if notice.kind == NoticeKind.ANNOUNCEMENT and notice.key]
    written = Announcement.objects.filter(key__in=keys).select_related("by") if keys else []
    signed = {one.key: one.by.signature for one in written if one.by}
    parts = [_notice_text(notice, signed.get(notice.key, ""), is_alone=len(notices) == 1) for notice in notices]
    ending = _("Notification settings: %(settings)s\nUnsubscribe from these e-mails: %(stop)s") % {
        "settings": _absolute_address("/account/preferences/"),
        "stop": stop,
    }
    message = EmailMessage(_subject(notices), "\n\n".join([*parts, f"-- \n{ending}\n"]), None, [user.email])
    # Where the hosts of one competition alone wrote everything, an answer goes to them.
    authors = {notice.competition if notice.kind == NoticeKind.ANNOUNCEMENT else None for notice in notices}
    message.reply_to = reply_to(authors.pop() if len(authors) == 1 else None)
    # The same for the same notices, so that an e-mail that went out unnoticed is not shown twice.
    digest = hashlib.sha256(",".join(str(notice.pk) for notice in notices).encode()).hexdigest()[:24]
    message.extra_headers = {
        "Message-ID": f"<notice.{digest}@{urlsplit(settings.SITE_URL).hostname or 'leaderboard.local'}>",
        "Auto-Submitted": "auto-generated",
    }
    if settings.SITE_URL:
        message.extra_headers |= {
            "List-Unsubscribe": f"<{stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
    return message


def _subject(notices: list[Notice]) -> str:
    if len(notices) > 1:
        return _("%(number)s notifications from Leaderboard") % {"number": len(notices)}
    (notice,) = notices
    where = f"{notice.competition}: " if _needs_competition_name(notice) else ""
    return " ".join(f"{where}{notice.title}".split())


def _notice_text(notice: Notice, signature: str, *, is_alone: bool) -> str:
    where = f"{notice.competition}: " if _needs_competition_name(notice) and not is_alone else ""
    title = f"{where}{notice.title}"
    lines = [title, "-" * min(len(title), WIDTH)] if not is_alone else []
    text = notice.text
    if notice.is_markdown:
        # In an e-mail a host's link to a page of this site has to name the site.
        text = text.replace("](/", f"]({_absolute_address('/')}")
    lines += [text] if text else [] if lines else [title]
    lines += [f"– {signature}"] if signature else []
    lines += [_absolute_address(notice.link)] if notice.link else []
    return "\n\n".join(lines) if is_alone else "\n".join(lines)


def _needs_competition_name(notice: Notice) -> bool:
    """Whether the title alone does not say which competition it is about."""
    return notice.competition is not None and notice.competition.title not in notice.title


def _absolute_address(path: str) -> str:
    return f"{settings.SITE_URL}{path}"


# --- no more e-mails --------------------------------------------------------------------------------------------


def unsubscribe_token(user: User, kinds: set[NoticeKind]) -> str:
    """What a link needs that ends e-mails of these kinds without signing in; it opens nothing else."""
    return signing.dumps([user.pk, sorted(kind.value for kind in kinds)], salt=SALT)


def unsubscribe_kinds(token: str, *, stop: bool) -> list[NoticeKind]:
    """The kinds of a token, none when it is not ours; with `stop` their e-mails end, and notices stay on the page."""
    try:
        number, names = signing.loads(token, salt=SALT)
    except (signing.BadSignature, ValueError):
        return []
    kinds = [NoticeKind(name) for name in names if name in NoticeKind.values]
    user = User.objects.filter(pk=number).first()
    if user is None:
        return []
    if stop:
        wanted = notice_choices_of(user)
        save_choices(user=user, choices={kind: Delivery.PAGE for kind in kinds if wanted[kind] != Delivery.NONE})
    return kinds
