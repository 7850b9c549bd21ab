"""Olga types `manage.py up`: real processes in a folder and on a port of their own, ended as roughly as it gets."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from leaderboard.accounts.models import SetupLink, User
from leaderboard.common import network
from leaderboard.operations.supervisor import place as place_module
from leaderboard.operations.supervisor import prepare
from leaderboard.operations.supervisor.place import Trouble
from leaderboard.operations.supervisor.processes import (
    FIRST_PAUSE,
    HEALTHY_AFTER,
    LONGEST_PAUSE,
    Heartbeats,
    ManagedProcess,
)
from manage import BASE
from tests.processes import below, children_of, is_over
from tests.running_site import patience, until

DEADLINE = 60.0
NEW_PASSWORD = "a rather long sentence 7"


def wait_for(condition: Callable[[], bool], what: str, seconds: float = DEADLINE) -> None:
    until(condition, what=what, seconds=seconds)


class Up:
    """One `manage.py up`, what it has said, and the processes below it."""

    def __init__(self, var: Path, *options: str, **env: str) -> None:
        self.var = var
        self.output = var.with_name(f"{var.name[:40]} said {time.monotonic_ns()}")
        command = [sys.executable, str(BASE / "manage.py"), "up", "--port", "0", "--no-browser", *options]
        elsewhere = ("ADMIN_", "DATABASE_URL", "REDIS_URL")
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(elsewhere)}
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command, env={**inherited, "VAR_DIR": str(var), **env}, stdout=output, stderr=output
            )

    @property
    def text(self) -> str:
        return self.output.read_text()

    @property
    def url(self) -> str:
        found = re.search(r"runs at (http://\S+)", self.text)
        assert found, self.text
        return found[1]

    def started(self) -> Up:
        wait_for(lambda: "Started in" in self.text or self.process.poll() is not None, "the box")
        assert self.process.poll() is None, self.text
        return self

    def ended(self) -> int:
        return self.process.wait(DEADLINE)

    def page(self, path: str = "healthz") -> int | None:
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                status: int = answer.status
                return status
        except OSError:
            return None

    def family(self) -> list[int]:
        """Every process below `up`."""
        return below(self.process.pid)

    def pid_of(self, part: str) -> int:
        """The leader of a part: the direct child of `up` whose command line has these words."""
        (own,) = children_of(self.process.pid, part)
        return own


def environment_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def nobody_is_left(pids: list[int]) -> bool:
    return all(is_over(pid) for pid in pids)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    """Start `up`; whatever a test leaves running is ended."""
    running: list[Up] = []

    def start(*options: str, var: Path = tmp_path / "var", **env: str) -> Up:
        running.append(Up(var, *options, **env))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.wait()
        for pid in (int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
            if f"VAR_DIR={one.var}\0".encode() in environment_of(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


# --- starting ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_olga_reads_one_box_with_the_address_and_a_link_and_a_second_up_says_where(
    start: Callable[..., Up],
) -> None:
    site = start().started()
    assert site.page() == 200
    assert re.search(rf"{site.url}setup/[\w-]+/", site.text)
    assert site.text.count("╭") == 1

    again = start()
    assert again.ended() == 0
    assert again.text == f"Leaderboard runs already: {site.url} (process {site.process.pid})\n"
    assert site.page() == 200


@pytest.mark.slow
@pytest.mark.long
def test_what_lies_in_var_is_for_olga_alone(start: Callable[..., Up]) -> None:
    site = start().started()
    assert stat.S_IMODE(site.var.stat().st_mode) == 0o700
    assert stat.S_IMODE((site.var / "run").stat().st_mode) == 0o700
    assert stat.S_IMODE((site.var / "run" / "valkey.sock").stat().st_mode) == 0o600
    shared = [path for path in site.var.rglob("*") if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    assert shared == []


@pytest.mark.slow
@pytest.mark.long
def test_a_deep_folder_with_odd_characters_works(start: Callable[..., Up], tmp_path: Path) -> None:
    """Longer than a socket's path may be, and with everything that has a meaning in a URL, a shell or a config."""
    var = tmp_path / ('Olga\'s #1 "site" 100% %20 ü ?' + "x" * 90)
    site = start(var=var).started()
    assert site.page() == 200
    assert (var / "leaderboard.sqlite3").exists()
    assert not (var / "run" / "valkey.sock").exists()


@pytest.mark.slow
@pytest.mark.long
def test_an_operator_can_be_named_beforehand_and_no_child_learns_the_password(
    start: Callable[..., Up],
) -> None:
    site = start(ADMIN_USERNAME="olga", ADMIN_PASSWORD=NEW_PASSWORD).started()
    assert "setup/" not in site.text
    for pid in site.family():
        assert NEW_PASSWORD.encode() not in environment_of(pid)


