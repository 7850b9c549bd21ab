"""What a composite metric is made of: parts as a host writes them, and what they read of one table.

A part is one line: its weight, the key of a metric, the columns it reads, and its parameters, such as
``0.5 cohen_kappa grade weights=quadratic``. Parts are on lines of their own or separated by semicolons.
There are two composites, one per direction, because a direction belongs to a metric and not to its parameters.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np

from ..core.arrays import take
from ..core.contract import Contributions, Metric, sums_of
from ..core.errors import NotFinite, ParameterError, shown
from ..core.evaluate import row_contributions
from ..core.figures import Figure, Grid
from ..core.messages import Message, joined
from ..core.parameters import Longest, chosen, complete

MOST_PARTS = 30
EACH = "*"
"""In the place of columns: the mean over the target columns, each read by itself."""

Combine = Annotated[
    Literal["mean", "sum"],
    "mean: the weighted values are added and divided by the sum of the weights (without their signs); "
    "sum: they are only added.",
]
LONG = Longest(3000)
_BREAK = re.compile(r"[;\r\n]+")
_OTHER_WAY = {
    "maximize": Message("Higher values of {metric} are better: its weight must be {sign} here."),
    "minimize": Message("Lower values of {metric} are better: its weight must be {sign} here."),
}


@dataclass(frozen=True)
class CompositePart:
    """One metric of a composite. ``columns`` are empty where it reads all target columns. Parts made of one ``*`` have
    one ``line`` and share its weight."""

    weight: float
    key: str
    columns: tuple[str, ...]
    params: Mapping[str, Any] = field(hash=False)
    line: int = 0

    @property
    def metric(self) -> Metric:
        """The part's metric, made for its parameters."""
        from ..core.registry import get

        return get(self.key)

    @property
    def roles(self) -> dict[str, str]:
        """The columns that play a role in the part, as far as it has them."""
        return {role: self.params[role] for role in self.metric.roles if self.params[role] is not None}

    @property
    def name(self) -> str:
        """As a host writes it, without the weight and with the parameters that are not the defaults."""
        defaults = {parameter.name: parameter.default for parameter in self.metric.parameters}
        given = [f"{name}={value}" for name, value in self.params.items() if value != defaults[name]]
        return " ".join([self.key, *self.columns, *given])


@lru_cache(maxsize=256)
def parts_of(text: str, direction: str) -> tuple[CompositePart, ...]:
    """The parts that a text names. Raises ``ValueError`` with a sentence that names the part at fault."""
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
    try:
        words = shlex.split(line)
    except ValueError:
        raise ValueError(Message("A quotation mark is open at the end.")) from None
    weight = _weight_of(words[0])
    if len(words) < 2:
        raise ValueError(Message("The metric is missing: write the weight, the metric and its columns."))
    metric = _metric_of(words[1])
    wanted = 1 if metric.direction == direction else -1
    if weight * wanted <= 0:
        sign = Message("more than 0") if wanted > 0 else Message("less than 0")
        raise ValueError(Message(_OTHER_WAY[metric.direction], metric=metric.key, sign=sign))
    names = {parameter.name for parameter in metric.parameters}
    given = [word.partition("=") for word in words[2:] if word.partition("=")[0] in names and "=" in word]
    columns = tuple(word for word in words[2:] if not (word.partition("=")[0] in names and "=" in word))
    try:
        params = complete(metric.parameters, {name: value for name, _, value in given})
    except ParameterError as error:
        reasons = [
            Message("{parameter}: {sentence}", parameter=name, sentence=text) for name, text in error.errors.items()
        ]
        raise ValueError(joined(reasons)) from None
    if len(set(columns)) < len(columns):
        raise ValueError(Message("A column is named twice."))
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


def _metric_of(key: str) -> Metric:
    from ..core.registry import built_in_metric

    metric = built_in_metric(key)
    if metric is None:
        raise ValueError(Message("No built-in metric is called {key}.", key=shown(key)))
    if metric.by_parameters.metric is not None:
        raise ValueError(Message("{metric} is a composite itself.", metric=metric.key))
    return metric


