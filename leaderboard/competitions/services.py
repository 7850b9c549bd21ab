"""Services for a competition: create, change, delete, pause and resume it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common import logs
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent, audit_team, audit_values
from leaderboard.common.queries import locked_by_key
from leaderboard.common.storage import remove_file

from . import hooks
from .models import (
    Archive,
    Attachment,
    Competition,
    Course,
    DailyAttempts,
    Extension,
    Limits,
    Submission,
    Team,
    TruthDraft,
)
from .models.competition_settings import (
    EDITABLE,
    check_settings,
    make_settings,
    read_setting,
    save_settings,
    write_setting,
)
from .models.course import make_course
from .models.extension import extensions_to_move, team_deadline
from .team_names import give_pseudonyms, number_shared_names

LONGEST_REASON = 300


class CannotHost(Exception):
    """A refusal of a host's request; `message` and the lines in `details` are shown to the host."""

    def __init__(self, message: str, details: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = list(details)


def require_reason(reason: str) -> str:
    """The reason as it is stored, in one line. Raises `CannotHost` if it is empty: students read it."""
    cleaned = " ".join(reason.split())[:LONGEST_REASON]
    if not cleaned:
        raise CannotHost(_("Give a reason. The students concerned see it."))
    return cleaned


def lock_course(*course_ids: int) -> None:
    """Lock courses and then all their competitions, against changes of class lists and of what belongs to the courses.

    Joining locks one competition only, so students of other courses never wait.
    """
    courses = Course.objects.filter(pk__in=course_ids).order_by("pk")
    list(courses.select_for_update(no_key=True).values_list("pk"))
    list(Competition.objects.select_for_update().filter(course__in=course_ids).order_by("pk").values_list("pk"))


def lock_competition(competition_id: int) -> Competition:
    """Lock and return a competition. Submitting and scoring take this lock too, so they see no half of a change."""
    # Without its answers: PostgreSQL would leave them out of a row that a correction changed while this waited.
    return Competition.objects.select_for_update().get(pk=competition_id)


def create_competition(
    *, user: User, course: Course | str = "", is_proposal: bool = False, **fields: Any
) -> Competition:
    """Create a draft hosted by `user`; `fields` are among `EDITABLE`. Raises `ValidationError`.

    `course` is an existing course, or the title of a new one. With `is_proposal` its limits and admission are marked
    as proposed, until the host has confirmed them.
    """
    competition = Competition()
    make_settings(competition)
    competition.admission.is_proposed = competition.limits.is_proposed = is_proposal
    with transaction.atomic():
        competition.course = course if isinstance(course, Course) else make_course(course)
        _write_settings(competition, fields if isinstance(course, Course) else {"course": course, **fields})
        competition.save()
        save_settings(competition)
        competition.hosts.add(user)
        known = {name: read_setting(competition, name) for name in EDITABLE}
        AuditEntry.append(AuditEvent.CREATED, user=user, competition=competition, after=audit_values(known))
    return competition


def change_competition(
    *, competition: Competition, user: User | None = None, notifies: bool = True, **fields: Any
) -> Competition:
    """Change fields among `EDITABLE`; members must accept a new text of the rules again. Raises `ValidationError`.

    Extended deadlines of teams move along with the deadline; with `notifies` the students read of it.

    Here and below, `user` is the person for the audit log; None for the site itself or a command.
    """
    with transaction.atomic():
        if "course" in fields:
            lock_course(competition.course_id)
        held = Competition.objects.select_for_update().get(pk=competition.pk)
        before = {name: read_setting(held, name) for name in _check_field_names(fields)}
        had_rules, had_deadline, board_settings = held.rules, held.closes_at, _ranking_settings(held)
        _write_settings(held, fields)
        if before.get("zone", held.zone) != held.zone and DailyAttempts.objects.filter(team__competition=held).exists():
            # Attempts are counted by days of the zone.
            raise ValidationError(
                {
                    "zone": _(
                        "You can't change the time zone after the first submission: attempts are counted by its days."
                    )
                }
            )
        if held.rules != had_rules:
            held.rules_version += 1
        held.limits.is_proposed &= "closes_at" not in fields
        held.admission.is_proposed &= "needs_code" not in fields
        held.save()
        save_settings(held)
        if before.get("course", held.course.title) != held.course.title:
            _rename_course(held.course)
        if held.closes_at != had_deadline:
            moved = extensions_to_move(held, held.closes_at - had_deadline)
            Extension.objects.bulk_update(moved, ["closes_at"])
            recompute_lateness(held)
            if notifies:
                hooks.deadline_changed(competition=held, before=had_deadline, extensions=moved)
        if _ranking_settings(held) != board_settings:
            hooks.ranking_changed(competition=held)
        if held.board.uses_pseudonyms:
            give_pseudonyms(held)
        elif before.get("uses_pseudonyms"):
            number_shared_names(held)
        held.bump_board_version()
        _log_changes(held, user, before)
    return held


def _rename_course(course: Course) -> None:
    """Save the title of a course, which the boards of all its competitions show."""
    course.save(update_fields=["title"])
    course.competitions.update(board_version=F("board_version") + 1)


def _ranking_settings(competition: Competition) -> tuple[object, ...]:
    """The settings that standings depend on."""
    finals = competition.limits.final_count if competition.revealed_at is not None else None
    return competition.closes_at, finals


def _log_changes(competition: Competition, user: User | None, before: dict[str, Any]) -> None:
    """Log the fields that differ from `before`; nothing if none does."""
    differing = [name for name, value in before.items() if read_setting(competition, name) != value]
    if differing:
        AuditEntry.append(
            AuditEvent.CHANGED,
            user=user,
            competition=competition,
            before=audit_values({name: before[name] for name in differing}),
            after=audit_values({name: read_setting(competition, name) for name in differing}),
        )


def recompute_lateness(competition: Competition) -> None:
    """Set `is_late` of all files by the current deadlines of their teams; late files are unselected as finals."""
    # As a claim does: two statements that lock the same files in different orders would wait for each other.
    locked_by_key(competition.teams.all())
    files = Submission.objects.filter(competition=competition, team__isnull=False).annotate(deadline=team_deadline())
    files.filter(is_late=True, received_at__lt=F("deadline")).update(is_late=False)
    files.filter(is_late=False, received_at__gte=F("deadline")).update(is_late=True, is_selected=False)


@dataclass(frozen=True)
class DeadlineChange:
    """The effects that moving the deadline would have."""

    closes_at: datetime
    is_earlier: bool
    late_files: int
    """Number of files, on time so far, that would be late."""
    extensions: list[Extension]
    """Extensions that move along, the latest first, with their new ends."""


def deadline_change(competition: Competition, closes_at: datetime) -> DeadlineChange:
    """The effects that moving the deadline to `closes_at` would have. Nothing is changed."""
    by = closes_at - competition.closes_at
    files = Submission.objects.filter(competition=competition, team__isnull=False, is_late=False)
    times = files.filter(received_at__gte=closes_at).order_by().values_list("received_at", team_deadline())
    late = sum(received >= deadline + by for received, deadline in times)
    extensions = extensions_to_move(competition, by)
    return DeadlineChange(closes_at, by < timedelta(), late, extensions)


def end_extension(*, extension: Extension, user: User | None) -> None:
    """End an extension now; nothing if it is ended. Used attempts stay used, and files received until now stay on time.

    Raises `CannotHost` for a later deadline of a team that is in the open final ranking.
    """
    with transaction.atomic():
        competition, now = lock_competition(extension.team.competition_id), database_now()
        is_ranked = competition.revealed_at is not None and not Team.objects.get(pk=extension.team_id).is_awaited
        if is_ranked and extension.closes_at is not None:
            raise CannotHost(_("The final ranking is open, so this extension can't be ended. Its submissions count."))
        ended = Extension.objects.active().filter(pk=extension.pk).first()
        if ended is None:
            return
        before, ended.ended_at = extension_facts(ended), now
        if ended.closes_at is not None:
            ended.closes_at = min(ended.closes_at, now)
        ended.save(update_fields=["ended_at", "closes_at"])
        competition.bump_board_version()
        hooks.extension_ended(extension=ended)
        AuditEntry.append(
            AuditEvent.EXTENSION_ENDED,
            user=user,
            competition=competition,
            about=audit_team(extension.team),
            before=audit_values(before),
        )


def extension_facts(extension: Extension) -> dict[str, object]:
    """The values of an extension for the audit log; empty ones are left out."""
    names = ("extra_attempts", "closes_at", "reason")
    return {name: value for name in names if (value := getattr(extension, name))}


def delete_competition(*, competition: Competition, user: User | None = None) -> None:
    """Delete a competition with all its rows and files, and its course if that has no other.

    The audit log keeps its numbers of teams and files.
    """
    truths = list(competition.ground_truths.all())
    keys = [
        *(truth.file_key for truth in truths),
        *(truth.sample_key for truth in truths),
        *TruthDraft.objects.filter(competition=competition).values_list("file_key", flat=True),
        *competition.data_files.values_list("file_key", flat=True),
        *competition.submissions.values_list("file_key", flat=True),
        *Attachment.objects.filter(submission__competition=competition).values_list("file_key", flat=True),
    ]
    last_words = {
        **{name: getattr(competition, name) for name in ("slug", "title", "launched_at", "closes_at", "revealed_at")},
        "teams": competition.teams.count(),
        "submissions": competition.submissions.filter(team__isnull=False).count(),
        "ground_truths": list(competition.ground_truths.values_list("sha256", flat=True)),
    }
    gone = Competition(pk=competition.pk)
    with transaction.atomic():
        lock_course(competition.course_id)
        # A ground truth in use is protected, so the reference is removed first.
        Competition.objects.filter(pk=competition.pk).update(
            launched_at=None, revealed_at=None, ground_truth=None, candidate=None
        )
        locked_by_key(competition.teams.all())  # before their files, as a claim does
        Submission.objects.filter(competition=competition).delete()
        Team.objects.filter(competition=competition).delete()
        competition.delete()
        Course.objects.filter(pk=competition.course_id, competitions=None).delete()
        AuditEntry.append(AuditEvent.DELETED, user=user, competition=gone, before=audit_values(last_words))
    for key in keys:
        remove_file(key)


def _write_settings(competition: Competition, fields: dict[str, Any]) -> None:
    """Set and check fields among `EDITABLE`. Raises `ValidationError` by field name, `TypeError` for other fields."""
    for name, value in _check_field_names(fields).items():
        write_setting(competition, name, value)
    check_settings(competition)


def _check_field_names(fields: dict[str, Any]) -> dict[str, Any]:
    unknown = fields.keys() - set(EDITABLE)
    if unknown:
        raise TypeError(f"not fields a host sets: {sorted(unknown)}")
    return fields


def pause_competition(*, competition: Competition, user: User | None, reason: str) -> None:
    """Stop submissions until `resume_competition`; students read the reason. Files received before are still scored.

    Raises `CannotHost` without a reason, or if the competition is paused already.
    """
    reason = require_reason(reason)
    with transaction.atomic():
        now, running = database_now(), lock_competition(competition.pk)
        if running.limits.paused_at is not None:
            raise CannotHost(_("The competition is already paused."))
        Limits.objects.filter(pk=running.pk).update(paused_at=now, pause_reason=reason)
        running.bump_board_version()
        after = audit_values({"paused_at": now, "reason": reason})
        hooks.competition_paused(competition=competition, reason=reason)
        AuditEntry.append(AuditEvent.PAUSED, user=user, competition=competition, after=after)


def resume_competition(*, competition: Competition, user: User | None) -> None:
    """End a pause, if there is one. The deadline does not move."""
    with transaction.atomic():
        paused = lock_competition(competition.pk)
        if paused.limits.paused_at is None:
            return
        Limits.objects.filter(pk=paused.pk).update(paused_at=None, pause_reason="")
        paused.bump_board_version()
        before = audit_values({"paused_at": paused.limits.paused_at, "reason": paused.limits.pause_reason})
        hooks.competition_resumed(competition=paused)
        AuditEntry.append(AuditEvent.RESUMED, user=user, competition=paused, before=before)


def archive_competition(*, competition: Competition, user: User) -> None:
    """Remove a competition from the lists; it stays readable. Raises `CannotHost` before the deadline."""
    now = database_now()
    if competition.state(now) in ("upcoming", "live"):
        raise CannotHost(_("You can archive it after the deadline."))
    _change_archive(competition, AuditEvent.ARCHIVED, user, archived_at=now)


def unarchive_competition(*, competition: Competition, user: User) -> None:
    _change_archive(competition, AuditEvent.UNARCHIVED, user, archived_at=None)


def bin_competition(*, competition: Competition, user: User) -> None:
    """Move a competition to the bin: its pages are closed, and it can be restored for `Archive.BIN_DAYS` days."""
    _change_archive(competition, AuditEvent.BINNED, user, binned_at=database_now(), binned_by=user)


def restore_competition(*, competition: Competition, user: User) -> None:
    _change_archive(competition, AuditEvent.RESTORED, user, binned_at=None, binned_by=None)


def empty_bin(at: datetime) -> int:
    """Delete competitions for good whose days in the bin are over; returns how many."""
    due = Competition.objects.filter(archive__binned_at__lte=at - timedelta(days=Archive.BIN_DAYS))
    removed = 0
    for competition in due.select_related("archive__binned_by"):
        with logs.log_errors(competition=competition.slug):
            delete_competition(competition=competition, user=competition.archive.binned_by)
            removed += 1
    return removed


def _change_archive(competition: Competition, event: AuditEvent, user: User, **fields: object) -> None:
    with transaction.atomic():
        competition.bump_board_version()
        Archive.objects.filter(competition=competition).update(**fields)
        AuditEntry.append(event, user=user, competition=competition)
