"""Servers outside that accept a connection and say nothing: no page waits for them, and nothing is lost."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
import requests

from leaderboard.lti.launching import CLAIM
from tests.lti.platforms import (
    CLIENT_ID,
    DEPLOYMENT,
    INSTRUCTOR,
    LEARNER,
    FakePlatform,
    jwk_of,
    platform_key,
)
from tests.mail_servers import silent_server, taking_server
from tests.running_site import Site, patience, running_site, until
from tests.visitors import Caller

pytestmark = [pytest.mark.slow, pytest.mark.long]

SILENT_PLATFORM = """
from django.test import Client
from django.utils import timezone
from leaderboard.accounts.models import User, token_digest
from leaderboard.lti.models import LtiLink, Platform, PlatformMark, Registration
from tests.conftest import make_competition, person
address, now = "{address}", timezone.now()
urls = {{name: address + "/" + name for name in ("auth_url", "token_url", "keys_url")}}
platform = Platform.objects.create(issuer=address, client_id="{client}", approved_at=now, keys={keys}, **urls)
deployment = platform.deployments.create(name="{deployment}", approved_at=now)
ada, bo = person("ada", can_host=True), person("bo")
pets = make_competition(ada)
platform.people.create(subject="ada", user=ada)
for number in range(6):
    link = LtiLink.objects.create(
        deployment=deployment, context=str(number), resource="r", competition=pets, roster_asked_at=now,
        memberships_url=address + "/members", lineitems_url=address + "/lineitems",
    )
    PlatformMark.objects.create(link=link, user=bo, subject="bo", points=5.0)
    Registration.objects.create(digest=str(number), used_at=now, configuration_url=address + "/configuration")
