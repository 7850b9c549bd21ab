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
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from typing import Any

PROCESSES = 4
ROUNDS = 4
# Files that are claimed together, and how often a process repeats what it does.
FILES, AGAIN = 8, 5

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


def a_release_while_a_correction_is_applied(number: int) -> list[str]:
    """Two release the grades while two apply the same correction, which halves the scores."""
    from leaderboard.competitions.models import Competition
    from leaderboard.grades import services as grade_services
    from leaderboard.grades.models import GradeRelease
    from leaderboard.ground_truths.services import rescoring

    _halve_scores_by_a_candidate()
    before = GradeRelease.objects.count()

    def event(place: int) -> object:
        if place % 2:
            rescoring.apply_candidate(competition=Competition.objects.get())
            return True
        return grade_services.release_grades(graded=Competition.objects.get(), user=None)

    found = at_once(event)
    releases = list(GradeRelease.objects.order_by("number"))
    assert [one.number for one in releases] == [*range(1, before + 3)]
    for release in releases[before:]:
        assert release.ground_truth_number is not None
        assert release.grades.get().points == 100 / 2 ** (release.ground_truth_number - 1)
    assert Competition.objects.get().candidate is None
    return found


def a_file_hidden_while_a_correction_is_applied(number: int) -> list[str]:
    """Two hide the only file of a team while two apply the same correction: the team leaves the new board."""
    from leaderboard.boards.standings import rebuild_boards
    from leaderboard.competitions.models import Competition, Standing, Submission
    from leaderboard.ground_truths.services import rescoring
    from leaderboard.submissions import services as submission_services

    Submission.objects.update(hidden_at=None, hidden_reason="")
    rebuild_boards(competition=Competition.objects.get())
    _halve_scores_by_a_candidate()

    def event(place: int) -> object:
        if place % 2:
            rescoring.apply_candidate(competition=Competition.objects.get())
        else:
            submission_services.hide_submission(submission=Submission.objects.get(), user=None, reason="Copied")
        return True

    found = at_once(event)
    assert not Standing.objects.filter(ground_truth=Competition.objects.get().ground_truth).exists()
    return found


def _halve_scores_by_a_candidate() -> None:
    from leaderboard.competitions.models import Competition, Score

    truth = Competition.objects.get().ground_truth
    assert truth is not None
    scores = list(Score.objects.filter(ground_truth=truth))
    truth.pk, truth.number, truth._state.adding = None, truth.number + 1, True
    truth.save()
    for score in scores:
        score.pk, score.ground_truth, score.value = None, truth, score.value / 2
    Score.objects.bulk_create(scores)
    Competition.objects.update(candidate=truth)


def a_student_joins_while_the_list_is_replaced(number: int) -> list[str]:
    """A link is opened while the list that it came from is removed and imported anew, twice."""
    from leaderboard.accounts.models import User
    from leaderboard.classroom import joining, people, roster
    from leaderboard.classroom.models import RosterEntry, RosterList, join_card_digest
    from leaderboard.competitions.models import Competition, Membership
    from tests.conftest import person

    pets, ada = Competition.objects.get(), User.objects.get(username="ada")
    address, student = f"late-{number}@example.org", person(f"late-{number}")
    text = f"Name,Email\nLate Lee,{address}\n"
    roster.save_roster_draft(competition=pets, user=ada, file_name="a.csv", data=text)
    roster.apply_roster(competition=pets, user=ada)
    entry = RosterEntry.objects.get(email=address)
    [(_entry, code)] = people.make_join_cards(competition=pets, entries=[entry.pk], user=ada)
    roster.save_roster_draft(competition=pets, user=ada, file_name="b.csv", data=text)
    first = RosterList.objects.latest("pk").pk

    def event(place: int) -> object:
        if place == 0:
            return joining.join_by_card(user=student, digest=join_card_digest(code))
        if place == 1:
            return roster.remove_roster_list(competition=pets, number=first, user=ada)
        return roster.apply_roster(competition=pets, user=ada)

    found = at_once(event)
    has_joined = Membership.objects.filter(user=student).exists()
    assert RosterEntry.objects.filter(email=address, user=student).exists() == has_joined
    assert RosterEntry.objects.filter(email=address).count() <= 1
    return found


