"""Ada's whole way to the launch on a site as the README starts it: its own worker measures."""

from __future__ import annotations

import os
import re
import signal
from http.cookiejar import CookieJar
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

import pytest

from tests.ground_truths.test_setup import ANSWERS, filled_in
from tests.processes import pages_worker
from tests.running_site import PASSWORD, Site, until

pytestmark = [pytest.mark.slow, pytest.mark.long]


class Browser:
    """Somebody at the site's pages without a script: forms are sent with the page's own token."""

    def __init__(self, site: Site) -> None:
        self.address = site.address
        self.opener: OpenerDirector = build_opener(HTTPCookieProcessor(CookieJar()))

    def get(self, path: str) -> str:
        with self.opener.open(self.address + path, timeout=60) as answer:
            return str(answer.read().decode())

    def send(self, path: str, fields: dict[str, str], *, file: str = "", waits: bool = True, to: str = "") -> str:
        """Fill in a form of a page, sent `to` another address if one is given.

        Gives the path of the page that follows, once a worker has answered it.
        """
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.get(path))
        assert token, path
        sent = {**fields, "csrfmiddlewaretoken": token[1]}
        request_body, kind = urlencode(sent).encode(), "application/x-www-form-urlencoded"
        if file:
            request_body, kind = _with_file(sent, file), "multipart/form-data; boundary=----ada"
        request = Request(self.address + (to or path), request_body, {"Content-Type": kind})
        with self.opener.open(request, timeout=60) as answer:
            answer.read()
        return self.until_answered(str(answer.url)) if waits else str(answer.url).removeprefix(self.address)

    def until_answered(self, address: str) -> str:
        """Look at the page of a form again and again, until it leads on."""

        def look() -> str:
            with self.opener.open(address, timeout=60) as answer:
                answer.read()
                return "" if "/tasks/" in answer.url else str(answer.url)

        found = until(look, seconds=120, every=0.5, what="a worker's answer") if "/tasks/" in address else address
        return found.removeprefix(self.address)


def _with_file(fields: dict[str, str], text: str) -> bytes:
    parts = [f'------ada\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{fields[name]}\r\n' for name in fields]
    head = '------ada\r\nContent-Disposition: form-data; name="files"; filename="answers.csv"\r\n'
    return "".join([*parts, f"{head}Content-Type: text/csv\r\n\r\n{text}\r\n------ada--\r\n"]).encode()


@pytest.fixture(scope="module")
def olga(site: Site) -> Browser:
    """The operator, who may host, is there from the start."""
    browser = Browser(site)
    browser.send("/accounts/login/", {"login": "olga", "password": PASSWORD})
    return browser


def prepare(browser: Browser, slug: str) -> None:
    """From a file to the launch."""
    assert browser.send("/host/new/", {}, file=ANSWERS) == "/host/predict-label/setup/"
    fields = filled_in(browser.get("/host/predict-label/setup/"))
    named = {**fields, "title": slug, "is_listed": "on", "create": "yes"}
    assert browser.send("/host/predict-label/setup/", named) == f"/host/{slug}/setup/launch/"


def wait_for_preview(browser: Browser, slug: str) -> None:
    """Creating the competition sent the sample on its way."""
    until(lambda: "Private, only for you:" in browser.get(f"/host/{slug}/setup/launch/"), what="the sample's score")


def test_the_worker_measures_the_preview_and_olga_launches(site: Site, olga: Browser) -> None:
    prepare(olga, "pond")
    wait_for_preview(olga, "pond")
    assert site.get("/c/pond/")[0] == 404
    olga.send("/host/pond/setup/launch/", {}, to="/host/pond/launch/")
    assert site.get("/c/pond/")[0] == 200
    look = (
        "from leaderboard.competitions.models import Competition\n"
        "pond = Competition.objects.get(slug='pond')\n"
        "print(pond.submissions.count(), pond.teams.count())"
    )
    assert site.shell(look).split() == ["1", "0"], "the sample as a baseline"


def test_files_whose_worker_was_killed_are_read_by_the_next_one(site: Site, olga: Browser) -> None:
    """Killed with the answers half read: the form is still there, and a draft is made of it once."""
    rows = "".join(f"{number},c{number % 7}\n" for number in range(200_000))
    page = olga.send("/host/new/", {}, file=f"id,animal\n{rows}", waits=False)
    assert page.startswith("/tasks/")
    until(lambda: "Working on it." in olga.get(page), what="a worker that reads the files")
    os.kill(pages_worker(site), signal.SIGKILL)
    assert olga.until_answered(site.address + page) == "/host/predict-animal/setup/"
    look = (
        "from leaderboard.competitions.models import Competition, PageTask\n"
        "task = PageTask.objects.order_by('created_at').last()\n"
        "print(task.tries, Competition.objects.filter(slug__startswith='new-competition').count())"
    )
    assert site.shell(look).split() == ["2", "0"]
