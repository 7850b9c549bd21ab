"""Rules for accounts: sign-up, names, and the links in our e-mails.

An account is made with a join code or an invitation: whoever opened a valid one may sign up for as long as it is valid.
`OPEN_SIGN_UP` lets everybody.

The user of a request, for code that must know before the body is read.
"""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.internal.userkit import filter_users_by_email, get_user_by_username
from allauth.account.stages import EmailVerificationStage
from allauth.account.utils import get_next_redirect_url
from allauth.core import context
from django.conf import settings
from django.contrib.auth import SESSION_KEY, update_session_auth_hash
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, parse_cookie
from django.urls import reverse
from django.utils.translation import gettext as _

from leaderboard.common import email_lines
from leaderboard.common.client_addresses import client_address
from leaderboard.common.names import clean_text, lookalike_key
from leaderboard.common.responses import client_address_of
from leaderboard.common.shared_cache import count_tries, count_try
from leaderboard.common.wrong_tries import note_wrong_try

from . import hooks
from .institution.people import log_password_sign_in, note_sign_in
from .models import ApiToken, User, Viewer
from .viewers import find_viewer

# The cookie with the code or invitation that was opened without an account.
WAY_IN = "way_in"
# The page after a password reset was requested.
RESET_ASKED = "account_reset_password_done"
# A class is small; a code that leaks must not fill the site.
MAX_ACCOUNTS_OF_A_CODE = 2000
ACCOUNTS_MADE = "accounts_made"
A_DAY_SECONDS = 86_400