PlatformMark.objects.filter(link=link).update(state="stuck")
Registration.objects.create(digest=token_digest("code"))
olga = Client()
olga.force_login(User.objects.get(username="olga"))
print(link.pk, olga.cookies["sessionid"].value)
"""
RESET, OIDC = "/accounts/password/reset/", "/accounts/oidc/1/login/"
PEOPLE = [f"u{number}@example.org" for number in range(12)]


@pytest.mark.fault(45)
def test_resets_are_answered_while_the_mail_server_is_silent_and_sent_once_there_is_one(tmp_path: Path) -> None:
    with silent_server() as provider, ExitStack() as silence:
        port = silence.enter_context(silent_server())
        with running_site(
            tmp_path / "var",
            EMAIL_URL=f"smtp://127.0.0.1:{port}",
            OIDC_ISSUER=f"http://127.0.0.1:{provider}",
            OIDC_CLIENT_ID="leaderboard",
            OIDC_CLIENT_SECRET="secret",
            OIDC_DOMAINS="uni.example",
        ) as site:
            site.shell(
                "from leaderboard.accounts.models import User\n"
                f"for email in {PEOPLE}: User.objects.create_user(email.partition('@')[0], email, 'a-long-one-4711')"
            )
            dee = Caller(site.address)
            dee.post(RESET, email="no address")  # the first pages of a server take longer
            dee.longest = 0.0
            for email in PEOPLE:
                assert dee.post(RESET, email=email).status_code == 200
                assert dee.get("/healthz").status_code == 200
            page = dee.post(OIDC)
            assert page.status_code == 503
            assert "Wait a minute, then try again." in page.text
            assert dee.longest <= patience(), "a second, on a quiet machine"
            waiting = "SELECT count(*) FROM common_outgoingemail"
            tried = f"{waiting} WHERE refused_all_at IS NOT NULL"
            until(lambda: site.sql(tried) == [(1,)], every=0.5, what="a try without an answer")
            assert site.sql(waiting) == [(12,)], "nothing is lost, and eleven wait without a try"
            silence.close()
            with taking_server(port) as server:
                # A minute later.
                site.sql("UPDATE common_outgoingemail SET due_at = '2020-01-01', refused_all_at = NULL")
                until(lambda: len(server.received) == 12, what="all e-mails")
                begun = time.monotonic()
                dee.post(RESET, email=PEOPLE[0])
                until(lambda: len(server.received) == 13, seconds=5, what="one more")
                assert time.monotonic() - begun < 5 * patience()
                until(lambda: site.sql(waiting) == [(0,)], what="the end of the rows")
            links = {link for text in server.received for link in re.findall(r"/accounts/password/reset/key/\S+", text)}
            assert len(links) >= 12


@dataclass
class Browser:
    """A browser at a site with a silent learning platform; `waits` are the seconds of each answer."""

    site: Site
    fake: FakePlatform
    waits: list[float]

    def __post_init__(self) -> None:
        self.session = requests.Session()
        self.session.hooks["response"].append(lambda answer, **_: self.waits.append(answer.elapsed.total_seconds()))

    def ask(self, path: str, method: str = "GET", status: int = 200, **fields: str) -> requests.Response:
        address = urljoin(self.site.address, path)
        headers = {"X-CSRFToken": self.session.cookies.get("csrftoken") or ""}
        answer = self.session.request(method, address, data=fields, headers=headers, allow_redirects=False, timeout=60)
        assert answer.status_code == status, (path, answer.status_code)
        return answer

    def launch(self, subject: str, *, roles: list[str], context: str, kid: str = "k1", status: int = 303) -> str:
        """A whole launch; where it leads."""
        target = f"{self.site.address}/lti/launch/"
        login = {"iss": self.fake.address, "login_hint": "7", "target_link_uri": target}
        query = parse_qs(urlsplit(self.ask("/lti/login/", "POST", 302, **login).headers["Location"]).query)
        further: Any = {CLAIM + "target_link_uri": target, CLAIM + "context": {"id": context}}
        further[CLAIM + "resource_link"] = {"id": "r"}
        token = self.fake.token(self.fake.claims(subject, roles=roles, nonce=query["nonce"][0], **further), kid=kid)
        answer = self.ask("/lti/launch/", "POST", status, id_token=token, state=query["state"][0])
        return answer.headers.get("Location", "")


@pytest.mark.fault(45)
def test_a_silent_learning_platform_keeps_no_page_waiting_and_loses_no_mark(tmp_path: Path) -> None:
    with silent_server() as port, running_site(tmp_path / "var", LTI_PLATFORM_HOSTS="127.0.0.1") as site:
        fake, waits = FakePlatform(address=f"http://127.0.0.1:{port}"), list[float]()
        keys = {"keys": [jwk_of(platform_key(), fake.kid)]}
        facts = {"address": fake.address, "client": CLIENT_ID, "deployment": DEPLOYMENT, "keys": keys}
        link, session = site.shell(SILENT_PLATFORM.format(**facts)).split()
        tried = "SELECT count(*) FROM lti_platform WHERE keys_tried_at IS NOT NULL"
        until(lambda: site.sql(tried) == [(1,)], seconds=60, every=0.5, what="a question to the platform")
        dee, cy, mia, ada, olga = (Browser(site, fake, waits) for _ in range(5))
        olga.session.cookies.set("sessionid", session)
        configuration = f"?openid_configuration={fake.address}/configuration"
        dee.ask("/lti/register/code/" + configuration)
        dee.ask("/lti/jwks/")  # makes the key
        waits.clear()
        begun = time.monotonic()
        while time.monotonic() - begun < 20:
            for path in ("/", "/healthz", "/lti/jwks/", "/lti/register/code/?seen"):
                dee.ask(path)
            dee.launch("dee", roles=LEARNER, context="0", kid="new", status=400)
            assert cy.launch("cy", roles=LEARNER, context="0") == "/c/pets/"
            cy.ask("/c/pets/")
            assert mia.launch("mia", roles=INSTRUCTOR, context="of mia") == "/lti/connect/"
            mia.ask("/lti/connect/")
            mia.ask("/lti/connect/", "POST", 303, competition="none")
            mia.ask("/lti/account/", status=302)
            assert ada.launch("ada", roles=INSTRUCTOR, context="0") == "/host/pets/"
            ada.ask(f"/host/pets/people/roster/{link}/", "POST", 303)
            ada.ask(f"/host/pets/grades/columns/{link}/", "POST", 303)
            olga.ask("/lti/platforms/")
            olga.ask("/lti/platforms/", "POST", 303, action="approve", platform="1", name="Moodle")
            time.sleep(0.2)
        assert max(waits) <= patience(), "a second, on a quiet machine"
        waiting = "SELECT count(*) FROM lti_platformmark WHERE state = 'waiting'"
        assert site.sql(waiting) == [(6,)], "nothing is lost"
        until(lambda: site.sql("SELECT count(*) FROM lti_registration WHERE problem <> ''") != [(0,)], seconds=60)
