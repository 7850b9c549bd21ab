"""Notices about events in the rooms below: actions of hosts, in their transaction, and events due by the clock.

Those due by the clock are looked for each minute; keys make sure that each person is notified once. Events older than a
day are skipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.accounts.models import User
from leaderboard.boards import ranking, reveal
from leaderboard.boards.reveal import UnpickedFile
from leaderboard.common import logs
from leaderboard.common.display_time import moment_text
from leaderboard.common.hooks import on
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Competition, Extension, Limits, Membership, Standing, Submission, Team
from leaderboard.competitions.models.extension import effective_limits_of, effective_limits_of_teams
from leaderboard.submissions import attachments

from . import kinds
from .kinds import Delivery, NoticeKind
from .models import Notice, NoticeChoice
from .services import notify_class, notify_people, notify_team

DAY = timedelta(days=1)


@on(hooks.deadline_changed)
def notify_deadline_change(competition: Competition, before: datetime, extensions: Sequence[Extension]) -> None:
    notify_class(kinds.DEADLINE_MOVED, competition, before=before, after=competition.closes_at)
    for extension in extensions:
        notify_team(kinds.EXTENSION_MOVED, extension.team, deadline=extension.closes_at)


@on(hooks.competition_paused)
def notify_pause(competition: Competition, reason: str) -> None:
    notify_class(kinds.PAUSED, competition, reason=reason)


@on(hooks.competition_resumed)
def notify_resume(competition: Competition) -> None:
    notify_class(kinds.RESUMED, competition, deadline=competition.closes_at)


def notify_extension(extension: Extension) -> None:
    grants = partial(_grants_text, extension)
    notify_team(kinds.EXTENSION_GRANTED, extension.team, grants=grants, reason=extension.reason)


def _grants_text(extension: Extension) -> str:
    grants = []
    if extension.extra_attempts:
        attempts = ngettext(
            "%(number)s more attempt per day", "%(number)s more attempts per day", extension.extra_attempts
        )
        grants.append(attempts % {"number": extension.extra_attempts})
    if extension.closes_at:
        deadline = moment_text(extension.closes_at, extension.team.competition.zone)
        grants.append(_("a later deadline: %(deadline)s") % {"deadline": deadline})
    return _(" and ").join(grants)


@on(hooks.extension_ended)
def notify_extension_ended(extension: Extension) -> None:
    notice = kinds.EXTENSION_ENDED if extension.closes_at is None else kinds.EXTENDED_DEADLINE_ENDED
    deadline = effective_limits_of(extension.team_id, extension.team.competition).closes_at
    notify_team(notice, extension.team, reason=extension.reason, deadline=deadline)


@on(hooks.submission_hidden)
def notify_submission_hidden(submission: Submission, reason: str) -> None:
    if submission.team is not None:
        notify_team(
            kinds.SUBMISSION_HIDDEN, submission.team, file=submission, submission_id=submission.pk, reason=reason
        )


@on(hooks.submission_shown)
def notify_submission_shown(submission: Submission) -> None:
    if submission.team is not None:
        notify_team(kinds.SUBMISSION_SHOWN, submission.team, file=submission, submission_id=submission.pk)


@on(hooks.scored_again)
def notify_scored_again(competition: Competition, teams: Collection[int | None]) -> None:
    notify_people(kinds.SCORED_AGAIN, User.objects.filter(memberships__team__in=teams), competition=competition)


@on(hooks.rescored)
def notify_rescored(competition: Competition, teams: Collection[int], message: str) -> int:
    notice = kinds.RESCORED_WITH_MESSAGE if message else kinds.RESCORED
    people = User.objects.filter(memberships__team__in=teams).distinct()
    return notify_people(notice, people, competition=competition, message=message)


# A broken metric fails every file of a class; hosts get one notice per hour.
QUIET_PERIOD = timedelta(hours=1)


@on(hooks.scoring_failed)
def notify_hosts_of_failure(submission_id: UUID) -> bool:
    """Notify the hosts that a file failed, at most once per hour and competition; returns whether they were."""
    failed = Submission.objects.filter(status=Submission.Status.FAILED)
    submission = failed.select_related("competition").filter(pk=submission_id).first()
    if submission is None:
        return False
    competition = submission.competition
    lately = failed.filter(competition=competition, finished_at__gt=Now() - QUIET_PERIOD)
    if min(lately.values_list("finished_at", "pk"), default=(None, None))[1] != submission.pk:
        return False
    notified = notify_people(
        kinds.SCORING_FAILED,
        competition.hosts.all(),
        competition=competition,
        file=submission,
        time=submission.received_at,
        reason=lambda: submission.failure_text,
    )
    return notified > 0


# --- due by the clock -------------------------------------------------------------------------------------------


def notify_due(at: datetime) -> int:
    """Write the notices that are due at this time; returns how many were written."""
    launched = Competition.objects.outside_bin().filter(launched_at__isnull=False, opens_at__lte=at)
    opened = launched.filter(opens_at__gt=at - DAY)
    # Teams with an extension are reminded before their later deadline.
    soon = Q(closes_at__gt=at, closes_at__lte=at + DAY)
    extended = Extension.objects.filter(soon, team__competition=OuterRef("pk"))
    near = launched.filter(soon | Exists(extended)).select_related("ground_truth")
    # Late teams are notified when they are in the ranking too.
    added = Extension.objects.filter(team__competition=OuterRef("pk"), closes_at__lte=at, closes_at__gt=at - DAY)
    revealed = Competition.objects.outside_bin().filter(revealed_at__lte=at)
    revealed = revealed.filter(Q(revealed_at__gt=at - DAY) | Exists(added))
    return (
        _notify_each(opened, _notify_opening)
        + _notify_each(near, partial(_notify_before_deadline, at=at))
        + _notify_each(revealed, _notify_reveal)
        + _notify_each(_lately_with_attachments(launched, at), partial(_notify_missing_attachments, at=at))
    )


def _notify_opening(competition: Competition) -> int:
    early = Membership.objects.filter(competition=competition, joined_at__lt=competition.opens_at)
    key = f"opened:{competition.pk}:{competition.opens_at:%Y%m%dT%H%M%S}"
    members = _not_yet_notified(early, NoticeKind.OPENED, key)
    people = User.objects.filter(memberships__in=members)
    return notify_people(kinds.OPENED, people, competition=competition, key=key)


def _notify_reveal(competition: Competition) -> int:
    key = f"revealed:{competition.pk}:{competition.revealed_at:%Y%m%dT%H%M%S}"
    members = _not_yet_notified(competition.memberships.filter(team__is_awaited=False), NoticeKind.REVEALED, key)
    ranked = User.objects.filter(memberships__in=members.filter(team__disqualified_at=None))
    unranked = User.objects.filter(memberships__in=members.exclude(team__disqualified_at=None))
    notified = notify_people(kinds.REVEALED, ranked, competition=competition, key=key)
    return notified + notify_people(kinds.REVEALED_UNRANKED, unranked, competition=competition, key=key)


def _notify_each(competitions: Iterable[Competition], notify_one: Callable[[Competition], int]) -> int:
    notified = 0
    for competition in competitions:
        with logs.log_errors(competition=competition.slug):
            notified += notify_one(competition)
    return notified


def _not_yet_notified(members: QuerySet[Membership], kind: NoticeKind, key: str) -> QuerySet[Membership]:
    """Members without this notice who have not switched its kind off.

    Filtered in the query, because it runs each minute and most members have been notified.
    """
    notified = Notice.objects.filter(user=OuterRef("user"), key=key)
    switched_off = NoticeChoice.objects.filter(user=OuterRef("user"), kind=kind, delivery=Delivery.NONE)
    return members.filter(~Exists(notified), ~Exists(switched_off))


def _lately_with_attachments(launched: QuerySet[Competition], at: datetime) -> QuerySet[Competition]:
    """Competitions that require attachments and in which a team may still have a day to attach one."""
    since = at - timedelta(hours=Limits.MAX_ATTACHMENT_HOURS)
    extended = Extension.objects.filter(team__competition=OuterRef("pk"), closes_at__gt=since)
    required = launched.filter(limits__attachments=Limits.Attachments.REQUIRED, closes_at__lte=at + DAY)
    return required.filter(Q(closes_at__gt=since) | Exists(extended)).select_related("ground_truth", "limits", "board")


def _notify_missing_attachments(competition: Competition, at: datetime) -> int:
    """Remind teams without an attachment once, in the last day of their time; returns the number of notices."""
    key = f"attachment:{competition.pk}"
    missing = attachments.finals_without_attachment(competition)
    limits = effective_limits_of_teams(dict.fromkeys(missing, competition))
    by_deadline: dict[datetime, list[int]] = defaultdict(list)
    for team_id, team_limits in limits.items():
        closes_at = attachments.attachments_close_at(competition, team_limits.closes_at)
        if closes_at - DAY <= at < closes_at:
            by_deadline[closes_at].append(team_id)
    notified = 0
    for closes_at, team_ids in by_deadline.items():
        members = competition.memberships.filter(team__in=team_ids)
        people = User.objects.filter(memberships__in=_not_yet_notified(members, NoticeKind.REMINDER, key))
        notified += notify_people(
            kinds.ATTACHMENT_MISSING, people, competition=competition, key=key, deadline=closes_at
        )
    return notified


# --- a day before the close -------------------------------------------------------------------------------------


def _notify_before_deadline(competition: Competition, at: datetime) -> int:
    by_deadline: dict[datetime, list[int]] = defaultdict(list)
    extensions = Extension.objects.filter(team__competition=competition, closes_at__isnull=False)
    # Sorted, so that the latest deadline of a team overwrites earlier ones.
    longer = dict(extensions.order_by("closes_at").values_list("team", "closes_at"))
    teams = Team.objects.filter(competition=competition, disqualified_at=None)
    for team_id in teams.values_list("pk", flat=True):
        closes_at = max(competition.closes_at, longer.get(team_id) or competition.closes_at)
        # One day before the deadline, but not in the first half of a short competition.
        if closes_at > at >= max(closes_at - DAY, competition.opens_at + (closes_at - competition.opens_at) / 2):
            by_deadline[closes_at].append(team_id)
    return sum(_notify_teams_before_deadline(competition, teams, closes_at) for closes_at, teams in by_deadline.items())


def _notify_teams_before_deadline(competition: Competition, team_ids: list[int], closes_at: datetime) -> int:
    """Remind teams of their deadline, and of the final submissions that count so far; returns the number of notices.

    On a hidden board files picked by the system are not named, because that would reveal the best ones.
    """
    key = f"{kinds.REMINDER_KEY}{competition.pk}:{closes_at.astimezone(UTC):%Y%m%dT%H%M%S}"
    members = competition.memberships.filter(team__in=team_ids)
    people: dict[int, list[User]] = defaultdict(list)
    for membership in _not_yet_notified(members, NoticeKind.REMINDER, key).select_related("user"):
        people[membership.team_id].append(membership.user)
    if not people:
        return 0
    picks: dict[int, list[Standing]] = {team: [] for team in people}
    better_files: dict[int, UnpickedFile] = {}
    if (ground_truth := competition.ground_truth) is not None:
        finals = ranking.final_submissions(ground_truth)
        picks = {team: finals.get(team, []) for team in people}
        better_files = reveal.unpicked_better_files(ground_truth, picks)
    file_ids = [pick.submission_id for chosen in picks.values() for pick in chosen]
    names = dict(Submission.objects.filter(pk__in=file_ids).values_list("pk", "file_name"))
    notified = 0
    for team_id, users in people.items():
        files = [names[pick.submission_id] for pick in picks[team_id]]
        notified += notify_people(
            kinds.DEADLINE_NEAR,
            users,
            competition=competition,
            key=key,
            page="finals" if files else "submit",
            deadline=closes_at,
            finals=partial(
                _finals_text,
                files,
                picks[team_id],
                better_files.get(team_id),
                names_files=not competition.board_is_hidden,
            ),
        )
    return notified


def _finals_text(
    names: list[str], picks: list[Standing], better_file: UnpickedFile | None, *, names_files: bool
) -> str:
    if not picks:
        return _("Your team has no valid submission yet.")
    files = {"files": ", ".join(f"“{name}”" for name in names)}
    if picks[0].is_picked_by_system and not names_files:
        return _(
            "No final submissions were chosen before this notice. "
            "If you don't choose, your best public submissions are used."
        )
    if picks[0].is_picked_by_system:
        text = ngettext(
            "No final submissions were chosen before this notice. If you don't choose, this one is used: %(files)s.",
            "No final submissions were chosen before this notice. If you don't choose, these are used: %(files)s.",
            len(names),
        )
        return text % files
    text = ngettext(
        "You chose this final submission: %(files)s.", "You chose these final submissions: %(files)s.", len(names)
    )
    if better_file is None:
        return text % files
    better = _(
        "Your best public score, %(best)s from “%(file_name)s”, isn't among them. You can change your choice "
        "until the deadline."
    )
    return f"{text % files} " + better % {"best": better_file.score, "file_name": better_file.file_name}
