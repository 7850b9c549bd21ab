"""Posts one message to the channel of a class.

Only hosts of the allow-list are called (`read_address`), by https and with a certificate for their name, so a name that
leads into a private network receives nothing. Redirects are not followed and the body of an answer is not read.

Addresses of channels: those of Slack, Discord and Teams, and of hosts that the operator adds (`WEBHOOK_HOSTS`).
"""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass
from fnmatch import fnmatchcase
from queue import Empty, SimpleQueue
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

CONNECT_SECONDS, READ_SECONDS = 4, 6
# For the whole of it: a service that answers drop by drop begins the seconds for reading again and again.
POST_SECONDS = 15.0
DISCORD_LONGEST = 2000
LONGEST = 600
SERVICE_HOSTS = ("hooks.slack.com", "discord.com", "discordapp.com", "*.logic.azure.com", "*.api.powerplatform.com")

_HOST = r"(?P<host>[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?)(?::443)?"
_FLOW = r"(?:/powerautomate/automations/direct(?:/cu/[0-9]+)?)?/workflows/[A-Za-z0-9_-]+/triggers/manual/paths/invoke/?"
_SLACK = re.compile(r"https://hooks\.slack\.com/services/[A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]+/?")
_DISCORD = re.compile(r"https://discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]+/?")
_TEAMS = re.compile(rf"https://{_HOST}{_FLOW}\?(?:[A-Za-z0-9_.~%/=-]+&)*sig=[A-Za-z0-9_.~%/=&-]+")
_OWN = re.compile(rf"https://{_HOST}(?:/[A-Za-z0-9_.~-]+)+/?")


class BadChatAddress(Exception):
    """Why an address is not taken, in words for the host; the address itself is not quoted."""


@dataclass(frozen=True)
class ChatAddress:
    service: str
    url: str


def read_address(text: str) -> ChatAddress:
    """Understand what a host pasted. Raises `BadChatAddress`."""
    scheme, separator, rest = text.strip().partition("://")
    host, slash, path = rest.partition("/")
    url = f"{scheme.lower()}{separator}{host.lower()}{slash}{path}"
    if len(url) > LONGEST:
        raise BadChatAddress(_("The URL is longer than %(number)s characters.") % {"number": LONGEST})
    if not url.startswith("https://"):
        raise BadChatAddress(_("The URL must start with https://."))
    for service, found in (("Slack", _SLACK.fullmatch(url)), ("Discord", _DISCORD.fullmatch(url))):
        if found:
            return ChatAddress(service, url)
    if (flow := _TEAMS.fullmatch(url)) and any(fnmatchcase(flow["host"], name) for name in SERVICE_HOSTS):
        return ChatAddress("Teams", url)
    if (own := _OWN.fullmatch(url)) and own["host"] in {host.lower() for host in settings.WEBHOOK_HOSTS}:
        return ChatAddress(own["host"][:40], url)
    raise BadChatAddress(_why_not(url))


def _why_not(url: str) -> str:
    host = re.split(r"[/?#]", url.removeprefix("https://"))[0]
    if host.endswith(".webhook.office.com"):
        return _("Microsoft retired these URLs. Create a workflow in Teams and paste its URL.")
    if "@" in host or (":" in host and not host.endswith(":443")):
        return _("The URL can't contain usernames, passwords or ports other than 443.")
    if not any(fnmatchcase(host.removesuffix(":443"), name) for name in SERVICE_HOSTS):
        return _("Messages can go to Slack, Discord, Teams, or hosts your administrator allows (WEBHOOK_HOSTS).")
    return _("This webhook URL is incomplete. Copy it in full from the service's page for incoming webhooks.")


def post_message(address: str, title: str, text: str) -> str:
    """Post one message; gives a code for `explain_outcome`, empty when the service took it."""
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
        heading = {"type": "TextBlock", "text": title, "weight": "bolder", "size": "medium", "wrap": True}
        card = {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "body": [heading, {"type": "TextBlock", "text": text, "wrap": True}],
        }
        attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
        return {"type": "message", "attachments": [attachment]}
    if "/hooks/" in channel.url:  # Mattermost and Rocket.Chat
        return {"username": "Leaderboard", "text": f"**{title}**\n{text}"}
    return {"version": "1.0", "type": "info", "title": title, "message": text}


def _slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
