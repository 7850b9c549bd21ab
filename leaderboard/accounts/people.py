"""Operators' services: find and add accounts, grant the right to host, make password links."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower

from leaderboard.common.models import AuditEntry
from leaderboard.common.models.audit_log import AuditEvent

from . import password_links, personal_data
from .models import User


def find_people(text: str) -> QuerySet[User]:
    """Accounts whose names or e-mail address contain every word of the text."""
    found = User.objects.order_by(Lower("username"))
    for word in text.split():
        found = found.filter(
            Q(username__icontains=word)
            | Q(email__icontains=word)
            | Q(first_name__icontains=word)
            | Q(last_name__icontains=word)
        )
    return found


@transaction.atomic
def add_person(*, username: str, email: str, can_host: bool, user: User) -> User:
    """Add an account without a password; its owner chooses one through a password link."""
    account = User.objects.create_user(username, email, can_host=can_host)
    personal_data.log_rights_changes(account=account, before={}, user=user)
    return account


@transaction.atomic
def set_can_host(*, account: User, can_host: bool, user: User | None) -> None:
    """Grant or remove the right to open competitions; the person still hosts those that exist."""
    held = User.objects.select_for_update().get(pk=account.pk)
    before = personal_data.rights_of(held)
    held.can_host = can_host
    held.save(update_fields=["can_host"])
    personal_data.log_rights_changes(account=held, before=before, user=user)


@transaction.atomic
def make_password_link(*, account: User, user: User) -> str:
    """The token of a password link for any active account, logged in the audit log."""
    AuditEntry.append(AuditEvent.PASSWORD_LINK, user=user, account=account)
    return password_links.make_password_link(account, by_operator=True)
