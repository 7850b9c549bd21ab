"""The place of a launch: which competition an activity belongs to, and the page that its person goes to."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.classroom.joining import enter_competition
from leaderboard.classroom.models import RosterDraft
from leaderboard.classroom.teams import CannotJoin, lock_teams
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.queries import locked_by_key
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import CannotHost
from leaderboard.competitions.wake_ups import wake_workers_after_commit

from . import people
from .launching import ASK_PLATFORMS, Launch, LaunchRefused
from .models import LtiLink, Seat

ROSTER_INTERVAL = timedelta(hours=1)
MAX_TRIES = 5


@dataclass(frozen=True)
class Arrival:
    """The outcome of a launch: the account to sign in, and the path to go to. `notice`: the reason for not joining."""

    user: User
    link: LtiLink
    path: str
    is_new: bool
    notice: str = ""


def arrive(launch: Launch) -> Arrival:
    """Find or make the person, and their place. Raises `LaunchRefused`; then nothing is stored."""
    for _try in range(MAX_TRIES):
        with suppress(IntegrityError):  # another launch, or an import, has just stored the same person, name or link
            return _arrive(launch)
    return _arrive(launch)


@transaction.atomic
def _arrive(launch: Launch) -> Arrival:
    links = LtiLink.objects.select_related("competition__course", "competition__ground_truth")
    link = links.filter(deployment=launch.deployment, context=launch.context, resource=launch.resource).first()
    competition = link.open_competition if link is not None else None
    if launch.is_instructor:
        return _arrive_as_teacher(launch, competition)
    if not launch.is_learner:
        raise LaunchRefused("role", reason="no_part")
    if competition is None:
        raise LaunchRefused("not connected", reason="not_connected")
    return _arrive_as_student(launch, competition)


def _arrive_as_teacher(launch: Launch, competition: Competition | None) -> Arrival:
    if competition is not None:
        account = people.find_account(launch, competition.course)
        if account is None or not competition.is_hosted_by(account):
            raise LaunchRefused("not a host", reason="ask_the_host", competition=competition)
    user, is_new = people.account_of(launch, competition.course if competition is not None else None)
    link = _save_link(launch)
    if competition is None:
        return Arrival(user, link, reverse("lti_connect"), is_new)
    is_old = link.roster_asked_at is None or link.roster_asked_at < database_now() - ROSTER_INTERVAL
    # A list in preview may be one that a host has just uploaded.
    if is_old and not RosterDraft.objects.filter(course=competition.course).exists():
        ask_for_roster(link)
    return Arrival(user, link, reverse("host_competition", args=[competition.slug]), is_new)


def _arrive_as_student(launch: Launch, competition: Competition) -> Arrival:
    lock_teams(competition.pk)
    user, is_new = people.account_of(launch, competition.course)
    link, notice = _save_link(launch), ""
    if not competition.is_run_by(user):
        people.link_to_class_list(launch, competition, user, section=link.section)
        seat = {"link": link, "subject": launch.subject}
        Seat.objects.update_or_create(competition=competition, user=user, defaults=seat)
        notice = enter(user=user, competition=competition)
    return Arrival(user, link, reverse("overview", args=[competition.slug]), is_new, notice)


def enter(*, user: User, competition: Competition) -> str:
    """Make a student on the class list a member of the competition; returns why they can't be, or ""."""
    entry = competition.course.roster.filter(user=user).first()
    if entry is None or competition.is_run_by(user):
        return ""
    if competition.launched_at is None:
        return _("This competition isn't open yet. Open the activity again later.")
    try:
        enter_competition(user=user, competition=competition, entry=entry)
    except CannotJoin as error:
        return str(error)
    return ""


def _save_link(launch: Launch) -> LtiLink:
    """The link with the addresses of the platform's services as this launch names them."""
    deployment, defaults = launch.deployment, launch.services
    return LtiLink.objects.update_or_create(
        deployment=deployment, context=launch.context, resource=launch.resource, defaults=defaults
    )[0]


# --- connecting -------------------------------------------------------------------------------------------------


def competitions_to_connect(user: User, link: LtiLink) -> list[Competition]:
    """The competitions that the person hosts; those of courses that this course of the platform uses come first."""
    near = Competition.objects.filter(lti_links__context=link.context, lti_links__deployment=link.deployment_id)
    courses = set(near.values_list("course", flat=True))
    hosted = Competition.objects.outside_bin().filter(Q(hosts=user)).order_by("-pk").distinct()
    return sorted(hosted, key=lambda one: one.course_id not in courses)


def may_make_competitions(user: User, link: LtiLink) -> bool:
    return user.is_host or link.platform.teachers_may_host


def connect(*, link: LtiLink, competition: Competition | None, user: User) -> None:
    """Connect an activity with a competition that the person hosts. Raises `CannotHost`."""
    with transaction.atomic():
        locked = LtiLink.objects.select_for_update(no_key=True).get(pk=link.pk)
        before = locked.competition
        if competition is None or not competition.is_hosted_by(user):
            raise CannotHost(_("Choose one of your competitions."))
        if before not in (None, competition) and not before.is_in_bin:
            raise CannotHost(_("This activity is connected with another competition already."))
        if before != competition:  # seats and marks of a competition that was deleted, and its column
            locked.seats.all().delete()
            locked_by_key(locked.marks.all()).delete()
            locked.lineitem, locked.out_of = "", None
        locked.competition, locked.connected_by = competition, user
        locked.save()
        AuditEntry.append(
            AuditEvent.LTI_CONNECTED, user=user, competition=competition, about=locked.context_title or locked.context
        )
        ask_for_roster(locked)


def ask_for_roster(link: LtiLink) -> None:
    """Have a worker read the platform's class list into the preview of an import."""
    if link.memberships_url:
        LtiLink.objects.filter(pk=link.pk).update(roster_asked_at=database_now(), roster_read_at=None)
        wake_workers_after_commit(ASK_PLATFORMS)


def links_to_read() -> list[int]:
    """Activities whose class list was asked for and not read yet."""
    unread = LtiLink.objects.filter(roster_read_at=None, deployment__platform__off_at=None)
    unread = unread.exclude(roster_asked_at=None).exclude(competition=None).exclude(memberships_url="")
    return list(unread.values_list("pk", flat=True)[:20])
