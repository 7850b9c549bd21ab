"""The numbers of the site for Prometheus, in its text format.

What the database knows is asked for at the moment of the scrape, so it is the same whichever web server is asked. What
only a process knows is counted there: this web process's requests, and what each worker left in its row. Counts begin
again with their process, as Prometheus expects of counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db.models import Count, Sum
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from leaderboard import __version__
from leaderboard.celery import queue_length
from leaderboard.common import prometheus_counters
from leaderboard.common.clock import database_now
from leaderboard.competitions import duties
from leaderboard.competitions.models import Competition, DailyAttempts, Submission, Worker
from leaderboard.competitions.scoring import queue as workers_module

from . import health
from .models import ConsistencyRun

CONTENT_TYPE = CONTENT_TYPE_LATEST


def metrics_text() -> bytes:
    """Everything, once; costs about ten queries."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SiteCollector())
    return generate_latest(registry)


class SiteCollector:
    """What `prometheus_client` calls a collector."""

    def collect(self) -> Iterator[Metric]:
        yield gauge("leaderboard_info", "Which version answers.", [((__version__,), 1)], ("version",))
        yield from queue_metrics()
        yield from worker_metrics()
        yield from consistency_metrics()
        yield from disk_metrics()
        yield from attempt_metrics()
        yield from process_metrics()


Values = Iterable[tuple[tuple[str, ...], float | None]]


def gauge(name: str, words: str, values: Values, labels: tuple[str, ...] = ()) -> GaugeMetricFamily:
    """A number that goes up and down; what is not known (None) is left out."""
    family = GaugeMetricFamily(name, words, labels=labels)
    for label, value in values:
        if value is not None:
            family.add_metric(label, value)
    return family


def single_gauge(name: str, words: str, value: float | None) -> GaugeMetricFamily:
    return gauge(name, words, [((), value)])


def queue_metrics() -> Iterator[Metric]:
    fates = {row["status"]: row["n"] for row in Submission.objects.order_by().values("status").annotate(n=Count("pk"))}
    numbers = [((status,), fates.get(status, 0)) for status in Submission.Status.values]
    yield gauge("leaderboard_submissions", "Files by what became of them.", numbers, ("status",))
    pending, length = workers_module.pending_files(), queue_length()
    # Nothing waits: an alert compares a number, and no number would be no alert.
    yield single_gauge(
        "leaderboard_oldest_pending_seconds", "How long the oldest waiting file has waited.", pending.oldest or 0
    )
    yield single_gauge("leaderboard_leases", "Files that a worker has in hand.", pending.in_hand)
    yield single_gauge("leaderboard_broker_up", "Whether the broker answers.", length is not None)
    yield single_gauge("leaderboard_broker_messages", "Wake-ups that wait in the broker.", length)
    waiting = Competition.objects.filter(candidate__isnull=False).count()
    yield single_gauge("leaderboard_candidates", "Ground truths that wait to be applied or discarded.", waiting)


def worker_metrics() -> Iterator[Metric]:
    now = database_now()
    heard = Worker.objects.filter(last_seen_at__gte=now - workers_module.HEARD_WITHIN)
    last = duties.last_sweep()
    yield single_gauge("leaderboard_workers", "Processes that score and were heard of lately.", heard.count())
    age = None if last is None else max(0.0, (now - last).total_seconds())
    yield single_gauge("leaderboard_last_sweep_seconds", "How long ago somebody looked for files that wait.", age)
    versions = heard.order_by().values("version").annotate(n=Count("pk"))
    numbers = [((row["version"],), row["n"]) for row in versions]
    yield gauge("leaderboard_worker_versions", "Processes that score, by version.", numbers, ("version",))


def consistency_metrics() -> Iterator[Metric]:
    last = ConsistencyRun.objects.order_by("-began_at").first()
    if last is None:
        return
    age = (timezone.now() - last.began_at).total_seconds()
    yield single_gauge("leaderboard_promises_checked_seconds", "How long ago the promises were checked.", age)
    numbers = [((str(one["number"]),), one["broken"]) for one in last.report["promises"]]
    yield gauge("leaderboard_promises_broken", "What the last check found broken.", numbers, ("promise",))


def disk_metrics() -> Iterator[Metric]:
    found = health.disk_spaces()
    for name, words in (("free", "Space left on the site's disks."), ("total", "Size of the site's disks.")):
        numbers = [((disk.what,), getattr(disk, name)) for disk in found]
        yield gauge(f"leaderboard_disk_{name}_bytes", words, numbers, ("what",))


def attempt_metrics() -> Iterator[Metric]:
    today = DailyAttempts.objects.filter(day=database_now().date())
    used = today.aggregate(used=Sum("used"))["used"] or 0
    yield single_gauge("leaderboard_attempts_today", "Attempts that teams have used today (UTC).", used)


def process_metrics() -> Iterator[Metric]:
    """What processes counted: this one, and the workers that were heard of lately."""
    workers = Worker.objects.filter(last_seen_at__gte=database_now() - workers_module.FORGOTTEN_AFTER)
    processes = [
        ({"part": "web", "host": "", "process": ""}, prometheus_counters.counter_samples()),
        *(({"part": "worker", "host": one.host, "process": str(one.process)}, one.counts) for one in workers),
    ]
    for family in prometheus_counters.PROCESS.collect():
        merged = Metric(family.name, family.documentation, family.type)
        for process, samples in processes:
            for sample in samples:
                if sample["name"] in _family_names(family):
                    merged.add_sample(sample["name"], {**process, **sample["labels"]}, sample["value"])
        yield merged


def _family_names(family: Metric) -> list[str]:
    endings = ("_total",) if family.type == "counter" else ("_bucket", "_count", "_sum")
    return [f"{family.name}{ending}" for ending in endings]
