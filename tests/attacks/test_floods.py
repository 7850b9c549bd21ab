"""Dee floods the site from behind the address of the class: everybody else goes on, and all that is right passes.

The victims sit behind the same address. Bo is signed in and reads, uploads and asks with his key; Cy signs in with the
right password; newcomers sign up with the code of the class; Gus opens the link that he was given.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests import event_loop
from tests.conftest import answers
from tests.mail_servers import silent_server
from tests.running_site import Site, patience
from tests.visitors import Visitor, sign_up

from .floods import FLOODS, Target, flooding

pytestmark = pytest.mark.slow

PASSWORD = "correct horse"
SECONDS, SMALL_SECONDS = 15.0, 6.0
PAGE_SECONDS, SIGN_UP_SECONDS = 2.0, 5.0
CLOSED_WITHIN_SECONDS = 90.0
SET_UP = """
import json
from django.contrib.auth.hashers import make_password
from django.test import Client
from leaderboard.accounts.models import ApiToken, User
from leaderboard.classroom import people, roster
from leaderboard.classroom.models import RosterEntry
from django.utils import timezone
from leaderboard.ground_truths.services import data_files
from leaderboard.lti.models import Platform
from tests.conftest import enter, submit, make_competition, person
ada = person("ada", can_host=True)
pets = make_competition(ada, is_listed=True, daily_attempts=500)
Platform.objects.create(
    issuer="https://silent.invalid", client_id="1", approved_at=timezone.now(), auth_url="https://silent.invalid/auth",
    keys_url="http://127.0.0.1:SILENT/keys",
)
data_files.add_data_file(competition=pets, file_name="large.bin", chunks=[b"0123456789abcdef" * 65_536] * 12)
person("cy")
def session(user):
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value
users = {name: User.objects.create(username=name, password=make_password(None)) for name in ("bo", "dee")}
for user in users.values():
    enter(pets, user)
tokens = []
for number in range(40):
    user = User.objects.create(username=f"s{number}", password=make_password(None))
    enter(pets, user)
    tokens.append(ApiToken.issue(user, "test")[1])
cards = []
for number in range(30):
    entry = RosterEntry.objects.create(course=pets.course, name=f"Gus {number}")
    cards += [code for _, code in people.make_join_cards(competition=pets, entries=[entry.pk], user=ada)]
odd = submit(pets, users["dee"], "id;label\\n".encode() + b"".join(b"%d;cat\\n" % i for i in range(1, 13)))
assert odd.status == "invalid", odd.status
print(json.dumps({
    "code": pets.admission.join_code, "session": session(users["dee"]), "tokens": tokens,
    "download": "/c/pets/data/files/large.bin", "convert": f"/c/pets/submissions/{odd.pk}/convert/",
    "bo": session(users["bo"]), "key": ApiToken.issue(users["bo"], "test")[1], "cards": cards,
}))
"""


@dataclass
class Scene:
    """A running site with the class, and what the victims have."""

    site: Site
    target: Target
    session: str
    key: str
    cards: list[str]
    newcomers: int = 0


@dataclass
class Victims:
    """What the victims saw: the longest page of those who are signed in, and of those who come in."""

    scene: Scene
    ends_at: float
    at_work: dict[str, float] = field(default_factory=dict)
    coming_in: dict[str, float] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    uploads: list[str] = field(default_factory=list)

    async def read(self) -> None:
        """Bo reads page after page."""
        bo = self.visitor(sessionid=self.scene.session)
        while time.monotonic() < self.ends_at:
            for path in ("/c/pets/", "/c/pets/leaderboard/", "/c/pets/submissions/", "/"):
                answer = await bo.get(path)
                self.note(answer.status == 200, f"{path} {answer.status}")
                await asyncio.sleep(0.1)
        self.take(self.at_work, bo)

    async def submit(self) -> None:
        """Bo's program submits with his key, again and again."""
        bo, number = self.visitor(), 0
        bo.token = self.scene.key
        while time.monotonic() < self.ends_at:
            number += 1
            answer = await bo.upload("pets", answers(public=number % 3))
            self.note(answer.status == 201, f"upload {answer.status} {answer.text[:200]}")
            if answer.status == 201:
                self.uploads.append(json.loads(answer.body)["id"])
            await asyncio.sleep(1)
        self.take(self.at_work, bo)

    async def come_in(self, newcomer: Visitor) -> None:
        """Somebody makes an account with the code of the class."""
        self.scene.newcomers += 1
        try:
            await sign_up(newcomer, self.scene.target.code, f"new{self.scene.newcomers}", "a-good-pass-phrase")
        except AssertionError as error:
            self.refused.append(f"sign-up: {error}"[:300])
        self.take(self.coming_in, newcomer)

    async def sign_in(self) -> None:
        """Cy signs in."""
        cy = self.visitor()
        page = await cy.get("/accounts/login/")
        answer = await cy.send(page, page.form_with("login", "password"), {"login": "cy", "password": PASSWORD})
        self.note("/accounts/login/" not in answer.path, f"sign-in {answer.status}")
        self.take(self.coming_in, cy)

    async def open_link(self) -> None:
        """Gus opens his one-time link."""
        gus = self.visitor()
        answer = await gus.get(f"/slip/{self.scene.cards.pop()}/")
        self.note(answer.status == 200, f"one-time link {answer.status}")
        self.take(self.coming_in, gus)

    def visitor(self, **cookies: str) -> Visitor:
        return Visitor(self.scene.site.address, cookies=cookies, time_limit=90)

    def note(self, is_good: bool, what: str) -> None:
        if not is_good:
            self.refused.append(what)

    def take(self, pages: dict[str, float], visitor: Visitor) -> None:
        for name, seconds in visitor.pages:
            pages[name] = max(pages.get(name, 0.0), seconds)
        visitor.hang_up()


