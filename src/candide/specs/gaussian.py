"""Parameters of Gaussian naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import ParameterError
from ..families import Gaussian
from ..priors import Normal, NormalInverseGamma
from .base import Spec
from .class_prior import ClassPrior
from .parameters import choice, class_prior_of, number, read_estimate, read_prior, stacked
from .schema import Schema

# Share of the largest variance of all columns that is added to every variance.
VAR_SMOOTHING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GaussianSpec(Spec):
    """Parameters of ``GaussianNB``."""

    name: ClassVar[str] = "GaussianNB"
    class_prior_name: ClassVar[str] = "priors"

    priors: Any = None
    var_smoothing: float | None = None
    ddof: float = 0
    variance: str = "class"
    estimate: str | None = None
    parameter_prior: Any = None

    def _family(self, schema: Schema) -> Gaussian:
        prior = self.parameter_prior
        estimate = read_estimate(self.estimate, "mle" if prior is None else "mean")
        shared = choice(self.variance, "variance", ("class", "shared")) == "shared"
        if estimate == "mle":
            if prior is not None:
                raise ParameterError(
                    "parameter_prior cannot be combined with estimate='mle', because maximum likelihood has no prior; "
                    "omit one of them"
                )
            default = 0.0 if self.estimate == "mle" else VAR_SMOOTHING
            floor = default if self.var_smoothing is None else number(self.var_smoothing, "var_smoothing")
            return Gaussian(None, estimate, floor, number(self.ddof, "ddof"), shared)
        if self.var_smoothing is not None or self.ddof:
            name = "ddof" if self.var_smoothing is None else "var_smoothing"
            other = "a parameter_prior" if self.estimate is None else f"estimate={estimate!r}"
            raise ParameterError(
                f"{name} cannot be combined with {other}, which already keeps variances positive; omit one of them"
            )
        return Gaussian(None if prior is None else self._prior(schema, shared), estimate, 0.0, 0.0, shared)

    def _prior(self, schema: Schema, shared: bool) -> NormalInverseGamma | Normal:
        kinds = (NormalInverseGamma, Normal)
        prior: NormalInverseGamma | Normal = stacked(
            read_prior(self.parameter_prior, kinds, schema.n_features, schema.feature_names)
        )
        if not prior.is_proper:
            raise ParameterError(f"parameter_prior is {prior!r}; expected strength, shape and scale above 0")
        if shared:
            _check_one_variance(prior)
        return prior

    def _class_prior(self) -> ClassPrior:
        return class_prior_of(self.priors, True, self.class_weight)


def _check_one_variance(prior: NormalInverseGamma | Normal) -> None:
    for name in ("noise",) if isinstance(prior, Normal) else ("shape", "scale"):
        rows = np.atleast_2d(getattr(prior, name))
        if (rows != rows[0]).any():
            raise ParameterError(
                f"variance is 'shared', but {name} of the parameter_prior differs by class; pass one number, or one "
                "per column"
            )
