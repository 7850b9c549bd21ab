"""What browsers, search engines and slow lines ask for beside pages."""

from __future__ import annotations

import gzip

from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition
from leaderboard.ground_truths.services import data_files
from tests.conftest import answers, enter, submit
from tests.pages import signed_in

GZIP = {"Accept-Encoding": "gzip, deflate, br"}


def test_pages_styles_and_answers_to_programs_are_compressed(client: Client, db: None) -> None:
    for path in ("/", "/static/leaderboard/style.css", "/static/leaderboard/leaderboard.js", "/api/v1/openapi.json"):
        plain, packed = client.get(path), client.get(path, headers=GZIP)
        assert plain.headers.get("Content-Encoding") is None
        assert packed.headers["Content-Encoding"] == "gzip", path
        assert "Accept-Encoding" in packed.headers["Vary"], path
        body, whole = packed.getvalue(), plain.getvalue()
        packed.close()
        plain.close()
        assert 2 * len(body) < len(whole), path
    answer = client.get("/api/v1/openapi.json", headers=GZIP)
    assert gzip.decompress(answer.content).startswith(b"{")
    assert int(answer.headers["Content-Length"]) == len(answer.content)


def test_a_compressed_board_is_not_sent_again_while_it_is_the_same(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    client = signed_in(bo)
    # As the page asks for its board: a whole page also shows the minute.
    asked = {**GZIP, "HX-Request": "true"}
    first = client.get("/c/pets/leaderboard/", headers=asked)
    assert first.headers["Content-Encoding"] == "gzip"
    again = client.get("/c/pets/leaderboard/", headers={**asked, "If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    submit(pets, bo, answers(public=1))
    changed = client.get("/c/pets/leaderboard/", headers={**asked, "If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200


def test_the_length_of_a_compressed_page_tells_nothing(client: Client, db: None) -> None:
    def length() -> int:
        answer = client.get("/", headers=GZIP)
        return len(answer.content) + len(answer.headers.get("X-Padding", ""))

    assert len({length() for _ in range(40)}) > 5


def test_a_data_file_goes_out_as_it_is(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    rows = b"a,b\n" + b"1,2\n" * 1000
    data_files.add_data_file(competition=pets, file_name="train.csv", chunks=[rows], user=ada)
    got = signed_in(bo).get("/c/pets/data/files/train.csv", headers=GZIP)
    assert got.headers.get("Content-Encoding") is None
    assert int(got.headers["Content-Length"]) == len(rows)
    got.close()


def test_search_engines_are_kept_from_what_is_not_for_everybody(client: Client, db: None) -> None:
    text = client.get("/robots.txt").content.decode()
    for path in ("/host/", "/admin/", "/api/"):
        assert f"Disallow: {path}\n" in text
    assert "Disallow: /\n" not in text


def test_a_browser_finds_the_icon_without_a_page(client: Client, db: None) -> None:
    found = client.get("/favicon.ico", follow=True)
    assert found.status_code == 200
    assert found.headers["Content-Type"] == "image/svg+xml"
    found.close()
