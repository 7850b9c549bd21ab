"""Olga upgrades while the class hands in: the last release and the next one run side by side on the next one's
tables.

The last release is the newest tag `v…`; before the first tag it is the code as it is. The next release is the code as
it is with further columns, an index and a table, and with messages that the last release does not know.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import answers
from tests.running_site import ROOT, Site, free_port, until
from tests.servers import Lacking, postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.long]

SOURCES = ("leaderboard", "metrics", "templates", "docs", "pyproject.toml", "README.md", "LICENSE")
CLASS = ("bo", "cy", "dee")
NEXT = "the next release"
SET_UP = f"""
from tests.conftest import make_competition, enter, person
from leaderboard.accounts.models import ApiToken
pets = make_competition(person("ada", can_host=True), daily_attempts=1000)
for name in {CLASS}:
    enter(pets, user := person(name))
    print(ApiToken.issue(user, "test")[1])
"""


# --- two releases -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Release:
    """An environment that has one release installed, and Python's path to everything it stands on."""

    version: str
    venv: Path

    def command(self, *arguments: str) -> list[str]:
        return [str(self.venv / "bin" / "classboard"), *arguments]


def source_of_last_release(folder: Path) -> Path:
    """The code of the newest tag; without a tag, or outside of a clone, the code as it is."""
    git = ["git", "-C", str(ROOT)]
    newest = [*git, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"]
    found = subprocess.run(newest, capture_output=True, text=True, check=False)
    if found.returncode:
        return ROOT
    folder.mkdir()
    archive = subprocess.run([*git, "archive", found.stdout.strip()], capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def source_of_next_release(folder: Path) -> Path:
    """A copy of the code with a higher version, a higher number of its messages, and a migration that only adds."""
    for name in SOURCES:
        copying = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        folder.mkdir(exist_ok=True)
        copying(ROOT / name, folder / name)
    replace(folder / "leaderboard/__init__.py", r'^__version__ = ".+"$', '__version__ = "9999.0.0"')
    replace(folder / "leaderboard/competitions/wake_ups.py", r"^SCHEMA = \d+$", "SCHEMA = 9999")
    models = folder / "leaderboard/competitions/models/submission.py"
    columns = f'    taken_by = models.CharField(max_length=20, null=True, db_index=True, default="{NEXT}")\n'
    columns += "    weight = models.PositiveSmallIntegerField(db_default=1)\n"
    replace(models, r"^(?=    size = )", columns)
    replace(models, r"^(?=class Conversion)", "class Seal(models.Model):\n    pass\n\n\n")
    environment = {**os.environ, "VAR_DIR": str(folder / "var")}
    making = [sys.executable, "-m", "leaderboard", "makemigrations", "competitions", "-v0"]
    subprocess.run(making, cwd=folder, env=environment, check=True)
    return folder


def replace(file: Path, pattern: str, by: str) -> None:
    text, times = re.subn(pattern, by, file.read_text(), flags=re.M)
    assert times == 1, (file, pattern)
    file.write_text(text)


def install(source: Path, folder: Path) -> Release:
    """Build the wheel and install it; the libraries are those of this environment."""
    pip = [sys.executable, "-m", "pip"]
    building = ["wheel", "--no-build-isolation", "--no-deps", "--quiet", "--wheel-dir", str(folder)]
    subprocess.run([*pip, *building, str(source)], check=True)
    (wheel,) = folder.glob("*.whl")
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    installing = ["--python", str(venv / "bin" / "python"), "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*pip, *installing, str(wheel)], check=True)
    return Release(wheel.name.split("-")[1], venv)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Release, Release, Path]:
    """The last one, the next one, and the source of the last."""
    folder = tmp_path_factory.mktemp("releases")
    last = source_of_last_release(folder / "last")
    made = []
    for name, source in (("old", last), ("new", source_of_next_release(folder / "next"))):
        (folder / name).mkdir()
        made.append(install(source, folder / name))
    return made[0], made[1], last


# --- their services -----------------------------------------------------------------------------------------------


@dataclass
class Installation:
    """The site's common things: database, broker and volume."""

    folder: Path
    variables: dict[str, str]
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    number: Iterator[int] = field(default_factory=count)

    @property
    def environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
        return {
            **own,
            "HOME": str(self.folder),
            "PYTHONPATH": sysconfig.get_path("purelib"),
            "VAR_DIR": str(self.folder / "var"),
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
            **self.variables,
        }

    def run(self, release: Release, *arguments: str) -> str:
        """A command of one release."""
        command = release.command(*arguments)
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def shell(self, release: Release, code: str, *, tests: Path | None = None) -> list[str]:
        """Run Python that has the site's models as one release knows them; gives the lines it prints."""
        environment = self.environment
        if tests:
            environment["PYTHONPATH"] += f"{os.pathsep}{tests}"
        command = [str(release.venv / "bin" / "python"), "-c", "import django; django.setup()\n" + code]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def start(self, release: Release) -> Services:
        """Web server and worker as two services."""
        port, processes, logs = free_port(), [], []
        for parts in (["--only", "web", "--port", str(port)], ["--only", "worker"]):
            log = self.folder / f"{release.version} {next(self.number)}.log"
            with log.open("wb") as output:
                command = release.command("up", "--no-migrate", *parts)
                process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=output, stderr=output)
            self.running.append(process)
            processes.append(process)
            logs.append(log)
        placeholder: Any = None
        site = Site(f"http://127.0.0.1:{port}", self.folder, placeholder, {})
        services = Services(site, processes, logs)
        until(services.are_ready, seconds=90, every=0.2, what=f"{release.version} to be ready")
        return services

    def kill(self) -> None:
        for process in self.running:
            process.kill()
            process.wait(timeout=20)


@dataclass
class Services:
    """The services of one release."""

    site: Site
    processes: list[subprocess.Popen[bytes]]
    logs: list[Path]

    def are_ready(self) -> bool:
        for process, log in zip(self.processes, self.logs, strict=True):
            assert process.poll() is None, log.read_text()
        if not all("Running: " in log.read_text() for log in self.logs):
            return False
        status, _ = self.site.get("/readyz")
        self.site.hang_up()
        return status == 200

    @property
    def measured(self) -> int:
        """How many files its worker has measured."""
        return len(re.findall(r" measured .*status=scored", self.logs[1].read_text()))

    def stop(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process, log in zip(self.processes, self.logs, strict=True):
            assert process.wait(timeout=40) == 0, log.read_text()


# --- the class ----------------------------------------------------------------------------------------------------


class LoadBalancer:
    """The web servers that requests are sent to; one that is taken out gets no further ones."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.open_requests: dict[str, int] = {}
        self.sites: list[Site] = []
        self.known: list[Site] = []
        self.turn = count()

    def add(self, site: Site) -> None:
        with self.changed:
            self.open_requests[site.address] = 0
            self.sites.append(site)
            self.known.append(site)

    def take_out(self, site: Site) -> None:
        """Send it no further requests and wait for its answers."""
        with self.changed:
            self.sites.remove(site)
            assert self.changed.wait_for(lambda: not self.open_requests[site.address], timeout=60)

    @contextmanager
    def site(self) -> Iterator[Site]:
        with self.changed:
            site = self.sites[next(self.turn) % len(self.sites)]
            self.open_requests[site.address] += 1
        try:
            yield site
        finally:
            with self.changed:
                self.open_requests[site.address] -= 1
                self.changed.notify_all()


class Class:
    """People who hand in a file, look for its score, and hand in the next, all the time."""

    def __init__(self, tokens: list[str]) -> None:
        self.balancer = LoadBalancer()
        self.accepted: list[str] = []
        self.scored: set[str] = set()
        self.errors: list[object] = []
        self.is_over = threading.Event()
        work = [(self.submit, token) for token in tokens] + [(self.read, tokens[0])]
        self.threads = [threading.Thread(target=self.act, args=one) for one in work]

    def act(self, work: Callable[[str], None], token: str) -> None:
        try:
            work(token)
        finally:
            for site in self.balancer.known:
                site.hang_up()

    def submit(self, token: str) -> None:
        """Files one after the other, each when the one before has its score."""
        for number in count():
            if self.is_over.is_set():
                return
            with self.no_errors(), self.balancer.site() as site:
                status, made = site.upload("pets", token, answers(public=number % 6, private=number % 5))
                if status != 201:
                    self.errors.append((status, made))
                    continue
                self.accepted.append(str(made["id"]))
            with self.no_errors():
                until(lambda made=made: self.has_score(str(made["id"]), token), every=0.3)  # type: ignore[misc]

    def has_score(self, submission: str, token: str) -> bool:
        with self.balancer.site() as site:
            status, page = site.get(f"/api/v1/submissions/{submission}", token)
        if status != 200:
            self.errors.append((status, page))
        if is_scored := '"status": "scored"' in page or '"status":"scored"' in page:
            self.scored.add(submission)
        return is_scored or self.is_over.is_set()

    def read(self, token: str) -> None:
        """Pages that count and list what others hand in."""
        for path in (
            "/",
            "/readyz",
            "/healthz",
            "/api/v1/competitions/pets/leaderboard",
            "/metrics/accuracy/",
        ) * 10_000:
            if self.is_over.wait(0.1):
                return
            with self.no_errors(), self.balancer.site() as site:
                status, page = site.get(path, token)
                if status != 200:
                    self.errors.append((path, status, page[:500]))

    @contextmanager
    def no_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, HTTPException, AssertionError) as error:
            self.errors.append(error)

    def goes_on(self, files: int = 12) -> None:
        """Wait until so many further files have been handed in and scored."""
        enough = len(self.scored) + files
        until(lambda: self.errors or len(self.scored) >= enough, seconds=60, what=f"{files} further scores")
        assert self.errors == []

    def end(self) -> None:
        self.is_over.set()
        for thread in self.threads:
            if thread.is_alive():
                thread.join(timeout=60)


# --- the upgrade --------------------------------------------------------------------------------------------------

FACTS = """
import json
from leaderboard.competitions.models import DailyAttempts, Submission
rows = {str(pk): [status, taken] for pk, status, taken in Submission.objects.values_list("pk", "status", "taken_by")}
waiting = Submission.objects.filter(status="pending").exists()
print(json.dumps({"rows": rows, "waiting": waiting, "used": sum(DailyAttempts.objects.values_list("used", flat=True))}))
"""


def facts_once_all_is_scored(installation: Installation, following: Release) -> dict[str, Any]:
    def settled() -> dict[str, Any] | None:
        (line,) = installation.shell(following, FACTS)
        found: dict[str, Any] = json.loads(line)
        return None if found["waiting"] else found

    return until(settled, seconds=60, every=0.5, what="the last score")


@pytest.fixture(params=["postgresql", "sqlite"])
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack:
        try:
            variables = {
                "REDIS_URL": stack.enter_context(redis_server()).url,
                "SECRET_KEY": "the same for both releases",
            }
            if request.param == "postgresql":
                variables["DATABASE_URL"] = stack.enter_context(postgres()).new_database("site")
        except Lacking as reason:
            pytest.skip(str(reason))
        made = Installation(tmp_path, variables)
        stack.callback(made.kill)
        yield made


@pytest.mark.takes(90)
def test_a_class_hands_in_through_an_upgrade_and_back_and_notices_nothing(
    installation: Installation, releases: tuple[Release, Release, Path]
) -> None:
    last, following, source = releases
    assert last.version != following.version
    installation.run(last, "migrate", "-v0")
    tokens = installation.shell(last, SET_UP, tests=source)[-len(CLASS) :]
    old = installation.start(last)
    students = Class(tokens)
    students.balancer.add(old.site)
    try:
        for thread in students.threads:
            thread.start()
        students.goes_on()

        installation.run(following, "migrate", "-v0")
        students.goes_on()
        new = installation.start(following)
        students.balancer.add(new.site)
        students.goes_on(24)
        until(lambda: min(old.measured, new.measured) > 0, seconds=60, what="both releases to measure")

        students.balancer.take_out(old.site)
        old.stop()
        students.goes_on()

        back = installation.start(last)
        students.balancer.add(back.site)
        students.goes_on()
        students.balancer.take_out(new.site)
        new.stop()
        students.goes_on()
    finally:
        students.end()
    assert students.errors == []
    facts = facts_once_all_is_scored(installation, following)
    assert {one: status for one, (status, _) in facts["rows"].items()} == dict.fromkeys(students.accepted, "scored")
    assert facts["used"] == len(students.accepted)
    assert {taken_by for _, taken_by in facts["rows"].values()} == {None, NEXT}, "both releases took files"
    for release in (last, following):
        installation.run(release, "check_consistency")
        installation.run(release, "rebuild_standings", "--check")
    back.stop()
