"""A site draws each split with a secret of its own: made once, stored with the truth, told to hosts alone."""

from __future__ import annotations

import csv
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from leaderboard.accounts.models import User
from leaderboard.common.storage import path_of
from leaderboard.competitions import services as competitions
from leaderboard.competitions.models import Competition, GroundTruth, TruthDraft
from leaderboard.ground_truths.services import drafts, folders, publishing
from leaderboard.ground_truths.specs import GroundTruthSpec
from tests.conftest import make_competition

ROWS = 300
ANSWERS = "id,label\n" + "".join(f"r{row},{'cat' if row % 3 else 'dog'}\n" for row in range(ROWS))


def started(ada: User, slug: str) -> Competition:
    """A competition whose draft of a truth the system splits with the seed 0."""
    now = timezone.now()
    competition = competitions.create_competition(
        user=ada, slug=slug, title=slug, opens_at=now, closes_at=now + timedelta(days=1)
    )
    check(competition)
    return competition


def check(competition: Competition, text: str | None = ANSWERS, **fields: Any) -> TruthDraft:
    chunks = None if text is None else [text.encode()]
    draft: TruthDraft = drafts.save_draft(
        competition=competition, spec=GroundTruthSpec(metric="accuracy", file_name="truth.csv", chunks=chunks, **fields)
    )
    return draft


def publish(competition: Competition, ada: User) -> GroundTruth:
    return publishing.publish_draft(competition=competition, user=ada, is_confirmed=True)


def parts(truth: GroundTruth) -> dict[str, str]:
    with path_of(truth.file_key).open() as file:
        return {row["id"]: row["Usage"] for row in csv.DictReader(file)}


@pytest.mark.attack("working out which rows are public from ids, share and seed")
def test_two_competitions_with_the_same_ids_and_seed_have_different_splits(ada: User) -> None:
    one, other = (parts(publish(started(ada, slug), ada)) for slug in ("one", "other"))
    same_rows = sum(one[name] == other[name] for name in one)
    # 58 % are alike by chance; five standard deviations more are 217 rows.
    assert same_rows < 217


def test_what_ada_looks_at_is_what_is_published(ada: User) -> None:
    """Scores of the proposals on a split tell it apart from any other split."""
    draft = TruthDraft.objects.get(competition=started(ada, "pets"))
    seen = draft.report["baselines"]
    again = check(draft.competition, None)
    assert again.report["baselines"] == seen
    secret = again.split_secret
    truth = publish(draft.competition, ada)
    assert truth.split_secret == secret
    assert truth.check_report.report["baselines"] == seen


def test_the_same_seed_draws_the_same_rows_again_and_another_one_others(ada: User) -> None:
    competition = started(ada, "pets")
    first = parts(publish(competition, ada))
    check(competition, None, redraws_split=True)
    assert parts(publish(competition, ada)) == first
    check(competition, None, redraws_split=True, seed=1)
    assert parts(publish(competition, ada)) != first


def test_a_correction_moves_no_row_and_its_new_rows_are_drawn_with_the_secret(ada: User) -> None:
    first = make_competition(ada, truth=ANSWERS).ground_truths.get()
    check(first.competition, ANSWERS + "".join(f"new{row},cat\n" for row in range(30)))
    assert TruthDraft.objects.get().split_secret == first.split_secret
    after = parts(publish(first.competition, ada))
    assert {name: after[name] for name in parts(first)} == parts(first)
    assert {after[f"new{row}"] for row in range(30)} == {"Public", "Private"}


def test_the_secret_goes_where_the_truth_goes(ada: User, tmp_path: Path) -> None:
    first = started(ada, "pets")
    folders.export_folder(first, tmp_path / "draft")
    assert not (tmp_path / "draft" / "truth.csv").exists()
    secret = publish(first, ada).split_secret
    first.refresh_from_db()
    folders.export_folder(first, tmp_path / "out")
    texts = {path.name: path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert [name for name, text in texts.items() if secret in text] == ["split_secret.txt"]
    assert not any(secret in path.read_text() for path in (tmp_path / "draft").rglob("*") if path.is_file())

    competitions.delete_competition(competition=first)
    again = folders.import_folder(tmp_path / "out", user=ada)
    assert again.ground_truth is not None
    assert again.ground_truth.split_secret == secret


def test_a_secret_that_is_none_is_refused(ada: User, tmp_path: Path) -> None:
    first = started(ada, "pets")
    publish(first, ada)
    first.refresh_from_db()
    folders.export_folder(first, tmp_path / "out")
    competitions.delete_competition(competition=first)
    (tmp_path / "out" / "split_secret.txt").write_text("guess me")
    with pytest.raises(competitions.CannotHost, match="32 hexadecimal digits"):
        folders.import_folder(tmp_path / "out", user=ada)
