"""The public estimators: scikit-learn classifiers over a ``Model``."""

from .bernoulli import BernoulliNB
from .categorical import CategoricalNB
from .complement import ComplementNB
from .functions import from_json, from_model, load, merge, select
from .gaussian import GaussianNB
from .multinomial import MultinomialNB
from .poisson import PoissonNB
from .sklearn_models import from_sklearn
from .table import NaiveBayes
from .text import TextNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
    "PoissonNB",
    "TextNB",
    "from_json",
    "from_model",
    "from_sklearn",
    "load",
    "merge",
    "select",
]
