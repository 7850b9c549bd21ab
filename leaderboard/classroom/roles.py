"""Services for the roles of a competition: hosts, and assistants, who see everything and help but do not decide.

The pages that each role may open are declared at the views (`leaderboard/competitions/access.py`).
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from leaderboard.accounts import hooks as accounts_hooks
from leaderboard.accounts.models import User
from leaderboard.common.clock import database_now
from leaderboard.common.hooks import on
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import CannotHost
from leaderboard.notifications import kinds
from leaderboard.notifications.services import notify_people

from . import invitations
from .models import HostingRole, RoleInvitation

# Pending offers of one competition.
MAX_OFFERS = 50

_ADDED = {HostingRole.HOST: AuditEvent.HOST_ADDED, HostingRole.ASSISTANT: AuditEvent.ASSISTANT_ADDED}
_REMOVED = {HostingRole.HOST: AuditEvent.HOST_REMOVED, HostingRole.ASSISTANT: AuditEvent.ASSISTANT_REMOVED}


class UnknownAddress(CannotHost):
    """No account has confirmed this address; the role can be offered to it instead (`offer_role`)."""


def give_role(*, competition: Competition, name: str, role: HostingRole, user: User | None = None) -> User:
    """Give a role to a person, found by user name or confirmed e-mail address. Raises `CannotHost`.

    Unconfirmed addresses do not count, because anybody can sign up with somebody else's. A person has one role: an
    assistant who becomes a host stops being an assistant.
    """
    person = _find_account(name.strip())
    with transaction.atomic():
        locked = Competition.objects.select_for_update().get(pk=competition.pk)
        if locked.hosts.filter(pk=person.pk).exists():
            raise CannotHost(_("%(name)s already hosts this competition.") % {"name": person.username})
        if role is HostingRole.ASSISTANT and locked.assistants.filter(pk=person.pk).exists():
            raise CannotHost(_("{name} is already an assistant in this competition.").format(name=person.username))
        if locked.memberships.filter(user=person).exists():
            if role is HostingRole.HOST:
                reason = _("Hosts see the private scores, so %(name)s can't be one while competing here.")
                raise CannotHost(reason % {"name": person.username})
            reason = _("Assistants see the private scores, so {name} can't be one while competing here.")
            raise CannotHost(reason.format(name=person.username))
        if role is HostingRole.HOST and locked.assistants.filter(pk=person.pk).exists():
            locked.assistants.remove(person)
            AuditEntry.append(AuditEvent.ASSISTANT_REMOVED, user=user, competition=locked, account=person)
        _people_of(locked, role).add(person)
        AuditEntry.append(_ADDED[role], user=user, competition=locked, account=person)
        notice = kinds.HOST_ADDED if role is HostingRole.HOST else kinds.ASSISTANT_ADDED
        notify_people(notice, [person], competition=locked)
    return person


def take_role(*, competition: Competition, name: str, role: HostingRole, user: User | None = None) -> None:
    """Remove a person from the hosts or the assistants. Raises `CannotHost` for the last host.

    The person is notified; if they give up the role themselves (`user` is the person), the hosts are.
    """
    with transaction.atomic():
        locked = Competition.objects.select_for_update().get(pk=competition.pk)
        if role is HostingRole.HOST and not locked.hosts.exclude(username=name).exists():
            raise CannotHost(_("A competition needs a host. Add another one first."))
        for person in _people_of(locked, role).filter(username=name):
            _people_of(locked, role).remove(person)
            AuditEntry.append(_REMOVED[role], user=user, competition=locked, account=person)
            is_host = role is HostingRole.HOST
            if person == user:
                notice = kinds.HOST_LEFT if is_host else kinds.ASSISTANT_LEFT
                notify_people(notice, locked.hosts.all(), competition=locked, name=person)
            else:
                notify_people(kinds.HOST_REMOVED if is_host else kinds.ASSISTANT_REMOVED, [person], competition=locked)


def offer_role(*, competition: Competition, address: str, role: HostingRole, user: User) -> RoleInvitation:
    """Offer a role to the account that will confirm an address; replaces an earlier offer to it. Raises `CannotHost`.

    Needs a site that sends e-mail, because addresses cannot be confirmed otherwise.
    """
    if refusal := invitations.no_email_reason():
        raise CannotHost(refusal + " " + _("Addresses can't be confirmed here. Enter the person's username instead."))
    address = address.strip().casefold()
    try:
        validate_email(address)
    except ValidationError as error:
        raise CannotHost(_("“{address}” isn't an e-mail address.").format(address=address)) from error
    with transaction.atomic():
        locked = Competition.objects.select_for_update().get(pk=competition.pk)
        if locked.role_invitations.exclude(email=address).count() >= MAX_OFFERS:
            raise CannotHost(_("You already have {number} pending roles, the maximum.").format(number=MAX_OFFERS))
        fields = {"role": role.value, "made_by": user, "made_at": database_now()}
        before = locked.role_invitations.filter(email=address).values_list("role", flat=True).first()
        offer, _is_new = locked.role_invitations.update_or_create(email=address, defaults=fields)
        if before != role.value:
            _notify_unconfirmed_accounts(kinds.ROLE_OFFERED, address, role=lambda: offer.role_label)
        AuditEntry.append(
            AuditEvent.ROLE_OFFERED, user=user, competition=locked, after={"invitation": offer.pk, "role": role.value}
        )
    return offer


def withdraw_offer(*, competition: Competition, number: int, user: User) -> str:
    """Withdraw an offer; returns its address, or "" if the offer was taken up or withdrawn meanwhile."""
    with transaction.atomic():
        offer = competition.role_invitations.select_for_update().filter(pk=number).first()
        if offer is None:
            return ""
        AuditEntry.append(
            AuditEvent.ROLE_WITHDRAWN,
            user=user,
            competition=competition,
            before={"invitation": offer.pk, "role": offer.role},
        )
        offer.delete()
        _notify_unconfirmed_accounts(kinds.ROLE_OFFER_WITHDRAWN, offer.email)
    return offer.email


def _notify_unconfirmed_accounts(notice: kinds.NoticeText, address: str, **facts: Any) -> None:
    """Notify accounts with this unconfirmed address, without naming competition or host: it may not be theirs."""
    has_address = Q(email__iexact=address) | Q(emailaddress__email__iexact=address)
    notify_people(notice, User.objects.filter(has_address).distinct(), competition=None, address=address, **facts)


@on(accounts_hooks.address_confirmed)
def take_up_roles(*, address: str) -> int:
    """Give the roles offered to an address that was just confirmed; returns how many.

    Void offers are deleted too. The host who made an offer is notified of either outcome.
    """
    taken = 0
    for number, competition_id in RoleInvitation.objects.filter(email=address.casefold()).values_list(
        "pk", "competition"
    ):
        with transaction.atomic():
            # Lock the competition first, as everywhere; the offer is read after that, because it may have changed.
            Competition.objects.select_for_update().get(pk=competition_id)
            invitations = RoleInvitation.objects.select_for_update(of=("self",)).select_related(
                "competition", "made_by"
            )
            if (offer := invitations.filter(pk=number).first()) is None:
                continue
            refusal = _take_up_role(offer)
            taken += not refusal
            if refusal:
                before = {"invitation": offer.pk, "role": offer.role}
                AuditEntry.append(AuditEvent.ROLE_WITHDRAWN, user=None, competition=offer.competition, before=before)
            offer.delete()
            notice = kinds.ROLE_OFFER_FAILED if refusal else kinds.ROLE_OFFER_ACCEPTED
            notify_people(notice, [offer.made_by], competition=offer.competition, address=offer.email, reason=refusal)
    return taken


def _take_up_role(offer: RoleInvitation) -> str:
    """Give the offered role; returns the reason if that is not possible, else ""."""
    if not offer.competition.is_hosted_by(offer.made_by):
        return _("You no longer host this competition.")
    try:
        with transaction.atomic():
            give_role(competition=offer.competition, name=offer.email, role=HostingRole(offer.role), user=offer.made_by)
    except CannotHost as error:
        return error.message
    return ""


def _find_account(name: str) -> User:
    by_address = Q(emailaddress__email__iexact=name, emailaddress__verified=True)
    condition = by_address if "@" in name else Q(username__iexact=name)
    account = User.objects.filter(condition, is_active=True).first()
    if account is None and "@" in name:
        raise UnknownAddress(
            _("No account has confirmed the address “%(name)s”. Ask the person for their username.") % {"name": name}
        )
    if account is None:
        raise CannotHost(_("There is no account “%(name)s”. The person needs to sign up first.") % {"name": name})
    return account


def _people_of(competition: Competition, role: HostingRole):  # type: ignore[no-untyped-def]  # managers have no nameable type
    return competition.hosts if role is HostingRole.HOST else competition.assistants
