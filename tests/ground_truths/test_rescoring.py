"""A corrected ground truth as a class lives through it: who moves, words to those affected, before and after."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.common.models import AuditEntry
from leaderboard.competitions.models import Competition, Rescoring, Team
from leaderboard.ground_truths.services import publishing, rescoring
from leaderboard.ground_truths.views import answers as rescoring_page
from leaderboard.notifications.models import Notice
from leaderboard.submissions import outside_queue
from tests.conftest import TRUTH, answers, close, enter, make_competition, person, save_truth, submit
from tests.grades.test_services import set_rules
from tests.pages import signed_in, text_of

PAGE = "/c/pets/rescored/"
CANDIDATE = "/host/pets/truth/"
GRADES = "/host/pets/truth/grades/"


def correct(competition: Competition, ada: User, truth: str = TRUTH.replace("3,dog", "3,bird")) -> None:
    """Publish a corrected truth and measure everything with it."""
    save_truth(competition, truth)
    publishing.publish_draft(competition=competition, user=ada)
    assert competition.candidate_id
    outside_queue.rescore_batch(competition.candidate_id)


@pytest.fixture
def waiting(pets: Competition, ada: User, bo: User, cy: User, dee: User) -> Competition:
    """Cy wins by the corrected row 3, which he alone calls a bird; Dee has no file."""
    for user, wrong in ((bo, 1), (cy, 2), (dee, None)):
        enter(pets, user)
        if wrong:
            submit(pets, user, answers(public=wrong))
    correct(pets, ada)
    return pets


def test_the_host_reads_what_would_change(waiting: Competition, ada: User) -> None:
    text = text_of(signed_in(ada).get(CANDIDATE))
    assert "2 of 2 teams would change rank" in text
    assert "Teams affected 2 Rise 1 Fall 1 Unscorable submissions 0" in text
    assert "New leader: cy instead of bo." in text


def test_the_host_reads_whose_grades_it_would_touch(waiting: Competition, ada: User) -> None:
    set_rules(waiting)
    client = signed_in(ada)
    assert f'hx-get="{GRADES}"' in client.get(CANDIDATE).content.decode()
    with CaptureQueriesContext(connection) as queries:
        text = text_of(client.get(GRADES))
    assert "Affected grades 2 of 3 Better 1 Worse 1" in text
    assert "bo bo 83.3 66.7 Public score 0.667" in text
    assert "cy cy 66.7 83.3 Public score 0.833" in text
    assert len(queries) <= 12 + 3  # three of them look who asks


def test_the_grades_it_would_touch_follow_what_is_measured(
    waiting: Competition, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What pages are made of is stored until the board changes, but scores under a ground truth that waits change no
    board."""
    set_rules(waiting)
    rescoring.discard_candidate(competition=waiting)
    with monkeypatch.context() as patch:
        patch.setattr(outside_queue, "rescore_batch", lambda _: False)
        correct(waiting, ada)
    client = signed_in(ada)
    assert "Better 0 Worse 2" in text_of(client.get(GRADES))
    assert waiting.candidate_id
    outside_queue.rescore_batch(waiting.candidate_id)
    assert "Better 1 Worse 1" in text_of(client.get(GRADES))


def test_private_answers_touch_no_grade_before_the_deadline_and_do_after_it(
    pets: Competition, ada: User, bo: User
) -> None:
    set_rules(pets)
    enter(pets, bo)
    submit(pets, bo, answers(private=1))
    correct(pets, ada, TRUTH.replace("\n2,cat", "\n2,bird"))
    client = signed_in(ada)
    assert "Affected grades 0 of 1" in text_of(client.get(GRADES))
    assert "No points change" in text_of(client.get(GRADES)).replace("’", "'")
    close(pets)
    assert "Affected grades 1 of 1" in text_of(client.get(GRADES))


def test_without_saved_rules_no_grade_is_made_up(waiting: Competition, ada: User, bo: User) -> None:
    assert "No grade rules yet" in text_of(signed_in(ada).get(GRADES))
    assert signed_in(bo).get(GRADES).status_code in (403, 404)
    rescoring.discard_candidate(competition=waiting)
    assert signed_in(ada).get(GRADES).status_code == 302


def test_those_affected_are_told_in_the_hosts_words(waiting: Competition, ada: User, bo: User, dee: User) -> None:
    sent = {"action": "apply", "notifies": "on", "message": "Row 3 was wrong. Sorry!"}
    page = text_of(signed_in(ada).post(CANDIDATE, sent, follow=True))
    assert "2 people notified" in page
    assert set(Notice.objects.values_list("user__username", "text")) == {
        ("bo", "Row 3 was wrong. Sorry!"),
        ("cy", "Row 3 was wrong. Sorry!"),
    }
    notice = Notice.objects.get(user=bo)
    assert notice.link == PAGE
    entry = AuditEntry.objects.get(event="truth_applied")
    assert ("notified", None, 2) in entry.changes
    text = text_of(signed_in(bo).get(PAGE))
    assert "Answers no. 1" in text
    assert "Row 3 was wrong. Sorry!" in text
    assert "0.833 → then 0.667" in text
    assert "rank was 1 and is now 2 of 2" in text
    assert "No submission was rescored" not in text_of(signed_in(dee).get(PAGE))


