"""Marks in a platform's column: wanted by a release, sent once and in order, whatever the platform does."""

from __future__ import annotations

import time
from datetime import timedelta
from email.utils import format_datetime
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.competitions.models import Competition
from leaderboard.grades.hooks import GradeColumn
from leaderboard.grades.models import Grade, GradeRelease
from leaderboard.grades.services import set_grade_rules
from leaderboard.lti import marks, registering, sending
from leaderboard.lti.launching import CLAIM, GRADES_CLAIM
from leaderboard.lti.marks import take_marks_back, want_marks
from leaderboard.lti.models import LtiLink, LtiPerson, Platform, PlatformMark
from leaderboard.lti.platform_services import PlatformClient
from tests.conftest import answers, close, enter, make_competition, submit
from tests.lti.platforms import INSTRUCTOR, FakePlatform

pytestmark = pytest.mark.django_db
RULES = {
    "title": "Pets",
    "terms": [{"name": "Score", "of": "score", "line": [[{"score": 0.5}, 50], [{"score": 1}, 100]]}],
}


@pytest.fixture
def pets(moodle: FakePlatform, teacher: Client) -> Competition:
    """Ada's competition, connected; Bo and Cy came by the platform."""
    for name in ("bo", "cy"):
        moodle.launch(Client(), name)
    return Competition.objects.get()


def user_of(subject: str) -> User:
    return LtiPerson.objects.get(subject=subject).user


def release(competition: Competition, out_of: float = 100.0, **points: float | None) -> None:
    wanted = {user_of(name).pk: (value, f"{value} points") for name, value in points.items()}
    want_marks(competition=competition, marks=wanted, out_of=out_of)


def column_state(competition: Competition) -> GradeColumn:
    columns = marks.grade_columns(competition=competition, release=None)
    assert columns is not None
    (state,) = columns.columns
    return state


def send_all(*, turns: int = 30) -> None:
    """Let workers send until nothing is due; what waits for a pause is made due."""
    for _ in range(turns):
        PlatformMark.objects.filter(state=PlatformMark.State.WAITING).update(
            next_at=timezone.now() - timedelta(seconds=1)
        )
        due = sending.links_with_due_marks()
        if not due:
            return
        for link in due:
            sending.send_marks(link)


def test_neither_a_mark_nor_keys_wait_for_a_clock_that_was_set_back(moodle: FakePlatform, pets: Competition) -> None:
    release(pets, bo=80.5)
    ahead = timezone.now() + timedelta(days=365)
    PlatformMark.objects.update(next_at=ahead)
    assert sending.links_with_due_marks() == [LtiLink.objects.get().pk]
    Platform.objects.update(keys_fetched_at=ahead, keys_tried_at=ahead)
    assert registering.platforms_without_fresh_keys() == [moodle.platform.pk]


def test_a_release_fills_the_platforms_column(moodle: FakePlatform, pets: Competition) -> None:
    release(pets, bo=80.5, cy=0.0)
    send_all()
    assert moodle.marks_of("bo") == [80.5]
    assert moodle.marks_of("cy") == [0.0]
    (column,) = moodle.lineitems.values()
    assert (column["scoreMaximum"], column["resourceId"]) == (100.0, f"competition-{pets.pk}")
    assert moodle.tokens == 1
    assert not PlatformMark.objects.exclude(state=PlatformMark.State.SENT).exists()


def test_equal_marks_are_not_sent_again_and_others_are(moodle: FakePlatform, pets: Competition) -> None:
    release(pets, bo=80.0, cy=70.0)
    send_all()
    release(pets, bo=80.0, cy=75.0)
    send_all()
    assert (moodle.marks_of("bo"), moodle.marks_of("cy")) == ([80.0], [70.0, 75.0])


def test_a_withdrawn_release_takes_marks_back_and_a_new_one_sends_them_again(
    moodle: FakePlatform, pets: Competition
) -> None:
    release(pets, bo=80.0, cy=70.0)
    send_all()
    take_marks_back(release=GradeRelease(competition=pets))
    send_all()
    assert moodle.marks_of("bo") == [80.0, None]
    assert moodle.scores[-1][1]["gradingProgress"] == "NotReady"
    release(pets, bo=80.0, cy=70.0)
    send_all()
    assert moodle.marks_of("bo") == [80.0, None, 80.0]


