"""To the institution, and back."""

from __future__ import annotations

from django.conf import settings
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.institutions import Institution

from .refusals import SignInRefusal, refusal_page


@open_page_to(SiteAudience.ANYONE)
def institution_login(request: HttpRequest, number: int) -> HttpResponse:
    """By GET a page with a button, by POST the page that leads to the provider."""
    from allauth.socialaccount.providers.oauth2.views import OAuth2LoginView

    from .provider import InstitutionOAuth2Adapter

    view = OAuth2LoginView.adapter_view(InstitutionOAuth2Adapter(request, _institution(number)))
    response: HttpResponse = view(request)
    return response


@open_page_to(SiteAudience.ANYONE)
def institution_callback(request: HttpRequest, number: int) -> HttpResponse:
    """Where the provider sends people back to."""
    from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView

    from .provider import InstitutionOAuth2Adapter

    institution = _institution(number)
    view = OAuth2CallbackView.adapter_view(InstitutionOAuth2Adapter(request, institution))
    try:
        response: HttpResponse = view(request)
    except IntegrityError:  # of two at once the other one has the account, the link or the name
        response = refusal_page(request, SignInRefusal.TWICE, institution=institution).response
    return response


def _institution(number: int) -> Institution:
    for one in settings.INSTITUTIONS:
        if one.number == number:
            found: Institution = one
            return found
    raise Http404
