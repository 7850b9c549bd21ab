"""Launches: a browser comes from a platform with a signed token, and leaves as a signed-in person.

OpenID Connect's third-party initiated login with `form_post`, as in IMS LTI 1.3. A `LoginTry` binds the launch to the
browser that began it, and is used up by the first launch that brings its state. Nothing is stored before the token, its
platform and its deployment are found good; only an unknown deployment is noted for the operator.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

import jwt
from django.core import signing
from django.db import transaction
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from leaderboard.accounts.institution.id_tokens import BadToken, read_id_token
from leaderboard.accounts.models import token_digest
from leaderboard.common.clock import database_now
from leaderboard.common.names import clean_text
from leaderboard.competitions.models import Competition
from leaderboard.competitions.wake_ups import wake_workers

from .addresses import is_usable_address, object_of
from .models import LOGIN_LIFETIME, MAX_WAITING_DEPLOYMENTS, Deployment, LoginTry, Platform

MAX_LAUNCH_BYTES = 100_000
MAX_TARGET_CHARACTERS = 400
MAX_TEXT = 255
OLDEST_TOKEN_SECONDS = 3600
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
ROSTER_CLAIM = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
GRADES_CLAIM = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
# A teacher in the student view of Canvas, who is a learner too.
TEST_USER = "http://purl.imsglobal.org/vocab/lti/system/person#TestUser"

ASK_PLATFORMS = "leaderboard.lti.tasks.ask_platforms"

# By the reason of a refusal: the heading of its page, and what to do.
REFUSALS = {
    "": (_("This activity can't be opened"), _("Its link may be old or used. Open it again from your course.")),
    "not_connected": (
        _("Your teacher hasn't connected this activity yet"),
        _("Tell your teacher: they open the activity once and choose the competition."),
    ),
    "no_part": (_("You have no part in this activity"), _("It is open to students and teachers of the course.")),
    "ask_the_host": (_("Another teacher hosts this competition"), _("Ask to be added on its page “People”:")),
    "blocked": (_("Your account is blocked"), _("Ask your administrator.")),
    "platform_waits": (_("Your learning platform isn't approved yet"), _("Ask the administrator of this site.")),
    "deployment_waits": (
        _("This installation of your learning platform isn't approved yet"),
        _("The administrator of this site approves it under “Learning platforms”."),
    ),
}
_signer = signing.Signer(salt="lti state")


class LaunchRefused(Exception):
    """A login or launch that is refused, with a short code for the log that quotes nothing of it.

    `reason` selects the text of the page where an operator or teacher can change the outcome; the page may name the
    hosts of `competition`.
    """

    def __init__(self, code: str, *, reason: str = "", competition: Competition | None = None) -> None:
        super().__init__(code)
        self.reason, self.competition = reason, competition
        self.status = 403 if reason else 400
        self.heading, self.text = REFUSALS[reason]


class KeysNeeded(Exception):
    """The token names a key that is not known; the platform's keys are fetched, and the launch may be sent again."""


# --- login ------------------------------------------------------------------------------------------------------


def begin_login(asked: Mapping[str, str], *, site: str, browser: str) -> str:
    """Store a `LoginTry` and return the address at the platform where the browser goes on. Raises `LaunchRefused`.

    `site` is the address of this site, `browser` the secret in the browser's cookie.
    """
    if not all(value.isprintable() for value in asked.values()):
        raise LaunchRefused("malformed")
    platform = _platform_of(asked.get("iss", ""), asked.get("client_id", ""))
    target, hint, message_hint = (asked.get(name, "") for name in ("target_link_uri", "login_hint", "lti_message_hint"))
    if not hint or len(hint) > 2000 or len(message_hint) > 4000:
        raise LaunchRefused("login hint")
    if len(target) > MAX_TARGET_CHARACTERS or not url_has_allowed_host_and_scheme(target, {urlsplit(site).netloc}):
        raise LaunchRefused("target")
    now, nonce = database_now(), secrets.token_urlsafe(32)
    LoginTry.objects.filter(expires_at__lt=now).delete()
    facts = {"platform": platform, "browser": token_digest(browser), "target": target}
    LoginTry.objects.create(nonce=nonce, expires_at=now + LOGIN_LIFETIME, **facts)
    query = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": site + reverse("lti_launch"),
        "state": _signer.sign(nonce),
        "nonce": nonce,
        "login_hint": hint,
    }
    if message_hint:
        query["lti_message_hint"] = message_hint
    return f"{platform.auth_url}{'&' if '?' in platform.auth_url else '?'}{urlencode(query)}"


