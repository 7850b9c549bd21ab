"""Registration of platforms: dynamic by a one-time link, or typed by an operator; approval, deployments, switching off.

Visiting the link stores what the platform sent along; a task then asks the platform (`ask_platform`). A registered
platform can do nothing before an operator has approved it.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy, gettext_noop

from leaderboard.accounts.models import User, token_digest
from leaderboard.common.clock import database_now
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.queries import locked_by_key
from leaderboard.competitions.wake_ups import wake_workers_after_commit

from .addresses import NoAnswer, PlatformSession, host_of, is_usable_address, object_of
from .launching import ASK_PLATFORMS, is_identifier
from .models import MAX_ADDRESS, REGISTRATION_LIFETIME, TICKS, Deployment, Platform, PlatformMark, Registration
from .platform_services import LINEITEM_SCOPE, ROSTER_SCOPE, SCORE_SCOPE

PLATFORM_CLAIM = "https://purl.imsglobal.org/spec/lti-platform-configuration"
TOOL_CLAIM = "https://purl.imsglobal.org/spec/lti-tool-configuration"
KEYS_LAST, TRY_AGAIN_AFTER = timedelta(hours=1), timedelta(minutes=1)
MAX_NAME, MAX_TOKEN = 200, 20_000

NO_ANSWER = gettext_noop("The platform's address couldn't be read. Check it and start again with a new link.")
BAD_ANSWER = gettext_noop("The platform's answer was incomplete or named other hosts.")
KNOWN_ALREADY = gettext_noop("This platform is registered already with the same client ID.")

# By the state of a registration: the heading of its page, and its text; of one that failed its problem.
TEXTS = {
    "gone": (
        gettext_lazy("This registration link no longer works"),
        gettext_lazy("Each link works once, for 24 hours. Make a new one under “Learning platforms”."),
    ),
    "unused": (
        gettext_lazy("Paste this address in your platform"),
        gettext_lazy("Your platform opens it during its dynamic registration."),
    ),
    "waiting": (gettext_lazy("Asking your platform"), gettext_lazy("This page looks again by itself.")),
    "done": (
        gettext_lazy("Registered"),
        gettext_lazy("Now approve the platform in Leaderboard under “Learning platforms”."),
    ),
    "failed": (gettext_lazy("Registration didn't work"), ""),
}


def new_link() -> str:
    """A new address by which a platform registers itself; "" without `SITE_URL`, which the platform is told."""
    if not settings.SITE_URL:
        return ""
    code = secrets.token_urlsafe(24)
    Registration.objects.create(digest=token_digest(code))
    return f"{settings.SITE_URL}{reverse('lti_register', args=[code])}"


def registration_of(code: str) -> Registration | None:
    links = Registration.objects.filter(digest=token_digest(code))
    return links.filter(created_at__gt=database_now() - REGISTRATION_LIFETIME).first()


def begin_registration(found: Registration, *, configuration_url: str, token: str) -> Registration | None:
    """Use up a link and have a worker ask the platform; None if it is used up already."""
    is_usable = is_usable_address(configuration_url) and len(token) <= MAX_TOKEN and token.isprintable()
    facts = {"configuration_url": configuration_url, "token": token} if is_usable else {"problem": NO_ANSWER}
    if not Registration.objects.filter(pk=found.pk, used_at=None).update(used_at=database_now(), **facts):
        return None
    if is_usable:
        wake_workers_after_commit(ASK_PLATFORMS)
    return Registration.objects.get(pk=found.pk)


def registrations_to_ask() -> list[int]:
    waiting = Registration.objects.filter(platform=None, problem="").exclude(used_at=None)
    return list(waiting.values_list("pk", flat=True)[:10])


# --- asking the platform, by a task -----------------------------------------------------------------------------


class _BadAnswer(Exception):
    """The platform's answer cannot be used."""


