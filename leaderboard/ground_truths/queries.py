"""Reads for pages of answers: drafts, checks with fixes, fitting metrics, conditions of a launch, candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

import metrics
from leaderboard.boards import queries as boards
from leaderboard.boards import ranking
from leaderboard.common.library_messages import stored_text, translated_message
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.names import slug_from_title
from leaderboard.common.queries import count_rows
from leaderboard.competitions.models import (
    CandidateProblem,
    Competition,
    GroundTruth,
    Score,
    Standing,
    Submission,
    Team,
    TruthCheck,
    TruthDraft,
)
from leaderboard.competitions.models.competition import Split
from leaderboard.submissions import outside_queue
from metrics.checks.lists import WRAPPED_LISTS
from metrics.core.errors import NOTE_PREFIX

from .services import checks
from .services.data_files import ANSWERS_IN_DATA

MAX_SHOWN_REFUSALS = 50
MAX_USUAL_METRICS = 6
TOO_MANY_COLUMNS = "target_columns"
SPLIT_FINDINGS = frozenset({"distribution_gap", "missing_class", "group_in_both_parts", "empty_split"})


def draft_of(competition: Competition) -> TruthDraft | None:
    """The draft, or None; one query per request. A draft whose check failed was not stored and has no key."""
    draft: TruthDraft | None = getattr(competition, "truth_draft", None)
    return draft if draft is not None and draft.pk else None


def current_truth(competition: Competition | None) -> TruthDraft | GroundTruth | None:
    """The draft, else the current ground truth; None without either."""
    return (draft_of(competition) or competition.ground_truth) if competition else None


def last_truth(competition: Competition) -> TruthDraft | GroundTruth | None:
    """The draft, else the last ground truth: its file is used if none is uploaded."""
    return draft_of(competition) or competition.ground_truths.order_by("number").last()


def metric_or_none(key: str) -> metrics.Metric | None:
    """The metric with this key; None if it is unknown or its file is lost."""
    try:
        return metrics.get(key)
    except metrics.UnknownMetric:
        return None


# --- addresses -------------------------------------------------------------------------------------------------------


def free_slug(title: str) -> str:
    """An unused slug made from a title."""
    slug = slug_of(title) or "copy"
    taken = set(Competition.objects.filter(slug__startswith=slug).values_list("slug", flat=True))
    numbered = (f"{slug}-{number}" for number in range(2, len(taken) + 3))
    return slug if slug not in taken else next(free for free in numbered if free not in taken)


def slug_of(title: str) -> str:
    """A slug made from a title; `""` if it has no Latin letter."""
    return slug_from_title(title)[:50].strip("-")


# --- findings ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShownFinding:
    """One finding; `fix` is the action that the page offers: `remove_leaks`, `convert`, `plain_lists`, `redraw`, ""."""

    finding: Mapping[str, Any]
    key: str
    fix: str

    @property
    def is_blocking(self) -> bool:
        return bool(self.finding["blocking"])


@dataclass(frozen=True)
class ShownFindings:
    """Findings in display order: errors, open warnings, accepted warnings, and notes on how the file was read."""

    errors: list[ShownFinding]
    warnings: list[ShownFinding]
    accepted: list[ShownFinding]
    notes: list[ShownFinding]

    @property
    def open(self) -> list[ShownFinding]:
        return [*self.errors, *self.warnings]


def shown_findings(check: TruthDraft | TruthCheck | None) -> ShownFindings:
    """The findings of a check, those of a draft with fixes for some of them."""
    shown = ShownFindings([], [], [], [])
    report = check.report if check else {}
    accepted_keys = {accepted["key"] for accepted in check.accepted_findings} if check else set()
    for finding in report.get("findings", ()):
        key = checks.finding_key(finding)
        group = shown.errors if finding["blocking"] else shown.accepted if key in accepted_keys else shown.warnings
        if finding["code"].startswith(NOTE_PREFIX):
            group = shown.notes
        group.append(ShownFinding(finding, key, _fix_of(finding, check) if isinstance(check, TruthDraft) else ""))
    return shown


def _fix_of(finding: Mapping[str, Any], draft: TruthDraft) -> str:
    code = finding["code"]
    if code == ANSWERS_IN_DATA:
        return "remove_leaks"
    if code in checks.CONVERTIBLE_PROBLEMS and draft.report.get("as_meant"):
        return "convert"
    if code == WRAPPED_LISTS:
        return "plain_lists"
    return "redraw" if code in SPLIT_FINDINGS and draft.competition.launched_at is None else ""


# --- the last check ---------------------------------------------------------------------------------------------


def last_check(competition: Competition) -> dict[str, Any]:
    """Context about the last check, of the draft if there is one, else of the current ground truth."""
    draft, ground_truth = draft_of(competition), competition.ground_truth
    truth: TruthDraft | GroundTruth | None = draft or ground_truth
    check: TruthDraft | TruthCheck | None = draft
    if draft is None and ground_truth is not None:
        check = TruthCheck.objects.filter(ground_truth=ground_truth).first()
    return {
        "draft": draft,
        "checked": truth,
        "report": check.report if check else None,
        "checked_at": check.checked_at if isinstance(check, TruthCheck) else None,
        "findings": shown_findings(check),
        "drafted": metric_or_none(truth.metric) if truth else None,
        "question": _question_to_confirm(draft) if draft else "",
        "needs_other_file": draft is not None and needs_other_file(draft),
        "answer_columns": _answer_columns(draft) if draft else None,
    }


def needs_other_file(draft: TruthDraft) -> bool:
    """Whether choosing another metric cannot help: no metric can score the file, or the chosen one could."""
    if draft.report["ok"] or draft.answer_choice.get("is_asked"):
        return False
    possible = {fit["key"] for fit in draft.fits if _can_score(fit)}
    return not possible or draft.metric in possible


def _can_score(fit: Mapping[str, Any]) -> bool:
    """Whether a metric fits, if need be after correcting a few cells."""
    return bool(fit["fits"] or fit.get("nearly_fits"))


def _question_to_confirm(draft: TruthDraft) -> str:
    """The metric's question to confirm before publishing; "" for most metrics."""
    metric = metric_or_none(draft.metric)
    return translated_message(metric.confirmation(draft.params)) if metric else ""


