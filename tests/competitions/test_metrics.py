"""The gallery of metrics and their pages: people who look, try other cells, and make mistakes."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import LazySettings
from django.http import QueryDict
from django.test import Client

import metrics
from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, GroundTruth
from leaderboard.competitions.views import examples
from leaderboard.competitions.views import metrics as metrics_views
from leaderboard.scoring import jobs_for_pages
from leaderboard.scoring.job_slots import AT_ONCE
from leaderboard.scoring.page_jobs import explain
from tests.conftest import make_competition
from tests.pages import tidy

pytestmark = pytest.mark.django_db
KEYS = [metric.key for metric in metrics.catalogue()]


@pytest.fixture(autouse=True)
def nothing_stored() -> Iterator[None]:
    yield
    examples.settled.clear()
    examples.changed.clear()


def page(client: Client, address: str, status: int = 200, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == status
    return response.content.decode()


def typed(truth: str, submission: str, **params: object) -> str:
    """The query of an example with these files, cells separated by commas."""
    fields: list[tuple[str, object]] = []
    for short, text in (("t", truth), ("s", submission)):
        rows = [row.split(",") for row in text.splitlines()]
        fields += [(f"{short}w", len(rows[0])), *((short, cell) for row in rows for cell in row)]
    return "?" + urlencode([*fields, *((f"param-{name}", value) for name, value in params.items())])


def score_of(text: str) -> float:
    found = re.search(r'class="sum-line">.*?<strong title="([^"]+)"', text, re.DOTALL)
    assert found, "the page shows no score"
    return float(found[1])


# The gallery


def test_the_gallery_shows_all_by_task(client: Client) -> None:
    text = page(client, "/metrics/")
    for metric in metrics.catalogue():
        assert f'href="/metrics/{metric.key}/"' in text
        assert f">{metric.group}</h2>" in text
    tasks = re.findall(r'<h2 id="[a-z-]+">(.*?)</h2>', text)
    assert tasks[:2] == ["Labels", "Numbers"]
    assert sorted(tasks) == sorted({metric.group for metric in metrics.catalogue()})


@pytest.mark.parametrize(
    ("words", "found", "not_found"),
    [
        ("accuracy", "accuracy", "rmse"),
        ("auc", "roc_auc", "accuracy"),
        ("F1 threshold", "thresholded_f1", "binary_f1"),
        ("segmentation", "", "accuracy"),
        ("map", "global_average_precision", "mape"),
        ("survival", "survival_concordance", "accuracy"),
        ("sensitivity", "recall", "rmse"),
        ("regression", "rmse", "accuracy"),
        ("Birdsong", "thresholded_f1", "rmse"),
    ],
)
def test_a_metric_is_found_by_the_words_people_have(client: Client, words: str, found: str, not_found: str) -> None:
    text = page(client, f"/metrics/?{urlencode({'q': words})}")
    if found:
        assert f'href="/metrics/{found}/"' in text
    assert f'href="/metrics/{not_found}/"' not in text
    assert page(client, "/metrics/?q=xyzzy").count("No metric matches") == 1


def test_every_synonym_is_about_metrics_that_could_be_there() -> None:
    """A name is a key or a group; a word that is said is not its own synonym."""
    groups = {metric.group for metric in metrics.catalogue()}
    for word, names in metrics_views.SYNONYMS.items():
        assert word == word.lower()
        for name in names:
            assert name in groups or re.fullmatch(r"[a-z0-9_]+|[A-Z][a-z ]+", name), (word, name)


def test_the_gallery_is_narrowed_by_direction(client: Client) -> None:
    text = page(client, "/metrics/?direction=minimize")
    assert 'href="/metrics/rmse/"' in text
    assert 'href="/metrics/accuracy/"' not in text
    assert 'href="/metrics/accuracy/"' in page(client, "/metrics/?direction=sideways")


def test_a_live_search_says_how_many_there_are(client: Client) -> None:
    response = client.get("/metrics/?q=rmse", headers={"HX-Request": "true"})
    assert json.loads(response["HX-Trigger"])["announce"].endswith(" found.")


def test_hostile_words_stay_text(client: Client) -> None:
    text = page(client, "/metrics/?" + urlencode({"q": '"><script>alert(1)</script>'}))
    assert "<script>alert" not in text


# Every metric's page


@pytest.mark.parametrize("key", KEYS)
def test_every_metric_explains_itself(client: Client, key: str) -> None:
    text, metric = page(client, f"/metrics/{key}/"), metrics.get(key)
    assert f"classboard-score score {key} truth.csv submission.csv" in text
    assert "Each row's contribution" in text or "the score uses whole columns" in text
    assert score_of(text) == pytest.approx(metric.example.score, rel=1e-12, abs=1e-12)
    assert " style=" not in text
    if metric.formula:
        assert 'class="math block" role="img" aria-label=' in text
    for raw in ("`", "$"):
        assert raw not in re.sub(r"<pre.*?</pre>|<input[^>]*>", "", text.partition("The code")[0])


@pytest.mark.parametrize("key", KEYS)
def test_every_example_may_be_changed(key: str) -> None:
    """It keeps the limits for what visitors type, so sending the form unchanged gives the same score."""
    metric = metrics.get(key)
    params = {**metrics.clean_params(key, {}), **metric.example.params}
    filled = {f"param-{name}": "" if value is None else value for name, value in params.items() if value is not False}
    draft = examples.ExampleDraft(
        metric, QueryDict(examples.ExampleDraft(metric, QueryDict(urlencode(filled))).change(""))
    )
    assert draft.is_changed
    assert draft.too_much == ""
    assert draft.params == params
    assert draft.answer()["overall"] == pytest.approx(metric.example.score, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("key", KEYS)
def test_every_explanation_is_plain_json(key: str) -> None:
    example = metrics.get(key).example
    answer = explain(key, example.truth, example.submission, dict(example.params))
    assert json.loads(json.dumps(answer)) == answer


def test_an_unknown_metric_is_a_404(client: Client) -> None:
    page(client, "/metrics/nothing/", 404)


def test_no_empty_parameter_is_called_none(client: Client) -> None:
    labels = tidy(page(client, "/metrics/multilabel_f1/"))
    assert "any white space</td>" in labels
    assert "<code>separator</code>: any white space" in labels
    thresholded = page(client, "/metrics/thresholded_f1/")
    for words in (">any</td>", ">whole number</td>", ">from 0</td>"):
        assert words in thresholded
    assert "no limit</td>" in thresholded
    assert ">None<" not in labels


def test_each_row_shows_what_it_contributes_and_the_last_line_how_it_adds_up(client: Client) -> None:
    text = page(client, "/metrics/accuracy/")
    cells = [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*data-label.*?</t[hd]>", text)]
    table = text[text.index("Each row's contribution") :]
    rows = re.findall(r"<tr>(.*?)</tr>", table[: table.index("</table>")], re.DOTALL)
    third = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", rows[4])).split()
    assert third == ["3", "0", "1", "0", "1"]
    assert re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", rows[-1])).split() == ["Sum", "of", "all", "rows", "3", "4"]
    line = re.search(r'class="sum-line">(.*?)</p>', text, re.DOTALL)
    assert line
    assert re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", line[1])).strip() == "right / rows = 3 / 4 = 0.75"
    assert cells


def test_an_id_column_may_have_any_name(client: Client) -> None:
    asked = typed("prediction id,truth x\n1,a", "prediction id,truth x\n1,a")
    text = tidy(page(client, "/metrics/accuracy/" + asked))
    assert '<td colspan="1"></td><th scope="colgroup" colspan="1" class="group">Truth</th>' in text
    assert '<th scope="col">prediction id</th><th scope="col">truth x</th>' in text


def test_figures_have_words_beside_their_colours(client: Client) -> None:
    matrix = page(client, "/metrics/binary_f1/")
    assert matrix.count('<span class="visually-hidden">marked:</span>') == 2
    phrases = page(client, "/metrics/coleridge_fbeta/?param-matching=one_to_one")
    assert phrases.count('<span class="visually-hidden">marked:</span>') == 2
    curve = page(client, "/metrics/roc_auc/")
    assert 'class="curve" viewBox' in curve
    assert 'role="img" aria-label="ROC curve: share of the 1s taken against share of the 0s taken' in curve
    assert "The points as a table" in curve


# Trying other cells


def test_changed_cells_are_scored_by_the_same_code(client: Client) -> None:
    text = page(client, "/metrics/accuracy/" + typed("id,label\n1,a\n2,b\n3,c", "id,label\n1,a\n2,b\n3,x"))
    assert score_of(text) == pytest.approx(2 / 3)
    assert "right / rows" in text
    assert "2 / 3" in text
    assert 'href="/metrics/accuracy/#example">Back to the example</a>' in text
    assert 'name="robots" content="noindex"' in text


def test_changed_parameters_are_used_and_shown_in_the_command(client: Client) -> None:
    text = page(client, "/metrics/fbeta/?param-beta=2")
    assert score_of(text) == pytest.approx(5 * 1 / (5 * 1 + 4 * 2 + 1))
    assert "-p beta=2.0" in text
    assert "<code>beta</code>: 2." in tidy(text)


def test_a_box_without_its_tick_is_no(client: Client) -> None:
    files = ("id,text\n1,Hello", "id,text\n1,hello")
    assert score_of(page(client, "/metrics/word_jaccard/" + typed(*files, lowercase="on"))) == 1.0
    assert score_of(page(client, "/metrics/word_jaccard/" + typed(*files))) == 0.0


def test_all_problems_are_shown_as_to_a_student_and_the_cells_stay(client: Client) -> None:
    text = page(client, "/metrics/rmse/" + typed("id,y\n1,2\n2,3", "id,y\n1,lots\n1,0;5\n9,1"))
    assert "This submission wouldn't be scored" in text
    for words in ("no plain number", "1 id of 2 missing", "1 id repeated", "1 id unknown: &quot;9&quot;"):
        assert words in text, words
    for cell in ("lots", "0;5"):
        assert f'value="{cell}"' in text
    assert 'class="sum-line"' not in text


def test_a_bad_truth_is_the_hosts_problem(client: Client) -> None:
    text = page(client, "/metrics/rmse/" + typed("id,y\n1,\n2,3", "id,y\n1,1\n2,3"))
    assert "These answers can't be used" in text


def test_a_bad_parameter_is_marked_at_its_field(client: Client) -> None:
    text = page(client, "/metrics/fbeta/?param-beta=-1")
    assert 'id="id_param-beta_error">Must be over 0.</p>' in text
    assert 'value="-1"' in text
    assert 'class="sum-line"' not in text
    assert "best" in page(client, "/metrics/multilabel_f1/?param-average=best")


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ("id,y\n" + "\n".join(f"{i},1" for i in range(21)), "at most 20 rows"),
        (",".join(f"c{i}" for i in range(13)) + "\n" + ",".join("1" * 13), "at most 12 columns"),
        ("id,y\n1," + "9" * 201, "at most 200 characters"),
        (
            "id,y,z,w\n" + "\n".join(f"{i},{'x' * 150},{'x' * 150},{'x' * 150}" for i in range(20)),
            "at most 8,192 bytes",
        ),
    ],
)
def test_what_is_too_large_is_not_computed(
    client: Client, monkeypatch: pytest.MonkeyPatch, truth: str, words: str
) -> None:
    monkeypatch.setattr(jobs_for_pages, "run_page_job", never)
    assert words in page(client, "/metrics/rmse/" + typed(truth, "id,y\n1,1"))


def never(*arguments: object, **options: object) -> dict[str, Any]:
    raise AssertionError("no child was to be asked")


def test_odd_addresses_are_read_as_well_as_they_can_be(client: Client) -> None:
    for query in ("?t=id&s=id", "?t=&s=&tw=0", "?tw=99999&t=a&s=b&sw=-1", "?tw=²&t=a&sw=x&s=b", "?t=a", "?do=t-row"):
        assert client.get(f"/metrics/accuracy/{query}", follow=True).status_code == 200
    hostile = "?" + urlencode({"t": '"><script>alert(1)</script>', "s": "id\nx,\r\n1", "tw": 1, "sw": 1, "do": ""})
    assert "<script>alert" not in page(client, f"/metrics/accuracy/{hostile}")


@pytest.mark.parametrize(
    ("what", "rows", "columns"),
    [
        ("t-row", (4, 3), (2, 2)),
        ("t-without-1", (2, 3), (2, 2)),
        ("s-column", (3, 3), (2, 3)),
        ("x-row", (3, 3), (2, 2)),
    ],
)
def test_rows_and_columns_come_and_go_without_a_script(
    client: Client, what: str, rows: tuple[int, int], columns: tuple[int, int]
) -> None:
    query = typed("id,label\n1,a\n2,b", "id,label\n1,a\n2,b") + f"&do={what}"
    response = client.get(f"/metrics/accuracy/{query}")
    assert response.status_code == 302
    assert response["Location"].endswith("#change")
    text = page(client, response["Location"].partition("#")[0])
    for short, wide, long in zip("ts", columns, rows, strict=True):
        assert f'name="{short}w" value="{wide}"' in text
        assert text.count(f'<input name="{short}"') == wide * long


def test_an_added_row_changes_nothing_until_it_is_filled(client: Client) -> None:
    text = page(client, "/metrics/accuracy/" + typed("id,label,\n1,a,\n,,\n2,b,", "id,label\n1,a\n2,x\n,"))
    assert score_of(text) == 0.5


@pytest.mark.attack("examples computed without end, to take the processor")
def test_an_address_asks_for_few_computations(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_views, "CHANGES_PER_ADDRESS", 2)
    addresses = ["/metrics/accuracy/" + typed(f"id,label\n1,a{i}", "id,label\n1,a1") for i in range(4)]
    assert score_of(page(client, addresses[0])) == 0.0
    assert score_of(page(client, addresses[1])) == 1.0
    text = page(client, addresses[2], 429)
    assert "Wait a little" in text
    assert 'value="a2"' in text
    # What is known costs nothing, and the metric's own example is for everybody.
    page(client, addresses[0])
    page(client, "/metrics/accuracy/")


@pytest.mark.attack("examples computed without end, to take the processor")
def test_strangers_of_all_addresses_together_take_a_part_of_the_processor_and_people_have_their_own(
    client: Client, bo: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_views, "CHANGES_OF_STRANGERS", 2)
    addresses = ["/metrics/accuracy/" + typed(f"id,label\n1,c{i}", "id,label\n1,c1") for i in range(4)]
    for number, status in enumerate((200, 200, 429)):
        assert client.get(addresses[number], REMOTE_ADDR=f"10.0.0.{number}").status_code == status
    client.force_login(bo)
    assert client.get(addresses[3], REMOTE_ADDR="10.0.0.1").status_code == 200


def test_behind_a_proxy_nobody_uses_up_the_computations_of_others(
    client: Client, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    monkeypatch.setattr(metrics_views, "CHANGES_PER_ADDRESS", 1)
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    address = "/metrics/accuracy/" + typed("id,label\n1,a1", "id,label\n1,a1")
    for number, status in ((1, 200), (1, 429), (2, 200)):
        query = f"{address}&again={number}{status}".replace("a1", f"a{number}{status}")
        said_to_user = {"X-Forwarded-For": f"10.0.0.{number}"}
        assert client.get(query, headers=said_to_user).status_code == status


def test_an_example_is_computed_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    run: Callable[..., dict[str, Any]] = jobs_for_pages.run_page_job

    def counted(job: str, **arguments: Any) -> dict[str, Any]:
        asked.append(job)
        return run(job, **arguments)

    monkeypatch.setattr(jobs_for_pages, "run_page_job", counted)
    for _ in range(3):
        page(client, "/metrics/accuracy/")
        page(client, "/metrics/fbeta/?param-beta=3")
    assert asked == ["explain", "explain"]


def test_without_the_child_everything_else_is_there(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> dict[str, Any]:
        raise jobs_for_pages.JobFailed("secret detail")

    monkeypatch.setattr(jobs_for_pages, "run_page_job", fail)
    text = page(client, "/metrics/rmse/")
    for words in ("The rest of this page is correct", "Definition", "0.61237", "<caption>Answers</caption>"):
        assert words in text
    assert "secret detail" not in text
    changed = page(client, "/metrics/rmse/" + typed("id,y\n1,2", "id,y\n1,4.5"))
    assert 'value="4.5"' in changed
    assert "compute the example right now" in changed


def test_a_script_says_what_came_of_it(client: Client) -> None:
    address = "/metrics/accuracy/" + typed("id,label\n1,a", "id,label\n1,a")
    response = client.get(address, headers={"HX-Request": "true"})
    assert json.loads(response["HX-Trigger"]) == {"announce": "The score is 1."}


@pytest.mark.slow
def test_small_jobs_wait_for_their_own_places_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    of_visitors = replace(jobs_for_pages.KINDS["explain"], patience=0.01)
    monkeypatch.setitem(jobs_for_pages.KINDS, "explain", of_visitors)
    example = metrics.get("accuracy").example
    files = {"metric": "accuracy", "truth": example.truth, "submission": example.submission, "params": {}}
    for _ in range(AT_ONCE):
        assert jobs_for_pages.OF_HOSTS.places.acquire(blocking=False)
    try:
        assert jobs_for_pages.run_page_job("explain", **files)["overall"] == 0.75
    finally:
        jobs_for_pages.OF_HOSTS.places.release(AT_ONCE)
    for _ in range(AT_ONCE):
        assert of_visitors.places.acquire(blocking=False)
    try:
        with pytest.raises(jobs_for_pages.JobFailed, match="found no place"):
            jobs_for_pages.run_page_job("explain", **files)
    finally:
        of_visitors.places.release(AT_ONCE)


@pytest.mark.slow
def test_the_child_explains_in_a_process_of_its_own() -> None:
    example = metrics.get("roc_auc").example
    answer = jobs_for_pages.run_page_job(
        "explain", metric="roc_auc", truth=example.truth, submission=example.submission, params={}
    )
    assert answer["overall"] == 0.75
    assert answer == explain("roc_auc", example.truth, example.submission, {})


# In a competition


def test_the_overview_shows_the_example_under_the_competitions_parameters(client: Client, ada: User) -> None:
    truth = "id,y,Usage\n" + "".join(f"{i},{i % 2},{'Public' if i < 4 else 'Private'}\n" for i in range(8))
    make_competition(ada, is_listed=True, truth=truth, metric="fbeta", params={"beta": 2.0})
    text = page(client, "/c/pets/")
    assert score_of(text) == pytest.approx(5 / 14)
    assert "with this competition's parameters" in text
    assert "/metrics/fbeta/?param-positive=1&amp;param-beta=2.0#example" in text.replace("&param", "&amp;param")


def test_an_example_that_the_parameters_do_not_fit_is_shown_with_its_own(
    client: Client, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_competition(ada, is_listed=True, metric="multilabel_f1", params={"average": "macro"})
    run: Callable[..., dict[str, Any]] = jobs_for_pages.run_page_job

    def only_samples(job: str, **arguments: Any) -> dict[str, Any]:
        if arguments["params"]["average"] == "macro":
            return {"faults_of": "submission", "problems": []}
        return run(job, **arguments)

    monkeypatch.setattr(jobs_for_pages, "run_page_job", only_samples)
    text = page(client, "/c/pets/")
    assert "This competition's parameters don't fit it, so it uses its own" in text
    assert score_of(text) == pytest.approx(metrics.get("multilabel_f1").example.score)


def test_a_competition_whose_metric_is_gone_still_opens(client: Client, ada: User) -> None:
    make_competition(ada, is_listed=True)
    for metric, params in (("long_gone", {}), ("fbeta", {"beta": "much"})):
        GroundTruth.objects.update(metric=metric, params=params)
        text = page(client, "/c/pets/")
        assert "This site doesn't have this metric at present, so we can't show how scores are calculated" in text
        assert metric in text


def test_the_overview_stands_without_the_child(
    client: Client, ada: User, pets: Competition, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> dict[str, Any]:
        raise jobs_for_pages.JobFailed("no place")

    monkeypatch.setattr(jobs_for_pages, "run_page_job", fail)
    client.force_login(ada)
    text = page(client, f"/c/{pets.slug}/")
    assert "Metric: Accuracy" in text
    assert 'class="sum-line"' not in text


# Metrics from outside


class Outside(metrics.Metric):
    """A metric that runs in another process."""

    is_outside = True


@pytest.fixture
def outside() -> metrics.Metric:
    """RMSE as a file without an example might declare it, with no end to its scale and its own process."""
    rmse = metrics.get("rmse")
    declared = {field.name: getattr(rmse, field.name) for field in dataclasses.fields(rmse)}
    return Outside(**{**declared, "example": metrics.Example("", "", 0.0), "best": -math.inf})


def test_a_metric_without_an_example_lets_one_be_typed(
    client: Client, outside: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "get", lambda key: outside)
    text = page(client, "/metrics/rmse/")
    for words in (
        "Type two small files below to try it",
        "<dt>Best value</dt><dd>not known</dd>",
        "no end",
        '<details class="disclosure change" id="change" open>',
        "METRICS_DIR",
    ):
        assert words in text
    changed = page(client, "/metrics/rmse/" + typed("id,y\n1,2\n2,4", "id,y\n1,2\n2,4"))
    assert "METRICS_DIR" in changed


def test_a_group_that_outside_metrics_share_is_shown_once(
    client: Client, outside: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = (*metrics.catalogue(), dataclasses.replace(outside, title="From outside"))
    monkeypatch.setattr(metrics, "catalogue", lambda: catalogue)
    text = page(client, "/metrics/")
    assert text.count('id="numbers"') == 1
    assert "From outside" in text


def test_its_competition_has_a_page_without_an_example(
    client: Client, ada: User, outside: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = "id,y,Usage\n" + "".join(f"{i},{i % 3},{'Public' if i < 4 else 'Private'}\n" for i in range(8))
    make_competition(ada, is_listed=True, truth=truth, metric="rmse")
    monkeypatch.setattr(metrics, "get", lambda key: outside)
    text = page(client, "/c/pets/")
    assert "<dt>Best value</dt><dd>not known</dd>" in text
    assert 'class="sum-line"' not in text


def test_examples_at_pythons_prompt_are_code(
    client: Client, outside: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "get", lambda key: outside)
    monkeypatch.setattr(type(outside), "description", "Gap.\n\n    >>> 1 + 1 < 3\n    True\n\nMore.")
    text = page(client, "/metrics/rmse/")
    assert "<code>&gt;&gt;&gt; 1 + 1 &lt; 3\nTrue\n</code>" in text
    assert "<p>More.</p>" in text
    monkeypatch.setattr(type(outside), "description", "")
    assert "no further description" in page(client, "/metrics/rmse/")


def test_what_an_outside_metric_stumbles_over_is_told_to_nobody(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*arguments: object) -> None:
        raise metrics.MetricError("secret detail")

    monkeypatch.setattr(metrics, "explain", stumble)
    text = page(client, "/metrics/rmse/" + typed("id,y\n1,2", "id,y\n1,4.5"))
    assert "which your administrator added" in text
    assert "secret detail" not in text


def test_a_file_that_went_away_leaves_its_page(
    client: Client, outside: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "get", lambda key: outside)
    monkeypatch.setattr(type(outside), "source_path", Path("/nowhere/rmse.py"))
    monkeypatch.setattr(type(outside), "version", "0" * 12)
    page(client, "/metrics/rmse/")


def test_the_parts_of_a_composite_are_typed_line_by_line(client: Client) -> None:
    text = page(client, "/metrics/composite_score/?param-parts=2+accuracy+root%0D%0A1+accuracy+vowel")
    assert re.search(
        r"<textarea[^>]*name=\"param-parts\"[^>]*>\s*2 accuracy root\r?\n1 accuracy vowel</textarea>", text
    )
    assert "accuracy vowel" in text.split("Each part")[1]
    wrong = page(client, "/metrics/composite_score/?param-parts=2+acuracy+root")
    assert "No built-in metric is called &quot;acuracy&quot;." in wrong
