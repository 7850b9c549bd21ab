"""Messages to the chat channel of a class.

What a channel has not heard yet is found in the facts each minute, and written down once by its key. What is due is
posted, each once, with a pause after each failure and a limit per hour. A claim says who posts a message: only when a
process dies between the service's yes and the note of it, a message is posted again. The address of a channel is a
secret: the audit log only says that it changed.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from structlog.contextvars import bound_contextvars

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.display_time import day_and_time_text
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import boards
from leaderboard.competitions.ranking import ladder as ladder_module
from leaderboard.competitions.services.competitions import CannotHost
from leaderboard.competitions.tasks import wake_workers_after_commit

from . import chat_posting, tasks
from .chat_posting import post_message
from .models import Announcement, ChatEvent, Webhook, WebhookMessage

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
LONGEST_TITLE, LONGEST_TEXT = 250, 1500
# In a chat these call people, or begin a link: a team's name shall do neither.
_HARMLESS = str.maketrans({"@": "@\u200b", "<": "‹", ">": "›", "`": "'", "[": "(", "]": ")", "*": "∗", "#": "#\u200b"})


@dataclass(frozen=True)
class ChatNews:
    """A piece of news; `page` is the view that shows it."""

    key: str
    title: str
    text: str = ""
    page: str = "overview"


def queue_due_messages(at: datetime) -> int:
    """Write down what channels shall hear; gives how many messages are new."""
    launched = Webhook.objects.filter(is_on=True, competition__launched_at__lte=at)
    hooks = launched.select_related("competition__ground_truth", "competition")
    return sum(_queue_news(hook, event, at) for hook in hooks for event in hook.wanted_events)


def _queue_news(hook: Webhook, event: ChatEvent, at: datetime) -> int:
    if event is ChatEvent.FIRST:
        return _queue_first_place(hook, at)
    found = list(_due_news(hook, event, at))
    known = set(hook.messages.filter(key__in=[news.key for news in found]).values_list("key", flat=True))
    return sum(queue_message(hook, event, news) for news in found if news.key not in known)


def queue_message(hook: Webhook, event: str, news: ChatNews) -> int:
    """Put a message in the queue, unless it is there; gives 1 when it is new."""
    text = news.text.replace("\0", "").strip()[:LONGEST_TEXT]
    address = settings.SITE_URL and settings.SITE_URL + reverse(news.page, args=[hook.competition.slug])
    text = "\n\n".join(filter(None, [text, address]))
    title = f"{hook.competition.title}: {news.title}".replace("\0", "")
    title = " ".join(title.split())[:LONGEST_TITLE]
    # SQLite's clock counts milliseconds: a due moment that is finer would lie ahead of it for a blink.
    due_at = database_now().replace(microsecond=0)
    _message, is_new = WebhookMessage.objects.get_or_create(
        webhook=hook, key=news.key, defaults={"event": event, "title": title, "text": text, "due_at": due_at}
    )
    return int(is_new)


def _due_news(hook: Webhook, event: ChatEvent, at: datetime) -> Iterator[ChatNews]:
    """What a channel shall hear of an event by now, also what it has heard already. What is older than a day, or than
    the channel, is no news."""
    competition, oldest = hook.competition, max(hook.since, at - TOO_OLD)
    opens_at, closes_at = competition.opens_at, competition.closes_at
    launched_at, revealed_at = competition.launched_at, competition.revealed_at
    if event is ChatEvent.LAUNCHED and launched_at is not None and oldest < launched_at <= at:
        words = _("You can submit from %(opens)s until %(closes)s.")
        text = words % {"opens": _moment(opens_at), "closes": _moment(closes_at)}
        yield ChatNews(f"launched:{launched_at:%Y%m%dT%H%M%S}", _("launched"), text)
    # Not before half of the time is over, as with the reminders of students.
    near = max(closes_at - timedelta(days=1), opens_at + (closes_at - opens_at) / 2)
    if event is ChatEvent.DEADLINE and near <= at < closes_at:
        text = _("You can submit until %(closes)s.") % {"closes": _moment(closes_at)}
        yield ChatNews(f"deadline:{closes_at:%Y%m%dT%H%M%S}", _("the deadline is near"), text)
    if event is ChatEvent.REVEALED and revealed_at is not None and oldest < revealed_at <= at:
        yield ChatNews(
            f"revealed:{revealed_at:%Y%m%dT%H%M%S}", _("the private leaderboard is open"), page="leaderboard"
        )
    if event is ChatEvent.ANNOUNCED:
        to_all = Announcement.objects.filter(competition=competition, audience=Announcement.Audience.ALL)
        for sent in to_all.filter(withdrawn_at=None, sent_at__gt=oldest).order_by("sent_at"):
            yield ChatNews(sent.key, sent.title, sent.text)


def _queue_first_place(hook: Webhook, at: datetime) -> int:
    """Compare the first place with the one seen last. The name is the one that everybody reads on the board."""
    ground_truth = hook.competition.ground_truth
    if ground_truth is None or hook.competition.revealed_at is not None:
        return 0
    ground_truth.competition = hook.competition
    ladder = ladder_module.ladder_of(ground_truth)
    if ladder is not None and ladder.is_hidden:
        return 0
    first = boards.standings_in_order(ground_truth, Split.PUBLIC).select_related("team").first()
    team = first.team if first else None
    if hook.first_seen_at and hook.first_team_id == (team.pk if team else None):
        return 0
    with transaction.atomic():
        seen = Webhook.objects.filter(pk=hook.pk, first_seen_at=hook.first_seen_at)
        if not seen.update(first_team=team, first_seen_at=at) or hook.first_seen_at is None or team is None:
            return 0
        # Who was first for a moment only is no news any more.
        hook.messages.filter(event=ChatEvent.FIRST, tries=0, due_at__isnull=False).delete()
        name, _real = boards.names_of(team, hook.competition, sees_names=False)
        title = _("“%(team)s” takes first place on the public leaderboard") % {"team": name.translate(_HARMLESS)}
        return queue_message(hook, ChatEvent.FIRST, ChatNews(f"first:{at.timestamp():.3f}", title, page="leaderboard"))


def _moment(moment: datetime) -> str:
    return f"{day_and_time_text(moment.astimezone(UTC))} UTC"


# --- sending ------------------------------------------------------------------------------------------------------


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
        status = word.removeprefix("status ")
        if status in ("401", "403", "404", "410"):
            words = _("The service no longer accepts this URL (%(status)s). Create a new one there and paste it here.")
            return words % {"status": status}
        if status == "429":
            return _("The service accepts no more messages right now (429).")
        return _("The service answered with an error (%(status)s).") % {"status": status}
    sentences = {
        "": "",
        "elsewhere": _("This site isn't allowed to send messages to the URL's host."),
        "redirect": _("The service redirected us to another URL, which we don't follow. Copy the URL again."),
        "late": _("The service didn't answer in time."),
        "unreachable": _("We couldn't connect to the service securely. Check this site's internet connection."),
        "old": _("It couldn't be sent within a day and is out of date."),
        "off": _("Messages were turned off before it was sent."),
    }
    return sentences.get(word, _("Sending failed on this site. Your administrator can check the worker's log."))


def set_webhook(
    *, competition: Competition, user: User, address: str, events: Iterable[str], is_on: bool = True
) -> Webhook:
    """Send these events to a channel from now on; an empty address keeps the one there is. Raises `CannotHost`."""
    wanted = [event.value for event in ChatEvent if event.value in set(events)]
    with transaction.atomic():
        Competition.objects.select_for_update().get(pk=competition.pk)
        held = Webhook.objects.filter(competition=competition).first()
        if held is None and not address:
            raise CannotHost(_("Paste the webhook URL."))
        hook = held or Webhook(competition=competition)
        before = _webhook_facts(held)
        if address:
            try:
                found = chat_posting.read_address(address)
            except chat_posting.BadChatAddress as error:
                raise CannotHost(str(error)) from None
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
            raise CannotHost(_("Save the webhook URL first."))
        waiting = hook.messages.filter(event=WebhookMessage.TEST, due_at__isnull=False).first()
        if waiting is not None:
            return waiting
        key = WebhookMessage.new_key()
        text = _("It works: this competition's messages arrive here.")
        queue_message(hook, WebhookMessage.TEST, ChatNews(key, _("test message"), text))
        wake_workers_after_commit(tasks.post_due_messages)
        return hook.messages.get(key=key)


def _webhook_facts(hook: Webhook | None) -> dict[str, object]:
    """What the audit log may contain about a channel."""
    return {"service": hook.service, "events": list(hook.events), "is_on": hook.is_on} if hook else {}
