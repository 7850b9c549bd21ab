"""Results of scoring, and their printed and JSON forms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import Problem
from .messages import plain_number
from .uncertainty import Uncertainty

OVERALL = "overall"


@dataclass(frozen=True)
class SecondaryValue:
    """The values of a secondary metric for a submission. They are ``None`` if it cannot score the file, for the reason
    in ``problem``; ``public`` and ``private`` also if the truth has no ``Usage`` column."""

    key: str
    params: Mapping[str, Any]
    overall: float | None
    public: float | None
    private: float | None
    problem: str = ""

    def as_dict(self) -> dict[str, Any]:
        names = ("overall", "public", "private", "problem")
        return {
            "metric": self.key,
            "params": dict(self.params),
            **{name: getattr(self, name) for name in names},
        }


@dataclass(frozen=True, repr=False)
class Result:
    """The score of one submission. ``public`` and ``private`` are ``None`` if the truth has no ``Usage`` column.

    ``rows`` is the number of scored rows (public and private); ``parts`` holds, per split, the named sums behind the
    value (``tp``, ``fp``, …), and is empty if a metric has none, or if it does not need them and they were not
    requested. ``uncertainty`` holds, per split, an interval for the value on other rows of the same kind; empty unless
    requested. ``secondary`` has the values of the secondary metrics given to ``prepare``, in their order. ``warnings``
    tell the student about suspicious properties of a file that can be scored.
    """

    metric: str
    version: str
    params: Mapping[str, Any]
    overall: float
    public: float | None
    private: float | None
    rows: int
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    uncertainty: Mapping[str, Uncertainty] = field(default_factory=dict)
    secondary: tuple[SecondaryValue, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def __repr__(self) -> str:
        """Name, value and interval of all rows, of each split, and of each secondary metric."""
        given = ", ".join(f"{name}={value}" for name, value in self.params.items() if value is not None)
        lines = [
            f"{self.metric}({given}): {self._value(OVERALL)}" if given else f"{self.metric}: {self._value(OVERALL)}"
        ]
        lines += [f"{name}: {self._value(name)}" for name in ("public", "private") if getattr(self, name) is not None]
        lines += [f"{one.key}: {_shown_value(one.overall)} {one.problem}".rstrip() for one in self.secondary]
        lines += [f"{'Note' if one.is_note else 'Warning'}: {one.message}" for one in self.warnings]
        return "\n".join(lines)

    def _value(self, split: str) -> str:
        value, known = plain_number(getattr(self, split)), self.interval_text(split)
        return f"{value} ({known})" if known else value

    def interval_text(self, split: str) -> str:
        """The interval of a split in words; ``""`` if it is unknown."""
        known = self.uncertainty.get(split)
        if known is None or known.standard_error is None:
            return ""
        return f"95 %: {plain_number(known.low, 6)} to {plain_number(known.high, 6)}"

    def as_dict(self) -> dict[str, Any]:
        """The JSON form, as the home scorer prints it with ``--json``. The ``interval`` of a split is there if the
        uncertainty was requested and the metric is not a custom one."""
        names = ("metric", "version", "params", "overall", "public", "private", "rows")
        values = {name: getattr(self, name) for name in names}
        secondary = {"secondary": [one.as_dict() for one in self.secondary]} if self.secondary else {}
        warnings = {"warnings": [one.as_dict() for one in self.warnings]} if self.warnings else {}
        known = {split: one.as_dict() for split, one in self.uncertainty.items()}
        interval = {"interval": known} if known else {}
        return {**values, "params": dict(self.params), **interval, **secondary, **warnings}


def _shown_value(value: float | None) -> str:
    return "None" if value is None else plain_number(value)
