"""A person's data: taken along as a zip, or deleted for good. And who was given which rights."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import IO, Any

from django.db import transaction
from django.db.models import Q, QuerySet

from leaderboard.classroom.models import RosterEntry
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import Deed
from leaderboard.common.storage import reading
from leaderboard.competitions.models import Competition, FormerMember, Membership, MergeOffer, Score, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.team import new_invitation
from leaderboard.grades.reasons import Reason

from .forgetting import NAMELESS, Renamed, Traces, forget
from .models import User

RIGHTS = ("is_active", "can_host", "is_staff", "is_superuser")
ROSTER = ("name", "email", "student_id", "sis_user_id", "login", "section", "invited_at", "joined_at", "left_at")
GRADES = ("release__competition__slug", "release__number", "release__released_at", "points", "reasons")
NAMELESS_FILE = "submission.csv"


class CannotDelete(Exception):
    """Why an account stays; the text is for its owner."""


def _said(grade: dict[str, Any]) -> dict[str, Any]:
    """A grade with its reasons in words, as its owner reads them on the page."""
    return {**grade, "reasons": [str(Reason.of(kept)) for kept in grade["reasons"]]}


# --- rights -----------------------------------------------------------------------------------------------------


def rights_of(account: User) -> dict[str, bool]:
    return {name: bool(getattr(account, name)) for name in RIGHTS}


def note_rights(*, account: User, before: dict[str, bool], user: User | None) -> None:
    """Write into the audit trail what differs from `before`; part of the transaction that saved the account."""
    after = rights_of(account)
    differing = [name for name in RIGHTS if before.get(name, False) != after[name]]
    if differing:
        AuditEntry.append(
            Deed.RIGHTS_CHANGED,
            user=user,
            account=account,
            before={name: before.get(name, False) for name in differing},
            after={name: after[name] for name in differing},
        )


# --- taking along -----------------------------------------------------------------------------------------------


def export(*, account: User, target: IO[bytes], at: datetime) -> None:
    """Write everything about a person as a zip: what they may see themselves, no secrets, nobody else's name."""
    files = _files_of(account)
    texts = {
        "profile": _profile(account),
        "memberships": list(_memberships(account)),
        "submissions": [_submission(account, submission, at) for submission in files],
        "rosters": list(account.roster_entries.values("competition__slug", *ROSTER)),
        "tokens": list(account.api_tokens.values("name", "hint", "created_at", "last_used_at")),
        "what_you_did_as_a_host": list(_deeds(account)),
        "grades": [_said(grade) for grade in account.grades.filter(release__withdrawn_at=None).values(*GRADES)],
        "notices": list(account.notices.values("kind", "title", "text", "created_at", "read_at", "mailed_at")),
    }
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, value in texts.items():
            archive.writestr(f"{name}.json", json.dumps(value, indent=1, default=_time, ensure_ascii=False))
        for submission in files:
            # One that the site has lost is missing here too.
            with suppress(FileNotFoundError):
                _add(archive, submission)
    with transaction.atomic():
        AuditEntry.append(Deed.ACCOUNT_EXPORTED, user=account, account=account, after={"files": len(files)})


def _add(archive: zipfile.ZipFile, submission: Submission) -> None:
    name = f"submissions/{submission.pk}/{submission.file_name}"
    with reading(submission.file_key, submission.sha256) as file, archive.open(name, "w") as copy:
        shutil.copyfileobj(file, copy)


def _files_of(account: User) -> QuerySet[Submission]:
    """Their own files, and those of their teams, which they can download anyway."""
    mine = Q(user=account, baseline=None) | Q(team__in=account.memberships.values("team"))
    return Submission.objects.filter(mine).select_related("competition__board", "team").order_by("received_at")


def _profile(account: User) -> dict[str, Any]:
    names = ("username", "email", "first_name", "last_name", "date_joined", "last_login", "zone", *RIGHTS)
    addresses = account.emailaddress_set.values("email", "verified", "primary")  # type: ignore[attr-defined]
    hosted = account.hosted_competitions.values_list("slug", flat=True)
    return {
        **{name: getattr(account, name) for name in names},
        "number": account.pk,
        "addresses": list(addresses),
        "hosted_competitions": list(hosted),
    }


def _memberships(account: User) -> Iterator[dict[str, Any]]:
    for held in Membership.objects.filter(user=account).select_related("team", "competition"):
        yield {
            "competition": held.competition.slug,
            "title": held.competition.title,
            "team": held.team.name,
            "joined_at": held.joined_at,
            "rules_version": held.rules_version,
            "rules_accepted_at": held.rules_accepted_at,
        }


def _submission(account: User, submission: Submission, at: datetime) -> dict[str, Any]:
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
        "handed_in_by_you": is_mine,
        "note": submission.note if is_mine else "",
        **{name: getattr(submission, name) for name in names},
        "problems": [{name: fact for name, fact in one.items() if name != "forms"} for one in submission.problems],
        "warnings": [{name: fact for name, fact in one.items() if name != "forms"} for one in submission.warnings],
        "scores": _scores(account, submission, at),
    }


