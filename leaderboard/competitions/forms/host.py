"""What hosts fill in."""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, datetime
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.html import escape
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from leaderboard.common import numbers
from leaderboard.common.display_time import time_zones
from leaderboard.common.form_widgets import LongSelect
from leaderboard.common.names import slug_from_title

from ..models import BoardSettings, Competition, GroundTruth, TruthCheck
from ..models.competition import Split
from ..models.competition_settings import PLACES, make_settings, read_setting, setting_field, write_rows

MEGABYTE = 1024 * 1024
FEW_STEPS = 10
"""With fewer between knowing nothing and perfection most teams of a class stand on the same one or two."""
MOMENT_FORMATS = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"]


class MomentField(forms.CharField):
    """A wall-clock time as the browser's `datetime-local` sends it; the form knows the zone it is meant in."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.DateTimeInput(attrs={"type": "datetime-local"}), **options)

    def clean(self, value: Any) -> datetime | None:
        text = super().clean(value)
        for pattern in MOMENT_FORMATS:
            try:
                moment = datetime.strptime(text, pattern)
            except ValueError:
                continue
            if not 1970 <= moment.year <= 9000:  # in another zone it might lie outside of the calendar
                raise ValidationError(_("Write a year between 1970 and 9000."))
            return moment
        if text:
            raise ValidationError(_("Write a date with a time, such as 2026-12-01 23:59."))
        return None


def wall_text(moment: datetime, zone: str) -> str:
    """A moment as `datetime-local` wants it, in a zone."""
    local = moment.astimezone(zoneinfo.ZoneInfo(zone))
    return local.strftime("%Y-%m-%dT%H:%M:%S" if local.second else "%Y-%m-%dT%H:%M")


def moment_in(wall: datetime, zone: str) -> datetime:
    """The moment at which the clocks of a zone show `wall`. Raises `ValidationError` where there is none, or two."""
    local = wall.replace(tzinfo=zoneinfo.ZoneInfo(zone), fold=0)
    if local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) != wall:
        raise ValidationError(_("The clocks of this zone never show this time: they are put forward on that day."))
    if local.utcoffset() != local.replace(fold=1).utcoffset():
        raise ValidationError(
            _(
                "The clocks of this zone show this time twice: they are put back on that day. "
                "Write a time an hour earlier or later."
            )
        )
    return local


class CompetitionForm(forms.ModelForm):  # type: ignore[type-arg]
    """Everything a host says about a competition but its data. Times are meant in the zone of the form."""

    opens_at = MomentField(label=_("Opens"), help_text=_("In the zone below."))
    closes_at = MomentField(
        label=_("Deadline"),
        help_text=_("In the zone below. What has arrived before counts, even if it is scored later."),
    )
    zone = forms.ChoiceField(label=_("Time zone"), initial="UTC", widget=LongSelect)
    max_megabytes = forms.IntegerField(label=_("Largest file (MB)"), min_value=1, initial=50)
    reveals_itself = setting_field(
        "reveals_itself",
        label=_("Open the private board at the deadline"),
        help_text=_("Otherwise you open it yourself."),
    )
    allows_late = setting_field("allows_late", label=_("Take late files"))
    board_mode = setting_field(
        "board_mode", label=_("What it shows until the private board opens"), widget=forms.RadioSelect
    )
    board_step = setting_field(
        "board_step",
        label=_("Step of a steady board"),
        widget=forms.NumberInput(attrs={"step": "any", "min": "0", "autocomplete": "off"}),
    )
    daily_attempts = setting_field(
        "daily_attempts",
        label=_("Attempts per team and day"),
        help_text=_("Files that cannot be scored are free. A day ends at midnight UTC."),
    )
    final_count = setting_field(
        "final_count",
        label=_("Final picks"),
        help_text=_("How many files a team may pick for the private board; the best of them counts."),
    )
    team_size = setting_field("team_size", label=_("Largest team"), help_text=_("1 means that everybody works alone."))
    is_listed = setting_field(
        "is_listed",
        label=_("Listed on the front page"),
        help_text=_("Otherwise only members see that the competition exists."),
    )
    needs_code = setting_field(
        "needs_code",
        label=_("Joining needs the code"),
        help_text=_("Otherwise everybody who sees the competition may join."),
    )
    join_code = setting_field(
        "join_code",
        label=_("Join code"),
        help_text=_("Write it on the board of the class. Changing it ends the old code and its link."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        required=False,
    )

    class Meta:
        model = Competition
        fields: ClassVar = [
            "title",
            "slug",
            "subtitle",
            "course",
            "contact",
            "overview",
            "rules",
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
            "is_listed",
            "needs_code",
            "join_code",
        ]
        labels: ClassVar = {
            "title": _("Title"),
            "subtitle": _("Subtitle"),
            "overview": _("Overview"),
            "rules": _("Rules"),
            "slug": _("Address"),
            "course": _("Course"),
            "contact": _("Contact"),
        }
        help_texts: ClassVar = {
            "slug": _("Small letters, digits and hyphens: /c/<b>address</b>/. Left empty, it is made from the title."),
            "subtitle": _("One sentence below the title."),
            "overview": _(
                "Markdown, formulas between <code>$$</code>. What is asked, from which data. Needed at the launch."
            ),
            "rules": _("Markdown. Students accept the rules before they see the data; a change asks them again."),
        }
        widgets: ClassVar = {
            "overview": forms.Textarea(attrs={"rows": 12}),
            "rules": forms.Textarea(attrs={"rows": 8}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        held: Competition = self.instance
        if not held.pk:
            make_settings(held)
        for name in PLACES.keys() & self.fields.keys():
            self.initial.setdefault(name, read_setting(held, name))
        self.fields["slug"].required = False
        known = time_zones() if held.zone in time_zones() else (held.zone, *time_zones())
        self.fields["zone"].choices = [(zone, zone.replace("_", " ")) for zone in known]  # type: ignore[attr-defined]
        largest = self.fields["max_megabytes"]
        largest.help_text = _("At most %(number)s, the limit of this site.") % {
            "number": settings.MAX_UPLOAD_BYTES // MEGABYTE
        }
        if self.is_bound and self.add_prefix("board_mode") not in self.data:
            # A program that fills the form in need not know about boards.
            self.data = self.data.copy()  # type: ignore[attr-defined]
            self.data["board_mode"] = held.board.mode  # type: ignore[index]
        self.fields["board_mode"].help_text, self.fields["board_step"].help_text = board_hints(held)
        if not held.pk:
            self.initial["board_mode"] = BoardSettings.Mode.STEADY
        if held.pk:
            self.initial["max_megabytes"] = -(-held.limits.max_bytes // MEGABYTE)
            for name in ("opens_at", "closes_at"):
                self.initial[name] = text = wall_text(getattr(held, name), held.zone)
                # A browser takes seconds only with a step of 1.
                self.fields[name].widget.attrs |= {"step": "1"} if text.count(":") == 2 else {}

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"] or slug_from_title(self.cleaned_data.get("title", ""))[:60].strip("-")
        # Without a title that alone is the mistake to name.
        if not slug and self.cleaned_data.get("title"):
            raise ValidationError(_("Write an address; the title has no letters from which to make one."))
        return slug

    def clean_join_code(self) -> str:
        code: str = re.sub(r"[\s-]", "", self.cleaned_data["join_code"]).upper()
        if code and (len(code) < 6 or not code.isascii() or not code.isalnum()):
            raise ValidationError(_("At least six letters and digits, so that nobody finds it by trying."))
        return code or self.instance.admission.join_code

    def clean_max_megabytes(self) -> int:
        size: int = self.cleaned_data["max_megabytes"]
        limit = settings.MAX_UPLOAD_BYTES // MEGABYTE
        if size > limit and "max_megabytes" in self.changed_data:
            raise ValidationError(_("This site takes files of at most %(number)s MB.") % {"number": limit})
        return size

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in ("opens_at", "closes_at"):
            if not cleaned.get(name):
                continue
            if self.instance.pk and not {name, "zone"} & set(self.changed_data):
                # One that nobody touched keeps its fractions.
                cleaned[name] = getattr(Competition.objects.get(pk=self.instance.pk), name)
                continue
            try:
                cleaned[name] = moment_in(cleaned[name], cleaned.get("zone") or "UTC")
            except ValidationError as error:
                self.add_error(name, error)
        if cleaned.get("opens_at") and cleaned.get("closes_at") and cleaned["opens_at"] >= cleaned["closes_at"]:
            self.add_error("closes_at", _("The competition must open before it closes."))
        if "max_megabytes" in self.changed_data or ("max_megabytes" in self.fields and not self.instance.pk):
            cleaned["max_bytes"] = cleaned.get("max_megabytes", 1) * MEGABYTE
        try:  # as a `ModelForm` does for the competition's own fields
            write_rows(self.instance, cleaned)
        except ValidationError as error:
            self.add_error(None, error)
        return cleaned

    @property
    def fields_for_verb(self) -> dict[str, Any]:
        """What `create_competition` and `change_competition` take."""
        return {name: value for name, value in self.cleaned_data.items() if name not in ("max_megabytes", "hosts")}


def board_hints(competition: Competition) -> tuple[str, str]:
    """What we propose for the public board, and which step it would have; both follow from the ground truth."""
    ground_truth, few = competition.ground_truth, BoardSettings.FEW_PUBLIC_ROWS
    why = _(
        "Many exact scores tell a team the answers of single rows; a step prevents that, and costs honest teams little."
    )
    numbers_known = {"few": f"{few:,}", "number": f"{ground_truth.public_rows:,}" if ground_truth else ""}
    if ground_truth is None:
        proposal = _("Steady is proposed for fewer than %(few)s public rows.")
        step = gettext("A number, or empty: then it follows from the ground truth, once there is one.")
    else:
        proposal = _("With %(number)s public rows a plain board does little harm.")
        if ground_truth.public_rows < few:
            proposal = _("Steady is proposed: this ground truth has %(number)s public rows, fewer than %(few)s.")
        step = gettext("Write a number: nobody can work one out for this ground truth.")
        if ground_truth.step is not None:
            step = gettext("A number, or empty for %(step)s: so far apart, two good files differ by more than chance.")
            step %= {"step": f"{ground_truth.step:.12g}"}
            step = f"{step} {_steps_there_are(ground_truth, ground_truth.step)}".strip()
    return f"{why} {proposal % numbers_known}", step


def _steps_there_are(ground_truth: GroundTruth, step: float) -> str:
    """How many steps lie between a file that knows nothing and a perfect one: with few of them a class sees no
    progress."""
    check = TruthCheck.objects.filter(ground_truth=ground_truth).first()
    measured = check.report.get("baselines", []) if check else []
    known = [one["values"].get(Split.PUBLIC, {}).get("value") for one in measured]
    scores = [score for score in known if score is not None]
    if len(scores) < 2:
        return ""
    # The perfect file is the last; the one nearest to it knows nothing and is the best of those.
    nearest = min(scores[:-1], key=lambda score: abs(score - scores[-1]))
    steps = int(abs(nearest - scores[-1]) / step)
    words = ngettext(
        "From the best file that knows nothing (%(score)s) to a perfect one it is %(steps)s step.",
        "From the best file that knows nothing (%(score)s) to a perfect one it is %(steps)s steps.",
        steps,
    ) % {"score": numbers.number_text(nearest), "steps": steps}
    if steps >= FEW_STEPS:
        return words
    advice = gettext("A class sees little progress then: a smaller step or a plain board shows more.")
    return f"{words} {advice}"


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


class TeamChangesForm(forms.Form):
    """How long teams can change; times are meant in the competition's zone."""

    teams_close_at = MomentField(label=_("Teams stay as they are from"), required=False)

    def __init__(self, competition: Competition, data: QueryDict | None = None) -> None:
        at = competition.limits.teams_close_at
        super().__init__(data, initial={"teams_close_at": wall_text(at, competition.zone) if at else ""})
        self.competition = competition
        self.fields["teams_close_at"].help_text = gettext(
            "In the zone %(zone)s. From then on nobody joins, leaves or merges teams; newcomers still enter alone. "
            "Empty: at the deadline."
        ) % {"zone": competition.zone}

    def clean_teams_close_at(self) -> Any:
        wall = self.cleaned_data["teams_close_at"]
        if wall is None:
            return None
        if "teams_close_at" not in self.changed_data:
            return self.competition.limits.teams_close_at
        moment = moment_in(wall, self.competition.zone)
        if moment > self.competition.closes_at:
            raise ValidationError(
                gettext("Teams stay as they are from the deadline on; choose an earlier time, or none.")
            )
        return moment


