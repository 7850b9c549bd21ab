"""A class's channel hears what everybody may know, once, and its address stays a secret."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import BoardSettings, Competition, Team
from leaderboard.competitions.services import copying
from leaderboard.notifications import announcements, chat_posting, chat_sending
from leaderboard.notifications.models import ChatEvent, Webhook, WebhookMessage
from tests.conftest import answers, enter, hand_in, make_competition

SECRET = "abcdefghijklmnopqrstuvwx"
SLACK = f"https://hooks.slack.com/services/T1AAAAAAA/B1AAAAAAA/{SECRET}"
FLOW = "workflows/abc123/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=x"


def listen(competition: Competition, host: User, *events: ChatEvent, address: str = SLACK) -> Webhook:
    """A channel that has listened for a day."""
    hook = chat_sending.set_webhook(
        competition=competition, user=host, address=address, events=events or ChatEvent.values, is_on=True
    )
    Webhook.objects.filter(pk=hook.pk).update(since=timezone.now() - timedelta(days=1))
    return hook


def look() -> list[str]:
    """Look for news as the clock does; the titles that are new."""
    before = set(WebhookMessage.objects.values_list("pk", flat=True))
    chat_sending.queue_due_messages(timezone.now())
    return list(WebhookMessage.objects.exclude(pk__in=before).order_by("pk").values_list("title", flat=True))


@pytest.fixture
def posted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """What leaves for the services, which take everything."""
    sent: list[tuple[str, str, str]] = []

    def post(address: str, title: str, text: str) -> str:
        sent.append((address, title, text))
        return ""

    monkeypatch.setattr(chat_sending, "post_message", post)
    return sent


def answering(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setattr(chat_sending, "post_message", lambda address, title, text: word)


def due_again() -> None:
    """Let the pause after a failure pass."""
    WebhookMessage.objects.filter(due_at__isnull=False).update(due_at=timezone.now() - timedelta(seconds=1))


# --- addresses --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "service", "url"),
    [
        (SLACK, "Slack", SLACK),
        (f"  {SLACK}\n", "Slack", SLACK),
        ("https://discord.com/api/webhooks/123/a_B-c", "Discord", "https://discord.com/api/webhooks/123/a_B-c"),
        (f"https://prod-1.westeurope.logic.azure.com:443/{FLOW}", "Teams", None),
        (f"https://d1.22.environment.api.powerplatform.com/powerautomate/automations/direct/{FLOW}", "Teams", None),
        ("HTTPS://Chat.Example.edu/hooks/AbC", "chat.example.edu", "https://chat.example.edu/hooks/AbC"),
    ],
)
def test_addresses_of_the_services_are_understood(
    settings: LazySettings, given: str, service: str, url: str | None
) -> None:
    settings.WEBHOOK_HOSTS = ["Chat.example.edu"]
    found = chat_posting.read_address(given)
    assert found.service == service
    assert url is None or found.url == url


@pytest.mark.parametrize(
    "given",
    [
        "",
        "hooks.slack.com/services/T1/B1/c",
        SLACK.replace("https", "http"),
        SLACK.replace(".com/", ".com:8443/"),
        SLACK.replace("hooks.slack.com", "hooks.slack.com@127.0.0.1"),
        SLACK.replace("hooks.slack.com", "hooks.slack.com.example.org"),
        SLACK + "?template=/etc/passwd",
        SLACK + "#x",
        "https://127.0.0.1/hooks/x",
        "https://[::1]/hooks/x",
        "https://169.254.169.254/latest/meta-data/x",
        "https://localhost/hooks/x",
        "https://chat.example.edu/hooks/x",
        "https://discord.com/api/webhooks/123/abc?template=/etc/passwd",
        f"https://evil.example.org/{FLOW}",
        f"https://prod-1.westeurope.logic.azure.com/{FLOW}#x",
        f"https://prod-1.westeurope.logic.azure.com/{FLOW.partition('?')[0]}",
        f"https://prod-1.westeurope.logic.azure.com:80/{FLOW}",
        "json://127.0.0.1/x",
        "file:///etc/passwd",
        f"slack://T1AAAAAAA/B1AAAAAAA/{SECRET}",
        "https://tenant.webhook.office.com/webhookb2/x",
        "https://discord.com/" + "a" * 700,
    ],
)
@pytest.mark.attack("making the server post into its own network through a channel's address")
def test_every_other_address_is_refused_and_not_quoted(given: str) -> None:
    with pytest.raises(chat_posting.BadChatAddress) as refusal:
        chat_posting.read_address(given)
    assert not given or given not in str(refusal.value)


# --- what is notified -----------------------------------------------------------------------------------------------


def test_a_channel_hears_of_the_launch_the_deadline_an_announcement_and_the_reveal_once(ada: User, bo: User) -> None:
    pets = make_competition(ada)
    Competition.objects.filter(pk=pets.pk).update(closes_at=timezone.now() + timedelta(hours=20))
    listen(pets, ada, ChatEvent.LAUNCHED, ChatEvent.DEADLINE, ChatEvent.ANNOUNCED, ChatEvent.REVEALED)
    announcements.announce(competition=pets, user=ada, title="A new file", text="See **data**.")
    assert look() == [
        "Cats or dogs: launched",
        "Cats or dogs: the deadline is near",
        "Cats or dogs: A new file",
    ]
    Competition.objects.filter(pk=pets.pk).update(revealed_at=timezone.now() - timedelta(seconds=1))
    assert look() == ["Cats or dogs: the private leaderboard is open"]
    assert look() == []


def test_what_a_channel_did_not_ask_for_or_was_before_its_time_is_not_told(ada: User) -> None:
    pets = make_competition(ada)
    announcements.announce(competition=pets, user=ada, title="Old", text="Old.")
    chat_sending.set_webhook(
        competition=pets, user=ada, address=SLACK, events=[ChatEvent.LAUNCHED, ChatEvent.ANNOUNCED]
    )
    assert look() == []
    listen(pets, ada, ChatEvent.REVEALED)
    assert look() == []


def test_words_for_a_part_of_the_class_and_withdrawn_ones_stay_off_the_channel(ada: User, bo: User) -> None:
    pets = make_competition(ada)
    enter(pets, bo)
    listen(pets, ada, ChatEvent.ANNOUNCED)
    announcements.announce(competition=pets, user=ada, title="Part", text="You have no file.", audience="no_valid_file")
    gone = announcements.announce(competition=pets, user=ada, title="Gone", text="Wrong.")
    announcements.withdraw_announcement(announcement=gone, user=ada)
    assert look() == []


def test_drafts_and_channels_that_are_off_are_silent(ada: User) -> None:
    draft = make_competition(ada, launched=False)
    listen(draft, ada)
    assert look() == []
    live = make_competition(ada, slug="live")
    Webhook.objects.filter(pk=listen(live, ada).pk).update(is_on=False)
    assert look() == []


def test_a_change_of_the_first_place_is_told_and_the_present_one_is_not(ada: User, bo: User, cy: User) -> None:
    pets = make_competition(ada, board_mode="plain")
    enter(pets, bo), enter(pets, cy)
    hand_in(pets, bo, answers(public=3))
    listen(pets, ada, ChatEvent.FIRST)
    assert look() == []
    hand_in(pets, cy, answers(public=4))
    assert look() == []
    hand_in(pets, cy, answers(public=1))
    assert look() == ["Cats or dogs: “cy” takes first place on the public leaderboard"]
    assert look() == []
    assert not any(sign in WebhookMessage.objects.get().text for sign in "0123456789")


def test_of_two_changes_that_wait_the_newest_alone_is_told(ada: User, bo: User, cy: User) -> None:
    pets = make_competition(ada, board_mode="plain")
    enter(pets, bo), enter(pets, cy)
    listen(pets, ada, ChatEvent.FIRST)
    look()
    hand_in(pets, bo, answers(public=3))
    look()
    hand_in(pets, cy, answers(public=1))
    look()
    assert [message.title.split("“")[1][:2] for message in WebhookMessage.objects.all()] == ["cy"]


@pytest.mark.attack("a channel's address read or logged; names that call people in a chat")
def test_a_team_is_told_by_its_pseudonym_and_its_name_calls_nobody(ada: User, bo: User, cy: User) -> None:
    pets = make_competition(ada, board_mode="plain")
    team = enter(pets, bo).team
    Team.objects.filter(pk=team.pk).update(name="@everyone <!channel> [x](https://x.example)")
    listen(pets, ada, ChatEvent.FIRST)
    look()
    hand_in(pets, bo, answers(public=3))
    (title,) = look()
    assert not any(harm in title for harm in ("@everyone", "<!", "]("))
    BoardSettings.objects.filter(pk=pets.pk).update(uses_pseudonyms=True)
    other = enter(pets, cy).team
    Team.objects.filter(pk=other.pk).update(pseudonym="Amber Otter")
    hand_in(pets, cy, answers())
    assert look() == ["Cats or dogs: “Amber Otter” takes first place on the public leaderboard"]


@pytest.mark.parametrize("mode", ["hidden", "revealed"])
def test_a_board_that_tells_no_places_tells_the_channel_none(ada: User, bo: User, mode: str) -> None:
    pets = make_competition(ada, board_mode="hidden" if mode == "hidden" else "plain")
    enter(pets, bo)
    listen(pets, ada, ChatEvent.FIRST)
    look()
    hand_in(pets, bo, answers())
    if mode == "revealed":
        Competition.objects.filter(pk=pets.pk).update(revealed_at=timezone.now() - timedelta(days=2))
    assert look() == []


# --- sending ----------------------------------------------------------------------------------------------------


def test_each_message_is_sent_once(ada: User, pets: Competition, posted: list[Any], settings: LazySettings) -> None:
    settings.SITE_URL = "https://class.example.org"
    listen(pets, ada, ChatEvent.LAUNCHED)
    look()
    assert [chat_sending.send_due_messages(), chat_sending.send_due_messages()] == [False, False]
    ((address, title, text),) = posted
    assert (address, title) == (SLACK, "Cats or dogs: launched")
    assert text.endswith("https://class.example.org/c/pets/")
    assert WebhookMessage.objects.get().state == "sent"


def test_a_failure_is_tried_again_after_a_pause_and_given_up_in_the_end(
    ada: User, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "late")
    listen(pets, ada, ChatEvent.LAUNCHED)
    look()
    states = []
    for _ in range(chat_sending.MOST_TRIES):
        chat_sending.send_due_messages()
        assert not chat_sending.are_messages_due()
        states.append(WebhookMessage.objects.get().state)
        due_again()
    assert states == ["waiting"] * (chat_sending.MOST_TRIES - 1) + ["given_up"]


@pytest.mark.parametrize("word", sorted(chat_sending.FINAL_OUTCOMES))
def test_what_another_try_does_not_change_is_not_tried_again(
    ada: User, pets: Competition, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    answering(monkeypatch, word)
    listen(pets, ada, ChatEvent.LAUNCHED)
    look()
    chat_sending.send_due_messages()
    message = WebhookMessage.objects.get()
    assert (message.state, message.last_problem) == ("given_up", word)
    assert "Your administrator can check the worker's log" not in chat_sending.explain_outcome(word)


def test_a_message_in_hand_is_nobody_elses_until_its_lease_ends(
    ada: User, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies while it posts leaves the message to the next one."""
    calls = []

    def die(address: str, title: str, text: str) -> str:
        calls.append(title)
        assert not chat_sending.are_messages_due()
        raise SystemExit

    monkeypatch.setattr(chat_sending, "post_message", die)
    listen(pets, ada, ChatEvent.LAUNCHED)
    look()
    with pytest.raises(SystemExit):
        chat_sending.send_due_messages()
    answering(monkeypatch, "")
    due_again()
    chat_sending.send_due_messages()
    assert WebhookMessage.objects.get().state == "sent"


