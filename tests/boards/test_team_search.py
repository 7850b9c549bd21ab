"""The board of one section of the class: for those who run it, and for who competes where the host lets them."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards
from leaderboard.boards import services as boards_services
from leaderboard.boards import team_search
from leaderboard.boards.board_table import anchor_of
from leaderboard.classroom import joining, roles, teams
from leaderboard.classroom.models import HostingRole, RosterEntry
from leaderboard.common.models import AuditEntry
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Standing, Team
from leaderboard.ground_truths.services import copying, folders
from tests.conftest import answers, close, enter, make_competition, person, submit
from tests.pages import board_fact, board_lines, save_settings, signed_in, text_of, tidy

BOARD = "/c/pets/leaderboard/"


@pytest.fixture
def labs(ada: User) -> Competition:
    """Twelve teams in two labs, in turns; the last three have the same score."""
    pets = make_competition(ada, is_listed=True)
    for place in range(12):
        user = person(f"p{place:02d}")
        enter(pets, user)
        submit(pets, user, answers(public=min(place // 2, 5)))
        RosterEntry.objects.create(course=pets.course, user=user, name=user.username, section=f"Lab {place % 2 + 1}")
    return pets


def ranked(page: str) -> list[tuple[str, str]]:
    """Rank and team of each row."""
    return [(line.rank, line.name) for line in board_lines(page)]


def test_ada_reads_the_board_of_one_section_with_the_ranks_of_all(ada: User, labs: Competition) -> None:
    hers = signed_in(ada)
    page = hers.get(BOARD)
    whole = ranked(page.content.decode())
    assert "<option>Lab 2</option>" in page.content.decode()
    second = hers.get(f"{BOARD}?section=Lab+2")
    assert ranked(second.content.decode()) == [row for row in whole if int(row[1][1:]) % 2]
    assert "“Rank” is the overall rank." in text_of(second)
    assert "<option selected>Lab 2</option>" in second.content.decode()
    both = hers.get(f"{BOARD}?section=Lab+2&q=p0").content.decode()
    assert {name for _rank, name in ranked(both)} == {"p01", "p03", "p05", "p07", "p09"}
    assert "No ranked team in this section" in text_of(hers.get(f"{BOARD}?section=Lab+9"))


def test_an_assistant_does_too_and_nobody_else_learns_that_there_are_sections(labs: Competition, dee: User) -> None:
    roles.give_role(competition=labs, name="dee", role=HostingRole.ASSISTANT)
    assert len(ranked(signed_in(dee).get(f"{BOARD}?section=Lab+1").content.decode())) == 6
    student = signed_in(User.objects.get(username="p00"))
    page = student.get(f"{BOARD}?section=Lab+1").content.decode()
    assert len(ranked(page)) == 12
    assert "Lab 1" not in page.replace("section=Lab", "")


def test_a_section_or_a_search_asks_the_database_no_more_often_than_any_page(ada: User, labs: Competition) -> None:
    hers = signed_in(ada)
    hers.get(BOARD)
    for asked in ("?section=Lab+1", "?q=p"):
        with CaptureQueriesContext(connection) as queries:
            hers.get(BOARD + asked)
        its_clock = connection.vendor == "postgresql"
        assert len(queries) <= 12 + its_clock, (asked, len(queries))


@pytest.fixture
def open_labs(ada: User, labs: Competition) -> Competition:
    """The same labs, where students may look at the board of a section."""
    return competitions.change_competition(competition=labs, user=ada, shows_sections=True)


def student(name: str = "p00") -> Client:
    return signed_in(User.objects.get(username=name))


def within(page: str) -> list[tuple[str, str]]:
    """Rank in the section and team of each row."""
    return [(line.within, line.name) for line in board_lines(page) if line.within]


def chooser(page: str) -> list[str]:
    choices = tidy(page).partition('id="section"')[2].partition("</select>")[0]
    return re.findall(r"<option[^>]*>([^<]*)</option>", choices)


def test_a_student_looks_at_a_section_with_both_ranks_and_their_own_comes_first(open_labs: Competition) -> None:
    his = student("p01")
    page = his.get(BOARD).content.decode()
    assert chooser(page) == ["All sections", "My section: Lab 2", "Lab 1"]
    assert within(page) == []
    answer = his.get(f"{BOARD}?section=Lab+2")
    mine = answer.content.decode()
    assert ranked(mine) == [row for row in ranked(page) if int(row[1][1:]) % 2]
    # Hand-ins of the same score: the earlier one stands above, so no two share a rank.
    assert within(mine) == [(str(place), name) for place, (_rank, name) in enumerate(ranked(mine), start=1)]
    assert '<option value="Lab 2" selected>' in mine
    assert re.match(r"You 2nd of 12 .*1 of 6 here", board_fact(mine, "you"))
    other = student("p00").get(f"{BOARD}?section=Lab+2")
    assert within(other.content.decode()) == within(mine)
    assert board_fact(other.content.decode(), "you").startswith("You 1st of 12")
    assert chooser(other.content.decode()) == ["All sections", "My section: Lab 1", "Lab 2"]


def test_search_and_the_way_to_oneself_stay_in_the_section(open_labs: Competition) -> None:
    his = student("p03")
    row = anchor_of("p03")
    page = his.get(f"{BOARD}?section=Lab+2").content.decode()
    assert f'href="?board=public&amp;section=Lab+2#{row}"' in page
    assert f'<tr aria-current="true" id="{row}"' in page
    assert 'href="?board=private&amp;section=Lab%202"' in page
    found = his.get(f"{BOARD}?section=Lab+2&q=p0").content.decode()
    assert within(found) == [(str(place), f"p0{2 * place - 1}") for place in range(1, 6)]
    assert within(his.get(f"{BOARD}?section=Lab+2&q=p11").content.decode()) == [("6", "p11")]
    part = his.get(f"{BOARD}?section=Lab+2", headers={"HX-Request": "true"}).content.decode()
    assert within(part) == within(page)
    assert "<option" not in part


def test_a_search_in_a_section_says_how_many_of_its_teams_it_found(ada: User, open_labs: Competition) -> None:
    for reader in (signed_in(ada), student()):
        answer = reader.get(f"{BOARD}?section=Lab+2&q=p0")
        assert "5 of 6 teams of section “Lab 2” match “p0”." in text_of(answer)
        assert 'href="?board=public&amp;section=Lab%202">Show section</a>' in answer.content.decode()
        nobody = text_of(reader.get(f"{BOARD}?section=Lab+2&q=zed"))
        assert "0 of 6 teams of section “Lab 2” match “zed”." in nobody
        assert "No team with this name in this section" in nobody
    RosterEntry.objects.filter(name="p11").update(section="Lab 3")
    open_labs.bump_board_version()
    assert "1 of 1 team of section “Lab 3” matches “p”." in text_of(student().get(f"{BOARD}?section=Lab+3&q=p"))


@pytest.mark.parametrize(
    ("name", "typed"), [("zsófi_k", "ZSÓFI zsofi Zso\u0301f"), ("karoly", "Károly KAR"), ("Straße", "STRASSE")]
)
def test_a_team_is_found_whatever_the_case_and_the_accents(labs: Competition, name: str, typed: str) -> None:
    Team.objects.filter(name="p03").update(name=name)
    for word in typed.split():
        found = student().get(BOARD, {"q": word}).content.decode()
        assert [team for _rank, team in ranked(found)] == [name], word


def test_a_section_longer_than_a_page_has_further_pages(
    open_labs: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "PAGE_SIZE", 4)
    monkeypatch.setattr(team_search, "PAGE_SIZE", 4), monkeypatch.setattr(team_search, "FOUND_SIZE", 4)
    his = student("p01")
    first = his.get(f"{BOARD}?section=Lab+2").content.decode()
    assert [rank for rank, _name in within(first)] == ["1", "2", "3", "4"]
    assert "Page 1 of 2 · 6 teams" in first
    assert 'rel="next" href="?board=public&amp;section=Lab+2&amp;page=2"' in first
    last = his.get(f"{BOARD}?section=Lab+2&page=2").content.decode()
    assert [rank for rank, _name in within(last)] == ["5", "6"]
    assert within(his.get(f"{BOARD}?section=Lab+2&page=99").content.decode()) == within(last)
    # Whose row is on the other page reads the rank in the section all the same, and where the row is.
    far = student("p11").get(f"{BOARD}?section=Lab+2")
    assert "6 of 6 here" in board_fact(far.content.decode(), "you")
    assert f'href="?board=public&amp;section=Lab+2&amp;page=2#{anchor_of("p11")}"' in far.content.decode()
    found = his.get(f"{BOARD}?section=Lab+2&q=p0&page=2").content.decode()
    assert within(found) == [("5", "p09")]
    assert 'rel="prev" href="?board=public&amp;section=Lab+2&amp;q=p0&amp;page=1"' in found
    by_name = his.get(f"{BOARD}?q=p").content.decode()
    assert "12 teams found for “p”" in by_name
    assert 'rel="next" href="?board=public&amp;q=p&amp;page=2"' in by_name


def test_a_team_wears_the_disc_of_the_whole_board_in_its_section_in_a_search_and_on_a_further_page(
    open_labs: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first two have the same score, so both wear gold."""

    def discs(asked: str) -> list[tuple[str, str]]:
        return re.findall(r'class="medal (\w+)">(\d+)<', student().get(BOARD + asked).content.decode())

    first, second, third = whole = discs("")
    assert whole == [("first", "1"), ("first", "2"), ("third", "3")]
    assert (discs("?section=Lab+1"), discs("?section=Lab+2")) == ([first, third], [second])
    assert [discs(f"?q=p0{place}") for place in range(4)] == [[first], [second], [third], []]
    monkeypatch.setattr(boards, "PAGE_SIZE", 1)
    open_labs.bump_board_version()
    assert [discs(f"?page={place}") for place in range(1, 5)] == [[first], [second], [third], []]


