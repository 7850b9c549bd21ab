"""Notices that only time triggers: a competition opens, a deadline is a day away, a private board is open.

Checked each minute; keys make sure that each person is notified once. Events older than a day are skipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from leaderboard.accounts.models import User
from leaderboard.common import logs
from leaderboard.common.display_time import moment_text
from leaderboard.competitions.models import Competition, Extension, Membership, Submission, Team
from leaderboard.competitions.ranking import reveal, standings
from leaderboard.competitions.ranking.reveal import UnpickedFile
from leaderboard.competitions.ranking.standings import StandingCandidate

from . import notices
from .models import Notice, NoticeChoice
from .models.notice import Delivery, NoticeKind

DAY = timedelta(days=1)


def notify_due(at: datetime) -> int:
    """Write the notices that are due; gives how many were written."""
    return _notify_opened(at) + _send_reminders(at) + _notify_revealed(at)


def _notify_opened(at: datetime) -> int:
    opened = Competition.objects.filter(launched_at__isnull=False, opens_at__lte=at, opens_at__gt=at - DAY)
    return _notify_each(opened, _notify_opening)


def _notify_opening(competition: Competition) -> int:
    early = Membership.objects.filter(competition=competition, joined_at__lt=competition.opens_at)
    key = f"opened:{competition.pk}:{competition.opens_at:%Y%m%dT%H%M%S}"
    return notices.notify(
        User.objects.filter(memberships__in=_not_yet_notified(early, NoticeKind.OPENED, key)),
        kind=NoticeKind.OPENED,
        competition=competition,
        title=lambda: _("The competition is open"),
        text=lambda: _("The data can be downloaded, and files are taken."),
        link=reverse("data", kwargs={"slug": competition.slug}),
        key=key,
    )


def _notify_revealed(at: datetime) -> int:
    return _notify_each(Competition.objects.filter(revealed_at__lte=at, revealed_at__gt=at - DAY), _notify_reveal)


def _notify_reveal(competition: Competition) -> int:
    key = f"revealed:{competition.pk}:{competition.revealed_at:%Y%m%dT%H%M%S}"
    unnotified = _not_yet_notified(competition.memberships.all(), NoticeKind.REVEALED, key)
    words: tuple[tuple[QuerySet[Membership], notices.TextOrCallable], ...] = (
        (
            unnotified.filter(team__disqualified_at=None),
            lambda: _("See where your team stands in the end, and the private scores of your files."),
        ),
        (
            unnotified.filter(team__disqualified_at__isnull=False),
            lambda: _("See how the teams stand in the end. Yours is disqualified and not among them."),
        ),
    )
    return sum(
        notices.notify(
            User.objects.filter(memberships__in=members),
            kind=NoticeKind.REVEALED,
            competition=competition,
            title=lambda: _("The private board is open"),
            text=text,
            link=reverse("leaderboard", kwargs={"slug": competition.slug}),
            key=key,
        )
        for members, text in words
    )


def _notify_each(competitions: Iterable[Competition], notify: Callable[[Competition], int]) -> int:
    notified = 0
    for competition in competitions:
        with logs.log_errors(competition=competition.slug):
            notified += notify(competition)
    return notified


def _not_yet_notified(members: QuerySet[Membership], kind: NoticeKind, key: str) -> QuerySet[Membership]:
    """Whoever still has to hear it: looked at each minute, so those who have heard cost nothing."""
    mine = Notice.objects.filter(user=OuterRef("user"), key=key)
    deaf = NoticeChoice.objects.filter(user=OuterRef("user"), kind=kind, delivery=Delivery.NONE)
    return members.filter(~Exists(mine), ~Exists(deaf))


# --- a day before the close -------------------------------------------------------------------------------------


def _send_reminders(at: datetime) -> int:
    """A team's own deadline counts, so a team with more time is reminded later."""
    soon = Q(closes_at__gt=at, closes_at__lte=at + DAY)
    extended = Extension.objects.active().filter(soon, team__competition=OuterRef("pk"))
    near = Competition.objects.filter(soon | Exists(extended), launched_at__isnull=False, opens_at__lte=at)
    return _notify_each(near.select_related("ground_truth"), partial(_remind, at=at))


