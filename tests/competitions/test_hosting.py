"""The verbs of a host: what they refuse, and what they leave behind."""

from __future__ import annotations

import gzip
import io
import zipfile
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

import metrics
from leaderboard.accounts.models import User
from leaderboard.boards import queries as boards_module
from leaderboard.boards import services as boards
from leaderboard.boards import standings
from leaderboard.common.storage import TooLarge, path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, GroundTruth, Score, Submission, TruthDraft
from leaderboard.competitions.models.competition import Split
from leaderboard.ground_truths.queries import candidates
from leaderboard.ground_truths.services import checks, data_files, drafts, publishing, rescoring
from leaderboard.ground_truths.specs import TruthSpec
from leaderboard.scoring import table_jobs
from leaderboard.submissions import score, submitting
from tests.conftest import ANSWERS, TRUTH, answers, close, enter, make_competition, submit

BARE = TRUTH.replace(",Public", "").replace(",Private", "").replace(",Usage", "")
LINES = list(enumerate(BARE.replace("label", "kind").splitlines()))
PAIRS = list(ANSWERS.items())


def publish_again(competition: Competition, user: User, truth: str) -> None:
    drafts.save_draft(
        competition=competition, spec=TruthSpec(metric="accuracy", file_name="two.csv", chunks=[truth.encode()])
    )
    publishing.publish_draft(competition=competition, user=user)


def files_in(settings: LazySettings) -> list[Path]:
    return [path for path in Path(settings.FILES_DIR).rglob("*") if path.is_file()]


# --- ground truths
# -----------------------------------------------------------------------------------------------------


def test_a_board_never_mixes_two_ground_truths(pets: Competition, ada: User, bo: User, cy: User) -> None:
    enter(pets, bo)
    enter(pets, cy)
    submit(pets, bo, answers(public=1))
    publish_again(pets, ada, TRUTH.replace("1,cat,Public\n2", "1,bird,Public\n2"))
    submit(pets, cy, answers(public=2))  # measured while ground truth 2 waits

    def ground_truths_on_the_board() -> set[int]:
        rows = boards_module.board_page(pets, Split.PUBLIC, at=timezone.now()).rows
        shown, values = [UUID(row.submission_id) for row in rows], {row.value for row in rows}
        scores = Score.objects.filter(submission__in=shown, split=Split.PUBLIC, ground_truth=pets.ground_truth)
        assert set(scores.values_list("value", flat=True)) == values
        return set(scores.values_list("ground_truth__number", flat=True))

    assert ground_truths_on_the_board() == {1}
    with pytest.raises(competitions.CannotHost, match="still being scored"):
        rescoring.apply_candidate(competition=pets)
    assert ground_truths_on_the_board() == {1}
    assert pets.candidate is not None
    score.rescore_batch(pets.candidate.pk)
    rescoring.apply_candidate(competition=pets)
    assert ground_truths_on_the_board() == {2}
    assert pets.ground_truth is not None
    assert standings.standing_differences(pets.ground_truth) == []


