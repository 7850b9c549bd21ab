"""The forms of the steps: parts of those that stay under Manage afterwards."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from ..models import Competition
from .host import CompetitionForm, MomentField, moment_in, wall_text


class WizardStepForm(CompetitionForm):
    """Some fields of a competition; the others stay as they are."""

    shown: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in [name for name in self.fields if name not in self.shown]:
            del self.fields[name]

    def add_error(self, field: str | None, error: Any) -> None:
        """What is wrong with a field that this step does not show stands above the form."""
        if field is None and hasattr(error, "error_dict"):
            for name, found in error.error_dict.items():
                super().add_error(name if name in self.fields else None, ValidationError(found))
        else:
            super().add_error(field, error)


class BasicsForm(WizardStepForm):
    shown = ("title", "slug", "subtitle", "course", "contact", "overview", "rules", "zone")


class LimitsForm(WizardStepForm):
    shown = (
        "opens_at",
        "closes_at",
        "zone",
        "reveals_itself",
        "allows_late",
        "board_mode",
        "board_step",
        "daily_attempts",
        "final_count",
        "team_size",
        "max_megabytes",
    )


class EntryForm(WizardStepForm):
    shown = ("is_listed", "needs_code", "join_code")


class ScheduleForm(forms.Form):
    """When to launch, on the clocks of the competition's zone."""

    launches_at = MomentField(label=_("Launch at"))

    def __init__(self, competition: Competition, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.zone = competition.zone
        if competition.launch_plan.launches_at:
            self.initial["launches_at"] = wall_text(competition.launch_plan.launches_at.replace(second=0), self.zone)
        self.fields["launches_at"].help_text = _("In the zone %(zone)s.") % {"zone": competition.zone}

    def clean_launches_at(self) -> datetime:
        wall: datetime | None = self.cleaned_data["launches_at"]
        if wall is None:
            raise ValidationError(_("Write a date with a time."))
        return moment_in(wall, self.zone)


class CloneForm(forms.Form):
    """The copy's title and address, and whether baselines come along."""

    title = forms.CharField(label=_("Title"), max_length=120)
    slug = forms.SlugField(
        label=_("Address"), required=False, max_length=60, help_text=_("Left empty, it is made from the title.")
    )
    with_baselines = forms.BooleanField(
        label=_("With its baselines"),
        required=False,
        help_text=_("They are scored with the ground truth, which is then published at once instead of a draft."),
    )


class FolderForm(forms.Form):
    """A competition that was taken along."""

    folder = forms.FileField(
        label=_("Zip file"),
        error_messages={"required": _("Choose a file first."), "empty": _("This file is empty.")},
        help_text=_("As “Settings” of a competition lets you download it."),
    )
