"""The place of a launch: which competition an activity belongs to, and the page that its person goes to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.accounts.people import set_can_host
from leaderboard.classroom.joining import enter_competition
from leaderboard.classroom.teams import CannotJoin
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import CannotHost
from leaderboard.competitions.wake_ups import wake_workers_after_commit

from . import people
from .launching import Launch, LaunchRefused
from .models import LtiLink, Seat

READ_ROSTER = "leaderboard.lti.tasks.read_roster"
ROSTER_INTERVAL = timedelta(hours=1)


class Place(Enum):
    """The page after a launch."""

    COMPETITION = auto()
    DASHBOARD = auto()
    CONNECT = auto()


@dataclass(frozen=True)
class Arrival:
    """The outcome of a launch: who is signed in, and where they go. `notice`: why they could not join."""

    user: User
    place: Place
    link: LtiLink
    is_new: bool
    notice: str = ""


@transaction.atomic
def arrive(launch: Launch) -> Arrival:
    """Find or make the person, and their place. Raises `LaunchRefused`; then nothing is stored."""
    links = LtiLink.objects.select_related("competition__course", "competition__ground_truth")
    link = links.filter(deployment=launch.deployment, context=launch.context, resource=launch.resource).first()
    competition = link.competition if link is not None else None
    if competition is not None and competition.is_in_bin:
        competition = None
    if launch.is_instructor:
        return _arrive_as_teacher(launch, link, competition)
    if not launch.is_learner:
        raise LaunchRefused("role", status=403, reason="no_part")
    if link is None or competition is None:
        raise LaunchRefused("not connected", status=403, reason="not_connected")
    return _arrive_as_student(launch, link, competition)


def _arrive_as_teacher(launch: Launch, link: LtiLink | None, competition: Competition | None) -> Arrival:
    if link is None or competition is None:
        user, is_new = people.account_of(launch, None)
        return Arrival(user, Place.CONNECT, _save_link(launch, link), is_new)
    account = people.find_account(launch, competition.course)
    if account is None or not competition.is_hosted_by(account):
        raise LaunchRefused("not a host", status=403, reason="ask_the_host")
    user, is_new = people.account_of(launch, competition.course)
    link = _save_link(launch, link)
    if link.roster_read_at is None or link.roster_read_at < database_now() - ROSTER_INTERVAL:
        ask_for_roster(link)
    return Arrival(user, Place.DASHBOARD, link, is_new)


def _arrive_as_student(launch: Launch, link: LtiLink, competition: Competition) -> Arrival:
    user, is_new = people.account_of(launch, competition.course)
    link = _save_link(launch, link)
    notice = ""
    if not competition.is_run_by(user):
        entry = people.link_to_class_list(launch, competition, user, section=_section_of(link))
        Seat.objects.update_or_create(competition=competition, user=user, defaults={"link": link})
        try:
            if competition.launched_at is None:
                raise CannotJoin(_("This competition isn't open yet. Open the activity again later."))
            enter_competition(user=user, competition=competition, entry=entry)
        except CannotJoin as error:
            notice = str(error)
    return Arrival(user, Place.COMPETITION, link, is_new, notice)


def _section_of(link: LtiLink) -> str:
    """The title of the platform's course as section, if several of its courses share the competition."""
    others = LtiLink.objects.filter(competition=link.competition_id).exclude(
        deployment=link.deployment_id, context=link.context
    )
    return link.context_title if others.exists() else ""


def _save_link(launch: Launch, link: LtiLink | None) -> LtiLink:
    """The link with the addresses of the platform's services as this launch names them."""
    facts = {
        "context_title": launch.context_title,
        "memberships_url": launch.memberships_url,
        "lineitems_url": launch.lineitems_url,
        "claimed_lineitem": launch.lineitem,
        "seen_at": database_now(),
    }
    saved, _made = LtiLink.objects.update_or_create(
        deployment=launch.deployment, context=launch.context, resource=launch.resource, defaults=facts
    )
    if link is not None:
        saved.competition = link.competition
    saved.deployment = launch.deployment
    return saved


# --- connecting -------------------------------------------------------------------------------------------------


def competitions_to_connect(user: User, link: LtiLink) -> list[Competition]:
    """The competitions that the person hosts; those of courses that this course of the platform uses come first."""
    near = Competition.objects.filter(lti_links__context=link.context, lti_links__deployment=link.deployment_id)
    courses = set(near.values_list("course", flat=True))
    hosted = Competition.objects.outside_bin().filter(Q(hosts=user)).order_by("-pk").distinct()
    return sorted(hosted, key=lambda one: one.course_id not in courses)


def may_make_competitions(user: User, link: LtiLink) -> bool:
    return user.is_host or link.platform.teachers_may_host


def connect(*, link: LtiLink, competition: Competition, user: User) -> None:
    """Connect an activity with a competition that the person hosts. Raises `CannotHost`."""
    with transaction.atomic():
        locked = LtiLink.objects.select_for_update().get(pk=link.pk)
        if not competition.is_hosted_by(user) or (locked.competition_id not in (None, competition.pk)):
            raise CannotHost("")
        LtiLink.objects.filter(pk=link.pk).update(competition=competition, connected_by=user)
        AuditEntry.append(
            AuditEvent.LTI_CONNECTED, user=user, competition=competition, about=locked.context_title or locked.context
        )
        ask_for_roster(locked)


def allow_hosting(*, user: User, link: LtiLink) -> None:
    """Let a teacher of a platform whose teachers may host make competitions."""
    if not user.is_host and link.platform.teachers_may_host:
        set_can_host(account=user, can_host=True, user=None)


def ask_for_roster(link: LtiLink) -> None:
    """Have a worker read the platform's class list into the preview of an import."""
    if link.memberships_url:
        LtiLink.objects.filter(pk=link.pk).update(roster_asked_at=database_now())
        wake_workers_after_commit(READ_ROSTER, link.pk)


def links_to_read() -> list[int]:
    """Activities whose class list was asked for and not read yet."""
    waiting = LtiLink.objects.filter(roster_asked_at__isnull=False, competition__isnull=False)
    unread = waiting.filter(Q(roster_read_at=None) | Q(roster_read_at__lt=F("roster_asked_at")))
    return list(unread.exclude(memberships_url="").values_list("pk", flat=True)[:20])
