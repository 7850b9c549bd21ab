"""The RSA key by which this site signs its requests to platforms, in the file `lti_key` next to `secret_key`."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

from leaderboard.common.folders import made_once


def sign(claims: dict[str, Any]) -> str:
    """The claims as a JWT, signed with RS256."""
    key = _load_key()
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": _key_id(key)})


def public_keys() -> dict[str, Any]:
    """The JWK set with the public key."""
    key = _load_key()
    public: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {"keys": [{**public, "kid": _key_id(key), "alg": "RS256", "use": "sig"}]}


def _key_id(key: rsa.RSAPrivateKey) -> str:
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    return sha256(key.public_key().public_bytes(serialization.Encoding.DER, public)).hexdigest()[:32]


def _load_key() -> rsa.RSAPrivateKey:
    return _read_key(made_once(settings.VAR_DIR / "lti_key", _new_key))


@lru_cache(maxsize=1)
def _read_key(text: str) -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key(text.encode(), password=None)
    assert isinstance(key, rsa.RSAPrivateKey), "the file lti_key holds an RSA key"
    return key


def _new_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, *form).decode()