@pytest.mark.slow
@pytest.mark.long
def test_olga_reads_that_a_password_is_too_weak(start: Callable[..., Up]) -> None:
    site = start(ADMIN_USERNAME="olga", ADMIN_PASSWORD="olga")
    assert site.ended() == 1
    assert "too short" in site.text
    assert "Traceback" not in site.text
    assert len(site.text.splitlines()) == 1


@pytest.mark.slow
def test_olga_reads_which_port_is_taken(start: Callable[..., Up]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        site = start("--port", str(port))
        assert site.ended() == 1
    assert f"Port {port} on 127.0.0.1 is taken by another program." in site.text
    assert "manage.py up --port" in site.text
    assert "Traceback" not in site.text


@pytest.mark.slow
@pytest.mark.long
def test_the_class_can_come_in_by_the_machines_address(start: Callable[..., Up]) -> None:
    site = start("--host", "0.0.0.0").started()
    addresses = network.own_addresses()
    assert all(f"http://{address}:" in site.text for address in addresses)
    assert "127.0.0.1" not in site.url or not addresses
    assert site.page("") == 200


# --- restarting -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_part_that_is_killed_comes_back(start: Callable[..., Up]) -> None:
    site = start().started()
    parts = ["granian", "run_workers", "valkey-server"]
    before = {part: site.pid_of(part) for part in parts}
    family = site.family()
    for pid in before.values():
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: nobody_is_left(family), "children of the killed to go too")
    wait_for(lambda: site.text.count("starting it again in 0.5 s. Log: ") >= 3, "one line for each")
    wait_for(lambda: site.page() == 200, "the page")
    after = {part: site.pid_of(part) for part in parts}
    assert not set(before.values()) & set(after.values())
    heartbeats = site.var / "run" / "heartbeats"
    wait_for((heartbeats / f"worker-{after['run_workers']}").exists, "the worker to be at work")
    wait_for(lambda: any(heartbeats.glob("pages-*")), "the worker for pages to be at work")
    # Who scores steps back for who answers.
    web, worker = (os.getpriority(os.PRIO_PROCESS, site.pid_of(part)) for part in parts[:2])
    assert worker > web


@pytest.mark.slow
@pytest.mark.long
def test_the_process_that_answers_comes_back_when_it_is_killed(start: Callable[..., Up]) -> None:
    site = start().started()
    leader = site.pid_of("granian")
    (answering,) = children_of(leader)
    os.kill(answering, signal.SIGKILL)
    wait_for(lambda: is_over(answering), "its end")
    wait_for(lambda: site.page() == 200, "the page")


def test_pauses_grow_to_half_a_minute_and_start_over_after_a_healthy_time(tmp_path: Path) -> None:
    child = ManagedProcess("worker", ["false"], Heartbeats(tmp_path, "worker"))
    pauses = []
    for _ in range(8):
        child.started_at = time.monotonic()
        pauses.append(child.pause)
        child.plan_restart(1)
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30]

    child.started_at = time.monotonic() - HEALTHY_AFTER - 1
    assert f"starting it again in {FIRST_PAUSE:g} s" in child.plan_restart(1)
    assert child.pause < LONGEST_PAUSE


# --- ending -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_ctrl_c_ends_everybody_within_three_seconds(start: Callable[..., Up], how: signal.Signals) -> None:
    site = start().started()
    family = site.family()
    assert len(family) >= 6
    began = time.monotonic()
    site.process.send_signal(how)
    assert site.ended() == 0
    wait_for(lambda: nobody_is_left(family), "the end of all")
    assert time.monotonic() - began <= 3 * patience()
    assert "Traceback" not in site.text


@pytest.mark.slow
@pytest.mark.long
def test_a_part_that_hangs_is_ended_with_the_others(start: Callable[..., Up]) -> None:
    site = start().started()
    family = site.family()
    os.kill(site.pid_of("run_workers"), signal.SIGSTOP)
    began = time.monotonic()
    site.process.send_signal(signal.SIGINT)
    assert site.ended() == 0
    assert time.monotonic() - began <= 3 * patience()
    wait_for(lambda: nobody_is_left(family), "their end", 1)


@pytest.mark.slow
def test_after_kill_9_nobody_is_left_and_the_next_up_works(start: Callable[..., Up]) -> None:
    site = start().started()
    family = site.family()
    os.kill(site.process.pid, signal.SIGKILL)
    wait_for(lambda: nobody_is_left(family), "the end of every child and grandchild", 3)
    assert start().started().page() == 200


@pytest.mark.slow
@pytest.mark.long
def test_kill_9_in_the_middle_of_starting_leaves_nobody_either(start: Callable[..., Up]) -> None:
    site = start()
    wait_for(lambda: len(site.family()) >= 4, "some children")
    family = site.family()
    os.kill(site.process.pid, signal.SIGKILL)
    wait_for(lambda: nobody_is_left(family), "the end of every child and grandchild", 3)


# --- the place --------------------------------------------------------------------------------------------------


@pytest.fixture
def short_folder() -> Iterator[str]:
    """A folder whose path leaves room for a socket's name, however deep the test's own lies."""
    with tempfile.TemporaryDirectory(prefix="lb") as folder:
        yield folder


