"""Access to the pages of a competition. Pages that are about no competition use `common/access.py`, and those of a
course `course_access.py`.

Every view declares its audience; the access matrix in the tests is made from these.

| audience | admitted | others get |
|---|---|---|
| `visitors` | everybody who may see the competition | 404 |
| `members` | members of a team in it, its hosts and assistants | sign-in, 404, or the overview with a message |
| `hosts` | hosts of the competition | sign-in or 404; its assistants 403 |
| `assistants` | its hosts and its assistants | sign-in or 404 |
| `graders` | its hosts, and its assistants if the competition lets them export grades | as `hosts` |

This table alone decides about rights in a competition: an assistant opens pages declared `assistants` (submissions,
names, people and answers; extra attempts, hiding, announcements) and none declared `hosts` (truth, metric, settings,
dates, roles, reveal, deletion). Operators are hosts of all competitions.

The views take `(request, page_context, …)`; `open_to` finds the competition by the `slug` in the URL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import wraps
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User, Viewer
from leaderboard.common.access import View
from leaderboard.common.clock import database_now
from leaderboard.common.prepared_queries import PreparedQuery
from leaderboard.common.queries import only_row
from leaderboard.common.viewer import viewer_zone

from . import hooks, queries
from .models import Competition, Membership, Team
from .models.extension import effective_limits_of, extended_deadline, ranking_opens_at, teams_with_time


class Audience(StrEnum):
    VISITORS = "visitors"
    MEMBERS = "members"
    HOSTS = "hosts"
    ASSISTANTS = "assistants"
    GRADERS = "graders"


# Audiences of people who run a competition; everybody else gets 404 or the sign-in page.
HOST_AUDIENCES = (Audience.HOSTS, Audience.ASSISTANTS, Audience.GRADERS)


@PreparedQuery
def _competition_with_roles(slug: str, user_id: int) -> QuerySet[Competition]:
    return Competition.objects.with_roles_of_account(user_id).filter(slug=slug).select_related("ground_truth")


@PreparedQuery
def _memberships(competition: int, user_id: int) -> QuerySet[Membership]:
    facts = {name: fact for found in hooks.membership_facts() for name, fact in found.items()}
    memberships = Membership.objects.select_related("team").annotate(extended_to=extended_deadline(), **facts)
    return memberships.filter(competition=competition, user=user_id)


def _find_competition(slug: str, user: Viewer, audience: Audience) -> Competition | None:
    if user.is_authenticated and audience not in HOST_AUDIENCES:
        return _competition_with_roles.only_row(slug=slug, user_id=user.pk)
    # The navigation of hosts shows on each page whether there is a candidate.
    related = ["ground_truth", "candidate"] if audience in HOST_AUDIENCES else ["ground_truth"]
    return only_row(Competition.objects.with_roles_of(user).filter(slug=slug).select_related(*related))


@dataclass
class PageContext:
    """A viewer, a competition and the time of the request (`at`), by which all its rules are decided."""

    competition: Competition
    user: Viewer
    at: datetime

    def __post_init__(self) -> None:
        if self.competition.ground_truth is not None:
            # Saves a query for each check whether the board is hidden.
            self.competition.ground_truth.competition = self.competition

    @property
    def account(self) -> User:
        """The viewer's account, for pages that only signed-in people reach."""
        assert isinstance(self.user, User), "a page for visitors, too"
        return self.user

    @cached_property
    def membership(self) -> Membership | None:
        if self.user.is_anonymous or self.competition.has_known_role(self.user):
            return None
        found = _memberships.only_row(competition=self.competition.pk, user_id=self.user.pk)
        if found is not None:
            found.competition = found.team.competition = self.competition
        return found

    @property
    def is_disqualified(self) -> bool:
        """Whether the viewer's team is disqualified."""
        return self.membership is not None and self.membership.team.disqualified_at is not None

    @property
    def closes_at(self) -> datetime:
        """The deadline of the viewer's team with its extension; without a team that of the competition."""
        granted: datetime | None = getattr(self.membership, "extended_to", None)
        return max(self.competition.closes_at, granted or self.competition.closes_at)

    @cached_property
    def attempts_today(self) -> int:
        """Attempts per day of the viewer's team, with its extensions; one query."""
        if self.membership is None:
            return self.competition.limits.daily_attempts
        return effective_limits_of(self.membership.team_id, self.competition).daily_attempts

    @cached_property
    def ranking_opens_at(self) -> datetime:
        """The time at which the final ranking opens for the viewer, or from which a host can open it; one query."""
        return max(ranking_opens_at(self.competition), self.closes_at)

    @cached_property
    def late_teams(self) -> list[Team]:
        """Teams that still have time after the deadline, latest first, with `extended_to`. For hosts."""
        if self.at < self.competition.closes_at:
            return []
        return list(teams_with_time(self.competition, self.at).filter(disqualified_at=None))

    @property
    def may_view(self) -> bool:
        """Whether the viewer may see the competition; no further query for members."""
        if self.competition.is_in_bin:
            return False
        is_member = self.competition.launched_at is not None and self.membership is not None
        return is_member or self.competition.is_visible_to(self.user) or self.enters_from_list

    @cached_property
    def enters_from_list(self) -> bool:
        """Whether the viewer is on the class list of the course, and so needs no code for a launched competition."""
        if self.user.is_anonymous or self.competition.launched_at is None:
            return False
        return hooks.roster.is_on_class_list(self.competition.course_id, self.user)

    @cached_property
    def is_host(self) -> bool:
        return self.competition.is_hosted_by(self.user)

    @cached_property
    def assists(self) -> bool:
        """Whether the viewer is a host or an assistant; both may read names, people, answers and scores."""
        return self.is_host or self.competition.is_run_by(self.user)

    @cached_property
    def sees_sections(self) -> bool:
        """Whether the viewer may filter the board by section: hosts, assistants, and members if the host allows it."""
        return self.assists or (self.competition.board.shows_sections and self.membership is not None)

    @property
    def grades(self) -> bool:
        """Whether the viewer may export grades."""
        return self.is_host or (self.competition.admission.assistants_grade and self.assists)

    @property
    def state(self) -> str:
        """The competition's state; for a team with an extension `live` until its end, then `closed` until the team is
        in the final ranking."""
        state = self.competition.state(self.at)
        if state in ("closed", "revealed") and self.at < self.closes_at:
            return "live"
        return "closed" if state == "revealed" and not self.sees_private else state

    @cached_property
    def sees_private(self) -> bool:
        return self.competition.private_is_visible_to(self.user, self.at)

    @cached_property
    def sees_public(self) -> bool:
        return self.competition.public_is_visible_to(self.user, self.at)

    @property
    def counts(self) -> str:
        """Numbers of teams and submissions, as text for the head of the page."""
        return queries.competition_counts(self.competition)

    @property
    def has_data(self) -> bool:
        """Whether the viewer may have the data files: hosts and assistants, and after the opening members who have
        accepted the rules."""
        if self.assists:
            return True
        if self.membership is None or self.at < self.competition.opens_at:
            return False
        return self.membership.has_accepted_rules()


