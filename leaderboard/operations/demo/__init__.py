"""Three competitions to look at: one live, one finished, one that opens next week.

Each folder here is a competition in the import format. The folder `digits` also holds a class: `teams.csv`,
`submissions.csv` and the files in `submissions.zip`.

Everything is marked: competitions by `is_demo`, people by an address in `demo.invalid`. None of these people can sign
in. A competition is launched last, so a demo competition without a launch was interrupted and is made again.
"""

from __future__ import annotations

import csv
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zipfile import ZipFile

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.storage import store_file
from leaderboard.competitions import tasks
from leaderboard.competitions.models import Competition, DailyAttempts, Membership, Submission, Team
from leaderboard.competitions.ranking import reveal
from leaderboard.competitions.scoring import score
from leaderboard.competitions.services import competitions as competitions_services
from leaderboard.competitions.services import folders, launches

__all__ = ["CLASS", "TEAMS", "demo_lock", "make_demo", "make_demo_competition", "remove_demo", "score_here"]

FOLDER = Path(__file__).parent
EMAIL_DOMAIN = "demo.invalid"
HOST = "demo-host"
CLASS = "digits"
TEAMS = 24
"""In the class."""


@dataclass(frozen=True)
class DemoDates:
    """Days from now; a demo that is launched late was launched when it opened."""

    opens: int
    closes: int


CALENDARS = {
    "plant-pathology-2021": DemoDates(opens=-7, closes=60),
    "bike-rides": DemoDates(opens=7, closes=35),
    CLASS: DemoDates(opens=-23, closes=-2),
}


def make_demo(*, teams: int, report: Callable[[str], None]) -> list[Competition]:
    """Make what is missing and queue its files; gives the competitions that were made."""
    made = []
    for slug in CALENDARS:
        if _is_wanted(slug, report):
            competition = make_demo_competition(slug, teams=teams)
            report(f"Made “{competition}”.")
            made.append(competition)
    if made:
        tasks.wake_workers(tasks.sweep)
    return made


def make_demo_competition(slug: str, *, teams: int = TEAMS) -> Competition:
    """Import a folder and launch it; the first `teams` of the class take part in its competition."""
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    calendar = CALENDARS[slug]
    opens_at, closes_at = now + timedelta(days=calendar.opens), now + timedelta(days=calendar.closes)
    competition = folders.import_folder(FOLDER / slug, user=demo_user(HOST))
    # A launch wants a deadline to come, so that of a finished competition is set after it.
    _set_demo_dates(competition, is_demo=True, opens_at=opens_at, closes_at=max(closes_at, now + timedelta(days=1)))
    if slug == CLASS:
        with transaction.atomic():
            _enrol_teams(competition, teams)
            _store_past_submissions(competition)
    launches.launch_competition(competition=competition)
    _set_demo_dates(competition, launched_at=min(opens_at, now), closes_at=closes_at)
    return competition


def score_here() -> int:
    """Score what waits in the demo competitions in this process, and reveal what is due."""
    waiting = Submission.objects.filter(competition__is_demo=True, status=Submission.Status.PENDING)
    keys = list(waiting.order_by("received_at").values_list("pk", flat=True))
    for key in keys:
        score.score_submission(key)
    for competition in Competition.objects.filter(is_demo=True, slug=CLASS, revealed_at=None):
        reveal.reveal_private_board(competition, competition.closes_at)
    return len(keys)


def remove_demo() -> int:
    """Delete everything that a demo ever made; gives the number of competitions."""
    of_a_demo = Q(is_demo=True) | Q(hosts__email=f"{HOST}@{EMAIL_DOMAIN}", launched_at=None)
    competitions = list(Competition.objects.filter(of_a_demo).distinct())
    for competition in competitions:
        competitions_services.delete_competition(competition=competition)
    User.objects.filter(email__endswith=f"@{EMAIL_DOMAIN}").delete()
    return len(competitions)


@contextmanager
def demo_lock() -> Iterator[None]:
    """Wait until no other process makes or removes the demo; it would take our half for an interrupted one."""
    folder = Path(settings.FILES_DIR).parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / "demo.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def demo_user(name: str) -> User:
    """A person who cannot sign in; `name` stays free for real people who were here first."""
    email = f"{name}@{EMAIL_DOMAIN}"
    user = User.objects.filter(email=email).first()
    if user is None:
        is_taken = User.objects.filter(username__iexact=name).exists()
        user = User(username=f"demo-{name}" if is_taken else name, email=email)
        user.set_unusable_password()
        user.save()
    return user


def _is_wanted(slug: str, report: Callable[[str], None]) -> bool:
    existing = Competition.objects.filter(slug=slug).first()
    if existing is None:
        return True
    if existing.launched_at is None and existing.hosts.filter(email=f"{HOST}@{EMAIL_DOMAIN}").exists():
        competitions_services.delete_competition(competition=existing)
        return True
    report(f"“{existing}” is there already.")
    return False


def _set_demo_dates(competition: Competition, **fields: bool | datetime) -> None:
    """Without the services: they know only the present, and no demo."""
    Competition.objects.filter(pk=competition.pk).update(**fields)
    competition.refresh_from_db()


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / CLASS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _enrol_teams(competition: Competition, teams: int) -> None:
    members: dict[str, list[str]] = {}
    for row in _rows("teams.csv"):
        members.setdefault(row["team"], []).append(row["user"])
    for name, people in list(members.items())[:teams]:
        users = [demo_user(person) for person in people]
        team = Team.objects.create(competition=competition, name=name, captain=users[0])
        Membership.objects.bulk_create(
            Membership(
                team=team,
                competition=competition,
                user=user,
                rules_version=competition.rules_version,
                rules_accepted_at=competition.opens_at,
                joined_at=competition.opens_at,
            )
            for user in users
        )


def _store_past_submissions(competition: Competition) -> None:
    """Store the files of the class as they were received in the past: `submitting` knows only the present."""
    teams = {team.name: team for team in competition.teams.all()}
    used: list[tuple[int, date]] = []
    with ZipFile(FOLDER / CLASS / "submissions.zip") as files:
        for row in _rows("submissions.csv"):
            if (team := teams.get(row["team"])) is None:
                continue
            received_at = competition.opens_at + timedelta(minutes=int(row["minutes_after_opening"]))
            stored = store_file([files.read(f"{team.name}/{row['file']}")], f"submissions/{competition.pk}")
            Submission.objects.create(
                competition=competition,
                team=team,
                user=demo_user(row["user"]),
                note=row["note"],
                file_name=row["file"],
                file_key=stored.key,
                sha256=stored.sha256,
                size=stored.size,
                received_at=received_at,
                upload_key=f"demo:{team.pk}:{row['file']}",
                is_selected=row["is_selected"] == "1",
            )
            used.append((team.pk, received_at.astimezone(UTC).date()))
    # The worker gives the attempts of invalid files back, as it does for any file.
    DailyAttempts.create_for(used, competition.limits.daily_attempts)
