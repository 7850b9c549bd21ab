"""The consistency checks: queries and recomputations that look for damage that a crash could have left in a site's
data.

Each check has a number and a promise, and yields a sentence for each violation. Other promises are kept by constraints
of the database.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Case, Count, F, Max, Q, When

import metrics
from leaderboard.boards import standings
from leaderboard.common.storage import StorageUnreachable, open_stored
from leaderboard.competitions.models import CandidateProblem, Competition, DailyAttempts, GroundTruth, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.submissions import outcomes, outside_queue

EXAMPLES = 5
# Violations are counted up to this number, as a check may find very many.
COUNTED = 10_000
SAMPLE = 50
AT_ONCE = 500
READERS = 4


@dataclass
class CheckResult:
    """Whether a check passes, with the number of things it looked at and the first violations."""

    number: int
    promise: str
    seed: int | None = None
    """Of a check that draws a sample."""
    looked_at: int = 0
    broken: int = 0
    examples: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        return self.broken == 0

    @property
    def line(self) -> str:
        """One line of text about this check."""
        state = "holds" if self.holds else f"BROKEN ({self.broken}{'+' if self.broken == COUNTED else ''})"
        return f"{self.number:>2} {state}: {self.promise} [{self.looked_at} looked at, {self.seconds:.1f} s]"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


Receipt = tuple[str, str, str, int | None]
"""Description, key of the file, expected SHA-256, expected size."""


def check_uploads_are_whole(result: CheckResult) -> Iterator[str]:
    """Read and hash every file: 1 GB takes about a second. Files of old invalid submissions were removed on purpose,
    which their rows record."""
    yield from _shared_files()
    for pk in Submission.objects.exclude(file_removed_at=None).exclude(status="invalid").values_list("pk", flat=True):
        yield f"submission {pk}: its file was removed, and it is not invalid"
    receipts = _file_receipts()
    with ThreadPoolExecutor(READERS) as readers:
        while batch := list(islice(receipts, AT_ONCE)):
            result.looked_at += len(batch)
            yield from filter(None, readers.map(_find_damage, batch))


def _file_receipts() -> Iterator[Receipt]:
    files = Submission.objects.with_stored_file().order_by("file_key").values_list("pk", "file_key", "sha256", "size")
    for pk, key, sha256, size in files.iterator(chunk_size=5000):
        yield f"submission {pk}", key, sha256, size
    for ground_truth, key, sha256 in GroundTruth.objects.values_list("pk", "file_key", "sha256"):
        yield f"ground truth {ground_truth}", key, sha256, None


def _shared_files() -> Iterator[str]:
    rows = Submission.objects.order_by().values("file_key").annotate(number=Count("pk")).filter(number__gt=1)
    for row in rows:
        yield f"{row['number']} submissions have the file key {row['file_key']}"


def _find_damage(receipt: Receipt) -> str:
    what, key, sha256, size = receipt
    try:
        with open_stored(key) as file:
            found, number = hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
    except (OSError, StorageUnreachable) as error:
        return f"{what}: its file cannot be read ({getattr(error, 'strerror', None) or error})"
    if size is not None and number != size:
        return f"{what}: its file has {number} bytes, its receipt says {size}"
    return "" if found == sha256 else f"{what}: its file does not have the SHA-256 of its receipt"


def check_one_score_each(result: CheckResult) -> Iterator[str]:
    """Each pair of submission and ground truth has both splits or neither; a submission has scores if and only if it is
    scored."""
    splits = Count(Case(When(split__in=Split.values, then="split")), distinct=True)
    pairs = Score.objects.order_by().values_list("submission", "ground_truth").annotate(number=Count("pk"), both=splits)
    result.looked_at = Score.objects.count()
    for submission, ground_truth, number, both in pairs.exclude(number=2, both=2):
        yield f"submission {submission} has {number} scores of {both} splits under ground truth {ground_truth}"
    measured = Score.objects.values("submission")
    for pk, status in (
        Submission.objects.exclude(status=Submission.Status.SCORED).filter(pk__in=measured).values_list("pk", "status")
    ):
        yield f"submission {pk} is {status} and has scores"
    scored = Submission.objects.filter(status=Submission.Status.SCORED)
    for pk in scored.exclude(pk__in=measured).values_list("pk", flat=True):
        yield f"submission {pk} is scored and has no scores"
    current = {"ground_truth": F("submission__competition__ground_truth")}
    shown = Score.objects.filter(**current).values("submission")
    refused = CandidateProblem.objects.filter(**current).values("submission")
    unknown = scored.filter(pk__in=measured).exclude(pk__in=shown).exclude(pk__in=refused)
    for pk in unknown.values_list("pk", flat=True):
        yield f"submission {pk} is scored and has neither scores nor a refusal under the current ground truth"


def check_attempts(result: CheckResult) -> Iterator[str]:
    """Attempts noted per team and day equal the submissions that count; a day is that of the receipt in the
    competition's zone."""
    zones = {zone: ZoneInfo(zone) for zone in Competition.objects.order_by().values_list("zone", flat=True).distinct()}
    counted: Counter[tuple[int, date]] = Counter()
    files = Submission.objects.using_attempts().filter(team__isnull=False).order_by()
    facts = files.values_list("team", "received_at", "competition__zone")
    for team, received_at, zone in facts.iterator(chunk_size=5000):
        assert team is not None
        counted[team, received_at.astimezone(zones[zone]).date()] += 1
        result.looked_at += 1
    counts = DailyAttempts.objects.values_list("team", "day", "used", "limit")
    for team, day, used, limit in counts.iterator(chunk_size=5000):
        files_of_day = counted.pop((team, day), 0)
        if used != files_of_day:
            yield f"team {team} on {day}: {used} attempts noted, {files_of_day} files count"
        elif limit and files_of_day > limit:
            yield f"team {team} on {day}: {files_of_day} files count, {limit} were allowed"
    for (team, day), number in counted.items():
        yield f"team {team} on {day}: no attempts noted, {number} files count"


