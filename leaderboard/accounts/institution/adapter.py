"""django-allauth's adapter for sign-in at an institution: the address that counts, the account, a new account's name.

At each sign-in the provider must send a confirmed address in one of the institution's domains. The account is found by
issuer and subject; else by that address, if it is confirmed here too; else a new one is made.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any, ClassVar

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from allauth.socialaccount.signals import social_account_added
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.common.institutions import Institution
from leaderboard.common.models import AuditEntry, AuditEvent

from .. import hooks
from ..adapter import may_use_password
from ..models import User
from .people import apply_claims, confirm_own_address, end_earlier_access
from .views import SignInRefusal, refusal_page

if TYPE_CHECKING:
    from .provider import InstitutionProvider
    from .sessions import ProviderSession

MAX_NUMBERED_NAMES = 30
MAX_USERNAME_CHARACTERS = 100


class InstitutionAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """This site's answers to django-allauth about accounts of institutions: see the module."""

    error_messages: ClassVar = {
        **DefaultSocialAccountAdapter.error_messages,
        "unknown_institution": gettext_lazy("This institution isn't set up here any more. Sign in another way."),
        "no_password": gettext_lazy("You couldn't sign in any more. Choose a password first."),
    }

    # --- providers: from the settings, not from the database --------------------------------------------------------

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        return [_app_of(one) for one in settings.INSTITUTIONS if provider in (None, one.issuer)]

    def list_providers(self, request: HttpRequest) -> list[InstitutionProvider]:
        return [self.get_provider(request, one.issuer) for one in settings.INSTITUTIONS]

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> InstitutionProvider:
        """The provider with this issuer (`provider`). Raises `SocialApp.DoesNotExist`."""
        from .provider import InstitutionProvider

        return InstitutionProvider(request, app=self.get_app(request, provider))

    def get_requests_session(self) -> ProviderSession:
        from .sessions import ProviderSession

        return ProviderSession.of_page(context.request.META)

    # --- sign-in: refusals, and the account that belongs to the person ----------------------------------------------

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse a sign-in before an account is made or linked. Raises `ImmediateHttpResponse` with the page.

        Refused are: no confirmed address, an address outside the institution's domains, and a new person whose address
        belongs to an existing account.
        """
        institution: Institution = sociallogin.provider.institution
        named = [one.email for one in sociallogin.email_addresses]
        confirmed = [one.email for one in sociallogin.email_addresses if one.verified]
        if not confirmed:
            raise refusal_page(request, SignInRefusal.NO_ADDRESS, institution=institution, address="".join(named[:1]))
        if not institution.admits(confirmed[0]):
            raise refusal_page(request, SignInRefusal.DOMAIN, institution=institution, address=confirmed[0])
        is_new = not sociallogin.is_existing and sociallogin.state.get("process") == AuthProcess.LOGIN
        if is_new and _accounts_with(confirmed[0]).exists():
            raise refusal_page(request, SignInRefusal.ACCOUNT_EXISTS, institution=institution, address=confirmed[0])
        if is_new:  # others who entered this address without confirming it must not block its owner
            EmailAddress.objects.filter(email__iexact=confirmed[0], verified=False).delete()

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        """The account for an address that the institution confirmed, with that address; None if there is none.

        The account has confirmed the address here too, or an operator made it and it was never used, or a higher room
        knows the address as its owner's (`hooks.is_address_of`). Accounts that are linked to an institution already are
        left out: an institution may give an address to another person once its owner has left.
        """
        institution: Institution = sociallogin.provider.institution
        for address in [one.email for one in sociallogin.email_addresses if one.verified]:
            held = EmailAddress.objects.filter(email__iexact=address, verified=True).select_related("user").first()
            account = held.user if held else User.objects.filter(email__iexact=address).first()
            is_linked = account is not None and SocialAccount.objects.filter(user=account).exists()
            if not institution.admits(address) or account is None or is_linked:
                continue
            if held or _was_never_used(account) or any(hooks.is_address_of(account=account, address=address.lower())):
                return account, address
        return None

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Always: `pre_social_login` has refused the others."""
        return True

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: str | None = None, exception: Any = None, **_: Any
    ) -> None:
        """Refuse with a page that says to begin again, except when the person cancelled at the provider.

        The log gets the class of the exception only, because its text may quote tokens.
        """
        if error != AuthError.CANCELLED:
            code = type(exception).__name__ if exception else "state"
            raise refusal_page(request, SignInRefusal.NOT_VERIFIED, institution=provider.institution, code=code)

    def validate_disconnect(self, account: SocialAccount, accounts: Any) -> None:
        """Keep the last way to sign in, and links to institutions that are no longer set up, which django-allauth
        cannot resolve. Raises `ValidationError`."""
        if not any(one.issuer == account.provider for one in settings.INSTITUTIONS):
            raise self.validation_error("unknown_institution")
        if accounts.count() == 1 and not may_use_password(account.user):
            raise self.validation_error("no_password")

    # --- a new account ----------------------------------------------------------------------------------------------

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        user: User = super().populate_user(request, sociallogin, data)
        # A user name is shown on the board, so it must not be an e-mail address.
        user.username = user.username.partition("@")[0]
        sociallogin.wanted_name = user.username
        return user

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Save with a free user name that follows the rules of the sign-up form."""
        with transaction.atomic():
            sociallogin.user.username = free_username(sociallogin.wanted_name)
            account: User = super().save_user(request, sociallogin, form)
            return account


def _app_of(institution: Institution) -> SocialApp:
    settings_of_app = {"server_url": institution.issuer, "oauth_pkce_enabled": True}
    return SocialApp(
        provider="openid_connect",
        provider_id=institution.issuer,
        name=institution.name,
        client_id=institution.client_id,
        secret=institution.client_secret,
        settings=settings_of_app,
    )


def _accounts_with(address: str) -> Any:
    """Accounts with this as main or confirmed address. Unconfirmed ones do not count: anybody may enter them."""
    is_confirmed = Q(emailaddress__email__iexact=address, emailaddress__verified=True)
    return User.objects.filter(Q(email__iexact=address) | is_confirmed)


def _was_never_used(account: User) -> bool:
    """Whether an account was made by an operator and its owner has neither set a password nor signed in."""
    return not (account.has_usable_password() or account.last_login or account.is_superuser)


def free_username(wanted: str) -> str:
    """A user name close to the wanted one that does not look like another account's name."""
    base = re.sub(r"[^\w.+-]", "", wanted)[:MAX_USERNAME_CHARACTERS] or "user"
    numbered = [base, *(f"{base}{number}" for number in range(2, MAX_NUMBERED_NAMES))]
    for name in [*numbered, f"{base}-{secrets.token_hex(4)}"]:
        try:
            return str(get_account_adapter().clean_username(name))
        except ValidationError:
            continue
    return f"user-{secrets.token_hex(8)}"


def _note_link(*, request: HttpRequest, sociallogin: SocialLogin, **_further: Any) -> None:
    """Log a new link between an account and an institution (signal `social_account_added`).

    When the account was found by its address, its password, sessions and API tokens end (`end_earlier_access`), and
    `post_login` notes the sign-in; a person who connects is signed in already, so it is noted here.
    """
    account: User = sociallogin.user
    with transaction.atomic():
        AuditEntry.append(AuditEvent.INSTITUTION_LINKED, user=account, account=account)
    confirm_own_address(account, next(one.email for one in sociallogin.email_addresses if one.verified))
    if sociallogin.state.get("process") != AuthProcess.CONNECT and end_earlier_access(account):
        words = _(
            "Your account is linked to your institution now. Its password, other sessions and API tokens have ended."
        )
        messages.info(request, words)
    if sociallogin.state.get("process") == AuthProcess.CONNECT:
        apply_claims(account=account, social_account=sociallogin.account)


social_account_added.connect(_note_link, dispatch_uid="note_link")