def in_file(reader: Client, asked: str) -> list[list[str]]:
    """Ranks and team of each line of the file that the page offers."""
    (link,) = re.findall(r'href="([^"]*leaderboard\.csv[^"]*)"', reader.get(BOARD + asked).content.decode("utf-8-sig"))
    return [line.split(",")[:3] for line in reader.get(unescape(link)).content.decode("utf-8-sig").splitlines()]


def test_a_section_comes_as_a_file_with_both_ranks_for_those_who_may_look_at_it(
    ada: User, open_labs: Competition, client: Client
) -> None:
    his = student("p01")
    page = his.get(f"{BOARD}?section=Lab+2").content.decode()
    lines = [[rank, place, name] for (rank, name), (place, _name) in zip(ranked(page), within(page), strict=True)]
    for reader in (his, signed_in(ada)):
        assert in_file(reader, "?section=Lab+2") == [["rank", "rank_in_section", "team"], *lines]
        assert in_file(reader, "?section=Ghost") == [["rank", "rank_in_section", "team"]]
        assert len(in_file(reader, "")) == 13
    answer = his.get("/c/pets/leaderboard.csv?section=Lab+2")
    assert answer["Content-Disposition"] == 'attachment; filename="pets-public-lab-2.csv"'
    private = "/c/pets/leaderboard.csv?board=private&section=Lab+2"
    assert his.get(private).status_code == 302
    assert len(signed_in(ada).get(private).content.decode().splitlines()) == 7
    assert len(client.get("/c/pets/leaderboard.csv?section=Lab+2").content.decode().splitlines()) == 13
    competitions.change_competition(competition=open_labs, user=ada, shows_sections=False)
    assert in_file(his, "?section=Lab+2")[0] == ["rank", "team", "score"]


