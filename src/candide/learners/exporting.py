"""A model for where there is no candide."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..kernels.layouts import Array
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

    def to_sql(
        self, dialect: str = "duckdb", table: str = "rows", *, keep: bool | Sequence[str] = True, proba: bool = True
    ) -> str:
        """One query that scores a table where it is; its answers are those of ``predict`` and ``predict_proba``.

        Parameters
        ----------
        dialect : str, default "duckdb"
            "duckdb", "postgres" or "sqlite"; any other that sqlglot knows, such as "spark", "bigquery" or "snowflake",
            needs that package (``pip install 'candide[sql]'``).
        table : str, default "rows"
            What is scored: the name of a table or view, ``"schema.name"``, or a query in parentheses. Names are quoted;
            a query is inserted verbatim, so never make one from text that you do not trust. It must have the columns
            that the model was trained on (x0, x1, … if they had no names); NULL and NaN are missing values.
        keep : bool or list of str, default True
            Whether the answer has the table's own columns too, or which of them. SQLite keeps all columns of tables
            only, not of views and queries: name them.
        proba : bool, default True
            Whether there are probabilities beside the prediction.

        Returns
        -------
        str
            The query, whose columns are those of the table, ``prediction``, and ``p(label)`` for each class.

        Examples
        --------
        >>> import duckdb
        >>> from candide import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
        >>> with duckdb.connect() as database:
        ...     made = database.execute("CREATE TABLE rows AS SELECT 7 AS id, 8.5 AS x0")
        ...     print(database.execute(model.to_sql(keep=["id"], proba=False)).fetchall())
        [(7, 'high')]
        """
        from ..export.sql import to_sql

        return to_sql(self._fitted(), *self._table_columns(), dialect=dialect, table=table, keep=keep, proba=proba)

    def _table_columns(self) -> tuple[list[str], dict[str, Any]]:
        """How tables elsewhere call the columns; by name, cells of the types of those that hold booleans or times."""
        return [] if self.reads_texts else self._column_names().tolist(), {}
