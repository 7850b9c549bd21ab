"""Real PostgreSQL and Redis servers from the system's packages, each with data and a port of its own.

They keep nothing beyond the test that starts them, so nothing waits for a disk; but what is committed survives a kill.
PostgreSQL refuses to run as root: then it runs as the user `postgres` or `nobody`, in a folder that this user can
reach.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis

from leaderboard.common import child_processes
from tests.running_site import free_port, until

PASSWORD = "p@ss/word"  # what has to be quoted in an address
QUOTED = "p%40ss%2Fword"
POSTGRES = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "unix_socket_directories": "''",
    "log_min_messages": "fatal",
}


class Lacking(Exception):
    """A server that is not installed here; the text says what to install."""


def program(name: str, package: str) -> str:
    """Where a server's program lies; Debian keeps PostgreSQL's next to the path."""
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = str(newest[-1]) if newest else shutil.which(name)
    if found is None:
        raise Lacking(f"{name} is not installed here: apt-get install {package}")
    return found


@dataclass
class Server:
    """A process that listens at `host`:`port`; it can be killed, frozen and started again with its data."""

    command: list[str]
    folder: Path
    host: str
    port: int
    user: dict[str, Any] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def answers(self) -> bool:
        raise NotImplementedError

    def start(self) -> None:
        tests = os.getpid()
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=lambda: child_processes.die_with(tests),
                **self.user,
            )

        def is_up() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, (self.folder / "log").read_text()
            return self.answers()

        until(is_up, what=self.command[0])

    def end(self, how: signal.Signals) -> None:
        """Signal the server and wait for its end."""
        assert self.process is not None
        os.kill(self.process.pid, how)
        self.process.wait(timeout=20)

    def kill(self) -> None:
        """As a power cut would end it, with all of its processes."""
        assert self.process is not None
        # Each backend of PostgreSQL leads a group of its own, and a server that starts while one lives refuses.
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        for pid in [self.process.pid, *map(int, found.stdout.split())]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=20)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.process.pid, signal.SIGCONT)


class Postgres(Server):
    def url(self, database: str = "postgres", options: str = "") -> str:
        return f"postgres://leaderboard:{QUOTED}@{self.host}:{self.port}/{database}{options}"

    def answers(self) -> bool:
        try:
            self.run("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def run(self, statement: str, database: str = "postgres") -> list[Any]:
        """One statement outside of a transaction; its rows, if it has any."""
        with psycopg.connect(self.url(database), autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def new_database(self, name: str) -> str:
        """Make an empty database; gives its address."""
        self.run(f"CREATE DATABASE {name} TEMPLATE template0")
        return self.url(name)


class Redis(Server):
    ca: Path | None = None

    @property
    def url(self) -> str:
        encrypted = f"?ssl_cert_reqs=required&ssl_ca_certs={self.ca}" if self.ca else ""
        return f"{'rediss' if self.ca else 'redis'}://:{QUOTED}@{self.host}:{self.port}/0{encrypted}"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=5)

    def answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.RedisError:
            return False


@contextmanager
def running(server: Server) -> Iterator[None]:
    server.start()
    try:
        yield
    finally:
        server.kill()


@contextmanager
def postgres(*, host: str = "127.0.0.1", certificate: Path | None = None) -> Iterator[Postgres]:
    """An empty server for one test session; with a folder of certificates, one that can speak encrypted."""
    initdb, binary = program("initdb", "postgresql"), program("postgres", "postgresql")
    folder = Path(tempfile.mkdtemp(prefix="leaderboard-postgres-"))
    user = _other_user(folder)
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    data = folder / "data"
    made = subprocess.run(
        [initdb, f"--pgdata={data}", "--username=leaderboard", f"--pwfile={folder / 'password'}", "--no-sync",
         "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8"],
        cwd=folder, capture_output=True, text=True, check=False, **user,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    port = free_port()
    lines = [f"{name} = {value}" for name, value in POSTGRES.items()]
    lines += [f"port = {port}", f"listen_addresses = '{host}'"]
    if certificate:
        lines += ["ssl = on", *(f"ssl_{kind}_file = '{kind}.pem'" for kind in ("cert", "key"))]
        for kind in ("cert", "key"):
            shutil.copy(certificate / f"{kind}.pem", data)
            (data / f"{kind}.pem").chmod(0o600)
            if user:
                os.chown(data / f"{kind}.pem", user["user"], user["group"])
    (data / "postgresql.auto.conf").write_text("\n".join(lines) + "\n")
    if host != "127.0.0.1":
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet scram-sha-256\n")
    server = Postgres([binary, "-D", str(data)], folder, host, port, user)
    try:
        with running(server):
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _other_user(folder: Path) -> dict[str, Any]:
    """Options for a process that must not be root's, and the folder made over to its user."""
    if os.getuid() != 0:
        return {}
    known = {entry.pw_name for entry in pwd.getpwall()}
    entry = pwd.getpwnam("postgres" if "postgres" in known else "nobody")
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@contextmanager
def redis_server(*, host: str = "127.0.0.1", certificate: Path | None = None) -> Iterator[Redis]:
    """A server that writes nothing to the disk and evicts nothing; with a folder of certificates, an encrypted one."""
    binary = program("redis-server", "redis-server")
    folder = Path(tempfile.mkdtemp(prefix="leaderboard-redis-"))
    port = free_port()
    ports = ["--port", "0", "--tls-port"] if certificate else ["--port"]
    command = [binary, "--bind", host, *ports, str(port), "--requirepass", PASSWORD, "--save", "", "--appendonly", "no"]
    command += ["--maxmemory-policy", "noeviction", "--dir", str(folder)]
    server = Redis(command, folder, host, port)
    if certificate:
        names = {"--tls-cert-file": "cert.pem", "--tls-key-file": "key.pem", "--tls-ca-cert-file": "ca.pem"}
        server.command += [word for option, name in names.items() for word in (option, str(certificate / name))]
        server.command += ["--tls-auth-clients", "no"]
        server.ca = certificate / "ca.pem"
    try:
        with running(server):
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)
