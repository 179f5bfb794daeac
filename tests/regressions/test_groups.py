"""Rows of one group leave together wherever rows are left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli.terminal import done
from tiers import fast

import candide
from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes, PoissonNB, TextNB
from candide.exceptions import InputError
from candide.kernels.layouts import Array, Dense
from candide.statistics import Sample
from candide.statistics.base import Budget
from candide.statistics.hashing import group_hashes

N_GROUPS, SIZE = 60, 6


def visits(seed: int) -> tuple[Array, Array, Array]:
    """Rows of a patient are nearly equal and have one label, which little but the first column tells of others."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(N_GROUPS), SIZE)
    label = rng.permutation(np.arange(N_GROUPS) % 2)
    patient = rng.normal(size=(N_GROUPS, 4))
    patient[:, 0] += 1.2 * label
    return patient[groups] + 0.05 * rng.normal(size=(len(groups), 4)), label[groups], groups


def counts(seed: int) -> tuple[Array, Array, Array]:
    X, y, groups = visits(seed)
    return np.rint(4 * np.abs(X)).astype(int), y, groups


def threads(seed: int) -> tuple[list[str], Array, Array]:
    """Messages of a thread share words that no other has."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(N_GROUPS), SIZE)
    label = rng.permutation(np.arange(N_GROUPS) % 2)

    def message(thread: int) -> str:
        own = [f"{seed}topic{thread}x{i}" for i in rng.integers(0, 8, 6)]
        common = rng.choice(["good", "bad"], 3, p=[0.7, 0.3] if label[thread] else [0.3, 0.7])
        return " ".join([*own, *common])

    return [message(thread) for thread in groups], label[groups], groups


def log_loss(model: Any, X: Any, y: Array) -> float:
    own = model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(-own.mean())


MODELS = {
    "NaiveBayes": (NaiveBayes(), visits),
    "NaiveBayes, order 0": (NaiveBayes(order=0), visits),
    "GaussianNB": (GaussianNB(calibrate="platt", compute_loo=True), visits),
    "PoissonNB": (PoissonNB(calibrate="temperature", compute_loo=True), counts),
    "MultinomialNB": (MultinomialNB(alpha="loo", calibrate="platt", compute_loo=True), counts),
    "ComplementNB": (ComplementNB(calibrate="beta", compute_loo=True), counts),
    "BernoulliNB": (
        BernoulliNB(alpha="loo", compute_loo=True),
        lambda seed: ((visits(seed)[0] > 0) * 1, *visits(seed)[1:]),
    ),
    "CategoricalNB": (CategoricalNB(alpha="loo", calibrate="isotonic", compute_loo=True), counts),
    "TextNB": (TextNB(compute_loo=True), threads),
    "TextNB, refined": (TextNB(refine=True, compute_loo=True), threads),
    "TextNB, multinomial": (TextNB("multinomial", calibrate="platt", compute_loo=True), threads),
}


@pytest.mark.parametrize("name", fast(MODELS.keys() - {"NaiveBayes", "TextNB, refined"}, MODELS))
def test_the_estimated_log_loss_is_that_of_new_groups(name: str) -> None:
    estimator, make = MODELS[name]
    X, y, groups = make(0)
    model = type(estimator)(**estimator.get_params())
    model.fit(X, y, groups=groups)
    found = [log_loss(model, *make(seed)[:2]) for seed in range(1, 6)]
    assert abs(model.loo_.log_loss - np.mean(found)) < 3 * model.loo_.log_loss_error + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NaiveBayes", "TextNB"])
def test_without_groups_the_estimate_is_far_too_good(name: str) -> None:
    estimator, make = MODELS[name]
    X, y, groups = make(0)
    alone, together = (type(estimator)(**estimator.get_params()).fit(X, y, groups=own) for own in (None, groups))
    assert alone.loo_.log_loss < together.loo_.log_loss - 0.1
    # Weights that were fitted on groups left out do better on new groups too.
    new = make(7)[:2]
    assert log_loss(together, *new) < log_loss(alone, *new)


def test_standard_errors_count_groups() -> None:
    model = GaussianNB().fit(*visits(0)[:2])
    X_new, y_new, own = visits(1)
    alone, together = model.evaluate(X_new, y_new), model.evaluate(X_new, y_new, groups=own)
    assert together.log_loss == alone.log_loss
    loss = -model.predict_log_proba(X_new)[np.arange(len(y_new)), y_new]
    away = np.bincount(own, loss - loss.mean())
    expected = np.sqrt((away**2).sum() * N_GROUPS / (N_GROUPS - 1)) / len(loss)
    assert together.log_loss_error == pytest.approx(expected)
    assert together.log_loss_error > 1.5 * alone.log_loss_error


def test_leave_one_out_of_groups_is_a_refit_without_each() -> None:
    X, y, groups = visits(0)
    found = GaussianNB(var_smoothing=0).fit(X, y).leave_one_out(X, y, groups=groups)
    for group in (0, 17):
        here = groups == group
        rest = GaussianNB(var_smoothing=0).fit(X[~here], y[~here])
        np.testing.assert_allclose(found[here], rest.predict_log_proba(X[here]), rtol=1e-8, atol=1e-8)


def test_each_row_in_a_group_of_its_own_is_as_without_groups() -> None:
    X, y, _ = visits(0)
    plain, alone = (GaussianNB(calibrate="platt").fit(X, y, groups=own) for own in (None, [None] * len(y)))
    np.testing.assert_allclose(alone.predict_proba(X), plain.predict_proba(X), atol=0.02)


@pytest.mark.parametrize(
    "make",
    [pytest.param(NaiveBayes, marks=pytest.mark.slow), lambda: GaussianNB(calibrate="platt", compute_loo=True)],
    ids=["NaiveBayes", "GaussianNB"],
)
def test_every_path_gives_the_same_model(make: Any, tmp_path: Path) -> None:
    X, y, groups = visits(0)
    once = make().fit(X, y, groups=groups)
    order = np.random.default_rng(3).permutation(len(y))
    parts = np.array_split(order, 4)
    chunked = make().fit((X[rows], y[rows], None, groups[rows]) for rows in parts)
    several = make()
    for rows in parts:
        several.partial_fit(X[rows], y[rows], groups=groups[rows])
    halves = [make().fit(X[rows], y[rows], groups=groups[rows]) for rows in np.array_split(order, 2)]
    extra, of_extra = X[:5] + 1.0, [1000] * 5
    forgotten = make().fit(np.vstack([X, extra]), np.append(y, y[:5]), groups=[*groups, *of_extra])
    forgotten.forget(extra[:3], y[:3], groups=of_extra[:3]).forget(extra[3:], y[3:5])  # the group may be left out
    once.save(tmp_path / "model.candide", sample=True)
    loaded = candide.load(tmp_path / "model.candide")
    for model in (chunked, several.refit(), candide.merge(halves).refit(), forgotten.refit(), loaded, loaded.refit()):
        np.testing.assert_allclose(model.predict_proba(X), once.predict_proba(X), atol=1e-9)
        assert model.loo_.log_loss == pytest.approx(once.loo_.log_loss, abs=1e-9)


def test_groups_by_the_name_of_their_column(tmp_path: Path) -> None:
    X, y, groups = visits(0)
    X_new, y_new, own = visits(1)
    columns, names = pd.DataFrame(X, columns=list("abcd")), np.where(y, "ill", "well")
    frame, path = columns.assign(patient=groups, state=names), tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    once = NaiveBayes(order=0).fit(columns, names, groups=groups)
    half = frame.iloc[::2]
    models = {
        "frame": NaiveBayes(order=0).fit(frame, "state", groups="patient"),
        "dict": NaiveBayes(order=0).fit(frame.to_dict("list"), "state", groups="patient"),
        "chunks": NaiveBayes(order=0).fit(iter([(frame, "state", None, "patient")])),
        "file": NaiveBayes(order=0).fit(candide.read(path, label="state", groups="patient")),
        "lazy": NaiveBayes(order=0).fit(pa.table(frame).to_reader(), "state", groups="patient"),
        "updated": NaiveBayes(order=0)
        .fit(half, "state", groups="patient")
        .partial_fit(frame.iloc[1::2], "state", groups="patient")
        .partial_fit(half, "state", groups="patient")
        .forget(half, "state", groups="patient")
        .refit(),
    }
    new = pd.DataFrame(X_new, columns=list("abcd")).assign(patient=own, state=np.where(y_new, "ill", "well"))
    for name, model in models.items():
        assert model.n_features_in_ == 4, name
        assert model.loo_.log_loss == pytest.approx(once.loo_.log_loss, abs=1e-9), name
        for rows in (new, new[list("abcd")]):
            np.testing.assert_allclose(model.predict_proba(rows), once.predict_proba(new[list("abcd")]), atol=1e-9)
    model = models["frame"]
    alone, together = model.evaluate(new, "state"), model.evaluate(new, "state", groups="patient")
    assert together.log_loss_error > 1.5 * alone.log_loss_error
    found = model.leave_one_out(frame, "state", groups="patient")
    np.testing.assert_allclose(found, model.leave_one_out(columns, names, groups=groups))
    # A file has the groups of training if it has their column.
    new.to_csv(tmp_path / "new.csv", index=False)
    from_file = models["file"].evaluate(candide.read(tmp_path / "new.csv"))
    assert from_file.log_loss_error == pytest.approx(together.log_loss_error)
    assert models["file"].schema_["role"].tolist() == ["feature"] * 4 + ["label", "groups"]
    models["file"].set_params(absent="missing").predict(new[["a", "b", "patient"]])


def test_groups_by_name_in_other_models() -> None:
    X, y, groups = visits(0)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(patient=groups)
    model = GaussianNB(compute_loo=True).fit(frame, y, groups="patient")
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.loo_.log_loss == GaussianNB(compute_loo=True).fit(X, y, groups=groups).loo_.log_loss
    with pytest.raises(InputError, match="groups is 'patient', a column name, but X is a ndarray"):
        model.evaluate(X, y, groups="patient")


def test_a_column_that_names_groups_gets_no_weight() -> None:
    X, y, groups = visits(0)
    frame = pd.DataFrame({"patient": [f"patient {g}" for g in groups], "x": X[:, 0]})
    alone, together = (NaiveBayes(order=0).fit(frame, y, groups=own) for own in (None, groups))
    new = pd.DataFrame({"patient": "another", "x": visits(1)[0][:, 0]})
    assert alone.loo_.log_loss < 0.1
    with pytest.warns(UserWarning, match="none of 360 rows has a known"):
        assert log_loss(together, new, visits(1)[1]) == pytest.approx(together.loo_.log_loss, abs=0.15)


def test_a_sample_keeps_whole_groups() -> None:
    X, y, groups = visits(0)
    hashes = group_hashes(groups, len(y))
    kept = Sample.of(Dense.of(X), np.zeros(len(y), dtype=np.int32), None, 1, budget=Budget(32 * 100), groups=hashes)
    assert kept.groups is not None
    sizes = np.bincount(kept.groups)
    assert 90 < len(kept.groups) <= 100
    assert (np.sort(sizes)[1:] == SIZE).all()


def test_texts_without_labels() -> None:
    texts, y, groups = threads(0)
    some = np.where(np.arange(len(y)) % 3 == 0, None, y.astype(object))
    alone, together = (TextNB(unlabeled="em", compute_loo=True).fit(texts, some, groups=own) for own in (None, groups))
    # Of a thread that is left out, nothing but common words tells the class.
    assert alone.loo_.log_loss < 0.3 < 0.4 < together.loo_.log_loss


@pytest.mark.parametrize("groups", [[1, 2], [[1], [2], [3]]])
def test_groups_of_another_length_are_refused(groups: Any) -> None:
    with pytest.raises(InputError, match="pass one group per row"):
        GaussianNB().fit([[1.0], [2.0], [3.0]], [0, 1, 0], groups=groups)


def test_one_group_alone_cannot_leave() -> None:
    X, y, _ = visits(0)
    whole, plain = (NaiveBayes(order=0).fit(X, y, groups=groups) for groups in (np.zeros(len(y)), None))
    np.testing.assert_allclose(whole.predict_proba(X), plain.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(), NaiveBayes(order=0), NaiveBayes(stacking=None, calibrate=None),
        NaiveBayes(columns={"x0": "bins"}), NaiveBayes(subsample=0), GaussianNB(calibrate="platt"), TextNB(),
    ],
    ids=str,
)  # fmt: skip
def test_files_and_workers_keep_what_was_chosen_by_groups(model: Any, tmp_path: Path) -> None:
    make = threads if isinstance(model, TextNB) else visits
    (X, y, groups), (new, *_) = make(0), make(1)
    if isinstance(model, NaiveBayes):
        X, new = ({f"x{j}": column for j, column in enumerate(table.T)} for table in (X, new))
    model.fit(X, y, groups=groups)
    model.save(tmp_path / "m.candide")
    loaded, expected = candide.load(tmp_path / "m.candide"), model.predict_proba(new)
    np.testing.assert_array_equal(loaded.predict_proba(new), expected)
    np.testing.assert_array_equal(candide.from_json(model.to_json()).predict_proba(new), expected)
    np.testing.assert_array_equal(model.model_.for_workers().predict_proba(new), expected)
    if isinstance(model, NaiveBayes):
        np.testing.assert_array_equal(loaded.summary()["bits"][:4], model.summary()["bits"][:4])
        loaded.partial_fit({name: column[:2] for name, column in X.items()}, y[:2])  # its choices are in a file again
        loaded.save(tmp_path / "again.candide")
        again = candide.load(tmp_path / "again.candide").predict_proba(new)
        np.testing.assert_array_equal(again, loaded.predict_proba(new))


def customers(seed: int, n: int) -> pd.DataFrame:
    """Four rows of each customer, which differ little."""
    rng = np.random.default_rng(seed)
    churn, mood = rng.permutation(np.arange(n) % 2), rng.normal(size=(n, 2))
    age, calls = 45 + 15 * mood[:, :1], rng.poisson(2 + 1.5 * churn[:, None], (n, 4))
    spend = np.exp(3 + mood[:, 1:] + 0.1 * rng.normal(size=(n, 4)))
    cells = {"spend": spend, "age": np.rint(age), "calls": calls, "label": churn[:, None], "of": np.arange(n)[:, None]}
    return pd.DataFrame({name: np.broadcast_to(column, (n, 4)).ravel() for name, column in cells.items()})


def test_a_report_counts_groups(tmp_path: Path) -> None:
    table, model = customers(0, 100), NaiveBayes(order=0)
    found = model.fit(table, y="label", groups="of").report(X=customers(1, 20), y="label", groups="of")
    expected = model.evaluate(customers(1, 20), "label", groups="of")
    assert found.given is not None
    assert found.given.report.accuracy_error == expected.accuracy_error
    assert found.given.report.log_loss_error == expected.log_loss_error
    assert "trained without the rows of its group" in found.html()
    table.to_csv(tmp_path / "rows.csv", index=False)
    customers(1, 20).to_csv(tmp_path / "later.csv", index=False)
    done("train", tmp_path / "rows.csv", "--label", "label", "--groups", "of", "-o", tmp_path / "m.candide")
    report = json.loads(done("report", tmp_path / "m.candide", "--data", tmp_path / "later.csv", "--json").out)
    evaluation = json.loads(done("evaluate", tmp_path / "m.candide", tmp_path / "later.csv", "--json").out)
    assert report["data"]["accuracy_error"] == evaluation["accuracy_error"]


def test_new_customers_are_no_drift() -> None:
    for seed in range(8):
        model = NaiveBayes(order=0, stacking=None, calibrate=None).fit(customers(seed, 100), y="label", groups="of")
        found = model.report(X=customers(50 + seed, 20), y="label", groups="of")
        assert found.given is not None
        assert not found.given.between_halves + found.given.since_training


def test_evaluate_tells_the_groups(tmp_path: Path) -> None:
    customers(0, 60).to_csv(tmp_path / "rows.csv", index=False)
    customers(1, 20).drop(columns="of").to_csv(tmp_path / "later.csv", index=False)
    done("train", tmp_path / "rows.csv", "--label", "label", "--groups", "of", "-o", tmp_path / "m.candide", "-q")
    assert "groups: of)" in done("evaluate", tmp_path / "m.candide", tmp_path / "rows.csv").out
    assert "rows count as independent, because column 'of'" in done(
        "evaluate", tmp_path / "m.candide", tmp_path / "later.csv"
    ).err.replace("\n", " ")
