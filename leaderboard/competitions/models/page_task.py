"""Posted forms that take too long for a request: a worker of pages calls their view, and the page polls the result.
Workers and scheduled tasks."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy

MAX_UNFINISHED = 2
"""For one person: one running and one waiting."""


class PageTask(models.Model):
    """A posted form and the response of its view.

    It has a path and no competition, because a form may create, rename or delete one.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", gettext_lazy("waiting")
        RUNNING = "running", gettext_lazy("running")
        DONE = "done", gettext_lazy("done")
        FAILED = "failed", gettext_lazy("failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="page_tasks")
    place = models.PositiveSmallIntegerField()
    """Number from 1 to `MAX_UNFINISHED`, unique among the person's unfinished tasks, which limits these."""
    path = models.TextField()
    form = models.JSONField(default=dict)
    """Fields, stored files, and the headers and cookies that the response depends on."""
    is_of_student = models.BooleanField(default=False)
    digest = models.CharField(max_length=64)
    """Hash of path, fields and files: posting the same form again returns the unfinished task."""
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.WAITING)
    answer = models.JSONField(default=dict)
    """Status, redirect, content type, messages and text of the response."""
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
            # One at a time, so that threads stay free for hosts.
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


class Worker(models.Model):
    """A worker process, which updates its row every few seconds, by the database's clock."""

    host = models.CharField(max_length=200)
    process = models.PositiveIntegerField()
    version = models.CharField(max_length=40)
    started_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["host", "process"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["host", "process"], name="worker_reports_once"),
        ]

    def __str__(self) -> str:
        return f"{self.host} {self.process}"


class Duty(models.Model):
    """A scheduled task, and the time at which a worker last began it, by the database's clock."""

    task = models.CharField(max_length=100, primary_key=True)
    begun_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.task} {self.begun_at}"
