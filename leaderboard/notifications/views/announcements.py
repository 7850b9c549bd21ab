"""Hosts' pages for announcements."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.common.display_time import moment_text
from leaderboard.common.form_widgets import MarkdownText
from leaderboard.common.responses import see_other, signed_in_user
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.host_responses import add_refusal, posted_data
from leaderboard.competitions.models import Competition, Team

from .. import announcements
from ..models import Announcement

PER_PAGE = 20
OPTIONS = Announcement.Audience


class AnnouncementTextForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Announcement
        fields: ClassVar = ["title", "text", "is_pinned"]
        labels: ClassVar = {
            "title": gettext_lazy("Title"),
            "text": gettext_lazy("Text"),
            "is_pinned": gettext_lazy("Pin to the overview"),
        }
        help_texts: ClassVar = {"text": gettext_lazy("Supports Markdown, and formulas between <code>$</code>.")}
        widgets: ClassVar = {"text": MarkdownText(attrs={"rows": 8})}

    def clean_title(self) -> str:
        return " ".join(str(self.cleaned_data["title"]).split())


class AnnouncementForm(AnnouncementTextForm):
    """Title and text of an announcement, and its audience, each with the number of people it reaches now."""

    audience = forms.ChoiceField(
        label=gettext_lazy("To"),
        widget=forms.RadioSelect,
        initial=OPTIONS.ALL,
        error_messages={
            "invalid_choice": gettext_lazy("This group is empty now. Nothing was sent; choose another group.")
        },
    )
    key = forms.RegexField(r"^announcement:[0-9a-f]{32}$", required=False, widget=forms.HiddenInput)

    def __init__(self, competition: Competition, *args: Any, team: Team | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["key"] = Announcement.new_key()
        self.team = team
        counts = [
            (option.value, str(option.label), announcements.announcement_readers(competition, option).count())
            for option in announcements.available_audiences(competition)
            if option != OPTIONS.SECTION
        ]
        for name, number in announcements.section_sizes(competition).items():
            counts.append((f"section:{name}", _("Section “%(name)s”") % {"name": name}, number))
        if team is not None:
            number = announcements.announcement_readers(competition, OPTIONS.TEAM, team=team).count()
            counts.insert(0, (f"team:{team.pk}", _("Team “%(name)s”") % {"name": team.name}, number))
            self.initial["audience"] = f"team:{team.pk}"
        self.fields["audience"].choices = [  # type: ignore[attr-defined]
            (value, f"{label} ({_people(number)})") for value, label, number in counts
        ]
        self.order_fields(["title", "text", "audience", "is_pinned", "key"])

    @property
    def for_verb(self) -> dict[str, Any]:
        """Arguments for `announcements.announce`."""
        audience, _separator, which = self.cleaned_data["audience"].partition(":")
        is_team = audience == OPTIONS.TEAM
        to = {"team": self.team if is_team else None, "section": "" if is_team else which}
        return {**self.cleaned_data, "audience": audience, **to}


def _people(number: int) -> str:
    return ngettext("%(number)s person", "%(number)s people", number) % {"number": number}


@open_to(Audience.ASSISTANTS)
def host_announcements(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Form for an announcement, and the list of all, including withdrawn ones."""
    competition, status = page_context.competition, 200
    wanted = request.POST.get("audience", "").removeprefix("team:") or request.GET.get("team", "")
    team = (
        competition.teams.filter(pk=int(wanted)).first()
        if wanted.isascii() and wanted.isdecimal() and len(wanted) < 16
        else None
    )
    form = AnnouncementForm(competition, posted_data(request), team=team, initial=_proposal(request, page_context))
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                sent = announcements.announce(
                    competition=competition, user=signed_in_user(page_context.user), **form.for_verb
                )
                messages.success(request, _("Sent to %(people)s.") % {"people": _people(sent.reached)})
                return see_other("host_announcements", slug=competition.slug)
            except competitions.CannotHost as error:
                status = add_refusal(form, error)
    found = Announcement.objects.filter(competition=competition).select_related("by")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_context": page_context, "form": form, "page": page}
    return render(request, "notifications/host_announcements.html", context, status=status)


def _proposal(request: HttpRequest, page_context: PageContext) -> dict[str, Any]:
    """Initial values of the form: with `?for=no_valid_file` a reminder for the host to check, else {}."""
    if request.GET.get("for") != OPTIONS.NO_VALID_FILE:
        return {}
    text = _(
        "Your team has no valid submission yet. The deadline is %(deadline)s.\n\n"
        "Download the sample submission from the Data page, upload it, and improve it from there."
    )
    deadline = moment_text(page_context.competition.closes_at, page_context.competition.zone)
    return {
        "audience": OPTIONS.NO_VALID_FILE,
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
        user = signed_in_user(page_context.user)
        try:
            if is_withdrawing:
                announcements.withdraw_announcement(announcement=announcement, user=user)
                words = _("Withdrawn.")
            else:
                announcements.edit_announcement(announcement=announcement, user=user, **form.cleaned_data)
                words = _("Saved. Notifications show the new text; e-mails already sent stay as they were.")
            messages.success(request, words)
        except competitions.CannotHost as error:
            messages.error(request, str(error))
        return see_other("host_announcements", slug=page_context.competition.slug)
    context = {"page_context": page_context, "form": form, "announcement": announcement}
    status = 422 if form.errors else 200
    return render(request, "notifications/host_announcement.html", context, status=status)
