"""What can be learned from a competition: its dashboard, the hardest rows, the report about the class, teams with
similar predictions, and after the end what the private board made of the public one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from hashlib import sha256
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.common import numbers, plots, responses
from leaderboard.common.charts import small_bars
from leaderboard.common.responses import see_other
from leaderboard.common.storage import StorageUnreachable
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition, RowReport
from leaderboard.competitions.ranking import shake_up as shake_up_module
from leaderboard.competitions.services import competitions, launches
from leaderboard.competitions.views.overview import podium
from leaderboard.competitions.views.wizard import checklist_of
from leaderboard.notifications import chat_sending
from leaderboard.scorer.job_slots import JobFailed

from . import activity, hardest_rows, similar
from . import report as report_module


@open_to(Audience.HOSTS)
def host_activity(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """The tiles as a fragment: 204 while nothing changed. Opened as a page of its own it leads to the dashboard."""
    if not getattr(request, "htmx", False):
        return see_other("host_competition", slug=page_context.competition.slug)
    found = _activity_context(page_context)
    if request.GET.get("seen") == found["seen"]:
        return HttpResponse(status=204)
    return render(request, "insights/host_activity.html", {"page_context": page_context, **found})


def _activity_context(page_context: PageContext) -> dict[str, Any]:
    """The activity with its chart; `seen` changes whenever a host would see a difference."""
    found = activity.class_activity(page_context.competition, page_context.at)
    this = page_context.at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    hours = [this - timedelta(hours=activity.HOURS - 1 - place) for place in range(activity.HOURS)]
    words = _("Files per hour in the last 24 hours: %(all)d in all, at most %(most)d in one hour.") % {
        "all": sum(found.hours),
        "most": max(found.hours),
    }
    # Ages grow all the time; so they are rounded to steps.
    steady = replace(found, oldest=(found.oldest or 0) // 10, seconds_since_worker=int(found.scorer_works))
    return {
        "activity": found,
        "chart": small_bars(found.hours, words),
        "hours": [(hour, number) for hour, number in zip(hours, found.hours, strict=True) if number],
        "seen": sha256(repr(steady).encode()).hexdigest()[:16],
    }


@open_to(Audience.ASSISTANTS)
def host_competition(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    competition = page_context.competition
    # How much there is of what has a page of its own.
    counted = Competition.objects.filter(pk=competition.pk).annotate(
        files=Count("data_files", distinct=True),
        references=Count("baselines", distinct=True),
        drafts=Count("truth_draft"),
    )
    chat = ("webhook__service", "webhook__is_on", "webhook__last_problem")
    parts: dict[str, Any] = counted.values("files", "references", "drafts", *chat).get()
    chat_trouble = {}
    if page_context.is_host and parts["webhook__is_on"] and parts["webhook__last_problem"]:
        why = chat_sending.explain_outcome(parts["webhook__last_problem"])
        chat_trouble = {"service": parts["webhook__service"], "why": why}
    context = {
        "page_context": page_context,
        "checklist": checklist_of(competition) if page_context.state == "draft" else [],
        "trouble": launches.missing_needs_text(competition.launch_plan.trouble),
        "parts": parts,
        "chat_trouble": chat_trouble,
        "join_link": responses.absolute_url(request, "join_code", competition.admission.join_code),
        "opening_command": responses.opening_command(request),
        # In a draft all of its numbers are zero.
        **({} if page_context.state == "draft" else _activity_context(page_context)),
    }
    return render(request, "insights/host_competition.html", context)


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
    competition, problems, status = page_context.competition, [], 200
    action = request.POST.get("action")
    try:
        if action == "find":
            hardest_rows.find_hard_rows(competition=competition)
            return see_other("host_rows", slug=competition.slug)
        if action == "correct":
            _correct_rows(request, competition)
            messages.success(request, _("The corrected ground truth is checked. Look at it, then publish it."))
            return see_other("host_truth", fragment="#check", slug=competition.slug)
    except competitions.CannotHost as error:
        problems, status = [error.message, *error.details], 409
    except JobFailed:
        problems, status = [_("This did not work, through no fault of a file. Try it again in a moment.")], 503
    report = RowReport.objects.filter(ground_truth=competition.ground_truth_id).first()
    lines = _hard_row_forms(report, request.POST) if report else []
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


def _correct_rows(request: HttpRequest, competition: Competition) -> None:
    report = RowReport.objects.filter(ground_truth=competition.ground_truth_id).first()
    if report is None or request.POST.get("made") != report.made_at.isoformat():
        raise competitions.CannotHost(_("The list was made anew meanwhile. Nothing was changed: look at it again."))
    lines = _hard_row_forms(report, request.POST)
    corrected = {line.row["id"]: [cell for _name, cell in line.cells] for line in lines if line.choice == CORRECT}
    if empty := [name for name, cells in corrected.items() if not all(cells)]:
        raise competitions.CannotHost(_("Write the right answer for the row %(id)s, or ignore it.") % {"id": empty[0]})
    ignored = [line.row["id"] for line in lines if line.choice == IGNORE]
    hardest_rows.correct_truth(competition=competition, corrected=corrected, ignored=ignored)


def _hard_row_forms(report: RowReport, filled: QueryDict) -> list[HardRowForm]:
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
    gaps = [(team.scored, team.gap) for team in report.ranked if team.gap is not None]
    # Where baselines stand among the bars, as shares of their width; those outside are in the table alone.
    marks = []
    if len(report.scores) >= 2:
        low, high = report.scores[0].low, report.scores[-1].high
        marks = [(value - low) / (high - low) for _name, value in report.baselines if low <= value <= high]
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
        "gaps": plots.dot_chart(gaps, words["gaps"]),
        "tallest": {
            "scores": max((one.teams for one in report.scores), default=0),
            "days": max((one.files for one in report.days), default=0),
            "attempts": max((one.teams for one in report.attempts), default=0),
        },
        # By how much the private score is better at the lowest dot, and the public one at the highest.
        "gap_ends": (
            numbers.number_text(abs(min([0.0, *(gap for _files, gap in gaps)]))),
            numbers.number_text(max([0.0, *(gap for _files, gap in gaps)])),
        ),
        "most_scored": max((team.scored for team in report.ranked), default=0),
    }


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


DRAWN = 20
"""So many of the private board are drawn, and the visitor's own team."""
NAMED = 5


