"""What a channel has not heard yet: found in the facts each minute, and written down once by its key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from leaderboard.common.clock import database_now
from leaderboard.common.display_time import day_and_time_text
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.ranking import boards
from leaderboard.competitions.ranking import ladder as ladder_module

from .models import Announcement, Webhook, WebhookMessage
from .models.chat import ChatEvent

DAY = timedelta(days=1)
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
    found = list(_FINDERS[event](hook, at))
    known = set(hook.messages.filter(key__in=[news.key for news in found]).values_list("key", flat=True))
    return sum(queue_message(hook, event, news) for news in found if news.key not in known)


def queue_message(hook: Webhook, event: str, news: ChatNews) -> int:
    """Put a message in the queue, unless it is there; gives 1 when it is new."""
    text = "\n\n".join(filter(None, [_plain_text(news.text)[:LONGEST_TEXT], _address(hook.competition, news.page)]))
    title = " ".join(_plain_text(f"{hook.competition.title}: {news.title}").split())[:LONGEST_TITLE]
    # SQLite's clock counts milliseconds: a due moment that is finer would lie ahead of it for a blink.
    due_at = database_now().replace(microsecond=0)
    _message, is_new = WebhookMessage.objects.get_or_create(
        webhook=hook, key=news.key, defaults={"event": event, "title": title, "text": text, "due_at": due_at}
    )
    return int(is_new)


def escape_for_chat(text: str) -> str:
    """What a student wrote, so that it calls nobody and opens nothing in any of the chats."""
    return text.translate(_HARMLESS)


def _plain_text(text: str) -> str:
    return text.replace("\0", "").strip()


def _address(competition: Competition, page: str) -> str:
    if not settings.SITE_URL:
        return ""
    return f"{settings.SITE_URL.rstrip('/')}{reverse(page, kwargs={'slug': competition.slug})}"


def _is_news(moment: datetime | None, hook: Webhook, at: datetime) -> bool:
    return moment is not None and max(hook.since, at - DAY) < moment <= at


def _launched(hook: Webhook, at: datetime) -> Iterator[ChatNews]:
    competition = hook.competition
    if _is_news(competition.launched_at, hook, at):
        words = _("Files are taken from %(opens)s until %(closes)s.")
        text = words % {"opens": _moment(competition.opens_at), "closes": _moment(competition.closes_at)}
        yield ChatNews(f"launched:{competition.launched_at:%Y%m%dT%H%M%S}", _("launched"), text)


def _deadline(hook: Webhook, at: datetime) -> Iterator[ChatNews]:
    """Not before half of the time is over, as with the reminders of students."""
    opens_at, closes_at = hook.competition.opens_at, hook.competition.closes_at
    if max(closes_at - DAY, opens_at + (closes_at - opens_at) / 2) <= at < closes_at:
        text = _("Files are taken until %(closes)s.") % {"closes": _moment(closes_at)}
        yield ChatNews(f"deadline:{closes_at:%Y%m%dT%H%M%S}", _("the deadline is near"), text)


def _revealed(hook: Webhook, at: datetime) -> Iterator[ChatNews]:
    moment = hook.competition.revealed_at
    if _is_news(moment, hook, at):
        yield ChatNews(f"revealed:{moment:%Y%m%dT%H%M%S}", _("the private board is open"), page="leaderboard")


def _announced(hook: Webhook, at: datetime) -> Iterator[ChatNews]:
    to_all = Announcement.objects.filter(competition=hook.competition, audience=Announcement.Audience.ALL)
    for sent in to_all.filter(withdrawn_at=None, sent_at__gt=max(hook.since, at - DAY)).order_by("sent_at"):
        yield ChatNews(sent.key, sent.title, sent.text)


_FINDERS: dict[ChatEvent, Callable[[Webhook, datetime], Iterator[ChatNews]]] = {
    ChatEvent.LAUNCHED: _launched,
    ChatEvent.DEADLINE: _deadline,
    ChatEvent.REVEALED: _revealed,
    ChatEvent.ANNOUNCED: _announced,
}


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
        title = _("“%(team)s” takes the first place of the public board") % {"team": escape_for_chat(name)}
        return queue_message(hook, ChatEvent.FIRST, ChatNews(f"first:{at.timestamp():.3f}", title, page="leaderboard"))


def _moment(moment: datetime) -> str:
    return f"{day_and_time_text(moment.astimezone(UTC))} UTC"
