"""Leaving rows out of means and covariances.

With the row out, κ' = κ - w, ν' = ν - w, m' = m - D w / κ' and Ψ' = Ψ - g D Dᵀ with D = x - m and g = κ w / κ'; so with
h = Dᵀ Ψ⁻¹ D, log |Ψ'| = log |Ψ| + log(1 - g h), and the row lies (κ / κ')² h / (1 - g h) from m' by Ψ'. The floor adds
(ν - w) times itself to Ψ, which the eigenvectors of Ψ let us do row by row.

Where a row carries nearly all of the scatter in some direction, 1 - g h has no digits left; such rows are scored by
moments made anew from the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..statistics import BlockMoments
from ..statistics.base import remaining
from .base import Batch, Scores
from .elliptic import log_density
from .left_out import remove_each

if TYPE_CHECKING:
    from .multivariate_normal import MultivariateNormal

# Below this share of a determinant, what is left of it is computed anew.
_DELICATE = 1e-4


class _Posterior(NamedTuple):
    """Of one class: strength, degrees, location, and the scale's spectrum."""

    strength: float
    degrees: float
    location: Floats
    values: Floats
    vectors: Floats


def own_scores(family: MultivariateNormal, batch: Batch, statistics: BlockMoments, kernels: Kernels) -> Scores:
    """Rows under their own classes, each left out; the family is settled."""
    x, out = batch.data.floats(), np.full(len(batch.classes), np.nan)
    weight = np.ones(len(out)) if batch.weight is None else batch.weight
    # Rows with missing cells were never in the sums, nor were those without weight.
    inside = ~np.isnan(x).any(axis=1) & (weight > 0)
    after = family.table(statistics)
    spectra = np.linalg.eigh(np.asarray(after.scale))
    for k in np.unique(batch.classes[inside]):
        rows = np.flatnonzero(inside & (batch.classes == k))
        strength, degrees, location = (np.asarray(part)[k] for part in (after.strength, after.degrees, after.location))
        posterior = _Posterior(strength, degrees, location, spectra.eigenvalues[k], spectra.eigenvectors[k])
        out[rows] = _closed_form(family, x[rows], weight[rows], posterior)
    odd = inside & np.isnan(out)
    for i in np.flatnonzero(odd):
        out[i] = _anew(family, batch, int(i), statistics, kernels)
    outside = np.flatnonzero(~inside)
    if len(outside):
        scores = family.likelihood(statistics).scores(batch.data.take(outside), np.zeros(batch.n_classes), kernels)
        out[outside] = scores[np.arange(len(outside)), batch.classes[outside]]
    return Scores(out)


def _closed_form(family: MultivariateNormal, x: Floats, weight: Floats, posterior: _Posterior) -> Floats:
    """NaN where that would lose digits, or where nothing is left of the class."""
    assert family.overall is not None
    n_columns = x.shape[1]
    strength = remaining(np.full(len(x), posterior.strength), weight)
    freedom, whole = _spread(family, strength, posterior.degrees - weight, n_columns)
    usable = (strength > 0) & (whole > 0) & (freedom > 0)
    strength, whole = np.where(usable, strength, 1.0), np.where(usable, whole, 1.0)
    spread = posterior.values + (family.overall.floor * whole)[:, None]
    usable &= (spread > 1e-14 * spread.max(axis=1, keepdims=True)).all(axis=1)
    spread = np.where(usable[:, None], spread, 1.0)
    h = ((x - posterior.location) @ posterior.vectors) ** 2 / spread
    lift = posterior.strength / strength
    left = 1.0 - weight * lift * h.sum(axis=1)
    usable &= left > _DELICATE
    left = np.where(usable, left, 1.0)
    square = whole * lift**2 * h.sum(axis=1) / left
    log_determinant = np.log(spread).sum(axis=1) + np.log(left) - n_columns * np.log(whole)
    return np.where(usable, log_density(square, log_determinant, n_columns, np.where(usable, freedom, 1.0)), np.nan)


def _spread(family: MultivariateNormal, strength: Floats, degrees: Floats, n_columns: int) -> tuple[Floats, Floats]:
    """Degrees of freedom, and what divides the scale of the posterior to make that of the density."""
    if family.estimate != "predictive":
        return np.full(len(degrees), np.inf), family.divisor(degrees, n_columns)
    freedom = degrees - n_columns + 1.0
    return freedom, freedom * strength / (strength + 1.0)


def _anew(family: MultivariateNormal, batch: Batch, i: int, statistics: BlockMoments, kernels: Kernels) -> float:
    """One row by its class without it: from the other rows of the class if all are here, else by subtraction."""
    one, k = batch.take(np.array([i])), int(batch.classes[i])
    if np.isclose(batch.row_weight()[k], statistics.rows[k], rtol=1e-9, atol=0.0):
        others = np.setdiff1d(np.flatnonzero(batch.classes == k), [i])
        few = batch.take(others)
        rest = family.observe(Batch(few.data, _first(few), few.weight, 1), kernels)
    else:
        rest = remove_each(family, one, statistics, kernels)
    return float(family.likelihood(rest).scores(one.data, np.zeros(1), kernels)[0, 0])


def _first(batch: Batch) -> Array:
    return np.zeros(len(batch.classes), dtype=np.int32)