def test_files_that_wait_get_the_new_ground_truth(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    waiting = submitting.submit_file(competition=pets, user=bo, file_name="a.csv", chunks=[answers()], note="")
    publish_again(pets, ada, TRUTH.replace("1,cat,Public\n2", "1,bird,Public\n2"))
    rescoring.apply_candidate(competition=pets)
    assert score.score_one(waiting.pk) == "scored"
    assert set(Score.objects.values_list("ground_truth__number", flat=True)) == {2}


def test_a_file_the_new_ground_truth_cannot_read_is_in_the_preview(pets: Competition, ada: User, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    publish_again(pets, ada, TRUTH + "99,cat,Public\n")
    assert pets.candidate is not None
    score.rescore_batch(pets.candidate.pk)
    preview = candidates.preview_candidate(pets)
    assert preview is not None
    assert preview.is_complete
    assert [refusal.submission.file_name for refusal in preview.refusals] == ["mine.csv"]
    assert [(move.rank_now, move.rank_then) for move in preview.moves] == [(1, None)]


def test_an_invalid_file_stays_invalid_and_the_preview_counts_it(pets: Competition, ada: User, bo: User) -> None:
    """Under the new ground truth it would be valid; scored now it would be a file without an attempt."""
    enter(pets, bo)
    early = submit(pets, bo, answers() + b"99,cat\n")
    assert early.status == "invalid"
    publish_again(pets, ada, TRUTH + "99,cat,Public\n")
    assert pets.candidate is not None
    score.rescore_batch(pets.candidate.pk)
    preview = candidates.preview_candidate(pets)
    assert preview is not None
    assert (preview.is_complete, preview.invalid, preview.scored) == (True, 1, 0)
    client = Client()
    client.force_login(ada)
    page = client.get("/host/pets/candidate/").content.decode()
    assert "1 submission was invalid and stays so" in page
    rescoring.apply_candidate(competition=pets)
    early.refresh_from_db()
    assert early.status == "invalid"
    assert submit(pets, bo, answers() + b"99,cat\n").status == "scored"


def test_before_the_launch_a_ground_truth_is_current_at_once(ada: User) -> None:
    competition = make_competition(ada, launched=False)
    publish_again(competition, ada, TRUTH)
    assert competition.candidate is None
    assert competition.ground_truth is not None
    assert competition.ground_truth.number == 2


def test_a_draft_takes_the_file_of_the_last_ground_truth_when_none_is_given(pets: Competition, ada: User) -> None:
    draft = drafts.save_draft(competition=pets, spec=TruthSpec(metric="multilabel_f1"))
    assert draft.report["ok"]
    publishing.publish_draft(competition=pets, user=ada)
    assert pets.candidate is not None
    assert pets.ground_truth is not None
    assert pets.candidate.sha256 == pets.ground_truth.sha256
    assert pets.candidate.file_key != pets.ground_truth.file_key


def test_a_draft_without_any_file_is_refused(ada: User, pets: Competition) -> None:
    bare = competitions.create_competition(
        user=ada, slug="bare", title="Bare", opens_at=pets.opens_at, closes_at=pets.closes_at
    )
    with pytest.raises(competitions.CannotHost, match="Choose"):
        drafts.save_draft(competition=bare, spec=TruthSpec(metric="accuracy"))


@pytest.mark.parametrize("trouble", [table_jobs.JobFailed("killed"), MemoryError()])
def test_a_check_that_breaks_changes_nothing(
    pets: Competition, monkeypatch: pytest.MonkeyPatch, settings: LazySettings, trouble: BaseException
) -> None:
    drafts.save_draft(competition=pets, spec=TruthSpec(metric="accuracy", file_name="a.csv", chunks=[TRUTH.encode()]))
    before = files_in(settings)

    def broken(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr(table_jobs, "run_page_job", broken)
    with pytest.raises(type(trouble)):
        drafts.save_draft(competition=pets, spec=TruthSpec(metric="accuracy", file_name="b.csv", chunks=[b"id,y\n"]))
    assert TruthDraft.objects.get().file_name == "a.csv"
    assert files_in(settings) == before


def test_wrong_parameters_are_refused_before_anything_is_stored(pets: Competition, settings: LazySettings) -> None:
    before = files_in(settings)
    with pytest.raises(metrics.ParameterError):
        drafts.save_draft(
            competition=pets,
            spec=TruthSpec(metric="fbeta", params={"beta": -1}, file_name="a.csv", chunks=[TRUTH.encode()]),
        )
    assert files_in(settings) == before


@pytest.mark.parametrize("header", ["{long},label", "row,label,{long}"], ids=["of ids", "of groups"])
def test_a_column_with_a_name_too_long_to_be_kept_is_refused_in_words(
    ada: User, settings: LazySettings, header: str
) -> None:
    competition = make_competition(ada, launched=False)
    files = sorted(settings.FILES_DIR.rglob("*.*"))
    long = "a whole sentence " * 20
    cells = ["{i},{label}", "{i},{label},{who}"]["row" in header]
    lines = [cells.format(i=i, label="cat" if i % 3 else "dog", who=i % 4) for i in range(1, 41)]
    with pytest.raises(competitions.CannotHost, match="has 339 characters; the limit is 200"):
        drafts.save_draft(
            competition=competition,
            spec=TruthSpec(
                metric="accuracy",
                file_name="truth.csv",
                chunks=["\n".join([header.format(long=long.strip()), *lines]).encode()],
                group_column=long if "row" in header else "",
            ),
        )
    assert sorted(settings.FILES_DIR.rglob("*.*")) == files


def test_drafts_leave_one_file_and_their_publication_none_but_the_answers_and_the_sample(
    pets: Competition, ada: User, settings: LazySettings
) -> None:
    before = len(files_in(settings))
    for _ in range(3):
        drafts.save_draft(
            competition=pets, spec=TruthSpec(metric="accuracy", file_name="a.csv", chunks=[BARE.encode()])
        )
    assert len(files_in(settings)) == before + 1
    publishing.publish_draft(competition=pets, user=ada)
    assert len(files_in(settings)) == before + 2
    drafts.save_draft(competition=pets, spec=TruthSpec(metric="accuracy", file_name="a.csv", chunks=[BARE.encode()]))
    with pytest.raises(competitions.CannotHost, match="Apply or discard"):
        publishing.publish_draft(competition=pets, user=ada)
    drafts.discard_draft(competition=pets)
    assert len(files_in(settings)) == before + 2


def test_the_systems_split_depends_on_secret_seed_and_ids_alone(ada: User) -> None:
    """The secret stays with its competition, so Ada gets the same rows again."""
    backwards = "id,label\n" + "".join(f"{line}\n" for line in reversed(BARE.splitlines()[1:]))
    competition = make_competition(ada, launched=False)

    def public_ids(truth: str, seed: int) -> set[str]:
        drafts.save_draft(
            competition=competition,
            spec=TruthSpec(metric="accuracy", file_name="t.csv", chunks=[truth.encode()], public_share=0.5, seed=seed),
        )
        ground_truth = publishing.publish_draft(competition=competition, user=ada)
        lines = path_of(ground_truth.file_key).read_text().splitlines()
        return {line.split(",")[0] for line in lines if line.endswith(",Public")}

    assert public_ids(BARE, 1) == public_ids(backwards, 1)
    # Of so few rows two seeds draw the same ones now and then.
    assert any(public_ids(BARE, seed) != public_ids(BARE, 1) for seed in (2, 3, 4, 5))


def test_a_corrected_file_without_a_split_keeps_the_split_of_the_launched_competition(
    pets: Competition, ada: User
) -> None:
    publish_again(pets, ada, BARE.replace("1,cat", "1,bird", 1) + "99,cat\n")
    assert pets.candidate is not None
    stored = path_of(pets.candidate.file_key).read_text().splitlines()
    corrected = TRUTH.replace("1,cat", "1,bird", 1).splitlines()
    assert stored[: len(corrected)] == corrected
    assert stored[-1] in ("99,cat,Public", "99,cat,Private")


def test_a_correction_with_other_ids_says_what_becomes_of_the_files(pets: Competition) -> None:
    """As a spreadsheet makes them, which eats zeros."""

    def other_ids(text: str) -> list[str]:
        draft = drafts.save_draft(
            competition=pets, spec=TruthSpec(metric="accuracy", file_name="new.csv", chunks=[text.encode()])
        )
        assert draft.report["ok"]
        return [one["message"] for one in draft.report["findings"] if one["code"] == "other_ids"]

    assert other_ids(BARE.replace("1,cat", "1,bird", 1)) == []
    changed = "".join(f"{line}\n" if line[0] == "i" else f"0{line}\n" for line in BARE.splitlines())
    assert other_ids(changed) == ["The ids differ from the current answers: 12 new, 12 removed."]


# --- answers do not leak ----------------------------------------------------------------------------------------


def zipped(**members: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"{name}.csv", text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("truth.csv", TRUTH.encode()),
        ("test.csv", BARE.encode()),
        ("test.csv", BARE.replace(",", ";").encode()),
        ("test.csv", b"\xef\xbb\xbf" + BARE.encode()),
        ("test.txt", BARE.encode()),
        ("test.csv.gz", gzip.compress(BARE.encode(), mtime=0)),
        ("all.zip", zipped(train="id,label\n90,cat\n", test=BARE)),
        ("renamed.csv", BARE.replace("label", "animal").encode()),
        ("beside.csv", "".join(f"{line.split(',')[0]},{n},{line.split(',')[1]}\n" for n, line in LINES).encode()),
        ("public.csv", "".join(BARE.splitlines(keepends=True)[:7]).encode()),
        ("other_id.csv", BARE.replace("id,", "picture,").encode()),
        ("both_other.csv.gz", gzip.compress(BARE.replace("id,label", "picture,animal").encode(), mtime=0)),
        (
            "among_numbers.csv",
            ("age,label,picture\n" + "".join(f"{n % 5},{a},{i}\n" for n, (i, a) in enumerate(PAIRS))).encode(),
        ),
        ("zipped.zip", zipped(train="n,label\n90,cat\n", test=BARE.replace("id,", "picture,"))),
        ("wide.csv", "\n".join(f"0,{','.join(reversed(line.split(',')))}" for line in BARE.splitlines()).encode()),
        ("excel.csv", BARE.encode("utf-16")),
        ("zeros.csv", ("id,guess\n" + "".join(f"{i:04d},{a}\n" for i, a in PAIRS)).encode()),
        ("y_test.csv", "".join(f"{a}\n" for a in ["y", *ANSWERS.values()]).encode()),
        ("bare.txt", "".join(f"{a}\n" for a in ANSWERS.values()).encode()),
        ("no_ids.csv", "".join(f"{a},{n / 7}\n" for n, a in enumerate(["guess", *ANSWERS.values()])).encode()),
    ],
)
def test_a_data_file_with_answers_is_refused(pets: Competition, settings: LazySettings, name: str, data: bytes) -> None:
    before = files_in(settings)
    with pytest.raises(competitions.CannotHost, match="Students could download the answers"):
        data_files.add_data_file(competition=pets, file_name=name, chunks=[data])
    assert files_in(settings) == before


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("test.csv", b"id,x\n1,0.5\n2,0.7\n"),
        ("sample.csv", ("id,label\n" + "".join(f"{i},cat\n" for i in range(1, 13))).encode()),
        ("other_id.csv", ("picture,label\n" + "".join(f"{i},cat\n" for i in range(1, 13))).encode()),
        ("ages.csv", ("age,label\n" + "".join(f"{int(i) % 12 + 1},{a}\n" for i, a in PAIRS * 2)).encode()),
        ("train.csv", b"id,label\n101,cat\n102,dog\n"),
        ("telling.csv", BARE.replace("label", "guess").replace("12,dog", "12,cat").encode()),
        ("commonest.csv", ("id,guess\n" + "".join(f"{i},cat\n" for i in (1, 2, 4, 5, 7, 8))).encode()),
        ("notes.txt", b"id is a number"),
        ("broken.gz", b"\x1f\x8bnonsense"),
        ("broken.zip", b"PK\x03\x04nonsense"),
        ("picture.png", bytes(range(256))),
        ("empty.csv", b""),
        ("longer.csv", "".join(f"{a}\n" for a in ["y", *ANSWERS.values(), "cat"]).encode()),
        ("shorter.csv", "".join(f"{a}\n" for a in ["y", *list(ANSWERS.values())[:-1]]).encode()),
    ],
)
def test_a_data_file_without_answers_is_taken(pets: Competition, name: str, data: bytes) -> None:
    data_files.add_data_file(competition=pets, file_name=name, chunks=[data])


