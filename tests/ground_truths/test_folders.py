"""A competition as a folder: out and in again, and what is wrong with a folder said in clear words."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.accounts.models import User
from leaderboard.boards import services as boards
from leaderboard.common.storage import path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, Standing
from leaderboard.competitions.models.competition_settings import read_setting
from leaderboard.ground_truths.services import data_files, folders
from leaderboard.ground_truths.services.folders import PLAIN_FIELDS, TIMES
from tests.conftest import TRUTH, answers, enter, make_competition, submit

TOML = """
title = "Birds"
slug = "birds"
zone = "Europe/Vienna"
opens_at = 2026-10-01T08:00:00
closes_at = 2030-12-01T23:59:00
daily_attempts = 3

[metric]
key = "accuracy"

[split]
public_share = 0.5
seed = 7
stratified = false
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "birds"
    made.mkdir()
    (made / "competition.toml").write_text(TOML)
    (made / "overview.md").write_text("Which bird is it?")
    (made / "truth.csv").write_text("id,bird\n" + "".join(f"{i},{'owl' if i % 2 else 'crow'}\n" for i in range(1, 21)))
    return made


def bring_in(folder: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("import_competition", str(folder), "--host", "ada", *options, stdout=out)
    return out.getvalue()


def refusal(folder: Path) -> str:
    with pytest.raises(CommandError) as raised:
        bring_in(folder)
    assert not Competition.objects.exists(), "nothing may be kept of a folder that was refused"
    return str(raised.value)


def test_files_of_an_editor_on_windows_begin_with_a_mark(folder: Path, ada: User) -> None:
    for name in ("competition.toml", "overview.md", "truth.csv"):
        (folder / name).write_text("\ufeff" + (folder / name).read_text(), encoding="utf-8")
    bring_in(folder)
    birds = Competition.objects.get()
    assert (birds.title, birds.overview) == ("Birds", "Which bird is it?")
    assert birds.ground_truth is not None


@pytest.mark.parametrize("name", ["overview.md", "truth.csv", "data", "data/notes.txt"])
@pytest.mark.attack("a folder with links to files of the machine that imports it")
def test_no_link_leads_out_of_a_folder(folder: Path, ada: User, tmp_path: Path, name: str) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret_key").write_text("id,bird\n1,owl\n")
    link = folder / name
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(tmp_path / "private" / ("" if name == "data" else "secret_key"))
    assert f"{name} is a link to a file outside of the folder" in refusal(folder)


def test_a_link_within_a_folder_is_read(folder: Path, ada: User) -> None:
    (folder / "rules.md").symlink_to("overview.md")
    bring_in(folder)
    assert Competition.objects.get().rules == "Which bird is it?"


def test_ada_imports_a_folder_and_the_system_makes_the_split(ada: User, folder: Path) -> None:
    output = bring_in(folder, "--launch")
    birds = Competition.objects.get(slug="birds")
    assert birds.admission.join_code in output
    assert birds.launched_at is not None
    assert list(birds.hosts.all()) == [ada]
    assert birds.opens_at == datetime(2026, 10, 1, 6, tzinfo=UTC)
    assert birds.ground_truth is not None
    assert (birds.ground_truth.public_rows, birds.ground_truth.private_rows) == (10, 10)


def test_export_then_import_gives_an_equal_competition(ada: User, tmp_path: Path) -> None:
    first = make_competition(
        ada,
        title='Gäste "im" \\ Haus\x7f',
        metric="multilabel_f1",
        params={"separator": "|", "average": "micro"},
        truth=TRUTH,
        zone="Asia/Tokyo",
        daily_attempts=7,
        rules="Be *fair*.\n",
        admission="addresses",
        allowed_addresses="example.org\nbo@example.com",
        uses_pseudonyms=True,
        shows_sections=True,
    )
    data_files.add_data_file(
        competition=first, file_name="train.csv", chunks=[b"id,x\n90,1\n"], description="What to learn from"
    )
    for name in ("Constant", "Second"):
        boards.add_baseline(competition=first, user=ada, name=name, file_name="guess.csv", chunks=[answers()])
    call_command("export_competition", "pets", str(tmp_path / "out"), stdout=io.StringIO())
    before = facts_of(first)
    competitions.delete_competition(competition=first)

    bring_in(tmp_path / "out")
    assert facts_of(Competition.objects.get()) == before


def test_a_parameter_without_value_survives_the_way_out_and_in(ada: User, tmp_path: Path) -> None:
    first = make_competition(ada, metric="multilabel_f1", params={"separator": ""})
    folders.export_folder(first, tmp_path / "out")
    competitions.delete_competition(competition=first)
    again = folders.import_folder(tmp_path / "out", user=ada).ground_truth
    assert again is not None
    assert again.params == {"separator": None, "average": "samples", "beta": 1.0}


def facts_of(competition: Competition) -> dict[str, object]:
    ground_truth = competition.ground_truth
    assert ground_truth is not None
    return {
        **{name: read_setting(competition, name) for name in (*PLAIN_FIELDS, *TIMES, "overview", "rules")},
        "metric": (ground_truth.metric, ground_truth.params, ground_truth.id_column, ground_truth.submission_columns),
        "rows": (
            ground_truth.rows,
            ground_truth.public_rows,
            ground_truth.private_rows,
            ground_truth.ignored_rows,
            ground_truth.sha256,
        ),
        "data": [(f.name, f.description, f.sha256, f.rows, f.head) for f in competition.data_files.all()],
        "baselines": [
            (b.name, b.submission.file_name, path_of(b.submission.file_key).read_bytes())
            for b in competition.baselines.all()
        ],
    }


def test_an_export_never_writes_over_anything(pets: Competition, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(CommandError, match="isn't an empty folder"):
        call_command("export_competition", "pets", str(tmp_path))


def test_an_export_needs_a_competition(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No competition has the address"):
        call_command("export_competition", "nothing", str(tmp_path / "out"))


def test_an_import_needs_a_host_with_an_account(db: None, folder: Path) -> None:
    with pytest.raises(CommandError, match="There is no account named “ada”"):
        bring_in(folder)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('title = "Birds"', "title = Birds", "isn't TOML"),
        ("daily_attempts = 3", "daily_atempts = 3", "unknown names: daily_atempts"),
        ("daily_attempts = 3", 'daily_attempts = "many"', "daily_attempts"),
        ("2026-10-01T08:00:00", "2031-10-01T08:00:00", "must open before it closes"),
        ("2026-10-01T08:00:00", '"soon"', "opens_at must be a date with time"),
        ("2026-10-01T08:00:00", "0001-01-01T00:00:00", "opens_at: Enter a year between 1970 and 9000."),
        ("2030-12-01T23:59:00", "9999-12-31T23:59:59", "closes_at: Enter a year between 1970 and 9000."),
        ("Europe/Vienna", "Europe/Atlantis", "zone isn't a time zone"),
        ('key = "accuracy"', 'key = "magic"', 'No metric is called "magic"'),
        ('key = "accuracy"', 'key = "rmse"', "truth.csv: The answers can't be published"),
        ('key = "accuracy"', 'key = "accuracy"\nparams = {beta = 2}', "beta: The metric has no such parameter"),
        ("public_share = 0.5", "public_share = 1.5", "public_share must be a number between 0 and 1"),
        ("[split]", '[[baselines]]\nname = "x"\nfile = "../x.csv"\n[split]', ", which isn't in the folder"),
        ("[split]", '[[baselines]]\nname = "x"\n[split]', "needs a name and a file"),
        ("[split]", '[[data]]\nname = "train.csv"\n[split]', "not in data/: train.csv"),
        ('slug = "birds"', 'slug = "new"', "Another page uses the address “"),
    ],
)
def test_a_wrong_folder_is_refused_with_the_place(ada: User, folder: Path, old: str, new: str, words: str) -> None:
    text = (folder / "competition.toml").read_text()
    assert old in text
    (folder / "competition.toml").write_text(text.replace(old, new))
    assert words in refusal(folder)


def test_a_folder_that_names_a_version_of_a_metric_gets_the_metric_as_it_is(ada: User, folder: Path) -> None:
    """Pages lead from a score to the metric by its key."""
    toml = folder / "competition.toml"
    text = toml.read_text().replace('"accuracy"', '"accuracy@0123456789ab"')
    toml.write_text(text + '[[secondary]]\nkey = "error_rate@1"\n')
    bring_in(folder)
    truth = Competition.objects.get().ground_truth
    assert truth is not None
    assert (truth.metric, [one["key"].partition("@")[0] for one in truth.secondary]) == ("accuracy", ["error_rate"])
    assert [key.count("@") for key, _params in truth.secondary_with_versions] == [1]


def test_no_text_of_a_folder_has_a_character_that_postgresql_stores_not(ada: User, folder: Path) -> None:
    toml = folder / "competition.toml"
    toml.write_text(toml.read_text().replace('"Birds"', r'"Bi\u0000rds"'))
    (folder / "overview.md").write_text("Which\0 bird?")
    bring_in(folder)
    birds = Competition.objects.get()
    assert (birds.title, birds.overview) == ("Birds", "Which bird?")


def test_a_folder_without_toml_or_truth_is_refused(ada: User, folder: Path) -> None:
    (folder / "truth.csv").unlink()
    assert "needs truth.csv" in refusal(folder)
    (folder / "competition.toml").unlink()
    assert "competition.toml can't be read" in refusal(folder)


def test_a_folder_whose_data_hold_the_answers_is_refused(ada: User, folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "test.csv").write_text((folder / "truth.csv").read_text())
    assert "contains the answers of 20 scored ids" in refusal(folder)


def test_rebuilding_makes_a_damaged_board_right_again(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers(public=2))
    call_command("rebuild_standings", "--check", stdout=io.StringIO())
    Standing.objects.update(value=0.999)
    with pytest.raises(CommandError, match="1 of 1 leaderboards differ"):
        call_command("rebuild_standings", "--check", stdout=io.StringIO())
    call_command("rebuild_standings", stdout=io.StringIO())
    call_command("rebuild_standings", "--check", stdout=io.StringIO())
