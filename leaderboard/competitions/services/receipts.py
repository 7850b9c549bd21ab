"""Receipt of a score: file, ground truth, metric file, software and times."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..models import Conversion, GroundTruth, Score, Submission
from ..models.competition import Split


def build_receipt(submission: Submission, splits: Collection[Split], *, is_over: bool) -> dict[str, Any]:
    """Everything needed to compute the scores on `splits` again, JSON-safe. Callers know which splits may be seen.

    Nothing here depends on other scores. `is_over` says that the private board is open.
    """
    ground_truth = submission.competition.ground_truth
    found: dict[str, Any] = {
        "competition": submission.competition.slug,
        "submission": {
            "id": str(submission.pk),
            "file_name": submission.file_name,
            "bytes": submission.size,
            "sha256": submission.sha256,
            "team": submission.team.name if submission.team else None,
            "received_at": submission.received_at.isoformat(),
            "finished_at": submission.finished_at.isoformat() if submission.finished_at else None,
            "status": submission.status,
            "is_late": submission.is_late,
        },
    }
    conversion = Conversion.objects.select_related("original").filter(submission=submission).first()
    if conversion is not None:
        found["converted_from"] = {
            "id": str(conversion.original_id),
            "file_name": conversion.original.file_name,
            "bytes": conversion.original.size,
            "sha256": conversion.original.sha256,
            "changes": [change["message"] for change in conversion.changes],
        }
    if ground_truth is not None and submission.status == Submission.Status.SCORED:
        found |= _measurement(submission, ground_truth, splits, is_over)
    return found


def _measurement(
    submission: Submission, ground_truth: GroundTruth, splits: Collection[Split], is_over: bool
) -> dict[str, Any]:
    scores = list(
        Score.objects.filter(submission=submission, ground_truth=ground_truth).select_related("scoring_environment")
    )
    facts: dict[str, str] = next((score.scoring_environment.facts for score in scores if score.scoring_environment), {})
    times = [score.measured_at for score in scores if score.measured_at]
    return {
        "ground_truth": {
            "number": ground_truth.number,
            "commitment": ground_truth.commitment,
            "commitment_key": ground_truth.commitment_key if is_over else None,
            "sha256": ground_truth.sha256 if is_over else None,
            "id_column": ground_truth.id_column,
            "published_at": ground_truth.published_at.isoformat(),
        },
        "metric": {
            "key": ground_truth.metric,
            "version": facts.get("metric_version", ground_truth.metric_version),
            "params": ground_truth.params,
        },
        "secondary": _secondary(ground_truth, scores, facts, splits),
        "measured_at": min(times).isoformat() if times else None,
        "measured_with": {
            name: value for name, value in facts.items() if not name.startswith(("metric", "secondary "))
        },
        "scores": {score.split: score.value for score in scores if score.split in splits},
    }


def _secondary(
    ground_truth: GroundTruth, scores: list[Score], facts: dict[str, str], splits: Collection[Split]
) -> list[dict[str, Any]]:
    """The secondary metrics with their values on `splits`, or why there is none."""
    seen = [score for score in scores if score.split in splits and score.secondary]
    found = []
    for place, one in enumerate(ground_truth.secondary):
        secondary_by_split = {score.split: score.secondary[place] for score in seen}
        found.append(
            {
                "key": one["key"],
                "version": facts.get(f"secondary {one['key']}", one["version"]),
                "params": one["params"],
                "scores": {split: value["value"] for split, value in secondary_by_split.items() if "value" in value},
                "problem": next((value["problem"] for value in secondary_by_split.values() if "problem" in value), ""),
            }
        )
    return found
