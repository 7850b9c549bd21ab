"""Metric files in the style of those that hosts write for Kaggle, each with answers, a submission and its score."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HEAD = """
import numpy as np
import pandas as pd
import pandas.api.types
from typing import Dict, List, Optional, Sequence, Union


class ParticipantVisibleError(Exception):
    pass


class HostVisibleError(Exception):
    pass

"""


@dataclass(frozen=True)
class KaggleFile:
    """A metric file that is hosted unchanged. ``params`` are the host's; ``refused`` is a submission that the metric
    refuses, with its ``words``; without ``knows_perfect`` the answers do not say what a perfect file is."""

    key: str
    text: str
    truth: str
    submission: str
    score: float
    params: Mapping[str, Any] = field(default_factory=dict)
    id_column: str | None = None
    refused: str = ""
    words: str = ""
    knows_perfect: bool = True


WRAPPED_F1 = """
import kaggle_metric_utilities
import sklearn.metrics
from typing import Optional, Sequence, Union

def score(solution: 'pd.DataFrame', submission: 'pd.DataFrame', row_id_column_name: str, beta: float,
          labels: Optional[Sequence] = None, pos_label: Union[str, int] = 1, average: str = 'binary',
          weights_column_name: Optional[str] = None) -> float:
    '''Wrapper of a library's F-beta. Higher is better.

    beta: the weight of recall
    '''
    del solution[row_id_column_name]
    del submission[row_id_column_name]
    sample_weight = None
    if weights_column_name:
        if weights_column_name not in solution.columns:
            raise ValueError(f'The weights {weights_column_name} are missing')
        sample_weight = solution.pop(weights_column_name).values
    if not (solution.shape[1] == 1 == submission.shape[1]):
        raise kaggle_metric_utilities.ParticipantVisibleError('One column of labels is expected.')
    return kaggle_metric_utilities.safe_call_score(
        sklearn.metrics.fbeta_score, solution.values, submission.values, beta=beta, labels=labels,
        pos_label=pos_label, average=average, sample_weight=sample_weight)
"""

BY_GROUP = """
def concordance(time, risk, event):
    good = pairs = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            if event[i] == 1 and time[i] < time[j]:
                pairs += 1
                good += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
    if pairs == 0:
        raise ValueError('No admissible pairs in the dataset.')
    return good / pairs


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    '''Concordance within each group, its mean minus its standard deviation. Higher is better.'''
    del solution[row_id_column_name]
    del submission[row_id_column_name]
    for col in submission.columns:
        if not pandas.api.types.is_numeric_dtype(submission[col]):
            raise ParticipantVisibleError(f'Submission column {col} must be a number')
    merged = pd.concat([solution, submission], axis=1)
    merged.reset_index(inplace=True)
    found = []
    for group in dict(merged.groupby(['race_group']).groups).values():
        part = merged.iloc[sorted(group)]
        found.append(concordance(part['efs_time'].values, part['prediction'].values, part['efs'].values))
    return float(np.mean(found) - np.sqrt(np.var(found)))
"""

TRANSLATION = """
import difflib

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str,
          text_column_name: str = 'translation') -> float:
    '''Mean similarity of two texts. Higher is better.'''
    for frame, name in ((solution, 'solution'), (submission, 'submission')):
        if text_column_name not in frame.columns:
            raise ParticipantVisibleError(f'The {name} has no column {text_column_name}')
        frame[text_column_name] = frame[text_column_name].fillna('').astype(str)
    pairs = zip(solution[text_column_name], submission[text_column_name])
    return float(np.mean([difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs]))
"""

PADDED = """
import sklearn.metrics

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, average: str = 'macro',
          pos_label: Union[int, str] = 1, weights_column_name: str = 'weights', padding_factor: int = 5) -> float:
    '''Average precision of each column, with some right rows more. Higher is better.'''
    del solution[row_id_column_name]
    del submission[row_id_column_name]
    if weights_column_name in solution.columns:
        raise HostVisibleError('Weights are not used')
    if len(solution.columns) != len(submission.columns):
        raise ParticipantVisibleError('Invalid submission columns found')
    more = pd.DataFrame([[1] * len(solution.columns)] * padding_factor, columns=solution.columns)
    solution, submission = (pd.concat([frame, more]).reset_index(drop=True) for frame in (solution, submission))
    return sklearn.metrics.average_precision_score(
        solution.values, submission.values, average=average, pos_label=pos_label)
"""

GROUPED_RMSE = """
def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str,
          group_by_column: str = 'site', target_column: str = 'y') -> float:
    '''Mean over groups of the root mean squared error. Lower is better.'''
    merged = solution.merge(submission, on=row_id_column_name, suffixes=('_true', '_said'), validate='one_to_one')
    merged['square'] = (merged[f'{target_column}_true'] - merged[f'{target_column}_said']) ** 2
    return float(merged.groupby(group_by_column)['square'].apply(lambda s: np.sqrt(s.mean())).mean())
