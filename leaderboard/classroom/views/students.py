"""Hosts' page of one student."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from leaderboard.accounts import people as accounts
from leaderboard.boards import team_ranks
from leaderboard.common import charts, responses
from leaderboard.common.chart_parts import THREE
from leaderboard.common.display_time import moment_text
from leaderboard.common.responses import see_other
from leaderboard.competitions.access import Audience, PageContext, open_to
from leaderboard.competitions.models import Competition, Extension, Membership, Submission
from leaderboard.competitions.models.extension import EffectiveLimits, effective_limits_of, extended_deadline
from leaderboard.competitions.services import CannotHost

from .. import extensions, hooks, joining, people, queries
from ..forms import TeamForm
from ..models import MAX_SECTION_CHARACTERS, RosterEntry
from ..queries import name_on_roster, section_names
from ..teams import CannotJoin
from .teams import ask_who_waits, everyone_waits, team_controls

SHOWN_FILES = 8
MORE_DAYS = (1, 3)


@open_to(Audience.ASSISTANTS)
def host_student(request: HttpRequest, page_context: PageContext, user_id: int) -> HttpResponse:
    """A student's rank, files, team and deadline. POST: extend it, change section or team, make a password link."""
    mates = _team_of(page_context.competition, user_id)
    member = next((mate for mate in mates if mate.user_id == user_id), None)
    if member is None:
        raise Http404(_("No such student in this competition."))
    action, link, refusal = request.POST.get("action", ""), "", ""
    team_form = TeamForm(member, request.POST if action == "team" else None)
    if action in ("section", "team") and _move(page_context, member, request, team_form):
        messages.success(request, _("Saved."))
        return see_other("host_student", slug=page_context.competition.slug, user_id=user_id)
    if action == "password":
        link = responses.absolute_url(request, "password_link", _make_password_link(page_context, member))
    elif action and action != "team":
        try:
            if closes_at := _requested_deadline(page_context, member, request):
                fields: dict[str, object] = {"action": "extend", "days": request.POST["days"]}
                if question := ask_who_waits(request, page_context, member.team, fields, closes_at):
                    return question
                _give_time(page_context, member, request, closes_at)
                return see_other("host_student", slug=page_context.competition.slug, user_id=user_id)
        except ValidationError as error:
            refusal = " ".join(error.messages)
        except CannotHost as error:
            refusal = error.message
    competition = page_context.competition
    can_move = page_context.is_host and competition.limits.team_size > 1 and page_context.at < competition.closes_at
    context = {
        "page_context": page_context,
        "member": member,
        "mates": mates,
        "team_form": team_form,
        "can_move": can_move,
        # Shown only after a click, because the list of all teams is longer than the rest of the page.
        "is_moving": can_move and "move" in request.GET,
        "refusal": refusal,
        "password_link": link,
        **_facts_about(page_context, member),
    }
    status = 200 if action in ("", "password") else 422
    return render(request, "classroom/host_student.html", context, status=status)


def _team_of(competition: Competition, user_id: int) -> list[Membership]:
    """The members of a student's team, with `listed_as` (name on the roster) and `extended_to` (deadline)."""
    team = competition.memberships.filter(user=user_id).values("team")[:1]
    members = competition.memberships.filter(team__in=team).select_related("user", "team")
    extensions_of_team = Exists(Extension.objects.filter(team=OuterRef("team")))
    return list(
        members.annotate(listed_as=name_on_roster(), extended_to=extended_deadline(), has_extensions=extensions_of_team)
    )


