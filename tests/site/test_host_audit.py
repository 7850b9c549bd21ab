"""The audit log on the host's page and in the admin, and that every page writes who it was."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client

from leaderboard.accounts.models import SetupLink, User
from leaderboard.classroom import extensions, joining, roles, teams
from leaderboard.classroom.models import HostingRole
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from leaderboard.submissions import outside_queue
from tests.conftest import TRUTH, answers, close, enter, make_competition, person, save_truth, submit
from tests.pages import signed_in, text_of, upload
from tests.site.test_host import MEANT, save_all


def test_every_page_writes_who_it_was(ada: User, bo: User, cy: User, work: Callable[[], int]) -> None:
    client = signed_in(ada)
    client.post("/host/new/", {"files": upload("id,label\n1,cat\n")})
    made = Competition.objects.get()
    save_all(client, made.slug, slug="pond-life")
    made.refresh_from_db()
    host = f"/host/{made.slug}"
    save_truth(made, TRUTH)
    chosen = {"action": "use", "metric": "accuracy", "parameters_of": "accuracy"}
    client.post(f"{host}/truth/metric/", chosen)
    client.post(f"{host}/settings/", {"action": "copy", "copy-title": "Once more"})
    outside_queue.score_preview(made.ground_truths.get().pk)
    client.post(f"{host}/setup/", {"launch": "yes"})
    client.post(f"{host}/people/roles/", {"name": "cy", "role": "host"})
    client.post(f"{host}/people/roles/", {"name": "cy", "role": "host", **MEANT})
    client.post(f"{host}/people/roles/", {"name": "cy", "role": "assistant"})
    client.post(f"{host}/people/roles/", {"name": "cy", "role": "assistant", **MEANT})
    client.post(f"{host}/data/", {"file": upload("id,x\n1,2\n", "x.csv")})
    client.post(f"{host}/data/", {"name": "x.csv", "action": "remove", "is_meant": "yes"})
    client.post(f"{host}/baselines/", {"name": "Guess", "file": upload(answers())})
    client.post(f"{host}/baselines/", {"name": "Guess", "action": "remove", "is_meant": "yes"})
    Competition.objects.update(opens_at="2026-01-01T00:00:00+00:00")
    made.refresh_from_db()
    enter(made, bo)
    submit(made, bo, answers())
    for action in ("discard", "apply"):
        save_truth(made, TRUTH)
        client.post(f"{host}/truth/metric/", chosen)
        work()
        client.post(f"{host}/truth/", {"action": action})
    close(made)
    client.post(f"{host}/reveal/", {"action": "wait"})
    client.post(f"{host}/settings/", {"action": "delete", "confirm": made.slug})
    written = list(AuditEntry.objects.order_by("pk"))
    assert {entry.event for entry in written} >= {
        *(
            AuditEvent.CREATED,
            AuditEvent.CHANGED,
            AuditEvent.CLONED,
            AuditEvent.PREVIEWED,
            AuditEvent.LAUNCHED,
            AuditEvent.REVEALED,
            AuditEvent.BINNED,
        ),
        *(AuditEvent.HOST_ADDED, AuditEvent.HOST_REMOVED),
        *(AuditEvent.TRUTH_PUBLISHED, AuditEvent.TRUTH_APPLIED, AuditEvent.TRUTH_DISCARDED),
        *(AuditEvent.DATA_ADDED, AuditEvent.DATA_REMOVED, AuditEvent.BASELINE_ADDED, AuditEvent.BASELINE_REMOVED),
    }
    assert {entry.by for entry in written} == {ada.pk}


def test_ada_reads_who_changed_what(pets: Competition, ada: User, cy: User) -> None:
    competitions.change_competition(competition=pets, user=ada, daily_attempts=7)
    roles.give_role(role=HostingRole.HOST, competition=pets, name="cy", user=ada)
    page = text_of(signed_in(ada).get("/host/pets/audit/"))
    limit = "Attempts per team per day : 5 → became 7"
    for words in ("Settings changed", limit, "Host added", "ground truth 1", "ada", "cy"):
        assert words in page
    cy.delete()
    assert f"deleted account {cy.pk or ''}".strip() in text_of(signed_in(ada).get("/host/pets/audit/"))


def test_teams_and_their_people_are_read_by_todays_names(pets: Competition, ada: User, bo: User, cy: User) -> None:
    mine, theirs = enter(pets, bo), enter(pets, cy)
    extensions.disqualify_team(team=theirs.team, user=ada, reason="Copied.")
    extensions.readmit_team(team=theirs.team, user=ada)
    gone = theirs.team_id
    joining.move_student(membership=theirs, team=mine.team, user=ada)
    teams.rename_team(membership=mine, name="Rockets")
    page = text_of(signed_in(ada).get("/host/pets/audit/"))
    assert "Student moved to another team Rockets cy" in page
    assert f"Team : team {gone} → became Rockets" in page
    assert f"Team disqualified team {gone}" in page, "it is no more"
    assert " #" not in page


def test_long_trails_come_in_pages(pets: Competition, ada: User) -> None:
    for number in range(60):
        competitions.change_competition(competition=pets, user=ada, daily_attempts=10 + number)
    client = signed_in(ada)
    assert ": 68 → became 69" in text_of(client.get("/host/pets/audit/"))
    assert "Competition created" in text_of(client.get("/host/pets/audit/?page=2"))


def test_the_audit_log_of_a_competition_is_its_hosts_alone(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    hal = person("hal", can_host=True)
    make_competition(hal, slug="other", title="Hal's own")
    assert signed_in(bo).get("/host/pets/audit/").status_code == 404
    assert signed_in(hal).get("/host/pets/audit/").status_code in (302, 404)
    assert "Hal's own" not in text_of(signed_in(ada).get("/host/pets/audit/"))


def test_the_admin_shows_the_audit_log_and_edits_nothing(pets: Competition, ada: User, olga: User) -> None:
    make_competition(person("hal", can_host=True), slug="other", title="Hal's own")
    ada.is_staff = True
    ada.save()
    theirs = AuditEntry.objects.exclude(competition=pets.pk).first()
    assert theirs is not None
    for user, sees in ((olga, True), (ada, False)):
        client = signed_in(user)
        assert "Answers published" in text_of(client.get("/admin/common/auditentry/"))
        assert (client.get(f"/admin/common/auditentry/{theirs.pk}/change/").status_code == 200) is sees
        mine = AuditEntry.objects.filter(competition=pets.pk).first()
        assert mine is not None
        assert client.post(f"/admin/common/auditentry/{mine.pk}/change/", {"about": "x"}).status_code == 403
        assert client.post(f"/admin/common/auditentry/{mine.pk}/delete/", {"post": "yes"}).status_code == 403
        assert client.get("/admin/common/auditentry/add/").status_code == 403


def test_rights_are_in_the_audit_log(olga: User, bo: User) -> None:
    client = signed_in(olga)
    fields = {"username": "bo", "is_active": "on", "is_superuser": "on", "is_staff": "on", "email": bo.email}
    client.post(f"/admin/accounts/user/{bo.pk}/change/", fields)
    entry = AuditEntry.objects.get()
    assert (entry.event, entry.by, entry.account) == (AuditEvent.RIGHTS_CHANGED, olga.pk, bo.pk)
    assert entry.changes == [("is_staff", False, True), ("is_superuser", False, True)]


def test_the_first_operator_is_in_the_audit_log(client: Client, db: None) -> None:
    secret = SetupLink.issue()
    given = {"username": "olga", "email": "olga@example.org", "password": "a-long-one-4711"}
    client.post(f"/setup/{secret}/", given)
    operator = User.objects.get()
    entry = AuditEntry.objects.get()
    assert (entry.event, entry.by) == (AuditEvent.RIGHTS_CHANGED, operator.pk)
    assert ("is_superuser", False, True) in entry.changes
