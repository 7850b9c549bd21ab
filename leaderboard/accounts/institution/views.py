"""The two views of a sign-in at an institution: to the provider, and the callback."""

from __future__ import annotations

from django.conf import settings
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.institutions import Institution

from .refusals import SignInRefusal, refusal_page


@open_page_to(SiteAudience.ANYONE)
def institution_login(request: HttpRequest, number: int) -> HttpResponse:
    """GET: a page with a button. POST: the page with the link to the provider."""
    from allauth.socialaccount.providers.oauth2.views import OAuth2LoginView

    from .provider import InstitutionOAuth2Adapter

    view = OAuth2LoginView.adapter_view(InstitutionOAuth2Adapter(request, _institution(number)))
    response: HttpResponse = view(request)
    return response


@open_page_to(SiteAudience.ANYONE)
def institution_callback(request: HttpRequest, number: int) -> HttpResponse:
    """The callback to which the provider redirects people."""
    from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView

    from .provider import InstitutionOAuth2Adapter

    institution = _institution(number)
    view = OAuth2CallbackView.adapter_view(InstitutionOAuth2Adapter(request, institution))
    try:
        response: HttpResponse = view(request)
    except IntegrityError:  # a simultaneous sign-in has just saved the account, the link or the name
        response = refusal_page(request, SignInRefusal.TWICE, institution=institution).response
    return response


def _institution(number: int) -> Institution:
    for one in settings.INSTITUTIONS:
        if one.number == number:
            found: Institution = one
            return found
    raise Http404
