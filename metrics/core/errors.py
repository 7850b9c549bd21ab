"""All errors of the library, sorted by who may read them.

::

    MetricError
    ├── SubmissionError      the student's file is at fault; may quote that file, never a truth value
    ├── GroundTruthError     the host's answer file is at fault; may quote it, only the host sees it
    ├── MetricFailed         a metric returned no score; no file is at fault (``.host_details`` is only for the host)
    ├── ParameterError       a parameter of the metric is at fault (``.errors``: name → sentence)
    └── UnknownMetric        no metric has this key (also a ``KeyError``)

Any other exception is a bug of the library, never a fault of a file.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .messages import Message, joined, templates_of

NOTE_PREFIX = "read_"
"""The beginning of the codes of notes, which only say how a file was read."""

SHOWN = 40
"""The most characters of a file's value that a message quotes."""

LONGEST = 200
"""The most characters of an id or a column's name in JSON."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of fault in a file, with its first place and the number of cases.

    ``line`` counts from 1 and includes the header; ``column``, ``line`` and ``id`` are ``None`` if the fault has no
    such place; ``count`` is the number of cases behind this message.
    """

    code: str
    message: str
    column: str | None = None
    line: int | None = None
    id: str | None = None
    count: int = 1

    @property
    def is_note(self) -> bool:
        """Whether this only says how a file was read."""
        return self.code.startswith(NOTE_PREFIX)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form for the home scorer and the API. Absurdly long ids and names are cut; their beginning is enough
        to find them."""
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
    """The base class of all public errors of this library."""

    def __reduce__(self) -> tuple[Any, ...]:
        """The arguments of subclasses are in their attributes; ``args`` holds the message."""
        return type(self).__new__, (type(self), *self.args), vars(self)


class _FileError(MetricError):
    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: list[Problem] = list(problems)
        super().__init__("\n".join(problem.message for problem in self.problems))


class SubmissionError(_FileError):
    """The submission cannot be scored; ``problems`` holds all reasons at once.

    Whether a file is refused, and the wording, depend only on the file, the truth's ids and the sample submission, so
    that they reveal no answer and no split. Only a custom metric may refuse a file because of the answers. Its message
    is in ``host_details``, for the host alone.
    """

    def __init__(self, problems: Iterable[Problem], host_details: str = "") -> None:
        super().__init__(problems)
        self.host_details = host_details


class GroundTruthError(_FileError):
    """The answer file cannot be a ground truth; ``problems`` holds all reasons at once."""


class MetricFailed(MetricError):
    """A metric returned no score. The message is our own text and quotes nothing; ``host_details`` is the text of a
    custom metric, which may quote the truth."""

    def __init__(self, key: str, reason: str, host_details: str = "") -> None:
        self.key, self.reason, self.host_details = key, reason, host_details
        super().__init__(f"The metric {key} {reason}.")


class ParameterError(MetricError):
    """A parameter is unknown, unreadable or out of its domain; ``errors`` maps its name to a sentence."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors: dict[str, str] = dict(errors)
        super().__init__("\n".join(f"{name}: {message}" for name, message in self.errors.items()))

    @property
    def sentences(self) -> list[Message]:
        return [Message("{parameter}: {sentence}", parameter=name, sentence=text) for name, text in self.errors.items()]


class UnknownMetric(MetricError, KeyError):
    """No metric has this key. ``similar_keys`` finds those that may be meant, once the message is read."""

    def __init__(self, key: str, similar_keys: Callable[[str], Sequence[str]] | None = None) -> None:
        self.similar_keys = similar_keys
        super().__init__(key)

    @property
    def words(self) -> Message:
        if self.similar_keys and (names := ", ".join(self.similar_keys(self.args[0]))):
            return Message("No metric is called {key}. Did you mean {names}?", key=shown(self.args[0]), names=names)
        return Message("No metric is called {key}.", key=shown(self.args[0]))

    def __str__(self) -> str:
        return str(self.words)


class Refused(Exception):
    """A reader refused a file; the caller knows whose file it was and raises the public error."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(problem.message for problem in problems))


class NotFinite(Exception):
    """A score is not a finite number. Numbers are bounded so that no accepted file should cause this; the rows to blame
    are not named, because that would reveal the truth."""


def error_message(error: Exception) -> str:
    """The message of an error, with its template if it has one; those of several problems are joined."""
    if isinstance(error, _FileError | Refused):
        return joined([problem.message for problem in error.problems])
    if isinstance(error, UnknownMetric):
        return error.words
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


def shown(value: object) -> str:
    """The value as messages quote it: in quotes, escaped, cut after 40 characters."""
    text = str(value)
    cut = escaped(text[:SHOWN])
    return f'"{cut}…"' if len(text) > SHOWN else f'"{cut}"'


def escaped(text: str) -> str:
    """The text with escapes in place of characters that nobody sees."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii", "replace")
        for character in text.encode("utf-8", "backslashreplace").decode("utf-8")
    )
