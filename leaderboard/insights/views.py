"""Hosts' dashboard and reports: hardest rows, report about the class, teams with similar predictions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from statistics import median
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common import charts, responses
from leaderboard.common.chart_parts import WIDE
from leaderboard.common.responses import see_other, signed_in_user, spreadsheet_download
from leaderboard.common.storage import StorageUnreachable
from leaderboard.competitions import services as competitions
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition, GroundTruth, RowReport
from leaderboard.competitions.views import answered_by_worker
from leaderboard.ground_truths.queries import launch_needs
from leaderboard.ground_truths.services import drafts, publishing
from leaderboard.scoring.client import JobFailed

from . import activity, hardest_rows, similar
from . import report as report_module


@open_to(Audience.ASSISTANTS)
def host_activity(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The live part of the dashboard, for htmx; 204 if nothing has changed. Without htmx a redirect to the page."""
    if not getattr(request, "htmx", False):
        return see_other("host_competition", slug=page_context.competition.slug)
    context = _activity_context(request, page_context)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    return render(request, "insights/host_activity.html", {"page_context": page_context, "is_part": True, **context})


HELP_KINDS = {
    "stuck": gettext_lazy("Stuck"),
    "nothing": gettext_lazy("No file"),
    "below": gettext_lazy("Below baseline"),
}
SHOWN_IN_NEED = 4
FEW_STUDENTS = 5
"""With fewer, the first thing to do is to let the class in."""


def _activity_context(request: HttpRequest, page_context: PageContext) -> dict[str, Any]:
    """Context of the live part; `seen` is a hash that changes whenever the page would look different."""
    figures = activity.class_activity(page_context.competition, page_context.at)
    kind = request.GET.get("help", "")
    in_need = [team for team in figures.in_need if kind not in HELP_KINDS or team.kind == kind]
    counts = Counter(team.kind for team in figures.in_need)
    # Ages grow all the time, so they are rounded before hashing.
    steady = replace(
        figures,
        oldest=(figures.oldest or 0) // 10,
        seconds_since_worker=int(figures.scorer_works),
    )
    return {
        "activity": figures,
        "chart": charts.draw_activity(figures.days, today=activity.today_of(page_context.competition, page_context.at)),
        "in_need": in_need[:SHOWN_IN_NEED],
        "more_in_need": in_need[SHOWN_IN_NEED:],
        "help": kind,
        "help_kinds": [(name, label, counts[name]) for name, label in HELP_KINDS.items() if counts[name]],
        "has_few": figures.students < FEW_STUDENTS,
        "seen": sha256(repr((steady, _state_facts(page_context))).encode()).hexdigest()[:16],
        "join_link": responses.absolute_url(request, "join_code", page_context.competition.admission.join_code),
        "opening_command": responses.opening_command(request),
    }


def _state_facts(page_context: PageContext) -> list[object]:
    """The facts, besides the figures, on which the first card depends."""
    late = [(team.pk, getattr(team, "extended_to", None)) for team in page_context.late_teams]
    return [page_context.state, page_context.competition.closes_at, page_context.competition.limits.paused_at, late]


