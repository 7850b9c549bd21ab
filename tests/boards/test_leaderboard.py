"""The board: right, shared, live, and silent about the private one before the reveal."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from csv import DictReader
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import board_cache, reveal, standings
from leaderboard.boards import services as boards
from leaderboard.boards.board_cache import BytesLimitedCache
from leaderboard.boards.board_table import anchor_of, board_table, gap_text
from leaderboard.boards.rows import BoardPageData, BoardRowData
from leaderboard.classroom import extensions, teams
from leaderboard.common import numbers
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import BoardSettings, Competition, Membership, Score, Standing, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.services import drafts, publishing
from leaderboard.ground_truths.specs import GroundTruthSpec
from tests.conftest import TRUTH, answers, close, enter, make_competition, person, submit
from tests.pages import board_fact, board_lines, signed_in

BOARD = "/c/pets/leaderboard/"


@pytest.fixture
def board(ada: User, bo: User, cy: User) -> Competition:
    """Cy leads the public board, Bo the private one."""
    pets = make_competition(ada, is_listed=True)
    for who, public, private in ((bo, 1, 0), (cy, 0, 2)):
        enter(pets, who)
        submit(pets, who, answers(public=public, private=private))
    return pets


def page(client: Client, query: str = "", **headers: str) -> str:
    response = client.get(BOARD + query, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def ranks(text: str) -> list[tuple[str, str]]:
    """(rank, team) in the order of the page; baselines have no rank."""
    return [(line.rank or "–", line.name) for line in board_lines(text)]


def test_teams_stand_in_order_with_scores_and_words(client: Client, board: Competition) -> None:
    text = page(client)
    assert ranks(text) == [("1", "cy"), ("2", "bo")]
    assert "0.833" in text
    assert 'title="0.8333333333333334"' in text
    assert board_fact(text, "share").startswith("On 50 % of the test rows. The other 50 % decide")
    assert board_lines(text)[1].row.count("−0.167") == 1


def test_equal_scores_are_explained_below_the_table(client: Client, board: Competition, dee: User) -> None:
    words = "Equal scores: the earlier file ranks first."
    assert words not in page(client)
    enter(board, dee)
    submit(board, dee, answers())
    assert words in page(client)
    BoardSettings.objects.update(hides_scores=True)
    board.bump_board_version()
    assert words not in page(client)


def test_equal_score_and_time_share_a_rank(client: Client, board: Competition, dee: User) -> None:
    enter(board, dee)
    third = submit(board, dee, answers(public=1))
    first = Submission.objects.get(user__username="bo")
    Submission.objects.filter(pk=third.pk).update(received_at=first.received_at)
    late = person("eve")
    enter(board, late)
    submit(board, late, answers(public=2))
    assert board.ground_truth
    standings.rebuild_standings(board.ground_truth)
    assert [rank for rank, _ in ranks(page(client))] == ["1", "2", "2", "4"]


def test_a_new_score_shows_at_once(client: Client, board: Competition, bo: User) -> None:
    assert ranks(page(client))[0] == ("1", "cy")
    Score.objects.filter(submission__user__username="cy", split="public").delete()
    assert board.ground_truth
    standings.rebuild_standings(board.ground_truth)
    assert ranks(page(client)) == [("1", "bo")]
    submit(board, bo, answers())
    assert "1.000" in page(client)


def test_a_renamed_team_shows_at_once(client: Client, board: Competition, bo: User) -> None:
    page(client)
    teams.rename_team(membership=bo.memberships.select_related("competition", "team").get(), name="Overfit & Chill")
    assert "Overfit &amp; Chill" in page(client)


def test_my_row_is_marked_for_me_alone(client: Client, board: Competition, bo: User, cy: User) -> None:
    row = anchor_of("bo")
    mark = f'<tr aria-current="true" id="{row}"'
    client.force_login(bo)
    assert mark in page(client)
    assert board_fact(page(client), "you").startswith("You 2nd of 2")
    assert board_fact(page(client), "next").startswith("Next rank 0.167 to 1st cy")
    assert f"?board=public#{row}" in page(client)
    client.force_login(cy)
    assert mark not in page(client)
    client.logout()
    assert 'aria-current="true"' not in page(client)
    assert board_fact(page(client), "first").startswith("First 1.000 cy")
    assert ">You<" not in page(client)


def test_the_board_says_when_the_private_one_can_open_at_the_earliest(
    client: Client, board: Competition, ada: User, bo: User
) -> None:
    """The deadline would be a promise that an extension breaks."""
    later = (board.closes_at + timedelta(days=3)).replace(microsecond=0)
    extensions.grant_extension(team=bo.memberships.get().team, user=ada, reason="Ill", closes_at=later)
    opening = page(client).partition('data-testid="share"')[2].partition("</p>")[0]
    assert f'datetime="{later.isoformat()}"' in opening
    locked = page(client, "?board=private")
    assert "It opens when a team's extension ends:" in locked
    assert "It opens at the deadline:" not in locked


def test_search_keeps_the_true_ranks(client: Client, board: Competition) -> None:
    assert ranks(page(client, "?q=BO")) == [("2", "bo")]
    assert "No team with this name" in page(client, "?q=nobody")
    assert "<script>x" not in page(client, "?q=<script>x")


def test_hostile_team_names_stay_text(client: Client, board: Competition, bo: User) -> None:
    membership = bo.memberships.select_related("competition", "team").get()
    for name in ("<script>alert(1)</script>", "</th><th>", '"><img src=x onerror=alert(1)>'):
        teams.rename_team(membership=membership, name=name)
        client.force_login(bo)
        text = page(client)
        assert "<script>alert" not in text
        assert "<img" not in text
        assert text[text.index("<tbody>") : text.index("</tbody>")].count(">You<") == 1


def test_an_unchanged_board_is_a_304_and_a_changed_one_is_not(client: Client, board: Competition, bo: User) -> None:
    for who in (None, bo):
        if who:
            client.force_login(who)
        text = page(client, **{"HX-Request": "true"})
        assert text.lstrip().startswith("<section")
        etag = client.get(BOARD, headers={"HX-Request": "true"})["ETag"]
        assert f'data-etag="{etag}"' in page(client).replace("&quot;", '"')
        asked = {"HX-Request": "true", "If-None-Match": etag}
        answer = client.get(BOARD, headers=asked)
        assert (answer.status_code, answer.content) == (304, b"")
        board.bump_board_version()
        assert client.get(BOARD, headers=asked).status_code == 200


def test_in_a_burst_open_pages_share_one_board_for_a_second_and_who_opens_it_anew_reads_the_newest(
    client: Client, board: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_cache.calm_versions, "seconds", 1000.0)
    asked = {"HX-Request": "true", "If-None-Match": "older"}
    shown = client.get(BOARD, headers=asked)["ETag"]
    board.bump_board_version()
    assert client.get(BOARD, headers=asked)["ETag"] == shown
    assert client.get(BOARD, headers={"HX-Request": "true"})["ETag"] != shown
    monkeypatch.setattr(board_cache.calm_versions, "seconds", 0.0)
    assert client.get(BOARD, headers=asked)["ETag"] != shown


def test_nobodys_page_is_served_to_somebody_else(client: Client, board: Competition, bo: User, cy: User) -> None:
    etags = {client.get(BOARD)["ETag"]}
    for who in (bo, cy):
        client.force_login(who)
        response = client.get(BOARD)
        assert "private" in response["Cache-Control"]
        assert "Cookie" in response["Vary"]
        assert who.username in response.content.decode()
        etags.add(response["ETag"])
    assert len(etags) == 3


def test_what_one_reader_types_into_the_address_is_in_nobody_elses_page(client: Client, board: Competition) -> None:
    assert "canary" in page(client, "?page=1canary")
    assert "canary" not in page(client, "?page=1")
    assert "canary" not in page(client)


def test_messages_are_not_kept_in_the_shared_page(client: Client, board: Competition) -> None:
    assert "Join the competition first" not in page(client)
    fresh = Client()
    fresh.cookies["messages"] = "something"
    assert fresh.get(BOARD).status_code == 200


def test_the_private_board_is_locked_in_every_byte(client: Client, board: Competition, bo: User, dee: User) -> None:
    """Cy's private value, 4 of 6, must be nowhere, whatever is asked."""
    assert board.ground_truth
    Standing.objects.create(
        ground_truth=board.ground_truth, team=bo.memberships.get().team, split="private", value=0.123456789,
        submission=Submission.objects.filter(user=bo)[0], sort_key=-0.123456789, received_at=timezone.now(),
    )  # fmt: skip
    for who in (None, bo, dee):
        if who:
            client.force_login(who)
        for query in ("", "?board=private", "?board=private&q=bo", "?board=private&page=2", "?board=PRIVATE"):
            for headers in ({}, {"HX-Request": "true"}):
                text = page(client, query, **headers)
                assert "0.667" not in text
                assert "0.123" not in text
                assert "0.6666" not in text
        assert "The final ranking is locked" in page(client, "?board=private")
        csv = client.get("/c/pets/leaderboard.csv?board=private")
        assert csv.status_code == 302