def test_an_hour_has_a_limit_and_the_rest_waits(ada: User, pets: Competition, posted: list[Any]) -> None:
    hook = listen(pets, ada)
    for number in range(chat_sending.MOST_PER_HOUR + 3):
        chat_sending.queue_message(hook, "announced", chat_sending.ChatNews(f"n{number}", f"News {number}"))
    chat_sending.send_due_messages(within=60)
    assert len(posted) == chat_sending.MOST_PER_HOUR
    assert WebhookMessage.objects.filter(sent_at=None, due_at__gt=timezone.now(), tries=0).count() == 3


def test_old_news_and_channels_that_were_switched_off_meanwhile_get_nothing(
    ada: User, pets: Competition, posted: list[Any]
) -> None:
    hook = listen(pets, ada)
    chat_sending.queue_message(hook, "announced", chat_sending.ChatNews("a", "Old"))
    WebhookMessage.objects.update(created_at=timezone.now() - timedelta(days=2))
    chat_sending.queue_message(hook, "announced", chat_sending.ChatNews("b", "New"))
    Webhook.objects.update(is_on=False)
    chat_sending.send_due_messages()
    assert posted == []
    assert set(WebhookMessage.objects.values_list("last_problem", "due_at")) == {("old", None), ("off", None)}


# --- a secret ---------------------------------------------------------------------------------------------------


@pytest.mark.attack("a channel's address read or logged; names that call people in a chat")
def test_the_address_is_in_no_log_no_audit_log_and_no_copy(
    ada: User, pets: Competition, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hook = listen(pets, ada)
    answering(monkeypatch, "late")
    look()
    with caplog.at_level(logging.DEBUG):
        chat_sending.send_due_messages()
    assert "a message to a chat could not be sent: late" in caplog.text
    copy = copying.clone_competition(competition=pets, user=ada, title="Next", slug="next")
    chat_sending.remove_webhook(competition=pets, user=ada)
    audit_log = json.dumps([[entry.before, entry.after, entry.about] for entry in AuditEntry.objects.all()])
    assert "Slack" in audit_log
    assert not Webhook.objects.filter(competition=copy).exists()
    for text in (audit_log, caplog.text, str(hook), hook.shown_address):
        assert SECRET not in text
