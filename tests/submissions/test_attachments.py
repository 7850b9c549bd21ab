"""Bo attaches the notebook behind a final submission; Ada takes all home and sees who has not; nothing is ever run."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.accounts.personal_data import delete_account, export_account
from leaderboard.classroom import extensions, joining, teams
from leaderboard.common import storage
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Attachment, BoardSettings, Competition, Limits, Submission
from leaderboard.ground_truths.services import folders
from leaderboard.notifications import events
from leaderboard.notifications.models import Notice
from leaderboard.operations.management.commands.sweep_files import sweep_files
from leaderboard.submissions import attachments, submit_conditions, submitting
from metrics.__main__ import main as score_at_home
from tests.conftest import answers, close, enter, make_competition, submit
from tests.pages import signed_in, tidy

NOTEBOOK = b'{"cells": []}'


@pytest.fixture
def pets(ada: User, bo: User, cy: User) -> Competition:
    """It requires attachments; Bo and Cy compete."""
    competition = make_competition(ada, attachments="required", daily_attempts=50)
    enter(competition, bo), enter(competition, cy)
    return competition


def post(
    client: Client, final: Submission, data: bytes = NOTEBOOK, name: str = "work.ipynb", declared: str = "pandas"
) -> HttpResponse:
    url = f"/c/{final.competition.slug}/submissions/{final.pk}/attachment/"
    return client.post(url, {"file": SimpleUploadedFile(name, data), "declared": declared})  # type: ignore[return-value]


def attach(final: Submission, user: User, data: bytes = NOTEBOOK, name: str = "work.ipynb") -> Attachment:
    return attachments.attach_file(
        submission=final, user=user, file_name=name, chunks=[data], declared="pandas, a friend's idea"
    )


def stored_attachments() -> list[str]:
    return [key for key, _ in storage.list_stored() if key.startswith("attachments/")]


def finals_page(user: User) -> str:
    return tidy(signed_in(user).get("/c/pets/finals/").content.decode())


# --- attaching --------------------------------------------------------------------------------------------------


def test_bo_attaches_a_notebook_and_reads_that_it_is_not_run(pets: Competition, bo: User) -> None:
    final = submit(pets, bo, answers(public=1))
    assert "still missing" in finals_page(bo)
    assert post(signed_in(bo), final).status_code == 303
    attachment = Attachment.objects.get()
    assert (attachment.submission, attachment.by, attachment.declared) == (final, bo, "pandas")
    page = finals_page(bo)
    assert "Attached, not run" in page
    assert "still missing" not in page
    assert "pandas" in page


def test_bo_and_the_host_get_the_file_as_it_was_and_others_get_none(
    pets: Competition, ada: User, bo: User, cy: User, dee: User
) -> None:
    final = submit(pets, bo, answers())
    url = f"/c/pets/submissions/{final.pk}/attachment/"
    assert signed_in(bo).get(url).status_code == 404
    attach(final, bo, b"<script>alert(1)</script>", "work.py")
    for user in (bo, ada):
        response = signed_in(user).get(url)
        assert response.getvalue() == b"<script>alert(1)</script>"
        assert response["Content-Disposition"] == 'attachment; filename="work.py"'
        assert (response["Content-Type"], response["X-Content-Type-Options"]) == ("application/octet-stream", "nosniff")
    for user in (cy, dee):
        assert signed_in(user).get(url).status_code in (403, 404)


@pytest.mark.attack("private scores, doubts, truth or foreign files in any answer")
def test_who_left_the_team_takes_along_no_work_that_it_attached_since(pets: Competition, bo: User, dee: User) -> None:
    """Bo's files stay with the team, and Dee attaches to one what Bo never had."""
    joining.join_by_invitation(user=dee, invitation=bo.memberships.get().team.invitation)
    joining.accept_rules(membership=dee.memberships.get())
    first, second = submit(pets, bo, answers(public=1)), submit(pets, bo, answers())
    attach(first, bo, b"# of bo")
    teams.leave_team(membership=bo.memberships.get())
    attach(second, dee, b"# of dee")
    assert taken_along(bo) == {b"# of bo"}
    assert taken_along(dee) == {b"# of bo", b"# of dee"}


