"""Ways out of the sandbox, for its self-test: each is tried in a sealed process in place of a metric's file.

All of them are harmless where they succeed. ``bait`` says what the process that started the test has laid out: see
``self_test``. Standard library only.
"""

from __future__ import annotations

import ctypes
import encodings.idna  # noqa: F401 - sockets look it up by name, and a sealed process may not read its file
import mmap
import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Bait = dict[str, Any]
_GB, _GROWS_DOWN = 2**30, 0x100


@dataclass(frozen=True)
class Attempt:
    """One of the ways: ``title`` for the operator, and what is tried; a try that gives a true value led outside."""

    title: str
    tries: tuple[Callable[[Bait], object], ...]

    def leads_to(self, bait: Bait) -> str:
        """Which try succeeded, or ``""``."""
        for one in self.tries:
            with suppress(OSError, MemoryError, ValueError, OverflowError):
                if one(bait):
                    return one.__name__.strip("_").replace("_", " ")
        return ""


# --- what others keep -------------------------------------------------------------------------------------------


def _other_truth(bait: Bait) -> object:
    return Path(bait["truth"]).read_bytes()


def _secrets_file(bait: Bait) -> object:
    return Path(bait["secrets"]).read_bytes()


def _listed_folder(bait: Bait) -> object:
    return [os.listdir(folder) for folder in (bait["folder"], "/etc")]


def _home(bait: Bait) -> object:
    return os.listdir(bait["home"])


def _own_environment(bait: Bait) -> object:
    return bait["secret"] in "".join(os.environ.values())


def _environment_as_the_process_began(bait: Bait) -> object:
    return bait["secret"].encode() in Path("/proc/self/environ").read_bytes()


def _environment_of_the_parent(bait: Bait) -> object:
    return b"=" in Path(f"/proc/{bait['process']}/environ").read_bytes()


def _descriptors(_: Bait) -> object:
    return [number for number in range(3, 256) if _is_open(number)]


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _descriptors_of_the_parent(bait: Bait) -> object:
    return os.listdir(f"/proc/{bait['process']}/fd")


# --- other processes --------------------------------------------------------------------------------------------


def _memory_by_file(bait: Bait) -> object:
    with open(f"/proc/{bait['process']}/mem", "rb", buffering=0) as memory:
        memory.seek(bait["address"])
        return memory.read(8)


def _memory_by_call(bait: Bait) -> object:
    found = ctypes.create_string_buffer(8)
    ours = struct.pack("@PN", ctypes.addressof(found), 8)
    theirs = struct.pack("@PN", bait["address"], 8)
    return ctypes.CDLL(None).process_vm_readv(bait["process"], ours, 1, theirs, 1, 0) == 8


def _seize(bait: Bait) -> object:
    library = ctypes.CDLL(None)
    library.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    return library.ptrace(0x4206, bait["process"], None, None) == 0


def _signal_to_the_parent(_: Bait) -> object:
    os.kill(os.getppid(), 0)
    return True


def _signal_to_all(bait: Bait) -> object:
    os.kill(bait["process"], 0)
    return True


def _limits_of_the_parent(bait: Bait) -> object:
    return resource.prlimit(bait["process"], resource.RLIMIT_CORE)


def _fork(_: Bait) -> object:
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _many_forks(_: Bait) -> object:
    started = 0
    for _number in range(20):
        with suppress(OSError):
            if not os.fork():
                os._exit(0)
            started += 1
    return started


def _spawn(_: Bait) -> object:
    return os.posix_spawn("/bin/true", ["true"], {})


def _exec(_: Bait) -> object:
    # Where it works nothing of this process is left, so the program gives the answer.
    words = """echo '{"escaped": "exec"}' > answer.json"""
    os.execv("/bin/sh", ["sh", "-c", words])


# --- ways to talk -----------------------------------------------------------------------------------------------


def _unix_socket(bait: Bait) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        one.connect(bait["socket"])
    return True


def _abstract_socket(bait: Bait) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        one.connect("\0" + bait["secret"])
    return True


def _pair_of_sockets(_: Bait) -> object:
    one, other = socket.socketpair()
    one.close()
    other.close()
    return True


def _tcp(bait: Bait) -> object:
    with socket.create_connection(("127.0.0.1", bait["port"]), timeout=1):
        return True


def _udp(bait: Bait) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        return one.sendto(b"x", ("127.0.0.1", bait["port"]))


def _listening(_: Bait) -> object:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        return True


# --- writing ----------------------------------------------------------------------------------------------------


def _new_file(bait: Bait) -> object:
    return Path(bait["folder"], f"left-{os.getpid()}").write_text("x")


def _other_file_overwritten(bait: Bait) -> object:
    with open(bait["spare"], "r+b") as file:
        return file.write(b"x")


def _other_file_cut(bait: Bait) -> object:
    os.truncate(bait["spare"], 0)
    return True


