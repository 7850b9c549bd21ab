"""Export and deletion of a person's data, and the log of their rights."""

from __future__ import annotations

import json
import zipfile
from contextlib import suppress
from datetime import datetime
from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from leaderboard.common.file_formats import add_to_zip
from leaderboard.common.models import AuditEntry, AuditEvent, OutgoingEmail
from leaderboard.common.storage import open_stored

from . import hooks
from .models import User

RIGHTS = ("is_active", "can_host", "is_staff", "is_superuser")


class CannotDelete(Exception):
    """An account cannot be deleted; the message is shown to its owner."""


# --- rights -----------------------------------------------------------------------------------------------------


def rights_of(account: User) -> dict[str, bool]:
    return {name: bool(getattr(account, name)) for name in RIGHTS}


def log_rights_changes(*, account: User, before: dict[str, bool], user: User | None) -> None:
    """Log the rights that differ from `before`. Call it in the transaction that saves the account."""
    after = rights_of(account)
    differing = [name for name in RIGHTS if before.get(name, False) != after[name]]
    if differing:
        AuditEntry.append(
            AuditEvent.RIGHTS_CHANGED,
            user=user,
            account=account,
            before={name: before.get(name, False) for name in differing},
            after={name: after[name] for name in differing},
        )


# --- export -----------------------------------------------------------------------------------------------------


def export_account(archive: zipfile.ZipFile, *, account: User, at: datetime) -> None:
    """Fill a zip file with all data about a person that they may see themselves; no secrets, no names of others."""
    own = hooks.PersonalData(
        {
            "profile": _account_profile(account),
            "institutions": list(
                account.socialaccount_set.values("provider", "uid", "date_joined", "last_login", "extra_data")  # type: ignore[attr-defined]
            ),
            "tokens": list(account.api_tokens.values("name", "hint", "created_at", "last_used_at")),
            "sessions": list(
                UserSession.objects.filter(user=account).values("ip", "user_agent", "created_at", "last_seen_at")
            ),
            "emails_not_sent_yet": list(_emails_in_outbox(account).values("created_at", "recipients")),
            "what_you_did_as_a_host": [
                {"number": entry.pk, "at": entry.at, "what": entry.words, "competition": entry.competition}
                for entry in AuditEntry.objects.filter(by=account.pk).order_by("pk")
            ],
        }
    )
    parts = [own, *hooks.export(account=account, at=at)]
    files = [file for part in parts for file in part.files]
    for name, value in (text for part in parts for text in part.texts.items()):
        archive.writestr(f"{name}.json", json.dumps(value, indent=1, cls=DjangoJSONEncoder, ensure_ascii=False))
    for file in files:
        # A file that is missing in the storage is missing here too.
        with suppress(FileNotFoundError), open_stored(file.key, file.sha256) as stored:
            add_to_zip(archive, zipfile.ZipInfo(file.name, at.timetuple()[:6]), stored)
    with transaction.atomic():
        AuditEntry.append(AuditEvent.ACCOUNT_EXPORTED, user=account, account=account, after={"files": len(files)})


def _account_profile(account: User) -> dict[str, Any]:
    names = ("username", "email", "first_name", "last_name", "date_joined", "last_login", "zone", *RIGHTS)
    addresses = account.emailaddress_set.values("email", "verified", "primary")  # type: ignore[attr-defined]
    hosted = account.hosted_competitions.values_list("slug", flat=True)
    return {
        **{name: getattr(account, name) for name in names},
        "number": account.pk,
        "addresses": list(addresses),
        "hosted_competitions": list(hosted),
    }


def _emails_in_outbox(account: User) -> QuerySet[OutgoingEmail]:
    """E-mails to this person in the outbox. The export omits their texts, which may hold secret links."""
    addresses = account.emailaddress_set.values_list("email", flat=True)  # type: ignore[attr-defined]
    return OutgoingEmail.objects.filter(recipients__in={one.casefold() for one in (account.email, *addresses) if one})


# --- deleting ---------------------------------------------------------------------------------------------------


def obstacle_to_deleting(account: User) -> str:
    """A message that tells the person what to do before the account can be deleted; "" if nothing."""
    if (
        account.is_superuser
        and not User.objects.filter(is_superuser=True, is_active=True).exclude(pk=account.pk).exists()
    ):
        return _("You are the only operator of this site. Make someone else an operator first.")
    return next(filter(None, hooks.obstacle_to_deleting(account=account)), "")


def delete_account(*, account: User, user: User | None) -> None:
    """Delete a person: name, addresses, tokens, memberships. Raises `CannotDelete`.

    Scored submissions stay with their team. If this person was its only member, the team gets another name and is not
    shown on the board until the reveal. The notes and file names of the person are blanked, and the names are removed
    from notices to others, gradebooks, drafts of class lists and lists of addresses that may join. Each room does its
    part (`hooks.py`).
    """
    with transaction.atomic():
        hooks.hold(account=account)
        held = User.objects.select_for_update().get(pk=account.pk)
        if obstacle := obstacle_to_deleting(held):
            raise CannotDelete(obstacle)
        confirmed = held.emailaddress_set.filter(verified=True)  # type: ignore[attr-defined]
        leaving = hooks.Leaving(account=held, user=user, addresses=tuple(confirmed.values_list("email", flat=True)))
        hooks.leave(leaving=leaving)
        hooks.forget(leaving=leaving)
        before = {**rights_of(held), **leaving.counts}
        # The admin's log of changes has the account's name.
        changes = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User), object_id=str(held.pk))
        changes.update(object_repr=hooks.NAMELESS)
        _emails_in_outbox(held).delete()
        gone = User(pk=held.pk)
        held.delete()
        AuditEntry.append(AuditEvent.ACCOUNT_DELETED, user=user, account=gone, before=before)


def forget_ended_sessions(at: datetime) -> None:
    """Delete the rows with IP address and browser of sessions that have ended."""
    lasting = Session.objects.filter(expire_date__gt=at)
    UserSession.objects.exclude(session_key__in=lasting.values("session_key")).delete()
