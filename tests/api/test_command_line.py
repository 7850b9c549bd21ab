"""The command line against a real server: every command of its page, in the order of the page, and what it refuses."""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import re
import shlex
import stat
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from leaderboard.accounts.models import ApiToken, User
from leaderboard.competitions import services as competitions
from leaderboard.competitions import wake_ups
from leaderboard.competitions.models import Competition, Course, Limits, Submission
from leaderboard.grades import services as grade_services
from leaderboard.ground_truths.services import data_files
from leaderboard.site.api import host as api_host
from leaderboard.submissions import outside_queue, score
from tests.conftest import TRUTH, answer_forms_at_once, answers, close, enter, make_competition, submit
from tests.submissions.test_scoring_again import failed

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "leaderboard/operations/command_line.py"
PAGE = (ROOT / "docs/command-line.md").read_text()
TRAIN = b"id,x\n100,1\n"
RULES = {
    "title": "Birds",
    "terms": [{"name": "Rank", "of": "score", "steps": [[{"top": 50}, 100], [{"top": 100}, 80]]}],
}


@dataclass
class Output:
    code: int
    out: str
    err: str


@dataclass
class Terminal:
    """Somebody's terminal in a folder of their own, with the file that the site serves."""

    module: Any
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch
    token: str = ""

    def run(self, line: str) -> Output:
        self.monkeypatch.setenv("LEADERBOARD_TOKEN", self.token)
        self.monkeypatch.setattr("sys.argv", ["cli.py", *shlex.split(line)])
        try:
            code = self.module.main()
        except SystemExit as end:
            code = int(str(end.code))
        output = self.capsys.readouterr()
        return Output(code, output.out, output.err)


def scored_at_once(task: Any, *arguments: Any, **_: Any) -> None:
    if task == wake_ups.SCORE_NEXT_SUBMISSIONS:
        score.score_one(arguments[0])
    if task == wake_ups.RESCORE_CANDIDATE:
        outside_queue.rescore_batch(arguments[0])
    answer_forms_at_once(task, *arguments)


@dataclass
class ClockOfTheProgram:
    """Stands for the module `time` in the program alone: threads of the site wait as they would."""

    waits: list[float]
    monotonic: Callable[[], float] = time.monotonic

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture
def terminal(
    live_server: LiveServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Terminal:
    monkeypatch.setattr(wake_ups, "wake_workers", scored_at_once)
    served = tmp_path / "cli.py"
    served.write_bytes(
        Client().get("/cli.py", SERVER_NAME="localhost", SERVER_PORT=live_server.url.rpartition(":")[2]).content
    )
    spec = importlib.util.spec_from_file_location("served_cli", served)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(module, "time", ClockOfTheProgram([]))
    return Terminal(module, capsys, monkeypatch)


@pytest.fixture
def bos(terminal: Terminal, ada: User, bo: User, tmp_path: Path) -> Terminal:
    """Bo's terminal, in a competition that he entered."""
    pets = make_competition(ada)
    data_files.add_data_file(competition=pets, file_name="train é.csv", chunks=[TRAIN])
    enter(pets, bo)
    (tmp_path / "submission.csv").write_bytes(answers(public=1))
    terminal.token = ApiToken.issue(bo, "laptop")[1]
    return terminal


@pytest.fixture
def adas(terminal: Terminal, ada: User) -> Terminal:
    terminal.token = ApiToken.issue(ada, "laptop", ApiToken.Scope.HOST)[1]
    return terminal


def test_a_file_in_which_bo_wrote_something_is_never_overwritten(bos: Terminal, tmp_path: Path) -> None:
    assert bos.run("competitions download pets -p data").code == 0
    files = sorted((tmp_path / "data").iterdir())
    assert [file.name for file in files] == ["sample_submission.csv", "train é.csv"]
    for file in files:
        file.write_bytes(file.read_bytes() + b"mine\n")
    again = bos.run("competitions download pets -p data")
    assert again.code == 0
    assert again.out.count("exists and was kept") == 2
    assert all(file.read_bytes().endswith(b"mine\n") for file in files)
    files[1].unlink()
    bos.run("competitions download pets -p data")
    assert files[1].read_bytes() == TRAIN


def unscored(terminal: Terminal, competition: Competition, user: User) -> Submission:
    """A file that failed."""
    terminal.monkeypatch.setattr(wake_ups, "wake_workers", lambda *_, **__: None)
    file = failed(competition, user)
    terminal.monkeypatch.setattr(wake_ups, "wake_workers", scored_at_once)
    return file


def commands_of(title: str) -> list[str]:
    section = PAGE.partition(f"## {title}")[2].partition("\n## ")[0]
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", section, flags=re.S)).splitlines()
    return [line.removeprefix("python cli.py ") for line in lines if line.startswith("python cli.py ")]


def folder_of_the_page(folder: Path) -> Path:
    """The folder of a competition with the settings that the page shows, from today on."""
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.S)
    now = timezone.now()
    for name, days in (("opens_at", 7), ("closes_at", 35)):
        toml = re.sub(rf"{name} = .*", f"{name} = {now + timedelta(days=days):%Y-%m-%dT%H:%M:%S}", toml)
    birds = folder / "birds"
    birds.mkdir()
    (birds / "competition.toml").write_text(toml)
    (birds / "overview.md").write_text("Which bird is it?\n")
    return birds


