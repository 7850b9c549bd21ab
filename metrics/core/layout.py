"""The columns of a truth file by their role: ids, answers, split, and the further columns that a metric reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..reading.column_names import matched_names
from ..reading.header_problems import is_index, looks_like_index
from ..reading.split_words import USAGE, are_parts
from ..reading.tables import Table
from .contract import Metric
from .errors import Problem, Refused, shown
from .messages import Message, joined, listed

UNSCORED = "unscored"
"""The parameter with the columns that a submission has but that are not scored."""


@dataclass(frozen=True)
class Layout:
    """The columns of a truth file by their role."""

    id_column: str
    targets: tuple[str, ...]
    has_split: bool
    roles: Mapping[str, str] = field(default_factory=dict)
    unscored: tuple[str, ...] = ()
    """Columns that a submission has but that are not scored."""


def layout_of(
    metric: Metric | None, table: Table, id_column: str | None, params: Mapping[str, Any] | None = None
) -> Layout:
    """Id, targets, roles and split of a truth; with ``metric`` None any target columns are accepted. Raises
    ``Refused``."""
    name = id_column_of(table, id_column)
    _refuse_other_usage(table)
    roles: dict[str, str] = {}
    unscored: tuple[str, ...] = ()
    if metric is not None and params is not None:
        roles = _roles_of(metric, table, name, params)
        if not metric.is_custom:
            unscored = _unscored_of(params, (name, USAGE, *roles.values()))
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


def _unscored_of(params: Mapping[str, Any], taken: Sequence[str]) -> tuple[str, ...]:
    """The columns listed in the parameter ``unscored``. Raises ``Refused``."""
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
    """The column of that name, or the first column. Raises ``Refused``."""
    name = id_column.strip() if id_column else table.names[0]
    if name in (matched := matched_names(table.names, [name])):
        return table.names[matched.index(name)]
    names = ", ".join(map(shown, table.names[:10]))
    message = Message("The id column {column} is missing; the file has {names}.", column=shown(name), names=names)
    raise Refused(Problem("column_missing", message, column=name))


def _refuse_other_usage(table: Table) -> None:
    """Raise ``Refused`` for a split whose column is called ``usage``, which would be taken for answers."""
    if USAGE in table.names:
        return
    for name in table.names:
        if name.casefold() == USAGE.casefold() and are_parts(table.column(name).slice(0, 1000).to_pylist()):
            message = Message(
                "The column {column} holds the split; it must be called {usage}.",
                column=shown(name),
                usage=shown(USAGE),
            )
            raise Refused(Problem("usage_name", message, column=name, line=1))


def _roles_of(metric: Metric, table: Table, id_column: str, params: Mapping[str, Any]) -> dict[str, str]:
    """The column of each role. Raises ``Refused``."""
    asked = {role: params.get(role, role) for role in metric.roles}
    free = [column for column in table.names if column not in (id_column, USAGE)]
    if not free:
        raise Refused(Problem("no_target", Message("The file has no target column beside the ids.")))
    unused = {role for role, column in asked.items() if column not in free and column == metric.roles[role].may_lack}
    roles = {role: column for role, column in asked.items() if column is not None and role not in unused}
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
