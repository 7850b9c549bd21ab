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

from .launching import CLAIM, TEST_USER, has_role, is_identifier, text_of
from .models import LtiLink
from .platform_services import ROSTER_SCOPE, ROSTER_TYPE, PlatformClient, PlatformProblem

MAX_PEOPLE = 20_000
# All pages together.
ROSTER_SECONDS = 20.0
COLUMNS = ("name", "email", "student_id", "lms_user", "section")

NOT_ALLOWED = gettext_noop("The platform doesn't allow this site to read its class list.")
NO_ANSWER = gettext_noop("The platform's class list couldn't be read. Try again later, or import a file.")
EMPTY = gettext_noop("The platform's class list has no students.")


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
        rows = list(_rows_of(link))
        if not rows:
            problem = EMPTY
        else:
            _save_draft(link, rows)
    except PlatformProblem as error:
        problem = NOT_ALLOWED if error.status in (401, 403) or str(error) == "token" else NO_ANSWER
    except CannotHost:
        problem = NO_ANSWER
    LtiLink.objects.filter(pk=link.pk).update(roster_read_at=database_now(), roster_problem=problem)


def _rows_of(link: LtiLink) -> Iterator[dict[str, str]]:
    address, section, count = _address_of(link), link.section, 0
    with PlatformClient(link.platform, ROSTER_SCOPE, seconds=ROSTER_SECONDS) as client:
        for page in client.pages(address, ROSTER_TYPE):
            members = page.get("members") if isinstance(page, dict) else None
            if not isinstance(members, list):
                raise PlatformProblem("members")
            for member in members:
                count += 1
                if count > MAX_PEOPLE:
                    raise PlatformProblem("too many people")
                if isinstance(member, dict) and _is_active_learner(member):
                    yield _row_of(member, link, section)


def _address_of(link: LtiLink) -> str:
    """With `rlid` Canvas adds the custom parameters of the activity to each person."""
    if link.platform.family != "canvas":
        return link.memberships_url
    return f"{link.memberships_url}{'&' if '?' in link.memberships_url else '?'}{urlencode({'rlid': link.resource})}"


def _is_active_learner(member: dict[str, Any]) -> bool:
    roles = member.get("roles")
    is_learner = isinstance(roles, list) and has_role(roles, "Learner") and TEST_USER not in roles
    return is_learner and member.get("status", "Active") != "Inactive" and is_identifier(member.get("user_id"))


def _row_of(member: dict[str, Any], link: LtiLink, section: str) -> dict[str, str]:
    first, last = text_of(member, "given_name", 200), text_of(member, "family_name", 200)
    return {
        "name": text_of(member, "name", 200) or f"{first} {last}".strip(),
        "email": text_of(member, "email", 200),
        "student_id": text_of(member, "lis_person_sourcedid", 200),
        "lms_user": f"{link.platform.pk}:{member['user_id']}",
        "section": _section_of(member) or section,
    }


def _section_of(member: dict[str, Any]) -> str:
    """The sections that Canvas names in the custom parameters of a person's message."""
    for message in member.get("message") or () if isinstance(member.get("message"), list) else ():
        custom = message.get(CLAIM + "custom") if isinstance(message, dict) else None
        names = custom.get("section_names") if isinstance(custom, dict) else None
        if isinstance(names, str) and names and not names.startswith("$"):
            return clean_text(names.strip("[]").replace('"', ""))[:200]
    return ""


def _save_draft(link: LtiLink, rows: list[dict[str, str]]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([COLUMNS, *([row[column] for column in COLUMNS] for row in rows)])
    assert link.competition is not None, "checked by read_roster"
    name = _("Class list of %(platform)s") % {"platform": link.platform}
    save_roster_draft(competition=link.competition, user=link.connected_by, file_name=name, data=text.getvalue())