def test_bo_goes_through_the_page_for_students(bos: Terminal, tmp_path: Path) -> None:
    lines = commands_of("Students")
    assert len(lines) >= 7
    said_to_user = {}
    for line in lines:
        bos.monkeypatch.setattr(bos.module, "getpass", lambda _: bos.token)
        said_to_user[line] = bos.run(line)
        assert said_to_user[line].code == 0, (line, said_to_user[line])
    assert (tmp_path / "pets-data/train é.csv").read_bytes() == TRAIN
    assert (tmp_path / "pets-data/sample_submission.csv").exists()
    by_verb = {" ".join(line.split()[:2]): output.out for line, output in said_to_user.items()}
    assert "Cats or dogs" in by_verb["competitions list"]
    assert "scored, public score 0.83" in by_verb["competitions submit"]
    assert "first try" in by_verb["competitions submissions"]
    assert re.search(r"1 +bo +0\.83", by_verb["competitions leaderboard"])
    assert Submission.objects.count() == 1


def test_a_token_is_kept_where_its_owner_alone_reads_and_used_from_there(bos: Terminal, tmp_path: Path) -> None:
    secret, bos.token = bos.token, ""
    assert bos.run("competitions list").code == 5
    bos.monkeypatch.setattr(bos.module, "getpass", lambda _: "lb_wrong")
    assert bos.run("login").code == 5
    assert bos.run("competitions list").code == 5
    bos.monkeypatch.setattr(bos.module, "getpass", lambda _: secret)
    output = bos.run("login")
    assert output.code == 0
    assert secret not in output.out + output.err
    stored = tmp_path / "config/leaderboard/tokens.json"
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    assert bos.run("competitions list").code == 0