@open_to(Audience.ASSISTANTS)
def host_competition(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    is_draft = page_context.state == "draft"
    checklist = launch_needs(competition) if is_draft else []
    context = {
        "page_context": page_context,
        "checklist": checklist,
        "missing": sum(not need.is_there for need in checklist),
        **_activity_context(request, page_context),
    }
    return render(request, "insights/host_competition.html", context)


@dataclass(frozen=True)
class HardRowForm:
    """A row with the posted answers of its form; the form starts empty, because only the host knows the right answer.

    `cells` are (target column, answer).
    """

    row: hardest_rows.HardRow
    cells: list[tuple[str, str]]
    is_ignored: bool

    @property
    def answers(self) -> list[str]:
        return [cell for _name, cell in self.cells]


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Reading the answers and the best submissions"))
def host_rows(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET: the stored report, or with `?row=` the form to correct that row.

    POST: compute the report again, or make a draft of the ground truth with corrected answers.
    """
    competition, problems, status = page_context.competition, [], 200
    action = request.POST.get("action")
    try:
        if action == "find":
            hardest_rows.find_hard_rows(competition=competition)
            return see_other("host_rows", slug=competition.slug)
        if action == "correct":
            _correct_rows(request, competition)
            publishing.offer_correction(competition=competition, user=signed_in_user(request.user))
            return see_other("host_truth", fragment="#check", slug=competition.slug)
    except competitions.CannotHost as error:
        problems, status = [error.message, *error.details], 409
    except JobFailed:
        problems, status = [_("This didn't work. Try again in a moment.")], 503
    stored = RowReport.objects.filter(ground_truth=competition.ground_truth_id).first()
    context: dict[str, Any] = {"page_context": page_context, "stored": stored, "problems": problems}
    context["top"] = hardest_rows.MAX_TEAMS
    if stored is not None:
        report = hardest_rows.read_report(stored)
        context |= {"report": report, "lines": _chosen_lines(report, request)}
        if not context["lines"]:
            context["plot"] = _residual_plot(report)
    return render(request, "insights/host_rows.html", context, status=status)


def _residual_plot(report: hardest_rows.HardRowsReport) -> str:
    """Scatter plot of residuals for numeric answers, else "". Outliers are drawn again in red on top."""
    if not report.is_numeric:
        return ""
    points = [charts.Point(x, y) for x, y in report.points]
    for row in report.suspicious:
        answer = float(row.truth[0])
        points.append(charts.Point(answer, float(row.other) - answer, row.id, is_outlier=True))
    return charts.draw_residuals(points, spread=2 * report.spread)


def _chosen_lines(report: hardest_rows.HardRowsReport, request: HttpRequest) -> list[HardRowForm]:
    """Forms of the requested row and then of the other suspicious rows; [] if no row was requested."""
    chosen = request.POST.get("row") or request.GET.get("row", "")
    first = next((row for row in report.rows if row.id == chosen), None)
    if first is None:
        return []
    others = [row for row in report.suspicious if row is not first]
    return [_hard_row_form(row, report, request.POST) for row in (first, *others)]


def _hard_row_form(row: hardest_rows.HardRow, report: hardest_rows.HardRowsReport, filled: QueryDict) -> HardRowForm:
    cells = [filled.get(f"answer-{row.number}-{place}", "").strip() for place in range(len(report.targets))]
    return HardRowForm(row, list(zip(report.targets, cells, strict=True)), f"ignore-{row.number}" in filled)


def _correct_rows(request: HttpRequest, competition: Competition) -> None:
    stored = RowReport.objects.filter(ground_truth=competition.ground_truth_id).first()
    if stored is None or request.POST.get("made") != stored.made_at.isoformat():
        raise competitions.CannotHost(_("The list has changed in the meantime. Nothing was saved. Check it again."))
    report = hardest_rows.read_report(stored)
    lines = [_hard_row_form(row, report, request.POST) for row in report.rows]
    corrected = {line.row.id: line.answers for line in lines if any(line.answers) and not line.is_ignored}
    if partly := [name for name, cells in corrected.items() if not all(cells)]:
        raise competitions.CannotHost(_("Enter all answers of row %(id)s.") % {"id": partly[0]})
    ignored = [line.row.id for line in lines if line.is_ignored]
    drafts.correct_rows(competition=competition, columns=report.targets, corrected=corrected, ignored=ignored)


@open_to(Audience.HOSTS)
def host_report(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The report about the class; it includes private scores, even before the reveal."""
    competition = page_context.competition
    report = report_module.class_report(competition)
    context = {"page_context": page_context, "report": report}
    if report.ranked and competition.ground_truth is not None:
        context |= _report_charts(competition, competition.ground_truth, report, page_context.at)
    return render(request, "insights/host_report.html", context)


def _report_charts(
    competition: Competition, ground_truth: GroundTruth, report: report_module.ClassReport, at: datetime
) -> dict[str, Any]:
    scale: dict[str, Any] = {
        "sign": ground_truth.sort_sign,
        "axis": ground_truth.metric_title,
        "decimals": competition.score_decimals,
    }
    teams, days = len(report.teams), activity.files_per_day(competition, at)
    return {
        "without_score": teams - len(report.ranked),
        "median": median(report.private),
        "best": report.private[0],
        "scores": charts.draw_histogram(report.private, marks=report.baselines, width=WIDE, **scale),
        "beaten": [
            (name, score, number, teams, charts.share_bar(number, teams))
            for (name, score), (_name, number) in zip(report.baselines, report.above, strict=True)
        ],
        "days": charts.draw_activity(days, today=activity.today_of(competition, at)),
    }


@open_to(Audience.HOSTS)
def host_report_csv(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    return spreadsheet_download(report_module.report_csv(competition), f"{competition.slug}-report")


@open_to(Audience.HOSTS)
@answered_by_worker(gettext_lazy("Comparing the best submissions of all teams"))
def host_similar(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Identical files and scores from the database; POST also compares the best files, without storing the result."""
    comparison, refusal, status = None, "", 200
    if request.method == "POST":
        try:
            comparison = similar.compare_answers(competition=page_context.competition)
        except competitions.CannotHost as error:
            refusal, status = error.message, 409
        except (JobFailed, StorageUnreachable, OSError):
            refusal, status = _("The comparison didn't work. Try again in a moment."), 503
    same_bytes, same_scores = similar.find_identical_results(page_context.competition)
    context = {
        "page_context": page_context,
        "same_bytes": same_bytes,
        "same_scores": same_scores,
        "comparison": comparison,
        "refusal": refusal,
    }
    return render(request, "insights/host_similar.html", context, status=status)