def taken_along(user: User) -> set[bytes]:
    """The attachments in a person's own data."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        export_account(archive, account=user, at=timezone.now())
    with zipfile.ZipFile(content) as archive:
        texts = json.loads(archive.read("submissions.json"))
        names = [name for name in archive.namelist() if "/attachment/" in name]
        assert len(names) == sum(text["attachment"] is not None for text in texts)
        return {archive.read(name) for name in names}


def test_a_later_file_replaces_the_earlier_one(
    pets: Competition, bo: User, django_capture_on_commit_callbacks: object
) -> None:
    final = submit(pets, bo, answers())
    first = attach(final, bo)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        attach(final, bo, b"print()", "later.R")
    assert Attachment.objects.get().file_name == "later.R"
    assert stored_attachments() == [Attachment.objects.get().file_key] != [first.file_key]


@pytest.mark.parametrize(
    ("name", "data", "declared", "status"),
    [
        ("work.exe", NOTEBOOK, "none", 409),
        ("work", NOTEBOOK, "none", 409),
        (".ipynb", NOTEBOOK, "none", 409),
        ("work.ipynb", b"", "none", 422),
        ("work.ipynb", NOTEBOOK, " ", 422),
        ("work.zip", b"x" * 101, "none", 413),
    ],
)
def test_a_bad_file_gets_one_sentence_and_is_not_stored(
    pets: Competition, bo: User, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, declared: str, status: int
) -> None:
    monkeypatch.setattr(attachments, "MAX_ATTACHMENT_BYTES", 100)
    final = submit(pets, bo, answers())
    response = post(signed_in(bo), final, data, name, declared)
    assert response.status_code == status
    assert response.content.decode().count('class="error"') <= 1
    assert 'aria-invalid="true"' in response.content.decode()
    assert "At most 100 bytes." in response.content.decode()
    assert (Attachment.objects.count(), stored_attachments()) == (0, [])


def test_no_file_at_all_is_asked_for(pets: Competition, bo: User) -> None:
    final = submit(pets, bo, answers())
    response = signed_in(bo).post(f"/c/pets/submissions/{final.pk}/attachment/", {"declared": "none"})
    assert response.status_code == 422
    assert "Choose a file first" in response.content.decode()


def test_a_path_in_a_name_leads_nowhere(pets: Competition, bo: User) -> None:
    assert attach(submit(pets, bo, answers()), bo, name="../../etc/work.py").file_name == "work.py"
    (key,) = stored_attachments()
    assert key.startswith(f"attachments/{pets.pk}/")


def test_only_a_final_submission_takes_a_file(pets: Competition, bo: User) -> None:
    final, other = submit(pets, bo, answers()), submit(pets, bo, answers(public=1))
    bad = submit(pets, bo, b"id,label\n1,cat\n")
    Submission.objects.filter(pk=final.pk).update(is_selected=True)
    for submission in (other, bad):
        with pytest.raises(submit_conditions.SubmissionRefused, match="isn't a final submission"):
            attach(submission, bo)
    attach(final, bo)


def test_another_teams_submission_is_not_found(pets: Competition, ada: User, bo: User, cy: User) -> None:
    final = submit(pets, cy, answers())
    assert [post(signed_in(user), final).status_code for user in (ada, bo)] == [404, 404]
    with pytest.raises(submit_conditions.SubmissionRefused):
        attach(final, bo)
    assert stored_attachments() == []


def test_without_a_final_submission_the_page_says_so(pets: Competition, bo: User) -> None:
    assert "no final submission to attach it to" in finals_page(bo)


def close_hours_ago(pets: Competition, hours: float) -> None:
    close(pets)
    Competition.objects.update(
        opens_at=timezone.now() - timedelta(days=9), closes_at=timezone.now() - timedelta(hours=hours)
    )
    pets.refresh_from_db()


def test_the_time_to_attach_goes_on_after_the_deadline_and_ends(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    finals = {user: submit(pets, user, answers()) for user in (bo, cy)}
    close_hours_ago(pets, 47)
    assert post(signed_in(bo), finals[bo]).status_code == 303
    close_hours_ago(pets, 49)
    response = post(signed_in(cy), finals[cy])
    assert response.status_code == 409
    assert "The time to attach files is over" in response.content.decode()
    assert "<form" not in finals_page(cy).split('id="attachments"')[1]
    team = finals[cy].team
    assert team is not None
    extensions.grant_extension(team=team, user=ada, reason="Ill", closes_at=timezone.now() + timedelta(hours=1))
    assert post(signed_in(cy), finals[cy]).status_code == 303


def test_where_attachments_are_off_there_is_no_word_of_them(pets: Competition, ada: User, bo: User) -> None:
    final = submit(pets, bo, answers())
    Limits.objects.update(attachments="off")
    assert "ttach" not in finals_page(bo)
    assert "ttach" not in tidy(signed_in(ada).get("/host/pets/submissions/").content.decode())
    assert post(signed_in(bo), final).status_code == 409


def test_a_paused_or_disqualified_team_reads_why(pets: Competition, ada: User, bo: User) -> None:
    final = submit(pets, bo, answers())
    competitions.pause_competition(competition=pets, user=ada, reason="Power cut")
    with pytest.raises(submit_conditions.SubmissionRefused, match="Power cut"):
        attach(final, bo)


def test_attachments_count_among_the_bytes_of_a_team(pets: Competition, bo: User, settings: object) -> None:
    final = submit(pets, bo, answers())
    settings.TEAM_BYTES = 3_000_000  # type: ignore[attr-defined]
    attach(final, bo, b"x" * 2_000_000)
    with pytest.raises(submit_conditions.SubmissionRefused, match="limit"):
        submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[b"x" * 1_500_000])


def test_no_rank_depends_on_an_attachment(pets: Competition, bo: User, cy: User) -> None:
    submit(pets, bo, answers())
    attach(submit(pets, cy, answers(public=3)), cy)
    rows = signed_in(bo).get("/c/pets/leaderboard/").content.decode()
    assert rows.index(">bo<") < rows.index(">cy<")


# --- which teams have attached ----------------------------------------------------------------------------------


def test_a_team_has_attached_if_one_of_its_finals_has(pets: Competition, bo: User, cy: User) -> None:
    weak, strong = submit(pets, bo, answers(public=3)), submit(pets, bo, answers())
    submit(pets, cy, answers())
    attach(weak, bo)
    team = weak.team_id
    assert team is not None
    assert attachments.teams_with_attachment(competition=pets) == {team}
    Submission.objects.filter(pk=strong.pk).update(is_selected=True)
    assert attachments.teams_with_attachment(competition=pets) == set(), "the file behind it no longer decides"
    assert attachments.finals_without_attachment(pets)[team] == {strong.pk}


def test_a_hidden_board_tells_not_which_file_is_best(pets: Competition, bo: User) -> None:
    best, newest = submit(pets, bo, answers()), submit(pets, bo, answers(public=4), file_name="newest.csv")
    BoardSettings.objects.update(hides_scores=True)
    Limits.objects.update(final_count=1)
    page = finals_page(bo).split('id="attachments"')[1]
    assert (str(newest.pk) in page, str(best.pk) in page) == (True, False)
    assert post(signed_in(bo), best).status_code == 409
    assert post(signed_in(bo), newest).status_code == 303
    assert attachments.teams_with_attachment(competition=Competition.objects.get()) == {newest.team_id}


def test_ada_sees_who_attached_nothing_and_what_was_declared(pets: Competition, ada: User, bo: User, cy: User) -> None:
    attached, missing = submit(pets, bo, answers()), submit(pets, cy, answers())
    attach(attached, bo)
    hers = signed_in(ada)
    page = tidy(hers.get("/host/pets/submissions/").content.decode())
    assert ">1 of 2</a>" in page
    page = hers.get("/host/pets/submissions/?status=unattached").content.decode()
    assert (str(missing.pk) in page, str(attached.pk) in page) == (True, False)
    page = tidy(hers.get(f"/host/pets/submissions/{attached.pk}/").content.decode())
    assert "Attached, not run" in page
    assert "a friend&#x27;s idea" in page


# --- reminder ---------------------------------------------------------------------------------------------------


def reminders(user: User) -> list[Notice]:
    return list(Notice.objects.filter(user=user, key__startswith="attachment:"))


def test_who_attached_nothing_is_reminded_once_a_day_before_the_end(pets: Competition, bo: User, cy: User) -> None:
    attach(submit(pets, bo, answers()), bo)
    submit(pets, cy, answers())
    close_hours_ago(pets, 1)

    def notify(hours: float) -> int:
        events.notify_due(pets.closes_at + timedelta(hours=hours))
        return len(reminders(cy))

    assert [notify(hours) for hours in (23, 25, 26, 47, 49)] == [0, 1, 1, 1, 1]
    assert reminders(bo) == []
    assert reminders(cy)[0].link == "/c/pets/finals/#attachments"


@pytest.mark.parametrize("kind", ["off", "optional"])
def test_nobody_is_reminded_of_what_is_not_required(pets: Competition, cy: User, kind: str) -> None:
    submit(pets, cy, answers())
    Limits.objects.update(attachments=kind)
    close_hours_ago(pets, 1)
    events.notify_due(pets.closes_at + timedelta(hours=30))
    assert reminders(cy) == []


# --- the zip ----------------------------------------------------------------------------------------------------


def test_each_final_has_a_folder_whose_line_scores_it_at_home(
    pets: Competition,
    ada: User,
    bo: User,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    final = submit(pets, bo, answers(public=1, private=2), file_name="my best.csv")
    Submission.objects.filter(pk=final.pk).update(is_selected=True)
    submit(pets, bo, answers(public=5))
    attach(final, bo, b"print()", "../work of mine.py")
    response = signed_in(ada).post("/host/pets/submissions.zip")
    with zipfile.ZipFile(io.BytesIO(response.getvalue())) as archive:
        archive.extractall(tmp_path)
        names = archive.namelist()
    (line,) = [name for name in names if name.endswith("/score.txt")]
    folder = (tmp_path / line).parent
    assert sorted(path.name for path in folder.iterdir()) == [
        "attachment-work_of_mine.py", "score.txt", "submission-my_best.csv",
    ]  # fmt: skip
    assert (folder / "attachment-work_of_mine.py").read_bytes() == b"print()"
    monkeypatch.chdir(folder)
    words = shlex.split((folder / "score.txt").read_text())
    assert words[:3] == ["python", "-m", "metrics"]
    assert score_at_home([*words[3:], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    scores = {score.split: score.value for score in final.scores.all()}
    assert (printed["public"], printed["private"]) == (scores["public"], scores["private"])


def test_without_attachments_the_zip_holds_no_answers(pets: Competition, ada: User, bo: User) -> None:
    Limits.objects.update(attachments="off")
    submit(pets, bo, answers())
    response = signed_in(ada).post("/host/pets/submissions.zip")
    names = zipfile.ZipFile(io.BytesIO(response.getvalue())).namelist()
    assert len(names) == 2
    assert "truth.csv" not in names


# --- files and people -------------------------------------------------------------------------------------------


def test_the_nightly_sweep_keeps_attached_files_and_takes_those_without_a_row(pets: Competition, bo: User) -> None:
    kept = attach(submit(pets, bo, answers()), bo).file_key
    storage.store_file([b"orphan"], f"attachments/{pets.pk}")
    assert sweep_files(at=timezone.now() + timedelta(days=2)) == 1
    assert stored_attachments() == [kept]


def test_a_deleted_competition_takes_its_attachments_along(pets: Competition, bo: User) -> None:
    attach(submit(pets, bo, answers()), bo)
    competitions.delete_competition(competition=pets)
    assert (Attachment.objects.count(), stored_attachments()) == (0, [])


def test_the_setting_goes_with_an_export(pets: Competition, ada: User, tmp_path: Path) -> None:
    folders.export_folder(pets, tmp_path / "pets")
    competitions.delete_competition(competition=pets)
    again = folders.import_folder(tmp_path / "pets", user=ada)
    assert (again.limits.attachments, again.limits.attachment_hours) == ("required", 48)


def test_the_host_sets_it_under_dates_and_limits(ada: User) -> None:
    pets = make_competition(ada)
    page = signed_in(ada).get("/host/pets/settings/").content.decode()
    assert 'name="attachment_hours"' in page
    competitions.change_competition(competition=pets, user=ada, attachments="optional", attachment_hours=12)
    end: datetime = attachments.attachments_close_at(Competition.objects.get(), pets.closes_at)
    assert end - pets.closes_at == timedelta(hours=12)


def test_bo_takes_the_attachment_along_and_leaves_it_to_the_team_without_words(pets: Competition, bo: User) -> None:
    final = submit(pets, bo, answers())
    attach(final, bo, name="bo-berg.ipynb")
    response = signed_in(bo).post("/account/data/")
    with zipfile.ZipFile(io.BytesIO(response.getvalue())) as archive:
        assert archive.read(f"submissions/{final.pk}/attachment/bo-berg.ipynb") == NOTEBOOK
        (row,) = json.loads(archive.read("submissions.json"))
    assert row["attachment"]["declared"] == "pandas, a friend's idea"
    delete_account(account=bo, user=bo)
    attachment = Attachment.objects.get()
    assert (attachment.by, attachment.declared, attachment.file_name) == (None, "", "attachment.ipynb")
    assert stored_attachments() == [attachment.file_key]
