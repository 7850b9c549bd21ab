"""E-mails about notices. Notices of one person that are due at the same time become one e-mail, which
`leaderboard/common/outbox.py` sends."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.db.models.functions import Now
from django.utils import translation
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common import logs, outbox
from leaderboard.common.outbox import EMAIL_WIDTH
from leaderboard.competitions.models import Competition

from .kinds import Delivery, NoticeKind
from .models import Announcement, Notice
from .queries import notice_choices_of, sends_mail
from .services import save_choices

SALT = "leaderboard.stop-mail"
# Few per turn, so that an announcement that is withdrawn soon is not in the outbox yet.
MAX_PEOPLE_PER_TURN = 50
KIND = "notices"


def reply_to(competition: Competition | None) -> list[str]:
    """`Reply-To` of a host's e-mail: the competition's contact if that is an e-mail address, else []. A host's account
    address is never shown."""
    contact = competition.contact.strip() if competition else ""
    try:
        validate_email(contact)
    except ValidationError:
        return []
    return [contact]


def is_mail_due() -> bool:
    is_due = Notice.objects.filter(mail_at__lte=Now()).exists() and not outbox.is_server_paused()
    return sends_mail() and (is_due or outbox.is_email_due())


def send_due_emails() -> bool:
    """Send due e-mails for a limited time; returns whether some may remain."""
    if not sends_mail():
        return False
    is_more = not outbox.is_server_paused() and _queue_due_notices()
    return outbox.send_due_emails() or is_more


def _queue_due_notices() -> bool:
    """Put e-mails about due notices into the outbox; returns whether more are due."""
    due = Notice.objects.filter(mail_at__lte=Now()).order_by("mail_at").values_list("user", flat=True)
    people = list(dict.fromkeys(due[:1000]))
    for user_id in people[:MAX_PEOPLE_PER_TURN]:
        with logs.log_errors():
            _queue_notices_of(user_id)
    return len(people) > MAX_PEOPLE_PER_TURN


@transaction.atomic
def _queue_notices_of(user_id: int) -> None:
    """Put one e-mail about all due notices of a person into the outbox."""
    due = Notice.objects.select_for_update(of=("self",)).filter(user=user_id, mail_at__lte=Now())
    notices = list(due.select_related("competition", "user").order_by("created_at", "pk"))
    if not notices:
        return  # another process has queued them meanwhile
    user, due = notices[0].user, Notice.objects.filter(pk__in=[notice.pk for notice in notices])
    if not user.email or not user.is_active:
        due.update(mail_at=None)
        return
    with translation.override(user.notification_language):
        outbox.queue_email(build_email(user, notices), kind=KIND)
    due.update(mail_at=None, mailed_at=Now())


# --- the text of an e-mail ---------------------------------------------------------------------------------------


def build_email(user: User, notices: list[Notice]) -> EmailMessage:
    """One e-mail about one or more notices, in plain text."""
    stop = _absolute_address(
        f"/notifications/stop/{unsubscribe_token(user, {NoticeKind(notice.kind) for notice in notices})}/"
    )
    # Announcements are signed by their authors; other notices are written by the site.
    keys = [notice.key for notice in notices if notice.kind == NoticeKind.ANNOUNCEMENT and notice.key]
    written = Announcement.objects.filter(key__in=keys).select_related("by") if keys else []
    signatures = {announcement.key: announcement.by.signature for announcement in written if announcement.by}
    parts = [_notice_text(notice, signatures.get(notice.key, ""), is_alone=len(notices) == 1) for notice in notices]
    ending = _("Notification settings: %(settings)s\nUnsubscribe from these e-mails: %(stop)s") % {
        "settings": _absolute_address("/account/preferences/"),
        "stop": stop,
    }
    message = EmailMessage(_subject_line(notices), "\n\n".join([*parts, f"-- \n{ending}\n"]), None, [user.email])
    # Replies go to the hosts if the e-mail holds only announcements of one competition.
    authors = {notice.competition if notice.kind == NoticeKind.ANNOUNCEMENT else None for notice in notices}
    message.reply_to = reply_to(authors.pop() if len(authors) == 1 else None)
    # The same ID for the same notices: if a crash makes us send an e-mail twice, mail programs show it once.
    digest = hashlib.sha256(",".join(str(notice.pk) for notice in notices).encode()).hexdigest()[:24]
    message.extra_headers = {
        "Message-ID": f"<notice.{digest}@{outbox.site_domain()}>",
        "Auto-Submitted": "auto-generated",
    }
    if settings.SITE_URL:
        message.extra_headers |= {
            "List-Unsubscribe": f"<{stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
    return message


def _subject_line(notices: list[Notice]) -> str:
    if len(notices) > 1:
        return _("%(number)s notifications from Leaderboard") % {"number": len(notices)}
    (notice,) = notices
    where = f"{notice.competition}: " if _needs_competition_name(notice) else ""
    return " ".join(f"{where}{notice.title}".split())


def _notice_text(notice: Notice, signature: str, *, is_alone: bool) -> str:
    where = f"{notice.competition}: " if _needs_competition_name(notice) and not is_alone else ""
    title = f"{where}{notice.title}"
    lines = [title, "-" * min(len(title), EMAIL_WIDTH)] if not is_alone else []
    text = notice.text
    if notice.is_markdown:
        # Relative links in Markdown become absolute.
        text = text.replace("](/", f"]({_absolute_address('/')}")
    lines += [text] if text else [] if lines else [title]
    lines += [f"– {signature}"] if signature else []
    lines += [_absolute_address(notice.link)] if notice.link else []
    return "\n\n".join(lines) if is_alone else "\n".join(lines)


def _needs_competition_name(notice: Notice) -> bool:
    """Whether the notice is about a competition whose title is not in the notice's title."""
    return notice.competition is not None and notice.competition.title not in notice.title


def _absolute_address(path: str) -> str:
    return f"{settings.SITE_URL}{path}"


# --- unsubscribing ----------------------------------------------------------------------------------------------


def unsubscribe_token(user: User, kinds: set[NoticeKind]) -> str:
    """Signed token of the link that ends e-mails of these kinds without signing in; it allows nothing else."""
    return signing.dumps([user.pk, sorted(kind.value for kind in kinds)], salt=SALT)


def unsubscribe_kinds(token: str, *, stop: bool) -> list[NoticeKind]:
    """The kinds of a token; [] if it is invalid. With `stop` their e-mails end; the notices stay on the page."""
    try:
        number, names = signing.loads(token, salt=SALT)
    except (signing.BadSignature, ValueError):
        return []
    kinds = [NoticeKind(name) for name in names if name in list(NoticeKind)]
    user = User.objects.filter(pk=number).first()
    if user is None:
        return []
    if stop:
        chosen = notice_choices_of(user)
        save_choices(user=user, choices={kind: Delivery.PAGE for kind in kinds if chosen[kind] != Delivery.NONE})
    return kinds
