"""One competition with everything in it, a signed-in client per role, and every address of the site.

Canaries are texts and numbers that occur nowhere else. Private scores and their uncertainties are numbers of seven
digits, so that they are found however many digits a page shows.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from leaderboard.accounts.models import ApiToken, User
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions, joining, people
from leaderboard.classroom.models import RosterEntry
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, PageTask, RowReport, Score, Standing, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.grades import queries as grade_queries
from leaderboard.grades import services as grade_services
from leaderboard.grades.models import Gradebook
from leaderboard.ground_truths.services import data_files
from leaderboard.lti.models import LtiLink, Platform
from leaderboard.notifications import emails, services
from leaderboard.notifications.kinds import NoticeKind
from leaderboard.notifications.models import Notice
from leaderboard.submissions import attachments
from leaderboard.submissions import score as score_module
from tests.conftest import enter, make_competition, person, submit

TRUTH = "truthcanary"
FILE = "filecanary"
NOTE = "notecanary"
CLASS = "rostercanary"
"""In what hosts and assistants alone read of the class: the roster, the gradebook, reasons among hosts."""
PRIVATE = (7310585.786, 6420474.675, 8530696.897)
SECONDARY = 1_010_101.0
"""What a private secondary value is more than the score next to it."""
INTERVAL = {"standard_error": 5019283.746, "low": 4908172.635, "high": 9641707.918}
ROLES = ("anonymous", "dee", "eve", "bo", "cy", "otto", "hal", "ivy", "ada")
TEAM = ("bo", "cy")
HOSTS = ("ada", "ivy")


@dataclass
class Scene:
    """Ada hosts, Ivy assists. Bo and Cy are a team, Eve another; Dee is a stranger, Otto hosted once, Hal hosts another
    competition."""

    competition: Competition
    submission: Submission
    clients: dict[str, Client]
    tokens: dict[str, str]
    arguments: dict[str, object]
    """What stands in an address; with the word before it where the same name means several things."""


@dataclass(frozen=True)
class Address:
    """A route of the URLconf with its name (namespaces first) and its view."""

    route: str
    name: str
    view: Any


def addresses() -> Iterator[Address]:
    """Everything in the URLconf, however deeply included."""

    def student_preview(patterns: list[URLPattern | URLResolver], prefix: str, space: str) -> Iterator[Address]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
                yield from student_preview(pattern.url_patterns, route, inner)
            else:
                yield Address(route, f"{space}{pattern.name or ''}", pattern.callback)

    yield from student_preview(get_resolver().url_patterns, "", "")


def make_scene(ada: User, bo: User, cy: User, dee: User) -> Scene:
    truth = "id,label,Usage\n" + "".join(
        f"{i},{TRUTH if i in (3, 9) else 'a'},{'Public' if i < 7 else 'Private'}\n" for i in range(1, 13)
    )
    competition = make_competition(
        ada, slug="secret", truth=truth, is_listed=True, secondary=[("error_rate", {})], attachments="optional"
    )
    hal, eve, otto = person("hal", can_host=True), person("eve"), person("otto", can_host=True)
    ivy = person("ivy")
    competition.assistants.add(ivy)
    competition.hosts.add(otto)
    competition.hosts.remove(otto)
    make_competition(hal, slug="other", title="Hal's own")
    team = enter(competition, bo).team
    joining.accept_rules(membership=joining.join_by_invitation(user=cy, invitation=team.invitation))
    enter(competition, eve)
    data_file = data_files.add_data_file(
        competition=competition, file_name="train.csv", chunks=[b"id,x\n1,2\n"], description=""
    )
    body = "id,label\n" + "".join(f"{i},{FILE}{i}\n" for i in range(1, 13))
    submission = submit(competition, bo, body.encode(), note=NOTE)
    attachments.attach_file(submission=submission, user=bo, file_name="a.py", chunks=[FILE.encode()], declared=NOTE)
    submit(competition, eve, body.replace(FILE, "eves").encode())
    baseline = boards.add_baseline(
        competition=competition, user=ada, name="Guess", file_name="b.csv", chunks=[body.encode()]
    )
    score_module.score_one(baseline.pk)
    join_card = _run_the_class(competition, ada, bo, eve)
    link = _connect_platform(competition, ada, bo)
    plant(PRIVATE)
    users = {"ada": ada, "bo": bo, "cy": cy, "dee": dee, "eve": eve, "hal": hal, "ivy": ivy, "otto": otto}
    clients, tokens = {"anonymous": Client()}, {"anonymous": "none"}
    for name, user in users.items():
        clients[name] = Client()
        clients[name].force_login(user)
        tokens[name] = ApiToken.issue(user, "test", ApiToken.Scope.HOST)[1]
    arguments: dict[str, object] = {
        "slug": "secret",
        "course/slug": competition.course.slug,
        "courses/slug": competition.course.slug,
        "key": "accuracy",
        "submission_id": submission.pk,
        "id": submission.pk,
        "name": data_file.name,
        "guide": "students",
        "code": "WRONGONE",
        "slip/code": join_card,
        "invitation": "nonsense",
        "secret": "nonsense",
        "stop/token": emails.unsubscribe_token(eve, NoticeKind.TEAM),
        "announcements/number": competition.announcements.get().pk,
        "notifications/number": Notice.objects.filter(user=bo).earliest("pk").pk,
        "kind": "plain",
        "baseline_id": baseline.baseline_id,
        "file_id": data_file.pk,
        "object_id": submission.pk,
        "task_id": PageTask.objects.create(user=ada, place=1, path="/host/secret/", status="failed").pk,
        "team_id": team.pk,
        "link_id": link.pk,
        "user_id": bo.pk,
        "password/token": "nonsense",
        "app_label": "common",
    }
    return Scene(competition, submission, clients, tokens, arguments)


def hashes_of(competition: Competition) -> list[str]:
    """Beginnings of the hashes that confirm a guess of the whole truth, with and without its split.

    A page that shows the first twelve digits of a hash tells as much.
    """
    assert competition.ground_truth is not None
    file = path_of(competition.ground_truth.file_key).read_bytes()
    unsplit = b"".join(line.rpartition(b",")[0] + b"\n" for line in file.splitlines())
    found = []
    for text in (file, unsplit):
        for name in ("md5", "sha1", "sha256", "sha384", "sha512", "blake2b", "blake2s", "sha3_256"):
            digest = hashlib.new(name, text).digest()
            found += [digest.hex()[:12], b64encode(digest).decode()[:16]]
    return found


def _connect_platform(competition: Competition, ada: User, bo: User) -> LtiLink:
    """An activity of a learning platform's course, by which Bo came, with a mark in its column."""
    address = "https://moodle.invalid"
    addresses = {name: f"{address}/{name}" for name in ("auth_url", "token_url", "keys_url")}
    platform = Platform.objects.create(
        issuer=address, client_id="1", name="Moodle", approved_at=timezone.now(), **addresses
    )
    deployment = platform.deployments.create(name="1", approved_at=timezone.now())
    link = LtiLink.objects.create(
        deployment=deployment, context="c-1", resource="r-1", competition=competition, connected_by=ada
    )
    platform.people.create(subject="bo", user=bo)
    link.seats.create(competition=competition, user=bo)
    link.marks.create(user=bo, subject="bo", points=5.0, state="sent")
    return link