def _scores(account: User, submission: Submission, at: datetime) -> dict[str, float]:
    """Those that the site shows this person, in full: not what a steady or hidden board keeps back."""
    competition = submission.competition
    splits = [Split.PUBLIC] if competition.exact_is_visible_to(account, at) else []
    if competition.private_is_visible_to(account, at):
        splits.append(Split.PRIVATE)
    found = Score.objects.filter(submission=submission, ground_truth=competition.ground_truth_id, split__in=splits)
    return dict(found.values_list("split", "value"))


def _deeds(account: User) -> Iterator[dict[str, Any]]:
    for entry in AuditEntry.objects.filter(by=account.pk).order_by("number"):
        yield {"number": entry.number, "at": entry.at, "what": entry.words, "competition": entry.competition}


def _time(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(type(value))


# --- deleting ---------------------------------------------------------------------------------------------------


def obstacle_to_deleting(account: User) -> str:
    """What has to be settled first; empty when nothing has."""
    if (
        account.is_superuser
        and not User.objects.filter(is_superuser=True, is_active=True).exclude(pk=account.pk).exists()
    ):
        return "You are the only operator of this site. Make somebody else an operator first."
    others = User.objects.filter(is_active=True).exclude(pk=account.pk)
    alone = account.hosted_competitions.exclude(pk__in=Competition.objects.filter(hosts__in=others).values("pk"))
    if names := ", ".join(f"“{competition}”" for competition in alone):
        return f"Nobody else hosts {names}. Add another host, or delete the competition, first."
    return ""


def delete_account(*, account: User, user: User | None) -> None:
    """Delete a person: name, addresses, tokens, memberships. Raises `CannotDelete`.

    Files that were scored stay under their team, whose name is replaced where it was this person's alone; a team
    without members stands on no board until the reveal. While a competition runs a keyed hash of the name and of each
    address is stored, so that signing up again gives neither attempts nor a fresh steady board. Notes and file names
    of the files they handed in are blanked, and so are their names in notices to others, in a gradebook, in a class
    list that waits and in a list of addresses that may join.
    """
    with transaction.atomic():
        held = User.objects.select_for_update().get(pk=account.pk)
        if obstacle := obstacle_to_deleting(held):
            raise CannotDelete(obstacle)
        traces = Traces.of(held)
        joined = held.memberships.values("competition")
        # Nothing is handed in, scored or merged meanwhile.
        list(Competition.objects.select_for_update().filter(pk__in=joined).order_by("pk").values_list("pk"))
        mine = Submission.objects.filter(user=held, baseline=None)
        renamed = Renamed(files={str(pk): NAMELESS_FILE for pk in mine.values_list("pk", flat=True)})
        files = mine.update(note="", file_name=NAMELESS_FILE)
        memberships = list(Membership.objects.filter(user=held).select_related("team", "competition"))
        for membership in memberships:
            _leave_nameless(membership, renamed)
        forget(traces, renamed, user)
        before = {**rights_of(held), "memberships": len(memberships), "files": files}
        # The list of the course has them again when it is read again; until then nothing here tells who they were.
        RosterEntry.objects.filter(user=held).delete()
        gone = User(pk=held.pk)
        held.delete()
        AuditEntry.append(Deed.ACCOUNT_DELETED, user=user, account=gone, before=before)


def _leave_nameless(membership: Membership, renamed: Renamed) -> None:
    """Leave a team, and note what it is called from now on."""
    team, name, before = membership.team, membership.user.get_username(), membership.team.name
    number, now = team.pk, database_now()
    if membership.competition.state(now) in ("upcoming", "live"):
        FormerMember.remember(membership.user, team, now)
    membership.delete()
    heir = team.memberships.order_by("joined_at").first()
    if heir is None and not team.submissions.exists():
        team.delete()
    else:
        if heir is None or name.casefold() in team.name.casefold():
            team.name = _nameless(membership.competition)
        if heir is None:
            team.invitation = new_invitation()
            team.vacated_at = now
            if membership.competition.revealed_at is None:
                team.standings.all().delete()
            # Nobody is left to become one team with.
            MergeOffer.between(team).delete()
        if team.captain_id == membership.user_id:
            team.captain = heir.user if heir else None
        team.save(update_fields=["name", "invitation", "captain", "vacated_at"])
    membership.competition.touch_board()
    if heir is None or team.name != before:
        renamed.teams[number] = team.name if team.name != before else NAMELESS
        renamed.team_names.add(before)


def _nameless(competition: Competition) -> str:
    """A free name that says nothing."""
    taken = {name.casefold() for name in Team.objects.filter(competition=competition).values_list("name", flat=True)}
    number = 1
    while f"{NAMELESS} {number}".casefold() in taken:
        number += 1
    return f"{NAMELESS} {number}"
