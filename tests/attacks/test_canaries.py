"""Nobody reads what is not theirs: every address × role × method × format, before and after the reveal."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import pytest
from django.core import mail
from django.core.cache import caches
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.boards import board_cache, standings
from leaderboard.boards import services as boards
from leaderboard.common.clock import database_now
from leaderboard.competitions import access
from leaderboard.competitions.models import BoardSettings, Competition, GroundTruth, Score, Submission
from leaderboard.competitions.models.competition import Split
from tests.conftest import close

from .scene import (
    CLASS,
    FILE,
    HOSTS,
    NOTE,
    PRIVATE,
    PRIVATE_NUMBERS,
    ROLES,
    SECONDARY_NUMBERS,
    TEAM,
    TRUTH,
    Scene,
    addresses,
    ask,
    filled,
    hashes_of,
    plant,
    text_of,
)

pytestmark = pytest.mark.thorough

# What people who look for holes add to an address.
QUERY = (
    "?board=private&format=json&page=1&ordering=-score__private&sort=private&fields=private_score,scores"
    "&score__private__gt=0&expand=truth&debug=1&number=1&tab=all&q=a"
)
STUDENTS = ("anonymous", "dee", "eve", "bo")


def everything(scene: Scene, role: str, path: str) -> str:
    """All that a role can get out of an address: bodies and headers of every method and format."""
    if path.startswith("/admin/") and role != "ada":
        return text_of(ask(scene, role, "GET", path + QUERY))  # one redirect to the sign-in page for all of them
    seen = [ask(scene, role, "GET", path + QUERY, Accept="application/json")]
    if role in ("anonymous", "bo"):
        others = (("GET", path), ("HEAD", path + QUERY), ("OPTIONS", path))
        seen += [ask(scene, role, method, address) for method, address in others]
    savepoint = transaction.savepoint()
    seen.append(ask(scene, role, "POST", path, {"board": "private", "confirm": "wrong", "format": "csv"}))
    transaction.savepoint_rollback(savepoint)
    return "\n".join(map(text_of, seen))


def leaks(
    scene: Scene, role: str, *, is_revealed: bool, log: pytest.LogCaptureFixture, below: tuple[str, ...] = ("",)
) -> list[str]:
    found = []
    hidden = {"the truth": [TRUTH], "a hash of the truth or a secret of it": secrets_of(scene)}
    hidden["the class list"] = [CLASS]
    for address in addresses():
        if not address.route.startswith(below):
            continue
        log.clear()
        mail.outbox.clear()
        text = everything(scene, role, filled(address.route, scene.arguments))
        text += log.text + "".join(str(message.message()) for message in mail.outbox)
        if role in HOSTS:
            text = log.text
        read = [what for what, words in hidden.items() if any(word in text for word in words)]
        found += [f"{role} reads {what} at {address.route}" for what in read]
        if not is_revealed and PRIVATE_NUMBERS.search(neutral(text)):
            found.append(f"{role} reads a private score at {address.route}")
        if role not in TEAM and (FILE in text or NOTE in text):
            found.append(f"{role} reads Bo's file at {address.route}")
    return found


def secrets_of(scene: Scene) -> list[str]:
    """Hashes of the truth confirm a guess of all answers, so students read none even after the reveal."""
    assert scene.competition.ground_truth is not None
    return [*hashes_of(scene.competition), scene.competition.ground_truth.split_secret]


def roles(*short: str, of: tuple[str, ...] = ROLES) -> list[Any]:
    """All of them, those that are not named in the long run alone: a walk over the whole site takes seconds."""
    return [pytest.param(role, marks=() if role in short else pytest.mark.long) for role in of]


@pytest.mark.parametrize("role", roles("anonymous", "eve", "bo"))
@pytest.mark.attack(
    "private scores, doubts, truth or foreign files in any answer",
    "confirming a guessed list of answers by a hash of the truth",
)
def test_nobody_reads_what_is_not_theirs_before_the_reveal(
    scene: Scene, role: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert leaks(scene, role, is_revealed=False, log=caplog) == []


@pytest.mark.parametrize("role", roles("eve", of=("anonymous", "eve", "otto", "bo")))
@pytest.mark.attack("private scores, doubts, truth or foreign files in any answer")
def test_after_the_deadline_nothing_opens_before_the_reveal_and_then_no_truth_and_no_file(
    scene: Scene, role: str, caplog: pytest.LogCaptureFixture
) -> None:
    close(scene.competition)
    below = ("c/", "api/", "host/<slug")
    assert leaks(scene, role, is_revealed=False, log=caplog, below=below) == []
    boards.reveal_competition(competition=scene.competition)
    assert leaks(scene, role, is_revealed=True, log=caplog, below=below) == []


def test_the_canaries_can_be_found_by_those_they_are_for(scene: Scene) -> None:
    """The tests above could not fail if nobody ever saw a canary."""
    paths = [filled(a.route, scene.arguments) for a in addresses() if a.route.startswith(("c/", "host/", "api/"))]
    ada = "\n".join(text_of(ask(scene, "ada", "GET", path)) for path in paths)
    bo = "\n".join(text_of(ask(scene, "bo", "GET", path)) for path in paths)
    assert TRUTH in ada
    assert FILE in ada
    assert CLASS in ada
    assert PRIVATE_NUMBERS.search(ada)
    assert SECONDARY_NUMBERS.search(ada)
    assert FILE in bo
    assert NOTE in bo


@pytest.mark.attack("confirming a guessed list of answers by a hash of the truth")
@pytest.mark.parametrize("is_revealed", [False, True])
def test_a_page_that_shows_a_hash_of_the_truth_is_noticed(
    scene: Scene, caplog: pytest.LogCaptureFixture, is_revealed: bool
) -> None:
    truth = scene.competition.ground_truth
    assert truth is not None
    Score.objects.update(metric_version=truth.sha256)
    if is_revealed:
        close(scene.competition)
        boards.reveal_competition(competition=scene.competition)
    page = "c/<slug:slug>/submissions/<uuid:submission_id>/"
    found = leaks(scene, "bo", is_revealed=is_revealed, log=caplog, below=(page,))
    assert f"bo reads a hash of the truth or a secret of it at {page}" in found


@pytest.mark.attack("private scores, doubts, truth or foreign files in any answer")
def test_a_rule_that_lets_students_see_private_scores_is_noticed(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Competition, "private_is_visible_to", lambda *_: True)
    below = ("c/<slug:slug>/leaderboard", "api/v1/competitions/<slug:slug>/leaderboard")
    found = leaks(scene, "bo", is_revealed=False, log=caplog, below=below)
    assert "bo reads a private score at c/<slug:slug>/leaderboard.csv" in found
    assert "bo reads a private score at api/v1/competitions/<slug:slug>/leaderboard" in found


def withheld(scene: Scene, *, hides_scores: bool) -> re.Pattern[str]:
    """Give the files public scores of many digits; what to look for, secondary values too."""
    BoardSettings.objects.filter(pk=scene.competition.pk).update(hides_scores=hides_scores)
    digits = []
    files = Submission.objects.filter(competition=scene.competition, team__isnull=False).order_by("received_at")
    for value, file in zip((0.5038617, 0.5170194), files, strict=True):
        Score.objects.filter(submission=file, split=Split.PUBLIC).update(value=value, secondary=[{"value": 1 - value}])
        digits += [text for number in (value, 1 - value) for text in (f"{number:.3f}", f"{number:.7f}"[:6])]
    ground_truth = GroundTruth.objects.select_related("competition").get(competition=scene.competition)
    standings.rebuild_standings(ground_truth)
    # Coordinates of formulas have a minus sign before the same digits.
    return re.compile("|".join(rf"(?<![-.\w]){re.escape(one)}" for one in digits))


def readers_of(scene: Scene, role: str, wanted: re.Pattern[str]) -> list[str]:
    """Addresses where a role finds it, in pages, files for programs and the zip of one's own data."""
    found = []
    for address in addresses():
        if not address.route.startswith(("c/", "api/", "account/", "teams/", "notifications/")):
            continue
        path = filled(address.route, scene.arguments)
        data: dict[str, str] | None = {} if address.name == "my_data" else None
        answer = ask(scene, role, "GET", path, data)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        if body.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(body)) as archive:
                body = b"\n".join(archive.read(name) for name in archive.namelist())
        if wanted.search(body.decode(errors="replace")):
            found.append(address.name)
    return found


