"""Forms whose answer takes long: a pages worker gives each to its view, and its page looks again."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy

MAX_UNFINISHED = 2
"""Of one person: one at work and one that waits."""


class PageTask(models.Model):
    """A form that a person sent, and what its view answered.

    It belongs to a path and not to a competition, because a form may create, rename or delete one.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", gettext_lazy("waiting")
        RUNNING = "running", gettext_lazy("running")
        DONE = "done", gettext_lazy("done")
        FAILED = "failed", gettext_lazy("failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="page_tasks")
    place = models.PositiveSmallIntegerField()
    """Which of the person's places it takes while it is unfinished."""
    path = models.TextField()
    form = models.JSONField(default=dict)
    """The fields, the stored files, and what of the browser's headers the answer depends on."""
    is_of_student = models.BooleanField(default=False)
    digest = models.CharField(max_length=64)
    """Of path, fields and files: the same form sent again joins the unfinished one."""
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.WAITING)
    answer = models.JSONField(default=dict)
    """Status, address, type, messages and text of the answer."""
    failure = models.CharField(max_length=200, blank=True)
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "place"], condition=Q(status__in=["waiting", "running"]), name="one_task_in_each_place"
            ),
            models.UniqueConstraint(fields=["user"], condition=Q(status="running"), name="one_running_task_each"),
            # However many students ask, hosts find a thread free.
            models.UniqueConstraint(
                fields=["is_of_student"],
                condition=Q(status="running", is_of_student=True),
                name="one_running_of_students",
            ),
            models.CheckConstraint(condition=Q(place__gte=1, place__lte=MAX_UNFINISHED), name="place_of_task_exists"),
        ]
        indexes = [
            models.Index(fields=["user", "started_at"], name="tasks_of_person"),
            models.Index(
                fields=["created_at"], condition=Q(status__in=["waiting", "running"]), name="unfinished_page_tasks"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.path} ({self.status})"

    @property
    def is_over(self) -> bool:
        return self.status in (self.Status.DONE, self.Status.FAILED)
