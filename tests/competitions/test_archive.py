"""Ada archives what is over, deletes what she wants gone, and changes her mind."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import ApiToken, User
from leaderboard.boards import reveal
from leaderboard.classroom import joining, teams
from leaderboard.common.models import AuditEntry
from leaderboard.common.storage import path_of
from leaderboard.competitions import services, tasks
from leaderboard.competitions.models import Archive, Competition, Submission
from leaderboard.ground_truths.services import copying
from tests.conftest import answers, close, enter, person, submit
from tests.pages import signed_in


def test_what_is_over_leaves_the_lists_stays_readable_and_comes_back(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    close(pets)
    hers, his = signed_in(ada), signed_in(bo)
    assert hers.post("/host/pets/settings/", {"action": "archive"}).status_code == 303
    assert 'href="/c/pets/"' not in his.get("/competitions/").content.decode()
    assert his.get("/c/pets/").status_code == 200
    assert hers.get("/host/pets/").status_code == 200
    assert 'id="archived"' in hers.get("/host/").content.decode()
    hers.post("/host/pets/settings/", {"action": "unarchive"})
    assert 'id="archived"' not in hers.get("/host/").content.decode()
    assert [entry.event for entry in AuditEntry.objects.order_by("-pk")[:2]] == ["unarchived", "archived"]


def test_what_runs_is_not_archived(pets: Competition, ada: User) -> None:
    signed_in(ada).post("/host/pets/settings/", {"action": "archive"})
    assert Archive.objects.get().archived_at is None


def test_a_deleted_competition_is_closed_to_everybody_until_ada_restores_it(
    pets: Competition, ada: User, bo: User, olga: User
) -> None:
    enter(pets, bo)
    file = submit(pets, bo, answers())
    hers = signed_in(ada)
    assert hers.post("/host/pets/settings/", {"action": "delete", "confirm": "wrong"}).status_code == 422
    assert hers.post("/host/pets/settings/", {"action": "delete", "confirm": "pets"})["Location"] == "/host/"
    pages = ["/c/pets/", "/c/pets/leaderboard/", f"/c/pets/submissions/{file.pk}/"]
    assert {signed_in(bo).get(page).status_code for page in pages} == {404}
    assert {signed_in(user).get("/host/pets/").status_code for user in (ada, olga)} == {404}
    for user, address in ((bo, "/api/v1/competitions/pets"), (ada, "/api/v1/competitions/pets")):
        token = ApiToken.issue(user, "t", ApiToken.Scope.HOST)[1]
        assert signed_in(user).get(address, headers={"Authorization": f"Bearer {token}"}).status_code == 404
    assert "/c/pets/" not in signed_in(bo).get("/teams/").content.decode()
    assert 'data-testid="bin"' in hers.get("/host/").content.decode()
    assert hers.post("/host/pets/restore/")["Location"] == "/host/pets/"
    assert {signed_in(bo).get(page).status_code for page in pages} == {200}
    assert hers.get("/host/pets/").status_code == 200


def test_nobody_joins_what_was_deleted_and_nobody_else_restores_it(
    pets: Competition, ada: User, bo: User, dee: User
) -> None:
    link = f"/invitation/{enter(pets, cy := person('cy')).team.invitation}/"
    services.bin_competition(competition=pets, user=ada)
    for client in (signed_in(dee), signed_in(cy), Client()):
        assert client.get(link).status_code == client.post(link, {"accepted": "on"}).status_code == 404
        assert "Cats or dogs" not in client.get(link).content.decode()
    assert joining.competition_by_code(pets.admission.join_code) is None
    pets.refresh_from_db()
    with pytest.raises(teams.CannotJoin):
        joining.enter_competition(user=bo, competition=Competition.objects.get(pk=pets.pk))
    assert signed_in(dee).post("/host/pets/restore/").status_code == 404
    assert Archive.objects.get().binned_at is not None


def test_what_was_deleted_reveals_nothing_by_itself(pets: Competition, ada: User) -> None:
    close(pets)
    services.bin_competition(competition=pets, user=ada)
    assert reveal.reveal_due_competitions(timezone.now()) == []


def test_after_thirty_days_the_night_removes_it_with_its_files(
    pets: Competition, ada: User, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "run_command", lambda *_: None)
    enter(pets, bo)
    path = path_of(submit(pets, bo, answers()).file_key)
    services.bin_competition(competition=pets, user=ada)
    tasks.clear_sessions()
    assert path.exists()
    Archive.objects.update(binned_at=timezone.now() - timedelta(days=31))
    tasks.clear_sessions()
    assert not Competition.objects.exists()
    assert not Submission.objects.exists()
    assert not path.exists()
    last = AuditEntry.objects.order_by("-pk").first()
    assert last is not None
    assert (last.event, last.by) == ("deleted", ada.pk)


@pytest.mark.parametrize(
    ("title", "copy"), [("Bikes", "Bikes (copy)"), ("Bikes 2025", "Bikes 2026"), ("Top 100", "Top 100 (copy)")]
)
def test_a_copy_gets_a_title_of_its_own(title: str, copy: str) -> None:
    assert copying.next_title(title) == copy
