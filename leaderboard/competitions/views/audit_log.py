"""The audit log of a competition, for its hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry

from ..access import Audience, PageContext, open_to
from ..models import Team

PER_PAGE = 50
NUMBERED = re.compile(r"(team|account) #([0-9]{1,18})")


@open_to(Audience.HOSTS)
def host_audit(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Lists who changed what, newest first. People and teams are numbers in the audit log; deleted accounts have no
    name any more."""
    found = AuditEntry.objects.filter(competition=page_context.competition.pk).order_by("-number")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    names = _names_for(page)
    rows = [
        (
            entry,
            names.of_account(entry.by) or _("the site itself"),
            names.of_account(entry.account),
            names.replace_ids(entry.about),
            [names.replace_ids(list(change)) for change in entry.changes],
        )
        for entry in page
    ]
    return render(request, "competitions/host_audit.html", {"page_context": page_context, "page": page, "rows": rows})


@dataclass(frozen=True)
class _NamesOnPage:
    """What the numbers of a page stand for today."""

    accounts: dict[int, str]
    teams: dict[int, str]

    def of_account(self, number: int | None) -> str:
        if number is None:
            return ""
        return self.accounts.get(number) or _("deleted account %(number)s") % {"number": number}

    def replace_ids(self, value: Any) -> Any:
        """The value with names for its numbers, however deep in it."""
        if isinstance(value, list):
            return [self.replace_ids(one) for one in value]
        if not isinstance(value, str) or not (found := NUMBERED.fullmatch(value)):
            return value
        number = int(found[2])
        if found[1] == "account":
            return self.of_account(number)
        return self.teams.get(number) or _("team %(number)s") % {"number": number}


def _names_for(entries: Iterable[AuditEntry]) -> _NamesOnPage:
    """Two queries for all of them."""
    named_ids = [named for entry in entries for named in _named_ids(entry)]
    accounts = User.objects.filter(pk__in={number for kind, number in named_ids if kind == "account"})
    teams = Team.objects.filter(pk__in={number for kind, number in named_ids if kind == "team"})
    return _NamesOnPage(dict(accounts.values_list("pk", "username")), dict(teams.values_list("pk", "name")))


def _named_ids(entry: AuditEntry) -> Iterator[tuple[str, int]]:
    """The accounts and teams that an entry names."""
    yield from (("account", number) for number in (entry.by, entry.account) if number is not None)
    waiting: list[Any] = [entry.about, *entry.changes]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | tuple):
            waiting.extend(value)
        elif isinstance(value, str) and (found := NUMBERED.fullmatch(value)):
            yield found[1], int(found[2])
