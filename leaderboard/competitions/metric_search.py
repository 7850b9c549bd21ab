"""Search for metrics by words, in the reader's language or English, also by synonyms."""

from __future__ import annotations

import re
from collections.abc import Iterable

import metrics as library
from leaderboard.common.library_messages import translated_message

SYNONYMS: dict[str, tuple[str, ...]] = {
    "area": ("roc_auc", "columnwise_roc_auc", "weighted_roc_auc", "average_precision", "mean_angular_error"),
    "ami": ("adjusted_mutual_information",),
    "ari": ("adjusted_rand",),
    "auc": (
        "roc_auc",
        "columnwise_roc_auc",
        "partial_roc_auc",
        "weighted_roc_auc",
        "concordance_index",
        "average_precision",
        "gini",
    ),
    "auprc": ("average_precision", "columnwise_average_precision"),
    "auroc": ("roc_auc", "columnwise_roc_auc", "partial_roc_auc", "weighted_roc_auc", "concordance_index"),
    "bce": ("log_loss", "weighted_multilabel_log_loss"),
    "calibration": ("expected_calibration_error", "brier", "log_loss"),
    "cer": ("character_error_rate",),
    "cindex": ("survival_concordance", "concordance_index"),
    "classification": ("Labels", "Probabilities"),
    "coco": ("box_map",),
    "correlation": ("pearson", "spearman", "columnwise_spearman", "kendall_tau", "matthews_correlation"),
    "cost": ("misclassification_cost",),
    "count": ("poisson_deviance", "rmsle", "columnwise_rmsle"),
    "cross": ("log_loss", "multiclass_log_loss", "weighted_multilabel_log_loss"),
    "crossentropy": ("log_loss", "multiclass_log_loss", "weighted_multilabel_log_loss"),
    "crps": ("crps", "pinball"),
    "detection": ("box_map", "mean_precision_at_iou"),
    "ece": ("expected_calibration_error",),
    "edit": ("levenshtein", "character_error_rate", "word_error_rate"),
    "entropy": ("log_loss", "multiclass_log_loss", "weighted_multilabel_log_loss", "kl_divergence"),
    "forecast": ("mase", "crps", "interval_score", "pinball", "smape", "wape"),
    "gap": ("global_average_precision",),
    "geo": ("mean_haversine",),
    "gps": ("mean_haversine",),
    "gauc": ("mean_score_by_group",),
    "grouped": ("mean_score_by_group", "mean_error_by_group", "log_mae_by_group", "distance_quantiles_by_group"),
    "hitrate": ("hit_rate_at_k",),
    "imbalanced": ("balanced_accuracy", "f1", "matthews_correlation", "average_precision", "cohen_kappa"),
    "logloss": ("log_loss", "multiclass_log_loss", "weighted_multilabel_log_loss"),
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
    "multiclass": (
        "accuracy",
        "balanced_accuracy",
        "f1",
        "precision",
        "recall",
        "roc_auc",
        "multiclass_log_loss",
        "top_k_accuracy",
        "cohen_kappa",
    ),
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
    "ner": ("entity_f1",),
    "nll": ("log_loss", "multiclass_log_loss", "laplace_log_likelihood", "gaussian_log_likelihood"),
    "ordinal": ("cohen_kappa", "spearman", "kendall_tau"),
    "outliers": ("mae", "median_absolute_error", "weighted_mae"),
    "partial": ("partial_roc_auc", "weighted_roc_auc"),
    "pauc": ("partial_roc_auc", "weighted_roc_auc"),
    "probabilistic": ("crps", "interval_score", "pinball", "gaussian_log_likelihood", "laplace_log_likelihood"),
    "prauc": ("average_precision", "columnwise_average_precision"),
    "quantile": ("pinball",),
    "qwk": ("cohen_kappa",),
    "recommendation": ("Rankings",),
    "recommender": ("Rankings",),
    "regression": ("Numbers",),
    "retrieval": ("Rankings", "label_ranking_average_precision"),
    "rle": ("dice", "iou", "mean_precision_at_iou"),
    "segmentation": ("dice", "iou", "mean_precision_at_iou"),
    "sensitivity": ("recall",),
    "sorensen": ("dice",),
    "specificity": ("recall", "balanced_accuracy"),
    "summarization": ("rouge_l", "bleu", "chrf", "token_f1"),
    "top5": ("top_k_accuracy", "map_at_k"),
    "translation": ("bleu", "chrf", "character_error_rate", "word_error_rate"),
    "winkler": ("interval_score",),
    "wer": ("word_error_rate",),
}
"""Search word → keys of metrics and names of groups. Keys of metrics that are not installed are ignored."""


def matching_metrics(found: Iterable[library.Metric], text: str) -> list[library.Metric]:
    """Metrics that match every word of a text, in the reader's language or English, also by synonyms."""
    left = list(found)
    for word in re.findall(r"[\w²]+", text.lower()):
        left = _metrics_for(left, word)
    return left


def _metrics_for(left: list[library.Metric], word: str) -> list[library.Metric]:
    """Metrics that match a word: by synonym or a whole word of the name; if there are none, by a part of title, group
    or summary; if there are none, by a part of the description."""
    means = SYNONYMS.get(word, ())
    if named := [m for m in left if m.key in means or m.group in means or word in _words_of_name(m)]:
        return named
    if partly := [m for m in left if word in _searched_text(m)]:
        return partly
    return [m for m in left if word in f"{m.description}\n{translated_message(m.description)}".lower()]


def _words_of_name(metric: library.Metric) -> list[str]:
    names = (metric.key, metric.key.replace("_", " "), metric.title, translated_message(metric.title))
    return re.findall(r"[\w²]+", " ".join(names).lower())


def _searched_text(metric: library.Metric) -> str:
    texts = (metric.title, metric.group, metric.summary, metric.columns)
    return " ".join([metric.key, *texts, *map(translated_message, texts)]).lower()
