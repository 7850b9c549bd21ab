"""The gallery of metrics and their pages, with worked examples that were computed before."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils.html import escape

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.folders import ROOT
from leaderboard.common.made_files import EXAMPLES_FILE, make_worked_examples
from leaderboard.competitions import metric_search
from leaderboard.competitions.models import GroundTruth
from tests.conftest import make_competition
from tests.pages import tidy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("with_worked_examples")]
KEYS = [metric.key for metric in metrics.catalogue()]


def page(client: Client, address: str, status: int = 200, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == status
    return response.content.decode()


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
    assert text.index('href="/metrics/rmse/"') < text.index('href="/metrics/gamma_deviance/"')
    assert text.index('href="/metrics/kendall_tau/"') < text.index('href="/metrics/mean_haversine/"')
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
    for word, names in metric_search.SYNONYMS.items():
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
    assert json.loads(response["HX-Trigger"])["announce"]["value"].endswith(" found.")


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
    if "$$" in metric.description:
        assert 'class="math block" role="img" aria-label=' in text
    for raw in ("`", "$"):
        assert raw not in re.sub(r"<pre.*?</pre>|<input[^>]*>", "", text.partition("The code")[0])


def test_a_scale_that_depends_on_parameters_ends_where_their_defaults_say(client: Client) -> None:
    assert "<dt>Worst value</dt><dd>200</dd>" in page(client, "/metrics/smape/")
    assert "<dt>Worst value</dt><dd>no end</dd>" in page(client, "/metrics/levenshtein/")


def test_the_file_says_what_the_code_says(worked_examples: Path) -> None:
    entries = json.loads((worked_examples / EXAMPLES_FILE).read_text())["examples"]
    assert set(entries) == set(KEYS)
    for metric in metrics.catalogue():
        example, entry = metric.example, entries[metric.key]
        now = metrics.explain(metric.key, example.truth.encode(), example.submission.encode(), dict(example.params))
        assert entry["version"] == metric.version
        assert entry["example"]["overall"] == now.result.overall, metric.key
        assert entry["example"]["rows"] == [list(row) for row in now.rows], metric.key
        assert entry["example"]["contributions"] == [list(row) for row in now.contributions], metric.key


def test_what_was_computed_is_kept_until_the_code_is_other_code(
    worked_examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(worked_examples / EXAMPLES_FILE, tmp_path)
    computed, really = list[str](), metrics.explain

    def explain(key: str, *files: Any) -> metrics.Explanation:
        computed.append(key)
        return really(key, *files)

    monkeypatch.setattr(metrics, "explain", explain)
    make_worked_examples(tmp_path)
    assert computed == []
    monkeypatch.setattr("leaderboard.common.made_files.library_version", lambda: "another")
    make_worked_examples(tmp_path)
    assert computed == KEYS


@pytest.mark.parametrize("is_there", [False, True], ids=["no file yet", "a file of other code"])
def test_a_page_never_computes_an_example_and_says_that_it_is_not_ready(
    client: Client,
    worked_examples: Path,
    tmp_path: Path,
    settings: LazySettings,
    monkeypatch: pytest.MonkeyPatch,
    is_there: bool,
) -> None:
    settings.MADE_DIR = tmp_path
    if is_there:
        text = (worked_examples / EXAMPLES_FILE).read_text()
        (tmp_path / EXAMPLES_FILE).write_text(text.replace(metrics.get("rmse").version, "0" * 12))
    monkeypatch.setattr(metrics, "explain", None)
    text = page(client, "/metrics/rmse/")
    for words in ("The rest of this page is correct", "Definition", escape(metrics.get("rmse").example.submission)):
        assert words in text
    assert 'class="sum-line"' not in text


def test_pages_of_metrics_start_no_process_and_load_no_heavy_library(worked_examples: Path) -> None:
    code = f"""
import os, subprocess, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "leaderboard.settings"
import django
django.setup()
from django.conf import settings
from django.template.loader import render_to_string
import metrics
from leaderboard.competitions.metric_display import worked_example_of
settings.MADE_DIR = {str(worked_examples)!r}
subprocess.Popen.__init__ = None
for metric in metrics.catalogue():
    assert worked_example_of(metric).line, metric.key
print(sorted({{"sklearn", "scipy", "pandas", "pyarrow"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


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


def test_figures_have_words_beside_their_colours(client: Client) -> None:
    matrix = page(client, "/metrics/binary_f1/")
    assert matrix.count('<span class="visually-hidden">marked:</span>') == 2
    phrases = page(client, "/metrics/coleridge_fbeta/")
    assert phrases.count('<span class="visually-hidden">marked:</span>') == 3
    curve = page(client, "/metrics/roc_auc/")
    assert 'class="curve" viewBox' in curve
    assert 'role="img" aria-label="ROC curve: share of the 1s taken against share of the 0s taken' in curve
    assert "The points as a table" in curve


# In a competition


def test_a_competition_whose_metric_is_gone_still_opens(client: Client, ada: User) -> None:
    make_competition(ada, is_listed=True)
    for metric, params in (("long_gone", {}), ("fbeta", {"beta": "much"})):
        GroundTruth.objects.update(metric=metric, params=params)
        text = page(client, "/c/pets/")
        assert "This site doesn't have this metric at present." in text
        assert metric in text


# Custom metrics


class Custom(metrics.Metric):
    """A metric that runs in another process."""

    is_custom = True
    version = "1" * 12


@pytest.fixture
def custom() -> metrics.Metric:
    """RMSE as a file without an example might declare it, with no end to its scale and its own process."""
    rmse = metrics.get("rmse")
    declared = {field.name: getattr(rmse, field.name) for field in dataclasses.fields(rmse)}
    return Custom(**{**declared, "example": metrics.Example("", "", 0.0), "best": -math.inf})


def test_a_metric_without_an_example_says_so(
    client: Client, custom: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "get", lambda key: custom)
    text = page(client, "/metrics/rmse/")
    for words in (
        "This metric has no example.",
        "<dt>Best value</dt><dd>not known</dd>",
        "no end",
        "METRICS_DIR",
    ):
        assert words in text


def test_a_group_that_custom_metrics_share_is_shown_once(
    client: Client, custom: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = (*metrics.catalogue(), dataclasses.replace(custom, title="Added here"))
    monkeypatch.setattr(metrics, "catalogue", lambda: catalogue)
    text = page(client, "/metrics/")
    assert text.count('id="numbers"') == 1
    assert "Added here" in text


def test_examples_at_pythons_prompt_are_code(
    client: Client, custom: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "get", lambda key: custom)
    monkeypatch.setattr(type(custom), "description", "Gap.\n\n    >>> 1 + 1 < 3\n    True\n\nMore.")
    text = page(client, "/metrics/rmse/")
    assert "<code>&gt;&gt;&gt; 1 + 1 &lt; 3\nTrue\n</code>" in text
    assert "<p>More.</p>" in text
    monkeypatch.setattr(type(custom), "description", "")
    assert "no further description" in page(client, "/metrics/rmse/")


def test_a_file_that_went_away_leaves_its_page(
    client: Client, custom: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "get", lambda key: custom)
    monkeypatch.setattr(type(custom), "source_path", Path("/nowhere/rmse.py"))
    monkeypatch.setattr(type(custom), "version", "0" * 12)
    page(client, "/metrics/rmse/")
