"""The institutions through which people sign in (OpenID Connect), read from environment variables.

`OIDC_ISSUER`, `OIDC_CLIENT_ID`, `OIDC_CLIENT_SECRET`, `OIDC_NAME`, `OIDC_DOMAINS`, `OIDC_STUDENT_NUMBER_CLAIM`,
`OIDC_HOSTS` and `OIDC_CONFIRMS_ADDRESSES` describe the first; `OIDC_2_ISSUER` and so on the second, numbered without a
gap.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop

# The length of the database column.
LONGEST_ISSUER = 200
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
ANY_DOMAIN = "*"


class BadInstitution(ValueError):
    """A mistake in these variables, described for the operator without quoting a secret."""


@dataclass(frozen=True)
class Institution:
    """One OpenID Connect provider. Its people may have an account if their e-mail address is in one of `domains`."""

    number: int
    """Part of the institution's URLs on this site."""
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    domains: tuple[str, ...]
    student_number_claim: str = ""
    host_claim: tuple[str, str] | None = None
    """Claim and value that let a person host; with None the operator decides."""
    confirms_addresses: bool = False
    """Whether its e-mail addresses count as confirmed without the claim `email_verified`."""

    def admits(self, address: str) -> bool:
        return ANY_DOMAIN in self.domains or address.rpartition("@")[2].casefold() in self.domains


def institutions_in(environment: Mapping[str, str]) -> tuple[Institution, ...]:
    """The configured institutions, in order. Raises `BadInstitution`."""
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
    """The issuer's URL without a final slash; https is required except on this machine, because secrets are sent there.
    Raises `BadInstitution`."""
    parts = urlsplit(text)
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in THIS_MACHINE)
    is_plain = not (parts.query or parts.fragment or parts.username or len(text.split()) > 1)
    if not (is_encrypted and parts.hostname and is_plain) or len(text) > LONGEST_ISSUER:
        raise BadInstitution(
            f"{prefix}ISSUER is an https address without a query, of at most {LONGEST_ISSUER} characters."
        )
    return text.rstrip("/")