def test_the_file_of_a_section_holds_no_formula_no_real_name_and_no_rank_of_a_hidden_board(
    ada: User, open_labs: Competition
) -> None:
    Team.objects.filter(name="p01").update(name="=1+1")
    his = student("p03")
    assert in_file(his, "?section=Lab+2")[1] == ["2", "1", "'=1+1"]
    competitions.change_competition(competition=open_labs, user=ada, uses_pseudonyms=True)
    names = [line[2] for line in in_file(his, "?section=Lab+2")]
    assert [name for name in names if re.match(r"p\d\d", name)] == ["p03"]
    competitions.change_competition(competition=open_labs, user=ada, hides_scores=True)
    assert {(rank, place) for rank, place, _name in in_file(his, "?section=Lab+2")[1:]} == {("", "")}


def test_equal_teams_share_their_rank_in_the_section_too(open_labs: Competition) -> None:
    first = Standing.objects.get(team__name="p01", split="public")
    Standing.objects.filter(team__name__in=["p03", "p00"], split="public").update(
        sort_key=first.sort_key, received_at=first.received_at
    )
    open_labs.bump_board_version()
    page = student().get(f"{BOARD}?section=Lab+2").content.decode()
    assert [place for _rank, place, _name in in_file(student(), "?section=Lab+2")[1:]] == ["1", "1", "3", "4", "5", "6"]
    assert dict((name, rank) for rank, name in within(page))["p01"] == "1"
    assert [rank for rank, _name in within(page)] == ["1", "1", "3", "4", "5", "6"]


