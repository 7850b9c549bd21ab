"""The final ranking opens on time for the class while Bo, who was ill, still has time: what each of them can see."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import ApiToken, User
from leaderboard.boards import queries, reveal, tasks, team_ranks
from leaderboard.boards import services as boards
from leaderboard.boards.services import LateTeams
from leaderboard.classroom import extensions
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import BoardSettings, Competition, Extension, Score, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.extension import ranking_opens_at
from leaderboard.competitions.services import CannotHost
from leaderboard.grades import services as grade_services
from leaderboard.notifications import events
from leaderboard.notifications.models import Notice
from leaderboard.operations import consistency
from leaderboard.submissions import score, submitting
from leaderboard.submissions import services as submission_services
from tests.conftest import answers, close, enter, submit
from tests.pages import signed_in, text_of

CANARY = 0.123456789


@pytest.fixture
def ended(pets: Competition, ada: User, bo: User, cy: User) -> Competition:
    """The deadline has passed; Bo has two more days, for which the others do not wait."""
    team = enter(pets, bo).team
    enter(pets, cy)
    submit(pets, bo, answers(private=3)), submit(pets, cy, answers(public=1, private=2))
    later = pets.closes_at + timedelta(days=2)
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=later, delays_ranking=False)
    close(pets)
    return pets


def open_for_the_others(competition: Competition) -> Competition:
    assert reveal.reveal_due_competitions(timezone.now()) == [competition]
    competition.refresh_from_db()
    return competition


def let_time_pass(competition: Competition) -> int:
    """The extension ends by the clock."""
    return Extension.objects.filter(team__competition=competition).update(closes_at=timezone.now())


def ranked(competition: Competition, split: Split) -> list[str]:
    return [row.name for row in queries.ranked_lines(Competition.objects.get(pk=competition.pk), split)]


def broken() -> list[str]:
    return [line for result in consistency.run_checks(only={6, 7}) for line in result.examples]


def sees(competition: Competition, user: User | AnonymousUser) -> bool:
    """By both ways of loading a competition."""
    now, plain = timezone.now(), Competition.objects.get(pk=competition.pk)
    with_roles = Competition.objects.with_roles_of(user).get(pk=competition.pk)
    assert plain.private_is_visible_to(user, now) == with_roles.private_is_visible_to(user, now)
    return plain.private_is_visible_to(user, now)


def test_only_the_late_team_sees_nothing_private_until_it_is_in_the_ranking(
    ended: Competition, ada: User, bo: User, cy: User
) -> None:
    readers: dict[str, User | AnonymousUser] = {"ada": ada, "bo": bo, "cy": cy, "a stranger": AnonymousUser()}

    def who_sees() -> set[str]:
        return {name for name, user in readers.items() if sees(ended, user)}

    assert who_sees() == {"ada"}
    open_for_the_others(ended)
    assert who_sees() == {"ada", "cy", "a stranger"}
    let_time_pass(ended)
    assert who_sees() == {"ada", "cy", "a stranger"}, "bo's last file may still be on its way"
    assert [team.name for team in reveal.add_late_teams(timezone.now())] == ["bo"]
    assert who_sees() == set(readers)
    assert reveal.add_late_teams(timezone.now()) == []


def test_the_late_team_stays_on_the_public_board_and_joins_the_ranking_with_its_later_file(
    ended: Competition, bo: User, cy: User
) -> None:
    open_for_the_others(ended)
    assert (ranked(ended, Split.PRIVATE), ranked(ended, Split.PUBLIC)) == (["cy"], ["bo", "cy"])
    late_team = ended.memberships.select_related("team").get(user=bo).team
    ended.refresh_from_db()
    assert team_ranks.placings_now({late_team: ended}, timezone.now())[late_team.pk].total == 2, "the public rank"
    assert broken() == []
    late = submit(ended, bo, answers())
    assert (late.status, late.is_late) == (Submission.Status.SCORED, False)
    submission_services.select_finals(competition=ended, user=bo, submission_ids=[str(late.pk)], at=timezone.now())
    assert ranked(ended, Split.PRIVATE) == ["cy"]
    assert broken() == []
    let_time_pass(ended)
    reveal.add_late_teams(timezone.now())
    assert ranked(ended, Split.PRIVATE) == ["bo", "cy"]
    assert broken() == []


def test_no_team_gains_the_place_of_one_that_still_has_time(ended: Competition, ada: User) -> None:
    open_for_the_others(ended)
    for page in ("/c/pets/leaderboard/?board=private", "/host/pets/projector/?show=reveal&step=1"):
        shown = signed_in(ada).get(page).content.decode()
        assert "cy" in shown
        assert 'class="up"' not in shown


def pages_of(bo: User) -> dict[str, bytes]:
    """What Bo can ask for, and what strangers can: Bo can sign out."""
    own, stranger, program = signed_in(bo), Client(), {"Authorization": f"Bearer {ApiToken.issue(bo, 'x')[1]}"}
    files = list(Submission.objects.filter(user=bo).values_list("pk", flat=True))
    board = [f"/c/pets/{page}" for page in ("", "leaderboard/?board=private", "leaderboard/?board=public")]
    mine = ["/c/pets/submissions/", "/c/pets/submit/", "/c/pets/team/", "/c/pets/grade/", "/account/data/"]
    mine += [f"/c/pets/submissions/{pk}/" for pk in files]
    api = ["", "/leaderboard", "/leaderboard?board=private", "/submissions"]
    board.append("/c/pets/leaderboard.csv?board=private")
    return {
        **{f"bo {page}": own.get(page).content for page in ("/", *board, *mine)},
        **{f"stranger {page}": stranger.get(page).content for page in board},
        **{f"api {page}": Client().get(f"/api/v1/competitions/pets{page}", headers=program).content for page in api},
    }


def test_no_page_tells_bo_a_final_score_of_its_files(ended: Competition, bo: User) -> None:
    Score.objects.filter(submission__user=bo, split=Split.PRIVATE).update(value=CANARY)
    open_for_the_others(ended)
    digits = str(CANARY)[:5].encode()
    assert [page for page, answer in pages_of(bo).items() if digits in answer] == []
    let_time_pass(ended)
    reveal.add_late_teams(timezone.now())
    assert any(digits in answer for answer in pages_of(bo).values()), "the canary sings once bo is in the ranking"


def test_on_a_board_that_was_hidden_the_late_team_finds_no_score_at_all(
    ended: Competition, ada: User, bo: User, cy: User
) -> None:
    BoardSettings.objects.update(hides_scores=True)
    Score.objects.filter(submission__user=bo).update(value=CANARY)
    open_for_the_others(ended)
    assert (ranked(ended, Split.PRIVATE), ranked(ended, Split.PUBLIC)) == (["cy"], ["cy"])
    digits = str(CANARY)[:5].encode()
    assert [page for page, answer in pages_of(bo).items() if digits in answer] == []
    assert "is locked" in text_of(signed_in(bo).get("/c/pets/leaderboard/"))
    assert "is locked" not in text_of(signed_in(cy).get("/c/pets/leaderboard/"))
    for someone, status in ((bo, 403), (cy, 200)):
        program = {"Authorization": f"Bearer {ApiToken.issue(someone, 'board')[1]}"}
        assert Client().get("/api/v1/competitions/pets/leaderboard", headers=program).status_code == status
    assert broken() == []


def test_bo_and_the_others_read_when_the_ranking_opens_for_them(ended: Competition, bo: User, cy: User) -> None:
    page = "/c/pets/leaderboard/?board=private"
    assert "opens for you when your extension ends" in text_of(signed_in(bo).get(page))
    assert "once the last submissions are scored" in text_of(signed_in(cy).get(page))
    open_for_the_others(ended)
    assert "opens for you when your extension ends" in text_of(signed_in(bo).get(page))
    assert "Final ranking, on" in text_of(signed_in(cy).get(page))


def test_each_reads_of_the_ranking_when_it_is_theirs(ended: Competition, bo: User, cy: User) -> None:
    open_for_the_others(ended)

    def told() -> set[str]:
        events.notify_due(timezone.now())
        return set(Notice.objects.filter(kind="revealed").values_list("user__username", flat=True))

    assert told() == {"cy"}
    Competition.objects.update(revealed_at=timezone.now() - timedelta(days=3))
    let_time_pass(ended)
    assert told() == {"cy"}, "bo is not in the ranking yet"
    reveal.add_late_teams(timezone.now())
    assert told() == {"bo", "cy"}


def test_files_of_the_late_team_hold_nobody_up_and_those_of_the_others_do(
    ended: Competition, bo: User, cy: User
) -> None:
    waiting = submitting.submit_file(competition=ended, user=bo, file_name="a.csv", chunks=[answers(public=2)])
    Submission.objects.filter(user=cy).update(status=Submission.Status.PENDING, finished_at=None)
    assert reveal.reveal_due_competitions(timezone.now()) == []
    Submission.objects.filter(user=cy).update(status=Submission.Status.SCORED, finished_at=timezone.now())
    open_for_the_others(ended)
    let_time_pass(ended)
    assert reveal.add_late_teams(timezone.now()) == [], "the file came in time and has no score"
    score.score_one(waiting.pk)
    assert [team.name for team in reveal.add_late_teams(timezone.now())] == ["bo"]


def test_everybody_waits_for_an_extension_that_delays_the_ranking(ended: Competition) -> None:
    assert ranking_opens_at(ended) == ended.closes_at
    Extension.objects.update(delays_ranking=True)
    until = Extension.objects.get().closes_at
    assert until is not None
    assert ranking_opens_at(ended) == until
    assert reveal.reveal_due_competitions(timezone.now()) == []
    with pytest.raises(CannotHost, match="End it, or open the final ranking for the others"):
        boards.reveal_competition(competition=ended)
    assert reveal.reveal_due_competitions(until) == [ended]


@pytest.mark.parametrize(("first", "second"), [(LateTeams.END, LateTeams.LATER), (LateTeams.LATER, LateTeams.END)])
def test_of_two_hosts_one_opens_it_and_the_other_reads_that_it_is_open(
    ended: Competition, ada: User, first: LateTeams, second: LateTeams
) -> None:
    Extension.objects.update(delays_ranking=True)
    boards.reveal_competition(competition=ended, user=ada, late_teams=first)
    before = Extension.objects.get()
    with pytest.raises(CannotHost, match="already open"):
        boards.reveal_competition(competition=ended, user=ada, late_teams=second)
    after = Extension.objects.get()
    assert (after.closes_at, after.ended_at) == (before.closes_at, before.ended_at)
    assert Team.objects.get(name="bo").is_awaited == (first is LateTeams.LATER)
    assert ("bo" in ranked(ended, Split.PRIVATE)) == (first is LateTeams.END)
    assert broken() == []


def test_ending_an_extension_whose_file_waits_opens_and_ends_nothing(ended: Competition, ada: User, bo: User) -> None:
    submitting.submit_file(competition=ended, user=bo, file_name="a.csv", chunks=[answers(public=2)])
    with pytest.raises(CannotHost, match="waiting"):
        boards.reveal_competition(competition=ended, user=ada, late_teams=LateTeams.END)
    assert Extension.objects.get().ended_at is None
    boards.reveal_competition(competition=ended, user=ada, late_teams=LateTeams.LATER)
    assert ranked(ended, Split.PRIVATE) == ["cy"]


def test_when_the_ranking_is_open_only_a_team_that_has_not_seen_it_gets_more_time(
    ended: Competition, ada: User, bo: User, cy: User
) -> None:
    """Whichever comes first, the extension or the opening: both take the lock of the competition."""
    open_for_the_others(ended)
    later = timezone.now() + timedelta(days=5)
    with pytest.raises(CannotHost, match="The final ranking is open"):
        extensions.grant_extension(team=cy.memberships.get().team, user=ada, reason="Ill", closes_at=later)
    extensions.grant_extension(team=bo.memberships.get().team, user=ada, reason="Ill", closes_at=later)
    assert reveal.add_late_teams(later - timedelta(seconds=1)) == []
    assert len(reveal.add_late_teams(later)) == 1
    with pytest.raises(CannotHost, match="The final ranking is open"):
        extensions.grant_extension(
            team=bo.memberships.get().team, user=ada, reason="Ill", closes_at=later + timedelta(days=1)
        )


def test_time_given_while_late_teams_are_added_still_counts(
    ended: Competition, ada: User, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_for_the_others(ended)
    let_time_pass(ended)
    later, team = timezone.now() + timedelta(days=1), bo.memberships.get().team
    really = reveal._add_if_still_due

    def slowly(*arguments: object) -> bool:
        extensions.grant_extension(team=team, user=ada, reason="Still ill", closes_at=later)
        return really(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(reveal, "_add_if_still_due", slowly)
    assert reveal.add_late_teams(timezone.now()) == []
    assert not sees(ended, bo)


def test_a_file_that_waits_becomes_late_with_an_earlier_deadline_and_delays_the_ranking_no_more(
    pets: Competition, ada: User, cy: User
) -> None:
    enter(pets, cy)
    waiting = submitting.submit_file(competition=pets, user=cy, file_name="a.csv", chunks=[answers()])
    Submission.objects.update(received_at=timezone.now() - timedelta(minutes=10))
    competitions.change_competition(competition=pets, user=ada, closes_at=timezone.now() - timedelta(minutes=5))
    assert reveal.reveal_due_competitions(timezone.now()) == []
    competitions.change_competition(competition=pets, user=ada, closes_at=timezone.now() - timedelta(minutes=15))
    open_for_the_others(pets)
    score.score_one(waiting.pk)
    assert ranked(pets, Split.PRIVATE) == []
    assert broken() == []


def test_the_time_of_the_opening_is_when_it_opened(ended: Competition) -> None:
    """Not when the deadline had passed for certain, 45 seconds before."""
    begun = timezone.now()
    tasks.reveal_due()
    assert Competition.objects.get().revealed_at is None, "rows of files received in time may follow"
    Competition.objects.update(closes_at=begun - timedelta(minutes=1))
    tasks.reveal_due()
    opened = Competition.objects.get().revealed_at
    assert opened is not None
    assert opened >= begun


def test_grades_are_released_once_all_are_in_the_ranking(ended: Competition) -> None:
    def obstacles() -> str:
        with pytest.raises(CannotHost) as refused:
            grade_services.release_grades(graded=ended, user=None)
        return " ".join(refused.value.details)

    open_for_the_others(ended)
    assert "still has time" in obstacles()
    let_time_pass(ended)
    reveal.add_late_teams(timezone.now())
    assert "still has time" not in obstacles()


# --- the host's page ------------------------------------------------------------------------------------------------

STATES: dict[str, tuple[Callable[[Competition], object], list[str]]] = {
    "running": (lambda pets: Competition.objects.update(closes_at=timezone.now() + timedelta(days=1)), ["/deadline/"]),
    "late teams": (lambda pets: None, ['value="later"', 'value="end"']),
    "ready": (let_time_pass, ['value="wait"']),
    "files wait": (
        lambda pets: (
            BoardSettings.objects.update(reveals_itself=False),
            Submission.objects.filter(user__username="cy").update(status=Submission.Status.PENDING, finished_at=None),
        ),
        ['value="when_scored"'],
    ),
    "open": (lambda pets: (let_time_pass(pets), open_for_the_others(pets)), ["?show=reveal"]),
    "open for the others": (open_for_the_others, ["?show=reveal", 'value="end_extensions"']),
}


@pytest.mark.parametrize("state", STATES)
def test_the_page_always_has_a_button_that_does_what_is_possible(ended: Competition, ada: User, state: str) -> None:
    arrive, buttons = STATES[state]
    arrive(ended)
    page = signed_in(ada).get("/host/pets/reveal/").content.decode()
    form = page.partition('data-testid="reveal"')[2].partition("</form>")[0]
    assert [button for button in buttons if button not in form] == []


@pytest.mark.parametrize(("action", "has_bo"), [("later", False), ("end", True)])
def test_ada_opens_it_with_one_button(ended: Competition, ada: User, action: str, has_bo: bool) -> None:
    assert signed_in(ada).post("/host/pets/reveal/", {"action": action}).status_code == 303
    assert ("bo" in ranked(ended, Split.PRIVATE)) == has_bo
    assert broken() == []


def test_ada_ends_the_extension_after_the_opening(ended: Competition, ada: User, bo: User) -> None:
    open_for_the_others(ended)
    assert signed_in(ada).post("/host/pets/reveal/", {"action": "end_extensions"}).status_code == 303
    assert Extension.objects.get().ended_at is not None
    assert len(reveal.add_late_teams(timezone.now())) == 1
    assert sees(ended, bo)


def test_the_ranking_opens_by_itself_after_ada_asks_for_it_once_files_are_scored(
    ended: Competition, ada: User, cy: User
) -> None:
    BoardSettings.objects.update(reveals_itself=False)
    assert signed_in(ada).post("/host/pets/reveal/", {"action": "when_scored"}).status_code == 303
    open_for_the_others(ended)


@pytest.mark.parametrize(("answer", "waits"), [("everyone", True), ("team", False)])
def test_one_more_day_asks_who_waits(pets: Competition, ada: User, bo: User, answer: str, waits: bool) -> None:
    enter(pets, bo)
    client, page = signed_in(ada), f"/host/pets/people/{bo.pk}/"
    asked = client.post(page, {"action": "extend", "days": 1}).content.decode()
    assert not Extension.objects.exists()
    assert 'value="everyone"' in asked
    assert 'value="team"' in asked
    client.post(page, {"action": "extend", "days": 1, "waits": answer})
    granted = Extension.objects.get()
    assert granted.delays_ranking == waits
    assert ranking_opens_at(pets) == (granted.closes_at if waits else pets.closes_at)


def test_a_shorter_extension_than_the_one_all_wait_for_asks_nothing(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    team, until = enter(pets, cy).team, pets.closes_at + timedelta(days=2)
    enter(pets, bo)
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=until)
    assert signed_in(ada).post(f"/host/pets/people/{bo.pk}/", {"action": "extend", "days": 1}).status_code == 303
    assert ranking_opens_at(pets) == until


# --- the deadline ---------------------------------------------------------------------------------------------------


def test_a_later_deadline_is_moved_at_once_and_the_class_is_told_if_ada_likes(
    pets: Competition, ada: User, bo: User
) -> None:
    enter(pets, bo)
    client, until = signed_in(ada), pets.closes_at + timedelta(days=1)
    for notifies, told in (({}, 0), ({"notifies": "on"}, 1)):
        until += timedelta(days=1)
        sent = {"closes_at": f"{until:%Y-%m-%dT%H:%M}", **notifies}
        assert client.post("/host/pets/deadline/", sent)["Location"] == "/host/pets/"
        assert Competition.objects.get().closes_at == until.replace(second=0, microsecond=0)
        assert Notice.objects.filter(user=bo, kind="deadline").count() == told


def test_an_earlier_deadline_asks_and_says_who_loses_what(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo)
    team = enter(pets, cy).team
    submit(pets, bo, answers())
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=pets.closes_at + timedelta(days=1))
    client, sent = signed_in(ada), {"closes_at": f"{timezone.now() - timedelta(hours=1):%Y-%m-%dT%H:%M}"}
    asked = text_of(client.post("/host/pets/deadline/", sent))
    for words in ("the competition ends now", "1 submission becomes late", "The extension of cy moves along"):
        assert words in asked
    assert Competition.objects.get().closes_at == pets.closes_at
    assert client.post("/host/pets/deadline/", {**sent, "is_meant": "yes"}).status_code == 303
    assert Competition.objects.get().closes_at < timezone.now()


@pytest.mark.parametrize("typed", ["", "soon", "2020-01-01T00:00"])
def test_an_impossible_deadline_is_refused(pets: Competition, ada: User, typed: str) -> None:
    answer = signed_in(ada).post("/host/pets/deadline/", {"closes_at": typed, "is_meant": "yes"})
    assert answer.status_code == 422
    assert Competition.objects.get().closes_at == pets.closes_at


def test_an_open_ranking_keeps_its_deadline_out_of_the_future(ended: Competition, ada: User) -> None:
    open_for_the_others(ended)
    sent = {"closes_at": f"{timezone.now() + timedelta(days=1):%Y-%m-%dT%H:%M}"}
    answer = signed_in(ada).post("/host/pets/deadline/", sent)
    assert answer.status_code == 422
    assert "The final ranking is open" in text_of(answer)