@dataclass(frozen=True)
class ShakeUpLine:
    """A team in the chart and its table."""

    team: shake_up_module.TeamShakeUp
    is_mine: bool

    @property
    def kind(self) -> str:
        direction = "up" if self.team.gained > 0 else "down" if self.team.gained < 0 else "same"
        return f"{direction} mine" if self.is_mine else direction


@open_to(Audience.VISITORS)
def shake_up(request: HttpRequest, page_context: PageContext) -> HttpResponse:
    """Before the reveal there is nothing to compare: the leaderboard says when there will be."""
    competition = page_context.competition
    names = competition.board.uses_pseudonyms and page_context.assists
    is_open = page_context.state == "revealed"
    found = shake_up_module.shake_up_of(competition, sees_names=names) if is_open else None
    if found is None:
        return redirect("leaderboard", slug=competition.slug)
    context = {
        "page_context": page_context,
        "found": found,
        "podium": podium(page_context),
        "risers": found.risers[:NAMED],
        "fallers": found.fallers[:NAMED],
        **_chart_teams(found, page_context.membership.team_id if page_context.membership else 0),
    }
    return render(request, "insights/shake_up.html", context)


def _chart_teams(found: shake_up_module.ShakeUp, mine: int) -> dict[str, Any]:
    """The first teams of the private board and one's own, in the order of either board, and the lines between."""
    after = [
        ShakeUpLine(team, team.team_id == mine)
        for place, team in enumerate(found.teams)
        if place < DRAWN or team.team_id == mine
    ]
    before = sorted(after, key=lambda line: line.team.public_rank)
    place = {line.team.team_id: index for index, line in enumerate(before)}
    words = _("Ranks on the public board, left, and on the private board, right; the table below has the numbers.")
    moves = [(place[line.team.team_id], index, line.kind) for index, line in enumerate(after)]
    return {
        "before": before,
        "after": after,
        "slopes": plots.slope_chart(moves, words),
        "is_cut": len(found.teams) > DRAWN,
    }