def test_the_socket_of_a_deep_folder_lies_in_a_folder_for_olga_alone(
    tmp_path: Path, short_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", short_folder)
    socket_path = place_module.SiteFolders(tmp_path / ("deep" * 40)).socket()
    assert len(os.fsencode(socket_path)) <= 107
    assert stat.S_IMODE(socket_path.parent.stat().st_mode) == 0o700


def test_olga_reads_that_no_folder_is_short_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("t" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with pytest.raises(Trouble, match="Set VAR_DIR to a folder with a short path"):
        place_module.SiteFolders(tmp_path / ("deep" * 40)).socket()


def test_a_lock_of_a_dead_up_is_nobodys_lock(tmp_path: Path) -> None:
    first, second = place_module.SiteFolders(tmp_path / "var"), place_module.SiteFolders(tmp_path / "var")
    first.make()
    (first.run / "up.lock").write_text("http://stale/ (process 1)")
    assert first.take_lock()
    assert first.read_address() == ""
    first.note_address("http://here/")
    assert not second.take_lock()
    assert second.read_address() == "http://here/"
    first.leave()
    assert second.take_lock()
    second.leave()


def test_a_long_log_is_put_aside_while_its_writer_goes_on(tmp_path: Path) -> None:
    place = place_module.SiteFolders(tmp_path / "var")
    place.make()
    with place.log_of("web").open("ab", buffering=0) as web:
        web.write(b"x" * (place_module.LOG_ROTATED_AT + 1))
        place.log_of("worker").write_text("short")
        place.rotate_logs()
        web.write(b"later")
    assert sorted(path.name for path in place.logs.iterdir()) == ["web.log", "web.log.1", "worker.log"]
    assert place.log_of("web").read_bytes() == b"later"
    assert place.log_of("web").with_suffix(".log.1").stat().st_size == place_module.LOG_ROTATED_AT + 1


def test_a_long_log_is_emptied_where_a_full_disk_has_no_room_for_its_older_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(log: Path, older: Path) -> None:
        older.write_bytes(log.read_bytes()[:1000])
        raise OSError(errno.ENOSPC, "No space left on device")

    place = place_module.SiteFolders(tmp_path / "var")
    place.make()
    place.log_of("web").write_bytes(b"x" * (place_module.LOG_ROTATED_AT + 1))
    monkeypatch.setattr(shutil, "copyfile", fail)
    place.rotate_logs()
    assert [(path.name, path.stat().st_size) for path in place.logs.iterdir()] == [("web.log", 0)]


def test_a_part_that_does_not_start_is_quoted_unless_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_module.SiteFolders(tmp_path)
    place.make()
    place.log_of("web").write_text("ModuleNotFoundError: No module named 'pets'\n")
    assert "No module named 'pets'" in str(place.trouble_with("web", "web does not start."))
    full = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    assert "The disk is full" in str(place.trouble_with("web", "web does not start."))


def test_an_unknown_address_is_said_in_words() -> None:
    for host in ("192.0.2.77", "no such host"):
        with pytest.raises(Trouble, match="This machine has no address"):
            place_module.claim_port(host, 0)


def test_only_who_lets_the_network_in_answers_to_other_names() -> None:
    assert place_module.allowed_hosts("127.0.0.1", "") == "localhost,127.0.0.1,[::1]"
    assert place_module.allowed_hosts("127.0.0.1", "a.example").startswith("a.example,localhost,")
    assert socket.gethostname() in place_module.allowed_hosts("0.0.0.0", "").split(",")
    assert "localhost" in network.AllowedHosts(["localhost"])
    assert set(network.own_addresses()) <= {*network.AllowedHosts([])}


# --- the operator -----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_named_operator_is_made_once_and_may_host() -> None:
    for password in (NEW_PASSWORD, "another long sentence 8"):
        prepare.make_operator("olga", password, "olga@example.org")
    olga = User.objects.get()
    assert olga.is_superuser
    assert olga.can_host
    assert olga.check_password(NEW_PASSWORD)
    assert prepare.setup_link() is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("username", "password", "email", "words"),
    [
        ("olga", "", "", "go together"),
        ("", NEW_PASSWORD, "", "go together"),
        ("olga", "12345678", "", "entirely numeric"),
        ("olga", "password", "", "too common"),
        ("olga", NEW_PASSWORD, "no address", "valid email"),
    ],
)
def test_an_operator_who_cannot_be_is_refused_in_words(username: str, password: str, email: str, words: str) -> None:
    with pytest.raises(Trouble, match=words):
        prepare.make_operator(username, password, email)
    assert not User.objects.exists()


@pytest.mark.django_db
def test_while_nobody_operates_the_site_each_start_gives_a_fresh_link() -> None:
    first, second = prepare.setup_link(), prepare.setup_link()
    assert first is not None
    assert second is not None
    assert first != second
    assert SetupLink.is_live(first)
    assert SetupLink.is_live(second)
