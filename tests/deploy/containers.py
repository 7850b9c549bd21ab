"""The image as `podman build` makes it, and containers of it, with an engine that keeps everything in a folder.

No image is fetched from anywhere: the base is made of Debian's packages, from the mirror of this machine.
"""

from __future__ import annotations

import ast
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from tests.running_site import ROOT
from tests.servers import Lacking

RELEASE = "trixie"
BASE, IMAGE = "localhost/debian", "localhost/leaderboard"
SEALED = ["--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--security-opt=no-new-privileges"]
"""What docs/deploy.md says that no part needs."""

PROGRAMS = {"podman": "podman", "buildah": "buildah", "catatonit": "catatonit", "mmdebstrap": "mmdebstrap"}
RUNTIMES, DRIVERS = ("crun", "runc"), ("overlay", "vfs")
LIMITS = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC}
LEAST_LIMIT = 4096
PIP_OPTIONS = ("index-url", "proxy", "timeout", "trusted-host")


@dataclass(frozen=True)
class Engine:
    """Podman and buildah with their settings, images and containers in `folder`."""

    folder: Path

    def ask(self, *command: str, within: float = 600, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command, whatever comes of it."""
        settings = {"CONTAINERS_CONF": "containers.conf", "CONTAINERS_STORAGE_CONF": "storage.conf"}
        environment = {**os.environ, **{name: str(self.folder / file) for name, file in settings.items()}}
        return subprocess.run(
            command, env=environment, cwd=ROOT, input=text, text=True, capture_output=True, timeout=within, check=False
        )

    def run(self, *command: str, within: float = 600, text: str = "") -> str:
        """The output of a command that must succeed."""
        done = self.ask(*command, within=within, text=text)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done.stdout.strip()

    def logs(self, container: str) -> str:
        done = self.ask("podman", "logs", container)
        return done.stdout + done.stderr

    def compressed_size(self, image: str) -> int:
        """The bytes of an image in a registry."""
        stored = self.folder / "registry"
        self.run("podman", "push", "--quiet", image, f"oci:{stored}")
        size = sum(path.stat().st_size for path in stored.rglob("*") if path.is_file())
        shutil.rmtree(stored)
        return size

    def configure(self, driver: str, runtime: str) -> None:
        limits = [f'"{name}={_limit(number)}:{_limit(number)}"' for name, number in LIMITS.items()]
        (self.folder / "containers.conf").write_text(
            f"[containers]\ndefault_ulimits = [{', '.join(limits)}]\n"
            f'[engine]\nruntime = "{runtime}"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
        )
        images, run = self.folder / driver, self.folder / "run"
        (self.folder / "storage.conf").write_text(
            f'[storage]\ndriver = "{driver}"\ngraphroot = "{images}"\nrunroot = "{run}"\n'
            f'rootless_storage_path = "{images}"\n'
        )


def _limit(number: int) -> int:
    """Podman asks for more than a root without CAP_SYS_RESOURCE may have."""
    most = resource.getrlimit(number)[1]
    return LEAST_LIMIT if most == resource.RLIM_INFINITY else min(most, LEAST_LIMIT)


@contextmanager
def engine() -> Iterator[Engine]:
    """An engine that has Debian as its only image. Raises `Lacking` with the reason where no container runs here."""
    if missing := [package for program, package in PROGRAMS.items() if shutil.which(program) is None]:
        raise Lacking(f"no containers here: apt-get install {' '.join(missing)}")
    folder = Path(tempfile.mkdtemp(prefix="lb-", dir="/tmp"))  # podman refuses long paths
    made = Engine(folder)
    try:
        make_base(folder / "base.tar")
        _find_what_runs(made)
        yield made
    finally:
        if (folder / "storage.conf").exists():
            made.ask("podman", "system", "reset", "--force")
            subprocess.run(["umount", *folder.glob("*/overlay")], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def make_base(archive: Path) -> None:
    """What Debian's own small image has: the least of packages, without their documents."""
    mirrors = ["--format=$(REPO_URI)", "Created-By: Packages", "Origin: Debian", "Label: Debian"]
    found = subprocess.run(["apt-get", "indextargets", *mirrors], capture_output=True, text=True, check=False)
    if not found.stdout:
        raise Lacking("no containers here: this machine knows no mirror of Debian's packages")
    slim = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "info", "locale", "man")]
    command = ["mmdebstrap", "--quiet", "--variant=minbase", *slim, RELEASE, str(archive), found.stdout.split()[0]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Lacking(f"no containers here: {done.stderr[-500:]}")


def _find_what_runs(made: Engine) -> None:
    """The first driver of images and the first runtime with which a container starts."""
    reasons = []
    for driver, runtime in product(DRIVERS, filter(shutil.which, RUNTIMES)):
        made.configure(driver, runtime)
        if made.ask("podman", "image", "exists", BASE).returncode:
            made.ask("podman", "import", "--quiet", str(made.folder / "base.tar"), BASE)
        done = made.ask("podman", "run", "--rm", "--pull=never", "--network=host", *SEALED, BASE, "true")
        if not done.returncode:
            return
        reasons.append(f"{driver}, {runtime}: {done.stderr.strip()[-300:]}")
    raise Lacking("no containers here: " + "; ".join(reasons or [f"apt-get install {RUNTIMES[0]}"]))


def build(made: Engine) -> str:
    """The image of this clone; its name. pip asks where this machine's pip asks."""
    volumes = [f"--volume={path}:{inside}:ro" for inside, path in _files_for_pip(made.folder).items()]
    options = ["--network=host", "--isolation=chroot", f"--build-arg=BASE={BASE}", *volumes]
    made.run("buildah", "build", *options, f"--tag={IMAGE}", ".", within=1200)
    return IMAGE


def _files_for_pip(folder: Path) -> dict[str, Path]:
    """Files for the time of the build, by their places in it."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    options: dict[str, str] = {}
    for line in listed.stdout.splitlines():
        name, _, value = line.partition("=")
        options[name.rpartition(".")[2].removeprefix("default-")] = ast.literal_eval(value)
    lines = [f"{name} = {options[name]}" for name in PIP_OPTIONS if name in options]
    files = {"/etc/pip.conf": folder / "pip.conf"}
    if "cert" in options:
        lines.append("cert = /etc/pip.pem")
        files["/etc/pip.pem"] = Path(options["cert"])
    files["/etc/pip.conf"].write_text("\n".join(["[global]", *lines, ""]))
    return files
