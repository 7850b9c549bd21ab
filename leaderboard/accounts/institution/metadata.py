"""Endpoints and keys of the OpenID providers: fetched by a task, stored in `ProviderMetadata`, read by requests.

Imports `requests` only when it fetches.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from leaderboard.common.clock import database_now
from leaderboard.common.institutions import Institution

from ..models import ProviderMetadata

log = logging.getLogger(__name__)

FRESH_FOR, TRY_AGAIN_AFTER = timedelta(hours=1), timedelta(minutes=1)
# All requests to one provider together.
MAX_FETCH_SECONDS = 10.0
WELL_KNOWN = "/.well-known/openid-configuration"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class BadMetadata(Exception):
    """Unusable metadata of a provider. The message is a short code for the log."""


def due_institutions() -> list[Institution]:
    """Institutions whose metadata is missing or older than an hour, without a try in the last minute."""
    if not settings.INSTITUTIONS:
        return []
    rows, now = ProviderMetadata.objects.in_bulk(), database_now()

    def is_due(row: ProviderMetadata | None) -> bool:
        if row is None:
            return True
        # Times after now are of a clock that was set back meanwhile.
        is_fresh = row.fetched_at is not None and now - FRESH_FOR < row.fetched_at <= now
        return not is_fresh and not now - TRY_AGAIN_AFTER < row.tried_at <= now

    return [one for one in settings.INSTITUTIONS if is_due(rows.get(one.issuer))]


def fetch_metadata(institution: Institution) -> bool:
    """Fetch and store a provider's metadata. False if there is no usable answer; the old row is kept then."""
    row, _ = ProviderMetadata.objects.update_or_create(issuer=institution.issuer, defaults={"tried_at": database_now()})
    try:
        row.configuration, row.keys = _fetch_metadata(institution)
    except BadMetadata as error:
        log.warning("the institution's provider could not be asked about itself", extra={"code": str(error)})
        return False
    row.fetched_at = database_now()
    row.save(update_fields=["configuration", "keys", "fetched_at"])
    return True


def _fetch_metadata(institution: Institution) -> tuple[dict[str, Any], dict[str, Any]]:
    from .sessions import NoAnswer, ProviderSession

    def get_json(address: str) -> Any:
        response = session.get(address)
        response.raise_for_status()
        return response.json()

    try:
        with ProviderSession(time.monotonic() + MAX_FETCH_SECONDS) as session:
            configuration = get_json(institution.issuer + WELL_KNOWN)
            _check_configuration(configuration, institution)
            keys = get_json(configuration["jwks_uri"])
    except (NoAnswer, ValueError) as error:
        raise BadMetadata(type(error).__name__) from None  # the message of `error` quotes URLs and answers
    if not isinstance(keys, dict) or not isinstance(keys.get("keys"), list):
        raise BadMetadata("keys")
    return configuration, keys


def _check_configuration(found: Any, institution: Institution) -> None:
    if not isinstance(found, dict) or str(found.get("issuer")).rstrip("/") != institution.issuer:
        raise BadMetadata("issuer of the configuration")
    schemes = ("https", urlsplit(institution.issuer).scheme)
    addresses = [found.get(name) for name in ENDPOINTS] + [found.get("userinfo_endpoint") or institution.issuer]
    are_usable = all(isinstance(one, str) and one.partition("://")[0] in schemes for one in addresses)
    if not are_usable or not isinstance(found.get("token_endpoint_auth_methods_supported", []), list):
        raise BadMetadata("endpoints of the configuration")
