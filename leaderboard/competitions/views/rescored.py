"""What a corrected ground truth did to a team's files: each score before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ..access import Audience, PageContext, open_to
from ..models import GroundTruth, Refusal, Rescoring, Score, Submission
from ..models.competition import Split
from ..ranking import ladder, team_ranks
from ..ranking import rows as rows_module

MOST_FILES = 100


@dataclass(frozen=True)
class RescoredFile:
    """A file with its scores on each split that its team may see: before and after."""

    submission: Submission
    pairs: list[tuple[float | None, float | None]]
    refusal: Refusal | None


@open_to(Audience.MEMBERS)
def rescored(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The last rescoring; earlier ones are in the list of words alone."""
    rescorings = list(page_context.competition.rescorings.select_related("before", "after")[:20])
    last = rescorings[0] if rescorings else None
    splits = [Split.PUBLIC, Split.PRIVATE] if page_context.state == "revealed" else [Split.PUBLIC]
    context = {
        "page_context": page_context,
        "last": last,
        "earlier": rescorings[1:],
        "splits": splits,
        "lines": _rescored_files(page_context, last, splits) if last else [],
        "ranks": [_rank_under(page_context, ground_truth, splits[-1]) for ground_truth in (last.before, last.after)]
        if last
        else [],
    }
    return render(request, "competitions/rescored.html", context)


def _rank_under(page_context: PageContext, ground_truth: GroundTruth, split: Split) -> rows_module.Placing | None:
    """Under the earlier ground truth as it was when the later one came."""
    ground_truth.competition = page_context.competition
    return team_ranks.placing_of(page_context.membership.team, ground_truth, split) if page_context.membership else None


def _rescored_files(page_context: PageContext, last: Rescoring, splits: list[Split]) -> list[RescoredFile]:
    if page_context.membership is None:
        return []
    files = Submission.objects.filter(
        team=page_context.membership.team, status=Submission.Status.SCORED, received_at__lt=last.applied_at
    ).order_by("-received_at")[:MOST_FILES]
    before, after = (_scores(page_context, ground_truth, splits) for ground_truth in (last.before, last.after))
    refusals = {
        one.submission_id: one for one in Refusal.objects.filter(ground_truth=last.after, submission__in=list(files))
    }
    return [
        RescoredFile(
            file,
            [(before.get((str(file.pk), split)), after.get((str(file.pk), split))) for split in splits],
            refusals.get(file.pk),
        )
        for file in files
    ]


def _scores(page_context: PageContext, ground_truth: GroundTruth, splits: list[Split]) -> dict[tuple[str, str], float]:
    """(submission, split) → value under a ground truth, as the team may see it."""
    assert page_context.membership is not None
    ground_truth.competition, team = page_context.competition, page_context.membership.team
    shown = ladder.shown_scores(team, ground_truth)
    if shown is not None and not page_context.sees_exact:
        return {(key, Split.PUBLIC.value): value for key, value in shown.items()}
    files = Submission.objects.filter(team=team).order_by().values("pk")
    rows: Any = Score.objects.filter(ground_truth=ground_truth, submission__in=files, split__in=splits)
    return {(str(key), split): value for key, split, value in rows.values_list("submission_id", "split", "value")}
