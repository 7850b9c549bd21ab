"""What a launch needs, each with the page where it is put right; the steps of the way there."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from ..models import Competition
from ..services import launches
from .truth_context import draft_of, needs_other_file

WHERE = {
    "truth": "host_setup_metric",
    "overview": "host_setup_basics",
    "deadline": "host_setup_limits",
    "step": "host_setup_limits",
    "candidate": "host_candidate",
    "student_preview": "host_preview",
}


@dataclass(frozen=True)
class ChecklistItem:
    """One line of the checklist; `page` is the URL name of where it is put right."""

    text: str
    is_there: bool
    page: str


def checklist_of(competition: Competition) -> list[ChecklistItem]:
    """As `launches.launch_needs`; before there is an answer file, that comes first."""
    needs = launches.launch_needs(competition)
    has_file = _has_file(competition)
    places = WHERE if has_file else {**WHERE, "truth": "host_setup_data"}
    return [ChecklistItem(need.text, need.is_there, places[need.key]) for need in needs]


@dataclass(frozen=True)
class WizardStep:
    """One page of the way. `after` is where the same is found once the competition is launched."""

    key: str
    title: str
    after: str
    is_done: bool = False

    @property
    def page(self) -> str:
        return f"host_setup_{self.key}"


def steps_of(competition: Competition | None) -> list[WizardStep]:
    """The six steps; a step is done when its host has saved it and the launch needs no more of it.

    Without a competition nothing is.
    """
    done = _completed_steps(competition) if competition else {}
    titles = (
        ("basics", _("Basics"), "host_settings"),
        ("data", _("Data and truth"), "host_truth"),
        ("metric", _("Metric"), "host_truth_metric"),
        ("limits", _("Limits and dates"), "host_settings"),
        ("people", _("People"), "host_settings"),
        ("launch", _("Review and launch"), "host_competition"),
    )
    return [WizardStep(key, title, after, done.get(key, False)) for key, title, after in titles]


def _has_file(competition: Competition) -> bool:
    """Answers that some metric can score; the file looked at last is the one that counts."""
    draft = draft_of(competition)
    return competition.ground_truth_id is not None if draft is None else not needs_other_file(draft)


def _completed_steps(competition: Competition) -> dict[str, bool]:
    needs = {need.key: need.is_there for need in launches.launch_needs(competition)}
    return {
        "basics": needs["overview"],
        "data": _has_file(competition),
        "metric": needs["truth"] and needs.get("candidate", True),
        "limits": needs["deadline"] and needs.get("step", True) and not competition.limits.is_proposed,
        "people": not competition.admission.is_proposed,
        "launch": competition.launched_at is not None,
    }


def next_step(competition: Competition) -> WizardStep:
    """Where to go on: the first step that is not done."""
    return next(step for step in steps_of(competition) if not step.is_done or step.key == "launch")
