"""Hosts' pages about people: the class, roles, matching of accounts with the roster, the course."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.common.responses import posted_number, see_other, sort_choice
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import add_refusal, ask_first, is_confirmed, posted_data
from leaderboard.competitions.models import Competition, Course

from .. import courses, queries, roles, roster_files
from .. import people as people_services
from ..forms import CourseForm, LinkAccountsForm, RoleForm
from ..models import HostingRole, RosterEntry
from ..queries import ClassPerson

PER_PAGE = 50
PEOPLE_PER_PAGE = 500
# Entries that the form for matching accounts proposes.
MAX_OFFERED = 500
# Values of `?section=`: all people, and people without a section. No section has these names.
ANY, NONE = "", "-"


def _team_name(person: ClassPerson) -> str:
    return person.membership.team.name.casefold() if person.membership else "\uffff"


PEOPLE_ORDERS: dict[str, Callable[[ClassPerson], Any]] = {
    "name": lambda person: person.name.casefold(),
    "section": lambda person: (person.section.casefold(), person.name.casefold()),
    "state": lambda person: (person.state.label, person.name.casefold()),
    "team": _team_name,
}


@open_to(Audience.ASSISTANTS)
def host_people(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """All people on the roster or in a team, filtered by section, state and text."""
    competition = page_context.competition
    people = queries.people_of_class(competition)
    section, state, text = read_filter(request.GET)
    name, is_backwards = sort_choice(request, PEOPLE_ORDERS, "name")
    shown = sorted(filtered(people, section, state, text), key=PEOPLE_ORDERS[name], reverse=is_backwards)
    page = Paginator(shown, PEOPLE_PER_PAGE).get_page(request.GET.get("page"))
    states = Counter(person.state for person in people)
    context = {
        "page_context": page_context,
        "page": page,
        "section": section,
        "state": state,
        "q": text,
        "sections": sorted({person.section for person in people if person.section}),
        "states": [*RosterEntry.State.choices, ("unconfirmed", _("E-mail not confirmed"))],
        "ticks_all": "all" in request.GET,
        "sort": "name",
        "tiles": [(name.label, states[name]) for name in RosterEntry.State if states[name]],
        "total": len(people),
        "has_roster": any(person.entry for person in people),
        "guests": sum(not person.entry for person in people),
        "unjoined": any(person.entry and not person.entry.user_id and not person.entry.left_at for person in people),
        "is_filtered": bool(section or state or text),
        "course_size": competition.course.competitions.outside_bin().count(),
        "has_other_courses": page_context.is_host
        and Course.hosted_by(page_context.user).exclude(pk=competition.course_id).exists(),
    }
    return render(request, "classroom/host_people.html", context)


def chosen_entries(request: HttpRequest) -> list[int]:
    """The roster entries whose checkbox is ticked."""
    numbers = [posted_number(text) for text in request.POST.getlist("entry")[: roster_files.MAX_ROSTER_ROWS]]
    return [number for number in numbers if number]


def read_filter(data: QueryDict) -> tuple[str, str, str]:
    """(section, state, text) from the query string of the page of people, or from a form on it."""
    return data.get("section", ANY), data.get("state", ""), data.get("q", "").strip()[:60]


def filtered(people: Sequence[ClassPerson], section: str, state: str, text: str) -> list[ClassPerson]:
    name = None if section == ANY else "" if section == NONE else section
    return queries.filter_people(people, section=name, state=state, text=text)


@open_to(Audience.HOSTS)
def host_roles(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """List, add and remove hosts and assistants."""
    name, role = request.POST.get("name", ""), request.POST.get("role", "")
    if request.POST.get("action") == "remove" and not is_confirmed(request) and role in list(HostingRole):
        people = page_context.competition.hosts if role == HostingRole.HOST else page_context.competition.assistants
        if people.filter(username=name).exists():
            return ask_first(request, page_context, name, _role_loss_text(page_context, name), role=role)
    competition, form = page_context.competition, RoleForm(posted_data(request))
    if request.method == "POST":
        try:
            if done := _change_roles(request, page_context, form):
                messages.success(request, done)
                is_still = Competition.objects.get(pk=competition.pk).is_hosted_by(page_context.user)
                if is_still:
                    return see_other("host_roles", slug=competition.slug)
                return _redirect_after_leaving(page_context)
        except competitions.CannotHost as error:
            form.errors.clear()
            add_refusal(form, error)
    context: dict[str, Any] = {
        "page_context": page_context,
        "form": form,
        "hosts": competition.hosts.order_by("username"),
        "assistants": competition.assistants.order_by("username"),
    }
    return render(request, "classroom/host_roles.html", context, status=422 if form.errors else 200)


def _redirect_after_leaving(page_context: PageContext) -> HttpResponse:
    """Redirect to the list of hosted competitions if the person can have any, else to the home page."""
    user = page_context.account
    return see_other("host" if user.is_host or Competition.objects.run_by(user).exists() else "home")


def _role_loss_text(page_context: PageContext, name: str) -> str:
    """The consequences of removing a role, for the confirmation; `name` may be the viewer."""
    user = page_context.account
    if name != user.username:
        return _(
            "{name} immediately loses access to the host and assistant pages: answers, names, private scores "
            "and submissions. {name}'s changes stay. A host can assign a role again at any time."
        ).format(name=name)
    if user.is_superuser:
        return _("This is you. As an administrator, you keep access to everything here.")
    return _(
        "This is you. You immediately lose access to the host pages: settings, answers, names, private scores"
        " and grades. Your changes stay. You can't undo this; only another host can let you back in. You "
        "can't compete here, because you've seen the answers."
    )


def _change_roles(request: HttpRequest, page_context: PageContext, form: RoleForm) -> str:
    """Add or remove a person; returns the message, or "". Raises `CannotHost`."""
    competition, user = page_context.competition, page_context.account
    if request.POST.get("action") == "remove":
        name, role = request.POST.get("name", ""), request.POST.get("role", "")
        if role not in list(HostingRole):
            return ""
        roles.take_role(competition=competition, name=name, role=HostingRole(role), user=user)
        if role == HostingRole.HOST:
            return _("{name} no longer hosts this competition.").format(name=name)
        return _("{name} is no longer an assistant in this competition.").format(name=name)
    if not form.is_valid():
        return ""
    role, name = HostingRole(form.cleaned_data["role"]), form.cleaned_data["name"]
    person = roles.give_role(competition=competition, name=name, role=role, user=user)
    if role is HostingRole.HOST:
        return _("{name} now hosts this competition too.").format(name=person.username)
    return _("{name} is now an assistant in this competition.").format(name=person.username)


@open_to(Audience.HOSTS)
def host_who(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Match accounts that are not on the roster with its entries; or unlink accounts (`action=part`)."""
    competition, user = page_context.competition, page_context.account
    if request.POST.get("action") == "part":
        number = people_services.unlink_accounts(competition=competition, entries=chosen_entries(request), user=user)
        done = ngettext("{number} account unlinked.", "{number} accounts unlinked.", number)
        messages.success(request, done.format(number=number))
        return see_other("host_people", slug=competition.slug)
    context = accounts_to_match(request, page_context)
    form = context["form"]
    status = 422 if form.errors else 200
    if request.method == "POST" and form.is_valid():
        try:
            number = people_services.link_accounts(competition=competition, pairs=form.pairs, user=user)
        except competitions.CannotHost as error:
            status = add_refusal(form, error)
        else:
            done = ngettext("{number} account matched.", "{number} accounts matched.", number)
            messages.success(request, done.format(number=number))
            return see_other("host_people", slug=competition.slug)
    return render(request, "classroom/host_who.html", context, status=status)


