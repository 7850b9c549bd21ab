"""Competitions."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any, ClassVar, Self
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Value
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User, Viewer
from leaderboard.common import numbers
from leaderboard.common.display_time import year_problem
from leaderboard.common.viewer import check_zone

from .course import Course

# Without letters and digits that look alike on a projector.
CODE_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"

# Relations to the settings that each competition has in separate tables (`competition_settings.py`).
ROWS = ("admission", "board", "limits", "archive")

# Paths below /host/ that are no competition.
RESERVED_SLUGS = ("new",)


def normalize_code(text: str) -> str:
    """A typed join code as it is stored: in capitals, without spaces and hyphens."""
    return "".join(text.upper().split()).replace("-", "")


class Split(models.TextChoices):
    """The part of the rows that a score is computed on (Kaggle's `Usage`)."""

    PUBLIC = "public"
    PRIVATE = "private"


class CompetitionQuerySet(models.QuerySet["Competition"]):
    def select_for_update(self, *args: Any, **kwargs: Any) -> Self:
        """Lock the competition without its settings. These are read after waiting for the lock; joined in the same
        statement they would be as they were before it. Its key stays, so rows that name it wait for nothing."""
        kwargs.setdefault("no_key", True)
        return super(CompetitionQuerySet, self.select_related(None)).select_for_update(*args, **kwargs)

    def outside_bin(self) -> CompetitionQuerySet:
        """Competitions that are not in the bin. Those in it cannot be opened and wait for their deletion."""
        return self.filter(archive__binned_at=None)

    def in_bin_of(self, user: Viewer) -> CompetitionQuerySet:
        """Competitions in the bin that a person may restore."""
        if user.is_anonymous:
            return self.none()
        found = self.filter(archive__binned_at__isnull=False)
        return found if user.is_superuser else found.filter(hosts=user)

    def visible_to(self, user: Viewer) -> CompetitionQuerySet:
        """Competitions that a person may open: listed and launched, joined, hosted or assisted in."""
        found = self.outside_bin()
        if user.is_anonymous:
            return found.filter(admission__is_listed=True, launched_at__isnull=False)
        if user.is_superuser:
            return found
        mine = Q(pk__in=user.memberships.values("competition")) & Q(launched_at__isnull=False)
        return found.filter(Q(admission__is_listed=True, launched_at__isnull=False) | mine | _run_by(user))

    def with_roles_of(self, user: Viewer) -> CompetitionQuerySet:
        """Annotate the roles of a person, so that the methods below that take a user need no further query."""
        return self if user.is_anonymous else self.with_roles_of_account(user.pk)

    def with_roles_of_account(self, user_id: int) -> CompetitionQuerySet:
        """Like `with_roles_of`, for the account with this number."""
        awaited = Competition.objects.filter(memberships__user=user_id, memberships__team__is_awaited=True)
        return self.annotate(
            role_of=Value(user_id),
            is_own=Exists(Competition.hosts.through.objects.filter(competition=OuterRef("pk"), user=user_id)),
            is_helped=Exists(Competition.assistants.through.objects.filter(competition=OuterRef("pk"), user=user_id)),
            is_awaited=Exists(awaited.filter(pk=OuterRef("pk"))),
        )

    def hosted_by(self, user: Viewer) -> CompetitionQuerySet:
        if user.is_anonymous:
            return self.none()
        found = self.outside_bin()
        return found if user.is_superuser else found.filter(hosts=user)

    def run_by(self, user: Viewer) -> CompetitionQuerySet:
        """Competitions that a person hosts or assists in."""
        if user.is_anonymous:
            return self.none()
        found = self.outside_bin()
        return found if user.is_superuser else found.filter(_run_by(user))


# A named class, because otherwise mypy does not see the methods of the queryset.
_Manager = models.Manager.from_queryset(CompetitionQuerySet)


class CompetitionManager(_Manager["Competition"]):
    """Loads competitions with all their settings and their course, which nearly every page needs."""

    def get_queryset(self) -> CompetitionQuerySet:
        return CompetitionQuerySet(self.model, using=self._db).select_related(*ROWS, "course")


def _run_by(user: User) -> Q:
    return Q(pk__in=user.hosted_competitions.values("pk")) | Q(pk__in=user.assisted_competitions.values("pk"))


class Competition(models.Model):
    """A competition: a prediction task with a deadline. Draft until `launched_at`, later see `state`."""

    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=120)
    subtitle = models.CharField(max_length=200, blank=True)
    course = models.ForeignKey(Course, editable=False, on_delete=models.PROTECT, related_name="competitions")
    overview = models.TextField(blank=True, help_text=_("Markdown."))
    rules = models.TextField(blank=True, help_text=_("Markdown. Students accept it before they see the data."))
    rules_version = models.PositiveIntegerField(default=1, editable=False)
    contact = models.CharField(max_length=200, blank=True, help_text=_("Contact for questions."))
    hosts = models.ManyToManyField(User, related_name="hosted_competitions", blank=True)
    assistants = models.ManyToManyField(User, related_name="assisted_competitions", blank=True)
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField()
    zone = models.CharField(_("time zone"), max_length=60, default="UTC", validators=[check_zone])
    launched_at = models.DateTimeField(null=True, blank=True, editable=False)
    revealed_at = models.DateTimeField(null=True, blank=True, editable=False)

    ground_truth = models.ForeignKey(
        "GroundTruth", null=True, blank=True, editable=False, on_delete=models.PROTECT, related_name="+"
    )
    candidate = models.ForeignKey(
        "GroundTruth",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="+",
        help_text=_(
            "Published and being scored. The leaderboard uses the current answers until the host applies the new ones."
        ),
    )
    # Incremented by every change of a board; rendered boards are cached under it. It is in this row, which it locks,
    # because with a row for itself, a process that increments it and one that locks the competition could deadlock.
    board_version = models.PositiveBigIntegerField(default=0, editable=False)
    score_decimals = models.PositiveSmallIntegerField(default=numbers.MIN_DECIMALS, editable=False)
    """Decimals of scores on all pages: as many as separate most neighbours of the public board. Never fewer again."""
    is_demo = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = CompetitionManager()

    class Meta:
        base_manager_name = "objects"
        ordering: ClassVar = ["-opens_at", "slug"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="competition_opens_before_it_closes",
                condition=Q(opens_at__lt=F("closes_at")),
                violation_error_message=_("The competition must open before it closes."),
            ),
            models.CheckConstraint(
                name="competition_launched_with_a_ground_truth",
                condition=Q(launched_at__isnull=True) | Q(ground_truth__isnull=False),
            ),
            models.CheckConstraint(
                name="competition_revealed_after_launch",
                condition=Q(revealed_at__isnull=True) | Q(launched_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        if self.slug in RESERVED_SLUGS:
            raise ValidationError(
                {"slug": _("Another page uses the address “%(slug)s”. Choose another one.") % {"slug": self.slug}}
            )
        dates = {"opens_at": self.opens_at, "closes_at": self.closes_at}
        if faults := {name: problem for name, moment in dates.items() if moment and (problem := year_problem(moment))}:
            raise ValidationError(faults)
        if self.revealed_at is not None and self.closes_at and self.closes_at > timezone.now():
            text = _("The final ranking is open, so accept late submissions or give points by hand instead.")
            raise ValidationError({"closes_at": text})

    @property
    def is_in_bin(self) -> bool:
        return self.archive.binned_at is not None

    def is_hosted_by(self, user: Viewer) -> bool:
        if user.is_anonymous or not user.is_active or self.is_in_bin:
            return False
        if user.is_superuser:
            return True
        if self._has_roles_of(user):
            return bool(getattr(self, "is_own", False))
        return self.hosts.filter(pk=user.pk).exists()

    def is_run_by(self, user: Viewer) -> bool:
        """Whether a person is a host or an assistant; their rights are declared in `access.py`."""
        if user.is_anonymous or not user.is_active or self.is_in_bin:
            return False
        if user.is_superuser:
            return True
        if self._has_roles_of(user):
            return self.has_known_role(user)
        return Competition.objects.filter(Q(hosts=user) | Q(assistants=user), pk=self.pk).exists()

    def has_known_role(self, user: User) -> bool:
        """Whether `with_roles_of` has found a role of this person, who then cannot be a member."""
        return self._has_roles_of(user) and bool(getattr(self, "is_own", False) or getattr(self, "is_helped", False))

    def _has_roles_of(self, user: User) -> bool:
        """Whether this row was loaded by `with_roles_of` for this person."""
        return getattr(self, "role_of", None) == user.pk

    def is_visible_to(self, user: Viewer) -> bool:
        """The rule of `CompetitionQuerySet.visible_to` for one row; no query if the row is enough to decide."""
        if self.is_in_bin:
            return False
        if not user.is_anonymous and self.has_known_role(user):
            return True
        if self.launched_at is not None and (
            self.admission.is_listed or (not user.is_anonymous and self.memberships.filter(user=user).exists())
        ):
            return True
        return self.is_run_by(user)

    def unique_error_message(self, model_class: type[models.Model], unique_check: Any) -> ValidationError:
        if tuple(unique_check) == ("slug",):
            return ValidationError(_("Another competition has this address; choose a different one."), code="unique")
        return super().unique_error_message(model_class, unique_check)

    def private_is_visible_to(self, user: Viewer, at: datetime) -> bool:
        """Whether a person may see private scores: hosts and assistants always, all others after the reveal, but
        members of a team that still had time only once it has been added to the final ranking.

        All code that shows private scores must call this.
        """
        return (self.is_revealed(at) and not self._awaits_team_of(user)) or self.is_run_by(user)

    def _awaits_team_of(self, user: Viewer) -> bool:
        if user.is_anonymous:
            return False
        if self._has_roles_of(user):
            return bool(getattr(self, "is_awaited", False))
        return self.memberships.filter(user=user, team__is_awaited=True).exists()

    @property
    def board_is_hidden(self) -> bool:
        """Whether the public board hides scores and ranks from students, until the reveal."""
        return self.board.hides_scores and self.revealed_at is None

    def public_is_visible_to(self, user: Viewer, at: datetime) -> bool:
        """Whether a person may see public scores: not students of a hidden board before the reveal.

        All code that shows public scores must call this.
        """
        return not self.board.hides_scores or self.private_is_visible_to(user, at)

    def is_revealed(self, at: datetime) -> bool:
        return self.revealed_at is not None and self.revealed_at <= at

    def state(self, at: datetime) -> str:
        """`draft`, `upcoming`, `live`, `closed` (deadline passed, private board not open yet) or `revealed`."""
        if self.launched_at is None:
            return "draft"
        if at < self.opens_at:
            return "upcoming"
        if at < self.closes_at:
            return "live"
        return "revealed" if self.is_revealed(at) else "closed"

    def why_teams_are_closed(self, at: datetime) -> str:
        """The reason why teams cannot change any more; "" while they can."""
        if at >= self.closes_at:
            return gettext("The deadline has passed, so teams can't change any more.")
        return ""

    def day_of(self, at: datetime) -> date:
        """The date in the competition's time zone, by which attempts and movements are counted."""
        return at.astimezone(ZoneInfo(self.zone)).date()

    def midnight(self, day: date) -> datetime:
        """The start of a date in the competition's time zone; days with a clock change have 23 or 25 hours."""
        return datetime.combine(day, time.min, ZoneInfo(self.zone)).astimezone(UTC)

    def begin_of_day(self, at: datetime) -> datetime:
        return self.midnight(self.day_of(at))

    def bump_board_version(self) -> None:
        """Invalidate all cached boards of this competition. Call it in the transaction that changes a board."""
        Competition.objects.filter(pk=self.pk).update(board_version=F("board_version") + 1)
