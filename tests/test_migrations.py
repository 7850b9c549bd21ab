"""Olga upgrades while her class hands in: the release before must run on the new tables, so a migration only adds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import models
from django.db.migrations import Migration, RunPython, operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from leaderboard import __version__

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
RELEASES = re.findall(r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$", CHANGELOG, flags=re.M)
HARMLESS = (
    operations.AddIndex,
    operations.AlterModelManagers,
    operations.AlterModelOptions,
    operations.CreateModel,
)
# Apart from these, what a field is made of is what its column is.
ONLY_IN_PYTHON = ({*models.Field.non_db_attrs} - {"db_column"}) | {"default", "db_default"}


def takes_away(operation: Operation, app: str, before: ProjectState) -> Iterator[str]:
    """Why code that does not know of the operation may fail after it."""
    if isinstance(operation, operations.SeparateDatabaseAndState):
        for one in operation.database_operations:
            yield from takes_away(one, app, before)
    elif isinstance(operation, operations.AddField):
        yield from _lacks_a_value(operation)
    elif isinstance(operation, operations.AlterField):
        old = before.models[app, operation.model_name_lower].fields[operation.name]
        if _column(old) != _column(operation.field):
            yield f"changes the column {operation.model_name}.{operation.name}"
    elif not isinstance(operation, HARMLESS):
        yield operation.describe()


def _lacks_a_value(operation: operations.AddField) -> Iterator[str]:
    field = operation.field
    if not (field.null or field.many_to_many or field.has_db_default()):
        yield f"adds {operation.model_name}.{operation.name}, which older code leaves empty: null=True or db_default"
    elif field.unique and not field.null:
        yield f"adds {operation.model_name}.{operation.name}, which older code fills with the same value each time"


def _column(field: models.Field[object, object]) -> tuple[str, list[object], dict[str, object]]:
    _, path, arguments, options = field.deconstruct()
    return path, list(arguments), {name: value for name, value in options.items() if name not in ONLY_IN_PYTHON}


def faults_of(migration: Migration, before: ProjectState) -> list[str]:
    """What breaks the release before, unless the migration names a release that runs beside it."""
    state, faults = before.clone(), list[str]()
    for operation in migration.operations:
        faults += takes_away(operation, migration.app_label, state)
        operation.state_forwards(migration.app_label, state)
    runs_beside = getattr(migration, "runs_beside", None)
    if not faults or runs_beside in RELEASES:
        return []
    return faults if runs_beside is None else [f"runs_beside = {runs_beside!r} is no release of CHANGELOG.md"]


def test_every_migration_leaves_the_release_before_at_work() -> None:
    loader = MigrationLoader(None)
    own = {app for app, name in loader.disk_migrations if (ROOT / "leaderboard" / app).is_dir()}
    assert len(own) >= 7
    found = {
        f"{app}.{name}": faults
        for (app, name), migration in loader.disk_migrations.items()
        if app in own and not migration.initial
        if (faults := faults_of(migration, loader.project_state((app, name), at_end=False)))
    }
    assert found == {}


# --- the rule itself ----------------------------------------------------------------------------------------------


def before() -> ProjectState:
    state = ProjectState()
    key, name = models.BigAutoField(primary_key=True), models.CharField(max_length=20)
    operations.CreateModel("Team", [("id", key), ("name", name)]).state_forwards("app", state)
    return state


def faults(*made_of: Operation, **attributes: str) -> list[str]:
    made = type("Next", (Migration,), {"operations": list(made_of), **attributes})
    return faults_of(made("0002_next", "app"), before())


@pytest.mark.parametrize(
    "operation",
    [
        operations.CreateModel("Prize", [("id", models.BigAutoField(primary_key=True))]),
        operations.AddField("team", "motto", models.CharField(max_length=20, null=True)),
        operations.AddField("team", "motto", models.CharField(max_length=20, db_default="")),
        operations.AddField("team", "badge", models.CharField(max_length=20, null=True, unique=True)),
        operations.AddField("team", "rivals", models.ManyToManyField("app.Team")),
        operations.AddIndex("team", models.Index(fields=["name"], name="by_name")),
        operations.AlterField("team", "name", models.CharField("what it is called", max_length=20, blank=True)),
        operations.AlterField("team", "name", models.CharField(max_length=20, db_default="")),
        operations.AlterModelOptions("team", {"ordering": ["name"]}),
        operations.SeparateDatabaseAndState(state_operations=[operations.RemoveField("team", "name")]),
    ],
    ids=lambda operation: operation.describe(),
)
def test_a_migration_may_add(operation: Operation) -> None:
    assert faults(operation) == []


TAKING_AWAY = [
    operations.AddField("team", "motto", models.CharField(max_length=20, default="")),
    operations.AddField("team", "badge", models.CharField(max_length=20, unique=True, db_default="")),
    operations.AddConstraint("team", models.CheckConstraint(condition=~models.Q(name=""), name="named")),
    operations.AlterField("team", "name", models.CharField(max_length=10)),
    operations.AlterField("team", "name", models.CharField(max_length=20, db_column="title")),
    operations.AlterField("team", "name", models.CharField(max_length=20, null=True)),
    operations.AlterUniqueTogether("team", {("name",)}),
    operations.DeleteModel("Team"),
    operations.RemoveField("team", "name"),
    operations.RenameField("team", "name", "title"),
    operations.RenameModel("Team", "Group"),
    operations.SeparateDatabaseAndState(database_operations=[operations.RemoveField("team", "name")]),
    RunPython(RunPython.noop),
    operations.RunSQL("DELETE FROM app_team"),
]


@pytest.mark.parametrize("operation", TAKING_AWAY, ids=lambda operation: operation.describe())
def test_a_migration_may_not_take_away_what_older_code_uses(
    operation: Operation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.RELEASES", ["0.2.0"])
    assert faults(operation) != []
    assert faults(operation, runs_beside="0.3.0") != [], "that is not released"
    assert faults(operation, runs_beside="0.2.0") == []


def test_the_newest_section_of_the_changelog_is_about_the_version_of_the_code() -> None:
    newest = re.search(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", CHANGELOG, flags=re.M)
    assert newest
    assert newest.group(1) == __version__
