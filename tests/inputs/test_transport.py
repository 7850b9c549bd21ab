"""Numbers 109 to 124, as far as a file and its form go: sizes, lengths, doubles, odd forms. What changes around them is
in `test_changes`, and real connections are in `test_real_clients`."""

from __future__ import annotations

import re

import pytest
from django.conf import LazySettings

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, Limits
from tests.conftest import answers, enter
from tests.inputs.doors import (
    DOORS,
    HANGS_UP,
    Api,
    Door,
    Form,
    another,
    attempts_used,
    body_of,
    nothing_happened,
    part,
    stored_files,
)

NAMED = '; filename="mine.csv"'
WHOLE = body_of(part("file", answers(), NAMED))


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, pets: Competition, bo: User) -> Door:
    enter(pets, bo)
    return DOORS[request.param](bo)


# --- sizes and lengths ------------------------------------------------------------------------------------------


@pytest.mark.case(109)
@pytest.mark.parametrize("announced", ["yes", "no"])
def test_109_a_file_over_the_limit_is_refused_by_its_length_or_while_it_comes_in(
    door: Door, bo: User, settings: LazySettings, announced: str
) -> None:
    settings.MAX_UPLOAD_BYTES = 1_048_576
    body = body_of(part("file", b"id,label\n" + b"1,cat\n" * 400_000, NAMED))
    answer = door.post_raw(body, {} if announced == "yes" else {"Content-Length": "", "Transfer-Encoding": "chunked"})
    assert answer.status == 413
    assert "1 MB" in answer.words
    assert nothing_happened(bo)


@pytest.mark.case(109)
def test_109_a_competition_may_take_less_than_the_site(door: Door, bo: User) -> None:
    Limits.objects.update(max_bytes=2097152)
    answer = door.send(b"id,label\n" + b"1,cat\n" * 400_000)
    assert (answer.status, "larger than 2 MB" in answer.words) == (413, True)
    assert nothing_happened(bo)


@pytest.mark.case(110)
def test_110_113_of_a_form_that_ends_too_early_nothing_is_taken(door: Door, bo: User) -> None:
    """Whether the client named too short a length or hung up: a file without its end is not a shorter file."""
    for length in (1, 100, len(WHOLE) // 2, len(WHOLE) - 30, len(WHOLE) - 4):
        for answer in (door.post_raw(WHOLE, {"Content-Length": str(length)}), door.post_raw(WHOLE[:length])):
            assert answer.status in (400, 422), answer.words
            assert nothing_happened(bo)
    assert door.post_raw(WHOLE).status in (201, 303)
    assert attempts_used(bo) == 1


@pytest.mark.case(110)
def test_110_what_comes_behind_the_named_length_is_not_read(door: Door) -> None:
    answer = door.post_raw(WHOLE + part("file", b"id,label\n", NAMED), {"Content-Length": str(len(WHOLE))})
    assert answer.submission is not None
    assert answer.submission.size == len(answers())


@pytest.mark.case(111)
def test_111_a_body_in_chunks_is_taken_whole(door: Door, bo: User) -> None:
    answer = door.post_raw(WHOLE, {"Content-Length": "", "Transfer-Encoding": "chunked"})
    assert answer.submission is not None
    assert answer.submission.size == len(answers())


@pytest.mark.case(113)
def test_113_a_client_that_hangs_up_sent_nothing(door: Door, bo: User) -> None:
    """Wherever it hangs up, also behind the last byte but one."""
    for length in (1, len(WHOLE) // 2, len(WHOLE) - 1):
        answer = door.post_raw(WHOLE[:length], {"Content-Length": str(len(WHOLE)), HANGS_UP: "yes"})
        assert answer.status == 400, "in case it closed only its own direction"
        assert nothing_happened(bo)


@pytest.mark.case(113)
def test_113_a_retry_after_a_cut_is_taken_once(door: Door, bo: User) -> None:
    body = body_of(part("upload_key", b"k1"), part("file", answers(), NAMED))
    assert door.post_raw(body[:-60], {"Idempotency-Key": "k1"}).status == 400
    first, again = (door.post_raw(body, {"Idempotency-Key": "k1"}).submission for _ in range(2))
    assert first is not None
    assert first == again
    assert attempts_used(bo) == 1


# --- doubles ----------------------------------------------------------------------------------------------------


@pytest.mark.case(114)
def test_114_a_double_click_and_the_back_button_hand_in_once(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    door = Form(bo)
    page = door.client.get(door.address).content.decode()
    found = re.search(r'name="upload_key" value="(\w+)"', page)
    assert found is not None
    first, double, back = (door.send(answers(), key=found[1]).submission for _ in range(3))
    assert first is not None
    assert first == double == back
    assert attempts_used(bo) == 1
    assert len(stored_files()) == 1


@pytest.mark.case(114)
def test_114_the_same_key_of_a_program_hands_in_once(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    door = Api(bo)
    assert len({door.send(answers(), key="run-1").submission for _ in range(3)}) == 1
    assert attempts_used(bo) == 1
    assert len(stored_files()) == 1


@pytest.mark.case(115)
def test_115_of_two_tabs_at_the_last_attempt_one_is_refused(door: Door, bo: User) -> None:
    for number in range(4):
        door.send(another(number), key=f"k{number}")
    one, other = door.send(another(4), key="tab-1"), door.send(another(5), key="tab-2")
    assert one.submission is not None
    assert other.submission is None
    assert "used all 5 attempts for today" in other.words
    assert (attempts_used(bo), len(stored_files())) == (5, 5)


# --- odd forms --------------------------------------------------------------------------------------------------


@pytest.mark.case(120)
def test_120_of_two_files_none_is_taken_by_chance(door: Door, bo: User) -> None:
    answer = door.post_raw(body_of(part("file", answers(), NAMED), part("file", answers(public=1), NAMED)))
    assert answer.status == 422
    assert "one at a time" in answer.words or "one file at a time" in answer.words
    assert nothing_happened(bo)


@pytest.mark.case(120)
def test_120_a_form_without_a_file_asks_for_one(door: Door, bo: User) -> None:
    for body in (body_of(), body_of(part("note", b"x")), body_of(part("elsewhere", answers(), NAMED))):
        answer = door.post_raw(body)
        assert answer.status == 422
        assert "Choose a file first" in answer.words or '"column": "file"' in answer.words
    assert nothing_happened(bo)


@pytest.mark.case(120)
def test_120_repeated_words_harm_nobody(door: Door) -> None:
    body = body_of(part("note", b"one"), part("note", b"two"), part("file", answers(), NAMED), part("note", b"three"))
    answer = door.post_raw(body)
    assert answer.submission is not None
    assert answer.submission.note in ("one", "two", "three")


@pytest.mark.parametrize("disposition", ['; filename="x"', ""])
@pytest.mark.case(121)
def test_121_a_hundred_thousand_parts_are_not_counted_to_the_end(door: Door, bo: User, disposition: str) -> None:
    many = part("file", b"", disposition) * 100_000
    answer = door.post_raw(body_of(many, part("file", answers(), NAMED)))
    assert answer.status == 400
    assert nothing_happened(bo)


# --- again ------------------------------------------------------------------------------------------------------


@pytest.mark.case(124)
def test_124_a_program_sees_by_the_hash(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    first, again = (Api(bo).send(answers()).submission for _ in range(2))
    assert first is not None
    assert again is not None
    assert first.sha256 == again.sha256
    assert first.sha256 in Api(bo).said_to_user(again)