def test_ada_goes_through_the_page_for_teachers(adas: Terminal, ada: User, bo: User, tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_bytes(TRAIN)
    (tmp_path / "truth.csv").write_text(TRUTH)
    (tmp_path / "corrected.csv").write_text(TRUTH.replace("7,cat", "7,dog"))

    def rules_are_saved() -> None:
        birds = Competition.objects.get(slug="birds")
        enter(birds, bo)
        grade_services.set_grade_rules(graded=birds, values=RULES, user=ada)

    def a_file_failed() -> None:
        Competition.objects.update(opens_at=timezone.now())
        unscored(adas, Competition.objects.get(slug="birds"), bo)

    def the_course_is_called_biology() -> None:
        Course.objects.filter(competitions__slug="birds").update(slug="biology", title="Biology")
        weights = {"parts": [{"competition": "birds", "weight": 100}]}
        grade_services.set_grade_rules(graded=Course.objects.get(slug="biology"), values=weights, user=ada)

    before: dict[str, Callable[[], None]] = {
        "grades": rules_are_saved,
        "courses": the_course_is_called_biology,
        "again": a_file_failed,
    }
    folder_of_the_page(tmp_path)
    lines = commands_of("Teachers")
    assert len(lines) >= 9
    for line in lines:
        before.pop(line.split()[0], lambda: None)()
        output = adas.run(line)
        assert output.code == 0, (line, output)
    birds = Competition.objects.get(slug="birds")
    assert birds.launched_at is not None
    assert birds.candidate is None
    assert birds.ground_truth is not None
    assert (birds.ground_truth.number, birds.ground_truth.note) == (2, "Row 7 was wrong")
    for file in ("birds-grades-moodle.csv", "biology-grades-plain.csv"):
        assert b"bo@example.org" in (tmp_path / file).read_bytes()
    assert [file.status for file in birds.submissions.all()] == ["scored"]
    again = (tmp_path / "birds.zip").read_bytes()
    Competition.objects.filter(pk=birds.pk).update(slug="old")
    assert adas.run("create birds.zip").code == 0
    copy = Competition.objects.get(slug="birds")
    assert (copy.launched_at, copy.title) == (None, birds.title)
    assert "competition.toml" in zipfile.ZipFile(io.BytesIO(again)).namelist()


def test_files_are_scored_again_by_their_ids_and_one_with_a_score_is_left_alone(
    bos: Terminal, ada: User, bo: User, tmp_path: Path
) -> None:
    assert bos.run("submit pets -f submission.csv").code == 0
    scored = Submission.objects.get()
    lost = unscored(bos, scored.competition, bo)
    assert bos.run(f"again pets {lost.pk}").code == 5
    bos.token = ApiToken.issue(bo, "rights of no use", ApiToken.Scope.HOST)[1]
    assert [bos.run(line).code for line in (f"again pets {lost.pk}", "export pets")] == [4, 4]
    assert not (tmp_path / "pets.zip").exists()
    bos.token = ApiToken.issue(ada, "laptop", ApiToken.Scope.HOST)[1]
    assert str(lost.pk) in bos.run("submissions pets").out
    nothing = bos.run("again pets")
    assert (nothing.code, "Name submissions, or give a status." in nothing.err) == (4, True)
    output = bos.run(f"again pets {scored.pk} {lost.pk}")
    assert (output.code, output.out) == (0, "Submissions to rescore: 1 of 2.\n")
    assert Submission.objects.get(pk=lost.pk).status == "scored"
    assert bos.run(f"again pets {lost.pk}").code == 4


def test_a_host_reads_whose_each_file_is(bos: Terminal, ada: User, cy: User) -> None:
    bos.run("submit pets -f submission.csv")
    assert " team " not in bos.run("submissions pets").out
    pets = Competition.objects.get()
    enter(pets, cy)
    submit(pets, cy, answers())
    assert " team " not in bos.run("submissions pets").out
    bos.token = ApiToken.issue(ada, "laptop", ApiToken.Scope.HOST)[1]
    head, *lines = bos.run("submissions pets").out.splitlines()
    assert [line.split()[2] for line in lines] == ["cy", "bo"], head


def test_an_export_that_broke_off_leaves_no_file(adas: Terminal, ada: User, tmp_path: Path) -> None:
    make_competition(ada)
    adas.monkeypatch.setattr(api_host, "zip_download", lambda *_: HttpResponse(b"PK\x03\x04 and no more"))
    output = adas.run("export pets")
    assert output.code == 6
    assert "is incomplete" in output.err
    assert not list(tmp_path.glob("pets.zip*"))


def test_a_folder_with_its_truth_becomes_a_draft_with_a_ground_truth(adas: Terminal, tmp_path: Path) -> None:
    folder = folder_of_the_page(tmp_path)
    (folder / "truth.csv").write_text(TRUTH)
    (folder / "data").mkdir()
    (folder / "data/train.csv").write_bytes(TRAIN)
    output = adas.run("create birds")
    assert output.code == 0, output
    birds = Competition.objects.get(slug="birds")
    assert birds.ground_truth is not None
    assert birds.admission.join_code in output.out
    assert [file.name for file in birds.data_files.all()] == ["train.csv"]
    again = adas.run("create birds")
    assert (again.code, Competition.objects.count()) == (4, 1)
    assert "slug" in again.err


def test_a_truth_with_faults_is_not_published(adas: Terminal, ada: User, tmp_path: Path) -> None:
    make_competition(ada, launched=False)
    (tmp_path / "twice.csv").write_text(TRUTH + "12,dog,Private\n")
    output = adas.run("truth pets -f twice.csv --publish")
    assert output.code == 3
    assert "ERROR: " in output.err
    assert Competition.objects.get().ground_truths.count() == 1


def test_an_invalid_file_tells_why_and_says_it_with_the_exit_code(bos: Terminal, tmp_path: Path) -> None:
    (tmp_path / "short.csv").write_bytes(answers().replace(b"3,dog\n", b""))
    output = bos.run("submit pets -f short.csv --watch")
    assert output.code == 2, output
    assert "missing" in output.err
    (tmp_path / "other.csv").write_bytes(answers().replace(b"id,label", b"id,kind"))
    output = bos.run("--json submit pets -f other.csv --watch")
    assert output.code == 2
    assert json.loads(output.out)["errors"][0]["code"] == "column_missing"


def test_each_problem_names_its_line_once(bos: Terminal, tmp_path: Path) -> None:
    (tmp_path / "twice.csv").write_bytes(answers() + b"1,cat\n")
    output = bos.run("submit pets -f twice.csv --watch")
    assert output.code == 2
    assert output.err.count("line 14") == 1, output.err
    (tmp_path / "latin.csv").write_bytes(answers().replace(b"dog", b"d\xf6g", 1))
    output = bos.run("submit pets -f latin.csv --watch")
    assert output.err.lower().count("line ") == 1, output.err


def test_a_file_whose_score_the_board_does_not_show_says_why(bos: Terminal, ada: User) -> None:
    assert bos.run("submit pets -f submission.csv --watch").code == 0
    competitions.change_competition(competition=Competition.objects.get(), user=ada, hides_scores=True)
    output = bos.run("submit pets -f submission.csv --again --watch")
    assert output.code == 0
    assert "scored, valid; this board shows no scores until the final ranking opens" in output.out
    assert "score 0." not in output.out


def test_the_same_bytes_are_asked_about_before_they_cost_an_attempt(bos: Terminal) -> None:
    output = bos.run("submit pets -f submission.csv")
    assert (output.code, "--watch waits for it" in output.out) == (0, True)
    output = bos.run("submit pets -f submission.csv -m again")
    assert output.code == 4
    assert "”, which your team submitted before" in output.err
    assert "--again" in output.err
    assert Submission.objects.count() == 1
    assert bos.run("submit pets -f submission.csv --again").code == 0
    assert Submission.objects.count() == 2


def test_who_has_no_attempt_left_reads_when_there_is_one_on_the_own_clock(bos: Terminal, tmp_path: Path) -> None:
    Limits.objects.update(daily_attempts=1)
    bos.run("submit pets -f submission.csv")
    (tmp_path / "other.csv").write_bytes(answers())
    output = bos.run("submit pets -f other.csv")
    assert output.code == 4
    assert "Your team has used today's attempt" in output.err
    assert re.search(r"Try again \d{4}-\d\d-\d\d \d\d:\d\d", output.err)


def test_a_file_that_is_too_large_is_told_before_it_is_sent(bos: Terminal) -> None:
    Limits.objects.update(max_bytes=1)
    bos.monkeypatch.setattr(bos.module.SiteClient, "post", lambda *_, **__: pytest.fail("sent"))
    output = bos.run("submit pets -f submission.csv")
    assert output.code == 4
    assert "the limit is 1 bytes" in output.err


def test_bo_reads_that_his_file_is_kept_before_he_waits_for_long(bos: Terminal) -> None:
    bos.monkeypatch.setattr(wake_ups, "wake_workers", lambda *_, **__: None)
    output = bos.run("submit pets -f submission.csv --watch --timeout 0.3")
    assert output.code == 6
    assert output.err.count("is uploaded. Waiting for its score") == 1
    assert "Not scored within 0 s." in output.err


def test_a_site_that_goes_away_while_one_waits_keeps_the_file(bos: Terminal) -> None:
    bos.monkeypatch.setattr(wake_ups, "wake_workers", lambda *_, **__: None)  # no worker takes it
    post = bos.module.SiteClient.post

    def then_away(site: Any, *given: Any, **more: Any) -> Any:
        output = post(site, *given, **more)
        site.address = "http://127.0.0.1:9"
        return output

    bos.monkeypatch.setattr(bos.module.SiteClient, "post", then_away)
    output = bos.run("submit pets -f submission.csv --watch")
    assert output.code == 6
    assert "submission.csv is uploaded." in output.err


def test_after_the_deadline_the_words_of_the_site_arrive(bos: Terminal) -> None:
    close(Competition.objects.get())
    output = bos.run("--json submit pets -f submission.csv")
    assert output.code == 4
    assert "deadline has passed" in output.err
    assert json.loads(output.out)["errors"][0]["code"] == "closed"


def test_a_students_token_launches_nothing(bos: Terminal, ada: User) -> None:
    make_competition(ada, slug="draft", title="Draft", launched=False)
    output = bos.run("launch draft")
    assert output.code == 5
    assert output.err.count("host competitions") == 1


@pytest.mark.parametrize("line", ["", "competitions fly", "submit pets", "submit pets -f nowhere.csv"])
def test_words_that_are_no_command_are_told_apart_from_refusals(bos: Terminal, line: str) -> None:
    assert bos.run(line).code == 64


def test_a_server_that_is_away_is_asked_again_and_then_said_so(bos: Terminal) -> None:
    waits: list[float] = []
    bos.monkeypatch.setattr(bos.module, "time", ClockOfTheProgram(waits))
    output = bos.run("--site http://127.0.0.1:9 competitions list")
    assert output.code == 6
    assert "No answer from http://127.0.0.1:9" in output.err
    assert len(waits) == 3


def test_an_upload_whose_answer_was_lost_is_one_submission(bos: Terminal) -> None:
    ask = bos.module.SiteClient.read
    lost: list[int] = []

    class Opener:
        def __init__(self, opener: Any) -> None:
            self.opener = opener

        def open(self, request: Any, timeout: float) -> Any:
            answer = self.opener.open(request, timeout=timeout)
            if request.data is not None and not lost:
                lost.append(1)
                answer.close()
                raise ConnectionResetError("on the way back")
            return answer

    def through(site: Any, *given: Any, **more: Any) -> Any:
        site.opener = site.opener if isinstance(site.opener, Opener) else Opener(site.opener)
        return ask(site, *given, **more)

    bos.monkeypatch.setattr(bos.module.SiteClient, "read", through)
    assert bos.run("submit pets -f submission.csv").code == 0
    assert (lost, Submission.objects.count()) == ([1], 1)


@pytest.mark.parametrize("name", ["../evil", "a/b", "..", "C:evil", "a\\b"])
def test_a_name_that_leads_elsewhere_is_not_written(bos: Terminal, name: str, tmp_path: Path) -> None:
    site = bos.module.SiteClient("http://localhost", "lb_x")
    with pytest.raises(bos.module.CommandFailed, match="be a file name here"):
        bos.module.download_file(site, "files", {"name": name, "sha256": None}, tmp_path)


def test_names_cannot_colour_a_terminal(bos: Terminal) -> None:
    assert bos.module.table_lines([{"team": "\x1b[31mred\u202e"}], "team") == ["team", "[31mred"]


def test_a_redirect_gets_no_token(bos: Terminal) -> None:
    assert bos.module.NoRedirects().redirect_request(None, None, 302, "", {}, "https://evil.example/") is None


def test_the_file_runs_with_python_39_and_knows_its_site(db: None) -> None:
    served = Client().get("/cli.py", SERVER_NAME="testserver")
    text = served.content.decode()
    tree = ast.parse(text, feature_version=(3, 9))
    modules = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    import sys

    assert {name.partition(".")[0] for name in modules} - {"classboard_metrics"} <= sys.stdlib_module_names
    assert 'SITE = "http://testserver"' in text
    assert served["Content-Disposition"] == 'attachment; filename="cli.py"'


def test_a_page_in_between_is_not_taken_for_the_site(bos: Terminal) -> None:
    bos.monkeypatch.setattr(
        bos.module.SiteClient, "read", lambda *_, **__: b"<html>Sign in to the hotel's network</html>"
    )
    output = bos.run("competitions list")
    assert output.code == 6
    assert "doesn't answer like a Leaderboard site" in output.err


def test_a_folder_that_cannot_be_written_is_named(bos: Terminal, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    output = bos.run("download pets -p taken/birds")
    assert output.code == 4
    assert "taken" in output.err


def test_people_read_moments_on_their_own_clock_and_sizes_with_units(
    bos: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert bos.module.cell_text("closes_at", "2026-12-06T22:59:00.521Z") == "2026-12-07 07:59+09:00"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert bos.module.cell_text("closes_at", "soon") == "soon"
    assert [bos.module.cell_text("size", size) for size in (0, 900, 10960, 5_000_000)] == [
        "0 bytes", "900 bytes", "10.7 KB", "4.8 MB",
    ]  # fmt: skip
    assert bos.module.cell_text("name", "\x1b[31mred") == "[31mred"


def test_who_has_no_token_reads_where_one_is_made(bos: Terminal) -> None:
    bos.token = ""
    output = bos.run("competitions list")
    assert output.code == 5
    assert "/account/" in output.err
    bos.token = "lb_mistyped"
    output = bos.run("competitions list")
    assert output.code == 5
    assert "does not know this token: it is mistyped, revoked or of another site" in output.err
    assert "Bearer" not in output.err


def test_a_spreadsheets_truth_is_read_as_it_was_meant_where_ada_asks_for_it(
    adas: Terminal, ada: User, tmp_path: Path
) -> None:
    make_competition(ada, slug="birds", launched=False)
    file = tmp_path / "truth.csv"
    file.write_text(TRUTH.replace(",", ";"))
    output = adas.run(f"truth birds -f {file} --metric error_rate")
    assert output.code == 3
    assert "--as-meant would convert it:" in output.err
    assert "semicolons" in output.err
    output = adas.run(f"truth birds -f {file} --metric error_rate --as-meant")
    assert output.code == 0
    assert "is good for error_rate: 6 public, 6 private rows" in output.out
    file.write_text("id,label\n1,cat\n1,dog\n")
    output = adas.run(f"truth birds -f {file} --as-meant")
    assert output.code == 3
    assert "--as-meant" not in output.err, "nothing of this kind would help"
