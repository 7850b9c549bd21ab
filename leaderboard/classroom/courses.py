"""Services for courses: add a competition, move one to another course, enter one from the class list."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions import hooks as competitions_hooks
from leaderboard.competitions.models import Competition, Course, Membership
from leaderboard.competitions.models.competition_settings import PLACES, read_setting
from leaderboard.competitions.models.course import make_course
from leaderboard.competitions.services import CannotHost
from leaderboard.ground_truths.services import copying

from . import hooks, people
from .joining import enter_competition
from .models import RosterDraft, RosterEntry
from .roster import EntryIndex
from .teams import CannotJoin

# Settings that a further competition of a course takes over from the newest one.
TAKEN_OVER = ("zone", "contact", *(name for name in PLACES if name not in ("course", "join_code")))
# Fields of an entry that tell who somebody is.
IDENTITY = ("name", "email", "lms_user", "student_id", "sis_user_id", "login", "section")


def new_competition_in(*, course: Course, user: User) -> Competition:
    """A draft in a course, with hosts, assistants and settings of the newest competition that the user hosts there.

    Raises `CannotHost` for people who host no competition of the course.
    """
    source = course.competitions.hosted_by(user).order_by("-created_at", "-pk").first()
    if source is None:
        raise CannotHost(_("You host no competition of this course."))
    fields = {name: read_setting(source, name) for name in TAKEN_OVER}
    with transaction.atomic():
        draft = copying.create_default_draft(user=user, course=course, **fields)
        hosts, assistants = list(source.hosts.exclude(pk=user.pk)), list(source.assistants.all())
        draft.hosts.add(*hosts)
        draft.assistants.add(*assistants)
        added = [(AuditEvent.HOST_ADDED, person) for person in hosts]
        for event, person in [*added, *((AuditEvent.ASSISTANT_ADDED, person) for person in assistants)]:
            AuditEntry.append(event, user=user, competition=draft, account=person)
    return draft


def enter_from_course(*, user: User, competition: Competition) -> Membership:
    """Join a competition as a student on the class list of its course: no code, no check of addresses.

    Raises `CannotJoin`.
    """
    entry = RosterEntry.objects.filter(course__competitions=competition.pk, user=user, left_at=None).first()
    if entry is None or competition.launched_at is None:
        raise CannotJoin(_("This competition needs a join code."))
    return enter_competition(user=user, competition=competition, entry=entry)


def is_on_list(user: User) -> Exists:
    """Annotation for competitions: whether a person is on the class list of the course."""
    return Exists(RosterEntry.objects.filter(course=OuterRef("course"), user=user, left_at=None))


def open_from_list(user: User, at: datetime) -> QuerySet[Competition]:
    """Competitions that a person may enter because they are on the class list."""
    running = Competition.objects.outside_bin().filter(is_on_list(user), launched_at__isnull=False, closes_at__gt=at)
    return running.exclude(memberships__user=user).exclude(hosts=user).exclude(assistants=user)


def may_enter(user: User, slug: str) -> bool:
    """Whether `enter_from_course` lets a person into the competition of this slug."""
    return open_from_list(user, database_now()).filter(slug=slug).exists()


@on(competitions_hooks.course_chosen)
def move_competition(*, competition: Competition, course: Course | None, user: User) -> None:
    """Move a competition to another course, or to a new one (None), with the entries of its students.

    If it is the last one of its course, the whole class list moves and the old course is deleted. Raises `CannotHost`
    for people who do not host both, and if entries of both lists contradict each other; then nothing is moved.
    """
    with transaction.atomic():
        target = course or make_course()
        moved = people.lock_class_list(competition, target)
        if moved.course_id == target.pk:
            return
        if not moved.is_hosted_by(user) or (course and not course.competitions.hosted_by(user).exists()):
            raise CannotHost(_("You can move a competition only between courses that you host."))
        source, before = moved.course, str(moved.course)
        is_last = not source.competitions.exclude(pk=moved.pk).exists()
        _merge_lists(source, target, moved, takes_all=is_last)
        moved.course = target
        moved.save(update_fields=["course"])
        moved.bump_board_version()
        if is_last:
            source.delete()
        people.link_members(target)
        AuditEntry.append(
            AuditEvent.CHANGED,
            user=user,
            competition=moved,
            before={"course": before},
            after={"course": str(target)},
        )


def _merge_lists(source: Course, target: Course, competition: Competition, *, takes_all: bool) -> None:
    """Move all entries of a class list into another, or without `takes_all` copy the entries of the competition's
    members. Raises `CannotHost` if both lists contradict each other."""
    coming = source.roster.all()
    if not takes_all:
        coming = coming.filter(user__memberships__competition=competition)
    index, conflicts = EntryIndex(target.roster.all()), []
    for entry in coming:
        matching = index.of_entry(entry)
        if len(matching) > 1 or any(entry.user_id and one.user_id not in (None, entry.user_id) for one in matching):
            conflicts.append(str(entry))
        elif matching:
            _merge_entry(entry, matching[0], keeps_both=not takes_all)
        elif takes_all:
            entry.course = target
            entry.save(update_fields=["course"])
        else:
            identity = {name: getattr(entry, name) for name in (*IDENTITY, "user", "joined_at", "left_at")}
            RosterEntry.objects.create(course=target, **identity)
    if conflicts:
        lines = [_("%(name)s: the two rosters name different people or accounts.") % {"name": one} for one in conflicts]
        raise CannotHost(_("Nothing was moved. Correct one of the rosters first."), lines)
    if takes_all:
        source.roster_lists.update(course=target)
        if not RosterDraft.objects.filter(course=target).exists():
            RosterDraft.objects.filter(course=source).update(course=target)


def _merge_entry(entry: RosterEntry, into: RosterEntry, *, keeps_both: bool) -> None:
    """Fill empty fields of `into` from `entry`, the same person's in another list; delete `entry` unless both stay."""
    for name in IDENTITY:
        setattr(into, name, getattr(into, name) or getattr(entry, name))
    if into.user_id is None and entry.user_id is not None:
        into.user_id, into.joined_at = entry.user_id, entry.joined_at or database_now()
        into.join_card_digest, into.join_card_expires_at, into.mail_requested_at = "", None, None
    if not keeps_both:
        hooks.entry_merged(entry=entry, into=into)
        entry.delete()
    into.save()
