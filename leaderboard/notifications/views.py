"""Pages of a person's notices and preferences, the unsubscribe link, and hosts' pages of announcements."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt

from leaderboard.accounts.models import User
from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.display_time import moment_text
from leaderboard.common.responses import posted_number, see_other, signed_in_user
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import add_refusal, posted_data

from . import emails, services
from .forms import AnnouncementForm, AnnouncementTextForm, PreferencesForm, people_text
from .models import Announcement

PER_PAGE = 25


@open_page_to(SiteAudience.SIGNED_IN)
def notifications(request: HttpRequest) -> HttpResponse:
    """All notices of the viewer, unread first."""
    user = signed_in_user(request.user)
    if request.method == "POST":
        number = services.mark_read(user=user)
        text = ngettext("%(number)s notification marked as read.", "%(number)s notifications marked as read.", number)
        messages.success(request, text % {"number": number})
        return see_other("notifications")
    notices = user.notices.select_related("competition")
    unread_first = notices.order_by(F("read_at").desc(nulls_first=True), "-created_at", "-pk")
    page = Paginator(unread_first, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "notifications/notifications.html", {"page": page})


@open_page_to(SiteAudience.SIGNED_IN)
def notice(request: HttpRequest, number: int) -> HttpResponse:
    """Redirect to the link of a notice; POST also marks it as read."""
    user = signed_in_user(request.user)
    chosen = get_object_or_404(user.notices, pk=number)
    if request.method == "POST":
        services.mark_read(user=user, number=chosen.pk)
    return redirect(chosen.link or "notifications")


@open_page_to(SiteAudience.SIGNED_IN)
def preferences(request: HttpRequest) -> HttpResponse:
    """The viewer's name, time zone, language, and choices for each kind of notice."""
    user = signed_in_user(request.user)
    form = PreferencesForm(user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        changes: dict[str, Any] = {
            name: form.cleaned_data[name] for name in ("zone", "language") if name in form.fields
        }
        if name := form.cleaned_data.get("full_name"):
            user.set_full_name(name)
            changes |= {"first_name": user.first_name, "last_name": user.last_name}
        User.objects.filter(pk=user.pk).update(**changes)
        services.save_choices(user=user, choices=form.deliveries())
        messages.success(request, _("Saved."))
        return see_other("preferences")
    return render(request, "notifications/preferences.html", {"form": form}, status=422 if form.errors else 200)


@csrf_exempt
@open_page_to(SiteAudience.ANYONE)
def stop_mail(request: HttpRequest, token: str) -> HttpResponse:
    """Unsubscribe from e-mails of a kind by the link in an e-mail; without CSRF check, as mail programs have no
    cookies.

    Only POST unsubscribes, because virus scanners follow every link in an e-mail.
    """
    kind = emails.unsubscribe_kind(token, stop=request.method == "POST")
    if kind is None:
        raise Http404(_("This link is invalid or incomplete."))
    context = {"kind": kind, "is_stopped": request.method == "POST"}
    return render(request, "notifications/stop_mail.html", context)


# --- announcements ----------------------------------------------------------------------------------------------


@open_to(Audience.ASSISTANTS)
def host_announcements(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Form for an announcement, and the list of all, including withdrawn ones."""
    competition, status = page_context.competition, 200
    team_id = posted_number(request.POST.get("audience", "").removeprefix("team:") or request.GET.get("team", ""))
    team = competition.teams.filter(pk=team_id).first() if team_id else None
    form = AnnouncementForm(competition, posted_data(request), team=team, initial=_proposal(request, page_context))
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                sent = services.send_announcement(competition=competition, user=page_context.account, **form.arguments)
                messages.success(request, _("Sent to %(people)s.") % {"people": people_text(sent.reached)})
                return see_other("host_announcements", slug=competition.slug)
            except competitions.CannotHost as error:
                status = add_refusal(form, error)
    sent_earlier = Announcement.objects.filter(competition=competition).select_related("by")
    page = Paginator(sent_earlier, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_context": page_context, "form": form, "page": page}
    return render(request, "notifications/host_announcements.html", context, status=status)


def _proposal(request: HttpRequest, page_context: PageContext) -> dict[str, Any]:
    """Initial values of the form: with `?for=no_valid_file` a reminder for the host to check, else {}."""
    if request.GET.get("for") != Announcement.Audience.NO_VALID_FILE:
        return {}
    text = _(
        "Your team has no valid submission yet. The deadline is %(deadline)s.\n\n"
        "Download the sample submission from the Data page, upload it, and improve it from there."
    )
    deadline = moment_text(page_context.competition.closes_at, page_context.competition.zone)
    return {
        "audience": Announcement.Audience.NO_VALID_FILE,
        "title": _("No valid submission yet"),
        "text": text % {"deadline": deadline},
    }


@open_to(Audience.ASSISTANTS)
def host_announcement(request: HttpRequest, page_context: PageContext, number: int) -> HttpResponse:
    """Edit or withdraw one announcement."""
    announcement = get_object_or_404(Announcement, competition=page_context.competition, pk=number)
    is_withdrawing = request.POST.get("action") == "withdraw"
    form = AnnouncementTextForm(None if is_withdrawing else posted_data(request), instance=announcement)
    if request.method == "POST" and (is_withdrawing or form.is_valid()):
        user = page_context.account
        try:
            if is_withdrawing:
                services.withdraw_announcement(announcement=announcement, user=user)
                done = _("Withdrawn.")
            else:
                services.edit_announcement(announcement=announcement, user=user, **form.cleaned_data)
                done = _("Saved. Notifications show the new text; e-mails already sent stay as they were.")
            messages.success(request, done)
        except competitions.CannotHost as error:
            messages.error(request, str(error))
        return see_other("host_announcements", slug=page_context.competition.slug)
    context = {"page_context": page_context, "form": form, "announcement": announcement}
    status = 422 if form.errors else 200
    return render(request, "notifications/host_announcement.html", context, status=status)
