"""The order in which transactions lock rows, watched on any database while other tests run.

SQLite locks no rows and Django leaves the words out there, so a comment stands in their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.db import connection

FIRST = ("competitions_course", "competitions_competition")
TEAM, FILE = "competitions_team", "competitions_submission"
KEPT = (*FIRST, TEAM)
# Tables of which several transactions write several rows without a common lock.
BY_KEY = (TEAM, "lti_platformmark", "notifications_notice")
LOCKING = re.compile(
    r'(?:(UPDATE|INSERT INTO|DELETE FROM) "(\w+)"|SELECT .*? FROM "(\w+)".* (FOR (?:NO KEY )?UPDATE))', re.DOTALL
)
ONE_ROW = re.compile(r'"id" (= %s|IN \(%s\))')


class LockOrder:
    """Notes the tables whose rows a transaction of the site holds, and what it takes too late or too broadly."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self.transaction: object = None
        self.faults: list[str] = []

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        blocks = [block for block in connection.atomic_blocks if not block._from_testcase]  # type: ignore[attr-defined]
        if not blocks or blocks[0] is not self.transaction:
            self.held, self.transaction = [], blocks[0] if blocks else None
        if blocks and (found := LOCKING.match(sql)):
            self._note(sql, found[1], found[2] or found[3], found[4])
        return execute(sql, params, many, context)

    def _note(self, sql: str, verb: str | None, table: str, lock: str | None) -> None:
        if verb == "INSERT INTO":
            # New rows are invisible to other transactions, so no transaction can wait for them.
            self.held += FIRST[FIRST.index(table) :] if table in FIRST else []
            return
        if table in FIRST and table not in self.held and set(self.held) - set(FIRST[: FIRST.index(table)]):
            self.faults.append(f"{table} after {', '.join(self.held)}")
        if table == TEAM and FILE in self.held and TEAM not in self.held:
            self.faults.append("a team after files")
        if verb == "UPDATE" and table in BY_KEY and table not in self.held and not ONE_ROW.search(sql):
            self.faults.append(f"rows of {table} are written in no order")
        if lock == "FOR UPDATE" and table in KEPT:
            self.faults.append(f"{table} is locked with its key")
        if lock and table in KEPT and " IN (" in sql and "ORDER BY" not in sql:
            self.faults.append(f"rows of {table} are locked in no order")
        self.held.append(table)


@contextmanager
def watching() -> Iterator[LockOrder]:
    order = LockOrder()
    features = (f"has_select_for_{one}" for one in ("update", "no_key_update", "update_of", "update_skip_locked"))
    if connection.vendor == "postgresql":
        with connection.execute_wrapper(order):
            yield order
        return

    def words(no_key: bool = False, **_: Any) -> str:
        return f"/* FOR {'NO KEY ' * no_key}UPDATE */"

    can_lock = patch.multiple(connection.features, **dict.fromkeys(features, True))  # type: ignore[call-overload]
    with can_lock, patch.object(connection.ops, "for_update_sql", words), connection.execute_wrapper(order):
        yield order
