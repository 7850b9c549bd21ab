"""Changes to an account by an institution's claims: links, confirmed addresses, the right to host, student number."""

from __future__ import annotations

from collections.abc import Iterable

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import transaction

from leaderboard.common.models import AuditEntry, AuditEvent

from .. import hooks, people
from ..models import ApiToken, User


def apply_claims(*, account: User, social_account: SocialAccount) -> None:
    """Apply the provider's claims to the account. Called after the sign-in is complete, with any second
    factor, and when a signed-in person links the institution."""
    facts = social_account.extra_data
    may_host = facts.get("may_host")
    if may_host is not None and may_host != account.can_host:
        people.set_can_host(account=account, can_host=may_host, user=None)
    if facts.get("student_number"):
        hooks.student_number_confirmed(account=account)


def confirm_own_address(account: User, address: str) -> None:
    """Mark an address of the account as confirmed, because the institution confirms it.

    Nothing happens for an address that the account does not have, or that some account has confirmed already.
    """
    is_main = account.email.lower() == address
    held = EmailAddress.objects.filter(user=account, email__iexact=address).first()
    is_known = is_main or held is not None
    if not is_known or EmailAddress.objects.filter(email__iexact=address, verified=True).exists():
        return
    held = held or EmailAddress(user=account, email=address, primary=is_main)
    held.verified = True
    held.save()


@transaction.atomic
def end_earlier_access(account: User) -> bool:
    """End password, sessions and API tokens of an account that was found by its address.

    A classmate may have made it with an address that is not theirs. Operators keep everything, for emergencies. True
    if there was a password or a token.
    """
    if account.is_superuser:
        return False
    tokens, _ = ApiToken.objects.filter(user=account).delete()
    had_password = account.has_usable_password()
    account.set_unusable_password()  # ends the sessions too: their hash is made from it
    account.save(update_fields=["password"])
    return bool(tokens or had_password)


@transaction.atomic
def unlink(*, account: User, user: User) -> bool:
    """Remove the account's links to institutions; the next sign-in there finds it by its address again.

    Needed when an institution gives its people new subjects. True if there was a link.
    """
    gone, _ = SocialAccount.objects.filter(user=account).delete()
    if gone:
        AuditEntry.append(AuditEvent.INSTITUTION_UNLINKED, user=user, account=account)
    return bool(gone)


def student_numbers_of(users: Iterable[int]) -> list[tuple[int, str]]:
    """(account, student number) pairs, as sent at the last sign-in by an institution that is still set up."""
    named_by = [one.issuer for one in settings.INSTITUTIONS if one.student_number_claim]
    held = SocialAccount.objects.filter(user__in=users, provider__in=named_by).values_list("user", "extra_data")
    return [(user, facts["student_number"]) for user, facts in held if facts.get("student_number")]
