"""What hosts do with programs, and who may not."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from leaderboard.accounts.models import ApiToken, User
from leaderboard.common.models import AuditEntry, AuditEvent
from leaderboard.competitions.models import Competition, TruthDraft
from leaderboard.grades import services as grade_services
from tests.conftest import TRUTH, answers, enter, make_competition, person, submit
from tests.submissions.test_scoring_again import failed

from .conftest import ROOT, Program

TOML = """title = "Birds"
slug = "birds"
opens_at = 2030-01-07T08:00:00
closes_at = 2030-02-04T23:59:00
"""
CORRECTED = TRUTH.replace("\n7,cat", "\n7,dog").encode()
STEPS = ("truth", "truth/publish", "launch", "rescoring/apply", "rescoring/discard", "files")


def zipped(**files: str | bytes) -> bytes:
    """A zip with these files; a name's `__` is a slash."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {"competition.toml": TOML, **files}.items():
            archive.writestr(name.replace("__", "/"), data)
    return held.getvalue()


@pytest.fixture
def adas(ada: User) -> Program:
    return Program(ada, ApiToken.Scope.HOST)


def test_ada_makes_a_draft_of_a_folder_checks_its_truth_publishes_and_launches(adas: Program, ada: User) -> None:
    files = {"overview.md": "Which bird?", "rules.md": "Be fair.", "data/train.csv": "id,x\n100,1\n"}
    status, output = adas.post("competitions", zipped(**files), name="birds.zip")
    assert (status, output["slug"], output["findings"]) == (201, "birds", [])
    assert adas.get("competitions/birds")[1]["state"] == "draft"
    status, output = adas.post("competitions/birds/launch")
    assert status == 409
    assert output["errors"]
    status, output = adas.post("competitions/birds/truth", TRUTH.encode(), metric="accuracy")
    assert (status, output["is_good"], output["metric"], output["public_rows"]) == (200, True, "accuracy", 6)
    status, output = adas.post("competitions/birds/truth/publish", note="first")
    assert (status, output["number"], output["becomes"], output["note"]) == (201, 1, "current", "first")
    status, output = adas.post("competitions/birds/launch")
    assert (status, output["state"]) == (200, "upcoming")
    assert AuditEntry.objects.get(event=AuditEvent.LAUNCHED).by == ada.pk


def test_a_correction_waits_is_looked_at_and_applied(
    adas: Program, pets: Competition, bo: User, cy: User, work: Callable[[], int]
) -> None:
    for user, wrong in ((bo, 0), (cy, 1)):
        enter(pets, user)
        submit(pets, user, answers(public=wrong))
    assert adas.get("competitions/pets/rescoring")[0] == 404
    assert adas.post("competitions/pets/truth", CORRECTED)[1]["metric"] == "accuracy"
    assert adas.post("competitions/pets/truth/publish")[1]["becomes"] == "candidate"
    assert adas.get("competitions/pets/rescoring")[1]["waiting"] == 2
    assert adas.post("competitions/pets/rescoring/apply")[0] == 409
    work()
    status, output = adas.get("competitions/pets/rescoring")
    assert (status, output["waiting"], output["affected"]) == (200, 0, 2)
    assert {move["team"]: move["score_then"] for move in output["moves"]} == {"bo": 5 / 6, "cy": 4 / 6}
    status, output = adas.post("competitions/pets/rescoring/apply", message="Row 7.", notifies="true")
    assert (status, output["number"], output["becomes"], output["notified"]) == (200, 2, "current", 2)


def test_a_discarded_correction_leaves_the_board_as_it_is(adas: Program, pets: Competition) -> None:
    assert adas.post("competitions/pets/rescoring/discard")[0] == 409
    adas.post("competitions/pets/truth", CORRECTED)
    adas.post("competitions/pets/truth/publish")
    status, output = adas.post("competitions/pets/rescoring/discard")
    assert (status, output["number"]) == (200, 1)


