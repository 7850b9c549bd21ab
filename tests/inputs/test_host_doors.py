"""Numbers 125 to 132, the host's files, through all of the host's doors: the page, /admin/ and `import_competition`."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, DataFile, GroundTruth, TruthDraft
from leaderboard.ground_truths.services import data_files, drafts
from leaderboard.ground_truths.specs import GroundTruthSpec
from metrics.tests.hostile import SECTIONS
from metrics.tests.hostile_case import NUMBERS, Case, zipped
from tests.conftest import TRUTH
from tests.ground_truths.test_truth import DATA, METRIC, check, look, publish
from tests.pages import form_of, signed_in, text_of, upload
from tests.site.test_admin import change_of, page_fields, press

pytestmark = pytest.mark.thorough

SORTED = "id,label,Usage\n" + "".join(
    f"{i},{'cat' if i < 20 else 'dog'},{'Public' if i % 2 else 'Private'}\n" for i in range(40)
)
GROUPED = "id,owner,label,Usage\n" + "".join(
    f"{i * 7919 % 101},{'xyz'[i % 3]},{'cat' if i * 31 % 7 < 4 else 'dog'},{'Public' if i % 2 else 'Private'}\n"
    for i in range(40)
)
SAMPLE = "id,label\n" + "".join(f"{i},cat\n" for i in range(2, 14))


@dataclass(frozen=True)
class Given:
    """A host's truth and what is said of it; ``sample`` is a data file that is there before."""

    truth: str
    says: str
    metric: str = "accuracy"
    group: str = ""
    sample: str = ""
    sample_name: str = "sample_submission.csv"
    blocks: bool = True


LIST = {
    "125": Given("id,label,Usage\n1,a,Public\n1,b,Private\n2,a,Private\n", "there before"),
    "126": Given("id,label,Usage\n1,,Public\n2,b,Private\n3,NA,Private\n", "is missing"),
    "127 nothing private": Given("id,label,Usage\n1,a,Public\n2,b,Public\n", "No row is private"),
    "127 nothing public": Given("id,label,Usage\n1,a,Private\n2,b,Ignored\n", "No row is public"),
    "127 one class": Given(
        "id,label,Usage\n1,0,Public\n2,1,Private\n3,1,Private\n4,1,Public\n", "both", "average_precision"
    ),
    "128": Given("id,label,Usage\n1,a,Public\n2,b,Hidden\n3,b,Private\n", "none of Public, Private, Ignored"),
    "128 another name": Given("id,label,usage\n1,a,Public\n2,b,Private\n", '"Usage"'),
    "129": Given(TRUTH, "The sample submission does not fit this truth: 1 id unknown", sample=SAMPLE),
    "130": Given(SORTED, "sorted by", blocks=False),
    "131": Given(GROUPED, "in both parts", group="owner", blocks=False),
}
# The admin reads a split in other words as it is meant, like the page for new competitions.
THROUGH = [
    (number, way) for number in LIST for way in ("page", "admin", "command") if (way, number[:3]) != ("admin", "128")
]


@pytest.fixture(autouse=True)
def no_advice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which metrics fit is asked of the strangest files alone: of all of them it would take long."""
    if "Lines and quotes" not in request.node.name:
        monkeypatch.setattr("leaderboard.ground_truths.services.checks.suggest_metrics", lambda draft, split: [])


@pytest.fixture
def draft(ada: User) -> Competition:
    """Ada's competition before its answers; she is staff as well."""
    ada.is_staff = True
    ada.save()
    now = timezone.now()
    return competitions.create_competition(
        user=ada, slug="pets", title="Pets", overview="?", opens_at=now, closes_at=now + timedelta(days=1)
    )


def through_the_page(competition: Competition, ada: User, given: Given, folder: Path) -> str:
    """All that Ada reads; publishes."""
    client = signed_in(ada)
    response = check(client, given.truth, given.metric, group_column=given.group)
    output = text_of(client.get(DATA, follow=True)) if response.status_code == 303 else text_of(response)
    publish(client)
    return output + text_of(client.get(METRIC, follow=True))


def through_the_admin(competition: Competition, ada: User, given: Given, folder: Path) -> str:
    client = signed_in(ada)
    fields = page_fields(competition, file=upload(given.truth), metric=given.metric, group_column=given.group)
    fields |= {"split_by": "grouped"} if given.group else {}
    output = text_of(client.post(change_of(competition), fields, follow=True))
    return output + press(client, competition, use="yes")


def through_the_command(competition: Competition, ada: User, given: Given, folder: Path) -> str:
    competitions.delete_competition(competition=competition)
    group = f'\n[split]\ngroup = "{given.group}"\n' if given.group else ""
    (folder / "competition.toml").write_text(
        f'title = "Pets"\nslug = "pets"\nopens_at = 2026-10-01T08:00:00\ncloses_at = 2030-12-01T23:59:00\n'
        f'[metric]\nkey = "{given.metric}"\n{group}'
    )
    (folder / "overview.md").write_text("?")
    (folder / "truth.csv").write_text(given.truth)
    if given.sample:
        (folder / "data").mkdir()
        (folder / "data" / given.sample_name).write_text(given.sample)
    out = io.StringIO()
    try:
        call_command("import_competition", str(folder), "--host", "ada", stdout=out)
    except CommandError as error:
        return str(error)
    return out.getvalue()


