"""Who runs a competition: its hosts, and assistants, who help and decide nothing that counts.

What each role opens is declared at the views (`leaderboard/web/access.py`).
"""

from __future__ import annotations

from enum import StrEnum

from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from .. import telling
from ..models import AuditEntry, Competition, Deed, Kind, User
from .setting_up import CannotHost


class Role(StrEnum):
    HOST = "host"
    ASSISTANT = "assistant"


_ADDED = {Role.HOST: Deed.HOST_ADDED, Role.ASSISTANT: Deed.ASSISTANT_ADDED}
_REMOVED = {Role.HOST: Deed.HOST_REMOVED, Role.ASSISTANT: Deed.ASSISTANT_REMOVED}


def add_host(*, competition: Competition, name: str, user: User | None = None) -> User:
    return give_role(competition=competition, name=name, role=Role.HOST, user=user)


def remove_host(*, competition: Competition, name: str, user: User | None = None) -> None:
    take_role(competition=competition, name=name, role=Role.HOST, user=user)


def give_role(*, competition: Competition, name: str, role: Role, user: User | None = None) -> User:
    """Let another person run the competition too, found by user name or confirmed e-mail address. Raises `CannotHost`.

    Anybody can sign up with somebody else's address, as address or as user name, so an unconfirmed one finds nobody.
    A person has one role: an assistant who becomes a host is an assistant no longer.
    """
    found = _find(name.strip())
    with transaction.atomic():
        held = Competition.objects.select_for_update().get(pk=competition.pk)
        if held.hosts.filter(pk=found.pk).exists():
            raise CannotHost(f"{found.username} hosts this competition already.")
        if role is Role.ASSISTANT and held.assistants.filter(pk=found.pk).exists():
            raise CannotHost(_("{name} assists in this competition already.").format(name=found.username))
        if held.memberships.filter(user=found).exists():
            raise CannotHost(
                f"{found.username} competes in this competition, and hosts see the private scores."
                if role is Role.HOST
                else _("{name} competes in this competition, and assistants see the private scores.").format(
                    name=found.username
                )
            )
        if role is Role.HOST and held.assistants.filter(pk=found.pk).exists():
            held.assistants.remove(found)
            AuditEntry.append(Deed.ASSISTANT_REMOVED, user=user, competition=held, account=found)
        _people_of(held, role).add(found)
        AuditEntry.append(_ADDED[role], user=user, competition=held, account=found)
        _tell_given(found, role, held)
    return found


def take_role(*, competition: Competition, name: str, role: Role, user: User | None = None) -> None:
    """Take a person from the hosts or the assistants; one host always remains. Raises `CannotHost`."""
    with transaction.atomic():
        held = Competition.objects.select_for_update().get(pk=competition.pk)
        if role is Role.HOST and not held.hosts.exclude(username=name).exists():
            raise CannotHost("A competition needs a host; add another one first.")
        for found in _people_of(held, role).filter(username=name):
            _people_of(held, role).remove(found)
            AuditEntry.append(_REMOVED[role], user=user, competition=held, account=found)
            _tell_taken(found, role, held)


def _tell_given(person: User, role: Role, competition: Competition) -> None:
    """Nobody hears of rights only from what a page suddenly shows, or no longer does."""
    what = {"title": competition.title}
    title = _("You host “%(title)s”") if role is Role.HOST else _("You assist in “%(title)s”")
    text = (
        _("You can do everything there that its other hosts can, and see the answers and the private scores.")
        if role is Role.HOST
        else _("You help its hosts, see names and private scores, and decide nothing that counts.")
    )
    link = reverse("host_competition", kwargs={"slug": competition.slug})
    telling.tell([person], kind=Kind.ROLE, competition=competition, title=title % what, text=text, link=link)


def _tell_taken(person: User, role: Role, competition: Competition) -> None:
    what = {"title": competition.title}
    title = _("You host “%(title)s” no longer") if role is Role.HOST else _("You assist in “%(title)s” no longer")
    text = _("Its pages for hosts and assistants are closed to you.")
    link = reverse("competitions")
    telling.tell([person], kind=Kind.ROLE, competition=competition, title=title % what, text=text, link=link)


def _find(name: str) -> User:
    by_address = Q(emailaddress__email__iexact=name, emailaddress__verified=True)
    wanted = by_address if "@" in name else Q(username__iexact=name)
    found = User.objects.filter(wanted, is_active=True).first()
    if found is None and "@" in name:
        raise CannotHost(f"Nobody here has confirmed the address “{name}”. Ask the person for their user name.")
    if found is None:
        raise CannotHost(f"Nobody here is called “{name}”; the person needs an account first.")
    return found


def _people_of(competition: Competition, role: Role):  # type: ignore[no-untyped-def]  # managers have no nameable type
    return competition.hosts if role is Role.HOST else competition.assistants
