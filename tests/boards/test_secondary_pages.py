"""Where secondary metrics are shown, and where they must not be: never more than the score next to them tells."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from leaderboard.accounts.models import ApiToken, User
from leaderboard.boards import services as boards
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.submissions import score
from tests.conftest import close, enter, make_competition, submit

TRUTH = "id,y,Usage\n" + "".join(f"{i},{(i * 7) % 10 / 10},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 41))
ASKED: list[tuple[str, dict[str, Any]]] = [("rmse", {}), ("pinball", {"quantile": 0.9}), ("rmsle", {})]


def a_file(off: float, first: str = "") -> bytes:
    lines = [f"{i},{(i * 7) % 10 / 10 + off * (i % 3):.4f}" for i in range(1, 41)]
    return ("id,y\n" + "\n".join([f"1,{first}" if first else lines[0], *lines[1:]]) + "\n").encode()


@pytest.fixture
def tides(ada: User, bo: User) -> Competition:
    competition = make_competition(ada, slug="tides", truth=TRUTH, metric="mae", secondary=ASKED)
    enter(competition, bo)
    return competition


def output(client: Client, path: str) -> str:
    """What a page says, without its markup."""
    response = client.get(path)
    assert response.status_code == 200, path
    text: str = response.content.decode("utf-8-sig")
    return text


def values(submission: Submission, split: Split) -> list[float | None]:
    return [one.get("value") for one in Score.objects.get(submission=submission, split=split).secondary]


def digits(number: float | None) -> str:
    """As many digits as pages show at most without rounding up."""
    assert number is not None
    return repr(number)[:7]


PAGES = ("/c/tides/leaderboard/?board=public", "/c/tides/leaderboard.csv?board=public", "/c/tides/submissions/")


def pages_of(client: Client, submission: Submission) -> str:
    own = (f"/c/tides/submissions/{submission.pk}/", f"/c/tides/submit/?submission={submission.pk}")
    return "\n".join(output(client, path) for path in (*PAGES, *own))


def api_of(user: User, submission: Submission) -> dict[str, Any]:
    client, token = Client(), ApiToken.issue(user, "test")[1]
    headers = {"Authorization": f"Bearer {token}"}
    paths = {
        "competition": "/api/v1/competitions/tides",
        "board": "/api/v1/competitions/tides/leaderboard",
        "one": f"/api/v1/submissions/{submission.pk}",
        "list": "/api/v1/competitions/tides/submissions",
    }
    return {name: client.get(path, headers=headers).json() for name, path in paths.items()}


def test_an_open_board_shows_them_unranked_with_all_digits_and_never_the_private_ones(
    tides: Competition, bo: User, client: Client
) -> None:
    mine = submit(tides, bo, a_file(0.1))
    client.force_login(bo)
    board = output(client, PAGES[0])
    assert 'Pinball loss, quantile 0.9<span class="visually-hidden"> (not ranked)</span>' in board
    for value in values(mine, Split.PUBLIC):
        assert f'title="{value!r}">' in board
        assert repr(value) in output(client, PAGES[1])
        assert repr(value) in output(client, f"/c/tides/submissions/{mine.pk}/")
    assert (
        output(client, PAGES[1]).splitlines()[0].startswith('rank,team,score,RMSE,"Pinball loss, quantile 0.9",RMSLE,')
    )
    everything = pages_of(client, mine)
    for value in values(mine, Split.PRIVATE):
        assert digits(value) not in everything


def test_a_metric_that_cannot_score_the_file_shows_a_dash_and_says_why(
    tides: Competition, bo: User, client: Client
) -> None:
    mine = submit(tides, bo, a_file(0.1, first="-0.5"))
    client.force_login(bo)
    page = strip_tags(output(client, f"/c/tides/submissions/{mine.pk}/"))
    assert "RMSLE, public" in page
    assert "1 value of &quot;y&quot; is below 0: line 2" in page
    assert api_of(bo, mine)["one"]["secondary"][2]["problem"].startswith('1 value of "y" is below 0')
    assert api_of(bo, mine)["board"]["items"][0]["secondary"][2] is None


def test_a_hidden_board_shows_none_before_the_end_and_all_after(tides: Competition, bo: User, client: Client) -> None:
    competitions.change_competition(competition=tides, hides_scores=True)
    mine = submit(tides, bo, a_file(0.1))
    client.force_login(bo)
    found = pages_of(client, mine) + json.dumps(api_of(bo, mine))
    for split in Split:
        for value in values(mine, split):
            assert digits(value) not in found
    assert api_of(bo, mine)["one"]["secondary"] == []
    assert api_of(bo, mine)["board"]["items"][0]["secondary"] == []
    close(tides)
    boards.reveal_competition(competition=tides)
    for value in values(mine, Split.PRIVATE):
        assert repr(value) in output(client, f"/c/tides/submissions/{mine.pk}/")
        assert repr(value) in output(client, "/c/tides/leaderboard/?board=private")


def test_ada_sees_exact_values_of_both_splits_and_named_parts_whatever_the_board_shows(
    tides: Competition, bo: User, ada: User, client: Client
) -> None:
    competitions.change_competition(competition=tides, hides_scores=True)
    mine = submit(tides, bo, a_file(0.1))
    client.force_login(ada)
    page = output(client, f"/host/tides/submissions/{mine.pk}/")
    for split in Split:
        for value in values(mine, split):
            assert repr(value) in page
    assert "absolute_error" in page
    table = output(client, "/host/tides/board.csv?board=private")
    assert all(repr(value) in table for value in values(mine, Split.PRIVATE))


def test_the_data_page_says_how_to_run_all_at_home(tides: Competition, client: Client, bo: User) -> None:
    client.force_login(bo)
    page = output(client, "/c/tides/data/")
    command = "classboard-score score mae truth.csv submission.csv --also rmse --also pinball,quantile=0.9 --also rmsle"
    assert command in page
    assert [one["key"] for one in api_of(bo, submit(tides, bo, a_file(0.1)))["competition"]["secondary"]] == [
        "rmse",
        "pinball",
        "rmsle",
    ]


def test_a_competition_without_them_looks_as_before(ada: User, bo: User, client: Client) -> None:
    plain = make_competition(ada, slug="tides", truth=TRUTH, metric="mae")
    enter(plain, bo)
    mine = submit(plain, bo, a_file(0.1))
    client.force_login(bo)
    assert "not ranked" not in pages_of(client, mine) + output(client, "/c/tides/")
    assert api_of(bo, mine)["board"]["items"][0]["secondary"] == []


def test_baselines_show_theirs_too(tides: Competition, ada: User, client: Client, bo: User) -> None:
    baseline = boards.add_baseline(competition=tides, user=ada, name="Guess", file_name="b.csv", chunks=[a_file(0.2)])
    score.score_one(baseline.pk)
    client.force_login(bo)
    board = output(client, PAGES[0])
    assert all(f'title="{value!r}"' in board for value in values(baseline, Split.PUBLIC))
