"""Cuts: against definitions written out, and judged by folds that they never saw."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln

from candide.families.columns import choose, named_column
from candide.families.columns.bins import mdlp, modl, proportional, split_folds
from candide.families.columns.histogram import equal_frequency
from candide.kernels.layouts import Array, Floats
from candide.statistics.grid import Cells

from .rows import Rows, numbers


def cells_of(count: Floats) -> Cells:
    places = np.arange(float(len(count)))
    return Cells(places, places, count)


def modl_cost(count: Floats, first: Array) -> float:
    """Boullé's criterion, term by term."""
    bins, n, n_classes = np.add.reduceat(count, first, axis=0), count.sum(), count.shape[1]
    cost = np.log(n) + gammaln(n + len(bins)) - gammaln(len(bins)) - gammaln(n + 1)
    for row in bins:
        cost += gammaln(row.sum() + n_classes) - gammaln(n_classes) - gammaln(row.sum() + 1)
        cost += gammaln(row.sum() + 1) - gammaln(row + 1).sum()
    return float(cost)


@pytest.mark.parametrize("seed", range(6))
def test_modl_finds_the_cheapest_partition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lean = np.repeat(rng.random(3), 3)
    count = np.stack([rng.poisson(8 * lean), rng.poisson(8 * (1 - lean))], axis=1) + 1.0
    every = [np.array([0, *rest]) for k in range(9) for rest in combinations(range(1, 9), k)]
    best = min(every, key=lambda first: modl_cost(count, first))
    found = modl(cells_of(count))
    assert modl_cost(count, found) == pytest.approx(modl_cost(count, best), rel=1e-12)


def entropy(count: Floats) -> float:
    share = count[count > 0] / count.sum()
    return float(-(share * np.log2(share)).sum())


def plain_mdlp(count: Floats) -> list[int]:
    """Fayyad and Irani by the book: cuts within, as places."""
    n, best = count.sum(), None
    for at in range(1, len(count)):
        left, right = count[:at].sum(axis=0), count[at:].sum(axis=0)
        after = (left.sum() * entropy(left) + right.sum() * entropy(right)) / n
        if best is None or after < best[0] - 1e-12:
            best = after, at, left, right
    if best is None:
        return []
    after, at, left, right = best
    whole = count.sum(axis=0)
    k = [int((part > 0).sum()) for part in (whole, left, right)]
    delta = np.log2(3.0 ** k[0] - 2) - (k[0] * entropy(whole) - k[1] * entropy(left) - k[2] * entropy(right))
    if entropy(whole) - after <= (np.log2(n - 1) + delta) / n:
        return []
    return [*plain_mdlp(count[:at]), at, *(at + cut for cut in plain_mdlp(count[at:]))]


@pytest.mark.parametrize("seed", range(6))
def test_mdlp_is_that_of_the_book(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lean = np.repeat(rng.dirichlet(np.ones(3), 4), 6, axis=0)
    count = rng.poisson(9 * lean).astype(np.float64) + 0.25 * rng.integers(1, 3, lean.shape)
    assert mdlp(cells_of(count)).tolist() == [0, *plain_mdlp(count)]


def test_noise_is_not_cut() -> None:
    count = np.random.default_rng(0).multinomial(1, [0.5, 0.5], 400).astype(np.float64)
    assert len(mdlp(cells_of(count))) == len(modl(cells_of(count))) == 1


def test_bins_of_equal_frequency() -> None:
    first = equal_frequency(np.ones(100), 10)
    assert first.tolist() == list(range(0, 100, 10))
    assert len(proportional(np.ones(400))) == 20
    heavy = np.ones(101)
    heavy[50] = 300.0
    within = np.add.reduceat(heavy, equal_frequency(heavy, 5))
    assert within.max() <= 300.0 + 1.0, "a value that fills a bin shares it with nothing much"


def test_folds_are_a_partition_blind_to_labels() -> None:
    count = np.random.default_rng(1).random((50, 3)) * 2
    folds = split_folds(count)
    np.testing.assert_allclose(sum(folds), count, rtol=1e-12)
    assert all(fold.sum() == pytest.approx(count.sum() / 5, abs=1.0) for fold in folds)
    rows = np.zeros((20, 2))
    rows[np.arange(20), np.random.default_rng(2).integers(0, 2, 20)] = 1.0
    assert [int(fold.sum(axis=1).argmax()) for fold in split_folds(rows)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("method", ["mdlp", "modl"])
def test_supervised_bins_are_judged_without_the_rows_they_cut(method: str) -> None:
    """Rows with values of their own: each fold's rows scored by cuts of the others, and left out of the counts."""
    rows = numbers(11, n_rows=150, holes=True)
    rows = rows._replace(weight=np.ones(150))
    order = np.argsort(rows.values)
    rows = Rows(rows.values[order], rows.classes[order], rows.weight, rows.n_classes)
    log_prior = np.log(np.bincount(rows.classes) / 150)
    known = np.flatnonzero(~rows.missing())
    total = -log_prior[rows.classes[rows.missing()]].sum()
    for fold in range(5):
        held = known[fold::5]
        others = rows._replace(weight=np.where(np.isin(np.arange(150), held), 0.0, 1.0))
        cut = named_column("bins", **others.parts(), method=method, strength=1.0, treat_missing="ignore")
        assert len(cut.cuts)
        share = np.bincount(np.searchsorted(cut.cuts, rows.values[known], side="right"), minlength=len(cut.count))
        for i in held:
            left = cut.again(**rows.without(int(i), 1.0).parts())
            table = np.log((left.count + share[:, None] / share.sum()) / (left.count.sum(axis=0) + 1.0))
            joint = table[np.searchsorted(cut.cuts, rows.values[i], side="right")] + log_prior
            # The class keeps its size.
            own, size = rows.classes[i], left.count.sum(axis=0)[rows.classes[i]]
            joint[own] += np.log((size + 1.0) / (size + 2.0))
            total += np.logaddexp.reduce(joint) - joint[rows.classes[i]]
    judge = named_column("bins", **rows.parts(), method=method, strength=1.0, treat_missing="ignore")
    assert judge.class_loss(log_prior) == pytest.approx(total / 150, rel=1e-6)


def test_made_again_supervised_bins_are_the_same() -> None:
    rows = numbers(12, n_rows=200, holes=True)
    model = named_column("bins", **rows.parts(), method="modl")
    log_prior = np.log(np.full(3, 1 / 3))
    assert model.again(**rows.parts()).class_loss(log_prior) == pytest.approx(model.class_loss(log_prior), rel=1e-12)


def test_supervised_bins_of_noise_gain_nothing() -> None:
    rng = np.random.default_rng(5)
    rows = Rows(rng.normal(size=400), rng.integers(0, 2, 400).astype(np.int32), np.ones(400), 2)
    for method in ("mdlp", "modl"):
        model = named_column("bins", **rows.parts(), method=method)
        assert model.class_loss(np.log([0.5, 0.5])) > np.log(2) - 1e-3
    assert choose([model], np.log([0.5, 0.5]))[0] is model
