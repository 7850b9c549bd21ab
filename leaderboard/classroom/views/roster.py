"""Hosts' pages of the roster: preview and import a class list, join cards, invitations, people who left."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.common import responses
from leaderboard.common.drawings import qr_code
from leaderboard.common.responses import posted_number, see_other
from leaderboard.common.storage import TooLarge
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import add_refusal, posted_data
from leaderboard.competitions.views import answered_by_worker

from .. import hooks, invitations, people, queries, roster, roster_files
from ..forms import RosterForm
from ..models import MAX_SECTION_CHARACTERS, RosterDraft, RosterEntry
from .people import accounts_to_match, chosen_entries, filtered, read_filter

# Lines shown of each kind in a preview; the counts include all.
MAX_SHOWN = 200
PREVIEWED = ("bad", "new", "changed", "missing", "unchanged", "left_out")


def _brings_no_file(request: HttpRequest) -> bool:
    return not request.FILES


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Reading your roster"), is_quick=_brings_no_file)
def host_roster(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the form, or the preview of an uploaded list. POST: upload, import or discard a list, or undo an import."""
    if request.POST.get("action") in ("take", "discard", "take_back"):
        return _change_roster(request, page_context)
    competition = page_context.competition
    form = RosterForm(posted_data(request), request.FILES or None)
    status = 422 if request.method == "POST" else 200
    try:
        if request.method == "POST" and form.is_valid():
            name, data = form.file_and_content
            user = page_context.account
            roster.save_roster_draft(competition=competition, user=user, file_name=name, data=data)
            return see_other("host_roster", slug=competition.slug)
    except (competitions.CannotHost, TooLarge) as error:
        status = add_refusal(form, error)
    draft = RosterDraft.objects.filter(course=competition.course_id).first()
    context: dict[str, Any] = {
        "page_context": page_context,
        "form": form,
        "draft": draft,
        "most_rows": roster_files.MAX_ROSTER_ROWS,
        "lists": roster.roster_lists(competition),
    }
    context["sources"] = [one for sources in hooks.roster_sources(competition=competition) for one in sources]
    if draft is None and not form.errors:
        context["matching"] = accounts_to_match(request, page_context)
    if draft is not None and not form.errors:
        preview = roster.preview_roster(competition, draft)
        people_of = {kind: getattr(preview, kind) for kind in PREVIEWED}
        context["preview"] = preview
        context["numbers"] = {kind: len(lines) for kind, lines in people_of.items()} | {"joined": len(preview.joined)}
        context["shown"] = {kind: lines[:MAX_SHOWN] for kind, lines in people_of.items()}
        if any(len(lines) > MAX_SHOWN for lines in people_of.values()):
            context["most_shown"] = MAX_SHOWN
    return render(request, "classroom/host_roster.html", context, status=status)


