"""Links to choose a new password, handed over by operators to anybody, and by hosts to students if there is no e-mail.

Nothing is stored: the link holds a signature over the password hash and the last sign-in, so it expires when either
changes, and after 24 hours.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.db.models import Q
from django.utils.crypto import salted_hmac

from .models import User

LIFETIME = timedelta(hours=24)
SALT = "password link"
OWN_ROLES = Q(hosted_competitions__isnull=False) | Q(assisted_competitions__isnull=False)


def may_have_password_link(user: User) -> bool:
    """Whether a host may make a link: only for students' accounts, on a site that cannot send reset e-mails."""
    return (
        settings.LOCAL_PASSWORDS
        and settings.ACCOUNT_EMAIL_VERIFICATION == "none"
        and user.is_active
        and not (user.is_staff or user.is_superuser or user.can_host)
        and not User.objects.filter(OWN_ROLES, pk=user.pk).exists()
    )


def make_password_link(user: User, *, by_operator: bool = False) -> str:
    """The token for the URL of the page `password_link`."""
    return signing.dumps([user.pk, _state_of(user), by_operator], salt=SALT)


def account_behind(token: str) -> User | None:
    try:
        number, state, by_operator = signing.loads(token, salt=SALT, max_age=LIFETIME)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=number, is_active=True).first()
    if user is None or state != _state_of(user):
        return None
    return user if by_operator or may_have_password_link(user) else None


def _state_of(user: User) -> str:
    return salted_hmac(SALT, f"{user.pk} {user.password} {user.last_login}").hexdigest()[:20]
