"""The operators' page about the people of the site."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.names import clean_text
from leaderboard.common.responses import absolute_url, see_other, signed_in_user

from .. import people as people_module
from ..adapter import may_use_password
from ..forms import PersonForm
from ..models import User

PER_PAGE = 50


@open_page_to(SiteAudience.OPERATORS)
def people(request: HttpRequest) -> HttpResponse:
    """Find and add people, let them host, make password links. A link is only in the response to the POST."""
    action = request.POST.get("action", "")
    form, receiver = PersonForm(request.POST if action == "add" else None), None
    if action == "add":
        receiver = _add_person(request, form)
    elif action:
        account = get_object_or_404(User, username=request.POST.get("person", ""), is_active=True)
        if action in ("host", "no_host"):
            return _set_can_host(request, account, action == "host")
        if action != "link" or not may_use_password(account):
            raise Http404
        receiver = account
    return _people_page(request, form, receiver)


def _people_page(request: HttpRequest, form: PersonForm, receiver: User | None) -> HttpResponse:
    text, link = clean_text(request.GET.get("q", ""))[:60], ""
    if receiver is not None:
        token = people_module.make_password_link(account=receiver, user=signed_in_user(request.user))
        link = absolute_url(request, "password_link", token)
    context = {
        "form": form,
        "q": text,
        "page": Paginator(people_module.find_people(text), PER_PAGE).get_page(request.GET.get("page")),
        "receiver": receiver,
        "password_link": link,
    }
    return render(request, "accounts/people.html", context, status=422 if form.errors else 200)


def _add_person(request: HttpRequest, form: PersonForm) -> User | None:
    if not form.is_valid():
        return None
    account = people_module.add_person(**form.cleaned_data, user=signed_in_user(request.user))
    if may_use_password(account):
        return account
    messages.success(request, _("%(name)s can sign in at the institution now.") % {"name": account})
    return None


def _set_can_host(request: HttpRequest, account: User, can_host: bool) -> HttpResponse:
    people_module.set_can_host(account=account, can_host=can_host, user=signed_in_user(request.user))
    if can_host:
        words = _("%(name)s can now host competitions.")
    else:
        words = _("%(name)s can't create competitions any more. Competitions they host stay theirs.")
    messages.success(request, words % {"name": account})
    return see_other("people", query=f"?{request.GET.urlencode()}" if request.GET else "")
