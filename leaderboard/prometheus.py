"""The numbers of the site for Prometheus, in its text format.

What the database knows is asked for at the moment of the scrape, so it is the same whichever web server is asked. What
only a process knows is counted there: this web process's requests, and what each worker left in its row. Counts begin
again with their process, as Prometheus expects of counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from django.db.models import Count, Max, Sum
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from . import __version__, counting, watching
from .counting import BUCKETS, Tally
from .models import Competition, DailyAttempts, Inspection, Submission, Worker
from .models.clock import database_now

CONTENT_TYPE = CONTENT_TYPE_LATEST
ENDS = [*(f"{end:g}" for end in BUCKETS), "+Inf"]

# Counts of processes: what they are called there, how here, and which labels they have.
COUNTERS = {
    "requests": ("leaderboard_requests", "Answered requests.", ("view", "status")),
    "refused_uploads": ("leaderboard_refused_uploads", "Uploads that were not taken.", ("code",)),
    "bells": ("leaderboard_bells", "Wake-ups for workers; not taken means that the broker was away.", ("taken",)),
}
HISTOGRAMS = {
    "request_seconds": ("leaderboard_request_seconds", "How long requests took.", ("view",)),
    "scoring_seconds": ("leaderboard_scoring_seconds", "How long measuring a file took.", ("status",)),
}
WHO = ("part", "host", "process")
Shares = list[tuple[tuple[str, ...], Tally]]


def text() -> bytes:
    """Everything, once; costs about ten queries."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Site())
    return generate_latest(registry)


class Site:
    """What `prometheus_client` calls a collector."""

    def collect(self) -> Iterator[Metric]:
        yield gauge("leaderboard_info", "Which version answers.", [((__version__,), 1)], ("version",))
        yield from queue()
        yield from workers()
        yield from promises()
        yield from disks()
        yield from attempts()
        yield from counts()


Values = Iterable[tuple[tuple[str, ...], float | None]]


def gauge(name: str, words: str, values: Values, labels: tuple[str, ...] = ()) -> GaugeMetricFamily:
    """A number that goes up and down; what is not known (None) is left out."""
    family = GaugeMetricFamily(name, words, labels=labels)
    for label, value in values:
        if value is not None:
            family.add_metric(label, value)
    return family


def one(name: str, words: str, value: float | None) -> GaugeMetricFamily:
    return gauge(name, words, [((), value)])


def queue() -> Iterator[Metric]:
    fates = {row["status"]: row["n"] for row in Submission.objects.order_by().values("status").annotate(n=Count("pk"))}
    numbers = [((status,), fates.get(status, 0)) for status in Submission.Status.values]
    yield gauge("leaderboard_submissions", "Files by what became of them.", numbers, ("status",))
    pending, length = watching.pending(), watching.queue_length()
    # Nothing waits: an alert compares a number, and no number would be no alert.
    yield one("leaderboard_oldest_pending_seconds", "How long the oldest waiting file has waited.", pending.oldest or 0)
    yield one("leaderboard_leases", "Files that a worker has in hand.", pending.in_hand)
    yield one("leaderboard_broker_up", "Whether the broker answers.", length is not None)
    yield one("leaderboard_broker_messages", "Wake-ups that wait in the broker.", length)
    waiting = Competition.objects.filter(candidate__isnull=False).count()
    yield one("leaderboard_candidates", "Ground truths that wait to be applied or discarded.", waiting)


def workers() -> Iterator[Metric]:
    now = database_now()
    heard = Worker.objects.filter(seen_at__gte=now - watching.HEARD_WITHIN)
    last = Worker.objects.aggregate(swept=Max("swept_at"))["swept"]
    yield one("leaderboard_workers", "Processes that score and were heard of lately.", heard.count())
    age = None if last is None else max(0.0, (now - last).total_seconds())
    yield one("leaderboard_last_sweep_seconds", "How long ago somebody looked for files that wait.", age)
    versions = heard.order_by().values("version").annotate(n=Count("pk"))
    numbers = [((row["version"],), row["n"]) for row in versions]
    yield gauge("leaderboard_worker_versions", "Processes that score, by version.", numbers, ("version",))


def promises() -> Iterator[Metric]:
    last = Inspection.objects.order_by("-began_at").first()
    if last is None:
        return
    age = (timezone.now() - last.began_at).total_seconds()
    yield one("leaderboard_promises_checked_seconds", "How long ago the promises were checked.", age)
    numbers = [((str(one["number"]),), one["broken"]) for one in last.report["promises"]]
    yield gauge("leaderboard_promises_broken", "What the last check found broken.", numbers, ("promise",))


def disks() -> Iterator[Metric]:
    found = watching.disks()
    for name, words in (("free", "Space left on the site's disks."), ("total", "Size of the site's disks.")):
        numbers = [((disk.what,), getattr(disk, name)) for disk in found]
        yield gauge(f"leaderboard_disk_{name}_bytes", words, numbers, ("what",))


def attempts() -> Iterator[Metric]:
    today = DailyAttempts.objects.filter(day=database_now().date())
    found = today.aggregate(used=Sum("used"), refused=Sum("refused"))
    yield one("leaderboard_attempts_today", "Attempts that teams have used today (UTC).", found["used"] or 0)
    words = "Files of today (UTC) that could not be read and used no attempt."
    yield one("leaderboard_unreadable_today", words, found["refused"] or 0)


def counts() -> Iterator[Metric]:
    """What processes counted: this one, and the workers that were heard of lately."""
    shares: Shares = [(("web", "", ""), tally) for tally in counting.so_far()]
    for worker in Worker.objects.filter(seen_at__gte=database_now() - watching.FORGOTTEN_AFTER):
        who = ("worker", worker.host, str(worker.process))
        shares += [(who, Tally.of(row)) for row in worker.counts]
    for name, (title, words, labels) in COUNTERS.items():
        counter = CounterMetricFamily(title, words, labels=(*WHO, *labels))
        for who, tally, values in _of(shares, name, labels):
            counter.add_metric((*who, *values), tally.number)
        yield counter
    for name, (title, words, labels) in HISTOGRAMS.items():
        histogram = HistogramMetricFamily(title, words, labels=(*WHO, *labels))
        for who, tally, values in _of(shares, name, labels):
            if len(tally.buckets) != len(ENDS):  # of a process of another version
                continue
            buckets = list(zip(ENDS, accumulate(tally.buckets), strict=True))
            histogram.add_metric((*who, *values), buckets, tally.seconds)
        yield histogram


def _of(shares: Shares, name: str, labels: tuple[str, ...]) -> Iterator[tuple[Any, Tally, list[str]]]:
    for who, tally in shares:
        if tally.name == name:
            known = dict(tally.labels)
            yield who, tally, [known.get(label, "") for label in labels]
