"""Everything a user does with a model, without scikit-learn: parameters, verbs, checks of what comes in."""

from .algebra import merge
from .bernoulli import BernoulliNB
from .categorical import CategoricalNB
from .complement import ComplementNB
from .gaussian import GaussianNB
from .multinomial import MultinomialNB
from .poisson import PoissonNB
from .selection import select
from .storing import from_json, load
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
    "load",
    "merge",
    "select",
]
