"""The people of the tests: Ada hosts, Bo and Cy compete, Dee is a stranger, Olga operates the server."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from django.conf import LazySettings
from django.core import mail
from django.core.cache import caches
from django.core.management.commands.migrate import Command as MigrateCommand
from django.db import connection
from django.test import Client, override_settings
from django.utils import timezone
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from whitenoise.middleware import WhiteNoiseMiddleware

from leaderboard.accounts.models import User
from leaderboard.boards import board_cache
from leaderboard.classroom import joining
from leaderboard.common import broker
from leaderboard.common.claims import Claim
from leaderboard.common.made_files import make_wheel, make_worked_examples
from leaderboard.competitions import page_tasks, wake_ups
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Membership, Submission, TruthDraft
from leaderboard.ground_truths.services import drafts, publishing
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.operations import consistency
from leaderboard.scoring import client as scorer_client
from leaderboard.scoring import page_jobs, table_jobs
from leaderboard.submissions import claims, converting, outside_queue, queue, score, submitting, sweep
from metrics.core import custom
from tests import databases
from tests.common.languages import second_language
from tests.lock_order import watching
from tests.recordings import recorded
from tests.running_site import Site, running_site
from tests.scorer_in_process import score_here

TRUTH = "id,label,Usage\n" + "".join(
    f"{i},{'cat' if i % 3 else 'dog'},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 13)
)
ANSWERS = {i: "cat" if i % 3 else "dog" for i in range(1, 13)}
_folders = count(1)
_reports: dict[str, str] = {}

# How busy the machine is says nothing of a law.
hypothesis_settings.register_profile(
    "house", hypothesis_settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("house")


def answers(**wrong: int) -> bytes:
    """A submission for `TRUTH`: perfect, but for the first `wrong["public"]` and `wrong["private"]` rows."""
    given = dict(ANSWERS)
    odd, even = [i for i in given if i % 2], [i for i in given if i % 2 == 0]
    for i in odd[: wrong.get("public", 0)] + even[: wrong.get("private", 0)]:
        given[i] = "bird"
    return ("id,label\n" + "".join(f"{i},{label}\n" for i, label in given.items())).encode()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are processors: where a test waits for a browser or a worker, another one computes."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is for another database is left to the run that has it (`tests/machines/test_on_postgres.py` starts one).

    Long files come first: at the end of a run the workers get short ones, and none waits long for the last.
    """
    other = "sqlite" if connection.vendor == "postgresql" else "postgres"
    left = [item for item in items if item.get_closest_marker(other)]
    config.hook.pytest_deselected(items=left)
    gone = set(left)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        if item not in gone:
            files.setdefault(item.path, []).append(item)
    items[:] = [item for tests in sorted(files.values(), key=_weight, reverse=True) for item in tests]


def _weight(tests: list[pytest.Item]) -> float:
    """About how many seconds a file takes: what its tests begin with says more than how many they are."""
    return sum(_seconds(item) for item in tests)


def _seconds(item: pytest.Item) -> float:
    if found := item.get_closest_marker("takes"):
        return float(found.args[0])
    if item.get_closest_marker("slow") or item.get_closest_marker("browser"):
        return 3
    begins_with = getattr(item, "fixturenames", ())
    if "scene" in begins_with:
        return 2
    return 0.15 if "db" in begins_with or item.get_closest_marker("django_db") else 0.02


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end; Python need not look through them again and again, nor so often
    through what is new (8 % of the time)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


