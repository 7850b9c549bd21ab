"""Navigation within a competition: tabs, and the pages of each tab.

Only links to pages that the viewer may open are shown, by the audience that each view declares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from django.urls import resolve, reverse
from django.utils.translation import gettext_lazy as _

from .access import Audience, PageContext, may_open


@cache
def _audience_of(name: str) -> Audience:
    """The audience that the view with this URL name declares."""
    view = resolve(reverse(name, kwargs={"slug": "any"})).func
    audience: Audience = view.audience  # type: ignore[attr-defined]
    return audience


def _is_launched(page_context: PageContext) -> bool:
    return page_context.competition.launched_at is not None


def _has_ground_truth(page_context: PageContext) -> bool:
    return page_context.competition.ground_truth_id is not None


@dataclass(frozen=True)
class NavigationPage:
    """A link: URL name, label, URL names of further pages for which it is highlighted, condition to show it."""

    name: str
    label: object
    beneath: tuple[str, ...] = ()
    when: Callable[[PageContext], object] = lambda page_context: True

    def opens_for(self, page_context: PageContext) -> bool:
        return may_open(page_context, _audience_of(self.name)) and bool(self.when(page_context))

    def holds(self, name: str) -> bool:
        return name == self.name or name in self.beneath


@dataclass(frozen=True)
class Tab:
    """A tab of a competition and its pages; the tab links to the first one that the viewer may open."""

    label: object
    icon: str
    pages: tuple[NavigationPage, ...]


STUDENT_TABS: tuple[Tab, ...] = (
    Tab(_("Leaderboard"), "board", (NavigationPage("leaderboard", _("Leaderboard")),)),
    Tab(_("Overview"), "info", (NavigationPage("overview", _("Overview"), ("rules",)),)),
    Tab(_("Data"), "database", (NavigationPage("data", _("Data")),)),
    Tab(
        _("Submissions"),
        "upload",
        (
            NavigationPage(
                "submissions",
                _("Submissions"),
                ("submit", "submission", "submission_attachment", "finals", "rescored"),
                when=lambda page: page.membership or page.assists,
            ),
        ),
    ),
    Tab(
        _("My grade"),
        "grades",
        (
            NavigationPage(
                "grade",
                _("My grade"),
                when=lambda page: page.competition.revealed_at and getattr(page.membership, "is_graded", False),
            ),
        ),
    ),
    Tab(_("Team"), "people", (NavigationPage("team", _("Team"), when=lambda page: page.membership),)),
)

HOST_TABS: tuple[Tab, ...] = (
    Tab(
        _("Dashboard"),
        "home",
        (
            NavigationPage("host_competition", _("Dashboard"), ("host_deadline",)),
            NavigationPage("host_announcements", _("Announcements"), ("host_announcement",)),
            NavigationPage("host_setup", _("Setup"), when=lambda page: not _is_launched(page)),
        ),
    ),
    Tab(
        _("Leaderboard"),
        "board",
        (
            NavigationPage("leaderboard", _("Leaderboard"), when=_is_launched),
            NavigationPage("host_baselines", _("Baselines")),
            NavigationPage("host_reveal", _("Final ranking"), when=lambda page: page.state in ("closed", "revealed")),
        ),
    ),
    Tab(
        _("Submissions"),
        "upload",
        (
            NavigationPage("host_submissions", _("Submissions"), ("host_submission", "host_score_again")),
            NavigationPage("host_similar", _("Similar predictions")),
        ),
    ),
    Tab(
        _("People"),
        "people",
        (
            NavigationPage(
                "host_people",
                _("Students"),
                ("host_student", "host_join_cards", "host_left", "host_who", "host_course"),
            ),
            NavigationPage("host_teams", _("Teams"), ("host_team",)),
            NavigationPage("host_roster", _("Import roster"), ("host_platform_roster",)),
            NavigationPage("host_invite", _("Invite")),
            NavigationPage("host_roles", _("Roles")),
        ),
    ),
    Tab(
        _("Answers"),
        "target",
        (
            NavigationPage(
                "host_truth",
                _("Answers and metric"),
                ("host_truth_metric", "host_candidate_grades"),
                when=_is_launched,
            ),
            NavigationPage("host_data", _("Data files")),
        ),
    ),
    Tab(
        _("Report"),
        "report",
        (
            NavigationPage("host_report", _("Class report"), when=_has_ground_truth),
            NavigationPage("host_rows", _("Hardest rows"), when=_has_ground_truth),
        ),
    ),
    Tab(
        _("Grades"),
        "grades",
        (
            NavigationPage(
                "host_grades",
                _("Grades"),
                (
                    "host_grade_rules",
                    "host_grade_release",
                    "host_grade_canvas",
                    "host_send_again",
                    "host_grade_points",
                    "host_grade_student",
                ),
            ),
        ),
    ),
    Tab(
        _("Settings"),
        "settings",
        (NavigationPage("host_settings", _("Settings"), ("host_audit",)),),
    ),
)
# Pages of students that hosts and assistants see below the hosts' tabs.
SHARED = ("leaderboard",)


@dataclass(frozen=True)
class NavigationLink:
    """A link for the template; `current` is the value of `aria-current`, or ""."""

    label: object
    address: str
    current: str = ""
    icon: str = ""


def tabs_of(page_context: PageContext, here: str) -> list[NavigationLink]:
    """The tabs above the page with this URL name: hosts' tabs on hosts' pages, else students' tabs."""
    links = []
    for tab in _tabs_above(page_context, here):
        pages = [page for page in tab.pages if page.opens_for(page_context)]
        if pages:
            is_here = any(page.holds(here) for page in tab.pages)
            current = ("page" if len(pages) == 1 else "true") if is_here else ""
            links.append(NavigationLink(tab.label, _page_address(page_context, pages[0]), current, tab.icon))
    return links


def pages_of_tab(page_context: PageContext, here: str) -> list[NavigationLink]:
    """The pages of the current tab that the viewer may open."""
    tabs = _tabs_above(page_context, here)
    tab = next((tab for tab in tabs if any(page.holds(here) for page in tab.pages)), None)
    return [
        NavigationLink(page.label, _page_address(page_context, page), "page" if page.holds(here) else "")
        for page in (tab.pages if tab else ())
        if page.opens_for(page_context)
    ]


def _tabs_above(page_context: PageContext, here: str) -> tuple[Tab, ...]:
    is_host_page = here.startswith("host_") or (here in SHARED and page_context.assists)
    return HOST_TABS if is_host_page else STUDENT_TABS


def _page_address(page_context: PageContext, page: NavigationPage) -> str:
    return reverse(page.name, kwargs={"slug": page_context.competition.slug})
