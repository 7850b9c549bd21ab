"""Services for the roles of a competition: hosts, and assistants, who see everything and help but do not decide.

The pages that each role may open are declared at the views (`leaderboard/competitions/access.py`).
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition
from leaderboard.competitions.services import CannotHost
from leaderboard.notifications import kinds
from leaderboard.notifications.services import notify_people

from .models import HostingRole

_ADDED = {HostingRole.HOST: AuditEvent.HOST_ADDED, HostingRole.ASSISTANT: AuditEvent.ASSISTANT_ADDED}
_REMOVED = {HostingRole.HOST: AuditEvent.HOST_REMOVED, HostingRole.ASSISTANT: AuditEvent.ASSISTANT_REMOVED}


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
    """Remove a person from the hosts or the assistants, and notify them. Raises `CannotHost` for the last host."""
    with transaction.atomic():
        locked = Competition.objects.select_for_update().get(pk=competition.pk)
        if role is HostingRole.HOST and not locked.hosts.exclude(username=name).exists():
            raise CannotHost(_("A competition needs a host. Add another one first."))
        for person in _people_of(locked, role).filter(username=name):
            _people_of(locked, role).remove(person)
            AuditEntry.append(_REMOVED[role], user=user, competition=locked, account=person)
            notice = kinds.HOST_REMOVED if role is HostingRole.HOST else kinds.ASSISTANT_REMOVED
            notify_people(notice, [person], competition=locked)


def _find_account(name: str) -> User:
    by_address = Q(emailaddress__email__iexact=name, emailaddress__verified=True)
    condition = by_address if "@" in name else Q(username__iexact=name)
    account = User.objects.filter(condition, is_active=True).first()
    if account is None and "@" in name:
        raise CannotHost(
            _("No account has confirmed the address “%(name)s”. Ask the person for their username.") % {"name": name}
        )
    if account is None:
        raise CannotHost(_("There is no account “%(name)s”. The person needs to sign up first.") % {"name": name})
    return account


def _people_of(competition: Competition, role: HostingRole):  # type: ignore[no-untyped-def]  # managers have no nameable type
    return competition.hosts if role is HostingRole.HOST else competition.assistants
