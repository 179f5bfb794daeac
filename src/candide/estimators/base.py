"""What all estimators share: scikit-learn's interface over a ``Model``."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import training
from ..clusters import cluster_of
from ..data.arrays import as_array, as_frame
from ..data.index import encode
from ..data.labeled_rows import label_array
from ..exceptions import CandideError, InputError, MergeError, warn
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..model.evaluation import Evaluation
from ..model.model import Model, check_declared, drop_unlabeled
from ..model.table import Table
from ..specs import Spec
from ..specs.parameters import whole_number
from ..specs.schema import Schema
from ..training.roles import is_source

if TYPE_CHECKING:
    from ..explain.explanation import Explanations
    from ..explain.fractions import Fractions
    from ..explain.what_if import WhatIf
    from ..report.model_report import ModelReport

# Parameters that apply at once; all others apply when rows are learned next.
_APPLIED_AT_ONCE = ("n_threads", "unlabeled", "compute_loo", "absent")


def _explaining_memory_errors(method: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a MemoryError into an error that says what takes the memory."""

    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except MemoryError as error:
            raise InputError(
                f"{type(self).__name__}.{method.__name__} needs more memory than there is ({error}); a model takes "
                "memory for each class and column; pass fewer columns, or rows in chunks"
            ) from error

    return wrapped


class BaseNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of all estimators. It holds the constructor parameters and, once fitted, a ``Model`` in ``model_``.

    An error in a method that learns leaves the estimator as it was.
    """

    model_: Model
    _spec_type: ClassVar[type[Spec]]
    # Whether columns are checked by scikit-learn's rules for names.
    _checks_names: ClassVar[bool] = True
    _positive_only: ClassVar[bool] = False
    # Tags of the input, where they differ from those of most.
    _input_tags: ClassVar[dict[str, bool]] = {}

    # Learning.

    @_explaining_memory_errors
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model to rows ``X`` with labels ``y``. What was learned before is discarded.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or an iterator of chunks
            NaN, None and nulls are missing values: ignored cell by cell. Without ``y``, an iterator (a generator, say)
            that yields ``(X, y)``, ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``; the model is that of
            all rows, few of which are in memory at once. The same holds for a source of ``candide.read``.
        y : array of shape (n_rows,)
            Class labels: numbers, strings or booleans.
        sample_weight : array of shape (n_rows,), optional
            A row of weight k counts as k copies of it.
        groups : array of shape (n_rows,), optional
            Rows of one group (a customer, a thread, a patient) are left out together wherever rows are left out: in
            ``loo_``, in choices, stacking weights and calibration. None and NaN: the row is in no group.
        """
        self._check_names(X, reset=True)
        self.model_ = training.train(self._spec(), X, _labels(y), sample_weight, groups)
        return self

    @_explaining_memory_errors
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn further rows. Any sequence of calls, then ``refit``, gives the model that ``fit`` gives on all rows.

        Counts change at once. What is estimated from rows left out is fitted again here once a tenth of the weight
        has changed (``staleness_``).

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``.
        classes : array, optional
            All classes there will be. Without it, new classes are added as they appear; with it, in the first call,
            any other label is an error.
        """
        spec, y = self._spec(), _labels(y)
        if not self.__sklearn_is_fitted__():
            self._check_names(X, reset=True)
            self.model_ = training.train(spec, X, y, sample_weight, groups, classes=classes, more_to_come=True)
            return self
        if classes is not None:
            declared = encode(label_array(classes), Kernels(self.n_threads))[0]
            check_declared(declared, len(np.asarray(classes)), self.model_.classifier.classes)
        self._check_names(X)
        self.model_ = training.learn(self.model_, spec, X, y, sample_weight, groups)
        return self

    @_explaining_memory_errors
    def merge(self, other: Self) -> Self:
        """Add what another model has learned, as if this one had learned those rows too. Changes this model.

        Classes and categories that differ are aligned. Returns ``self``; ``candide.merge`` changes no model.
        """
        check_is_fitted(self)
        if not isinstance(other, BaseNB) or type(other).__name__ != type(self).__name__:
            package = "" if isinstance(other, BaseNB) else f"{type(other).__module__}."
            raise MergeError(
                f"a {type(self).__name__} cannot absorb a {package}{type(other).__name__}; merge models of one kind"
            )
        check_is_fitted(other)
        self.model_ = self.model_.merge(other.model_)
        return self

    @_explaining_memory_errors
    def forget(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Remove rows that were learned, as if they had never been seen. Changes this model.

        They are removed from the counts and from the rows kept at once, and from what was estimated from many rows
        with the next ``refit``.

        Exact for counts; means and variances to rounding. A removal that would make a count negative is refused as a
        whole. Where training rows are kept (``keep_sample=True``), so is a row that is not among them although its
        hash says that it would be; else rows that were never learned but fit into the counts are not detected. After
        ``discount``, pass the rows' discounted weight. ``groups`` distinguish equal rows, and may be left out.
        """
        check_is_fitted(self)
        self._check_names(X)
        self.model_ = training.forget(self.model_, self._spec(), X, _labels(y), sample_weight, groups)
        return self

    @_explaining_memory_errors
    def discount(self, factor: float) -> Self:
        """Multiply the weight of everything learned so far by ``factor`` (0 to 1), so that newer rows count more."""
        check_is_fitted(self)
        self.model_ = self.model_.discount(factor)
        return self

    def refit(self) -> Self:
        """Estimate again, with the parameters of now, what is estimated from the training rows kept.

        These are column models, stacking weights, calibration and refinement. ``fit`` ends with this. ``partial_fit``,
        ``forget`` and ``merge`` do it once a tenth of the weight has changed; until then they update the counts alone.
        After ``refit`` the model is the one that a single ``fit`` on the same rows gives.
        """
        check_is_fitted(self)
        self.model_ = self.model_.refit(self._spec())
        return self

    # Predicting.

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row; the first in order among equals."""
        return training.predict(self._fitted(X), "predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, in the order of ``classes_``, ``(n_rows, n_classes)``."""
        return training.predict(self._fitted(X), "predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of ``predict_proba``."""
        return training.predict(self._fitted(X), "predict_log_proba", X)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class) of each row and class, up to a term that all classes share; never calibrated."""
        return self._fitted(X).predict_joint_log_proba(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows that are predicted right; for a source of ``candide.read``, without ``y``."""
        model = self._fitted(X)
        if cluster_of(X) is not None or is_source(X):
            return training.score(model, X, y, sample_weight)
        X, y, sample_weight = drop_unlabeled(model.spec, X, y, sample_weight)
        try:
            return float(super().score(X, as_array(y, "y") if isinstance(y, (list, tuple)) else y, sample_weight))
        except CandideError:
            raise
        except ValueError as error:
            raise InputError(f"{error}; pass labels like those of classes_, one for each row") from None

    def decide(self, X: Any, costs: Any = None, abstain: float | None = None, unsure: Any = "unsure") -> Array:
        """Return the decision of least expected cost for each row, or ``unsure``.

        Parameters
        ----------
        costs : array of shape (n_classes, n_classes) or dict, optional
            ``costs[i, j]`` is the cost of deciding for class ``j`` where class ``i`` is true, in the order of
            ``classes_``; or ``{(true, decision): cost}``, where other mistakes cost 1. By default every mistake
            costs 1.
        abstain : float, optional
            Without ``costs``: the least probability of a decision. With ``costs``: the cost of no decision.
        unsure : label, default "unsure"
            What is returned for no decision.

        Examples
        --------
        >>> from candide import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 0]], ["spam", "spam", "ham", "ham"])
        >>> model.decide([[1, 0], [0, 1]], abstain=0.9).tolist()
        ['unsure', 'unsure']
        >>> model.decide([[1, 0]], costs={("ham", "spam"): 10}).tolist()        # a lost message is worse than an ad
        ['ham']
        """
        return self._fitted(X).decide(X, costs, abstain, unsure)

    def predict_set(self, X: Any, coverage: float = 0.9, by_class: bool = False) -> Array:
        """Return sets of classes that hold the true class in about ``coverage`` of all rows (conformal prediction).

        Thresholds come from training rows, each scored by a model that has not seen it. The coverage is approximate,
        and holds for rows like those of training. Needs training rows (``keep_sample=True``).

        Parameters
        ----------
        coverage : float, default 0.9
            The share of rows whose set holds the true class.
        by_class : bool, default False
            Make it hold for the rows of each class, not only overall.

        Returns
        -------
        bool array of shape (n_rows, n_classes)
            In the order of ``classes_``; the most probable class is always in.
        """
        return self._fitted(X).predict_set(X, coverage, by_class)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Draw ``n`` rows from the model: ``(X, y)``."""
        return self._fitted().sample(n, random_state)

    def with_class_prior(self, class_prior: Any) -> Self:
        """Return a copy of the model for rows among which the classes have other shares than in training.

        ``class_prior``: probabilities in the order of ``classes_``, a dict by label, or "uniform". Exact: the columns
        are not touched. Where probabilities are calibrated, the change comes after the calibration.
        """
        return self._copy(self._fitted().with_class_prior(class_prior))

    def adapt_class_prior(self, X: Any) -> Self:
        """Return a copy with the class prior of unlabeled rows ``X``, estimated by EM on their probabilities."""
        return self._copy(self._fitted(X).adapt_class_prior(X))

    # Evaluating.

    def evaluate(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Evaluation:
        """Compute accuracy, log-loss, calibration and more on rows that the model should not have learned from.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``; chunks too, of which few are in memory at once.
        groups : array of shape (n_rows,), optional
            Rows of one group are one observation in the standard errors.

        Examples
        --------
        >>> from candide import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
        >>> model.evaluate([[0.0], [7.0], [4.0]], ["low", "high", "high"]).accuracy
        0.6666666666666666
        """
        return training.evaluate(self._fitted(), X, y, sample_weight, groups)

    def leave_one_out(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        class_prior: Literal["removed", "fixed"] = "removed",
        groups: Any = None,
    ) -> Floats:
        """Return log probabilities of training rows, each by the model that has not seen it: exact, without a refit.

        Parameters
        ----------
        X, y, sample_weight
            Rows that the model was trained on, all or some, with their weights.
        class_prior : {"removed", "fixed"}
            Whether the row is left out of the class prior too. "fixed" is for choosing between models: with "removed",
            a model that knows nothing is wrong about every row of balanced classes. Stacking has biases of its own for
            the classes, which stay either way.
        groups : array of shape (n_rows,), optional
            Rows of one group are left out together, as in ``cross_val_log_proba``.

        Returns
        -------
        array of shape (n_rows, n_classes)
            As ``predict_log_proba`` of a model refitted without the row. The variance floor, pseudo-counts and priors
            chosen from data, known categories and the calibration stay as they are.

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
        """Return log probabilities of training rows, each fold by the model that has not seen the fold.

        Parameters
        ----------
        groups : array of shape (n_rows,), optional
            Each group is a fold: threads, patients, duplicates. Stacking, which is fitted again for each fold, leaves
            out groups in five parts, where there are more than ten.
        n_folds : int, optional
            Without groups: the number of folds of consecutive rows; 5 by default.
        X, y, sample_weight, class_prior
            As in ``leave_one_out``.
        """
        return self._fitted(X).cross_val_log_proba(X, y, groups, n_folds, sample_weight, class_prior)

    @property
    def loo_(self) -> Evaluation:
        """Leave-one-out accuracy, log-loss and calibration of this model, estimated without a test set.

        Training rows are scored with themselves left out; what was chosen or fitted on such scores is fitted again
        without a fifth of the rows, and scored on it. ``loo_.optimistic`` is the figure without that.
        """
        return self._fitted().loo

    @property
    def staleness_(self) -> float:
        """The weight learned and forgotten since the last refit, as a share of the weight at that refit.

        0.0 after ``fit`` and ``refit``, and for models in which nothing is estimated from rows left out. Above 0.1
        only where no training rows are kept to refit on.
        """
        return self._fitted().staleness

    # Explaining.

    @overload
    def explain(self, X: Any, style: Literal["terms"] = "terms") -> Explanations: ...
    @overload
    def explain(self, X: Any, style: Literal["fractions"]) -> list[Fractions]: ...
    def explain(self, X: Any, style: Literal["terms", "fractions"] = "terms") -> Explanations | list[Fractions]:
        """Return what each prediction is the sum of: the prior, every cell or token, stacking, the calibration.

        Parameters
        ----------
        X
            Rows, as in ``predict``.
        style : {"terms", "fractions"}
            Sums of logarithms; or, of models that count, products of fractions as one writes them by hand.

        Returns
        -------
        Explanations
            One ``Explanation`` for each row. Its ``terms`` add up to the model's log probabilities; ``evidence()``
            sorts them by what they contribute to the predicted class against the runner-up, in bits. Or as many
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
        """Return the smallest changes of each row after which the prediction would be another.

        Single cells first: of numbers the least change that is enough, of categories another value, of texts a word
        less. Where none is enough, several together, those that help most.

        Parameters
        ----------
        X
            Rows, as in ``predict``.
        to : label, optional
            The class that is wanted; any other than the predicted one if left out.
        most : int, default 5
            The number of changes to return.

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
        """Return the parameters of p(x | class), one a row, with the counts behind them."""
        return self._fitted().parameters()

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        title: str | None = None,
        notes: dict[str, str] | None = None,
    ) -> ModelReport:
        """Write an HTML report: what the model is, its estimated accuracy, what it uses, and warnings.

        One file without scripts, which needs no other file and no network; light, dark and for paper.

        Parameters
        ----------
        path : str or Path, optional
            Where to write; the usual ending is ``.html``. Without it nothing is written.
        X, y, sample_weight
            Rows with labels, as in ``evaluate``, which the model should not have learned from: they are evaluated too.
            Where the model keeps no training rows, examples come from them.
        title : str, optional
            Of the page; by default the name of the class.
        notes : dict of str to str, optional
            Notes on how the model was trained.

        Returns
        -------
        ModelReport
            All that the page says: ``as_dict()`` as numbers, ``html()`` as the page.

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
        rows = None if X is None else training.labeled_batches(model, X, y, sample_weight)
        return make_report(model, rows, path, title=title, notes=notes)

    # Saving and exporting.

    def save(self, path: str | os.PathLike[str], sample: bool = False) -> None:
        """Write the model to a file, which ``candide.load`` reads.

        The file is written under another name and renamed: whatever happens, there is the old file or the new one.

        Parameters
        ----------
        path : str or Path
            Where to write; the usual ending is ``.candide``.
        sample : bool, default False
            Whether the training rows that the model keeps are written. Without them a later ``partial_fit`` or
            ``merge`` goes on with the weights and the calibration that the model has; with them these are fitted
            again. A ``NaiveBayes`` with training rows that has changed since the last refit (``staleness_``) is
            refitted first, and so is a ``TextNB(refine=True)`` that has forgotten texts, whose words its refinement
            still holds. The others keep what they have, and ``loo_`` is computed when the loaded model is asked for it.

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
        """Return the model as one JSON document, exact to the last digit, which ``candide.from_json`` reads.

        It is what ``candide dump`` writes: the content of a model file, in lines that can be read and diffed.

        Parameters
        ----------
        sample : bool, default False
            Whether training rows are part of it, as in ``save``.

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

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Return the model as an ONNX graph, for onnxruntime and others (``pip install 'candide[onnx]'``).

        Its outputs are ``label`` and ``probabilities``, ``(n_rows,)`` and ``(n_rows, n_classes)``, those of ``predict``
        and ``predict_proba``. Its input is ``X``, doubles of shape ``(n_rows, n_columns)``, NaN where a cell is
        missing; of ``CategoricalNB`` and ``NaiveBayes`` one input for each column that is used, ``(n_rows, 1)``:
        doubles, or strings, empty where they are missing; of ``TextNB`` with a plain family ``tokens``,
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

        model = self._fitted()
        return to_onnx(model.classifier, model.column_names(), self._given_names(), path)

    def to_sklearn(self) -> Any:
        """Return the fitted estimator of scikit-learn that has learned the same and predicts the same.

        For ``GaussianNB``, ``BernoulliNB``, ``CategoricalNB`` (of codes), ``MultinomialNB`` and ``ComplementNB``. What
        scikit-learn's class does not support, such as a calibration, is refused by name. ``candide.from_sklearn`` is
        the inverse.

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
        self, dialect: str = "duckdb", table: str = "rows", *, keep: bool | Sequence[str] = True, proba: bool = True
    ) -> str:
        """Return a query that scores a table in a database, with the results of ``predict`` and ``predict_proba``.

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
            Whether the result has the table's own columns too, or which of them. SQLite keeps all columns of tables
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

        model = self._fitted()
        columns = model.spec.table_columns(model.schema)
        return to_sql(model.classifier, *columns, dialect=dialect, table=table, keep=keep, proba=proba)

    # What was learned.

    @property
    def n_features_in_(self) -> int:
        """The number of columns of training."""
        return self._fitted().schema.n_features

    @property
    def feature_names_in_(self) -> Array:
        """The names of the columns of training, where all are strings."""
        names = self._fitted().schema.feature_names
        if names is None:
            raise AttributeError(f"this {type(self).__name__} was fitted on columns without names")
        return np.array(names, dtype=object)

    @property
    def classes_(self) -> Array:
        """The class labels in sorted order."""
        return read_only(self._fitted().classes)

    @property
    def class_count_(self) -> Floats:
        """The weight of the rows of each class."""
        return read_only(self._fitted().class_count)

    @property
    def class_prior_(self) -> Floats:
        """p(class), fitted or given, class weights included."""
        return read_only(self._fitted().classifier.class_prior)

    @property
    def class_log_prior_(self) -> Floats:
        """log p(class)."""
        return read_only(self._fitted().classifier.log_prior)

    @property
    def prior_(self) -> Any:
        """The prior of the parameters, with chosen pseudo-counts; None for maximum likelihood."""
        family = self._fitted().classifier.family
        return None if family.estimate == "mle" else family.prior

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters, p(class) included."""
        return self._fitted().classifier.n_parameters

    @property
    def calibration_(self) -> dict[str, Any]:
        """The numbers of the calibration by name: its temperature, biases or curves. Empty without one."""
        return self._fitted().calibration

    # For scikit-learn.

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self._positive_only
        for name, value in {"sparse": True, "allow_nan": True, **self._input_tags}.items():
            setattr(tags.input_tags, name, value)
        return tags

    def _spec(self) -> Spec:
        """Return the constructor parameters as a spec. Parameters that a subclass adds are left out."""
        kind = self._spec_type
        return kind(**{field.name: getattr(self, field.name) for field in fields(kind) if hasattr(self, field.name)})

    def _fitted(self, X: Any = None) -> Model:
        """Return the model, after a check of the names of the columns of ``X``."""
        try:
            model: Model = vars(self)["model_"]
        except KeyError:
            check_is_fitted(self)
            raise
        if X is not None:
            self._check_names(X)
        spec = model.spec
        changed = {
            name: getattr(self, name)
            for name in _APPLIED_AT_ONCE
            if getattr(spec, name, None) is not getattr(self, name, None)
        }
        return replace(model, spec=replace(spec, **changed)) if changed else model

    def _check_names(self, X: Any, *, reset: bool = False) -> None:
        """Check the names of columns by scikit-learn's rules. Arrays have none, and the check is slow."""
        if not self._checks_names or cluster_of(X) is not None or is_source(X):
            return
        named = not reset and self.model_.schema.feature_names is not None
        frame = None if isinstance(X, (np.ndarray, list, tuple)) else as_frame(X)
        if (frame is not None and frame.columns) or (named and isinstance(X, np.ndarray)):
            validate_data(BaseEstimator() if reset else self, X, reset=reset, skip_check_array=True)

    def _check_alpha(self) -> Any:
        """Return the pseudo-counts as they are used. scikit-learn's tests of its own classes call this."""
        spec: Any = self._spec()
        return spec._checked_alpha(self.model_.schema if self.__sklearn_is_fitted__() else Schema(0))

    def _given_names(self) -> Array | None:
        """Return the names of the columns of training, if they have any."""
        return getattr(self, "feature_names_in_", None)

    def _for_file(self) -> Model:
        """Return the model for a file; if that needed a refit, the estimator has it too."""
        model = self._fitted()
        written = model.for_file()
        if written is not model:
            self.model_ = written
        return written

    def _copy(self, model: Model) -> Self:
        """Return an estimator with the same parameters and another model."""
        other = object.__new__(type(self))
        other.__dict__.update(vars(self))
        other.model_ = model
        return other


def _labels(y: Any) -> Any:
    """Return labels; a table of one column becomes an array, with scikit-learn's warning."""
    if cluster_of(y) is not None:
        return y
    nested = isinstance(y, (list, tuple)) and len(y) > 0 and isinstance(y[0], (list, tuple))
    if not nested and getattr(y, "ndim", 1) != 2:
        return y
    values = y if type(y) is np.ndarray else as_array(y, "y")
    if values.ndim != 2 or values.shape[1] != 1:
        return y
    warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
        "(n_samples,), for example using ravel().",
        DataConversionWarning,
    )
    return values.ravel()


def read_only(array: Array) -> Array:
    """Return a view that cannot be written to: a fitted model changes by learning alone."""
    view = array.view()
    view.flags.writeable = False
    return view


class CountNB(BaseNB):
    """Base of the models whose statistic is a sum per class and column."""

    @property
    def feature_count_(self) -> Floats:
        """The weighted sum of each column in each class (``BernoulliNB``: the weight of the rows in which it is 1)."""
        return read_only(self._fitted().state.statistics.dense())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
