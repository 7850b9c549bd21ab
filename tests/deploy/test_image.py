"""Olga runs the image as any user, without capabilities, on a root file system that is never written."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException

import pytest

from tests.deploy.containers import IMAGE, SEALED, Engine
from tests.running_site import free_port, until

pytestmark = [pytest.mark.slow, pytest.mark.long]

ANYBODY = "--user=12345:0"
"""A user id that no file of the image names, in the group 0: so OpenShift runs containers."""


def test_the_image_is_small_and_not_roots(podman: Engine) -> None:
    assert podman.compressed_size(IMAGE) <= 200_000_000
    (facts,) = json.loads(podman.run("podman", "inspect", IMAGE))
    assert facts["Config"]["User"].split(":")[0] not in ("", "0", "root")


def test_no_program_in_it_gives_rights(podman: Engine) -> None:
    find = ["find", "/", "-xdev", "-type", "f", "-perm", "/6000"]
    assert podman.run("podman", "run", "--rm", "--user=0", "--entrypoint=", IMAGE, *find) == ""


@pytest.mark.parametrize("user", ["--user=10001:0", ANYBODY])
def test_the_sandbox_holds_in_a_container_without_rights(podman: Engine, user: str) -> None:
    """No engine's socket, no capability, no other seccomp profile than the engine's own."""
    told = podman.run("podman", "run", "--rm", "--network=none", *SEALED, user, IMAGE, "check_sandbox", "--json")
    report = json.loads(told)
    assert report["reason"] == ""
    assert [one["outcome"] for one in report["probes"]] == ["stopped"] * 3


@contextmanager
def whole_site(podman: Engine, volume: str) -> Iterator[str]:
    """Everything in one container; its id."""
    port = str(free_port())
    command = ["up", "--port", port, "--no-browser"]
    run = ["podman", "run", "--detach", "--network=host", *SEALED, ANYBODY, f"--volume={volume}:/var/lib/leaderboard"]
    container = podman.run(*run, IMAGE, *command)
    address = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        state = podman.run("podman", "inspect", "--format={{.State.Status}}", container)
        assert state == "running", podman.logs(container)
        try:
            return bool(urllib.request.urlopen(f"{address}/readyz", timeout=5).status == 200)
        except (OSError, HTTPException):
            return False

    try:
        until(answers, seconds=60, every=0.2, what="the first page")
        yield container
        podman.run("podman", "stop", "--time=10", container)
        assert podman.run("podman", "inspect", "--format={{.State.ExitCode}}", container) == "0", "it stopped by itself"
    finally:
        podman.ask("podman", "rm", "--force", "--time=0", container)


COUNT = """
from leaderboard.competitions.models import Submission
print(*(Submission.objects.filter(status=status).count() for status in ("pending", "scored")))
"""


def test_the_whole_site_runs_in_one_container_and_keeps_its_files(podman: Engine) -> None:
    """The files of the demonstration are scored; a second container finds them in the volume."""
    volume = podman.run("podman", "volume", "create")

    def counted(container: str) -> list[int]:
        return list(
            map(int, podman.run("podman", "exec", container, "classboard", "shell", "-v0", "-c", COUNT).split())
        )

    with whole_site(podman, volume) as container:
        podman.run("podman", "exec", container, "classboard", "demo", "--teams=2")
        until(lambda: counted(container)[0] == 0, every=1, what="the last score")
        scored = counted(container)[1]
        assert scored > 0
    with whole_site(podman, volume) as container:
        podman.run("podman", "exec", container, "classboard", "check_consistency")
        assert counted(container)[1] >= scored
