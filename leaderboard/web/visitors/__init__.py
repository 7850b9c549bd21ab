"""Pages that everybody may read who may see the competition, and the few that stand outside of all of them."""

from __future__ import annotations

from .boards import leaderboard, leaderboard_csv
from .files import data, data_file, sample_submission
from .front import competitions
from .home import cli, home_scorer, home_scorer_file
from .measures import metric, metrics
from .reading import overview, rules
from .shaken import shake_up
from .site import healthz, healthz_deep, setup, theme

__all__ = [
    "cli",
    "competitions",
    "data",
    "data_file",
    "healthz",
    "healthz_deep",
    "home_scorer",
    "home_scorer_file",
    "leaderboard",
    "leaderboard_csv",
    "metric",
    "metrics",
    "overview",
    "rules",
    "sample_submission",
    "setup",
    "shake_up",
    "theme",
]
