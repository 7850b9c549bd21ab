"""The report about a class: charts with their tables, to read, print and export.

Teams with similar predictions.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common import numbers, plots
from leaderboard.common.storage import StorageUnreachable
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.services import competitions
from leaderboard.scorer.job_slots import JobFailed

from .. import report as report_module
from .. import similar


@open_to(Audience.HOSTS)
def host_report(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    report = report_module.class_report(page_context.competition)
    return render(
        request, "insights/host_report.html", {"page_context": page_context, "report": report, **_drawn_charts(report)}
    )


@open_to(Audience.HOSTS)
def host_report_csv(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    response = HttpResponse(report_module.report_csv(page_context.competition), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{page_context.competition.slug}-report.csv"'
    return response


def _drawn_charts(report: report_module.ClassReport) -> dict[str, Any]:
    ranked, marks = report.ranked, _marks(report)
    titles = {
        "scores": _("Teams by private score"),
        "days": _("Files by day"),
        "attempts": _("Teams by number of files"),
        "gaps": _("How much better the public score is, by number of scored files"),
    }
    below = _("the table has the numbers")
    words = {name: f"{title}; {below}" for name, title in titles.items()}
    return {
        "scores": plots.bar_chart([one.teams for one in report.scores], words["scores"], marks=marks),
        "drawn_baselines": len(marks),
        "far_baselines": len(report.baselines) - len(marks),
        "days": plots.bar_chart([one.files for one in report.days], words["days"]),
        "attempts": plots.bar_chart([one.teams for one in report.attempts], words["attempts"]),
        "gaps": plots.dot_chart(
            [(team.scored, team.gap) for team in ranked if team.gap is not None],
            words["gaps"],
        ),
        "tallest": {
            "scores": max((one.teams for one in report.scores), default=0),
            "days": max((one.files for one in report.days), default=0),
            "attempts": max((one.teams for one in report.attempts), default=0),
        },
        "gap_ends": _ends([team.gap for team in ranked if team.gap is not None]),
        "most_scored": max((team.scored for team in ranked), default=0),
    }


def _marks(report: report_module.ClassReport) -> list[float]:
    """Where baselines stand among the bars, as shares of their width; those outside are in the table alone."""
    if len(report.scores) < 2:
        return []
    low, high = report.scores[0].low, report.scores[-1].high
    return [(value - low) / (high - low) for _name, value in report.baselines if low <= value <= high]


def _ends(gaps: list[float]) -> tuple[str, str]:
    """By how much the private score is better at the lowest dot, and the public one at the highest."""
    return numbers.number_text(abs(min([0.0, *gaps]))), numbers.number_text(max([0.0, *gaps]))


@open_to(Audience.HOSTS)
def host_similar(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Shows what the database knows; a POST also compares the best files of all teams, and stores nothing."""
    comparison, refusal, status = None, "", 200
    if request.method == "POST":
        try:
            comparison = similar.compare_answers(competition=page_context.competition)
        except competitions.CannotHost as error:
            refusal, status = error.message, 409
        except (JobFailed, StorageUnreachable, OSError):
            refusal, status = _("The comparison did not work this time. Try it again in a moment."), 503
    same_bytes, same_scores = similar.find_identical_results(page_context.competition)
    context = {
        "page_context": page_context,
        "same_bytes": same_bytes,
        "same_scores": same_scores,
        "comparison": comparison,
        "refusal": refusal,
    }
    return render(request, "insights/host_similar.html", context, status=status)
