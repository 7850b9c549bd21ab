"""Finding a metric by the words people have for it, in their language or English, which are often not those of its
title."""

from __future__ import annotations

import re
from collections.abc import Iterable

import metrics
from leaderboard.common.library_messages import translated_message

SYNONYMS: dict[str, tuple[str, ...]] = {
    "area": ("roc_auc", "columnwise_roc_auc", "weighted_roc_auc", "average_precision", "mean_angular_error"),
    "ari": ("adjusted_rand",),
    "auc": ("roc_auc", "columnwise_roc_auc", "weighted_roc_auc", "concordance_index", "average_precision", "gini"),
    "auprc": ("average_precision", "columnwise_average_precision"),
    "auroc": ("roc_auc", "columnwise_roc_auc", "weighted_roc_auc", "concordance_index"),
    "bce": ("log_loss", "weighted_multilabel_log_loss"),
    "boxes": ("box_map",),
    "cer": ("character_error_rate",),
    "cindex": ("survival_concordance", "concordance_index"),
    "classification": ("Labels", "Probabilities"),
    "clustering": ("Clusterings",),
    "correlation": ("pearson", "spearman", "columnwise_spearman", "kendall_tau", "matthews_correlation"),
    "count": ("poisson_deviance", "rmsle", "columnwise_rmsle"),
    "cross": ("log_loss", "multiclass_log_loss", "weighted_multilabel_log_loss"),
    "crossentropy": ("log_loss", "multiclass_log_loss", "weighted_multilabel_log_loss"),
    "crps": ("pinball",),
    "detection": ("box_map", "mean_precision_at_iou"),
    "edit": ("levenshtein", "character_error_rate", "word_error_rate"),
    "entropy": ("log_loss", "multiclass_log_loss", "weighted_multilabel_log_loss", "kl_divergence"),
    "gap": ("global_average_precision",),
    "geo": ("mean_haversine",),
    "gps": ("mean_haversine",),
    "harrell": ("survival_concordance",),
    "hitrate": ("hit_rate_at_k",),
    "imbalanced": ("balanced_accuracy", "f1", "matthews_correlation", "average_precision", "cohen_kappa"),
    "kappa": ("cohen_kappa",),
    "kl": ("kl_divergence",),
    "logloss": ("log_loss", "multiclass_log_loss", "weighted_multilabel_log_loss"),
    "lrap": ("label_ranking_average_precision", "label_weighted_ranking_precision"),
    "lwlrap": ("label_ranking_average_precision", "label_weighted_ranking_precision"),
    "map": (
        "map_at_k",
        "box_map",
        "mean_precision_at_iou",
        "average_precision",
        "columnwise_average_precision",
        "global_average_precision",
        "label_ranking_average_precision",
    ),
    "mask": ("dice", "iou", "mean_precision_at_iou"),
    "mcc": ("matthews_correlation",),
    "multiclass": ("accuracy", "balanced_accuracy", "f1", "multiclass_log_loss", "top_k_accuracy", "cohen_kappa"),
    "multilabel": (
        "multilabel_f1",
        "thresholded_f1",
        "hamming_loss",
        "jaccard",
        "exact_match",
        "weighted_multilabel_log_loss",
        "columnwise_roc_auc",
        "label_ranking_average_precision",
    ),
    "ndcg": ("ndcg_at_k",),
    "dcg": ("ndcg_at_k",),
    "nll": ("log_loss", "multiclass_log_loss", "laplace_log_likelihood"),
    "nmi": ("normalised_mutual_information",),
    "ordinal": ("cohen_kappa", "spearman", "kendall_tau"),
    "outliers": ("mae", "median_absolute_error", "weighted_mae"),
    "pfbeta": ("probabilistic_f1",),
    "prauc": ("average_precision", "columnwise_average_precision"),
    "quadratic": ("cohen_kappa",),
    "quantile": ("pinball",),
    "qwk": ("cohen_kappa",),
    "r²": ("r2",),
    "recommendation": ("Rankings",),
    "recommender": ("Rankings",),
    "regression": ("Numbers",),
    "retrieval": ("Rankings", "label_ranking_average_precision"),
    "rle": ("dice", "iou", "mean_precision_at_iou"),
    "segmentation": ("dice", "iou", "mean_precision_at_iou"),
    "sensitivity": ("recall",),
    "sorensen": ("dice",),
    "specificity": ("recall", "balanced_accuracy"),
    "top5": ("top_k_accuracy", "map_at_k"),
    "wer": ("word_error_rate",),
}
"""A word → keys of metrics and names of groups. Keys that are not installed find nothing."""


def matching_metrics(found: Iterable[metrics.Metric], text: str) -> list[metrics.Metric]:
    """Metrics that fit every word of a text."""
    metrics_left = list(found)
    for word in re.findall(r"[\w²]+", text.lower()):
        metrics_left = _fitting(metrics_left, word)
    return metrics_left


def _fitting(metrics_left: list[metrics.Metric], word: str) -> list[metrics.Metric]:
    """Those that a word names: a known synonym or a whole word of the head, else any part of the head, else of the
    definition."""
    means = SYNONYMS.get(word, ())
    if named := [m for m in metrics_left if m.key in means or m.group in means or word in _words(m)]:
        return named
    if partly := [m for m in metrics_left if word in _head(m)]:
        return partly
    return [
        m
        for m in metrics_left
        if any(word in text.lower() for text in {m.description, translated_message(m.description)})
    ]


def _head(metric: metrics.Metric) -> str:
    texts = (metric.title, metric.group, metric.summary, metric.columns)
    return " ".join([metric.key, *texts, *map(translated_message, texts)]).lower()


def _words(metric: metrics.Metric) -> set[str]:
    names = (metric.key, metric.key.replace("_", " "), metric.title, translated_message(metric.title))
    return set(re.findall(r"[\w²]+", " ".join(names).lower()))
