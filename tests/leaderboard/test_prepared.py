"""A query that was written once finds what the query set finds that Django writes anew."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection, connections, models
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard import submitting
from leaderboard.models import Competition, Submission, User
from leaderboard.models.prepared import Given, Prepared, PreparedUpdate

from ..conftest import answers, enter, make_competition

pytestmark = pytest.mark.django_db

OF_TEAM = Prepared(
    lambda: (
        Submission.objects.filter(team=Given("team", models.BigIntegerField()))
        .order_by("received_at")
        .values_list("pk", "status", "received_at")
    )
)
WITH_COMPETITION = Prepared(
    lambda: Submission.objects.select_related("competition").filter(pk=Given("pk", models.UUIDField()))
)
SINCE = Prepared(
    lambda: Submission.objects.filter(received_at__gte=Given("at", models.DateTimeField())).values_list("pk", flat=True)
)
WRITE = PreparedUpdate(
    lambda: Submission.objects.filter(pk=Given("pk", models.UUIDField()), status=Submission.Status.PENDING),
    problems=Given("problems", models.JSONField()),
    claim=Given("claim", models.UUIDField()),
    lease_until=Now() + timedelta(seconds=30),
    tries=models.F("tries") + 1,
)


def upload(competition: Competition, user: User) -> Submission:
    return submitting.submit(competition=competition, user=user, file_name="a.csv", chunks=[answers()])


@pytest.fixture
def pets(ada: User, bo: User, cy: User) -> Competition:
    pets = make_competition(ada)
    enter(pets, bo), enter(pets, cy)
    return pets


def test_each_asking_has_its_own_values(pets: Competition, bo: User, cy: User) -> None:
    files = {one: [upload(pets, one), upload(pets, one)] for one in (bo, cy)}
    for one in (bo, cy, bo):
        expected = [(file.pk, "pending", file.received_at) for file in files[one]]
        assert OF_TEAM.all(team=files[one][0].team_id) == expected
        assert OF_TEAM.first(team=files[one][0].team_id) == expected[0]
    assert OF_TEAM.all(team=0) == []
    assert OF_TEAM.first(team=0) is None


def test_what_was_written_meanwhile_is_found(pets: Competition, bo: User) -> None:
    first = upload(pets, bo)
    assert len(OF_TEAM.all(team=first.team_id)) == 1
    upload(pets, bo)
    assert len(OF_TEAM.all(team=first.team_id)) == 2


def test_objects_come_with_what_they_belong_to(pets: Competition, bo: User) -> None:
    file = upload(pets, bo)
    with CaptureQueriesContext(connection) as asked:
        found = WITH_COMPETITION.first(pk=str(file.pk))
        assert found.competition.slug == pets.slug
    assert len(asked) == 1
    assert found == file
    assert found.problems == []
    again = WITH_COMPETITION.first(pk=file.pk)
    again.competition.title = "Another"
    assert WITH_COMPETITION.first(pk=file.pk).competition.title == pets.title, "nothing is handed out twice"


def test_times_mean_the_same(pets: Competition, bo: User) -> None:
    file = upload(pets, bo)
    assert SINCE.all(at=file.received_at) == [file.pk]
    assert SINCE.all(at=file.received_at + timedelta(microseconds=1)) == []


def test_an_update_writes_what_it_is_given_and_counts_its_rows(pets: Competition, bo: User) -> None:
    file, other = upload(pets, bo), upload(pets, bo)
    for claim in (uuid.uuid4(), uuid.uuid4()):
        problems = [{"code": "“€”", "line": None}]
        assert WRITE(pk=file.pk, problems=problems, claim=claim) == 1
        file.refresh_from_db()
        assert (file.problems, file.claim) == (problems, claim)
        assert file.lease_until is not None
        assert file.lease_until > timezone.now()
    assert file.tries == 2
    other.refresh_from_db()
    assert (other.claim, other.tries) == (None, 0)
    Submission.objects.filter(pk=file.pk).update(status="invalid", finished_at=timezone.now())
    assert WRITE(pk=file.pk, problems=[], claim=uuid.uuid4()) == 0


def test_a_value_that_was_forgotten_asks_nothing(pets: Competition) -> None:
    with CaptureQueriesContext(connection) as asked, pytest.raises(KeyError):
        OF_TEAM.all(competition=pets.pk)
    assert not asked.captured_queries


@pytest.mark.django_db(transaction=True)
def test_threads_that_ask_at_once_do_not_get_each_others_rows(pets: Competition, bo: User, cy: User) -> None:
    files = [upload(pets, one) for one in (bo, cy)]
    wrong, begin = [], threading.Barrier(4)

    def ask(file: Submission) -> None:
        begin.wait()
        for _ in range(50):
            found = OF_TEAM.all(team=file.team_id)
            if [pk for pk, *_ in found] != [file.pk]:
                wrong.append(found)
        connection.close()

    threads = [threading.Thread(target=ask, args=[files[number % 2]]) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_a_kept_query_is_asked_over_the_connection_of_whoever_asks() -> None:
    """A thread that runs an event loop has one inside and one outside of it, each with a transaction of its own."""
    kept = Prepared(lambda: User.objects.order_by("pk"))
    assert kept.all() == []
    outside = connections["default"]
    inside = connections["default"] = outside.copy()
    try:
        with CaptureQueriesContext(inside) as asked:
            assert kept.all() == []
    finally:
        connections["default"] = outside
        inside.close()
    assert [one["sql"].split()[0] for one in asked if "leaderboard_user" in one["sql"]] == ["SELECT"]
