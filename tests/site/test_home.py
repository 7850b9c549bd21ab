"""Home: for a visitor, for a student, for a host."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from leaderboard.accounts.models import SetupLink, User
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions, joining, roles
from leaderboard.classroom.models import HostingRole
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Submission
from tests.conftest import answers, close, enter, make_competition, submit
from tests.pages import signed_in


def home(user: User | None = None) -> str:
    response = (signed_in(user) if user else Client()).get("/")
    assert response.status_code == 200
    return response.content.decode()


def words(page: str) -> str:
    return " ".join(strip_tags(page).split())


def bo_competes_in_six(ada: User, bo: User) -> None:
    for slug in ("one", "two", "three", "four", "five", "six"):
        competition = make_competition(ada, slug=slug)
        enter(competition, bo)
        submit(competition, bo, answers())


def part(page: str, name: str) -> str:
    """A list of the page by its test id; empty where it is not there."""
    _before, found, after = page.partition(f'data-testid="{name}"')
    return after.partition("</ul>")[0] if found else ""


# --- visitors ---------------------------------------------------------------------------------------------------


def test_dee_sees_a_live_board_and_ways_in(ada: User, bo: User, cy: User) -> None:
    pets = make_competition(ada, is_listed=True)
    for person, wrong in ((bo, 1), (cy, 0)):
        enter(pets, person)
        submit(pets, person, answers(public=wrong))
    page = home()
    board = page[page.index('id="live-board"') : page.index("</section>", page.index('id="live-board"'))]
    assert board.index(">cy<") < board.index(">bo<")
    assert 'name="code"' in page
    assert 'href="/help/hosts/"' in page
    assert 'href="/c/pets/"' in page


def test_dee_sees_nothing_of_private_competitions_and_drafts(ada: User, bo: User) -> None:
    secret = make_competition(ada, slug="secret", title="Secret question")
    make_competition(ada, slug="draft", title="Unfinished", is_listed=True, launched=False)
    enter(secret, bo)
    submit(secret, bo, answers())
    page = home()
    for title in ("Secret question", "Unfinished", "live-board"):
        assert title not in page


def test_a_hidden_board_is_no_advertisement(ada: User, bo: User) -> None:
    pets = make_competition(ada, is_listed=True, hides_scores=True)
    enter(pets, bo)
    submit(pets, bo, answers())
    assert "live-board" not in home()


def test_a_new_site_says_how_it_is_set_up(db: None, client: Client) -> None:
    secret = SetupLink.issue()
    assert 'data-testid="not-set-up"' in home()
    assert secret not in home()


# --- students ---------------------------------------------------------------------------------------------------


def test_bo_sees_every_team_with_its_mates_rank_and_attempts(pets: Competition, bo: User, cy: User, dee: User) -> None:
    team = enter(pets, bo).team
    joining.join_by_invitation(user=cy, invitation=team.invitation)
    enter(pets, dee)
    submit(pets, dee, answers())
    submit(pets, bo, answers(public=1))
    found = words(home(bo))
    for text in ("Cats or dogs", "with cy", "2nd of 2 teams", "4 of 5"):
        assert text in found
    assert "with bo" not in words(home(dee))


def test_what_runs_stands_above_what_is_over(ada: User, bo: User) -> None:
    over = make_competition(ada, slug="over", title="Over and out")
    soon = make_competition(ada, slug="soon", title="Soon", opens_at=timezone.now() + timedelta(hours=1))
    for competition in (over, soon):
        enter(competition, bo)
    close(over)
    page = home(bo)
    assert page.index("Soon") < page.index('data-testid="ended"') < page.index("Over and out")
    assert "/c/soon/submit/" not in page


def test_the_nearest_deadline_has_the_one_primary_button(ada: User, bo: User) -> None:
    now = timezone.now()
    for slug, days in (("late", 9), ("next", 2)):
        enter(make_competition(ada, slug=slug, closes_at=now + timedelta(days=days)), bo)
    page = home(bo)
    assert page.index("/c/next/submit/") < page.index("/c/late/submit/")
    assert page.count("button primary") == 1


def test_ranks_gained_since_yesterday_are_shown(pets: Competition, bo: User, cy: User) -> None:
    for person, wrong in ((bo, 2), (cy, 1)):
        enter(pets, person)
        submit(pets, person, answers(public=wrong))
    Submission.objects.update(received_at=timezone.now() - timedelta(days=1))
    submit(pets, bo, answers())
    assert "▲1" in home(bo)
    assert "▼1" in home(cy)


def test_after_the_reveal_the_private_rank_is_shown_and_not_before(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    submit(pets, bo, answers(private=3))
    submit(pets, cy, answers(public=3))
    close(pets)
    assert "1 of 2" in words(home(bo))
    boards.reveal_competition(competition=pets)
    assert "2 of 2" in words(home(bo))


def test_who_has_not_accepted_the_rules_is_asked_to(pets: Competition, bo: User) -> None:
    joining.enter_competition(user=bo, competition=pets)
    assert 'href="/c/pets/rules/"' in home(bo)
    assert 'href="/c/pets/submit/"' not in home(bo)


def test_dee_is_shown_no_team_of_others(pets: Competition, bo: User, dee: User) -> None:
    enter(pets, bo)
    assert "Cats or dogs" not in home(dee)
    assert 'name="code"' in home(dee)


def test_bo_sees_on_every_page_that_the_team_is_out_or_the_competition_paused(
    pets: Competition, ada: User, bo: User
) -> None:
    team = enter(pets, bo).team
    competitions.pause_competition(competition=pets, user=ada, reason="The data had a mistake.")
    client = signed_in(bo)
    assert "Paused</span>" in home(bo)
    assert "/c/pets/submit/" not in home(bo)
    competitions.resume_competition(competition=pets, user=ada)
    extensions.disqualify_team(team=team, user=ada, reason="Two accounts.")
    assert "Disqualified</span>" in home(bo)
    assert "/c/pets/submit/" not in home(bo), "nothing can be submitted"
    for page in ("", "leaderboard/", "team/", "submissions/", "submit/"):
        text = client.get(f"/c/pets/{page}").content.decode()
        assert text.count("Two accounts.") == 1, page
        assert "Submit predictions" not in text, page
    extensions.readmit_team(team=team, user=ada)
    assert "/c/pets/submit/" in home(bo)
    assert "Two accounts." not in client.get("/c/pets/").content.decode()
    assert "Submit predictions" in client.get("/c/pets/").content.decode()


def test_the_page_asks_modestly_however_many_teams_there_are(
    ada: User, bo: User, django_assert_max_num_queries: Any
) -> None:
    bo_competes_in_six(ada, bo)
    client = signed_in(bo)
    with django_assert_max_num_queries(12):
        assert words(client.get("/").content.decode()).count("1st of 1 team") == 6


# --- hosts ------------------------------------------------------------------------------------------------------


def test_ada_sees_what_she_runs_and_can_always_create(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    page = home(ada)
    assert 'href="/host/pets/"' in part(page, "hosted")
    assert 'href="/host/new/"' in page
    assert 'href="/host/new/"' not in home(bo)


def test_the_bars_count_submissions_of_teams_alone(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    boards.add_baseline(competition=pets, user=ada, name="Cats", file_name="b.csv", chunks=[answers()])
    assert ', 0"' in home(ada)
    submit(pets, bo, answers())
    assert ', 1"' in home(ada)


def test_ada_reads_what_needs_her_with_the_button_that_settles_it(ada: User, bo: User) -> None:
    now = timezone.now()
    make_competition(ada, slug="draft", launched=False)
    soon = make_competition(ada, slug="soon", closes_at=now + timedelta(days=2))
    done = make_competition(ada, slug="done")
    for competition in (soon, done):
        enter(competition, bo)
    close(done)
    tasks = part(home(ada), "tasks")
    for address in ("/host/draft/setup/", "/host/soon/announcements/", "/host/done/reveal/"):
        assert f'href="{address}"' in tasks
    submit(soon, bo, answers())
    boards.reveal_competition(competition=done)
    tasks = part(home(ada), "tasks")
    for address in ("/host/soon/announcements/", "/host/done/reveal/"):
        assert address not in tasks


def test_an_assistant_sees_the_competition_and_no_task(ada: User, cy: User, pets: Competition) -> None:
    close(pets)
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=ada)
    page = home(cy)
    assert 'href="/host/pets/"' in part(page, "hosted")
    assert not part(page, "tasks")
    assert part(home(ada), "tasks")


def test_a_hosts_page_asks_modestly(ada: User, bo: User, django_assert_max_num_queries: Any) -> None:
    bo_competes_in_six(ada, bo)
    client = signed_in(ada)
    with django_assert_max_num_queries(12):
        assert part(client.get("/").content.decode(), "hosted").count("<li>") == 6


def test_who_runs_it_is_not_sent_to_a_door_that_is_shut(pets: Competition, ada: User, cy: User) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT, user=ada)
    for who, has_baselines in ((ada, True), (cy, False)):
        text = signed_in(who).get("/c/pets/submit/").content.decode()
        assert "You can read its private scores, so you can't compete" in text
        assert f"/join/{pets.admission.join_code}/" not in text
        assert ("/host/pets/baselines/" in text) == has_baselines
