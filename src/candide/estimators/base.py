"""Base class of the estimators: evaluation, explanations, the report, files and exports."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, overload

from ..kernels.layouts import Floats
from ..model.evaluation import Evaluation
from ..model.model import Model
from ..model.predict import evaluate, labeled_batches
from ..model.table import Table
from ..sources.open_source import open_source, take_groups
from ..specs.parameters import whole_number
from .model_estimator import ModelEstimator, read_only

if TYPE_CHECKING:
    from ..explain.explanation import Explanations
    from ..explain.fractions import Fractions
    from ..explain.what_if import WhatIf
    from ..report.model_report import ModelReport


class BaseNB(ModelEstimator):
    """Base class of all estimators."""

    # Evaluating.

    def evaluate(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Evaluation:
        """Compute accuracy, log-loss, calibration and other metrics on labeled rows that were not used for training.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``, including iterators of chunks.
        groups : array of shape (n_rows,) or column name, optional
            Rows of one group count as one observation in the standard errors.

        Returns
        -------
        Evaluation

        Examples
        --------
        >>> from candide import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
        >>> model.evaluate([[0.0], [7.0], [4.0]], ["low", "high", "high"]).accuracy
        0.6666666666666666
        """
        X, groups = take_groups(X, groups)
        return evaluate(self._fitted(), open_source(X, y, sample_weight, groups, chunks=True))

    def leave_one_out(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        class_prior: Literal["removed", "fixed"] = "removed",
        groups: Any = None,
    ) -> Floats:
        """Return exact leave-one-out log probabilities of training rows, without refitting.

        Parameters
        ----------
        X, y, sample_weight
            Rows that the model was trained on, all or some, with their weights.
        class_prior : {"removed", "fixed"}
            Whether the row is left out of the class prior too. Use "fixed" to compare models: with "removed", an
            uninformative model misclassifies every row of balanced classes. The class biases of stacking stay fixed.
        groups : array of shape (n_rows,) or column name, optional
            Rows of one group are left out together, as in ``cross_val_log_proba``.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Equal to ``predict_log_proba`` of a model refitted without the row. The variance floor, chosen
            pseudo-counts and priors, known categories and the calibration stay fixed.

        Examples
        --------
        >>> from candide import GaussianNB
        >>> X, y = [[1.0], [2.0], [2.5], [6.0], [7.0], [9.0]], [0, 0, 0, 1, 1, 1]
        >>> GaussianNB().fit(X, y).leave_one_out(X, y).argmax(axis=1)
        array([0, 0, 0, 1, 1, 1])
        """
        if groups is not None:
            return self.cross_val_log_proba(X, y, groups, sample_weight=sample_weight, class_prior=class_prior)
        return self._fitted(X).leave_one_out(X, y, sample_weight, class_prior)

    def cross_val_log_proba(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        n_folds: int | None = None,
        sample_weight: Any = None,
        class_prior: Literal["removed", "fixed"] = "removed",
    ) -> Floats:
        """Return cross-validated log probabilities of training rows, without refitting the counts.

        Parameters
        ----------
        groups : array of shape (n_rows,) or column name, optional
            Each group is a fold, for example the visits of one patient. With stacking, which is refitted for each
            fold, more than ten groups are combined into five folds.
        n_folds : int, optional
            Without groups: the number of folds of consecutive rows; 5 by default.
        X, y, sample_weight, class_prior
            As in ``leave_one_out``.

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        X, groups = take_groups(X, groups)
        return self._fitted(X).cross_val_log_proba(X, y, groups, n_folds, sample_weight, class_prior)

    @property
    def loo_(self) -> Evaluation:
        """Leave-one-out accuracy, log-loss and calibration, estimated without a test set.

        Each training row is scored with a model trained without it. Choices, stacking weights and calibration are
        cross-fitted in five folds. ``loo_.optimistic`` contains the metrics without cross-fitting.
        """
        return self._fitted().loo

    @property
    def staleness_(self) -> float:
        """Weight of the rows added and removed since the last refit, as a share of the weight at that refit.

        0.0 after ``fit`` and ``refit``, and for models without stacking, calibration and other fitted choices. Exceeds
        0.1 only if the model keeps no training rows to refit on.
        """
        return self._fitted().staleness

    # Explaining.

    @overload
    def explain(self, X: Any, style: Literal["terms"] = "terms") -> Explanations: ...
    @overload
    def explain(self, X: Any, style: Literal["fractions"]) -> list[Fractions]: ...
    def explain(self, X: Any, style: Literal["terms", "fractions"] = "terms") -> Explanations | list[Fractions]:
        """Explain predictions: the contributions of the prior and of each cell or token, which add up to the score.

        Parameters
        ----------
        X
            Rows, as in ``predict``.
        style : {"terms", "fractions"}
            Sums of logarithms; or, for models of counts, products of fractions as in a calculation by hand.

        Returns
        -------
        Explanations
            One ``Explanation`` per row. Its ``terms`` add up to the log probabilities; ``contributions()`` sorts them
            by their contribution to the predicted class against the second, in bits. With "fractions", a list of
            ``Fractions``.

        Examples
        --------
        >>> from candide import CategoricalNB
        >>> sky = ["sun", "sun", "rain", "rain", "rain"]
        >>> model = CategoricalNB().fit([[one] for one in sky], ["out", "out", "in", "in", "out"])
        >>> model.explain([["sun"]])
        out (0.7826), against in: +1.85 bits
          x0 = sun     +1.26  ████████████████████
          prior        +0.58  █████████
        """
        from ..explain import explain_rows

        return explain_rows(self._fitted(X), X, style)

    def what_if(self, X: Any, to: Any = None, most: int = 5) -> list[WhatIf]:
        """Return the smallest changes to each row that would change the prediction.

        Changes of single cells are tried first: the smallest change of a number, another category, a text without one
        word. If none is sufficient, several are combined.

        Parameters
        ----------
        X
            Rows, as in ``predict``.
        to : label, optional
            The desired class; by default any class other than the predicted one.
        most : int, default 5
            Maximum number of changes to return.

        Examples
        --------
        >>> from candide import GaussianNB
        >>> model = GaussianNB().fit([[1.0, 5.0], [2.0, 6.0], [8.0, 5.0], [9.0, 7.0]], ["low", "low", "high", "high"])
        >>> model.what_if([[3.0, 6.0]])[0]
        low (1.0000), unless
          x0: 3 → 5.007: high (0.5007)
        """
        from ..explain import minimal_changes

        return minimal_changes(self._fitted(X), X, to, whole_number(most, "most"))

    def parameters(self) -> Table:
        """Return a table of the parameters of p(x | class), one per row, with their counts."""
        return self._fitted().parameters()

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        title: str | None = None,
        notes: dict[str, str] | None = None,
    ) -> ModelReport:
        """Write an HTML report: description, estimated accuracy, important features, example rows and warnings.

        The report is one file without scripts that needs no network.

        Parameters
        ----------
        path : str or Path, optional
            The file to write, usually with the extension ``.html``. By default nothing is written.
        X, y, sample_weight, groups
            Rows with labels that were not used for training; their evaluation is added. If the model keeps no training
            rows, examples come from these. Rows of a group count as one observation.
        title : str, optional
            Title of the page; by default the name of the class.
        notes : dict of str to str, optional
            Notes on how the model was trained.

        Returns
        -------
        ModelReport
            The contents: ``as_dict()`` as numbers, ``html()`` as the page.

        Examples
        --------
        >>> import candide, tempfile
        >>> mail = ["win cash now", "win a prize", "see you at noon", "lunch at noon"]
        >>> model = candide.TextNB().fit(mail, ["spam", "spam", "ham", "ham"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = model.report(f"{folder}/mail.html")
        >>> found.as_dict()["classes"]
        {'ham': 2.0, 'spam': 2.0}
        """
        from ..report import make_report

        model = self._fitted()
        X, groups = take_groups(X, groups)
        rows = None if X is None else labeled_batches(model, open_source(X, y, sample_weight, groups, chunks=True))
        return make_report(model, rows, path, title=title, notes=notes)

    # Saving and exporting.

    def save(self, path: str | os.PathLike[str] | BinaryIO, sample: bool = False) -> None:
        """Save the model to a file that ``candide.load`` can read.

        The file is replaced atomically: if saving fails, the old file is unchanged.

        Parameters
        ----------
        path : str, Path or binary file object
            The file to write, usually with the extension ``.candide``; or an address such as
            ``s3://bucket/mail.candide`` (``pip install 'candide[remote]'``), whose object is written as a whole.
        sample : bool, default False
            Whether to write the training rows that the model keeps. With them, a later ``partial_fit`` or ``merge``
            can refit weights and calibration; without them, these stay the same. A ``NaiveBayes`` with training rows
            that has changed since the last refit (``staleness_``) is refitted before it is saved, and so is a
            ``TextNB(refine=True)`` that has forgotten texts, because its refinement still contains their words. Other
            models are saved as they are, and ``loo_`` is computed on first use after loading.

        Examples
        --------
        >>> import candide, tempfile
        >>> mail = ["win cash now", "win a prize", "see you at noon", "lunch at noon"]
        >>> model = candide.TextNB().fit(mail, ["spam", "spam", "ham", "ham"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/mail.candide")
        ...     candide.load(f"{folder}/mail.candide").predict(["win cash"]).tolist()
        ['spam']
        """
        from ..storage.models import save_model

        save_model(self._for_file(), path, rows=sample)

    def to_json(self, sample: bool = False) -> str:
        """Return the model as a JSON document that ``candide.from_json`` can read, without rounding.

        ``candide dump`` writes the same document: the contents of a model file, one item per line.

        Parameters
        ----------
        sample : bool, default False
            Whether to include training rows, as in ``save``.

        Examples
        --------
        >>> import candide, json
        >>> model = candide.MultinomialNB().fit([[2, 0], [0, 1]], ["spam", "ham"])
        >>> text = model.to_json()
        >>> list(json.loads(text))
        ['format', 'version', 'kind', 'provenance', 'settings', 'parts', 'arrays']
        >>> candide.from_json(text).predict([[3, 1]]).tolist()
        ['spam']
        """
        from ..storage.models import dump_lines

        return "".join(dump_lines(self._for_file(), rows=sample))

    def to_js(self, *, approximate: bool = False) -> str:
        """Return the model as the source of a JavaScript module without dependencies, for browsers and Node.

        A text model exports ``classify(text)``, others ``predict(row)`` for an object with a value for each column,
        ``null`` where it is missing. Both return ``label``, ``probabilities`` in the order of the exported ``classes``,
        and ``contributions``, the terms of ``explain``: their ``scores`` add up to the log-odds between classes.

        Parameters
        ----------
        approximate : bool, default False
            As in ``to_sql``.

        Returns
        -------
        str
            The text of an ES module, to be written to a file such as ``model.mjs``.

        Examples
        --------
        >>> from candide import TextNB
        >>> model = TextNB("multinomial").fit(["win a prize", "lunch at noon"], ["spam", "ham"])
        >>> source = model.to_js()
        >>> "export function classify(text)" in source, "import " in source
        (True, False)
        """
        from ..export.javascript import to_js

        return to_js(self._fitted(), approximate=approximate)

    def to_onnx(self, path: str | os.PathLike[str] | None = None, *, approximate: bool = False) -> Any:
        """Return the model as an ONNX graph, for onnxruntime and others (``pip install 'candide[onnx]'``).

        The outputs are ``label`` of shape ``(n_rows,)`` and ``probabilities`` of shape ``(n_rows, n_classes)``, equal
        to ``predict`` and ``predict_proba``. The input is ``X``, doubles of shape ``(n_rows, n_columns)`` with NaN for
        missing cells. ``CategoricalNB`` and ``NaiveBayes`` have one input of shape ``(n_rows, 1)`` for each column that
        is used: doubles, or strings with ``""`` for missing cells. ``TextNB`` with a plain family has the input
        ``tokens``, strings of shape ``(n_rows, n_tokens)``, padded with ``""``.

        Parameters
        ----------
        path : str or Path, optional
            Where to write the graph.
        approximate : bool, default False
            As in ``to_sql``.

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

        model = self._fitted()
        classifier = model.classifier.for_export(approximate=approximate)
        return to_onnx(classifier, model.column_names(), self._given_names(), path)

    def to_sklearn(self) -> Any:
        """Return a fitted scikit-learn estimator with the same counts and predictions.

        Available for ``GaussianNB``, ``BernoulliNB``, ``CategoricalNB`` (of codes), ``MultinomialNB`` and
        ``ComplementNB``. Options that the scikit-learn class does not support, such as calibration, raise an error.
        ``candide.from_sklearn`` is the inverse.

        Examples
        --------
        >>> from candide import BernoulliNB
        >>> estimator = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]).to_sklearn()
        >>> type(estimator).__module__, estimator.predict([[1, 0]]).tolist()
        ('sklearn.naive_bayes', ['a'])
        """
        from ..export.sklearn import to_sklearn

        model = self._fitted()
        return to_sklearn(model.classifier, model.spec.name, self._given_names())

    def to_sql(
        self, dialect: str = "duckdb", table: str = "rows", *, keep: bool | Sequence[str] = True, proba: bool = True,
        approximate: bool = False,
    ) -> str:  # fmt: skip
        """Return a query that scores a table in a database, with the results of ``predict`` and ``predict_proba``.

        Parameters
        ----------
        dialect : str, default "duckdb"
            "duckdb", "postgres" or "sqlite"; or another sqlglot dialect, such as "spark", "bigquery" or "snowflake",
            which needs that package (``pip install 'candide[sql]'``). Text models: "duckdb", "postgres" or "spark".
        table : str, default "rows"
            The rows to score: the name of a table or view, ``"schema.name"``, or a query in parentheses. Names are
            quoted. A query is inserted verbatim, so do not build one from untrusted text. The table must have the
            columns that the model was trained on (x0, x1, … if they had no names; ``text`` for text models); NULL and
            NaN are missing values.
        keep : bool or list of str, default True
            Whether the result includes the columns of the table, or a list of those to include. In SQLite, a list is
            required for views and queries.
        proba : bool, default True
            Whether the result includes probabilities.
        approximate : bool, default False
            Whether to export a ``NaiveBayes`` with random grids of columns (``refine``), which a query cannot express,
            without them. A warning states how much that raises the log-loss.

        Returns
        -------
        str
            A query that returns the columns of the table, ``prediction``, and ``p(label)`` for each class.

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

        model = self._fitted()
        columns = model.spec.table_columns(model.schema)
        classifier = model.classifier.for_export(approximate=approximate)
        return to_sql(
            classifier, *columns,
            dialect=dialect, table=table, keep=keep, proba=proba, missing=model.schema.missing,
        )  # fmt: skip

    def _for_file(self) -> Model:
        """Return the model for a file; if that needed a refit, the estimator has it too."""
        model = self._fitted()
        written = model.for_file()
        if written is not model:
            self.model_ = written
        return written


def _feature_count(estimator: BaseNB) -> Floats:
    """Return the weighted sum of each column in each class (``BernoulliNB``: the weight of rows in which it is 1)."""
    return read_only(estimator._fitted().state.statistics.dense())


# The attribute ``feature_count_`` of the estimators whose statistic is a sum per class and column.
feature_count = property(_feature_count)