def _facts_about(page_context: PageContext, member: Membership) -> dict[str, Any]:
    competition, team = page_context.competition, member.team
    files = list(queries.files_with_public_score(team))
    ranked = [file for file in files if file.public is not None and not file.is_late and file.hidden_at is None]
    sign = competition.ground_truth.sort_sign if competition.ground_truth else 1.0
    facts = hooks.student_facts(competition=competition, user=member.user) if page_context.grades else []
    extended_to = getattr(member, "extended_to", None)
    controls = team_controls(page_context, team, has_extensions=getattr(member, "has_extensions", True))
    active = [one for one in controls["extensions"] if one.ended_at is None]
    running = [one for one in active if one.closes_at and one.closes_at > page_context.at]
    return {
        "entry": RosterEntry.objects.filter(course=competition.course_id, user=member.user_id).first(),
        "placing": team_ranks.placings_now({team: competition}, page_context.at).get(team.pk),
        "best": min(ranked, key=lambda file: sign * file.public, default=None),
        "files": files[:SHOWN_FILES],
        "file_count": len(files),
        "invalid_count": sum(file.status == Submission.Status.INVALID for file in files),
        "facts": [fact for fact in facts if fact],
        "closes_at": max(extended_to or competition.closes_at, competition.closes_at),
        "running": running,
        "daily_attempts": EffectiveLimits.from_extensions(competition, active).daily_attempts,
        **controls,
        "more_days": MORE_DAYS,
        "sections": section_names(competition),
        "chart": charts.draw_history(
            [(file.received_at, file.public) for file in reversed(ranked)],
            sign=sign,
            axis=competition.ground_truth.metric_title if competition.ground_truth else "",
            width=THREE,
            decimals=competition.score_decimals,
        ),
        "can_have_link": page_context.is_host and accounts.may_have_password_link(member.user),
    }


def _requested_deadline(page_context: PageContext, member: Membership, request: HttpRequest) -> datetime | None:
    """The team's deadline and some days, counted from now if it has passed; None without a number of days."""
    if request.POST.get("days", "") not in {str(days) for days in MORE_DAYS}:
        return None
    deadline = effective_limits_of(member.team_id, page_context.competition).closes_at
    return max(deadline, page_context.at) + timedelta(days=int(request.POST["days"]))


def _give_time(page_context: PageContext, member: Membership, request: HttpRequest, closes_at: datetime) -> None:
    """Extend the team's deadline. Raises `ValidationError` or `CannotHost`."""
    competition, user = page_context.competition, page_context.account
    delays_ranking = everyone_waits(request)
    extensions.grant_extension(
        team=member.team, user=user, reason=_("Extension"), closes_at=closes_at, delays_ranking=delays_ranking
    )
    until = moment_text(effective_limits_of(member.team_id, competition).closes_at, zone=competition.zone)
    messages.success(request, _("Extension given: “%(team)s” until %(until)s.") % {"team": member.team, "until": until})


def _move(page_context: PageContext, member: Membership, request: HttpRequest, team_form: TeamForm) -> bool:
    """Move the student to another team or section; False with an error in the form. Raises `PermissionDenied`."""
    if not page_context.is_host:
        raise PermissionDenied(_("Only hosts can move a student to another team or section."))
    if request.POST["action"] == "section":
        _move_to_section(page_context, member, request.POST.get("section", ""))
        return True
    if team_form.is_valid():
        team, user = team_form.cleaned_data["team"], page_context.account
        try:
            joining.move_student(membership=member, team=team, user=user)
        except CannotJoin as error:
            team_form.add_error("team", str(error))
    return team_form.is_valid()


def _move_to_section(page_context: PageContext, member: Membership, section: str) -> None:
    entry = RosterEntry.objects.filter(course=page_context.competition.course_id, user=member.user_id).first()
    if entry is None:
        raise PermissionDenied(_("Only students on the roster have a section that can be changed."))
    section = section.strip()[:MAX_SECTION_CHARACTERS]
    user = page_context.account
    people.move_to_section(competition=page_context.competition, entries=[entry.pk], section=section, user=user)


def _make_password_link(page_context: PageContext, member: Membership) -> str:
    """The token of a password link for a student. Raises `PermissionDenied` for assistants, or if the account may not
    have one."""
    if not page_context.is_host or not accounts.may_have_password_link(member.user):
        raise PermissionDenied(_("You can't make a password link for this account."))
    return people.make_password_link(membership=member, user=page_context.account)
