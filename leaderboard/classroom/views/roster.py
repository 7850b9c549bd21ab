"""The roster: read a list, look at what it would do, take it over; join cards; who left the course."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.accounts.models import User
from leaderboard.common import responses
from leaderboard.common.qr_codes import qr_code
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.common.storage import TooLarge
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import competitions
from leaderboard.competitions.views.host_responses import add_refusal, posted_data, refuse_too_large

from .. import invitation_mails, inviting, people, roster, roster_files
from ..forms import RosterForm
from ..models import RosterDraft, RosterEntry
from .people import filter_in, filtered

# Of each kind; the numbers are always of all.
MOST_SHOWN = 200


@open_to(Audience.HOSTS)
def host_roster(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET shows the form, or what the list that was chosen would do; POST chooses one, takes it over or forgets it."""
    action = request.POST.get("action", "")
    if action in ("take", "discard"):
        return _decide(request, page_context, action)
    if action == "take_back":
        return _take_back(request, page_context)
    form = RosterForm(posted_data(request), request.FILES or None)
    status = 422 if request.method == "POST" else 200
    try:
        refuse_too_large(request)
        if request.method == "POST" and form.is_valid():
            name, data = form.list_given
            roster.save_roster_draft(
                competition=page_context.competition, user=signed_in_user(page_context.user), file_name=name, data=data
            )
            return see_other("host_roster", slug=page_context.competition.slug)
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    return _roster(request, page_context, form, status=status)


def _roster(request: HttpRequest, page_context: PageContext, form: RosterForm, *, status: int) -> HttpResponse:
    draft = RosterDraft.objects.filter(competition=page_context.competition).first()
    context: dict[str, Any] = {
        "page_context": page_context,
        "form": form,
        "draft": draft,
        "most_rows": roster_files.MOST_ROWS,
    }
    context["lists"] = roster.roster_lists(page_context.competition)
    if draft is not None and not form.errors:
        preview = roster.preview_roster(page_context.competition, draft)
        kinds = ("bad", "new", "changed", "missing", "unchanged", "left_out")
        context["preview"] = preview
        context["numbers"] = {kind: len(getattr(preview, kind)) for kind in kinds}
        context["shown"] = {kind: getattr(preview, kind)[:MOST_SHOWN] for kind in kinds}
        if any(len(getattr(preview, kind)) > MOST_SHOWN for kind in kinds):
            context["most_shown"] = MOST_SHOWN
    return render(request, "classroom/host_roster.html", context, status=status)


def _decide(request: HttpRequest, page_context: PageContext, action: str) -> HttpResponse:
    competition = page_context.competition
    if action == "discard":
        roster.discard_roster_draft(competition=competition)
        messages.info(request, _("The list is thrown away; the roster is as it was."))
        return see_other("host_roster", slug=competition.slug)
    try:
        done = roster.apply_roster(competition=competition, user=signed_in_user(page_context.user))
    except competitions.CannotHost as error:
        messages.error(request, error.message)
        return see_other("host_roster", slug=competition.slug)
    words = _("Taken over: {new} new, {changed} changed, {unchanged} unchanged.")
    numbers = {kind: len(getattr(done, kind)) for kind in ("new", "changed", "unchanged")}
    messages.success(request, words.format(**numbers))
    return see_other("host_people", slug=competition.slug)


