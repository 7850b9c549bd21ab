"""A person's own data: everything as a zip, the end of the account, and what stays for the others."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import ApiToken, User
from leaderboard.accounts.personal_data import delete_account
from leaderboard.boards import board_table
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions, joining, roles, roster, teams
from leaderboard.classroom.models import HostingRole, RosterEntry
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.common.web_pools import DELAY
from leaderboard.competitions import services as competitions
from leaderboard.competitions import tasks
from leaderboard.competitions.models import BoardSettings, Competition, Submission, Team
from leaderboard.competitions.models.competition import Split
from leaderboard.grades import services as grade_services
from leaderboard.grades.models import Gradebook
from leaderboard.notifications.models import Notice
from leaderboard.submissions import services as submission_services
from tests.conftest import answers, close, enter, make_competition, person, submit
from tests.grades.test_services import set_rules
from tests.pages import signed_in, tidy

PASSWORD = {"password": "correct horse"}


def taken_along(user: User) -> dict[str, bytes]:
    """What the zip holds."""
    response = signed_in(user).post("/account/data/")
    assert response.status_code == 200
    with zipfile.ZipFile(io.BytesIO(response.getvalue())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def loaded(files: dict[str, bytes], name: str) -> Any:
    return json.loads(files[f"{name}.json"])


def test_bo_takes_everything_along(pets: Competition, bo: User, cy: User) -> None:
    enter(pets, bo)
    mine = submit(pets, bo, answers(public=1), note="forest")
    _, secret = ApiToken.issue(bo, "laptop")
    enter(pets, cy)
    submit(pets, cy, answers(), note="cys secret idea")
    session = {"ip": "192.0.2.7", "user_agent": "Bo's browser"}
    UserSession.objects.create(user=bo, session_key="of another day", **session)
    files = taken_along(bo)
    assert loaded(files, "profile")["username"] == "bo"
    assert session.items() <= loaded(files, "sessions")[0].items()
    assert loaded(files, "memberships")[0]["competition"] == "pets"
    assert loaded(files, "tokens")[0]["name"] == "laptop"
    (row,) = loaded(files, "submissions")
    assert (row["id"], row["note"], list(row["scores"])) == (str(mine.pk), "forest", ["public"])
    assert files[f"submissions/{mine.pk}/mine.csv"] == answers(public=1)
    everything = b"".join(files.values()).decode()
    for hidden in (secret, bo.password, "cys secret idea", "cy@example.org"):
        assert hidden not in everything
    assert AuditEntry.objects.latest("pk").event == AuditEvent.ACCOUNT_EXPORTED


def test_private_scores_go_along_after_the_reveal_alone(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers(private=2))
    assert loaded(taken_along(bo), "submissions")[0]["scores"].keys() == {"public"}
    close(pets)
    boards.reveal_competition(competition=pets)
    assert loaded(taken_along(bo), "submissions")[0]["scores"].keys() == {"public", "private"}


def test_what_a_board_hides_is_not_in_the_file(pets: Competition, bo: User) -> None:
    BoardSettings.objects.update(hides_scores=True)
    enter(pets, bo)
    submit(pets, bo, answers(public=1))
    assert loaded(taken_along(bo), "submissions")[0]["scores"] == {}


def test_team_mates_files_go_along_without_their_words(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    joining.accept_rules(membership=joining.join_by_invitation(user=cy, invitation=team.invitation))
    theirs = submit(pets, cy, answers(), note="cys words")
    files = taken_along(bo)
    (row,) = loaded(files, "submissions")
    assert (row["submitted_by_you"], row["note"]) == (False, "")
    assert f"submissions/{theirs.pk}/mine.csv" in files


def test_released_grades_go_along_with_their_reasons_and_nobody_elses(pets: Competition, bo: User, cy: User) -> None:
    set_rules(pets)
    for user, wrong in ((bo, 0), (cy, 3)):
        enter(pets, user)
        submit(pets, user, answers(private=wrong))
    close(pets)
    boards.reveal_competition(competition=pets)
    assert loaded(taken_along(bo), "grades") == []
    grade_services.release_grades(graded=pets, user=None)
    (grade,) = loaded(taken_along(bo), "grades")
    assert (grade["release__competition__slug"], grade["points"]) == ("pets", 100)
    assert grade["reasons"] == ["Private score 1.000 reaches 1: 100 points."]
    grade_services.withdraw_grades(graded=pets, user=None)
    assert loaded(taken_along(bo), "grades") == []


def test_copies_are_limited_and_nobody_gets_anothers(pets: Competition, bo: User, client: Client) -> None:
    for _ in range(5):
        taken_along(bo)
    refused = signed_in(bo).post("/account/data/")
    assert refused.status_code == 303
    assert client.post("/account/data/")["Location"].startswith("/accounts/login/")
    assert signed_in(bo).get("/account/data/").status_code == 302


def board(competition: Competition) -> list[list[str]]:
    """The board without names."""
    lines = [line.split(",") for line in board_table.board_csv(competition, Split.PUBLIC).splitlines()]
    return [[cell for place, cell in enumerate(line) if place != 1] for line in lines]


def test_bo_goes_and_his_files_stay(pets: Competition, bo: User, cy: User) -> None:
    for user, wrong in ((bo, 1), (cy, 2)):
        enter(pets, user)
        submit(pets, user, answers(public=wrong), note="mine", file_name=f"{user}_final.csv")
    ApiToken.issue(bo, "laptop")
    before, version = board(pets), Competition.objects.get().board_version
    number = bo.pk
    client = signed_in(bo)
    assert client.post("/account/delete/", PASSWORD).status_code == 303
    assert not User.objects.filter(username="bo").exists()
    assert not ApiToken.objects.exists()
    # A team without members is ranked again at the reveal.
    assert board(pets) == [before[0], ["1", *before[2][1:]]]
    assert Competition.objects.get().board_version > version
    assert set(Team.objects.values_list("name", flat=True)) == {"Former member 1", "cy"}
    left = Submission.objects.get(user=None)
    assert (left.note, left.file_name, left.status) == ("", "submission.csv", "scored")
    assert client.get("/account/").status_code == 302
    page = signed_in(cy).get("/c/pets/leaderboard/").content.decode()
    assert "Former member 1" not in page
    assert ">bo<" not in tidy(page)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.event, entry.by, entry.account) == (AuditEvent.ACCOUNT_DELETED, number, number)
    close(pets)
    boards.reveal_competition(competition=pets)
    assert board(pets) == before
    assert "Former member 1" in signed_in(cy).get("/c/pets/leaderboard/").content.decode()
    everything = str([[e.about, e.before, e.after] for e in AuditEntry.objects.all()])
    assert "bo@" not in everything
    assert '"bo"' not in everything


def test_the_old_invitation_of_an_empty_team_lets_nobody_in(pets: Competition, bo: User, dee: User) -> None:
    membership = enter(pets, bo)
    submit(pets, bo, answers())
    signed_in(bo).post("/account/delete/", PASSWORD)
    with pytest.raises(teams.CannotJoin):
        joining.join_by_invitation(user=dee, invitation=membership.team.invitation)


def test_a_team_goes_on_without_the_one_who_left(pets: Competition, bo: User, cy: User) -> None:
    team = enter(pets, bo).team
    joining.accept_rules(membership=joining.join_by_invitation(user=cy, invitation=team.invitation))
    submit(pets, bo, answers())
    signed_in(bo).post("/account/delete/", PASSWORD)
    team.refresh_from_db()
    assert team.name == "Former member 1", "it was called “bo”"
    assert submit(pets, cy, answers(public=1)).status == "scored"


@pytest.fixture
def traces(pets: Competition, ada: User, bo: User, cy: User, dee: User) -> None:
    """Bo and Cy are a team, Dee has one of her own; whoever Bo is stands in many places."""
    team = enter(pets, bo).team
    mate = joining.join_by_invitation(user=cy, invitation=team.invitation)
    joining.accept_rules(membership=mate)
    RosterEntry.objects.create(
        course=pets.course, user=bo, name="Bo Namecanary", email="bo.namecanary@example.org", student_id="S-4711"
    )
    file = submit(pets, bo, answers(), file_name="namecanary_final.csv")
    enter(pets, dee)
    submission_services.hide_submission(submission=file, user=ada, reason="“bo” asked for it")
    extensions.grant_extension(team=team, user=ada, reason="ill", extra_attempts=1)
    extensions.disqualify_team(team=team, user=ada, reason="Copied.")
    head = "Student,ID,SIS User ID,SIS Login ID,Section,Work (1)\r\n    Points Possible,,,,,10\r\n"
    book = f'{head}"Namecanary, Bo",11,S-4711,x1,,3\r\n"Rivera, Ana",12,S-1,x2,,4\r\n'
    grade_services.save_gradebook(graded=pets, user=ada, file_name="canvas.csv", data=book.encode())
    roster.save_roster_draft(competition=pets, user=ada, file_name="list.csv", data="name\nBo Namecanary\n")
    bo.emailaddress_set.create(email="Bo.namecanary@example.org", verified=True)  # type: ignore[attr-defined]
    keep_address(pets, ada, "bo.namecanary@example.org")


def keep_address(competition: Competition, host: User, address: str) -> None:
    """It may join next to its whole domain and another."""
    competitions.change_competition(
        competition=competition, user=host, allowed_addresses=f"{address}\n@example.org\neve@example.net"
    )


def whole_database() -> str:
    """Every text of every row there is, but for the codes of Django's sessions."""
    stored = [model for model in apps.get_models() if model._meta.label != "sessions.Session"]
    rows = [list(model._default_manager.values_list()) for model in stored]
    return repr(
        [[[bytes(cell) if isinstance(cell, memoryview) else cell for cell in row] for row in one] for one in rows]
    )