def _run_the_class(competition: Competition, ada: User, bo: User, eve: User) -> str:
    """A roster, words to the class, a grant, grade rules, hard rows: what pages show only once it is there.
    Gives the code of a one-time link."""
    RosterEntry.objects.create(
        course=competition.course, name=f"{CLASS} Lee", email=f"{CLASS}@example.org", login=CLASS
    )
    guest = RosterEntry.objects.create(course=competition.course, name="Gus Guest")
    [(_guest, code)] = people.make_join_cards(competition=competition, entries=[guest.pk], user=ada)
    services.send_announcement(competition=competition, user=ada, title="Welcome", text="Good **luck**.")
    mine = competition.memberships.select_related("team").get(user=bo)
    extensions.grant_extension(team=mine.team, user=ada, reason="ill for a week", extra_attempts=1)
    rules = grade_queries.suggested_rules(competition).as_json()
    grade_services.set_grade_rules(graded=competition, values=rules, user=ada)
    weights = {"parts": [{"competition": competition.slug, "weight": 100}]}
    grade_services.set_grade_rules(graded=competition.course, values=weights, user=ada)
    book = f"Student,ID,SIS User ID,SIS Login ID,Section,Work (1)\nPoints Possible,,,,,10\n{CLASS},1,2,x,y,\n"
    Gradebook.objects.create(competition=competition, file_name="canvas.csv", data=book.encode())
    row = {
        "id": "3",
        "truth": [TRUTH],
        "other": FILE,
        "agree": 1,
        "lost": 1.0,
        "answers": [[FILE, 1]],
        "split": "public",
        "off": 0.0,
        "around": 0.0,
    }
    assert competition.ground_truth is not None
    found = {"targets": ["label"], "files": 1, "scored": 1, "rows": [row], "reason": "", "residuals": None}
    RowReport.objects.create(ground_truth=competition.ground_truth, found=found)
    return code


