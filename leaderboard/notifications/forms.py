"""Forms for a person's preferences and for hosts' announcements."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.accounts.forms import RealName
from leaderboard.accounts.models import User
from leaderboard.common import outbox
from leaderboard.common.display_time import zone_title
from leaderboard.common.form_widgets import LongSelect
from leaderboard.common.viewer import time_zones
from leaderboard.competitions import hooks as competitions_hooks
from leaderboard.competitions.models import Competition, Team

from . import queries
from .kinds import Delivery, NoticeKind
from .models import Announcement

OPTIONS = Announcement.Audience


class PreferencesForm(forms.Form):
    """A person's name, time zone and language, and which notices reach them on the site and by e-mail."""

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if user.has_usable_password():  # other names come from an institution or a learning platform
            self.fields["full_name"] = RealName(initial=user.get_full_name())
        self.kinds = [kind for kind in NoticeKind if not kind.is_for_hosts or user.is_host_anywhere]
        zones = time_zones() if user.zone in ("", *time_zones()) else (user.zone, *time_zones())
        self.fields["zone"] = forms.ChoiceField(
            label=_("Time zone"),
            widget=LongSelect,
            required=False,
            choices=[("", _("Same as my browser")), *((zone, zone_title(zone)) for zone in zones)],
            initial=user.zone,
            help_text=_("For all pages. Host forms use the competition's time zone."),
        )
        if len(settings.LANGUAGES) > 1:
            self.fields["language"] = forms.ChoiceField(
                label=_("Language"),
                required=False,
                choices=[("", _("Same as my browser")), *settings.LANGUAGES],
                initial=user.language if user.language in dict(settings.LANGUAGES) else "",
                help_text=_("For all pages, notifications and e-mails."),
            )
        self.chosen = queries.notice_choices_of(user)
        self.can_mail = outbox.sends_mail() and bool(user.email)
        choices = [(kind.value, kind.label) for kind in self.kinds]
        shown = [kind.value for kind in self.kinds if self.chosen[kind] != Delivery.NONE]
        self.fields["on_site"] = forms.MultipleChoiceField(choices=choices, required=False, initial=shown)
        if self.can_mail:
            mailed = [kind.value for kind in self.kinds if self.chosen[kind] == Delivery.EMAIL]
            self.fields["by_mail"] = forms.MultipleChoiceField(choices=choices, required=False, initial=mailed)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table of notices; without e-mail only the kinds that can be switched off."""
        shown, mailed = self["on_site"].value() or (), self["by_mail"].value() or () if self.can_mail else ()
        return [
            {"kind": kind, "is_shown": kind.value in shown or not kind.may_be_off, "is_mailed": kind.value in mailed}
            for kind in self.kinds
            if self.can_mail or kind.may_be_off
        ]

    def deliveries(self) -> dict[NoticeKind, Delivery]:
        """Kind → delivery. E-mail includes the notice on the site; if e-mail is unavailable, an earlier choice of
        e-mail is kept for kinds that stay shown."""
        shown, mailed = self.cleaned_data["on_site"], self.cleaned_data.get("by_mail", ())
        deliveries = {}
        for kind in self.kinds:
            is_shown = kind.value in shown or not kind.may_be_off
            keeps_mail = not self.can_mail and is_shown and self.chosen[kind] == Delivery.EMAIL
            if kind.value in mailed or keeps_mail:
                deliveries[kind] = Delivery.EMAIL
            else:
                deliveries[kind] = Delivery.PAGE if is_shown else Delivery.NONE
        return deliveries


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
        widgets: ClassVar = {"text": forms.Textarea(attrs={"rows": 8})}

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
            (option.value, str(option.label), queries.announcement_readers(competition, option).count())
            for option in queries.available_audiences(competition)
            if option != OPTIONS.SECTION
        ]
        for name, number in competitions_hooks.roster.section_sizes(competition).items():
            counts.append((f"section:{name}", _("Section “%(name)s”") % {"name": name}, number))
        if team is not None:
            number = queries.announcement_readers(competition, OPTIONS.TEAM, team=team).count()
            counts.insert(0, (f"team:{team.pk}", _("Team “%(name)s”") % {"name": team.name}, number))
            self.initial["audience"] = f"team:{team.pk}"
        self.fields["audience"].choices = [  # type: ignore[attr-defined]
            (value, f"{label} ({people_text(number)})") for value, label, number in counts
        ]
        self.order_fields(["title", "text", "audience", "is_pinned", "key"])

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments for `services.send_announcement`."""
        audience, _separator, which = self.cleaned_data["audience"].partition(":")
        is_team = audience == OPTIONS.TEAM
        to = {"team": self.team if is_team else None, "section": "" if is_team else which}
        return {**self.cleaned_data, "audience": audience, **to}


def people_text(number: int) -> str:
    return ngettext("%(number)s person", "%(number)s people", number) % {"number": number}
