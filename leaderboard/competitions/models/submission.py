"""Submissions and baselines, their scores and problems with candidates, standings."""

from __future__ import annotations

import uuid
from datetime import date, datetime, timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User, Viewer
from leaderboard.common.library_messages import stored_text, translated_failure

from .competition import Competition, Split
from .ground_truth import GroundTruth
from .team import Team

LARGEST_FLOAT = 1.7976931348623157e308


class Baseline(models.Model):
    """A host's reference submission, shown on the board and never ranked."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="baselines")
    name = models.CharField(max_length=60)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["competition", "name"], name="baseline_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def visible_to(self, user: Viewer) -> SubmissionQuerySet:
        """Files of the person's teams, and of competitions that they host or assist in."""
        if user.is_anonymous:
            return self.none()
        found = self.filter(competition__archive__binned_at=None)
        if user.is_superuser:
            return found
        return found.filter(
            Q(team__in=user.memberships.values("team"))
            | Q(competition__in=user.hosted_competitions.values("pk"))
            | Q(competition__in=user.assisted_competitions.values("pk"))
        )

    def using_attempts(self) -> SubmissionQuerySet:
        """Files that count among the attempts of their day: neither invalid nor failed."""
        return self.filter(status__in=[Submission.Status.PENDING, Submission.Status.SCORED])

    def of_day(self, competition: Competition, day: date) -> SubmissionQuerySet:
        return self.filter(
            competition=competition,
            received_at__gte=competition.midnight(day),
            received_at__lt=competition.midnight(day + timedelta(days=1)),
        )

    def with_stored_file(self) -> SubmissionQuerySet:
        """Submissions whose bytes are still stored."""
        return self.filter(file_removed_at=None)

    def reset_to_pending(self, **changes: Any) -> int:
        """Make the submissions wait for scoring as if they had just arrived; returns how many. `changes` are more
        fields to write."""
        return self.update(
            status=Submission.Status.PENDING,
            problems=[],
            failure="",
            host_details="",
            tries=0,
            deaths=0,
            finished_at=None,
            **changes,
        )

    def with_same_bytes(self, team_id: int | None, sha256: str) -> SubmissionQuerySet:
        """A team's files with this hash, oldest first."""
        return self.filter(team=team_id, team__isnull=False, sha256=sha256).order_by("received_at")


def waiting_since() -> Coalesce:
    """SQL expression for the time since which a pending file waits."""
    return Coalesce("rescored_requested_at", "received_at")


class Submission(models.Model):
    """One uploaded file. File and receipt never change. Status, problems, warnings and failure are its results; team,
    hosts and workers write the rest.

    `pending → scored | invalid | failed`. There is no status "running": a row is being scored while its lease
    (`lease_until`) has not expired, and only the worker with its `claim` may write the result.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("Pending")
        SCORED = "scored", _("Scored")
        INVALID = "invalid", _("Invalid")
        FAILED = "failed", _("Failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="submissions")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="submissions")
    baseline = models.OneToOneField(Baseline, null=True, on_delete=models.CASCADE, related_name="submission")
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="submissions")
    note = models.CharField(max_length=300, blank=True)
    file_name = models.CharField(max_length=200)
    file_key = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    received_at = models.DateTimeField(editable=False)
    is_late = models.BooleanField(default=False)
    upload_key = models.CharField(max_length=64, editable=False)
    # Time at which the bytes of an invalid file were deleted; receipt and hash stay.
    file_removed_at = models.DateTimeField(null=True, editable=False)
    is_selected = models.BooleanField(_("final submission"), default=False)
    # A hidden file is on no board and cannot be a final submission; its team sees the reason.
    hidden_at = models.DateTimeField(null=True, editable=False)
    hidden_reason = models.CharField(max_length=300, blank=True, editable=False)

    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    problems = models.JSONField(default=list)
    # Findings about a file that was scored.
    warnings = models.JSONField(default=list)
    failure = models.CharField(max_length=500, blank=True)
    # Message of a custom metric that failed. Only for hosts and operators: it may contain answers.
    host_details = models.TextField(blank=True)
    claim = models.UUIDField(null=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    tries = models.PositiveSmallIntegerField(default=0, editable=False)
    # Number of scorers that died with this file. Tries also end in other ways, such as a restart of the site.
    deaths = models.PositiveSmallIntegerField(default=0, editable=False)
    # It takes far longer than usual, so it is scored outside the queue, where other files do not wait for it.
    is_slow = models.BooleanField(default=False, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)
    # Time at which a host queued it for scoring again; the waiting time is counted from then.
    rescored_requested_at = models.DateTimeField(null=True, editable=False)

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-received_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["competition", "upload_key"], name="an_upload_is_stored_once"),
            models.CheckConstraint(
                name="submission_of_a_team_or_a_baseline",
                condition=Q(team__isnull=True) ^ Q(baseline__isnull=True),
            ),
            models.CheckConstraint(
                name="submission_status_known",
                condition=Q(status__in=["pending", "scored", "invalid", "failed"]),
            ),
            models.CheckConstraint(
                name="submission_final_has_a_time",
                condition=Q(status="pending", finished_at__isnull=True)
                | (~Q(status="pending") & Q(finished_at__isnull=False)),
            ),
            models.CheckConstraint(name="submission_tries_at_most_five", condition=Q(tries__lte=5)),
            models.CheckConstraint(name="submission_deaths_at_most_three", condition=Q(deaths__lte=3)),
            models.CheckConstraint(
                name="submission_claim_has_a_lease",
                condition=Q(claim__isnull=True, lease_until__isnull=True)
                | Q(status="pending", claim__isnull=False, lease_until__isnull=False),
            ),
            models.CheckConstraint(
                name="only_a_ranked_file_is_selected", condition=Q(is_selected=False) | Q(is_late=False)
            ),
            models.CheckConstraint(
                name="a_hidden_file_says_why", condition=Q(hidden_at__isnull=True) | ~Q(hidden_reason="")
            ),
        ]
        indexes: ClassVar = [
            # Covering indexes for counts per competition and for each team's latest file.
            models.Index(
                fields=["team", "-received_at", "status", "is_late", "hidden_at", "id"], name="submission_by_team"
            ),
            models.Index(fields=["competition", "-received_at", "team", "status"], name="submission_by_competition"),
            models.Index(fields=["received_at"], name="submission_waiting", condition=Q(status="pending")),
            # Not a partial index: SQLite uses these only for literal conditions, and Django binds parameters.
            models.Index(fields=["status", "competition", "received_at"], name="submission_in_turn"),
            models.Index(fields=["lease_until"], name="submission_in_hand"),
        ]

    def __str__(self) -> str:
        return self.file_name

    def is_being_scored(self, at: datetime) -> bool:
        return self.lease_until is not None and self.lease_until > at

    @property
    def is_doubtful(self) -> bool:
        """Whether a warning tells of more than how the file was read."""
        return any(not warning["code"].startswith("read_") for warning in self.warnings)

    @property
    def failure_text(self) -> str:
        """The reason of a failure in the reader's language; it is stored in English."""
        return translated_failure(self.failure)


