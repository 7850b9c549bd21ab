"""The list of inputs through the site's own doors: the Submit page, and the check of a truth."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from django.utils.html import escape

from leaderboard import hosting, scoring, submitting
from leaderboard.models import Competition, Submission, TruthDraft, User
from tests.conftest import enter, make_competition
from tests.metrics.hostile import SECTIONS
from tests.metrics.hostile_case import NUMBERS, Case
from tests.web.test_host_truth import check
from tests.web.test_join import signed_in

SPLIT = NUMBERS.decode().replace("id,y", "id,y,Usage").replace("0.5", "0.5,Public").replace("1.5", "1.5,Private")
SPLIT = SPLIT.replace("-2", "-2,Private")
sections = pytest.mark.parametrize("section", SECTIONS)


def of_numbers(section: str) -> list[Case]:
    """The cases of a section for the common truth."""
    return [case for case in SECTIONS[section] if case.truth == NUMBERS and case.metric == "rmse"]


@sections
def test_a_file_is_scored_or_refused_in_the_same_words_as_at_home(
    ada: User, bo: User, monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    competition = make_competition(ada, truth=SPLIT, metric="rmse", daily_attempts=1000)
    enter(competition, bo)
    monkeypatch.setattr(submitting, "REFUSED_FILES_PER_DAY", 1000)
    client = signed_in(bo)
    for case in of_numbers(section):
        response = client.post("/c/pets/submit/", {"file": SimpleUploadedFile("mine.csv", case.data)})
        if not case.data:  # 1: the form itself says so
            assert response.status_code == 422, case.number
            assert "empty" in response.content.decode()
            continue
        assert response.status_code == 303, case.number
        submission = Submission.objects.latest("received_at")
        scoring.score(submission.pk)
        submission.refresh_from_db()
        codes = {problem["code"] for problem in submission.problems}
        assert submission.status == ("invalid" if case.codes else "scored"), case.number
        assert codes == case.codes, case.number
        page = client.get(f"/c/pets/submissions/{submission.pk}/").content.decode()
        for words in case.says:
            assert escape(words) in page, case.number
        assert "<img onerror" not in page
        assert "did not use an attempt" in page or not case.codes, case.number


@sections
def test_the_check_of_a_truth_says_what_blocks(ada: User, monkeypatch: pytest.MonkeyPatch, section: str) -> None:
    if section != "Lines and quotes":  # once is enough: which metrics fit is asked of each of them
        monkeypatch.setattr("leaderboard.hosting.drafts._fits", lambda draft: [])
    now = timezone.now()
    draft = hosting.create(
        user=ada, slug="pets", title="Pets", overview="?", opens_at=now, closes_at=now + timedelta(days=1)
    )
    client = signed_in(ada)
    for case in of_numbers(section):
        response = check(client, case.data, "rmse")
        if not case.data:
            assert response.status_code == 422, case.number
            continue
        assert response.status_code == 303, case.number
        report = TruthDraft.objects.get().report
        found = {finding["code"] for finding in report["findings"] if finding["blocking"]}
        # One blocking reason more than at home: both parts need a row.
        assert found - {"empty_split"} == case.blocking, case.number
        page = client.get("/host/pets/truth/").content.decode()
        assert ("can be published" in page) == report["ok"], case.number
    assert Competition.objects.get().pk == draft.pk
    assert not draft.ground_truths.exists()
