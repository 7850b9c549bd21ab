"""The seal: a process in it gets at nothing but its own folder and the libraries; without one, Olga reads why.

Each way out is tried in a process of its own. On a kernel without Landlock or seccomp the same
tests look at the words instead.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import resource
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from leaderboard.operations.management.commands import check_sandbox
from leaderboard.operations.models import SealTest
from leaderboard.scoring import seal as isolation
from leaderboard.scoring.process_limits import clean_environment
from leaderboard.scoring.seal import kernel as kernel_module
from leaderboard.scoring.seal import landlock as landlock_module
from leaderboard.scoring.seal import seccomp as seccomp_module
from leaderboard.scoring.seal import system_calls
from tests.scorer.escapes import ATTEMPTS

pytestmark = pytest.mark.thorough

NOBODY = 65534
# Arrow, once it was used by the process of the tests, holds a gigabyte of addresses that count as memory.
AMPLE = {"seconds": 20, "memory_mb": 4096, "file_mb": 16}
HAS_CAGE = not isolation.reason_without_seal()
TRIES = {one.__name__.strip("_"): one for attempt in ATTEMPTS.values() for one in attempt.tries}
# The first is stopped by a limit, below; the second by what a process is started with.
del TRIES["endless"], TRIES["own_environment"]


def _listening(stack: ExitStack, family: int, address: Any) -> socket.socket:
    one = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    one.bind(address)
    one.listen()
    return one


@pytest.fixture(scope="module")
def bait() -> Iterator[dict[str, Any]]:
    """Things that a sealed process should not get at: files, sockets, memory, an open file."""
    secret = secrets.token_hex(8)
    memory = ctypes.create_string_buffer(secret.encode())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bait-")))
        for name in ("truth", "secrets", "spare"):
            (folder / name).write_text(secret)
        left_open = os.open(folder / "secrets", os.O_RDONLY)
        stack.callback(os.close, left_open)
        os.set_inheritable(left_open, True)
        port = _listening(stack, socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        _listening(stack, socket.AF_UNIX, str(folder / "socket"))
        if sys.platform == "linux":
            _listening(stack, socket.AF_UNIX, f"\0{secret}")
        files = {name: str(folder / name) for name in ("truth", "secrets", "spare", "socket")}
        numbers = {"port": port, "process": os.getpid(), "address": ctypes.addressof(memory), "endless": 5.0}
        yield {**files, **numbers, "folder": str(folder), "home": str(Path.home()), "secret": secret}


def inside(
    folder: Path,
    act: Callable[[], object],
    *,
    limits: dict[str, int] | None = AMPLE,
    sealed: bool = True,
    as_nobody: bool = False,
) -> str:
    """What came of an act in a process of its own: `did …`, the name of an error, or of the signal that ended it."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of the test's own process are no matter here
        child = os.fork()
    if not child:
        os.dup2(writing, 2)
        _do(folder, act, limits, sealed, as_nobody)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        words = told.read().decode()
    _, status = os.waitpid(child, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else words


def _do(folder: Path, act: Callable[[], object], limits: dict[str, int] | None, sealed: bool, as_nobody: bool) -> None:
    words = "not begun"
    try:
        signal.alarm(20)
        os.chdir(folder)
        os.setsid()
        if as_nobody and os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        if limits is not None:
            isolation.limit_process(**limits)
        if sealed:
            os.closerange(3, 256)  # who may still fork keeps them: Arrow would miss its own then
            isolation.seal_process(write=[folder])
        words = "begun"
        found = act()
        words = f"did {found}" if found else "nothing"
    except BaseException as error:
        words = f"{'' if words == 'begun' else 'no cage: '}{type(error).__name__}: {error}"
    os.write(2, words.encode())
    os._exit(0)


def says_why(folder: Path) -> bool:
    """On a kernel without a sandbox, looks at the words instead of the sandbox."""
    if not HAS_CAGE:
        words = inside(folder, lambda: True)
        assert words == f"no cage: NoSandbox: {isolation.reason_without_seal()}"
        assert len(words) > 40
    return not HAS_CAGE


# --- every way out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRIES)
@pytest.mark.attack("code in a custom metric")
def test_no_way_leads_out(tmp_path: Path, bait: dict[str, Any], name: str) -> None:
    if says_why(tmp_path):
        return
    came = inside(tmp_path, lambda: TRIES[name](bait))
    assert came.partition(":")[0] in ("PermissionError", "MemoryError", "OSError", "ValueError", "nothing"), came


@pytest.mark.parametrize("name", TRIES)
def test_no_way_leads_out_for_a_user_without_rights(bait: dict[str, Any], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # those of pytest are closed to other users
        Path(folder).chmod(0o777)
        if says_why(Path(folder)):
            return
        came = inside(Path(folder), lambda: TRIES[name](bait), as_nobody=True)
    assert came.partition(":")[0] in ("PermissionError", "MemoryError", "OSError", "ValueError", "nothing"), came


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("how", [os.O_RDONLY, os.O_ACCMODE], ids=["reading", "nothing"])
def test_a_kernel_whose_landlock_knows_no_lengths_cuts_no_file(
    tmp_path: Path, version: int, how: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if says_why(tmp_path):
        return
    monkeypatch.setattr(landlock_module, "_landlock_version", lambda: version)
    other = tmp_path / "other"
    other.write_text("of somebody else")
    (tmp_path / "own").mkdir()
    came = inside(tmp_path / "own", lambda: os.open(other, how | os.O_TRUNC) > 0)
    assert (came.partition(":")[0], other.read_text()) == ("PermissionError", "of somebody else")


ASK_ATTRIBUTES, SET_ATTRIBUTES = 0x80086601, 0x40086602


@pytest.mark.parametrize(
    "act",
    [
        lambda file: fcntl.ioctl(file, SET_ATTRIBUTES, fcntl.ioctl(file, ASK_ATTRIBUTES, bytes(8))) and 1,
        lambda file: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0,
    ],
    ids=["attributes", "lease"],
)
def test_a_library_that_may_be_read_is_not_changed_or_kept_from_others(
    tmp_path: Path, act: Callable[[Any], object]
) -> None:
    if says_why(tmp_path):
        return
    assert inside(tmp_path, lambda: act(open(kernel_module.__file__))).startswith("PermissionError")  # noqa: SIM115
    assert inside(tmp_path, lambda: f"{os.isatty(0)} {os.get_inheritable(0)}").startswith("did ")


NUMBERS = {name: numbers for name, numbers in system_calls.REFUSED.items()}


@pytest.mark.attack("code in a custom metric")
def test_every_call_of_the_list_is_refused(tmp_path: Path) -> None:
    if says_why(tmp_path):
        return
    column = kernel_module.machine_index()

    def call_all() -> str:
        library = ctypes.CDLL(None, use_errno=True)
        # -1 is no descriptor, address, process or path, so a call that is let through does no harm.
        answered = []
        for name, numbers in NUMBERS.items():
            if (number := numbers[column]) is not None:
                library.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
                if ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
                    answered.append(name)
        return " ".join(answered)

    assert inside(tmp_path, call_all) == "nothing"


def test_calls_that_are_newer_than_the_list_do_not_exist(tmp_path: Path) -> None:
    if says_why(tmp_path):
        return
    numbers = [system_calls.NEWEST + 1, 600, 435, 437]
    if platform.machine() == "x86_64":
        numbers.append(0x40000000 | 39)  # the same calls with short pointers, a door of their own

    def call_all() -> str:
        library = ctypes.CDLL(None, use_errno=True)
        found = []
        for number in numbers:
            library.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
            found.append(ctypes.get_errno())
        return str(found)

    assert inside(tmp_path, call_all) == f"did {[errno.ENOSYS] * len(numbers)}"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_program_of_another_machine_is_ended(tmp_path: Path, machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if says_why(tmp_path):
        return
    ours = platform.machine()

    def another() -> bool:
        # The filter of either machine, put before this one: only its own survives.
        monkeypatch.setattr(seccomp_module, "machine_name", lambda: machine)
        steps = seccomp_module._filter_program([], [], [])
        monkeypatch.undo()
        seccomp_module._install_filter(steps)
        return bool(os.getpid())

    assert inside(tmp_path, another, limits=None, sealed=False) == ("did True" if machine == ours else "SIGSYS")


def test_calls_of_32_bits_end_the_process(tmp_path: Path) -> None:
    if says_why(tmp_path) or platform.machine() != "x86_64":
        return

    def ask() -> int:
        code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
        code.write(bytes.fromhex("b814000000cd80c3"))  # getpid by the old door
        place = ctypes.addressof(ctypes.c_char.from_buffer(code))
        return int(ctypes.CFUNCTYPE(ctypes.c_int)(place)())

    # A kernel without that door ends the process by itself.
    assert inside(tmp_path, ask) in ("SIGSYS", "SIGSEGV")


@pytest.mark.parametrize("column", [0, 1])
def test_no_call_is_named_twice(column: int) -> None:
    rules = [rule.numbers[column] for rule in (*seccomp_module._RULES, *seccomp_module._own_rules(1))]
    listed = [numbers[column] for numbers in [*NUMBERS.values(), *system_calls.UNKNOWN.values()]]
    known = [number for number in [*rules, *listed] if number is not None]
    assert len(known) == len(set(known))
    assert max(known) <= system_calls.NEWEST


# --- what must still work ---------------------------------------------------------------------------------------


def test_it_works_in_its_own_folder(tmp_path: Path) -> None:
    if says_why(tmp_path):
        return

    def work() -> str:
        Path("sub").mkdir()
        Path("sub/a").write_text("a")
        Path("sub/a").rename("sub/b")
        Path("sub/b").unlink()
        Path("sub").rmdir()
        Path("c").write_text("c")
        found: list[str] = []
        thread = threading.Thread(target=lambda: found.append(Path("c").read_text()))
        thread.start()
        thread.join()
        with open(os.devnull, "w") as nothing:
            nothing.write("x")
        os.kill(os.getpid(), 0)
        return f"{found} {len(os.urandom(4))}"

    assert inside(tmp_path, work) == "did ['c'] 4"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        assert inside(Path(folder), work, as_nobody=True) == "did ['c'] 4"


def test_libraries_that_nobody_loaded_before_can_be(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom leaderboard.scoring import seal as isolation\n"
        "isolation.limit_process(1024, seconds=60, file_mb=16)\n"
        "isolation.reason_without_seal() or isolation.seal_process(write=[Path.cwd()])\n"
        "import numpy, pandas, scipy.stats, sklearn.metrics\n"
        "print(sklearn.metrics.f1_score([1, 0, 1], [1, 0, 0]), scipy.stats.rankdata([3, 1]), len(pandas.DataFrame()))"
    )
    environment = {**clean_environment(), "PYTHONPATH": str(Path(isolation.__file__).parents[3])}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("0.6666666666666666 [2. 1.] 0\n", "")


def test_only_what_is_named_can_be_read(tmp_path: Path) -> None:
    mine, shown, hidden = (tmp_path / name for name in ("mine", "shown", "hidden"))
    for folder in (mine, shown, hidden):
        folder.mkdir()
        (folder / "a").write_text(folder.name)
    if says_why(mine):
        return

    def read() -> str:
        isolation.seal_process(read=[shown], write=[mine])
        found = [path.read_text() for path in (mine / "a", shown / "a")]
        for path, mode in ((shown / "a", "w"), (hidden / "a", "r"), (tmp_path / "new", "w")):
            with pytest.raises(PermissionError):
                path.open(mode)
        return str(found)

    assert inside(mine, read, sealed=False) == "did ['mine', 'shown']"


def test_a_process_with_threads_is_not_sealed(tmp_path: Path) -> None:
    if says_why(tmp_path):
        return

    def with_a_thread() -> None:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        isolation.seal_process(write=[tmp_path])

    assert inside(tmp_path, with_a_thread, sealed=False).startswith("NoSandbox: Other threads run")


# --- limits, on every kernel ------------------------------------------------------------------------------------


def spin() -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        pass


def test_endless_work_is_ended(tmp_path: Path) -> None:
    assert inside(tmp_path, spin, limits={**AMPLE, "seconds": 1}, sealed=False) == "SIGKILL"


def test_memory_and_files_end_where_they_should(tmp_path: Path) -> None:
    limits = {**AMPLE, "file_mb": 1}
    assert inside(tmp_path, lambda: bytearray(2**33), limits=limits, sealed=False).startswith("MemoryError")
    big = inside(tmp_path, lambda: Path("big").write_bytes(bytes(2**21)), limits=limits, sealed=False)
    assert big.startswith("OSError")
    assert inside(tmp_path, lambda: Path("small").write_bytes(bytes(2**19)), limits=limits, sealed=False).startswith(
        "did"
    )
    core = inside(tmp_path, lambda: resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, limits=limits, sealed=False)
    assert core == "did True"


def test_a_kernel_without_landlock_still_refuses_the_network_and_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if says_why(tmp_path):
        return
    monkeypatch.setattr(landlock_module, "reason_without_landlock", lambda: "It is too old.")

    def try_all() -> str:
        with pytest.raises(isolation.NoSandbox, match="too old"):
            isolation.seal_process(write=[tmp_path])
        found: list[int] = []
        thread = threading.Thread(target=lambda: found.append(1))
        thread.start()
        thread.join()
        for act in (os.fork, socket.socket):
            with pytest.raises(PermissionError):
                act()
        return str(found)

    assert inside(tmp_path, try_all, sealed=False) == "did [1]"


# --- the probes of a running site -----------------------------------------------------------------------------------


@pytest.mark.attack("code in a custom metric")
def test_without_the_seal_they_lead_out(tmp_path: Path, bait: dict[str, Any]) -> None:
    """What the system itself keeps apart for users without rights, such as debuggers, is left out here."""
    surely = {"truth", "secrets", "home", "network", "processes", "signals", "writing", "links"}
    for name in surely:
        came = inside(tmp_path, partial(ATTEMPTS[name].leads_to, bait), limits=None, sealed=False)
        assert came.startswith("did "), name


@pytest.mark.parametrize("is_sealed", [True, False])
def test_a_worker_tries_three_ways_out_and_olga_reads_what_came_of_it(
    db: None, is_sealed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_sealed:
        monkeypatch.setattr(check_sandbox, "reason_without_seal", lambda: "")
        monkeypatch.setattr(check_sandbox, "try_seal", lambda *_: {"probes": ESCAPED})
    elif says_why(Path.cwd()):
        return
    test = check_sandbox.run_seal_test()
    assert [one["outcome"] for one in test.report["probes"]] == (["stopped"] * 3 if is_sealed else ["ESCAPED"])
    assert test.reason == ("" if is_sealed else "A sealed process of this machine could read a file of the site.")
    assert SealTest.objects.get().reason == test.reason


ESCAPED = [{"title": "read a file of the site", "outcome": "ESCAPED"}]


# --- kernels without it -----------------------------------------------------------------------------------------


def refusing(name: str, number: int) -> Callable[..., int]:
    """A kernel that answers one call with an error."""

    def syscall(asked: str, *arguments: int) -> int:
        if asked == name:
            raise OSError(number, os.strerror(number))
        return kernel_module.call_kernel(asked, *arguments) if asked != "seccomp" else 0

    return syscall


@pytest.mark.parametrize(
    ("call", "number", "words"),
    [
        ("landlock_create_ruleset", errno.ENOSYS, "This kernel has no Landlock: Linux 5.13 or newer is needed"),
        ("landlock_create_ruleset", errno.EOPNOTSUPP, "Landlock is switched off in this kernel: add landlock"),
        ("landlock_create_ruleset", errno.EPERM, "Landlock may not be used here, perhaps because of a container"),
        ("seccomp", errno.EINVAL, "This kernel has no seccomp filters, or they may not be used here"),
    ],
)
def test_olga_reads_which_part_is_missing(
    monkeypatch: pytest.MonkeyPatch, call: str, number: int, words: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(landlock_module, "call_kernel", refusing(call, number))
    monkeypatch.setattr(seccomp_module, "call_kernel", refusing(call, number))
    monkeypatch.setattr(kernel_module, "machine_name", lambda: "x86_64")
    assert isolation.reason_without_seal().startswith(words)
    assert inside(tmp_path, lambda: True).startswith(f"no cage: NoSandbox: {words}")


def test_other_systems_and_processors_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "darwin")
        assert isolation.reason_without_seal() == "Only Linux can seal a process the way that is needed here."
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert "processors of the kind riscv64" in isolation.reason_without_seal()
