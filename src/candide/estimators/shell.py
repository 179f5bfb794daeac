"""What makes a learner one of scikit-learn's: its base classes, its checks of names, its tags."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import learners
from ..clusters import cluster_of
from ..data.arrays import as_array
from ..learners.base import BaseNB
from ..learners.sourced import is_source


class Shell(ClassifierMixin, BaseEstimator, BaseNB):  # type: ignore[misc]  # scikit-learn has no types
    """Goes before the learner: where both answer, scikit-learn's users get what they are used to."""

    _column_vector = DataConversionWarning
    # Of the inputs, where they differ from those of most.
    _input_tags: ClassVar[dict[str, bool]] = {}

    def _require_fitted(self) -> None:
        check_is_fitted(self)

    def _check_columns(self, X: Any, n_columns: int, reset: bool) -> None:
        if type(X) is np.ndarray and (reset or "feature_names_in_" not in vars(self)):
            super()._check_columns(X, n_columns, reset)  # an array has no names, and the check is slow
        else:
            validate_data(self, X, reset=reset, skip_check_array=True)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right; of what ``candide.read`` gives, without ``y``."""
        if cluster_of(X) is not None or is_source(X):
            return BaseNB.score(self, X, y, sample_weight)
        X, y, sample_weight = self._scored(X, y, sample_weight)
        return float(super().score(X, as_array(y, "y") if isinstance(y, (list, tuple)) else y, sample_weight))

    def _traveller(self, *model: Any) -> Any:
        """The learner alone: workers have no use for scikit-learn, and would wait for it."""
        sent = super()._traveller(*model)
        if not type(self).__module__.startswith(f"{__package__}."):
            return sent  # a class of the user's goes as it is
        learner = object.__new__(getattr(learners, type(self).__name__))
        learner.__dict__.update(vars(sent))
        return learner

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self._positive_only
        for name, value in {"sparse": True, "allow_nan": True, **self._input_tags}.items():
            setattr(tags.input_tags, name, value)
        return tags
