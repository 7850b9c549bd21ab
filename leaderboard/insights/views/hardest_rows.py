"""The hardest rows across the best teams: is the truth wrong here? And the way to a corrected one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.common.responses import see_other
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import RowReport
from leaderboard.competitions.services import competitions
from leaderboard.scorer.job_slots import JobFailed

from .. import hardest_rows

KEEP, CORRECT, IGNORE = "keep", "correct", "ignore"


@dataclass(frozen=True)
class HardRowForm:
    """A row with what the form about it holds."""

    number: int
    row: dict[str, Any]
    files: int
    choice: str
    cells: list[tuple[str, str]]

    @property
    def is_disputed(self) -> bool:
        """Whether most of the best teams agree on another answer."""
        return bool(self.row["agree"] > 1 and 2 * self.row["agree"] > self.files)

    @property
    def is_exact(self) -> bool:
        """Whether those who agree say the same to the last digit; numbers are often near each other alone."""
        other, agree = self.row["other"], self.row["agree"]
        return any(text == other and times >= agree for text, times in self.row.get("answers", ()))


@open_to(Audience.HOSTS)
def host_rows(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """GET shows what was found last; POST looks again, or makes a draft of the corrected answers."""
    action = request.POST.get("action") if request.method == "POST" else ""
    try:
        if action == "find":
            hardest_rows.find_hard_rows(competition=page_context.competition)
            return see_other("host_rows", slug=page_context.competition.slug)
        if action == "correct":
            _correct(request, page_context)
            messages.success(request, _("The corrected ground truth is checked. Look at it, then publish it."))
            return see_other("host_truth", fragment="#check", slug=page_context.competition.slug)
    except competitions.CannotHost as error:
        return _page(request, page_context, problems=[error.message, *error.details], status=409)
    except JobFailed:
        again = _("This did not work, through no fault of a file. Try it again in a moment.")
        return _page(request, page_context, problems=[again], status=503)
    return _page(request, page_context)


def _report_of(page_context: PageContext) -> RowReport | None:
    return RowReport.objects.filter(ground_truth=page_context.competition.ground_truth_id).first()


def _correct(request: HttpRequest, page_context: PageContext) -> None:
    report = _report_of(page_context)
    if report is None or request.POST.get("made") != report.made_at.isoformat():
        raise competitions.CannotHost(_("The list was made anew meanwhile. Nothing was changed: look at it again."))
    lines = _lines(report, request.POST)
    corrected = {line.row["id"]: [cell for _name, cell in line.cells] for line in lines if line.choice == CORRECT}
    if empty := [name for name, cells in corrected.items() if not all(cells)]:
        raise competitions.CannotHost(_("Write the right answer for the row %(id)s, or ignore it.") % {"id": empty[0]})
    ignored = [line.row["id"] for line in lines if line.choice == IGNORE]
    hardest_rows.correct_truth(competition=page_context.competition, corrected=corrected, ignored=ignored)


def _lines(report: RowReport, filled: QueryDict) -> list[HardRowForm]:
    """The rows with what was filled in; else with the other answer in place, and nothing chosen."""
    found = report.found
    lines = []
    for number, row in enumerate(found["rows"]):
        choice = filled.get(f"do-{number}", KEEP)
        proposed = [row["other"] or row["truth"][0]] if len(row["truth"]) == 1 else row["truth"]
        cells = [filled.get(f"answer-{number}-{place}", text).strip() for place, text in enumerate(proposed)]
        choice = choice if choice in (CORRECT, IGNORE) else KEEP
        lines.append(HardRowForm(number, row, found["files"], choice, list(zip(found["targets"], cells, strict=True))))
    return lines


def _page(
    request: HttpRequest, page_context: PageContext, *, problems: list[str] | None = None, status: int = 200
) -> HttpResponse:
    report = _report_of(page_context)
    lines = _lines(report, request.POST) if report else []
    by_agreement = request.GET.get("sort") == "agree"
    if by_agreement:
        lines.sort(key=lambda line: -line.row["agree"])
    context = {
        "page_context": page_context,
        "report": report,
        "lines": lines,
        "doubtful": sum(line.is_disputed for line in lines),
        "by_agreement": by_agreement,
        "top": hardest_rows.TOP_TEAMS,
        "problems": problems,
    }
    return render(request, "insights/host_rows.html", context, status=status)