def test_a_team_of_two_sections_belongs_to_each(open_labs: Competition) -> None:
    guest = person("guest")
    RosterEntry.objects.create(course=open_labs.course, user=guest, name="guest", section="Lab 3")
    his = student()
    assert "Lab 3" not in his.get(BOARD).content.decode()
    joining.join_by_invitation(user=guest, invitation=Team.objects.get(name="p00").invitation)
    assert chooser(his.get(BOARD).content.decode()) == ["All sections", "My section: Lab 1", "Lab 2", "Lab 3"]
    for section, number in (("Lab+1", 6), ("Lab+3", 1)):
        page = his.get(f"{BOARD}?section={section}").content.decode()
        assert len(ranked(page)) == number
        assert f'id="{anchor_of("p00")}"' in page
    teams.leave_team(membership=open_labs.memberships.get(user=guest))
    assert "Lab 3" not in his.get(BOARD).content.decode()


def test_a_section_without_a_ranked_team_is_answered_like_one_that_does_not_exist(open_labs: Competition) -> None:
    RosterEntry.objects.create(course=open_labs.course, name="waits", section="Night")
    idle = person("idle")
    enter(open_labs, idle)
    RosterEntry.objects.filter(name="waits").update(user=idle)
    open_labs.bump_board_version()
    his = student()
    answers_of = {name: his.get(f"{BOARD}?section={name}").content.decode() for name in ("Night", "Ghost")}
    assert chooser(answers_of["Night"]) == ["All sections", "My section: Lab 1", "Lab 2"]
    assert "No ranked team in this section" in answers_of["Night"]
    passing = r'nonce="[^"]*"|csrf[^>]*|data-etag="[^"]*"|<time.*?</time>'
    plain = [re.sub(passing, "", text, flags=re.DOTALL) for text in answers_of.values()]
    assert plain[0].replace("Night", "Ghost") == plain[1]
    own = signed_in(idle).get(f"{BOARD}?section=Night").content.decode()
    assert chooser(own) == ["All sections", "My section: Night", "Lab 1", "Lab 2"]
    assert "No ranked team in this section" in own
    assert student().get(f"{BOARD}?section=%00%27%22<b>").status_code in (200, 400)


def test_strangers_other_classes_and_what_is_not_the_page_say_nothing_of_sections(
    ada: User, open_labs: Competition, dee: User, client: Client
) -> None:
    other = make_competition(ada, slug="other", is_listed=True)
    enter(other, dee)
    RosterEntry.objects.create(course=other.course, user=dee, name="dee", section="Lab 2")
    ways = [BOARD, "/c/pets/leaderboard.csv", "/api/v1/competitions/pets/leaderboard"]
    for reader in (client, signed_in(dee)):
        for way in ways:
            answer = reader.get(f"{way}?section=Lab+2")
            assert answer.status_code in (200, 401), way
            page = answer.content.decode().replace("section=Lab", "")
            assert "Lab 1" not in page, way
            assert "Lab 2" not in page, way
            assert "In section" not in page, way
        assert len(ranked(reader.get(f"{BOARD}?section=Lab+2").content.decode())) == 12
    his = student("p01")
    for way in ways[1:]:
        answer = his.get(f"{way}?section=Lab+2")
        assert "Lab" not in answer.content.decode().replace("section=Lab", ""), way


