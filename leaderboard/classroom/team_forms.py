"""What hosts fill in about one team."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from leaderboard.competitions.forms.host import MomentField, moment_in
from leaderboard.competitions.models import Competition, Extension


class ExtensionForm(forms.Form):
    """More attempts, more time. The deadline is meant in the competition's zone."""

    extra_attempts = forms.IntegerField(
        label=_("Extra attempts"),
        required=False,
        min_value=0,
        max_value=1000,
        help_text=_("On top of what every team has a day."),
    )
    day = forms.DateField(
        label=_("Only on the day (UTC)"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=_("Empty: on every day."),
    )
    closes_at = MomentField(label=_("New deadline"), required=False)
    reason = forms.CharField(
        label=_("Reason"),
        max_length=Extension._meta.get_field("reason").max_length,
        help_text=_("The team and the other hosts read it."),
        error_messages={"required": _("Give a reason.")},
    )

    def __init__(self, competition: Competition, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.competition = competition
        self.fields["closes_at"].help_text = _("In the zone %(zone)s; empty: the deadline of everybody.") % {
            "zone": competition.zone
        }

    def clean_extra_attempts(self) -> int:
        return self.cleaned_data["extra_attempts"] or 0

    def clean_closes_at(self) -> Any:
        wall = self.cleaned_data["closes_at"]
        return moment_in(wall, self.competition.zone) if wall else None