"""

INTERVALS = """
def score(solution, submission, row_id_column_name, alpha=0.1, low_column='low', high_column='high'):
    '''Winkler's interval score. Lower is better.'''
    low, high, y = submission[low_column], submission[high_column], solution['y']
    if (low > high).any():
        raise ParticipantVisibleError('The lower end of an interval is above the upper end.')
    gap = (low - y).clip(lower=0) + (y - high).clip(lower=0)
    return float((high - low + 2 / alpha * gap).mean())
"""

DIVERGENCE = """
import kaggle_metric_utilities

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, epsilon: float = 10**-15,
          micro_average: bool = True, sample_weights_column_name: Optional[str] = None) -> float:
    '''Divergence of the votes from the predicted shares. Lower is better.'''
    del solution[row_id_column_name]
    del submission[row_id_column_name]
    weights = None
    if sample_weights_column_name:
        if sample_weights_column_name not in solution.columns:
            raise ParticipantVisibleError(f'{sample_weights_column_name} not found in solution columns')
        weights = solution.pop(sample_weights_column_name)
    if not set(solution.columns) == set(submission.columns):
        raise ParticipantVisibleError('The columns of the submission are wrong')
    kaggle_metric_utilities.verify_valid_probabilities(solution, 'solution')
    kaggle_metric_utilities.verify_valid_probabilities(submission, 'submission')
    for col in solution.columns:
        if not pandas.api.types.is_float_dtype(solution[col]):
            solution[col] = solution[col].astype(float)
        submission[col] = np.clip(submission[col], epsilon, 1 - epsilon)
        is_there = solution[col] != 0
        solution[col] = solution[col].astype(float)
        solution.loc[is_there, col] = (
            solution.loc[is_there, col] * np.log(solution.loc[is_there, col] / submission.loc[is_there, col]))
        solution.loc[~is_there, col] = 0
    return float(np.average(solution.sum(axis=1), weights=weights)) if micro_average else float(solution.mean().mean())
"""

SHARPE = """
def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    '''Mean excess return of the positions over its deviation.'''
    if not pandas.api.types.is_numeric_dtype(submission['prediction']):
        raise ParticipantVisibleError('Predictions must be numeric')
    solution['position'] = submission['prediction']
    if solution['position'].max() > 2:
        raise ParticipantVisibleError(f'Position of {solution["position"].max()} exceeds maximum of 2')
    if solution['position'].min() < 0:
        raise ParticipantVisibleError('A position is below 0')
    solution['gain'] = solution['position'] * (solution['forward_returns'] - solution['risk_free_rate'])
    deviation = solution['gain'].std()
    if deviation == 0:
        raise ZeroDivisionError
    return min(float(solution['gain'].mean() / deviation), 1_000_000)

score.__doc__ += ' Higher is better.'
"""

TOLERANCES = """
def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str,
          tolerances: Dict[str, List[float]], kind_column_name: str = 'kind') -> float:
    '''Share of times within the tolerances of their kind. Higher is better.'''
    missing = set(solution[kind_column_name]) - set(tolerances)
    if missing:
        raise HostVisibleError(f'No tolerance for {missing}')
    gaps = (solution['time'] - submission['time']).abs()
    return float(np.mean([np.mean([gap <= most for most in tolerances[kind]])
                          for gap, kind in zip(gaps, solution[kind_column_name])]))
"""

CLASS_WEIGHTS = """
from sklearn.metrics import roc_auc_score

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str,
          class_weights: Optional[List[float]] = None) -> float:
    '''Weighted mean of the areas of several columns. Higher is better.'''
    del solution[row_id_column_name]
    del submission[row_id_column_name]
    if len(solution.columns) != len(submission.columns):
        raise ParticipantVisibleError('Submission must have predictions for every class.')
    areas = [roc_auc_score(solution[name], submission[name]) for name in solution.columns]
    return float(np.average(areas, weights=class_weights))
"""

GEO = """
def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str,
          lat_column: str = 'latitude', lon_column: str = 'longitude') -> float:
    '''Mean distance in degrees of latitude and longitude. Lower is better.'''
    required = {row_id_column_name, lat_column, lon_column}
    if not required.issubset(submission.columns):
        raise ParticipantVisibleError(f'Submission must contain columns: {sorted(required)}')
    if (submission[lat_column].abs() > 90).any():
        raise ParticipantVisibleError('A latitude is beyond the poles')
    solution, submission = (frame.set_index(row_id_column_name) for frame in (solution, submission))
    gaps = solution[[lat_column, lon_column]] - submission[[lat_column, lon_column]]
    return float(np.sqrt((gaps ** 2).sum(axis=1)).mean())