@pytest.mark.parametrize("role", roles("bo", of=("bo", "eve", "anonymous")))
@pytest.mark.attack("scores of a hidden board in pages, programs' answers and one's own data")
def test_nobody_reads_a_score_of_a_hidden_board(scene: Scene, role: str) -> None:
    assert readers_of(scene, role, withheld(scene, hides_scores=True)) == []


@pytest.mark.attack("scores of a hidden board in pages, programs' answers and one's own data")
def test_on_an_open_board_everybody_reads_them(scene: Scene) -> None:
    """The test above could not fail if no page ever showed one."""
    found = readers_of(scene, "bo", withheld(scene, hides_scores=False))
    assert {"leaderboard_csv", "submission", "my_data", "api_submission", "api_leaderboard"} <= set(found)


def test_scores_are_found_however_they_are_written() -> None:
    for text in ("7310585.786", "7,310,585.8", "7 310 586", "7.3106e+06", "7.310585786e6", "5019283.75"):
        assert PRIVATE_NUMBERS.search(text), text
    assert not PRIVATE_NUMBERS.search("2026-11-21 09:00 0.731 c7310a")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of pages stands: one that says "in 5 minutes" has another ETag a minute later."""
    now = database_now()
    monkeypatch.setattr(access, "database_now", lambda: now)
    monkeypatch.setattr(timezone, "now", lambda: now)


@pytest.mark.parametrize("role", roles("bo", of=STUDENTS))
@pytest.mark.attack("answers whose bytes, length or number of queries depend on private scores")
def test_swapping_all_private_scores_changes_nothing_for_students(scene: Scene, at_once: None, role: str) -> None:
    """Bytes, headers, lengths and numbers of queries: nothing that a student sees depends on a private score."""
    for_student(scene, role)  # the first look writes: that a token was used, whose address an account has
    before = for_student(scene, role)
    plant(PRIVATE[::-1])
    after = for_student(scene, role)
    assert differences(before, after) == []
    assert len(before) > 100


def test_the_comparison_sees_a_difference(scene: Scene, at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Competition, "private_is_visible_to", lambda *_: True)
    below = ("c/<slug:slug>/leaderboard", "c/<slug:slug>/submissions")
    for_student(scene, "bo", below)
    before = for_student(scene, "bo", below)
    plant(PRIVATE[::-1])
    after = for_student(scene, "bo", below)
    assert len(differences(before, after)) >= 3


def for_student(scene: Scene, role: str, below: tuple[str, ...] = ("",)) -> dict[str, tuple[str, int]]:
    """For every address: the answer's text and the number of queries it took, nothing cached."""
    board_cache.boards.clear()
    for cache in caches.all():
        cache.clear()
    seen = {}
    for address in addresses():
        if address.route.startswith(("admin/", "metrics/", "healthz/")) or not address.route.startswith(below):
            # One redirect to the sign-in page for all of them; pages that ask no database; ages and free space, which
            # move by themselves.
            continue
        path = filled(address.route, scene.arguments)
        with CaptureQueriesContext(connection) as queries:
            text = text_of(ask(scene, role, "GET", path + "?board=private"))
        seen[path] = (neutral(text), len(queries))
    return seen


