"""Deeds that several processes do at the same moment, as two web servers would: `python -m tests.faults.races NAME`.

Runs in a process of its own, on the database that its environment names, and forks once everything is loaded. Prints in
JSON what each process came to, round by round. What must hold afterwards is asserted here; the tests are in
`test_twice.py`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context

PROCESSES = 4
ROUNDS = 4

AuditEvent = Callable[[int], object]


def outcome(event: AuditEvent, place: int) -> str:
    """`done`, `refused` in words for people, or what it crashed with."""
    from leaderboard.classroom import teams
    from leaderboard.competitions import services as competitions

    try:
        return "nothing" if event(place) in (0, None) else "done"
    except (teams.CannotJoin, competitions.CannotHost):
        return "refused"
    except Exception as error:
        return f"crashed with {error!r}"


def at_once(event: AuditEvent) -> list[str]:
    """The deed in so many processes, begun together."""
    from django.db import connections

    connections.close_all()
    fork = get_context("fork")
    ready, said_to_user = fork.Barrier(PROCESSES), fork.SimpleQueue()

    def begin(place: int) -> None:
        connections["default"].ensure_connection()
        with suppress(threading.BrokenBarrierError):
            ready.wait(20)
        said_to_user.put(outcome(event, place))
        connections.close_all()

    children = [fork.Process(target=begin, args=(place,)) for place in range(PROCESSES)]
    for child in children:
        child.start()
    found = sorted(said_to_user.get() for _ in children)
    for child in children:
        child.join()
    return found


def one_join_card_of_four_people(number: int) -> list[str]:
    """The link of one person is opened by four."""
    from leaderboard.classroom import joining
    from leaderboard.classroom import people as people_services
    from leaderboard.classroom.models import RosterEntry, join_card_digest
    from leaderboard.competitions.models import Competition, Membership
    from tests.conftest import person

    pets = Competition.objects.get()
    entry = RosterEntry.objects.create(course=pets.course, name=f"Dee {number}")
    [(_, code)] = people_services.make_join_cards(competition=pets, entries=[entry.pk], user=None)
    people = [person(f"slip-{number}-{place}") for place in range(PROCESSES)]
    found = at_once(lambda place: joining.join_by_card(user=people[place], digest=join_card_digest(code)))
    entry.refresh_from_db()
    assert Membership.objects.get(user__in=people).user_id == entry.user_id
    assert entry.join_card_digest == ""
    return found


def two_join_cards_of_one_member(number: int) -> list[str]:
    """Somebody who has joined before opens two links that are both theirs, as they say."""
    from leaderboard.classroom import joining
    from leaderboard.classroom import people as people_services
    from leaderboard.classroom.models import RosterEntry, join_card_digest
    from leaderboard.competitions.models import Competition, Membership
    from tests.conftest import enter, person

    pets, user = Competition.objects.get(), person(f"two-{number}")
    enter(pets, user)
    entries = [RosterEntry.objects.create(course=pets.course, name=f"Two {number} {n}").pk for n in range(PROCESSES)]
    codes = [code for _, code in people_services.make_join_cards(competition=pets, entries=entries, user=None)]
    found = at_once(lambda place: joining.join_by_card(user=user, digest=join_card_digest(codes[place])))
    assert RosterEntry.objects.filter(user=user).count() == 1
    assert RosterEntry.objects.filter(pk__in=entries, join_card_digest="").count() == 1
    assert Membership.objects.filter(user=user).count() == 1
    return found


def made_a_host_while_joining(number: int) -> list[str]:
    """Whoever sees the private scores does not compete, whichever of the two came first."""
    from leaderboard.accounts.models import User
    from leaderboard.classroom import joining, roles
    from leaderboard.classroom.models import HostingRole
    from leaderboard.competitions.models import Competition
    from tests.conftest import person

    pets, ada = Competition.objects.get(), User.objects.get(username="ada")
    user = person(f"both-{number}")

    def event(place: int) -> object:
        if place % 2:
            return joining.enter_competition(user=user, competition=pets)
        role = HostingRole.HOST if number % 2 else HostingRole.ASSISTANT
        return roles.give_role(competition=pets, name=user.username, role=role, user=ada)

    found = at_once(event)
    assert pets.memberships.filter(user=user).exists() != pets.is_run_by(user)
    return found


def the_last_place_of_a_team(number: int) -> list[str]:
    """Four follow an invitation that has room for one."""
    from leaderboard.classroom import joining
    from leaderboard.competitions.models import Competition, Membership
    from tests.conftest import enter, person

    pets = Competition.objects.get()
    team = enter(pets, person(f"racer-{number}")).team
    people = [person(f"mate-{number}-{place}") for place in range(PROCESSES)]
    found = at_once(lambda place: joining.join_by_invitation(user=people[place], invitation=team.invitation))
    assert Membership.objects.filter(team=team).count() == 2
    return found


def a_competition_moved_while_students_join(number: int) -> list[str]:
    """Two hosts move a competition to two courses, one student joins, and one comes by a join card."""
    from leaderboard.accounts.models import User
    from leaderboard.classroom import courses, joining, people
    from leaderboard.classroom.models import RosterEntry, join_card_digest
    from leaderboard.competitions.models import Competition, Course, Membership
    from tests.conftest import person

    pets, ada = Competition.objects.get(slug="pets"), User.objects.get(username="ada")
    entry = RosterEntry.objects.create(course=pets.course, name=f"Card {number}")
    [(_entry, code)] = people.make_join_cards(competition=pets, entries=[entry.pk], user=ada)
    students = [person(f"mover-{number}-{place}") for place in range(2)]

    def event(place: int) -> object:
        if place < 2:
            courses.move_competition(competition=pets, course=None, user=ada)
            return True
        if place == 2:
            return joining.enter_competition(user=students[0], competition=pets)
        return joining.join_by_card(user=students[1], digest=join_card_digest(code))

    found = at_once(event)
    assert Membership.objects.filter(competition=pets, user__in=students).count() == 2
    assert RosterEntry.objects.get(name=f"Card {number}").user == students[1]
    assert Course.objects.filter(competitions=None).count() == 0
    assert RosterEntry.objects.get(name=f"Card {number}").course == Competition.objects.get(pk=pets.pk).course
    return found


RACES = {
    race.__name__: race
    for race in (
        one_join_card_of_four_people,
        two_join_cards_of_one_member,
        made_a_host_while_joining,
        the_last_place_of_a_team,
        a_competition_moved_while_students_join,
    )
}


def main() -> None:
    import django
    from django.test import override_settings

    django.setup()
    # A hundred people, none of whom signs in.
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        rounds: Iterator[list[str]] = map(RACES[sys.argv[1]], range(ROUNDS))
        sys.stdout.write(json.dumps(list(rounds)))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    main()