def spread_out(parts: Sequence[CompositePart], columns: Sequence[str]) -> list[CompositePart]:
    """The parts with the target columns that each of them reads, one part for each column in the place of ``*``.

    A column that plays a role in any part is no target.
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


@dataclass(frozen=True)
class PartArrays:
    """What the metrics of all parts read of the same ``rows`` rows: ``arrays[i]`` is that of ``parts[i]``.

    ``cells`` are the texts behind a truth, by column.
    """

    parts: tuple[CompositePart, ...]
    arrays: tuple[Any, ...]
    rows: int
    cells: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.rows

    def take(self, rows: np.ndarray) -> PartArrays:
        """The given rows."""
        return replace(self, arrays=tuple(take(array, rows) for array in self.arrays), rows=len(rows), cells={})


def weighted(values: Sequence[float], weights: Sequence[float], combine: str) -> float:
    """The weighted sum, or the weighted mean."""
    total = math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
    return total if combine == "sum" else total / math.fsum(map(abs, weights))


def combined(parts: Sequence[CompositePart], values: Sequence[float], combine: str) -> float:
    """The value of the composite: the mean of the parts of one line, weighted."""
    lines: dict[int, list[float]] = {}
    for part, value in zip(parts, values, strict=True):
        lines.setdefault(part.line, []).append(value)
    weights = {part.line: part.weight for part in parts}
    return weighted([_mean(found) for found in lines.values()], [weights[line] for line in lines], combine)


def _mean(values: Sequence[float]) -> float:
    """Equal values are their own mean to the last bit."""
    return values[0] if min(values) == max(values) else math.fsum(values) / len(values)


def values_of(truth: PartArrays, prediction: PartArrays) -> list[float]:
    """The value of each part. Raises ``NotFinite``."""
    return [
        _value_of(part, answers, predicted)
        for part, answers, predicted in zip(truth.parts, truth.arrays, prediction.arrays, strict=True)
    ]


def _value_of(part: CompositePart, answers: Any, prediction: Any) -> float:
    """What the part's metric gives by itself, to the last bit."""
    metric, value = part.metric, None
    how = metric.computation
    if how.is_made_of_sums and how.total is not None:
        try:
            sums = [float(added) for added in sums_of(_finite_rows(part, answers, prediction), None)]
        except OverflowError:
            raise NotFinite from None
        value = how.total(np.array(sums), **chosen(how.total, part.params))
    if value is None:
        assert how.score is not None
        value = how.score(answers, prediction, **chosen(how.score, part.params))
    if not math.isfinite(value):
        raise NotFinite
    return float(value)


def _finite_rows(part: CompositePart, answers: Any, prediction: Any) -> Any:
    found = row_contributions(part.metric, answers, prediction, part.params)
    if not np.isfinite(getattr(found, "table", found)).all():
        raise NotFinite
    return found


def ready(prediction: PartArrays) -> PartArrays:
    """Each part's prediction as its metric wants it before rows are taken from it."""
    steps = [part.metric.computation.ready for part in prediction.parts]
    arrays = [step(array) if step else array for step, array in zip(steps, prediction.arrays, strict=True)]
    return replace(prediction, arrays=tuple(arrays))


def best_of(parts: Sequence[CompositePart], combine: str) -> float:
    """The value of the composite where each part has its best."""
    return weighted([part.metric.best_with(part.params) for part in parts], [part.weight for part in parts], combine)


def has_influence(parts: Sequence[CompositePart]) -> bool:
    """Whether it is known, for every part, what each row does to its value."""
    return all(part.metric.computation.influence is not None or part.metric.computation.is_plain_sum for part in parts)


def influence_of(truth: PartArrays, prediction: PartArrays, combine: str) -> np.ndarray:
    """What each row does to the composite, where ``has_influence`` says that this is known."""
    lines = Counter(part.line for part in truth.parts)
    weights = {part.line: part.weight for part in truth.parts}
    under = 1.0 if combine == "sum" else math.fsum(map(abs, weights.values()))
    found = np.zeros(len(truth))
    for part, answers, predicted in zip(truth.parts, truth.arrays, prediction.arrays, strict=True):
        found += part.weight / lines[part.line] / under * _influence_of(part, answers, predicted)
    return found


def _influence_of(part: CompositePart, answers: Any, prediction: Any) -> np.ndarray:
    metric = part.metric
    how = metric.computation
    if how.influence is not None:
        return how.influence(answers, prediction, **chosen(how.influence, part.params))
    assert how.total is not None
    contributions = _finite_rows(part, answers, prediction)
    rows = contributions.dense() if isinstance(contributions, Contributions) else contributions
    sums = np.array([float(added) for added in sums_of(contributions, None)])
    arguments = chosen(how.total, part.params)
    slopes = np.zeros(len(sums))
    for place, value in enumerate(sums):
        step = np.zeros(len(sums))
        step[place] = 1e-6 * max(1.0, abs(value))
        up, down = (how.total(sums + sign * step, **arguments) for sign in (1, -1))
        if up is not None and down is not None and math.isfinite(up - down):
            slopes[place] = (up - down) / (2 * step[place])
    # A total of sums over rows is a ratio, so the effects of all rows add up to 0.
    effects: np.ndarray = (rows * slopes).sum(axis=1)
    return effects


def unscorable(truth: PartArrays) -> str:
    """Why a part cannot be scored."""
    found = []
    for part, answers in zip(truth.parts, truth.arrays, strict=True):
        check = part.metric.rules.unscorable
        if check is not None and (reason := check(answers, **chosen(check, part.params))):
            found.append(Message("in the part {part}, {reason}", part=shown(part.name), reason=reason))
    return joined(found)


def table_of_parts(truth: PartArrays, prediction: PartArrays, combine: str) -> list[Figure]:
    """Weight and value of each part, and what it adds."""
    values, parts = values_of(truth, prediction), truth.parts
    lines = Counter(part.line for part in parts)
    weights = [part.weight / lines[part.line] for part in parts]
    under = 1.0 if combine == "sum" else math.fsum(map(abs, weights))
    cells: list[list[float | str]] = [
        [weight, value, weight * value / under] for weight, value in zip(weights, values, strict=True)
    ]
    cells.append([math.fsum(weights), "", combined(parts, values, combine)])
    note = "Each part adds its weight times its value; the score is their sum."
    if combine == "mean":
        note = "Each part adds its weight times its value, by the sum of the weights; the score is their sum."
    names = [*(part.name for part in parts), "all"]
    return [Grid("Each part", names, ["weight", "value", "adds"], cells, corner="part", note=note)]
