"""Conditions for submitting: refusals, and the locked state at the time of receipt.

Much can change while a file is uploaded, so the conditions are read again afterwards. That happens for each file, so
these queries read only what can change.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from leaderboard.accounts.models import User
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.competitions.models import Competition, Membership, Submission, Team

FREE_FILES_PER_DAY = 20
COOLDOWN_SECONDS = 60
"""Seconds between a team's files, after FREE_FILES_PER_DAY of a day that used no attempt."""


class SubmissionRefused(Exception):
    """A refused file: `code` for programs, `message` for the student. Nothing was stored and no attempt used."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class DuplicateFile(SubmissionRefused):
    """The team has submitted a file with the same bytes before (`earlier`); it would get the same score."""

    def __init__(self, earlier: Submission) -> None:
        super().__init__(
            "same_bytes",
            _("This is the same file as “%(file)s”, which your team submitted before.") % {"file": earlier.file_name},
        )
        self.earlier = earlier


def attempts_of_person(membership: Membership, day: date) -> int:
    """Attempts that a member used on a day, with any team, so that changing teams yields no further attempts."""
    competition = membership.competition
    since, until = competition.midnight(day), competition.midnight(day + timedelta(days=1))
    counts = _count_of_person.rows(competition=competition.pk, user_id=membership.user_id, since=since, until=until)
    return sum(row["number"] for row in counts)


@PreparedQuery
def _count_of_person(competition: int, user_id: int, since: datetime, until: datetime) -> QuerySet[Submission, Any]:
    files = Submission.objects.using_attempts().filter(competition=competition, user=user_id)
    of_day = files.filter(received_at__gte=since, received_at__lt=until)
    return of_day.order_by().values("user").annotate(number=Count("pk"))


def submit_refusal(
    competition: Competition, membership: Membership | None, at: datetime, *, closes_at: datetime | None
) -> SubmissionRefused | None:
    """The refusal at a time, earlier submissions aside; None if there is none. No query.

    With `closes_at=None` the deadline is not checked.
    """
    if competition.launched_at is None:
        return SubmissionRefused("draft", _("This competition hasn't launched yet."))
    if at < competition.opens_at:
        return SubmissionRefused("not_open", _("This competition isn't open yet."))
    if closes_at is not None and at >= closes_at and not competition.limits.allows_late:
        return SubmissionRefused("closed", _("The deadline has passed. You can't submit any more."))
    if membership is None:
        return SubmissionRefused("not_joined", _("Join the competition first."))
    if not membership.has_accepted_rules():
        return SubmissionRefused("rules", _("Accept the rules first. You'll find them on the competition's page."))
    return _refusal_by_host(competition, membership.team, at)


def _refusal_by_host(competition: Competition, team: Team, at: datetime) -> SubmissionRefused | None:
    """The refusal by a disqualification or a pause that had begun by `at`, with the host's reason; else None."""
    if team.disqualified_at is not None and team.disqualified_at <= at:
        reason = team.disqualified_reason
        return SubmissionRefused("disqualified", _("Your team is disqualified: %(reason)s") % {"reason": reason})
    if competition.limits.paused_at is not None and competition.limits.paused_at <= at:
        reason = competition.limits.pause_reason
        return SubmissionRefused("paused", _("The host has paused this competition: %(reason)s") % {"reason": reason})
    return None


def out_of_attempts(limit: int, *, by_person: bool) -> SubmissionRefused:
    if by_person:
        message = _("You've used your attempts for today, some with another team.")
        return SubmissionRefused("attempts", message)
    message = ngettext(
        "Your team has used today's attempt.",
        "Your team has used all %(number)s attempts for today.",
        limit,
    )
    return SubmissionRefused("attempts", message % {"number": limit})


