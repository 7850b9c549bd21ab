"""The place of a running site: its folders, its lock, its broker's socket, its port and its address."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import socket
import stat
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from leaderboard.common import folders
from leaderboard.common.network import EVERYWHERE, own_urls

LONGEST_SOCKET_PATH = 103  # bytes; Linux takes 107, macOS 103
LOG_ROTATED_AT = 20 * 2**20
RESTARTS = "restarts.log"


class Trouble(Exception):
    """A foreseeable problem with its cause and remedy, written for the person at the terminal."""


class SiteFolders:
    """The folder `var` (or `VAR_DIR`) of one installation.

    If it belongs to this user, it is closed to all others. A volume may belong to another user if this one can write to
    it; then only the folders and files that the site makes in it are closed.
    """

    def __init__(self, var: Path | None = None, *, is_service: bool = False) -> None:
        self.var = (var or folders.state_folder()).absolute()
        self.is_service = is_service
        self.run, self.logs = self.var / "run", self.var / "log"
        if is_service:  # several of them may share a volume
            self.run = self.run / f"{socket.gethostname()}-{os.getpid()}"
        self.heartbeats = self.run / "heartbeats"
        self._lock: IO[str] | None = None

    def make(self) -> None:
        """Make the folders. Raises `Trouble` with the path that this user cannot use, and advice."""
        try:
            self.var.mkdir(mode=0o700, parents=True, exist_ok=True)
        except PermissionError as error:
            parent = next(folder for folder in self.var.parents if folder.exists())
            raise Trouble(f"{self.var} cannot be made. {_permission_advice(parent)}") from error
        if self.var.stat().st_uid == os.geteuid():
            with contextlib.suppress(PermissionError):  # some volumes do not allow changing permissions
                self.var.chmod(0o700)
        if not os.access(self.var, os.R_OK | os.W_OK | os.X_OK):
            raise Trouble(f"{self.var} cannot be written. {_permission_advice(self.var)}")
        for folder in (self.run, self.heartbeats, self.logs):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                folder.chmod(0o700)
            except PermissionError as error:
                raise Trouble(f"{folder} cannot be closed to other users. {_permission_advice(folder)}") from error
        for name in ("files", "cache", "leaderboard.sqlite3", "secret_key"):
            path = self.var / name
            if path.exists() and not os.access(path, os.R_OK | os.W_OK):
                raise Trouble(f"{path} cannot be used. {_permission_advice(path)}")

    def warning(self) -> str:
        """A warning if all users of the machine may replace the site's database; else `""`."""
        mode = self.var.stat().st_mode
        if not mode & stat.S_IWOTH or mode & stat.S_ISVTX:
            return ""
        return (
            f"All users of this machine may write to {self.var} and could replace what the site keeps there. In a "
            f"container of its own that does no harm; elsewhere: chmod o-w {self.var}"
        )

    def log_of(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def rotate_logs(self) -> None:
        """Keep one older part of each log, unless the disk is full. The log is copied and emptied, not renamed, because
        its writer has it open."""
        for log in self.logs.glob("*.log"):
            if log.stat().st_size > LOG_ROTATED_AT:
                older = log.with_suffix(".log.1")
                try:
                    shutil.copyfile(log, older)
                except OSError:
                    older.unlink(missing_ok=True)
                os.truncate(log, 0)

    def note_restart(self, line: str) -> None:
        """Append a line about a restart to the log of restarts."""
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        with contextlib.suppress(OSError), (self.logs / RESTARTS).open("a") as log:
            log.write(f"{moment} {line}\n")

    def trouble_with(self, name: str, what: str) -> Trouble:
        """The reason why a part does not start: a full disk (which may keep it from logging), or the end of its log."""
        if shutil.disk_usage(self.var).free < 2**20:
            return Trouble(f"The disk is full where {self.var} lies. Make room and run the same command again.")
        if self.is_service:
            return Trouble(f"{what} Its own lines above say why.")
        log = self.log_of(name)
        lines = log.read_text(errors="replace").strip().splitlines()[-8:] if log.exists() else []
        return Trouble("\n    ".join([what, *lines]) + f"\n(from {log})")

    def take_lock(self) -> bool:
        """Take the lock of this folder, held until this process ends; False if another `up` holds it."""
        self._lock = (self.run / "up.lock").open("a+")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.leave()
            return False
        self.note_address("")
        return True

    def leave(self) -> None:
        """Release the lock; the end of the process does the same."""
        if self._lock is not None:
            self._lock.close()
        if self.is_service:
            shutil.rmtree(self.run, ignore_errors=True)

    def note_address(self, address: str) -> None:
        """Store the site's address for a second `up`; `""` while the site starts."""
        assert self._lock is not None
        self._lock.truncate(0)
        self._lock.write(address)
        self._lock.flush()

    def read_address(self) -> str:
        return (self.run / "up.lock").read_text()

    def socket(self) -> Path:
        """The path of the broker's socket; in a new temporary folder if the path in `var` is too long. Raises
        `Trouble`."""
        path = self.run / "valkey.sock"
        if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
            path = Path(tempfile.mkdtemp(prefix="leaderboard-")) / "valkey.sock"
        if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
            raise Trouble(f"The path {path} is too long for a socket. Set VAR_DIR to a folder with a short path.")
        return path


def _permission_advice(path: Path) -> str:
    """The owner and mode of a path, the ids of this process, and what to do; for people who do not know containers
    well."""
    owner, user, groups = path.stat(), os.geteuid(), sorted({os.getegid(), *os.getgroups()})
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        return f"{path} lies on a file system that is mounted read-only. Set VAR_DIR to a folder that can be written."
    return (
        f"{path} belongs to user id {owner.st_uid} and group id {owner.st_gid} with mode "
        f"{stat.S_IMODE(owner.st_mode):o}; this process has user id {user} and group ids "
        f"{', '.join(map(str, groups))}. Give it to this user (chown -R {user} {path}), or set VAR_DIR to a folder "
        "that this user or one of these groups can write."
    )


def claim_port(host: str, port: int) -> int:
    """The port if it can be listened on (a free one for 0). Raises `Trouble`."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1)
            number: int = listener.getsockname()[1]
            return number
    except PermissionError:
        raise Trouble(f"Port {port} is reserved for the administrator. Choose one above 1023: --port 8000") from None
    except OSError as error:
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise Trouble(f"This machine has no address {host}. Leave --host out, or use --host 0.0.0.0.") from None
        raise Trouble(
            f"Port {port} on {host} is taken by another program. Choose another: {folders.COMMAND} up --port {port + 1}"
        ) from None


def url_of(host: str, port: int) -> str:
    """The URL to type into a browser; for a host that means all addresses, one that others in the network can use."""
    if host in EVERYWHERE:
        return next(iter(own_urls(port)), f"http://127.0.0.1:{port}/")
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def allowed_hosts(host: str, configured: str) -> str:
    """Django's `ALLOWED_HOSTS`: the configured names, localhost, and this machine's names if others may connect. Its
    addresses then are allowed too, whichever they are (`network.AllowedHosts`)."""
    hosts = [*filter(None, configured.split(",")), "localhost", "127.0.0.1", "[::1]"]
    if host in EVERYWHERE:
        name = socket.gethostname()
        hosts += [name, f"{name}.local"]
    else:
        hosts.append(f"[{host}]" if ":" in host else host)
    return ",".join(dict.fromkeys(hosts))
