"""What all learners share: the usual verbs and candide's algebra over one ``Classifier``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..clusters import cluster_of
from ..data.arrays import as_array, read_numbers
from ..data.containers import column_names
from ..data.index import Index, encode
from ..data.labeled_rows import LabeledRows, label_array, read_labels, read_weights, warn_if_continuous
from ..engines.memory import summarize
from ..exceptions import InputError, MergeError, NotFitted, ParameterError, warn
from ..families import Batch, Family
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from ..model.classifier import Classifier
from ..model.plan import ClassPrior, Plan
from ..model.state import State
from ..priors.base import generator
from ..stacking.calibration import METHODS
from ..statistics.hashing import group_hashes
from .answers import Answers
from .apart import Apart, anywhere
from .beliefs import check_height
from .chunks import are_chunks
from .desk import Desk
from .differing import first_difference
from .exporting import Exports
from .guard import all_or_nothing
from .learned import Learned
from .reporting import Reports
from .settings import flag, number, whole_number

# Training rows of a class that are enough for the few numbers of a calibration; of texts, their bytes.
_FEW_ROWS, _FEW_BYTES = 5_000, 1 << 21


class BaseNB(Reports, Apart, Exports, Desk, Answers, Learned):
    """Shared verbs. A subclass names its family, its parameters and the attributes that people expect of it."""

    estimate: Any
    parameter_prior: Any
    calibrate: Any
    evaluate: bool
    keep_sample: bool | None

    feature_names_in_: Array
    # Parameters that change what is counted, with their names in the family: models that differ in them do not add.
    _counting: ClassVar[dict[str, str]] = {}
    _positive_only: ClassVar[bool] = False
    # How the constructor calls what is known of the classes.
    _class_prior_name: ClassVar[str] = "class_prior"
    # What is said of labels that come as a table of one column.
    _column_vector: ClassVar[type[Warning]] = UserWarning
    # Room for training rows, in bytes per class: some ten thousand rows of a table, some thousand texts.
    _sample_bytes: ClassVar[int] = 1 << 23

    # What a subclass provides.

    @abstractmethod
    def _family(self, n_features: int) -> Family:
        """The family with the current parameters, which it checks."""

    @abstractmethod
    def _class_prior(self) -> ClassPrior:
        """The prior of the classes with the current parameters."""

    def _prior_in_score(self) -> bool:
        """Whether scores are log p(x, class), where a prior has its place."""
        return True

    def _encode(self, X: Any) -> Any:
        """``X`` as the family reads it."""
        return read_numbers(X)

    def _become(self, model: Classifier) -> Self:
        """Take over what was learned, and fit what looks at rows again where that is due."""
        self._hold(model)
        if self.keep_sample is False and model.state.sample is not None:
            self._model = model.without_sample(evaluate=self.evaluate)
        self._model.complete()
        return self

    def _hold(self, model: Classifier) -> None:
        """Take over what was learned while more is to come; a subclass may refuse it."""
        check_height(model.plan.family.prior, len(model.classes))
        self._model = model

    def _alpha_choice(self) -> Literal["evidence", "loo"] | None:
        """How pseudo-counts are chosen, if they are."""
        return None

    def _calibration(self) -> str | None:
        """How probabilities are corrected."""
        if self.calibrate is not None and self.calibrate not in METHODS:
            raise ParameterError(f"calibrate is {self.calibrate!r}; it must be None or one of {', '.join(METHODS)}")
        chosen: str | None = self.calibrate
        return chosen

    def _order(self) -> int | None:
        """On how many columns another may depend in views that are weighed; None: nothing is weighed."""
        return None

    def _plan(self, n_features: int, *, first: bool) -> Plan:
        alpha, calibrate, order = self._alpha_choice(), self._calibration(), self._order()
        evaluate = flag(self.evaluate, "evaluate")
        if self.keep_sample is not None:
            flag(self.keep_sample, "keep_sample")
        plan = Plan(self._family(n_features), self._class_prior(), self._prior_in_score(), alpha, calibrate, order)
        # Rows that are kept stay until a new fit, though a setting ask for them no more: they tell what was learned.
        kept = not first and "_model" in vars(self) and self._model.state.sample is not None
        looks_back = plan.looks_back or evaluate or kept
        keeps = looks_back and first if self.keep_sample is False else looks_back or self.keep_sample
        room = self._sample_bytes
        if plan.alpha != "loo" and order is None and not (evaluate or self.keep_sample):
            room = min(room, _FEW_BYTES if self.reads_texts else _FEW_ROWS * 8 * n_features)
        return replace(plan, sample_bytes=room if keeps else 0, n_threads=getattr(self, "n_threads", None))

    # Learning.

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from rows ``X`` with labels ``y``, forgetting what was learned before.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or an iterator of chunks
            NaN, None and nulls are missing values: ignored cell by cell. Without ``y``, an iterator (a generator, say)
            that yields ``(X, y)``, ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``; the model is that of
            all rows, few of which are in memory at once. So it is with what ``candide.read`` gives.
        y : array of shape (n_rows,)
            Class labels: numbers, texts or booleans.
        sample_weight : array of shape (n_rows,), optional
            A row of weight k counts as k copies of it.
        groups : array of shape (n_rows,), optional
            Rows of one group (a customer, a thread, a patient) leave together wherever rows are left out: in ``loo_``,
            in choices, stacking weights and calibrations. None and NaN: a row of its own.
        """
        if y is None and are_chunks(X):
            plan, state = self._summarize_chunks(X, sample_weight, groups)
        else:
            plan, state = self._summarize(X, y, sample_weight, groups, reset=True)
        warn_if_continuous(state.classes.labels)
        plan.prior.check_weights(state.classes)
        return self._become(Classifier(plan, state))

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn further rows. Any sequence of calls, then ``refit``, gives the model that ``fit`` gives on all rows.

        Sums change at once. What is chosen and fitted on rows left out is fitted again here once a tenth of the weight
        has changed (``staleness_``).

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``.
        classes : array, optional
            All classes there will be. Without it, new classes join as they appear; with it, in the first call, any
            other label is an error.
        """
        first = not hasattr(self, "_model")
        n_known = 0 if first else len(self._model.classes)
        declared = None if classes is None else encode(label_array(classes), self._kernels())[0]
        if declared is not None and not first:
            self._check_declared(declared, len(np.asarray(classes)))
        plan, batch = self._summarize(X, y, sample_weight, groups, reset=first)
        if not first:
            plan = replace(plan, target=self._model.plan.target)
            self._become(self._model.learn(batch, plan))
        else:
            self._become(Classifier(plan, batch if declared is None else batch.declare(declared)))
        if len(self._model.classes) > n_known:
            warn_if_continuous(self._model.classes.labels)
        return self

    def _check_declared(self, declared: Index, n_given: int) -> None:
        if declared != self._model.classes or len(declared) != n_given:
            raise ParameterError(
                f"classes={declared.labels!r} is not the same as on last call to partial_fit, which knew "
                f"{self._model.classes.labels!r}; leave classes out to let new ones join"
            )

    def _summarize(self, X: Any, y: Any, sample_weight: Any, groups: Any = None, *, reset: bool) -> tuple[Plan, State]:
        cluster = cluster_of(X)
        if cluster is not None:
            return self._summarize_apart(cluster, X, y, sample_weight, groups, reset=reset)
        rows = self._rows(X, y, sample_weight, groups, reset=reset)
        self._tell_unlabeled()
        plan = self._plan(rows.data.n_columns, first=reset)
        if not reset:
            self._check_counting(plan.family)
        return plan, summarize(plan, rows, self._kernels(), None if reset else self._model)

    def _labelled(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Rows and labels, which may be a part of what the rows came in."""
        return X, y

    def _rows(self, X: Any, y: Any, sample_weight: Any, groups: Any = None, *, reset: bool) -> LabeledRows:
        X, y, sample_weight, groups = self._with_labels(*self._labelled(X, y), sample_weight, groups)
        data = self._read_to_learn(X, reset)
        labels = self._labels(y, data.n_rows, self._kernels())
        beside = read_weights(sample_weight, data.n_rows), group_hashes(groups, data.n_rows)
        return LabeledRows(data, *labels, *beside)

    def _check_counting(self, family: Family) -> None:
        """What is counted cannot change under a fitted model."""
        found = first_difference(self._counting, self._model.plan.family, family)
        if found is not None:
            raise ParameterError(
                f"{found.what} was {found.one} when the model was fitted and is {found.other} now, so it would count "
                "different things; set it back, or fit again"
            )

    # The algebra.

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add what another model has learned, as if this one had learned those rows too. Changes this model.

        Classes and categories that differ are aligned. Returns ``self``; ``candide.merge`` leaves its models alone.
        """
        self._require_fitted()
        if not isinstance(other, BaseNB) or type(other).__name__ != type(self).__name__:
            home = "" if isinstance(other, BaseNB) else f"{type(other).__module__}."
            raise MergeError(
                f"a {type(self).__name__} cannot absorb a {home}{type(other).__name__}; merge models of one kind"
            )
        other._require_fitted()
        self._check_mergeable(other)
        return self._become(self._model.merge(other._model))

    def _check_mergeable(self, other: Self) -> None:
        names = [getattr(model, "feature_names_in_", np.array([])).tolist() for model in (self, other)]
        if self.n_features_in_ != other.n_features_in_ or (all(names) and names[0] != names[1]):
            raise MergeError(
                f"the models have different columns: {names[0] or self.n_features_in_} and "
                f"{names[1] or other.n_features_in_}; merge models that saw the same columns"
            )
        found = first_difference(self._counting, self._model.plan.family, other._model.plan.family)
        if found is not None:
            raise MergeError(
                f"{found.what} is {found.one} in one model and {found.other} in the other, so they counted different "
                "things; train both alike"
            )

    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Remove rows that were learned, as if they had never been seen. Changes this model.

        They leave sums and the rows kept at once, and what was fitted on many rows with the next ``refit``.

        Exact for counts; means and variances to rounding. A removal that would make a count negative is refused as a
        whole. Where training rows are kept (``keep_sample=True``), so is a row that is not among them although its hash
        says that it would be; else rows that were never learned but fit into the sums are not told from those learned.
        After ``discount``, pass the rows' discounted weight. ``groups`` tell equal rows apart, and may be left out.
        """
        self._require_fitted()
        _, batch = self._summarize(X, y, sample_weight, groups, reset=False)
        self._become(self._model.forget(batch))
        self._forgot = True
        return self

    @all_or_nothing
    def discount(self, factor: float) -> Self:
        """Multiply the weight of everything learned so far by ``factor`` (0 to 1), so that newer rows count more."""
        self._require_fitted()
        return self._become(self._model.discount(number(factor, "factor", most=1.0)))

    # Predicting.

    @anywhere
    def predict(self, X: Any) -> Array:
        """The most probable class of each row; the first in order among equals."""
        return self._fitted().predict(self._read(X), self._kernels())

    @anywhere
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, in the order of ``classes_``, ``(n_rows, n_classes)``."""
        return self._fitted().posterior(self._read(X), self._kernels(), logarithm=False)

    @anywhere
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of ``predict_proba``. (Textbook code often calls joint scores by this name.)"""
        return self._fitted().posterior(self._read(X), self._kernels(), logarithm=True)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """log p(x, class) of each row and class, up to a term that all classes share; never calibrated."""
        return self._fitted().scorer.joint(self._read(X), self._kernels())

    def log_density(self, X: Any) -> Floats:
        """log p(x) of each row: how probable the row is at all. All terms included."""
        return self._fitted().log_density(self._read(X), self._kernels())

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The log-likelihood of the data, Σ log p(x, class) over rows: what maximum likelihood maximises."""
        batch = self._batch(*self._scored(X, y, sample_weight))
        return self._fitted().log_likelihood(batch.data, batch.classes, batch.weight, self._kernels())

    def _batch(self, X: Any, y: Any, sample_weight: Any) -> Batch:
        """Rows with labels that the model knows."""
        X, y = self._labelled(X, y)
        model, data, kernels = self._fitted(), self._read(X), self._kernels()
        classes, positions = self._labels(y, data.n_rows, kernels)
        places = classes.positions_in(model.classes)
        if (places < 0).any():
            raise InputError(
                f"class {classes.labels[places < 0].tolist()[0]!r} in y is unknown to the model, which knows "
                f"{model.classes.labels.tolist()}; drop its rows, or learn it with partial_fit"
            )
        weight = read_weights(sample_weight, data.n_rows)
        return Batch(data, places[positions].astype(np.int32), weight, len(model.classes))

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Array, Array]:
        """Draw ``n`` rows from the model: ``(X, y)``."""
        return self._draw(n, random_state)

    def _draw(self, n: int, random_state: Any, **options: Any) -> tuple[Array, Array]:
        X, y = self._fitted().sample(whole_number(n, "n"), generator(random_state), **options)
        return X, y

    # Inside.

    def _column_names(self) -> Array:
        names = getattr(self, "feature_names_in_", None)
        return np.array([f"x{j}" for j in range(self.n_features_in_)]) if names is None else names

    def _fitted(self) -> Classifier:
        try:
            return self._model
        except AttributeError:
            self._require_fitted()
            raise

    @property
    def is_fitted(self) -> bool:
        """Whether anything was learned."""
        return "_model" in vars(self)

    def _require_fitted(self) -> None:
        if not self.is_fitted:
            raise NotFitted(f"this {type(self).__name__} has learned nothing yet; call fit first")

    def _kernels(self) -> Kernels:
        return Kernels(getattr(self, "n_threads", None))

    def _read(self, X: Any, reset: bool = False) -> Any:
        """Encoded rows; checks the number and names of the columns, or with ``reset`` takes them as new."""
        data = self._encode(X)
        self._check_columns(X, data.n_columns, reset)
        return data

    def _read_some(self, X: Any) -> tuple[Any, Family]:
        """Some columns alone, encoded, and the family that counts them."""
        return self._encode(X), self._fitted().plan.family

    def _check_columns(self, X: Any, n_columns: int, reset: bool) -> None:
        names = column_names(X) or ()
        names = names if all(isinstance(name, str) for name in names) else ()
        if reset:
            self.n_features_in_ = n_columns
            self.__dict__.pop("feature_names_in_", None)
            if names:
                self.feature_names_in_ = np.array(names, dtype=object)
        elif n_columns != self.n_features_in_:
            raise InputError(
                f"X has {n_columns} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input; pass the columns that it was trained on"
            )
        elif names and "feature_names_in_" in vars(self) and list(names) != self.feature_names_in_.tolist():
            raise InputError(
                f"X has the columns {list(names)}, and the model was trained on {self.feature_names_in_.tolist()}; "
                "pass those, in that order"
            )

    def _labels(self, y: Any, n_rows: int, kernels: Kernels) -> tuple[Index, Positions]:
        if y is not None and type(y) is not np.ndarray:
            y = as_array(y, "y")
        if y is not None and y.ndim == 2 and y.shape[1] == 1:
            warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                self._column_vector,
            )
            y = y.ravel()
        return read_labels(y, n_rows, kernels)