def refusal_within_cooldown(membership: Membership, at: datetime) -> SubmissionRefused | None:
    """The refusal for a person who must wait a minute between files; None if they need not.

    It applies once `FREE_FILES_PER_DAY` files of the team or the person used no attempt today, because each may have
    taken the scorer's maximum time. The minute counts from the person's last file, not from teammates' files. One
    query; two after so many files.
    """
    competition = membership.competition
    day = competition.day_of(at)
    since, until = competition.midnight(day), competition.midnight(day + timedelta(days=1))
    team, user_id = membership.team_id, membership.user_id
    free = _free_files.rows(competition=competition.pk, team=team, user_id=user_id, since=since, until=until)
    if len(free) < FREE_FILES_PER_DAY:
        return None
    own = Submission.objects.of_day(competition, day).filter(user=user_id)
    if not own.filter(received_at__gt=at - timedelta(seconds=COOLDOWN_SECONDS)).exists():
        return None
    message = _(
        "Your team sent %(number)s invalid files today. Now you can submit one a minute. Try again in a minute."
    )
    return SubmissionRefused("one_a_minute", message % {"number": FREE_FILES_PER_DAY})


@PreparedQuery
def _free_files(
    competition: int, team: int, user_id: int, since: datetime, until: datetime
) -> QuerySet[Submission, Any]:
    files = Submission.objects.filter(competition=competition, received_at__gte=since, received_at__lt=until)
    free = files.filter(
        Q(team=team) | Q(user=user_id), status__in=[Submission.Status.FAILED, Submission.Status.INVALID]
    )
    return free.order_by().values("pk")[:FREE_FILES_PER_DAY]


# Further relations to load for an upload; not needed when the membership is read again under the lock.
FOR_WHOLE_UPLOAD = ("competition__archive", "competition__ground_truth")
COMPETITION_GONE = gettext_noop("This competition was deleted during your upload.")


def membership_of(competition: Competition, user: User) -> Membership | None:
    """A person's membership with team and competition, loaded with all that the conditions need; None without one."""
    return _memberships_for_upload.only_row(competition=competition.pk, user_id=user.pk)


def membership_in(slug: str, user: User) -> Membership | None:
    """Like `membership_of`, for the competition with this slug."""
    return _memberships_for_upload_by_slug.only_row(slug=slug, user_id=user.pk)


def _memberships_of(user_id: int, *related: str) -> QuerySet[Membership]:
    return Membership.objects.select_related("team", "competition__limits", *related).filter(user=user_id)


@PreparedQuery
def _memberships_for_upload(competition: int, user_id: int) -> QuerySet[Membership]:
    return _memberships_of(user_id, *FOR_WHOLE_UPLOAD).filter(competition=competition)


@PreparedQuery
def _memberships_for_upload_by_slug(slug: str, user_id: int) -> QuerySet[Membership]:
    return _memberships_of(user_id, *FOR_WHOLE_UPLOAD).filter(competition__slug=slug)


@PreparedQuery
def _memberships_again(competition: int, user_id: int) -> QuerySet[Membership]:
    return _memberships_of(user_id).filter(competition=competition)


def lock_membership(membership: Membership) -> Membership:
    """Lock the competition and read the membership again. Raises `SubmissionRefused` as `reload_membership` does.

    Until the end of the transaction dates, limits and extensions do not change. Without the lock a host could move the
    deadline and have the lateness of all files recomputed just before this file is committed.
    """
    if connection.features.has_select_for_update:  # SQLite has one writer at a time anyway
        competitions = Competition.objects.select_for_update().filter(pk=membership.competition_id)
        list(competitions.values_list("pk"))
    return reload_membership(membership)


def reload_membership(membership: Membership) -> Membership:
    """Read the membership again after the upload, because team and settings may have changed meanwhile.

    Raises `SubmissionRefused` if the competition or the membership was deleted.
    """
    reloaded = _memberships_again.only_row(competition=membership.competition_id, user_id=membership.user_id)
    if reloaded is None:
        if not Competition.objects.filter(pk=membership.competition_id).exists():
            raise SubmissionRefused("gone", _(COMPETITION_GONE))
        raise SubmissionRefused("not_joined", _("You left the competition during your upload."))
    reloaded.user = membership.user
    return reloaded