def test_a_mark_that_changes_and_changes_back_before_it_is_sent_is_not_sent(
    moodle: FakePlatform, pets: Competition
) -> None:
    release(pets, bo=80.0)
    send_all()
    release(pets, bo=60.0)
    release(pets, bo=80.0)
    send_all()
    assert moodle.marks_of("bo") == [80.0]


def test_times_are_whole_seconds_and_only_grow(moodle: FakePlatform, pets: Competition) -> None:
    for points in (1.0, 2.0, 3.0):
        release(pets, bo=points)
        send_all()
    times = [mark["timestamp"] for _column, mark in moodle.scores]
    assert times == sorted(set(times))
    assert all(len(one) == len("2026-11-26T12:00:00+00:00") for one in times)
    assert moodle.marks_of("bo")[-1] == 3.0


def test_a_conflict_is_never_done(moodle: FakePlatform, pets: Competition) -> None:
    left = [3]

    def conflict(method: str, path: str, body: dict[str, Any]) -> int | None:
        if path.endswith("/scores") and left[0]:
            left[0] -= 1
            return 409
        return None

    moodle.before = conflict
    release(pets, bo=80.0)
    send_all()
    assert moodle.marks_of("bo") == [80.0]


def test_a_platform_whose_clock_is_an_hour_ahead_gets_the_mark_after_one_conflict(
    moodle: FakePlatform, pets: Competition
) -> None:
    """Its own teacher has just typed a mark, which it compares by its own time."""
    ahead = (timezone.now() + timedelta(hours=1)).replace(microsecond=0)
    moodle.date = format_datetime(ahead, usegmt=True)
    release(pets, bo=70.0)
    moodle.lineitems[f"{moodle.address}/lineitems/1"] = {"resourceId": f"competition-{pets.pk}"}
    moodle.lineitems[f"{moodle.address}/lineitems/1"]["id"] = f"{moodle.address}/lineitems/1"
    moodle.scores = [(f"{moodle.address}/lineitems/1", {"userId": "bo", "timestamp": ahead.isoformat()})]
    send_all(turns=2)
    assert moodle.marks_of("bo") == [None, 70.0]


def test_a_platform_that_finds_conflicts_for_ever_is_asked_ever_less(moodle: FakePlatform, pets: Competition) -> None:
    moodle.before = lambda method, path, body: 409 if path.endswith("/scores") else None
    release(pets, bo=80.0)
    send_all(turns=8)
    assert PlatformMark.objects.get().next_at > timezone.now() + timedelta(seconds=60)


def test_a_busy_platform_is_asked_no_sooner_than_it_says(moodle: FakePlatform, pets: Competition) -> None:
    moodle.retry_after = "120"
    moodle.before = lambda method, path, body: 503 if path.endswith("/scores") else None
    release(pets, bo=80.0)
    send_all(turns=1)
    assert PlatformMark.objects.get().next_at > timezone.now() + timedelta(seconds=100)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_what_may_pass_is_tried_again(status: int, moodle: FakePlatform, pets: Competition) -> None:
    answers = iter([status, status])
    moodle.before = lambda method, path, body: next(answers, None) if path.endswith("/scores") else None
    release(pets, bo=80.0)
    send_all()
    assert moodle.marks_of("bo") == [80.0]


@pytest.mark.parametrize("status", [400, 403, 404, 405, 415, 422])
def test_a_refused_mark_is_shown_and_sent_again_when_the_host_says_so(
    status: int, moodle: FakePlatform, pets: Competition
) -> None:
    moodle.before = lambda method, path, body: status if path.endswith("/scores") else None
    release(pets, bo=80.0)
    send_all()
    state = column_state(pets)
    assert (state.sent, state.waiting, state.refused) == (0, 0, 1)
    assert state.problems
    moodle.before = None
    assert marks.send_again(link=LtiLink.objects.get()) == 1
    send_all()
    assert moodle.marks_of("bo") == [80.0]


def test_a_platform_that_is_silent_for_a_day_leaves_its_marks_stuck(moodle: FakePlatform, pets: Competition) -> None:
    moodle.before = lambda method, path, body: 500
    release(pets, bo=80.0)
    send_all(turns=2)
    PlatformMark.objects.update(wanted_at=timezone.now() - timedelta(days=2))
    send_all(turns=2)
    assert PlatformMark.objects.get().state == PlatformMark.State.STUCK