def test_before_the_reveal_private_scores_change_no_byte_for_students(
    client: Client, board: Competition, bo: User
) -> None:
    client.force_login(bo)
    fixed = Client(raise_request_exception=True)

    def seen() -> list[str]:
        texts = [page(who, query) for who in (client, fixed) for query in ("", "?board=private")]
        return [re.sub(r"<footer.*?</footer>|data-etag=\S+", "", text, flags=re.DOTALL) for text in texts]

    before = seen()
    Score.objects.filter(split="private").update(value=0.987654321)
    board.bump_board_version()
    assert seen() == before


def test_a_host_sees_baselines_privately_and_students_do_not(client: Client, board: Competition, ada: User) -> None:
    client.force_login(ada)
    assert "Only hosts see this board" in page(client, "?board=private")


def test_equal_scores_wear_equal_discs_on_board_and_podium(client: Client, board: Competition, dee: User) -> None:
    enter(board, dee)
    submit(board, dee, answers(public=0, private=2))
    discs = re.findall(r'class="medal (\w+)">(\d)<', page(client))
    assert discs == [("first", "1"), ("first", "2"), ("third", "3")]
    client.force_login(board.hosts.get())
    projected = client.get("/host/pets/projector/?show=live").content.decode()
    assert re.findall(r'class="medal (\w+)"', projected) == ["first", "first", "third"]
    close(board)
    reveal.reveal_private_board(board, timezone.now())
    podium = page(client).partition('<ol class="podium">')[2].partition("</ol>")[0]
    assert re.findall(r'<li class="(\w+)">', podium) == ["first", "second", "second"]


