"""One competition with everything in it, a signed-in client per role, and every address of the site.

Canaries are texts and numbers that occur nowhere else. Private scores and their doubts are numbers of seven digits, so
that they are found however many digits a page shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from leaderboard import hosting, joining, scoring
from leaderboard.models import ApiToken, Competition, Score, Split, Standing, Submission, Uncertainty, User
from tests.conftest import enter, hand_in, make_competition, person

TRUTH = "truthcanary"
FILE = "filecanary"
NOTE = "notecanary"
PRIVATE = (7310585.786, 6420474.675, 8530696.897)
BESIDE = 1_010_101.0
"""What a private secondary value is more than the score beside it."""
DOUBTS = {"standard_error": 5019283.746, "low": 4908172.635, "high": 9641707.918}
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


@dataclass(frozen=True)
class Address:
    """A route of the URLconf with its name (namespaces first) and its view."""

    route: str
    name: str
    view: Any


def addresses() -> Iterator[Address]:
    """Everything in the URLconf, however deeply included."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str, space: str) -> Iterator[Address]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
                yield from walk(pattern.url_patterns, route, inner)
            else:
                yield Address(route, f"{space}{pattern.name or ''}", pattern.callback)

    yield from walk(get_resolver().url_patterns, "", "")


def make_scene(ada: User, bo: User, cy: User, dee: User) -> Scene:
    truth = "id,label,Usage\n" + "".join(
        f"{i},{TRUTH if i in (3, 9) else 'a'},{'Public' if i < 7 else 'Private'}\n" for i in range(1, 13)
    )
    competition = make_competition(
        ada, slug="secret", truth=truth, is_listed=True, embed_sites="*", secondary=[("error_rate", {})]
    )
    hal, eve, otto = person("hal", can_host=True), person("eve"), person("otto", can_host=True)
    ivy = person("ivy")
    competition.assistants.add(ivy)
    competition.hosts.add(otto)
    competition.hosts.remove(otto)
    make_competition(hal, slug="other", title="Hal's own")
    team = enter(competition, bo).team
    joining.accept_rules(membership=joining.by_invitation(user=cy, invitation=team.invitation))
    enter(competition, eve)
    data_file = hosting.add_data_file(
        competition=competition, file_name="train.csv", chunks=[b"id,x\n1,2\n"], description=""
    )
    body = "id,label\n" + "".join(f"{i},{FILE}{i}\n" for i in range(1, 13))
    submission = hand_in(competition, bo, body.encode(), note=NOTE)
    hand_in(competition, eve, body.replace(FILE, "eves").encode())
    baseline = hosting.add_baseline(
        competition=competition, user=ada, name="Guess", file_name="b.csv", chunks=[body.encode()]
    )
    scoring.score(baseline.pk)
    plant(PRIVATE)
    users = {"ada": ada, "bo": bo, "cy": cy, "dee": dee, "eve": eve, "hal": hal, "ivy": ivy, "otto": otto}
    clients, tokens = {"anonymous": Client()}, {"anonymous": "none"}
    for name, user in users.items():
        clients[name] = Client()
        clients[name].force_login(user)
        tokens[name] = ApiToken.issue(user, "test", ApiToken.Scope.HOST)[1]
    arguments: dict[str, object] = {
        "slug": "secret",
        "key": "accuracy",
        "submission_id": submission.pk,
        "id": submission.pk,
        "name": data_file.name,
        "code": "WRONGONE",
        "invitation": "nonsense",
        "secret": "nonsense",
        "baseline_id": baseline.baseline_id,
        "file_id": data_file.pk,
        "object_id": submission.pk,
        "team_id": team.pk,
        "app_label": "leaderboard",
    }
    return Scene(competition, submission, clients, tokens, arguments)


def plant(values: tuple[float, ...]) -> None:
    """Give the private scores, what is beside them, their standings and their doubts these values, in order of
    receipt."""
    private = Score.objects.filter(split=Split.PRIVATE).order_by("submission__received_at")
    for score, value in zip(private, values, strict=True):
        Score.objects.filter(pk=score.pk).update(value=value, secondary=[{"value": value + BESIDE}])
        Standing.objects.filter(submission=score.submission_id, split=Split.PRIVATE).update(
            value=value, sort_key=-value
        )
    Uncertainty.objects.filter(score__split=Split.PRIVATE).update(**DOUBTS)


def filled(route: str, arguments: dict[str, object]) -> str:
    """A route, of `path` or `re_path`, with the scene's arguments; what it does not know becomes 1."""
    plain = re.sub(r"\(\?P(<\w+>)(?:[^()]|\([^()]*\))*\)", r"\1", route)
    path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(arguments.get(found.group(1), 1)), plain)
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
    """A regular expression that finds a number however it is rounded and grouped."""
    digits = f"{value:.0f}"
    grouped = rf"{digits[0]}[,\s\u202f\u00a0']?{digits[1:4]}[,\s\u202f\u00a0']?{digits[4:6]}"
    return rf"{grouped}|{digits[0]}\.{digits[1:4]}\d*e\+?0?6"


BESIDE_NUMBERS = re.compile("|".join(number_pattern(value + BESIDE) for value in PRIVATE))
PRIVATE_NUMBERS = re.compile(
    "|".join([*(number_pattern(value) for value in (*PRIVATE, *DOUBTS.values())), BESIDE_NUMBERS.pattern])
)
