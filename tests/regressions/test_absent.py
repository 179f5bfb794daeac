"""Columns that are not given at prediction must not bias the answer."""

from __future__ import annotations

import copy
import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference import ReferenceKernels
from tiers import late
from typer.testing import CliRunner

import candide
from candide import NaiveBayes
from candide.data.columns import Records
from candide.kernels import Kernels
from candide.model import given
from candide.stacking.covariance import covariances, fit_coordinates
from candide.stacking.views import BinnedRows, LabeledRows

duckdb = late("duckdb")

N_ROWS = 400


@cache
def _drawn(seed: int = 0, n_rows: int = N_ROWS) -> tuple[pd.DataFrame, Any]:
    """A rare class; columns that share what they tell, one that tells nothing, one with nulls of a meaning."""
    rng = np.random.default_rng(seed)
    rare = rng.random(n_rows) < 0.2
    message = 1.5 * rare + rng.normal(size=n_rows)
    frame = pd.DataFrame(
        {
            "age": message + 0.3 * rng.normal(size=n_rows),
            "hours": message + 0.3 * rng.normal(size=n_rows),
            "noise": rng.normal(size=n_rows),
            "job": np.where(rng.random(n_rows) < np.where(rare, 0.8, 0.3), "smith", "cook"),
            "debt": np.where(rng.random(n_rows) < np.where(rare, 0.6, 0.1), np.nan, rng.normal(size=n_rows)),
        }
    )
    return frame, np.where(rare, "yes", "no")


@cache
def _fitted(**settings: Any) -> NaiveBayes:
    return NaiveBayes(absent="missing", compute_loo=False, **settings).fit(*_drawn())


def _fresh() -> tuple[pd.DataFrame, Any]:
    return _drawn(1, 300)


