"""Hosts' forms: the competition and its parts, copies, folders, data files, baselines, confirmations."""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, datetime
from typing import Any, ClassVar, cast

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.html import escape
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User
from leaderboard.common.display_time import year_problem, zone_title
from leaderboard.common.form_widgets import LongSelect
from leaderboard.common.names import slug_from_title
from leaderboard.common.viewer import time_zones

from .models import Admission, Competition, Course
from .models.competition_settings import OWN_FIELDS, PLACES, make_settings, read_setting, setting_field, write_rows

MEGABYTE = 1024 * 1024
NOT_SETTINGS = ("max_megabytes", "hosts", "in_course")
"""Fields of the form that `create_competition` and `change_competition` do not take."""
PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
FILE_ERRORS = {"required": _("Choose a file first."), "empty": _("This file is empty.")}
DOMAIN = re.compile(r"@[^@\s*?/:<>\"()]+\.[^@\s.*?/:<>\"()]{2,}")
MOMENT_FORMATS = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"]


class MomentField(forms.CharField):
    """A local time from the browser's `datetime-local`, without time zone; the form adds that (`moment_in`)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.DateTimeInput(attrs={"type": "datetime-local"}), **options)

    def clean(self, value: Any) -> datetime | None:
        text = super().clean(value)
        for pattern in MOMENT_FORMATS:
            try:
                moment = datetime.strptime(text, pattern)
            except ValueError:
                continue
            if problem := year_problem(moment):
                raise ValidationError(problem)
            return moment
        if text:
            raise ValidationError(_("Enter a date and time, such as 2026-12-01 23:59."))
        return None


def wall_text(moment: datetime, zone: str) -> str:
    """The value of a `datetime-local` field for a time in a time zone."""
    local = moment.astimezone(zoneinfo.ZoneInfo(zone))
    return local.strftime("%Y-%m-%dT%H:%M:%S" if local.second else "%Y-%m-%dT%H:%M")


def moment_in(wall: datetime, zone: str) -> datetime:
    """The time at which the clocks of a time zone show `wall`. Raises `ValidationError` if there is none, or two."""
    local = wall.replace(tzinfo=zoneinfo.ZoneInfo(zone), fold=0)
    if local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) != wall:
        raise ValidationError(_("This time doesn't exist in this zone: clocks move forward on that day."))
    if local.utcoffset() != local.replace(fold=1).utcoffset():
        raise ValidationError(
            _(
                "This time occurs twice in this zone: clocks move back on that day. Enter a time an hour "
                "earlier or later."
            )
        )
    return local


class CompetitionForm(forms.ModelForm):  # type: ignore[type-arg]
    """All settings of a competition. Times are in the time zone that is chosen in the form."""

    opens_at = MomentField(label=_("Opens"))
    closes_at = MomentField(
        label=_("Deadline"),
        help_text=_("Everything uploaded before the deadline counts."),
    )
    course = setting_field("course", label=_("Course title"))
    zone = forms.ChoiceField(label=_("Time zone"), initial="UTC", widget=LongSelect)
    max_megabytes = forms.IntegerField(label=_("Largest file (MB)"), min_value=1, initial=50)
    reveals_itself = setting_field(
        "reveals_itself",
        label=_("Open the final ranking at the deadline"),
        help_text="",
    )
    allows_late = setting_field("allows_late", label=_("Accept late submissions"), help_text=_("Not ranked."))
    hides_scores = setting_field("hides_scores", label=_("Hide it until the end"))
    daily_attempts = setting_field(
        "daily_attempts",
        label=_("Attempts per team per day"),
        help_text=_("Invalid files are free."),
    )
    final_count = setting_field(
        "final_count",
        label=_("Final submissions"),
    )
    team_size = setting_field("team_size", label=_("Maximum team size"), help_text=_("1 means individual work."))
    attachments = setting_field("attachments", label=_("Attachment to final submissions"))
    attachment_hours = setting_field("attachment_hours", label=_("Hours to attach after the deadline"))
    is_listed = setting_field(
        "is_listed",
        label=_("Listed on the home page"),
        help_text="",
    )
    needs_code = setting_field(
        "needs_code",
        label=_("Join code required"),
        help_text="",
    )
    admission = setting_field("admission", label=_("Admission"), widget=forms.RadioSelect)
    allowed_addresses = setting_field(
        "allowed_addresses",
        label=_("Allowed addresses"),
        help_text=_("One per line: an address or a domain (@uni.example)."),
        widget=forms.Textarea(attrs={**PLAIN, "rows": 3}),
    )
    assistants_grade = setting_field("assistants_grade", label=_("Assistants can export grades"))
    uses_pseudonyms = setting_field("uses_pseudonyms", label=_("Show pseudonyms instead of team names"))
    shows_sections = setting_field(
        "shows_sections",
        label=_("Students can view the leaderboard by section"),
        help_text=_("This also shows each team's section, even under a pseudonym."),
    )
    join_code = setting_field(
        "join_code",
        label=_("Join code"),
        help_text=_("A new code replaces the old one."),
        widget=forms.TextInput(attrs=PLAIN),
        required=False,
    )

    class Meta:
        model = Competition
        fields: ClassVar = list(OWN_FIELDS)
        labels: ClassVar = {
            "title": _("Title"),
            "subtitle": _("Subtitle"),
            "overview": _("Overview"),
            "rules": _("Rules"),
            "slug": _("Address"),
            "contact": _("Contact"),
        }
        help_texts: ClassVar = {
            "slug": _("/c/<b>address</b>/. Leave empty to derive it from the title."),
            "subtitle": _("One sentence below the title."),
            "overview": _("Markdown, formulas between <code>$$</code>. Say what to predict."),
            "rules": _("Markdown. Students accept them, and again after a change."),
        }
        widgets: ClassVar = {
            "overview": forms.Textarea(attrs={"rows": 12}),
            "rules": forms.Textarea(attrs={"rows": 8}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        held: Competition = self.instance
        # Stored now, because validation changes the instance.
        self._closes_at = held.closes_at
        if held.launched_at is not None:
            del self.fields["closes_at"]  # the page that changes it says who loses time
        if not held.pk:
            make_settings(held)
        for name in PLACES.keys() & self.fields.keys():
            self.initial.setdefault(name, read_setting(held, name))
        self.fields["slug"].required = False
        known = time_zones() if held.zone in time_zones() else (held.zone, *time_zones())
        self.fields["zone"].choices = [(zone, zone_title(zone)) for zone in known]  # type: ignore[attr-defined]
        largest = self.fields["max_megabytes"]
        largest.help_text = _("At most %(number)s.") % {"number": settings.MAX_UPLOAD_BYTES // MEGABYTE}
        if held.pk:
            self.initial["max_megabytes"] = -(-held.limits.max_bytes // MEGABYTE)
            for name in ("opens_at", "closes_at") & self.fields.keys():
                self.initial[name] = text = wall_text(getattr(held, name), held.zone)
                # Browsers accept seconds only with a step of 1.
                self.fields[name].widget.attrs |= {"step": "1"} if text.count(":") == 2 else {}

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"] or slug_from_title(self.cleaned_data.get("title", ""))[:60].strip("-")
        # Without a title, the missing title is the only error to show.
        if not slug and self.cleaned_data.get("title"):
            raise ValidationError(_("Enter an address; it can't be derived from this title."))
        return slug

    def clean_join_code(self) -> str:
        code: str = re.sub(r"[\s-]", "", self.cleaned_data["join_code"]).upper()
        if code and (len(code) < 6 or not code.isascii() or not code.isalnum()):
            raise ValidationError(_("Use at least six letters and digits, so that it can't be guessed."))
        return code or self.instance.admission.join_code

    def clean_allowed_addresses(self) -> str:
        """One address or `@domain` per line, in lower case, without duplicates."""
        words = re.split(r"[\s,;]+", self.cleaned_data["allowed_addresses"].casefold())
        return "\n".join(dict.fromkeys(_clean_address(word) for word in words if word))

    def clean_max_megabytes(self) -> int:
        size: int = self.cleaned_data["max_megabytes"]
        limit = settings.MAX_UPLOAD_BYTES // MEGABYTE
        if size > limit and "max_megabytes" in self.changed_data:
            raise ValidationError(_("This site accepts files up to %(number)s MB.") % {"number": limit})
        return size

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in ("opens_at", "closes_at"):
            if not cleaned.get(name):
                continue
            if self.instance.pk and not {name, "zone"} & set(self.changed_data):
                # An unchanged time keeps its fractions of a second, which the form does not show.
                cleaned[name] = getattr(Competition.objects.get(pk=self.instance.pk), name)
                continue
            try:
                cleaned[name] = moment_in(cleaned[name], cleaned.get("zone") or "UTC")
            except ValidationError as error:
                self.add_error(name, error)
        opens_at, closes_at = cleaned.get("opens_at"), cleaned.get("closes_at") or self._closes_at
        if opens_at and closes_at and opens_at >= closes_at:
            name = "closes_at" if "closes_at" in self.fields else "opens_at"
            self.add_error(name, _("The competition must open before it closes."))
        if "max_megabytes" in self.changed_data or ("max_megabytes" in self.fields and not self.instance.pk):
            cleaned["max_bytes"] = cleaned.get("max_megabytes", 1) * MEGABYTE
        needs_address = cleaned.get("admission") == Admission.Kind.ADDRESSES
        if needs_address and not cleaned.get("allowed_addresses") and "allowed_addresses" not in self.errors:
            self.add_error("allowed_addresses", _("Enter at least one address or domain. Otherwise no one can join."))
        try:  # like `ModelForm` does for the fields of the competition's row
            write_rows(self.instance, cleaned)
        except ValidationError as error:
            self.add_error(None, error)
        return cleaned

    @property
    def fields_for_verb(self) -> dict[str, Any]:
        """Arguments for `create_competition` and `change_competition`."""
        return {name: value for name, value in self.cleaned_data.items() if name not in NOT_SETTINGS}


def _clean_address(word: str) -> str:
    """An e-mail address, or a domain with `@` before it. Raises `ValidationError`."""
    domain = word if word.startswith("@") else f"@{word}" if "@" not in word else ""
    if domain:
        if not DOMAIN.fullmatch(domain):
            raise ValidationError(gettext("“{word}” isn't a domain. Example: @uni.example.").format(word=word))
        return domain
    try:
        validate_email(word)
    except ValidationError:
        raise ValidationError(
            gettext("“{word}” is neither an e-mail address nor a domain.").format(word=word)
        ) from None
    return word


class PartOfCompetitionForm(CompetitionForm):
    """Some fields of a competition (`shown`); the others do not change."""

    shown: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in [name for name in self.fields if name not in self.shown]:
            del self.fields[name]
        self.order_fields(self.shown)

    def add_error(self, field: str | None, error: Any) -> None:
        """Add errors of fields that this form does not show to the errors of the whole form."""
        if field is None and hasattr(error, "error_dict"):
            for name, found in error.error_dict.items():
                super().add_error(name if name in self.fields else None, ValidationError(found))
        else:
            super().add_error(field, error)


class TextsForm(PartOfCompetitionForm):
    shown = ("title", "subtitle", "course", "contact", "slug", "overview", "rules")


class LimitsForm(PartOfCompetitionForm):
    shown = (
        "opens_at",
        "closes_at",
        "zone",
        "reveals_itself",
        "allows_late",
        "daily_attempts",
        "final_count",
        "team_size",
        "max_megabytes",
        "attachments",
        "attachment_hours",
    )


class AdmissionForm(PartOfCompetitionForm):
    shown = ("admission", "allowed_addresses", "needs_code", "join_code", "is_listed", "assistants_grade")


class BoardForm(PartOfCompetitionForm):
    shown = ("hides_scores", "uses_pseudonyms", "shows_sections")


class SetupForm(PartOfCompetitionForm):
    """The settings on the setup page of a draft: names, dates and the most important choices."""

    shown_with_answers = ("opens_at", "closes_at", "zone", "daily_attempts", "hides_scores")
    """Fields that the page does not show before there are answers, so they are not posted."""
    shown = ("title", "subtitle", *shown_with_answers, "is_listed", "needs_code", "join_code", "in_course")
    in_course = forms.ChoiceField(
        label=_("Course"), required=False, help_text=_("All competitions of a course share one roster.")
    )

    def __init__(self, *args: Any, user: User | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer_courses(user)
        if self.is_bound and "opens_at" not in self.data:
            for name in self.shown_with_answers:
                del self.fields[name]

    def _offer_courses(self, user: User | None) -> None:
        """The choice of a course for hosts of other competitions; a course of the draft alone is “New course”."""
        own, hosted = self.instance.course_id, Course.hosted_by(user) if user else ()
        self.courses = {str(one.pk): one for one in hosted if one.pk != own or getattr(one, "size", 0) > 1}
        self.initial["in_course"] = str(own) if str(own) in self.courses else ""
        choices = [("", _("New course")), *((key, str(one)) for key, one in self.courses.items())]
        cast(forms.ChoiceField, self.fields["in_course"]).choices = choices
        if not self.courses:
            del self.fields["in_course"]

    @property
    def chosen_course(self) -> Course | None:
        """The chosen course, or None for a new one."""
        return self.courses.get(self.cleaned_data["in_course"])

    @property
    def moves_to_course(self) -> bool:
        """Whether the host has chosen another course for the draft."""
        return "in_course" in self.data and "in_course" in self.changed_data


class CloneForm(forms.Form):
    """The title of a copy."""

    prefix = "copy"
    title = forms.CharField(label=_("Title of the copy"), max_length=120)


class FolderForm(forms.Form):
    """Upload of an exported competition."""

    folder = forms.FileField(
        label=_("Zip file"),
        error_messages=FILE_ERRORS,
        help_text=_("The ZIP you downloaded from its Settings"),
    )


class DataFileForm(forms.Form):
    file = forms.FileField(
        label=_("File for students"),
        max_length=1000,
        error_messages=FILE_ERRORS,
        help_text=_("A file with the same name replaces the earlier one."),
    )
    description = forms.CharField(label=_("Description"), required=False, max_length=300)


class BaselineForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60, help_text=_("Shown on the leaderboard."))
    file = forms.FileField(
        label=_("Submission file"),
        max_length=1000,
        error_messages=FILE_ERRORS,
        help_text=_("A file as a student would submit it."),
    )


class SlugForm(forms.Form):
    """Confirmation by typing the competition's address."""

    confirm = forms.CharField(
        label=_("Address of the competition"),
        widget=forms.TextInput(attrs=PLAIN),
    )

    def __init__(self, slug: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.slug = slug
        self.fields["confirm"].error_messages["required"] = _("Type exactly “%(slug)s”.") % {"slug": slug}
        self.fields["confirm"].help_text = _("Type <strong>%(slug)s</strong> to confirm.") % {"slug": escape(slug)}

    def clean_confirm(self) -> str:
        typed: str = self.cleaned_data["confirm"]
        if typed != self.slug:
            raise ValidationError(_("Type exactly “%(slug)s”.") % {"slug": self.slug})
        return typed


class ReasonForm(forms.Form):
    """The reason for a host's decision, shown to the students concerned."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=300,
        help_text=_("Shown to the students concerned."),
        error_messages={"required": _("Give a reason. The students concerned see it.")},
    )

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if not reason.strip():
            raise ValidationError(self.fields["reason"].error_messages["required"])
        return reason
