"""The two views of a sign-in at an institution, and the page of a refused one."""

from __future__ import annotations

import logging
from enum import StrEnum

from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.institutions import Institution

log = logging.getLogger(__name__)


class SignInRefusal(StrEnum):
    """The reason; the template has a text for each."""

    NOT_VERIFIED = "not_verified"
    """Token, state or code: the person has to begin again."""
    NO_ADDRESS = "no_address"
    DOMAIN = "domain"
    ACCOUNT_EXISTS = "account_exists"
    TWICE = "twice"
    """A simultaneous sign-in of the same person, or with the same name, was saved first."""
    UNREACHABLE = "unreachable"


STATUSES = {
    SignInRefusal.NOT_VERIFIED: 401,
    SignInRefusal.NO_ADDRESS: 403,
    SignInRefusal.DOMAIN: 403,
    SignInRefusal.ACCOUNT_EXISTS: 409,
    SignInRefusal.TWICE: 409,
    SignInRefusal.UNREACHABLE: 503,
}


def refusal_page(
    request: HttpRequest,
    refusal: SignInRefusal,
    *,
    institution: Institution | None = None,
    code: str = "",
    address: str = "",
) -> ImmediateHttpResponse:
    """An exception to raise, with the page as its response; also logs the refusal.

    `code` goes to the log only and must quote nothing of a token; `address` goes to the page only.
    """
    log.warning("sign-in at the institution refused: %s", refusal.value, extra={"code": code})
    status = STATUSES[refusal]
    context = {"refusal": refusal.value, "institution": institution, "address": address, "status": status}
    response = render(request, "socialaccount/authentication_error.html", context, status=status)
    response["Cache-Control"] = "private, no-store"
    return ImmediateHttpResponse(response)


@open_page_to(SiteAudience.ANYONE)
def institution_login(request: HttpRequest) -> HttpResponse:
    """GET: a page with a button. POST: the page with the link to the provider."""
    from allauth.socialaccount.providers.oauth2.views import OAuth2LoginView

    from .provider import InstitutionOAuth2Adapter

    view = OAuth2LoginView.adapter_view(InstitutionOAuth2Adapter(request, _institution()))
    response: HttpResponse = view(request)
    return response


@open_page_to(SiteAudience.ANYONE)
def institution_callback(request: HttpRequest) -> HttpResponse:
    """The callback to which the provider redirects people."""
    from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView

    from .provider import InstitutionOAuth2Adapter

    institution = _institution()
    view = OAuth2CallbackView.adapter_view(InstitutionOAuth2Adapter(request, institution))
    try:
        response: HttpResponse = view(request)
    except IntegrityError:  # a simultaneous sign-in has just saved the account, the link or the name
        response = refusal_page(request, SignInRefusal.TWICE, institution=institution).response
    return response


def _institution() -> Institution:
    if not settings.INSTITUTIONS:
        raise Http404
    institution: Institution = settings.INSTITUTIONS[0]
    return institution