def a_competition_moved_while_students_submit(number: int) -> list[str]:
    """Two hosts move a competition to two courses while two students submit."""
    from leaderboard.accounts.models import User
    from leaderboard.classroom import courses
    from leaderboard.competitions.models import Competition, Course, Submission
    from leaderboard.submissions import submitting
    from tests.conftest import answers, enter, person

    pets, ada = Competition.objects.get(), User.objects.get(username="ada")
    students = [person(f"sender-{number}-{place}") for place in range(2)]
    for student in students:
        enter(pets, student)

    def event(place: int) -> object:
        if place < 2:
            courses.move_competition(competition=pets, course=None, user=ada)
            return True
        student = students[place - 2]
        return submitting.submit_file(competition=pets, user=student, file_name="a.csv", chunks=[answers()])

    found = at_once(event)
    assert Submission.objects.filter(competition=pets, user__in=students).count() == 2
    assert Course.objects.filter(competitions=None).count() == 0
    return found


def one_student_who_opens_an_activity_several_times(number: int) -> list[str]:
    """In a new platform each round, so that nothing of the student is stored yet."""
    from leaderboard.accounts.models import User
    from leaderboard.lti import places

    launch = _launches(number, "tab")[0]
    found = at_once(lambda _: places.arrive(launch))
    user = User.objects.get(lti_people__platform=launch.platform)
    assert (user.memberships.count(), user.lti_seats.count(), user.roster_entries.count()) == (1, 1, 1)
    return found


def students_of_one_name_who_open_an_activity(number: int) -> list[str]:
    from leaderboard.accounts.models import User
    from leaderboard.lti import places

    launches = _launches(number, *(f"same-{place}" for place in range(PROCESSES)), name="Kim Lee", email="")
    found = at_once(lambda place: places.arrive(launches[place]))
    assert User.objects.filter(lti_people__platform=launches[0].platform).count() == PROCESSES
    return found


def one_person_who_connects_two_earlier_accounts(number: int) -> list[str]:
    """A student has signed in with two accounts, each in two browsers. The accounts are an institution's, without a
    password, and unused."""
    from leaderboard.accounts.models import User
    from leaderboard.lti import people, places
    from leaderboard.lti.launching import LaunchRefused
    from leaderboard.lti.models import LtiPerson

    [launch], accounts = _launches(number, "kai"), [User(username=f"kai-{number}-{place}") for place in range(2)]
    made = places.arrive(launch).user
    for account in accounts:
        account.set_unusable_password()
        account.save()
    person = LtiPerson.objects.select_related("user").get(platform=launch.platform)

    def event(place: int) -> object:
        with suppress(LaunchRefused):
            people.connect_account(person=person, user=accounts[place % 2])
            return True
        return None

    found = at_once(event)
    person.refresh_from_db()
    assert person.user in accounts
    assert User.objects.filter(pk__in=[account.pk for account in accounts]).count() == 2
    assert not User.objects.filter(pk=made.pk).exists()
    assert (person.user.lti_seats.count(), person.user.roster_entries.count()) == (1, 1)
    return found


def a_registration_link_that_is_opened_several_times(number: int) -> list[str]:
    from leaderboard.lti import registering
    from leaderboard.lti.models import Registration

    link = Registration.objects.create(digest=str(number))
    address = "https://lms.example.edu/configuration"
    return at_once(lambda _: registering.begin_registration(link, configuration_url=address, token=""))


def grades_released_while_marks_are_sent(number: int) -> list[str]:
    """Two release corrections, and two workers send."""

    from django.db import transaction

    from leaderboard.competitions.models import Competition
    from leaderboard.lti import places, sending
    from leaderboard.lti.marks import want_marks
    from leaderboard.lti.models import PlatformMark
    from tests.lti.platforms import FakePlatform, serving

    with serving(FakePlatform()) as fake:
        arrivals = [places.arrive(launch) for launch in _launches(number, "eve", "fay", fake=fake)]
        link = arrivals[0].link

        def release(points: float) -> bool:
            with transaction.atomic():
                pets = Competition.objects.select_for_update().get()
                marks = {one.user.pk: (points + place, "") for place, one in enumerate(arrivals)}
                want_marks(competition=pets, marks=marks, out_of=100.0)
            return True

        def send() -> None:
            PlatformMark.objects.filter(link=link, state="waiting").update(next_at="2020-01-01T00:00:00Z")
            sending.send_marks(link.pk)

        release(10.0)
        found = at_once(lambda place: release(20.0 + place) if place < 2 else send())
        for _ in range(5):
            send()
        for mark in PlatformMark.objects.filter(link=link):
            assert fake.marks_of(mark.subject)[-1] == mark.points
            times = [sent["timestamp"] for _column, sent in fake.scores if sent["userId"] == mark.subject]
            assert times == sorted(set(times))
    return found


