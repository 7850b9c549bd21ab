"""Messages to channels: what is due is posted, each once, with a pause after each failure and a limit per hour.

A claim says who posts a message. Only when a process dies between the service's yes and the note of it, a message is
posted again.

The channel that hears what happens in a competition. Its address is a secret: the audit log only says that it
changed.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _
from structlog.contextvars import bound_contextvars

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services.competitions import CannotHost
from leaderboard.competitions.tasks import wake_workers_after_commit

from . import chat_events, chat_posting, tasks
from .chat_posting import post_message
from .models import Webhook, WebhookMessage
from .models.chat import ChatEvent

log = logging.getLogger(__name__)

# A sender queries again for what is due after so long.
ROUND_SECONDS = 2.0
LEASE = timedelta(minutes=2)
MOST_TRIES = 4
MOST_PER_HOUR = 20
HOUR = timedelta(hours=1)
# What waited longer is no news.
TOO_OLD = timedelta(days=1)
# Answers that another try does not change.
FINAL_STATUSES = (400, 401, 403, 404, 410)
FINAL_OUTCOMES = {"elsewhere", "redirect", "old", *(f"status {n}" for n in FINAL_STATUSES)}


def are_messages_due() -> bool:
    return WebhookMessage.objects.filter(due_at__lte=Now()).exists()


def send_due_messages(within: float = ROUND_SECONDS) -> bool:
    """Post messages for about so many seconds; True when some may remain."""
    enough = time.monotonic() + within
    while time.monotonic() < enough:
        message = _claim_next_message()
        if message is None:
            return False
        _send_message(message)
    return True


def _claim_next_message() -> WebhookMessage | None:
    """Claim the message that has waited longest; None when there is none, or another process was quicker."""
    due = WebhookMessage.objects.filter(due_at__lte=Now())
    first = due.order_by("due_at", "pk").first()
    claim = uuid.uuid4()
    if first is None or not due.filter(pk=first.pk).update(claim=claim, due_at=Now() + LEASE, tries=F("tries") + 1):
        return None
    return WebhookMessage.objects.select_related("webhook__competition").filter(claim=claim).first()


def _send_message(message: WebhookMessage) -> None:
    mine = WebhookMessage.objects.filter(pk=message.pk, claim=message.claim)
    webhook, now = message.webhook, timezone.now()
    if message.created_at < now - TOO_OLD:
        mine.update(claim=None, due_at=None, last_problem="old")
        return
    if not webhook.is_on and message.event != WebhookMessage.TEST:
        mine.update(claim=None, due_at=None, last_problem="off")
        return
    sent = WebhookMessage.objects.filter(webhook__competition=webhook.competition_id, sent_at__gt=Now() - HOUR)
    if len(lately := list(sent.values_list("sent_at", flat=True))) >= MOST_PER_HOUR:
        first = min(moment for moment in lately if moment)
        mine.update(claim=None, due_at=first + HOUR, tries=F("tries") - 1)
        return
    word = post_message(webhook.address, message.title, message.text)
    # Whoever pasted another address meanwhile reads nothing of this one.
    Webhook.objects.filter(pk=webhook.pk, address=webhook.address).update(last_problem=word)
    if not word:
        mine.update(claim=None, due_at=None, sent_at=Now(), last_problem="")
        return
    with bound_contextvars(competition=webhook.competition.slug):
        log.warning("a message to a chat could not be sent: %s", word)
    # Whoever presses the button wants to know now, and presses again.
    is_test = message.event == WebhookMessage.TEST
    is_over = is_test or word in FINAL_OUTCOMES or message.tries >= MOST_TRIES
    mine.update(
        claim=None, last_problem=word, due_at=None if is_over else now + timedelta(minutes=4 ** (message.tries - 1))
    )


def explain_outcome(word: str) -> str:
    """What became of a message, for the host."""
    if word.startswith("status "):
        return _for_status(word.removeprefix("status "))
    sentences = {
        "": "",
        "elsewhere": _("The address leads to a host to which this site sends nothing."),
        "redirect": _("The service sent us on to another address, and we follow none. Copy the address once more."),
        "late": _("The service did not answer in time."),
        "unreachable": _("No safe connection to the service could be made. Is this site connected to the internet?"),
        "old": _("It could not be sent within a day, and is no longer news."),
        "off": _("Messages were switched off before it was sent."),
    }
    return sentences.get(word, _("Sending failed on this site. Its operator finds more in the worker's log."))


def _for_status(status: str) -> str:
    if status in ("401", "403", "404", "410"):
        return _("The service no longer knows this address (%(status)s). Make a new one there and paste it here.") % {
            "status": status
        }
    if status == "429":
        return _("The service takes no more messages for the moment (429).")
    return _("The service answered with an error (%(status)s).") % {"status": status}


def set_webhook(
    *, competition: Competition, user: User, address: str, events: Iterable[str], is_on: bool = True
) -> Webhook:
    """Send these events to a channel from now on; an empty address keeps the one there is. Raises `CannotHost`."""
    wanted = [event.value for event in ChatEvent if event.value in set(events)]
    with transaction.atomic():
        Competition.objects.select_for_update().get(pk=competition.pk)
        held = Webhook.objects.filter(competition=competition).first()
        if held is None and not address:
            raise CannotHost(_("Paste the address of the channel."))
        hook = held or Webhook(competition=competition)
        before = _webhook_facts(held)
        if address:
            found = _read_webhook_address(address)
            if found.url != hook.address:
                hook.last_problem = ""
            hook.address, hook.service = found.url, found.service
        # What happened while nobody listened is no news, nor is who was first meanwhile.
        hook.events, hook.is_on, hook.since = wanted, is_on, timezone.now()
        hook.first_team, hook.first_seen_at = None, None
        hook.save()
        after = {**_webhook_facts(hook), "address": "changed" if address else "kept"}
        AuditEntry.append(AuditEvent.WEBHOOK_SET, user=user, competition=competition, before=before, after=after)
    return hook


def remove_webhook(*, competition: Competition, user: User) -> None:
    """Forget the channel's address and what was sent there."""
    with transaction.atomic():
        held = Webhook.objects.select_for_update().filter(competition=competition).first()
        if held is None:
            return
        before = _webhook_facts(held)
        held.delete()
        AuditEntry.append(AuditEvent.WEBHOOK_REMOVED, user=user, competition=competition, before=before)


def send_test(*, competition: Competition) -> WebhookMessage:
    """Send a message that says where it comes from; while one waits, that one. Raises `CannotHost`."""
    with transaction.atomic():
        hook = Webhook.objects.select_for_update().filter(competition=competition).first()
        if hook is None:
            raise CannotHost(_("Save the address of the channel first."))
        waiting = hook.messages.filter(event=WebhookMessage.TEST, due_at__isnull=False).first()
        if waiting is not None:
            return waiting
        key = WebhookMessage.new_key()
        text = _("Messages of this competition arrive here. Nothing else has happened.")
        chat_events.queue_message(hook, WebhookMessage.TEST, chat_events.ChatNews(key, _("a test"), text))
        wake_workers_after_commit(tasks.post_due_messages)
        return hook.messages.get(key=key)


def _read_webhook_address(address: str) -> chat_posting.ChatAddress:
    try:
        return chat_posting.read_address(address)
    except chat_posting.BadChatAddress as error:
        raise CannotHost(str(error)) from None


def _webhook_facts(hook: Webhook | None) -> dict[str, object]:
    """What the audit log may contain about a channel."""
    return {"service": hook.service, "events": list(hook.events), "is_on": hook.is_on} if hook else {}
