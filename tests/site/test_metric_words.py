"""What a metric says of itself is read in each reader's own language."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management.commands.makemessages import TranslatableFile
from django.test import Client
from django.utils import translation
from django.utils.html import escape

import metrics
from leaderboard.accounts.models import ApiToken, User
from leaderboard.boards import board_table
from leaderboard.common import library_messages
from leaderboard.competitions.metric_search import matching_metrics
from leaderboard.competitions.models import Competition
from leaderboard.competitions.models.competition import Split
from leaderboard.operations.management.commands import makemessages
from metrics.core.registry import built_in
from tests.boards.test_secondary_pages import TRUTH, a_file
from tests.common.languages import CODE, Bracketed
from tests.conftest import enter, make_competition, submit
from tests.pages import signed_in

pytestmark = pytest.mark.usefixtures("two_languages")

LIBRARY = Path(metrics.__file__).parent
FOREIGN = {"Accept-Language": f"{CODE}, en;q=0.5"}


def read(path: str, client: Client | None = None) -> str:
    return (client or Client()).get(path, headers=FOREIGN).content.decode()


@pytest.mark.django_db
def test_the_gallery_names_every_metric_and_task_in_the_readers_language() -> None:
    text = read("/metrics/")
    for metric in built_in().values():
        assert f">⟦{escape(metric.title)}⟧</a>" in text
        assert f">⟦{metric.group}⟧</h2>" in text
    assert 'id="masks-and-boxes"' in text
    assert "⟦⟦0 or 1⟧ → ⟦probability (0 to 1)⟧⟧" in text
    assert "⟦Share of rows whose label is exactly right.⟧" in text


@pytest.mark.django_db
def test_the_page_of_a_metric_is_in_the_readers_language_down_to_its_definition() -> None:
    text = read("/metrics/jaccard/")
    assert "⟦Text between two labels; empty means any white space.⟧" in text
    assert ">⟦any white space⟧</td>" in text
    assert "⟦How much true and predicted label sets overlap" in text
    assert 'class="math block"' in text


@pytest.mark.django_db
def test_a_metric_is_found_by_the_words_of_the_readers_language_and_by_english_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = {"Accuracy": "Genauigkeit", "Labels": "Etiketten"}
    monkeypatch.setattr(Bracketed, "gettext", lambda self, message: words.get(message, message))
    with translation.override(CODE):
        for text in ("genauigkeit", "accuracy", "genauig"):
            assert "accuracy" in [metric.key for metric in matching_metrics(metrics.catalogue(), text)]
        assert "f1" in [metric.key for metric in matching_metrics(metrics.catalogue(), "etiketten")]
    assert matching_metrics(metrics.catalogue(), "genauigkeit") == []


@pytest.mark.django_db
def test_ada_chooses_a_metric_and_its_parameters_in_her_language(ada: User) -> None:
    competition = make_competition(ada, launched=False)
    client = signed_in(ada)
    chooser = read(f"/host/{competition.slug}/truth/metric/", client)
    assert "⟦Share of rows whose label is exactly right.⟧" in chooser
    assert 'value="rmse">⟦RMSE⟧' in chooser
    path = f"/host/{competition.slug}/truth/metric/?metric=fbeta"
    fields = client.get(path, headers={**FOREIGN, "HX-Request": "true"}).content.decode()
    assert "<h3>⟦F-beta⟧</h3>" in fields
    assert "⟦Weight of recall: below 1 favours precision.⟧" in fields


def test_why_a_metric_fits_says_its_columns_in_her_language() -> None:
    fits = metrics.suggest(b"id,y\n1,cat\n2,dog\n3,cat\n4,dog\n")
    reason = next(fit.reason for fit in fits if fit.key == "accuracy")
    with translation.override(CODE):
        assert "a submission has: ⟦label⟧." in library_messages.translated_message(reason)


def test_what_a_metric_wants_confirmed_is_asked_in_her_language() -> None:
    question = metrics.get("coleridge_fbeta").confirmation({"matching": "per_prediction"})
    with translation.override(CODE):
        assert library_messages.translated_message(question) == f"⟦{question}⟧"


@pytest.fixture
def tides(ada: User, bo: User) -> Competition:
    secondary: list[tuple[str, dict[str, Any]]] = [("pinball", {"quantile": 0.9})]
    competition = make_competition(ada, slug="tides", truth=TRUTH, metric="mae", secondary=secondary, is_listed=True)
    enter(competition, bo)
    submit(competition, bo, a_file(0.1))
    return competition


def test_a_board_and_the_overview_name_metrics_in_bos_language(tides: Competition, bo: User) -> None:
    client = signed_in(bo)
    assert ">⟦MAE⟧</a>" in read("/c/tides/leaderboard/", client)
    assert "⟦Pinball loss⟧, quantile 0.9" in read("/c/tides/leaderboard/", client)
    assert "⟦" not in client.get("/c/tides/leaderboard/").content.decode()
    overview = read("/c/tides/", client)
    assert "⟦Mean absolute error: every unit of error weighs the same.⟧" in overview
    assert "⟦MAE⟧ ·" in read("/competitions/", client)


def test_programs_and_exported_files_name_metrics_in_english(tides: Competition, ada: User, bo: User) -> None:
    headers = {**FOREIGN, "Authorization": f"Bearer {ApiToken.issue(bo, 'laptop')[1]}"}
    found = Client().get("/api/v1/competitions/tides", headers=headers).json()
    assert "⟦" not in json.dumps(found, ensure_ascii=False)
    assert "Pinball loss" in json.dumps(found)
    with translation.override(CODE):
        assert "Pinball loss, quantile 0.9" in board_table.board_csv(tides, Split.PUBLIC)


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="GNU gettext is needed to translate, not to run a site")
def test_the_command_for_translators_finds_messages_and_what_metrics_say_of_themselves(tmp_path: Path) -> None:
    command = makemessages.Command()
    command.domain, command.verbosity = "django", 0
    command.process_files(
        [
            TranslatableFile(str(path.parent), path.name, str(tmp_path))
            for path in sorted(LIBRARY.rglob("*.py"))
            if path.parent.name != "tests"
        ]
    )
    merged = subprocess.run(["msguniq", tmp_path / "django.pot"], check=True, capture_output=True, text=True).stdout
    found = re.findall(r'^msgid(?:_plural)? ((?:".*"\n)+)', merged, re.MULTILINE)
    texts = {"".join(ast.literal_eval(line) for line in quoted.splitlines()) for quoted in found}
    counted = {
        "{count} row without an id: {lines}. Add the id or delete the row.",
        "{count} rows without an id: {lines}. Add the ids or delete the rows.",
    }
    assert {"line {line} (id {id})", *counted} <= texts
    assert {text for metric in metrics.catalogue() for text in (metric.title, metric.description)} <= texts
    assert len(texts) > 600
