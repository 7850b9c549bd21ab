"""What students read where the board is hidden, on every page that shows a score, and that they can read no more."""

from __future__ import annotations

import io
import re
from datetime import timedelta
from zipfile import ZipFile

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from leaderboard.accounts.models import ApiToken, User
from leaderboard.boards import board_cache, standings
from leaderboard.boards import services as boards_services
from leaderboard.classroom import extensions, joining
from leaderboard.competitions.models import Competition, GroundTruth, Score, Submission
from leaderboard.ground_truths.services import drafts
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.submissions import services as submission_services
from tests.boards.test_hidden_board import file_with, hidden
from tests.conftest import close, enter, save_truth, submit
from tests.pages import save_settings, signed_in

pytestmark = pytest.mark.thorough

# What is different at each reading, scores or not.
PASSING = re.compile(
    rb'name="(?:csrfmiddlewaretoken|upload_key)" value="[^"]*"|(?<=">)[^<]*</time>|<code>\w{12}</code>'
)


class World:
    """A competition with two files of Bo and one of Cy, and everything that students and strangers can ask for."""

    def __init__(self, competition: Competition, bo: User, cy: User) -> None:
        self.competition, self.bo, self.cy = competition, bo, cy
        self.team = enter(competition, bo).team
        enter(competition, cy)
        self.first = submit(competition, bo, file_with(8, private=1), file_name="first.csv")
        self.others = submit(competition, cy, file_with(14, private=2), file_name="cys.csv")
        self.second = submit(competition, bo, file_with(7, private=3), file_name="second.csv")

    def scoring(self, submission: Submission, value: float) -> None:
        """Let a file have another public score, with the interval that goes with it."""
        Score.objects.filter(submission=submission, split="public").update(
            value=value, standard_error=value / 7, low=value - 0.01, high=value + 0.01
        )
        standings.rebuild_standings(GroundTruth.objects.select_related("competition").get())

    @cached_property
    def readers(self) -> list[tuple[str, Client, dict[str, str], list[str]]]:
        """Who reads, how, and what. Cy and strangers read boards."""
        at, files = f"/c/{self.competition.slug}/", (self.first, self.second)
        api = f"/api/v1/competitions/{self.competition.slug}"
        boards = ["/", at, f"{at}leaderboard/", f"{at}leaderboard/?board=private", f"{at}leaderboard/?q=bo"]
        own = [f"{at}submissions/{file.pk}/" for file in files] + [
            f"{at}submit/?submission={file.pk}" for file in files
        ]
        lists = [f"{at}submissions/", f"{at}submissions/?show=finals", f"{at}team/"]
        parts = [f"{at}leaderboard/", *(f"{at}submissions/{file.pk}/progress/" for file in files)]
        programs = [
            api,
            f"{api}/leaderboard",
            f"{api}/submissions",
            *(f"/api/v1/submissions/{one.pk}" for one in files),
        ]
        bo, cy = signed_in(self.bo), signed_in(self.cy)
        return [
            ("bo", bo, {}, [*boards, f"{at}leaderboard.csv", *own, *lists]),
            ("bo by htmx", bo, {"HX-Request": "true"}, parts),
            ("bo's program", Client(), {"Authorization": f"Bearer {ApiToken.issue(self.bo, 'x')[1]}"}, programs),
            ("cy", cy, {}, [*boards, *lists, own[0]]),
            ("nobody", Client(), {}, [*boards, f"{at}leaderboard.csv"]),
        ]

    def bytes_of_students(self) -> dict[str, bytes]:
        """Who and where → status, redirect and body."""
        board_cache.boards.clear()
        Competition.objects.update(board_version=10**6)
        found = {}
        for name, client, headers, paths in self.readers:
            for path in paths:
                answer = client.get(path, headers=headers)
                body = PASSING.sub(b"", answer.content)
                found[f"{name} {path}"] = b"%d %b %b" % (answer.status_code, answer.get("Location", "").encode(), body)
        return found


