"""Settings of a competition in a table per subject: admission, boards, limits, archive.

`create_competition` makes these rows together with the competition. The competition's row is the lock for all of them:
a service that changes one locks the competition first and then reads the row.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, ClassVar, cast

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User

from .competition import CODE_ALPHABET, ROWS, Competition, normalize_code
from .course import Course


def new_join_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(8))


class Admission(models.Model):
    """Settings for listing and joining a competition, and for the rights of its assistants."""

    class Kind(models.TextChoices):
        """Restriction of the people who may join, in addition to the join code."""

        CODE = "code", _("Everyone with the code")
        ROSTER = "roster", _("Only people on the roster")
        ADDRESSES = "addresses", _("Only people with an e-mail address from the list below")

    competition = models.OneToOneField(
        Competition, on_delete=models.CASCADE, primary_key=True, related_name="admission", editable=False
    )
    is_listed = models.BooleanField(
        _("listed"), default=False, help_text=_("Everyone sees it on the home page. Otherwise only members do.")
    )
    join_code = models.CharField(max_length=20, unique=True, default=new_join_code)
    needs_code = models.BooleanField(default=True, help_text=_("Joining requires the code or an invitation."))
    kind = models.CharField(_("who can join"), max_length=9, choices=Kind.choices, default=Kind.CODE)
    allowed_addresses = models.TextField(
        _("allowed addresses"),
        blank=True,
        max_length=20_000,
        help_text=_("One per line: an address, or a domain such as @uni.example for everyone there."),
    )
    assistants_grade = models.BooleanField(_("assistants may export grades"), default=False)
    # Default values that the host has not confirmed yet.
    is_proposed = models.BooleanField(default=False, editable=False)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="admission_kind_known", condition=Q(kind__in=["code", "roster", "addresses"])),
        ]

    def __str__(self) -> str:
        return self.join_code

    def clean(self) -> None:
        self.join_code = normalize_code(self.join_code)


class BoardSettings(models.Model):
    """Settings for the boards: hidden scores, pseudonyms, sections, reveal."""

    competition = models.OneToOneField(
        Competition, on_delete=models.CASCADE, primary_key=True, related_name="board", editable=False
    )
    hides_scores = models.BooleanField(
        _("hidden until the end"),
        default=False,
        help_text=_("Students see no scores or ranks until the final ranking opens."),
    )
    uses_pseudonyms = models.BooleanField(
        _("pseudonyms"),
        default=False,
        help_text=_("Teams see pseudonyms. Hosts, assistants and the team itself see the real name."),
    )
    shows_sections = models.BooleanField(
        _("sections on the leaderboard"),
        default=False,
        help_text=_(
            "Students can filter the leaderboard by section. This also shows each team's section, even under "
            "a pseudonym."
        ),
    )
    reveals_itself = models.BooleanField(
        _("reveal at the deadline"),
        default=True,
        help_text=_("Open the final ranking automatically after the deadline."),
    )

    class Meta:
        verbose_name_plural = "board settings"

    def __str__(self) -> str:
        return "hidden" if self.hides_scores else "open"


class Limits(models.Model):
    """Limits for attempts, files and teams, attachments to final submissions, and the pause."""

    class Attachments(models.TextChoices):
        OFF = "off", _("Off")
        OPTIONAL = "optional", _("Optional")
        REQUIRED = "required", _("Required")

    MAX_ATTACHMENT_HOURS = 30 * 24

    competition = models.OneToOneField(
        Competition, on_delete=models.CASCADE, primary_key=True, related_name="limits", editable=False
    )
    daily_attempts = models.PositiveIntegerField(default=5, validators=[MinValueValidator(1), MaxValueValidator(1000)])
    final_count = models.PositiveIntegerField(
        _("final submissions"), default=2, validators=[MinValueValidator(1), MaxValueValidator(20)]
    )
    team_size = models.PositiveIntegerField(default=4, validators=[MinValueValidator(1), MaxValueValidator(50)])
    max_bytes = models.PositiveBigIntegerField(
        _("largest file in bytes"), default=50 * 1024 * 1024, validators=[MinValueValidator(1024)]
    )
    allows_late = models.BooleanField(
        _("late submissions"), default=False, help_text=_("Scored after the deadline, but not ranked.")
    )
    attachments = models.CharField(
        _("attachment to final submissions"),
        max_length=8,
        choices=Attachments.choices,
        default=Attachments.OFF,
        help_text=_(
            "A notebook, script, ZIP or PDF with the work. The site never runs it, and ranks don't depend on it."
        ),
    )
    attachment_hours = models.PositiveIntegerField(
        _("hours to attach after the deadline"),
        default=48,
        validators=[MaxValueValidator(MAX_ATTACHMENT_HOURS)],
    )
    # Set during a pause, in which no file is accepted; the deadline does not move.
    paused_at = models.DateTimeField(null=True, blank=True, editable=False)
    pause_reason = models.CharField(max_length=300, blank=True, editable=False)
    # Default values that the host has not confirmed yet.
    is_proposed = models.BooleanField(default=False, editable=False)

    class Meta:
        verbose_name_plural = "limits"
        constraints: ClassVar = [
            models.CheckConstraint(
                name="limits_are_positive",
                condition=Q(daily_attempts__gte=1, final_count__gte=1, team_size__gte=1, max_bytes__gte=1),
            ),
            models.CheckConstraint(
                name="attachments_known", condition=Q(attachments__in=["off", "optional", "required"])
            ),
            models.CheckConstraint(name="a_pause_says_why", condition=Q(paused_at__isnull=True) | ~Q(pause_reason="")),
        ]

    def __str__(self) -> str:
        return f"{self.daily_attempts} files a day"


class Archive(models.Model):
    """Whether a competition is archived, or in the bin, from where it can be restored."""

    # Days in the bin before a competition is deleted for good.
    BIN_DAYS = 30

    competition = models.OneToOneField(
        Competition, on_delete=models.CASCADE, primary_key=True, related_name="archive", editable=False
    )
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    binned_at = models.DateTimeField(null=True, blank=True, editable=False)
    binned_by = models.ForeignKey(
        User, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )

    def __str__(self) -> str:
        return str(self.binned_at or self.archived_at or "")

    @property
    def removed_at(self) -> datetime | None:
        """The time at which a competition in the bin will be deleted for good; None outside the bin."""
        return self.binned_at + timedelta(days=self.BIN_DAYS) if self.binned_at else None


# Name of a setting in forms, imports, exports and the audit log → its place outside the competition's row.
PLACES = {
    "course": "course.title",
    "is_listed": "admission.is_listed",
    "join_code": "admission.join_code",
    "needs_code": "admission.needs_code",
    "admission": "admission.kind",
    "allowed_addresses": "admission.allowed_addresses",
    "assistants_grade": "admission.assistants_grade",
    "hides_scores": "board.hides_scores",
    "uses_pseudonyms": "board.uses_pseudonyms",
    "shows_sections": "board.shows_sections",
    "reveals_itself": "board.reveals_itself",
    "daily_attempts": "limits.daily_attempts",
    "final_count": "limits.final_count",
    "team_size": "limits.team_size",
    "max_bytes": "limits.max_bytes",
    "allows_late": "limits.allows_late",
    "attachments": "limits.attachments",
    "attachment_hours": "limits.attachment_hours",
}
OWN_FIELDS = ("title", "slug", "subtitle", "overview", "rules", "contact", "opens_at", "closes_at", "zone")
EDITABLE = (*OWN_FIELDS, *PLACES)
"""Names of all settings that hosts change."""


def make_settings(competition: Competition) -> None:
    """Make the settings of a competition that is not stored yet, with default values."""
    competition.course = Course()
    for row in (Admission, BoardSettings, Limits, Archive):
        row(competition=competition)


def read_setting(competition: Competition, name: str) -> Any:
    return attrgetter(PLACES.get(name, name))(competition)


def write_setting(competition: Competition, name: str, value: Any) -> None:
    row, _dot, field = PLACES.get(name, name).rpartition(".")
    setattr(getattr(competition, row) if row else competition, field, value)


def check_settings(competition: Competition) -> None:
    """Validate the competition and its settings. Raises `ValidationError` with all errors by name of the setting."""
    errors: dict[str, list[ValidationError]] = {}
    for check in (Competition.full_clean, _check_rows):
        try:
            check(competition)
        except ValidationError as error:
            for name, found in error.error_dict.items():
                errors.setdefault(name, []).extend(found)
    if errors:
        raise ValidationError(errors)


def write_rows(competition: Competition, values: Mapping[str, Any]) -> None:
    """Set the values that are outside the competition's row. Raises `ValidationError` by the names of `PLACES`."""
    for name in PLACES.keys() & values.keys():
        write_setting(competition, name, values[name])
    _check_rows(competition)


def _check_rows(competition: Competition) -> None:
    names = {place: name for name, place in PLACES.items()}
    errors: dict[str, list[ValidationError]] = {}
    for row in (*ROWS, "course"):
        try:
            getattr(competition, row).full_clean(exclude={"competition", "slug"})
        except ValidationError as error:
            for field, found in error.error_dict.items():
                errors.setdefault(names.get(f"{row}.{field}", field), []).extend(found)
    if errors:
        raise ValidationError(errors)


def save_settings(competition: Competition) -> None:
    for name in ROWS:
        row = getattr(competition, name)
        row.save(force_insert=row._state.adding)


def setting_field(name: str, **options: Any) -> forms.Field:
    """The form field of a setting in `PLACES`, like those that `ModelForm` makes for the competition's fields."""
    row, _dot, field = PLACES[name].rpartition(".")
    related = Competition._meta.get_field(row).related_model
    return cast(forms.Field, related._meta.get_field(field).formfield(**options))  # type: ignore[union-attr]
