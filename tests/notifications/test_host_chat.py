"""Ada connects a channel, tries it, reads what became of it, and nobody else sees its address."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import Competition
from leaderboard.notifications import chat_sending
from leaderboard.notifications.models import Webhook, WebhookMessage
from tests.pages import signed_in, text_of

PAGE = "/host/pets/settings/chat/"
SECRET = "abcdefghijklmnopqrstuvwx"
SLACK = f"https://hooks.slack.com/services/T1AAAAAAA/B1AAAAAAA/{SECRET}"


def save(host: User, **fields: Any) -> Any:
    given = {"action": "save", "address": SLACK, "events": ["launched", "first"], "is_on": "on", **fields}
    return signed_in(host).post(PAGE, given, follow=True)


def press(host: User, action: str) -> Any:
    return signed_in(host).post(PAGE, {"action": action}, follow=True)


@pytest.mark.attack("a channel's address read or logged; names that call people in a chat")
def test_ada_connects_a_channel_and_never_reads_its_address_again(ada: User, pets: Competition) -> None:
    page = save(ada).content.decode()
    assert "Saved." in page
    assert "Slack …uvwx" in page
    assert SECRET not in page
    hook = Webhook.objects.get()
    assert (hook.address, hook.events, hook.is_on) == (SLACK, ["launched", "first"], True)
    entry = AuditEntry.objects.get(event="webhook_set")
    assert SECRET not in str([entry.before, entry.after])
    assert entry.after["address"] == "changed"


def test_an_empty_address_keeps_the_channel(ada: User, pets: Competition) -> None:
    save(ada)
    save(ada, address="", events=["revealed"], is_on="")
    hook = Webhook.objects.get()
    assert (hook.address, hook.events, hook.is_on) == (SLACK, ["revealed"], False)
    assert AuditEntry.objects.filter(event="webhook_set").latest("pk").after["address"] == "kept"


@pytest.mark.parametrize(
    ("fields", "status", "word"),
    [
        ({"address": ""}, 422, "Webhook URL: This field is required"),
        (
            {"address": "https://127.0.0.1/hooks/x"},
            409,
            "Messages can go to Slack, Discord, Teams, or hosts your administrator allows (WEBHOOK_HOSTS)",
        ),
        ({"address": SLACK.replace("https", "http")}, 409, "https://"),
        ({"address": "x" * 700}, 422, "600"),
        ({"events": []}, 422, "This field is required"),
        ({"events": ["private"]}, 422, "Select a valid choice"),
    ],
)
def test_what_cannot_be_saved_is_said_and_nothing_is_lost(
    ada: User, pets: Competition, fields: dict[str, Any], status: int, word: str
) -> None:
    answer = save(ada, **fields)
    assert answer.status_code == status
    page = answer.content.decode()
    assert word in page
    assert 'value="launched"' in page
    assert not Webhook.objects.exists()


def test_a_test_waits_is_sent_and_its_result_is_shown(
    ada: User, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(ada)
    page = press(ada, "test").content.decode()
    assert "Sending" in page
    assert 'hx-trigger="every 2s"' in page
    press(ada, "test")
    assert WebhookMessage.objects.count() == 1
    monkeypatch.setattr(chat_sending, "post_message", lambda *_: "status 404")
    chat_sending.send_due_messages()
    page = signed_in(ada).get(PAGE, headers={"HX-Request": "true"}).content.decode()
    assert "Not sent" in page
    assert "no longer accepts this URL (404)" in page
    assert "<html" not in page
    assert "hx-trigger" not in page
    monkeypatch.setattr(chat_sending, "post_message", lambda *_: "")
    press(ada, "test")
    chat_sending.send_due_messages()
    assert '<span class="badge success">Sent</span>' in signed_in(ada).get(PAGE).content.decode()


def test_a_test_that_failed_is_not_tried_again_by_itself_and_another_can_be_sent(
    ada: User, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(ada)
    press(ada, "test")
    monkeypatch.setattr(chat_sending, "post_message", lambda *_: "unreachable")
    chat_sending.send_due_messages()
    assert "Not sent" in signed_in(ada).get(PAGE).content.decode()
    press(ada, "test")
    assert WebhookMessage.objects.count() == 2


def test_the_dashboard_says_that_the_channel_took_nothing_until_it_does_or_another_is_pasted(
    ada: User, bo: User, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    pets.assistants.add(bo)
    save(ada)

    def output(word: str) -> str:
        monkeypatch.setattr(chat_sending, "post_message", lambda *_: word)
        press(ada, "test")
        chat_sending.send_due_messages()
        return notice(ada)

    def notice(reader: User) -> str:
        page = text_of(signed_in(reader).get("/host/pets/"))
        return page.partition("The last message to Slack failed: ")[2][:60]

    assert not notice(ada)
    assert output("status 404").startswith("The service no longer accepts this URL (404).")
    assert "The service didn't answer in time" in output("late")
    assert not notice(bo)
    save(ada, address="")
    assert notice(ada)
    save(ada, address="", is_on="")
    assert not notice(ada)
    save(ada, address="")
    assert not output("")
    assert output("status 404")
    save(ada, address=SLACK.replace("B1", "B2"))
    assert not notice(ada)


def test_a_sending_to_an_earlier_address_says_nothing_of_the_new_one(
    ada: User, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(ada)
    press(ada, "test")

    def fail_late(*_: str) -> str:
        save(ada, address=SLACK.replace("B1", "B2"))
        return "late"

    monkeypatch.setattr(chat_sending, "post_message", fail_late)
    chat_sending.send_due_messages()
    assert Webhook.objects.get().last_problem == ""


def test_a_test_needs_a_channel(ada: User, pets: Competition) -> None:
    answer = press(ada, "test")
    assert answer.status_code == 409
    assert "Save the webhook URL first." in answer.content.decode()


def test_a_test_is_sent_also_while_messages_are_off(
    ada: User, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(ada, is_on="")
    press(ada, "test")
    monkeypatch.setattr(chat_sending, "post_message", lambda *_: "")
    chat_sending.send_due_messages()
    assert WebhookMessage.objects.get().state == "sent"


def test_ada_forgets_the_channel(ada: User, pets: Competition) -> None:
    save(ada)
    press(ada, "test")
    assert press(ada, "remove").status_code == 200
    assert not Webhook.objects.exists()
    assert not WebhookMessage.objects.exists()
    assert AuditEntry.objects.filter(event="webhook_removed").count() == 1
    press(ada, "remove")
    assert AuditEntry.objects.filter(event="webhook_removed").count() == 1


def test_an_assistant_is_told_whose_page_it_is_and_a_student_finds_none(
    ada: User, bo: User, cy: User, pets: Competition
) -> None:
    pets.assistants.add(bo)
    assert [signed_in(user).get(PAGE).status_code for user in (bo, cy)] == [403, 404]


def test_the_page_costs_few_queries_however_much_was_sent(ada: User, pets: Competition) -> None:
    save(ada)
    hook = Webhook.objects.get()
    for number in range(30):
        chat_sending.queue_message(hook, "announced", chat_sending.ChatNews(f"n{number}", f"News {number}"))
    client = signed_in(ada)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        page = client.get(PAGE).content.decode()
    assert len(queries) <= 12
    assert page.count('<th scope="row"') == 10


def test_looking_for_news_costs_channels_and_not_competitions(ada: User, pets: Competition) -> None:
    chat_sending.set_webhook(competition=pets, user=ada, address=SLACK, events=["launched", "first", "deadline"])
    chat_sending.queue_due_messages(timezone.now())
    with CaptureQueriesContext(connection) as queries:
        chat_sending.queue_due_messages(timezone.now() + timedelta(seconds=1))
    assert len(queries) <= 5