def chosen_answers(draft: TruthDraft | None) -> list[str]:
    """The columns that students predict; [] if unknown."""
    return list(draft.report.get("target_columns") or draft.answer_choice.get("columns") or []) if draft else []


def _answer_columns(draft: TruthDraft) -> dict[str, Any] | None:
    """The choice of answer columns, with the taken or proposed ones; None if there are fewer than two.

    If further columns are the problem, those of the current ground truth are proposed.
    """
    names = checks.possible_answers(draft)
    columns_by_code = {finding["code"]: finding.get("column") for finding in checks.blocking_in(draft.report)}
    has_too_many = TOO_MANY_COLUMNS in columns_by_code
    if len(names) < 2 or (not draft.report["rows"] and not has_too_many):
        return None
    chosen = draft.answer_choice.get("columns")
    is_stuck = needs_other_file(draft) and not set(names).isdisjoint(columns_by_code.values())
    is_open = bool(draft.answer_choice.get("is_asked"))
    is_asked = is_open or (not chosen and (is_stuck or has_too_many))
    ground_truth = draft.competition.ground_truth
    current = [name for name in names if ground_truth and name in ground_truth.submission_columns]
    return {
        "names": names,
        "likely": current if is_asked else chosen or draft.report.get("target_columns") or names,
        "is_asked": is_asked,
    }


# --- metrics ----------------------------------------------------------------------------------------------------


def fitting_metrics(draft: TruthDraft | None, chosen: str) -> dict[str, list[tuple[metrics.Metric, str]]]:
    """Metrics with reasons: the usual ones for such answers (`best`), others that fit (`others`), the rest (`unfit`).

    Metrics that fit after correcting a few cells count as fitting. The chosen one is always among the best. Without
    suggestions, for example for a file that is no table, it is alone there and all others fit.
    """
    groups: dict[str, list[tuple[metrics.Metric, str]]] = {"best": [], "others": [], "unfit": []}
    catalogue = {metric.key: metric for metric in metrics.catalogue()}
    fits = draft.fits if draft else []
    for fit in fits:
        if metric := catalogue.pop(fit["key"], None):
            is_best = fit["is_usual"] and len(groups["best"]) < MAX_USUAL_METRICS
            group = "unfit" if not _can_score(fit) else "best" if is_best else "others"
            if metric.key == chosen and group != "best":
                groups["best"].insert(0, (metric, stored_text(fit, "reason")))
            else:
                groups[group].append((metric, stored_text(fit, "reason")))
    if not fits and chosen in catalogue:
        groups["best"].append((catalogue.pop(chosen), ""))
    is_new = _("This metric was added after the file was checked.") if fits else ""
    groups["unfit" if fits else "others"] += [(metric, is_new) for metric in catalogue.values()]
    return groups


# --- the launch -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LaunchNeed:
    """One condition for a launch, and whether it is met; `page` is the URL name of the page where it can be met."""

    text: str
    page: str
    is_there: bool


def launch_needs(competition: Competition) -> list[LaunchNeed]:
    """The conditions for a launch, each with whether it is met."""
    has_overview, has_time = bool(competition.overview.strip()), competition.closes_at > timezone.now()
    needs = [
        LaunchNeed(_("The answers are ready"), "host_setup", competition.ground_truth is not None),
        LaunchNeed(_("The description says what to predict"), "host_settings", has_overview),
        LaunchNeed(_("The deadline is in the future"), "host_setup", has_time),
    ]
    if competition.candidate_id is not None:
        text = _("The pending correction is applied or discarded")
        needs.append(LaunchNeed(text, "host_truth", is_there=False))
    return needs


