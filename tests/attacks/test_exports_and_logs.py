"""What leaves the site in tables and logs: no formula, no forged line, no secret."""

from __future__ import annotations

import codecs
import csv
import io
import logging
import zipfile
from collections.abc import Iterator

import pytest
from django.db.models import CharField, Value
from django.db.models.functions import Cast, Concat
from django.test import Client

from leaderboard.accounts.models import ApiToken, User
from leaderboard.classroom import joining, roster_files, teams
from leaderboard.classroom.models import RosterEntry
from leaderboard.competitions.models import Admission, Competition, Submission, Team
from leaderboard.grades.models import Gradebook
from tests.conftest import answers, enter, submit
from tests.pages import signed_in

from .scene import Scene, addresses, ask, filled

pytestmark = pytest.mark.thorough

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1", "=cmd|' /C calc'!A0", '=HYPERLINK("https://evil.example")']


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.attack("formulas in exported tables")
def test_no_name_becomes_a_formula_in_a_table(pets: Competition, ada: User, bo: User, name: str) -> None:
    teams.rename_team(membership=enter(pets, bo), name=name)
    submit(pets, bo, answers(public=1), file_name=f"{name}.csv", note=name)
    Admission.objects.update(is_listed=True)
    host = signed_in(ada)
    cells = []
    for path in ("/c/pets/leaderboard.csv", "/host/pets/board.csv"):
        response = host.get(path)
        assert response.status_code == 200
        for row in csv.reader(io.StringIO(response.getvalue().decode("utf-8-sig"))):
            cells += row
    assert any(cell.lstrip("'\t") and name.strip()[1:] in cell for cell in cells), "the name is in no table"
    alive = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝")) and not is_number(cell)]
    assert alive == []


# Files that people handed in or uploaded, which come back byte for byte; a host's competition has its own files alone.
AS_THEY_CAME = {
    *("host_truth_file", "host_export", "api_export"),
    *("submission_file", "data_file", "data_zip", "sample_submission"),
}


def test_no_table_anywhere_on_the_site_holds_a_formula(scene: Scene) -> None:
    """Every address that answers with a table or an archive, after hostile people chose all the names there are."""
    bad = '=HYPERLINK("https://evil.example")'
    Team.objects.update(name=Concat(Value(bad), Cast("pk", CharField())))
    User.objects.update(first_name=bad, last_name="@SUM(1)")
    RosterEntry.objects.update(name=bad, section="-2+3", login="=1+1", student_id="@A1", sis_user_id="+A1")
    Submission.objects.update(note=bad, file_name=f"{bad}.csv")
    Gradebook.objects.all().delete()  # without one the file for Canvas asks for it
    tables = {
        where: [cell for row in csv.reader(io.StringIO(data.decode("utf-8-sig"))) for cell in row]
        for where, data in tables_of(scene)
    }
    assert len(tables) >= 6
    assert sum(any("HYPERLINK" in cell for cell in cells) for cells in tables.values()) >= 5, "the names are there"
    alive = {
        where: [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number(cell)]
        for where, cells in tables.items()
    }
    assert {where: cells for where, cells in alive.items() if any(len(cell) > 1 for cell in cells)} == {}


def tables_of(scene: Scene) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Every table that Ada can download: the name of its address with the kind of grades, and its bytes."""
    for address in addresses():
        if address.name in AS_THEY_CAME or address.name.startswith("admin:"):
            continue
        for kind in ("plain", "moodle", "brightspace") if "kind" in address.route else ("",):
            method = "POST" if address.name == "host_submissions_zip" else "GET"
            response = ask(scene, "ada", method, filled(address.route, {**scene.arguments, "kind": kind}))
            data = response.getvalue()
            if response.get("Content-Type", "").startswith("application/zip"):
                yield (address.name, kind), zipfile.ZipFile(io.BytesIO(data)).read("manifest.csv")
            elif response.get("Content-Type", "").startswith("text/csv"):
                yield (address.name, kind), data


def test_tables_for_people_open_right_in_excel_and_those_for_programs_have_no_mark(scene: Scene) -> None:
    marked = {where: data.startswith(codecs.BOM_UTF8) for where, data in tables_of(scene)}
    assert len(marked) >= 8
    assert marked == {(name, kind): not name.startswith("api_") for name, kind in marked}
    sample = ask(scene, "ada", "GET", "/c/secret/data/sample_submission.csv").getvalue()
    assert sample.startswith(b"id,label")


def test_a_class_list_may_be_a_file_of_grades(scene: Scene) -> None:
    Gradebook.objects.all().delete()
    for (name, kind), data in tables_of(scene):
        if name == "host_grade_file" and kind != "brightspace":
            titles = dict(roster_files.read_roster(roster_files.decode_roster(data)).columns)
            assert "email" in titles.values()


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# --- logs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["%0a", "%0d", "%0d%0a", "%e2%80%a8", "%1b[31m"])
@pytest.mark.attack("forged lines and secrets in logs")
def test_nobody_writes_a_line_of_the_log(client: Client, db: None, caplog: pytest.LogCaptureFixture, end: str) -> None:
    client.get(f"/nope{end}ERROR everything is fine")
    client.post("/accounts/login/", {"login": "x\nERROR fine", "password": "x\nERROR fine"})
    assert caplog.records
    assert [line for line in caplog.text.splitlines() if line.startswith("ERROR everything")] == []
    assert "\x1b[31m" not in caplog.text


def test_nobody_writes_a_line_of_the_log_where_a_page_breaks(
    db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: str) -> None:
        raise RuntimeError

    monkeypatch.setattr(joining, "competition_by_code", broken)
    client = Client(raise_request_exception=False)
    assert client.get("/join/A%0aERROR everything is fine/").status_code == 500
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) >= 2
    assert [message for message in messages if "\n" in message] == []


@pytest.mark.attack("forged lines and secrets in logs")
def test_secrets_are_in_no_log(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    password, wrong = "correct horse", "wrong-horse-4711"
    for given in (password, wrong):
        Client().post("/accounts/login/", {"login": "bo", "password": given})
    secret = ApiToken.issue(User.objects.get(username="bo"), "log")[1]
    bad = {"Authorization": f"Bearer {secret}x"}
    Client().get("/api/v1/competitions", headers={"Authorization": f"Bearer {secret}"})
    Client().get("/api/v1/competitions", headers=bad)
    for address in addresses():
        if not address.route.startswith("admin/"):
            ask(scene, "bo", "GET", filled(address.route, scene.arguments)).getvalue()
    session = scene.clients["bo"].cookies["sessionid"].value
    for word in (password, wrong, secret, scene.tokens["bo"], session, "truthcanary", "filecanary"):
        assert word not in caplog.text