@pytest.fixture(autouse=True, scope="session")
def migrated_once_for_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(databases.FOLDER, str(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder))
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, migrated_once_for_all_workers: None) -> None:
    """The database of the tests begins as a copy; every later `migrate` is the real one."""

    def begin(*_: Any, **__: Any) -> None:
        copying.stop()
        connection.ensure_connection()
        databases.copy_into(connection.connection)

    copying = patch.object(MigrateCommand, "handle", begin)
    if connection.vendor == "sqlite":
        copying.start()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """What a thread or the event loop of a browser left open is closed: PostgreSQL drops no database that somebody
    uses."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            others = "datname = current_database() AND pid <> pg_backend_pid()"
            cursor.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")


@pytest.fixture(autouse=True, scope="session")
def custom_metrics_are_loaded_here() -> None:
    """Those of the tests mean no harm; `tests/scorer` has sealed processes load them."""
    custom.set_inspector(custom.inspect_here)


@pytest.fixture(autouse=True, scope="session")
def cheap_passwords_and_counts_of_this_process_alone() -> Iterator[None]:
    """A password costs no time, a site that runs on this machine does not count along, and e-mails stay here."""
    memory = "django.core.cache.backends.locmem.LocMemCache"
    with override_settings(
        CACHES={name: {"BACKEND": memory, "LOCATION": name} for name in ("default", "alone", "local")},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        EMAIL_SERVER_BACKEND="django.core.mail.backends.locmem.EmailBackend",
    ):
        yield


@pytest.fixture(autouse=True, scope="session")
def static_files_found_once() -> Iterator[None]:
    """Every client of a test loads the middleware again, which looks through all folders of static files."""
    look, found = WhiteNoiseMiddleware.add_files_from_finders, dict[str, Any]()

    def look_once(self: Any) -> None:
        if not found:
            look(self)
            found.update(self.files)
        self.files.update(found)

    with patch.object(WhiteNoiseMiddleware, "add_files_from_finders", look_once):
        yield


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pytest's own looks through the folders of all earlier tests first, which is most of the set-up of a small one."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder: Path = tmp_path_factory.getbasetemp() / f"{name}{next(_folders)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def own_folder(settings: LazySettings, tmp_path: Path) -> None:
    """Every test has its own files and begins to count at nothing."""
    settings.FILES_DIR = tmp_path / "files"
    queue._teams_served.clear()
    board_cache.boards.clear()
    board_cache.calm_versions.seconds = 0.0
    broker.left_alone["until"] = 0.0
    for cache in caches.all():
        cache.clear()


@pytest.fixture(scope="session")
def worked_examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the worked examples of all metrics."""
    folder = tmp_path_factory.mktemp("made")
    make_worked_examples(folder)
    return folder


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home scorer as `up` builds it."""
    return make_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def with_worked_examples(worked_examples: Path, settings: LazySettings) -> None:
    """The site as `up` prepares it."""
    settings.MADE_DIR = worked_examples


@pytest.fixture(autouse=True)
def same_splits_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets of splits differ from each other and are those of the last run: of few rows, some draws are warned of."""
    number = count(1)
    drawn = SimpleNamespace(token_hex=lambda size: hashlib.sha256(b"%d" % next(number)).hexdigest()[: 2 * size])
    monkeypatch.setattr("leaderboard.competitions.models.ground_truth.secrets", drawn)


@pytest.fixture(autouse=True)
def locks_in_order(request: pytest.FixtureRequest) -> Iterator[None]:
    """Two transactions that lock in the order of `docs/architecture.md` never wait for each other."""
    rooms = ("boards", "classroom", "competitions", "grades", "lti", "notifications", "submissions")
    if request.path.parent.name not in rooms:
        yield
        return
    with watching() as order:
        yield
    assert order.faults == []


@pytest.fixture(autouse=True)
def no_real_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests not marked `slow` do a child's work at home, ring no wake-up and fear no power cut."""
    if request.node.get_closest_marker("slow"):
        return
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(table_jobs, "run_page_job", answer_once)
    monkeypatch.setattr(scorer_client, "score_file", score_here)
    monkeypatch.setattr(scorer_client, "start_scorer", lambda: None)
    monkeypatch.setattr(wake_ups, "wake_workers", answer_forms_at_once)


