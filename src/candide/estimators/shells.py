"""The learners as estimators of scikit-learn."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import learners
from .shell import Shell


class _Discrete(Shell):
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class GaussianNB(Shell, learners.GaussianNB):
    __doc__ = learners.GaussianNB.__doc__


class BernoulliNB(_Discrete, learners.BernoulliNB):
    __doc__ = learners.BernoulliNB.__doc__


class CategoricalNB(_Discrete, learners.CategoricalNB):
    __doc__ = learners.CategoricalNB.__doc__
    _input_tags: ClassVar[dict[str, bool]] = {"categorical": True, "string": True, "sparse": False}


class MultinomialNB(_Discrete, learners.MultinomialNB):
    __doc__ = learners.MultinomialNB.__doc__


class ComplementNB(_Discrete, learners.ComplementNB):
    __doc__ = learners.ComplementNB.__doc__


class PoissonNB(_Discrete, learners.PoissonNB):
    __doc__ = learners.PoissonNB.__doc__


class NaiveBayes(Shell, learners.NaiveBayes):
    __doc__ = learners.NaiveBayes.__doc__
    _input_tags: ClassVar[dict[str, bool]] = {"categorical": True, "string": True}


class TextNB(Shell, learners.TextNB):
    __doc__ = learners.TextNB.__doc__
    _input_tags: ClassVar[dict[str, bool]] = {"two_d_array": False, "sparse": False, "string": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True  # of X as a table of numbers
        return tags
