"""The RSA key by which this site signs its requests to platforms, in the file `lti_key` next to `secret_key`."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

KEY_FILE = "lti_key"
KEY_BITS = 2048


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
    path = settings.VAR_DIR / KEY_FILE
    if not path.exists():
        _make_key(str(path))
    return _read_key(path.read_bytes())


@lru_cache(maxsize=1)
def _read_key(data: bytes) -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key(data, password=None)
    assert isinstance(key, rsa.RSAPrivateKey), "the file lti_key holds an RSA key"
    return key


def _make_key(path: str) -> None:
    """Make the file with mode 600; of processes that do so at once one wins, and its key is whole."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    partial = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key.private_bytes(serialization.Encoding.PEM, *form))
    with suppress(FileExistsError):
        os.link(partial, path)
    os.unlink(partial)
