"""The matrix that a phrase metric draws marks exactly the matches that it counts."""

import random

import pytest

import metrics
from metrics.core.figures import Grid

pytestmark = pytest.mark.thorough

WORDS = ("national", "study", "data", "ice", "Data", "sea")


def cell(dice: random.Random) -> str:
    """Some phrases, among them repeated and blank ones."""
    return "|".join(" ".join(dice.choices(WORDS, k=dice.randint(0, 3))) for _ in range(dice.randint(0, 5)))


@pytest.mark.parametrize("matching", ["per_truth", "one_to_one", "per_prediction"])
def test_the_marks_are_the_matches(matching: str) -> None:
    dice = random.Random(7)
    drawn = 0
    for _ in range(150):
        truth, said = f"id,labels\n1,{cell(dice)}\n", f"id,labels\n1,{cell(dice)}\n"
        threshold = dice.choice((0.2, 0.5, 1.0))
        params = {"matching": matching, "threshold": threshold}
        found = metrics.explain("coleridge_fbeta", truth.encode(), said.encode(), params)
        for figure in found.figures:
            assert isinstance(figure, Grid)
            assert len(figure.marked) == found.sums["tp"]
            for ours, theirs in figure.marked:
                a, b = (set(side.lower().split()) for side in (figure.rows[ours], figure.columns[theirs]))
                assert figure.cells[ours][theirs] == pytest.approx(len(a & b) / len(a | b))
                assert len(a & b) / len(a | b) >= threshold
        drawn += len(found.figures)
    assert drawn > 50


def test_a_row_without_phrases_or_with_too_many_is_not_drawn() -> None:
    many = "|".join(f"phrase {number}" for number in range(21))
    truth = f"id,labels\n1,\n2,{many}\n3,a b\n4,\n5,a\n6,a\n7,a\n".encode()
    said = f"id,labels\n1,a\n2,{many}\n3,a\n4,\n5,a\n6,a\n7,a\n".encode()
    titles = [figure.title for figure in metrics.explain("coleridge_fbeta", truth, said).figures]
    assert titles == ["Similarity in row 3", "Similarity in row 5", "Similarity in row 6"]
