"""Quantiles, masses and densities that priors are made of: SciPy's are R's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special, stats
from tiers import every

from .from_r import distribution

SCIPY: dict[str, Callable[..., np.ndarray]] = {
    "qbeta": lambda p, shape1, shape2: stats.beta.ppf(p, shape1, shape2),
    "qgamma": lambda p, shape, rate: stats.gamma.ppf(p, shape, scale=1 / rate),
    "qt": lambda p, df: stats.t.ppf(p, df),
    "lbeta": lambda a, b: special.betaln(a, b),
    "log_dnbinom": lambda x, size, prob: stats.nbinom.logpmf(x, size, prob),
    "log_dt": lambda x, df: stats.t.logpdf(x, df),
}


@every("name", SCIPY)
def test_scipy_is_r(name: str) -> None:
    arguments, value = distribution(name)
    np.testing.assert_allclose(SCIPY[name](**arguments), value, rtol=1e-9, atol=1e-12)