@pytest.fixture(scope="module")
def scene(site: Site) -> Iterator[Scene]:
    with silent_server() as port:
        found = json.loads(site.shell(SET_UP.replace("SILENT", str(port))))
        own = {name: found.pop(name) for name in ("bo", "key", "cards")}
        yield Scene(site, Target(site.address, **found), own["bo"], own["key"], own["cards"])


async def play(victims: Victims, seconds: float) -> None:
    """The victims do what they do while the flood runs; each comes in twice, at its beginning and in the middle."""
    begun = time.monotonic()

    async def twice() -> None:
        for at in (0.1 * seconds, 0.5 * seconds):
            await asyncio.sleep(max(0.0, begun + at - time.monotonic()))
            await asyncio.gather(victims.come_in(victims.visitor()), victims.sign_in(), victims.open_link())

    await asyncio.gather(victims.read(), victims.submit(), twice())


def longest(pages: dict[str, float], limit: float) -> dict[str, float]:
    return {name: round(seconds, 1) for name, seconds in pages.items() if seconds > limit}


def flood(scene: Scene, name: str, size: int, seconds: float) -> None:
    # How busy the machine is by itself: what the flood adds is no excuse.
    slack = patience()
    with flooding(name, size, seconds, scene.target) as statuses:
        victims = Victims(scene, time.monotonic() + seconds)
        event_loop.run(play(victims, seconds))
    seen = f"at work {max(victims.at_work.values()):.2f} s, coming in {max(victims.coming_in.values()):.2f} s"
    sys.stdout.write(f"{name}: {dict(statuses)}; {seen}; {slack:.1f} × as busy as a quiet machine\n")
    assert victims.refused == []
    assert longest(victims.at_work, PAGE_SECONDS * slack) == {}
    assert longest(victims.coming_in, SIGN_UP_SECONDS * slack) == {}
    scene.site.until_all_is_scored()
    assert len(victims.uploads) > 1


@pytest.mark.thorough
@pytest.mark.parametrize("name", FLOODS)
@pytest.mark.attack("a flood from one laptop, so that nobody behind its address is answered")
def test_the_class_goes_on_beside_a_flood(scene: Scene, name: str) -> None:
    flood(scene, name, FLOODS[name].small, SMALL_SECONDS)


@pytest.mark.long
@pytest.mark.parametrize("name", FLOODS)
@pytest.mark.attack("a flood from one laptop, so that nobody behind its address is answered")
def test_the_class_goes_on_beside_a_flood_of_full_size(scene: Scene, name: str) -> None:
    flood(scene, name, FLOODS[name].full, SECONDS)


@pytest.mark.long
@pytest.mark.attack("a flood from one laptop, so that nobody behind its address is answered")
def test_uploads_that_fall_silent_are_closed(scene: Scene) -> None:
    with flooding("silent_uploads", 20, CLOSED_WITHIN_SECONDS, scene.target) as statuses:
        pass
    assert statuses["closed"] == 20