def test_nothing_anywhere_says_who_a_deleted_account_was(traces: None, bo: User) -> None:
    before = whole_database()
    for name in ("amecanary", "S-4711", "'bo'"):
        assert name in before, name
    delete_account(account=bo, user=bo)
    after = whole_database()
    for name in ("amecanary", "S-4711", "'bo'", '"bo"'):
        assert name not in after, name


@pytest.mark.attack("changing what others read")
def test_what_others_call_alike_stays_as_it_was(ada: User, bo: User, cy: User, dee: User) -> None:
    """An account, Cy's team and the competition have one name: notices to others keep it when the account goes."""
    pets = make_competition(ada, title="Rockets", team_size=3)
    rockets = person("rockets")
    enter(pets, rockets)
    joining.join_by_invitation(user=rockets, invitation=enter(pets, dee).team.invitation)
    mine = enter(pets, cy)
    teams.rename_team(membership=mine, name="Rockets")
    joining.join_by_invitation(user=bo, invitation=mine.team.invitation)
    read = list(Notice.objects.filter(user=cy).values_list("title", "text"))
    assert "“bo” joined “Rockets”" in read[0][1]
    assert "“rockets” joined “dee”" in Notice.objects.get(user=dee).text
    delete_account(account=rockets, user=rockets)
    assert list(Notice.objects.filter(user=cy).values_list("title", "text")) == read
    assert "“Former member” joined “dee”" in Notice.objects.get(user=dee).text
    # The places of names are known after a change, too.
    delete_account(account=bo, user=bo)
    assert "“Former member” joined “Rockets”" in Notice.objects.get(user=cy).text
    delete_account(account=dee, user=dee)
    assert not Notice.objects.filter(text__contains="dee").exists()


