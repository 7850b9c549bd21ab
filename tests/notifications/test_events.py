"""What the clock and the host's deeds make worth saying: to those it concerns, once, and nothing a board keeps back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import reveal
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Submission
from leaderboard.notifications import events, services
from leaderboard.notifications.kinds import NoticeKind
from leaderboard.notifications.models import Notice
from leaderboard.notifications.queries import latest_notices
from leaderboard.submissions import services as submission_services
from tests.conftest import answers, close, enter, make_competition, person, submit

HOUR = timedelta(hours=1)


def near(host: User, **fields: Any) -> Competition:
    """A competition of ten days with twenty hours left."""
    now = timezone.now()
    times: dict[str, Any] = {"opens_at": now - timedelta(days=9), "closes_at": now + 20 * HOUR}
    return make_competition(host, **{**times, **fields})


def said_to_user(user: User, kind: NoticeKind) -> list[str]:
    return list(Notice.objects.filter(user=user, kind=kind).order_by("pk").values_list("text", flat=True))


# --- a day before the close -------------------------------------------------------------------------------------


def test_a_day_before_the_close_each_hears_once_what_happens_if_they_do_nothing(ada: User, bo: User, cy: User) -> None:
    pets = near(ada, final_count=1)
    enter(pets, bo), enter(pets, cy)
    submit(pets, bo, answers(public=3), file_name="weak.csv")
    submit(pets, bo, answers(public=1), file_name="strong.csv")
    assert [events.notify_due(timezone.now()) for _ in range(3)] == [2, 0, 0]
    assert "this one is used: “strong.csv”" in said_to_user(bo, NoticeKind.REMINDER)[0]
    assert "no valid submission yet" in said_to_user(cy, NoticeKind.REMINDER)[0]
    links = {notice.user: notice.link for notice in Notice.objects.filter(kind=NoticeKind.REMINDER)}
    assert links == {bo: "/c/pets/finals/", cy: "/c/pets/submit/"}
    assert said_to_user(ada, NoticeKind.REMINDER) == []


def test_a_reminder_is_news_until_its_deadline(ada: User, bo: User) -> None:
    enter(near(ada), bo)
    events.notify_due(timezone.now())
    closes_at = Competition.objects.get().closes_at
    titles = [
        [notice.title for notice in latest_notices(bo, at)] for at in (closes_at - HOUR, closes_at, closes_at + HOUR)
    ]
    assert "The deadline is near" in titles[0]
    assert titles[1] == titles[2] == [title for title in titles[0] if title != "The deadline is near"]


def test_who_has_picked_is_shown_the_picks(ada: User, bo: User) -> None:
    pets = near(ada)
    enter(pets, bo)
    mine = submit(pets, bo, answers(public=3), file_name="mine.csv")
    pick(mine)
    events.notify_due(timezone.now())
    (text,) = said_to_user(bo, NoticeKind.REMINDER)
    assert text.endswith("“mine.csv”.")


def pick(*files: Submission) -> None:
    Submission.objects.filter(pk__in=[file.pk for file in files]).update(is_selected=True)


def test_who_picked_worse_files_is_reminded_of_the_best_one(ada: User, bo: User, cy: User) -> None:
    pets = near(ada)
    enter(pets, bo), enter(pets, cy)
    pick(submit(pets, bo, answers(public=3), file_name="a.csv"), submit(pets, bo, answers(public=2)))
    submit(pets, bo, answers(public=1), file_name="best.csv")
    submit(pets, cy, answers(public=1), file_name="earlier.csv")
    pick(submit(pets, cy, answers(public=1, private=1), file_name="as good.csv"))
    events.notify_due(timezone.now())
    (text,) = said_to_user(bo, NoticeKind.REMINDER)
    forgets = "Your best public score, 0.833 from “best.csv”, isn't among them."
    assert forgets in text
    assert "among them" not in said_to_user(cy, NoticeKind.REMINDER)[0], "the picked one is as good"


def test_a_reminder_tells_no_more_of_forgotten_files_than_a_hidden_board(ada: User, bo: User) -> None:
    pets = near(ada, hides_scores=True)
    enter(pets, bo)
    pick(submit(pets, bo, answers(public=3)))
    submit(pets, bo, answers(public=1))
    events.notify_due(timezone.now())
    (text,) = said_to_user(bo, NoticeKind.REMINDER)
    assert "isn't among them" not in text


def test_a_hidden_board_does_not_tell_which_file_is_best(ada: User, bo: User) -> None:
    pets = near(ada, hides_scores=True)
    enter(pets, bo)
    submit(pets, bo, answers(public=1), file_name="mine.csv")
    events.notify_due(timezone.now())
    (text,) = said_to_user(bo, NoticeKind.REMINDER)
    assert "mine.csv" not in text
    assert "If you don't choose, your best public submissions are used" in text


@pytest.mark.parametrize("left", [timedelta(seconds=-1), timedelta(hours=25)])
def test_nobody_is_reminded_after_the_close_or_long_before(ada: User, bo: User, left: timedelta) -> None:
    pets = near(ada)
    enter(pets, bo)
    assert events.notify_due(pets.closes_at - left) == 0


def test_a_short_competition_reminds_when_half_of_it_is_over(ada: User, bo: User) -> None:
    now = timezone.now()
    pets = make_competition(ada, opens_at=now - HOUR, closes_at=now + 3 * HOUR)
    enter(pets, bo)
    assert events.notify_due(now) == 0
    assert events.notify_due(now + HOUR + timedelta(minutes=1)) == 1


def test_a_team_with_more_time_is_reminded_a_day_before_its_own_close(ada: User, bo: User, cy: User) -> None:
    pets = near(ada)
    team, now = enter(pets, bo).team, timezone.now()
    enter(pets, cy)
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=now + timedelta(days=3))
    events.notify_due(now)
    assert (len(said_to_user(bo, NoticeKind.REMINDER)), len(said_to_user(cy, NoticeKind.REMINDER))) == (0, 1)
    events.notify_due(now + timedelta(days=2, hours=1))
    assert (len(said_to_user(bo, NoticeKind.REMINDER)), len(said_to_user(cy, NoticeKind.REMINDER))) == (1, 1)


def test_a_deadline_that_moves_is_told_and_reminded_of_anew(ada: User, bo: User) -> None:
    pets = near(ada, zone="Europe/Vienna")
    enter(pets, bo)
    events.notify_due(timezone.now())
    later = datetime(2036, 1, 10, 22, 59, tzinfo=timezone.get_current_timezone())
    competitions.change_competition(competition=pets, user=ada, closes_at=later)
    (text,) = said_to_user(bo, NoticeKind.DEADLINE)
    assert "10 Jan 2036, 23:59 CET." in text
    events.notify_due(later - HOUR)
    assert len(said_to_user(bo, NoticeKind.REMINDER)) == 2


def test_who_wants_no_reminder_gets_none_and_is_not_asked_for_again(ada: User, bo: User) -> None:
    pets = near(ada)
    enter(pets, bo)
    services.save_choices(user=bo, choices={NoticeKind.REMINDER: "none"})
    assert events.notify_due(timezone.now()) == 0
    assert said_to_user(bo, NoticeKind.REMINDER) == []


def test_looking_each_minute_costs_little_once_all_are_told(ada: User) -> None:
    pets = near(ada)
    for number in range(30):
        enter(pets, person(f"student{number}"))
    assert events.notify_due(timezone.now()) == 30
    with CaptureQueriesContext(connection) as queries:
        assert events.notify_due(timezone.now()) == 0
    assert len(queries) <= 12


# --- opened, revealed -------------------------------------------------------------------------------------------


def test_who_joined_before_the_opening_hears_of_it_once(ada: User, bo: User, cy: User) -> None:
    now = timezone.now()
    pets = make_competition(ada, opens_at=now + HOUR, closes_at=now + timedelta(days=9))
    enter(pets, bo)
    assert events.notify_due(now) == 0
    type(enter(pets, cy)).objects.filter(user=cy).update(joined_at=now + 2 * HOUR)
    assert [events.notify_due(now + 3 * HOUR) for _ in range(2)] == [1, 0]
    assert len(said_to_user(bo, NoticeKind.OPENED)) == 1


def test_the_private_board_is_announced_without_a_score(ada: User, bo: User) -> None:
    pets = make_competition(ada)
    enter(pets, bo)
    submit(pets, bo, answers(private=3))
    close(pets)
    assert said_to_user(bo, NoticeKind.REVEALED) == []
    boards.reveal_competition(competition=pets)
    assert [events.notify_due(timezone.now() + timedelta(seconds=1)) for _ in range(2)] == [1, 0]
    (text,) = said_to_user(bo, NoticeKind.REVEALED)
    assert "0.5" not in text


def test_a_disqualified_team_hears_of_the_private_board_and_not_of_a_place_on_it(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    enter(pets, bo)
    extensions.disqualify_team(team=enter(pets, cy).team, user=ada, reason="Cheating")
    close(pets)
    boards.reveal_competition(competition=pets)
    assert [events.notify_due(timezone.now() + timedelta(seconds=1)) for _ in range(2)] == [2, 0]
    (his,), (hers,) = said_to_user(bo, NoticeKind.REVEALED), said_to_user(cy, NoticeKind.REVEALED)
    assert "See your team's final rank and your private scores" in his
    assert "disqualified" not in his
    assert "See your team's final rank and your private scores" not in hers
    assert "disqualified" in hers


def test_what_is_old_is_no_news(ada: User, bo: User) -> None:
    """A site that is brought up to date tells nobody about last term."""
    pets = make_competition(ada)
    enter(pets, bo)
    close(pets)
    boards.reveal_competition(competition=pets)
    assert events.notify_due(timezone.now() + timedelta(days=2)) == 0


# --- deeds of a host --------------------------------------------------------------------------------------------


def test_a_team_hears_what_a_host_decides_about_it_and_nobody_else_does(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team = enter(pets, bo).team
    enter(pets, cy)
    mine = submit(pets, bo, answers())
    events: list[tuple[Callable[[], object], str]] = [
        (
            lambda: extensions.grant_extension(team=team, user=ada, reason="A fair", extra_attempts=2),
            "2 more attempts per day",
        ),
        (lambda: submission_services.hide_submission(submission=mine, user=ada, reason="Copied"), "Copied"),
        (lambda: submission_services.show_submission(submission=mine, user=ada), "counts again"),
        (lambda: extensions.disqualify_team(team=team, user=ada, reason="Cheating"), "Cheating"),
        (lambda: extensions.readmit_team(team=team, user=ada), "It's back on the leaderboards with its scores"),
    ]
    for event, words in events:
        event()
        assert words in Notice.objects.filter(user=bo).latest("pk").text
    assert not Notice.objects.filter(user=cy).exists()


def test_a_class_hears_of_a_pause_and_its_end(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    competitions.pause_competition(competition=pets, user=ada, reason="The truth is wrong")
    competitions.resume_competition(competition=pets, user=ada)
    competitions.resume_competition(competition=pets, user=ada)
    first, second = said_to_user(bo, NoticeKind.PAUSED)
    assert "The truth is wrong" in first
    assert "You can submit again." in second


def test_a_draft_that_changes_its_deadline_tells_nobody(ada: User, bo: User) -> None:
    draft = make_competition(ada, launched=False)
    competitions.change_competition(competition=draft, user=ada, closes_at=draft.closes_at + HOUR)
    assert not Notice.objects.exists()


def test_a_deed_that_is_refused_tells_nobody(pets: Competition, ada: User, bo: User) -> None:
    team = enter(pets, bo).team
    with pytest.raises(competitions.CannotHost):
        extensions.disqualify_team(team=team, user=ada, reason=" ")
    assert not Notice.objects.exists()


# --- one that goes wrong ----------------------------------------------------------------------------------------


def test_a_competition_whose_hour_cannot_be_kept_keeps_no_other_from_theirs(
    ada: User, bo: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What the clock asks for is asked again each minute, so the first one would stand before all others for ever."""
    first, second = near(ada, slug="first"), near(ada, slug="second")
    enter(first, bo), enter(second, bo)
    stumbles_over(first, events, "_notify_before_deadline", monkeypatch)
    assert events.notify_due(timezone.now()) == 1
    close(first)
    close(second)
    stumbles_over(first, reveal, "_reveal_if_still_due", monkeypatch)
    assert reveal.reveal_due_competitions(timezone.now()) == [second]
    assert caplog.text.count("RuntimeError: of a sudden") == 2


def stumbles_over(competition: Competition, module: ModuleType, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = getattr(module, verb)

    def wrong(its: Competition, *given: Any, **named: Any) -> Any:
        if its.pk == competition.pk:
            raise RuntimeError("of a sudden")
        return right(its, *given, **named)

    monkeypatch.setattr(module, verb, wrong)
