"""Sign-up, the page of a person's account with their API tokens, and the target of password links."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.account.views import SignupView
from django.contrib import messages
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.responses import see_other, signed_in_user

from .. import people
from ..forms import TokenForm
from ..models import ApiToken, User

MOST_TOKENS = 20


class SignUpView(SignupView):  # type: ignore[misc]
    """django-allauth's sign-up with all its writes in one transaction.

    Otherwise there are six transactions, which each wait for the disk, and a crash could leave an account without its
    address.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        """Hash the password before the transaction, because that takes longer than the writes and would lock SQLite."""
        form.password_hash = make_password(form.cleaned_data["password1"])
        form.cleaned_data["password1"] = ""
        with transaction.atomic():
            response: HttpResponse = super().form_valid(form)
        return response


@open_page_to(SiteAudience.SIGNED_IN)
def account(request: HttpRequest) -> HttpResponse:
    """The account page. A new token's secret is only in the response to the POST, not in the session or a message."""
    user = signed_in_user(request.user)
    form, secret = TokenForm(user), ""
    if request.method == "POST":
        if request.POST.get("action") == "revoke":
            return _revoke_token(request, user)
        form = TokenForm(user, request.POST)
        if secret := _issue_token(user, form):
            form = TokenForm(user)
    status = 422 if form.errors else 201 if secret else 200
    context = {"form": form, "tokens": user.api_tokens.all(), "secret": secret}
    return render(request, "accounts/account.html", context, status=status)


@open_page_to(SiteAudience.ANYONE)
def password_link(request: HttpRequest, token: str) -> HttpResponse:
    """Redirect from a password link to django-allauth's page for a new password; 410 if the link has expired."""
    user = people.account_behind(token)
    if user is None:
        return render(request, "accounts/password_link.html", status=410)
    key = default_token_generator.make_token(user)
    response = redirect("account_reset_password_from_key", uidb36=user_pk_to_url_str(user), key=key)
    response["Cache-Control"] = "private, no-store"
    return response


@transaction.atomic
def _issue_token(user: User, form: TokenForm) -> str:
    """The secret of a new token; "" and an error in the form if none was made.

    Names are unique per person, so that a double click, or a reload of the page with the secret, makes no second token.
    """
    if not form.is_valid():
        return ""
    User.objects.select_for_update().get(pk=user.pk)
    name = form.cleaned_data["name"]
    if user.api_tokens.count() >= MOST_TOKENS:
        form.add_error(
            "name", _("You already have %(number)s tokens, the maximum. Revoke one first.") % {"number": MOST_TOKENS}
        )
    elif user.api_tokens.filter(name=name).exists():
        words = _("You already have a token “%(name)s”. It was shown only once. Revoke it or choose another name.")
        form.add_error("name", words % {"name": name})
    else:
        return ApiToken.issue(user, name, form.cleaned_data["scope"])[1]
    return ""


def _revoke_token(request: HttpRequest, user: User) -> HttpResponse:
    token = request.POST.get("token", "")
    gone, _rows = user.api_tokens.filter(pk=int(token) if token.isdecimal() and len(token) < 19 else 0).delete()
    if gone:
        messages.success(request, _("Token revoked. Programs using it no longer have access."))
    else:
        messages.error(request, _("This token doesn't exist."))
    return see_other("account")
