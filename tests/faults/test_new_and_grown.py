"""Ada's new site gets all tables at once, Olga's old one took every step: nobody can tell them apart afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

import pytest
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from pytest_django.plugin import DjangoDbBlocker

pytestmark = [pytest.mark.thorough, pytest.mark.sqlite]

SQUASHED = import_module("leaderboard.migrations.0001_squashed_0029_medal_zones").Migration


class Grown(NamedTuple):
    """A database that took one step after the other, and which ones it lacked before the last of the replaced."""

    database: BaseDatabaseWrapper
    half_way: list[str]


def newest(executor: MigrationExecutor) -> list[tuple[str, str]]:
    return [node for node in executor.loader.graph.leaf_nodes() if node[0] == "leaderboard"]


def tables(database: BaseDatabaseWrapper) -> dict[str, list[str]]:
    """Our tables with their columns and constraints in any order, every index and every trigger."""
    with database.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name LIKE 'leaderboard%'")
        rows = cursor.fetchall()
    return {name: sorted(re.split(r"[,()]\s*", sql)) for name, sql in rows}


@pytest.fixture(scope="module")
def grown(django_db_blocker: DjangoDbBlocker, django_db_setup: None) -> Iterator[Grown]:
    connections.databases["grown"] = {**connections.databases["default"], "NAME": ":memory:"}
    with django_db_blocker.unblock():
        database = connections["grown"]
        executor = MigrationExecutor(database)
        executor.loader = MigrationLoader(database, replace_migrations=False)
        executor.migrate(SQUASHED.replaces[-2:-1])
        executor = MigrationExecutor(database)
        half_way = [migration.name for migration, _ in executor.migration_plan(newest(executor))]
        executor.migrate(newest(executor))
        yield Grown(database, half_way)
        database.close()
    del connections["grown"], connections.databases["grown"]


@pytest.fixture(scope="module")
def grown_tables(grown: Grown) -> dict[str, list[str]]:
    return tables(grown.database)


@pytest.mark.django_db
def test_a_new_site_has_the_very_tables_indexes_and_guards_of_one_that_grew(grown_tables: dict[str, list[str]]) -> None:
    new = tables(connection)
    assert {"leaderboard_submission", "submission_by_team", "audit_never_changes"} <= set(new)
    assert {name: new.get(name) for name in new | grown_tables} == grown_tables


def test_a_site_that_grew_has_nothing_left_to_do(grown: Grown) -> None:
    executor = MigrationExecutor(grown.database)
    assert executor.migration_plan(newest(executor)) == []


def test_a_site_that_is_half_way_takes_the_steps_that_it_lacks(grown: Grown) -> None:
    assert grown.half_way[0] == SQUASHED.replaces[-1][1]
    assert not [name for name in grown.half_way if "squashed" in name]
