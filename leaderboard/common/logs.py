"""The form of the log: one line per event, readable, or JSON with `LOG_FORMAT=json`.

Everything writes with Python's own `logging`. What a line belongs to (request, submission, competition …) is bound
once with structlog's contextvars, by the web for a request and by the worker for a file, and is on every line
meanwhile; further facts come as `extra`. Of those only the ones named in `FACTS` are written, so that no library puts
an object with somebody's data into a line.

What is never written: paths of requests (they hold join codes, invitations and setup links; the page's name is enough),
bodies, headers, and the words of exceptions that quote what they stumbled over.
"""

from __future__ import annotations

import json
import logging
import re
import select
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from traceback import extract_tb
from types import TracebackType
from typing import Any, TextIO

from structlog.contextvars import bound_contextvars, merge_contextvars
from structlog.processors import ExceptionRenderer, JSONRenderer, TimeStamper
from structlog.stdlib import ExtraAdder, ProcessorFormatter, add_log_level, add_logger_name

log = logging.getLogger(__name__)

FACTS = (
    "user", "competition", "submission", "ground_truth", "method", "view", "status", "ms", "seconds", "bytes", "code",
)  # fmt: skip

# Whose words say what is wrong and quote nobody's data. Others are named by their class and place alone.
LOGGED_ERRORS = (OSError, ImportError, NameError, AttributeError, TypeError, RecursionError, MemoryError)
LOGGED_DATABASE_ERRORS = {"OperationalError", "InterfaceError", "IntegrityError", "ProgrammingError", "InternalError"}
LOGGED_LIBRARIES = {"redis", "kombu", "billiard", "botocore"}
REDACTED_TEXT = "(its words may quote data and are not logged)"
LONGEST = 2000
ROOM_WITHIN_SECONDS = 1.0

# Whatever ends a line, moves a cursor, turns the direction of writing, or cannot be encoded.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

Line = MutableMapping[str, Any]


@contextmanager
def log_errors(**facts: object) -> Iterator[None]:
    """One of several that the clock asks for: what goes wrong with it is logged, and the others go on."""
    with bound_contextvars(**facts):
        try:
            yield
        except Exception:
            log.exception("failed, and is left for the next round")


class ConsoleHandler(logging.StreamHandler[TextIO]):
    """Writes to the terminal and leaves out what its reader takes no room for: no thread waits for a terminal that was
    stopped with Ctrl-S, or whose connection is lost."""

    is_stopped = False

    def emit(self, record: logging.LogRecord) -> None:
        self.is_stopped = not self._has_room(0 if self.is_stopped else ROOM_WITHIN_SECONDS)
        if not self.is_stopped:
            super().emit(record)

    def _has_room(self, seconds: float) -> bool:
        poll = select.poll()
        try:
            poll.register(self.stream.fileno(), select.POLLOUT)
        except (OSError, ValueError):  # no file of the system
            return True
        return bool(poll.poll(seconds * 1000))


class RedactingFilter(logging.Filter):
    """Removes what libraries log too much of: Django's request paths, Celery's exception texts."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "celery.app.trace" and record.exc_info and isinstance(record.args, dict):
            record.msg, record.args = "the task %s failed", (record.args.get("name"),)
        path = getattr(getattr(record, "request", None), "path", None)
        if path and isinstance(record.args, tuple):
            record.args = tuple("(this request)" if argument == path else argument for argument in record.args)
        return True


def formatter(form: str) -> logging.Formatter:
    """What `LOGGING` makes for its handler."""
    return ProcessorFormatter(
        foreign_pre_chain=[
            merge_contextvars,
            add_log_level,
            add_logger_name,
            ExtraAdder(allow=FACTS),
            TimeStamper(fmt="iso", utc=True),
            ExceptionRenderer(describe_exception),
        ],
        processors=[
            ProcessorFormatter.remove_processors_meta,
            JSONRenderer(default=str) if form == "json" else render_text,
        ],
    )


def render_text(_: Any, __: str, line: Line) -> str:
    """One line with the facts at its end; where something broke, indented lines with the places follow."""
    first = " ".join(line.pop(name) for name in ("timestamp", "level", "logger"))
    exception, event = line.pop("exception", ""), escape_controls(line.pop("event"))
    facts = "".join(f" {name}={_fact_text(line[name])}" for name in ("request", *FACTS) if name in line)
    return f"{first} {event}{facts}" + "".join(f"\n    {escape_controls(place)}" for place in exception.splitlines())


def _fact_text(value: object) -> str:
    text = str(value)
    return escape_controls(text) if re.fullmatch(r"[^\s\"=]+", text) else json.dumps(text)


def escape_controls(text: str) -> str:
    """A text that stays on its line whatever somebody wrote into it."""
    return _CONTROLS.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)


def describe_exception(exc_info: tuple[type[BaseException], BaseException, TracebackType | None]) -> str:
    """Where something broke and of which kind it was, from the first cause to what was made of it."""
    return "\n".join(_describe_one(exc_info[1]))


def _describe_one(error: BaseException, later: tuple[BaseException, ...] = ()) -> list[str]:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    is_new = cause is not None and cause is not error and cause not in later
    earlier = _describe_one(cause, (*later, error)) if cause is not None and is_new else []
    return [*earlier, *_places(error.__traceback__), f"{type(error).__name__}: {_error_text(error)}"]


def _places(traceback: TracebackType | None) -> list[str]:
    return [f"{place.filename}:{place.lineno} in {place.name}" for place in extract_tb(traceback)]


def _error_text(error: BaseException) -> str:
    """The first line of an outspoken exception: PostgreSQL quotes the row in the second."""
    kind = type(error)
    library = kind.__module__.partition(".")[0]
    of_database = library in ("django", "psycopg", "sqlite3") and kind.__name__ in LOGGED_DATABASE_ERRORS
    if isinstance(error, LOGGED_ERRORS) or of_database or library in LOGGED_LIBRARIES:
        return (str(error).splitlines() or [""])[0][:LONGEST]
    return REDACTED_TEXT
