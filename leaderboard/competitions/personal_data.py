"""Hooks for export and deletion of a person's data: memberships, submissions with files, admission by address."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePath
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.hooks import NAMELESS, Leaving, PersonalData, PersonalFile
from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.models import AuditEntry, AuditEvent, audit_values

from . import page_tasks
from .models import Attachment, Competition, Membership, PageTask, Score, Submission, Team
from .models.competition import Split
from .models.team import new_invitation

NAMELESS_FILE = "submission.csv"


# --- export -----------------------------------------------------------------------------------------------------


@on(accounts_hooks.export)
def export_memberships(*, account: User, at: datetime) -> PersonalData:
    files = _files_of(account)
    # Of a team that the person has left they may not have what others attached since.
    own = Q(by=account) | Q(submission__team__in=account.memberships.values("team"))
    attached = Attachment.objects.filter(own, submission__in=files.order_by()).in_bulk()
    return PersonalData(
        texts={
            "memberships": list(_membership_facts(account)),
            "submissions": [_submission_facts(account, one, at, attached.get(one.pk)) for one in files],
            "forms": list(PageTask.objects.filter(user=account).values("path", "status", "created_at")),
        },
        files=[
            *(PersonalFile(f"submissions/{one.pk}/{one.file_name}", one.file_key, one.sha256) for one in files),
            *(
                PersonalFile(f"submissions/{one.pk}/attachment/{one.file_name}", one.file_key, one.sha256)
                for one in attached.values()
            ),
        ],
    )


def _files_of(account: User) -> QuerySet[Submission]:
    """Files that they submitted, and files of their teams, which they can download anyway."""
    mine = Q(user=account, baseline=None) | Q(team__in=account.memberships.values("team"))
    files = Submission.objects.filter(mine).select_related("competition__board", "team")
    return files.order_by("received_at")


def _membership_facts(account: User) -> Iterator[dict[str, Any]]:
    for held in Membership.objects.filter(user=account).select_related("team", "competition"):
        yield {
            "competition": held.competition.slug,
            "title": held.competition.title,
            "team": held.team.name,
            "joined_at": held.joined_at,
            "rules_version": held.rules_version,
            "rules_accepted_at": held.rules_accepted_at,
        }


def _submission_facts(
    account: User, submission: Submission, at: datetime, attachment: Attachment | None
) -> dict[str, Any]:
    names = (
        "file_name",
        "sha256",
        "size",
        "received_at",
        "finished_at",
        "status",
        "is_late",
        "is_selected",
    )
    is_mine = submission.user_id == account.pk
    return {
        "id": str(submission.pk),
        "competition": submission.competition.slug,
        "team": submission.team.name if submission.team else None,
        "submitted_by_you": is_mine,
        "note": submission.note if is_mine else "",
        **{name: getattr(submission, name) for name in names},
        "problems": [{name: fact for name, fact in one.items() if name != "forms"} for one in submission.problems],
        "warnings": [{name: fact for name, fact in one.items() if name != "forms"} for one in submission.warnings],
        "scores": _visible_scores(account, submission, at),
        "attachment": _attachment_facts(account, attachment),
    }


def _attachment_facts(account: User, attachment: Attachment | None) -> dict[str, Any] | None:
    if attachment is None:
        return None
    is_mine = attachment.by_id == account.pk
    names = ("file_name", "sha256", "size", "at")
    return {
        "attached_by_you": is_mine,
        "declared": attachment.declared if is_mine else "",
        **{name: getattr(attachment, name) for name in names},
    }


def _visible_scores(account: User, submission: Submission, at: datetime) -> dict[str, float]:
    """Split → score with all digits, for the splits whose scores this person may see."""
    competition = submission.competition
    splits = [Split.PUBLIC] if competition.public_is_visible_to(account, at) else []
    if competition.private_is_visible_to(account, at):
        splits.append(Split.PRIVATE)
    found = Score.objects.filter(submission=submission, ground_truth=competition.ground_truth_id, split__in=splits)
    return dict(found.values_list("split", "value"))


# --- deleting ---------------------------------------------------------------------------------------------------


@on(accounts_hooks.hold)
def lock_competitions_of(*, account: User) -> None:
    """Lock all that the deletion changes at once, so that no file is submitted or scored meanwhile."""
    list(Competition.objects.select_for_update().filter(pk__in=_known_in(account)).order_by("pk").values_list("pk"))


@on(accounts_hooks.obstacle_to_deleting)
def obstacle_to_deleting(*, account: User) -> str:
    others = User.objects.filter(is_active=True).exclude(pk=account.pk)
    alone = account.hosted_competitions.exclude(pk__in=Competition.objects.filter(hosts__in=others).values("pk"))
    if names := ", ".join(f"“{competition}”" for competition in alone):
        return _("You are the only host of %(names)s. Add another host, or delete the competition, first.") % {
            "names": names
        }
    return ""


@on(accounts_hooks.leave)
def leave_teams(*, leaving: Leaving) -> None:
    """Leave all teams; submitted and attached files stay with them, without the person's words and file names."""
    account = leaving.account
    leaving.competitions |= _known_in(account)
    page_tasks.remove_tasks_of(account)
    mine = Submission.objects.filter(user=account, baseline=None)
    leaving.files |= {str(pk): NAMELESS_FILE for pk in mine.values_list("pk", flat=True)}
    for attachment in Attachment.objects.filter(by=account):
        attachment.file_name, attachment.declared = f"attachment{PurePath(attachment.file_name).suffix}", ""
        attachment.save(update_fields=["file_name", "declared"])
    memberships = list(
        Membership.objects.filter(user=account).select_related("team", "competition").order_by("team_id")
    )
    for membership in memberships:
        _leave_team_anonymously(membership, leaving)
    # After the teams, as a worker that claims a file.
    files = mine.update(note="", file_name=NAMELESS_FILE)
    leaving.counts |= {"memberships": len(memberships), "files": files}


