"""Secondary metrics of a competition: part of the ground truth, measured with every file, never a reason to lose a
score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import metrics
from leaderboard.accounts.models import User
from leaderboard.common.models import AuditEntry
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Admission, Competition, Score, Submission
from leaderboard.competitions.models.competition import Split
from leaderboard.competitions.models.ground_truth import ImmutableRow
from leaderboard.ground_truths.services import drafts, folders, publishing, rescoring
from leaderboard.ground_truths.specs import GroundTruthSpec
from leaderboard.operations import consistency
from leaderboard.submissions import outside_queue
from tests.conftest import enter, make_competition, submit

TRUTH = "id,y,w,Usage\n" + "".join(
    f"{i},{(i * 7) % 10 / 10},{1 + i % 3},{'Public' if i % 2 else 'Private'}\n" for i in range(1, 25)
)
ASKED: list[tuple[str, dict[str, Any]]] = [("weighted_mae", {"weight": "w"}), ("rmsle", {}), ("r2", {})]


def a_file(*, off: float = 0.1, first: str = "") -> bytes:
    lines = [f"{i},{(i * 7) % 10 / 10 + off:.3f}" for i in range(1, 25)]
    if first:
        lines[0] = f"1,{first}"
    return ("id,y\n" + "\n".join(lines) + "\n").encode()


def secondary_of(submission: Submission, split: Split) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Score.objects.get(submission=submission, split=split).secondary
    return found


@pytest.fixture
def tides(ada: User) -> Competition:
    """Ada's competition: MAE, with three metrics next to it; one of them reads a column of weights."""
    return make_competition(ada, slug="tides", truth=TRUTH, metric="mae", secondary=ASKED)


def test_the_ground_truth_carries_them_with_versions_and_parameters(tides: Competition, ada: User) -> None:
    ground_truth = tides.ground_truth
    assert ground_truth is not None
    assert ground_truth.submission_columns == ["id", "y"]
    assert [one["key"] for one in ground_truth.secondary] == ["weighted_mae", "rmsle", "r2"]
    first = ground_truth.secondary[0]
    assert first["params"] == {"weight": "w"}
    assert first["version"] == metrics.get("weighted_mae").version
    ground_truth.secondary = []
    with pytest.raises(ImmutableRow):
        ground_truth.save()
    entry = AuditEntry.objects.filter(about="ground truth 1").latest("pk")
    assert "weighted_mae" in json.dumps(entry.after)


def test_every_value_is_stored_with_both_scores_in_full_precision(tides: Competition, bo: User) -> None:
    enter(tides, bo)
    mine = submit(tides, bo, a_file())
    assert mine.status == Submission.Status.SCORED
    for split in Split:
        for (key, params), stored in zip(ASKED, secondary_of(mine, split), strict=True):
            text = TRUTH if key == "weighted_mae" else "\n".join(_without_weights(TRUTH))
            alone = metrics.evaluate(key, text.encode(), a_file(), params)
            assert stored == {"value": getattr(alone, split.value)}


def _without_weights(truth: str) -> list[str]:
    return [",".join((i, y, usage)) for i, y, _, usage in (line.split(",") for line in truth.splitlines())]


def test_a_file_that_one_of_them_cannot_score_is_scored_all_the_same(tides: Competition, bo: User) -> None:
    enter(tides, bo)
    mine = submit(tides, bo, a_file(first="-0.5"))
    assert mine.status == Submission.Status.SCORED
    assert mine.problems == []
    for split in Split:
        weighted, rmsle, r2 = secondary_of(mine, split)
        assert "value" in weighted
        assert "value" in r2
        assert rmsle["problem"] == '1 value of "y" is below 0: line 2 (id "1") is "-0.5".'
        assert set(rmsle) == {"problem", "forms"}


def test_the_sample_knows_the_further_columns(tides: Competition) -> None:
    assert tides.ground_truth is not None
    assert publishing.sample_submission_of(tides.ground_truth).splitlines()[0] == b"id,y"