def stop_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are compared as of one moment, after the files came at their own."""
    now = timezone.now() + timedelta(minutes=1)
    monkeypatch.setattr(timezone, "now", lambda: now)


def world(ada: User, bo: User, cy: User, *, hides_scores: bool = True) -> World:
    return World(hidden(ada, hides_scores=hides_scores, is_listed=True, allows_late=True), bo, cy)


def differing(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    return [address for address, answer in first.items() if answer != second[address]]


# --- nothing can be read ----------------------------------------------------------------------------------------


@pytest.mark.attack("scores of a hidden board in pages, programs' answers and one's own data")
def test_other_scores_leave_every_byte_as_it_was(
    ada: User, bo: User, cy: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    pets = world(ada, bo, cy)
    stop_the_clock(monkeypatch)
    before = pets.bytes_of_students()
    assert any(b"second.csv" in answer for answer in before.values())
    for first, second in ((0.0, 1.0), (1.0, 0.0)):
        pets.scoring(pets.first, first)
        pets.scoring(pets.second, second)
        assert differing(before, pets.bytes_of_students()) == []


def test_the_comparison_would_find_a_leak(ada: User, bo: User, cy: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same change on an open board is seen on the board, in lists, on receipts and in the API."""
    pets = world(ada, bo, cy, hides_scores=False)
    stop_the_clock(monkeypatch)
    before = pets.bytes_of_students()
    pets.scoring(pets.second, 0.875)
    seen = " ".join(differing(before, pets.bytes_of_students()))
    for place in (
        "nobody /c/pets/leaderboard/",
        "leaderboard.csv",
        "pets/submissions/",
        f"{pets.second.pk}/",
        "/api/v1/",
    ):
        assert place in seen


def data_of(user: User) -> bytes:
    """Everything in the copy of a person's data."""
    answer = signed_in(user).post(reverse("my_data"))
    with ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as copy:  # type: ignore[attr-defined]
        return b"".join(copy.read(name) for name in copy.namelist())


def test_no_answer_before_the_reveal_has_a_score(ada: User, bo: User, cy: User) -> None:
    """A canary with digits that nothing else has; found everywhere once the board is open."""
    pets = world(ada, bo, cy)
    pets.scoring(pets.first, 0.8123456789)
    pets.scoring(pets.second, 0.8234567891)
    canary = re.compile(rb"0[.]81234|0[.]82345|8234567|0[.]01111")
    assert not canary.search(data_of(bo))
    close(pets.competition)
    assert not [address for address, answer in pets.bytes_of_students().items() if canary.search(answer)]
    boards_services.reveal_competition(competition=pets.competition)
    assert canary.search(data_of(bo))
    found = " ".join(address for address, answer in pets.bytes_of_students().items() if canary.search(answer))
    for place in (
        "bo /c/pets/submissions/",
        f"bo /c/pets/submissions/{pets.second.pk}/",
        "program /api/v1/submissions",
    ):
        assert place in found


# --- what is said -----------------------------------------------------------------------------------------------


def text_of(client: Client, path: str, **headers: str) -> str:
    response = client.get(path, headers=headers)
    assert response.status_code in (200, 286), response
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_on_a_hidden_board_a_file_is_only_valid(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy)
    client = signed_in(bo)
    progress = text_of(client, f"/c/pets/submissions/{pets.second.pk}/progress/", **{"HX-Request": "true"})
    assert "Valid It counts. Scores and ranks are hidden" in progress
    assert "Rank 1" not in progress
    assert "Public hidden until the end" in text_of(client, f"/c/pets/submissions/{pets.second.pk}/")
    board = text_of(client, "/c/pets/leaderboard/")
    assert "Scores and ranks are hidden until the final ranking opens." in board
    assert "Rank Team Score" not in board
    assert client.get("/c/pets/leaderboard.csv").content.decode().splitlines()[1].startswith(",bo,,")


def test_baselines_stand_without_scores(ada: User, bo: User, cy: User) -> None:
    from leaderboard.submissions import score

    pets = world(ada, bo, cy)
    base = boards_services.add_baseline(
        competition=pets.competition, user=ada, name="All cats", file_name="b.csv", chunks=[file_with(11)]
    )
    score.score_one(base.pk)
    board_cache.boards.clear()
    assert re.search(r"◆ All cats Baseline", text_of(Client(), "/c/pets/leaderboard/"))


def test_a_late_file_says_nothing_before_the_end(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy)
    close(pets.competition)
    late = submit(pets.competition, bo, file_with(0))
    page = text_of(signed_in(bo), f"/c/pets/submit/?submission={late.pk}")
    assert "Late: scored but not ranked" in page
    assert "1.000" not in page


def test_nobody_is_told_which_files_would_be_picked_before_the_end(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy)
    page = text_of(signed_in(bo), "/c/pets/submissions/")
    assert "Automatic" not in page
    assert "If you don't choose, your best public submissions are used" in page
    submission_services.select_finals(
        competition=pets.competition, user=bo, submission_ids=[str(pets.second.pk)], at=timezone.now()
    )
    finals = text_of(signed_in(bo), "/c/pets/submissions/?show=finals")
    assert "second.csv" in finals
    assert "first.csv" not in finals