"""

UNTYPED = """
from kaggle_metric_utilities import HostVisibleError, ParticipantVisibleError

def score(solution, submission, row_id_column_name, repeats=50, seed=None):
    '''Mean error of resamples. Lower is better.'''
    if len(solution) != len(submission):
        raise HostVisibleError('The frames are of different length')
    errors = (solution.set_index(row_id_column_name) - submission.set_index(row_id_column_name)).abs().values.ravel()
    dice = np.random.RandomState(seed) if seed is not None else np.random
    return np.float64(np.mean([errors[dice.randint(0, len(errors), len(errors))].mean() for _ in range(repeats)]) * 0
                      + errors.mean())
"""

LIKELIHOOD = """
def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, naive_mean: float,
          naive_sigma: float, sigma_true: float = 1e-5) -> float:
    '''Gaussian log likelihood between that of a naive guess and that of the truth. Higher is better.'''
    del solution[row_id_column_name]
    del submission[row_id_column_name]
    if submission.min().min() < 0:
        raise ParticipantVisibleError('Negative values in the submission')
    if len(submission.columns) != len(solution.columns) * 2:
        raise ParticipantVisibleError('Wrong number of columns in the submission')
    n = len(solution.columns)
    y, mean, sigma = solution.values, submission.iloc[:, :n].values, np.clip(submission.iloc[:, n:].values, 1e-15, None)

    def likelihood(mean, sigma):
        return (-np.log(sigma) - ((y - mean) / sigma) ** 2 / 2).sum()

    best, naive = likelihood(y, sigma_true), likelihood(naive_mean, naive_sigma)
    return float(np.clip((likelihood(mean, sigma) - naive) / (best - naive), 0, 1))
"""

LABELS_OF_TRUTH = """
def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str,
          label_column_name: Optional[str] = None) -> float:
    '''Mean recall of the classes. Higher is better.'''
    name = label_column_name or 'label'
    unknown = set(submission[name]) - set(solution[name])
    if unknown:
        raise ParticipantVisibleError(f'Unknown labels: {sorted(unknown)}')
    solution['right'] = (solution[name] == submission[name]).astype(int)
    return float(solution.groupby(name).right.mean().mean())