def _loss(model: NaiveBayes, rows: pd.DataFrame, y: Any) -> float:
    shares = model.predict_proba(rows)
    return float(-np.log(shares[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean())


@cache
def _alone(*columns: str) -> NaiveBayes:
    """A model that never had the other columns."""
    return NaiveBayes(compute_loo=False).fit(_drawn()[0][list(columns)], _drawn()[1])


COLUMNS = [["age"], ["age", "noise"], ["age", "job", "debt"], ["hours", "noise", "job", "debt"], ["noise"]]


@pytest.mark.parametrize("columns", COLUMNS, ids=",".join)
def test_columns_not_given_leave_the_model_of_the_others(columns: list[str]) -> None:
    rows = _fresh()[0][columns]
    alone = _alone(*columns)
    np.testing.assert_allclose(_fitted().predict_proba(rows), alone.predict_proba(rows), rtol=0, atol=0.01)


def test_a_copy_that_is_not_given_is_as_if_it_had_never_been() -> None:
    frame, y = _drawn()
    both = NaiveBayes(absent="missing", compute_loo=False).fit(frame.assign(age_again=frame["age"]), y)
    rows = _fresh()[0]
    np.testing.assert_allclose(both.predict_proba(rows), _fitted().predict_proba(rows), rtol=0, atol=0.01)


def test_columns_not_given_do_not_decide_which_rows_are_looked_at() -> None:
    """Of more than 500 rows, some choices are made on 500, evenly spaced in the order of their hashes."""
    frame, y = _drawn(2, 1_200)
    columns = ["age", "job"]
    rows, copied = _fresh()[0][columns], frame[columns].assign(again=frame[columns[0]])
    alone = NaiveBayes(compute_loo=False).fit(frame[columns], y).predict_proba(rows)
    for table in (frame, copied):
        model = NaiveBayes(absent="missing", compute_loo=False).fit(table, y)
        np.testing.assert_allclose(model.predict_proba(rows), alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize("columns", COLUMNS, ids=",".join)
def test_models_without_rows_stay_close(columns: list[str]) -> None:
    rows, y = _fresh()
    alone = _alone(*columns)
    model = _fitted(subsample=0)
    assert _loss(model, rows[columns], y) < _loss(alone, rows[columns], y) + 0.03
    # Far from the answer of 0.1.0, which was up to .35 instead of .2.
    assert abs(model.predict_proba(rows[columns])[:, 1].mean() - 0.2) < 0.06


@pytest.mark.parametrize("subsample", ["auto", 0])
@pytest.mark.parametrize(
    "settings", [{}, {"calibrate": "platt"}, {"stacking": None}, {"class_prior": [0.5, 0.5]}], ids=str
)
def test_no_cells_give_the_class_prior(settings: dict[str, Any], subsample: Any) -> None:
    names, y = ["age", "job"], _drawn(0, 120)[1]
    model = NaiveBayes(absent="missing", compute_loo=False, subsample=subsample, **settings)
    model.fit(_drawn(0, 120)[0][names], y)
    nothing = Records({name: [None] for name in names}, {name: np.array([True]) for name in names})
    prior = settings.get("class_prior", [np.mean(y == "no"), np.mean(y == "yes")])
    np.testing.assert_allclose(model.predict_proba(nothing)[0], prior, rtol=0, atol=1e-12)


def test_null_cells_of_columns_without_nulls_in_training_are_not_given() -> None:
    rows = _fresh()[0].drop(columns="debt").assign(debt=0.1)
    model = _fitted(subsample=0)
    empty = rows.assign(age=np.nan, job=None)
    np.testing.assert_array_equal(model.predict_proba(empty), model.predict_proba(rows.drop(columns=["age", "job"])))


def test_nulls_that_were_learned_keep_their_meaning() -> None:
    rows = _fresh()[0].assign(debt=np.nan)
    for model in (_fitted(), _fitted(subsample=0)):
        null, absent = model.predict_proba(rows), model.predict_proba(rows.drop(columns="debt"))
        assert null[:, 1].mean() > 1.5 * absent[:, 1].mean()


def test_complete_rows_have_the_weights_of_complete_rows() -> None:
    rows = _fresh()[0]
    some = rows.copy()
    some.loc[::2, "age"] = np.nan
    model = _fitted()
    whole = model.predict_proba(rows)
    np.testing.assert_allclose(model.predict_proba(some)[1::2], whole[1::2], rtol=0, atol=1e-14)
    own = model.model_.classifier.fitted
    without = replace(own, views=replace(own.views, partial=None))
    scores = without.views.scores(
        model.model_.classifier.likelihood, model.model_.read(rows), model.model_.classifier.scorer.offset, Kernels(1)
    )
    shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(shares, whole, rtol=0, atol=1e-14)


def test_a_row_does_not_depend_on_the_others() -> None:
    """Records that omit different columns, some of them none, together and one by one."""
    rows = _fresh()[0][:12]
    omitted = {name: np.arange(12) % 5 == j for j, name in enumerate(rows)}
    cells = {
        name: [None if out else cell for cell, out in zip(rows[name], omitted[name], strict=True)] for name in rows
    }
    together = _fitted().predict_proba(Records(cells, omitted))
    for i in range(12):
        one = Records({name: own[i : i + 1] for name, own in cells.items()}, {n: o[[i]] for n, o in omitted.items()})
        np.testing.assert_allclose(_fitted().predict_proba(one)[0], together[i], rtol=0, atol=1e-12)


def test_beyond_the_number_of_patterns_rows_have_the_cheap_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "MOST_PATTERNS", 1)
    rows = _fresh()[0][:3]
    omitted = {name: np.zeros(3, dtype=bool) for name in rows}
    omitted["age"], omitted["job"] = np.array([True, True, False]), np.array([False, False, True])
    cells = {
        name: [None if out else cell for cell, out in zip(rows[name], omitted[name], strict=True)] for name in rows
    }
    found = _fitted().predict_proba(Records(cells, omitted))
    exact = _fitted().predict_proba(rows[:2].drop(columns="age"))
    np.testing.assert_allclose(found[:2], exact, rtol=0, atol=1e-12)
    cheap = _fitted(subsample=0).predict_proba(rows[2:].drop(columns="job"))
    np.testing.assert_allclose(found[2:], cheap, rtol=0, atol=1e-9)


def test_models_of_some_columns_are_no_part_of_the_model() -> None:
    model = NaiveBayes(absent="missing", compute_loo=False).fit(*_drawn(0, 100))
    before = len(pickle.dumps(model))
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(model.predict_proba, [_fresh()[0][["age", "job"]]] * 4))
    assert all(np.array_equal(answers[0], other) for other in answers)
    assert len(pickle.dumps(model)) == before
    held = given._CACHE._models
    assert any(key == id(model.model_.classifier) for key, _ in held)
    key = id(model.model_.classifier)
    del model
    assert all(other != key for other, _ in held)


def test_weights_for_rows_that_lack_columns_are_stored(tmp_path: Path) -> None:
    model, rows = _fitted(subsample=0), _fresh()[0][["age", "job"]]
    model.save(tmp_path / "model.candide")
    again = candide.load(tmp_path / "model.candide")
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))