def plant(values: tuple[float, ...]) -> None:
    """Give the private scores, what is next to them, their standings and their intervals these values, in order of
    receipt."""
    private = Score.objects.filter(split=Split.PRIVATE).order_by("submission__received_at")
    for score, value in zip(private, values, strict=True):
        Score.objects.filter(pk=score.pk).update(value=value, secondary=[{"value": value + SECONDARY}], **INTERVAL)
        Standing.objects.filter(submission=score.submission_id, split=Split.PRIVATE).update(
            value=value, sort_key=-value
        )


def filled(route: str, arguments: dict[str, object]) -> str:
    """A route, of `path` or `re_path`, with the scene's arguments; what it does not know becomes 1."""
    plain = re.sub(r"\(\?P(<\w+>)(?:[^()]|\([^()]*\))*\)", r"\1", route)

    def argument(found: re.Match[str]) -> str:
        before, name = found.groups()
        return f"{before or ''}{arguments.get(f'{before}{name}', arguments.get(name, 1))}"

    path = re.sub(r"(\w+/)?<(?:\w+:)?(\w+)>", argument, plain)
    return "/" + re.sub(r"[\^$]|\\Z", "", path)


def ask(scene: Scene, role: str, method: str, path: str, data: Any = None, **headers: str) -> Any:
    """One request of a role. What it does to the role's cookies is forgotten."""
    client = scene.clients[role]
    if path.startswith("/api/"):
        headers["Authorization"] = f"Bearer {scene.tokens[role]}"
    cookies = deepcopy(client.cookies)
    try:
        return (
            client.generic(method.upper(), path, headers=headers)
            if data is None
            else client.post(path, data, headers=headers)
        )
    finally:
        client.cookies = cookies


def text_of(response: Any) -> str:
    """Status, headers and body as one text."""
    return f"{response.status_code} {dict(response.headers)} {response.getvalue().decode(errors='replace')}"


def number_pattern(value: float) -> str:
    """A regular expression that finds a number of seven digits however it is rounded and grouped.

    Six of them would also be found in the fractions of seconds that a log writes.
    """
    digits = f"{value:.0f}"
    grouped = rf"{digits[0]}[,\s\u202f\u00a0']?{digits[1:4]}[,\s\u202f\u00a0']?{digits[4:6]}"
    return rf"{grouped}\d|{digits[0]}\.{digits[1:4]}\d*e\+?0?6"


SECONDARY_NUMBERS = re.compile("|".join(number_pattern(value + SECONDARY) for value in PRIVATE))
PRIVATE_NUMBERS = re.compile(
    "|".join([*(number_pattern(value) for value in (*PRIVATE, *INTERVAL.values())), SECONDARY_NUMBERS.pattern])
)
