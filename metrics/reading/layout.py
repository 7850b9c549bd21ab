"""Which column of a truth file plays which part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.errors import Problem, Refused, shown
from ..core.messages import Message, joined, listed
from .headers import NUMBER, check_comment, check_separator, is_index, looks_like_index, repeated_names, unnamed
from .tables import Table

if TYPE_CHECKING:
    from ..core.contract import Metric

USAGE = "Usage"
UNSCORED = "unscored"
"""The parameter that lists columns which a submission has and which are not scored."""
SPLITS = ("public", "private", "ignored")


@dataclass(frozen=True)
class Layout:
    """Which column of a truth file plays which part."""

    id_column: str
    targets: tuple[str, ...]
    has_split: bool
    roles: Mapping[str, str] = field(default_factory=dict)
    unscored: tuple[str, ...] = ()
    """Columns that a submission has and that are not scored."""


def check_truth_header(names: Sequence[str], line: int) -> list[Problem]:
    """Faults of a truth's header that hold for every metric."""
    if other := check_separator(names, line) or check_comment(names, line):
        return other
    if all(NUMBER.fullmatch(name) for name in names):
        message = Message(
            "The header is missing: the first line, {found}, must name the columns.", found=shown(",".join(names))
        )
        return [Problem("header_missing", message, line=line)]
    return repeated_names(names, line) + unnamed(names, line)


def layout_of(
    metric: Metric | None, table: Table, id_column: str | None, params: Mapping[str, Any] | None = None
) -> Layout:
    """Id, targets, roles and split of a truth; ``metric`` may be ``None`` where any targets will do. Raises
    ``Refused``."""
    name = id_column_of(table, id_column)
    _refuse_other_usage(table)
    roles = _roles_of(metric, table, name, params or {}) if metric is not None else {}
    unscored = _unscored_of(metric, params or {}, (name, USAGE, *roles.values()))
    targets = tuple(column for column in table.names if column not in (name, USAGE, *roles.values(), *unscored))
    if not targets:
        raise Refused(Problem("no_target", Message("The file has no target column beside the ids.")))
    if metric is not None and not metric.truth.many and len(targets) != metric.truth.columns:
        message = Message.counted(
            metric.truth.columns,
            "{metric} reads {count} target column ({kind}); the file has {found}: {columns}.",
            "{metric} reads {count} target columns ({kind}); the file has {found}: {columns}.",
            metric=metric.title,
            kind=metric.truth.words,
            found=len(targets),
            columns=listed([shown(target) for target in targets], len(targets)),
        )
        if index := next((column for column in table.names if is_index(column)), ""):
            message = joined([message, looks_like_index(index)])
        raise Refused(Problem("target_columns", message, column=targets[0], count=len(targets)))
    return Layout(name, targets, USAGE in table.names and name != USAGE, roles, unscored)


def _unscored_of(metric: Metric | None, params: Mapping[str, Any], taken: Sequence[str]) -> tuple[str, ...]:
    """The columns that the parameter of that name lists."""
    if metric is None or metric.is_outside:
        return ()
    names = tuple(dict.fromkeys(filter(None, map(str.strip, (params.get(UNSCORED) or "").split(",")))))
    for column in names:
        if column in taken:
            message = Message(
                "The column {column} plays another part, so it cannot be listed in the parameter {parameter}.",
                column=shown(column),
                parameter=shown(UNSCORED),
            )
            raise Refused(Problem("unscored", message, column=column))
    return names


def id_column_of(table: Table, id_column: str | None) -> str:
    """The column named, or the first. Raises ``Refused``."""
    name = id_column.strip() if id_column else table.names[0]
    if name not in table.names:
        names = ", ".join(map(shown, table.names[:10]))
        message = Message("The id column {column} is missing; the file has {names}.", column=shown(name), names=names)
        raise Refused(Problem("column_missing", message, column=name))
    return name


def _refuse_other_usage(table: Table) -> None:
    """A split whose column is called ``usage`` would be taken for answers."""
    for name in table.names:
        if USAGE not in table.names and name.casefold() == USAGE.casefold():
            words = {text.casefold() for text in table.column(name).slice(0, 1000).to_pylist()}
            if words <= {*SPLITS, ""}:
                message = Message(
                    "The column {column} holds the split; it must be called {usage}.",
                    column=shown(name),
                    usage=shown(USAGE),
                )
                raise Refused(Problem("usage_name", message, column=name, line=1))


def _roles_of(metric: Metric, table: Table, id_column: str, params: Mapping[str, Any]) -> dict[str, str]:
    """Which column plays each role."""
    asked = {role: params.get(role, role) for role in metric.roles}
    roles = {role: column for role, column in asked.items() if column is not None}
    free = [column for column in table.names if column not in (id_column, USAGE)]
    for role, column in roles.items():
        if column not in free:
            message = Message(
                "{metric} needs a column with the {role}, and the file has no {column}. Name the column in the "
                "parameter {parameter}; the file has {names}.",
                metric=metric.title,
                role=role,
                column=shown(column),
                parameter=shown(role),
                names=", ".join(map(shown, free[:10])),
            )
            raise Refused(Problem("role_missing", message, column=column))
    if len(set(roles.values())) < len(roles):
        message = Message("One column cannot play two roles.")
        raise Refused(Problem("role_missing", message, column=next(iter(roles.values()))))
    return roles
