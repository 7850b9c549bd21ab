"""The scorer to take home is one file of the site."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from urllib.parse import unquote

import pytest
from django.test import Client

from leaderboard.common.library_wheel import build_wheel, name_wheel


@pytest.mark.django_db
def test_dee_downloads_the_scorer_without_an_account(client: Client) -> None:
    answer = client.get("/metrics/download/", follow=True)
    name, data = name_wheel(), build_wheel()
    assert unquote(answer.redirect_chain[-1][0]).endswith(f"/{name}")
    assert answer.content == data
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert "classboard_metrics/accuracy.py" in zipfile.ZipFile(BytesIO(answer.content)).namelist()


@pytest.mark.django_db
def test_the_page_of_a_metric_says_how_pip_takes_it(client: Client) -> None:
    found = re.search(
        r"pip install (?:&#x27;)?(http://testserver/\S+?\.whl)", client.get("/metrics/rmse/").content.decode()
    )
    assert found
    assert client.get(found[1].removeprefix("http://testserver")).content == build_wheel()


@pytest.mark.django_db
def test_a_file_of_another_version_is_not_found(client: Client) -> None:
    assert client.get("/metrics/download/classboard_metrics-0.0.1-py3-none-any.whl").status_code == 404
    assert client.get("/metrics/download/..%2f..%2fmanage.py").status_code == 404
