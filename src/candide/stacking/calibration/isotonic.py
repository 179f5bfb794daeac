"""Isotonic calibration: any curve that rises, found by pooling neighbours that fall."""

from __future__ import annotations

import numpy as np

from ...kernels.layouts import Array, Floats
from ...lazy_dataclass import dataclass
from .base import Rows, joined, log_odds, normalised

# Weight of an imagined row of the other side at each end of the curve, so that no probability is 0 or 1.
_IMAGINED = 0.5


@dataclass(frozen=True)
class Curve:
    """A rising probability: flat within a block of pooled rows, straight between blocks.

    Straight lines between the *centres* of blocks were tried and dropped: most rows lie far from a class, in a block
    of almost 0, and half of them would be lifted out of it.
    """

    odds: Floats  # where blocks begin and end
    probability: Floats

    def log_odds(self, odds: Floats) -> Floats:
        """The calibrated log-odds."""
        probability = np.interp(odds, self.odds, self.probability)
        return np.asarray(np.log(probability) - np.log1p(-probability))


@dataclass(frozen=True)
class Isotonic:
    """One rising curve for two classes; for more one each, of the class against the rest, normalised."""

    curves: tuple[Curve, ...]

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        """Log probabilities of the classes; none is ever impossible."""
        odds = log_odds(normalised(scores))
        return joined(np.column_stack([curve.log_odds(odds[:, k]) for k, curve in enumerate(self.curves)]))

    def describe(self) -> dict[str, float | Array]:
        """The corners of the curves, one curve after the other, and which curve each belongs to."""
        sizes = [len(curve.odds) for curve in self.curves]
        return {
            "curve": np.repeat(np.arange(len(sizes)), sizes),
            "log_odds": np.concatenate([curve.odds for curve in self.curves]),
            "probability": np.concatenate([curve.probability for curve in self.curves]),
        }


def fit_isotonic(rows: Rows) -> Isotonic:
    """The rising curves of least squares, each fitted by itself."""
    return Isotonic(tuple(_fit_curve(odds, member, rows.weight) for odds, member in rows.against_rest()))


def _fit_curve(odds: Floats, member: Array, weight: Floats) -> Curve:
    from scipy.optimize import isotonic_regression

    at, place = np.unique(odds, return_inverse=True)
    total = np.bincount(place, weight)
    share = np.bincount(place, weight * member) / total
    ends = np.array([_IMAGINED])
    pooled = isotonic_regression(np.r_[1.0, share, 0.0], weights=np.r_[ends, total, ends])
    # The corners: first and last of each block, without the imagined ends.
    probability = pooled.x[1:-1]
    rises = np.flatnonzero(np.diff(probability) > 0)
    corners = np.unique(np.r_[0, rises, rises + 1, len(at) - 1])
    return Curve(at[corners], probability[corners])