def test_a_token_that_the_platform_ended_is_renewed_once(moodle: FakePlatform, pets: Competition) -> None:
    answers = iter([401])
    moodle.before = lambda method, path, body: next(answers, None) if path.endswith("/scores") else None
    release(pets, bo=80.0)
    send_all()
    assert (moodle.marks_of("bo"), moodle.tokens) == ([80.0], 2)


def test_a_lost_answer_repeats_one_mark_and_no_other(moodle: FakePlatform, pets: Competition) -> None:
    moodle.quirks, lost = "canvas", [True]

    def lose(method: str, path: str, body: dict[str, Any]) -> int | None:
        if path.endswith("/scores") and lost[0]:
            lost[0] = False
            moodle.answer(method, path, {}, body)
            return 502
        return None

    moodle.before = lose
    release(pets, bo=80.0, cy=70.0)
    send_all()
    assert sorted([moodle.marks_of("bo"), moodle.marks_of("cy")], key=len) in (
        [[70.0], [80.0, 80.0]],
        [[80.0], [70.0, 70.0]],
    )


def test_no_older_mark_replaces_a_newer_one(
    moodle: FakePlatform, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A correction is released while the first mark is on its way."""
    send, corrected = PlatformClient.ask, list[bool]()

    def correct_meanwhile(client: PlatformClient, method: str, address: str, **given: Any) -> Any:
        answer = send(client, method, address, **given)
        if address.endswith("/scores") and not corrected:
            corrected.append(True)
            release(pets, bo=90.0)
        return answer

    monkeypatch.setattr(PlatformClient, "ask", correct_meanwhile)
    release(pets, bo=80.0)
    send_all()
    assert moodle.marks_of("bo") == [80.0, 90.0]
    assert PlatformMark.objects.get().state == PlatformMark.State.SENT


def test_open_edx_gets_whole_maxima(moodle: FakePlatform, pets: Competition) -> None:
    moodle.quirks = "openedx"
    release(pets, out_of=7.5, bo=3.75)
    send_all()
    assert moodle.marks_of("bo") == [50.0]


def test_the_column_of_the_launch_is_used_where_it_is_this_activitys(moodle: FakePlatform, ada: User) -> None:
    own, first = f"{moodle.address}/lineitems/own", f"{moodle.address}/lineitems/first"
    moodle.lineitems = {own: {"id": own, "resourceLinkId": "r-1"}, first: {"id": first, "resourceLinkId": "r-0"}}
    for claimed, expected in ((own, own), (first, None)):
        LtiLink.objects.all().delete()
        LtiPerson.objects.all().delete()
        competition = make_competition(ada, slug=f"c-{claimed[-3:]}")
        LtiPerson.objects.create(platform=moodle.platform, subject="ada", user=ada)
        claim: Any = {GRADES_CLAIM: {"lineitems": f"{moodle.address}/lineitems", "lineitem": claimed}}
        client = Client()
        moodle.launch(client, "ada", roles=INSTRUCTOR, **claim)
        client.post("/lti/connect/", {"competition": competition.slug})
        moodle.launch(Client(), "bo", **claim)
        release(competition, bo=80.0)
        send_all()
        column = moodle.scores[-1][0]
        assert column == expected or (expected is None and column not in (own, first))


def test_a_column_that_was_deleted_there_is_made_anew_for_all_marks(moodle: FakePlatform, pets: Competition) -> None:
    release(pets, bo=80.0, cy=70.0)
    send_all()
    moodle.lineitems.clear()
    release(pets, bo=81.0, cy=71.0)
    send_all()
    assert (moodle.marks_of("bo"), moodle.marks_of("cy")) == ([80.0, 81.0], [70.0, 71.0])
    assert len(moodle.lineitems) == 1
    assert not PlatformMark.objects.exclude(state=PlatformMark.State.SENT).exists()


LAB: Any = {CLAIM + "context": {"id": "c-2", "title": "Lab"}, CLAIM + "resource_link": {"id": "r-9"}}
SECOND: Any = {CLAIM + "resource_link": {"id": "r-2"}}


def connect_also(moodle: FakePlatform, competition: Competition, activity: Any) -> None:
    client = Client()
    moodle.launch(client, "ada", roles=INSTRUCTOR, **activity)
    client.post("/lti/connect/", {"competition": competition.slug})


def test_the_mark_of_a_student_who_moves_to_another_section_moves_too(moodle: FakePlatform, pets: Competition) -> None:
    release(pets, bo=80.0)
    send_all()
    PlatformMark.objects.update(wanted_at=timezone.now() - timedelta(days=3))
    connect_also(moodle, pets, LAB)
    moodle.launch(Client(), "bo", **LAB)
    release(pets, bo=80.0)
    moodle.before = lambda method, path, body: 503 if path.endswith("/scores") else None
    send_all(turns=1)
    moodle.before = None
    send_all()
    by_column = [[mark.get("scoreGiven") for at, mark in moodle.scores if at == column] for column in moodle.lineitems]
    assert by_column == [[80.0, None], [80.0]]


def test_a_student_who_moves_between_two_activities_with_one_column_keeps_the_mark(
    moodle: FakePlatform, pets: Competition
) -> None:
    release(pets, bo=80.0)
    send_all()
    for column in moodle.lineitems.values():
        del column["resourceLinkId"]  # a platform that does not store it
    connect_also(moodle, pets, SECOND)
    moodle.launch(Client(), "bo", **SECOND)
    release(pets, bo=90.0)
    for _ in range(2):
        for link in LtiLink.objects.order_by("-pk"):
            sending.send_marks(link.pk)
    assert len(moodle.lineitems) == 1
    assert moodle.marks_of("bo") == [80.0, 90.0]


def test_a_platform_that_is_off_keeps_no_other_one_waiting(moodle: FakePlatform, pets: Competition) -> None:
    release(pets, bo=80.0)
    Platform.objects.update(off_at=timezone.now())
    assert sending.links_with_due_marks() == []
    send_all()
    assert not moodle.scores


def test_what_is_taken_back_while_a_platform_is_off_is_cleared_when_it_is_on_again(
    moodle: FakePlatform, pets: Competition
) -> None:
    release(pets, bo=80.0)
    send_all()
    registering.switch_off(platform=moodle.platform, user=None)
    take_marks_back(release=GradeRelease(competition=pets))
    PlatformMark.objects.update(wanted_at=timezone.now() - timedelta(days=9))
    moodle.approve_again()
    moodle.before = lambda method, path, body: 503 if path.endswith("/scores") else None
    send_all(turns=1)
    moodle.before = None
    send_all()
    assert moodle.marks_of("bo") == [80.0, None]
    assert [column["scoreMaximum"] for column in moodle.lineitems.values()] == [100.0]


def test_a_mark_that_changes_back_after_a_lost_answer_is_sent(moodle: FakePlatform, pets: Competition) -> None:
    def lose(method: str, path: str, body: dict[str, Any]) -> int | None:
        if path.endswith("/scores"):
            moodle.answer(method, path, {}, body)
            return 502
        return None

    release(pets, bo=80.0)
    send_all()
    moodle.before = lose
    release(pets, bo=60.0)
    send_all(turns=1)
    moodle.before = None
    for points in (70.0, 80.0):
        release(pets, bo=points)
    send_all()
    assert moodle.marks_of("bo") == [80.0, 60.0, 80.0]


def test_the_mark_of_a_person_with_two_names_in_a_platform_goes_to_the_one_they_came_by(
    moodle: FakePlatform, pets: Competition
) -> None:
    LtiPerson.objects.create(platform=moodle.platform, subject="bo-staff", user=user_of("bo"))
    release(pets, bo=80.0)
    send_all()
    assert (moodle.marks_of("bo"), moodle.marks_of("bo-staff")) == ([80.0], [])


@pytest.mark.parametrize("name", ["x" * 700, "https://a.example/\0", 5, None])
def test_a_column_without_a_usable_address_is_none(name: Any, moodle: FakePlatform, pets: Competition) -> None:
    whole = moodle.answer
    moodle.answer = lambda method, path, *rest: (  # type: ignore[method-assign]
        (201, {"id": name}, {}) if (method, path) == ("POST", "/lineitems") else whole(method, path, *rest)
    )
    release(pets, bo=80.0)
    send_all()
    assert PlatformMark.objects.get().problem == sending.PROBLEMS["column"]


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_platform_that_gives_no_token_says_so(status: int, moodle: FakePlatform, pets: Competition) -> None:
    moodle.before = lambda method, path, body: status if path == "/token" else None
    release(pets, bo=80.0)
    send_all(turns=2)
    assert PlatformMark.objects.get().problem == ("" if status == 401 else sending.NOT_ALLOWED)


def test_a_slow_platform_ends_its_turn_for_the_others(
    moodle: FakePlatform, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "TURN_SECONDS", 0.0)
    release(pets, bo=80.0, cy=70.0)
    sending.send_marks(LtiLink.objects.get().pk)
    assert len(moodle.scores) == 1
    assert sending.links_with_due_marks()


def test_a_platform_without_a_column_says_so(moodle: FakePlatform, pets: Competition) -> None:
    moodle.before = lambda method, path, body: 403 if (method, path) == ("POST", "/lineitems") else None
    release(pets, bo=80.0)
    send_all()
    assert PlatformMark.objects.get().problem == sending.PROBLEMS["column"]


def test_the_maximum_of_an_own_column_follows_the_rules(moodle: FakePlatform, pets: Competition) -> None:
    release(pets, bo=80.0)
    send_all()
    release(pets, out_of=50.0, bo=40.0)
    send_all()
    (column,) = moodle.lineitems.values()
    assert (column["scoreMaximum"], moodle.marks_of("bo")) == (50.0, [80.0, 40.0])


def test_a_student_whom_no_platform_knows_is_counted(moodle: FakePlatform, pets: Competition, ada: User) -> None:
    dee = User.objects.create(username="dee")
    want_marks(competition=pets, marks={dee.pk: (5.0, "")}, out_of=10)
    assert not PlatformMark.objects.exists()
    graded = GradeRelease.objects.create(competition=pets, number=1, rules={}, released_at=timezone.now())
    Grade.objects.bulk_create(Grade(release=graded, user=user, points=5.0, reasons=[]) for user in (dee, user_of("bo")))
    columns = marks.grade_columns(competition=pets, release=graded)
    assert columns is not None
    assert columns.missing == 1


def test_a_silent_platform_holds_a_worker_for_one_mark_only(
    moodle: FakePlatform, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "MARK_SECONDS", 0.3)
    moodle.before = lambda method, path, body: time.sleep(1)
    release(pets, bo=80.0, cy=70.0)
    begun = time.monotonic()
    for link in sending.links_with_due_marks():
        sending.send_marks(link)
    assert time.monotonic() - begun < 1.0
    assert not sending.links_with_due_marks()
    assert PlatformMark.objects.filter(state=PlatformMark.State.WAITING).count() == 2


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("release"), st.sampled_from([10.0, 20.0, 30.0])),
        st.tuples(st.just("withdraw"), st.none()),
        st.tuples(st.just("send"), st.sampled_from([None, 409, 500])),
    ),
    max_size=12,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_at_the_end_the_platform_has_the_last_mark(
    steps: list[tuple[str, Any]], moodle: FakePlatform, pets: Competition
) -> None:
    PlatformMark.objects.all().delete()
    moodle.scores.clear()
    wanted: float | None = None
    for what, value in steps:
        if what == "release":
            release(pets, bo=value)
            wanted = value
        elif what == "withdraw":
            take_marks_back(release=GradeRelease(competition=pets))
            wanted = None
        else:
            moodle.before = (lambda status: lambda method, path, body: status if path.endswith("/scores") else None)(
                value
            )
            send_all(turns=1)
    moodle.before = None
    send_all()
    sent = moodle.marks_of("bo")
    assert (sent[-1] if sent else None) == wanted
    is_answer_lost = ("send", 500) in steps
    assert is_answer_lost or all(one != two for one, two in pairwise(sent))


def test_a_release_of_grades_sends_marks_and_its_withdrawal_takes_them_back(
    moodle: FakePlatform, pets: Competition, ada: User
) -> None:
    """The whole road: a file, the end of the competition, Ada's release, a correction by hand."""
    bo = user_of("bo")
    enter(pets, bo)
    submit(pets, bo, answers(private=1))
    close(pets)
    boards.reveal_competition(competition=pets)
    set_grade_rules(graded=pets, values=RULES, user=ada)
    teacher = Client()
    teacher.force_login(ada)
    teacher.post("/host/pets/grades/release/", {"action": "release"})
    send_all()
    (mark,) = moodle.marks_of("bo")
    assert mark is not None
    assert moodle.scores[-1][1]["comment"]
    page = teacher.get("/host/pets/grades/release/").content.decode()
    assert 'data-testid="grade-column"' in page
    teacher.post("/host/pets/grades/release/", {"action": "withdraw"})
    send_all()
    assert moodle.marks_of("bo") == [mark, None]
