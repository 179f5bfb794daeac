"""A model for where there is no candide."""

from __future__ import annotations

import os
from typing import Any

from ..kernels.data import Array
from .fitted import Fitted


class Exports(Fitted):
    """The forms in which a model leaves home."""

    feature_names_in_: Array

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The model as a graph of ONNX, for onnxruntime and whatever else reads it (``pip install 'candide[onnx]'``).

        Its outputs are ``label`` and ``probabilities``, ``(n_rows,)`` and ``(n_rows, n_classes)``, those of ``predict``
        and ``predict_proba``. Its input is ``X``, doubles of shape ``(n_rows, n_columns)``, NaN where a cell is
        missing; of ``CategoricalNB`` and ``NaiveBayes`` one input for each column that is used, ``(n_rows, 1)``:
        doubles, or texts, empty where they are missing; of ``TextNB`` with a textbook's model ``tokens``,
        ``(n_rows, n_tokens)``, empty where a text has no more.

        Parameters
        ----------
        path : str or Path, optional
            Where to write the graph.

        Returns
        -------
        onnx.ModelProto

        Examples
        --------
        >>> import numpy as np, onnxruntime
        >>> from candide import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
        >>> session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
        >>> label, probabilities = session.run(None, {"X": np.array([[1.4], [np.nan]])})
        >>> label.tolist(), probabilities.round(3).tolist()
        (['low', 'high'], [[0.0, 1.0], [0.5, 0.5]])
        """
        from ..export.onnx import to_onnx

        return to_onnx(self._fitted(), self._column_names(), getattr(self, "feature_names_in_", None), path)

    def to_sklearn(self) -> Any:
        """The fitted estimator of scikit-learn that has learned the same and predicts the same.

        For ``GaussianNB``, ``BernoulliNB``, ``CategoricalNB`` (of codes), ``MultinomialNB`` and ``ComplementNB``. What
        scikit-learn's class has no place for, such as a calibration, is refused by name. ``candide.from_sklearn`` is
        the way back.

        Examples
        --------
        >>> from candide import BernoulliNB
        >>> estimator = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]).to_sklearn()
        >>> type(estimator).__module__, estimator.predict([[1, 0]]).tolist()
        ('sklearn.naive_bayes', ['a'])
        """
        from ..export.sklearn import to_sklearn

        return to_sklearn(self._fitted(), type(self).__name__, getattr(self, "feature_names_in_", None))