def answer_forms_at_once(task: object, *ids: object, **_: object) -> bool:
    """Wake nobody; what the worker for pages would do is done before the next line."""
    if task == wake_ups.ANSWER_PAGE:
        page_tasks.answer_next_task(str(uuid.uuid4()))
    if task == wake_ups.PREVIEW_CONVERSION:
        converting.preview_conversion(str(ids[0]))
    return True


def with_clock(questions: int) -> int:
    """So many questions of a page and, on PostgreSQL, one for what time it is."""
    return questions + (connection.vendor == "postgresql")


def person(name: str, **fields: Any) -> User:
    return User.objects.create_user(name, f"{name}@example.org", "correct horse", **fields)


@pytest.fixture
def ada(db: None) -> User:
    return person("ada", can_host=True)


@pytest.fixture
def bo(db: None) -> User:
    return person("bo")


@pytest.fixture
def cy(db: None) -> User:
    return person("cy")


@pytest.fixture
def dee(db: None) -> User:
    return person("dee")


@pytest.fixture
def olga(db: None) -> User:
    return person("olga", is_staff=True, is_superuser=True, can_host=True)


def answer_once(job: str, **arguments: Any) -> dict[str, Any]:
    """A page's job, here; what is only looked at, and the same in thousands of tests, is looked at once."""
    if job not in ("check_truth", "suggest_metrics") or os.environ.get("METRICS_DIR"):
        return page_jobs.do_job(job, **arguments)
    asked = json.dumps([job, arguments, _contents_of(arguments)], sort_keys=True, default=str)
    for path in _paths_in(arguments):
        asked = asked.replace(json.dumps(path), "")
    if asked not in _reports:
        _reports[asked] = json.dumps(page_jobs.do_job(job, **arguments))
    report: dict[str, Any] = json.loads(_reports[asked])
    return report


def _paths_in(value: Any) -> list[str]:
    if isinstance(value, str) and value.startswith("/"):
        return [value]
    if isinstance(value, dict):
        return [path for one in value.values() for path in _paths_in(one)]
    return []


def _contents_of(arguments: dict[str, Any]) -> list[str]:
    return [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in _paths_in(arguments)]


def make_competition(host: User, *, launched: bool = True, truth: str = TRUTH, **fields: Any) -> Competition:
    """Ada's competition: accuracy on twelve rows, six public and six private."""
    how = {"launched": launched, "truth": truth, **fields}
    return recorded(host, how, lambda: _make_competition(host, **how))


def _make_competition(host: User, *, launched: bool, truth: str, **fields: Any) -> Competition:
    metric = fields.pop("metric", "accuracy")
    params = fields.pop("params", {})
    secondary = fields.pop("secondary", ())
    now = timezone.now()
    competition = competitions.create_competition(
        user=host,
        **{
            "slug": "pets",
            "title": "Cats or dogs",
            "overview": "Which is it?",
            "rules": "Be fair.",
            "opens_at": now - timedelta(days=1),
            "closes_at": now + timedelta(days=1),
            **fields,
        },
    )
    with patch.object(table_jobs, "run_page_job", answer_once):
        save_truth(competition, truth, metric=metric, params=params, secondary=tuple(secondary))
        publishing.publish_draft(competition=competition, user=host)
    if launched:
        publishing.launch_competition(competition=competition)
    return competition


def save_truth(competition: Competition, truth: str | bytes, **fields: Any) -> TruthDraft:
    """Upload answers as the draft: to be scored by accuracy, if `fields` of the spec say nothing else."""
    settings = {"metric": "accuracy", "file_name": "truth.csv", **fields}
    data = truth.encode() if isinstance(truth, str) else truth
    return drafts.save_draft(competition=competition, spec=GroundTruthSpec(chunks=[data], **settings))


@pytest.fixture
def hers(ada: User) -> Client:
    """Ada's browser."""
    client = Client()
    client.force_login(ada)
    return client


