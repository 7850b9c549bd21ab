"""Devices on which a person has signed in before.

Wrong passwords that strangers send for an account must not keep its owner out. A device that has signed in holds a
signed cookie that says so, and its tries are counted apart from those of strangers. The cookie opens nothing. It is
bound to the password, so a new password ends it everywhere but on the device that chose it.
"""

from __future__ import annotations

import secrets
from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac

from .models import User

COOKIE = "device"
SECONDS = 365 * 24 * 3600
MOST_ACCOUNTS = 8
"""Of one device; a computer of a laboratory has many, and the last ones count."""
_SIGNED_IN = "leaderboard.signed_in"


def device_of(request: HttpRequest, user: User | None) -> str:
    """The name of the device, if this account has signed in on it with the password that it has now; else empty."""
    if user is None:
        return ""
    held = _read(request)
    mark = held["accounts"].get(str(user.pk), "")
    return str(held["device"]) if constant_time_compare(mark, _password_mark(user)) else ""


def remember_device(request: HttpRequest, response: HttpResponse) -> None:
    """Give the browser the cookie when somebody has signed in on it or chosen a password there."""
    if user := request.META.get(_SIGNED_IN):
        response.set_cookie(
            COOKIE,
            _with_account(request, user),
            max_age=SECONDS,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )


def _mark_signed_in(*, request: HttpRequest | None = None, user: User, **_: Any) -> None:
    if request is not None:
        request.META[_SIGNED_IN] = user


for _signal in (user_logged_in, password_changed, password_set, password_reset):
    _signal.connect(_mark_signed_in, dispatch_uid="known_device")


def _with_account(request: HttpRequest, user: User) -> str:
    held = _read(request)
    accounts = {pk: mark for pk, mark in held["accounts"].items() if pk != str(user.pk)}
    accounts[str(user.pk)] = _password_mark(user)
    latest = dict(list(accounts.items())[-MOST_ACCOUNTS:])
    return signing.dumps({"device": held["device"], "accounts": latest}, salt=COOKIE)


def _read(request: HttpRequest) -> dict[str, Any]:
    try:
        held: dict[str, Any] = signing.loads(request.COOKIES.get(COOKIE, ""), salt=COOKIE, max_age=SECONDS)
    except signing.BadSignature:
        return {"device": secrets.token_hex(8), "accounts": {}}
    return held


def _password_mark(user: User) -> str:
    """Changes with the password; the password's hash cannot be read out of it."""
    return salted_hmac(COOKIE, f"{user.pk}:{user.password}", algorithm="sha256").hexdigest()[:32]