def activities_opened_while_grades_are_released(number: int) -> list[str]:
    """Two listed students open their activity while a host releases marks of both and prints join cards."""
    from django.db import transaction

    from leaderboard.classroom import people
    from leaderboard.classroom.models import RosterEntry
    from leaderboard.competitions.models import Competition
    from leaderboard.lti import places
    from leaderboard.lti.marks import want_marks

    launches = _launches(number, "gil", "hal", "ivy")
    pets, known = Competition.objects.get(), places.arrive(launches[2]).user
    entry = RosterEntry.objects.create(course=pets.course, name=f"Waiting {number}")

    def release() -> bool:
        with transaction.atomic():
            locked = Competition.objects.select_for_update().get()
            want_marks(competition=locked, marks={known.pk: (10.0, "")}, out_of=100.0)
        return True

    verbs: list[Callable[[], object]] = [
        lambda: places.arrive(launches[0]),
        lambda: places.arrive(launches[1]),
        release,
        lambda: people.make_join_cards(competition=pets, entries=[entry.pk], user=None),
    ]
    return at_once(lambda place: verbs[place]())


def texts_saved_while_the_class_list_changes(number: int) -> list[str]:
    """Two hosts rename the course in two of its competitions, two change its list."""
    from leaderboard.accounts.models import User
    from leaderboard.classroom import people
    from leaderboard.classroom.models import RosterEntry
    from leaderboard.competitions import services
    from leaderboard.competitions.models import Competition
    from tests.conftest import make_competition

    pets, ada = Competition.objects.get(slug="pets"), User.objects.get(username="ada")
    other = make_competition(ada, slug=f"other-{number}")
    Competition.objects.filter(pk=other.pk).update(course=pets.course)
    entry = RosterEntry.objects.create(course=pets.course, name=f"Listed {number}")

    def event(place: int) -> object:
        competition = Competition.objects.get(pk=(pets, other)[place % 2].pk)
        if place < 2:
            return services.change_competition(competition=competition, course=f"Course {number} {place}")
        people.move_to_section(competition=competition, entries=[entry.pk], section=f"S{place}", user=ada)
        return True

    return at_once(event)


def accounts_deleted_while_their_class_is_told(number: int) -> list[str]:
    """Two students delete their accounts while a host moves the deadline and a worker claims their files."""
    from datetime import timedelta

    from leaderboard.accounts.models import User
    from leaderboard.accounts.personal_data import delete_account
    from leaderboard.competitions import services
    from leaderboard.competitions.models import Competition
    from leaderboard.submissions import submitting
    from tests.conftest import answers, claim, enter, person

    pets = Competition.objects.get()
    students = [person(f"goes-{number}-{place}") for place in range(2)]
    for student in students:
        enter(pets, student)
    file = submitting.submit_file(competition=pets, user=students[0], file_name="a.csv", chunks=[answers()])

    def event(place: int) -> object:
        if place < 2:
            delete_account(account=students[place], user=students[place])
            return True
        if place == 2:
            return services.change_competition(competition=pets, closes_at=pets.closes_at + timedelta(hours=1 + number))
        return claim(file.pk) or True

    found = at_once(event)
    assert not User.objects.filter(pk__in=[student.pk for student in students]).exists()
    return found


def deadlines_moved_while_files_are_claimed(number: int) -> list[str]:
    """Two hosts move the deadline behind waiting files and before them, while two workers claim these together."""
    from datetime import timedelta

    from django.utils import timezone

    from leaderboard.competitions import services
    from leaderboard.competitions.models import Competition

    pets, files = Competition.objects.get(), _waiting_files(number)

    def event(place: int) -> object:
        for turn in range(AGAIN) if place < 2 else ():
            closes_at = timezone.now() + timedelta(hours=(1 + place) * (-1) ** turn)
            services.change_competition(competition=pets, closes_at=closes_at, notifies=False)
        return _claim_again(files) if place >= 2 else True

    with _locked_slowly("competitions_submission"):
        return at_once(event)


