"""The audit log, to which the site only appends, and the outbox of e-mails that wait for the mail server."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, NoReturn

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import connection, models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

LONGEST_VALUE = 300


class AuditEvent(models.TextChoices):
    """Kinds of entries of the audit log. Not a database constraint, so a new event needs no migration."""

    CREATED = "created", _("Competition created")
    CLONED = "cloned", _("Created as a copy")
    LAUNCHED = "launched", _("Launched")
    PREVIEWED = "previewed", _("Tested a submission")
    CHANGED = "changed", _("Settings changed")
    DELETED = "deleted", _("Competition deleted")
    HOST_ADDED = "host_added", _("Host added")
    HOST_REMOVED = "host_removed", _("Host removed")
    ROSTER_READ = "roster_read", _("Roster imported")
    ROSTER_TAKEN_BACK = "roster_taken_back", _("Roster import undone")
    ROSTER_CHANGED = "roster_changed", _("Roster edited manually")
    INVITED = "invited", _("People invited")
    ASSISTANT_ADDED = "assistant_added", _("Assistant added")
    ASSISTANT_REMOVED = "assistant_removed", _("Assistant removed")
    TRUTH_PUBLISHED = "truth_published", _("Answers published")
    TRUTH_APPLIED = "truth_applied", _("Answers applied")
    TRUTH_DISCARDED = "truth_discarded", _("Answers discarded")
    REVEALED = "revealed", _("Final ranking revealed")
    BASELINE_ADDED = "baseline_added", _("Baseline added")
    BASELINE_REMOVED = "baseline_removed", _("Baseline removed")
    DATA_ADDED = "data_added", _("Data file added")
    DATA_REMOVED = "data_removed", _("Data file removed")
    EXTENSION_GRANTED = "extension_granted", _("Extension granted")
    EXTENSION_ENDED = "extension_ended", _("Extension ended")
    DISQUALIFIED = "disqualified", _("Team disqualified")
    READMITTED = "readmitted", _("Disqualification lifted")
    HIDDEN = "submission_hidden", _("Submission hidden")
    SHOWN = "submission_shown", _("Submission no longer hidden")
    SCORED_AGAIN = "scored_again", _("Failed submissions rescored")
    PAUSED = "paused", _("Paused")
    RESUMED = "resumed", _("Resumed")
    ANNOUNCED = "announced", _("Announcement sent")
    ANNOUNCEMENT_EDITED = "announcement_edited", _("Announcement edited")
    ANNOUNCEMENT_WITHDRAWN = "announcement_withdrawn", _("Announcement withdrawn")
    GRADE_RULES_CHANGED = "grade_rules_changed", _("Grade rules changed")
    GRADES_RELEASED = "grades_released", _("Grades released")
    GRADES_WITHDRAWN = "grades_withdrawn", _("Grades withdrawn")
    POINTS_GIVEN = "points_given", _("Points by hand changed")
    GRADE_SET = "grade_set", _("Grade set by a host")
    GRADE_SET_REMOVED = "grade_set_removed", _("Grade set by a host removed")
    MEMBER_MOVED = "member_moved", _("Student moved to another team")
    RIGHTS_CHANGED = "rights_changed", _("Account permissions changed")
    PASSWORD_LINK = "password_link", _("Password link created")
    INSTITUTION_LINKED = "institution_linked", _("Account linked to an institution's")
    INSTITUTION_UNLINKED = "institution_unlinked", _("Account unlinked from an institution's")
    PASSWORD_SIGN_IN = "password_sign_in", _("Signed in with a password, past the institution")
    LTI_APPROVED = "lti_approved", _("Learning platform approved")
    LTI_OFF = "lti_off", _("Learning platform switched off")
    LTI_CONNECTED = "lti_connected", _("Connected with a learning platform")
    LTI_PERSON_LINKED = "lti_person_linked", _("Account linked to a learning platform's")
    MARKS_SENT = "marks_sent", _("Grades sent to a learning platform")
    ARCHIVED = "archived", _("Archived")
    UNARCHIVED = "unarchived", _("Brought back from the archive")
    BINNED = "binned", _("Moved to the bin")
    RESTORED = "restored", _("Restored from the bin")
    ACCOUNT_EXPORTED = "account_exported", _("Account data exported")
    ACCOUNT_DELETED = "account_deleted", _("Account deleted")


class AuditLogOnlyGrows(Exception):
    """Raised when an entry would be edited or deleted."""


class AuditEntries(models.QuerySet["AuditEntry"]):
    """A queryset whose `update` and `delete` raise `AuditLogOnlyGrows`."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise AuditLogOnlyGrows

    def delete(self) -> NoReturn:
        raise AuditLogOnlyGrows


