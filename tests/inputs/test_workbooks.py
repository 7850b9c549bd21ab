"""A workbook that wants too much, at the doors of students and hosts."""

from __future__ import annotations

import pytest

from leaderboard.accounts.models import User
from leaderboard.classroom import roster
from leaderboard.competitions.models import Competition, Submission
from leaderboard.competitions.services import CannotHost
from leaderboard.notifications.models import Notice
from metrics.tests.hostile_workbooks import FAR
from metrics.tests.test_workbooks import GOOD, workbook
from tests.conftest import enter, submit
from tests.ground_truths.test_truth import check
from tests.inputs.doors import attempts_used
from tests.pages import signed_in, text_of

pytestmark = pytest.mark.case(11)

SAYS = "Delete what lies far off the table, or save it as CSV."


@pytest.fixture
def far_away() -> bytes:
    return workbook(f'{GOOD}<row r="1048576"><c s="0" r="{FAR}"><v>1</v></c></row>')


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


def test_a_host_reads_why_a_class_list_cannot_be_used(pets: Competition, ada: User, far_away: bytes) -> None:
    with pytest.raises(CannotHost, match="damaged or too large"):
        roster.save_roster_draft(competition=pets, user=ada, file_name="class.xlsx", data=far_away)