# --- candidates -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RankMove:
    """A team's rank and score under the current ground truth (`now`) and under the candidate (`then`)."""

    team: Team
    rank_now: int | None
    rank_then: int | None
    value_now: float | None
    value_then: float | None

    @property
    def ranks_gained(self) -> int:
        """Ranks gained, negative when lost; 0 for a team on only one of the two boards."""
        return self.rank_now - self.rank_then if self.rank_now and self.rank_then else 0

    @property
    def is_affected(self) -> bool:
        return (self.rank_now, self.value_now) != (self.rank_then, self.value_then)

    @property
    def sort_key(self) -> tuple[int, int]:
        """Sort key, largest moves first: teams that appear or disappear, then by number of ranks."""
        stays = self.rank_now is not None and self.rank_then is not None
        return (-abs(self.ranks_gained) if stays else -(10**9), self.rank_then or 10**9)


@dataclass(frozen=True)
class RescoringPreview:
    """Effect of a candidate on the board, and progress of scoring with it (numbers of files).

    `refused` files cannot be scored with the candidate; `invalid` ones are not tried. `moves`, largest first, are
    computed once no file is `waiting`.
    """

    ground_truth: GroundTruth
    invalid: int
    scored: int
    waiting: int
    refused: int
    refusals: list[CandidateProblem]
    moves: list[RankMove]

    @property
    def is_complete(self) -> bool:
        return self.waiting == 0

    @property
    def done(self) -> int:
        return self.scored + self.refused

    @property
    def total(self) -> int:
        return self.done + self.waiting

    @property
    def affected(self) -> int:
        return sum(move.is_affected for move in self.moves)

    @property
    def rising(self) -> int:
        return sum(move.ranks_gained > 0 for move in self.moves)

    @property
    def falling(self) -> int:
        return sum(move.ranks_gained < 0 for move in self.moves)

    @property
    def moved(self) -> int:
        return sum(move.rank_now != move.rank_then for move in self.moves)

    @property
    def leaders(self) -> tuple[list[Team], list[Team]]:
        """(teams in first place now, teams that would be)."""
        now = [move.team for move in self.moves if move.rank_now == 1]
        return now, [move.team for move in self.moves if move.rank_then == 1]


def preview_candidate(competition: Competition, *, split: Split | None = None) -> RescoringPreview | None:
    """Effect of the candidate on the board that counts now, or on that of `split`; None without a candidate."""
    candidate, current = competition.candidate, competition.ground_truth
    if candidate is None or current is None:
        return None
    candidate.competition = current.competition = competition
    scores = Score.objects.filter(ground_truth=OuterRef("pk"), split=Split.PUBLIC)
    invalid_files = Submission.objects.filter(competition=OuterRef("competition"), status=Submission.Status.INVALID)
    scored, refused, invalid = GroundTruth.objects.values_list(
        count_rows(scores, "ground_truth"),
        count_rows(CandidateProblem.objects.filter(ground_truth=OuterRef("pk")), "ground_truth"),
        count_rows(invalid_files, "competition"),
    ).get(pk=candidate.pk)
    refusals = CandidateProblem.objects.filter(ground_truth=candidate).select_related("submission__team")
    waiting = outside_queue.without_scores(candidate).count()
    return RescoringPreview(
        ground_truth=candidate,
        invalid=invalid,
        scored=scored,
        waiting=waiting,
        refused=refused,
        refusals=list(refusals[:MAX_SHOWN_REFUSALS]) if refused else [],
        moves=[] if waiting else rank_moves(current, candidate, split=split),
    )


def rank_moves(current: GroundTruth, candidate: GroundTruth, *, split: Split | None = None) -> list[RankMove]:
    """The teams on the board under either ground truth, largest moves first; `split` as for `preview_candidate`."""
    now, then = _deciding_by_team(current, split), _deciding_by_team(candidate, split)
    ranks_now, ranks_then = boards.ranks_by_team(now.values()), boards.ranks_by_team(then.values())
    moves = [
        RankMove(
            team,
            ranks_now.get(team.pk),
            ranks_then.get(team.pk),
            now[team.pk].value if team.pk in now else None,
            then[team.pk].value if team.pk in then else None,
        )
        for team in Team.objects.filter(competition=current.competition_id, pk__in=now.keys() | then.keys())
    ]
    return sorted(moves, key=lambda move: (move.sort_key, move.team.name))


def _deciding_by_team(ground_truth: GroundTruth, split: Split | None) -> dict[int, Standing]:
    if split is None:
        return {best.team_id: best for best in ranking.best_standings(ground_truth)}
    return {best.team_id: best for board, best in ranking.deciding_standings(ground_truth) if board == split}


def history_of(competition: Competition) -> dict[str, Any]:
    """The published ground truths, newest first, and the numbers of the discarded ones."""
    entries = AuditEntry.objects.filter(competition=competition.pk, event=AuditEvent.TRUTH_DISCARDED)
    return {
        "history": competition.ground_truths.select_related("published_by").order_by("-number"),
        "discarded": {before["number"] for before in entries.values_list("before", flat=True)},
    }