PRICES = {f"{n:04d}": 150 + n * 7.31 for n in range(1, 21)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("excel.csv", "\ufeffhouse;price\n" + "".join(f"{i};{p:.2f}\n".replace(".", ",") for i, p in PRICES.items())),
        ("zeros_eaten.csv", "house,price\n" + "".join(f"{int(i)},{p:.2f}\n" for i, p in PRICES.items())),
        ("floats.csv", "house,price\n" + "".join(f"{int(i)}.0,{p:.2f}\n" for i, p in PRICES.items())),
        ("rounded.csv", "house,price\n" + "".join(f"{i},{p:.1f}\n" for i, p in reversed(PRICES.items()))),
        ("same_name.csv", "house,y\n" + "".join(f"{i},{p:.0f}\n" for i, p in PRICES.items())),
        (
            "noise.csv",
            "house,price\n" + "".join(f"{i},{round(p, 2) * 1.0000000000000002!r}\n" for i, p in PRICES.items()),
        ),
        ("column.csv", "price\n" + "".join(f"{p:.2f}\n" for p in PRICES.values())),
    ],
)
def test_numbers_that_a_program_wrote_in_its_own_way_are_answers_all_the_same(ada: User, name: str, text: str) -> None:
    truth = "house,y,Usage\n" + "".join(
        f"{i},{p:.2f},{'Public' if int(i) < 9 else 'Private'}\n" for i, p in PRICES.items()
    )
    competition = make_competition(ada, metric="rmse", truth=truth)
    with pytest.raises(competitions.CannotHost, match="contains the answers of 20 scored ids"):
        data_files.add_data_file(competition=competition, file_name=name, chunks=[text.encode()])