class Conversion(models.Model):
    """A submission that was converted from an earlier, unreadable one, after the team had seen the `changes`.

    Both files are kept.
    """

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, primary_key=True, related_name="conversion")
    original = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="converted")
    changes = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"{self.submission}, made of {self.original}"


class Score(models.Model):
    """Score of one submission on one split under one ground truth; written once, with full precision."""

    # No separate indexes: both keys are first in an index below.
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="scores", db_index=False)
    ground_truth = models.ForeignKey(GroundTruth, on_delete=models.CASCADE, related_name="scores", db_index=False)
    split = models.CharField(max_length=7, choices=Split.choices)
    value = models.FloatField()
    parts = models.JSONField(default=dict)
    # Standard error and 95 % interval; None for an open end of the interval, and for metrics without intervals.
    standard_error = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    # Secondary metrics in the order of the ground truth: {"value": …}, or {"problem": the reason for none}.
    secondary = models.JSONField(default=list)
    # Version of the metric that computed this score; an upgrade of the site may change the metric.
    metric_version = models.CharField(max_length=64, editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["submission", "ground_truth", "split"],
                name="score_once_per_submission_truth_and_split",
            ),
            models.CheckConstraint(
                name="score_is_finite", condition=Q(value__gte=-LARGEST_FLOAT, value__lte=LARGEST_FLOAT)
            ),
            models.CheckConstraint(name="score_split_known", condition=Q(split__in=["public", "private"])),
        ]
        indexes: ClassVar = [
            # Covering index for all scores of a ground truth; the rows are many times as large.
            models.Index(fields=["ground_truth", "split", "submission", "value"], name="score_by_ground_truth"),
        ]

    def __str__(self) -> str:
        return f"{self.split} {self.value!r}"


class CandidateProblem(models.Model):
    """The problems of a scored submission that cannot be scored with a candidate, for the preview of the rescoring."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="candidate_problems")
    ground_truth = models.ForeignKey(GroundTruth, on_delete=models.CASCADE, related_name="candidate_problems")
    problems = models.JSONField(default=list)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["submission", "ground_truth"], name="candidate_problem_once"),
        ]

    def __str__(self) -> str:
        return f"{self.submission} under {self.ground_truth}"

    @property
    def text(self) -> str:
        """All problems in the reader's language."""
        return " ".join(
            translated_failure(problem["message"]) if problem["code"] == "failed" else stored_text(problem)
            for problem in self.problems
        )


class Standing(models.Model):
    """A team's deciding submission on one board. Derived from scores: the command `rebuild_standings` makes it again.

    `sort_key` is the value, negated if higher is better, so that ascending order is the order of the board.
    """

    ground_truth = models.ForeignKey(GroundTruth, on_delete=models.CASCADE, related_name="standings")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="standings")
    split = models.CharField(max_length=7, choices=Split.choices)
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="+")
    value = models.FloatField()
    sort_key = models.FloatField()
    received_at = models.DateTimeField()
    is_picked_by_system = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["ground_truth", "team", "split"], name="one_standing_per_team"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["ground_truth", "split", "sort_key", "received_at"], name="standing_board_order"),
        ]

    def __str__(self) -> str:
        return f"{self.team}: {self.value!r}"

    @property
    def order(self) -> tuple[float, datetime]:
        """Tie rule: ranks follow the score, then the time of receipt; teams equal in both share a rank."""
        return self.sort_key, self.received_at

    @staticmethod
    def is_better(sort_key: object, received_at: object) -> Q:
        """The rule of `order` as a condition: standings that rank above one with this sort key and time of receipt."""
        return Q(sort_key__lt=sort_key) | Q(sort_key=sort_key, received_at__lt=received_at)