@pytest.mark.parametrize("subsample", ["auto", 0])
def test_what_is_not_given_has_no_part_in_explanations(subsample: Any) -> None:
    model, rows = _fitted(subsample=subsample), _fresh()[0][:3]
    for some in (rows[["age", "debt"]], rows.assign(age=np.nan)):
        for explanation, shares in zip(model.explain(some), model.predict_proba(some), strict=True):
            named = {term.column for term in explanation.terms if term.kind == "cell"}
            assert named <= set(some) - ({"age"} if some["age"].isna().all() else set())
            scores = np.sum([term.scores for term in explanation.terms], axis=0)
            whole = np.exp(scores - np.logaddexp.reduce(scores))
            np.testing.assert_allclose(whole, shares, rtol=0, atol=1e-9)


def test_a_student_t_without_some_columns_is_marginal() -> None:
    """Beside the density of the remaining columns by its definition."""
    from scipy.stats import multivariate_t

    rng = np.random.default_rng(0)
    classes, points = rng.integers(0, 2, 80).astype(np.int32), rng.normal(size=(80, 3))
    binned = BinnedRows(np.zeros((80, 3), dtype=np.int32), points)
    cases = LabeledRows(binned, classes, np.ones(80), np.ones(80))
    _, coordinates = fit_coordinates(range(3), [np.ones(4)] * 3, cases, 2)
    view = covariances("covariance", coordinates, cases, 2)[0]
    lacking = rng.random((80, 3)) < 0.4
    scores = view.scores(binned._replace(without=lacking), Kernels(1))
    at = coordinates.points(binned)
    for i, given_ in enumerate(~lacking):
        own = []
        for k in range(2):
            freedom, size = 2 + view.strength + view.moments.weight[k], view.size(view.moments.weight[k])
            scale = view.scales()[k][np.ix_(given_, given_)] / (size.shrink * freedom)
            if given_.any():
                own.append(multivariate_t(view.means[k][given_], scale, df=freedom).logpdf(at[i, given_]))
        difference = np.diff(own)[0] if own else 0.0
        assert scores[i, 1] - scores[i, 0] == pytest.approx(difference, abs=1e-9)


def test_slots_that_are_not_given_are_passed_over() -> None:
    """By both kernels, and as if their columns had never been."""
    rng = np.random.default_rng(0)
    frame, y = _drawn()
    model = _alone("age", "hours", "noise", "job")
    views = model.model_.classifier.fitted.views
    data = model.model_.read(frame[["age", "hours", "noise", "job"]][:60])
    absent = rng.random((60, 4)) < 0.4
    binned = views.binning.transform(data.with_absent(absent), Kernels(1))
    classes, weight = np.searchsorted(model.classes_, y[:60]).astype(np.int32), np.ones(60)
    for view in (view for view in views.views if hasattr(view, "log_table")):
        for score in (view.scores, lambda *rest, v=view: v.left_out(rest[0], classes, weight, rest[1])):
            np.testing.assert_allclose(score(binned, Kernels(2)), score(binned, ReferenceKernels()), rtol=0, atol=1e-9)
    one = views.views[0]
    slots = one.merged.slots(binned.codes)
    for i, row in enumerate(slots):
        here = row[row >= 0]
        logs = one.log_table[np.ix_(here, here)][..., :2].sum(axis=1)
        expected = np.logaddexp.reduce(logs, axis=0) - np.log(len(here)) if len(here) else np.zeros(2)
        np.testing.assert_allclose(one.scores(binned, Kernels(1))[i], expected, rtol=0, atol=1e-9)


def _lacking_rows() -> pd.DataFrame:
    """Without each set of columns that may be not given."""
    rows = _fresh()[0][:16].reset_index(drop=True)
    for j, name in enumerate(["age", "hours", "noise", "job"]):
        rows.loc[(np.arange(16) >> j) % 2 == 1, name] = None
    return rows