@pytest.mark.parametrize("constant", ["0", "1", "0.5"])
def test_a_sample_is_no_rounded_answer(ada: User, constant: str) -> None:
    truth = "id,y,Usage\n" + "".join(f"{i},0.{i:03d},{'Public' if i < 9 else 'Private'}\n" for i in range(1, 21))
    competition = make_competition(ada, metric="rmse", truth=truth)
    sample = "id,y\n" + "".join(f"{i},{constant}\n" for i in range(1, 21))
    data_files.add_data_file(competition=competition, file_name="sample_submission.csv", chunks=[sample.encode()])


def test_a_table_that_nobody_can_look_into_is_said_to_be_one(pets: Competition) -> None:
    data_files.add_data_file(competition=pets, file_name="Test.PARQUET", chunks=[b"PAR1"])
    found = checks.recheck_ground_truth(competition=pets).report
    assert found["ok"]
    assert [one["message"] for one in found["findings"] if one["code"] == "data_unread"] == [
        "The data file “Test.PARQUET” wasn't checked for answers."
    ]


def test_the_column_of_groups_is_no_answer(ada: User) -> None:
    competition = make_competition(ada, launched=False)
    grouped = "id,label,farm\n" + "".join(f"{i},{'cat' if i % 5 else 'dog'},{i % 4}\n" for i in range(1, 41))
    drafts.save_draft(
        competition=competition,
        spec=TruthSpec(metric="accuracy", file_name="two.csv", chunks=[grouped.encode()], group_column="farm"),
    )
    features = "id,farm\n" + "".join(f"{i},{i % 4}\n" for i in range(1, 41))
    data_files.add_data_file(competition=competition, file_name="test.csv", chunks=[features.encode()])
    assert publishing.publish_draft(competition=competition, user=ada).submission_columns == ["id", "label"]
    assert checks.recheck_ground_truth(competition=competition).report["ok"]
    leak = grouped.replace("label", "kind")
    with pytest.raises(competitions.CannotHost, match="answers"):
        data_files.add_data_file(competition=competition, file_name="more.csv", chunks=[leak.encode()])