class DataFileForm(forms.Form):
    file = forms.FileField(
        label=_("File for students"),
        max_length=1000,
        error_messages={"required": _("Choose a file first."), "empty": _("This file is empty.")},
        help_text=_("The same name again replaces the earlier file."),
    )
    description = forms.CharField(label=_("Description"), required=False, max_length=300)


class BaselineForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60, help_text=_("As it is shown on the board."))
    file = forms.FileField(
        label=_("Submission file"),
        max_length=1000,
        error_messages={"required": _("Choose a file first."), "empty": _("This file is empty.")},
        help_text=_("A file as a student would hand it in."),
    )


class SlugForm(forms.Form):
    """Type the competition's address, to show that this is meant."""

    confirm = forms.CharField(
        label=_("Address of the competition"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, slug: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.slug = slug
        self.fields["confirm"].error_messages["required"] = _("Type exactly “%(slug)s”.") % {"slug": slug}
        self.fields["confirm"].help_text = _("Type <strong>%(slug)s</strong> to show that you mean it.") % {
            "slug": escape(slug)
        }

    def clean_confirm(self) -> str:
        typed: str = self.cleaned_data["confirm"]
        if typed != self.slug:
            raise ValidationError(_("Type exactly “%(slug)s”.") % {"slug": self.slug})
        return typed


class ReasonForm(forms.Form):
    """Why something is taken away, for those whom it concerns."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=300,
        help_text=_("Those whom it concerns read it."),
        error_messages={"required": _("Give a reason; those whom it concerns read it.")},
    )

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if not reason.strip():
            raise ValidationError(self.fields["reason"].error_messages["required"])
        return reason
