"""The audit trail of a competition, for its hosts."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from ...models import AuditEntry, User
from ..access import Audience, Visit, open_to

PER_PAGE = 50


@open_to(Audience.HOSTS)
def host_audit(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Who changed what, newest first. People are numbers in the trail; who left has no name any more."""
    found = AuditEntry.objects.filter(competition=visit.competition.pk).order_by("-number")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    numbers = {number for entry in page for number in (entry.by, entry.account) if number is not None}
    names = dict(User.objects.filter(pk__in=numbers).values_list("pk", "username"))
    rows = [(entry, _name(entry.by, names, _("the site itself")), _name(entry.account, names, "")) for entry in page]
    return render(request, "hosts/host_audit.html", {"visit": visit, "page": page, "rows": rows})


def _name(number: int | None, names: dict[int, str], nobody: str) -> str:
    return nobody if number is None else names.get(number, _("deleted account %(number)s") % {"number": number})