def test_the_weight_of_a_row_is_no_answer(ada: User) -> None:
    weighed = "id,size,weight,Usage\n" + "".join(
        f"{i},{i * 3 % 11},{i % 4 + 1},{'Public' if i < 9 else 'Private'}\n" for i in range(1, 17)
    )
    competition = make_competition(ada, metric="weighted_mae", truth=weighed)
    features = "id,weight\n" + "".join(f"{i},{i % 4 + 1}\n" for i in range(1, 17))
    data_files.add_data_file(competition=competition, file_name="test.csv", chunks=[features.encode()])
    assert checks.recheck_ground_truth(competition=competition).report["ok"]
    leak = "id,size\n" + "".join(f"{i},{i * 3 % 11}\n" for i in range(1, 17))
    with pytest.raises(competitions.CannotHost, match="“size”"):
        data_files.add_data_file(competition=competition, file_name="more.csv", chunks=[leak.encode()])


def test_answers_that_students_have_already_are_never_published(ada: User) -> None:
    competition = make_competition(ada, launched=False)
    changed = TRUTH.replace("cat", "mouse")
    data_files.add_data_file(
        competition=competition, file_name="test.csv", chunks=[BARE.replace("cat", "mouse").encode()]
    )
    with pytest.raises(competitions.CannotHost) as raised:
        publish_again(competition, ada, changed)
    assert "contains the answers of 12 scored ids" in raised.value.details[0]


def test_answers_of_a_metric_with_other_submission_columns_are_found_too(ada: User) -> None:
    truth = "id,time,event,Usage\n" + "".join(
        f"{i},{i * 3},{i % 2},{'Public' if i < 9 else 'Private'}\n" for i in range(1, 17)
    )
    competition = make_competition(ada, metric="survival_concordance", truth=truth)
    leak = "id,time\n" + "".join(f"{i},{i * 3}.0\n" for i in range(1, 17))
    with pytest.raises(competitions.CannotHost, match="“time”"):
        data_files.add_data_file(competition=competition, file_name="t.csv", chunks=[leak.encode()])


