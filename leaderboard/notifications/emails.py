"""E-mails about notices, built when `leaderboard/common/outbox.py` sends them; and the link that ends them."""

from __future__ import annotations

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db.models.functions import Now
from django.utils import translation
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common import outbox
from leaderboard.competitions.models import Competition

from .kinds import Delivery, NoticeKind
from .models import Announcement, Notice
from .queries import notice_choices_of
from .services import save_choices

SALT = "leaderboard.stop-mail"


def reply_to(competition: Competition | None) -> list[str]:
    """`Reply-To` of a host's e-mail: the competition's contact if that is an e-mail address, else []. A host's account
    address is never shown."""
    contact = competition.contact.strip() if competition else ""
    try:
        validate_email(contact)
    except ValidationError:
        return []
    return [contact]


def build_notice_email(number: int) -> EmailMessage | None:
    """The e-mail about a notice; None if it was sent, or is not wanted any more: the account is gone, its owner has
    chosen otherwise since, or the announcement was withdrawn."""
    notice = Notice.objects.filter(pk=number, mailed_at=None).select_related("competition", "user").first()
    if notice is None or not notice.user.is_active or not notice.user.email:
        return None
    announcement = Announcement.objects.filter(key=notice.key).select_related("by").first() if notice.key else None
    is_withdrawn = announcement is not None and announcement.withdrawn_at is not None
    if is_withdrawn or notice_choices_of(notice.user)[NoticeKind(notice.kind)] != Delivery.EMAIL:
        return None
    with translation.override(notice.user.notification_language):
        return build_email(notice, announcement)


def note_outcome(number: int, outcome: outbox.Outcome) -> None:
    if outcome is outbox.Outcome.SENT:
        Notice.objects.filter(pk=number).update(mailed_at=Now())


def build_email(notice: Notice, announcement: Announcement | None = None) -> EmailMessage:
    """The e-mail about a notice, in plain text. Announcements are signed by their authors, who get the replies."""
    author = announcement.by if announcement else None
    needs_name = notice.competition is not None and notice.competition.title not in notice.title
    where = f"{notice.competition}: " if needs_name else ""
    text = notice.text
    if notice.is_markdown:
        # Relative links in Markdown become absolute.
        text = text.replace("](/", f"]({_absolute_address('/')}")
    parts = [text or notice.title]
    parts += [f"– {author.signature}"] if author and author.signature else []
    parts += [_absolute_address(notice.link)] if notice.link else []
    stop = _absolute_address(f"/notifications/stop/{unsubscribe_token(notice.user, NoticeKind(notice.kind))}/")
    ending = _("Notification settings: %(settings)s\nUnsubscribe from these e-mails: %(stop)s") % {
        "settings": _absolute_address("/account/preferences/"),
        "stop": stop,
    }
    subject = " ".join(f"{where}{notice.title}".split())
    message = EmailMessage(subject, "\n\n".join([*parts, f"-- \n{ending}\n"]), None, [notice.user.email])
    message.reply_to = reply_to(notice.competition) if announcement else []
    message.extra_headers = {
        # The same for each try: if a crash makes us send an e-mail twice, mail programs show it once.
        "Message-ID": f"<notice.{notice.pk}@{outbox.site_domain()}>",
        "Auto-Submitted": "auto-generated",
    }
    if settings.SITE_URL:
        message.extra_headers |= {
            "List-Unsubscribe": f"<{stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
    return message


def _absolute_address(path: str) -> str:
    return f"{settings.SITE_URL}{path}"


# --- unsubscribing ----------------------------------------------------------------------------------------------


def unsubscribe_token(user: User, kind: NoticeKind) -> str:
    """Signed token of the link that ends e-mails of this kind without signing in; it allows nothing else."""
    return signing.dumps([user.pk, kind.value], salt=SALT)


def unsubscribe_kind(token: str, *, stop: bool) -> NoticeKind | None:
    """The kind of a token; None if it is invalid. With `stop` its e-mails end; the notices stay on the page."""
    try:
        number, name = signing.loads(token, salt=SALT)
        user, kind = User.objects.get(pk=number), NoticeKind(name)
    except (signing.BadSignature, ValueError, User.DoesNotExist):
        return None
    if stop and notice_choices_of(user)[kind] != Delivery.NONE:
        save_choices(user=user, choices={kind: Delivery.PAGE})
    return kind
