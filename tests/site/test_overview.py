"""What a competition is about."""

from __future__ import annotations

import re
from datetime import timedelta

from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from leaderboard.competitions.queries import clear_counts
from tests.conftest import answers, enter, make_competition, submit
from tests.pages import tidy


def page(client: Client, slug: str = "pets") -> str:
    response = client.get(f"/c/{slug}/")
    assert response.status_code == 200
    return response.content.decode()


def test_it_says_what_when_and_how_it_is_measured(client: Client, ada: User) -> None:
    make_competition(
        ada, is_listed=True, contact="ada@example.org", metric="multilabel_f1", params={"average": "macro"}
    )
    text = page(client)
    for words in ("Which is it?", "Deadline", "higher is better", "macro", "mailto:ada@example.org"):
        assert words in text


def test_beside_the_hosts_text_it_has_few_words(client: Client, ada: User, bo: User) -> None:
    enter(make_competition(ada, contact="ada@example.org"), bo)
    client.force_login(bo)
    shown = strip_tags(page(client).partition("<main")[2].partition("</main>")[0])
    assert len(re.findall(r"\w+", shown)) <= 120


def test_the_data_page_says_how_to_submit_from_the_command_line(client: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    client.force_login(bo)
    text = client.get("/c/pets/data/").content.decode()
    assert "curl -O http://testserver/cli.py" in text
    assert "competitions submit pets -f submission.csv" in text


def test_a_private_competition_is_not_there_for_a_stranger(client: Client, pets: Competition, dee: User) -> None:
    assert client.get("/c/pets/").status_code == 404
    client.force_login(dee)
    assert client.get("/c/pets/").status_code == 404


def test_every_tab_is_there_once(client: Client, pets: Competition, bo: User) -> None:
    enter(pets, bo)
    client.force_login(bo)
    page = tidy(client.get("/c/pets/").content.decode())
    tabs = re.findall(r"</svg>([^<]+)</a>", page.partition('class="tabs"')[2].partition("</nav>")[0])
    assert tabs == ["Leaderboard", "Overview", "Data", "Submissions", "Team"]


def test_the_head_counts_the_teams_that_compete_and_their_files(
    client: Client, pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    submit(pets, bo, answers()), submit(pets, bo, answers(public=1)), submit(pets, cy, answers())
    boards.add_baseline(competition=pets, user=ada, name="Guess", file_name="g.csv", chunks=[answers(public=3)])
    competitions.change_competition(competition=pets, user=ada, is_listed=True)
    assert "2 teams · 3 submissions" in page(client)
    extensions.disqualify_team(team=team, user=ada, reason="Copied.")
    clear_counts(pets)  # as half a minute does
    assert "1 team · 1 submission" in page(client)
    assert "1 team " in " ".join(client.get("/competitions/").content.decode().split())
    extensions.readmit_team(team=team, user=ada)
    clear_counts(pets)
    assert "2 teams · 3 submissions" in page(client)


def test_a_team_with_more_time_reads_its_own_deadline_beside_that_of_all(
    client: Client, pets: Competition, ada: User, bo: User, cy: User
) -> None:
    later = pets.closes_at + timedelta(days=3)
    extensions.grant_extension(team=enter(pets, bo).team, user=ada, reason="Ill", closes_at=later)
    enter(pets, cy)
    client.force_login(bo)
    assert page(client).count("For your team") == 1
    client.force_login(cy)
    assert "For your team" not in page(client)


def test_a_team_with_more_attempts_reads_them_wherever_attempts_stand(
    client: Client, pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    extensions.grant_extension(team=team, user=ada, reason="Ill", extra_attempts=2)
    extensions.grant_extension(team=team, user=ada, reason="Ill", extra_attempts=4)
    client.force_login(bo)
    assert "More than the usual 5" in page(client)
    assert "Today you have 11." in client.get("/c/pets/team/").content.decode()
    card = client.get("/c/pets/submit/").content.decode()
    assert "11 of 11" in card
    assert "more than the usual 5" in card
    client.force_login(cy)
    for path in ("/c/pets/", "/c/pets/team/", "/c/pets/submit/"):
        text = client.get(path).content.decode()
        assert not any(words in text for words in ("Today you have", "than the usual")), path


def test_before_it_opens_it_says_when_and_has_no_way_to_submit(client: Client, ada: User, bo: User) -> None:
    soon = make_competition(ada, opens_at=timezone.now() + timedelta(hours=5))
    enter(soon, bo)
    client.force_login(bo)
    text = page(client)
    assert "Data and submissions open then" in text
    assert "/c/pets/submit/" not in text


def test_hostile_markdown_and_titles_stay_text(client: Client, ada: User) -> None:
    hostile = (
        "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) ![t](http://evil/x.png)\n"
        "$$</title><script>alert(2)</script>$$ <svg onload=alert(3)>"
    )
    make_competition(
        ada,
        is_listed=True,
        overview=hostile,
        rules=hostile,
        title="<b>bold</b>",
        subtitle="<i>i</i>",
        course="<u>u</u>",
    )
    for address in ("/c/pets/", "/c/pets/rules/", "/", "/c/pets/leaderboard/"):
        text = client.get(address).content.decode()
        for live in ("<script>alert", "<img", 'href="javascript', "<b>bold", "<i>i</i>", "<u>u</u>", "<svg onload"):
            assert live not in text, (address, live)
        assert " style=" not in text


def test_a_draft_is_not_closed_and_its_host_has_not_joined(client: Client, ada: User) -> None:
    make_competition(ada, launched=False)
    client.force_login(ada)
    text = page(client)
    assert "Ended" not in text
    assert "You've already joined “" not in text


def test_parameters_of_its_own_are_said_in_words(client: Client, ada: User) -> None:
    make_competition(ada, is_listed=True, metric="multilabel_f1")
    assert "<code>average</code>" not in page(client)
    make_competition(ada, slug="apart", is_listed=True, metric="multilabel_f1", params={"average": "macro"})
    assert re.search(r"<code>average</code>\s+macro", page(client, "apart"))