# --- the rest ---------------------------------------------------------------------------------------------------


def test_removing_a_competition_removes_its_files(
    pets: Competition, ada: User, bo: User, settings: LazySettings
) -> None:
    enter(pets, bo)
    submit(pets, bo, answers())
    boards.add_baseline(competition=pets, user=ada, name="G", file_name="g.csv", chunks=[answers()])
    data_files.add_data_file(competition=pets, file_name="a.csv", chunks=[b"id,x\n1,2\n"])
    publish_again(pets, ada, TRUTH + "99,cat,Public\n")
    drafts.save_draft(competition=pets, spec=TruthSpec(metric="accuracy", file_name="t.csv", chunks=[TRUTH.encode()]))
    competitions.delete_competition(competition=pets)
    assert files_in(settings) == []
    assert not Submission.objects.exists()


def test_a_file_over_the_limit_leaves_nothing(pets: Competition, ada: User, settings: LazySettings) -> None:
    before = files_in(settings)
    settings.MAX_UPLOAD_BYTES = 5
    with pytest.raises(TooLarge):
        data_files.add_data_file(competition=pets, file_name="a.csv", chunks=[b"123456"])
    with pytest.raises(TooLarge):
        boards.add_baseline(competition=pets, user=ada, name="G", file_name="g.csv", chunks=[b"123456"])
    with pytest.raises(TooLarge):
        drafts.save_draft(competition=pets, spec=TruthSpec(metric="accuracy", file_name="t.csv", chunks=[b"123456"]))
    assert files_in(settings) == before


def test_a_draft_is_not_revealed(ada: User) -> None:
    competition = make_competition(ada, launched=False)
    close(competition)
    with pytest.raises(competitions.CannotHost, match="The competition hasn't launched"):
        boards.reveal_competition(competition=competition)


def test_another_number_of_finals_after_the_reveal_is_on_the_board_at_once(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    submit(pets, bo, answers(private=3))
    submit(pets, bo, answers(public=1))
    close(pets)
    boards.reveal_competition(competition=pets)
    competitions.change_competition(competition=pets, final_count=1)
    pets.refresh_from_db()
    assert pets.ground_truth is not None
    assert standings.standing_differences(pets.ground_truth) == []
    assert [row.value for row in boards_module.ranked_lines(pets, Split.PRIVATE)] == [0.5]


def test_the_deadline_stays_in_the_past_after_the_reveal(pets: Competition) -> None:
    close(pets)
    boards.reveal_competition(competition=pets)
    with pytest.raises(ValidationError, match="The final ranking is open, so the deadline can't move into the future"):
        competitions.change_competition(competition=pets, closes_at=timezone.now() + timedelta(days=1))


def test_the_address_new_is_reserved(ada: User, pets: Competition) -> None:
    with pytest.raises(ValidationError, match="Another page"):
        competitions.create_competition(
            user=ada, slug="new", title="N", opens_at=pets.opens_at, closes_at=pets.closes_at
        )
    with pytest.raises(ValidationError, match="Another page"):
        competitions.change_competition(competition=pets, slug="new")


def test_a_host_changes_only_what_hosts_change(pets: Competition) -> None:
    with pytest.raises(TypeError, match="revealed_at"):
        competitions.change_competition(competition=pets, revealed_at=timezone.now())


def test_a_file_counts_when_the_deadline_moves_behind_it(pets: Competition, bo: User) -> None:
    enter(pets, bo)
    competitions.change_competition(competition=pets, allows_late=True)
    close(pets)
    late = submit(Competition.objects.get(), bo, answers())

    def lateness_and_rows() -> tuple[bool, int]:
        ground_truth = GroundTruth.objects.get()
        return Submission.objects.get().is_late, boards_module.standings_in_order(ground_truth, Split.PUBLIC).count()

    assert lateness_and_rows() == (True, 0)
    competitions.change_competition(competition=pets, closes_at=timezone.now() + timedelta(hours=1))
    assert lateness_and_rows() == (False, 1)
    competitions.change_competition(competition=pets, closes_at=late.received_at)
    assert lateness_and_rows() == (True, 0)
