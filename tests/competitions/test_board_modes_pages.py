"""What students read on steady and hidden boards, on every page that shows a score, and that they can read no more.

Bo's first file shows 0.8 on a board with steps of 0.1; his second is no clear improvement.
"""

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
from leaderboard.classroom import extensions, joining
from leaderboard.competitions.models import Competition, GroundTruth, Score, Submission, TruthCheck, Uncertainty
from leaderboard.competitions.ranking import standings
from leaderboard.competitions.services import (
    boards as boards_services,
)
from leaderboard.competitions.services import competitions, submitting, truth_drafts
from leaderboard.competitions.views import board_cache
from tests.competitions.test_board_modes import file_with, steady
from tests.conftest import close, enter, hand_in, make_competition
from tests.pages import board_fact, drawing_of, signed_in, tidy

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
        self.first = hand_in(competition, bo, file_with(8, private=1), file_name="first.csv")
        self.others = hand_in(competition, cy, file_with(14, private=2), file_name="cys.csv")
        self.second = hand_in(competition, bo, file_with(7, private=3), file_name="second.csv")

    def scoring(self, submission: Submission, value: float) -> None:
        """Let a file have another exact public score, with the uncertainty that goes with it."""
        Score.objects.filter(submission=submission, split="public").update(value=value)
        Uncertainty.objects.filter(score__submission=submission, score__split="public").update(
            standard_error=value / 7, low=value - 0.01, high=value + 0.01
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


def world(ada: User, bo: User, cy: User, mode: str) -> World:
    return World(steady(ada, board_mode=mode, is_listed=True, allows_late=True), bo, cy)


def differing(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    return [address for address, answer in first.items() if answer != second[address]]


# --- nothing can be read ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "others"),
    [("steady", [(0.8, 0.0), (0.875, 0.9)]), ("hidden", [(0.0, 1.0), (1.0, 0.0)])],
)
def test_other_exact_scores_leave_every_byte_as_it_was(
    ada: User, bo: User, cy: User, mode: str, others: list[tuple[float, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steady: first files that round alike, second ones that are no clear improvement. Hidden: any scores."""
    pets = world(ada, bo, cy, mode)
    stop_the_clock(monkeypatch)
    before = pets.bytes_of_students()
    assert any(b"second.csv" in answer for answer in before.values())
    for first, second in others:
        pets.scoring(pets.first, first)
        pets.scoring(pets.second, second)
        assert differing(before, pets.bytes_of_students()) == []


def test_the_comparison_would_find_a_leak(ada: User, bo: User, cy: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same change on a plain board is seen on the board, in lists, on receipts and in the API."""
    pets = world(ada, bo, cy, "plain")
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


def test_no_answer_before_the_reveal_has_an_exact_score(ada: User, bo: User, cy: User) -> None:
    """A canary with digits that nothing else has; found everywhere once the board is open."""
    pets = world(ada, bo, cy, "steady")
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


def test_bo_reads_that_his_file_was_no_clear_improvement_and_what_it_needs(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy, "steady")
    page = text_of(signed_in(bo), f"/c/pets/submit/?submission={pets.second.pk}")
    assert "No clear improvement" in page
    assert "Rank 1 of 2" in page
    receipt = text_of(signed_in(bo), f"/c/pets/submissions/{pets.second.pk}/")
    assert "Public no clear improvement Shown score 0.8; it needed +0.1" in receipt
    assert "95 % interval" not in receipt


def test_bo_reads_his_shown_score_for_a_clear_improvement(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy, "steady")
    third = hand_in(pets.competition, bo, file_with(1))
    page = text_of(signed_in(bo), f"/c/pets/submit/?submission={third.pk}")
    assert "Compared with your best +0.1 better" in page
    assert "in 95 of 100 cases" not in page
    board = text_of(Client(), "/c/pets/leaderboard/")
    assert "Scores are rounded to 0.1 and change only for a clear improvement." in board
    assert re.search(r"1 (▲\d )?BO bo 0[.]9 3 ", board)


def test_a_team_at_the_end_of_the_scale_is_not_sent_after_what_no_file_can_reach(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy, "steady")
    hand_in(pets.competition, bo, file_with(3))  # shown 0.9, and 1 is not more than 0.1 better
    perfect = hand_in(pets.competition, bo, file_with(0))
    page = text_of(signed_in(bo), f"/c/pets/submit/?submission={perfect.pk}")
    assert "Even a perfect file" in page
    assert "better than 1" not in page


def test_on_a_hidden_board_a_file_is_only_valid(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy, "hidden")
    client = signed_in(bo)
    progress = text_of(client, f"/c/pets/submissions/{pets.second.pk}/progress/", **{"HX-Request": "true"})
    assert "Valid, and it counts." in progress
    assert "Rank 1" not in progress
    assert "Public hidden until the end" in text_of(client, f"/c/pets/submissions/{pets.second.pk}/")
    board = text_of(client, "/c/pets/leaderboard/")
    assert "Scores and ranks are hidden until the private leaderboard opens." in board
    assert "Rank Team Score" not in board
    assert client.get("/c/pets/leaderboard.csv").content.decode().splitlines()[1].startswith(",bo,,2,")


def test_baselines_are_rounded_on_a_steady_board_and_bare_on_a_hidden_one(ada: User, bo: User, cy: User) -> None:
    from leaderboard.competitions.scoring import score

    pets = world(ada, bo, cy, "steady")
    base = boards_services.add_baseline(
        competition=pets.competition, user=ada, name="All cats", file_name="b.csv", chunks=[file_with(11)]
    )
    score.score_submission(base.pk)
    board_cache.boards.clear()
    assert re.search(r"◆ All cats 0[.]7 ", text_of(Client(), "/c/pets/leaderboard/"))
    competitions.change_competition(competition=pets.competition, board_mode="hidden")
    assert re.search(r"◆ All cats Baseline", text_of(Client(), "/c/pets/leaderboard/"))


def test_charts_show_scores_of_a_steady_board_as_its_table_does(ada: User, bo: User, cy: User) -> None:
    """0.8 and 1, and never 0.80000, which no file scored."""
    pets = world(ada, bo, cy, "steady")
    hand_in(pets.competition, bo, file_with(0))
    submissions, board = "/c/pets/submissions/", "/c/pets/leaderboard/?view="
    mine = drawing_of(signed_in(bo).get(submissions).content.decode(), "history")
    assert len(re.findall(r'class="dot', mine)) == 2
    for view, kind in (("time", "race"), ("distribution", "histogram")):
        page = signed_in(bo).get(board + view).content.decode()
        assert f'class="chart {kind}"' in page
        assert "0.825" not in page
    assert "ranges" not in signed_in(bo).get(board + "distribution").content.decode(), "ranges follow from exact scores"


def test_a_late_file_says_nothing_before_the_end(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy, "steady")
    close(pets.competition)
    late = hand_in(pets.competition, bo, file_with(0))
    page = text_of(signed_in(bo), f"/c/pets/submit/?submission={late.pk}")
    assert "You'll see its score when the private leaderboard opens" in page
    assert "1.00000" not in page


def test_nobody_is_told_which_files_would_be_picked_before_the_end(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy, "steady")
    page = text_of(signed_in(bo), "/c/pets/submissions/")
    assert "Automatic" not in page
    assert "If you don't choose, your best public submissions are used" in page
    submitting.select_finals(
        competition=pets.competition, user=bo, submission_ids=[str(pets.second.pk)], at=timezone.now()
    )
    finals = text_of(signed_in(bo), "/c/pets/submissions/?show=finals")
    assert "second.csv" in finals
    assert "first.csv" not in finals


def test_a_team_mate_and_a_former_one_read_no_more_than_the_team(ada: User, bo: User, cy: User, dee: User) -> None:
    pets = world(ada, bo, cy, "steady")
    joining.accept_rules(membership=joining.join_by_invitation(user=dee, invitation=pets.team.invitation))
    assert "no clear improvement" in text_of(signed_in(dee), f"/c/pets/submissions/{pets.second.pk}/")
    pets.competition.hosts.add(dee)
    dee.memberships.all().delete()
    assert "0.825" in text_of(signed_in(dee), f"/c/pets/submissions/{pets.second.pk}/")
    pets.competition.hosts.remove(dee)
    assert signed_in(dee).get(f"/c/pets/submissions/{pets.second.pk}/").status_code in (302, 404)


def test_ada_sees_exact_values_on_her_pages(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy, "hidden")
    hers = signed_in(ada)
    assert "0.82500" in text_of(hers, "/host/pets/submissions/")
    assert "0.825" in text_of(hers, f"/c/pets/submissions/{pets.second.pk}/")
    assert "\n1,bo,0.825,2," in hers.get("/host/pets/board.csv?board=public").content.decode().replace("\r", "")


def test_programs_read_what_pages_show(ada: User, bo: User, cy: User) -> None:
    pets = world(ada, bo, cy, "steady")
    headers = {"Authorization": f"Bearer {ApiToken.issue(bo, 'x')[1]}"}

    def read(path: str) -> dict[str, object]:
        found: dict[str, object] = Client().get(f"/api/v1/{path}", headers=headers).json()
        return found

    about = read("competitions/pets")
    assert (about["board_mode"], about["board_step"]) == ("steady", 0.1)
    assert read(f"submissions/{pets.first.pk}")["public_score"] == 0.8
    second = read(f"submissions/{pets.second.pk}")
    assert (second["status"], second["public_score"], second["ground_truth"]) == ("scored", None, 1)
    competitions.change_competition(competition=pets.competition, board_mode="hidden")
    items = read("competitions/pets/leaderboard")["items"]
    assert isinstance(items, list)
    assert [(row["rank"], row["team"], row["score"]) for row in items] == [(None, "bo", None), (None, "cy", None)]


# --- the host's form --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "is_offered"), [(0.03, True), (0.05, False), (None, False)])
def test_steady_is_offered_where_it_would_show_progress(ada: User, step: float | None, is_offered: bool) -> None:
    pets = make_competition(ada, board_mode="plain")
    check = TruthCheck.objects.get()
    scores = [{"values": {"public": {"value": value}}} for value in (0.1, 0.2, 1.0)]
    check.report |= {"apart": {"public": step} if step else {}, "baselines": scores}
    check.save()
    client = signed_in(ada)
    shown = client.get("/host/pets/settings/").context["form"]
    assert ("steady" in dict(shown.fields["board_mode"].choices)) == is_offered
    data = {name: value for name, value in shown.initial.items() if value not in (None, False)}
    sent = client.post("/host/pets/settings/", {**data, "board_mode": "steady"})
    assert sent.status_code == (303 if is_offered else 422)
    pets.board.refresh_from_db()
    assert pets.board.mode == ("steady" if is_offered else "plain")
    client.post("/host/pets/settings/", {**data, "board_mode": "hidden"})
    pets.board.refresh_from_db()
    assert pets.board.mode == "hidden"


def test_ada_is_told_that_a_steady_board_has_no_step(ada: User) -> None:
    steady(ada, board_step=None)
    assert "no rounding step could be calculated for these answers" not in text_of(signed_in(ada), "/host/pets/")
    GroundTruth.objects.update(step=None)
    assert "The leaderboard shows no scores" in text_of(signed_in(ada), "/host/pets/")


def test_the_overview_says_how_scores_are_shown(ada: User) -> None:
    pets = steady(ada, is_listed=True)
    for mode, words in (
        ("steady", "Public leaderboard rounded, step 0.1"),
        ("hidden", "Public leaderboard no scores until the end"),
    ):
        competitions.change_competition(competition=pets, board_mode=mode)
        assert words in text_of(Client(), "/c/pets/")
    competitions.change_competition(competition=pets, board_mode="plain")
    assert "Public leaderboard" not in text_of(Client(), "/c/pets/")


def test_the_settings_say_which_step_the_ground_truth_has(ada: User, bo: User) -> None:
    steady(ada, board_step=None)
    step = GroundTruth.objects.get().step
    assert f"Leave empty for {step:.12g}" in text_of(signed_in(ada), "/host/pets/settings/")


@pytest.mark.parametrize("step", ["0", "-0.1", "nan", "inf", "1e400", "much"])
def test_a_step_that_is_none_is_refused(ada: User, step: str) -> None:
    steady(ada)
    shown = signed_in(ada).get("/host/pets/settings/").context["form"]
    data = {name: value for name, value in shown.initial.items() if value not in (None, False)}
    response = signed_in(ada).post("/host/pets/settings/", {**data, "board_step": step})
    assert response.status_code == 422
    assert "board_step" in response.context["form"].errors
    assert Competition.objects.get().board.step == 0.1


def test_log_loss_is_clipped_at_a_thousandth_unless_ada_says_otherwise(ada: User) -> None:
    steady(ada, launched=False)
    page = signed_in(ada).get("/host/pets/truth/metric/?metric=log_loss").content.decode()
    assert re.search(r'name="param-clip" value="0.001"', page)
    assert "We suggest clipping at 0.001" in page
    truth = "id,y\n" + "".join(f"{row},{row % 2}\n" for row in range(40))
    truth_drafts.draft_truth(
        competition=Competition.objects.get(), metric="", params={}, file_name="t.csv", chunks=[truth.encode()]
    )
    draft = Competition.objects.get().truth_draft
    assert draft.params.get("clip", 0.001) == 0.001
    truth_drafts.draft_truth(competition=Competition.objects.get(), metric="log_loss", params={"clip": 1e-15})
    page = signed_in(ada).get("/host/pets/truth/metric/").content.decode()
    assert re.search(r'name="param-clip" value="1e-15"', page)


@pytest.mark.parametrize("mode", ["plain", "steady"])
def test_a_disqualified_team_reads_on_all_its_pages_that_nothing_of_it_counts(
    ada: User, bo: User, cy: User, mode: str
) -> None:
    """First marked, then disqualified, then let in again: what was picked is still there."""
    pond = steady(ada)
    competitions.change_competition(competition=pond, board_mode=mode)
    world = World(pond, bo, cy)
    client, at = signed_in(bo), f"/c/{pond.slug}"

    def read(path: str) -> str:
        return " ".join(re.sub(r"<[^>]+>", " ", client.get(at + path).content.decode()).split())

    client.post(f"{at}/finals/", {"final": [str(world.first.pk)]})
    extensions.disqualify_team(team=world.team, user=ada, reason="Copied.")
    for path in ("/submissions/", "/finals/"):
        page = read(path)
        assert "Your team is off the leaderboard, so its submissions don't count" in page
        assert "first.csv" in page
        assert "Your team chose" not in page
        assert "no clear improvement" not in page
        # A plain board keeps no score of a file back.
        assert ("Scored not on the leaderboard" in page) == (mode == "steady")
    receipt = read(f"/submissions/{world.first.pk}/")
    assert ("Public not on the leaderboard" in receipt) == (mode == "steady")
    assert "Attempts left" not in read("/submit/")
    assert "Best public not on the leaderboard" in read("/submit/")
    assert "Not on the leaderboard" in read(f"/submit/?submission={world.first.pk}")
    extensions.readmit_team(team=world.team, user=ada)
    assert "Your team chose 1 of 2" in read("/finals/")
    assert "not on the leaderboard" not in read("/submissions/")


def test_ones_own_chart_has_the_files_of_which_the_list_tells_a_score(ada: User, bo: User, cy: User) -> None:
    """A file that is no clear improvement has no score that its team may read, so it is drawn at none."""
    world = World(steady(ada), bo, cy)
    client, at = signed_in(bo), f"/c/{world.competition.slug}/submissions/"

    def drawn() -> int:
        page = client.get(at).content.decode()
        return drawing_of(page, "history").count('class="dot') if "chart history" in page else 0

    assert drawn() == 0, "one score is no course"
    hand_in(world.competition, bo, file_with(2))
    hand_in(world.competition, bo, file_with(3))
    assert drawn() == 2
    page = tidy(client.get(at).content.decode())
    assert page.count('<span class="muted tiny">no clear improvement</span>') == 2
    close(world.competition)
    boards_services.reveal_competition(competition=world.competition, user=ada)
    assert drawn() == 4


def test_a_team_reads_its_own_exact_scores_unless_the_host_hides_them(ada: User, bo: User, cy: User) -> None:
    """On its own pages and in programs; the board and everybody else keep to the steps."""
    world = World(steady(ada, is_listed=True, hides_own_scores=False), bo, cy)
    own = [
        f"/c/pets/submissions/{world.second.pk}/",
        "/c/pets/submissions/",
        f"/c/pets/submit/?submission={world.second.pk}",
    ]
    for path in own:
        assert "0.82500" in text_of(signed_in(bo), path) or "0.825 " in text_of(signed_in(bo), path), path
    assert board_fact(signed_in(bo).get(own[2]).content.decode(), "board-shows").startswith(
        "The leaderboard shows your team with 0.8, in steps of 0.1."
    )
    headers = {"Authorization": f"Bearer {ApiToken.issue(bo, 'x')[1]}"}
    assert Client().get(f"/api/v1/submissions/{world.second.pk}", headers=headers).json()["public_score"] == 0.825
    for who in (bo, cy):
        assert "0.825" not in text_of(signed_in(who), "/c/pets/leaderboard/")
    assert signed_in(cy).get(own[0]).status_code in (302, 404)
    competitions.change_competition(competition=world.competition, user=ada, hides_own_scores=True)
    for path in own:
        assert "0.825" not in text_of(signed_in(bo), path), path
    competitions.change_competition(
        competition=world.competition, user=ada, hides_own_scores=False, board_mode="hidden"
    )
    for path in own:
        assert "0.825" not in text_of(signed_in(bo), path), path


def test_a_hidden_file_is_called_neither_picked_nor_no_clear_improvement(ada: User, bo: User, cy: User) -> None:
    world = World(steady(ada), bo, cy)
    client, at = signed_in(bo), f"/c/{world.competition.slug}/submissions/"
    client.post(f"/c/{world.competition.slug}/finals/", {"final": [str(world.first.pk)]})
    competitions.hide_submission(submission=world.first, user=ada, reason="Copied.")
    page = client.get(at).content.decode()
    assert '<span class="muted tiny">not on the leaderboard</span>' in tidy(page)
    assert "Your team chose" not in page
    page = text_of(client, f"{at}{world.first.pk}/")
    assert "Public not on the leaderboard" in page
