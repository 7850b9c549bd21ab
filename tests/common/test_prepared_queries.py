"""Queries that are compiled once find what Django's own find, whatever their parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from http.cookies import SimpleCookie
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.functions import Now
from django.test import Client

from leaderboard.accounts.models import ApiToken
from leaderboard.boards import services as boards
from leaderboard.classroom.joining import accept_rules, join_by_code
from leaderboard.common.prepared_queries import PreparedQuery, PreparedUpdate
from leaderboard.competitions.models import Competition, Membership, Submission, Team
from leaderboard.submissions import queue
from tests.common.languages import CODE, second_language
from tests.conftest import answers, enter, make_competition, person, submit

pytestmark = pytest.mark.django_db


def members_but_one(slug: str, user_id: int) -> QuerySet[Membership]:
    found = Membership.objects.select_related("team", "competition__limits").filter(competition__slug=slug)
    return found.exclude(user=user_id).order_by("user__username")


def test_bo_and_cy_are_found_by_the_same_statement() -> None:
    ada, bo, cy, dee = (person(name, can_host=name == "ada") for name in ("ada", "bo", "cy", "dee"))
    for slug in ("pets", "other"):
        competition = make_competition(ada, slug=slug)
        for user in (bo, cy):
            enter(competition, user)
    prepared = PreparedQuery(members_but_one)
    for slug in ("pets", "other", "it's %s", ""):
        for user in (bo, cy, dee):
            found = prepared.rows(slug=slug, user_id=user.pk)
            assert found == list(members_but_one(slug, user.pk))
            assert all(row.competition.slug == slug for row in found)


def test_a_found_row_needs_no_further_query_for_its_relations(django_assert_num_queries: object) -> None:
    ada, bo = person("ada", can_host=True), person("bo")
    enter(make_competition(ada, slug="pets"), bo)
    prepared = PreparedQuery(members_but_one)
    prepared.rows(slug="pets", user_id=ada.pk)
    with django_assert_num_queries(1):  # type: ignore[operator]
        found = prepared.only_row(slug="pets", user_id=ada.pk)
        assert found is not None
        assert (found.team.competition_id, found.competition.limits.pk) == (found.competition_id, found.competition_id)


def test_a_file_is_found_by_its_uuid() -> None:
    def submissions(key: UUID) -> QuerySet[Submission]:
        return Submission.objects.filter(pk=key)

    ada, bo = person("ada", can_host=True), person("bo")
    pets = make_competition(ada, slug="pets")
    enter(pets, bo)
    sent = [submit(pets, bo, answers(public=wrong)) for wrong in (0, 1)]
    prepared = PreparedQuery(submissions)
    assert [prepared.only_row(key=file.pk) for file in sent] == sent
    assert prepared.only_row(key=uuid4()) is None


def test_a_parameter_that_changes_the_shape_of_a_query_is_refused() -> None:
    def first_members(number: int) -> QuerySet[Membership]:
        return Membership.objects.order_by("pk")[: min(number, 3)]

    with pytest.raises(ValueError, match="number"):
        PreparedQuery(first_members).rows(number=2)


def test_a_number_is_compared_with_the_smallest_column() -> None:
    def tried(tries: int) -> QuerySet[Submission]:
        return Submission.objects.filter(tries=tries)

    ada, bo = person("ada", can_host=True), person("bo")
    pets = make_competition(ada, slug="pets")
    enter(pets, bo)
    sent = submit(pets, bo, answers())
    prepared = PreparedQuery(tried)
    assert [prepared.rows(tries=sent.tries), prepared.rows(tries=sent.tries + 1)] == [[sent], []]


def test_a_text_that_a_lookup_would_escape_is_refused() -> None:
    def named(slug: str) -> QuerySet[Membership]:
        return Membership.objects.filter(competition__slug__istartswith=slug)

    with pytest.raises(ValueError, match="slug"):
        PreparedQuery(named).rows(slug="pets")


@pytest.mark.django_db(transaction=True)
def test_threads_that_ask_at_the_same_time_get_their_own_rows() -> None:
    ada = person("ada", can_host=True)
    people = [person(f"student{n}") for n in range(8)]
    for user in people:
        enter(make_competition(ada, slug=f"of-{user.username}"), user)
    prepared = PreparedQuery(members_but_one)

    def slugs_of(user_name: str) -> set[str]:
        try:
            found = [row for _ in range(20) for row in prepared.rows(slug=f"of-{user_name}", user_id=ada.pk)]
            return {row.competition.slug for row in found}
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(slugs_of, [user.username for user in people]))
    assert found == [{f"of-{user.username}"} for user in people]


def test_files_are_found_by_lists_of_any_length() -> None:
    def sent_since(keys: list[UUID], since: datetime) -> QuerySet[Submission]:
        return Submission.objects.filter(pk__in=keys, received_at__gte=since).order_by("received_at")

    ada, bo = person("ada", can_host=True), person("bo")
    pets = make_competition(ada, slug="pets")
    enter(pets, bo)
    sent = [submit(pets, bo, answers(public=wrong)) for wrong in (0, 1, 2)]
    prepared = PreparedQuery(sent_since)
    for first in range(3):
        for keys in ([file.pk for file in sent[:number]] for number in (1, 2, 3, 2)):
            since = sent[first].received_at
            assert prepared.rows(keys=keys, since=since) == list(sent_since(keys, since))


def test_an_empty_list_finds_and_writes_nothing() -> None:
    def sent(keys: list[UUID]) -> QuerySet[Submission]:
        return Submission.objects.filter(pk__in=keys)

    def rename(keys: list[int]) -> tuple[QuerySet[Team], dict[str, Any]]:
        return Team.objects.filter(pk__in=keys), {"name": "nobody"}

    file = submit(enter(make_competition(person("ada", can_host=True)), bo := person("bo")).competition, bo, answers())
    prepared = PreparedQuery(sent)
    assert [prepared.rows(keys=keys) for keys in ([], [file.pk], [])] == [[], [file], []]
    assert PreparedUpdate(rename).run(keys=[]) == 0


@pytest.mark.parametrize("change", [str.strip, str.lower, str.upper, str.casefold])
def test_a_text_that_is_changed_before_it_is_compared_is_refused(change: Callable[[str], str]) -> None:
    """Later texts would not be changed."""

    def named(slug: str) -> QuerySet[Membership]:
        return Membership.objects.filter(competition__slug=change(slug))

    with pytest.raises(ValueError, match="slug"):
        PreparedQuery(named).rows(slug="pets")


def test_neither_none_nor_another_type_is_taken_for_a_value_of_the_first_statement() -> None:
    def of_key(key: Any) -> QuerySet[Submission]:
        return Submission.objects.filter(pk=key)

    def of_keys(keys: list[Any]) -> QuerySet[Team]:
        return Team.objects.exclude(pk__in=keys)

    prepared, key = PreparedQuery(of_key), uuid4()
    assert prepared.rows(key=key) == []
    with pytest.raises(ValueError, match="key"):
        prepared.rows(key=None)  # type: ignore[arg-type]
    with pytest.raises(ValidationError):
        prepared.rows(key=str(key))
    with pytest.raises(TypeError, match="None"):
        PreparedQuery(of_keys).rows(keys=[1, None])


def test_values_are_told_apart_by_name_not_by_order() -> None:
    def between(first: list[int], others: list[int]) -> QuerySet[Team]:
        return Team.objects.filter(pk__in=first).exclude(pk__in=others).order_by("pk")

    competition = make_competition(person("ada", can_host=True))
    one, two, three = (enter(competition, person(name)).team for name in ("bo", "cy", "dee"))
    prepared = PreparedQuery(between)
    assert prepared.rows(first=[one.pk, two.pk], others=[two.pk]) == [one]
    assert prepared.rows(others=[three.pk, two.pk], first=[two.pk]) == []
    assert prepared.rows(others=[three.pk], first=[two.pk, three.pk]) == [two]
    assert prepared.rows(first=[one.pk] * 2000, others=[two.pk]) == [one], "equal values, and more than a thousand"


def test_rows_that_would_share_an_object_of_the_first_caller_are_refused() -> None:
    def members(competition: int) -> QuerySet[Membership]:
        return Competition(pk=competition).memberships.all()

    with pytest.raises(ValueError, match="share"):
        PreparedQuery(members).rows(competition=1)


def _facts(row: Any, joins: int = 3) -> Any:
    """All that was read of a row and of the rows joined to it."""
    if not isinstance(row, Model) or not joins:
        return row
    related = {name: _facts(one, joins - 1) for name, one in row._state.fields_cache.items()}
    return {**{name: value for name, value in vars(row).items() if name != "_state"}, **related}


def test_every_prepared_query_finds_what_django_finds_for_whoever_asks_in_whatever_language_and_zone(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[], int]
) -> None:
    """Nothing of the first reader stays in a statement: all are asked anew, on the pages of two students of two
    competitions and of their host."""
    compared, rows_of = set[object](), PreparedQuery.rows

    def rows(query: PreparedQuery[Any], **values: Any) -> list[Any]:
        found = rows_of(query, **values)
        assert list(map(_facts, found)) == list(map(_facts, query.build(**values)))
        compared.add(query)
        return found

    monkeypatch.setattr(PreparedQuery, "rows", rows)
    ada, bo, cy = person("ada", can_host=True), person("bo"), person("cy")
    with second_language():
        for slug, language, zone in (("pets", "en", "UTC"), ("other", CODE, "Pacific/Auckland")):
            competition = make_competition(ada, slug=slug, zone=zone)
            boards.add_baseline(competition=competition, user=ada, name="Zero", file_name="a.csv", chunks=[answers()])
            headers, cookies = {"accept-language": language}, SimpleCookie({"zone": zone})
            for user, wrong in ((bo, 1), (cy, 2)):
                client = Client(headers=headers)
                client.force_login(user)
                client.cookies.update(cookies)
                membership = join_by_code(user=user, code=competition.admission.join_code)
                accept_rules(membership=membership)
                file = SimpleUploadedFile("a.csv", answers(public=wrong))
                client.post(f"/c/{slug}/submit/", {"file": file, "upload_key": f"{slug} {wrong}"})
                sent = user.submissions.get(competition=competition)
                for turn in range(2):
                    pages = [f"/c/{slug}/{page}" for page in ("", "leaderboard/", "data/", "submit/", "submissions/")]
                    assert {client.get(page).status_code for page in pages} == {200}
                    assert client.get(f"/c/{slug}/submissions/{sent.pk}/").status_code == 200
                    program = Client(headers={"authorization": f"Bearer {ApiToken.issue(user, f'{slug} {turn}')[1]}"})
                    assert program.get(f"/api/v1/submissions/{sent.pk}").status_code == 200
                    file = SimpleUploadedFile("b.csv", answers(private=turn, public=wrong))
                    answer = program.post(f"/api/v1/competitions/{slug}/submissions", {"file": file})
                    assert answer.status_code == 201
                    next(queue.turns_of_submissions())
                    work()
    known = {
        one
        for name, module in list(sys.modules.items())
        for one in list(vars(module).values())
        if name.startswith("leaderboard.") and isinstance(one, PreparedQuery)
    }
    assert [one.build.__qualname__ for one in known - compared if isinstance(one, PreparedQuery)] == []


def test_an_update_writes_the_rows_of_its_values_only() -> None:
    def rename(keys: list[int], slug: str, name: str) -> tuple[QuerySet[Team], dict[str, Any]]:
        return Team.objects.filter(pk__in=keys, competition__slug=slug), {"name": name, "created_at": Now()}

    ada, bo, cy = person("ada", can_host=True), person("bo"), person("cy")
    teams = [enter(make_competition(ada, slug=user.username), user).team for user in (bo, cy)]
    keys, update = [team.pk for team in teams], PreparedUpdate(rename)
    assert [update.run(keys=keys, slug=slug, name=f"% {slug}") for slug in ("bo", "cy", "dee")] == [1, 1, 0]
    assert [Team.objects.get(pk=key).name for key in keys] == ["% bo", "% cy"]
    assert update.run(keys=keys[1:], slug="bo", name="nobody") == 0
