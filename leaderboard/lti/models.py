"""Learning platforms, their courses' links to competitions, the people that they name, and the marks sent to them."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition

MAX_ADDRESS = 400
TICKS = ("teachers_may_host", "vouches_for_addresses", "accepts_every_deployment")
REGISTRATION_LIFETIME = timedelta(hours=24)
LOGIN_LIFETIME = timedelta(minutes=10)
MAX_WAITING_DEPLOYMENTS = 50


class Platform(models.Model):
    """One registration at a learning platform. It works once an operator has approved it, until it is switched off."""

    issuer = models.CharField(max_length=200)
    client_id = models.CharField(max_length=200)
    auth_url = models.URLField(max_length=MAX_ADDRESS)
    token_url = models.URLField(max_length=MAX_ADDRESS)
    keys_url = models.URLField(max_length=MAX_ADDRESS)
    # The audience of our token requests; empty: `token_url`.
    audience = models.CharField(max_length=200, blank=True)
    name = models.CharField(_("name"), max_length=100)
    # moodle, canvas, …; Canvas names the sections of people.
    family = models.CharField(max_length=40, blank=True)
    teachers_may_host = models.BooleanField(_("Its teachers may host competitions"), default=False)
    vouches_for_addresses = models.BooleanField(_("It confirms e-mail addresses"), default=False)
    accepts_every_deployment = models.BooleanField(_("Accept all of its deployments"), default=False)
    registered_at = models.DateTimeField(default=timezone.now, editable=False)
    approved_at = models.DateTimeField(null=True)
    approved_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    off_at = models.DateTimeField(null=True)
    # Its published JWK set, fetched by a task: at approval, hourly, and when a launch names an unknown key.
    keys = models.JSONField(default=dict)
    # None: never fetched, or to be fetched again now.
    keys_fetched_at = models.DateTimeField(null=True)
    keys_tried_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["name", "pk"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["issuer", "client_id"], name="platform_once")]

    def __str__(self) -> str:
        return self.name or self.issuer

    @property
    def is_on(self) -> bool:
        return self.approved_at is not None and self.off_at is None


class Deployment(models.Model):
    """An installation within a platform. Launches of one that is not approved are refused and note it here."""

    platform = models.ForeignKey(Platform, on_delete=models.CASCADE, related_name="deployments")
    name = models.CharField(max_length=255)
    approved_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["platform", "name"], name="deployment_once")]

    def __str__(self) -> str:
        return self.name


class Registration(models.Model):
    """A one-time link by which a platform registers itself, with the state of the task that asks the platform."""

    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    # Set by the first visitor of the link; the platform is asked soon afterwards.
    used_at = models.DateTimeField(null=True)
    configuration_url = models.CharField(max_length=1000, blank=True)
    # Deleted when the platform has been asked.
    token = models.TextField(blank=True)
    platform = models.OneToOneField(Platform, null=True, on_delete=models.CASCADE, related_name="registration")
    problem = models.CharField(max_length=200, blank=True)

    @property
    def state(self) -> str:
        if self.used_at is None:
            return "unused"
        return "done" if self.platform_id else "failed" if self.problem else "waiting"


class LoginTry(models.Model):
    """A launch that has begun in a browser; deleted by the launch that completes it."""

    nonce = models.CharField(max_length=64, unique=True)
    platform = models.ForeignKey(Platform, on_delete=models.CASCADE, related_name="login_tries")
    # Digest of the cookie by which the browser is recognized.
    browser = models.CharField(max_length=64)
    target = models.CharField(max_length=400)
    expires_at = models.DateTimeField(db_index=True)


class LtiPerson(models.Model):
    """A user of a platform, with the account here. One account may have several."""

    platform = models.ForeignKey(Platform, on_delete=models.CASCADE, related_name="people")
    subject = models.CharField(max_length=255)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="lti_people")
    email = models.CharField(max_length=254, blank=True)
    linked_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["platform", "subject"], name="lti_person_once")]


class LtiLink(models.Model):
    """An activity in a course of a platform; a teacher connects it with a competition."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="links")
    context = models.CharField(max_length=255)
    context_title = models.CharField(max_length=255, blank=True)
    resource = models.CharField(max_length=255)
    competition = models.ForeignKey(Competition, null=True, on_delete=models.CASCADE, related_name="lti_links")
    # Addresses of the platform's services, from the last launch; empty if it offers none.
    memberships_url = models.CharField(max_length=600, blank=True)
    lineitems_url = models.CharField(max_length=600, blank=True)
    claimed_lineitem = models.CharField(max_length=600, blank=True)
    # The column that marks go to, once it is known.
    lineitem = models.CharField(max_length=600, blank=True)
    # The column's maximum.
    out_of = models.FloatField(null=True)
    is_own_column = models.BooleanField(default=False)
    connected_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    roster_asked_at = models.DateTimeField(null=True)
    roster_read_at = models.DateTimeField(null=True)
    roster_problem = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering: ClassVar = ["context_title", "pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["deployment", "context", "resource"], name="lti_link_once"),
        ]

    def __str__(self) -> str:
        return self.context_title or self.context

    @property
    def platform(self) -> Platform:
        return self.deployment.platform

    @property
    def open_competition(self) -> Competition | None:
        """The competition, unless it was deleted."""
        return None if self.competition is None or self.competition.is_in_bin else self.competition

    @property
    def section(self) -> str:
        """The title of the platform's course, if several of its courses share the competition."""
        linked = LtiLink.objects.filter(competition=self.competition_id)
        others = linked.exclude(deployment=self.deployment_id, context=self.context)
        return self.context_title if others.exists() else ""

    @property
    def is_roster_awaited(self) -> bool:
        return self.roster_asked_at is not None and self.roster_read_at is None


