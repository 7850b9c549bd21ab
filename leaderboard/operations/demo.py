"""Demonstration competitions: one live, one finished, and a draft that is ready to launch.

Each folder here is a competition in the import format. The folder `digits` also holds a class: `teams.csv`,
`submissions.csv` and the files in `submissions.zip`. The same class takes part in the live competition, with files that
are generated here; one more arrives each minute until it closes.

Everything is marked: competitions by `is_demo`, people by an address in `demo.invalid`. None of these people can sign
in. `is_demo` is set last, so a competition of the demo's host without it was interrupted and is made again.
"""

from __future__ import annotations

import csv
import fcntl
import io
import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from zipfile import ZipFile

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.storage import store_file
from leaderboard.competitions import services as competitions_services
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import Competition, DailyAttempts, Membership, Submission, Team
from leaderboard.ground_truths.services import folders, publishing
from leaderboard.submissions import submitting
from leaderboard.submissions.submit_conditions import SubmissionRefused

FOLDER = Path(__file__).parent / "demo_competitions"
EMAIL_DOMAIN = "demo.invalid"
HOST = "demo-host"
CLASS, LIVE, DRAFT = "digits", "bike-rides", "plant-pathology-2021"
DAYS = {LIVE: (-9, 60), CLASS: (-23, -2), DRAFT: (0, 21)}
"""Opening and deadline of each competition in days from now. A competition counts as launched when it opened."""
TEAMS = 24
MAX_SUBMISSIONS = 2000
"""The limit at which a demo that is never removed stops growing."""
WAIT_SECONDS = 600.0
"""How long a command waits for another one."""


class DemoIsBusy(Exception):
    """Another process is making or removing the demo."""


def make_demo(*, teams: int, report: Callable[[str], None]) -> list[Competition]:
    """Make the missing competitions and queue their files; returns the competitions that were made."""
    made = []
    for slug in DAYS:
        if _is_wanted(slug, report):
            competition = make_demo_competition(slug, teams=teams)
            report(f"Made “{competition}”.")
            made.append(competition)
    if made:
        wake_ups.wake_workers(wake_ups.SWEEP)
    return made


def make_demo_competition(slug: str, *, teams: int = TEAMS) -> Competition:
    """Import a folder and launch it (the draft is previewed instead); the first `teams` of the class take part."""
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    opens_at, closes_at = (now + timedelta(days=days) for days in DAYS[slug])
    competition = folders.import_folder(FOLDER / slug, user=demo_user(HOST))
    # A launch needs a future deadline, so a finished competition gets its past one afterwards.
    _set_demo_dates(competition, opens_at=opens_at, closes_at=max(closes_at, now + timedelta(days=1)))
    if slug == DRAFT:
        publishing.start_preview(competition=competition, user=demo_user(HOST))
    else:
        with transaction.atomic():
            _enrol_teams(competition, teams)
            _store_past_submissions(competition, _class_files() if slug == CLASS else _made_up_files(competition))
        publishing.launch_competition(competition=competition)
        _set_demo_dates(competition, launched_at=min(opens_at, now), closes_at=closes_at)
    _set_demo_dates(competition, is_demo=True)
    return competition


def demo_competitions() -> list[Competition]:
    """The demo's competitions, half-made ones included."""
    of_a_demo = Q(is_demo=True) | Q(hosts__email=f"{HOST}@{EMAIL_DOMAIN}")
    return list(Competition.objects.filter(of_a_demo).distinct())


def remove_demo() -> int:
    """Delete everything that a demo ever made; returns the number of competitions."""
    competitions = demo_competitions()
    for competition in competitions:
        competitions_services.delete_competition(competition=competition)
    User.objects.filter(email__endswith=f"@{EMAIL_DOMAIN}").delete()
    return len(competitions)


def submit_next() -> Submission | None:
    """Submit a file for one of the invented teams; None without a live demo, or if the team has used its attempts."""
    competition = Competition.objects.filter(is_demo=True, slug=LIVE).first()
    if competition is None or competition.state(timezone.now()) != "live":
        return None
    number = competition.submissions.count()
    invented = Membership.objects.filter(competition=competition, user__email__endswith=f"@{EMAIL_DOMAIN}")
    members = list(invented.select_related("user", "team").order_by("pk"))
    if number >= MAX_SUBMISSIONS or not members:
        return None
    # Seeded by the number of files, so that a repeated call chooses the same team.
    member = random.Random(number).choice(members)  # noqa: S311 - a demo
    earlier = member.team.submissions.count()
    try:
        return submitting.submit_file(
            competition=competition,
            user=member.user,
            file_name=f"try_{earlier + 1}.csv",
            chunks=[made_up_file(member.team.name, earlier)],
        )
    except SubmissionRefused:
        return None


