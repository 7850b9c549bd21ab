"""What a metric claims that each row does to its score is what a little more or less of the row does."""

from typing import Any

import numpy as np
import pytest

import metrics
from metrics.core.contract import chosen
from metrics.core.evaluate import value_of
from metrics.core.uncertainty import Part
from metrics.tests.worlds import world

COPIES = 300

INFLUENCES: list[tuple[str, dict[str, Any]]] = [
    ("average_precision", {}),
    ("balanced_accuracy", {}),
    ("box_map_with_empty", {}),
    *(("cohen_kappa", {"weights": weights}) for weights in ("none", "linear", "quadratic")),
    *(("columnwise_average_precision", {"padding": padding}) for padding in (0, 2)),
    ("columnwise_pearson", {}),
    *(("columnwise_r2", {"average": average}) for average in ("columns", "pooled")),
    ("columnwise_spearman", {}),
    *(("d2", {"quantile": quantile}) for quantile in (0.5, 0.9)),
    ("explained_variance", {}),
    *(("f1", {"average": average}) for average in ("macro", "micro", "weighted")),
    ("fbeta", {"label": "1"}),
    *(
        (key, {"average": average})
        for key in ("precision", "recall", "fbeta")
        for average in ("macro", "micro", "weighted")
    ),
    ("gini", {}),
    ("global_average_precision", {}),
    ("hamming_loss", {"labels": 9}),
    ("kendall_tau", {}),
    ("log_mae_by_group", {}),
    ("matthews_correlation", {}),
    ("multiclass_log_loss", {"average": "classes", "class_weights": "1,2,3"}),
    *(
        (key, {"average": average})
        for key in ("multilabel_f1", "jaccard", "thresholded_f1")
        for average in ("macro", "weighted")
    ),
    *(("normalised_mutual_information", {"average": average}) for average in ("arithmetic", "geometric", "min", "max")),
    *(("partial_roc_auc", {"side": side, "limit": 0.37, "scale": "share"}) for side in ("fpr", "tpr")),
    ("pearson", {}),
    ("r2", {}),
    ("spearman", {}),
    ("survival_concordance", {}),
    ("v_measure", {"beta": 0.5}),
    ("weighted_roc_auc", {"thresholds": "0, 0.41, 1", "weights": "2, 1"}),
    ("weighted_roc_auc", {"thresholds": "0, 0.11, 0.32, 0.77, 1", "weights": "1, 3, 0, 2"}),
]


@pytest.mark.parametrize("seed", [3, 4])
@pytest.mark.parametrize(("key", "params"), INFLUENCES, ids=str)
def test_the_influence_of_a_row_is_what_more_of_it_would_change(key: str, params: dict[str, Any], seed: int) -> None:
    """Every row stands 300 times in a file, and one of them once more or once less."""
    metric = metrics.get(key)
    found = world(metric, seed, rows=24, split=False)
    truth = metrics.prepare(key, found.truth_csv(), params)
    prediction, _, _ = truth.read_submission(found.submission_csv())
    part = Part(None, lambda: truth.answers, lambda: prediction)
    influence = truth.metric.computation.influence
    assert influence is not None
    effects = influence(truth.answers, prediction, **chosen(influence, truth.params))
    assert effects.shape == (24,)
    assert np.abs(effects).max() > 0
    if not params.get("padding"):  # the added rows weigh something too
        assert effects.sum() == pytest.approx(0, abs=1e-12)
    grown = {**params, "padding": params["padding"] * COPIES} if "padding" in params else params
    many_rows, everyone = metrics.prepare(key, found.truth_csv(), grown), np.repeat(np.arange(24), COPIES)
    for row in range(0, 24, 5):
        more, less = np.append(everyone, row), np.delete(everyone, COPIES * row)
        up, down = (value_of(many_rows, part.cut(rows)) for rows in (more, less))
        assert up is not None
        assert down is not None
        assert effects[row] == pytest.approx((up - down) / 2 * COPIES, rel=5e-3, abs=1e-4)
