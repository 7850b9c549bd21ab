"""Ada has files scored again that got no score, once what was to blame has been put right."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom import roles
from leaderboard.classroom.models import HostingRole
from leaderboard.common.models import AuditEntry
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, DailyAttempts, Submission
from leaderboard.ground_truths.services import publishing, rescoring
from leaderboard.insights import activity
from leaderboard.notifications.models import Notice
from leaderboard.operations import consistency
from leaderboard.submissions import claims, queue_health, score, scoring_again, submitting
from tests.conftest import TRUTH, answers, claim, close, enter, make_competition, person, save_truth, submit
from tests.pages import signed_in, text_of

ADDRESS = "/host/pets/submissions/again/"
Work = Callable[[], int]


def failed(pets: Competition, user: User, data: bytes | None = None) -> Submission:
    """A file that no scorer survived."""
    file = submitting.submit_file(competition=pets, user=user, file_name="mine.csv", chunks=[data or answers()])
    Submission.objects.filter(pk=file.pk).update(tries=5, deaths=3)
    claims.fail_if_spent(file.pk)
    file.refresh_from_db()
    assert file.status == "failed"
    return file


def used(user: User) -> int:
    return DailyAttempts.objects.get(team__memberships__user=user).used


def broken() -> dict[int, list[str]]:
    found = consistency.run_checks(seed=1, only={1, 3, 6, 7})
    return {one.number: list(one.examples) for one in found if not one.holds}


def test_a_failed_file_gets_its_score_by_the_time_it_came(pets: Competition, ada: User, bo: User, work: Work) -> None:
    enter(pets, bo)
    file = failed(pets, bo)
    close(pets)
    client = signed_in(ada)
    assert f"{ADDRESS}?file={file.pk}" in client.get(f"/host/pets/submissions/{file.pk}/").content.decode()
    page = client.get(f"{ADDRESS}?file={file.pk}")
    assert "Rescore 1 submission?" in text_of(page)
    assert "mine.csv" in text_of(page)
    assert used(bo) == 0
    assert client.post(ADDRESS, {"file": str(file.pk)})["Location"] == "/host/pets/submissions/"
    assert "1 submission is being rescored." in text_of(client.get("/host/pets/submissions/"))
    assert used(bo) == 1
    work()
    again = Submission.objects.get(pk=file.pk)
    assert (again.status, again.is_late, again.failure, again.received_at) == ("scored", False, "", file.received_at)
    Submission.objects.update(received_at=pets.closes_at - timedelta(hours=1))
    boards.reveal_competition(competition=pets, user=ada)
    assert "bo" in text_of(signed_in(bo).get("/c/pets/leaderboard/?board=private"))


def test_the_reveal_waits_for_a_file_that_is_scored_again(pets: Competition, ada: User, bo: User, work: Work) -> None:
    enter(pets, bo)
    file = failed(pets, bo)
    close(pets)
    client = signed_in(ada)
    assert f"{ADDRESS}?status=failed" in client.get("/host/pets/reveal/").content.decode()
    client.post(ADDRESS, {"file": str(file.pk)})
    with pytest.raises(competitions.CannotHost):
        boards.reveal_competition(competition=pets, user=ada)
    work()
    boards.reveal_competition(competition=pets, user=ada)


def test_a_whole_list_is_scored_again_and_what_has_a_score_is_left(
    pets: Competition, ada: User, bo: User, cy: User, work: Work
) -> None:
    enter(pets, bo), enter(pets, cy)
    good = submit(pets, bo, answers(public=1))
    failed(pets, bo), failed(pets, cy)
    submit(pets, cy, b"id,label\n1,cat\n")
    client = signed_in(ada)
    assert f"{ADDRESS}?status=failed&amp;q=" in client.get("/host/pets/submissions/?status=failed").content.decode()
    assert ADDRESS not in client.get("/host/pets/submissions/").content.decode()
    page = text_of(client.get(f"{ADDRESS}?status=failed&q=cy"))
    assert "Rescore 1 submission?" in page
    client.post(ADDRESS, {"status": "failed"})
    good.refresh_from_db()
    assert good.rescored_requested_at is None
    assert work() == 2
    assert sorted(Submission.objects.values_list("status", flat=True)) == ["invalid", "scored", "scored", "scored"]
    assert broken() == {}


def test_invalid_files_are_read_again_once_the_ground_truth_is_another(ada: User, bo: User, work: Work) -> None:
    pets = make_competition(ada, truth=TRUTH + "13,cat,Private\n")
    enter(pets, bo)
    file = submit(pets, bo, answers())
    assert file.status == "invalid"
    save_truth(pets, TRUTH)
    publishing.publish_draft(competition=pets, user=ada)
    work()
    rescoring.apply_candidate(competition=pets, user=ada)
    client = signed_in(ada)
    page = text_of(client.get(f"{ADDRESS}?status=invalid"))
    assert "An invalid submission stays invalid unless the answers or the metric have changed" in page
    client.post(ADDRESS, {"status": "invalid"})
    work()
    file.refresh_from_db()
    assert (file.status, file.problems) == ("scored", [])
    assert broken() == {}


def test_what_still_cannot_be_scored_costs_nothing(pets: Competition, ada: User, bo: User, work: Work) -> None:
    enter(pets, bo)
    submit(pets, bo, b"id,label\n1,cat\n")
    signed_in(ada).post(ADDRESS, {"status": "invalid"})
    work()
    assert Submission.objects.get().status == "invalid"
    assert DailyAttempts.objects.get().used == 0


def test_a_day_that_is_used_up_takes_one_more(ada: User, bo: User, work: Work) -> None:
    pets = make_competition(ada, daily_attempts=1)
    enter(pets, bo)
    file = failed(pets, bo)
    submit(pets, bo, answers(public=1))
    signed_in(ada).post(ADDRESS, {"file": str(file.pk)})
    work()
    assert used(bo) == 2
    assert "0 of 1" in text_of(signed_in(bo).get("/c/pets/submit/"))
    assert broken() == {}


def test_waiting_is_counted_from_the_host_and_not_from_the_receipt(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    file = failed(pets, bo)
    Submission.objects.update(received_at=timezone.now() - timedelta(hours=20))
    DailyAttempts.objects.update(day=(timezone.now() - timedelta(hours=20)).date())
    signed_in(ada).post(ADDRESS, {"file": str(file.pk)})
    for oldest in (queue_health.pending_files().oldest, activity.class_activity(pets, timezone.now()).oldest):
        assert oldest is not None
        assert oldest < 60
    assert broken() == {}


def test_the_team_is_told_and_the_audit_log_says_who_asked(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo), enter(pets, cy)
    file = failed(pets, bo)
    signed_in(ada).post(ADDRESS, {"file": str(file.pk)})
    assert [one.user for one in Notice.objects.filter(title="Your team's submissions are being rescored")] == [bo]
    entry = AuditEntry.objects.get(event="scored_again")
    assert (entry.by, entry.about) == (ada.pk, f"team #{file.team_id}")
    assert str(file.pk) in str(entry.after)
    assert "Failed submissions rescored" in text_of(signed_in(ada).get("/host/pets/audit/"))


def test_twice_is_once_and_a_scored_file_or_nonsense_is_refused(
    pets: Competition, ada: User, bo: User, work: Work
) -> None:
    enter(pets, bo)
    file = failed(pets, bo)
    client = signed_in(ada)
    client.post(ADDRESS, {"file": str(file.pk)})
    for sent in ({"file": str(file.pk)}, {"file": "x"}, {"status": "scored"}, {}):
        answer = client.post(ADDRESS, sent)
        assert answer.status_code == 409
        assert "All these submissions have scores." in text_of(answer)
    assert used(bo) == 1
    work()
    assert "Every submission has a score" in text_of(client.get(f"{ADDRESS}?file={file.pk}"))
    assert ADDRESS not in client.get(f"/host/pets/submissions/{file.pk}/").content.decode()


def test_an_assistant_may_and_a_foreign_file_is_not_there(pets: Competition, bo: User, cy: User) -> None:
    roles.give_role(competition=pets, name="cy", role=HostingRole.ASSISTANT)
    enter(pets, bo)
    file = failed(pets, bo)
    others = make_competition(person("hal", can_host=True), slug="other")
    hers = signed_in(cy)
    assert hers.get("/host/other/submissions/again/").status_code == 404
    assert scoring_again.submissions_without_score(others.submissions.all()).count() == 0
    assert (
        signed_in(others.hosts.get()).post("/host/other/submissions/again/", {"file": str(file.pk)}).status_code == 409
    )
    assert hers.post(ADDRESS, {"file": str(file.pk)}).status_code == 303


def test_after_the_reveal_the_page_warns_and_the_final_board_follows(
    pets: Competition, ada: User, bo: User, cy: User, work: Work
) -> None:
    enter(pets, bo), enter(pets, cy)
    submit(pets, cy, answers(private=2))
    file = failed(pets, bo)
    close(pets)
    Submission.objects.update(received_at=pets.closes_at - timedelta(hours=1))
    boards.reveal_competition(competition=pets, user=ada)
    client = signed_in(ada)
    assert "can change final ranks" in text_of(client.get(f"{ADDRESS}?file={file.pk}"))
    client.post(ADDRESS, {"file": str(file.pk)})
    work()
    board = text_of(signed_in(cy).get("/c/pets/leaderboard/?board=private"))
    assert "Your final rank 2nd of 2" in board


def test_the_page_asks_as_much_for_many_files_as_for_one(
    pets: Competition, ada: User, bo: User, django_assert_max_num_queries: object
) -> None:
    enter(pets, bo)
    for _ in range(5):
        submit(pets, bo, b"id,label\n1,cat\n")
    client = signed_in(ada)
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert "Rescore 5 submissions?" in text_of(client.get(f"{ADDRESS}?status=invalid"))


def test_scoring_again_is_safe_while_a_worker_holds_another_of_the_team(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    first = failed(pets, bo)
    second = submitting.submit_file(competition=pets, user=bo, file_name="b.csv", chunks=[answers(public=1)])
    assert claim(second.pk) is not None
    signed_in(ada).post(ADDRESS, {"file": str(first.pk)})
    assert score.score_one(first.pk) == "busy"
    assert broken() == {}


@pytest.mark.parametrize("status", ["pending", "invalid", "failed"])
def test_the_page_of_a_file_without_a_score_opens(pets: Competition, ada: User, bo: User, status: str) -> None:
    enter(pets, bo)
    if status == "pending":
        submitting.submit_file(competition=pets, user=bo, file_name="mine.csv", chunks=[answers()])
    elif status == "invalid":
        submit(pets, bo, b"id,label\n1,cat\n")
    else:
        failed(pets, bo)
    page = signed_in(ada).get(f"/host/pets/submissions/{Submission.objects.get().pk}/")
    assert page.status_code == 200
    assert ("Rescore" in text_of(page)) is (status != "pending")
