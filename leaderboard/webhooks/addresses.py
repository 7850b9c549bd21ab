"""Addresses of channels: which are taken, and how each is written in one way.

Services' own https addresses and apprise's short forms become the service's own; everything else is refused, so that
no option of a library can be switched on through an address.
"""

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
_TEAMS = re.compile(rf"https://{_HOST}{_FLOW}\?(?P<query>[A-Za-z0-9_.~%/=&-]+)")
_OWN = re.compile(rf"https://{_HOST}(?:/[A-Za-z0-9_.~-]+)+/?")
_SHORT = re.compile(r"(?P<form>slack|discord|workflows?)://(?P<rest>[A-Za-z0-9_.:/-]+)")
_QUERY = {"api-version", "sp", "sv", "sig"}


class BadAddress(Exception):
    """Why an address is not taken, in words for the host; the address itself is not quoted."""


@dataclass(frozen=True)
class Address:
    service: str
    url: str


def allowed_hosts() -> list[str]:
    """The hosts that messages may go to; an operator adds others with `WEBHOOK_HOSTS`."""
    return [*SERVICE_HOSTS, *(host.lower() for host in settings.WEBHOOK_HOSTS)]


def read_address(text: str) -> Address:
    """Understand what a host pasted. Raises `BadAddress`."""
    url = _long_form(text.strip())
    if len(url) > LONGEST:
        raise BadAddress(_("This address is longer than %(number)s characters.") % {"number": LONGEST})
    if not url.startswith("https://"):
        raise BadAddress(_("Only addresses that begin with https:// are taken."))
    for service, found in (("Slack", _SLACK.fullmatch(url)), ("Discord", _DISCORD.fullmatch(url))):
        if found:
            return Address(service, url)
    if (flow := _TEAMS.fullmatch(url)) and _is_service(flow["host"]) and _is_signed(flow["query"]):
        return Address("Teams", url)
    if (own := _OWN.fullmatch(url)) and own["host"] in {host.lower() for host in settings.WEBHOOK_HOSTS}:
        return Address(own["host"][:40], url)
    raise BadAddress(_why_not(url))


def _long_form(text: str) -> str:
    """The address that the service itself hands out, also for apprise's short form of it."""
    if not (short := _SHORT.fullmatch(text)):
        scheme, separator, rest = text.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme.lower()}{separator}{host.lower()}{slash}{path}"
    parts = short["rest"].strip("/").split("/")
    if short["form"] == "slack" and len(parts) == 3:
        return f"https://hooks.slack.com/services/{'/'.join(parts)}"
    if short["form"] == "discord" and len(parts) == 2:
        return f"https://discord.com/api/webhooks/{'/'.join(parts)}"
    if short["form"].startswith("workflow") and len(parts) == 3:
        host, flow, signature = parts
        query = f"api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig={signature}"
        return f"https://{host}/workflows/{flow}/triggers/manual/paths/invoke?{query}"
    return text


def _is_service(host: str) -> bool:
    return any(fnmatchcase(host, pattern) for pattern in SERVICE_HOSTS)


def _is_signed(query: str) -> bool:
    """Whether a flow's address has what Microsoft puts there, and nothing that apprise would take for an option."""
    names = [part.partition("=")[0] for part in query.split("&")]
    return "sig" in names and len(set(names)) == len(names) and set(names) <= _QUERY


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
