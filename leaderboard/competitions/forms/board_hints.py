"""What a host reads about rounded scores where the board is chosen."""

from __future__ import annotations

from django.utils.translation import gettext, ngettext

from ..models import Competition, GroundTruth, TruthCheck, TruthDraft
from ..models.competition import Split

FEWEST_STEPS = 25
"""With fewer between the best file without a model and a perfect one most teams of a class stand on the same few."""


def steady_steps(competition: Competition) -> int | None:
    """How many steps of a steady board lie between the best file without a model and a perfect one; None where nobody
    knows. With few of them a class sees no progress."""
    check = TruthDraft.objects.filter(competition=competition).first() if competition.launched_at is None else None
    report = (
        check or TruthCheck.objects.filter(ground_truth=competition.ground_truth_id).first() or TruthCheck()
    ).report
    step = competition.board.step or report.get("apart", {}).get(Split.PUBLIC)
    known = [one["values"].get(Split.PUBLIC, {}).get("value") for one in report.get("baselines", [])]
    scores = [score for score in known if score is not None]
    if not step or len(scores) < 2:
        return None
    # The perfect file is the last; the one nearest to it is the best of the others.
    nearest = min(scores[:-1], key=lambda score: abs(score - scores[-1]))
    return int(abs(nearest - scores[-1]) / step)


def board_hint(steps: int | None) -> str:
    """Why a steady board is offered, or why not."""
    if steps is None:
        return gettext("Rounding is offered once we know the smallest meaningful difference.")
    if steps < FEWEST_STEPS:
        return ngettext(
            "Rounded scores would show hardly any progress here: only %(steps)s step to a perfect score.",
            "Rounded scores would show hardly any progress here: only %(steps)s steps to a perfect score.",
            steps,
        ) % {"steps": steps}
    return gettext(
        "Exact scores let teams probe the answers; rounding prevents that (%(steps)s steps to a perfect score)."
    ) % {"steps": steps}


def step_hint(ground_truth: GroundTruth | None) -> str:
    if ground_truth is None:
        return gettext("Leave empty for the smallest meaningful difference.")
    if ground_truth.step is None:
        return gettext("Enter a number; it can't be derived from these answers.")
    return gettext("Leave empty for %(step)s, the smallest meaningful difference.") % {
        "step": f"{ground_truth.step:.3g}"
    }