def test_after_the_reveal_the_private_board_comes_first_with_its_podium(client: Client, board: Competition) -> None:
    close(board)
    assert "the final ranking isn't open yet" in board_fact(page(client), "share")
    reveal.reveal_private_board(board, timezone.now())
    text = page(client)
    assert ranks(text) == [("1", "bo"), ("2", "cy")]
    assert '<i class="up"><span>up </span>1</i>' in text
    assert '<i class="down"><span>down </span>1</i>' in text
    assert board_fact(text, "picked").startswith("bo, cy")
    podium = text.partition('<ol class="podium">')[2].partition("</ol>")[0]
    assert re.findall(r'<span class="name">(\w+)', podium) == ["bo", "cy"]
    assert "Your final rank 2nd of 2" in board_fact(
        page(signed_in(Membership.objects.get(team__name="cy").user)), "you"
    )
    assert '<ol class="podium">' not in page(client, "?board=public")
    assert ranks(page(client, "?board=public")) == [("1", "cy"), ("2", "bo")]
    assert b"bo" in client.get("/c/pets/leaderboard.csv?board=private").content


def test_baselines_stand_among_the_teams_without_a_rank(
    client: Client, board: Competition, ada: User, work: Callable[[], int]
) -> None:
    boards.add_baseline(competition=board, user=ada, name="half right", file_name="b.csv", chunks=[answers(public=3)])
    assert work() == 1
    assert ranks(page(client)) == [("1", "cy"), ("2", "bo"), ("–", "half right")]


def test_an_empty_board_invites(client: Client, ada: User) -> None:
    competition = make_competition(ada, is_listed=True)
    assert "Be the first" in page(client)
    assert "<table" not in page(client), "a head without a line says nothing"
    close(competition)
    assert "Be the first" not in page(client)
    assert "No team is ranked" in page(client)


def test_a_draft_without_a_ground_truth_has_no_board_yet(client: Client, ada: User) -> None:
    now = timezone.now()
    competitions.create_competition(
        user=ada, slug="pets", title="Draft", opens_at=now, closes_at=now + timedelta(days=1)
    )
    client.force_login(ada)
    assert "No leaderboard yet" in page(client)
    assert client.get("/c/pets/leaderboard.csv").status_code == 302


