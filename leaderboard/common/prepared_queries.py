"""Queries that Django builds and compiles once per process.

For the small queries of every page, building the SQL takes several times as long as the database needs for the answer,
which a class feels that arrives together (`bench/crowd.py`). A prepared query keeps its SQL and replaces parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLCompiler

Row = TypeVar("Row", bound=Model)
Value = int | str | UUID
Statement = tuple[str, tuple[Any, ...]]


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
    """A place in a statement's parameters that takes a value of the caller; SQLite stores a UUID as its digits."""

    name: str
    is_hex: bool = False

    def take(self, values: Mapping[str, Value]) -> object:
        value = values[self.name]
        return value.hex if self.is_hex and isinstance(value, UUID) else value


class PreparedQuery(Generic[Row]):
    """The objects that `build` finds: a function of numbers, texts or UUIDs that returns a queryset.

    `build` runs only once, with placeholders. So it must not look at their values, and each has to become a parameter
    of the SQL; `ValueError` otherwise.
    """

    def __init__(self, build: Callable[..., QuerySet[Row]]) -> None:
        self.build = build
        self.compiled: tuple[QuerySet[Row], _CompiledQuery, Statement] | None = None

    def rows(self, **values: Value) -> list[Row]:
        # Two threads may compile at the same time; both get the same.
        found = self.compiled = self.compiled or self._compile(values)
        rows, query, (sql, parameters) = found[0].all(), copy(found[1]), found[2]
        query.statement = sql, tuple(one.take(values) if isinstance(one, _Parameter) else one for one in parameters)
        rows.query = query
        return list(rows)

    def only_row(self, **values: Value) -> Row | None:
        """The row of a query that finds at most one; None without one."""
        return next(iter(self.rows(**values)), None)

    def _compile(self, values: dict[str, Value]) -> tuple[QuerySet[Row], _CompiledQuery, Statement]:
        placeholders = {name: _placeholder(value, n) for n, (name, value) in enumerate(values.items())}
        rows = self.build(**placeholders)
        compiler = rows.query.get_compiler(DEFAULT_DB_ALIAS)
        sql, parameters = compiler.as_sql()
        places: dict[object, _Parameter] = {value: _Parameter(name) for name, value in placeholders.items()}
        for name, value in placeholders.items():
            if isinstance(value, UUID):
                places[value.hex] = _Parameter(name, is_hex=True)
        replaced = tuple(places.get(parameter, parameter) for parameter in parameters)
        if missing := set(values) - {one.name for one in replaced if isinstance(one, _Parameter)}:
            raise ValueError(f"no parameters of the SQL: {', '.join(missing)}")
        query = rows.query.chain(_CompiledQuery)
        assert isinstance(query, _CompiledQuery)
        query.columns = compiler
        return rows, query, (sql, replaced)


def _placeholder(value: Value, number: int) -> Value:
    """A value of the same type that occurs nowhere else in a query."""
    if isinstance(value, UUID):
        return UUID(int=(1 << 127) + number)
    # Lookups such as `iexact` escape these characters; they are refused, because later values would not be escaped.
    return f"\\%_placeholder {number}" if isinstance(value, str) else 8_999_000_000_000_000_000 + number