"""

SPLIT = ("Public", "Private")


def _table(header: str, *rows: str) -> str:
    return "\n".join([header, *rows]) + "\n"


def _truth(header: str, *rows: str) -> str:
    """A table with a split in turn by pairs of rows, so that both parts have rows of each kind."""
    return _table(f"{header},Usage", *(f"{row},{SPLIT[place // 2 % 2]}" for place, row in enumerate(rows)))


KAGGLE_FILES = [
    KaggleFile(
        "wrapped_f1",
        WRAPPED_F1,
        _truth("id,label,w", "1,yes,1", "2,no,1", "3,yes,2", "4,no,1"),
        _table("id,label", "1,yes", "2,yes", "3,yes", "4,no"),
        6 / 7,
        {"beta": 1, "pos_label": "yes", "weights_column_name": "w"},
    ),
    KaggleFile(
        "macro_f1",
        WRAPPED_F1,
        _truth("id,label", "1,1", "2,2", "3,1", "4,2"),
        _table("id,label", "1,1", "2,1", "3,1", "4,2"),
        0.8,
        {"beta": "1", "labels": "1", "average": "macro"},
    ),
    KaggleFile(
        "concordance_by_group",
        HEAD + BY_GROUP,
        _truth("id,efs,efs_time,race_group", "1,1,1,a", "2,1,2,a", "3,1,3,b", "4,0,5,b", "5,1,2,b", "6,0,9,b"),
        _table("id,prediction", "1,9", "2,3", "3,1", "4,2", "5,8", "6,1"),
        0.7,
        {"submission_columns": "id,prediction\n1,0.5"},
        refused=_table("id,prediction", "1,high", "2,3", "3,1", "4,2", "5,8", "6,1"),
        words="Submission column prediction must be a number",
        knows_perfect=False,
    ),
    KaggleFile(
        "translation",
        HEAD + TRANSLATION,
        _truth("id,translation", "1,abcd", "2,xyz", "3,ab", "4,q"),
        _table("id,translation", "1,abxx", "2,xyz", "3,ab", "4,q"),
        0.875,
    ),
    *(
        KaggleFile(
            key,
            HEAD + PADDED,
            _truth("id,a,b", "1,1,0", "2,0,1", "3,0,1", "4,1,0"),
            _table("id,a,b", "1,0.9,0.5", "2,0.2,0.5", "3,0.2,0.5", "4,0.8,0.5"),
            0.9682539682539683,
            params,
        )
        for key, params in (("padded", {}), ("padded_without_weights", {"weights_column_name": ""}))
    ),
    KaggleFile(
        "grouped_rmse",
        HEAD + GROUPED_RMSE,
        _truth("id,y,site", "1,1,a", "2,1,b", "3,1,a", "4,1,b"),
        _table("id,y", "1,1", "2,2", "3,1", "4,2"),
        0.5,
    ),
    KaggleFile(
        "intervals",
        HEAD + INTERVALS,
        _truth("id,y", "1,1", "2,2", "3,3", "4,4"),
        _table("id,low,high", "1,0,2", "2,2,3", "3,3,3", "4,5,5"),
        (2 + 1 + 0 + 20) / 4,
        {"submission_columns": "low,high"},
        refused=_table("id,low,high", "1,3,2", "2,2,3", "3,3,3", "4,5,5"),
        words="The lower end of an interval is above the upper end.",
    ),
    KaggleFile(
        "divergence",
        HEAD + DIVERGENCE,
        _truth("id,a,b", "1,1,0", "2,0.5,0.5", "3,1,0", "4,0,1"),
        _table("id,b,a", "1,0.5,0.5", "2,0.5,0.5", "3,0.5,0.5", "4,0.5,0.5"),
        0.5198603854199589,
        refused=_table("id,a,b", "1,0.7,0.5", "2,0.5,0.5", "3,1,0", "4,0,1"),
        words="add up to one",
    ),
    KaggleFile(
        "sharpe",
        HEAD + SHARPE,
        _truth("date_id,forward_returns,risk_free_rate", "1,3,1", "2,5,1", "3,0,1", "4,9,1"),
        _table("date_id,prediction", "1,1", "2,1", "3,0", "4,1"),
        1.0246950765959598,
        {"submission_columns": "date_id,prediction\n1,1"},
        refused=_table("date_id,prediction", "1,1", "2,3", "3,0", "4,1"),
        words="Position of 3 exceeds maximum of 2",
        knows_perfect=False,
    ),
    KaggleFile(
        "tolerances",
        HEAD + TOLERANCES,
        _truth("id,time,kind", "1,10,on", "2,20,off", "3,30,on", "4,40,off"),
        _table("id,time", "1,11", "2,25", "3,30", "4,47"),
        (0.5 + 1 + 1 + 0) / 4,
        {"tolerances": '{"on": [0.5, 2], "off": [5]}'},
    ),
    KaggleFile(
        "class_weights",
        HEAD + CLASS_WEIGHTS,
        _truth("id,A,B", "1,1,0", "2,0,1", "3,0,1", "4,1,0"),
        _table("id,A,B", "1,0.9,0.5", "2,0.2,0.5", "3,0.2,0.5", "4,0.8,0.5"),
        0.875,
        {"class_weights": "3, 1"},
    ),
    KaggleFile(
        "geo",
        HEAD + GEO,
        _truth("latitude,longitude,place", "1,1,p", "2,2,q", "3,3,r", "4,4,s"),
        _table("place,latitude,longitude", "s,4,4", "r,3,3", "q,2,2", "p,4,5"),
        1.25,
        id_column="place",
        refused=_table("place,latitude,longitude", "s,94,4", "r,3,3", "q,2,2", "p,4,5"),
        words="A latitude is beyond the poles",
    ),
    KaggleFile(
        "untyped",
        HEAD + UNTYPED,
        _truth("id,y", "1,1", "2,2", "3,3", "4,4"),
        _table("id,y", "1,1", "2,3", "3,3", "4,5"),
        0.5,
    ),
    KaggleFile(
        "likelihood",
        HEAD + LIKELIHOOD,
        _truth("planet,wl_1,wl_2", "1,0.5,0.4", "2,0.3,0.5", "3,0.2,0.1", "4,0.5,0.5"),
        _table(
            "planet,wl_1,wl_2,sigma_1,sigma_2",
            "1,0.5,0.4,0.00001,0.00001",
            "2,0.3,0.5,0.00001,0.00001",
            "3,0.2,0.1,0.00001,0.00001",
            "4,0.5,0.5,0.00001,0.00001",
        ),
        1.0,
        {"naive_mean": 0.4, "naive_sigma": 0.2, "submission_columns": "wl_1,wl_2,sigma_1,sigma_2\n0.4,0.4,0.1,0.1"},
        knows_perfect=False,
    ),
    KaggleFile(
        "labels_of_truth",
        HEAD + LABELS_OF_TRUTH,
        _truth("id,label", "1,cat", "2,dog", "3,cat", "4,dog"),
        _table("id,label", "1,cat", "2,dog", "3,cat", "4,cat"),
        0.75,
    ),
]
