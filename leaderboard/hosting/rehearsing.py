"""A rehearsal: made-up teams hand files in to a draft, so that its host sees the board and the grades of a whole term.

The files are made from the ground truth in a process of its own, and go the road of every file. Nothing of a rehearsal
survives: it is wiped before the launch, and no competition is launched with one.
"""

from __future__ import annotations

import json
import random
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _

from .. import child, ranking, tasks
from ..models import (
    AuditEntry,
    Competition,
    DailyAttempts,
    Deed,
    GroundTruth,
    Kind,
    Notice,
    RowReport,
    Submission,
    Team,
    User,
)
from ..models.clock import database_now
from ..storage import StoredFile, path_of, store
from ..storage import remove as remove_file
from .setting_up import CannotHost

MOST_TEAMS = 100
FEWEST_TEAMS = 2
MOST_CELLS = 3_000_000
MOST_FILES = 6
LATEST = timedelta(hours=60)


@dataclass(frozen=True)
class Made:
    """A file that a made-up team will hand in; `skill` is the share of right answers, None for one nobody can read."""

    team: int
    received_at: datetime
    skill: float | None
    is_late: bool = False


def rehearse(*, competition: Competition, user: User | None, teams: int, seed: int = 0) -> int:
    """Let so many made-up teams take part; gives the number of their files. The same seed makes the same files.

    Teams differ in skill and get better from file to file; some hand in what cannot be read, some nothing at all, and
    some, where late files are taken, come late. Receipts lie in the time to come. Raises `CannotHost`.
    """
    ruler = _ruler_of(competition, teams)
    plan = list(_plan(competition, teams, random.Random(seed), database_now()))  # noqa: S311 - nothing depends on it
    stored: list[StoredFile] = []
    try:
        for text in _texts(ruler, [made.skill for made in plan], seed):
            stored += [store([text], f"submissions/{competition.pk}")]
        with transaction.atomic():
            _hand_in(competition, plan, stored, teams, user)
    except BaseException:
        for file in stored:
            remove_file(file.key)
        raise
    competition.refresh_from_db()
    return len(plan)


def wipe_rehearsal(*, competition: Competition, user: User | None) -> None:
    """Take a rehearsal away: teams, files, scores, attempts, standings, and what was found in them.

    Raises `CannotHost` where there is none.
    """
    with transaction.atomic():
        held = Competition.objects.select_for_update().get(pk=competition.pk)
        if held.rehearsed_at is None:
            raise CannotHost(_("There is no rehearsal here."))
        made = Team.objects.filter(competition=held, is_rehearsal=True)
        files = Submission.objects.filter(team__in=made)
        keys = list(files.values_list("file_key", flat=True))
        before = {"teams": made.count(), "submissions": len(keys)}
        files.delete()
        made.delete()
        # In a draft these can be about nothing else.
        RowReport.objects.filter(ground_truth__competition=held).delete()
        Notice.objects.filter(competition=held, kind=Kind.FILE_FAILED).delete()
        Competition.objects.filter(pk=held.pk).update(rehearsed_at=None)
        for ruler in held.ground_truths.all():
            ranking.rebuild(ruler)
        AuditEntry.append(Deed.REHEARSAL_WIPED, user=user, competition=held, before=before)
    for key in keys:
        remove_file(key)
    competition.refresh_from_db()


def _ruler_of(competition: Competition, teams: int) -> GroundTruth:
    """The ground truth to rehearse with. Raises `CannotHost` with why there can be no rehearsal now."""
    ruler = competition.ground_truth
    if competition.launched_at is not None:
        raise CannotHost(_("Only a draft can be rehearsed; this competition is launched."))
    if competition.rehearsed_at is not None:
        raise CannotHost(_("There is a rehearsal already; wipe it first."))
    if ruler is None:
        raise CannotHost(_("Publish a ground truth first; the files of a rehearsal are made from it."))
    if competition.closes_at <= database_now():
        raise CannotHost(_("The deadline lies in the past; move it first."))
    most = min(MOST_TEAMS, MOST_CELLS // (ruler.rows * MOST_FILES))
    if most < FEWEST_TEAMS:
        raise CannotHost(_("The ground truth has too many rows for a rehearsal."))
    if not FEWEST_TEAMS <= teams <= most:
        numbers = {"fewest": FEWEST_TEAMS, "most": most}
        raise CannotHost(_("With this ground truth a rehearsal has %(fewest)s to %(most)s teams.") % numbers)
    return ruler


def _plan(competition: Competition, teams: int, chance: random.Random, now: datetime) -> Iterator[Made]:
    """Who hands in what and when; no team more on a day than it may."""
    begin = max(now + timedelta(minutes=1), competition.opens_at)
    span = competition.closes_at - begin
    for team in range(teams):
        if team and chance.random() < 0.08:
            continue  # somebody always forgets
        moments = sorted(begin + span * chance.random() for _file in range(chance.randint(1, MOST_FILES - 1)))
        used: dict[date, int] = {}
        skill = chance.betavariate(4, 3)
        for moment in moments:
            day = moment.astimezone(UTC).date()
            if used.get(day, 0) >= competition.daily_attempts or moment >= competition.closes_at:
                continue
            used[day] = used.get(day, 0) + 1
            is_unreadable = chance.random() < 0.12
            yield Made(team, moment, None if is_unreadable else skill)
            skill += (0.99 - skill) * chance.uniform(0, 0.25)
        if competition.allows_late and chance.random() < 0.2:
            yield Made(team, competition.closes_at + LATEST * chance.random(), skill, is_late=True)


def _texts(ruler: GroundTruth, skills: list[float | None], seed: int) -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "files.json"
        child.run(
            "simulate",
            metric=ruler.metric_key,
            truth=str(path_of(ruler.file_key, ruler.sha256)),
            params=ruler.params,
            id_column=ruler.id_column,
            secondary=ruler.secondary_asked,
            skills=skills,
            seed=seed,
            target=str(target),
        )
        return [text.encode() for text in json.loads(target.read_text(encoding="utf-8"))]


def _hand_in(
    competition: Competition, plan: list[Made], stored: list[StoredFile], teams: int, user: User | None
) -> None:
    held = Competition.objects.select_for_update(of=("self",)).select_related("ground_truth").get(pk=competition.pk)
    _ruler_of(held, teams)
    Competition.objects.filter(pk=held.pk).update(rehearsed_at=database_now())
    made = [
        Team.objects.create(
            competition=held, name=_("Rehearsal %(number)02d") % {"number": number + 1}, is_rehearsal=True
        )
        for number in range(teams)
    ]
    used: list[tuple[int, date]] = []
    for one, file in zip(plan, stored, strict=True):
        submission = Submission.objects.create(
            competition=held,
            team=made[one.team],
            file_name="rehearsal.csv",
            file_key=file.key,
            sha256=file.sha256,
            size=file.size,
            received_at=one.received_at,
            is_late=one.is_late,
            upload_key=f"rehearsal:{uuid.uuid4().hex}",
        )
        used.append((made[one.team].pk, one.received_at.astimezone(UTC).date()))
        tasks.ring_after_commit(tasks.score_submission, submission.pk, held.ground_truth_id)
    DailyAttempts.create_for(used, held.daily_attempts)
    held.touch_board()
    after = {"teams": teams, "submissions": len(plan)}
    AuditEntry.append(Deed.REHEARSED, user=user, competition=held, after=after)