def files_claimed_while_late_results_are_written(number: int) -> list[str]:
    """Two workers come back with results after their leases ran out, while two others claim the same files."""
    from unittest.mock import patch

    from leaderboard.scoring import client
    from leaderboard.submissions import score

    files = _waiting_files(number)

    def lose_leases(*_: object, **__: object) -> None:
        _end_leases(files)
        raise client.ScorerInterrupted("the lease was lost")

    def event(place: int) -> object:
        if place >= 2:
            return _claim_again(files)
        with patch.object(client, "score_file", lose_leases):
            for _ in range(AGAIN):
                _end_leases(files)
                score.score_turn(files)
        return True

    with _locked_slowly("competitions_submission"):
        return at_once(event)


def marks_wanted_while_their_platform_is_silent(number: int) -> list[str]:
    """Two release other grades, while two workers learn that the platform does not answer, and put its marks off."""
    from datetime import UTC, datetime

    from django.db import transaction

    from leaderboard.competitions.models import Competition
    from leaderboard.lti import places, sending
    from leaderboard.lti.marks import want_marks
    from leaderboard.lti.models import PlatformMark
    from tests.lti.platforms import FakePlatform

    silent = FakePlatform(address=f"http://127.0.0.1:1/{number}")
    arrivals = [places.arrive(one) for one in _launches(number, *(f"s{n}" for n in range(FILES)), fake=silent)]
    link = arrivals[0].link

    def release(points: float) -> None:
        with transaction.atomic():
            pets = Competition.objects.select_for_update().get()
            want_marks(competition=pets, marks={one.user.pk: (points, "") for one in arrivals}, out_of=100.0)

    def send() -> None:
        for pk in PlatformMark.objects.filter(link=link).order_by("-pk").values_list("pk", flat=True):
            # So they lie in the table in this order, in which a statement without one finds them.
            PlatformMark.objects.filter(pk=pk).update(next_at=datetime(2020, 1, 1, tzinfo=UTC), lease_until=None)
        sending.send_marks(link.pk)

    def event(place: int) -> object:
        for turn in range(AGAIN):
            release(float(2 * turn + place)) if place < 2 else send()
        return True

    release(99.0)
    with _locked_slowly("lti_platformmark"):
        return at_once(event)


def teams_changed_while_their_files_are_claimed(number: int) -> list[str]:
    """One host opens the final ranking without teams that have time, one hides names, two workers claim files."""
    from datetime import timedelta

    from django.utils import timezone

    from leaderboard.boards import services as boards
    from leaderboard.competitions import services
    from leaderboard.competitions.models import Competition, Extension, Team
    from tests.conftest import close

    pets, files = Competition.objects.get(), _waiting_files(number)
    teams = sorted({file.team_id for file in files}, reverse=True)
    ends_at = timezone.now() + timedelta(days=30)
    Extension.objects.bulk_create(Extension(team_id=team, closes_at=ends_at, reason="ill") for team in teams)
    close(pets)

    def event(place: int) -> object:
        for _ in range(AGAIN) if place < 2 else ():
            for team in teams:  # so they lie in the table in this order
                Team.objects.filter(pk=team).update(**({"pseudonym": ""} if place else {"is_awaited": False}))
            if place:
                services.change_competition(competition=pets, uses_pseudonyms=True, notifies=False)
            else:
                Competition.objects.filter(pk=pets.pk).update(revealed_at=None)
                boards.reveal_competition(competition=pets, late_teams=boards.LateTeams.LATER)
        return _claim_again(files) if place >= 2 else True

    return at_once(event)


def a_competition_deleted_while_its_files_are_claimed(number: int) -> list[str]:
    """Two are deleted, with files that wait, while two workers claim these."""
    from leaderboard.accounts.models import User
    from leaderboard.competitions import services
    from tests.conftest import make_competition

    ada = User.objects.get(username="ada")
    gone = [make_competition(ada, slug=f"gone-{number}-{place}") for place in range(2)]
    files = [file for one in gone for file in _waiting_files(number, one)]

    def event(place: int) -> object:
        if place < 2:
            services.delete_competition(competition=gone[place])
            return True
        return _claim_again(files)

    return at_once(event)