@pytest.fixture
def draft(ada: User) -> Competition:
    """Ada's competition before its answers."""
    now = timezone.now()
    return competitions.create_competition(
        user=ada, slug="pets", title="Pets", overview="?", opens_at=now, closes_at=now + timedelta(days=1)
    )


@pytest.fixture
def pets(ada: User) -> Competition:
    return make_competition(ada)


def enter(competition: Competition, user: User) -> Membership:
    """Join and accept the rules."""
    membership = joining.enter_competition(user=user, competition=competition)
    joining.accept_rules(membership=membership)
    return Membership.objects.select_related("team", "competition").get(pk=membership.pk)


def submit(competition: Competition, user: User, data: bytes, **fields: Any) -> Submission:
    """Hand in a file and let the worker measure it."""
    name = fields.pop("file_name", "mine.csv")
    submission = submitting.submit_file(competition=competition, user=user, file_name=name, chunks=[data], **fields)
    score.score_one(submission.pk)
    submission.refresh_from_db()
    return submission


def claim(submission_id: uuid.UUID, wake_up_id: str | None = None) -> Claim | None:
    """A worker that the message woke claims the file."""
    found = queue.find_submission(submission_id)
    return claims.claim_submissions([found], wake_up_id).get(found.pk) if found else None


def submissions_in_turn() -> Iterator[Submission]:
    """Waiting files in the order of scoring, one by one."""
    return (submission for turn in queue.turns_of_submissions() for submission in turn)


def broken_promises() -> list[str]:
    """A line for each consistency check that does not hold."""
    return [result.line for result in consistency.run_checks(seed=1) if not result.holds]


def close(competition: Competition) -> None:
    """Let the deadline pass."""
    now = timezone.now()
    Competition.objects.filter(pk=competition.pk).update(
        opens_at=now - timedelta(days=2), closes_at=now - timedelta(seconds=1)
    )
    competition.refresh_from_db()


@pytest.fixture
def work(db: None) -> Callable[[], int]:
    """Measure everything that waits, as the worker would; gives the number of rows."""

    def measure_all() -> int:
        waiting, ground_truths = sweep.sweep_queue()
        for submission_id, _ in waiting:
            score.score_one(submission_id)
        for ground_truth in ground_truths:
            outside_queue.rescore_batch(ground_truth)
        return len(waiting)

    return measure_all


@pytest.fixture
def woken_for(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the files and ground truths for which workers were woken; none wakes."""
    noted: list[str] = []

    def wake_workers(task: object, *ids: object, **_: object) -> bool:
        noted.append(str(ids[0]))
        return True

    monkeypatch.setattr(wake_ups, "wake_workers", wake_workers)
    return noted


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The one running site of these tests' process."""
    with running_site(
        tmp_path_factory.mktemp("site") / "var", OPEN_SIGN_UP="1", LTI_PLATFORM_HOSTS="127.0.0.1"
    ) as site:
        yield site


@pytest.fixture(scope="module")
def site(running: Site) -> Iterator[Site]:
    """A running site with Olga and nothing else, for tests that need no settings of their own and do not stop it."""
    yield running
    running.empty()


@pytest.fixture(scope="module")
def hostile_scorer() -> Iterator[None]:
    """The real scorer, but for files that say what they do to it."""
    program = scorer_client._PROGRAM[:]
    scorer_client._PROGRAM[:] = ["-m", "tests.scorer.hostile_scorer"]
    scorer_client.close_scorer()
    yield
    scorer_client.close_scorer()
    scorer_client._PROGRAM[:] = program


@pytest.fixture
def two_languages() -> Iterator[None]:
    with second_language():
        yield


@pytest.fixture
def post(settings: LazySettings) -> list[mail.EmailMessage]:
    """A site with a mail server; what it sent."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.SITE_URL = "https://class.example"
    mail.outbox = []
    return mail.outbox
