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
    """Return the estimator in a file, of the class that was saved.

    Nothing in a file is ever executed, and everything in it is checked: a file that was cut, changed or made to harm is
    refused with a ``ModelFileError``.

    Parameters
    ----------
    path : str or Path
        The file.
    mmap : bool, default False
        By default the model is read into memory: later changes of the file do not matter. Only training rows of more
        than 4 MB stay in the file, which is kept open, until a method needs them; if they were changed there, that
        method raises a ``ModelFileError``. With ``mmap=True`` the file is mapped into memory, and several processes
        share it: it must not be written to while the model is in use. Truncating it ends the process, and overwriting
        it changes the model. (``save`` does neither: it puts a new file in its place.)

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
    """Return the estimator that ``to_json`` or ``candide dump`` wrote, with the checks of ``load``.

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
    """Return one model that has learned what all the given ones have, which stay as they are.

    The result does not depend on the order, nor on which rows were learned where (for means and variances: to
    rounding). Parameters are those of the first model; models that counted different things (``binarize``, ``columns``
    that are categories in one and numbers in the other, or taken together) are refused.

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
