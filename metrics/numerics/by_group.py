"""The mean over groups of rows of another metric, which the host names.

There are two such metrics, one per direction, because a metric has one direction, whatever its parameters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Annotated, Any, Literal

import numpy as np

from ..core.arrays import Answers, take
from ..core.contract import ByParameters, Contributions, Example, Metric, Role, Rules, WholeColumn, chosen
from ..core.errors import shown
from ..core.evaluate import finite_rows, value_of_arrays
from ..core.figures import Figure, Grid
from ..core.messages import Message
from ..core.parameters import Longest
from ..core.uncertainty import totals_of
from ..reading.columns import Cells
from ..reading.label_kinds import Label
from .other_metrics import has_influence, influence_of_arrays, metric_named, split_parameters, words_in
from .sums import exact_sum, group_numbers, group_sums

_SHOWN = 50
_OTHER_WAY = {
    "maximize": Message("Lower values of {metric} are better: use the mean error by group."),
    "minimize": Message("Higher values of {metric} are better: use the mean score by group."),
}

Average = Annotated[Literal["groups", "rows"], "groups: each group counts equally; rows: by the number of its rows."]
Skip = Annotated[bool, "Leave out groups that cannot be scored, such as those of one class, instead of refusing."]


@dataclass(frozen=True)
class Inner:
    """The metric of each group, adapted to its parameters."""

    metric: Metric
    params: Mapping[str, Any] = field(hash=False)

    def answers(self, truth: Answers) -> Any:
        """All of the truth but the groups, as the metric reads it."""
        roles = {name: values for name, values in truth.roles.items() if name != "group"}
        return Answers(truth.answer, roles) if roles else truth.answer

    def refusal(self, answers: Any) -> str:
        """The reason why it cannot score some rows, or ``""``."""
        check = self.metric.rules.unscorable
        return "" if check is None else check(answers, **chosen(check, self.params))


@lru_cache(maxsize=256)
def inner_of(text: str, direction: str) -> Inner:
    """The metric in a text such as ``ndcg_at_k k=10``. Raises ``ValueError`` with a message."""
    words = words_in(text)
    metric = metric_named(words[0])
    if metric.direction != direction:
        raise ValueError(Message(_OTHER_WAY[direction], metric=metric.key))
    params, others = split_parameters(metric, words[1:])
    metric = metric.adapt(params)
    if others:
        names = ", ".join(parameter.name for parameter in metric.parameters) or Message("none")
        message = Message("{word} is none of its parameters ({names}).", word=shown(others[0]), names=names)
        raise ValueError(message)
    if "group" in metric.roles:
        raise ValueError(Message("{metric} has groups already.", metric=metric.key))
    return Inner(metric, params)


@dataclass(frozen=True)
class Groups:
    """The groups that count: their names, their rows (indices, group after group), and the value of each."""

    names: list[str]
    rows: list[np.ndarray]
    values: np.ndarray

    def shares(self, average: str) -> np.ndarray:
        """The share of each group in the mean."""
        sizes = np.array([len(rows) if average == "rows" else 1 for rows in self.rows], np.float64)
        shares: np.ndarray = sizes / sizes.sum()
        return shares

    def mean(self, average: str) -> float:
        if not np.isfinite(self.values).all():
            return np.inf
        if average == "groups":
            return float(exact_sum(self.values) / len(self.values))
        sizes = np.array([len(rows) for rows in self.rows], np.float64)
        return float(exact_sum(self.values * sizes)) / float(sizes.sum())


def _rows_of(truth: Answers, inner: Inner, skip: bool) -> tuple[list[str], list[np.ndarray]]:
    """Names and rows of the groups that count."""
    numbers, names = group_numbers(truth["group"])
    order = np.argsort(numbers, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(numbers, minlength=len(names)))[:-1])
    if not skip or inner.metric.rules.unscorable is None:
        return names, rows
    answers = inner.answers(truth)
    counted = [place for place, some in enumerate(rows) if not inner.refusal(take(answers, some))]
    return [names[place] for place in counted], [rows[place] for place in counted]


def groups_of(truth: Answers, prediction: Any, inner: Inner, skip: bool) -> Groups:
    """The groups and their values. Raises ``NotFinite``."""
    names, rows = _rows_of(truth, inner, skip)
    answers = inner.answers(truth)
    values = _sums_at_once(inner, answers, prediction, rows)
    if values is None:
        parts = [(take(answers, some), take(prediction, some)) for some in rows]
        values = np.array([value_of_arrays(inner.metric, inner.params, *part) for part in parts])
    return Groups(names, rows, values)


def _sums_at_once(inner: Inner, answers: Any, prediction: Any, rows: list[np.ndarray]) -> np.ndarray | None:
    """The values of all groups from one computation of the rows' contributions, for metrics that are sums over rows;
    ``None`` for others."""
    how = inner.metric.computation
    total = how.total
    if not how.is_plain_sum or total is None:
        return None
    found = finite_rows(inner.metric, inner.params, answers, prediction)
    dense = found.dense() if isinstance(found, Contributions) else found
    numbers = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    ordered = dense[np.concatenate(rows)].astype(np.float64, copy=False)
    sums = np.column_stack([group_sums(column, numbers, len(rows)) for column in ordered.T])
    arguments = chosen(total, inner.params)
    return totals_of(lambda some: total(some, **arguments), sums)


def influence_of_groups(truth: Answers, prediction: Any, inner: Inner, skip: bool, average: str) -> np.ndarray:
    """The influence of each row on the mean, shape (n,). For few large groups it is that of other rows in the
    same groups; for many small ones, such as queries, that of other groups."""
    found = groups_of(truth, prediction, inner, skip)
    shares, mean = found.shares(average), found.mean(average)
    answers = inner.answers(truth)
    effects = np.zeros(len(truth))
    is_few = len(found.rows) ** 2 < len(truth) and has_influence(inner.metric)
    for share, some, value in zip(shares, found.rows, found.values, strict=True):
        if is_few:
            part = influence_of_arrays(inner.metric, inner.params, take(answers, some), take(prediction, some))
            effects[some] = share * part
        else:
            effects[some] = share * (value - mean) / np.sqrt(len(some))
    return effects


def unscorable_groups(truth: Answers, inner: Inner, skip: bool) -> str:
    """The reason why a group cannot be scored, or with ``skip`` why none can; or ``""``."""
    if inner.metric.rules.unscorable is None:
        return ""
    if skip:
        return "" if _rows_of(truth, inner, skip)[0] else Message("none of its groups can be scored.")
    answers = inner.answers(truth)
    for name, some in zip(*_rows_of(truth, inner, skip), strict=True):
        if reason := inner.refusal(take(answers, some)):
            return Message("in the group {group}, {reason}", group=shown(name), reason=reason)
    return ""


def table_of_groups(found: Groups, average: str) -> list[Figure]:
    """Rows and value of each group, the first fifty of them, and the score."""
    values = found.values.tolist()[:_SHOWN]
    cells: list[list[float | str]] = [[len(some), value] for some, value in zip(found.rows, values, strict=False)]
    cells.append([sum(map(len, found.rows)), found.mean(average)])
    note = "In the last line is the score."
    if len(found.names) > _SHOWN:
        note += f" {len(found.names) - _SHOWN:,} further groups are not shown."
    return [Grid("Each group", [*found.names[:_SHOWN], "mean"], ["rows", "value"], cells, corner="group", note=note)]


def mean_by_group(
    *, title: str, direction: Literal["maximize", "minimize"], default: str, help: str, example: Example
) -> Metric:
    """The mean by group of one direction, for the ``default`` metric, and adapted when a host names another; ``help``
    is that of the parameter ``metric``."""

    def score(
        truth: Answers,
        prediction: Any,
        *,
        metric: Annotated[str, Longest(300), partial(inner_of, direction=direction), help] = default,
        average: Average = "groups",
        skip: Skip = False,
    ) -> float:
        return groups_of(truth, prediction, inner_of(metric, direction), skip).mean(average)

    def best(*, metric: str = default) -> float:
        inner = inner_of(metric, direction)
        return inner.metric.best_with(inner.params)

    def influence(
        truth: Answers, prediction: Any, *, metric: str, average: Average = "groups", skip: Skip = False
    ) -> np.ndarray:
        return influence_of_groups(truth, prediction, inner_of(metric, direction), skip, average)

    def figures(
        truth: Answers, prediction: Any, *, metric: str, average: Average = "groups", skip: Skip = False
    ) -> list[Figure]:
        return table_of_groups(groups_of(truth, prediction, inner_of(metric, direction), skip), average)

    def adapted(*, metric: str = default) -> Metric:
        inner = inner_of(metric, direction)
        return Metric(
            title=title,
            group="Composite",
            direction=direction,
            best=best(),
            worst=inner.metric.worst_with(inner.params),
            truth=inner.metric.truth,
            submission=inner.metric.submission,
            computation=WholeColumn(score=score, influence=influence),
            roles={"group": Role(Label(), "The group of each row."), **inner.metric.roles},
            format=inner.metric.format,
            rules=_rules_of(inner),
            by_parameters=ByParameters(best=best, metric=adapted),
            figures=figures,
            example=example,
        )

    return adapted()


def _rules_of(inner: Inner) -> Rules:
    """The rules of the metric, for truths with groups."""
    rules = inner.metric.rules

    def verify(columns: Sequence[Cells], prediction: Any) -> None:
        if rules.verify is not None:
            rules.verify(columns, prediction, **chosen(rules.verify, inner.params))

    def perfect(truth: Answers) -> list[list[str]]:
        assert rules.perfect is not None
        return rules.perfect(inner.answers(truth), **chosen(rules.perfect, inner.params))

    def hint(prediction: Any) -> str:
        return "" if rules.hint is None else rules.hint(prediction, **chosen(rules.hint, inner.params))

    def unscorable(truth: Answers, *, skip: Skip = False) -> str:
        return unscorable_groups(truth, inner, skip)

    return replace(
        rules,
        verify=verify if rules.verify is not None else None,
        perfect=perfect if rules.perfect is not None else None,
        hint=hint if rules.hint is not None else None,
        unscorable=unscorable,
        confirm={},
    )