def test_kept_boards_are_never_mixed_between_those_who_may_and_those_who_may_not(
    ada: User, open_labs: Competition, client: Client
) -> None:
    asked = f"{BOARD}?section=Lab+2"
    readers = {"p00": student(), "ada": signed_in(ada), "nobody": client}
    for _again in range(2):
        numbers = {name: len(ranked(reader.get(asked).content.decode())) for name, reader in readers.items()}
        assert numbers == {"p00": 6, "ada": 6, "nobody": 12}
        assert len(ranked(readers["p00"].get(BOARD).content.decode())) == 12
    first = readers["p00"].get(asked, headers={"HX-Request": "true"})
    etag = first["ETag"]
    assert "private" in first["Cache-Control"]
    assert {"Cookie", "HX-Request"} <= set(first["Vary"].split(", "))
    same = {"HX-Request": "true", "If-None-Match": etag}
    assert readers["p00"].get(asked, headers=same).status_code == 304
    assert readers["p00"].get(f"{BOARD}?section=Lab+1", headers=same).status_code == 200
    assert readers["nobody"].get(asked, headers=same).status_code == 200
    competitions.change_competition(competition=open_labs, user=ada, shows_sections=False)
    closed = readers["p00"].get(asked, headers=same)
    assert closed.status_code == 200
    assert len(ranked(closed.content.decode())) == 12
    assert len(ranked(readers["ada"].get(asked).content.decode())) == 6


def test_with_pseudonyms_a_section_tells_no_name_and_finds_none(ada: User, open_labs: Competition) -> None:
    competitions.change_competition(competition=open_labs, user=ada, uses_pseudonyms=True)
    his = student()
    page = his.get(f"{BOARD}?section=Lab+2").content.decode()
    assert len(ranked(page)) == 6
    assert not re.search(r"p0[1-9]|p1[01]", page.partition("<tbody>")[2])
    assert "No team with this name" in his.get(f"{BOARD}?section=Lab+2&q=p01").content.decode()
    hers = signed_in(ada).get(f"{BOARD}?section=Lab+2").content.decode()
    assert "<small>p01</small>" in hers
    assert not re.search(r"p0[1-9]|p1[01]", his.get(f"{BOARD}?section=Lab+2").content.decode().partition("<tbody>")[2])


def test_a_hidden_board_shows_who_is_there_and_no_rank_of_any_kind(ada: User, open_labs: Competition) -> None:
    competitions.change_competition(competition=open_labs, user=ada, hides_scores=True)
    page = student().get(f"{BOARD}?section=Lab+2").content.decode()
    assert len(ranked(page)) == 6
    assert "In section" not in page
    assert within(page) == []
    assert board_fact(page, "you") == ""


def test_the_private_board_has_sections_after_the_reveal_and_says_nothing_before(open_labs: Competition) -> None:
    his = student("p01")
    locked = his.get(f"{BOARD}?board=private&section=Lab+2").content.decode()
    assert "The final ranking is locked" in locked
    assert "<tbody>" not in locked
    assert chooser(locked) == []
    close(open_labs)
    boards_services.reveal_competition(competition=open_labs)
    page = his.get(f"{BOARD}?section=Lab+2").content.decode()
    assert "board=private" in page
    assert [name for _rank, name in within(page)] == [f"p{place:02d}" for place in range(1, 12, 2)]


def test_a_student_asks_the_database_no_more_often_for_a_section(open_labs: Competition) -> None:
    his = student()
    his.get(BOARD)
    numbers = {}
    for asked in ("", "?section=Lab+1", "?section=Lab+1&q=p", "?section=Ghost"):
        open_labs.bump_board_version()
        with CaptureQueriesContext(connection) as queries:
            his.get(BOARD + asked)
        numbers[asked] = len(queries) - (connection.vendor == "postgresql")
    assert max(numbers.values()) <= 12, numbers


def test_ada_switches_it_on_where_she_reads_what_it_tells_and_the_audit_log_says_so(
    ada: User, labs: Competition, tmp_path: Path
) -> None:
    hers, settings = signed_in(ada), "/host/pets/settings/"
    assert "This also shows each team's section, even under a pseudonym" in text_of(hers.get(settings))
    assert "Lab 2" not in student().get(BOARD).content.decode()
    save_settings(hers, "pets", shows_sections="on")
    labs.refresh_from_db()
    assert labs.board.shows_sections
    entry = AuditEntry.objects.filter(competition=labs.pk).latest("pk")
    assert ("shows_sections", False, True) in [tuple(change) for change in entry.changes]
    assert copying.clone_competition(competition=labs, user=ada, title="Next term").board.shows_sections
    folders.export_folder(labs, tmp_path / "out")
    spec = tmp_path / "out" / "competition.toml"
    spec.write_text(spec.read_text().replace('slug = "pets"', 'slug = "again"'))
    assert folders.import_folder(tmp_path / "out", user=ada).board.shows_sections
    assert student().post(settings, {"section": "admission"}).status_code == 404
