"""Predictions as a calculation by hand: the prior times one fraction per cell, divided by the sum over classes."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..families.bernoulli import BernoulliLikelihood
from ..families.categorical_likelihood import CategoricalLikelihood
from ..families.multinomial import MultinomialLikelihood
from ..families.score_terms import cells_of
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..model.classifier import Classifier
from ..printable import printable
from ..priors import above_zero, pseudo_count
from .terms import code_names, tokens_of


class Factor(NamedTuple):
    """A share in every class: counts, pseudo-counts included, and how often it is multiplied."""

    name: str
    parts: Floats  # (classes,)
    wholes: Floats  # (classes,)
    power: int = 1

    def value(self, k: int) -> Fraction:
        """Return the value in class ``k``."""
        return (_exact(self.parts[k]) / _exact(self.wholes[k])) ** self.power

    def written(self, k: int) -> str:
        """Return the factor as written in a textbook."""
        share = _short(self.parts[k]) + ("" if self.wholes[k] == 1.0 else f"/{_short(self.wholes[k])}")
        return share if self.power == 1 else f"({share})^{self.power}"


@dataclass(frozen=True, repr=False)
class Fractions:
    """A prediction written as products of fractions, as in a calculation by hand.

    Examples
    --------
    >>> from candide import CategoricalNB
    >>> sky = [["sun"], ["sun"], ["rain"], ["rain"], ["rain"]]
    >>> model = CategoricalNB(alpha=0).fit(sky, ["out", "out", "in", "in", "out"])
    >>> model.explain([["rain"]], style="fractions")[0]
    in:  2/5 × 2/2 = 2/5
    out: 3/5 × 1/3 = 1/5
    <BLANKLINE>
    factors: prior, x0 = rain
    p(in | x) = 2/5 / (2/5 + 1/5) = 2/3 = 0.6667
    p(out | x) = 1/5 / (2/5 + 1/5) = 1/3 = 0.3333
    """

    classes: Array
    factors: tuple[Factor, ...]
    left_out: tuple[str, ...] = ()  # cells that do not contribute

    @cached_property
    def products(self) -> list[Fraction]:
        """Prior times all factors, one product per class."""
        return [prod((factor.value(k) for factor in self.factors), start=Fraction(1)) for k in range(len(self.classes))]

    @cached_property
    def probabilities(self) -> list[Fraction] | None:
        """Products divided by their sum; None if every class has a factor of 0."""
        whole = sum(self.products)
        return [product / whole for product in self.products] if whole else None

    def __repr__(self) -> str:
        labels = [printable(label) for label in self.classes.tolist()]
        width = max(map(len, labels)) + 1
        lines = [
            f"{label + ':':<{width}} {' × '.join(factor.written(k) for factor in self.factors)} = {_fraction(product)}"
            for k, (label, product) in enumerate(zip(labels, self.products, strict=True))
        ]
        named = [f"factors: {', '.join(printable(factor.name) for factor in self.factors)}"]
        named += [f"left out: {', '.join(map(printable, self.left_out))}"] if self.left_out else []
        return "\n".join([*lines, "", *named, *self._last()])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"

    def _last(self) -> Iterator[str]:
        if self.probabilities is None:
            yield "0/0: every class has a factor of 0; use smoothing (alpha above 0)"
            return
        whole = " + ".join(map(_fraction, self.products))
        for label, product, share in zip(self.classes.tolist(), self.products, self.probabilities, strict=True):
            reduced = f"{_fraction(share)} = " if _is_short(share) else ""
            yield f"p({printable(label)} | x) = {_fraction(product)} / ({whole}) = {reduced}{float(share):.4f}"


def worked_out(model: Classifier, data: Any, names: Array, kernels: Kernels) -> Iterator[Fractions]:
    """Yield the fractions of each row, for models whose probabilities are ratios of counts."""
    if model.bound_spec.corrects:
        raise ParameterError(
            "style='fractions' shows probabilities as ratios of counts, but this model is calibrated or stacked; pass "
            "calibrate=None, or omit style"
        )
    for i in range(data.n_rows):
        row = data.take(np.array([i]))
        found = list(_factors(model, row, names, kernels))
        factors = _prior(model), *(one for one in found if isinstance(one, Factor))
        yield Fractions(model.classes.labels, factors, tuple(one for one in found if isinstance(one, str)))


def _prior(model: Classifier) -> Factor:
    prior, share = model.bound_spec.prior, model.class_prior
    if prior.follows_rows and model.bound_spec.target is None:
        counts = prior.counts(model.classes, model.state.rows)
        if np.allclose(counts, share * counts.sum(), rtol=1e-12, atol=0):
            return Factor("prior", counts, np.full(len(counts), counts.sum()))
    return Factor("prior", share, np.ones(len(share)))


def _factors(model: Classifier, row: Any, names: Array, kernels: Kernels) -> Iterator[Factor | str]:
    """Yield the factors of cells that contribute, and the names of the other cells."""
    likelihood = model.likelihood
    if isinstance(likelihood, CategoricalLikelihood):
        return _categories(likelihood, row, names, kernels)
    if isinstance(likelihood, BernoulliLikelihood):
        return _presences(likelihood, row, names)
    if isinstance(likelihood, MultinomialLikelihood):
        columns, count = cells_of(row)
        return _tokens(likelihood, columns, count, [str(names[j]) for j in columns.tolist()])
    if isinstance(likelihood, TextLikelihood) and isinstance(likelihood.inner, MultinomialLikelihood):
        columns, count = cells_of(likelihood.rows(row, kernels))
        known = code_names(tokens_of(likelihood.known.feature_set.tokenizer, row, kernels), likelihood.known.coding)
        return _tokens(likelihood.inner, columns, count, [known[code].name for code in columns.tolist()])
    raise ParameterError(
        "style='fractions' requires a model whose probabilities are ratios of counts: CategoricalNB, BernoulliNB, "
        "MultinomialNB or TextNB('multinomial'); omit it for other models"
    )


def _categories(likelihood: CategoricalLikelihood, row: Any, names: Array, kernels: Kernels) -> Iterator[Factor | str]:
    codes = likelihood.row_codes(row, kernels)
    for j, (code, slots) in enumerate(zip(codes.tolist(), likelihood.slots, strict=True)):
        value = row.column(j)[:1].tolist()[0]
        if code < 0:
            yield f"{names[j]} (missing)"
        elif code == slots.lookup.size and likelihood.family.unseen != "smooth":
            yield f"{names[j]} = {value} (never seen)"
        else:
            part = above_zero(slots.cells + pseudo_count(slots.alpha, likelihood.family.estimate))
            whole = (part * slots.copies).sum(axis=1)
            yield _share(f"{names[j]} = {value}", part[:, code], whole, int(slots.copies.sum()))


def _presences(likelihood: BernoulliLikelihood, row: Any, names: Array) -> Iterator[Factor | str]:
    counts, prior, estimate = likelihood.statistics, likelihood.family.prior, likelihood.family.estimate
    total, x = counts.dense(), row.floats()[0]
    seen = np.broadcast_to(counts.observed(), total.shape)
    on = above_zero(total + pseudo_count(prior.a, estimate))
    off = above_zero(seen - total + pseudo_count(prior.b, estimate))
    for j, cell in enumerate(x.tolist()):
        if cell != cell:
            yield f"{names[j]} (missing)"
            continue
        if likelihood.family.threshold is None and cell not in (0.0, 1.0):
            raise ParameterError(f"style='fractions' requires binary columns, but {names[j]} contains {cell:g}")
        is_on = cell > (likelihood.family.threshold or 0.0)
        part = on[:, j] if is_on else off[:, j]
        yield _share(f"{names[j]} {'on' if is_on else 'off'}", part, on[:, j] + off[:, j], 2)


def _share(name: str, part: Floats, whole: Floats, n_values: int, power: int = 1) -> Factor:
    """Return a share; equal shares if a class has no observations."""
    nothing = whole <= 0
    return Factor(name, np.where(nothing, 1.0, part), np.where(nothing, float(n_values), whole), power)


def _tokens(
    likelihood: MultinomialLikelihood, columns: Array, count: Floats, names: list[str]
) -> Iterator[Factor | str]:
    family, total = likelihood.family, likelihood.statistics.dense()
    part = above_zero(total + pseudo_count(family.prior.concentration, family.estimate))
    whole = part.sum(axis=1)
    for j, times, name in zip(columns.tolist(), count.tolist(), names, strict=True):
        if times != int(times):
            raise ParameterError(f"style='fractions' requires integer counts, but a cell contains {times:g}")
        if times:
            yield _share(name, part[:, j], whole, part.shape[1], int(times))


def _exact(number: float) -> Fraction:
    """Return a sum of floats as a short fraction, such as 3/10 for three times 0.1."""
    return Fraction(float(number)).limit_denominator(10**9)


def _short(number: float) -> str:
    return f"{number:.6g}"


def _is_short(share: Fraction) -> bool:
    return len(str(share.denominator)) <= 9


def _fraction(share: Fraction) -> str:
    return str(share) if _is_short(share) else f"{float(share):.6g}"
