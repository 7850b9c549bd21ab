"""The audit log: it only grows, and every entry holds the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import connection, models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .audit_names import audit_field_label

LONGEST_VALUE = 300
AUDIT_TRIGGERS = ("audit_only_appends", "audit_never_changes", "audit_never_shrinks")
# Any number will do, as long as nobody else's lock has it.
_POSTGRES_LOCK = 7_316_402_218


class AuditEvent(models.TextChoices):
    """What an entry of the audit log is about. Not a database constraint, so a new event needs no migration."""

    CREATED = "created", _("Competition created")
    CLONED = "cloned", _("Created as a copy")
    LAUNCHED = "launched", _("Launched")
    LAUNCH_SCHEDULED = "launch_scheduled", _("Launch scheduled")
    LAUNCH_CANCELLED = "launch_cancelled", _("Scheduled launch cancelled")
    LAUNCH_MISSED = "launch_missed", _("Scheduled launch didn't happen")
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
    ROLE_OFFERED = "role_offered", _("Role offered to an address")
    ROLE_WITHDRAWN = "role_withdrawn", _("Role offer withdrawn")
    TRUTH_PUBLISHED = "truth_published", _("Answers published")
    TRUTH_APPLIED = "truth_applied", _("Answers applied")
    TRUTH_DISCARDED = "truth_discarded", _("Answers discarded")
    REVEALED = "revealed", _("Private leaderboard revealed")
    BASELINE_ADDED = "baseline_added", _("Baseline added")
    BASELINE_REMOVED = "baseline_removed", _("Baseline removed")
    DATA_ADDED = "data_added", _("Data file added")
    DATA_REMOVED = "data_removed", _("Data file removed")
    EXTENSION_GRANTED = "extension_granted", _("Extension granted")
    EXTENSION_REVOKED = "extension_revoked", _("Extension revoked")
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
    TEAMS_MERGED = "teams_merged", _("Teams merged")
    MEMBER_REMOVED = "member_removed", _("Member removed by the captain")
    CAPTAIN_CHANGED = "captain_changed", _("Captain changed")
    WEBHOOK_SET = "webhook_set", _("Chat messages set up")
    WEBHOOK_REMOVED = "webhook_removed", _("Chat messages removed")
    RIGHTS_CHANGED = "rights_changed", _("Account permissions changed")
    PASSWORD_LINK = "password_link", _("Password link created")
    INSTITUTION_LINKED = "institution_linked", _("Account linked to an institution's")
    INSTITUTION_UNLINKED = "institution_unlinked", _("Account unlinked from an institution's")
    PASSWORD_SIGN_IN = "password_sign_in", _("Signed in with a password, past the institution")
    ARCHIVED = "archived", _("Archived")
    UNARCHIVED = "unarchived", _("Brought back from the archive")
    BINNED = "binned", _("Moved to the bin")
    RESTORED = "restored", _("Restored from the bin")
    ACCOUNT_EXPORTED = "account_exported", _("Account data exported")
    ACCOUNT_DELETED = "account_deleted", _("Account deleted")


class AuditEntry(models.Model):
    """One change, hash-chained to the one before. The database itself refuses to change or delete entries.

    People and competitions are plain numbers: an entry outlives both, and a deleted account leaves no name behind.
    `before` and `after` are JSON as text, because what was hashed must come back byte for byte.
    """

    number = models.PositiveBigIntegerField(primary_key=True)
    at = models.DateTimeField()
    by = models.PositiveBigIntegerField(_("account"), null=True)
    event = models.CharField(max_length=40)
    competition = models.PositiveBigIntegerField(null=True)
    account = models.PositiveBigIntegerField(_("affected account"), null=True)
    about = models.CharField(max_length=200, blank=True)
    before = models.TextField(default="{}")
    after = models.TextField(default="{}")
    previous = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64)

    class Meta:
        ordering: ClassVar = ["-number"]
        verbose_name = _("audit log entry")
        verbose_name_plural = _("audit log")
        indexes: ClassVar = [models.Index(fields=["competition", "-number"], name="audit_by_competition")]

    def __str__(self) -> str:
        return f"{self.number}: {self.words}"

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
        """Add the last link, as the last step of the transaction that makes the change; `user` None is the site itself.

        Entries are written one after the other: where there can be several writers, this waits until the transaction
        before has ended.
        """
        assert connection.in_atomic_block, "an entry belongs to the transaction of its change"
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_POSTGRES_LOCK])
        last = cls.objects.order_by("-number").first()
        entry = cls(
            number=last.number + 1 if last else 1,
            at=timezone.now(),
            by=user.pk if user else None,
            event=event.value,
            competition=competition.pk if competition else None,
            account=account.pk if account else None,
            about=about.replace("\0", "")[:200],
            before=_canonical_json(before or {}),
            after=_canonical_json(after or {}),
            previous=last.digest if last else "",
        )
        entry.digest = entry.expected_digest()
        entry.save(force_insert=True)
        return entry

    def expected_digest(self) -> str:
        """The SHA-256 of everything else in this row."""
        at = self.at.astimezone(UTC).isoformat(timespec="microseconds")
        facts = [self.number, at, self.by, self.event, self.competition, self.account, self.about]
        return hashlib.sha256(_canonical_json([*facts, self.before, self.after, self.previous]).encode()).hexdigest()

    @property
    def words(self) -> str:
        return str(AuditEvent(self.event).label) if self.event in AuditEvent.values else self.event

    @property
    def changes(self) -> list[tuple[str, Any, Any]]:
        """What changed: (name, before, after), None where there is nothing on one side."""
        before, after = json.loads(self.before), json.loads(self.after)
        names = dict.fromkeys([*before, *after])
        return [(audit_field_label(name), before.get(name), after.get(name)) for name in names]


def audit_team(team: models.Model) -> str:
    """How an entry names a team: by its number, because most are called like their only member."""
    return f"team #{team.pk}"


def audit_account(account: AbstractBaseUser | None) -> str | None:
    """How an entry names one of several people: by number, so that a deleted account leaves no name behind."""
    return f"account #{account.pk}" if account else None


def audit_log_faults() -> list[str]:
    """Sentences about entries that are not as they were written, or missing; empty when the chain holds.

    Entries cut off at the end leave a chain that holds: compare the last digest with one noted elsewhere, such as in
    a backup's manifest.
    """
    return [*_guard_faults(), *_chain_faults()]


def _chain_faults() -> Iterator[str]:
    number, digest = 0, ""
    for entry in AuditEntry.objects.order_by("number").iterator(chunk_size=2000):
        if entry.number != number + 1:
            yield f"audit log: between {number} and {entry.number} entries are missing"
        elif entry.previous != digest:
            yield f"audit log: entry {entry.number} does not follow the one before it"
        if entry.digest != entry.expected_digest():
            yield f"audit log: entry {entry.number} was changed after it was written"
        number, digest = entry.number, entry.digest


def _guard_faults() -> list[str]:
    """Whether the database still refuses changes; an operator with its password can take the triggers away."""
    on_postgres = connection.vendor == "postgresql"
    table = AuditEntry._meta.db_table
    with connection.cursor() as cursor:
        if on_postgres:
            cursor.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = to_regclass(%s) AND tgenabled = 'O'", [table])
        else:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [table])
        there = {name for (name,) in cursor.fetchall()}
    missing = [name for name in AUDIT_TRIGGERS if name not in there]
    return [f"audit log: the database lost its guard {name}" for name in missing]


def audit_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values for an entry: moments in UTC, long texts by their fingerprint, codes that let people in left out."""
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


def _canonical_json(value: Any) -> str:
    """The one way to write a value: what differs as text differs in meaning."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
