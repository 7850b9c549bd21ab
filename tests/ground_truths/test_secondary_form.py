"""Ada chooses secondary metrics on the page of the ground truth, or in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.competitions.models import Competition, GroundTruth, TruthDraft
from tests.conftest import make_competition, save_truth
from tests.site.test_admin import change_of, page_fields

TRUTH = "id,y,w,Usage\n" + "".join(
    f"{i},{(i * 7) % 10 / 10},{1 + i % 3},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 25)
)
DATA, METRIC = "/host/tides/truth/", "/host/tides/truth/metric/"


@pytest.fixture
def tides(ada: User) -> Competition:
    truth = "\n".join(line.rsplit(",", 2)[0] + "," + line.rsplit(",", 1)[1] for line in TRUTH.splitlines())
    return make_competition(ada, slug="tides", truth=truth, metric="mae", launched=False)


@pytest.fixture
def as_ada(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def filled(**changes: Any) -> dict[str, Any]:
    return {"action": "look", "metric": "mae", "parameters_of": "mae", **changes}


def test_ada_chooses_two_looks_at_the_check_and_publishes(as_ada: Client, tides: Competition) -> None:
    save_truth(tides, TRUTH, metric="mae")
    assert '<select name="also-metric_1"' in as_ada.get(METRIC).content.decode()
    also = {"also-metric_1": "weighted_mae", "also-params_1": "weight = w", "also-metric_3": "pinball"}
    answer = as_ada.post(METRIC, filled(**also, **{"also-params_3": "quantile=0.9"}))
    assert answer.status_code == 303
    assert 'value="quantile=0.9"' in as_ada.get(METRIC).content.decode()
    published = as_ada.post(METRIC, filled(action="use", **also, **{"also-params_3": "quantile=0.9"}))
    assert published["Location"] == "/host/tides/setup/"
    ground_truth = GroundTruth.objects.get(competition=tides, number=2)
    assert [(one["key"], one["params"]) for one in ground_truth.secondary] == [
        ("weighted_mae", {"weight": "w"}),
        ("pinball", {"quantile": 0.9}),
    ]
    Competition.objects.update(launched_at=timezone.now())
    assert "secondary: Pinball loss, quantile 0.9" in as_ada.get(DATA).content.decode()
    assert 'value="quantile=0.9"' in as_ada.get(METRIC).content.decode(), (
        "the next draft begins with those of the ruler"
    )


@pytest.mark.parametrize(
    ("also", "words"),
    [
        ({"also-metric_1": "pinball", "also-params_1": "quantile=7"}, "quantile: Must be at most 1."),
        ({"also-metric_1": "pinball", "also-params_1": "quantile"}, "Write parameters as name=value"),
        ({"also-metric_2": "pinball", "also-params_2": "quintile=1"}, "quintile"),
        ({"also-params_2": "quantile=0.5"}, "Choose a metric for these parameters."),
        ({"also-metric_1": "nothing"}, "Select a valid choice"),
    ],
)
def test_mistakes_are_shown_beside_their_field_and_nothing_is_kept(
    as_ada: Client, tides: Competition, also: dict[str, str], words: str
) -> None:
    save_truth(tides, TRUTH, metric="mae")
    before = TruthDraft.objects.get().secondary
    answer = as_ada.post(METRIC, filled(**also))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert "Please fix the following" in page
    assert '<details class="disclosure" open>' in page
    assert TruthDraft.objects.get().secondary == before


def test_a_check_that_one_of_them_fails_names_it_and_cannot_be_published(as_ada: Client, tides: Competition) -> None:
    save_truth(tides, TRUTH, metric="mae")
    also = {"also-metric_1": "weighted_mae", "also-params_1": "weight=w", "also-metric_2": "roc_auc"}
    as_ada.post(METRIC, filled(**also))
    assert "Secondary metric ROC AUC:" in as_ada.get(METRIC).content.decode()
    assert as_ada.post(METRIC, filled(action="use", **also))["Location"] == f"{METRIC}#check"
    assert GroundTruth.objects.filter(competition=tides).count() == 1


def test_an_unfinished_row_that_needs_a_column_is_said_so(as_ada: Client, tides: Competition) -> None:
    save_truth(tides, TRUTH, metric="mae")
    as_ada.post(METRIC, filled(**{"also-metric_1": "weighted_mae", "also-params_1": "weight=weights"}))
    assert "Can't be used yet" in as_ada.get(METRIC).content.decode()


def test_olga_does_the_same_in_the_admin(client: Client, tides: Competition, olga: User) -> None:
    client.force_login(olga)

    def send(metric: str, params: str) -> Any:
        file = SimpleUploadedFile("truth.csv", TRUTH.encode())
        also = {"also-metric_1": metric, "also-params_1": params}
        return client.post(change_of(tides), page_fields(tides, metric="mae", file=file, **also))

    assert send("nothing", "").status_code == 422
    assert send("", "weight=w").status_code == 422
    assert send("weighted_mae", "weight=w").status_code == 303
    assert TruthDraft.objects.get().secondary == [{"key": "weighted_mae", "params": {"weight": "w"}}]