def _take_back(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    try:
        chosen = (_numbers(request.POST.getlist("list")) or [0])[0]
        number = roster.remove_roster_list(
            competition=page_context.competition, number=chosen, user=signed_in_user(page_context.user)
        )
    except competitions.CannotHost as error:
        messages.error(request, error.message)
    else:
        words = ngettext("{number} person is removed.", "{number} people are removed.", number)
        messages.success(request, words.format(number=number))
    return see_other("host_roster", slug=page_context.competition.slug)


@open_to(Audience.HOSTS)
def host_join_cards(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Print join cards for the ticked people, or for those of the list shown who have no invitation. The codes are in
    this answer alone."""
    if request.method != "POST":
        return redirect("host_people", slug=page_context.competition.slug)
    try:
        chosen = chosen_entries(request) or _uninvited(request, page_context)
        join_cards = roster.make_join_cards(
            competition=page_context.competition, entries=chosen, user=signed_in_user(page_context.user)
        )
    except competitions.CannotHost as error:
        messages.error(request, error.message)
        return see_other("host_people", slug=page_context.competition.slug)
    rows = [
        {"entry": entry, "code": "-".join((code[:4], code[4:8], code[8:])), "link": link, "picture": qr_code(link)}
        for entry, code in join_cards
        for link in [_link(request, code)]
    ]
    context = {
        "page_context": page_context,
        "join_cards": rows,
        "address": _address(request),
        "opening_command": responses.opening_command(request),
        "expires_at": join_cards[0][0].join_card_expires_at,
    }
    response = render(request, "classroom/host_join_cards.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


@open_to(Audience.HOSTS)
def host_invite(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Shows who would get which invitation. POST sends it to those whose box is ticked, or to all not yet invited."""
    competition, user = page_context.competition, signed_in_user(page_context.user)
    waiting = list(inviting.not_invited(competition).values_list("pk", flat=True))
    if request.method == "POST" and (chosen_entries(request) or "all" in request.POST):
        try:
            number = inviting.invite_entries(
                competition=competition, entries=chosen_entries(request) or waiting, user=user
            )
        except competitions.CannotHost as error:
            messages.error(request, error.message)
            return see_other("host_invite", slug=competition.slug)
        words = ngettext("{number} e-mail is on its way.", "{number} e-mails are on their way.", number)
        messages.success(request, words.format(number=number))
        return see_other("host_people", slug=competition.slug)
    context = {"page_context": page_context, "waiting": len(waiting), **_invitation_emails(request, competition, user)}
    return render(request, "classroom/host_invite.html", context)


def _invitation_emails(request: HttpRequest, competition: Competition, user: User) -> dict[str, Any]:
    link = _link(request, "…").replace(quote("…"), "…")
    subject, text = invitation_mails.invitation_text(
        competition, name=_("(name)"), link=link, host=user.signature, language=user.notification_language
    )
    return {
        "obstacle": inviting.why_nobody_is_invited(competition),
        "without_address": competition.roster.filter(user=None, left_at=None, email="").count(),
        "invitations_left": inviting.invitations_left(user),
        "subject": subject,
        "text": text,
    }


@open_to(Audience.HOSTS)
def host_left(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Mark people as having left the course, or as being back."""
    if request.method == "POST":
        left = request.POST.get("action") != "back"
        user = signed_in_user(page_context.user)
        number = roster.mark_left(
            competition=page_context.competition, entries=chosen_entries(request), user=user, left=left
        )
        if not number:
            messages.error(request, _("Choose people of the roster first."))
        elif left:
            words = ngettext("{number} person has left the course.", "{number} people have left the course.", number)
            messages.success(request, words.format(number=number))
        else:
            words = ngettext("{number} person is back.", "{number} people are back.", number)
            messages.success(request, words.format(number=number))
    return see_other("host_people", slug=page_context.competition.slug)


def chosen_entries(request: HttpRequest) -> list[int]:
    """The entries whose box is ticked."""
    return _numbers(request.POST.getlist("entry")[: roster_files.MOST_ROWS])


def _numbers(given: list[str]) -> list[int]:
    return [int(number) for number in given if number.isascii() and number.isdecimal() and len(number) < 16]


def _uninvited(request: HttpRequest, page_context: PageContext) -> list[int]:
    """Of the people whom the page showed, by its filter and on all its pages."""
    shown = filtered(people.people_of(page_context.competition), *filter_in(request.POST))
    return [one.entry.pk for one in shown if one.entry and one.entry.state == RosterEntry.State.NEW]


def _link(request: HttpRequest, code: str) -> str:
    return responses.absolute_url(request, "join_card", code)


def _address(request: HttpRequest) -> str:
    """Where the code is typed in, as short as it can be said."""
    return responses.absolute_url(request, "join").partition("://")[2].rstrip("/")
