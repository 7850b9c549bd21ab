"""Servers outside that accept a connection and say nothing: no page waits for them, and nothing is lost."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
import requests

from tests.lti.platforms import new_key
from tests.mail_servers import silent_server, taking_server
from tests.running_site import patience, running_site, until
from tests.visitors import Caller

pytestmark = [pytest.mark.slow, pytest.mark.long]

SILENT_PLATFORM = """
from django.utils import timezone
from leaderboard.lti.models import LtiLink, Platform, PlatformMark, Registration
from tests.conftest import make_competition, person
address, now = "{address}", timezone.now()
urls = {{name: address + name for name in ("auth_url", "token_url", "keys_url")}}
platform = Platform.objects.create(issuer=address, client_id="1", approved_at=now, **urls)
deployment = platform.deployments.create(name="1", approved_at=now)
pets, bo = make_competition(person("ada", can_host=True)), person("bo")
for number in range(6):
    link = LtiLink.objects.create(
        deployment=deployment, context=str(number), resource="r", competition=pets, roster_asked_at=now,
        memberships_url=address + "members", lineitems_url=address + "lineitems",
    )
    PlatformMark.objects.create(link=link, user=bo, subject="bo", points=5.0)
    Registration.objects.create(digest=str(number), used_at=now, configuration_url=address + "configuration")
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


@pytest.mark.fault(45)
def test_a_silent_learning_platform_keeps_no_page_waiting_and_loses_no_mark(tmp_path: Path) -> None:
    with silent_server() as port, running_site(tmp_path / "var", LTI_PLATFORM_HOSTS="127.0.0.1") as site:
        site.shell(SILENT_PLATFORM.format(address=f"http://127.0.0.1:{port}/"))
        tried = "SELECT count(*) FROM lti_platform WHERE keys_tried_at IS NOT NULL"
        until(lambda: site.sql(tried) == [(1,)], seconds=60, every=0.5, what="a question to the platform")
        dee = Caller(site.address)
        dee.get("/lti/jwks/")  # makes the key
        dee.longest = 0.0
        login = {
            "iss": f"http://127.0.0.1:{port}/",
            "login_hint": "7",
            "target_link_uri": f"{site.address}/lti/launch/",
        }
        begun = time.monotonic()
        while time.monotonic() - begun < 20:
            for path in ("/", "/healthz", "/lti/jwks/", "/lti/register/wrong/"):
                assert dee.get(path).status_code < 500
            answer = requests.post(f"{site.address}/lti/login/", login, allow_redirects=False, timeout=60)
            assert answer.status_code == 302
            state = parse_qs(urlsplit(answer.headers["Location"]).query)["state"][0]
            form = {"state": state, "id_token": jwt.encode({}, new_key(), "RS256", {"kid": "k"})}
            launch = requests.post(f"{site.address}/lti/launch/", form, cookies=answer.cookies, timeout=60)
            assert launch.status_code == 400
            dee.longest = max(dee.longest, answer.elapsed.total_seconds(), launch.elapsed.total_seconds())
            time.sleep(0.2)
        assert dee.longest <= patience(), "a second, on a quiet machine"
        waiting = "SELECT count(*) FROM lti_platformmark WHERE state = 'waiting'"
        assert site.sql(waiting) == [(6,)], "nothing is lost"
        until(lambda: site.sql("SELECT count(*) FROM lti_registration WHERE problem <> ''") != [(0,)], seconds=60)
