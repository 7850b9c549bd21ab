"""Every complaint the library can make, sorted by who may read it.

::

    MetricError
    ├── SubmissionError      the student's file is at fault; may quote that file, never a truth value
    ├── GroundTruthError     the host's answer file is at fault; may quote it, only the host sees it
    ├── MetricFailed         a metric gave no score; nobody's file is at fault (``.host_details`` is for the host alone)
    ├── ParameterError       a parameter of the metric is at fault (``.errors``: name → sentence)
    └── UnknownMetric        no metric has this key (also a ``KeyError``)

Anything else that escapes from here is a bug of ours, never of the reader's file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .messages import Message, joined, templates_of

SHOWN = 40
"""How many characters of a file's value a message quotes."""

LONGEST = 200
"""How many characters of an id or a column's name are told to programs."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of fault in a file: what is wrong, where it was met first, and how often.

    ``line`` counts from 1 and includes the header; ``column``, ``line`` and ``id`` are ``None`` where the fault
    has no such place; ``count`` is the number of cases behind this message.
    """

    code: str
    message: str
    column: str | None = None
    line: int | None = None
    id: str | None = None
    count: int = 1

    def as_dict(self) -> dict[str, Any]:
        """The JSON-safe form of the home scorer and the API. Of an id or a name of absurd length its beginning is
        enough to find it."""
        return {
            "code": self.code,
            "message": str(self.message),
            "column": self.column and self.column[:LONGEST],
            "line": self.line,
            "id": self.id and self.id[:LONGEST],
            "count": self.count,
        }

    def as_stored(self) -> dict[str, Any]:
        """``as_dict`` with the template of the message, so that a site can translate it."""
        return self.as_dict() | templates_of(message=self.message)


class MetricError(Exception):
    """The root: whatever this library refuses."""


class _FileError(MetricError):
    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: list[Problem] = list(problems)
        super().__init__("\n".join(problem.message for problem in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)


class SubmissionError(_FileError):
    """The submission cannot be scored; ``problems`` holds every reason at once. Which files are refused, and in which
    words, follows from the file, the truth's ids and the sample submission alone: it tells of no answer and no split.
    Only a custom metric file may refuse a file for the answers' sake. Its words are ``host_details``, for the
    host alone.
    """

    def __init__(self, problems: Iterable[Problem], host_details: str = "") -> None:
        super().__init__(problems)
        self.host_details = host_details

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems, self.host_details)


class GroundTruthError(_FileError):
    """The answer file cannot be a ground truth; ``problems`` holds every reason at once."""


class MetricFailed(MetricError):
    """A metric gave no score. The text says how in our own words and quotes nothing; ``host_details`` is what a custom
    metric said, which may quote the truth."""

    def __init__(self, key: str, reason: str, host_details: str = "") -> None:
        self.key, self.reason, self.host_details = key, reason, host_details
        super().__init__(f"The metric {key} {reason}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.key, self.reason, self.host_details)


class ParameterError(MetricError):
    """A parameter is unknown, unreadable or out of its domain; ``errors`` maps its name to a sentence."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors: dict[str, str] = dict(errors)
        super().__init__("\n".join(f"{name}: {message}" for name, message in self.errors.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.errors,)


class UnknownMetric(MetricError, KeyError):
    """No metric has this key."""

    @property
    def words(self) -> Message:
        return Message("No metric is called {key}.", key=shown(self.args[0]))

    def __str__(self) -> str:
        return str(self.words)


class Refused(Exception):
    """A reader gave up on a file; the caller decides whose file it was and raises the public error."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(problem.message for problem in problems))


class NotFinite(Exception):
    """A score is no finite number. The bounds of numbers are such that no accepted file should meet this; which rows
    are to blame would tell about the truth, so it is not said."""


def error_message(error: Exception) -> str:
    """What an error says, as a sentence where it is one: files at fault may say several."""
    if isinstance(error, _FileError | Refused):
        return joined([problem.message for problem in error.problems])
    if isinstance(error, UnknownMetric):
        return error.words
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


def shown(value: object) -> str:
    """The value as a message quotes it: in quotes, escaped, cut at 40 characters."""
    text = str(value)
    cut = text[:SHOWN]
    escaped = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii", "replace")
        for character in cut.encode("utf-8", "backslashreplace").decode("utf-8")
    )
    return f'"{escaped}…"' if len(text) > SHOWN else f'"{escaped}"'
