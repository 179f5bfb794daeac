"""The table of estimators that the laws range over, and how two trained ones are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from candide.kernels.layouts import Array, Floats

from .compare import assert_alike


def as_texts(X: Floats) -> Array:
    """Codes as words, NaN as None."""
    words = np.array(["ash", "birch", "cedar", "dogwood", "elm"], dtype=object)
    out = np.full(X.shape, None, dtype=object)
    out[~np.isnan(X)] = words[X[~np.isnan(X)].astype(int)]
    return out


def as_is(X: Floats) -> Floats:
    """Numbers unchanged."""
    return X


@dataclass(frozen=True)
class Kind:
    """One estimator with the cells it reads: ``encode`` turns numbers 0 to 4 (or quarters) into its input."""

    name: str
    make: Callable[..., Any]
    encode: Callable[[Floats], Any] = as_is
    measures: bool = False  # cells are any real numbers
    sparse: bool = True
    density: bool = True
    columnwise: bool = True  # p(x | class) is a product over columns, each with parameters of its own

    @property
    def exact(self) -> bool:
        """Whether the statistic is made of counts."""
        return not self.measures

    def fit(self, X: Floats, y: Array, weight: Floats | None = None, **parameters: Any) -> Any:
        return self.make(**parameters).fit(self.encode(X), y, sample_weight=weight)

    def proba(self, model: Any, X: Floats) -> Floats:
        return np.asarray(model.predict_proba(self.encode(X)))


GAUSSIAN = Kind("gaussian", partial(GaussianNB, var_smoothing=0.01), measures=True)
BERNOULLI = Kind("bernoulli", BernoulliNB)
MULTINOMIAL = Kind("multinomial", MultinomialNB, columnwise=False)
COMPLEMENT = Kind("complement", ComplementNB, density=False, columnwise=False)
NORMED = Kind("complement-norm", partial(ComplementNB, norm=True), density=False, columnwise=False)
CATEGORICAL = Kind("categorical", CategoricalNB, sparse=False)
SEEN = Kind("categorical-seen", partial(CategoricalNB, categories="seen", unseen="smooth"), sparse=False)
TEXTS = Kind("categorical-texts", CategoricalNB, as_texts, sparse=False)
POISSON = Kind("poisson", PoissonNB)

KINDS = [GAUSSIAN, BERNOULLI, MULTINOMIAL, COMPLEMENT, NORMED, CATEGORICAL, SEEN, TEXTS, POISSON]
SMOOTHED = [kind for kind in KINDS if kind is not GAUSSIAN]


def unsmoothed(kind: Kind) -> dict[str, float]:
    """The parameters that make a model pure maximum likelihood."""
    return {"gaussian": {"var_smoothing": 0.0}, "poisson": {"alpha": 0.0, "beta": 0.0}}.get(kind.name, {"alpha": 0.0})


def by_name(kind: Kind) -> str:
    """The id of a parametrised test."""
    return kind.name


def assert_same_model(a: Any, b: Any, scale: float = 1.0) -> None:
    """Equal classes and equal statistics: counts bit for bit, moments to rounding."""
    assert a.classes_.tolist() == b.classes_.tolist()
    assert_alike(a.model_.classifier.state.statistics, b.model_.classifier.state.statistics, scale=scale)


def parameter_table(model: Any) -> dict[tuple[Any, ...], tuple[float, ...]]:
    """Numbers of ``parameters()`` by class, column and value."""
    table = model.parameters()
    keys = [name for name in ("class", "column", "value") if name in table]
    numbers = [name for name in table if name not in keys]
    names = zip(*(table[name].tolist() for name in keys), strict=True)
    return dict(zip(names, zip(*(table[name].tolist() for name in numbers), strict=True), strict=True))
