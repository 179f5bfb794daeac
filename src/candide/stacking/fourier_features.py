"""Rows as the heights of waves that run through several columns at once. Frozen: drawn once, from a fixed seed."""

from __future__ import annotations

from math import factorial

import numpy as np

from ..kernels.layouts import Floats
from ..lazy_dataclass import dataclass
from .inputs import Inputs
from .views import Cases, Looked

# How many radians a wave turns while what it runs through changes by a deviation: slow, middling and fast ones.
_SPEEDS = (0.5, 1.0, 2.0)
# sin x = x Σ of these over powers of x².
_SINE = tuple((-1) ** n / factorial(2 * n + 1) for n in range(9))
# Moduli are clipped here before their logarithm is taken.
_LEAST_SIZE = 1e-300
# Less than this is the variance of a constant.
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True)
class Cosines:
    """cos(inputs · frequencies + phases)."""

    inputs: Inputs
    frequencies: Floats  # (inputs, waves)
    phases: Floats  # (waves,)

    @property
    def width(self) -> int:
        """How many waves."""
        return len(self.phases)

    def heights(self, looked: Looked) -> Floats:
        """Cosines of shape ``(rows, waves)``. For a row with absent columns, their expectation: over the levels of a
        category column by their shares, over numbers as if ranks were jointly normal, given the other ranks.
        """
        angles = self.inputs.times(looked, self.frequencies)
        angles += self.phases
        if looked.codes.min(initial=0) >= 0:
            return cosines(angles)
        # The mean of cos(a + x) is |z| cos(a + arg z), where z, that of exp(ix), is exp(i mean - variance / 2) if x is
        # normal.
        log_size = np.zeros_like(angles)
        self._add_levels(looked, angles, log_size)
        self._add_ranks(looked, angles, log_size)
        return np.asarray(np.exp(log_size) * cosines(angles))

    def _add_levels(self, looked: Looked, angles: Floats, log_size: Floats) -> None:
        levels = self.inputs.levels
        absent = (looked.codes[:, levels.columns] < 0).astype(np.float64)
        if absent.any():
            turn, log_part = self.level_means()
            angles += absent @ turn
            log_size += absent @ log_part

    def level_means(self) -> tuple[Floats, Floats]:
        """Return angle and log modulus of E[exp(i angle)] over the levels of each column, ``(columns, waves)``."""
        inputs, begins = self.inputs, self.inputs.levels.offsets[:-1]
        waves = inputs.share[:, None] * np.exp(1j * self.frequencies[len(inputs.ranks.columns) :])
        mean = np.add.reduceat(waves, begins, axis=0)
        return np.angle(mean), np.log(np.maximum(np.abs(mean), _LEAST_SIZE))

    def _add_ranks(self, looked: Looked, angles: Floats, log_size: Floats) -> None:
        without = self.inputs.ranks.without(looked)
        if without is None:
            return
        points = np.where(without, 0.0, self.inputs.ranks.points(looked))
        patterns, of_row = np.unique(without, axis=0, return_inverse=True)
        for i, absent in enumerate(patterns):
            if absent.any():
                rows, (slopes, covariance) = np.flatnonzero(of_row.ravel() == i), self.inputs.regression(~absent)
                angles[rows] += points[rows] @ slopes @ self.frequencies[: len(absent)]
                log_size[rows] += self.log_sizes(covariance)

    def log_sizes(self, covariance: Floats) -> Floats:
        """Return the log modulus of E[exp(i angle)], ``(waves,)``, for absent ranks with this covariance."""
        frequencies = self.frequencies[: len(covariance)]
        return np.asarray(-0.5 * (frequencies * (covariance @ frequencies)).sum(axis=0))


def cosines(angles: Floats) -> Floats:
    """The cosines of angles, to thirteen digits; angles are used up.

    In a quarter of the time that NumPy takes, whose single precision would be as fast again but is not the same on all
    machines, nor in databases that a model is exported to.

    >>> angles = np.array([0.0, 1.0, -7.5, 100.0])
    >>> bool(np.abs(cosines(angles.copy()) - np.cos(angles)).max() < 1e-13)
    True
    """
    angles *= 0.5 / np.pi
    angles -= np.rint(angles)
    # cos(2πt) is the sine of what a quarter of a turn is above |t|, where Taylor's series needs few terms.
    np.abs(angles, out=angles)
    np.subtract(0.25, angles, out=angles)
    angles *= 2 * np.pi
    square = angles * angles
    out = np.full_like(angles, _SINE[-1])
    for coefficient in _SINE[-2::-1]:
        out *= square
        out += coefficient
    out *= angles
    return out


def draw_cosines(
    inputs: Inputs, cases: Cases, relevance: Floats, sizes: tuple[int, ...] | None, width: int, seed: int
) -> Cosines | None:
    """Waves through all columns, each as strong as it is relevant, or through a few, drawn by their relevance.

    ``sizes`` are the numbers of columns that waves run through, in turn; None: all. ``relevance`` is that of each
    column there is. None where nothing varies.
    """
    variance = inputs.variance(cases)
    variance[variance < _LEAST_VARIANCE] = 0.0
    of_column = np.bincount(inputs.column, variance, minlength=len(relevance))
    if not of_column.any():
        return None
    # What is drawn for a column must not hang on its place, nor what is drawn for a level on its name.
    order = inputs.order(cases, relevance)
    order = order[variance[order] > 0.0]
    varying = inputs.column[order][np.sort(np.unique(inputs.column[order], return_index=True)[1])]
    rng = np.random.default_rng(seed)
    strengths = np.zeros((len(relevance), width))
    strengths[varying] = _strengths(relevance[varying], sizes, width, rng) / np.sqrt(of_column[varying, None])
    # What did not vary is not known to matter: nor may it when it does.
    frequencies = np.zeros((len(variance), width))
    frequencies[order] = rng.standard_normal((len(order), width)) * strengths[inputs.column[order]]
    return Cosines(inputs, frequencies, rng.uniform(0.0, 2 * np.pi, width))


def _strengths(relevance: Floats, sizes: tuple[int, ...] | None, width: int, rng: np.random.Generator) -> Floats:
    """``(columns, waves)``: how fast a wave turns along each column of variance 1."""
    waves = np.arange(width)
    if sizes is None:
        parts, turn = np.repeat(relevance[:, None], width, axis=1), waves
    else:
        # The largest of relevance · exp(Gumbel noise): drawn one after the other, without putting back.
        keys = np.log(relevance)[:, None] + rng.gumbel(size=(len(relevance), width))
        place = np.argsort(np.argsort(-keys, axis=0, kind="stable"), axis=0)
        parts, turn = (place < np.array(sizes)[waves % len(sizes)]).astype(np.float64), waves // len(sizes)
    return np.asarray(parts * np.array(_SPEEDS)[turn % len(_SPEEDS)] / np.sqrt((parts**2).sum(axis=0)))