def test_who_tells_nobody_tells_nobody(waiting: Competition, ada: User, bo: User) -> None:
    signed_in(ada).post(CANDIDATE, {"action": "apply"})
    assert not Notice.objects.exists()
    assert Rescoring.objects.count() == 1
    assert PAGE in signed_in(bo).get("/c/pets/submissions/").content.decode()


def test_who_handed_in_nothing_before_is_led_to_no_scores_before(waiting: Competition, ada: User, dee: User) -> None:
    signed_in(ada).post(CANDIDATE, {"action": "apply"})
    assert PAGE not in signed_in(dee).get("/c/pets/submissions/").content.decode()


def test_receipt_times_and_attempts_stay(waiting: Competition, ada: User) -> None:
    before = list(waiting.submissions.order_by("pk").values_list("pk", "received_at", "status"))
    signed_in(ada).post(CANDIDATE, {"action": "apply", "notifies": "on"})
    assert list(waiting.submissions.order_by("pk").values_list("pk", "received_at", "status")) == before


def test_before_anything_was_scored_anew_the_page_says_so(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    assert "No submission was rescored" in text_of(signed_in(bo).get(PAGE))
    assert PAGE not in signed_in(bo).get("/c/pets/submissions/").content.decode()


def test_a_discarded_one_leaves_no_trace_for_students(waiting: Competition, ada: User, bo: User) -> None:
    signed_in(ada).post(CANDIDATE, {"action": "discard", "notifies": "on", "message": "x"})
    assert not Rescoring.objects.exists()
    assert not Notice.objects.exists()
    assert "No submission was rescored" in text_of(signed_in(bo).get(PAGE))


def test_a_file_that_cannot_be_read_any_more_says_why(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    correct(pets, ada, TRUTH + "13,cat,Public\n")
    page = text_of(signed_in(ada).get(CANDIDATE))
    assert "1 submission can't be scored any more" in page
    assert "leaves the leaderboard" in page
    signed_in(ada).post(CANDIDATE, {"action": "apply", "notifies": "on"})
    assert Notice.objects.filter(user=bo).exists()
    assert "Can't be scored any more:" in text_of(signed_in(bo).get(PAGE))


def test_where_the_board_hides_scores_so_does_this_page(ada: User, bo: User, cy: User) -> None:
    pets = make_competition(ada, hides_scores=True)
    for user, wrong in ((bo, 1), (cy, 2)):
        enter(pets, user)
        submit(pets, user, answers(public=wrong))
    correct(pets, ada, TRUTH.replace("5,cat", "5,fish"))
    signed_in(ada).post(CANDIDATE, {"action": "apply", "notifies": "on"})
    assert Notice.objects.count() == 2  # all alike: who is notified tells nothing
    page = signed_in(bo).get(PAGE).content.decode()
    for exact in ("0.833", "0.667", "0.8333333", "0.6666666"):
        assert exact not in page


def test_private_scores_stay_closed_until_the_reveal(waiting: Competition, ada: User, bo: User) -> None:
    signed_in(ada).post(CANDIDATE, {"action": "apply"})
    assert "Private score" not in text_of(signed_in(bo).get(PAGE))
    close(waiting)
    boards.reveal_competition(competition=waiting)
    text = text_of(signed_in(bo).get(PAGE))
    assert "Private score" in text
    assert "1.000 → then 1.000" in text


def test_a_large_class_comes_in_pages_and_few_queries(pets: Competition, ada: User) -> None:
    for number in range(3):
        enter(pets, user := person(f"p{number}"))
        submit(pets, user, answers(public=number))
    correct(pets, ada)
    client = signed_in(ada)
    with pytest.MonkeyPatch.context() as patch, CaptureQueriesContext(connection) as queries:
        patch.setattr(rescoring_page, "MOVES_PER_PAGE", 2)
        first, second = (text_of(client.get(f"{CANDIDATE}?page={page}")) for page in (1, 2))
    assert len(queries) <= 2 * 16
    assert "Page 1 of 2" in first
    assert "Next page" in first
    assert "Previous page" in second
    names = list(Team.objects.values_list("name", flat=True))
    assert all((name in first.split("Movement")[1]) != (name in second.split("Movement")[1]) for name in names)
