"""Registration of platforms: by themselves through a one-time link, or typed; and addresses that are no platform's."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import urllib3
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.lti import registering
from leaderboard.lti.addresses import NoAnswer, PlatformSession
from leaderboard.lti.models import Platform, Registration
from tests.lti.platforms import INSTRUCTOR, FakePlatform, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def moodle(settings: LazySettings) -> Iterator[FakePlatform]:
    settings.LTI_PLATFORM_HOSTS = ["127.0.0.1"]
    with serving(FakePlatform()) as fake:
        yield fake


@pytest.fixture
def olga(settings: LazySettings) -> Client:
    settings.SITE_URL = "http://testserver"
    client = Client()
    client.force_login(User.objects.create(username="olga", is_superuser=True, is_staff=True))
    return client


def new_link(olga: Client) -> str:
    page = olga.post("/lti/platforms/", {"action": "new"}).content.decode()
    found = re.search(r"http://testserver(/lti/register/[^/]+/)", page)
    assert found is not None
    return found[1]


def ask_all() -> None:
    for number in registering.registrations_to_ask():
        registering.ask_platform(number)


def looks_again(answer: object) -> str:
    return str(answer["Refresh"]).partition("url=")[2]  # type: ignore[index]


def test_a_platform_registers_itself_and_waits_for_approval(moodle: FakePlatform, olga: Client) -> None:
    link = new_link(olga)
    given = {"openid_configuration": f"{moodle.address}/configuration", "registration_token": "t"}
    first = Client().get(link, given)
    assert first.status_code == 200
    assert Client().get(looks_again(first)).headers.get("Refresh")
    ask_all()
    done = Client().get(looks_again(first))
    assert done.status_code == 200
    assert "Refresh" not in done.headers
    platform = Platform.objects.get(client_id="made-by-platform")
    assert not platform.is_on
    assert moodle.registered[0]["redirect_uris"][0].endswith("/lti/launch/")
    assert not Registration.objects.exclude(token="").exists()
    olga.post("/lti/platforms/", {"action": "approve", "platform": platform.pk, "name": "Our Moodle"})
    approved = Platform.objects.get(pk=platform.pk)
    assert approved.is_on
    assert str(approved) == "Our Moodle"
    registering.fetch_keys(approved.pk)
    assert Platform.objects.get(pk=platform.pk).keys["keys"]


def test_only_the_answer_of_a_registration_may_stand_in_a_frame(moodle: FakePlatform, olga: Client) -> None:
    answer = Client().get(new_link(olga), {"openid_configuration": f"{moodle.address}/configuration"})
    assert "X-Frame-Options" not in answer.headers
    assert "frame-ancestors *" in answer["Content-Security-Policy"]
    assert not answer.cookies
    for path in ("/lti/platforms/", "/"):
        assert "frame-ancestors 'none'" in olga.get(path)["Content-Security-Policy"]


def test_a_registration_link_works_once_and_for_a_day(moodle: FakePlatform, olga: Client) -> None:
    given = {"openid_configuration": f"{moodle.address}/configuration"}
    link = new_link(olga)
    assert Client().get(link, given).status_code == 200
    assert Client().get(link, given).status_code == 400
    assert Client().get("/lti/register/wrong/", given).status_code == 400
    old = new_link(olga)
    Registration.objects.filter(used_at=None).update(
        created_at=Registration.objects.latest("created_at").created_at - timedelta(hours=25)
    )
    assert Client().get(old, given).status_code == 400


HOSTILE = {
    "this machine": "https://localhost/configuration",
    "this machine by number": "https://127.0.0.1/configuration",
    "this machine by one number": "https://2130706433/configuration",
    "this machine in hexadecimal": "https://0x7f000001/configuration",
    "link-local": "https://169.254.169.254/latest/meta-data/",
    "private network": "https://10.0.0.1/configuration",
    "IPv6 of this machine": "https://[::1]/configuration",
    "IPv6 with IPv4 inside": "https://[::ffff:127.0.0.1]/configuration",
    "a file": "file:///etc/passwd",
    "no https": "http://example.com/configuration",
    "another port": "https://example.com:8443/configuration",
    "a user": "https://a:b@example.com/configuration",
    "no host": "https:///configuration",
    "nothing": "",
    "another scheme": "gopher://example.com/",
    "a line": "https://example.com/\r\nHost: x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_address_that_is_no_platforms_is_never_asked(name: str, olga: Client, settings: LazySettings) -> None:
    settings.LTI_PLATFORM_HOSTS = []
    first = Client().get(new_link(olga), {"openid_configuration": HOSTILE[name], "registration_token": "t"})
    ask_all()
    assert not Platform.objects.exists()
    found = Registration.objects.get()
    assert found.problem
    assert not found.token
    assert first.status_code == 200


def test_a_name_that_leads_inward_is_not_asked(
    olga: Client, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of its addresses count, and the connection goes to the one that was looked at."""
    both = [(0, 0, 0, "", ("93.184.216.34", 443)), (0, 0, 0, "", ("127.0.0.1", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with PlatformSession() as session, pytest.raises(NoAnswer):
        session.get("https://platform.example/configuration")


INWARD = {
    "this machine": "127.0.0.1",
    "shared by a provider": "100.64.0.1",
    "IPv4 in an old IPv6": "::7f00:1",
    "IPv4 behind a translator": "64:ff9b::7f00:1",
    "IPv4 in 6to4": "2002:7f00:1::1",
    "IPv4 in Teredo": "2001:0:7f00:1::",
    "of one site": "fec0::1",
    "of one link": "fe80::1%eth0",
    "unique local": "fd00::1",
    "many": "ff0e::1",
}


@pytest.mark.parametrize("name", INWARD)
def test_no_connection_goes_to_an_address_inside(
    name: str, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LTI_PLATFORM_HOSTS = []
    connected = list[Any]()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (INWARD[name], 443))])
    monkeypatch.setattr(urllib3.util.connection, "create_connection", lambda *given, **_: connected.append(given))
    with PlatformSession() as session, pytest.raises(NoAnswer):
        session.get("https://platform.example/configuration")
    assert not connected


@contextmanager
def tcp_server(answer: bytes, *, is_endless: bool = False) -> Iterator[str]:
    """A server that sends these bytes to each request, for ever if it is endless."""
    server = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.recv(4096)
                    connection.sendall(answer)
                    while is_endless and not over.is_set():
                        connection.sendall(b"x" * 65_536)
                    if not answer:
                        over.wait(60)
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
    finally:
        over.set()
        server.close()


BAD_SERVERS = {
    "redirect inward": (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", False),
    "endless": (b"HTTP/1.1 200 OK\r\n\r\n", True),
    "silent": (b"", False),
    "no JSON": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", False),
    "deep JSON": (b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000, False),
    "no HTTP": (b"hello\r\n\r\n", False),
}


@pytest.mark.parametrize("name", BAD_SERVERS)
def test_a_server_that_answers_badly_is_given_up(
    name: str, olga: Client, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LTI_PLATFORM_HOSTS = ["127.0.0.1"]
    monkeypatch.setattr(PlatformSession.__init__, "__defaults__", (1.0,))
    answer, is_endless = BAD_SERVERS[name]
    with tcp_server(answer, is_endless=is_endless) as address:
        Client().get(new_link(olga), {"openid_configuration": address})
        ask_all()
    assert Registration.objects.get().problem
    assert not Platform.objects.exists()


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "no issuer": {"issuer": None},
    "issuer of another host": {"issuer": "https://elsewhere.example"},
    "token address in this network": {"token_endpoint": "http://10.0.0.1/token"},
    "keys in a file": {"jwks_uri": "file:///etc/passwd"},
    "no registration": {"registration_endpoint": None},
    "another scheme": {"authorization_endpoint": "https://127.0.0.1/auth"},
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_that_names_other_hosts_is_refused(
    name: str, moodle: FakePlatform, olga: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = moodle.configuration()
    monkeypatch.setattr(moodle, "configuration", lambda: {**whole, **CONFIGURATIONS[name]})
    Client().get(new_link(olga), {"openid_configuration": f"{moodle.address}/configuration"})
    ask_all()
    assert Registration.objects.get().problem
    assert not Platform.objects.exists()
    assert not moodle.registered


def typed(moodle: FakePlatform, *more: str) -> str:
    out = StringIO()
    named = {"issuer": "", "auth-url": "/auth", "token-url": "/token", "keys-url": "/keys"}
    given = [part for name, path in named.items() for part in (f"--{name}", moodle.address + path)]
    call_command("lti_platform", "add", *given, "--client-id", "c", "--deployment", "d-1", *more, stdout=out)
    return out.getvalue()


def test_olga_types_a_platform_lists_it_and_switches_it_off(moodle: FakePlatform) -> None:
    number = typed(moodle, "--teachers-may-host").split()[0]
    platform = Platform.objects.get()
    assert platform.is_on
    assert platform.teachers_may_host
    out = StringIO()
    call_command("lti_platform", "list", stdout=out)
    assert moodle.address in out.getvalue()
    call_command("lti_platform", "off", number, stdout=StringIO())
    assert not Platform.objects.get(pk=platform.pk).is_on
    with pytest.raises(CommandError):
        typed(moodle)
    with pytest.raises(CommandError):
        call_command("lti_platform", "off", "999")


def test_an_address_of_a_private_network_cannot_be_typed(moodle: FakePlatform, settings: LazySettings) -> None:
    settings.LTI_PLATFORM_HOSTS = []
    with pytest.raises(CommandError):
        typed(moodle)
    assert not Platform.objects.exists()


def test_lti_link_prints_an_address_that_works_once(settings: LazySettings) -> None:
    settings.SITE_URL = "http://testserver"
    out = StringIO()
    call_command("lti_link", stdout=out)
    path = "/" + out.getvalue().strip().partition("://")[2].partition("/")[2]
    given = {"openid_configuration": "https://lms.example.edu/configuration"}
    assert [Client().get(path, given).status_code for _ in range(2)] == [200, 400]


def test_without_an_address_of_this_site_there_is_no_link(olga: Client, settings: LazySettings) -> None:
    """The platform would be told addresses without a host."""
    settings.SITE_URL = ""
    assert "SITE_URL" in olga.get("/lti/platforms/").content.decode()
    olga.post("/lti/platforms/", {"action": "new"})
    with pytest.raises(CommandError):
        call_command("lti_link")
    assert not Registration.objects.exists()


def test_a_look_at_a_registration_link_does_not_use_it_up(moodle: FakePlatform, olga: Client) -> None:
    link = new_link(olga)
    assert olga.get(link).status_code == 200
    assert Client().get(link, {"openid_configuration": f"{moodle.address}/configuration"}).status_code == 200
    assert olga.get(link).status_code == 400


def test_an_unknown_deployment_knocks_and_olga_lets_it_in(moodle: FakePlatform, olga: Client) -> None:
    platform = moodle.approve()
    name = {"https://purl.imsglobal.org/spec/lti/claim/deployment_id": "d-2"}
    assert moodle.launch(Client(), "ada", roles=INSTRUCTOR, **name).status_code == 403
    waiting = platform.deployments.get(name="d-2")
    olga.post("/lti/platforms/", {"action": "deployment", "platform": platform.pk, "deployment": waiting.pk})
    assert moodle.launch(Client(), "ada", roles=INSTRUCTOR, **name).status_code == 303


def test_a_platform_that_is_switched_off_lets_nobody_in(moodle: FakePlatform, olga: Client) -> None:
    platform = moodle.approve()
    client = Client()
    asked = moodle.begin(client)
    olga.post("/lti/platforms/", {"action": "off", "platform": platform.pk})
    token = moodle.token(moodle.claims("ada", roles=INSTRUCTOR, nonce=asked["nonce"]))
    assert client.post("/lti/launch/", {"id_token": token, "state": asked["state"]}).status_code == 403
    assert not User.objects.exclude(username="olga").exists()