def test_what_is_about_others_stays_as_it_was(traces: None, bo: User, cy: User, dee: User) -> None:
    delete_account(account=bo, user=bo)
    assert b'"Rivera, Ana",12,S-1,x2,,4' in bytes(Gradebook.objects.get().data)
    hidden = Notice.objects.get(user=cy, title="Your team's submission is hidden")
    assert hidden.text.startswith("“submission.csv” is off the leaderboards")


def test_the_audit_log_tells_of_lists_that_an_account_took_its_address_from(
    traces: None, pets: Competition, bo: User
) -> None:
    delete_account(account=bo, user=bo)
    pets.refresh_from_db()
    assert pets.admission.allowed_addresses.split() == ["@example.org", "eve@example.net"]
    assert AuditEntry.objects.filter(competition=pets.pk, by=bo.pk, event=AuditEvent.CHANGED).count() == 1


def test_an_address_that_nobody_confirmed_stays_where_hosts_wrote_it(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    bo.emailaddress_set.create(email="cy@example.org", verified=False)  # type: ignore[attr-defined]
    keep_address(pets, ada, "cy@example.org")
    delete_account(account=bo, user=bo)
    pets.refresh_from_db()
    assert "cy@example.org" in pets.admission.allowed_addresses.split()


def test_whoever_takes_anothers_name_deletes_nothing_of_theirs(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    User.objects.filter(pk=bo.pk).update(first_name="Ana", last_name="Rivera")
    head = "Student,ID,SIS User ID,SIS Login ID,Section,Work (1)\n"
    book = f'{head}"Rivera, Ana",12,S-1,x2,,4\n'.encode()
    grade_services.save_gradebook(graded=pets, user=ada, file_name="canvas.csv", data=book)
    delete_account(account=User.objects.get(pk=bo.pk), user=bo)
    assert bytes(Gradebook.objects.get().data) == book


def test_a_team_that_handed_in_nothing_goes_too(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    signed_in(bo).post("/account/delete/", PASSWORD)
    assert not Team.objects.exists()


@pytest.mark.parametrize("given", [{}, {"password": ""}, {"password": "wrong"}, {"confirm": "bo"}])
def test_without_the_password_nothing_happens(bo: User, given: dict[str, str]) -> None:
    response = signed_in(bo).post("/account/delete/", given)
    assert response.status_code == 422
    assert User.objects.filter(pk=bo.pk).exists()


def test_a_password_cannot_be_guessed_here(bo: User) -> None:
    client = signed_in(bo)
    answers = [client.post("/account/delete/", {"password": f"guess {number}"}) for number in range(12)]
    assert [answer.wsgi_request.META.get(DELAY, 0) for answer in answers] == [0] * 10 + [2, 4]
    assert User.objects.filter(pk=bo.pk).exists()


def test_who_has_no_password_types_the_name(db: None) -> None:
    eve = person("eve")
    eve.set_unusable_password()
    eve.save()
    client = signed_in(eve)
    assert client.post("/account/delete/", {"confirm": "Eva"}).status_code == 422
    assert client.post("/account/delete/", {"confirm": "eve"}).status_code == 303


def test_the_only_host_and_the_only_operator_cannot_go(pets: Competition, ada: User, olga: User, cy: User) -> None:
    for user, words in ((ada, "only host of “Cats or dogs”"), (olga, "only operator")):
        page = signed_in(user).post("/account/delete/", PASSWORD)
        assert page.status_code == 422
        assert words in page.content.decode()
    roles.give_role(role=HostingRole.HOST, competition=pets, name="cy")
    assert signed_in(ada).post("/account/delete/", PASSWORD).status_code == 303
    assert pets.ground_truths.get().published_by is None


def test_an_operator_deletes_an_account_in_the_admin(pets: Competition, ada: User, bo: User, olga: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    client = signed_in(olga)
    client.post(f"/admin/accounts/user/{ada.pk}/delete/", {"post": "yes"})
    assert User.objects.filter(pk=ada.pk).exists()
    client.post(f"/admin/accounts/user/{bo.pk}/delete/", {"post": "yes"})
    assert not User.objects.filter(pk=bo.pk).exists()
    assert Submission.objects.get().status == "scored"
    entry = AuditEntry.objects.latest("pk")
    assert (entry.event, entry.by) == (AuditEvent.ACCOUNT_DELETED, olga.pk)
    assert "bo" not in LogEntry.objects.values_list("object_repr", flat=True), "Django's own log of the admin"


def test_where_bo_was_signed_in_is_forgotten_the_night_after_the_session(
    bo: User, cy: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "run_command", lambda *_: None)
    for account in (bo, cy):
        client = Client(REMOTE_ADDR="192.0.2.7")
        assert client.post("/accounts/login/", {"login": account.username, **PASSWORD}).status_code == 302
    tasks.clear_sessions()
    assert set(UserSession.objects.values_list("user", flat=True)) == {bo.pk, cy.pk}
    bos = UserSession.objects.get(user=bo)
    Session.objects.filter(session_key=bos.session_key).update(expire_date=timezone.now())
    tasks.clear_sessions()
    assert UserSession.objects.get().user == cy
