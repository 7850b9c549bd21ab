"""My submissions, the page of one, the file, the problems, the final picks."""

from __future__ import annotations

import csv as csv_module
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from leaderboard.accounts.models import User
from leaderboard.boards import reveal
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import BoardSettings, Competition, Limits, Score, Submission
from tests.conftest import answers, close, enter, submit
from tests.pages import drawing_of, signed_in, tidy

LIST = "/c/pets/submissions/"


def page_of(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200, response
    return response.content.decode()


@pytest.fixture
def pets(pets: Competition, bo: User) -> Competition:
    """Bo competes in it."""
    enter(pets, bo)
    return pets


def test_bo_sees_own_files_and_nobody_elses(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, cy)
    submit(pets, bo, answers(), file_name="bos.csv", note="<b>bold</b>")
    submit(pets, cy, answers(), file_name="cys.csv")
    page = page_of(signed_in(bo), LIST)
    assert "bos.csv" in page
    assert "cys.csv" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page


def test_the_tabs_filter(pets: Competition, bo: User) -> None:
    submit(pets, bo, answers(), file_name="good.csv")
    submit(pets, bo, b"id,label\n1,cat\n", file_name="bad.csv")
    client = signed_in(bo)
    for show, has_good, has_bad in [
        ("all", True, True),
        ("scored", True, False),
        ("invalid", False, True),
        ("finals", True, False),
        ("nonsense", True, True),
    ]:
        page = page_of(client, f"{LIST}?show={show}")
        assert ("good.csv" in page, "bad.csv" in page) == (has_good, has_bad), show


def test_an_empty_list_says_what_to_do(pets: Competition, bo: User) -> None:
    assert "No submissions yet" in page_of(signed_in(bo), LIST)
    assert "Your first submission gets a score and a rank within seconds" in page_of(signed_in(bo), LIST)


@pytest.mark.parametrize("takes_late", [False, True])
def test_an_empty_list_promises_no_place_after_the_deadline(pets: Competition, bo: User, takes_late: bool) -> None:
    close(pets)
    Limits.objects.update(allows_late=takes_late)
    page = page_of(signed_in(bo), LIST)
    assert "The deadline has passed, so your team" in page
    assert (">Submit" in tidy(page)) is ("not ranked" in page) is takes_late
    assert "Your first submission gets a score and a rank within seconds" not in page


def test_an_empty_list_of_a_hidden_board_promises_no_score_at_once(pets: Competition, bo: User) -> None:
    BoardSettings.objects.update(hides_scores=True)
    assert "final ranking opens" in page_of(signed_in(bo), LIST)


def test_the_host_is_led_to_the_hosts_list(pets: Competition, ada: User, bo: User) -> None:
    submit(pets, bo, answers(), file_name="bos.csv")
    page = page_of(signed_in(ada), LIST)
    assert "You host this competition" in page
    assert "bos.csv" not in page


def test_private_scores_appear_with_the_reveal_and_not_before(pets: Competition, bo: User) -> None:
    submission = submit(pets, bo, answers(private=2))
    private = Score.objects.get(submission=submission, split="private").value
    client = signed_in(bo)
    for url in (LIST, f"{LIST}{submission.pk}/", f"/c/pets/submit/?submission={submission.pk}"):
        assert "Private score</th>" not in tidy(page_of(client, url))
        assert f"{private:.3f}" not in page_of(client, url)
        assert repr(private) not in page_of(client, url)
    close(pets)
    assert f"{private:.3f}" not in page_of(client, LIST)
    assert reveal.reveal_private_board(pets, timezone.now() - timedelta(milliseconds=1))
    assert f"{private:.3f}" in page_of(client, LIST)
    assert repr(private) in page_of(client, f"{LIST}{submission.pk}/")


def test_the_chart_shows_public_scores_from_the_second_on(pets: Competition, bo: User) -> None:
    submit(pets, bo, answers(public=1))
    assert 'class="chart history"' not in page_of(signed_in(bo), LIST)
    submit(pets, bo, answers())
    assert drawing_of(page_of(signed_in(bo), LIST), "history").count('class="dot"') == 2


# --- one submission ---------------------------------------------------------------------------------------------


def test_the_page_names_everything_a_score_rests_on(pets: Competition, bo: User) -> None:
    submission = submit(pets, bo, answers(public=1))
    page = page_of(signed_in(bo), f"{LIST}{submission.pk}/")
    assert pets.ground_truth is not None
    value = Score.objects.get(submission=submission, split="public").value
    for fact in (submission.sha256, "mine.csv", pets.ground_truth.metric_version, repr(value)):
        assert fact in page


def test_the_version_of_the_metric_is_the_one_that_scored_the_file(pets: Competition, bo: User) -> None:
    """An upgrade tomorrow does not change the page of today."""
    submission = submit(pets, bo, answers())
    Score.objects.update(metric_version="earlier4711")
    assert "earlier4711" in page_of(signed_in(bo), f"{LIST}{submission.pk}/")


def test_bo_downloads_the_same_bytes_as_an_attachment(pets: Competition, bo: User) -> None:
    submission = submit(pets, bo, answers(), file_name='v1 "ä".html')
    response = signed_in(bo).get(f"{LIST}{submission.pk}/file/")
    assert b"".join(response.streaming_content) == answers()  # type: ignore[attr-defined]
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Type"] == "application/octet-stream"
    response.close()


def test_strangers_cannot_open_bos_page_file_or_problems(pets: Competition, bo: User, cy: User, dee: User) -> None:
    enter(pets, cy)
    submission = submit(pets, bo, b"id,label\n1,cat\n")
    for tail in ("", "file/", "problems.csv"):
        assert signed_in(cy).get(f"{LIST}{submission.pk}/{tail}").status_code == 404
        assert signed_in(dee).get(f"{LIST}{submission.pk}/{tail}").status_code == 404
        assert Client().get(f"{LIST}{submission.pk}/{tail}").status_code == 302


def test_the_problems_come_as_csv_without_formulas(pets: Competition, bo: User) -> None:
    submission = submit(pets, bo, b"id,label\n1,cat\n")
    Submission.objects.update(
        problems=[{"code": "unknown_ids", "message": '=cmd|"x"', "column": "@id", "line": 2, "id": "-1", "count": 3}]
    )
    response = signed_in(bo).get(f"{LIST}{submission.pk}/problems.csv")
    assert response["Content-Disposition"].startswith("attachment")
    rows = list(csv_module.reader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert rows == [
        ["code", "message", "column", "line", "id", "count"],
        ["unknown_ids", '\'=cmd|"x"', "'@id", "2", "'-1", "3"],
    ]


def test_bo_writes_a_better_note_and_nobody_else_can(pets: Competition, bo: User, cy: User, ada: User) -> None:
    enter(pets, cy)
    submission = submit(pets, bo, answers(), note="first")
    address = f"{LIST}{submission.pk}/"
    assert signed_in(bo).post(address, {"note": "with dropout"}).status_code == 303
    for person in (cy, ada):
        assert signed_in(person).post(address, {"note": "stolen"}).status_code == 404
    assert signed_in(bo).post(address, {"note": "x" * 301}).status_code == 422
    submission.refresh_from_db()
    assert submission.note == "with dropout"
    assert "Save note" in page_of(signed_in(bo), address)
    assert "Save note" not in page_of(signed_in(ada), address)


def test_after_the_reveal_bo_reads_what_would_have_been_better(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, cy)
    picked = submit(pets, bo, answers(private=4), file_name="picked.csv")
    submit(pets, bo, answers(public=3), file_name="better.csv")
    submit(pets, cy, answers(private=1))
    client, words = signed_in(bo), ", but it wasn't a final submission"
    client.post("/c/pets/finals/", {"final": [str(picked.pk)]})
    close(pets)
    assert words not in page_of(client, LIST)
    reveal.reveal_private_board(pets, timezone.now() - timedelta(milliseconds=1))
    page = " ".join(page_of(client, LIST).split())
    assert words in page
    assert "better.csv</a> with" in page
    assert "It would have been rank 1" in page
    assert words not in page_of(signed_in(cy), LIST)


# --- final picks ------------------------------------------------------------------------------------------------


def test_bo_picks_finals_and_sees_them(pets: Competition, bo: User) -> None:
    first, second = submit(pets, bo, answers(public=1)), submit(pets, bo, answers())
    client = signed_in(bo)
    assert "your best public submission" in page_of(client, LIST)
    response = client.post("/c/pets/finals/", {"final": [str(first.pk)]})
    assert (response.status_code, response["Location"]) == (303, "/c/pets/finals/")
    assert list(Submission.objects.filter(is_selected=True)) == [first]
    for address in ("/c/pets/finals/", f"{LIST}?show=finals"):
        page = page_of(client, address)
        assert str(first.pk) in page
        assert str(second.pk) not in page


def test_who_picks_a_worse_file_reads_which_one_is_forgotten(pets: Competition, bo: User) -> None:
    worse, best = submit(pets, bo, answers(public=1)), submit(pets, bo, answers(), file_name="best.csv")
    client, words = signed_in(bo), "“best.csv” with"
    assert words not in page_of(client, LIST)
    client.post("/c/pets/finals/", {"final": [str(worse.pk)]})
    page = " ".join(page_of(client, LIST).split())
    assert "chosen 1 of 2 Only the chosen one counts" in " ".join(strip_tags(page).split())
    assert f"{words} 1.000." in page
    client.post("/c/pets/finals/", {"final": [str(worse.pk), str(best.pk)]})
    page = " ".join(page_of(client, LIST).split())
    assert "chosen 2 of 2 The best private score counts" in " ".join(strip_tags(page).split())
    assert words not in page
    client.post("/c/pets/finals/", {"final": [str(worse.pk)]})
    competitions.change_competition(competition=pets, hides_scores=True)
    assert words not in page_of(client, LIST), "which file is the best is what a hidden board hides"


def test_the_finals_lead_on_to_all_that_can_be_picked_until_the_deadline(pets: Competition, bo: User) -> None:
    submit(pets, bo, answers())
    client = signed_in(bo)
    assert f'href="{LIST}?show=scored">Choose other' in tidy(page_of(client, "/c/pets/finals/"))
    assert "Choose other" not in page_of(client, LIST)
    close(pets)
    assert "Choose other" not in page_of(client, f"{LIST}?show=finals")


def test_picks_that_a_tab_does_not_show_are_sent_along(pets: Competition, bo: User) -> None:
    picked = submit(pets, bo, answers())
    submit(pets, bo, b"id,label\n1,cat\n")
    client = signed_in(bo)
    client.post("/c/pets/finals/", {"final": [str(picked.pk)]})
    assert f'<input type="hidden" name="final" value="{picked.pk}"' in page_of(client, f"{LIST}?show=invalid")


def test_after_the_deadline_the_picks_stand(pets: Competition, bo: User) -> None:
    submission = submit(pets, bo, answers())
    close(pets)
    client = signed_in(bo)
    response = client.post("/c/pets/finals/", {"final": [str(submission.pk)]}, follow=True)
    assert "change your final submissions" in response.content.decode()
    assert not Submission.objects.filter(is_selected=True).exists()
    assert 'type="checkbox"' not in page_of(client, LIST)


def test_cy_cannot_pick_bos_file_and_nonsense_picks_nothing(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, cy)
    submission = submit(pets, bo, answers())
    signed_in(cy).post("/c/pets/finals/", {"final": [str(submission.pk), "nonsense"]})
    assert not Submission.objects.filter(is_selected=True).exists()


def test_the_page_of_finals_shows_what_decides_if_bo_does_nothing(pets: Competition, bo: User) -> None:
    client = signed_in(bo)
    empty = page_of(client, "/c/pets/finals/")
    assert "You haven't chosen any" in empty
    assert f'href="{LIST}?show=scored">Choose' in tidy(empty)
    best = submit(pets, bo, answers(), file_name="best.csv")
    page = tidy(page_of(client, "/c/pets/finals/"))
    assert f'name="final" value="{best.pk}"' in page
    assert "Automatic" in page
    assert '<a href="/c/pets/finals/" aria-current="page">Finals</a>' in page


def test_a_host_without_a_team_picks_nothing(pets: Competition, ada: User) -> None:
    response = signed_in(ada).post("/c/pets/finals/", {}, follow=True)
    assert "Join the competition first" in response.content.decode()


def test_too_many_picks_change_nothing_and_keep_their_ticks(pets: Competition, bo: User) -> None:
    files = [str(submit(pets, bo, answers(public=wrong)).pk) for wrong in range(3)]
    client = signed_in(bo)
    page = client.post("/c/pets/finals/", {"final": files}, follow=True).content.decode()
    assert "Choose at most 2" in page
    assert page.count('name="final"') == page.count(" checked") == 3
    assert not Submission.objects.filter(is_selected=True).exists()


def test_nothing_is_saved_where_nothing_can_be_picked(pets: Competition, bo: User) -> None:
    submit(pets, bo, b"id,label\n1,cat\n", file_name="bad.csv")
    assert "Save final submissions" not in page_of(signed_in(bo), LIST)
    submit(pets, bo, answers(), file_name="good.csv")
    assert "Save final submissions" in page_of(signed_in(bo), LIST)