def test_a_new_truth_keeps_the_metric_with_its_parameters_and_what_stands_beside(adas: Program, ada: User) -> None:
    truth = "id,p,Usage\n" + "".join(f"{i},{i % 2},{'Public' if i < 7 else 'Private'}\n" for i in range(1, 13))
    make_competition(ada, slug="birds", truth=truth, metric="log_loss", params={"clip": 0.01})
    status, output = adas.post("competitions/birds/truth", truth.replace("\n3,1", "\n3,0").encode())
    assert (status, output["metric"], output["params"]["clip"]) == (200, "log_loss", 0.01)
    make_competition(ada, secondary=[("error_rate", {})])
    assert adas.post("competitions/pets/truth", CORRECTED)[0] == 200
    draft = TruthDraft.objects.get(competition__slug="pets")
    assert [one["key"].partition("@")[0] for one in draft.secondary] == ["error_rate"]


@pytest.mark.parametrize(
    ("form", "column"),
    [
        ({"metric": "no_such"}, "metric"),
        ({"params": "[1]"}, "params"),
        ({"params": "{" * 5000}, "params"),
        ({"params": '{"wings": 2}'}, "wings"),
        ({"public_share": "nan"}, "public_share"),
        ({"public_share": "1"}, "public_share"),
        ({"seed": "-1"}, "seed"),
    ],
)
def test_what_cannot_be_is_refused_by_name(adas: Program, pets: Competition, form: dict[str, str], column: str) -> None:
    status, output = adas.post("competitions/pets/truth", TRUTH.encode(), **form)
    assert (status, output["errors"][0]["column"]) == (422, column)


@pytest.mark.parametrize("who", ["bo", "otto", "ivy"])
@pytest.mark.parametrize("path", STEPS)
def test_whoever_is_no_host_of_it_finds_nothing_to_change(
    pets: Competition, bo: User, otto: User, who: str, path: str
) -> None:
    ivy = person("ivy")
    pets.assistants.add(ivy)
    enter(pets, bo)
    user = {"bo": bo, "otto": otto, "ivy": ivy}[who]
    before = AuditEntry.objects.count()
    status, output = Program(user, ApiToken.Scope.HOST).post(f"competitions/pets/{path}", CORRECTED)
    assert (status, output["errors"]) == (404, [])
    assert AuditEntry.objects.count() == before


def test_students_and_tokens_without_the_right_read_neither_corrections_nor_grades(
    pets: Competition, bo: User, ada: User
) -> None:
    enter(pets, bo)
    for path in ("competitions/pets/rescoring", "competitions/pets/grades"):
        assert Program(bo, ApiToken.Scope.HOST).get(path)[0] == 404
        assert Program(ada).get(path)[1]["errors"][0]["code"] == "scope"


def test_files_without_a_score_are_scored_again_by_whoever_runs_it(
    pets: Competition, ada: User, bo: User, cy: User, otto: User, work: Callable[[], int]
) -> None:
    ivy = person("ivy")
    pets.assistants.add(ivy)
    for user in (bo, cy):
        enter(pets, user)
        submit(pets, user, answers().replace(b"3,dog", b"3,"))
        failed(pets, user)
    bos = pets.submissions.get(user=bo, status="failed")
    path = "competitions/pets/submissions/again"
    for stranger in (bo, otto):
        assert Program(stranger, ApiToken.Scope.HOST).post(path, status="failed")[0] == 404
    assert Program(ada, ApiToken.Scope.SUBMIT).post(path, status="failed")[0] == 403
    ivys = Program(ivy, ApiToken.Scope.HOST)
    status, output = ivys.post(path)
    assert (status, output["errors"][0]["column"]) == (422, "status")
    assert ivys.post(path, status="scored")[0] == 422
    assert ivys.post(path, submissions="no-number")[0] == 422
    assert ivys.post(path, submissions=[str(bos.pk), str(UUID(int=7))]) == (200, {"number": 1})
    assert AuditEntry.objects.get(event=AuditEvent.SCORED_AGAIN).by == ivy.pk
    work()
    assert pets.submissions.get(pk=bos.pk).status == "scored"
    # Named files with a status: those of them that have it.
    assert ivys.post(path, submissions=[str(bos.pk)], status="invalid")[0] == 409
    assert ivys.post(path, status="invalid") == (200, {"number": 2})
    assert sorted(pets.submissions.values_list("status", flat=True)) == ["failed", "pending", "pending", "scored"]


