"""Ada reads which teams' predictions are alike: the same bytes, the same scores, the same mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from leaderboard.scoring import table_jobs
from tests.conftest import answers, enter, make_competition, person, submit
from tests.pages import signed_in, text_of, tidy


@pytest.fixture
def long(ada: User) -> Competition:
    """Two hundred rows of three classes, five teams; the last two made the same mistakes."""
    chance = np.random.default_rng(5)
    labels = chance.integers(0, 3, 200)
    truth = "id,label,Usage\n" + "".join(f"{i},{x},{'Public' if i % 2 else 'Private'}\n" for i, x in enumerate(labels))
    competition = make_competition(ada, truth=truth)
    given = [np.where(chance.random(200) < 0.3, chance.integers(0, 3, 200), labels) for _ in range(4)]
    given.append(np.where(chance.random(200) < 0.1, labels, given[3]))
    for place, file in enumerate(given):
        user = person(f"student{place}")
        enter(competition, user)
        submit(competition, user, ("id,label\n" + "".join(f"{i},{x}\n" for i, x in enumerate(file))).encode())
    return competition


def test_teams_that_make_the_same_mistakes_are_named_beside_what_chance_would_do(long: Competition, ada: User) -> None:
    client = signed_in(ada)
    before = tidy(client.get("/host/pets/teams/similar/").content.decode())
    assert "student3</a>" not in before
    page = client.post("/host/pets/teams/similar/")
    assert page.status_code == 200
    assert "5 teams" in text_of(page)
    body = tidy(page.content.decode())
    assert "student3</a>" in body
    assert "student4</a>" in body
    assert "student1</a>" not in body


def test_numbers_whose_errors_go_together_are_named_beside_what_is_usual(ada: User) -> None:
    chance = np.random.default_rng(7)
    values = chance.normal(size=120)
    truth = "id,label,Usage\n" + "".join(f"{i},{x},{'Public' if i % 2 else 'Private'}\n" for i, x in enumerate(values))
    tides = make_competition(ada, truth=truth, metric="rmse")
    given = [values + 0.3 * chance.normal(size=120) for _ in range(6)]
    given.append(given[5] + 0.01 * chance.normal(size=120))
    for place, file in enumerate(given):
        user = person(f"student{place}")
        enter(tides, user)
        submit(tides, user, ("id,label\n" + "".join(f"{i},{x}\n" for i, x in enumerate(file))).encode())
    page = signed_in(ada).post("/host/pets/teams/similar/")
    assert "Error correlation" in text_of(page)
    body = tidy(page.content.decode()).partition("Pairs with correlated errors")[2].partition("</table>")[0]
    assert "student5</a>" in body
    assert "student6</a>" in body
    assert "student1</a>" not in body


def test_the_same_bytes_and_the_same_scores_of_different_teams_are_shown(
    pets: Competition, ada: User, bo: User, cy: User, dee: User
) -> None:
    for user in (bo, cy, dee):
        enter(pets, user)
    submit(pets, bo, answers(public=1), file_name="first.csv")
    submit(pets, cy, answers(public=1), file_name="second.csv")
    submit(pets, cy, answers(public=1), file_name="again.csv")
    submit(pets, dee, answers(public=1) + b"\n", file_name="other-bytes.csv")
    bytes_part, _, scores_part = text_of(signed_in(ada).get("/host/pets/teams/similar/")).partition("Identical scores")
    assert "first.csv" in bytes_part
    assert "second.csv" in bytes_part
    assert "again.csv" not in bytes_part
    assert "other-bytes.csv" not in bytes_part
    assert "other-bytes.csv" in scores_part


def test_a_team_that_repeats_itself_is_like_nobody(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    for _ in range(2):
        submit(pets, bo, answers(public=1))
    submit(pets, cy, answers(public=2))
    page = text_of(signed_in(ada).get("/host/pets/teams/similar/"))
    assert "No two teams submitted the same file." in page
    assert "No two teams have exactly the same scores with different files" in page


def test_too_few_teams_and_a_child_that_fails_are_said(
    pets: Competition, ada: User, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    response = signed_in(ada).post("/host/pets/teams/similar/")
    assert response.status_code == 409
    assert "At least three teams" in text_of(response)
    for name in ("x", "y"):
        user = person(name)
        enter(pets, user)
        submit(pets, user, answers())

    def fail(*_: object, **__: object) -> None:
        raise table_jobs.JobFailed("died")

    monkeypatch.setattr(table_jobs, "run_page_job", fail)
    response = signed_in(ada).post("/host/pets/teams/similar/")
    assert response.status_code == 503
    assert "died" not in text_of(response)


def test_the_page_asks_modestly(
    pets: Competition, ada: User, bo: User, cy: User, django_assert_max_num_queries: object
) -> None:
    for user in (bo, cy):
        enter(pets, user)
        submit(pets, user, answers(public=1))
    client = signed_in(ada)
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        client.get("/host/pets/teams/similar/")
