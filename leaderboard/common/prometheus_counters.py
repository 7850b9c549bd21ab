"""What this process has done since it started, as metrics for Prometheus.

A web process shows its own when it is asked; a worker, which Prometheus cannot reach, leaves its own in its row
(`Worker.process_metrics`). What the database knows anyway is not counted here.
"""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)

PROCESS = CollectorRegistry()
REQUESTS = Counter("leaderboard_requests", "Answered requests.", ("view", "status"), registry=PROCESS)
REFUSED_UPLOADS = Counter("leaderboard_refused_uploads", "Uploads that were not taken.", ("code",), registry=PROCESS)
WAKE_UPS = Counter(
    "leaderboard_bells",
    "Wake-ups for workers; not taken means that the broker was away.",
    ("taken",),
    registry=PROCESS,
)
REQUEST_SECONDS = Histogram(
    "leaderboard_request_seconds", "How long requests took.", ("view",), buckets=BUCKETS, registry=PROCESS
)
SCORING_SECONDS = Histogram(
    "leaderboard_scoring_seconds", "How long measuring a file took.", ("status",), buckets=BUCKETS, registry=PROCESS
)


def counter_samples() -> list[dict[str, Any]]:
    """Everything counted, fit for JSON."""
    found = (sample for family in PROCESS.collect() for sample in family.samples)
    return [
        {"name": sample.name, "labels": sample.labels, "value": sample.value}
        for sample in found
        if not sample.name.endswith("_created")
    ]


def reset_counters() -> None:
    """Forget what was counted, as a process does that was forked from one that counted."""
    for metric in (REQUESTS, REFUSED_UPLOADS, WAKE_UPS, REQUEST_SECONDS, SCORING_SECONDS):
        metric.clear()
