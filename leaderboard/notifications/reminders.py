"""Notices that are due by the clock: a competition has opened, a deadline is near, the private board was revealed.

Checked each minute; keys make sure that each person is notified once. Events older than a day are skipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.accounts.models import User
from leaderboard.boards import reveal, standings
from leaderboard.boards.reveal import UnpickedFile
from leaderboard.boards.standings import StandingCandidate
from leaderboard.common import logs
from leaderboard.common.display_time import moment_text
from leaderboard.competitions.models import Competition, Extension, Membership, Submission, Team

from . import notices
from .models import Delivery, Notice, NoticeChoice, NoticeKind

DAY = timedelta(days=1)


def notify_due(at: datetime) -> int:
    """Write the notices that are due at this time; returns how many were written."""
    launched = Competition.objects.outside_bin().filter(launched_at__isnull=False, opens_at__lte=at)
    opened = launched.filter(opens_at__gt=at - DAY)
    # Teams with an extension are reminded before their later deadline.
    soon = Q(closes_at__gt=at, closes_at__lte=at + DAY)
    extended = Extension.objects.active().filter(soon, team__competition=OuterRef("pk"))
    near = launched.filter(soon | Exists(extended)).select_related("ground_truth")
    revealed = Competition.objects.outside_bin().filter(revealed_at__lte=at, revealed_at__gt=at - DAY)
    return (
        _notify_each(opened, _notify_opening)
        + _notify_each(near, partial(_remind, at=at))
        + _notify_each(revealed, _notify_reveal)
    )


def _notify_opening(competition: Competition) -> int:
    early = Membership.objects.filter(competition=competition, joined_at__lt=competition.opens_at)
    key = f"opened:{competition.pk}:{competition.opens_at:%Y%m%dT%H%M%S}"
    return notices.notify(
        User.objects.filter(memberships__in=_not_yet_notified(early, NoticeKind.OPENED, key)),
        kind=NoticeKind.OPENED,
        competition=competition,
        title=lambda: _("The competition is open"),
        text=lambda: _("You can download the data and submit."),
        link=reverse("data", kwargs={"slug": competition.slug}),
        key=key,
    )


def _notify_reveal(competition: Competition) -> int:
    key = f"revealed:{competition.pk}:{competition.revealed_at:%Y%m%dT%H%M%S}"
    unnotified = _not_yet_notified(competition.memberships.all(), NoticeKind.REVEALED, key)
    words = {
        True: gettext_lazy("See your team's final rank and your private scores."),
        False: gettext_lazy("See the final ranking. Your team is disqualified and not ranked."),
    }
    return sum(
        notices.notify(
            User.objects.filter(memberships__in=unnotified.filter(team__disqualified_at__isnull=is_ranked)),
            kind=NoticeKind.REVEALED,
            competition=competition,
            title=lambda: _("The private leaderboard is open"),
            text=partial(str, text),
            link=reverse("leaderboard", kwargs={"slug": competition.slug}),
            key=key,
        )
        for is_ranked, text in words.items()
    )


def _notify_each(competitions: Iterable[Competition], notify: Callable[[Competition], int]) -> int:
    notified = 0
    for competition in competitions:
        with logs.log_errors(competition=competition.slug):
            notified += notify(competition)
    return notified


def _not_yet_notified(members: QuerySet[Membership], kind: NoticeKind, key: str) -> QuerySet[Membership]:
    """Members without this notice who have not switched its kind off.

    Filtered in the query, because it runs each minute and most members have been notified.
    """
    mine = Notice.objects.filter(user=OuterRef("user"), key=key)
    deaf = NoticeChoice.objects.filter(user=OuterRef("user"), kind=kind, delivery=Delivery.NONE)
    return members.filter(~Exists(mine), ~Exists(deaf))


# --- a day before the close -------------------------------------------------------------------------------------


def _remind(competition: Competition, at: datetime) -> int:
    by_deadline: dict[datetime, list[int]] = defaultdict(list)
    granted = Extension.objects.active().filter(team__competition=competition, closes_at__isnull=False)
    # Sorted, so that the latest deadline of a team overwrites earlier ones.
    longer = {one.team_id: one.closes_at for one in granted.order_by("closes_at") if one.closes_at is not None}
    teams = Team.objects.filter(competition=competition, disqualified_at=None)
    for team_id in teams.values_list("pk", flat=True):
        closes_at = max(competition.closes_at, longer.get(team_id, competition.closes_at))
        # One day before the deadline, but not in the first half of a short competition.
        if closes_at > at >= max(closes_at - DAY, competition.opens_at + (closes_at - competition.opens_at) / 2):
            by_deadline[closes_at].append(team_id)
    return sum(_remind_teams(competition, teams, closes_at) for closes_at, teams in by_deadline.items())


def _remind_teams(competition: Competition, team_ids: list[int], closes_at: datetime) -> int:
    """Remind teams of their deadline, and of the final submissions that count so far; returns the number of notices.

    On a hidden board files picked by the system are not named, because that would reveal the best ones.
    """
    key = f"reminder:{competition.pk}:{closes_at:%Y%m%dT%H%M%S}"
    members = competition.memberships.filter(team__in=team_ids)
    people: dict[int, list[User]] = defaultdict(list)
    for membership in _not_yet_notified(members, NoticeKind.REMINDER, key).select_related("user"):
        people[membership.team_id].append(membership.user)
    if not people:
        return 0
    picks: dict[int, list[StandingCandidate]] = {team: [] for team in people}
    forgotten: dict[int, UnpickedFile] = {}
    if (ground_truth := competition.ground_truth) is not None:
        found = standings.final_submissions(ground_truth)
        picks = {team: found.get(team, []) for team in people}
        forgotten = reveal.unpicked_better_files(ground_truth, picks)
    wanted = [best.submission_id for chosen in picks.values() for best in chosen]
    names = dict(Submission.objects.filter(pk__in=wanted).values_list("pk", "file_name"))
    notified = 0
    for team_id, users in people.items():
        files = [names[best.submission_id] for best in picks[team_id]]
        page = "finals" if files else "submit"
        notified += notices.notify(
            users,
            kind=NoticeKind.REMINDER,
            competition=competition,
            title=lambda: _("The deadline is near"),
            text=partial(_reminder_text, competition, closes_at, files, picks[team_id], forgotten.get(team_id)),
            link=reverse(page, kwargs={"slug": competition.slug}),
            key=key,
        )
    return notified


def _reminder_text(
    competition: Competition,
    closes_at: datetime,
    names: list[str],
    picks: list[StandingCandidate],
    forgotten: UnpickedFile | None,
) -> str:
    deadline = moment_text(closes_at, competition.zone)
    words = _picks_text(names, picks, forgotten, names_files=not competition.board_is_hidden)
    return _("Your deadline is %(deadline)s.\n\n%(words)s") % {"deadline": deadline, "words": words}


def _picks_text(
    names: list[str], picks: list[StandingCandidate], forgotten: UnpickedFile | None, *, names_files: bool
) -> str:
    if not picks:
        return _("Your team has no valid submission yet.")
    files = {"files": ", ".join(f"“{name}”" for name in names)}
    if picks[0].is_picked_by_system and not names_files:
        return _("You haven't chosen final submissions. If you don't choose, your best public submissions are used.")
    if picks[0].is_picked_by_system:
        words = ngettext(
            "You haven't chosen final submissions. If you don't choose, this one is used: %(files)s.",
            "You haven't chosen final submissions. If you don't choose, these are used: %(files)s.",
            len(names),
        )
        return words % files
    words = ngettext(
        "You chose this final submission: %(files)s.", "You chose these final submissions: %(files)s.", len(names)
    )
    if forgotten is None:
        return words % files
    better = _(
        "Your best public score, %(best)s from “%(file_name)s”, isn't among them. You can change your choice "
        "until the deadline."
    )
    return f"{words % files} " + better % {"best": forgotten.score, "file_name": forgotten.file_name}