def _remind(competition: Competition, at: datetime) -> int:
    by_deadline: dict[datetime, list[int]] = defaultdict(list)
    longer = _extensions(competition)
    teams = Team.objects.filter(competition=competition, disqualified_at=None)
    for team_id in teams.values_list("pk", flat=True):
        closes_at = max(competition.closes_at, longer.get(team_id, competition.closes_at))
        # Nobody needs a reminder before half of the time is over.
        if closes_at > at >= max(closes_at - DAY, competition.opens_at + (closes_at - competition.opens_at) / 2):
            by_deadline[closes_at].append(team_id)
    return sum(_remind_teams(competition, teams, closes_at) for closes_at, teams in by_deadline.items())


def _extensions(competition: Competition) -> dict[int, datetime]:
    """The latest deadline granted to each team that has one."""
    granted = Extension.objects.active().filter(team__competition=competition, closes_at__isnull=False)
    found = granted.order_by("closes_at").values_list("team", "closes_at")
    return {team: closes_at for team, closes_at in found if closes_at is not None}


def _remind_teams(competition: Competition, team_ids: list[int], closes_at: datetime) -> int:
    key = f"reminder:{competition.pk}:{closes_at:%Y%m%dT%H%M%S}"
    unnotified = _not_yet_notified(
        competition.memberships.filter(team__in=team_ids), NoticeKind.REMINDER, key
    ).select_related("user")
    people: dict[int, list[User]] = defaultdict(list)
    for membership in unnotified:
        people[membership.team_id].append(membership.user)
    if not people:
        return 0
    words = _reminder_texts(competition, people)
    return sum(
        notices.notify(
            users,
            kind=NoticeKind.REMINDER,
            competition=competition,
            title=lambda: _("The deadline is near"),
            text=partial(_reminder, competition, closes_at, words[team_id].text),
            link=reverse(words[team_id].page, kwargs={"slug": competition.slug}),
            key=key,
        )
        for team_id, users in people.items()
    )


def _reminder(competition: Competition, closes_at: datetime, words: Callable[[], str]) -> str:
    deadline = moment_text(closes_at, competition.zone)
    return _("Your deadline is %(deadline)s.\n\n%(words)s") % {"deadline": deadline, "words": words()}


class _ReminderText(NamedTuple):
    """What a team is reminded of, and the page where it does something about that."""

    text: Callable[[], str]
    page: str


def _reminder_texts(competition: Competition, teams: Iterable[int]) -> dict[int, _ReminderText]:
    """What becomes of each team if it does nothing; nothing that its board keeps back."""
    ground_truth = competition.ground_truth
    picks = standings.final_submissions(ground_truth) if ground_truth is not None else {}
    wanted = [best.submission_id for team in teams for best in picks.get(team, ())]
    names = dict(Submission.objects.filter(pk__in=wanted).values_list("pk", "file_name"))
    forgotten = (
        reveal.unpicked_better_files(ground_truth, {team: picks.get(team, []) for team in teams})
        if ground_truth is not None
        else {}
    )
    return {
        team: _ReminderText(
            partial(
                _reminder_text,
                [names[best.submission_id] for best in found],
                found,
                forgotten.get(team),
                is_exact=competition.board_is_exact,
            ),
            "finals" if found else "submit",
        )
        for team in teams
        for found in [picks.get(team, [])]
    }


def _reminder_text(
    names: list[str], picks: list[StandingCandidate], forgotten: UnpickedFile | None, *, is_exact: bool
) -> str:
    if not picks:
        return _("Your team has no valid file yet.")
    files = ", ".join(f"“{name}”" for name in names)
    if not picks[0].is_picked_by_system:
        words = ngettext(
            "You picked this file as final: %(files)s.", "You picked these files as final: %(files)s.", len(names)
        )
        return " ".join([words % {"files": files}, *_forgotten_best_text(forgotten)])
    if not is_exact:
        return _("You have picked no file as final. If you do nothing, those with your best public scores are taken.")
    words = ngettext(
        "You have picked no file as final. If you do nothing, this one is taken: %(files)s.",
        "You have picked no file as final. If you do nothing, these are taken: %(files)s.",
        len(names),
    )
    return words % {"files": files}


def _forgotten_best_text(forgotten: UnpickedFile | None) -> list[str]:
    if forgotten is None:
        return []
    words = _(
        "Your best public score, %(best)s of “%(file_name)s”, is not among them. You can change your picks until then."
    )
    return [words % {"best": forgotten.score, "file_name": forgotten.file_name}]
