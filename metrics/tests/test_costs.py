"""Ada says what each mistake costs, and every row costs what she said."""

import numpy as np
import pytest

import metrics
from metrics.tests.answer_files import column, score


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_mean_of_the_cells_of_the_matrix(seed: int) -> None:
    dice = np.random.default_rng(seed)
    matrix = dice.integers(0, 20, (4, 4)) / 4
    np.fill_diagonal(matrix, 0)
    truth, said = dice.integers(0, 4, 90), dice.integers(0, 4, 90)
    truth[:4] = range(4)
    for names in ("abcd", ["0", "1", "2.50", "-3"], ["a b", "c", "d", "e"]):
        lines = [f'"{names[a]}" "{names[b]}" {matrix[a, b]}' for a in range(4) for b in range(4) if a != b]
        cells = [[names[code] for code in side] for side in (truth, said)]
        expected = matrix[truth, said].mean()
        assert score("misclassification_cost", *cells, costs="\n".join(lines)) == pytest.approx(expected, rel=1e-12)
        assert score("misclassification_cost", *cells, costs=" ; ".join(lines)) == pytest.approx(expected, rel=1e-12)


def test_a_star_is_any_other_label_and_the_closest_line_counts() -> None:
    costs = "a b 1; a * 2; * b 4"
    values = {("a", "b"): 1, ("a", "c"): 2, ("c", "b"): 4, ("c", "a"): 7, ("c", "c"): 0, ("b", "b"): 0}
    for (true, said), expected in values.items():
        truth, prediction = [true, "a"], [said, "a"]
        assert score("misclassification_cost", truth, prediction, costs=costs, wrong=7) == expected / 2


def test_without_costs_it_is_the_error_rate() -> None:
    assert score("misclassification_cost", "aabb", "abbx") == 0.5


@pytest.mark.parametrize("text", ["ill healthy", "ill healthy much", "a b c 1", "a b -1", "a b nan", 'a "b 1', "a a 1"])
def test_ada_is_told_which_line_is_no_cost(text: str) -> None:
    with pytest.raises(metrics.ParameterError) as caught:
        metrics.clean_params("misclassification_cost", {"costs": f"x y 1\n{text}"})
    assert list(caught.value.errors) == ["costs"]


def test_ada_is_told_of_an_answer_that_no_row_has() -> None:
    with pytest.raises(metrics.GroundTruthError, match='the costs name "il", which no row has'):
        metrics.prepare("misclassification_cost", column(["ill", "well"]), {"costs": "il well 10"})
