"""Estimators from files and from each other: ``load``, ``from_json``, ``merge``."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Iterable
from importlib import import_module
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from ..exceptions import MergeError
from ..model.model import Model
from ..storage.models import load_lines, load_model
from .base import BaseNB

Estimator = TypeVar("Estimator", bound=BaseNB)


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Load an estimator from a model file.

    Nothing in a file is executed. Everything is checked: a file that is truncated, damaged or malicious raises a
    ``ModelFileError``.

    Parameters
    ----------
    path : str or Path
        The file.
    mmap : bool, default False
        By default the model is read into memory, so later changes of the file have no effect. Training rows of more
        than 4 MB are read when a method needs them; if they have changed in the file, that method raises a
        ``ModelFileError``. With ``mmap=True`` the file is mapped into memory, which several processes can share. Do not
        overwrite or truncate it while the model is in use; ``save`` is safe, because it replaces the file.

    Returns
    -------
    estimator
        Of the class that was saved, fitted.

    Examples
    --------
    >>> import candide, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     candide.GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save(f"{folder}/model.candide")
    ...     candide.load(f"{folder}/model.candide")
    GaussianNB()
    """
    return from_model(load_model(path, mmap=mmap))


def from_json(text: str) -> Any:
    """Return the estimator in a JSON document that ``to_json`` or ``candide dump`` wrote.

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
    """Return the estimator of a model, of the public class."""
    kind = getattr(import_module(__package__), model.spec.name)
    parameters = inspect.signature(kind).parameters
    estimator = kind(**{name: value for name, value in model.spec.parameters.items() if name in parameters})
    estimator.model_ = model
    return estimator


def merge(models: Iterable[Estimator]) -> Estimator:
    """Merge models that were trained on different rows into one, as if it had been trained on all rows.

    The result does not depend on the order of the models or on how rows were divided among them (up to rounding, for
    means and variances). Classes and categories are aligned by label. Models that counted different things, for
    example with a different ``binarize`` or with other column types, raise a ``MergeError``.

    Parameters
    ----------
    models : iterable of estimators
        Fitted estimators of one class. They do not change.

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
        raise MergeError("there is no model to merge; pass at least one")
    merged: Estimator = first
    return merged
