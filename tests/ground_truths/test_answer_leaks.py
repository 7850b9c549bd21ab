"""No file that students get holds the answers."""

from __future__ import annotations

import gzip
import io
import zipfile
from contextlib import nullcontext

import pytest
from django.conf import LazySettings

from leaderboard.accounts.models import User
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition
from leaderboard.ground_truths.services import checks, data_files, publishing
from tests.conftest import ANSWERS, TRUTH, make_competition, save_truth
from tests.ground_truths.test_publishing import BARE, files_in, publish_again

LINES = list(enumerate(BARE.replace("label", "kind").splitlines()))
PAIRS = list(ANSWERS.items())


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
        ("test.csv", b"\n\nAll the pets of spring\n\n" + BARE.encode()),
        ("test.csv", b"sep=;\r\n" + BARE.replace(",", ";").encode()),
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


@pytest.mark.parametrize("rows", [40, 1_200])
@pytest.mark.parametrize(("percent_wrong", "is_refused"), [(0, True), (5, True), (10, False), (100, False)])
@pytest.mark.parametrize("first", ["right", "wrong"])
def test_answers_of_which_a_tenth_is_wrong_are_taken_wherever_the_wrong_ones_are(
    ada: User, rows: int, percent_wrong: int, is_refused: bool, first: str
) -> None:
    truth = [f"{i},{i * 7 % 1_201}.5" for i in range(rows)]
    parts = [f"{line},{'Public' if i % 2 else 'Private'}" for i, line in enumerate(truth)]
    competition = make_competition(ada, metric="rmse", truth="\n".join(["id,y,Usage", *parts]) + "\n")
    wrong = [f"{line}9" for line in truth[: rows * percent_wrong // 100]]
    lines = [*wrong, *truth[len(wrong) :]] if first == "wrong" else [*reversed(truth[len(wrong) :]), *wrong]
    sent = "\n".join(["id,y", *lines]).encode()
    with pytest.raises(competitions.CannotHost) if is_refused else nullcontext():
        data_files.add_data_file(competition=competition, file_name="data.csv", chunks=[sent])


@pytest.mark.parametrize("place", [0, 499, 500, 1_199])
def test_a_column_that_differs_in_one_answer_is_a_feature(ada: User, place: int) -> None:
    truth = [(i, i * 7 % 1_201) for i in range(1_200)]
    parts = [f"{i},{y},{'Public' if i % 2 else 'Private'}\n" for i, y in truth]
    competition = make_competition(ada, metric="rmse", truth="id,y,Usage\n" + "".join(parts))
    near = "id,size\n" + "".join(f"{i},{y + (i == place)}\n" for i, y in truth)
    data_files.add_data_file(competition=competition, file_name="near.csv", chunks=[near.encode()])
    same = "id,size\n" + "".join(f"{i},{y}\n" for i, y in truth)
    with pytest.raises(competitions.CannotHost):
        data_files.add_data_file(competition=competition, file_name="same.csv", chunks=[same.encode()])


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


def test_a_host_reads_that_students_get_semicolons(pets: Competition) -> None:
    data_files.add_data_file(competition=pets, file_name="train.csv", chunks=[b"id;weight\r\n90;1,5\r\n"])
    data_files.add_data_file(competition=pets, file_name="test.csv", chunks=[b"id,note\r\n1,a;b\r\n"])
    found = checks.recheck_ground_truth(competition=pets).report
    assert found["ok"]
    (warning,) = (one["message"] for one in found["findings"] if one["code"] == "data_separator")
    assert warning.startswith("The data file “train.csv”: The columns are separated by semicolons")


def test_the_column_of_groups_is_no_answer(ada: User) -> None:
    competition = make_competition(ada, launched=False)
    grouped = "id,label,farm\n" + "".join(f"{i},{'cat' if i % 5 else 'dog'},{i % 4}\n" for i in range(1, 41))
    save_truth(competition, grouped, group_column="farm")
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