def test_ada_cannot_publish_what_one_of_them_cannot_score(ada: User) -> None:
    words = TRUTH.replace("0.7,2,Public", "-0.7,2,Public")
    with pytest.raises(competitions.CannotHost) as refused:
        make_competition(ada, truth=words, metric="mae", secondary=ASKED)
    assert any(line.startswith("Secondary metric RMSLE:") for line in refused.value.details)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([("nothing", {})], 'No metric is called "nothing".'),
        ([("pinball", {"quantile": 3})], "pinball, quantile: Must be at most 1."),
        ([("pinball", {"quantile": q}) for q in (0.1, 0.2, 0.3, 0.4)], "At most 3 secondary metrics."),
    ],
)
def test_what_cannot_be_asked_for_is_refused_at_once(
    tides: Competition, asked: list[tuple[str, dict[str, Any]]], words: str
) -> None:
    with pytest.raises(competitions.CannotHost) as refused:
        drafts.save_draft(competition=tides, spec=GroundTruthSpec(metric="mae", secondary=tuple(asked)))
    assert refused.value.details == [words]


def test_a_new_ground_truth_may_have_others_and_measures_every_file_with_them(
    tides: Competition, bo: User, ada: User
) -> None:
    enter(tides, bo)
    mine = submit(tides, bo, a_file())
    drafts.save_draft(
        competition=tides,
        spec=GroundTruthSpec(metric="mae", secondary=(("weighted_mae", {"weight": "w"}), ("rmse", {}))),
    )
    ground_truth = publishing.publish_draft(competition=tides, user=ada)
    outside_queue.rescore_batch(ground_truth.pk)
    rescoring.apply_candidate(competition=tides)
    now = Score.objects.get(submission=mine, ground_truth=ground_truth, split=Split.PUBLIC)
    before = Score.objects.exclude(ground_truth=ground_truth).get(submission=mine, split=Split.PUBLIC)
    assert len(now.secondary) == 2
    assert len(before.secondary) == 3
    assert now.secondary[0] == before.secondary[0]


def test_a_competition_as_a_folder_keeps_them(tides: Competition, ada: User, tmp_path: Path) -> None:
    folders.export_folder(tides, tmp_path / "tides")
    text = (tmp_path / "tides" / "competition.toml").read_text()
    assert '[[secondary]]\nkey = "weighted_mae"\n\n[secondary.params]\nweight = "w"\n' in text
    Competition.objects.filter(pk=tides.pk).update(slug="old")
    Admission.objects.filter(pk=tides.pk).update(join_code="OLDCODE1")
    copy = folders.import_folder(tmp_path / "tides", user=ada)
    assert copy.ground_truth is not None
    assert tides.ground_truth is not None
    assert copy.ground_truth.secondary == tides.ground_truth.secondary


def test_a_folder_that_asks_for_nonsense_is_refused_by_name(tides: Competition, ada: User, tmp_path: Path) -> None:
    folders.export_folder(tides, tmp_path / "tides")
    spec = tmp_path / "tides" / "competition.toml"
    spec.write_text(spec.read_text().replace('key = "r2"', 'key = "r3"').replace('"tides"', '"tides2"'))
    with pytest.raises(competitions.CannotHost) as refused:
        folders.import_folder(tmp_path / "tides", user=ada)
    assert refused.value.details == ['No metric is called "r3".']


def test_check_9_covers_them(tides: Competition, bo: User) -> None:
    enter(tides, bo)
    mine = submit(tides, bo, a_file(first="-0.5"))
    assert broken() == []
    public = Score.objects.get(submission=mine, split=Split.PUBLIC)
    public.secondary[0]["value"] += 1e-15
    public.save()
    assert len(broken()) == 1
    Score.objects.filter(pk=public.pk).update(secondary=[])
    assert broken() == [f"score {public.pk} has 0 secondary values of 3"]


def broken() -> list[str]:
    return [sentence for result in consistency.run_checks(only={9}) for sentence in result.examples]


def test_named_parts_are_stored_also_where_the_value_does_not_need_them(ada: User, bo: User) -> None:
    labels = "id,y,Usage\n" + "".join(f"{i},{i % 2},{'Public' if i % 4 < 2 else 'Private'}\n" for i in range(24))
    ranks = make_competition(ada, slug="ranks", truth=labels, metric="roc_auc")
    enter(ranks, bo)
    file = "id,y\n" + "".join(f"{i},{(i * 5) % 7}\n" for i in range(24))
    mine = submit(ranks, bo, file.encode())
    score = Score.objects.get(submission=mine, split=Split.PRIVATE)
    assert score.parts.keys() == {"ordered", "pairs"}
    assert score.parts["ordered"] / score.parts["pairs"] == pytest.approx(score.value)
