"""Ada's dashboard: what happens in the class now, each number leading to whom it counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import reveal
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions, queries
from leaderboard.competitions import services as competitions
from leaderboard.competitions.metric_display import problem_label
from leaderboard.competitions.models import BoardSettings, Competition, Submission, Team
from leaderboard.competitions.models.page_task import Worker
from leaderboard.insights import activity
from leaderboard.submissions import score, submitting
from tests.conftest import answers, close, enter, make_competition, person, submit
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
    score.score_one(baseline.pk)
    for user in (bo, cy, dee):
        enter(pets, user)
    submit(pets, bo, answers())
    submit(pets, cy, answers(public=5))
    submit(pets, cy, b"id,label\n1,cat\n77,cat\n")
    submitting.submit_file(competition=pets, user=bo, file_name="b.csv", chunks=[answers(public=1)])
    found = activity.class_activity(pets, timezone.now())
    assert (found.teams, found.students, found.without_valid, found.active_today) == (3, 3, 1, 2)
    assert (found.submissions, found.invalid, found.pending) == (4, 1, 1)
    assert (found.best_team, found.baseline, found.above_baseline) == ("bo", "Guess", 1)
    assert [(one.name, one.kind) for one in found.in_need] == [("dee", "nothing"), ("cy", "below")]
    page = client.get("/host/pets/").content.decode()
    assert "?for=no_valid_file" in page, "the next thing to do is to remind dee"
    only = client.get("/host/pets/?help=below").content.decode()
    rows = only.partition('data-testid="in-need"')[2].partition("</ul>")[0]
    assert f"?team={enter_team('cy')}" in rows
    assert f"?team={enter_team('dee')}" not in rows


def enter_team(name: str) -> int:
    return Team.objects.get(name=name).pk


def test_a_team_that_tries_in_vain_comes_first_with_its_problem(pets: Competition, client: Client, bo: User) -> None:
    enter(pets, bo)
    for wrong in (b"id,label\n1,cat\n77,cat\n", b"id,label\n1,cat\n78,cat\n", b"id,label\n1,cat\n79,cat\n"):
        submit(pets, bo, wrong)
    stuck = activity.class_activity(pets, timezone.now()).in_need
    assert [(one.name, one.kind, one.invalid) for one in stuck] == [("bo", "stuck", 3)]
    assert problem_label(stuck[0].problem) in text_of(client.get("/host/pets/"))
    submit(pets, bo, answers())
    assert activity.class_activity(pets, timezone.now()).in_need == ()


@pytest.mark.parametrize("hides_scores", [False, True])
def test_hosts_read_who_is_below_a_baseline_on_a_hidden_board_too(
    ada: User, bo: User, cy: User, *, hides_scores: bool
) -> None:
    pets = make_competition(ada, hides_scores=hides_scores)
    enter(pets, bo)
    enter(pets, cy)
    baseline = boards.add_baseline(
        competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers(public=2)]
    )
    score.score_one(baseline.pk)
    submit(pets, bo, answers(public=2))
    submit(pets, cy, answers(public=4))
    submit(pets, cy, answers(public=3))
    team = Team.objects.get(name="cy")
    for _ in range(2):
        assert queries.best_public_scores(pets) == {Team.objects.get(name="bo").pk: 4 / 6, team.pk: 0.5}
        assert [one.teams for one in queries.teams_below_baselines(pets, queries.best_public_scores(pets))] == [
            frozenset({team.pk})
        ]
        close(pets)
        reveal.reveal_private_board(pets, timezone.now())


def test_files_are_counted_by_the_days_of_the_competitions_calendar(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    Competition.objects.update(zone="Europe/Vienna")
    pets.refresh_from_db()
    for hours in (0, 2, 3, 24 * 20):
        submission = submit(pets, bo, answers())
        received = datetime(2026, 3, 29, 1, 30, tzinfo=UTC) - timedelta(hours=hours)
        Submission.objects.filter(pk=submission.pk).update(received_at=received)
    found = activity.class_activity(pets, datetime(2026, 3, 29, 3, 40, tzinfo=UTC))
    counts = [one.scored + one.invalid for one in found.days]
    assert counts[-2:] == [1, 2], "23:30 UTC is the next day in Vienna"
    assert sum(counts) == 3


def test_the_dashboard_says_that_no_scorer_is_at_work(pets: Competition, client: Client, bo: User) -> None:
    def badge() -> str:
        page = client.get("/host/pets/").content.decode()
        return page.partition('data-testid="scoring"')[2].partition("badge ")[2].partition('"')[0]

    assert badge() == "danger"
    Worker.objects.create(host="here", process=1, version="1", last_seen_at=Now())
    assert badge() == "", "nothing to say"
    enter(pets, bo)
    submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()])
    assert badge() == "live"


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
    submit(pets, bo, answers())
    submit(pets, bo, b"id,label\n1,cat\n")
    baseline = boards.add_baseline(competition=pets, user=ada, name="G", file_name="g.csv", chunks=[answers()])
    score.score_one(baseline.pk)
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
    assert problem_label("container").startswith("Not a CSV file")
    assert problem_label("not_boxes") == "Not boxes"


def test_the_dashboard_offers_the_final_ranking_when_it_can_open_and_not_before(
    client: Client, pets: Competition, ada: User, bo: User
) -> None:
    team = enter(pets, bo).team
    BoardSettings.objects.update(reveals_itself=False)

    def offers_reveal() -> bool:
        page = client.get("/host/pets/").content.decode()
        step = page.partition('data-testid="next-step"')[2].partition("</section>")[0]
        return 'href="/host/pets/reveal/"' in step

    assert not offers_reveal()
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=pets.closes_at + timedelta(days=1))
    close(pets)
    page = client.get("/host/pets/").content.decode()
    assert 'href="/host/pets/reveal/?do=end"' in page, "bo has more time"
    competitions.end_extension(extension=team.extensions.get(), user=ada)
    assert offers_reveal()
    BoardSettings.objects.update(reveals_itself=True)
    assert not offers_reveal(), "it opens by itself"


@pytest.mark.parametrize("students", [0, 4, 5])
def test_the_first_card_lets_the_class_in_until_five_are_there(
    pets: Competition, client: Client, students: int
) -> None:
    for number in range(students):
        enter(pets, person(f"s{number}"))
    page = client.get("/host/pets/").content.decode()
    assert ('href="/host/pets/projector/?show=join"' in page) == (students < 5)
    assert ("?for=no_valid_file" in page) == (students > 0), "who is there and has no file"
    assert page.count("button primary") == 1 or students < 5


def test_the_dashboard_reads_when_a_team_with_time_joins_the_open_ranking(
    pets: Competition, client: Client, ada: User, bo: User
) -> None:
    until = pets.closes_at + timedelta(days=1)
    extensions.grant_extension(team=enter(pets, bo).team, user=ada, reason="Ill", closes_at=until, delays_ranking=False)
    close(pets)
    assert "opens for the others in a moment" in text_of(client.get("/host/pets/"))
    reveal.reveal_due_competitions(timezone.now())
    page = text_of(client.get("/host/pets/"))
    assert "bo joins it after" in page
    assert "Grades" in page


def test_the_facts_in_the_head_move_with_the_dashboard_and_the_board(
    pets: Competition, client: Client, ada: User, bo: User, cy: User
) -> None:
    enter(pets, bo)
    assert "1 team · 0 submissions" in client.get("/host/pets/").content.decode()
    enter(pets, cy)
    submit(pets, bo, answers())
    for address in ("/host/pets/pulse/", "/c/pets/leaderboard/"):
        facts = client.get(address, headers=POLL).content.decode().partition('id="head-facts"')[2]
        assert facts.startswith(' hx-swap-oob="true"')
        assert "2 teams · 1 submission" in facts
        assert "Closes in" in facts
    close(pets)
    assert "Ended" in client.get("/host/pets/pulse/", headers=POLL).content.decode().partition('id="head-facts"')[2]
