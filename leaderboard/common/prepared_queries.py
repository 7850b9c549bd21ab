"""Queries that Django builds and compiles once per process.

For the small queries of every page, building the SQL takes several times as long as the database needs for the answer
(`bench/pages.py`). A prepared query keeps its SQL and only replaces the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLCompiler

Row = TypeVar("Row", bound=Model)
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
    """A place in a statement's parameters that takes a value of the caller."""

    name: str


class PreparedQuery(Generic[Row]):
    """The objects that `build` finds, a function whose parameters are numbers or texts and that returns a queryset.

    `build` runs only once, with placeholders. So it must not look at their values, and each has to become a parameter
    of the SQL; `ValueError` otherwise.
    """

    def __init__(self, build: Callable[..., QuerySet[Row]]) -> None:
        self.build = build
        self.compiled: tuple[QuerySet[Row], _CompiledQuery, Statement] | None = None

    def rows(self, **values: int | str) -> list[Row]:
        # Two threads may compile at the same time; both get the same.
        found = self.compiled = self.compiled or self._compile(values)
        rows, query, (sql, parameters) = found[0].all(), copy(found[1]), found[2]
        query.statement = sql, tuple(values[one.name] if isinstance(one, _Parameter) else one for one in parameters)
        rows.query = query
        return list(rows)

    def only_row(self, **values: int | str) -> Row | None:
        """The row of a query that finds at most one; None without one."""
        return next(iter(self.rows(**values)), None)

    def _compile(self, values: dict[str, int | str]) -> tuple[QuerySet[Row], _CompiledQuery, Statement]:
        placeholders = {name: _placeholder(value, n) for n, (name, value) in enumerate(values.items())}
        rows = self.build(**placeholders)
        compiler = rows.query.get_compiler(DEFAULT_DB_ALIAS)
        sql, parameters = compiler.as_sql()
        names = {placeholder: _Parameter(name) for name, placeholder in placeholders.items()}
        replaced = tuple(names.get(parameter, parameter) for parameter in parameters)
        if missing := set(names.values()) - set(replaced):
            raise ValueError(f"no parameters of the SQL: {', '.join(one.name for one in missing)}")
        query = rows.query.chain(_CompiledQuery)
        assert isinstance(query, _CompiledQuery)
        query.columns = compiler
        return rows, query, (sql, replaced)


def _placeholder(value: int | str, number: int) -> int | str:
    """A value of the same type that occurs nowhere else in a query."""
    # Lookups such as `iexact` escape these characters; they are refused, because later values would not be escaped.
    return f"\\%_placeholder {number}" if isinstance(value, str) else 8_999_000_000_000_000_000 + number