def ask_platform(number: int) -> None:
    """Read a platform's configuration, register this site there, and store the platform for approval."""
    found = Registration.objects.filter(pk=number, platform=None, problem="").exclude(used_at=None).first()
    if found is None:
        return
    problem = ""
    try:
        with PlatformSession() as session:
            configuration = _get_configuration(session, found.configuration_url)
            platform, deployment = _register(session, configuration, found.token)
        with transaction.atomic():
            platform.save()
            Registration.objects.filter(pk=number).update(platform=platform, token="")
            if deployment:
                platform.deployments.create(name=deployment)
    except (NoAnswer, ValueError, RecursionError):
        problem = NO_ANSWER
    except _BadAnswer:
        problem = BAD_ANSWER
    except IntegrityError:
        problem = KNOWN_ALREADY
    if problem:
        Registration.objects.filter(pk=number).update(problem=problem, token="")


def _get_configuration(session: PlatformSession, address: str) -> dict[str, Any]:
    response = session.get(address)
    found = object_of(response.json() if response.status_code == 200 else None)
    issuer: Any = found.get("issuer")
    endpoints = [found.get(f"{name}_endpoint") for name in ("authorization", "token", "registration")]
    addresses = [issuer, found.get("jwks_uri"), *endpoints]
    if not all(is_usable_address(one) and len(one) <= MAX_ADDRESS for one in addresses) or len(issuer) > MAX_NAME:
        raise _BadAnswer
    if host_of(issuer) != host_of(address) or len({one.partition("://")[0] for one in addresses}) != 1:
        raise _BadAnswer
    return found


def _register(session: PlatformSession, configuration: dict[str, Any], token: str) -> tuple[Platform, str]:
    """The platform, not saved, and the deployment that it names, or ""."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    address = configuration["registration_endpoint"]
    response = session.post(address, json=_tool_configuration(configuration), headers=headers)
    answer = object_of(response.json() if response.status_code in (200, 201) else None)
    client_id: Any = answer.get("client_id")
    if not is_identifier(client_id) or len(client_id) > MAX_NAME:
        raise _BadAnswer
    deployment = object_of(answer.get(TOOL_CLAIM)).get("deployment_id")
    audience = configuration.get("authorization_server", "")
    platform = Platform(
        issuer=configuration["issuer"],
        client_id=client_id,
        auth_url=configuration["authorization_endpoint"],
        token_url=configuration["token_endpoint"],
        keys_url=configuration["jwks_uri"],
        audience=audience if isinstance(audience, str) and len(audience) <= MAX_NAME else "",
        name=host_of(configuration["issuer"])[:100],
        family=_family_of(configuration),
    )
    return platform, str(deployment) if is_identifier(deployment) else ""


def _family_of(configuration: dict[str, Any]) -> str:
    return str(object_of(configuration.get(PLATFORM_CLAIM)).get("product_family_code", "")).casefold()[:40]


def _tool_configuration(configuration: dict[str, Any]) -> dict[str, Any]:
    site = settings.SITE_URL
    placements: list[dict[str, Any]] = [{"type": "LtiResourceLinkRequest"}]
    if _family_of(configuration) == "canvas":
        placements = [{"type": "LtiResourceLinkRequest", "placements": ["course_navigation", "assignment_selection"]}]
    return {
        "application_type": "web",
        "response_types": ["id_token"],
        "grant_types": ["implicit", "client_credentials"],
        "initiate_login_uri": f"{site}/lti/login/",
        "redirect_uris": [f"{site}/lti/launch/"],
        "client_name": "Leaderboard",
        "jwks_uri": f"{site}/lti/jwks/",
        "token_endpoint_auth_method": "private_key_jwt",
        "scope": " ".join((LINEITEM_SCOPE, SCORE_SCOPE, ROSTER_SCOPE)),
        TOOL_CLAIM: {
            "domain": site.partition("://")[2],
            "target_link_uri": f"{site}/lti/launch/",
            "claims": ["iss", "sub", "name", "given_name", "family_name", "email"],
            "messages": placements,
            "custom_parameters": {"section_names": "$com.instructure.User.sectionNames"},
        },
    }


def platforms_without_fresh_keys() -> list[int]:
    now = database_now()
    # Times after now are of a clock that was set back meanwhile.
    stale = Q(keys_fetched_at=None) | ~Q(keys_fetched_at__range=(now - KEYS_LAST, now))
    waited = Q(keys_tried_at=None) | ~Q(keys_tried_at__range=(now - TRY_AGAIN_AFTER, now))
    due = Platform.objects.filter(stale, waited, off_at=None).exclude(approved_at=None)
    return list(due.values_list("pk", flat=True)[:20])


def fetch_keys(number: int) -> None:
    """Fetch and store a platform's keys; without a usable answer the old ones stay."""
    rows = Platform.objects.filter(pk=number)
    rows.update(keys_tried_at=database_now())
    with suppress(NoAnswer, ValueError, RecursionError), PlatformSession() as session:
        response = session.get(rows.get().keys_url)
        keys = object_of(response.json() if response.status_code == 200 else None)
        if isinstance(keys.get("keys"), list):
            rows.update(keys=keys, keys_fetched_at=database_now())


