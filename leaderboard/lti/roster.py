"""The class list of a platform's course, read into the preview of an import (Names and Role Provisioning Services)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from leaderboard.classroom import hooks as classroom_hooks
from leaderboard.classroom.hooks import RosterSource
from leaderboard.classroom.roster import save_roster_draft
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.names import clean_text
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import CannotHost

from .addresses import object_of
from .launching import CLAIM, TEST_USER, has_role, is_identifier, text_of
from .models import LtiLink
from .platform_services import ROSTER_SCOPE, ROSTER_TYPE, PlatformClient, PlatformProblem

MAX_PEOPLE = 20_000
# All pages together.
ROSTER_SECONDS = 20.0
COLUMNS = ("name", "email", "student_id", "lms_user", "section")
CLAIMS = ("name", "given_name", "family_name", "email", "lis_person_sourcedid")

NOT_ALLOWED = gettext_noop("The platform doesn't allow this site to read its roster.")
NO_ANSWER = gettext_noop("The platform's roster couldn't be read. Try again later, or import a file.")
EMPTY = gettext_noop("The platform's roster has no students.")


@on(classroom_hooks.roster_sources)
def roster_sources(*, competition: Competition) -> list[RosterSource]:
    """Platforms that offer the class list of an activity of this competition."""
    links = LtiLink.objects.filter(competition=competition).exclude(memberships_url="")
    return [
        RosterSource(
            f"{link.platform} · {link.context_title}" if link.context_title else str(link.platform),
            reverse("host_platform_roster", args=[competition.slug, link.pk]),
            _(link.roster_problem) if link.roster_problem else "",
            link.is_roster_awaited,
        )
        for link in links.select_related("deployment__platform")
        if link.platform.is_on
    ]


def read_roster(link_id: int) -> None:
    """Read the platform's list into the preview of the competition's host; the outcome is noted on the link."""
    links = LtiLink.objects.select_related("deployment__platform", "competition__course", "connected_by")
    link = links.filter(pk=link_id).first()
    if link is None or link.competition is None or not link.memberships_url or not link.platform.is_on:
        return
    problem = ""
    try:
        if rows := list(_rows_of(link)):
            text, name = io.StringIO(), _("Roster of %(platform)s") % {"platform": link.platform}
            csv.writer(text).writerows([COLUMNS, *rows])
            save_roster_draft(
                competition=link.competition, user=link.connected_by, file_name=name, data=text.getvalue()
            )
        else:
            problem = EMPTY
    except PlatformProblem as error:
        problem = NOT_ALLOWED if error.status in (401, 403) or str(error) == "token" else NO_ANSWER
    except CannotHost:
        problem = NO_ANSWER
    LtiLink.objects.filter(pk=link.pk).update(roster_read_at=database_now(), roster_problem=problem)


def _rows_of(link: LtiLink) -> Iterator[list[str]]:
    address, section, count = link.memberships_url, link.section, 0
    if link.platform.family == "canvas":  # with `rlid` it adds the custom parameters of the activity to each person
        address += f"{'&' if '?' in address else '?'}{urlencode({'rlid': link.resource})}"
    with PlatformClient(link.platform, ROSTER_SCOPE, seconds=ROSTER_SECONDS) as client:
        for page in client.pages(address, ROSTER_TYPE):
            members = object_of(page).get("members")
            if not isinstance(members, list) or (count := count + len(members)) > MAX_PEOPLE:
                raise PlatformProblem("members")
            for member in map(object_of, members):
                if _is_active_learner(member):
                    yield _row_of(member, link, section)


def _is_active_learner(member: dict[str, Any]) -> bool:
    roles = member.get("roles")
    is_learner = isinstance(roles, list) and has_role(roles, "Learner") and TEST_USER not in roles
    return is_learner and member.get("status", "Active") != "Inactive" and is_identifier(member.get("user_id"))


def _row_of(member: dict[str, Any], link: LtiLink, section: str) -> list[str]:
    """The values of `COLUMNS`."""
    name, first, last, email, number = (text_of(member, claim, 200) for claim in CLAIMS)
    lms_user = f"{link.platform.pk}:{member['user_id']}"
    return [name or f"{first} {last}".strip(), email, number, lms_user, _section_of(member) or section]


def _section_of(member: dict[str, Any]) -> str:
    """The sections that Canvas names in the custom parameters of a person's message."""
    messages = member.get("message")
    for message in map(object_of, messages if isinstance(messages, list) else []):
        names = object_of(message.get(CLAIM + "custom")).get("section_names")
        if isinstance(names, str) and names and not names.startswith("$"):
            return clean_text(names.strip("[]").replace('"', ""))[:200]
    return ""