class Seat(models.Model):
    """The link by which a student came last to a competition; their mark goes to its column."""

    link = models.ForeignKey(LtiLink, on_delete=models.CASCADE, related_name="seats")
    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="lti_seats")
    # The platform's name of the student.
    subject = models.CharField(max_length=255)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["competition", "user"], name="seat_once")]


class PlatformMark(models.Model):
    """The mark of one student in one column: the one wanted, the one sent last, and the state of sending."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        SENT = "sent", _("Sent")
        CLEARED = "cleared", _("Taken back")
        REFUSED = "refused", _("Refused")
        STUCK = "stuck", _("No answer")

    link = models.ForeignKey(LtiLink, on_delete=models.CASCADE, related_name="marks")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="lti_marks")
    # The platform's name of the student.
    subject = models.CharField(max_length=255)
    # Grows with each wanted mark; a result is noted only under the number that was sent.
    number = models.PositiveIntegerField(default=1)
    # None: the mark is taken back.
    points = models.FloatField(null=True)
    comment = models.CharField(max_length=1000, blank=True)
    out_of = models.FloatField(default=1)
    sent_points = models.FloatField(null=True)
    sent_comment = models.CharField(max_length=1000, blank=True)
    # None: not known what the platform has, because nothing was sent, one is on its way, or its answer was lost.
    sent_out_of = models.FloatField(null=True)
    sent_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    problem = models.CharField(max_length=200, blank=True)
    # The time sent last, in whole seconds; the next one is later.
    last_stamp = models.PositiveBigIntegerField(default=0)
    tries = models.PositiveIntegerField(default=0)
    wanted_at = models.DateTimeField(default=timezone.now)
    next_at = models.DateTimeField(default=timezone.now)
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["link", "user"], name="mark_once")]
        indexes: ClassVar = [
            models.Index(fields=["next_at"], condition=Q(state="waiting"), name="marks_waiting"),
        ]

    @property
    def is_in_platform(self) -> bool:
        """Whether the platform is known to have the mark that is wanted."""
        is_same = (self.comment, self.out_of) == (self.sent_comment, self.sent_out_of) or self.points is None
        is_unsent = self.last_stamp == 0 and self.points is None
        return is_unsent or (self.sent_out_of is not None and self.points == self.sent_points and is_same)