# --- operators --------------------------------------------------------------------------------------------------


@transaction.atomic
def add_platform(*, issuer: str, client_id: str, deployments: list[str], user: User | None, **facts: Any) -> Platform:
    """Add and approve a platform by hand. Raises `ValueError` with the name of a field that cannot be used."""
    for name in ("auth_url", "token_url", "keys_url"):
        if not is_usable_address(facts[name]):
            raise ValueError(name)
    if not issuer or not client_id or len(issuer) > MAX_NAME or len(client_id) > MAX_NAME:
        raise ValueError("issuer")
    if Platform.objects.filter(issuer=issuer, client_id=client_id).exists():
        raise ValueError("client_id")
    facts["name"] = facts.get("name") or host_of(issuer) or issuer[:100]
    platform = Platform.objects.create(issuer=issuer, client_id=client_id, **facts)
    Deployment.objects.bulk_create(Deployment(platform=platform, name=name) for name in deployments)
    approve_platform(platform=platform, user=user)
    return platform


@transaction.atomic
def approve_platform(*, platform: Platform, user: User | None) -> None:
    """Save a platform and let its launches in, with the deployments that it was registered with."""
    now = database_now()
    if platform.off_at is not None:  # marks that waited meanwhile have a day from now on
        waiting = PlatformMark.objects.filter(link__deployment__platform=platform, state=PlatformMark.State.WAITING)
        locked_by_key(waiting).update(wanted_at=now, next_at=now)
    if platform.approved_at is None:  # launches are refused until now, so all of these were named by registration
        platform.deployments.filter(approved_at=None).update(approved_at=now)
    platform.approved_at = platform.approved_at or now
    platform.approved_by, platform.off_at = user, None
    platform.save()
    after = {tick: getattr(platform, tick) for tick in ("issuer", *TICKS)}
    AuditEntry.append(AuditEvent.LTI_APPROVED, user=user, about=str(platform), after=after)
    wake_workers_after_commit(ASK_PLATFORMS)


@transaction.atomic
def approve_deployment(*, platform: Platform, number: int, user: User) -> None:
    changed = platform.deployments.filter(pk=number, approved_at=None).update(approved_at=database_now())
    if changed:
        AuditEntry.append(AuditEvent.LTI_APPROVED, user=user, about=str(platform), after={"deployment": number})


@transaction.atomic
def switch_off(*, platform: Platform, user: User | None) -> None:
    """Refuse further launches, rosters and marks of a platform; everything that came by it stays."""
    Platform.objects.filter(pk=platform.pk).update(off_at=database_now())
    AuditEntry.append(AuditEvent.LTI_OFF, user=user, about=str(platform))
