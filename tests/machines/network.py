"""Machines for a test: network namespaces of its own, each with one cable to a hub and no way to anywhere else."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

HUB = "10.77.0.1"
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class NotHere(Exception):
    """Why this system makes no machines."""


@dataclass(frozen=True)
class Machine:
    """A network of its own; what is started `inside` sees no other."""

    namespace: str
    address: str

    @contextmanager
    def inside(self) -> Iterator[None]:
        """This thread is on the machine, and so is every process that it starts and every connection that it opens."""
        with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{self.namespace}") as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(home.fileno())

    @property
    def processes(self) -> list[int]:
        return [int(line) for line in _ip("netns", "pids", self.namespace).split()]

    def signal(self, number: signal.Signals) -> None:
        """To every process of the machine. For SIGKILL until none is left: it is a power cut."""
        while found := self.processes:
            for pid in found:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    continue
            if number != signal.SIGKILL:
                return


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no way into the network namespace")


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotHere(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


@contextmanager
def machines(*names: str) -> Iterator[list[Machine]]:
    """The hub and a machine for each name; raises `NotHere` where the kernel or this user's rights forbid it."""
    if os.getuid() != 0 or shutil.which("ip") is None or not Path("/proc/self/ns/net").exists():
        raise NotHere("network namespaces need Linux, root and the command ip (Debian: iproute2)")
    with ExitStack() as stack:
        hub = stack.enter_context(_machine("hub", HUB))
        _ip("-n", hub.namespace, "address", "add", f"{HUB}/32", "dev", "lo")
        made = [hub]
        for number, name in enumerate(names, start=1):
            machine = stack.enter_context(_machine(name, f"10.77.{number}.2"))
            cable, gate = f"to-{name}", f"10.77.{number}.1"
            _ip("-n", hub.namespace, "link", "add", cable, "type", "veth", "peer", "name", "eth0",
                "netns", machine.namespace)  # fmt: skip
            for namespace, end, address in (
                (hub.namespace, cable, gate),
                (machine.namespace, "eth0", machine.address),
            ):
                _ip("-n", namespace, "address", "add", f"{address}/24", "dev", end)
                _ip("-n", namespace, "link", "set", end, "up")
            _ip("-n", machine.namespace, "route", "add", "default", "via", gate)
            made.append(machine)
        yield made


@contextmanager
def _machine(name: str, address: str) -> Iterator[Machine]:
    machine = Machine(f"leaderboard-{os.getpid()}-{name}", address)
    _ip("netns", "add", machine.namespace)
    try:
        _ip("-n", machine.namespace, "link", "set", "lo", "up")
        yield machine
    finally:
        machine.signal(signal.SIGKILL)
        _ip("netns", "del", machine.namespace)
