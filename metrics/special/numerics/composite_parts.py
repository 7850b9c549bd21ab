"""The parts of a composite metric as a host writes them.

A part is one line: its weight, the key of a metric, the columns it reads, and its parameters, such as ``0.5 cohen_kappa
grade weights=quadratic``. Parts are separated by line ends or semicolons.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from ...core.contract import Metric
from ...core.errors import shown
from ...core.messages import Message, joined
from ...numerics.other_metrics import metric_named, split_parameters, words_in

MOST_PARTS = 30
EACH = "*"
"""Written in place of columns: the mean over the target columns, each read by itself."""

_BREAK = re.compile(r"[;\r\n]+")
_OTHER_WAY = {
    "maximize": Message("Higher values of {metric} are better: its weight must be {sign} here."),
    "minimize": Message("Lower values of {metric} are better: its weight must be {sign} here."),
}


@dataclass(frozen=True)
class CompositePart:
    """One metric of a composite. ``columns`` is empty if it reads all target columns. Parts made from one ``*`` have
    the same ``line`` and share its weight."""

    weight: float
    key: str
    columns: tuple[str, ...]
    params: Mapping[str, Any] = field(hash=False)
    line: int = 0

    @property
    def metric(self) -> Metric:
        return self._declared.adapt(self.params)

    @property
    def _declared(self) -> Metric:
        from ...core.registry import get

        return get(self.key)

    @property
    def roles(self) -> dict[str, str]:
        """The columns of the roles that are set for this part."""
        return {role: self.params[role] for role in self.metric.roles if self.params[role] is not None}

    @property
    def name(self) -> str:
        """The part as a host writes it, without the weight and without parameters that have their default."""
        defaults = {parameter.name: parameter.default for parameter in self._declared.parameters}
        given = [f"{name}={value}" for name, value in self.params.items() if value != defaults[name]]
        return " ".join([self.key, *self.columns, *given])


@lru_cache(maxsize=256)
def parts_of(text: str, direction: str) -> tuple[CompositePart, ...]:
    """The parts in a text. Raises ``ValueError`` with a message that names the wrong part."""
    lines = [line for line in map(str.strip, _BREAK.split(text)) if line]
    if not lines:
        raise ValueError(Message("Name at least one part: a weight, a metric and its columns."))
    if len(lines) > MOST_PARTS:
        raise ValueError(
            Message("{parts} parts are named; at most {most} can be read.", parts=len(lines), most=MOST_PARTS)
        )
    found, faults = [], []
    for place, line in enumerate(lines, 1):
        try:
            found.append(replace(_part_of(line, direction), line=place))
        except ValueError as error:
            faults.append(
                Message("Part {place}, {line}: {reason}", place=place, line=shown(line), reason=error.args[0])
            )
    if faults:
        raise ValueError(joined(faults))
    return tuple(found)


def _part_of(line: str, direction: str) -> CompositePart:
    words = words_in(line)
    weight = _weight_of(words[0])
    if len(words) < 2:
        raise ValueError(Message("The metric is missing: write the weight, the metric and its columns."))
    metric = metric_named(words[1])
    wanted = 1 if metric.direction == direction else -1
    if weight * wanted <= 0:
        sign = Message("more than 0") if wanted > 0 else Message("less than 0")
        raise ValueError(Message(_OTHER_WAY[metric.direction], metric=metric.key, sign=sign))
    params, columns = split_parameters(metric, words[2:])
    if len(set(columns)) < len(columns):
        raise ValueError(Message("A column is named twice."))
    names = [parameter.name for parameter in metric.parameters]
    metric = metric.adapt(params)
    if columns and columns != (EACH,) and not metric.truth.many and len(columns) != metric.truth.columns:
        raise ValueError(
            Message.counted(
                metric.truth.columns,
                "{metric} reads {count} column, not {columns}. Names with spaces are written in quotation marks; "
                "its parameters are: {parameters}.",
                "{metric} reads {count} columns, not {columns}. Names with spaces are written in quotation marks; "
                "its parameters are: {parameters}.",
                metric=metric.key,
                columns=", ".join(map(shown, columns)),
                parameters=", ".join(sorted(names)) or Message("none"),
            )
        )
    return CompositePart(weight, metric.key, columns, params)


def _weight_of(word: str) -> float:
    try:
        weight = float(word)
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight) or not 1e-9 <= abs(weight) <= 1e9:
        raise ValueError(Message("{value} is not a weight: write a number such as 0.5 first.", value=shown(word)))
    return weight


def spread_out(parts: Sequence[CompositePart], columns: Sequence[str]) -> list[CompositePart]:
    """The parts with the target columns that each reads; ``*`` becomes one part per target column.

    A column that has a role in any part is not a target column.
    """
    played = {column for part in parts for column in part.roles.values()}
    targets = tuple(column for column in columns if column not in played)
    found = []
    for part in parts:
        if part.columns == (EACH,):
            found += [replace(part, columns=(column,)) for column in targets]
        else:
            found.append(replace(part, columns=part.columns or targets))
    return found
