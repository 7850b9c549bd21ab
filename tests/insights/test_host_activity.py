"""Ada's dashboard: what happens in the class now, each number leading to whom it counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.classroom import extensions, team_lines
from leaderboard.competitions.models import BoardSettings, Competition, Submission, Team, Worker
from leaderboard.competitions.parameter_texts import problem_label
from leaderboard.competitions.ranking import reveal
from leaderboard.competitions.scoring import score
from leaderboard.competitions.services import boards, submitting
from leaderboard.insights import activity
from tests.conftest import answers, close, enter, hand_in, make_competition
from tests.pages import signed_in, text_of

POLL = {"HX-Request": "true"}


@pytest.fixture
def client(ada: User) -> Client:
    return signed_in(ada)


def test_the_dashboard_counts_who_needs_help_and_why_files_were_invalid(
    pets: Competition, client: Client, ada: User, bo: User, cy: User, dee: User
) -> None:
    baseline = boards.add_baseline(
        competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers(public=3)]
    )
    score.score_submission(baseline.pk)
    for user in (bo, cy, dee):
        enter(pets, user)
    hand_in(pets, bo, answers())
    hand_in(pets, cy, answers(public=5))
    hand_in(pets, cy, b"id,label\n1,cat\n77,cat\n")
    submitting.submit_file(competition=pets, user=bo, file_name="b.csv", chunks=[answers(public=1)])
    found = activity.class_activity(pets, timezone.now())
    assert (found.teams, found.without_valid, found.active_today) == (3, 1, 2)
    assert (found.submissions, found.scored, found.invalid, found.pending) == (4, 2, 1, 1)
    assert [(one.name, len(one.teams)) for one in found.below] == [("Guess", 1)]
    assert {code for code, _ in found.reasons} == {"unknown_ids", "missing_ids"}
    page = text_of(client.get("/host/pets/"))
    assert "Below “Guess”" in page
    assert "Ids are missing" in page
    assert "The oldest file has waited for" in page


@pytest.mark.parametrize("mode", ["plain", "steady", "hidden"])
def test_who_is_below_a_baseline_is_told_exactly_whatever_the_board_shows(
    ada: User, bo: User, cy: User, mode: str
) -> None:
    pets = make_competition(ada, board_mode=mode, board_step=0.4 if mode == "steady" else None)
    enter(pets, bo)
    enter(pets, cy)
    baseline = boards.add_baseline(
        competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers(public=2)]
    )
    score.score_submission(baseline.pk)
    hand_in(pets, bo, answers(public=2))
    hand_in(pets, cy, answers(public=4))
    hand_in(pets, cy, answers(public=3))
    team = Team.objects.get(name="cy")
    for _ in range(2):
        assert team_lines.best_public_scores(pets) == {Team.objects.get(name="bo").pk: 4 / 6, team.pk: 0.5}
        assert [one.teams for one in team_lines.teams_below_baselines(pets)] == [frozenset({team.pk})]
        close(pets)
        reveal.reveal_private_board(pets, timezone.now())


def test_files_are_counted_by_the_hours_of_the_clock(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    for minutes in (0, 5, 65, 24 * 60 + 5):
        submission = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
        received = datetime(2026, 3, 29, 3, 30, tzinfo=UTC) - timedelta(minutes=minutes)
        Submission.objects.filter(pk=submission.pk).update(received_at=received)
    found = activity.class_activity(pets, datetime(2026, 3, 29, 3, 40, tzinfo=UTC))
    assert found.hours[-2:] == (1, 2)
    assert sum(found.hours) == 3


def test_the_dashboard_says_whether_a_scorer_is_at_work(pets: Competition, client: Client) -> None:
    assert "Not heard of" in text_of(client.get("/host/pets/"))
    Worker.objects.create(host="here", process=1, version="1", last_seen_at=Now())
    assert "At work" in text_of(client.get("/host/pets/"))


def test_a_poll_brings_the_tiles_only_when_something_changed(pets: Competition, client: Client, bo: User) -> None:
    first = client.get("/host/pets/pulse/", headers=POLL)
    assert first.status_code == 200
    seen = first.content.decode().partition("?seen=")[2].partition('"')[0]
    assert client.get(f"/host/pets/pulse/?seen={seen}", headers=POLL).status_code == 204
    enter(pets, bo)
    assert client.get(f"/host/pets/pulse/?seen={seen}", headers=POLL).status_code == 200
    assert client.get("/host/pets/pulse/")["Location"] == "/host/pets/"


def test_the_dashboard_asks_as_much_for_sixty_teams_as_for_one(
    pets: Competition, client: Client, ada: User, bo: User, django_assert_max_num_queries: object
) -> None:
    enter(pets, bo)
    hand_in(pets, bo, answers())
    hand_in(pets, bo, b"id,label\n1,cat\n")
    baseline = boards.add_baseline(competition=pets, user=ada, name="G", file_name="g.csv", chunks=[answers()])
    score.score_submission(baseline.pk)
    Team.objects.bulk_create(Team(competition=pets, name=f"t{number}", invitation=f"i{number}") for number in range(60))
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        client.get("/host/pets/")


def test_the_numbers_of_a_hidden_or_disqualified_team_do_not_call_for_help(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    assert activity.class_activity(pets, timezone.now()).without_valid == 2
    extensions.disqualify_team(team=team, user=ada, reason="Copied")
    assert activity.class_activity(pets, timezone.now()).without_valid == 1


def test_reasons_are_said_in_words_also_those_that_few_metrics_know() -> None:
    assert problem_label("container").startswith("No CSV file")
    assert problem_label("not_boxes") == "Not boxes"


def test_after_the_deadline_the_dashboard_says_what_the_private_board_waits_for(
    client: Client, pets: Competition, ada: User, bo: User
) -> None:
    team = enter(pets, bo).team
    assert "Private board opens at the deadline" in text_of(client.get("/host/pets/"))
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=pets.closes_at + timedelta(days=1))
    close(pets)
    page = text_of(client.get("/host/pets/"))
    assert "not before a team's extension has ended" in unescape(page)
    assert "Files per hour" not in page, "nothing has come in the last day, and nothing will"
    extensions.revoke_extension(extension=team.extensions.get(), user=ada)
    assert "opens as soon as all files are scored" in text_of(client.get("/host/pets/"))
    BoardSettings.objects.update(reveals_itself=False)
    assert "Private board waits for you" in text_of(client.get("/host/pets/"))