def test_a_candidate_is_announced_and_does_not_mix_in(client: Client, board: Competition, ada: User) -> None:
    corrected = TRUTH.replace("cat", "dog", 1).encode()
    drafts.save_draft(competition=board, spec=GroundTruthSpec(metric="accuracy", file_name="t.csv", chunks=[corrected]))
    before = ranks(page(client))
    publishing.publish_draft(competition=board, user=ada)
    text = page(client)
    assert 'data-testid="candidate"' in text
    assert ranks(text) == before


def test_the_csv_has_all_digits_and_no_formula(client: Client, board: Competition, bo: User) -> None:
    teams.rename_team(membership=bo.memberships.select_related("competition", "team").get(), name="=1+1")
    text = client.get("/c/pets/leaderboard.csv").content.decode("utf-8-sig")
    _first, row = DictReader(text.splitlines())
    assert (row["rank"], row["team"], row["score"], row["submissions"]) == ("2", "'=1+1", "0.8333333333333334", "1")


def test_a_reader_of_a_new_board_waits_for_no_other_one() -> None:
    cache, gate = BytesLimitedCache(100_000), threading.Event()
    slow = threading.Thread(target=lambda: cache.get("key", lambda: "a" if gate.wait(5) else "late"))
    slow.start()
    assert cache.get("key", lambda: "b") == "b"
    gate.set()
    slow.join()
    assert cache.get("key", lambda: "c") == "b"


def kept_in(cache: BytesLimitedCache) -> list[object]:
    entries: Any = cache._entries
    return [key for _language, key in entries]


def test_a_cache_holds_so_many_bytes_and_keeps_no_failure() -> None:
    cache = BytesLimitedCache(50_000)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 // 0)
    assert cache.get("a", lambda: "a" * 10_000) == "a" * 10_000
    for key in "bc":
        assert cache.get(key, lambda: "≈" * 6_000) == "≈" * 6_000
    assert kept_in(cache) == ["b", "c"]
    assert cache.get("a", lambda: BoardPageData(html="x" * 25_000)).page == 1
    assert kept_in(cache) == ["a"]
    assert cache.get("d", lambda: "x" * 50_000) == "x" * 50_000
    assert kept_in(cache) == ["d"]


def test_gaps_have_the_decimals_of_scores_and_the_first_place_none() -> None:
    values = (0.9, 0.78123, 0.95, 0.90004321, None)
    assert [gap_text(value, 0.9, 3) for value in values] == ["", "−0.119", "+0.050", "+0.0000432", ""]


def test_a_page_of_a_hundred_teams_is_small(board: Competition, bo: User) -> None:
    """60 kB in all, and 400 bytes a row with two members."""
    rows = [
        BoardRowData(
            rank, f"Gradient Descenders {rank}", rank, 41.27123456789 + rank, 2, "", timezone.now(), 19,
            timezone.now(), ("noor", "tim"),
        )
        for rank in range(1, 101)
    ]  # fmt: skip
    table = board_table(board, Split.PUBLIC, rows, 42.27)
    assert max(len(line.row.encode()) for line in board_lines(table)) <= 400
    before, _begin, rest = page(signed_in(bo)).partition("<table")
    assert len((before + table + rest.partition("</table>")[2]).encode()) <= 60_000


def test_a_board_of_made_up_names_says_so_to_each_reader(
    client: Client, board: Competition, ada: User, bo: User
) -> None:
    assert board_fact(page(client), "pseudonyms") == ""
    competitions.change_competition(competition=board, user=ada, uses_pseudonyms=True)
    own = Team.objects.get(memberships__user=bo).pseudonym
    assert f"Others see you as “{own}”." in page(signed_in(bo))
    assert "You also see the real names." in page(signed_in(ada))
    stranger = page(client)
    assert "Teams have pseudonyms here." in stranger
    assert "Others see you" not in stranger


def test_a_host_is_not_asked_to_join_what_they_host(client: Client, board: Competition, ada: User) -> None:
    assert "/join/?competition=pets" in page(client)
    assert "/join/?competition=pets" not in page(signed_in(ada))


def test_a_difference_of_nothing_has_no_sign() -> None:
    assert numbers.number_text(-0.0, 3) == "0.000"
    assert numbers.rounded_text(-0.0) == "0"
