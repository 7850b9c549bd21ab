"""The gallery of metrics and their pages."""

from __future__ import annotations

import pytest
from django.test import Client

import metrics


def test_the_gallery_shows_all_and_finds_one(client: Client, db: None) -> None:
    text = client.get("/metrics/").content.decode()
    for metric in metrics.catalogue():
        assert f'href="/metrics/{metric.key}/"' in text
    found = client.get("/metrics/?q=accuracy").content.decode()
    assert 'href="/metrics/accuracy/"' in found
    assert 'href="/metrics/rmse/"' not in found
    assert "No metric matches" in client.get("/metrics/?q=xyzzy").content.decode()


@pytest.mark.parametrize("key", [metric.key for metric in metrics.catalogue()])
def test_every_metric_explains_itself(client: Client, db: None, key: str) -> None:
    response = client.get(f"/metrics/{key}/")
    text = response.content.decode()
    metric = metrics.get(key)
    assert response.status_code == 200
    assert f"python -m metrics score {key} truth.csv submission.csv" in text
    assert "Worked example" in text
    assert f'title="{metric.example.score}"' in text
    assert " style=" not in text
    if metric.formula:
        assert 'role="img" aria-label=' in text


def test_an_unknown_metric_is_a_404(client: Client, db: None) -> None:
    assert client.get("/metrics/nothing/").status_code == 404


def test_no_empty_parameter_is_called_none(client: Client, db: None) -> None:
    labels = client.get("/metrics/multilabel_f1/").content.decode()
    assert "any white space</td>" in labels
    assert "<code>separator</code>: any white space" in labels
    thresholded = client.get("/metrics/thresholded_f1/").content.decode()
    for words in (">any</td>", ">whole number</td>", ">from 0</td>"):
        assert words in thresholded
    assert "no limit</td>" in thresholded
    assert ">None<" not in labels


@pytest.mark.parametrize("key", [metric.key for metric in metrics.catalogue()])
def test_code_and_formulas_in_sentences_are_drawn(client: Client, db: None, key: str) -> None:
    page = client.get(f"/metrics/{key}/").content.decode().partition("The file that scores")[0]
    for raw in ("`", "$"):
        assert raw not in page
