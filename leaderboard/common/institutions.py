"""The institution through which people sign in (OpenID Connect), read from the environment variables `OIDC_…`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    """The configured institution, if there is one. Raises `BadInstitution`."""

    def read(name: str) -> str:
        return environment.get(name, "").strip()

    def read_needed(name: str) -> str:
        if value := read(name):
            return value
        raise BadInstitution(f"OIDC_ISSUER needs {name}.")

    if not read("OIDC_ISSUER"):
        return ()
    domains = tuple(
        one.strip().casefold().removeprefix("@") for one in read_needed("OIDC_DOMAINS").split(",") if one.strip()
    )
    claim, equals, value = read("OIDC_HOSTS").partition("=")
    if bool(read("OIDC_HOSTS")) != bool(claim and equals and value):
        raise BadInstitution("OIDC_HOSTS has the form claim=value.")
    institution = Institution(
        issuer=_checked_issuer(read("OIDC_ISSUER")),
        client_id=read_needed("OIDC_CLIENT_ID"),
        client_secret=read_needed("OIDC_CLIENT_SECRET"),
        name=read("OIDC_NAME") or gettext_noop("Sign in with your institution"),
        domains=domains,
        student_number_claim=read("OIDC_STUDENT_NUMBER_CLAIM"),
        host_claim=(claim, value) if value else None,
        confirms_addresses=read("OIDC_CONFIRMS_ADDRESSES") in ("1", "true", "yes"),
    )
    return (institution,)


def _checked_issuer(text: str) -> str:
    """The issuer's URL without a final slash; https is required except on this machine, because secrets are sent there.
    Raises `BadInstitution`."""
    parts = urlsplit(text)
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in THIS_MACHINE)
    is_plain = not (parts.query or parts.fragment or parts.username or len(text.split()) > 1)
    if not (is_encrypted and parts.hostname and is_plain) or len(text) > LONGEST_ISSUER:
        raise BadInstitution(
            f"OIDC_ISSUER is an https address without a query, of at most {LONGEST_ISSUER} characters."
        )
    return text.rstrip("/")
