"""Refused sign-ins at an institution: the reasons, each with a page and a line in the log."""

from __future__ import annotations

import logging
from enum import StrEnum

from allauth.core.exceptions import ImmediateHttpResponse
from django.http import HttpRequest
from django.shortcuts import render

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
    named = f" {institution.number}" if institution else ""
    log.warning("sign-in at institution%s refused: %s", named, refusal.value, extra={"code": code})
    status = STATUSES[refusal]
    context = {"refusal": refusal.value, "institution": institution, "address": address, "status": status}
    response = render(request, "socialaccount/authentication_error.html", context, status=status)
    response["Cache-Control"] = "private, no-store"
    return ImmediateHttpResponse(response)