def open_to(audience: Audience) -> Callable[[View], View]:
    """Decorator that declares the audience of a view about a competition and refuses everybody else."""

    def declare(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, slug: str, **kwargs: Any) -> HttpResponseBase:
            user: Viewer = request.user
            competition = _find_competition(slug, user, audience)
            page_context = PageContext(competition, user, database_now()) if competition else None
            if page_context is None or not may_open(page_context, audience):
                return _refuse_page(request, page_context, audience)
            if audience is not Audience.VISITORS and user.is_anonymous:
                return redirect_to_login(request.get_full_path())
            if not viewer_zone(request):
                timezone.activate(ZoneInfo(page_context.competition.zone))
            if audience is Audience.MEMBERS and page_context.membership is None and not page_context.assists:
                messages.info(request, _("Join the competition first."))
                return redirect("overview", slug=slug)
            return view(request, page_context, *args, **kwargs)

        guarded.audience = audience  # type: ignore[attr-defined]
        return guarded

    return declare


def _refuse_page(request: HttpRequest, page_context: PageContext | None, audience: Audience) -> HttpResponseBase:
    if request.user.is_anonymous and audience is not Audience.VISITORS:
        return redirect_to_login(request.get_full_path())
    if page_context is not None and page_context.assists:
        # Assistants know that the competition exists, so they get an explanation and no 404.
        if audience is Audience.GRADERS:
            message = _("You assist in “%(competition)s”. Its hosts don't let assistants export grades.")
        else:
            message = _("You assist in “%(competition)s”. This page is only for its hosts.")
        raise PermissionDenied(message % {"competition": page_context.competition})
    raise Http404(_("No competition with this name is open to you."))


def may_open(page_context: PageContext, audience: Audience) -> bool:
    """Whether the viewer may open a page for this audience. For members only whether they may see the competition."""
    if audience is Audience.HOSTS:
        return page_context.is_host
    if audience is Audience.GRADERS:
        return page_context.grades
    return page_context.assists if audience is Audience.ASSISTANTS else page_context.may_view
