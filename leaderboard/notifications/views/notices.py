"""Pages of a person's notices and preferences, and the unsubscribe link."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
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
from leaderboard.common.display_time import time_zones
from leaderboard.common.form_widgets import LongSelect
from leaderboard.common.responses import see_other, signed_in_user

from .. import emails, notices
from ..models import Delivery, NoticeKind

PER_PAGE = 25
MAILED = (Delivery.AT_ONCE, Delivery.DIGEST)


class PreferencesForm(forms.Form):
    """A person's time zone and language, and which notices reach them on the site and by e-mail."""

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kinds = [kind for kind in NoticeKind if not kind.is_for_hosts or user.is_host_anywhere]
        known = time_zones() if user.zone in ("", *time_zones()) else (user.zone, *time_zones())
        self.fields["zone"] = forms.ChoiceField(
            label=_("Time zone"),
            widget=LongSelect,
            required=False,
            choices=[("", _("Same as my browser")), *((zone, zone.replace("_", " ")) for zone in known)],
            initial=user.zone,
            help_text=_("For all pages and the daily e-mail. Host forms use the competition's time zone."),
        )
        if len(settings.LANGUAGES) > 1:
            self.fields["language"] = forms.ChoiceField(
                label=_("Language"),
                required=False,
                choices=[("", _("Same as my browser")), *settings.LANGUAGES],
                initial=user.language if user.language in dict(settings.LANGUAGES) else "",
                help_text=_("For all pages, notifications and e-mails."),
            )
        self.chosen = notices.notice_choices_of(user)
        self.can_mail = notices.sends_mail() and bool(user.email)
        choices = [(kind.value, kind.label) for kind in self.kinds]
        shown = [kind.value for kind in self.kinds if self.chosen[kind] != Delivery.NONE]
        self.fields["on_site"] = forms.MultipleChoiceField(choices=choices, required=False, initial=shown)
        if self.can_mail:
            mailed = [kind.value for kind in self.kinds if self.chosen[kind] in MAILED]
            self.fields["by_mail"] = forms.MultipleChoiceField(choices=choices, required=False, initial=mailed)
            self.fields["is_daily"] = forms.ChoiceField(
                label=_("Send e-mails"),
                choices=[("", _("At once")), ("1", _("Once a day, at 7 in the morning"))],
                widget=forms.RadioSelect,
                required=False,
                initial="1" if Delivery.DIGEST in self.chosen.values() else "",
            )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table of notices; without e-mail only the kinds that can be switched off."""
        shown, mailed = self["on_site"].value() or (), self["by_mail"].value() or () if self.can_mail else ()
        return [
            {"kind": kind, "is_shown": kind.value in shown or not kind.may_be_silent, "is_mailed": kind.value in mailed}
            for kind in self.kinds
            if self.can_mail or kind.may_be_silent
        ]

    def deliveries(self) -> dict[NoticeKind, Delivery]:
        """Kind → delivery. E-mail includes the notice on the site; if e-mail is unavailable, an earlier choice of
        e-mail is kept for kinds that stay shown."""
        shown, mailed = self.cleaned_data["on_site"], self.cleaned_data.get("by_mail", ())
        at_once = Delivery.DIGEST if self.cleaned_data.get("is_daily") else Delivery.AT_ONCE
        found = {}
        for kind in self.kinds:
            is_shown = kind.value in shown or not kind.may_be_silent
            if kind.value in mailed:
                found[kind] = at_once
            elif not self.can_mail and is_shown and self.chosen[kind] in MAILED:
                found[kind] = Delivery(self.chosen[kind])
            else:
                found[kind] = Delivery.PAGE if is_shown else Delivery.NONE
        return found


@open_page_to(SiteAudience.SIGNED_IN)
def notifications(request: HttpRequest) -> HttpResponse:
    """All notices of the viewer, unread first."""
    user = signed_in_user(request.user)
    if request.method == "POST":
        number = notices.mark_read(user=user)
        words = ngettext("%(number)s notification marked as read.", "%(number)s notifications marked as read.", number)
        messages.success(request, words % {"number": number})
        return see_other("notifications")
    found = user.notices.select_related("competition").order_by(
        F("read_at").desc(nulls_first=True), "-created_at", "-pk"
    )
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "notifications/notifications.html", {"page": page})


@open_page_to(SiteAudience.SIGNED_IN)
def notice(request: HttpRequest, number: int) -> HttpResponse:
    """Redirect to the link of a notice; POST also marks it as read."""
    user = signed_in_user(request.user)
    wanted = get_object_or_404(user.notices, pk=number)
    if request.method == "POST":
        notices.mark_read(user=user, number=wanted.pk)
    return redirect(wanted.link or "notifications")


@open_page_to(SiteAudience.SIGNED_IN)
def preferences(request: HttpRequest) -> HttpResponse:
    """The viewer's time zone, language, and choices for each kind of notice."""
    user = signed_in_user(request.user)
    form = PreferencesForm(user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        own = {name: form.cleaned_data[name] for name in ("zone", "language") if name in form.fields}
        User.objects.filter(pk=user.pk).update(**own)
        notices.save_choices(user=user, choices=form.deliveries())
        messages.success(request, _("Saved."))
        return see_other("preferences")
    return render(request, "notifications/preferences.html", {"form": form}, status=422 if form.errors else 200)


@csrf_exempt
@open_page_to(SiteAudience.ANYONE)
def stop_mail(request: HttpRequest, token: str) -> HttpResponse:
    """Unsubscribe from e-mails of some kinds by the link in an e-mail; without CSRF check, as mail programs have no
    cookies.

    Only POST unsubscribes, because virus scanners follow every link in an e-mail.
    """
    kinds = emails.unsubscribe_kinds(token, stop=request.method == "POST")
    if not kinds:
        raise Http404(_("This link is invalid or incomplete."))
    context = {"kinds": kinds, "is_stopped": request.method == "POST"}
    return render(request, "notifications/stop_mail.html", context)