class AuditEntry(models.Model):
    """One change. `append` is the only writer.

    Accounts and competitions are stored as plain numbers, not foreign keys: an entry outlives both, and a deleted
    account leaves no name behind.
    """

    at = models.DateTimeField(default=timezone.now)
    by = models.PositiveBigIntegerField(_("account"), null=True)
    event = models.CharField(max_length=40)
    competition = models.PositiveBigIntegerField(null=True)
    account = models.PositiveBigIntegerField(_("affected account"), null=True)
    about = models.CharField(max_length=200, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)

    objects = AuditEntries.as_manager()

    class Meta:
        ordering: ClassVar = ["-pk"]
        verbose_name = _("audit log entry")
        verbose_name_plural = _("audit log")
        indexes: ClassVar = [models.Index(fields=["competition", "-id"], name="audit_by_competition")]

    def __str__(self) -> str:
        return f"{self.pk}: {self.words}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert only."""
        if not self._state.adding:
            raise AuditLogOnlyGrows
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AuditLogOnlyGrows

    @classmethod
    def append(
        cls,
        event: AuditEvent,
        *,
        user: AbstractBaseUser | None,
        competition: models.Model | None = None,
        account: AbstractBaseUser | None = None,
        about: str = "",
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> AuditEntry:
        """Add an entry inside the transaction that makes the change; `user` is None for the site itself."""
        assert connection.in_atomic_block, "an entry belongs to the transaction of its change"
        return cls.objects.create(
            by=user.pk if user else None,
            event=event.value,
            competition=competition.pk if competition else None,
            account=account.pk if account else None,
            about=about.replace("\0", "")[:200],
            before=before or {},
            after=after or {},
        )

    @property
    def words(self) -> str:
        return str(AuditEvent(self.event).label) if self.event in AuditEvent.values else self.event

    @property
    def changes(self) -> list[tuple[str, Any, Any]]:
        """The changed values as (field, before, after), with None where a side has no value."""
        names = dict.fromkeys([*self.before, *self.after])
        return [(name, self.before.get(name), self.after.get(name)) for name in names]


def audit_team(team: models.Model) -> str:
    """The name of a team in an entry: its number, because most teams are called like their only member."""
    return f"team #{team.pk}"


def audit_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values for an entry: times in UTC, long texts as length and SHA-256, join codes and invitations left out."""
    return {name: _audit_value(name, value) for name, value in values.items()}


def _audit_value(name: str, value: Any) -> Any:
    if name in ("join_code", "invitation"):
        return "not told"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if name in ("overview", "rules", "contact", "allowed_addresses") or (
        isinstance(value, str) and len(value) > LONGEST_VALUE
    ):
        return f"{len(value)} characters, SHA-256 {hashlib.sha256(value.encode()).hexdigest()}" if value else ""
    return value


# Fields of entries that are no settings of a competition, for `makemessages`.
OTHER_AUDIT_FIELDS = (
    *(gettext_noop("address"), gettext_noop("audience"), gettext_noop("back in the course"), gettext_noop("bad")),
    *(gettext_noop("becomes"), gettext_noop("bytes"), gettext_noop("changed"), gettext_noop("decimals")),
    *(gettext_noop("disqualified at"), gettext_noop("emails"), gettext_noop("extra attempts"), gettext_noop("files")),
    *(gettext_noop("grades"), gettext_noop("ground truth"), gettext_noop("hidden at"), gettext_noop("id column")),
    *(gettext_noop("ignored rows"), gettext_noop("invitation"), gettext_noop("is pinned"), gettext_noop("join cards")),
    *(gettext_noop("late percent"), gettext_noop("launched at"), gettext_noop("left the course")),
    *(gettext_noop("max bytes"), gettext_noop("max points"), gettext_noop("member"), gettext_noop("members")),
    *(gettext_noop("method"), gettext_noop("metric"), gettext_noop("metric version"), gettext_noop("minimum")),
    *(gettext_noop("missing"), gettext_noop("new"), gettext_noop("none is zero"), gettext_noop("note")),
    *(gettext_noop("notified"), gettext_noop("number"), gettext_noop("params"), gettext_noop("participation files")),
    *(gettext_noop("participation points"), gettext_noop("paused at"), gettext_noop("people")),
    *(gettext_noop("possible"), gettext_noop("private rows"), gettext_noop("public rows"), gettext_noop("reached")),
    *(gettext_noop("reason"), gettext_noop("release"), gettext_noop("revealed at"), gettext_noop("role")),
    *(gettext_noop("secondary"), gettext_noop("section"), gettext_noop("sha256"), gettext_noop("steps")),
    *(gettext_noop("submission"), gettext_noop("submissions"), gettext_noop("teams"), gettext_noop("text")),
    *(gettext_noop("unchanged"),),
)


# --- the outbox -------------------------------------------------------------------------------------------------


class OutgoingEmail(models.Model):
    """An e-mail that was not sent yet; its row is deleted when the mail server has accepted it.

    Either `content` has the finished text, or the app of its `kind` builds it from `reference` when it is sent. `tries`
    counts claims, so a worker whose lease ran out finds a higher number and changes nothing.
    """

    recipients = models.TextField(blank=True)
    content = models.JSONField(default=dict)
    kind = models.CharField(max_length=20, blank=True)
    reference = models.PositiveBigIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    due_at = models.DateTimeField()
    tries = models.PositiveIntegerField(default=0)
    # The last time at which the mail server refused all e-mails, not only this one.
    refused_all_at = models.DateTimeField(null=True)
    # The class of the error that the last try ended with, for operators.
    last_error = models.CharField(max_length=100, blank=True)

    class Meta:
        indexes: ClassVar = [
            # E-mails without a kind are sent first: they hold links for which a person waits.
            models.Index(fields=["kind", "due_at"], name="outgoing_email_in_order"),
            models.Index(fields=["refused_all_at"], condition=Q(refused_all_at__isnull=False), name="mail_refused_all"),
        ]

    def __str__(self) -> str:
        return f"{self.kind or 'e-mail'} {self.pk}"