def _platform_of(issuer: str, client_id: str) -> Platform:
    named = Platform.objects.filter(issuer=issuer[:300])
    if client_id:
        named = named.filter(client_id=client_id[:300])
    # Another registration of the issuer, waiting or switched off, must not keep launches out that name no client.
    working = [platform for platform in named if platform.is_on]
    if not working and named:
        raise LaunchRefused("platform not approved", reason="platform_waits")
    if len(working) != 1:
        raise LaunchRefused("issuer")
    return working[0]


# --- launch -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Launch:
    """The verified content of a launch; `services` are the fields of its link that each launch names anew."""

    deployment: Deployment
    claims: Mapping[str, Any]
    context: str
    resource: str
    services: Mapping[str, str]

    @property
    def platform(self) -> Platform:
        return self.deployment.platform

    @property
    def subject(self) -> str:
        return str(self.claims["sub"])

    @property
    def lms_user(self) -> str:
        """The platform's name of the person as the class list stores it."""
        return f"{self.platform.pk}:{self.subject}"

    @property
    def is_instructor(self) -> bool:
        return has_role(self.claims[CLAIM + "roles"], "Instructor")

    @property
    def is_learner(self) -> bool:
        roles = self.claims[CLAIM + "roles"]
        return has_role(roles, "Learner") and not self.is_instructor and TEST_USER not in roles

    @property
    def full_name(self) -> str:
        return text_of(self.claims, "name", 200) or " ".join(filter(None, self.names))

    @property
    def names(self) -> tuple[str, str]:
        return text_of(self.claims, "given_name", 150), text_of(self.claims, "family_name", 150)

    @property
    def address(self) -> str:
        """The e-mail address that the platform names, in lower case; "" if it is missing or not ASCII."""
        value = self.claims.get("email")
        if not isinstance(value, str) or len(value) > 254 or not (value.isascii() and value.isprintable()):
            return ""
        return value.lower() if "@" in value else ""


def has_role(roles: Collection[Any], name: str) -> bool:
    """Whether a role in the course is among `roles`, in its long or short form."""
    return ROLE + name in roles or name in roles


def text_of(facts: Mapping[str, Any], name: str, longest: int = MAX_TEXT) -> str:
    """A text that people read, cleaned like one from a form; "" if it is missing or no text."""
    value = facts.get(name)
    return clean_text(value)[:longest] if isinstance(value, str) else ""


