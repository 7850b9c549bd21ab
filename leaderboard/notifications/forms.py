"""How a person wants to be reached."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User
from leaderboard.common.display_time import time_zones
from leaderboard.common.form_widgets import LongSelect

from . import notices
from .models.notice import Delivery, NoticeKind


class PreferencesForm(forms.Form):
    """A person's clocks and keys, and how they want to be notified, one choice for each kind that can reach them."""

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.kinds = [kind for kind in NoticeKind if not kind.is_for_hosts or user.is_host_anywhere]
        known = time_zones() if user.zone in ("", *time_zones()) else (user.zone, *time_zones())
        self.fields["zone"] = forms.ChoiceField(
            label=_("Time zone"),
            widget=LongSelect,
            required=False,
            choices=[("", _("That of my browser")), *((zone, zone.replace("_", " ")) for zone in known)],
            initial=user.zone,
            help_text=_("Of all pages and of the daily e-mail. Hosts' forms are in the competition's own."),
        )
        if len(settings.LANGUAGES) > 1:
            self.fields["language"] = forms.ChoiceField(
                label=_("Language"),
                required=False,
                choices=[("", _("That of my browser")), *settings.LANGUAGES],
                initial=user.language if user.language in dict(settings.LANGUAGES) else "",
                help_text=_("Of all pages, notices and e-mails."),
            )
        chosen = notices.notice_choices_of(user)
        for kind in self.kinds:
            ways = [(way.value, way.label) for way in Delivery if way != Delivery.NONE or kind.may_be_silent]
            self.fields[kind.value] = forms.ChoiceField(label=kind.label, choices=ways, initial=chosen[kind])

    def save_profile(self) -> None:
        """Store what is about the person and not about notices."""
        own = {name: self.cleaned_data[name] for name in ("zone", "language") if name in self.fields}
        User.objects.filter(pk=self.user.pk).update(**own)

    @property
    def of_notices(self) -> list[forms.BoundField]:
        return [self[kind.value] for kind in self.kinds]

    @property
    def choices(self) -> dict[NoticeKind, str]:
        """What `notices.choose` takes."""
        return {kind: self.cleaned_data[kind.value] for kind in self.kinds}
