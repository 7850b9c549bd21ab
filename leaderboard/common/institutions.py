"""The institutions at which people of this site sign in (OpenID Connect), as the environment names them.

`OIDC_ISSUER`, `OIDC_CLIENT_ID`, `OIDC_CLIENT_SECRET`, `OIDC_NAME`, `OIDC_DOMAINS`, `OIDC_STUDENT_NUMBER_CLAIM`,
`OIDC_HOSTS` and `OIDC_CONFIRMS_ADDRESSES` are those of the first; `OIDC_2_ISSUER` and so on of the second, without a
gap.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop

# As the database stores it with each account.
LONGEST_ISSUER = 200
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
ANY_DOMAIN = "*"


class BadInstitution(ValueError):
    """What is wrong with the variables, in words for the operator; no secret is quoted."""


@dataclass(frozen=True)
class Institution:
    """One provider. Its people may have an account here if their address is in one of `domains`."""

    number: int
    """Part of its addresses on this site."""
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    domains: tuple[str, ...]
    student_number_claim: str = ""
    host_claim: tuple[str, str] | None = None
    """Claim and value of those who may host; None leaves that right to the operator."""
    confirms_addresses: bool = False
    """Whether each address that it names is confirmed although it does not say so."""

    def admits(self, address: str) -> bool:
        return ANY_DOMAIN in self.domains or address.rpartition("@")[2].casefold() in self.domains


def institutions_in(environment: Mapping[str, str]) -> tuple[Institution, ...]:
    """Raises `BadInstitution`."""
    found: list[Institution] = []
    for number in count(1):
        prefix = "OIDC_" if number == 1 else f"OIDC_{number}_"
        if not environment.get(f"{prefix}ISSUER", "").strip():
            _refuse_gap(environment, number)
            return tuple(found)
        institution = _read_institution(environment, prefix, number)
        if institution.issuer in {one.issuer for one in found}:
            raise BadInstitution(f"{prefix}ISSUER is that of another institution.")
        if institution.student_number_claim and any(one.student_number_claim for one in found):
            raise BadInstitution(
                f"{prefix}STUDENT_NUMBER_CLAIM: only one institution can name student numbers, "
                "because rosters do not say whose they are."
            )
        found.append(institution)
    raise AssertionError


def _refuse_gap(environment: Mapping[str, str], first_missing: int) -> None:
    for name, value in environment.items():
        further = re.fullmatch(r"OIDC_(\d+)_ISSUER", name)
        if further and value.strip() and int(further[1]) >= max(first_missing, 2):
            missing = "OIDC_ISSUER" if first_missing == 1 else f"OIDC_{first_missing}_ISSUER"
            raise BadInstitution(f"{name} is set, but {missing} is not: institutions are numbered without a gap.")


def _read_institution(environment: Mapping[str, str], prefix: str, number: int) -> Institution:
    def read(name: str) -> str:
        return environment.get(prefix + name, "").strip()

    def read_needed(name: str) -> str:
        if value := read(name):
            return value
        raise BadInstitution(f"{prefix}ISSUER needs {prefix}{name}.")

    domains = tuple(
        one.strip().casefold().removeprefix("@") for one in read_needed("DOMAINS").split(",") if one.strip()
    )
    claim, equals, value = read("HOSTS").partition("=")
    if bool(read("HOSTS")) != bool(claim and equals and value):
        raise BadInstitution(f"{prefix}HOSTS has the form claim=value.")
    return Institution(
        number=number,
        issuer=_checked_issuer(read("ISSUER"), prefix),
        client_id=read_needed("CLIENT_ID"),
        client_secret=read_needed("CLIENT_SECRET"),
        name=read("NAME") or gettext_noop("Sign in with your institution"),
        domains=domains,
        student_number_claim=read("STUDENT_NUMBER_CLAIM"),
        host_claim=(claim, value) if value else None,
        confirms_addresses=read("CONFIRMS_ADDRESSES") in ("1", "true", "yes"),
    )


def _checked_issuer(text: str, prefix: str) -> str:
    """Without a slash at the end. Secrets and tokens go there, so only this machine does without https."""
    parts = urlsplit(text)
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in THIS_MACHINE)
    is_plain = not (parts.query or parts.fragment or parts.username or len(text.split()) > 1)
    if not (is_encrypted and parts.hostname and is_plain) or len(text) > LONGEST_ISSUER:
        raise BadInstitution(
            f"{prefix}ISSUER is an https address without a query, of at most {LONGEST_ISSUER} characters."
        )
    return text.rstrip("/")
