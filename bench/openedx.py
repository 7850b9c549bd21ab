"""Launches, class list and marks against Open edX's own platform code: `python -m bench.openedx`.

Makes an environment with `lti-consumer-xblock` in a temporary folder, starts its server beside a started site, and lets
a teacher and twenty students launch. Prints what arrived on both sides; exit status 1 if anything is missing.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.running_site import Site, free_port, running_site, until

STUDENTS = 20
PACKAGES = Path(__file__).with_name("openedx_requirements.txt")
PLATFORM = Path(__file__).with_name("openedx_platform.py")
SET_UP = """
from tests.conftest import make_competition, person
from leaderboard.lti.models import LtiPerson, Platform
ada = person("ada", can_host=True)
make_competition(ada)
LtiPerson.objects.create(platform=Platform.objects.get(), subject="ext-0", user=ada)
"""
RELEASE = """
from django.db import transaction
from leaderboard.competitions.models import Competition
from leaderboard.lti.marks import want_marks
from leaderboard.lti.models import LtiPerson
people = LtiPerson.objects.exclude(subject="ext-0")
with transaction.atomic():
    marks = {{one.user_id: ({points} + int(one.subject[4:]), "from a bench") for one in people}}
    want_marks(competition=Competition.objects.get(), marks=marks, out_of=100.0)
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = _environment(folder / "environment")
        platform_port = free_port()
        begun = time.monotonic()
        with (
            running_site(folder / "var", LTI_PLATFORM_HOSTS="127.0.0.1") as site,
            _platform(python, platform_port, site.address, folder) as about,
        ):
            found = _measure_course(site, f"http://127.0.0.1:{platform_port}", about)
        print(json.dumps({**found, "seconds": round(time.monotonic() - begun, 1)}, indent=1))
    good = found["launches"] == STUDENTS == found["members"] == found["marks"] == found["corrected"]
    return 0 if good and found["listed"] == STUDENTS else 1


def _environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    install: list[str | Path] = [folder / "bin" / "pip", "install", "--quiet", "--require-hashes", "-r", PACKAGES]
    subprocess.run(install, check=True)
    return folder / "bin" / "python"


@contextmanager
def _platform(python: Path, port: int, tool: str, folder: Path) -> Iterator[dict[str, str]]:
    process = subprocess.Popen(
        [python, PLATFORM, str(port), tool, folder],
        stdout=subprocess.PIPE,
        stderr=(folder / "platform.log").open("w"),
        text=True,
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def _measure_course(site: Site, platform: str, about: dict[str, str]) -> dict[str, Any]:
    named = {
        "issuer": about["issuer"],
        "client-id": about["client_id"],
        "auth-url": about["oidc_callback"],
        "token-url": about["token_url"],
        "keys-url": about["keyset_url"],
        "deployment": about["deployment_id"],
        "family": "openedx",
    }
    site.manage("lti_platform", "add", *(part for name, value in named.items() for part in (f"--{name}", value)))
    site.shell(SET_UP)
    until(lambda: site.sql("SELECT 1 FROM lti_platform WHERE keys_fetched_at IS NOT NULL"), what="the keys")
    teacher = requests.Session()
    page = _launch(teacher, platform, 0)
    assert "/lti/connect/" in page.url, (page.url, page.text[-2000:])
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token is not None
    chosen = {"competition": "pets", "csrfmiddlewaretoken": token[1]}
    assert teacher.post(page.url, chosen, timeout=60).url.endswith("/host/pets/")
    until(lambda: site.sql("SELECT 1 FROM classroom_rosterdraft"), what="the class list")
    listed = site.sql("SELECT text FROM classroom_rosterdraft")[0][0].count("ext-")
    launches = sum(_launch(requests.Session(), platform, n).url.endswith("/c/pets/") for n in range(1, STUDENTS + 1))
    members = site.sql("SELECT count(*) FROM competitions_membership")[0][0]
    arrived = []
    for points in (50, 70):
        site.shell(RELEASE.format(points=points))
        wanted = {f"ext-{n}": float(points + n) for n in range(1, STUDENTS + 1)}

        def has_all(wanted: dict[str, float] = wanted) -> bool:
            result = requests.get(f"{platform}/result/", timeout=60).json()
            given = {one: mark[0] for one, mark in result["scores"].items()}
            published = {one: round(share * 100, 6) for one, share in result["published"].items()}
            return given == wanted == published

        until(has_all, seconds=90, what="the marks")
        arrived.append(len(wanted))
    return {"launches": launches, "members": members, "listed": listed, "marks": arrived[0], "corrected": arrived[1]}


def _launch(browser: requests.Session, platform: str, number: int) -> requests.Response:
    """From the platform's page to the site: two forms, of which the browser sends the second one by itself."""
    form = browser.get(f"{platform}/launch/{number}/", timeout=60)
    address = re.search(r'<form[^>]*action="([^"]+)"', form.text)
    assert address is not None, form.text[-2000:]
    fields = dict(re.findall(r'<input[^>]*name="(\w+)"[^>]*value="([^"]*)"', form.text))
    sent = {name: html.unescape(value) for name, value in fields.items()}
    return browser.post(html.unescape(address[1]), sent, timeout=60)


if __name__ == "__main__":
    sys.exit(main())
