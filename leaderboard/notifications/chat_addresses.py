"""Addresses of channels: those of Slack, Discord and Teams, and of hosts that the operator adds (`WEBHOOK_HOSTS`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from django.conf import settings
from django.utils.translation import gettext as _

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
    """Understand what a host pasted. Raises `BadAddress`."""
    url = _with_small_host(text.strip())
    if len(url) > LONGEST:
        raise BadChatAddress(_("This address is longer than %(number)s characters.") % {"number": LONGEST})
    if not url.startswith("https://"):
        raise BadChatAddress(_("Only addresses that begin with https:// are taken."))
    for service, found in (("Slack", _SLACK.fullmatch(url)), ("Discord", _DISCORD.fullmatch(url))):
        if found:
            return ChatAddress(service, url)
    if (flow := _TEAMS.fullmatch(url)) and _is_service(flow["host"]):
        return ChatAddress("Teams", url)
    if (own := _OWN.fullmatch(url)) and own["host"] in {host.lower() for host in settings.WEBHOOK_HOSTS}:
        return ChatAddress(own["host"][:40], url)
    raise BadChatAddress(_why_not(url))


def _with_small_host(text: str) -> str:
    scheme, separator, rest = text.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}{separator}{host.lower()}{slash}{path}"


def _is_service(host: str) -> bool:
    return any(fnmatchcase(host, pattern) for pattern in SERVICE_HOSTS)


def _why_not(url: str) -> str:
    host = re.split(r"[/?#]", url.removeprefix("https://"))[0]
    if host.endswith(".webhook.office.com"):
        return _("Microsoft no longer serves these addresses. Make a workflow in Teams and paste the address it gives.")
    if "@" in host or (":" in host and not host.endswith(":443")):
        return _("Names, passwords and ports other than 443 are not taken in an address.")
    if not _is_service(host.removesuffix(":443")):
        return _(
            "Messages go to Slack, Discord and Teams alone, or to a host that the operator of this site allows "
            "(WEBHOOK_HOSTS)."
        )
    return _("This is no complete address of a channel. Copy it whole from the service's page for incoming webhooks.")