def _known_in(account: User) -> set[int]:
    """Competitions with the person as member, host or assistant, or former host or assistant, which notices name."""
    lost = AuditEntry.objects.filter(
        account=account.pk, event__in=(AuditEvent.HOST_REMOVED, AuditEvent.ASSISTANT_REMOVED)
    )
    joined = account.memberships.values_list("competition", flat=True)
    left = [pk for pk in lost.values_list("competition", flat=True) if pk is not None]
    run = [*account.hosted_competitions.all(), *account.assisted_competitions.all()]
    return {*joined, *left, *(one.pk for one in run)}


def _leave_team_anonymously(membership: Membership, leaving: Leaving) -> None:
    """Delete a membership; rename the team if it has the person's name or no other member, and note the new name."""
    team, name, before = membership.team, membership.user.get_username(), membership.team.name
    number = team.pk
    membership.delete()
    is_vacated = not team.memberships.exists()
    if is_vacated and not team.submissions.exists():
        team.delete()
    else:
        if is_vacated or name.casefold() in team.name.casefold():
            team.name = _free_anonymous_name(membership.competition)
        if is_vacated:
            team.invitation = new_invitation()
            team.vacated_at = database_now()
            if membership.competition.revealed_at is None:
                team.standings.all().delete()
        team.save(update_fields=["name", "invitation", "vacated_at"])
    membership.competition.bump_board_version()
    if is_vacated or team.name != before:
        leaving.teams[number] = team.name if team.name != before else NAMELESS


def _free_anonymous_name(competition: Competition) -> str:
    """An unused anonymous team name, such as “Former member 1”."""
    taken = {name.casefold() for name in Team.objects.filter(competition=competition).values_list("name", flat=True)}
    number = 1
    while f"{NAMELESS} {number}".casefold() in taken:
        number += 1
    return f"{NAMELESS} {number}"


@on(accounts_hooks.forget)
def forget_addresses(*, leaving: Leaving) -> None:
    """Remove the person's addresses from the addresses that may join. Domains stay: they identify no person."""
    theirs = {address.casefold() for address in leaving.addresses}
    for held in Competition.objects.filter(pk__in=leaving.competitions):
        addresses = held.admission.allowed_addresses
        others = [word for word in addresses.split() if word not in theirs]
        if len(others) < len(addresses.split()):
            held.admission.allowed_addresses = "\n".join(others)
            held.admission.save(update_fields=["allowed_addresses"])
            after = audit_values({"allowed_addresses": held.admission.allowed_addresses})
            before = audit_values({"allowed_addresses": addresses})
            AuditEntry.append(AuditEvent.CHANGED, user=leaving.user, competition=held, before=before, after=after)
