"""Every view, asked by clients at once of a site with one thread in each pool and nothing cached: it ends.

A ring of locks and places, in which each waits for another, closes only where few threads are left and two requests
meet in the same code. So there are as few as there can be, and each address of the URL configuration is met by two.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import event_loop
from tests.attacks.scene import Address, addresses, filled
from tests.attacks.test_access_matrix import ALLOWED, policy_of
from tests.mail_servers import silent_server
from tests.running_site import Site, patience, running_site
from tests.visitors import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

TOKEN = "t" * 32
ANSWERED_WITHIN_SECONDS = 40.0
ROLES = ("ada", "bo", "olga", "anonymous")
"""Who asks: of these the first two that an address is for, each with two clients. Olga operates."""
SET_UP = """
import json
from django.test import Client
from leaderboard.accounts.models import ApiToken, User
from leaderboard.lti.models import LtiLink, Platform
from tests.attacks import scene as scenes
from tests.conftest import person
from tests.running_site import until
from leaderboard.competitions.models import Submission
from leaderboard.submissions import score

score_here = score.score_one

def score_and_wait(key):
    # The site's own worker may be quicker than this process, which then has no score yet.
    score_here(key)
    until(lambda: Submission.objects.get(pk=key).status != "pending", what="the score")

score.score_one = score_and_wait
people = [person(name, can_host=name == "ada") for name in ("ada", "bo", "cy", "dee")]
scene = scenes.make_scene(*people)
keys = {}
silent = "http://127.0.0.1:SILENT/"
Platform.objects.update(keys_url=silent)
LtiLink.objects.update(memberships_url=silent, lineitems_url=silent)
for name in ("ada", "bo", "olga"):
    user = User.objects.get(username=name)
    sessions = []
    for _ in range(2):
        client = Client()
        client.force_login(user)
        sessions.append(client.cookies["sessionid"].value)
    keys[name] = {"sessions": sessions, "token": ApiToken.issue(user, "test", ApiToken.Scope.HOST)[1]}
print(json.dumps({"arguments": scene.arguments, "keys": keys}, default=str))
"""


@dataclass
class Scene:
    """A site of which nobody has asked anything yet, with a competition that has everything."""

    site: Site
    arguments: dict[str, Any]
    keys: dict[str, Any]

    def two(self, role: str) -> list[Visitor]:
        """Two clients of one role, each with a session of its own."""
        sessions = self.keys[role]["sessions"] if role in self.keys else [None, None]
        cookies: list[dict[str, str]] = [{"sessionid": one} if one else {} for one in sessions]
        limit = ANSWERED_WITHIN_SECONDS * patience()
        return [Visitor(self.site.address, cookies={**one, "csrftoken": TOKEN}, time_limit=limit) for one in cookies]


@contextmanager
def fresh_scene(folder: Path) -> Iterator[Scene]:
    """Its learning platform accepts connections and says nothing."""
    with (
        silent_server() as port,
        running_site(folder, WEB_READERS="1", WEB_WRITERS="1", LTI_PLATFORM_HOSTS="127.0.0.1") as site,
    ):
        found = json.loads(site.shell(SET_UP.replace("SILENT", str(port))))
        yield Scene(site, found["arguments"], found["keys"])


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with fresh_scene(tmp_path_factory.mktemp("site") / "var") as scene:
        yield scene


def roles_for(address: Address) -> tuple[str, ...]:
    policy = policy_of(address)
    if policy in ("operators", "staff"):
        return ("olga",)
    return tuple(role for role in ROLES if role in ALLOWED[policy])[:2] or ("anonymous",)


async def ask_at_once(scene: Scene, address: Address, method: str) -> list[str]:
    """Two clients of each role ask at once; what was not answered, or with an error of the site."""
    path = filled(address.route, scene.arguments)
    visitors = []
    for role in roles_for(address):
        both = scene.two(role)
        if path.startswith("/api/") and role in scene.keys:
            for visitor in both:
                visitor.token = scene.keys[role]["token"]
        visitors += both
    body, headers = b"", {}
    if method == "POST":
        body = f"csrfmiddlewaretoken={TOKEN}&action=x".encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": TOKEN}
    found = await asyncio.gather(
        *(visitor.ask(method, path, body, headers) for visitor in visitors), return_exceptions=True
    )
    for visitor in visitors:
        visitor.hang_up()
    return [
        f"{method} {path}: {answer if isinstance(answer, BaseException) else answer.status}"
        for answer in found
        if isinstance(answer, BaseException) or answer.status == 500
    ]


async def walk(scene: Scene) -> tuple[int, list[str]]:
    """All addresses, to GET and then to POST. What a class opens in its first minute comes first, while nothing is
    cached, and what signs out comes last."""
    count, failed = 0, []
    for method in ("GET", "POST"):
        for address in sorted(addresses(), key=lambda one: (not one.route.startswith("c/"), "logout" in one.name)):
            failed += await ask_at_once(scene, address, method)
            count += 1
            if failed:  # behind a site that hangs there is nothing more to learn
                return count, failed
    return count, failed


@pytest.mark.takes(90)
@pytest.mark.attack("a ring of waits that a few clients close, so that the site hangs")
def test_every_view_ends_for_clients_at_once_with_one_thread_in_each_pool(scene: Scene) -> None:
    count, failed = event_loop.run(walk(scene))
    assert failed == []
    assert count > 300
    assert scene.site.get("/healthz")[0] == 200


@pytest.mark.fault(48)
@pytest.mark.attack("a ring of waits that a few clients close, so that the site hangs")
def test_six_newcomers_open_the_overview_of_a_fresh_site_at_once_with_one_thread_in_each_pool(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with fresh_scene(tmp_path_factory.mktemp("fresh") / "var") as fresh:

        async def all_at_once() -> list[int]:
            visitors = [visitor for role in ("ada", "bo", "olga") for visitor in fresh.two(role)]
            pages = await asyncio.gather(*(visitor.get("/c/secret/") for visitor in visitors))
            for visitor in visitors:
                visitor.hang_up()
            return [page.status for page in pages]

        assert event_loop.run(all_at_once()) == [200] * 6
