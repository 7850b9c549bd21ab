"""django-allauth's OpenID Connect provider, with the checks that it lacks: nonce, signature, issuer, subject."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialLogin, SocialToken
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.functional import cached_property

from leaderboard.common.institutions import Institution
from leaderboard.common.names import clean_text

from ..adapter import under_site_url
from ..models import ProviderMetadata
from . import id_tokens
from .sessions import NoAnswer
from .views import SignInRefusal, refusal_page

LONGEST_ADDRESS, LONGEST_NUMBER = 254, 100
# Errors from reading an answer that is no JSON object or has values of other types.
MALFORMED = (ValueError, TypeError, KeyError, AttributeError)


def nonce_of(state: str) -> str:
    """Nonce of a sign-in, derived from the state, which django-allauth binds to the session and accepts once."""
    return salted_hmac("leaderboard.institution.nonce", state, algorithm="sha256").hexdigest()


def institution_with(issuer: str) -> Institution:
    return next(one for one in settings.INSTITUTIONS if one.issuer == issuer)


class InstitutionOAuth2Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """The steps of a sign-in after the person comes back from the provider: token, its check, user info.

    `provider_id` is the institution's issuer. Every failure raises a page from `refusal_page`.
    """

    def __init__(self, request: HttpRequest, institution: Institution) -> None:
        super().__init__(request, institution.issuer)
        self.institution = institution

    def refuse(self, refusal: SignInRefusal, code: str) -> Exception:
        page: Exception = refusal_page(self.request, refusal, institution=self.institution, code=code)
        return page

    @cached_property
    def metadata(self) -> ProviderMetadata:
        """The stored endpoints and keys of the provider. Raises the page `UNREACHABLE` if there are none yet."""
        metadata = ProviderMetadata.objects.filter(issuer=self.institution.issuer).exclude(configuration={}).first()
        if metadata is None:
            raise self.refuse(SignInRefusal.UNREACHABLE, "nothing fetched yet")
        return metadata

    @property
    def openid_config(self) -> dict[str, Any]:
        configuration: dict[str, Any] = self.metadata.configuration
        return configuration

    def get_access_token_data(self, *given: Any, **named: Any) -> dict[str, Any]:
        try:
            data = super().get_access_token_data(*given, **named)
        except NoAnswer:
            raise self.refuse(SignInRefusal.UNREACHABLE, "token endpoint") from None
        except (OAuth2Error, *MALFORMED):
            raise self.refuse(SignInRefusal.NOT_VERIFIED, "code") from None
        if not isinstance(data, dict) or not all(
            isinstance(data.get(one), str) for one in ("access_token", "id_token")
        ):
            raise self.refuse(SignInRefusal.NOT_VERIFIED, "no token")
        return data

    def parse_token(self, data: dict[str, Any]) -> SocialToken:
        """The access token, used during this sign-in and never stored."""
        return SocialToken(token=data["access_token"])

    def complete_login(self, request: HttpRequest, app: Any, token: SocialToken, **named: Any) -> SocialLogin:
        try:
            claims = id_tokens.read_id_token(
                named["response"]["id_token"],
                keys=self.metadata.keys,
                issuer=self.openid_config["issuer"],
                client_id=self.institution.client_id,
                nonce=nonce_of(request.GET.get("state", "")),
            )
        except id_tokens.BadToken as error:
            if str(error) == "key":  # the provider may have new keys: without `fetched_at` the task fetches them next
                ProviderMetadata.objects.filter(issuer=self.institution.issuer).update(fetched_at=None)
            raise self.refuse(SignInRefusal.NOT_VERIFIED, str(error)) from None
        known = {**self._user_info(token, claims), **claims}
        token.token = ""  # django-allauth stores a sign-in that waits for a password in the session
        return self.get_provider().sociallogin_from_response(request, known)

    def _user_info(self, token: SocialToken, claims: dict[str, Any]) -> dict[str, Any]:
        """Claims of the userinfo endpoint, from which many providers send the address; {} if there is none."""
        if not self.openid_config.get("userinfo_endpoint"):
            return {}
        try:
            with get_adapter(self.request).get_requests_session() as session:
                response = session.get(self.profile_url, headers={"Authorization": f"Bearer {token.token}"})
                response.raise_for_status()
                info = response.json()
        except (NoAnswer, *MALFORMED) as error:
            raise self.refuse(SignInRefusal.UNREACHABLE, str(error) if isinstance(error, NoAnswer) else "") from None
        if not isinstance(info, dict) or info.get("sub") != claims["sub"]:
            raise self.refuse(SignInRefusal.NOT_VERIFIED, "subject of the user info")
        return info

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return under_site_url(request.build_absolute_uri(reverse("institution_callback")))


class InstitutionProvider(OpenIDConnectProvider):  # type: ignore[misc]
    """One institution. `app.provider_id` is its issuer, which linked accounts store as their provider."""

    @property
    def institution(self) -> Institution:
        return institution_with(self.app.provider_id)

    def get_oauth2_adapter(self, request: HttpRequest) -> InstitutionOAuth2Adapter:
        return InstitutionOAuth2Adapter(request, self.institution)

    def get_login_url(self, request: HttpRequest, **_: Any) -> str:
        return reverse("institution_login")

    def get_callback_url(self) -> str:
        return reverse("institution_callback")

    def serialize(self) -> dict[str, Any]:
        """The issuer, which stays the same when the site gets another client id."""
        return {"id": self.app.provider_id}

    def redirect(
        self, request: HttpRequest, process: str, next_url: str | None = None, data: Any = None, **_: Any
    ) -> HttpResponse:
        """A page that leads on to the provider.

        Process, scope and parameters are set here; those in the query string are ignored. A page and no redirect,
        because browsers apply the CSP rule `form-action` to all redirects after a form, and the addresses that a
        provider redirects to are not known.
        """
        state = get_adapter().generate_state_param({})
        named = {"state_id": state, "scope": self.get_scope(), "auth_params": {"nonce": nonce_of(state)}}
        # Only a signed-in person connects an account: otherwise it would be the account that signs in next.
        is_connection = process == AuthProcess.CONNECT and request.user.is_authenticated
        process = AuthProcess.CONNECT if is_connection else AuthProcess.LOGIN
        response: HttpResponse = super().redirect(request, process, next_url, data, **named)
        if isinstance(response, HttpResponseRedirect):
            context = {"address": response.url, "institution": self.institution}
            response = render(request, "socialaccount/leave.html", context)
            response["Cache-Control"] = "private, no-store"
        return response

    # --- the claims that are read -------------------------------------------------------------------------------

    def extract_uid(self, data: dict[str, Any]) -> str:
        return str(data["sub"])

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        names = {
            "username": "preferred_username",
            "first_name": "given_name",
            "last_name": "family_name",
            "name": "name",
        }
        return {"email": _address_in(data), **{name: _text_in(data, claim) for name, claim in names.items()}}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        address, verified = _address_in(data), data.get("email_verified")
        is_verified = verified in (True, "true") or (verified is None and self.institution.confirms_addresses)
        return [EmailAddress(email=address, verified=is_verified, primary=True)] if address else []

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """The claims that are stored: only the student number and the right to host, if the settings name them."""
        institution, found = self.institution, dict[str, Any]()
        if institution.student_number_claim:
            found["student_number"] = _exact_in(data, institution.student_number_claim)
        if institution.host_claim:
            claim, value = institution.host_claim
            held = data.get(claim)
            found["may_host"] = value in ([str(one) for one in held] if isinstance(held, list) else [str(held)])
        return found


def _text_in(data: dict[str, Any], claim: str) -> str:
    """A name claim, cleaned like a name from a form; "" if it is missing or no text."""
    value = data.get(claim)
    return clean_text(value)[:150] if isinstance(value, str) else ""


def _exact_in(data: dict[str, Any], claim: str) -> str:
    """An identifying number; "" if it is missing or would need cleaning, which could turn it into another person's."""
    value = data.get(claim)
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    return text if text == clean_text(text) and len(text) <= LONGEST_NUMBER else ""


def _address_in(data: dict[str, Any]) -> str:
    """The e-mail address in lower case; "" if missing or not ASCII.

    Lower-casing or normalising other letters could turn an address into another person's.
    """
    value = data.get("email")
    return value.lower() if isinstance(value, str) and value.isascii() and len(value) <= LONGEST_ADDRESS else ""
