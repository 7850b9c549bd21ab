"""Names the work of operations for the queue. It runs in processes of its own: files are scored meanwhile."""

from __future__ import annotations

from celery.signals import worker_ready

from leaderboard.celery import app
from leaderboard.competitions.tasks import run_command


@app.task(name="leaderboard.operations.tasks.check_consistency")
def check_consistency() -> None:
    """Prove the promises."""
    run_command("check_consistency")


@app.task(name="leaderboard.operations.tasks.sweep_files")
def sweep_files() -> None:
    """Remove files that no row speaks of."""
    run_command("sweep_files")


@worker_ready.connect
def _run_sandbox_self_test(**_: object) -> None:
    """Find out on this machine whether metrics from outside can be locked in, while the first files are scored."""
    run_command("try_cage", "--verbosity=0")
