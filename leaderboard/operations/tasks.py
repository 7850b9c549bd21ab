"""Tasks of operations. Each runs a command in a separate process, so that the worker goes on scoring files
meanwhile."""

from __future__ import annotations

from celery.signals import worker_ready

from leaderboard.celery import app
from leaderboard.common import child_processes
from leaderboard.common.child_processes import run_command
from leaderboard.scoring.custom_metrics import find_uninspected

from . import demo

COMMAND_NICENESS = 10
"""Niceness of commands beside which files are scored."""


@app.task(name="leaderboard.operations.tasks.check_consistency")
def check_consistency() -> None:
    """Run the consistency checks."""
    run_command("check_consistency")


@app.task(name="leaderboard.operations.tasks.sweep_files")
def sweep_files() -> None:
    """Remove files that no row names."""
    run_command("sweep_files")


@app.task(name="leaderboard.operations.tasks.submit_next_of_demo", ignore_result=True)
def submit_next_of_demo() -> None:
    """Let a team of the live demo submit, if there is one."""
    demo.submit_next()


@app.task(name="leaderboard.operations.tasks.inspect_custom_metrics")
def inspect_custom_metrics() -> None:
    """Have new metric files loaded and inspected in sealed processes."""
    if find_uninspected():
        run_command("inspect_metrics", niceness=COMMAND_NICENESS)


@worker_ready.connect
def _look_at_this_machine(**_: object) -> None:
    """When a worker starts: test the seal of this machine and inspect new metric files, while the first files are
    scored."""
    if child_processes.current_part() != "pages":
        run_command("check_sandbox", "--verbosity=0", niceness=COMMAND_NICENESS)
        run_command("inspect_metrics", niceness=COMMAND_NICENESS)