def is_identifier(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= MAX_TEXT and value.isprintable()


def read_launch(form: Mapping[str, str], *, browser: str) -> Launch:
    """Verify the form that a platform had the browser send. Raises `LaunchRefused`, `KeysNeeded`."""
    token, state = form.get("id_token", ""), form.get("state", "")
    try:
        nonce = _signer.unsign(state)
    except signing.BadSignature:
        raise LaunchRefused("state") from None
    login = LoginTry.objects.select_related("platform").filter(nonce=nonce, expires_at__gte=database_now()).first()
    if login is None or not browser or not constant_time_compare(login.browser, token_digest(browser)):
        raise LaunchRefused("browser")
    platform = login.platform
    if not platform.is_on:
        raise LaunchRefused("platform not approved", reason="platform_waits")
    _check_key(token, platform)
    if not LoginTry.objects.filter(pk=login.pk).delete()[0]:
        raise LaunchRefused("used")
    named = {"issuer": platform.issuer, "client_id": platform.client_id, "nonce": nonce}
    try:
        claims = read_id_token(
            token, keys=platform.keys, algorithms=("RS256",), max_subject_characters=MAX_TEXT, **named
        )
    except BadToken as error:
        raise LaunchRefused(str(error)) from None
    _check_message(claims, login)
    return _launch_of(claims, platform)


def _check_key(token: str, platform: Platform) -> None:
    """Raises `KeysNeeded` for a well-formed token that names an unknown key, at most once a minute for a platform."""
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError:
        raise LaunchRefused("malformed") from None
    if header.get("alg") != "RS256":
        raise LaunchRefused("algorithm")
    if any(object_of(key).get("kid") == header.get("kid") for key in platform.keys.get("keys", [])):
        return
    now = database_now()
    may_ask = platform.keys_tried_at is None or platform.keys_tried_at < now - timedelta(minutes=1)
    if may_ask and Platform.objects.filter(pk=platform.pk, keys_fetched_at__isnull=False).update(keys_fetched_at=None):
        wake_workers(ASK_PLATFORMS)
    if may_ask or platform.keys_fetched_at is None:
        raise KeysNeeded
    raise LaunchRefused("key")


def _check_message(claims: Mapping[str, Any], login: LoginTry) -> None:
    roles, iat = claims.get(CLAIM + "roles"), claims["iat"]
    checks = {
        "old": isinstance(iat, int | float) and iat >= time.time() - OLDEST_TOKEN_SECONDS,
        "version": claims.get(CLAIM + "version") == "1.3.0",
        "message type": claims.get(CLAIM + "message_type") == "LtiResourceLinkRequest",
        "roles": isinstance(roles, list) and all(isinstance(one, str) for one in roles),
        "target": claims.get(CLAIM + "target_link_uri") == login.target,
    }
    for code, is_good in checks.items():
        if not is_good:
            raise LaunchRefused(code)


def _launch_of(claims: Mapping[str, Any], platform: Platform) -> Launch:
    context, resource = _object(claims, CLAIM + "context"), _object(claims, CLAIM + "resource_link")
    roster, grades = _object(claims, ROSTER_CLAIM, {}), _object(claims, GRADES_CLAIM, {})
    urls = {
        "memberships_url": roster.get("context_memberships_url"),
        "lineitems_url": grades.get("lineitems"),
        "claimed_lineitem": grades.get("lineitem"),
    }
    # Names by which the platform is recognized again; never cleaned, which could make two of them one.
    identifiers = [claims.get(CLAIM + "deployment_id"), context.get("id"), resource.get("id"), claims["sub"]]
    if not all(map(is_identifier, identifiers)):
        raise LaunchRefused("identifier")
    return Launch(
        deployment=_approved_deployment(platform, str(identifiers[0])),
        claims=claims,
        context=str(context["id"]),
        resource=str(resource["id"]),
        services={
            "context_title": text_of(context, "title") or text_of(context, "label"),
            **{name: str(url) if is_usable_address(url) else "" for name, url in urls.items()},
        },
    )


def _object(claims: Mapping[str, Any], name: str, default: object = None) -> Mapping[str, Any]:
    found = claims.get(name, default)
    if not isinstance(found, dict):
        raise LaunchRefused(name.rpartition("/")[2])
    return found


def _approved_deployment(platform: Platform, name: str) -> Deployment:
    """The deployment with this name if it is approved; else it is noted for the operator. Raises `LaunchRefused`."""
    found = platform.deployments.filter(name=name).first()
    if found is None and platform.accepts_every_deployment:
        found = platform.deployments.get_or_create(name=name, defaults={"approved_at": database_now()})[0]
    elif found is None:
        with transaction.atomic():  # the lock keeps simultaneous launches under the limit
            Platform.objects.select_for_update().get(pk=platform.pk)
            if platform.deployments.filter(approved_at=None).count() < MAX_WAITING_DEPLOYMENTS:
                platform.deployments.get_or_create(name=name)
    if found is None or found.approved_at is None:
        raise LaunchRefused("deployment not approved", reason="deployment_waits")
    return found