def check_boards_match_scores(result: CheckResult) -> Iterator[str]:
    """Every current board equals the one recomputed from its scores."""
    ground_truths = Competition.objects.filter(ground_truth__isnull=False).select_related("ground_truth")
    for competition in ground_truths.order_by("slug"):
        ground_truth = competition.ground_truth
        assert ground_truth is not None
        ground_truth.competition = competition
        result.looked_at += 1
        yield from (f"{competition.slug}: {sentence}" for sentence in standings.standing_differences(ground_truth))


def check_scores_recompute(result: CheckResult) -> Iterator[str]:
    """Score fifty submissions again in this process, which reads untrusted files and serves no pages. Scores of metrics
    whose file is another one by now are left out."""
    for score in _sample_scores(result.seed):
        ground_truth = score.ground_truth
        if _metric_version(ground_truth.metric_key) != ground_truth.metric_version:
            continue
        result.looked_at += 1
        outcome = outside_queue.compute_outside_queue(score.submission, ground_truth, alone=True)
        if outcome.result is None:
            yield f"score {score.pk}: its file cannot be scored any more"
            continue
        value = outcome.result.public if score.split == "public" else outcome.result.private
        if value != score.value:
            yield f"score {score.pk} of submission {score.submission_id}: stored {score.value!r}, computed {value!r}"
        yield from _differing_secondary(score, outcome.result)


def _differing_secondary(score: Score, result: metrics.Result) -> Iterator[str]:
    """Secondary values that differ; those whose metric has another version by now are skipped."""
    computed = outcomes.stored_secondary(result, Split(score.split))
    ground_truth = score.ground_truth
    if len(score.secondary) != len(ground_truth.secondary):
        yield f"score {score.pk} has {len(score.secondary)} secondary values of {len(ground_truth.secondary)}"
        return
    for one, stored, found in zip(ground_truth.secondary, score.secondary, computed, strict=True):
        if stored != found and _metric_version(f"{one['key']}@{one['version']}") == one["version"]:
            yield f"score {score.pk}: {one['key']} stored {stored}, computed {found}"


def _sample_scores(seed: int | None) -> list[Score]:
    """Fifty scores at random from the last day on which files were scored: earlier days had their checks."""
    last = Submission.objects.aggregate(last=Max("finished_at"))["last"]
    if last is None:
        return []
    since = last - timedelta(days=1)
    is_new = Q(submission__finished_at__gt=since) | Q(ground_truth__published_at__gt=since)
    keys = list(Score.objects.filter(is_new).values_list("pk", flat=True))
    drawn = random.Random(seed).sample(sorted(keys), min(SAMPLE, len(keys)))  # noqa: S311
    return list(Score.objects.select_related("ground_truth", "submission").filter(pk__in=drawn).order_by("pk"))


def _metric_version(metric_key: str) -> str:
    try:
        return metrics.get(metric_key).version
    except metrics.UnknownMetric:
        return ""


CONSISTENCY_CHECKS: dict[int, tuple[str, Callable[[CheckResult], Iterator[str]]]] = {
    1: (
        "Every acknowledged upload has exactly one row and a whole file whose SHA-256 matches.",
        check_uploads_are_whole,
    ),
    3: (
        "At most one score per submission, ground truth and split; scored if and only if both scores exist.",
        check_one_score_each,
    ),
    6: (
        "Attempts used = submissions of that team and day that count; no race exceeds the limit.",
        check_attempts,
    ),
    7: ("The shown board equals the board recomputed from all scores.", check_boards_match_scores),
    9: ("Fifty scores of the last day recompute to the same bits.", check_scores_recompute),
}


def run_checks(*, seed: int | None = None, only: set[int] | None = None) -> Iterator[CheckResult]:
    """Run the checks one after the other; one that raises an exception counts as broken. `seed` selects the scores to
    recompute, at random without one."""
    for number, (promise, check) in CONSISTENCY_CHECKS.items():
        if only is None or number in only:
            result, began = CheckResult(number, promise, seed), time.monotonic()
            broken: list[str] = []
            try:
                broken += islice(check(result), COUNTED)
            except Exception as error:  # the other checks run all the same
                broken.append(f"it could not be checked: {type(error).__name__}: {error}")
            result.broken, result.examples = len(broken), broken[:EXAMPLES]
            result.seconds = round(time.monotonic() - began, 2)
            yield result
