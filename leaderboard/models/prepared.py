"""Queries that are asked for each file, written once.

Django writes a query anew whenever it is asked, which takes many times as long as SQLite takes to answer it. Here the
query set is the same as everywhere; only its text is kept, and values are put where `Given` stands.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, models, transaction
from django.db.models.expressions import Value
from django.db.models.sql.subqueries import UpdateQuery


@dataclass(frozen=True)
class _Place:
    """Where a value goes among the parameters of a query."""

    name: str
    field: models.Field[Any, Any]
    is_saved: bool

    def filled(self, values: dict[str, Any]) -> Any:
        prepare = self.field.get_db_prep_save if self.is_saved else self.field.get_db_prep_value
        return prepare(values[self.name], connection=connection)


class Given(Value):
    """The place of a value that is named when the query is asked. Never null: `= NULL` is true of nothing."""

    for_save: bool

    def __init__(self, name: str, field: models.Field[Any, Any]) -> None:
        super().__init__(name, output_field=field)
        self.place = name, field

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [_Place(*self.place, is_saved=self.for_save)]


class _Written(threading.local):
    """What each thread has written: a compiler belongs to a connection, and a connection to a thread."""

    found: Any = None


def _filled(params: Sequence[Any], values: dict[str, Any]) -> list[Any]:
    return [one.filled(values) if isinstance(one, _Place) else one for one in params]


class Prepared:
    """A query set that is asked often. What `rows` takes from outside `Given` never changes while the process lives."""

    def __init__(self, rows: Callable[[], models.QuerySet[Any, Any]]) -> None:
        self._rows = rows
        self._mine = _Written()

    def all(self, **values: Any) -> list[Any]:
        found = self._mine.found
        if found is None or found[1].connection is not connections[DEFAULT_DB_ALIAS]:
            found = self._mine.found = self._written()  # a thread with an event loop has a second connection
        rows, compiler, sql, params = found
        filled = _filled(params, values)
        compiler.as_sql = lambda *_, **__: (sql, filled)
        return list(rows._iterable_class(rows))

    def first(self, **values: Any) -> Any:
        """The first row, of a query set that says how many it wants."""
        return next(iter(self.all(**values)), None)

    def _written(self) -> tuple[Any, Any, str, Sequence[Any]]:
        rows = self._rows()
        compiler = rows.query.get_compiler(rows.db)
        sql, params = compiler.as_sql()
        # Which text of a database becomes which value follows from the columns alone.
        converters = compiler.get_converters([column for column, *_ in compiler.select[: compiler.col_count]])
        compiler.get_converters = lambda _: converters
        # Django's own iterables ask the query for a compiler, and this for its text.
        rows.query.get_compiler = lambda *_, **__: compiler  # type: ignore[method-assign]
        return rows, compiler, sql, params


class PreparedUpdate:
    """An `update` that is made often, `to` these values; gives the number of rows."""

    def __init__(self, rows: Callable[[], models.QuerySet[Any, Any]], **to: Any) -> None:
        self._rows = rows
        self._to = to
        self._mine = _Written()

    def __call__(self, **values: Any) -> int:
        sql, params = self._mine.found = self._mine.found or self._written()
        with transaction.mark_for_rollback_on_error(using=DEFAULT_DB_ALIAS), connection.cursor() as cursor:
            cursor.execute(sql, _filled(params, values))
            return int(cursor.rowcount)

    def _written(self) -> tuple[str, Sequence[Any]]:
        query: Any = self._rows().query.chain(UpdateQuery)
        query.add_update_values(self._to)
        sql, params = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
        return sql, params
