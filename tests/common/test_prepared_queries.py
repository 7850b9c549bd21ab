"""Queries that are compiled once find what Django's own find, whatever their parameters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from leaderboard.common.prepared_queries import PreparedQuery, PreparedUpdate
from leaderboard.competitions.models import Membership, Submission, Team
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


def test_an_update_writes_the_rows_of_its_values_only() -> None:
    def rename(keys: list[int], slug: str, name: str) -> tuple[QuerySet[Team], dict[str, Any]]:
        return Team.objects.filter(pk__in=keys, competition__slug=slug), {"name": name, "created_at": Now()}

    ada, bo, cy = person("ada", can_host=True), person("bo"), person("cy")
    teams = [enter(make_competition(ada, slug=user.username), user).team for user in (bo, cy)]
    keys, update = [team.pk for team in teams], PreparedUpdate(rename)
    assert [update.run(keys=keys, slug=slug, name=f"% {slug}") for slug in ("bo", "cy", "dee")] == [1, 1, 0]
    assert [Team.objects.get(pk=key).name for key in keys] == ["% bo", "% cy"]
    assert update.run(keys=keys[1:], slug="bo", name="nobody") == 0
