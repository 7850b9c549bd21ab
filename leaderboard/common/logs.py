"""The format of the log: one line per event, readable, or JSON with `LOG_FORMAT=json`.

All code uses Python's `logging`. Context (request, submission, competition …) is bound once with structlog's
contextvars, by the web server for a request and by the worker for a file, and appears on every line meanwhile; further
facts are passed as `extra`. Only the names in `FACTS` are written, so that no library can log an object with personal
data.

Never written: paths of requests (they contain join codes, invitations and setup links; the view's name is enough),
bodies, headers, and the messages of exceptions that may quote data.
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

# Errors whose messages quote no personal data. Of others only the class and the place are logged.
LOGGED_ERRORS = (OSError, ImportError, NameError, AttributeError, TypeError, RecursionError, MemoryError)
LOGGED_DATABASE_ERRORS = {"OperationalError", "InterfaceError", "IntegrityError", "ProgrammingError", "InternalError"}
LOGGED_LIBRARIES = {"redis", "kombu", "billiard", "botocore"}
REDACTED_TEXT = "(its words may quote data and are not logged)"
LONGEST = 2000
ROOM_WITHIN_SECONDS = 1.0

# Characters that end a line, move the cursor, change the direction of writing, or cannot be encoded.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

Line = MutableMapping[str, Any]


@contextmanager
def log_errors(**facts: object) -> Iterator[None]:
    """Log an exception of this block instead of raising it, with `facts`: a periodic task goes on to its next item."""
    with bound_contextvars(**facts):
        try:
            yield
        except Exception:
            log.exception("failed, and is left for the next round")


class ConsoleHandler(logging.StreamHandler[TextIO]):
    """Writes to the terminal, and drops lines while the terminal takes none: no thread may block on a terminal that was
    stopped with Ctrl-S or whose connection is lost."""

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
    """Removes personal data that libraries log: request paths of Django, exception texts of Celery."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "celery.app.trace" and record.exc_info and isinstance(record.args, dict):
            record.msg, record.args = "the task %s failed", (record.args.get("name"),)
        path = getattr(getattr(record, "request", None), "path", None)
        if path and isinstance(record.args, tuple):
            record.args = tuple("(this request)" if argument == path else argument for argument in record.args)
        return True


def formatter(form: str) -> logging.Formatter:
    """The formatter for `LOGGING`: JSON if `form` is `json`, else readable text."""
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
    """One line with the facts at its end; an exception follows as indented lines, one per place in the code."""
    first = " ".join(line.pop(name) for name in ("timestamp", "level", "logger"))
    exception, event = line.pop("exception", ""), escape_controls(line.pop("event"))
    facts = "".join(f" {name}={_fact_text(line[name])}" for name in ("request", *FACTS) if name in line)
    return f"{first} {event}{facts}" + "".join(f"\n    {escape_controls(place)}" for place in exception.splitlines())


def _fact_text(value: object) -> str:
    text = str(value)
    return escape_controls(text) if re.fullmatch(r"[^\s\"=]+", text) else json.dumps(text)


def escape_controls(text: str) -> str:
    """A text with line ends and other control characters escaped, so that user input cannot forge a log line."""
    return _CONTROLS.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)


def describe_exception(exc_info: tuple[type[BaseException], BaseException, TracebackType | None]) -> str:
    """Class, message and places in the code of an exception and its causes, first cause first."""
    return "\n".join(_describe_one(exc_info[1]))


def _describe_one(error: BaseException, later: tuple[BaseException, ...] = ()) -> list[str]:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    is_new = cause is not None and cause is not error and cause not in later
    earlier = _describe_one(cause, (*later, error)) if cause is not None and is_new else []
    return [*earlier, *_code_places(error.__traceback__), f"{type(error).__name__}: {_error_text(error)}"]


def _code_places(traceback: TracebackType | None) -> list[str]:
    return [f"{place.filename}:{place.lineno} in {place.name}" for place in extract_tb(traceback)]


def _error_text(error: BaseException) -> str:
    """The first line of an error's message if its class is known to quote no data (PostgreSQL quotes the row in the
    second line); else `REDACTED_TEXT`."""
    kind = type(error)
    library = kind.__module__.partition(".")[0]
    of_database = library in ("django", "psycopg", "sqlite3") and kind.__name__ in LOGGED_DATABASE_ERRORS
    if isinstance(error, LOGGED_ERRORS) or of_database or library in LOGGED_LIBRARIES:
        return (str(error).splitlines() or [""])[0][:LONGEST]
    return REDACTED_TEXT
