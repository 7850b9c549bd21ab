"""People: operators find and add accounts and let people host; operators and hosts hand over links to choose a new
password.

Nothing of a link is stored: it holds a signature over the password hash and the last sign-in, so it expires when either
changes, and after 24 hours.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac

from leaderboard.common.models import AuditEntry, AuditEvent

from . import personal_data
from .models import User

PASSWORD_LINK_LIFETIME = timedelta(hours=24)
SALT = "password link"
OWN_ROLES = Q(hosted_competitions__isnull=False) | Q(assisted_competitions__isnull=False)


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
    """Make the token of a password link for any active account; the audit log notes the maker, not the token."""
    AuditEntry.append(AuditEvent.PASSWORD_LINK, user=user, account=account)
    return password_link_for(account, by_operator=True)


# --- password links ---------------------------------------------------------------------------------------------


def may_have_password_link(user: User) -> bool:
    """Whether a host may make a link: only for students' accounts, on a site that cannot send reset e-mails."""
    return (
        settings.LOCAL_PASSWORDS
        and settings.ACCOUNT_EMAIL_VERIFICATION == "none"
        and user.is_active
        and not (user.is_staff or user.is_superuser or user.can_host)
        and not User.objects.filter(OWN_ROLES, pk=user.pk).exists()
    )


def password_link_for(user: User, *, by_operator: bool = False) -> str:
    """The token for the URL of the page `password_link`."""
    return signing.dumps([user.pk, _state_of(user), by_operator], salt=SALT)


def account_behind(token: str) -> User | None:
    try:
        number, state, by_operator = signing.loads(token, salt=SALT, max_age=PASSWORD_LINK_LIFETIME)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=number, is_active=True).first()
    if user is None or state != _state_of(user):
        return None
    return user if by_operator or may_have_password_link(user) else None


def _state_of(user: User) -> str:
    return salted_hmac(SALT, f"{user.pk} {user.password} {user.last_login}").hexdigest()[:20]