def _by_sqlite(query: str, rows: pd.DataFrame) -> pd.DataFrame:
    connection = sqlite3.connect(":memory:")
    rows.assign(id=np.arange(len(rows))).to_sql("rows", connection, index=False)
    found = pd.read_sql(query, connection)
    connection.close()
    return found.sort_values("id", ignore_index=True)


def test_queries_give_the_same_to_rows_that_lack_columns() -> None:
    rows = _lacking_rows()
    found = _by_sqlite(_fitted().to_sql("sqlite"), rows)[["p(no)", "p(yes)"]].to_numpy(np.float64)
    np.testing.assert_allclose(found, _fitted().predict_proba(rows), rtol=0, atol=1e-9)


@pytest.mark.onnx
def test_graphs_give_the_same_to_rows_that_lack_columns() -> None:
    import onnxruntime as ort

    rows = _lacking_rows()
    session = ort.InferenceSession(_fitted().to_onnx().SerializeToString())
    cells = {
        name: rows[[name]].fillna("").to_numpy(object) if name == "job" else rows[[name]].to_numpy(np.float64)
        for name in rows
    }
    found = session.run(["probabilities"], {each.name: cells[each.name] for each in session.get_inputs()})[0]
    np.testing.assert_allclose(found, _fitted().predict_proba(rows), rtol=0, atol=1e-6)


def _by_duckdb(query: str, rows: pd.DataFrame) -> pd.DataFrame:
    connection = duckdb.connect()
    connection.register("rows", rows.assign(id=np.arange(len(rows))))
    found = connection.sql(query).df()
    connection.close()
    return found.sort_values("id", ignore_index=True)


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, Any]:
    """A model whose exports have room for complete rows alone, rows, and which of them are not complete."""
    from candide.export.onnx import views as graphs
    from candide.export.sql import absent

    def only_complete(cells: int, may_lack: Any, *_: Any) -> list[Any]:
        return [np.ones(len(may_lack), dtype=bool)]

    model, rows = copy.deepcopy(_fitted()), _lacking_rows()
    own = model.model_.classifier.fitted_without_rows
    weights = np.full_like(own.views.weights.weight, 0.2)
    mixture = replace(own.views.weights, weight=weights)
    partial = replace(own.views.partial, near=weights, far=weights)
    model.model_.classifier.__dict__["fitted_without_rows"] = replace(
        own, views=replace(own.views, weights=mixture, partial=partial)
    )
    for module in (absent, graphs):
        monkeypatch.setattr(module, "marginal_patterns", only_complete)
    return model, rows, rows[["age", "hours", "noise"]].isna().any(axis=1)


def test_queries_that_have_no_room_answer_nothing(no_room: tuple[Any, Any, Any]) -> None:
    """Rather than something else."""
    model, rows, lacking = no_room
    for found in (_by_sqlite(model.to_sql("sqlite"), rows), _by_duckdb(model.to_sql("duckdb"), rows)):
        assert found["prediction"].isna().tolist() == lacking.tolist()
        assert found["p(yes)"].isna().tolist() == lacking.tolist()


@pytest.mark.onnx
def test_graphs_that_have_no_room_answer_nothing(no_room: tuple[Any, Any, Any]) -> None:
    import onnxruntime as ort

    model, rows, lacking = no_room
    session = ort.InferenceSession(model.to_onnx().SerializeToString())
    cells = {
        name: rows[[name]].fillna("").to_numpy(object) if name == "job" else rows[[name]].to_numpy(np.float64)
        for name in rows
    }
    shares = session.run(["probabilities"], {each.name: cells[each.name] for each in session.get_inputs()})[0]
    assert np.isnan(shares).all(axis=1).tolist() == lacking.tolist()


def test_records_of_the_command_line_omit_columns(tmp_path: Path) -> None:
    from candide.cli.app import app

    rows = _fresh()[0][:1]
    _fitted().save(tmp_path / "model.candide")
    model = candide.load(tmp_path / "model.candide")
    given_, expected = f'{{"age": {rows["age"][0]}}}', model.predict_proba(rows[["age"]])[0]
    found = CliRunner().invoke(app, ["classify", str(tmp_path / "model.candide"), given_])
    assert found.exit_code == 0, found.output
    assert found.stdout.split() == [["no", "yes"][expected.argmax()], f"{expected.max():.4f}"]
    explained = CliRunner().invoke(app, ["explain", str(tmp_path / "model.candide"), given_])
    assert "age" in explained.stdout
    assert "None" not in explained.stdout
