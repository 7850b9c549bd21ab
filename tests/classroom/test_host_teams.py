"""Ada looks after single teams: who needs help, more attempts and time, who is out, hidden files, a pause."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.classroom import extensions
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Extension, Submission, Team
from tests.conftest import answers, close, enter, make_competition, person, submit
from tests.pages import signed_in, text_of


@pytest.fixture
def client(ada: User) -> Client:
    return signed_in(ada)


def test_ada_sees_who_has_no_valid_file(
    pets: Competition, client: Client, ada: User, bo: User, cy: User, dee: User
) -> None:
    enter(pets, bo), enter(pets, cy), enter(pets, dee)
    submit(pets, bo, answers())
    submit(pets, cy, answers(public=5))
    submit(pets, dee, b"id,label\n1,cat\n")

    def shown(query: str) -> set[str]:
        page = client.get(f"/host/pets/teams/{query}").content.decode()
        return {name for name in ("bo", "cy", "dee") if f">{name}</a>" in page}

    assert shown("") == {"bo", "cy", "dee"}
    assert shown("?show=nothing") == {"dee"}
    assert shown("?q=b") == {"bo"}
    assert shown("?show=granted") == set()
    competitions.change_competition(competition=pets, user=ada, uses_pseudonyms=True)
    masked = Team.objects.get(name="cy")
    assert shown(f"?q={masked.pseudonym}") == {"cy"}, "the name that a student knows who writes about a team"
    assert f"others see “{masked.pseudonym}”" in text_of(client.get(f"/host/pets/teams/{masked.pk}/", follow=True))
    assert "No teams match" in text_of(client.get("/host/pets/teams/?show=disqualified"))


def test_ada_sorts_the_teams_by_any_column(pets: Competition, client: Client, bo: User, cy: User, dee: User) -> None:
    for user in (bo, cy, dee):
        enter(pets, user)
    submit(pets, cy, answers(public=1))
    submit(pets, bo, answers(public=2))
    submit(pets, bo, b"id,label\n1,cat\n")

    def order(sort: str) -> list[str]:
        return re.findall(r">(bo|cy|dee)</a>", client.get(f"/host/pets/teams/?sort={sort}").content.decode())

    assert order("name") == order("nonsense") == ["bo", "cy", "dee"]
    assert order("-name") == ["dee", "cy", "bo"]
    assert order("files") == ["dee", "cy", "bo"]
    assert order("-invalid")[0] == "bo"
    assert order("best") == ["bo", "cy", "dee"]
    assert order("-best") == ["cy", "bo", "dee"], "who has no score stays last"
    assert order("last") == ["cy", "bo", "dee"]
    assert order("-scored")[-1] == "dee"
    page = client.get("/host/pets/teams/?sort=-best&q=b").content.decode()
    assert (page.count('aria-sort="descending"'), "q=b" in page) == (1, True)


def test_who_works_for_the_class_reads_the_names_of_the_class_list(
    pets: Competition, client: Client, bo: User, cy: User, dee: User
) -> None:
    for user in (bo, cy, dee):
        enter(pets, user)
        submit(pets, user, answers())
    pets.course.roster.create(name="Bodil Åkesson", user=bo)
    pets.course.roster.create(name="Nobody Yet")
    elsewhere = make_competition(person("eve"), slug="elsewhere")
    elsewhere.course.roster.create(name="Cyra from elsewhere", user=cy)
    team = bo.memberships.get().team
    file = Submission.objects.get(user=bo)
    for page in ("teams/", f"submissions/{file.pk}/"):
        assert "Bodil Åkesson (bo)" in text_of(client.get(f"/host/pets/{page}")), page
    assert "Bodil Åkesson" in text_of(client.get(f"/host/pets/teams/{team.pk}/", follow=True))
    assert "Bodil Åkesson" in text_of(client.get("/host/pets/submissions/"))
    assert "Cyra" not in text_of(client.get("/host/pets/teams/")) + text_of(client.get("/host/pets/submissions/"))
    for page in ("teams", "submissions"):
        found = text_of(client.get(f"/host/pets/{page}/?q=åkess"))
        assert "Bodil" in found, page
        assert " cy " not in found, page
    assert "Bodil" not in text_of(signed_in(cy).get("/c/pets/leaderboard/"))


def test_the_list_asks_as_much_for_sixty_teams_as_for_one(
    pets: Competition, client: Client, bo: User, django_assert_max_num_queries: object
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    Team.objects.bulk_create(Team(competition=pets, name=f"t{number}", invitation=f"i{number}") for number in range(60))
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        page = text_of(client.get("/host/pets/teams/"))
    assert "Page 1 of 2" in page


def test_an_extension_of_nothing_is_refused_in_words_alone(pets: Competition, client: Client, bo: User) -> None:
    address = f"/host/pets/teams/{enter(pets, bo).team.pk}/"
    nothing = {"action": "grant", "extra_attempts": "", "closes_at": "", "reason": "Ill"}
    response = client.post(address, nothing)
    assert response.status_code == 422
    assert "Give extra attempts, a later deadline, or both." in text_of(response)
    assert "onstraint" not in text_of(response)


def test_ada_gives_more_attempts_and_time_and_ends_them(pets: Competition, client: Client, bo: User) -> None:
    team = enter(pets, bo).team
    address = f"/host/pets/teams/{team.pk}/"
    until = (pets.closes_at + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    sent = {
        "action": "grant",
        "extra_attempts": "3",
        "closes_at": until,
        "reason": "Ill last week",
        "waits": "everyone",
    }
    assert client.post(address, sent).status_code == 303
    page = text_of(client.get(address, follow=True))
    assert "3 extra attempts" in page
    assert "Ill last week" in page
    assert "8 attempts per day" in page
    mine = text_of(signed_in(bo).get("/c/pets/submit/"))
    assert "The host extended your team" in mine
    extension = Extension.objects.get()
    end = {"action": "end", "grant": str(extension.pk), "is_meant": "yes"}
    assert client.post(address, end).status_code == 303
    assert "Ended" in text_of(client.get(address, follow=True))
    assert "The host extended" not in text_of(signed_in(bo).get("/c/pets/submit/"))
    assert client.post(address, {"action": "end", "grant": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"extra_attempts": "3"}, "Give a reason"),
        ({"reason": "why"}, "Give extra attempts, a later deadline, or both"),
        ({"reason": "why", "closes_at": "2020-01-01T00:00"}, "This isn't later than the regular deadline"),
        ({"reason": "why", "extra_attempts": "-1"}, "greater than or equal to 0"),
        ({"reason": "why", "closes_at": "soon"}, "Enter a date and time"),
    ],
)
def test_an_extension_with_mistakes_says_which_and_keeps_what_was_typed(
    pets: Competition, client: Client, bo: User, sent: dict[str, str], words: str
) -> None:
    team = enter(pets, bo).team
    response = client.post(f"/host/pets/teams/{team.pk}/", {"action": "grant", **sent})
    assert response.status_code == 422
    assert words in text_of(response)
    assert not Extension.objects.exists()


def test_a_deadline_is_meant_in_the_zone_of_the_competition(ada: User, bo: User) -> None:
    pets = make_competition(ada, zone="Europe/Vienna")
    team = enter(pets, bo).team
    sent = {"action": "grant", "closes_at": "2031-07-01T12:00", "reason": "Ill", "waits": "everyone"}
    signed_in(ada).post(f"/host/pets/teams/{team.pk}/", sent)
    granted = Extension.objects.get().closes_at
    assert granted is not None
    assert granted.isoformat() == "2031-07-01T10:00:00+00:00"


def test_a_student_with_more_time_finds_the_page_open_while_others_find_it_closed(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=pets.closes_at + timedelta(days=1))
    close(pets)
    mine, other = (text_of(signed_in(user).get("/c/pets/submit/")) for user in (bo, cy))
    assert "Submit" in mine
    assert "Ended" in other
    assert "when a team's extension ends" in text_of(signed_in(cy).get("/c/pets/leaderboard/?board=private"))
    waiting = signed_in(ada).get("/host/pets/reveal/").content.decode()
    assert f'href="/host/pets/teams/{team.pk}/"' in waiting


def test_a_disqualified_team_reads_why_and_the_host_undoes_it(
    pets: Competition, client: Client, bo: User, cy: User
) -> None:
    team = enter(pets, bo).team
    submit(pets, bo, answers())
    address = f"/host/pets/teams/{team.pk}/"
    assert "Give a reason" in text_of(client.post(address, {"action": "disqualify", "reason": " "}))
    assert client.post(address, {"action": "disqualify", "reason": "Two <b>accounts"}).status_code == 303
    page = text_of(client.get(address, follow=True))
    assert "The team is disqualified" in page
    for path in ("/c/pets/submit/", "/c/pets/submissions/"):
        page = text_of(signed_in(bo).get(path))
        assert "Two &lt;b&gt;accounts" in page
    assert "This didn't work" in text_of(client.post(address, {"action": "disqualify", "reason": "again"}))
    enter(pets, cy)
    assert "Two" not in text_of(signed_in(cy).get("/c/pets/leaderboard/"))
    assert client.post(address, {"action": "readmit"}).status_code == 303
    assert "Submit" in text_of(signed_in(bo).get("/c/pets/submit/"))


def test_a_hidden_file_says_so_to_its_team_and_can_be_shown_again(pets: Competition, client: Client, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, answers())
    address = f"/host/pets/submissions/{submission.pk}/"
    assert "Give a reason" in text_of(client.post(address, {"action": "hide"}))
    assert client.post(address, {"action": "hide", "reason": "Made by hand"}).status_code == 303
    assert "Made by hand" in text_of(signed_in(bo).get(f"/c/pets/submissions/{submission.pk}/"))
    assert "Hidden by the host" in text_of(signed_in(bo).get("/c/pets/submissions/"))
    assert "Hidden" in text_of(client.get("/host/pets/submissions/"))
    assert client.post(address, {"action": "show"}).status_code == 303
    assert Submission.objects.get().hidden_at is None


def test_a_pause_is_on_every_page_and_ends(pets: Competition, client: Client, bo: User) -> None:
    enter(pets, bo)
    assert client.post("/host/pets/settings/", {"action": "pause", "reason": ""}).status_code == 422
    assert client.post("/host/pets/settings/", {"action": "pause", "reason": "Wrong truth"}).status_code == 303
    assert client.post("/host/pets/settings/", {"action": "pause", "reason": "again"}).status_code == 409
    bos = signed_in(bo)
    for path in ("/c/pets/", "/c/pets/submit/", "/c/pets/leaderboard/"):
        assert "Wrong truth" in text_of(bos.get(path))
    assert 'id="upload"' not in bos.get("/c/pets/submit/").content.decode()
    assert "Wrong truth" in text_of(client.get("/host/pets/"))
    assert client.post("/host/pets/settings/", {"action": "resume"}).status_code == 303
    assert 'id="upload"' in bos.get("/c/pets/submit/").content.decode()


def test_the_team_of_another_competition_is_not_there(pets: Competition, client: Client) -> None:
    hal = person("hal", can_host=True)
    foreign = enter(make_competition(hal, slug="other"), person("eve")).team
    for sent in (None, {"action": "disqualify", "reason": "x"}):
        address = f"/host/pets/teams/{foreign.pk}/"
        assert (client.post(address, sent) if sent else client.get(address)).status_code == 404
    assert not Team.objects.filter(disqualified_at__isnull=False).exists()