def remember_way_in(answer: HttpResponse, **way: str) -> HttpResponse:
    """Allow the receiver of this response to sign up: `code` or `invitation` was found to be valid.

    It is signed and theirs to keep. In a session it would be a row for each request without cookies.
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
    try:
        way: dict[str, str] = signing.loads(
            request.COOKIES.get(WAY_IN, ""), salt=WAY_IN, max_age=settings.SESSION_COOKIE_AGE
        )
    except signing.BadSignature:
        return {}
    return way


def way_key(way: dict[str, str]) -> str:
    """What a code, a card or an invitation is counted under."""
    return digest_of(json.dumps(way, sort_keys=True))


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()  # keys of a cache take no blanks and no long names


def needs_second_factor(user: Viewer) -> bool:
    """Whether this site wants a second factor of a person who has none."""
    wanted = {"operators": ("is_staff",), "hosts": ("is_staff", "is_host_anywhere")}.get(settings.SECOND_FACTOR_FOR, ())
    if not any(getattr(user, right, False) for right in wanted):
        return False
    from allauth.mfa.utils import is_mfa_enabled

    return not is_mfa_enabled(user)


def may_use_password(user: User) -> bool:
    """Everybody, or operators alone where people sign in at their institution."""
    return settings.LOCAL_PASSWORDS or user.is_superuser


def _forget_password(request: HttpRequest, user: User) -> None:
    """It opens nothing any more, and pages that ask for a password once more would ask for one that was forgotten."""
    user.set_unusable_password()
    user.save(update_fields=["password"])
    update_session_auth_hash(request, user)


def login_of(credentials: dict[str, Any]) -> str:
    """What was typed as the name: a user name or an e-mail address."""
    return str(credentials.get("email") or credentials.get("username") or "")


def account_named(login: str) -> User | None:
    found = filter_users_by_email(login, prefer_verified=True, for_login=True) if "@" in login else []
    user: User | None = found[0] if found else get_user_by_username(login)
    return user


def account_key(account: User | None, credentials: dict[str, Any]) -> str:
    return f"account {account.pk}" if account else f"name {login_of(credentials).casefold()}"


class OneHashBackend(AuthenticationBackend):  # type: ignore[misc]
    """Names or e-mail addresses with passwords, at the price of one password hash whatever is wrong.

    django-allauth's own tries an address twice and an unknown one once, whose time reveals who has an account.
    """

    def _authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        user: User | None = self._check_password(account_named(login_of(credentials)), credentials["password"])
        return user if user is not None and may_use_password(user) else None

    def get_user(self, user_id: Any) -> User | None:
        user = find_viewer(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None


class OperatorsNeedNoMail(EmailVerificationStage):  # type: ignore[misc]
    """An operator signs in with an address that is not confirmed: what is broken may be the mail server."""

    def handle(self) -> Any:
        account = self.login.user  # none where a sign-up must not tell that there is one
        return (None, True) if account is not None and account.is_superuser else super().handle()


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """django-allauth's questions to this site."""

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """No limit: a right password always passes, whatever others tried."""

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
        """Of the form for a local account; who comes from an institution is asked by `institution/adapter.py`."""
        if not settings.LOCAL_PASSWORDS:
            return False
        way = _way_in(request)
        if way and count_tries(ACCOUNTS_MADE, way_key(way)) >= MAX_ACCOUNTS_OF_A_CODE:
            way = {}
        return bool(settings.OPEN_SIGN_UP or (way and any(hooks.lets_in(**way))))

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Count the account for the code that lets it in: accounts are limited, never requests."""
        if way := _way_in(request):
            count_try(ACCOUNTS_MADE, way_key(way), seconds=A_DAY_SECONDS)
        saved: User = super().save_user(request, user, form, commit)
        return saved

    def is_safe_url(self, url: str) -> bool:
        """No address at all leads nowhere; allauth's own stumbles over it."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False

    def render_mail(self, *given: Any, **named: Any) -> EmailMessage:
        """Wrapped like every e-mail of this site."""
        message: EmailMessage = super().render_mail(*given, **named)
        message.body = email_lines.wrap_email_text(str(message.body))
        return message

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Names that look like another's are taken; what cannot be seen is no part of a name."""
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

    def post_login(self, request: HttpRequest, user: User, **named: Any) -> HttpResponse:
        """Takes over what the institution says of a person; an operator's way round it is written down."""
        if social_login := (named["signal_kwargs"] or {}).get("sociallogin"):
            note_sign_in(account=user, social_account=social_login.account, is_new=named["signup"])
            if not may_use_password(user) and user.has_usable_password():
                _forget_password(request, user)
        elif not settings.LOCAL_PASSWORDS:
            log_password_sign_in(user)
        response: HttpResponse = super().post_login(request, user, **named)
        return response

    def confirm_email(self, request: HttpRequest, email_address: Any) -> bool:
        """What waits for this address is given now."""
        is_confirmed: bool = super().confirm_email(request, email_address)
        if is_confirmed:
            hooks.address_confirmed(address=email_address.email)
        return is_confirmed

    def get_reset_password_from_key_url(self, key: str) -> str:
        """As a confirmation, to where somebody was going who forgot the password on the way."""
        address = own_address(super().get_reset_password_from_key_url(key))
        done = urlsplit(get_next_redirect_url(context.request) or "")
        going_to = parse_qs(done.query).get("next", [""])[0] if done.path == reverse(RESET_ASKED) else ""
        return _with_next(address, _with_next(reverse("account_login"), going_to) if going_to else "")

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        """Leads on to where the reader was going; an e-mail is often opened in another browser than the form was."""
        address = own_address(super().get_email_confirmation_url(request, emailconfirmation))
        going_to = get_next_redirect_url(request)
        return _with_next(address, _with_next(reverse("account_login"), going_to) if going_to else "")

    def respond_email_verification_sent(self, request: HttpRequest, user: User | None) -> HttpResponse:
        """The page says how to go on, and its way to sign in leads there."""
        sent = reverse("account_email_verification_sent")
        return HttpResponseRedirect(_with_next(sent, get_next_redirect_url(request)))

    def send_account_already_exists_mail(self, email: str) -> None:
        """With the ways in that an account has, each leading on to where somebody was going who forgot theirs."""
        going_to = get_next_redirect_url(context.request)
        # A form that is sent leads on at once, and there is a page to read first.
        asked = _with_next(reverse(RESET_ASKED), going_to) if going_to else ""
        ways = {
            "login_url": _with_next(reverse("account_login"), going_to),
            "password_reset_url": _with_next(reverse("account_reset_password"), asked),
        }
        whole = {name: own_address(context.request.build_absolute_uri(way)) for name, way in ways.items()}
        self.send_mail("account/email/account_already_exists", email, whole)


def _with_next(address: str, going_to: str | None) -> str:
    return f"{address}?next={quote(going_to)}" if going_to else address


def own_address(address: str) -> str:
    """A link with the configured address of the site; what a request calls us is only taken where nothing is set."""
    if not settings.SITE_URL:
        return address
    return f"{settings.SITE_URL}/" + address.split("://", 1)[-1].partition("/")[2]


def user_of_request(environ: dict[str, Any]) -> str:
    """The account whose token or session comes with a request; empty for strangers. Raises `DatabaseError`."""
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer":
        owner = ApiToken.owner_of(token.strip())
        return f"account {owner.pk}" if owner else ""
    key = parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME, "")
    session = import_module(settings.SESSION_ENGINE).SessionStore(key) if key else {}
    number = session.get(SESSION_KEY)
    return f"account {number}" if number else ""