def test_a_competition_comes_as_a_zip_for_its_hosts_alone(
    adas: Program, pets: Competition, ada: User, bo: User, otto: User
) -> None:
    ivy = person("ivy")
    pets.assistants.add(ivy)
    enter(pets, bo)
    path = "competitions/pets/export"
    for user in (bo, otto, ivy):
        assert Program(user, ApiToken.Scope.HOST).get(path)[0] == 404
    assert Program(ada).get(path)[1]["errors"][0]["code"] == "scope"
    answer = adas.client.get(ROOT + path, headers=adas.headers)
    assert (answer["Content-Type"], answer["Cache-Control"]) == ("application/zip", "private, no-store")
    data = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert "truth.csv" in zipfile.ZipFile(io.BytesIO(data)).namelist()
    Competition.objects.update(slug="old")
    assert adas.post("competitions", data, name="pets.zip")[1]["slug"] == "pets"


def test_who_may_not_host_creates_nothing(bo: User) -> None:
    assert Program(bo, ApiToken.Scope.HOST).post("competitions", zipped())[0] == 403
    assert not Competition.objects.exists()


def test_grades_come_as_a_file_once_there_are_rules(adas: Program, pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    status, output = adas.get("competitions/pets/grades")
    assert status == 409
    assert "rules" in output["detail"]
    term = {"name": "Rank", "of": "score", "steps": [[{"top": 50}, 100], [{"top": 100}, 80]]}
    values = {"title": "Pets", "terms": [term]}
    grade_services.set_grade_rules(graded=pets, values=values, user=ada)
    response = adas.client.get(ROOT + "competitions/pets/grades", {"kind": "moodle"}, headers=adas.headers)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert b"bo@example.org" in response.content
    assert adas.get("competitions/pets/grades?kind=abacus")[0] == 422


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK no zip", "isn't a ZIP file"),
        (b"", "isn't a ZIP file"),
        (zipped()[:-30], "isn't a ZIP file"),
        (zipped(**{"../evil": "x"}), "These files don't belong to a competition:"),
        (zipped(**{"/etc/evil": "x"}), "These files don't belong to a competition:"),
        (zipped(**{"data/../../evil": "x"}), "These files don't belong to a competition:"),
        (zipped(**{"data\\..\\evil": "x"}), "These files don't belong to a competition:"),
        (zipped(**{"data/..": "x"}), "These files don't belong to a competition:"),
        (zipped(**{"data/.": "x"}), "These files don't belong to a competition:"),
        (zipped(**{"data/a/b": "x"}), "These files don't belong to a competition:"),
        (zipped(**{"baselines/1": "x", "baselines/1/b.csv": "x"}), "These files don't belong to a competition:"),
        (zipped(**{"data/" + "é" * 150: "x"}), "These files don't belong to a competition:"),
        (zipped(**{"data/a.csv": "x", "data/A.csv": "y"}), "the same name"),
        (zipped(**{f"data/{number}": "x" for number in range(1001)}), "more than 1000 files"),
        (zipped(**{"competition.toml": "title ="}), "competition.toml isn't TOML"),
        (zipped(**{"competition.toml": "title = " + "[" * 100_000}), "nested too deeply"),
        (zipped(**{"competition.toml": "title = " + "1" * 5_000}), "competition.toml isn't TOML"),
        (zipped(**{"competition.toml": 'slug = "x"'}), "opens_at"),
        (zipped(**{"truth.csv": TRUTH}), "[metric] table"),
    ],
)
@pytest.mark.attack("brackets within brackets that break a page")
def test_a_zip_that_is_no_folder_of_ours_leaves_nothing(adas: Program, data: bytes, words: str) -> None:
    status, output = adas.post("competitions", data, name="birds.zip")
    assert status in (409, 422), output
    assert words in str(output) or (not data and output["errors"][0]["column"] == "file")
    assert "/tmp" not in str(output)
    assert not Competition.objects.exists()


def test_a_zip_that_swells_ends_at_a_limit(adas: Program, settings: object) -> None:
    settings.MAX_UPLOAD_BYTES = 200_000  # type: ignore[attr-defined]
    status, output = adas.post("competitions", zipped(**{"data/big.csv": b"0" * 2_000_000}))
    assert status == 409
    assert "larger than" in output["detail"]
    assert not Competition.objects.exists()


def test_a_slug_that_is_taken_is_said(adas: Program, ada: User) -> None:
    now = timezone.now()
    make_competition(ada, slug="birds", opens_at=now, closes_at=now + timedelta(days=1))
    status, output = adas.post("competitions", zipped())
    assert status == 409
    assert "slug" in str(output["errors"])
