"""The way through the pages about one competition: groups, and the pages of each that open for the viewer.

What is shown follows from the audience that each view declares, so an assistant reads no link that would answer 404.
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
    """Whom the page of this name is for, as its view declares it."""
    view = resolve(reverse(name, kwargs={"slug": "any"})).func
    audience: Audience = view.audience  # type: ignore[attr-defined]
    return audience


def _always(page_context: PageContext) -> bool:
    return True


def _is_draft(page_context: PageContext) -> bool:
    return page_context.competition.launched_at is None


def _is_running(page_context: PageContext) -> bool:
    return page_context.state == "live" or page_context.competition.limits.paused_at is not None


def _is_over(page_context: PageContext) -> bool:
    return page_context.state in ("closed", "revealed")


def _has_ground_truth(page_context: PageContext) -> bool:
    return page_context.competition.ground_truth_id is not None


def _has_candidate(page_context: PageContext) -> bool:
    return page_context.competition.candidate_id is not None


def _opens_competitions(page_context: PageContext) -> bool:
    return getattr(page_context.user, "is_host", False)


@dataclass(frozen=True)
class NavigationPage:
    """A link: the name of a URL and view, its words, further pages that it stands for, when it means something."""

    name: str
    label: object
    beneath: tuple[str, ...] = ()
    when: Callable[[PageContext], bool] = _always

    def opens_for(self, page_context: PageContext) -> bool:
        return may_open(page_context, _audience_of(self.name)) and self.when(page_context)

    def holds(self, name: str) -> bool:
        return name == self.name or name in self.beneath


GROUPS: tuple[tuple[object, tuple[NavigationPage, ...]], ...] = (
    (
        _("Dashboard"),
        (
            NavigationPage("host_competition", _("Overview")),
            NavigationPage("host_announcements", _("Announcements"), ("host_announcement",)),
            NavigationPage("host_pause", _("Pause"), when=_is_running),
        ),
    ),
    (
        _("Submissions"),
        (
            NavigationPage("host_submissions", _("All files"), ("host_submission", "host_score_again")),
            NavigationPage("host_baselines", _("Baselines")),
            NavigationPage("host_similar", _("Similar predictions")),
        ),
    ),
    (
        _("Teams and people"),
        (
            NavigationPage("host_people", _("The class"), ("host_join_cards", "host_left", "host_who", "host_leave")),
            NavigationPage("host_teams", _("Teams"), ("host_team",)),
            NavigationPage("host_roster", _("Read a roster")),
            NavigationPage("host_invite", _("Invite")),
            NavigationPage("host_admission", _("Who may join")),
            NavigationPage("host_roles", _("Hosts and assistants")),
        ),
    ),
    (
        _("Ground truth"),
        (
            NavigationPage("host_truth", _("Ground truth and metric"), ("host_truth_metric",)),
            NavigationPage("host_truth_check", _("Check")),
            NavigationPage("host_candidate", _("The one that waits"), ("host_candidate_grades",), when=_has_candidate),
        ),
    ),
    (_("Data"), (NavigationPage("host_data", _("Data files")),)),
    (
        _("Settings"),
        (
            NavigationPage("host_settings", _("Settings")),
            NavigationPage("host_board", _("Team changes")),
            NavigationPage("host_chat", _("Chat")),
            NavigationPage("host_setup", _("Setting up"), ("host_preview", "host_launch"), when=_is_draft),
            NavigationPage("host_clone", _("Make a copy"), when=_opens_competitions),
            NavigationPage("host_audit", _("Audit log")),
            NavigationPage("host_delete", _("Delete")),
        ),
    ),
    (
        _("After class"),
        (
            NavigationPage("host_report", _("Class report"), when=_has_ground_truth),
            NavigationPage("host_rows", _("Hardest rows"), when=_has_ground_truth),
            NavigationPage("host_grades", _("Grades"), ("host_grade_rules", "host_grade_release", "host_grade_canvas")),
            NavigationPage("host_reveal", _("Private board"), when=_is_over),
        ),
    ),
)


@dataclass(frozen=True)
class NavigationLink:
    """A link as it is drawn; `current` is the value of `aria-current`, or nothing."""

    label: object
    address: str
    current: str = ""


@dataclass(frozen=True)
class NavigationGroup:
    """A link of the first row, and the second row behind it."""

    link: NavigationLink
    pages: list[NavigationLink]


def groups_of(page_context: PageContext, here: str) -> list[NavigationGroup]:
    """What a viewer on the page of this URL name reads; groups in which nothing opens are left out."""
    slug = page_context.competition.slug
    groups = []
    for label, pages in GROUPS:
        links = [
            NavigationLink(page.label, reverse(page.name, kwargs={"slug": slug}), "page" if page.holds(here) else "")
            for page in pages
            if page.opens_for(page_context)
        ]
        if links:
            is_here = any(page.holds(here) for page in pages)
            groups.append(NavigationGroup(NavigationLink(label, links[0].address, "true" if is_here else ""), links))
    return groups
