"""A question with a deadline, and its rulers."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Value
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User, Viewer
from leaderboard.common.time_zones import check_zone

# Without the letters and digits that look alike on a projector.
CODE_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"

# Addresses below /host/ that are no competition's.
RESERVED_SLUGS = ("new",)


def new_join_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(8))


def normal_code(text: str) -> str:
    """A join code as it is stored, however it was typed: capitals, no spaces, no hyphens."""
    return "".join(text.upper().split()).replace("-", "")


class Split(models.TextChoices):
    """Which rows a score is about (Kaggle's `Usage`)."""

    PUBLIC = "public"
    PRIVATE = "private"


class CompetitionQuerySet(models.QuerySet["Competition"]):
    def visible_to(self, user: Viewer) -> CompetitionQuerySet:
        """Those a person may open: listed and launched, joined, or hosted."""
        if user.is_anonymous:
            return self.filter(is_listed=True, launched_at__isnull=False)
        if user.is_superuser:
            return self
        mine = Q(pk__in=user.memberships.values("competition")) & Q(launched_at__isnull=False)
        return self.filter(Q(is_listed=True, launched_at__isnull=False) | mine | _run_by(user))

    def seen_by(self, user: Viewer) -> CompetitionQuerySet:
        """Rows that know the roles of a person as they are now, so that asking for them costs no further query."""
        if user.is_anonymous:
            return self
        return self.annotate(
            role_of=Value(user.pk),
            is_own=Exists(Competition.hosts.through.objects.filter(competition=OuterRef("pk"), user=user)),
            is_helped=Exists(Competition.assistants.through.objects.filter(competition=OuterRef("pk"), user=user)),
        )

    def hosted_by(self, user: Viewer) -> CompetitionQuerySet:
        if user.is_anonymous:
            return self.none()
        return self if user.is_superuser else self.filter(hosts=user)

    def run_by(self, user: Viewer) -> CompetitionQuerySet:
        """Those that a person hosts or assists in."""
        if user.is_anonymous:
            return self.none()
        return self if user.is_superuser else self.filter(_run_by(user))


def _run_by(user: User) -> Q:
    return Q(pk__in=user.hosted_competitions.values("pk")) | Q(pk__in=user.assisted_competitions.values("pk"))


class Competition(models.Model):
    """A question with a deadline. Draft until `launched_at`, then upcoming, live, closed, revealed."""

    class BoardMode(models.TextChoices):
        """What the public board shows until the reveal (docs/ranking.md)."""

        PLAIN = "plain", _("Plain: all digits of every score")
        STEADY = "steady", _("Steady: a score moves only when a file is clearly better")
        HIDDEN = "hidden", _("Hidden: no scores and no ranks until the private board opens")

    class Admission(models.TextChoices):
        """Who may join, beside what the code says."""

        CODE = "code", _("Everybody who has the code")
        ROSTER = "roster", _("Only who is on the roster")
        ADDRESSES = "addresses", _("Only who has an e-mail address from the list below")

    # A board on fewer public rows is better steady: we propose it.
    FEW_PUBLIC_ROWS = 2000

    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=120)
    subtitle = models.CharField(max_length=200, blank=True)
    course = models.CharField(max_length=120, blank=True, help_text=_("For example “STAT 451 · Prof. Rivera”."))
    overview = models.TextField(blank=True, help_text=_("Markdown."))
    rules = models.TextField(blank=True, help_text=_("Markdown. Students accept it before they see the data."))
    rules_version = models.PositiveIntegerField(default=1, editable=False)
    contact = models.CharField(max_length=200, blank=True, help_text=_("Whom students ask."))
    hosts = models.ManyToManyField(User, related_name="hosted_competitions", blank=True)
    assistants = models.ManyToManyField(User, related_name="assisted_competitions", blank=True)
    assistants_grade = models.BooleanField(_("assistants may export grades"), default=False)

    is_listed = models.BooleanField(
        _("listed"), default=False, help_text=_("Everybody sees it on the front page; otherwise only members do.")
    )
    join_code = models.CharField(max_length=20, unique=True, default=new_join_code)
    needs_code = models.BooleanField(default=True, help_text=_("Joining needs the code or an invitation."))

    admission = models.CharField(_("who may join"), max_length=9, choices=Admission.choices, default=Admission.CODE)
    allowed_addresses = models.TextField(
        _("allowed addresses"),
        blank=True,
        max_length=20_000,
        help_text=_("One per line: an address, or a domain such as @uni.example, which lets in everybody there."),
    )
    uses_pseudonyms = models.BooleanField(
        _("pseudonyms"),
        default=False,
        help_text=_(
            "Teams see made-up names of each other. You, your assistants and the team itself see its own name."
        ),
    )
    shows_sections = models.BooleanField(
        _("sections on the board"),
        default=False,
        help_text=_(
            "Whoever competes can choose a section of the class list on the board, which also shows which section a "
            "team or a pseudonym belongs to. Nobody else reads anything of sections."
        ),
    )

    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField()
    zone = models.CharField(_("time zone"), max_length=60, default="UTC", validators=[check_zone])
    launched_at = models.DateTimeField(null=True, blank=True, editable=False)
    # A launch at a time that its host chose; why the last one did not happen, for the hosts.
    launches_at = models.DateTimeField(null=True, blank=True, editable=False)
    launch_asked_by = models.ForeignKey(
        User, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    # Keys of what was missing (`launching.NEEDS`).
    launch_trouble = models.JSONField(default=list, blank=True, editable=False)
    revealed_at = models.DateTimeField(null=True, blank=True, editable=False)
    reveals_itself = models.BooleanField(
        _("reveal at the deadline"),
        default=True,
        help_text=_("Open the private board by itself after the deadline."),
    )

    # While paused no file is taken; the deadline stays where it is.
    paused_at = models.DateTimeField(null=True, blank=True, editable=False)
    pause_reason = models.CharField(max_length=300, blank=True, editable=False)

    board_mode = models.CharField(_("public board"), max_length=6, choices=BoardMode.choices, default=BoardMode.PLAIN)
    board_step = models.FloatField(
        _("step"), null=True, blank=True, validators=[MinValueValidator(1e-15), MaxValueValidator(1e15)]
    )

    daily_attempts = models.PositiveIntegerField(default=5, validators=[MinValueValidator(1), MaxValueValidator(1000)])
    final_count = models.PositiveIntegerField(
        _("final picks"), default=2, validators=[MinValueValidator(1), MaxValueValidator(20)]
    )
    team_size = models.PositiveIntegerField(default=4, validators=[MinValueValidator(1), MaxValueValidator(50)])
    # Nothing: at the deadline of everybody.
    teams_close_at = models.DateTimeField(_("teams stay from"), null=True, blank=True)
    max_bytes = models.PositiveBigIntegerField(
        _("largest file in bytes"), default=50 * 1024 * 1024, validators=[MinValueValidator(1024)]
    )
    allows_late = models.BooleanField(
        _("late submissions"), default=False, help_text=_("Scored after the deadline, never ranked.")
    )

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
        help_text=_("Published and being measured; the board stays on the current one until the host applies it."),
    )
    # What was filled in for the host, who has not saved that page yet.
    has_proposed_limits = models.BooleanField(default=False, editable=False)
    has_proposed_entry = models.BooleanField(default=False, editable=False)
    # Counts every change that a board shows; rendered boards are cached under it.
    board_version = models.PositiveBigIntegerField(default=0, editable=False)
    is_demo = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = CompetitionQuerySet.as_manager()

    class Meta:
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
            models.CheckConstraint(
                name="competition_limits_are_positive",
                condition=Q(daily_attempts__gte=1, final_count__gte=1, team_size__gte=1, max_bytes__gte=1),
            ),
            models.CheckConstraint(name="a_pause_says_why", condition=Q(paused_at__isnull=True) | ~Q(pause_reason="")),
            models.CheckConstraint(
                name="competition_board_mode_known", condition=Q(board_mode__in=["plain", "steady", "hidden"])
            ),
            models.CheckConstraint(
                name="competition_admission_known", condition=Q(admission__in=["code", "roster", "addresses"])
            ),
            models.CheckConstraint(
                name="competition_step_is_positive", condition=Q(board_step__isnull=True) | Q(board_step__gt=0)
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        if self.slug in RESERVED_SLUGS:
            raise ValidationError(
                {"slug": _("“%(slug)s” is the address of another page; choose another one.") % {"slug": self.slug}}
            )
        if self.revealed_at is not None and self.closes_at and self.closes_at > timezone.now():
            raise ValidationError(
                {"closes_at": _("The private board is open, so the deadline cannot move into the future.")}
            )
        self.join_code = normal_code(self.join_code)
        has_no_step = self.ground_truth is not None and self.ground_truth.step is None
        if self.board_mode == self.BoardMode.STEADY and self.board_step is None and has_no_step:
            raise ValidationError(
                {"board_step": _("Nobody can work out a step for this ground truth; write one for the steady board.")}
            )

    def is_hosted_by(self, user: Viewer) -> bool:
        if user.is_anonymous or not user.is_active:
            return False
        if user.is_superuser:
            return True
        if self._knows(user):
            return bool(getattr(self, "is_own", False))
        return self.hosts.filter(pk=user.pk).exists()

    def is_run_by(self, user: Viewer) -> bool:
        """Whether a person hosts it or assists; `access.py` says what each may do."""
        if user.is_anonymous or not user.is_active:
            return False
        if user.is_superuser:
            return True
        if self._knows(user):
            return self.has_told_role(user)
        return Competition.objects.filter(Q(hosts=user) | Q(assistants=user), pk=self.pk).exists()

    def has_told_role(self, user: User) -> bool:
        """Whether the row was read with a role of this person; who has one does not compete."""
        return self._knows(user) and bool(getattr(self, "is_own", False) or getattr(self, "is_helped", False))

    def _knows(self, user: User) -> bool:
        """Whether the row was read with the roles of this person (`seen_by`)."""
        return getattr(self, "role_of", None) == user.pk

    def is_visible_to(self, user: Viewer) -> bool:
        """The rule of `CompetitionQuerySet.visible_to` for one row, without a query where the row alone tells."""
        if self.launched_at is not None and (
            self.is_listed or (not user.is_anonymous and self.memberships.filter(user=user).exists())
        ):
            return True
        return self.is_run_by(user)

    def unique_error_message(self, model_class: type[models.Model], unique_check: Any) -> ValidationError:
        if tuple(unique_check) == ("slug",):
            return ValidationError(_("Another competition has this address; choose a different one."), code="unique")
        return super().unique_error_message(model_class, unique_check)

    def private_is_visible_to(self, user: Viewer, at: datetime) -> bool:
        """The only door to private scores: after the reveal for everybody, before it for those who run it alone."""
        return self.is_revealed(at) or self.is_run_by(user)

    @property
    def board_is_exact(self) -> bool:
        """Whether the public board shows exact scores to everybody: on a plain board, and after the reveal."""
        return self.board_mode == Competition.BoardMode.PLAIN or self.revealed_at is not None

    def exact_is_visible_to(self, user: Viewer, at: datetime) -> bool:
        """The only door to exact public scores of single files."""
        return self.board_mode == Competition.BoardMode.PLAIN or self.private_is_visible_to(user, at)

    def is_revealed(self, at: datetime) -> bool:
        return self.revealed_at is not None and self.revealed_at <= at

    def state(self, at: datetime) -> str:
        """`draft`, `upcoming`, `live`, `closed` (deadline passed, private locked) or `revealed`."""
        if self.launched_at is None:
            return "draft"
        if at < self.opens_at:
            return "upcoming"
        if at < self.closes_at:
            return "live"
        return "revealed" if self.is_revealed(at) else "closed"

    def why_teams_stay(self, at: datetime) -> str:
        """Why nobody can change teams any more; empty while they can."""
        if at >= self.closes_at:
            return gettext("The deadline has passed; teams stay as they are.")
        if self.teams_close_at is not None and at >= self.teams_close_at:
            return gettext("The host has closed the teams; they stay as they are.")
        return ""

    def touch_board(self) -> None:
        """Make every cached board of this competition stale; part of the transaction that changed a board."""
        Competition.objects.filter(pk=self.pk).update(board_version=F("board_version") + 1)
