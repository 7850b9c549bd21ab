"""The roster (the course's class list): entries with one-time links, imported lists, a list in preview; and roles."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.models import User, token_digest
from leaderboard.competitions.models import Competition, Course
from leaderboard.competitions.models.competition import CODE_ALPHABET, normalize_code

JOIN_CARD_CODE_LENGTH = 12
JOIN_CARD_LIFETIME = timedelta(days=30)
MAX_SECTION_CHARACTERS = 200


class RosterList(models.Model):
    """An imported class list of a course; its entries can be removed again if it was the wrong one."""

    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="roster_lists")
    file_name = models.CharField(max_length=200, blank=True)
    imported_at = models.DateTimeField(default=timezone.now, editable=False)
    imported_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering: ClassVar = ["-imported_at", "-pk"]

    def __str__(self) -> str:
        return self.file_name or str(_("pasted text"))


class RosterEntry(models.Model):
    """One student of a course.

    Linked to an account when it joins a competition of the course: by the one-time link of this entry, by the student
    number that an institution sends, or by a confirmed e-mail address. Only the digest of the link is stored.
    """

    class State(models.TextChoices):
        """State of an entry, from invitation to membership; computed, never stored."""

        NEW = "new", _("Not invited")
        SENDING = "sending", _("Sending")
        FAILED = "failed", _("Sending failed")
        INVITED = "invited", _("Invited")
        JOINED = "joined", _("Joined")
        LEFT = "left", _("Left the course")

    course = models.ForeignKey(Course, on_delete=models.CASCADE, related_name="roster")
    # Deleted with the account; importing the course's list again brings it back.
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="roster_entries")
    name = models.CharField(max_length=200, blank=True)
    email = models.CharField(max_length=254, blank=True)
    # The person on a learning platform: "platform number:subject". Compared before all other fields.
    lms_user = models.CharField(max_length=300, blank=True)
    student_id = models.CharField(max_length=100, blank=True)
    sis_user_id = models.CharField(max_length=100, blank=True)
    login = models.CharField(max_length=150, blank=True)
    section = models.CharField(max_length=MAX_SECTION_CHARACTERS, blank=True)
    added_at = models.DateTimeField(default=timezone.now, editable=False)
    # None: imported before lists were stored.
    roster_list = models.ForeignKey(RosterList, null=True, on_delete=models.SET_NULL, related_name="people")
    joined_at = models.DateTimeField(null=True, editable=False)
    left_at = models.DateTimeField(null=True, editable=False)

    join_card_digest = models.CharField(max_length=64, blank=True, editable=False)
    join_card_expires_at = models.DateTimeField(null=True, editable=False)
    # Set while an e-mail waits in the outbox.
    mail_requested_at = models.DateTimeField(null=True, editable=False)
    # In English; `mail_problem_text` translates it for the reader.
    mail_problem = models.CharField(max_length=200, blank=True, editable=False)
    # The host who asked for the invitation, and their language.
    mail_requested_by = models.ForeignKey(User, null=True, editable=False, on_delete=models.SET_NULL, related_name="+")
    mail_language = models.CharField(max_length=16, blank=True, default="", editable=False)
    # The competition of the one-time link.
    invited_to = models.ForeignKey(Competition, null=True, editable=False, on_delete=models.SET_NULL, related_name="+")
    # When an e-mail was sent, or a join card printed.
    invited_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = [Lower("name"), "email", "pk"]
        verbose_name_plural = "roster entries"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["course", "user"], name="roster_user_once", condition=Q(user__isnull=False)
            ),
            models.UniqueConstraint("course", Lower("email"), name="roster_email_once", condition=~Q(email="")),
            models.UniqueConstraint(
                fields=["course", "lms_user"], name="roster_lms_user_once", condition=~Q(lms_user="")
            ),
            models.UniqueConstraint(
                fields=["join_card_digest"], name="roster_join_card_once", condition=~Q(join_card_digest="")
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.email or self.login or self.student_id or self.sis_user_id

    @property
    def student_number(self) -> str:
        """The institution's student number. If there are two numbers, `student_id` is the learning platform's ID."""
        return self.sis_user_id or self.student_id

    @property
    def state(self) -> State:
        if self.left_at:
            return self.State.LEFT
        if self.user_id:
            return self.State.JOINED
        if self.mail_requested_at or self.mail_problem:
            return self.State.SENDING if self.mail_requested_at else self.State.FAILED
        return self.State.INVITED if self.invited_at else self.State.NEW

    @property
    def mail_problem_text(self) -> str:
        return gettext(self.mail_problem) if self.mail_problem else ""

    @property
    def moment(self) -> datetime | None:
        """The time at which the entry got its state; None for new and failed ones."""
        return {
            self.State.LEFT: self.left_at,
            self.State.JOINED: self.joined_at,
            self.State.SENDING: self.mail_requested_at,
            self.State.INVITED: self.invited_at,
        }.get(self.state)

    def new_join_card_code(self, at: datetime) -> str:
        """The code of a new one-time link; the earlier one stops working. The caller saves the entry.

        Only the digest is stored, so the code cannot be read again.
        """
        code = "".join(secrets.choice(CODE_ALPHABET) for _ in range(JOIN_CARD_CODE_LENGTH))
        self.join_card_digest, self.join_card_expires_at = token_digest(code), at + JOIN_CARD_LIFETIME
        return code

    @classmethod
    def find_by_join_card(cls, digest: str, at: datetime) -> RosterEntry | None:
        """The entry of a one-time link that still works, or None."""
        return (
            cls.objects.select_related("course")
            .filter(join_card_digest=digest, join_card_expires_at__gt=at, user=None, left_at=None)
            .exclude(join_card_digest="")
            .first()
        )

    def competition_to_join(self, at: datetime) -> Competition | None:
        """The competition that the one-time link opens: the one it was made for, unless that has ended and another
        competition of the course is open."""
        return min(
            self.course.competitions.outside_bin(),
            key=lambda one: (one.launched_at is None, one.closes_at <= at, one.pk != self.invited_to_id, one.closes_at),
            default=None,
        )


def has_student_number(numbers: Collection[str]) -> Q:
    """Condition for entries with one of these as their `student_number`."""
    return Q(sis_user_id__in=numbers) | Q(sis_user_id="", student_id__in=numbers)


def joined_values(user_id: int, at: datetime) -> dict[str, Any]:
    """Values to save on an entry when an account joins as its student: one-time link and invitation end."""
    ended = {"join_card_digest": "", "join_card_expires_at": None, "mail_requested_at": None}
    return {"user": user_id, "joined_at": at, **ended}


def join_card_digest(code: str) -> str:
    """Digest of a one-time code, the same for any case and separators that it was typed with."""
    return token_digest(normalize_code(code))


class RosterDraft(models.Model):
    """The text of a class list in preview, until the host imports or discards it."""

    course = models.OneToOneField(Course, on_delete=models.CASCADE, related_name="roster_draft")
    file_name = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    # The name of the file's encoding, if the reader has guessed it.
    guessed_encoding = models.CharField(max_length=40, blank=True)
    # How a workbook was read: its sheet.
    reading_notes = models.JSONField(default=list)
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    def __str__(self) -> str:
        return self.file_name or str(_("pasted text"))


class HostingRole(StrEnum):
    HOST = "host"
    ASSISTANT = "assistant"
