"""The scikit-learn interface of a ``Model``: fitting, prediction, fitted attributes and tags."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.arrays import as_array, as_frame
from ..data.index import encode
from ..data.labeled_rows import label_array
from ..exceptions import CandideError, InputError, MergeError, warn
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..model.labels import check_declared, drop_unlabeled, like_classes
from ..model.model import Model
from ..model.predict import predict, score
from ..model.train import forget, learn, train
from ..sources.open_source import is_elsewhere, open_source, take_groups
from ..specs import Spec
from ..specs.schema import Schema

# Parameters that take effect immediately; all others take effect at the next training call.
_APPLIED_AT_ONCE = ("n_threads", "unlabeled", "compute_loo", "absent")


def _explaining_memory_errors(method: Callable[..., Any]) -> Callable[..., Any]:
    """Convert a MemoryError to an error that states what memory use depends on."""

    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except MemoryError as error:
            raise InputError(
                f"{type(self).__name__}.{method.__name__} ran out of memory ({error}); memory use grows with the "
                "number of classes and columns; pass fewer columns, or rows in chunks"
            ) from error

    return wrapped


class ModelEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A scikit-learn classifier that holds the constructor parameters and, once fitted, a ``Model`` in ``model_``.

    If a fitting method raises an error, the estimator is unchanged. Subclasses are dataclasses, whose fields are the
    parameters of the constructor.
    """

    model_: Model
    _spec_type: ClassVar[type[Spec]]
    # Whether columns are checked by scikit-learn's rules for names.
    _checks_names: ClassVar[bool] = True
    _positive_only: ClassVar[bool] = False
    _poor_score: ClassVar[bool] = False
    # Input tags that differ from the defaults.
    _input_tags: ClassVar[dict[str, bool]] = {}

    # Learning.

    @_explaining_memory_errors
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model to rows ``X`` with labels ``y``. An earlier fit is discarded.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or an iterator of chunks
            NaN, None and nulls are missing values, which are ignored cell by cell. Without ``y``, an iterator (such as
            a generator) that yields ``(X, y)``, ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``; the
            model is that of all rows, although only a few are in memory at a time. A source of ``candide.read`` works
            the same way, and so do tables that are not in memory: a polars LazyFrame, a pyarrow Dataset or
            RecordBatchReader, a DuckDB relation, or any object with ``__arrow_c_stream__``.
        y : array of shape (n_rows,)
            Class labels: numbers, strings or booleans; for a table that is not in memory, the name of the label column.
        sample_weight : array of shape (n_rows,), optional
            A row of weight k counts as k copies of it. For a table that is not in memory, the name of a column.
        groups : array of shape (n_rows,) or column name, optional
            Rows of one group (a customer, a thread, a patient) are left out together wherever rows are left out: in
            ``loo_``, automatic choices, stacking weights and calibration. A row with None or NaN is in no group. The
            column of ``X`` that is named is not a feature.
        """
        X, groups = take_groups(X, groups)
        self._check_names(X, reset=True)
        self.model_ = train(self._spec(), open_source(X, _labels(y), sample_weight, groups, chunks=True))
        return self

    @_explaining_memory_errors
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Update the model with more rows. Any sequence of calls followed by ``refit`` equals one ``fit`` on all rows.

        Counts change immediately. Stacking weights, calibration and other estimates are refitted once a tenth of
        the weight has changed (``staleness_``).

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``.
        classes : array, optional
            All classes, in the first call. Any other label is then an error. By default new classes are added as they
            appear.
        """
        X, groups = take_groups(X, groups)
        spec, source = self._spec(), open_source(X, _labels(y), sample_weight, groups)
        if not self.__sklearn_is_fitted__():
            self._check_names(X, reset=True)
            self.model_ = train(spec, source, classes=classes, more_to_come=True)
            return self
        if classes is not None:
            declared = encode(label_array(classes), Kernels(self.n_threads))[0]
            check_declared(declared, len(np.asarray(classes)), self.model_.classifier.classes)
        self._check_names(X)
        self.model_ = learn(self.model_, source, spec=spec)
        return self

    @_explaining_memory_errors
    def merge(self, other: Self) -> Self:
        """Add the training rows of another model to this one, as if it had been trained on them as well.

        Classes and categories are aligned by label. ``candide.merge`` returns a new model instead.

        Parameters
        ----------
        other : estimator
            A fitted estimator of the same class.
        """
        check_is_fitted(self)
        if not isinstance(other, ModelEstimator) or type(other).__name__ != type(self).__name__:
            package = "" if isinstance(other, ModelEstimator) else f"{type(other).__module__}."
            raise MergeError(
                f"a {package}{type(other).__name__} cannot be merged into a {type(self).__name__}; merge models of "
                "the same type"
            )
        check_is_fitted(other)
        self.model_ = self.model_.merge(other.model_)
        return self

    @_explaining_memory_errors
    def forget(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Remove rows from this model, as if it had never been trained on them.

        Rows are removed immediately from the counts and the kept training rows, and by the next ``refit`` from
        stacking weights, calibration and other estimates.

        Exact for counts, and up to rounding for means and variances. If a count would become negative, nothing is
        removed and a ``ForgetError`` is raised. Rows that were not in the training data are usually
        detected if training rows are kept (``subsample=100_000``), otherwise only if the statistics rule them out.
        After ``discount``, pass the discounted weights. ``groups`` distinguish equal rows, and are optional.
        """
        check_is_fitted(self)
        X, groups = take_groups(X, groups)
        self._check_names(X)
        source = open_source(X, _labels(y), sample_weight, groups)
        self.model_ = forget(self.model_, source, spec=self._spec())
        return self

    @_explaining_memory_errors
    def discount(self, factor: float) -> Self:
        """Multiply the weight of all earlier rows by ``factor`` (0 to 1), so that newer rows count more."""
        check_is_fitted(self)
        self.model_ = self.model_.discount(factor)
        return self

    def refit(self) -> Self:
        """Refit column models, stacking weights, calibration and refinement on the kept training rows.

        ``fit`` includes this. ``partial_fit``, ``forget`` and ``merge`` do it once a tenth of the weight has changed;
        until then they update only the counts. After ``refit`` the model equals one ``fit`` on the same rows, with the
        current constructor parameters.
        """
        check_is_fitted(self)
        self.model_ = self.model_.refit(self._spec())
        return self

    # Predicting.

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row; in case of a tie, the first in sorted order.

        Tables that are not in memory, as in ``fit``, are read in batches.
        """
        return predict(self._fitted(X), "predict", open_source(X))

    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities, an array of shape ``(n_rows, n_classes)`` in the order of ``classes_``."""
        return predict(self._fitted(X), "predict_proba", open_source(X))

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of ``predict_proba``."""
        return predict(self._fitted(X), "predict_log_proba", open_source(X))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class) of each row and class, up to a term that all classes share; never calibrated."""
        return self._fitted(X).predict_joint_log_proba(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on rows ``X`` with labels ``y``; omit ``y`` for a source of ``candide.read``."""
        model = self._fitted(X)
        if is_elsewhere(X):
            return score(model, open_source(X, y, sample_weight))
        X, y, sample_weight = drop_unlabeled(model.spec, X, y, sample_weight)
        try:
            return float(super().score(X, like_classes(y, model.classifier.classes), sample_weight))
        except CandideError:
            raise
        except ValueError as error:
            raise InputError(f"{error}; pass one label per row, of the same type as classes_") from None

    def decide(self, X: Any, costs: Any = None, abstain: float | None = None, unsure: Any = "unsure") -> Array:
        """Return the decision with the lowest expected cost for each row, or ``unsure``.

        Parameters
        ----------
        costs : array of shape (n_classes, n_classes) or dict, optional
            ``costs[i, j]`` is the cost of deciding for class ``j`` if class ``i`` is true, in the order of
            ``classes_``; or ``{(true, decision): cost}``, where other errors cost 1. By default every error costs 1.
        abstain : float, optional
            Without ``costs``: the minimum probability of a decision. With ``costs``: the cost of abstaining.
        unsure : label, default "unsure"
            Returned for rows on which the model abstains.

        Examples
        --------
        >>> from candide import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 0]], ["spam", "spam", "ham", "ham"])
        >>> model.decide([[1, 0], [0, 1]], abstain=0.9).tolist()
        ['unsure', 'unsure']
        >>> model.decide([[1, 0]], costs={("ham", "spam"): 10}).tolist()  # a lost message is worse
        ['ham']
        """
        return self._fitted(X).decide(X, costs, abstain, unsure)

    def predict_set(self, X: Any, coverage: float = 0.9, by_class: bool = False) -> Array:
        """Return sets of classes that contain the true class for about ``coverage`` of all rows (conformal prediction).

        Thresholds come from leave-one-out scores of training rows. The coverage is approximate, and holds for rows from
        the same distribution. Needs training rows (``subsample=100_000``).

        Parameters
        ----------
        coverage : float, default 0.9
            The share of rows whose set contains the true class.
        by_class : bool, default False
            Make the coverage hold within each class, not only overall.

        Returns
        -------
        bool array of shape (n_rows, n_classes)
            In the order of ``classes_``; the most probable class is always included.
        """
        return self._fitted(X).predict_set(X, coverage, by_class)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Draw ``n`` rows from the model and return ``(X, y)``."""
        return self._fitted().sample(n, random_state)

    def with_class_prior(self, class_prior: Any) -> Self:
        """Return a copy with a different class prior, for data whose class frequencies differ from training.

        With calibration, the change is applied after it.

        Parameters
        ----------
        class_prior : array of shape (n_classes,), dict or "uniform"
            Probabilities in the order of ``classes_``, or by label.
        """
        return self._copy(self._fitted().with_class_prior(class_prior))

    def adapt_class_prior(self, X: Any) -> Self:
        """Return a copy with the class prior of unlabeled rows ``X``, estimated by EM."""
        return self._copy(self._fitted(X).adapt_class_prior(X))

    # What was learned.

    @property
    def n_features_in_(self) -> int:
        """Number of training columns."""
        return self._fitted().schema.n_features

    @property
    def feature_names_in_(self) -> Array:
        """Names of the training columns, if all are strings."""
        names = self._fitted().schema.feature_names
        if names is None:
            raise AttributeError(f"this {type(self).__name__} was fitted on columns without names")
        return np.array(names, dtype=object)

    @property
    def classes_(self) -> Array:
        """Class labels in sorted order."""
        return read_only(self._fitted().classes)

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class."""
        return read_only(self._fitted().class_count)

    @property
    def class_prior_(self) -> Floats:
        """Class probabilities p(class), estimated or given, including class weights."""
        return read_only(self._fitted().classifier.class_prior)

    @property
    def class_log_prior_(self) -> Floats:
        """Logarithm of ``class_prior_``."""
        return read_only(self._fitted().classifier.log_prior)

    @property
    def prior_(self) -> Any:
        """Prior of the parameters, with chosen pseudo-counts; None for maximum likelihood."""
        family = self._fitted().classifier.family
        return None if family.estimate == "mle" else family.prior

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters, including p(class)."""
        return self._fitted().classifier.n_parameters

    @property
    def calibration_(self) -> dict[str, Any]:
        """Parameters of the calibration by name: temperature, biases or curves. Empty without calibration."""
        return self._fitted().calibration

    # For scikit-learn.

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self._positive_only
        tags.classifier_tags.poor_score = self._poor_score
        for name, value in {"sparse": True, "allow_nan": True, **self._input_tags}.items():
            setattr(tags.input_tags, name, value)
        return tags

    def _spec(self) -> Spec:
        """Return the constructor parameters as a spec. Parameters that a subclass adds are left out."""
        names = _field_names(self._spec_type)
        return self._spec_type(**{name: value for name, value in vars(self).items() if name in names})

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
            if hasattr(self, name) and getattr(spec, name, None) is not getattr(self, name)
        }
        return replace(model, spec=replace(spec, **changed)) if changed else model

    def _check_names(self, X: Any, *, reset: bool = False) -> None:
        """Check the names of columns by scikit-learn's rules. Arrays have none, and the check is slow."""
        if not self._checks_names:
            return
        if isinstance(X, np.ndarray):
            compared = not reset and self.model_.schema.feature_names is not None
        else:
            frame = None if is_elsewhere(X) else as_frame(X)
            compared = frame is not None and len(frame.columns) > 0
        if compared:
            validate_data(BaseEstimator() if reset else self, X, reset=reset, skip_check_array=True)

    def _check_alpha(self) -> Any:
        """Return the pseudo-counts as they are used. scikit-learn's tests of its own classes call this."""
        spec: Any = self._spec()
        return spec._checked_alpha(self.model_.schema if self.__sklearn_is_fitted__() else Schema(0))

    def _given_names(self) -> Array | None:
        """Return the names of the columns of training, if they have any."""
        return getattr(self, "feature_names_in_", None)

    def _copy(self, model: Model) -> Self:
        """Return an estimator with the same parameters and another model."""
        other = object.__new__(type(self))
        other.__dict__.update(vars(self))
        other.model_ = model
        return other


@functools.cache
def _field_names(kind: type[Spec]) -> frozenset[str]:
    return frozenset(field.name for field in fields(kind))


def _labels(y: Any) -> Any:
    """Return labels; a table of one column becomes an array, with scikit-learn's warning."""
    if is_elsewhere(y):
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
    """Return a view that cannot be written to: a fitted model is changed only by its methods."""
    view = array.view()
    view.flags.writeable = False
    return view
