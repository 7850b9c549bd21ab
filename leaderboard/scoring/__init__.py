"""Reading and scoring files: only in sealed processes, never in the web server or the worker.

::

    the site        a web process or a worker; sees no cell of any table
    └── waiting process    a clean environment, libraries loaded
        └── sealed process    one ground truth, read once; scores the files of all teams, one after another

A job of a page, such as the check of a truth, has a sealed process too; all jobs of one page share a waiting process.

Nothing that runs in these processes depends on Django. The answer of a sealed process is JSON of bounded size, and an
answer about a submission is validated. `score_file` is the entry for submissions, `run_job` for everything else.
"""

from __future__ import annotations

from .client import (
    JobFailed,
    JobTimedOut,
    ScorerDied,
    ScorerInterrupted,
    close_scorer,
    score_file,
    start_scorer,
    stop_scorer,
)
from .jobs import JobLimits, run_job, shared_waiting_process
from .process_limits import clean_environment
from .scorer_answer import ScorerAnswer, ScoringLimits, TruthSpec

__all__ = [
    "JobFailed",
    "JobLimits",
    "JobTimedOut",
    "ScorerAnswer",
    "ScorerDied",
    "ScorerInterrupted",
    "ScoringLimits",
    "TruthSpec",
    "clean_environment",
    "close_scorer",
    "run_job",
    "score_file",
    "shared_waiting_process",
    "start_scorer",
    "stop_scorer",
]
