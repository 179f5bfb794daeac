"""Functions that load, merge and compare estimators: ``load``, ``from_json``, ``merge``, ``select``."""

from __future__ import annotations

import copy
import inspect
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, BinaryIO, Literal, NamedTuple, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import as_array
from ..data.labeled_rows import label_array, read_weights
from ..exceptions import CandideError, MergeError, ParameterError
from ..kernels.layouts import Floats
from ..model.evaluation import mean_and_error
from ..model.leave_one_out import left_out_scores, read_folds
from ..model.model import Model
from ..model.out_of_fold import cross_chosen
from ..model.table import Table
from ..specs.parameters import choice
from ..stacking.training_rows import TrainingRows, group_folds
from ..storage.models import load_lines, load_model
from .base import BaseNB

Estimator = TypeVar("Estimator", bound=BaseNB)


def load(path: str | os.PathLike[str] | BinaryIO, *, mmap: bool = False) -> Any:
    """Load an estimator from a model file.

    No code in a file is executed, and its content is validated: a file that is truncated, damaged or malicious raises a
    ``ModelFileError``.

    Parameters
    ----------
    path : str, Path or binary file object
        The file; or an address such as ``s3://bucket/mail.candide`` (``pip install 'candide[remote]'``).
    mmap : bool, default False
        By default the model is read into memory, so later changes of the file have no effect. Training rows of more
        than 4 MB are read when a method needs them; if they have changed in the file, that method raises a
        ``ModelFileError``. With ``mmap=True`` the file is mapped into memory, which several processes can share. Do not
        overwrite or truncate it while the model is in use; ``save`` is safe, because it replaces the file. Addresses
        and file objects are read into memory in any case.

    Returns
    -------
    estimator
        A fitted estimator of the class that was saved.

    Examples
    --------
    >>> import candide, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     candide.GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save(f"{folder}/model.candide")
    ...     candide.load(f"{folder}/model.candide")
    GaussianNB()

    A file object, here in memory:

    >>> import io
    >>> file = io.BytesIO()
    >>> candide.GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save(file)
    >>> candide.load(io.BytesIO(file.getvalue())).predict([[1.2]]).tolist()
    ['a']
    """
    return from_model(load_model(path, mmap=mmap))


def from_json(text: str) -> Any:
    """Return the estimator in a JSON document written by ``to_json`` or ``candide dump``.

    The document is checked as in ``load``.

    Parameters
    ----------
    text : str
        The document.

    Examples
    --------
    >>> from candide import BernoulliNB
    >>> text = BernoulliNB().fit([[1, 0], [0, 1]], ["a", "b"]).to_json()
    >>> from_json(text)
    BernoulliNB()
    """
    return from_model(load_lines([text], "the text"))


def from_model(model: Model) -> Any:
    """Return the public estimator of a model."""
    kind = getattr(import_module(__package__), model.spec.name)
    parameters = inspect.signature(kind).parameters
    estimator = kind(**{name: value for name, value in model.spec.parameters.items() if name in parameters})
    estimator.model_ = model
    return estimator


def merge(models: Iterable[Estimator]) -> Estimator:
    """Merge models that were trained on different rows into one, as if it had been trained on all rows.

    The result does not depend on the order of the models or on how rows were divided among them (up to rounding, for
    means and variances). Classes and categories are aligned by label. Models with different statistics, for
    example with another ``binarize`` or other column types, raise a ``MergeError``.

    Parameters
    ----------
    models : iterable of estimators
        Fitted estimators of one class. They are not modified.

    Returns
    -------
    estimator
        A new estimator with the parameters of the first model.

    Examples
    --------
    >>> from candide import BernoulliNB, merge
    >>> monday = BernoulliNB().fit([[1, 0]], ["spam"])
    >>> tuesday = BernoulliNB().fit([[0, 1]], ["ham"])
    >>> merge([monday, tuesday]).classes_
    array(['ham', 'spam'], dtype='<U4')
    """
    first: Any = None
    for model in models:
        check_is_fitted(model)
        first = copy.copy(model) if first is None else first.merge(model)
    if first is None:
        raise MergeError("found no models to merge; pass at least one")
    merged: Estimator = first
    return merged


_METRICS = ("log_loss", "log_loss_error", "accuracy", "accuracy_error", "behind", "behind_error", "raw_log_loss")


class Selection(Table):
    """Table of models by leave-one-out log-loss, best first.

    Attributes
    ----------
    best : estimator
        The best model, fitted on all rows.
    models : dict
        All models by name, fitted on all rows, the best first.
    """

    models: dict[str, Any]

    @property
    def best(self) -> Any:
        """The best model, fitted on all rows."""
        return next(iter(self.models.values()))


class Judged(NamedTuple):
    """Losses of a model on each row, which is left out of training."""

    loss: Floats  # calibrated
    raw_loss: Floats
    right: Floats  # 1 or 0
    weight: Floats

    @property
    def rank(self) -> tuple[float, float]:
        """Return the log-loss and, to break ties, the error rate."""
        return float(np.average(self.loss, weights=self.weight)), -float(np.average(self.right, weights=self.weight))


