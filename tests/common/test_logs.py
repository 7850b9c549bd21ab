"""One line per event, for people or for programs, whatever somebody wrote into a name."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import termios
import tty
from collections import Counter
from collections.abc import Callable
from contextvars import Context
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from celery import Celery
from django.db import DataError, IntegrityError, OperationalError
from django.test import Client, RequestFactory
from redis.exceptions import ConnectionError as BrokerAway
from structlog.contextvars import bound_contextvars, get_contextvars

from leaderboard.common import logs
from leaderboard.operations.supervisor import up
from leaderboard.operations.supervisor.place import SiteFolders

HOSTILE = ["a\nERROR all is well", "a\rb", "a\x1b[31mred", "a\u2028b", "a\x00b", "a\u202egnp.exe", "a\x85b", "a\udcffb"]


def record(event: str, *arguments: object, error: BaseException | None = None, **facts: object) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    return logging.getLogger("leaderboard.test").makeRecord(
        "leaderboard.test", logging.WARNING, __file__, 1, event, arguments, info, extra=facts
    )


def text(*arguments: Any, **facts: Any) -> str:
    return logs.formatter("text").format(record(*arguments, **facts))


def as_json(*arguments: Any, **facts: Any) -> dict[str, Any]:
    line = logs.formatter("json").format(record(*arguments, **facts))
    assert line.isascii()
    assert line.count("\n") == 0
    found: dict[str, Any] = json.loads(line)
    return found


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise error from cause
    except BaseException as caught:
        return caught


def test_a_line_says_when_how_grave_who_and_what_with_its_facts() -> None:
    line = text("%s files wait", 3, competition="pets", ms=1.5, view="")
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"
    assert re.fullmatch(rf'{stamp} warning leaderboard\.test 3 files wait competition=pets view="" ms=1\.5', line)
    found = as_json("%s files wait", 3, competition="pets", ms=1.5)
    assert {"timestamp", "level", "logger"} <= set(found)
    assert (found["event"], found["competition"], found["ms"]) == ("3 files wait", "pets", 1.5)


def test_what_is_bound_is_on_every_line_of_the_block_and_on_none_after() -> None:
    with bound_contextvars(submission="abc", competition="pets"):
        assert "submission=abc" in text("x")
        assert as_json("x")["competition"] == "pets"
    assert "submission" not in text("x")


def test_what_a_request_binds_ends_with_it(client: Client, db: None) -> None:
    assert client.get("/c/nothing/").status_code == 404
    assert get_contextvars() == {}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_ends_a_line_or_moves_a_cursor(name: str) -> None:
    for line in (text("file %s", name), text("file", competition=name)):
        assert len(line.splitlines()) == 1
        assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u202e]", line)
        line.encode()
    assert as_json("file %s", name)["event"] == f"file {name}"


def test_a_value_with_blanks_is_quoted_so_that_it_invents_no_further_fact() -> None:
    assert text("x", competition="a user=1").endswith('competition="a user=1"')


def test_only_known_facts_are_written() -> None:
    assert "secret" not in text("x", password="secret", status_code="secret")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("could not convert string to float: 'canary'"), None),
        (KeyError("canary"), None),
        (AssertionError("canary"), None),
        (DataError('invalid input syntax for type uuid: "canary"'), None),
        (RuntimeError("canary"), None),
        (OperationalError("database is locked"), "database is locked"),
        (IntegrityError("duplicate key\nDETAIL: Key (username)=(canary)"), "duplicate key"),
        (FileNotFoundError(2, "No such file"), "No such file"),
        (BrokerAway("Connection refused."), "Connection refused."),
    ],
)
def test_an_exception_tells_its_place_and_only_words_that_quote_nobodys_data(
    error: Exception, words: str | None
) -> None:
    for line in (text("broken", error=raised(error)), json.dumps(as_json("broken", error=raised(error)))):
        assert "canary" not in line
        assert f"{type(error).__name__}: " in line
        assert "in raised" in line
        assert (words or logs.REDACTED_TEXT) in line


def test_causes_are_told_first_and_their_lines_are_indented() -> None:
    error = raised(RuntimeError("no"), raised(OSError("the disk is full")))
    first, *rest = text("broken", error=error).splitlines()
    assert first.endswith("broken")
    assert all(line.startswith("    ") for line in rest)
    assert [line.split(":")[0].strip() for line in rest if "Error" in line] == ["OSError", "RuntimeError"]


def test_the_path_of_a_request_is_not_told() -> None:
    request = RequestFactory().get("/join/SECRETCODE/")
    line = record("%s: %s", "Not Found", request.path, request=request)
    assert logs.RedactingFilter().filter(line)
    assert "SECRET" not in logs.formatter("text").format(line)
    assert "Not Found: (this request)" in logs.formatter("text").format(line)


def test_what_a_task_raised_is_told_by_place_and_kind() -> None:
    """By Celery itself, whose own line would quote the exception."""
    lines: list[str] = []

    class Captured(logging.Handler):
        def emit(self, line: logging.LogRecord) -> None:
            lines.append(self.format(line))

    handler = Captured()
    handler.setFormatter(logs.formatter("text"))
    handler.addFilter(logs.RedactingFilter())
    logging.getLogger("celery.app.trace").addHandler(handler)
    try:
        with Celery("test", broker="memory://", set_as_current=False) as app:

            @app.task(name="broken")
            def broken() -> None:
                raise ValueError("canary")

            broken.apply()
    finally:
        logging.getLogger("celery.app.trace").removeHandler(handler)
    (line,) = lines
    assert "the task broken failed" in line
    assert "ValueError" in line
    assert "canary" not in line


def test_an_exception_that_is_its_own_cause_is_told_once() -> None:
    error = ValueError()
    error.__cause__ = error
    assert text("broken", error=error).count("ValueError") == 1


@pytest.mark.parametrize("form", ["text", "json"])
def test_up_says_its_words_in_the_same_form(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOG_FORMAT", form)
    box = up.make_box("http://localhost:8000", "secret", SiteFolders(Path("/srv/var")))
    up.print_text(box)
    output = capsys.readouterr().out
    if form == "text":
        assert output.strip() == box
    else:
        event = json.loads(output)["event"]
        assert event.startswith("Leaderboard runs at http://localhost:8000/ Not set up yet.")
        assert not set(event) & set("╭│╰")


@pytest.mark.parametrize(("site", "warns"), [("", True), ("https://class.example", False)])
def test_up_says_where_emails_would_hold_no_links(site: str, warns: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", "smtp://mail.example")
    monkeypatch.setenv("SITE_URL", site)
    assert ("set SITE_URL" in up.make_box("http://localhost:8000", None, SiteFolders(Path("/srv/var")))) is warns


def test_nothing_waits_for_a_terminal_that_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "ROOM_WITHIN_SECONDS", 0.05)
    terminal, screen = os.openpty()
    tty.setraw(screen)
    termios.tcflow(screen, termios.TCOOFF)  # Ctrl-S
    with open(screen, "w") as stream:
        handler = logs.ConsoleHandler(stream)
        handler.emit(logging.makeLogRecord({"msg": "unread"}))
        assert handler.is_stopped
        termios.tcflow(screen, termios.TCOON)
        handler.emit(logging.makeLogRecord({"msg": "read"}))
        assert os.read(terminal, 100).strip() == b"read"
        monkeypatch.setattr(sys, "stdout", stream)
        termios.tcflow(screen, termios.TCOOFF)
        up.print_text("unread")
        termios.tcflow(screen, termios.TCOON)
        up.print_text("also read")
        assert os.read(terminal, 100).strip() == b"also read"
    os.close(terminal)


def test_a_formatter_is_cheap_enough_for_every_request() -> None:
    """Counted in calls, not in seconds: the machine may be busy. What falls into one run alone is not its own, and what
    other tests left in the context is not the site's."""
    form, line = logs.formatter("json"), record("answered", view="leaderboard", ms=1.5, status=200)
    form.format(line)
    runs = [Context().run(calls_of, lambda: form.format(line)) for _ in range(5)]
    fewest = min(runs, key=Counter.total)
    assert fewest.total() < 400, fewest.most_common(10)


def calls_of(event: Callable[[], object]) -> Counter[str]:
    """The functions that were called meanwhile, and how often."""
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            found[f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}"] += 1
        elif event == "c_call":
            found[getattr(argument, "__qualname__", repr(argument))] += 1

    sys.setprofile(note)
    try:
        event()
    finally:
        sys.setprofile(None)
    return found