def _change_roster(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Import or discard the list in preview, or remove the entries of an earlier import."""
    competition, user = page_context.competition, page_context.account
    action = request.POST["action"]
    try:
        if action == "take":
            preview = roster.apply_roster(competition=competition, user=user)
            done = _("Imported: {new} added, {changed} changed, {unchanged} unchanged.")
            numbers = {kind: len(getattr(preview, kind)) for kind in ("new", "changed", "unchanged")}
            messages.success(request, done.format(**numbers))
            if preview.matched:
                review = _("{number} matched by an unconfirmed e-mail address. Check that each is the right person.")
                messages.info(request, review.format(number=preview.matched))
                return see_other("host_people", query="?state=unconfirmed", slug=competition.slug)
            guests, _entries = queries.unlinked_members(competition)
            # Members who joined before the import may be on the list under another address.
            following = "host_who" if any(guest.guess for guest in guests) else "host_people"
            return see_other(following, slug=competition.slug)
        if action == "discard":
            roster.discard_roster_draft(competition=competition)
            messages.info(request, _("Import cancelled. The roster is unchanged."))
        else:
            chosen = posted_number(request.POST.get("list", ""))
            number = roster.remove_roster_list(competition=competition, number=chosen, user=user)
            done = ngettext("{number} person removed.", "{number} people removed.", number)
            messages.success(request, done.format(number=number))
    except competitions.CannotHost as error:
        messages.error(request, error.message)
    return see_other("host_roster", slug=competition.slug)


@open_to(Audience.HOSTS)
def host_join_cards(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Print join cards for the ticked people, else for all in the filtered list without an invitation.

    The codes are only in this response, because only their digests are stored.
    """
    if request.method != "POST":
        return redirect("host_people", slug=page_context.competition.slug)
    competition, chosen = page_context.competition, chosen_entries(request)
    if not chosen:
        # All people of the filtered list, on all its pages.
        shown = filtered(queries.people_of_class(competition), *read_filter(request.POST))
        chosen = [person.entry.pk for person in shown if person.entry and person.entry.state == RosterEntry.State.NEW]
        if not chosen:
            refusal = _("Everyone here has joined or has an invitation or a card. Select who needs a new card.")
            messages.error(request, refusal)
            return see_other("host_people", slug=competition.slug)
    try:
        user = page_context.account
        join_cards = people.make_join_cards(competition=competition, entries=chosen, user=user)
    except competitions.CannotHost as error:
        messages.error(request, error.message)
        return see_other("host_people", slug=page_context.competition.slug)
    rows = []
    for entry, code in join_cards:
        link = responses.absolute_url(request, "join_card", code)
        in_parts = "-".join((code[:4], code[4:8], code[8:]))
        rows.append({"entry": entry, "code": in_parts, "link": link, "picture": qr_code(link)})
    context = {
        "page_context": page_context,
        "join_cards": rows,
        # The address for typing the code, without `https://`.
        "address": responses.absolute_url(request, "join").partition("://")[2].rstrip("/"),
        "opening_command": responses.opening_command(request),
        "expires_at": join_cards[0][0].join_card_expires_at,
    }
    return render(request, "classroom/host_join_cards.html", context)


@open_to(Audience.HOSTS)
def host_invite(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The text and number of invitations. POST sends them to the ticked people, else to all not invited yet."""
    competition, user = page_context.competition, page_context.account
    waiting = list(invitations.not_invited(competition).values_list("pk", flat=True))
    if request.method == "POST" and (chosen_entries(request) or "all" in request.POST):
        try:
            number = invitations.invite_entries(
                competition=competition, entries=chosen_entries(request) or waiting, user=user
            )
        except competitions.CannotHost as error:
            messages.error(request, error.message)
            return see_other("host_invite", slug=competition.slug)
        done = ngettext("Sending {number} e-mail.", "Sending {number} e-mails.", number)
        messages.success(request, done.format(number=number))
        return see_other("host_people", slug=competition.slug)
    link = responses.absolute_url(request, "join_card", "…").replace(quote("…"), "…")
    subject, text = invitations.invitation_text(
        competition, name=_("(name)"), link=link, host=user.signature, language=user.notification_language
    )
    context = {
        "page_context": page_context,
        "waiting": len(waiting),
        "refusal": invitations.invite_refusal(competition),
        "without_address": competition.course.roster.filter(user=None, left_at=None, email="").count(),
        "invitations_left": invitations.invitations_left(user),
        "subject": subject,
        "text": text,
    }
    return render(request, "classroom/host_invite.html", context)


@open_to(Audience.HOSTS)
def host_left(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Mark people as having left the course or as being back, or move them to a section (`action=section`)."""
    competition, entries = page_context.competition, chosen_entries(request)
    if request.method == "POST":
        user, action = page_context.account, request.POST.get("action")
        section = request.POST.get("to_section", "").strip()[:MAX_SECTION_CHARACTERS]
        if action == "section":
            number = people.move_to_section(competition=competition, entries=entries, section=section, user=user)
            done = ngettext(
                "{number} student moved to section “{section}”.",
                "{number} students moved to section “{section}”.",
                number,
            )
        elif action == "back":
            number = people.mark_left(competition=competition, entries=entries, user=user, left=False)
            done = ngettext(
                "{number} person marked as back in the course.", "{number} people marked as back in the course.", number
            )
        else:
            number = people.mark_left(competition=competition, entries=entries, user=user)
            done = ngettext(
                "{number} person marked as having left the course.",
                "{number} people marked as having left the course.",
                number,
            )
        if number:
            messages.success(request, done.format(number=number, section=section or "–"))
        else:
            messages.error(request, _("Select people on the roster first."))
    return see_other("host_people", slug=competition.slug)
