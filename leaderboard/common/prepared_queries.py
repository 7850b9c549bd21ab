"""Statements that Django builds and compiles once per process.

For the small queries of every page and file, building the SQL takes several times as long as the database needs for
the answer, which a class feels that arrives together (`bench/crowd.py`). A prepared statement keeps its SQL and
replaces parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import QuerySet
from django.db.models.sql import Query, UpdateQuery
from django.db.models.sql.compiler import SQLCompiler

Row = TypeVar("Row")
Value = int | str | UUID | datetime
# A list gets a statement for each length that it has. None is refused: `= NULL` finds nothing.
Values = Mapping[str, Value | list[Any]]
Statement = tuple[str, tuple[Any, ...]]
Shape = tuple[tuple[str, "int | type"], ...]


class _CompiledQuery(Query):
    """A query with its SQL; only to be run, because filters would have no effect."""

    columns: SQLCompiler
    statement: Statement

    def get_compiler(self, using: str | None = None, connection: Any = None, elide_empty: bool = True) -> SQLCompiler:
        return _StatementCompiler(self, connection or connections[using or DEFAULT_DB_ALIAS])


class _StatementCompiler(SQLCompiler):
    """A compiler that has its SQL, and the columns of the compiler that wrote it."""

    def __init__(self, query: _CompiledQuery, connection: Any) -> None:
        vars(self).update(vars(query.columns))
        self.query, self.connection = query, connection

    def as_sql(self, *args: object, **options: object) -> Statement:
        assert isinstance(self.query, _CompiledQuery)
        return self.query.statement


@dataclass(frozen=True)
class _Parameter:
    """A place in a statement's parameters that takes a value of the caller."""

    name: str


class _Prepared:
    """SQL with places for the values that a caller gives by name."""

    def __init__(self, statement: Statement, placeholders: Mapping[str, Value | list[Any]]) -> None:
        places: dict[object, _Parameter] = {value: _Parameter(name) for name, value in _stored(placeholders).items()}
        self.sql = statement[0]
        self.parameters = tuple(places.get(parameter, parameter) for parameter in statement[1])
        used = {one.name for one in self.parameters if isinstance(one, _Parameter)}
        if missing := {one.name for one in places.values()} - used:
            raise ValueError(f"no parameters of the SQL: {', '.join(missing)}")

    def filled(self, values: Values) -> Statement:
        stored = _stored(values)
        return self.sql, tuple(stored[one.name] if isinstance(one, _Parameter) else one for one in self.parameters)


class PreparedQuery(Generic[Row]):
    """The objects that `build` finds: a function of values, or lists of values, that returns a queryset.

    `build` runs only once for each type of its values and length of its lists, with placeholders. So it must not look
    at their values, and each has to become a parameter of the SQL; `ValueError` otherwise. Nor may it depend on
    anything else that changes, such as language, time zone or clock.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Row]]) -> None:
        self.build = build
        self.compiled: dict[Shape, tuple[QuerySet[Any, Row], _CompiledQuery, _Prepared]] = {}

    def rows(self, **values: Value | list[Any]) -> list[Row]:
        shape = _shape(values)
        if shape not in self.compiled:  # two threads may compile at the same time; both get the same
            try:
                self.compiled[shape] = self._compile(values)
            except EmptyResultSet:  # of an empty list
                return []
        found, compiled, prepared = self.compiled[shape]
        rows, query = found.all(), copy(compiled)
        query.statement = prepared.filled(values)
        rows.query = query
        return list(rows)

    def only_row(self, **values: Value | list[Any]) -> Row | None:
        """The row of a query that finds at most one; None without one."""
        return next(iter(self.rows(**values)), None)

    def _compile(self, values: Values) -> tuple[QuerySet[Any, Row], _CompiledQuery, _Prepared]:
        placeholders = _placeholders(values)
        rows = self.build(**placeholders)
        if rows._known_related_objects:  # type: ignore[attr-defined]
            raise ValueError("rows would share an object of the first caller; filter by its key instead")
        compiler = rows.query.get_compiler(DEFAULT_DB_ALIAS)
        prepared = _Prepared(compiler.as_sql(), placeholders)
        query = rows.query.chain(_CompiledQuery)
        assert isinstance(query, _CompiledQuery)
        query.columns = compiler
        return rows, query, prepared


class PreparedUpdate:
    """The update that `build` describes: as in `PreparedQuery`, returning a queryset of one table and the fields to
    write."""

    def __init__(self, build: Callable[..., tuple[QuerySet[Any], dict[str, Any]]]) -> None:
        self.build = build
        self.compiled: dict[Shape, _Prepared] = {}

    def run(self, **values: Value | list[Any]) -> int:
        """Write; returns the number of rows."""
        shape = _shape(values)
        if shape not in self.compiled:
            try:
                self.compiled[shape] = self._compile(values)
            except EmptyResultSet:  # of an empty list
                return 0
        with connection.cursor() as cursor:
            cursor.execute(*self.compiled[shape].filled(values))
            return int(cursor.rowcount)

    def _compile(self, values: Values) -> _Prepared:
        placeholders = _placeholders(values)
        rows, fields = self.build(**placeholders)
        query = rows.query.chain(UpdateQuery)
        assert isinstance(query, UpdateQuery)
        query.add_update_values(fields)
        return _Prepared(query.get_compiler(DEFAULT_DB_ALIAS).as_sql(), placeholders)


def _shape(values: Values) -> Shape:
    """What a statement depends on: the names, with the length of a list or the type of a value."""
    return tuple((name, len(value) if isinstance(value, list) else type(value)) for name, value in values.items())


def _stored(values: Values) -> dict[str, object]:
    """The values as parameters of SQL, each of a list by itself."""
    stored: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, list):
            stored |= {f"{name}[{n}]": _as_parameter(one) for n, one in enumerate(value)}
        else:
            stored[name] = _as_parameter(value)
    return stored


def _as_parameter(value: object) -> object:
    if value is None:
        raise TypeError("None is no value of a prepared statement")
    if isinstance(value, UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def _placeholders(values: Values) -> dict[str, Any]:
    """Values of the same types, each of which occurs nowhere else in a query."""
    numbers = count()
    return {
        name: [_placeholder(one, next(numbers)) for one in value]
        if isinstance(value, list)
        else _placeholder(value, next(numbers))
        for name, value in values.items()
    }


def _placeholder(value: object, number: int) -> Value:
    if isinstance(value, UUID):
        return UUID(int=(1 << 127) + number)
    if isinstance(value, datetime):
        return datetime(9998, 1, 1, 0, number // 60 % 60, number % 60, tzinfo=UTC)
    # Lookups such as `iexact` escape some of these characters, and `build` may fold case or strip blanks; both are
    # refused, because that would not be done with later values. A number fits into the smallest column: Django leaves
    # out a comparison with one that does not.
    return f" \\%_Placeholder {number}" if isinstance(value, str) else 31_000 + number
