"""Dumping and restoring the database: `VACUUM INTO` for SQLite, `pg_dump` and `psql` for PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection, transaction

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, Submission, Team


class BackupError(Exception):
    """The reason why no backup was made, or none restored; it may have several lines."""


# Options of an encrypted connection; PostgreSQL's programs read each from an environment variable `PG…`.
ENCRYPTION = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl")

LONGEST = 3 * 3600  # seconds that a program of PostgreSQL may take

Read = Callable[[str], list[Any]]
"""A function that runs one SELECT and returns its rows."""


@contextmanager
def database_snapshot(target: Path) -> Iterator[Read]:
    """Dump the database as it is at one moment; yields a function that reads the same snapshot."""
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with _postgres_snapshot(target) if connection.vendor == "postgresql" else _sqlite_snapshot(target) as read:
        yield read


def read_live(statement: str) -> list[Any]:
    """Read the database as it is now."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        rows: list[Any] = cursor.fetchall()
        return rows


@contextmanager
def _sqlite_snapshot(target: Path) -> Iterator[Read]:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(target)])
    # Not through Django, whose pragmas would change the snapshot.
    with closing(sqlite3.connect(f"{target.resolve().as_uri()}?mode=ro", uri=True)) as copied:
        yield lambda statement: copied.execute(statement).fetchall()


@contextmanager
def _postgres_snapshot(target: Path) -> Iterator[Read]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            name = cursor.fetchone()[0]
        run_postgres("pg_dump", "--no-owner", "--no-privileges", f"--snapshot={name}", f"--file={target}")
        yield read_live


def replace_postgres(dump: Path) -> None:
    """Replace everything in the database with a dump, in one transaction."""
    # pg_dump 17 sets this first, and older servers do not know it.
    dump.write_bytes(dump.read_bytes().replace(b"\nSET transaction_timeout = 0;\n", b"\n", 1))
    tables = ", ".join(map(connection.ops.quote_name, connection.introspection.table_names()))
    drop = [f"--command=DROP TABLE {tables} CASCADE"] if tables else []
    connection.close()
    options = ["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--output=/dev/null", "--single-transaction"]
    run_postgres("psql", *options, *drop, f"--file={dump}")


def run_postgres(program: str, *options: str) -> None:
    """Run a program of PostgreSQL, with the password in its environment, because other users can see a command line.
    Raises `BackupError`."""
    settings = connection.settings_dict
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    environment = {name: str(settings[key]) for name, key in names.items() if settings.get(key)}
    encryption = settings.get("OPTIONS", {})
    environment |= {f"PG{name.upper()}": str(encryption[name]) for name in ENCRYPTION if name in encryption}
    environment = {**os.environ, **environment}
    try:
        subprocess.run(
            [program, *options], env=environment, capture_output=True, text=True, check=True, timeout=LONGEST
        )
    except FileNotFoundError:
        raise BackupError(f"{program} is not installed here; it comes with PostgreSQL's client programs.") from None
    except subprocess.TimeoutExpired:
        raise BackupError(f"{program} did not end within {LONGEST // 3600} hours.") from None
    except subprocess.CalledProcessError as error:
        raise BackupError("\n".join([f"{program} failed.", *error.stderr.strip().splitlines()[-5:]])) from None


def named_files(read: Read) -> dict[str, str]:
    """Every stored file that a row names: key → SHA-256, `""` if the row has none."""
    files: dict[str, str] = {}
    for model in apps.get_models():
        fields = {field.name for field in model._meta.get_fields()}
        if "file_key" in fields:
            sha256 = "sha256" if "sha256" in fields else "''"
            stored = "WHERE file_removed_at IS NULL" if "file_removed_at" in fields else ""
            files.update(read(f"SELECT file_key, {sha256} FROM {model._meta.db_table} {stored}"))  # noqa: S608 - our own names
    return files


def database_facts(read: Read) -> dict[str, Any]:
    """Facts about a database for the manifest: its migrations, and the number of rows of important tables."""
    models = {"competitions": Competition, "people": User, "teams": Team, "submissions": Submission}
    return {
        "migrations": sorted(f"{app}.{name}" for app, name in read("SELECT app, name FROM django_migrations")),
        "rows": {name: read(f"SELECT count(*) FROM {model._meta.db_table}")[0][0] for name, model in models.items()},  # noqa: S608
    }


def has_database_rows() -> bool:
    """Whether the database exists and has people or competitions."""
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return False
    tables = connection.introspection.table_names()
    return any(model._meta.db_table in tables and model._default_manager.exists() for model in (User, Competition))
