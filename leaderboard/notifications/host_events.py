"""Notices about hosts' actions: readers, text and link. Written in the transaction of the action."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from leaderboard.accounts.models import User
from leaderboard.common.display_time import moment_text
from leaderboard.common.hooks import on
from leaderboard.competitions import hooks
from leaderboard.competitions.models import Competition, Extension, Submission, Team
from leaderboard.competitions.models.extension import effective_limits_of

from . import notices
from .models import NoticeKind
from .notices import mark_mention, notify_team


@on(hooks.deadline_changed)
def notify_deadline_change(competition: Competition, before: datetime) -> None:
    what = {
        "before": moment_text(before, competition.zone),
        "after": moment_text(competition.closes_at, competition.zone),
    }
    _notify_class(
        competition,
        NoticeKind.DEADLINE,
        lambda: _("The deadline has moved"),
        lambda: _("It was %(before)s and is now %(after)s.") % what,
    )


@on(hooks.paused)
def notify_pause(competition: Competition, reason: str) -> None:
    text = gettext_lazy(
        "You can't submit until it resumes. Earlier submissions are still scored. The host's reason: %(reason)s"
    )
    _notify_class(
        competition, NoticeKind.PAUSED, lambda: _("The competition is paused"), lambda: text % {"reason": reason}
    )


@on(hooks.resumed)
def notify_resume(competition: Competition) -> None:
    what = {"deadline": moment_text(competition.closes_at, competition.zone)}
    _notify_class(
        competition,
        NoticeKind.PAUSED,
        lambda: _("The competition has resumed"),
        lambda: _("You can submit again. The deadline is %(deadline)s.") % what,
    )


def notify_extension(extension: Extension) -> None:
    notify_team(
        extension.team,
        kind=NoticeKind.EXTENSION,
        title=lambda: _("Your team got an extension"),
        text=lambda: _extension_text(extension),
    )


def _extension_text(extension: Extension) -> str:
    given = []
    if extension.extra_attempts:
        words = ngettext(
            "%(number)s more attempt per day", "%(number)s more attempts per day", extension.extra_attempts
        )
        given.append(words % {"number": extension.extra_attempts})
    if extension.closes_at:
        deadline = moment_text(extension.closes_at, extension.team.competition.zone)
        given.append(_("a later deadline: %(deadline)s") % {"deadline": deadline})
    return _("Your team has %(given)s. The host's reason: %(reason)s") % {
        "given": _(" and ").join(given),
        "reason": extension.reason,
    }


def notify_extension_revoked(extension: Extension) -> None:
    notify_team(
        extension.team,
        kind=NoticeKind.EXTENSION,
        title=lambda: _("Your team's extension was revoked"),
        text=lambda: _revoked_extension_text(extension),
    )


def _revoked_extension_text(extension: Extension) -> str:
    text = _("The host revoked your team's extension (%(reason)s).") % {"reason": extension.reason}
    if extension.closes_at is None:
        return text
    competition = extension.team.competition
    left = effective_limits_of(extension.team_id, competition).closes_at
    return f"{text} " + _("Your deadline is now %(deadline)s. Anything submitted after it counts as late.") % {
        "deadline": moment_text(left, competition.zone)
    }


def notify_disqualification(team: Team, reason: str) -> None:
    text = gettext_lazy(
        "It's off the leaderboards and can't submit any more. Its submissions are kept. The host's reason: %(reason)s"
    )
    notify_team(
        team,
        kind=NoticeKind.DECISION,
        title=lambda: _("Your team is disqualified"),
        text=lambda: text % {"reason": reason},
    )


def notify_readmission(team: Team) -> None:
    notify_team(
        team,
        kind=NoticeKind.DECISION,
        title=lambda: _("Your team is no longer disqualified"),
        text=lambda: _("It's back on the leaderboards with its scores."),
    )


@on(hooks.submission_hidden)
def notify_submission_hidden(submission: Submission, reason: str) -> None:
    text = gettext_lazy(
        "“%(file)s” is off the leaderboards and can't be a final submission. The host's reason: %(reason)s"
    )
    what = {"file": mark_mention(submission), "reason": reason}
    _notify_about_file(submission, lambda: _("Your team's submission is hidden"), lambda: text % what)


@on(hooks.submission_shown)
def notify_submission_shown(submission: Submission) -> None:
    _notify_about_file(
        submission,
        lambda: _("Your team's submission is no longer hidden"),
        lambda: _("“%(file)s” counts again.") % {"file": mark_mention(submission)},
    )


@on(hooks.scored_again)
def notify_scored_again(competition: Competition, teams: Collection[int | None]) -> None:
    notices.notify(
        User.objects.filter(memberships__team__in=teams),
        kind=NoticeKind.RESCORED,
        competition=competition,
        title=lambda: _("Your team's submissions are being rescored"),
        text=lambda: _("They had no score yet. Their submission times stay the same."),
        link=reverse("submissions", kwargs={"slug": competition.slug}),
    )


@on(hooks.rescored)
def notify_rescored(competition: Competition, teams: Collection[int], words: str) -> int:
    return notices.notify(
        User.objects.filter(memberships__team__in=teams).distinct(),
        kind=NoticeKind.RESCORED,
        competition=competition,
        title=lambda: _("“%(title)s” was rescored") % {"title": competition.title},
        text=words or (lambda: _("The host corrected the scoring. Your team's scores or ranks have changed.")),
        link=reverse("rescored", kwargs={"slug": competition.slug}),
    )


def _notify_class(
    competition: Competition, kind: NoticeKind, title: notices.TextOrCallable, text: notices.TextOrCallable
) -> None:
    if competition.launched_at is None:
        return
    people = User.objects.filter(memberships__competition=competition)
    link = reverse("overview", kwargs={"slug": competition.slug})
    notices.notify(people, kind=kind, competition=competition, title=title, text=text, link=link)


def _notify_about_file(submission: Submission, title: notices.TextOrCallable, text: notices.TextOrCallable) -> None:
    if submission.team is not None:
        parts = {"slug": submission.team.competition.slug, "submission_id": submission.pk}
        link = reverse("submission", kwargs=parts)
        notify_team(submission.team, kind=NoticeKind.DECISION, title=title, text=text, link=link)


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
    words = gettext_lazy(
        "“%(file)s”, submitted %(when)s, couldn't be scored. It's not the student's fault.  %(why)s  Open the"
        " page to see the details and other failed submissions. We won't notify you again within the next "
        "hour."
    )
    notified = notices.notify(
        competition.hosts.all(),
        kind=NoticeKind.FILE_FAILED,
        competition=competition,
        title=lambda: _("A submission failed"),
        text=lambda: (
            words
            % {
                "file": mark_mention(submission),
                "when": moment_text(submission.received_at, competition.zone),
                "why": submission.failure_text,
            }
        ),
        link=f"/host/{competition.slug}/submissions/?status=failed",
    )
    return notified > 0
