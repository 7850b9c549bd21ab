"""The channel that hears what happens in a competition. Its address is a secret: the audit log only says that it
changed."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services.competitions import CannotHost
from leaderboard.competitions.tasks import wake_workers_after_commit

from . import chat_addresses, chat_events, tasks
from .models import Webhook, WebhookMessage
from .models.chat import ChatEvent


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


def _read_webhook_address(address: str) -> chat_addresses.ChatAddress:
    try:
        return chat_addresses.read_address(address)
    except chat_addresses.BadChatAddress as error:
        raise CannotHost(str(error)) from None


def _webhook_facts(hook: Webhook | None) -> dict[str, object]:
    """What the audit log may contain about a channel."""
    return {"service": hook.service, "events": list(hook.events), "is_on": hook.is_on} if hook else {}
