"""A replacement for Kaggle's module ``kaggle_metric_utilities``, which many of its metric files import.

Only files from ``METRICS_DIR`` import it, under Kaggle's name. Written from the documented behaviour of those
functions: errors of a library are shown to participants only if their messages cannot reveal anything about the
solution.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types


class ParticipantVisibleError(Exception):
    """The submission is at fault; its author may read the message."""


class HostVisibleError(Exception):
    """The solution or the metric is at fault; only the host may read the message."""


def treat_as_participant_error(error_message: str, solution: pd.DataFrame | np.ndarray) -> bool:
    """Whether an error's message may be shown to participants without revealing anything about the solution.

    It may if the solution holds only numbers and the message no digit; if the solution holds booleans, the message must
    not have the words "true" and "false" either.

    >>> treat_as_participant_error("Input contains NaN.", np.array([0.5, 1.0]))
    True
    >>> treat_as_participant_error("Found 3 classes.", np.array([0.5, 1.0]))
    False
    >>> treat_as_participant_error("Always true.", np.array([True, False]))
    False
    >>> treat_as_participant_error("Unknown label.", pd.DataFrame({"label": ["cat"]}))
    False
    """
    kinds = list(solution.dtypes) if isinstance(solution, pd.DataFrame) else [np.asarray(solution).dtype]
    if not all(types.is_numeric_dtype(kind) for kind in kinds):
        return False
    if any(character.isnumeric() for character in error_message):
        return False
    words = error_message.lower()
    has_truths = any(types.is_bool_dtype(kind) for kind in kinds)
    return not (has_truths and ("true" in words or "false" in words))


def safe_call_score(metric_function: Callable[..., Any], solution: Any, submission: Any, **kwargs: Any) -> Any:
    """Call a library's metric; its errors are sorted into those for participants and those for the host.

    Raises ``ParticipantVisibleError`` and ``HostVisibleError`` for errors of these names and for those that
    ``treat_as_participant_error`` allows; all others are raised unchanged.
    """
    try:
        return metric_function(solution, submission, **kwargs)
    except Exception as error:
        words = str(error)
        if type(error).__name__ == "HostVisibleError":
            raise HostVisibleError(words) from error
        is_theirs = type(error).__name__ == "ParticipantVisibleError"
        if is_theirs or treat_as_participant_error(words, solution):
            raise ParticipantVisibleError(words) from error
        raise


call_sklearn = safe_call_score


def verify_valid_probabilities(df: pd.DataFrame, df_name: str) -> None:
    """Check columns of probabilities (without the id) whose rows must sum to 1.

    Raises ``ParticipantVisibleError`` if a cell is not a number, below 0 or above 1, or if a row has another sum.
    """
    if not all(types.is_numeric_dtype(kind) for kind in df.dtypes):
        raise ParticipantVisibleError(f"All target values in {df_name} must be numbers.")
    if df.min().min() < 0:
        raise ParticipantVisibleError(f"All target values in {df_name} must be at least zero.")
    if df.max().max() > 1:
        raise ParticipantVisibleError(f"All target values in {df_name} must be no greater than one.")
    if not np.allclose(df.sum(axis=1), 1):
        raise ParticipantVisibleError(f"The target values of each row in {df_name} must add up to one.")