@contextmanager
def demo_lock(wait_seconds: float = 0) -> Iterator[None]:
    """Hold the lock for making or removing the demo, so that no process takes another's half-made demo for an
    interrupted one.

    Raises `DemoIsBusy` if another process still holds it after `wait_seconds`.
    """
    folder = Path(settings.FILES_DIR).parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    until = time.monotonic() + wait_seconds
    with (folder / "demo.lock").open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise DemoIsBusy from None
                time.sleep(0.2)
        yield


def demo_user(name: str) -> User:
    """A person who cannot sign in; named `demo-…` if a real person has the name already."""
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
    if not existing.is_demo and existing.hosts.filter(email=f"{HOST}@{EMAIL_DOMAIN}").exists():
        competitions_services.delete_competition(competition=existing)
        return True
    report(f"“{existing}” is there already.")
    return False


def _set_demo_dates(competition: Competition, **fields: bool | datetime) -> None:
    """Set fields directly: the services refuse dates in the past and know no demo."""
    Competition.objects.filter(pk=competition.pk).update(**fields)
    competition.refresh_from_db()


@dataclass(frozen=True)
class PastFile:
    """A file that a team submitted `minutes` after the opening."""

    team: str
    name: str
    content: bytes
    minutes: int
    user: str = ""
    """The submitter; the first member if empty."""
    note: str = ""
    is_selected: bool = False


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _class_files() -> Iterator[PastFile]:
    with ZipFile(FOLDER / CLASS / "submissions.zip") as files:
        for row in _rows(f"{CLASS}/submissions.csv"):
            yield PastFile(
                row["team"],
                row["file"],
                files.read(f"{row['team']}/{row['file']}"),
                int(row["minutes_after_opening"]),
                row["user"],
                row["note"],
                row["is_selected"] == "1",
            )


def _made_up_files(competition: Competition) -> Iterator[PastFile]:
    """Two to five generated files per team, received between the opening and an hour ago."""
    length = int((timezone.now() - competition.opens_at).total_seconds() / 60) - 60
    for team in competition.teams.order_by("pk"):
        dice = random.Random(team.name)  # noqa: S311 - a demo
        times = sorted(dice.randrange(60, length) for _file in range(dice.randint(2, 5)))
        for number, minutes in enumerate(times):
            yield PastFile(team.name, f"try_{number + 1}.csv", made_up_file(team.name, number), minutes)


def made_up_file(team: str, number: int) -> bytes:
    """A generated submission, `number` 0 being the team's first: the answers with errors that shrink with each try
    towards the team's own limit."""
    dice = random.Random(f"{team} {number}")  # noqa: S311 - a demo
    least = random.Random(team).uniform(0.1, 0.35)  # noqa: S311 - a demo
    error = least + (0.7 - least) * 0.75**number * dice.uniform(0.7, 1.1)
    text = io.StringIO()
    text.write("id,rides\n")
    for row in _rows(f"{LIVE}/truth.csv"):
        rides = float(row["rides"])
        text.write(f"{row['id']},{max(0.0, rides * (1 + dice.gauss(0, error)) + dice.gauss(0, 4)):.1f}\n")
    return text.getvalue().encode()


def _enrol_teams(competition: Competition, teams: int) -> None:
    members: dict[str, list[str]] = {}
    for row in _rows(f"{CLASS}/teams.csv"):
        members.setdefault(row["team"], []).append(row["user"])
    for name, people in list(members.items())[:teams]:
        users = [demo_user(person) for person in people]
        team = Team.objects.create(competition=competition, name=name)
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


def _store_past_submissions(competition: Competition, files: Iterable[PastFile]) -> None:
    """Store files with a receipt in the past, because `submitting` always uses the present time."""
    teams = {team.name: team for team in competition.teams.all()}
    members = competition.memberships.select_related("user").order_by("-pk")
    first_members = {membership.team_id: membership.user for membership in members}
    used: list[tuple[int, date]] = []
    now = timezone.now()
    for file in files:
        if (team := teams.get(file.team)) is None:
            continue
        received_at = competition.opens_at + timedelta(minutes=file.minutes)
        stored = store_file([file.content], f"submissions/{competition.pk}")
        Submission.objects.create(
            competition=competition,
            team=team,
            user=demo_user(file.user) if file.user else first_members[team.pk],
            note=file.note,
            file_name=file.name,
            file_key=stored.key,
            sha256=stored.sha256,
            size=stored.size,
            received_at=received_at,
            # Otherwise each would seem to have waited for its score since its receipt.
            rescored_requested_at=now,
            upload_key=f"demo:{team.pk}:{file.name}",
            is_selected=file.is_selected,
        )
        used.append((team.pk, competition.day_of(received_at)))
    # The worker returns the attempts of invalid files, as it does for any file.
    DailyAttempts.create_for(used, competition.limits.daily_attempts)
