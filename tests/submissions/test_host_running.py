"""While it runs: submissions with both scores, baselines, the board as a file, the reveal."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.classroom import extensions
from leaderboard.common.storage import path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Baseline, Competition, Limits, Submission
from leaderboard.submissions import services as submission_services
from leaderboard.submissions import submitting
from tests.conftest import answers, close, enter, person, submit
from tests.pages import drawing_of, signed_in, text_of, upload


def test_ada_sees_all_files_with_both_scores_and_every_problem(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    enter(pets, bo)
    enter(pets, cy)
    submit(pets, bo, answers(public=1, private=2), note="forest")
    submit(pets, cy, b"id,label\n1,cat\n77,cat\n", file_name="broken.csv")
    client = signed_in(ada)
    page = text_of(client.get("/host/pets/submissions/"))
    assert "0.833" in page
    assert "0.667" in page
    assert "forest" in page
    assert "2 problems" in page
    only_bad = text_of(client.get("/host/pets/submissions/?status=invalid"))
    assert "broken.csv" in only_bad
    assert "forest" not in only_bad
    assert "broken.csv" not in text_of(client.get("/host/pets/submissions/?q=bo"))
    assert "None of these" in text_of(client.get("/host/pets/submissions/?status=failed&q=%00x"))


def test_ada_sorts_the_files_by_any_column(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo)
    enter(pets, cy)
    submit(pets, cy, answers(public=1, private=2), file_name="b.csv")
    submit(pets, bo, answers(public=2, private=1), file_name="c.csv")
    submit(pets, bo, b"id,label\n1,cat\n77,cat\n", file_name="a.csv")
    client = signed_in(ada)

    def order(sort: str) -> str:
        page = client.get("/host/pets/submissions/", {"sort": sort} if sort else {}).content.decode()
        return "".join(re.findall(r"([abc])\.csv\s*</a>", page))

    assert (order(""), order("nonsense"), order("received")) == ("acb", "acb", "bca")
    assert (order("file"), order("-file")) == ("abc", "cba")
    assert (order("public"), order("-public")) == ("cba", "bca"), "files without a score stay last"
    assert (order("private"), order("-private")) == ("bca", "cba")
    assert (order("team"), order("-status")[-1]) == ("acb", "a")


def test_submissions_come_in_pages(pets: Competition, ada: User, bo: User, settings: LazySettings) -> None:
    Limits.objects.update(daily_attempts=100)
    pets.refresh_from_db()
    enter(pets, bo)
    for number in range(52):
        submitting.submit_file(
            competition=pets, user=bo, file_name=f"f{number}.csv", chunks=[answers() + b"\n" * number], note=""
        )
    client = signed_in(ada)
    assert "Page 1 of 2" in text_of(client.get("/host/pets/submissions/"))
    assert "f0.csv" in text_of(client.get("/host/pets/submissions/?page=2"))
    assert "Page 2 of 2" in text_of(client.get("/host/pets/submissions/?page=99"))


def test_ada_downloads_a_students_file_as_it_came(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submission = submit(pets, bo, answers(), file_name="<b>.csv")
    response = signed_in(ada).get(f"/c/pets/submissions/{submission.pk}/file/")
    assert b"".join(response) == answers()
    assert response["Content-Disposition"].startswith("attachment")
    assert response["X-Content-Type-Options"] == "nosniff"
    path_of(submission.file_key).unlink()
    assert signed_in(ada).get(f"/c/pets/submissions/{submission.pk}/file/").status_code == 404


def test_names_from_students_are_text_and_never_markup(pets: Competition, ada: User, bo: User) -> None:
    membership = enter(pets, bo)
    membership.team.name = "<script>alert(1)</script>"
    membership.team.save()
    submit(pets, bo, answers(), file_name="<img src=x>.csv", note="<b>note</b>")
    page = signed_in(ada).get("/host/pets/submissions/").content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "<b>note" not in page


def test_a_baseline_is_uploaded_scored_replaced_and_removed(
    pets: Competition, ada: User, work: Callable[[], int]
) -> None:
    client = signed_in(ada)
    assert client.post("/host/pets/baselines/", {"name": "Guess"}).status_code == 422
    sent = {"name": "Guess", "file": upload(answers(public=3), "g.csv")}
    assert client.post("/host/pets/baselines/", sent).status_code == 303
    first = Submission.objects.get(baseline__name="Guess")
    assert "Waiting" in text_of(client.get("/host/pets/baselines/"))
    work()
    page = text_of(client.get("/host/pets/baselines/"))
    assert re.search(r"Guess .{0,40}0\.500", page), page
    client.post("/host/pets/baselines/", {"name": "Guess", "file": upload(answers(), "h.csv")})
    assert Baseline.objects.count() == 1
    assert not path_of(first.file_key).exists()
    meant = {"action": "remove", "name": "Guess", "is_meant": "yes"}
    client.post("/host/pets/baselines/", meant)
    assert not Submission.objects.exists()
    assert client.post("/host/pets/baselines/", meant).status_code == 404


def test_a_baseline_needs_a_ground_truth(ada: User, pets: Competition) -> None:
    bare = competitions.create_competition(
        user=ada, slug="bare", title="Bare", opens_at=pets.opens_at, closes_at=pets.closes_at
    )
    response = signed_in(ada).post("/host/bare/baselines/", {"name": "x", "file": upload("id,y\n")})
    assert response.status_code == 409
    assert "Publish the answers first" in text_of(response)
    assert bare.baselines.count() == 0


def board(client: Client, which: str) -> list[str]:
    lines = client.get(f"/host/pets/board.csv?board={which}").content.decode().splitlines()[1:]
    return [",".join(line.split(",")[:3]) for line in lines]


def test_the_private_board_as_a_file_is_there_for_ada_before_the_reveal_and_equals_it(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    enter(pets, bo)
    enter(pets, cy)
    submit(pets, bo, answers(public=1, private=2))
    submit(pets, cy, answers(public=2, private=1))
    client = signed_in(ada)
    assert [line[:4] for line in board(client, "public")] == ["1,bo", "2,cy"]
    early = board(client, "private")
    assert [line[:4] for line in early] == ["1,cy", "2,bo"]
    close(pets)
    boards.reveal_competition(competition=pets)
    assert board(client, "private") == early


def test_a_team_name_is_no_formula_in_the_exported_board(pets: Competition, ada: User, bo: User) -> None:
    membership = enter(pets, bo)
    membership.team.name = "=1+1"
    membership.team.save()
    submit(pets, bo, answers())
    assert board(signed_in(ada), "public")[0].startswith("1,'=1+1")


def test_the_reveal_needs_the_deadline(pets: Competition, ada: User) -> None:
    client = signed_in(ada)
    assert 'href="/host/pets/deadline/"' in client.get("/host/pets/reveal/").content.decode()
    assert client.post("/host/pets/reveal/", {"action": "wait"}).status_code == 409
    assert client.post("/host/pets/reveal/", {"action": "end"}).status_code == 409
    assert client.post("/host/pets/reveal/", {"action": "whatever"}).status_code == 200
    assert Competition.objects.get().revealed_at is None
    close(pets)
    assert client.post("/host/pets/reveal/", {"action": "wait"})["Location"] == "/host/pets/reveal/"
    assert Competition.objects.get().revealed_at is not None
    assert "Open since" in text_of(client.get("/host/pets/reveal/"))


def test_the_reveal_waits_for_files_received_in_time(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()], note="")
    close(pets)
    client = signed_in(ada)
    assert "submission is still waiting for its score" in text_of(client.get("/host/pets/reveal/"))
    assert client.post("/host/pets/reveal/", {"action": "wait"}).status_code == 409


def test_before_the_reveal_ada_reads_what_is_open_and_the_board_that_would_open(
    pets: Competition, ada: User, bo: User, cy: User, dee: User
) -> None:
    eve, client = person("eve"), signed_in(ada)
    for user in (bo, cy, dee, eve):
        enter(pets, user)
    submit(pets, bo, answers(public=1))
    submit(pets, cy, answers(public=0, private=2))
    out = submit(pets, dee, answers())
    assert out.team is not None
    spare = submit(pets, bo, answers(public=0))
    extensions.disqualify_team(team=out.team, user=ada, reason="copied")
    submission_services.hide_submission(submission=spare, user=ada, reason="asked for")
    before = text_of(client.get("/host/pets/reveal/"))
    assert "Before you open it" not in before
    close(pets)
    with CaptureQueriesContext(connection) as queries:
        text = text_of(client.get("/host/pets/reveal/"))
    counted = "In the final ranking 2 Teams without a score 1 Hidden submissions 1"
    assert counted in text
    assert "dee : copied" in text or "dee: copied" in text
    assert "1 bo 2 ▲1 up 1 rank 1.000 chosen automatically 2 cy 1 ▼1 down 1 rank 0.667" in text.replace("’", "'")
    assert len(queries) <= 16, [query["sql"][:90] for query in queries]
    assert client.post("/host/pets/reveal/", {"action": "wait"}).status_code == 303
    assert board(client, "private")[0].startswith("1,bo")
    assert "Before you open it" not in text_of(client.get("/host/pets/reveal/"))


def test_who_would_rise_is_said_before_the_reveal_as_it_is_afterwards(
    pets: Competition, ada: User, bo: User, cy: User
) -> None:
    """Bo's best public file stands first until then, and another one of his decides: both boards show that one."""
    enter(pets, bo), enter(pets, cy)
    submit(pets, bo, answers(public=0, private=3))
    submit(pets, bo, answers(public=2, private=0))
    submit(pets, cy, answers(public=1, private=1))
    close(pets)
    client = signed_in(ada)
    text = text_of(client.get("/host/pets/reveal/")).replace("’", "'")
    assert "1 bo 2 ▲1 up 1 rank 1.000" in text
    boards.reveal_competition(competition=pets, user=ada)
    after = client.get("/c/pets/leaderboard/").content.decode()
    assert "bo: 2 → 1" in drawing_of(after, "slopes")


def test_the_dashboard_counts(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    submit(pets, bo, b"nonsense")
    page = text_of(signed_in(ada).get("/host/pets/"))
    assert "Students 1 Active today 1" in page
    assert "Submissions 2 Invalid 1" in page
