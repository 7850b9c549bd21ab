"""A workbook that wants too much, at the doors of students and hosts."""

from __future__ import annotations

from typing import Any

import pytest

from leaderboard.accounts.models import User
from leaderboard.classroom import roster
from leaderboard.competitions.models import Competition, Submission, TruthDraft
from leaderboard.competitions.services import CannotHost
from leaderboard.ground_truths.services.checks import column_names
from leaderboard.notifications.models import Notice
from leaderboard.scoring import table_jobs
from metrics.tests.hostile_workbooks import FAR
from metrics.tests.test_workbooks import GOOD, rows, with_states, workbook
from tests.conftest import answers, enter, save_truth, submit
from tests.ground_truths.test_truth import check
from tests.inputs.doors import attempts_used
from tests.pages import signed_in, text_of

pytestmark = pytest.mark.case(11)

SAYS = "Delete what lies far off the table, or save it as CSV."


@pytest.fixture
def far_away() -> bytes:
    return workbook(f'{GOOD}<row r="1048576"><c s="0" r="{FAR}"><v>1</v></c></row>')


@pytest.fixture
def with_notes() -> bytes:
    """A good file for the pets, on the second sheet, below a title."""
    rows_of_pets = [tuple(line.split(",")) for line in answers().decode().splitlines()]
    return with_states(workbook(rows(("other",)), rows(("Pets of spring",), (), *rows_of_pets)), S1="hidden")


def test_bo_reads_in_grey_how_his_workbook_was_read(pets: Competition, bo: User, with_notes: bytes) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, with_notes, file_name="mine.xlsx")
    assert submission.status == Submission.Status.SCORED
    assert [note["code"] for note in submission.warnings] == ["read_sheet", "read_header"]
    page = signed_in(bo).get(f"/c/pets/submissions/{submission.pk}/").content.decode()
    for words in ("The sheet &quot;S2&quot; of the Excel file was read.", "The header was found in row 3"):
        paragraph = page.partition(words)[0].rpartition("<p ")[2]
        assert "muted" in paragraph
        assert "warning break" not in paragraph


def test_ada_reads_in_grey_how_her_workbook_was_read(draft: Competition, ada: User) -> None:
    table = [(number, "cat" if number % 2 else "dog") for number in range(1, 41)]
    data = with_states(workbook(rows(("other",)), rows(("Pets of spring",), (), ("id", "label"), *table)), S1="hidden")
    page = signed_in(ada)
    shown = page.get(check(page, data).url, follow=True)
    found = shown.context["findings"]
    assert [note.finding["code"] for note in found.notes] == ["read_sheet", "read_header"]
    assert not found.errors
    assert "The header was found in row 3" in text_of(shown)
    assert column_names(TruthDraft.objects.get()) == ["id", "label"]


def test_a_students_file_is_invalid_and_free_and_no_host_is_told(
    pets: Competition, ada: User, bo: User, far_away: bytes
) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, far_away, file_name="mine.xlsx")
    assert submission.status == Submission.Status.INVALID
    assert [problem["message"].endswith(SAYS) for problem in submission.problems] == [True]
    assert attempts_used(bo) == 0
    assert not Notice.objects.filter(user=ada).exists()


def test_a_host_reads_why_an_answer_file_cannot_be_used(draft: Competition, ada: User, far_away: bytes) -> None:
    page = signed_in(ada)
    answer = check(page, far_away)
    assert SAYS in text_of(page.get(answer.url, follow=True))


def test_a_workbook_in_whose_hands_the_reader_dies_cannot_be_read(
    draft: Competition, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(job: str, **arguments: Any) -> Any:
        raise table_jobs.JobDied(f"{job} ended without an answer (status -9)")

    monkeypatch.setattr(table_jobs, "run_page_job", dies)
    with pytest.raises(CannotHost, match="can't be read"):
        save_truth(draft, workbook(GOOD))
    with pytest.raises(CannotHost, match="can't be read"):
        roster.save_roster_draft(competition=draft, user=ada, file_name="class.xlsx", data=workbook(GOOD))


def test_ada_reads_which_sheet_is_her_class_list(pets: Competition, ada: User) -> None:
    people = rows(("Class of spring",), (), ("Name", "E-mail"), ("Ida Berg", "ida@uni.example.org"))
    data = with_states(workbook(rows(("other",)), people), S1="veryHidden")
    draft = roster.save_roster_draft(competition=pets, user=ada, file_name="class.xlsx", data=data)
    preview = roster.preview_roster(pets, draft)
    assert [change.line.values["name"] for change in preview.new] == ["Ida Berg"]
    assert preview.notes[0] == 'The sheet "S2" of the Excel file was read.'


def test_a_host_reads_why_a_class_list_cannot_be_used(pets: Competition, ada: User, far_away: bytes) -> None:
    with pytest.raises(CannotHost, match="damaged or too large"):
        roster.save_roster_draft(competition=pets, user=ada, file_name="class.xlsx", data=far_away)
