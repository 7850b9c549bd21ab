"""The scorer to take home is one file of the site, built before pages are served."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.conf import LazySettings
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def is_built(wheel: Path, settings: LazySettings) -> None:
    settings.MADE_DIR = wheel.parent


@pytest.mark.usefixtures("is_built")
def test_dee_downloads_the_scorer_without_an_account(client: Client, wheel: Path) -> None:
    answer = client.get("/metrics/download/", follow=True)
    assert unquote(answer.redirect_chain[-1][0]).endswith(f"/{wheel.name}")
    assert answer.content == wheel.read_bytes()
    assert answer["Content-Disposition"] == f'attachment; filename="{wheel.name}"'
    assert "classboard_metrics/accuracy.py" in zipfile.ZipFile(BytesIO(answer.content)).namelist()


@pytest.mark.usefixtures("is_built")
def test_the_page_of_a_metric_says_how_pip_takes_it(client: Client, wheel: Path) -> None:
    found = re.search(
        r"pip install (?:&#x27;)?(http://testserver/\S+?\.whl)", client.get("/metrics/rmse/").content.decode()
    )
    assert found
    assert client.get(found[1].removeprefix("http://testserver")).content == wheel.read_bytes()


@pytest.mark.usefixtures("is_built")
def test_a_file_of_another_version_is_not_found(client: Client) -> None:
    assert client.get("/metrics/download/classboard_metrics-0.0.1-py3-none-any.whl").status_code == 404
    assert client.get("/metrics/download/..%2f..%2fmanage.py").status_code == 404


def test_a_scorer_that_is_not_built_yet_is_never_built_by_a_page(
    client: Client, tmp_path: Path, settings: LazySettings
) -> None:
    settings.MADE_DIR = tmp_path
    assert client.get("/metrics/download/").status_code == 404
    assert "built when the site starts" in client.get("/metrics/rmse/").content.decode()
    assert list(tmp_path.iterdir()) == []
