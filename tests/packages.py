"""The programs of the system that `manage.py test --all` starts; only the standard library.

`python3 tests/packages.py` installs on Debian what is missing of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGES = {
    "chromium": "chromium",
    "git": "git",
    "initdb": "postgresql",
    "ip": "iproute2",
    "openssl": "openssl",
    "pgrep": "procps",
    "redis-server": "redis-server",
}
"""Each program with its package."""

POLICY = Path("/usr/sbin/policy-rc.d")


def missing_packages() -> list[str]:
    return [package for program, package in PACKAGES.items() if not is_installed(program)]


def is_installed(program: str) -> bool:
    # Debian keeps the programs of PostgreSQL outside the path.
    outside = Path("/usr/lib/postgresql").glob(f"*/bin/{program}")
    return shutil.which(program) is not None or any(outside)


def install_missing() -> list[str]:
    """Install the missing packages where this user may; gives those that are still missing."""
    missing = missing_packages()
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        with no_servers_started():
            run_apt("update")
            run_apt("install", "--yes", "--no-install-recommends", *missing)
        missing = missing_packages()
    return missing


def run_apt(command: str, *arguments: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", command, "--quiet", *arguments], env=environment, check=False)


@contextmanager
def no_servers_started() -> Iterator[None]:
    """Keep the servers of the packages off: the tests start servers of their own."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def main() -> int:
    """The exit status: 1, with a line that names them, where packages are missing."""
    if missing := install_missing():
        sys.stderr.write(f"`manage.py test --all` needs these packages: apt-get install {' '.join(missing)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
