"""Scores of rows that are left out, in NumPy."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from candide.kernels.layouts import Data, Floats, Positions
from candide.kernels.tables import CellFlags, LogSums, NormalTable, refuse

# A count that is this part of the one it is taken from is what rounding left of 0.
REST = 1e-12
# What must remain of a strength and of a scale for its digits to be good.
LEAST_STRENGTH, LEAST_SCALE = 1e-9, 1e-5


def own_log_sums(
    data: Data, classes: Positions, weight: Floats | None, count: Floats, pseudo: float | Floats
) -> LogSums:
    """Under the rows' own classes, with the rows taken out."""
    x = usable(data, counts=True)
    left = _left(count[classes], _weights(classes, weight) * x, _like(pseudo, count)[classes])
    return _log_sums(x, left)


class LeftOutReference:
    """Plain NumPy: every row is scored under its own class, or under all where all change, and is in none of them."""

    def own_normal_scores(
        self, data: Data, classes: Positions, weight: Floats | None, posterior: NormalTable, extra: float, floor: float,
        *, student: bool,
    ) -> Floats:  # fmt: skip
        x, w = usable(data), _weights(classes, weight)
        strength, location, shape, scale = (part[classes] for part in posterior)
        left = NormalTable(strength - w, location, shape - w / 2, scale)
        if student:
            extra = floor = 0.0
        with np.errstate(all="ignore"):
            distance = (x - location) * strength / left.strength
            left = left._replace(scale=scale - strength * w * (x - location) ** 2 / (2 * left.strength))
            spread = left.scale + floor * (left.shape + extra)
            cells = _student(left, distance) if student else _normal(distance, spread / (left.shape + extra))
        regular = (
            (left.strength > LEAST_STRENGTH * strength)
            & (left.shape + extra > LEAST_STRENGTH * shape)
            & (spread > LEAST_SCALE * scale)
        )
        return np.asarray(np.where(np.isnan(x), 0.0, np.where(regular, cells, np.nan)).sum(axis=1))

    def own_rising_scores(
        self, data: Data, classes: Positions, weight: Floats | None, count: Floats, pseudo: float | Floats
    ) -> Floats:
        x = usable(data, counts=True)
        left = _left(count[classes], _weights(classes, weight) * x, _like(pseudo, count)[classes])
        return np.asarray(log_rising(left, x).sum(axis=1))

    def left_out_complement(
        self, data: Data, classes: Positions, weight: Floats | None, others: Floats, pseudo: float | Floats
    ) -> LogSums:
        x = usable(data, counts=True)
        others_of_row = np.arange(len(others)) != classes[:, None]
        out = (_weights(classes, weight) * x)[:, None, :] * others_of_row[:, :, None]
        return _log_sums(x[:, None, :], _left(others, out, pseudo))

    def left_out_shared(
        self, data: Data, classes: Positions, weight: Floats | None, location: Floats, strength: Floats, shape: Floats,
        scale: Floats, extra: float, floor: float, base: Floats,
    ) -> Floats:  # fmt: skip
        x, w = usable(data), _weights(classes, weight)
        own, left, degrees = strength[classes], strength[classes] - w, shape - w / 2 + extra
        own_distance = x - location[classes]
        with np.errstate(all="ignore"):
            spread = scale - own * w * own_distance**2 / (2 * left) + floor * degrees
            distance = x[:, None, :] - location
            distance[np.arange(len(x)), classes] = own_distance * own / left
            cells = _normal(distance, (spread / degrees)[:, None, :])
        regular = (left > LEAST_STRENGTH * own) & (degrees > LEAST_STRENGTH * shape) & (spread > LEAST_SCALE * scale)
        cells = np.where(regular[:, None, :], cells, np.nan)
        return np.asarray(base + np.where(np.isnan(x)[:, None, :], 0.0, cells).sum(axis=2))


def usable(data: Data, *, counts: bool = False) -> Floats:
    """The cells, unless some are infinite or, among counts, negative."""
    x = data.floats()
    refuse(data, CellFlags(bool((x < 0).any()), bool(np.isinf(x).any()), bool(np.isnan(x).any())), counts=counts)
    return x


def log_rising(start: Floats, x: Floats) -> Floats:
    """log of start · (start + 1) ⋯ (start + x - 1), which is 0 for missing cells."""
    cells = np.nan_to_num(x)
    return np.asarray(gammaln(start + cells) - gammaln(start))


def _weights(classes: Positions, weight: Floats | None) -> Floats:
    return np.ones((len(classes), 1)) if weight is None else weight[:, None]


def _like(pseudo: float | Floats, count: Floats) -> Floats:
    return np.broadcast_to(np.asarray(pseudo, dtype=np.float64), count.shape)


def _left(count: Floats, out: Floats, pseudo: float | Floats) -> Floats:
    """Counts without what is taken out, and with pseudo-counts."""
    left = count - np.nan_to_num(out)
    return np.where(left <= REST * count, 0.0, left) + pseudo


def _log_sums(x: Floats, left: Floats) -> LogSums:
    cells = np.nan_to_num(x)
    none = left <= 0
    log = np.log(np.where(none, 1.0, left))
    lengths = cells.reshape(len(cells), -1).sum(axis=1)
    return LogSums((cells * log).sum(axis=-1), (cells * none).sum(axis=-1), lengths)


def _normal(distance: Floats, variance: Floats) -> Floats:
    return np.asarray(-0.5 * np.log(2 * np.pi * variance) - distance**2 / (2 * variance))


def _student(left: NormalTable, distance: Floats) -> Floats:
    """The predictive distribution of a normal one with unknown location and variance."""
    spread = 2 * left.scale * (left.strength + 1) / left.strength
    gammas = gammaln(left.shape + 0.5) - gammaln(left.shape)
    tails = (left.shape + 0.5) * np.log1p(distance**2 / spread)
    return np.asarray(gammas - 0.5 * np.log(np.pi * spread) - tails)