def differences(before: dict[Any, Any], after: dict[Any, Any]) -> list[Any]:
    """What changed, with lengths and numbers of queries."""
    return [
        (key, len(before[key][0]), len(after[key][0]), before[key][1], after[key][1])
        for key in before
        if before[key] != after[key]
    ]


def neutral(text: str) -> str:
    """Without what differs at every request, whatever the scores are: among random digits and parts of seconds every
    number is found sometimes."""
    text = re.sub(r'(name="(csrfmiddlewaretoken|upload_key)" value=")[^"]+', r"\1", text)
    text = re.sub(r"Request ID <code>[0-9a-f]+|'X-Request-ID': '[0-9a-f]+'|csrftoken=\w+|'Expires': '[^']+'", "", text)
    text = re.sub(
        r"launch-code\">[0-9a-f]+|nonce[-=]\"?[\w+/=-]+|request=[0-9a-f]+|\d\d:\d\d:\d\d\.\d+|ms=[\d.]+", "", text
    )
    text = re.sub(r"data:image/svg[^\"]+|value=\"[A-Z2-7]{32}\"|alt=\"[A-Z2-7]{32}\"", "", text)
    return re.sub(r"<time.*?</time>|\"\d{4}-\d\d-\d\dT[^\"]+\"", "", text, flags=re.S)
