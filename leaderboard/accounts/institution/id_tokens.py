"""Validation of ID tokens: signed by the provider, issued to this site, for this sign-in.

OpenID Connect Core 1.0, 3.1.3.7. The signature is checked although the token came directly from the provider.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import jwt
from django.utils.crypto import constant_time_compare

# Algorithms with a public key. The token must not choose outside this list: `none` would pass, and so would HS256 with
# the provider's public key as its secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
NEEDED = ["iss", "aud", "exp", "iat", "sub", "nonce"]
CLOCKS_DIFFER_SECONDS = 60
# The width of django-allauth's column `SocialAccount.uid`.
MAX_SUBJECT_CHARACTERS = 191


class BadToken(Exception):
    """An invalid ID token. The message is a short code for the log and quotes nothing of the token."""


def read_id_token(
    token: str,
    *,
    keys: Any,
    issuer: str,
    client_id: str,
    nonce: str,
    algorithms: Collection[str] = ALGORITHMS,
    max_subject_characters: int = MAX_SUBJECT_CHARACTERS,
) -> dict[str, Any]:
    """The claims of a valid token; `keys` is the provider's published JWK set. Raises `BadToken`."""
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            _key_of(token, keys, algorithms),
            algorithms=list(algorithms),
            audience=client_id,
            issuer=issuer,
            leeway=CLOCKS_DIFFER_SECONDS,
            options={"require": NEEDED, "enforce_minimum_key_length": True},
        )
    except jwt.PyJWTError as error:
        raise BadToken(type(error).__name__) from None
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise BadToken("malformed") from None
    _check_subject_and_receiver(claims, client_id, max_subject_characters)
    if not constant_time_compare(str(claims["nonce"]).encode(errors="replace"), nonce):
        raise BadToken("nonce")
    return claims


def _key_of(token: str, keys: Any, algorithms: Collection[str]) -> jwt.PyJWK:
    header = jwt.get_unverified_header(token)
    if header.get("alg") not in algorithms:
        raise BadToken("algorithm")
    usable = [key for key in keys["keys"] if key.get("use", "sig") == "sig"]
    named = [key for key in usable if key.get("kid") == header["kid"]] if "kid" in header else usable
    # A token without `kid` is accepted only if the provider has a single key.
    if len(named) != 1:
        raise BadToken("key")
    return jwt.PyJWK(named[0], algorithm=named[0].get("alg") or header["alg"])


def _check_subject_and_receiver(claims: dict[str, Any], client_id: str, max_subject_characters: int) -> None:
    subject, audience = claims["sub"], claims["aud"]
    if not isinstance(subject, str) or not subject.strip() or len(subject) > max_subject_characters:
        raise BadToken("subject")
    is_for_several = isinstance(audience, list) and len(audience) > 1
    if claims.get("azp", None if is_for_several else client_id) != client_id:
        raise BadToken("authorized party")
