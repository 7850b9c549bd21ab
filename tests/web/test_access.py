"""Nobody reads what is not theirs: every URL × every role, before and after the reveal.

Canaries: truth values, private scores and the content of Bo's file are texts that occur nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from leaderboard import hosting, joining, scoring
from leaderboard.models import ApiToken, Competition, Score, Split, Submission, User
from tests.conftest import close, enter, hand_in, make_competition, person

TRUTH_CANARY = "truthcanary"
FILE_CANARY = "filecanary"
PRIVATE_CANARY = "0.7310585786"
ROLES = ("anonymous", "dee", "eve", "bo", "cy", "hal", "ada")
TEAM = ("bo", "cy")
HOSTS = ("ada",)


@dataclass
class Scene:
    """One competition with everything in it, and a signed-in client per role."""

    competition: Competition
    submission: Submission
    clients: dict[str, Client]
    tokens: dict[str, str]
    arguments: dict[str, object]


@pytest.fixture
def scene(ada: User, bo: User, cy: User, dee: User) -> Scene:
    truth = "id,label,Usage\n" + "".join(
        f"{i},{TRUTH_CANARY if i in (3, 9) else 'a'},{'Public' if i < 7 else 'Private'}\n" for i in range(1, 13)
    )
    competition = make_competition(ada, slug="secret", truth=truth, is_listed=True)
    hal, eve = person("hal", can_host=True), person("eve")
    make_competition(hal, slug="other", title="Hal's own")
    team = enter(competition, bo).team
    joining.accept_rules(membership=joining.by_invitation(user=cy, invitation=team.invitation))
    enter(competition, eve)
    data_file = hosting.add_data_file(
        competition=competition, file_name="train.csv", chunks=[b"id,x\n1,2\n"], description=""
    )
    body = "id,label\n" + "".join(f"{i},{FILE_CANARY}{i}\n" for i in range(1, 13))
    submission = hand_in(competition, bo, body.encode())
    baseline = hosting.add_baseline(
        competition=competition, user=ada, name="Guess", file_name="b.csv", chunks=[body.encode()]
    )
    scoring.score(baseline.pk)
    Score.objects.filter(split=Split.PRIVATE).update(value=float(PRIVATE_CANARY + "3"))
    Score.objects.filter(split=Split.PUBLIC).update(value=0.25)
    users = {"ada": ada, "bo": bo, "cy": cy, "dee": dee, "eve": eve, "hal": hal}
    clients, tokens = {"anonymous": Client()}, {"anonymous": "none"}
    for name, user in users.items():
        clients[name] = Client()
        clients[name].force_login(user)
        tokens[name] = ApiToken.issue(user, "test")[1]
    arguments: dict[str, object] = {
        "slug": "secret",
        "key": "accuracy",
        "submission_id": submission.pk,
        "id": submission.pk,
        "name": data_file.name,
        "code": "WRONGONE",
        "invitation": "nonsense",
        "secret": "nonsense",
        "number": 1,
        "baseline_id": baseline.baseline_id,
        "file_id": data_file.pk,
        "pk": 1,
        "path": "nothing/here",
    }
    return Scene(competition, submission, clients, tokens, arguments)


def site_paths() -> Iterator[str]:
    """Every path of the URLconf outside Django's admin and the accounts' pages, parameters by name."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                if not route.startswith(("admin/", "accounts/")):
                    yield from walk(pattern.url_patterns, route)
            else:
                yield route

    yield from walk(get_resolver().url_patterns, "")


def filled(route: str, arguments: dict[str, object]) -> str:
    """A route with the scene's arguments."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(arguments[found.group(1)]), route)


def everything(scene: Scene, role: str, path: str) -> str:
    """All that a role can get out of a path: bodies and headers of every method and format."""
    client, seen = scene.clients[role], []
    headers = {"Authorization": f"Bearer {scene.tokens[role]}"} if path.startswith("/api/") else {}
    for method, query in (
        ("get", ""),
        ("get", "?board=private&page=1&format=json"),
        ("head", "?board=private"),
        ("options", ""),
    ):
        seen.append(getattr(client, method)(path + query, headers=headers))
    for data in ({}, {"board": "private", "confirm": "wrong"}):
        savepoint = transaction.savepoint()
        seen.append(client.post(path, data, headers=headers))
        transaction.savepoint_rollback(savepoint)
    texts = []
    for response in seen:
        body = response.getvalue()
        texts.append(f"{dict(response.headers)} {body.decode(errors='replace')}")
    return "\n".join(texts)


def leaks(scene: Scene, roles: tuple[str, ...], *, is_revealed: bool) -> list[str]:
    found = []
    for route, role in product(site_paths(), roles):
        text = everything(scene, role, filled(route, scene.arguments))
        if TRUTH_CANARY in text and role not in HOSTS:
            found.append(f"{role} reads the truth at {route}")
        if PRIVATE_CANARY in text and role not in HOSTS and not is_revealed:
            found.append(f"{role} reads a private score at {route}")
        if FILE_CANARY in text and role not in (*HOSTS, *TEAM):
            found.append(f"{role} reads Bo's file at {route}")
    return found


def test_nobody_reads_what_is_not_theirs_before_the_reveal(scene: Scene) -> None:
    assert leaks(scene, ROLES, is_revealed=False) == []


def test_after_the_reveal_the_truth_and_the_files_stay_shut(scene: Scene) -> None:
    close(scene.competition)
    hosting.reveal(competition=scene.competition)
    assert leaks(scene, ("anonymous", "eve", "bo"), is_revealed=True) == []


def test_the_canaries_can_be_found_by_those_they_are_for(scene: Scene) -> None:
    """The test above could not fail if nobody ever saw a canary."""
    paths = [filled(route, scene.arguments) for route in site_paths()]
    ada = "\n".join(everything(scene, "ada", path) for path in paths)
    bo = "\n".join(everything(scene, "bo", path) for path in paths)
    assert all(canary in ada for canary in (TRUTH_CANARY, PRIVATE_CANARY, FILE_CANARY))
    assert FILE_CANARY in bo


def test_swapping_private_scores_changes_no_byte_for_students(scene: Scene) -> None:
    def bytes_for_students() -> dict[tuple[str, str], str]:
        seen = {}
        for route, role in product(site_paths(), ("anonymous", "dee", "bo")):
            path = filled(route, scene.arguments)
            if path.startswith("/api/") or "healthz" in path:
                continue
            response = scene.clients[role].get(path, follow=True)
            body = response.getvalue()
            # What differs at every request, whatever the scores are.
            text = re.sub(
                r'(name="(csrfmiddlewaretoken|upload_key)" value=")[^"]+|Request id <code>[0-9a-f]+',
                "",
                body.decode(errors="replace"),
            )
            seen[role, path] = re.sub(r"<time.*?</time>", "", text, flags=re.S)
        return seen

    before = bytes_for_students()
    Score.objects.filter(split=Split.PRIVATE).update(value=0.111)
    after = bytes_for_students()
    assert [key for key in before if before[key] != after[key]] == []


@pytest.mark.parametrize("role", ["anonymous", "dee", "eve", "bo", "hal"])
def test_a_hosts_pages_open_for_hosts_alone(scene: Scene, role: str) -> None:
    opened = [
        route
        for route in site_paths()
        if route.startswith("host/<slug") and scene.clients[role].get(filled(route, scene.arguments)).status_code < 300
    ]
    assert opened == []
