"""One- and two-dependence: their formulas, rows left out, memory, strengths."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from reference import ReferenceKernels

from candide.kernels import Kernels
from candide.kernels.layouts import Array, Floats
from candide.stacking import dependence as module
from candide.stacking.binning import MergedCodes
from candide.stacking.dependence import OneDependence, one_dependence, two_dependence
from candide.stacking.views import BinnedRows, LabeledRows, tempered_loss

from .cases import KINDS, identity_maps, log_prior, make_cases, unseen_rows, without

KERNELS = Kernels(2)
every_kind = pytest.mark.parametrize("kind", KINDS)
every_order = pytest.mark.parametrize("order", [1, 2])


def n_classes_of(kind: str) -> int:
    return int(KINDS[kind].get("n_classes", 3))


def learned(cases: LabeledRows, n_classes: int, order: int, kernels: Any = KERNELS) -> Any:
    prior = log_prior(cases, n_classes)
    one = one_dependence("pairs", identity_maps(), cases, prior, kernels)
    assert one is not None
    if order == 1:
        return one
    return two_dependence("triples", one, np.array([2, 0, 4, 1]), cases, prior, kernels)


class ByHand:
    """The formulas read aloud: counts by looking at all rows, one class and one row at a time."""

    def __init__(self, codes: Array, weight: Floats, rows: float, sizes: Array, strength: float) -> None:
        self.codes, self.weight, self.rows, self.sizes, self.strength = codes, weight, rows, sizes, strength

    def count(self, x: Array, *columns: int) -> float:
        same = np.ones(len(self.codes), dtype=bool)
        for j in columns:
            same &= self.codes[:, j] == x[j]
        return float(self.weight[same].sum())

    def alone(self, x: Array, j: int) -> float:
        return (self.count(x, j) + 0.5) / (self.rows + 0.5 * (self.sizes[j] - 1))

    def given_one(self, x: Array, j: int, u: int, strength: float) -> float:
        return (self.count(x, u, j) + strength * self.alone(x, j)) / (self.count(x, u) + strength)

    def given_two(self, x: Array, j: int, s: int, t: int) -> float:
        back = 0.5 * (self.given_one(x, j, s, 2.0) + self.given_one(x, j, t, 2.0))
        return (self.count(x, s, t, j) + self.strength * back) / (self.count(x, s, t) + self.strength)

    def pairs(self, x: Array) -> float:
        columns = range(len(x))
        terms = [
            self.alone(x, u) * np.prod([self.given_one(x, j, u, self.strength) for j in columns if j != u])
            for u in columns
        ]
        return float(np.log(np.mean(terms)))

    def triples(self, x: Array, best: list[int]) -> float:
        terms = []
        for s, t in combinations(best, 2):
            independent = self.strength * self.alone(x, s) * self.alone(x, t)
            both = (self.count(x, s, t) + independent) / (self.rows + self.strength)
            terms.append(both * np.prod([self.given_two(x, j, s, t) for j in range(len(x)) if j not in (s, t)]))
        return float(np.log(np.mean(terms)))


def by_hand(view: Any, cases: LabeledRows, x: Array, k: int, size: float | None = None) -> float:
    of_class = cases.classes == k
    size = float(cases.case_weight[of_class].sum()) if size is None else size
    sizes = np.array([len(codes) for codes in identity_maps()])
    hand = ByHand(cases.binned.codes[of_class], cases.case_weight[of_class], size, sizes, view.strength)
    return hand.pairs(x) if isinstance(view, OneDependence) else hand.triples(x, [2, 0, 4, 1])


@every_order
@every_kind
def test_scores_are_what_the_formulas_say(kind: str, order: int) -> None:
    cases, n_classes = make_cases(**KINDS[kind]), n_classes_of(kind)
    view = learned(cases, n_classes, order)
    for binned in (cases.binned.take(np.arange(5)), unseen_rows()):
        meant = [[by_hand(view, cases, x, k) for k in range(n_classes)] for x in binned.codes]
        np.testing.assert_allclose(view.scores(binned, KERNELS), meant, rtol=1e-9)


@every_order
@every_kind
def test_left_out_is_a_view_without_the_row(kind: str, order: int) -> None:
    """But for the size of its class."""
    cases, n_classes = make_cases(**KINDS[kind]), n_classes_of(kind)
    view = learned(cases, n_classes, order)
    got = view.left_out(cases.binned, cases.classes, cases.weight, KERNELS)
    sizes = np.bincount(cases.classes, cases.case_weight, minlength=n_classes)
    for row in range(0, len(cases.classes), 2):
        rest = without(cases, row)
        x = cases.binned.codes[row]
        meant = [by_hand(view, rest, x, k, sizes[k]) for k in range(n_classes)]
        np.testing.assert_allclose(got[row], meant, rtol=1e-9)


@every_order
def test_rows_of_no_weight_are_scored_as_any(order: int) -> None:
    cases = make_cases()
    view, nothing = learned(cases, 3, order), np.zeros(len(cases.classes))
    got = view.left_out(cases.binned, cases.classes, nothing, KERNELS)
    np.testing.assert_allclose(got, view.scores(cases.binned, KERNELS), rtol=1e-12)


@every_order
def test_a_weight_is_a_number_of_rows(order: int) -> None:
    cases = make_cases()
    copies = np.arange(len(cases.classes)) % 3
    repeated = np.repeat(np.arange(len(copies)), copies)
    ones = np.ones(len(repeated))
    weighted = cases._replace(case_weight=copies.astype(float))
    plain = LabeledRows(cases.binned.take(repeated), cases.classes[repeated], ones, ones)
    one, other = (learned(part, 3, order) for part in (weighted, plain))
    np.testing.assert_array_equal(one.table.joint, other.table.joint)


@every_order
def test_native_and_reference_agree(order: int) -> None:
    cases = make_cases(weighted=True, copies=True)
    native, reference = (learned(cases, 3, order, kernels) for kernels in (KERNELS, ReferenceKernels()))
    assert native.strength == reference.strength
    np.testing.assert_allclose(native.table.joint, reference.table.joint, rtol=1e-12)
    args = cases.binned, cases.classes, cases.weight
    np.testing.assert_allclose(
        native.left_out(*args, KERNELS), reference.left_out(*args, ReferenceKernels()), rtol=1e-12
    )


def test_the_strength_is_the_one_that_predicts_best() -> None:
    cases = make_cases(200)
    prior = log_prior(cases, 3)
    view = learned(cases, 3, 1)
    losses = {}
    for strength in (0.5, 2.0, 8.0):
        other = OneDependence("", view.merged, view.table, strength)
        left_out = other.left_out(cases.binned, cases.classes, cases.weight, KERNELS)
        losses[strength] = tempered_loss(left_out, cases.classes, cases.case_weight, prior)
    assert view.strength == min(losses, key=losses.__getitem__)


def test_few_rows_are_evenly_spaced() -> None:
    few = make_cases(1600).subsample()
    assert len(few.classes) == 500
    np.testing.assert_array_equal(few.binned.codes, make_cases(1600).binned.codes[np.arange(500) * 1600 // 500])


def test_too_many_slots_keep_the_first_columns_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = make_cases()
    prior = log_prior(cases, 3)
    monkeypatch.setattr(module, "MOST_CELLS", 4 * 16**2)
    view = one_dependence("pairs", identity_maps(), cases, prior, KERNELS, np.array([4, 0, 1, 2, 3]))
    assert view is not None
    assert view.merged.columns.tolist() == [0, 4]
    codes, weight = cases.binned.codes[cases.classes == 1][:, [0, 4]], cases.case_weight[cases.classes == 1]
    meant = ByHand(codes, weight, float(weight.sum()), np.array([6, 7]), view.strength)
    binned = cases.binned.take(np.array([0]))
    assert view.scores(binned, KERNELS)[0, 1] == pytest.approx(meant.pairs(binned.codes[0, [0, 4]]), rel=1e-9)
    assert two_dependence("triples", view, np.array([0, 4]), cases, prior, KERNELS) is None


def test_nothing_to_see_together() -> None:
    cases = make_cases()
    alone = cases._replace(binned=BinnedRows(cases.binned.codes[:, :1], cases.binned.numbers))
    assert one_dependence("pairs", identity_maps()[:1], alone, log_prior(cases, 3), KERNELS) is None


def test_pairs_too_large_for_the_rows_are_no_super_parents() -> None:
    sizes = [20, 20, 3]
    codes = np.random.default_rng(0).integers(0, sizes, (480, 3)).astype(np.int32)
    cases = make_cases(480)._replace(binned=BinnedRows(codes, np.zeros((480, 0))))
    prior, maps = log_prior(cases, 3), [np.arange(size + 2) for size in sizes]
    one = one_dependence("pairs", maps, cases, prior, KERNELS)
    assert one is not None
    assert two_dependence("triples", one, np.array([0, 1]), cases, prior, KERNELS) is None
    view = two_dependence("triples", one, np.array([0, 1, 2]), cases, prior, KERNELS)
    assert view is not None
    assert view.joint.columns.tolist() == [[0, 2], [1, 2]]


def test_merging_takes_columns_from_all() -> None:
    merging = MergedCodes.within(identity_maps(), np.array([3, 1, 0]), 10)
    assert merging.columns.tolist() == [1, 3]
    codes = np.array([[9, 1, 9, 2, 9], [9, 3, 9, 4, 9]], dtype=np.int32)
    np.testing.assert_array_equal(merging.slots(codes), [[1, 6], [3, 8]])
