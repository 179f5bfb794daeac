"""Models made apart, added."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, TypeVar

from ..exceptions import MergeError
from .base import BaseNB

Model = TypeVar("Model", bound=BaseNB)


def merge(models: Iterable[Model]) -> Model:
    """One model that has learned what all the given ones have, which stay as they are.

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
        model._require_fitted()
        first = copy.copy(model) if first is None else first.merge(model)
    if first is None:
        raise MergeError("there is no model to merge; pass at least one")
    merged: Model = first
    return merged