def _waiting_files(number: int, competition: Any = None) -> list[Any]:
    """Files of new students, one of each, as a worker finds them."""
    from datetime import timedelta

    from django.utils import timezone

    from leaderboard.competitions.models import Competition
    from leaderboard.submissions import queue, submitting
    from tests.conftest import answers, enter, person

    competition, found = competition or Competition.objects.get(), []
    tomorrow = timezone.now() + timedelta(days=1)
    Competition.objects.filter(pk=competition.pk).update(closes_at=tomorrow, revealed_at=None)
    competition.refresh_from_db()
    for place in range(FILES):
        student = person(f"waits-{competition.pk}-{number}-{place}")
        enter(competition, student)
        sent = submitting.submit_file(competition=competition, user=student, file_name="a.csv", chunks=[answers()])
        file: Any = queue.find_submission(sent.pk)
        file.tries = 1
        found.append(file)
    return found


def _claim_again(files: list[Any]) -> bool:
    """A worker claims the files together, again and again, as if each time a lease had run out."""
    from leaderboard.submissions.claims import claim_submissions

    _find_rows_by_indexes()
    for _ in range(AGAIN):
        _end_leases(files)
        claim_submissions(files)
    return True


def _end_leases(files: list[Any]) -> None:
    from datetime import UTC, datetime

    from leaderboard.competitions.models import Submission

    for file in reversed(files):  # in the table they lie in this order, and in no index
        rows = Submission.objects.filter(pk=file.pk)
        rows.exclude(claim=None).update(tries=1, lease_until=datetime(2020, 1, 1, tzinfo=UTC))
        rows.filter(claim=None).update(tries=1)


@contextmanager
def _locked_slowly(table: str) -> Iterator[None]:
    """Have PostgreSQL pause after each row that an update locks, so that other processes lock some meanwhile."""
    from django.db import connection

    if connection.vendor != "postgresql":
        yield
        return
    pause = """
        CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(0.005); RETURN NEW; END $$"""
    with connection.cursor() as cursor:
        cursor.execute(pause)
        cursor.execute(f"CREATE TRIGGER pause BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION pause()")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION pause CASCADE")


def _find_rows_by_indexes() -> None:
    """Have PostgreSQL find rows in the order of an index, as in a table that is larger than a test's. Other processes
    find them as they lie, so that statements without an order lock the same rows in different ones."""
    from django.db import connection

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET enable_seqscan TO off; SET enable_bitmapscan TO off")


def _launches(number: int, *subjects: str, fake: Any = None, **claims: Any) -> list[Any]:
    """Launches of new students in the activity of a new platform, which opens the competition."""
    from leaderboard.competitions.models import Competition
    from leaderboard.lti.launching import Launch
    from leaderboard.lti.models import LtiLink
    from tests.lti.platforms import FakePlatform

    fake = fake or FakePlatform(address=f"https://lms-{number}.example.edu")
    deployment = fake.approve().deployments.get()
    services = {"context_title": "ML", "lineitems_url": f"{fake.address}/lineitems"}
    named = {"deployment": deployment, "context": "c", "resource": "r"}
    LtiLink.objects.create(**named, competition=Competition.objects.get())
    return [Launch(claims=fake.claims(one, **claims), services=services, **named) for one in subjects]


RACES = {
    race.__name__: race
    for race in (
        one_join_card_of_four_people,
        two_join_cards_of_one_member,
        made_a_host_while_joining,
        the_last_place_of_a_team,
        a_competition_moved_while_students_join,
        a_release_while_a_correction_is_applied,
        a_file_hidden_while_a_correction_is_applied,
        a_student_joins_while_the_list_is_replaced,
        a_competition_moved_while_students_submit,
        one_student_who_opens_an_activity_several_times,
        students_of_one_name_who_open_an_activity,
        one_person_who_connects_two_earlier_accounts,
        a_registration_link_that_is_opened_several_times,
        grades_released_while_marks_are_sent,
        activities_opened_while_grades_are_released,
        texts_saved_while_the_class_list_changes,
        accounts_deleted_while_their_class_is_told,
        deadlines_moved_while_files_are_claimed,
        files_claimed_while_late_results_are_written,
        marks_wanted_while_their_platform_is_silent,
        teams_changed_while_their_files_are_claimed,
        a_competition_deleted_while_its_files_are_claimed,
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
