"""Choosing a metric by the file: what fits comes first, roles are columns of the file, groups stay together."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.test import Client

from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions.models import Competition, TruthDraft
from leaderboard.ground_truths.services import data_files
from metrics.tests.answer_files import split_table, table
from tests.conftest import make_competition
from tests.ground_truths.test_truth import DATA, check, look, publish
from tests.pages import signed_in, text_of

YES_NO = table("id,y", lambda i, dice: dice.choice("01"), 60)
WEIGHED = split_table("id,price,sample_weight", lambda i, dice: f"{dice.random():.4f},{dice.randint(1, 9)}", 60)
PATIENTS = table("id,patient,y", lambda i, dice: f"p{i // 4},{dice.choice('01')}", 80)


def page_of(client: Client, query: str = "") -> str:
    found: str = client.get(f"/host/pets/truth/metric/{query}").content.decode()
    return found


def data_of(client: Client) -> str:
    return text_of(client.get(DATA, follow=True))


def radios(page: str) -> list[str]:
    return re.findall(r'name="metric" value="(\w+)"', page)


def test_the_file_finds_its_metrics_and_is_checked_with_the_most_usual(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, YES_NO)
    made = TruthDraft.objects.get()
    assert (made.metric, made.report["ok"]) == ("roc_auc", True)
    page = page_of(client)
    assert radios(page)[:3] == ["roc_auc", "log_loss", "average_precision"]
    assert len(radios(page)) == len(set(radios(page))) <= 6
    assert "The answers are 0 and 1" in page
    assert 'value="roc_auc" checked' in page
    assert "reads 2 target columns" in page_of(client, "?q=survival")


def test_a_typing_error_hides_neither_the_metrics_nor_itself(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, table("id,y", lambda i, dice: "x" if i == 15 else dice.choice("01"), 60))
    made = TruthDraft.objects.get()
    assert (made.metric, made.report["ok"]) == ("roc_auc", False)
    page = page_of(client)
    assert radios(page)[:2] == ["roc_auc", "log_loss"]
    assert "0 and 1, all but 1 cell (line 17 is &quot;x&quot;)" in page
    assert "line 17 (id" in data_of(client)


def test_files_that_know_nothing_are_scored_before_anything_is_published(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, YES_NO)
    page = data_of(client)
    for name in ("Any constant", "Random answers", "Perfect file"):
        assert name in page
    assert "0.500" in page
    assert "Smallest meaningful difference" in page
    check(client, None, "log_loss", **{"param-clip": "1e-15"})
    page = text_of(client.get("/host/pets/truth/metric/"))
    for name in ("Sample submission", "Most frequent answer", "Mean"):
        assert name in page
    assert "0.693" in page


def test_a_log_loss_that_was_found_is_clipped_as_proposed(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, YES_NO)
    assert 'name="param-clip" value="0.001"' in page_of(client, "?metric=log_loss")
    one_class = b"id,y,Usage\n" + b"".join(
        b"%d,%d,%s\n" % (i, i > 40 and i % 2, b"Public" if i < 30 else b"Private") for i in range(90)
    )
    look(client, one_class)
    made = TruthDraft.objects.get()
    assert (made.metric, made.params["clip"]) == ("log_loss", 0.001)


def test_a_role_is_chosen_among_the_columns_of_the_file(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, WEIGHED)
    assert TruthDraft.objects.get().params == {"weight": "sample_weight"}
    page = page_of(client)
    chooser = page.partition('name="param-weight"')[2].partition("</select>")[0]
    assert re.findall(r'<option value="(\w+)"', chooser) == ["price", "sample_weight"]
    assert '<option value="sample_weight" selected>' in page
    response = check(client, None, "weighted_mae", **{"param-weight": "price"})
    assert response.status_code == 303
    assert TruthDraft.objects.get().params == {"weight": "price"}
    refused = check(client, None, "weighted_mae", **{"param-weight": "height"})
    assert refused.status_code == 422
    assert "Select a valid choice. height" in text_of(refused)


def test_the_columns_are_those_of_the_file_in_the_request(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, YES_NO)
    assert check(client, WEIGHED, "weighted_mae", **{"param-weight": "sample_weight"}).status_code == 303
    assert TruthDraft.objects.get().report["ok"]


def test_choosing_another_metric_offers_the_columns_that_fit(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, WEIGHED)
    check(client, None, "columnwise_rmse")
    page = client.get("/host/pets/truth/metric/?metric=weighted_mae", headers={"HX-Request": "true"}).content.decode()
    assert '<option value="sample_weight" selected>' in page


@pytest.mark.parametrize(
    ("truth", "words"), [(b"\x89PNG\r\n\x1a\n", "PNG"), (b"id;y\n1;2\n", "semicolons"), (b"id\n1\n", "no target")]
)
def test_a_file_that_fits_nothing_says_why(draft: Competition, ada: User, truth: bytes, words: str) -> None:
    client = signed_in(ada)
    look(client, truth)
    page = data_of(client)
    assert "Can't be used yet" in page
    assert words in page


def test_the_usual_metrics_come_first_and_a_search_finds_the_others(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, YES_NO)
    usual = radios(page_of(client))
    assert "cohen_kappa" in set(radios(page_of(client, "?q=kappa"))) - set(usual)
    assert "hausdorff_3d" in radios(page_of(client, "?q=hausdorff")), "also what does not fit, with the reason"
    assert "No metric matches" in page_of(client, "?q=xyzzy")
    assert radios(page_of(client, "?q=xyzzy")) == usual


def test_a_chosen_metric_is_never_hidden(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    make_competition(ada, slug="without", launched=False)
    look(client, YES_NO)
    for chosen in ("cohen_kappa", "rmse", "roc_auc"):
        page = page_of(client, f"?metric={chosen}")
        assert re.search(rf'value="{chosen}" checked', page)
        assert len(radios(page)) == len(set(radios(page)))
        assert radios(client.get(f"/host/without/truth/metric/?metric={chosen}").content.decode()) == [chosen]


def published(competition: Competition) -> list[dict[str, str]]:
    competition.refresh_from_db()
    assert competition.ground_truth is not None
    text = path_of(competition.ground_truth.file_key).read_text()
    return list(csv.DictReader(io.StringIO(text)))


def test_groups_stay_together_and_their_column_is_no_answer(draft: Competition, ada: User) -> None:  # 131
    client = signed_in(ada)
    look(client, PATIENTS, group_column="patient")
    made = TruthDraft.objects.get()
    assert (made.metric, made.group_column, made.report["ok"]) == ("roc_auc", "patient", True)
    assert made.report["submission_columns"] == ["id", "y"]
    assert "rows with the same patient stay together" in data_of(client)
    assert publish(client).status_code == 303
    rows = published(draft)
    patient = {line.split(",")[0]: line.split(",")[1] for line in PATIENTS.decode().splitlines()[1:]}
    where: dict[str, set[str]] = {}
    for row in rows:
        where.setdefault(patient[row["id"]], set()).add(row["Usage"])
    assert all(len(parts) == 1 for parts in where.values())
    assert list(rows[0]) == ["id", "y", "Usage"]


def test_a_group_in_both_parts_of_a_given_split_is_told(draft: Competition, ada: User) -> None:  # 131
    client = signed_in(ada)
    look(
        client,
        split_table("id,patient,y", lambda i, dice: f"p{i // 4},{dice.choice('01')}", 80),
        group_column="patient",
    )
    page = data_of(client)
    assert "in both parts" in page
    assert "1 warning" in page
    assert publish(client).status_code == 303
    assert list(published(draft)[0]) == ["id", "y", "Usage"]


def test_a_group_that_is_no_column_blocks(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, PATIENTS, group_column="nurse")
    page = data_of(client)
    assert 'no column "nurse"' in page
    assert "Can't be used yet" in page


def test_ids_are_compared_with_the_files_that_students_have(draft: Competition, ada: User) -> None:  # 129
    ids = [line.split(",")[0] for line in YES_NO.decode().splitlines()[1:]]
    sample = "id,y\n" + "".join(f"{name},0.5\n" for name in ids[1:])
    test = "id,x\n" + "".join(f"{name},1\n" for name in [*ids[2:], "new"])
    data_files.add_data_file(competition=draft, file_name="sample_submission.csv", chunks=[sample.encode()])
    data_files.add_data_file(competition=draft, file_name="test.csv", chunks=[test.encode()])
    client = signed_in(ada)
    look(client, YES_NO)
    page = data_of(client)
    assert "The sample submission does not fit this truth: 1 id of 60 missing" in page
    assert '2 ids with an answer are missing from "test.csv"' in page
    assert '1 id of "test.csv" has no answer: "new"' in page
    assert publish(client)["Location"].endswith("#check")
    assert not draft.ground_truths.exists()
    good = "id,y\n" + "".join(f"{name},0.5\n" for name in ids)
    data_files.add_data_file(competition=draft, file_name="sample_submission.csv", chunks=[good.encode()])
    assert publish(client).status_code == 303


def test_all_faults_are_told_also_where_the_system_would_make_the_split(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    check(client, "id,label\n1,a\n1,b\n,c\n4,\n5,d,e\n")
    found = {finding["code"] for finding in TruthDraft.objects.get().report["findings"]}
    assert found == {"row_width", "repeated_ids", "blank_id", "missing_value"}


def test_blank_lines_before_the_header_do_not_hide_the_split(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    check(client, "\n \nid,label,Usage\n1,a,Public\n2,b,Private\n")
    report = TruthDraft.objects.get().report
    assert (report["ok"], report["is_split_by_system"]) == (True, False)


def test_a_warning_is_accepted_on_the_page_of_the_metric(draft: Competition, ada: User) -> None:
    client = signed_in(ada)
    look(client, table("id,y", lambda i, dice: "01"[i > 30], 60))
    (key,) = re.findall(r'name="accept" value="(\w+)"', page_of(client))
    assert client.post("/host/pets/truth/metric/", {"accept": key})["Location"] == "/host/pets/truth/metric/#check"
    assert 'data-testid="accepted"' in page_of(client)
    assert not draft.ground_truths.exists()
