"""Posts one message to the channel of a class.

Only hosts of the allow-list are called (`read_address`), by https and with a certificate for their name, so a name that
leads into a private network receives nothing. Redirects are not followed and the body of an answer is not read.
"""

from __future__ import annotations

import os
import threading
from queue import Empty, SimpleQueue
from typing import Any

from .chat_addresses import BadChatAddress, ChatAddress, read_address

CONNECT_SECONDS, READ_SECONDS = 4, 6
# For the whole of it: a service that answers drop by drop begins the seconds for reading again and again.
POST_SECONDS = 15.0
DISCORD_LONGEST = 2000


def post_message(address: str, title: str, text: str) -> str:
    """Post one message; gives a code for `explain`, empty when the service took it."""
    try:
        channel = read_address(address)
    except BadChatAddress:
        return "elsewhere"
    codes: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=lambda: codes.put(_post_json(channel, title, text)), daemon=True).start()
    try:
        return codes.get(timeout=POST_SECONDS)
    except Empty:
        return "late"


def _post_json(channel: ChatAddress, title: str, text: str) -> str:
    import requests  # 5 MB and 60 ms, which processes that post nothing do without

    with requests.Session() as session:
        session.trust_env = False  # no proxy and no password file of this machine
        try:
            answer = session.post(
                channel.url,
                json=payload(channel, title, text),
                allow_redirects=False,
                stream=True,
                timeout=(CONNECT_SECONDS, READ_SECONDS),
                verify=os.environ.get("REQUESTS_CA_BUNDLE") or True,
            )
            answer.close()
        except requests.Timeout:
            return "late"
        except Exception:  # its text quotes the address, which is a secret
            return "unreachable"
    if 300 <= answer.status_code < 400:
        return "redirect"
    return "" if answer.ok else f"status {answer.status_code}"


def payload(channel: ChatAddress, title: str, text: str) -> dict[str, Any]:
    """The message in the form that the service documents for incoming webhooks."""
    if channel.service == "Slack":
        return {"attachments": [{"fallback": _slack(title), "title": _slack(title), "text": _slack(text)}]}
    if channel.service == "Discord":
        content = f"**{title}**\n{text}"[:DISCORD_LONGEST]
        return {"content": content, "allowed_mentions": {"parse": []}}
    if channel.service == "Teams":
        return _adaptive_card(title, text)
    if "/hooks/" in channel.url:  # Mattermost and Rocket.Chat
        return {"username": "Leaderboard", "text": f"**{title}**\n{text}"}
    return {"version": "1.0", "type": "info", "title": title, "message": text}


def _slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _adaptive_card(title: str, text: str) -> dict[str, Any]:
    body = [
        {"type": "TextBlock", "text": title, "weight": "bolder", "size": "medium", "wrap": True},
        {"type": "TextBlock", "text": text, "wrap": True},
    ]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}
