"""Pages of accounts: sign-up, the account with its API tokens, the operators' page about people, and a person's data
and its deletion."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.account.views import EmailView, SignupView
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.hashers import make_password
from django.core.paginator import Paginator
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from leaderboard.common.access import SiteAudience, open_page_to
from leaderboard.common.names import clean_text
from leaderboard.common.responses import absolute_url, posted_number, see_other, signed_in_user, zip_download
from leaderboard.common.shared_cache import count_tries, count_try, note_wrong_try

from . import personal_data
from .adapter import may_use_password
from .forms import DeleteAccountForm, PersonForm, TokenForm
from .models import ApiToken, User
from .people import account_behind, add_person, find_people, make_password_link, set_can_host

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


class AddressesView(EmailView):  # type: ignore[misc]
    """django-allauth's page of one's addresses. The main address of another account cannot become one's own."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            with transaction.atomic():
                response: HttpResponse = super().post(request, *args, **kwargs)
        except IntegrityError:
            messages.error(request, get_adapter().error_messages["email_taken"])
            return redirect("account_email")
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
    """Redirect from a password link to django-allauth's page for a new password; 410 if the link is used,
    expired or damaged."""
    user = account_behind(token)
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
    gone, _rows = user.api_tokens.filter(pk=posted_number(request.POST.get("token", ""))).delete()
    if gone:
        messages.success(request, _("Token revoked. Programs using it no longer have access."))
    else:
        messages.error(request, _("This token doesn't exist."))
    return see_other("account")


PER_PAGE = 50


@open_page_to(SiteAudience.OPERATORS)
def people(request: HttpRequest) -> HttpResponse:
    """Find and add people, let them host, make password links. A link is only in the response to the POST."""
    action = request.POST.get("action", "")
    form, receiver = PersonForm(request.POST if action == "add" else None), None
    if action == "add":
        receiver = _add_person(request, form)
    elif action:
        account = get_object_or_404(User, username=request.POST.get("person", ""), is_active=True)
        if action in ("host", "no_host"):
            return _set_can_host(request, account, action == "host")
        if action != "link" or not may_use_password(account):
            raise Http404
        receiver = account
    return _people_page(request, form, receiver)


def _people_page(request: HttpRequest, form: PersonForm, receiver: User | None) -> HttpResponse:
    text, link = clean_text(request.GET.get("q", ""))[:60], ""
    if receiver is not None:
        token = make_password_link(account=receiver, user=signed_in_user(request.user))
        link = absolute_url(request, "password_link", token)
    context = {
        "form": form,
        "q": text,
        "page": Paginator(find_people(text), PER_PAGE).get_page(request.GET.get("page")),
        "receiver": receiver,
        "password_link": link,
    }
    return render(request, "accounts/people.html", context, status=422 if form.errors else 200)


def _add_person(request: HttpRequest, form: PersonForm) -> User | None:
    if not form.is_valid():
        return None
    account = add_person(**form.cleaned_data, user=signed_in_user(request.user))
    if may_use_password(account):
        return account
    messages.success(request, _("%(name)s can sign in at the institution now.") % {"name": account})
    return None


def _set_can_host(request: HttpRequest, account: User, can_host: bool) -> HttpResponse:
    set_can_host(account=account, can_host=can_host, user=signed_in_user(request.user))
    if can_host:
        words = _("%(name)s can now host competitions.")
    else:
        words = _("%(name)s can't create competitions any more. Competitions they host stay theirs.")
    messages.success(request, words % {"name": account})
    return see_other("people", query=f"?{request.GET.urlencode()}" if request.GET else "")


EXPORTS_PER_HOUR = 5
HOUR = int(timedelta(hours=1).total_seconds())


@open_page_to(SiteAudience.SIGNED_IN)
def my_data(request: HttpRequest) -> HttpResponseBase:
    """Everything about the viewer as a zip. By POST, because it costs time and adds an entry to the audit log."""
    user = signed_in_user(request.user)
    if request.method != "POST":
        return redirect("account")
    if count_tries("export", user.pk) >= EXPORTS_PER_HOUR:
        messages.error(
            request,
            _("You downloaded your data %(number)s times in an hour. Try again later.") % {"number": EXPORTS_PER_HOUR},
        )
        return see_other("account")
    count_try("export", user.pk, seconds=HOUR)
    at = timezone.now()
    return zip_download("my-data.zip", lambda archive: personal_data.export_account(archive, account=user, at=at))


@sensitive_post_parameters("password")
@open_page_to(SiteAudience.SIGNED_IN)
def delete_account(request: HttpRequest) -> HttpResponse:
    """Delete the viewer's account, after their password once more, or their username if they have none."""
    user = signed_in_user(request.user)
    form = DeleteAccountForm(user, request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if not form.is_valid():
            note_wrong_try(request, "leaving", user.pk)
        else:
            try:
                personal_data.delete_account(account=user, user=user)
            except personal_data.CannotDelete as error:
                form.add_error(None, str(error))
            else:
                logout(request)
                messages.success(request, _("Your account is deleted."))
                return see_other("home")
    context = {"form": form, "obstacle": personal_data.obstacle_to_deleting(user)}
    return render(request, "accounts/delete_account.html", context, status=422 if form.errors else 200)