Way = Callable[[Competition, User, Given, Path], str]
WAYS: dict[str, Way] = {"page": through_the_page, "admin": through_the_admin, "command": through_the_command}


@pytest.mark.parametrize(("number", "way"), THROUGH)
@pytest.mark.case(125, 126, 127, 128, 129, 130, 131)
def test_125_to_131_a_faulty_truth_is_blocked_and_a_strange_one_is_warned_of(
    draft: Competition, ada: User, tmp_path: Path, number: str, way: str
) -> None:
    given = LIST[number]
    if given.sample and way != "command":
        data_files.add_data_file(
            competition=draft, file_name="sample_submission.csv", chunks=[given.sample.encode()], user=ada
        )
    output = WAYS[way](draft, ada, given, tmp_path)
    assert given.says in output
    assert GroundTruth.objects.exists() != given.blocks, output
    if given.blocks:
        assert "The answers can't be published" in output or "Can't be used yet" in output


LEAKS = {
    "itself": (TRUTH.encode(), "truth.csv"),
    "under another name": (TRUTH.encode(), "train.csv"),
    "the answer column": ("\n".join(line.rpartition(",")[0] for line in TRUTH.splitlines()).encode(), "solution.csv"),
    "in a gzip": (gzip.compress(TRUTH.encode()), "data.csv.gz"),
    "in a zip": (zipped(("readme.txt", b"x"), ("truth.csv", TRUTH.encode())), "data.zip"),
    "with semicolons": (TRUTH.replace(",", ";").encode(), "data.csv"),
}


def by_the_page(client: Client, competition: Competition, data: bytes, name: str) -> tuple[int, str]:
    response = client.post("/host/pets/data/", {"file": upload(data, name)})
    return response.status_code, response.content.decode()


def by_the_admin(client: Client, competition: Competition, data: bytes, name: str) -> tuple[int, str]:
    fields = form_of(client.get(change_of(competition)))
    response = client.post(change_of(competition), {**fields, "students": upload(data, name)}, follow=True)
    return response.status_code, response.content.decode()


@pytest.mark.parametrize("way", ["page", "admin"])
@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.case(132)
def test_132_the_answers_as_a_data_file_are_blocked_in_red(pets: Competition, ada: User, leak: str, way: str) -> None:
    ada.is_staff = True
    ada.save()
    status, page = (by_the_page if way == "page" else by_the_admin)(signed_in(ada), pets, *LEAKS[leak])
    assert "Students could download the answers" in page
    assert not DataFile.objects.exists()
    assert (status, 'role="alert"' in page) == (409, True)


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.case(132)
def test_132_answers_that_students_have_already_are_not_published(draft: Competition, ada: User, leak: str) -> None:
    data, name = LEAKS[leak]
    data_files.add_data_file(competition=draft, file_name=name, chunks=[data], user=ada)
    client = signed_in(ada)
    look(client, TRUTH)
    response = client.get(publish(client)["Location"])
    assert not GroundTruth.objects.exists()
    assert "Students could download the answers" in text_of(response)


@pytest.mark.case(132)
def test_132_a_folder_whose_data_hold_the_answers_is_not_imported(
    draft: Competition, ada: User, tmp_path: Path
) -> None:
    output = through_the_command(draft, ada, Given(TRUTH, "", sample=TRUTH, sample_name="more.csv"), tmp_path)
    assert "is the answer file itself" in output
    assert not Competition.objects.exists()


# --- the rest of the list as a truth ----------------------------------------------------------------------------


def of_numbers(section: str) -> list[Case]:
    """The cases of a section for the common truth."""
    return [case for case in SECTIONS[section] if case.truth == NUMBERS and case.metric == "rmse"]


@pytest.mark.parametrize("section", SECTIONS)
def test_the_check_of_a_truth_says_what_blocks(draft: Competition, ada: User, section: str) -> None:
    client = signed_in(ada)
    for number, case in enumerate(of_numbers(section)):
        if not case.data:
            empty = client.post("/host/pets/setup/", {"files": upload("", "t.csv")}, follow=True)
            assert "empty" in text_of(empty), case.number
            continue
        drafts.save_draft(competition=draft, spec=GroundTruthSpec(metric="rmse", file_name="t.csv", chunks=[case.data]))
        report = TruthDraft.objects.get().report
        found = {finding["code"] for finding in report["findings"] if finding["blocking"]}
        # Reasons more than at home: both parts need a row, and a split is made of files with any length of line.
        assert case.blocking <= found <= case.blocking | {"empty_split", "too_many_columns"}, case.number
        if number % 5 == 0:  # it is a long page
            page = client.get(DATA, follow=True).content.decode()
            assert ('data-testid="error"' not in page) == report["ok"], case.number
    assert not GroundTruth.objects.exists()