def _other_file_cut_by_opening(bait: Bait) -> object:
    os.close(os.open(bait["spare"], os.O_RDONLY | os.O_TRUNC))
    return True


def _other_file_opened_for_nothing(bait: Bait) -> object:
    return os.open(bait["spare"], os.O_ACCMODE)


def _rights_changed(bait: Bait) -> object:
    os.chmod(bait["spare"], 0o600)
    return True


def _time_changed(bait: Bait) -> object:
    os.utime(bait["spare"], (0, 0))
    return True


def _symbolic_link(bait: Bait) -> object:
    os.symlink(bait["secrets"], "link")
    return True


def _hard_link(bait: Bait) -> object:
    os.link(bait["secrets"], "hard")
    return True


def _moved_in(bait: Bait) -> object:
    os.rename(bait["spare"], "moved")
    return True


def _huge_file(_: Bait) -> object:
    with open("huge", "wb") as file:
        file.seek(_GB)
        return file.write(b"x")


# --- what the machine has ---------------------------------------------------------------------------------------


def _private_memory(_: Bait) -> object:
    return mmap.mmap(-1, 8 * _GB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def _shared_memory(_: Bait) -> object:
    return mmap.mmap(-1, 2**20)


def _so_called_stack(_: Bait) -> object:
    return mmap.mmap(-1, 2**20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _GROWS_DOWN)


def _memory_in_a_file_without_a_name(_: Bait) -> object:
    return os.memfd_create("x")


def _limits_raised(_: Bait) -> object:
    resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return True


def _endless(bait: Bait) -> object:
    for number in (signal.SIGXCPU, signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    until = time.process_time() + bait["endless"]
    while time.process_time() < until:
        pass
    return True


def _namespace(_: Bait) -> object:
    return ctypes.CDLL(None).unshare(0x10000000) == 0  # a namespace of users, which nobody has to be root for


def _mount(_: Bait) -> object:
    return ctypes.CDLL(None).mount(b"none", b".", b"tmpfs", 0, None) == 0


ATTEMPTS: dict[str, Attempt] = {
    "truth": Attempt("Read the truth of another competition", (_other_truth,)),
    "secrets": Attempt("Read the secrets of the site", (_secrets_file,)),
    "home": Attempt("Look into the home folder and others", (_home, _listed_folder)),
    "environment": Attempt(
        "Read environment variables of the site",
        (_own_environment, _environment_as_the_process_began, _environment_of_the_parent),
    ),
    "memory_of_parent": Attempt("Read the memory of the process that started it", (_memory_by_file, _memory_by_call)),
    "ptrace": Attempt("Take hold of that process with a debugger's call", (_seize,)),
    "descriptors": Attempt("Use files that were left open", (_descriptors, _descriptors_of_the_parent)),
    "unix_socket": Attempt("Reach the broker by a socket in a folder", (_unix_socket, _pair_of_sockets)),
    "abstract_socket": Attempt("Reach a process by a socket without a folder", (_abstract_socket,)),
    "network": Attempt("Reach the network by TCP or UDP", (_tcp, _udp, _listening)),
    "exec": Attempt("Start a program in its place", (_exec,)),
    "processes": Attempt("Start processes, one or many", (_fork, _many_forks, _spawn)),
    "signals": Attempt(
        "Send signals to other processes", (_signal_to_the_parent, _signal_to_all, _limits_of_the_parent)
    ),
    "writing": Attempt(
        "Write or change files elsewhere, or a huge one",
        (
            _new_file,
            _other_file_overwritten,
            _other_file_cut,
            _other_file_cut_by_opening,
            _other_file_opened_for_nothing,
            _rights_changed,
            _time_changed,
            _moved_in,
            _huge_file,
        ),
    ),
    "links": Attempt("Reach out of its folder by links", (_symbolic_link, _hard_link)),
    "memory": Attempt(
        "Take 8 GB of memory, or memory that is not counted",
        (_private_memory, _shared_memory, _so_called_stack, _memory_in_a_file_without_a_name, _limits_raised),
    ),
    "endless": Attempt("Compute for ever", (_endless,)),
    "namespaces": Attempt("Mount file systems, make namespaces", (_namespace, _mount)),
}
"""By name. The order is that of the operator's page."""


def works_inside() -> str:
    """What a metric must be able to do: read and write in its folder, have threads, load libraries. What it cannot do,
    or ``""``."""
    import threading
    import zoneinfo

    try:
        Path("own").write_text("own")
        if Path("own").read_text() != "own":
            return "read its own folder"
        thread = threading.Thread(target=zoneinfo.available_timezones)
        thread.start()
        thread.join()
        import colorsys  # noqa: F401 - a library that nobody has loaded before
    except Exception as error:
        return f"work in its own folder ({type(error).__name__}: {error})"
    return ""