def select(
    models: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    method: Literal["leave_one_out", "folds"] | None = None,
    groups: Any = None,
    n_folds: int | None = None,
) -> Selection:
    """Compare models by leave-one-out or cross-validation, without a test set.

    Each model is fitted once. Because plain naive Bayes is overconfident, models are compared by their log-loss after
    calibration: the model's own, or a temperature. Calibration and ``alpha="loo"`` are cross-fitted: fitted on four
    fifths of the rows (or blocks) and evaluated on the rest. The class prior stays fixed.

    Parameters
    ----------
    models : list or dict of estimators
        Copies are fitted; the estimators are not modified. The keys of a dict are names.
    X, y, sample_weight
        As in ``fit``; every model reads the same ``X``.
    method : {"leave_one_out", "folds"}, optional
        Leave rows out one at a time, or in blocks: texts of one thread, visits of one patient, neighbors in time. By
        default "folds" if ``groups`` or ``n_folds`` is given, else "leave_one_out".
    groups : array of shape (n_rows,), optional
        Rows of one group are left out together.
    n_folds : int, optional
        Without groups: the number of blocks of consecutive rows; 5 by default.

    Returns
    -------
    Selection
        A table, the best model first: ``log_loss`` and ``accuracy`` with their standard errors; ``behind``, the mean
        difference from the best model's log-loss, row by row, with its standard error; and ``raw_log_loss``, not
        calibrated. ``.best`` is the best model. Its metrics are slightly optimistic if there were many candidates.

    Examples
    --------
    >>> import candide
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = candide.select({"own": candide.GaussianNB(), "shared": candide.GaussianNB(variance="shared")}, X, y)
    >>> found["model"].tolist(), found["accuracy"].round(3)
    (['shared', 'own'], array([0.96 , 0.953]))
    >>> bool(found["behind"][1] < found["behind_error"][1])        # too close to call
    True
    >>> found.best
    GaussianNB(variance='shared')
    """
    named = _named(models)
    in_blocks = groups is not None or n_folds is not None
    default = "folds" if in_blocks else "leave_one_out"
    by_folds = choice(default if method is None else method, "method", ("leave_one_out", "folds")) == "folds"
    if in_blocks and not by_folds:
        raise ParameterError("groups and n_folds require method='folds'; omit method, or omit both")
    fitted: dict[str, BaseNB] = {}
    judged: dict[str, Judged] = {}
    for name, model in named.items():
        with _naming(name):
            fitted[name] = clone(model).fit(X, y, sample_weight=sample_weight, groups=groups)
            judged[name] = _judge(fitted[name], X, y, sample_weight, (groups, n_folds) if by_folds else None)
    return _ranked(fitted, judged)


def _named(models: Any) -> dict[str, BaseNB]:
    if not isinstance(models, (list, tuple, Mapping)) or not models:
        raise ParameterError(f"models is {models!r}; expected a list of estimators, or a dict of names and estimators")
    found = dict(models) if isinstance(models, Mapping) else _unique(models)
    for name, model in found.items():
        if not isinstance(name, str) or not isinstance(model, BaseNB):
            raise ParameterError(
                f"models contains {name!r}: {model!r}; expected strings as names and candide estimators as values"
            )
    return found


def _unique(models: Sequence[Any]) -> dict[str, Any]:
    """Return models by their repr; equal ones are numbered."""
    found, seen = {}, Counter[str]()
    for model in models:
        text = " ".join(repr(model).split())
        seen[text] += 1
        found[text if seen[text] == 1 else f"{text} ({seen[text]})"] = model
    return found


@contextmanager
def _naming(name: str) -> Iterator[None]:
    try:
        yield
    except CandideError as error:
        raise type(error)(f"{name}: {error}") from error


def _judge(model: BaseNB, X: Any, y: Any, sample_weight: Any, blocks: tuple[Any, Any] | None) -> Judged:
    seen = _seen(model, X, y, sample_weight, blocks)
    kernels, classifier = model.model_.kernels, model.model_.classifier
    classes = seen.batch.classes
    scores = left_out_scores(classifier, seen.batch, seen.blocks, kernels)
    bound_spec = replace(classifier.bound_spec, calibrate=classifier.bound_spec.calibrate or "temperature")
    own = np.arange(len(classes)), classes
    folds = group_folds(classes, own[0] if seen.blocks is None else seen.blocks)
    calibrated = cross_chosen(bound_spec, classifier.state, seen, scores, folds, kernels)
    right = (calibrated.argmax(axis=1) == classes).astype(np.float64)
    return Judged(-calibrated[own], -scores[own], right, seen.case_weight)


def _seen(model: BaseNB, X: Any, y: Any, sample_weight: Any, blocks: tuple[Any, Any] | None) -> TrainingRows:
    """Return the rows with a positive weight; other rows may have classes that the model does not have."""
    labels = label_array(as_array(y, "y").ravel())
    n_rows = len(labels)
    weight, once = read_weights(sample_weight, n_rows), np.ones(n_rows, dtype=np.int64)
    if weight is not None:
        labels = np.where(weight > 0, labels, labels[weight.argmax()])
    folds = None if blocks is None else read_folds(*blocks, n_rows)
    seen = TrainingRows(
        model.model_.batch(X, labels, weight), np.ones(n_rows) if weight is None else weight, once, folds
    )
    kept = np.flatnonzero(seen.case_weight)
    return seen if len(kept) == n_rows else seen.take(kept, once[kept])


def _ranked(fitted: dict[str, BaseNB], judged: dict[str, Judged]) -> Selection:
    order = sorted(judged, key=lambda name: judged[name].rank)
    lines = [_line(judged[name], judged[order[0]]) for name in order]
    numbers = {metric: np.array(column) for metric, column in zip(_METRICS, zip(*lines, strict=True), strict=True)}
    found = Selection({"model": np.array(order, dtype=object), **numbers})
    found.models = {name: fitted[name] for name in order}
    return found


def _line(one: Judged, best: Judged) -> tuple[float, ...]:
    with np.errstate(invalid="ignore"):  # both losses may be infinite
        behind = np.where(one.loss == best.loss, 0.0, one.loss - best.loss)
        columns, once = (one.loss, one.right, behind, one.raw_loss), np.ones(len(behind))
        loss, accuracy, difference, (raw_loss, _) = (mean_and_error(values, one.weight, once) for values in columns)
    return *loss, *accuracy, *difference, raw_loss
