"""django-allauth's adapter: rules for sign-up, sign-in, user names and the links in e-mails.

Signing up needs a join code, an invitation or a join card that is still valid; opening one sets a signed cookie. With
`OPEN_SIGN_UP` everybody may sign up.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.userkit import filter_users_by_email, get_user_by_username
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage
from allauth.core import context
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.names import clean_text, lookalike_key
from leaderboard.common.responses import client_address_of
from leaderboard.common.shared_cache import count_tries, count_try, note_wrong_try
from leaderboard.common.web_requests import client_address

from . import hooks
from .institution.people import apply_claims
from .models import User

# Cookie with the code, invitation or join card that was opened by a visitor without an account.
WAY_IN = "way_in"
# Accounts per code and day. A class is small; a code that leaks must not fill the site.
MAX_ACCOUNTS_OF_A_CODE = 2000
ACCOUNTS_MADE = "accounts_made"
A_DAY_SECONDS = 86_400


def remember_way_in(answer: HttpResponse, **way: str) -> HttpResponse:
    """Set the cookie that allows a visitor to sign up elsewhere; the caller has checked the way.

    A signed cookie, because a session would add a row to the database for each request that comes without cookies.
    """
    answer.set_cookie(
        WAY_IN,
        signing.dumps(way, salt=WAY_IN),
        max_age=settings.SESSION_COOKIE_AGE,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    answer["Cache-Control"] = "private, no-store"
    return answer


def _way_in(request: HttpRequest) -> dict[str, str]:
    """The code or link by which a visitor came: that of the page, or that of the cookie; {} without one."""
    way: dict[str, str] = getattr(request, WAY_IN, {})
    if way:
        return way
    try:
        way = signing.loads(request.COOKIES.get(WAY_IN, ""), salt=WAY_IN, max_age=settings.SESSION_COOKIE_AGE)
    except signing.BadSignature:
        return {}
    return way


def way_key(way: dict[str, str]) -> str:
    """Cache key that counts the accounts made with a code, join card or invitation."""
    return digest_of(json.dumps(way, sort_keys=True))


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()  # cache keys may have neither blanks nor unlimited length


def may_use_password(user: User) -> bool:
    """Whether this person may sign in with a password: everybody; where `LOCAL_PASSWORDS` is off, operators only."""
    return settings.LOCAL_PASSWORDS or user.is_superuser


def _remove_dead_password(request: HttpRequest, user: User) -> None:
    """Remove a password that no longer signs in, so that no page asks for it before a change. The session stays signed
    in.
    """
    user.set_unusable_password()
    user.save(update_fields=["password"])
    update_session_auth_hash(request, user)


def login_of(credentials: dict[str, Any]) -> str:
    """The user name or e-mail address from the sign-in form."""
    return str(credentials.get("email") or credentials.get("username") or "")


def account_named(login: str) -> User | None:
    """The account with this user name or address. Anybody may enter an address without confirming it, so that comes
    after a main address and after a user name with an @."""
    found = filter_users_by_email(login, prefer_verified=True, for_login=True) if "@" in login else []
    main = [user for user in found if user.email.casefold() == login.casefold()]
    user: User | None = main[0] if main else get_user_by_username(login) or next(iter(found), None)
    return user


def account_key(account: User | None, credentials: dict[str, Any]) -> str:
    return f"account {account.pk}" if account else f"name {login_of(credentials).casefold()}"


class OperatorsNeedNoMail(EmailVerificationStage):  # type: ignore[misc]
    """Let operators sign in with an unconfirmed address, because the mail server may be what they have to repair."""

    def handle(self) -> Any:
        account = self.login.user  # None where a sign-up must not reveal that the account exists
        return (None, True) if account is not None and account.is_superuser else super().handle()


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """This site's answers to django-allauth: see the module."""

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Switch off django-allauth's limit: a right password passes, however many wrong ones others tried."""

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        account = account_named(login_of(credentials))
        sender = f"{account_key(account, credentials)} {client_address_of(request)}"
        note_wrong_try(request, "sign_in", digest_of(sender))

    def get_login_stages(self) -> list[str]:
        own = f"{OperatorsNeedNoMail.__module__}.{OperatorsNeedNoMail.__qualname__}"
        stages: list[str] = super().get_login_stages()
        return [own if stage.endswith(".EmailVerificationStage") else stage for stage in stages]

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request.META, settings.ALLAUTH_TRUSTED_PROXY_COUNT)

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether the form for a local account is open; `institution/adapter.py` decides about institutions."""
        if not settings.LOCAL_PASSWORDS:
            return False
        way = _way_in(request)
        if way and count_tries(ACCOUNTS_MADE, way_key(way)) >= MAX_ACCOUNTS_OF_A_CODE:
            way = {}
        return bool(settings.OPEN_SIGN_UP or (way and any(hooks.lets_in(**way))))

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Save, and count the account for its code or invitation: accounts are limited per code, not requests."""
        if way := _way_in(request):
            count_try(ACCOUNTS_MADE, way_key(way), seconds=A_DAY_SECONDS)
        saved: User = super().save_user(request, user, form, commit=False)
        saved.password = getattr(form, "password_hash", saved.password)
        saved.set_full_name(form.cleaned_data.get("full_name", ""))
        if commit:
            saved.save()
        return saved

    def is_safe_url(self, url: str) -> bool:
        """False for a malformed URL too, with which django-allauth's method raises `ValueError`."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """The name without invisible characters. Raises `ValidationError` if it looks like another account's name."""
        try:
            name: str = super().clean_username(clean_text(username), shallow)
        except ValidationError as error:
            if "invalid" not in {one.code for one in error.error_list}:
                raise
            raise ValidationError(_("Use letters, digits and . - _ @ + without spaces."), code="invalid") from None
        key = lookalike_key(name)
        if not shallow and any(
            lookalike_key(other) == key for other in User.objects.values_list("username", flat=True)
        ):
            raise ValidationError(_("This name is taken or looks like another one. Choose a different name."))
        return name

    def clean_email(self, email: str) -> str:
        cleaned: str = super().clean_email(clean_text(email).casefold())
        return cleaned

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Confirm an address, unless it would become the main one and is that of another account."""
        try:
            with transaction.atomic():
                return bool(super().confirm_email(request, email_address))
        except IntegrityError:
            email_address.refresh_from_db()
            named = {"email": email_address.email}
            self.add_message(request, messages.ERROR, "account/messages/email_confirmation_failed.txt", named)
            return False

    def post_login(self, request: HttpRequest, user: User, **named: Any) -> HttpResponse:
        """Update the account from the institution's claims; log an operator's sign-in by password."""
        if social_login := (named["signal_kwargs"] or {}).get("sociallogin"):
            apply_claims(account=user, social_account=social_login.account)
            if not may_use_password(user) and user.has_usable_password():
                _remove_dead_password(request, user)
        elif not settings.LOCAL_PASSWORDS:
            with transaction.atomic():
                AuditEntry.append(AuditEvent.PASSWORD_SIGN_IN, user=user, account=user)
        response: HttpResponse = super().post_login(request, user, **named)
        return response

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def get_reset_password_from_key_url(self, key: str) -> str:
        return under_site_url(super().get_reset_password_from_key_url(key))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return under_site_url(super().get_email_confirmation_url(request, emailconfirmation))

    def send_account_already_exists_mail(self, email: str) -> None:
        """Mail links to sign in and to reset the password."""
        pages = {"login_url": "account_login", "password_reset_url": "account_reset_password"}
        build = context.request.build_absolute_uri
        links = {name: under_site_url(build(reverse(page))) for name, page in pages.items()}
        self.send_mail("account/email/account_already_exists", email, links)


def under_site_url(address: str) -> str:
    """The address with `SITE_URL` as its host; without that setting it stays as it is."""
    if not settings.SITE_URL:
        return address
    return f"{settings.SITE_URL}/" + address.split("://", 1)[-1].partition("/")[2]