def accounts_to_match(request: HttpRequest, page_context: PageContext) -> dict[str, Any]:
    """Context with the form for members without a roster entry, each with a guess."""
    guests, waiting = queries.unlinked_members(page_context.competition)
    page = Paginator(guests, PER_PAGE).get_page(request.GET.get("page"))
    # Fields that were posted are kept, even if the page of the list has changed meanwhile.
    shown = [guest for guest in guests if f"who-{guest.membership.pk}" in request.POST] or list(page)
    is_sent = any(name.startswith("who-") for name in request.POST) or "match" in request.POST
    form = LinkAccountsForm(shown, waiting, request.POST if is_sent else None)
    return {
        "page_context": page_context,
        "form": form,
        "page": page,
        "lines": [(guest, form[f"who-{guest.membership.pk}"]) for guest in shown],
        "offered": [queries.entry_label(entry) for entry in waiting.entries[:MAX_OFFERED]],
    }


@open_to(Audience.HOSTS)
def host_course(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Move a competition to another course of its host, or to a new one."""
    competition, user, status = page_context.competition, page_context.account, 200
    form = CourseForm(user, competition, posted_data(request))
    if request.method == "POST":
        status = 422
        try:
            if form.is_valid():
                courses.move_competition(competition=competition, course=form.cleaned_data["course"], user=user)
                messages.success(request, _("The competition was moved."))
                return see_other("host_people", slug=competition.slug)
        except competitions.CannotHost as error:
            status = add_refusal(form, error)
    context = {"page_context": page_context, "form": form}
    return render(request, "classroom/host_course.html", context, status=status)
