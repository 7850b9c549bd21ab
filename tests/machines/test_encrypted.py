"""Redis with a password and TLS, PostgreSQL with sslmode: what the addresses say is what the site does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.running_site import ROOT
from tests.servers import Postgres, Redis, postgres, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.long]

# What a web server and a worker do with them: count tries, wake, listen, ask; and pg_dump with settings of its own.
USE = """
import json, sys, tempfile
from pathlib import Path
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from leaderboard.competitions import wake_ups
from leaderboard.operations import health as watching
from leaderboard.celery import app
cache.set("tries", 7)
rung = wake_ups.wake_workers(wake_ups.SWEEP)
with app.connection_for_read() as listening:
    message = listening.SimpleQueue("celery").get(timeout=5)
    message.ack()
with connection.cursor() as cursor:
    cursor.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
    encrypted = cursor.fetchone()[0]
from redis import Redis
from django.conf import settings
kept = bool(Redis.from_url(settings.REDIS_URL).keys("*tries*"))
call_command("migrate", verbosity=0)
folder = tempfile.mkdtemp()
call_command("backup", folder, stdout=sys.stderr)
print(json.dumps({
    "rung": rung, "heard": message.headers["task"], "counted": cache.get("tries") == 7 and kept,
    "encrypted": encrypted, "queue": watching.queue_length(),
    "backup": (Path(folder) / "database.sql").stat().st_size > 1000,
}))
"""


def certificate(folder: Path) -> None:
    """An authority (`ca.pem`) and a key with its certificate for 127.0.0.1 (`key.pem`, `cert.pem`)."""
    new = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    signed = ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-addext", "basicConstraints=critical,CA:FALSE"]
    for name, more in (
        ("ca", ["-subj", "/CN=a class"]),
        ("cert", ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", *signed]),
    ):
        key = "key.pem" if name == "cert" else "ca-key.pem"
        done = subprocess.run(
            [*new, "-keyout", key, "-out", f"{name}.pem", *more], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Postgres, Redis, Path]]:
    folder = tmp_path_factory.mktemp("certificates")
    certificate(folder)
    with redis_server(certificate=folder) as broker, postgres(certificate=folder) as database:
        yield database, broker, folder / "ca.pem"


def use(tmp_path: Path, database: str, broker: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if name not in ("REDIS_URL", "DATABASE_URL", "STORAGE_URL")
        },
        "VAR_DIR": str(tmp_path / "var"),
        "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
        "DATABASE_URL": database,
        "REDIS_URL": broker,
    }
    code = "import django; django.setup()\n" + USE
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)


def test_every_part_speaks_encrypted_and_knows_the_other_side(
    servers: tuple[Postgres, Redis, Path], tmp_path: Path
) -> None:
    database, broker, ca = servers
    address = database.new_database("whole")
    done = use(tmp_path, f"{address}?sslmode=verify-full&sslrootcert={ca}", broker.url)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "rung": True,
        "heard": "leaderboard.competitions.tasks.sweep",
        "counted": True,
        "encrypted": True,
        "queue": 0,
        "backup": True,
    }


def test_certificates_are_compared_unless_the_address_says_otherwise(
    servers: tuple[Postgres, Redis, Path], tmp_path: Path
) -> None:
    """Celery alone would trust anybody whose address names no authority."""
    database, broker, _ = servers
    done = use(tmp_path, database.url(), broker.url.partition("?")[0])
    assert done.returncode != 0
    assert "the broker took no message" in done.stderr
    assert "insecure" not in done.stderr


def test_a_server_with_another_certificate_is_not_trusted(
    servers: tuple[Postgres, Redis, Path], tmp_path: Path
) -> None:
    database, broker, _ = servers
    certificate(tmp_path)
    other = tmp_path / "ca.pem"
    done = use(tmp_path, database.url(options=f"?sslmode=verify-full&sslrootcert={other}"), broker.url)
    assert done.returncode != 0
    assert "certificate verify failed" in done.stderr
    stranger = broker.url.rpartition("ssl_ca_certs=")[0] + f"ssl_ca_certs={other}"
    done = use(tmp_path, database.url(), stranger)
    assert "the broker took no message" in done.stderr
