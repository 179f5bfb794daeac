"""Laws of NaiveBayes: it is made of sums, so partitions, orders, names and containers do not matter."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import fitted_once, late, tries

from candide import NaiveBayes, merge
from candide.families.columns import CodedColumn

from .tables import SETTINGS, assert_predicts_alike, assert_same_table, fit, mixed

pl = late("polars")

X, Y = mixed(90)


@fitted_once
def whole(**how: Any) -> Any:
    """The model of all rows."""
    return fit(X, Y, **how)


# Between nothing that is chosen and all of it, the slow ones.
ALL = pytest.mark.parametrize(
    "how",
    [how if name in ("plain", "all") else pytest.param(how, marks=pytest.mark.slow) for name, how in SETTINGS.items()],
    ids=SETTINGS,
)


@ALL
def test_merging_any_partition(how: dict[str, Any]) -> None:
    expected = whole(**how)
    for seed in range(2):
        deal = np.random.default_rng(seed).integers(0, 4, len(Y))
        parts = [fit(X[deal == k], Y[deal == k], **how) for k in np.random.default_rng(seed).permutation(4)]
        merged = merge(parts)
        assert_same_table(merged, expected)
        assert_predicts_alike(merged, expected, X)


@tries(15)
@given(data=st.data())
def test_merging_parts_of_a_row_or_more(data: Any) -> None:
    """Classes, categories and kinds of columns may be in one part only. A small part leaves calibration stale."""
    n = data.draw(st.integers(2, 14))
    table, y = mixed(n, seed=data.draw(st.integers(0, 50)))
    deal = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    parts = [fit(table[deal == k], y[deal == k], stacking=None) for k in np.unique(deal)]
    expected, merged = fit(table, y, stacking=None), merge(parts)
    assert_same_table(merged, expected)
    assert_predicts_alike(merged.refit(), expected, table)


@ALL
def test_chunks(how: dict[str, Any]) -> None:
    model = NaiveBayes(n_threads=1, **how)
    for begin in range(0, 90, 25):
        model.partial_fit(X[begin : begin + 25], Y[begin : begin + 25])
    assert_same_table(model, whole(**how))
    assert_predicts_alike(model.refit(), whole(**how), X)


@ALL
@pytest.mark.parametrize("size", [1, 25, 89])
def test_a_stream_of_chunks(how: dict[str, Any], size: int) -> None:
    stream = ((X[begin : begin + size], Y[begin : begin + size]) for begin in range(0, 90, size))
    model = NaiveBayes(n_threads=1, **how).fit(stream)
    assert_same_table(model, whole(**how))
    assert_predicts_alike(model, whole(**how), X)


@ALL
def test_forgetting_restores(how: dict[str, Any]) -> None:
    model = whole(**how)
    model.partial_fit(*mixed(40, seed=1))
    model.forget(*mixed(40, seed=1))
    assert_same_table(model, whole(**how))
    assert_predicts_alike(model.refit(), whole(**how), X, atol=1e-9)


def test_forgetting_what_makes_a_category_and_a_class_vanish() -> None:
    model = whole().partial_fit(X[:5].assign(job="pilot"), np.array(["z"] * 5))
    model.forget(X[:5].assign(job="pilot"), np.array(["z"] * 5))
    assert_same_table(model, whole())
    assert_predicts_alike(model.refit(), whole(), X, atol=1e-9)


@pytest.mark.parametrize("columns", [["age", "visits"], ["job"], ["age"]], ids=str)
def test_forgetting_columns_of_one_kind(columns: list[str]) -> None:
    model = fit(X[columns], Y).forget(X[columns][50:], Y[50:]).refit()
    assert_predicts_alike(model, fit(X[columns][:50], Y[:50]), X[columns], atol=1e-9)


def test_a_grid_stays_coarse_when_rows_are_forgotten() -> None:
    """Counts are restored; cells that were paired up stay so."""
    rng = np.random.default_rng(0)
    few, many = rng.random(50) + 1.0, rng.random(3000) + 1.0
    model = fit(few[:, None], np.arange(50) % 2, stacking=None)
    model.partial_fit(many[:, None], np.arange(3000) % 2).forget(many[:, None], np.arange(3000) % 2)
    cells = model.model_.classifier.state.statistics.grid.column(0)
    assert (cells.high > cells.low).any()
    assert cells.count.sum() == 50
    assert ((cells.low <= few[:, None]) & (few[:, None] <= cells.high)).any(axis=1).all()


@ALL
def test_a_discount_is_a_factor_of_the_weights(how: dict[str, Any]) -> None:
    model = whole(**how).discount(0.5).refit()
    half = fit(X, Y, np.full(90, 0.5), **how)
    assert_same_table(model, half, rtol=1e-12)
    assert_predicts_alike(model, half, X)


@ALL
def test_the_order_of_columns(how: dict[str, Any]) -> None:
    shuffled = X[["job", "member", "age", "visits"]]
    model = fit(shuffled, Y, **how)
    assert_predicts_alike(model, whole(**how), shuffled, X, atol=1e-9)


@ALL
def test_the_order_of_rows(how: dict[str, Any]) -> None:
    order = np.random.default_rng(3).permutation(90)
    model = fit(X.iloc[order], Y[order], **how)
    assert_same_table(model, whole(**how))
    assert_predicts_alike(model, whole(**how), X)


@ALL
def test_the_names_of_categories(how: dict[str, Any]) -> None:
    names = {"cook": "z", "smith": "y", "nurse": "x", "clerk": "w"}
    renamed = X.assign(job=X["job"].map(names))
    assert_predicts_alike(fit(renamed, Y, **how), whole(**how), renamed, X, atol=1e-9)


@ALL
def test_the_names_of_classes(how: dict[str, Any]) -> None:
    names, order = {"u": "c", "v": "a", "w": "b"}, [2, 0, 1]
    model = fit(X, np.array([names[label] for label in Y.tolist()]), **how)
    np.testing.assert_allclose(model.predict_proba(X)[:, order], whole(**how).predict_proba(X), atol=1e-6)


@ALL
def test_constant_columns_change_nothing(how: dict[str, Any]) -> None:
    wide = X.assign(k=3.0, word="same", empty=None)[["k", "age", "visits", "word", "job", "member", "empty"]]
    assert_predicts_alike(fit(wide, Y, **how), whole(**how), wide, X, atol=1e-9)


def test_weight_is_repetition_of_the_columns() -> None:
    """But not for what is chosen by leaving rows out: a row of weight 3 leaves as a whole."""
    weight = np.random.default_rng(4).integers(0, 4, 90).astype(float)
    rows = np.repeat(np.arange(90), weight.astype(int))
    families = {"age": "gaussian", "visits": "poisson", "job": "categorical", "member": "categorical"}
    how = {**SETTINGS["plain"], "columns": families, "alpha": 1.0, "missing": "ignore"}
    model, copies = (fit(*of, **how) for of in ((X, Y, weight), (X.iloc[rows], Y[rows])))
    assert_predicts_alike(model, copies, X)
    assert model.summary()["parameters"].tolist() == copies.summary()["parameters"].tolist()


def test_heavy_rows_are_no_copies() -> None:
    """Noise gains nothing by weighing more: neither in the choice of families nor in the weights of the blend."""
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({"a": rng.normal(size=200), "b": rng.integers(0, 30, 200).astype(str), "c": rng.random(200)})
    labels = np.array(["u", "v"])[rng.integers(0, 2, 200)]
    model = fit(noise, labels, np.full(200, 1000.0))
    assert (model.summary()["bits"][:3] < 0.03).all()
    assert model.loo_.log_loss < 0.75


@ALL
def test_unit_weights_are_no_weights(how: dict[str, Any]) -> None:
    assert_predicts_alike(fit(X, Y, np.ones(90), **how), whole(**how), X)


@ALL
def test_rows_without_weight_are_not_there(how: dict[str, Any]) -> None:
    weight = (np.arange(90) % 3 > 0).astype(float)
    odd = X.assign(job=np.where(weight > 0, X["job"], "never"))
    model = fit(odd, Y, weight, **how)
    assert_predicts_alike(model, fit(X[weight > 0], Y[weight > 0], **how), X)


# Rows left out.


def refitted(model: Any, row: int) -> Any:
    """The model of all rows but one, with the families and options of the whole."""
    bare, rest = model.model_.classifier, copy.deepcopy(model).forget(X.iloc[[row]], Y[[row]]).model_.classifier
    return bare.family.likelihood(rest.state.statistics), rest


@pytest.mark.parametrize("columns", ["auto", "categorical", {"numbers": "gaussian"}, {"numbers": "bins"}], ids=str)
def test_leaving_a_row_out_is_a_refit_with_the_choices_held(columns: Any) -> None:
    model = fit(X, Y, columns=columns, **SETTINGS["plain"])
    found = model.leave_one_out(X, Y)
    for row in range(0, 90, 7):
        likelihood, rest = refitted(model, row)
        data = model.model_.read(X.iloc[[row]])
        joint = likelihood.scores(data, np.log(rest.state.rows / rest.state.rows.sum()), model.model_.kernels)
        expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
        np.testing.assert_allclose(found[row], expected[0], rtol=1e-9, atol=1e-9)


def test_the_columns_of_a_blend_left_out() -> None:
    model = whole()
    likelihood, kernels = model.model_.classifier.likelihood, model.model_.kernels
    found = likelihood.each_left_out(model.model_.batch(X, Y, None), likelihood.shown, kernels)
    for row in range(0, 90, 7):
        without, _ = refitted(model, row)
        expected = without.each_column(model.model_.read(X.iloc[[row]]), likelihood.shown, kernels)
        own = int(model.model_.batch(X, Y, None).classes[row])
        for place, j in enumerate(likelihood.shown):
            one, other = likelihood.models[j], without.models[j]
            if isinstance(one, CodedColumn):  # classes keep their sizes
                expected[place, 0, own] += np.log(other.whole[own] / one.whole[own])
            elif expected[place].any():  # a distribution, and the cell is known
                size = one.cells.count.sum(axis=0)[own]
                expected[place, 0, own] += np.log((size - 0.5) / (size + 0.5))
        np.testing.assert_allclose(found[:, row], expected[:, 0], rtol=1e-9, atol=1e-9)


def test_blocks_left_out() -> None:
    how: dict[str, Any] = {"columns": {("visits", "member"): "multinomial"}, **SETTINGS["plain"]}
    table = X.assign(member=X["member"].astype(int))
    model = fit(table, Y, **how)
    found = model.leave_one_out(table, Y, class_prior="fixed")
    for row in range(0, 90, 7):
        rest = copy.deepcopy(model).forget(table.iloc[[row]], Y[[row]]).model_.classifier
        likelihood = model.model_.classifier.family.likelihood(rest.state.statistics)
        joint = likelihood.scores(
            model.model_.read(table.iloc[[row]]), model.model_.classifier.scorer.offset, model.model_.kernels
        )
        expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
        np.testing.assert_allclose(found[row], expected[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("how", [{}, {"order": 0}], ids=str)
def test_folds_left_out_of_a_blend_are_refits(how: dict[str, Any]) -> None:
    folds = np.arange(90) % 3
    found = np.exp(whole(**how).cross_val_log_proba(X, Y, groups=folds))
    for fold in range(3):
        rest = fit(X[folds != fold], Y[folds != fold], **how)
        np.testing.assert_allclose(found[folds == fold], rest.predict_proba(X[folds == fold]), rtol=0, atol=1e-7)


# Containers and threads.

CONTAINERS: dict[str, Any] = {
    "dict": lambda: {name: X[name].tolist() for name in X},
    "polars": lambda: pl.from_pandas(X),
    "pyarrow": lambda: pa.Table.from_pandas(X),
    "pandas nullable": lambda: X.convert_dtypes(),
    "pandas categories": lambda: X.astype({"job": "category"}),
}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("how", [SETTINGS["plain"], SETTINGS["all"]], ids=["plain", "all"])
def test_containers(name: str, how: dict[str, Any]) -> None:
    table, expected = CONTAINERS[name](), whole(**how)
    model = fit(table, Y, **how)
    assert_same_table(model, expected)
    for rows in (table, X):
        assert_predicts_alike(model, expected, rows, X)
        assert_predicts_alike(expected, expected, rows, X)
    if how == SETTINGS["plain"]:  # a merge is one of statistics, and the same for all settings
        assert_same_table(merge([model, expected]), merge([expected, expected]))


def test_lists_and_arrays_have_places_for_names() -> None:
    expected = whole(order=0)
    for table in (X.to_numpy(), X.to_numpy().tolist()):
        model = fit(table, Y, order=0)
        assert_predicts_alike(model, expected, table, X)
        assert_predicts_alike(model, expected, X)
        assert_predicts_alike(expected, expected, table, X)


def test_threads() -> None:
    one, more = whole(), NaiveBayes(n_threads=5).fit(X, Y)
    np.testing.assert_array_equal(one.predict_proba(X), more.predict_proba(X))
    np.testing.assert_array_equal(one.leave_one_out(X, Y), more.leave_one_out(X, Y))
    assert one.loo_.log_loss == more.loo_.log_loss


def test_the_label_by_its_name() -> None:
    for table in (X.assign(pay=Y), pl.from_pandas(X.assign(pay=Y)), dict(X.assign(pay=Y))):
        assert_predicts_alike(fit(table, "pay", order=0), whole(order=0), X)
    assert pd.DataFrame(X).equals(X)


@pytest.mark.parametrize("seed", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_merged_blends_of_more_rows(seed: int) -> None:
    """Weights are solved for: where the search ends does not hang on last digits."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 400)
    numbers = rng.normal(size=(400, 4))
    numbers[:, 0] += y
    first, second = (fit(numbers[part], y[part]) for part in (slice(150), slice(150, None)))
    assert_predicts_alike(second.merge(first), fit(numbers, y), numbers)