def test_a_team_mate_and_a_former_one_read_no_more_than_the_team(ada: User, bo: User, cy: User, dee: User) -> None:
    pets = world(ada, bo, cy)
    joining.accept_rules(membership=joining.join_by_invitation(user=dee, invitation=pets.team.invitation))
    assert "hidden until the end" in text_of(signed_in(dee), f"/c/pets/submissions/{pets.second.pk}/")
    pets.competition.hosts.add(dee)
    dee.memberships.all().delete()
    assert "0.825" in text_of(signed_in(dee), f"/c/pets/submissions/{pets.second.pk}/")
    pets.competition.hosts.remove(dee)
    assert signed_in(dee).get(f"/c/pets/submissions/{pets.second.pk}/").status_code in (302, 404)


def test_ada_sees_exact_values_on_her_pages(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy)
    hers = signed_in(ada)
    assert "0.825" in text_of(hers, "/host/pets/submissions/")
    assert "0.825" in text_of(hers, f"/c/pets/submissions/{pets.second.pk}/")
    assert "\n1,bo,0.825," in hers.get("/host/pets/board.csv?board=public").content.decode().replace("\r", "")


def test_programs_read_what_pages_show(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy)
    headers = {"Authorization": f"Bearer {ApiToken.issue(bo, 'x')[1]}"}

    def read(path: str) -> dict[str, object]:
        found: dict[str, object] = Client().get(f"/api/v1/{path}", headers=headers).json()
        return found

    assert read("competitions/pets")["hides_scores"] is True
    second = read(f"submissions/{pets.second.pk}")
    assert (second["status"], second["public_score"], second["ground_truth"]) == ("scored", None, 1)
    items = read("competitions/pets/leaderboard")["items"]
    assert isinstance(items, list)
    assert [(row["rank"], row["team"], row["score"]) for row in items] == [(None, "bo", None), (None, "cy", None)]


# --- the host's form --------------------------------------------------------------------------------------------


def test_ada_hides_the_board_in_the_settings_and_the_overview_says_so(ada: User) -> None:
    pets = hidden(ada, hides_scores=False, is_listed=True)
    assert "No scores until the end" not in text_of(Client(), "/c/pets/")
    assert save_settings(signed_in(ada), "pets", hides_scores="on").status_code == 303
    pets.board.refresh_from_db()
    assert pets.board.hides_scores
    assert "Public leaderboard Hidden No scores until the end" in text_of(Client(), "/c/pets/")


def test_log_loss_is_clipped_at_a_thousandth_unless_ada_says_otherwise(ada: User) -> None:
    hidden(ada, launched=False)
    page = signed_in(ada).get("/host/pets/truth/metric/?metric=log_loss").content.decode()
    assert re.search(r'name="param-clip" value="0.001"', page)
    assert "We suggest clipping at 0.001" in page
    truth = "id,y\n" + "".join(f"{row},{row % 2}\n" for row in range(40))
    save_truth(Competition.objects.get(), truth, metric="")
    draft = Competition.objects.get().truth_draft
    assert draft.params.get("clip", 0.001) == 0.001
    drafts.save_draft(
        competition=Competition.objects.get(), spec=GroundTruthSpec(metric="log_loss", params={"clip": 1e-15})
    )
    page = signed_in(ada).get("/host/pets/truth/metric/").content.decode()
    assert re.search(r'name="param-clip" value="1e-15"', page)


@pytest.mark.parametrize("hides_scores", [False, True])
def test_a_disqualified_team_reads_on_all_its_pages_that_nothing_of_it_counts(
    ada: User, bo: User, cy: User, *, hides_scores: bool
) -> None:
    """First marked, then disqualified, then let in again: what was picked is still there."""
    pond = world(ada, bo, cy, hides_scores=hides_scores)
    client, at = signed_in(bo), f"/c/{pond.competition.slug}"

    def read(path: str) -> str:
        return " ".join(re.sub(r"<[^>]+>", " ", client.get(at + path).content.decode()).split())

    client.post(f"{at}/finals/", {"final": [str(pond.first.pk)]})
    extensions.disqualify_team(team=pond.team, user=ada, reason="Copied.")
    for path in ("/submissions/", "/finals/"):
        page = read(path)
        assert "They count if your team is readmitted" in page
        assert "first.csv" in page
        assert "Only the chosen one counts" not in page
    assert "Attempts left" not in read("/submit/")
    assert "Best public not on the leaderboard" in read("/submit/")
    extensions.readmit_team(team=pond.team, user=ada)
    assert "Only the chosen one counts" in read("/finals/")
    assert "not on the leaderboard" not in read("/submissions/")
