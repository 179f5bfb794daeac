"""Tables in onnxruntime: families of columns, stacked views, dates, missing cells and unseen categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties.tables import SETTINGS, fit, mixed, repeated_values
from sklearn.datasets import load_iris
from tiers import every, late, tries

from candide import NaiveBayes
from candide.exceptions import ParameterError
from candide.families import MultivariateNormal
from candide.priors import NormalInverseWishart
from candide.stacking.cell_regression import CellRegression

from .running import CLOSE_WAVES, assert_same, feeds_of, session_of

pytestmark = pytest.mark.onnx
onnx = late("onnx")
X, Y = load_iris(return_X_y=True)
PLAIN = {"stacking": None, "calibrate": None}
FRAME, LABELS = mixed(160)
ASKED, _ = mixed(40, seed=7)
ASKED.loc[:4, "job"] = "pilot"
ASKED.loc[3:8, "age"] = [1e6, -1e6, np.nan, 0.0, 29.95, 31.0]
ASKED["visits"] = ASKED["visits"] + np.arange(40) // 4


@pytest.mark.filterwarnings("ignore:column")
@pytest.mark.parametrize("how", list(SETTINGS))
def test_settings(how: str) -> None:
    model = fit(FRAME, LABELS, **SETTINGS[how])
    assert_same(model, FRAME, CLOSE_WAVES)
    assert_same(model, ASKED, CLOSE_WAVES)
    assert_same(model.with_class_prior([0.7, 0.2, 0.1]), ASKED, CLOSE_WAVES)
    onnx.checker.check_model(model.to_onnx(), full_check=True)


NUMBERS = ["gaussian", "student", "lognormal", "power", "kernel", "bins", "poisson",
           ("bins", {"method": "mdlp"}), ("bins", {"method": "proportional"}), ("categorical", {"unseen": "smooth"}),
           "categorical"]  # fmt: skip


@every("missing", ["ignore", "category"])
@pytest.mark.parametrize("family", NUMBERS, ids=str)
def test_families_of_numbers(family: Any, missing: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.poisson(3 + 2 * Y).astype(float) + (0.0 if family == "poisson" else 1.0)
    x[::9] = np.nan
    model = NaiveBayes(family, missing=missing, **PLAIN).fit({"x": x, "z": rng.poisson(3, 150) + 1.0}, Y)
    asked = {"x": np.r_[x[:50], -3.0, 0.0, 0.5, 2.0, 100.0], "z": np.r_[x[5:55], np.full(5, np.nan)]}
    assert_same(model, asked)


@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize("missing", ["ignore", "category", "auto"])
@pytest.mark.filterwarnings("ignore:column")
def test_families_of_categories(missing: str, unseen: str) -> None:
    frame = FRAME[["job", "member"]].assign(code=pd.Categorical(np.arange(160) % 5), level=np.arange(160) % 3)
    model = fit(frame, LABELS, columns={"level": "categorical"}, missing=missing, unseen=unseen, **PLAIN)
    asked = frame[:30].assign(job=["pilot", None, "cook"] * 10, level=np.arange(30) % 7)
    assert_same(model, asked)


def test_powers_of_numbers_below_zero() -> None:
    skewed = np.random.default_rng(0).gamma(1.0, size=150) * (1 + Y) - 1.0
    model = NaiveBayes("power", **PLAIN).fit({"x": skewed}, Y)
    assert_same(model, {"x": np.r_[skewed, -5.0, 50.0]})


@pytest.mark.parametrize("calibrate", ["temperature", "platt", "beta", "isotonic"])
def test_calibrations(calibrate: str) -> None:
    assert_same(fit(FRAME, LABELS, calibrate=calibrate, stacking=None), ASKED.assign(job="cook"))
    assert_same(fit(FRAME, LABELS, calibrate=calibrate, order=0), ASKED.assign(job="cook"))


def test_dates_are_days_since_1970() -> None:
    """Month, weekday and hour are made of them in the graph."""
    rng = np.random.default_rng(5)
    when = np.datetime64("1969-01-01T00:00:00", "s") + rng.integers(0, 10**9 * 2, 300).astype("timedelta64[s]")
    months = when.astype("datetime64[M]").astype(int) % 12
    hours = when.astype("datetime64[h]").astype(int) % 24
    y = (months + hours // 6) % 3
    model = NaiveBayes(**PLAIN).fit({"when": when, "x": rng.normal(size=300)}, y)
    assert {"when.month", "when.weekday", "when.hour"} <= set(model.summary()["column"])
    later = np.datetime64("2000-02-28T23:00:00", "s") + (np.arange(500) * 3600 * 5).astype("timedelta64[s]")
    asked = {"when": np.r_[when, later, np.datetime64("NaT")], "x": np.zeros(801)}
    assert "when.month" not in [info.name for info in model.to_onnx().graph.input]
    assert_same(model, asked)


def test_columns_that_are_called_as_parts_of_dates() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "a.month": np.array(["u", "v", "w"])[(Y + np.arange(150) % 2) % 3]})
    model = NaiveBayes(**PLAIN).fit(frame, Y)
    assert [info.name for info in model.to_onnx().graph.input] == ["a", "a.month"]
    assert_same(model, frame)


@pytest.mark.parametrize("estimate", ["mle", "mean", "predictive"])
def test_blocks(estimate: str) -> None:
    prior = None if estimate == "mle" else NormalInverseWishart(np.zeros(3), 1.0, 5.0, np.eye(3))
    block = MultivariateNormal(prior, estimate)
    holes = np.where(np.arange(600).reshape(150, 4) % 5 == 0, np.nan, X)
    frame, asked = (pd.DataFrame(cells, columns=list("abcd")) for cells in (X, holes))
    columns = {("a", "b", "c"): block}
    assert_same(NaiveBayes(columns, **PLAIN).fit(frame, Y), asked)
    assert_same(NaiveBayes({("a", "b", "c", "d"): "multinomial"}, **PLAIN).fit(frame, Y), asked)


def test_blocks_in_a_blend() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert_same(NaiveBayes({("a", "b"): "multivariate_normal"}, n_threads=1).fit(frame, Y), frame, CLOSE_WAVES)


def test_many_classes_and_one() -> None:
    which = np.arange(150) // 5
    frame = pd.DataFrame({"x": which + X[:, 0], "z": X[:, 1] * which, "w": np.array(list("abcdefg"))[which % 7]})
    assert_same(fit(frame, which, order=1), frame)
    for how in SETTINGS.values():
        assert_same(fit(frame, np.zeros(150), **how), frame)


@pytest.mark.parametrize("how", ["plain", "columns", "all"])
def test_columns_that_tell_nothing(how: str) -> None:
    """Every graph has an input, if only to tell how many rows there are."""
    rng = np.random.default_rng(2)
    for table in ({"x": np.ones(60), "z": rng.normal(size=60)}, {"w": ["a"] * 60}, {"x": np.ones(60)}):
        model = fit(table, np.arange(60) % 2, **SETTINGS[how])
        proto = model.to_onnx()
        assert len(proto.graph.input) >= 1
        assert_same(model, table, CLOSE_WAVES)


def test_arrays_without_names() -> None:
    model = NaiveBayes(order=1, n_threads=1).fit(X, Y)
    assert [info.name for info in model.to_onnx().graph.input] == ["0", "1", "2", "3"]
    assert_same(model, X)


def test_columns_that_have_no_weight_are_no_inputs() -> None:
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=1.0, f="x")
    names = [info.name for info in fit(frame, Y, columns={"b": "ignore"}).to_onnx().graph.input]
    assert names == ["a", "c", "d"]


@tries(25)
@given(data=st.data())
def test_any_small_table(data: Any) -> None:
    n = data.draw(st.integers(3, 12))
    numbers = st.lists(st.sampled_from([None, -2.5, 0.0, 1.0, 2.0, 7.25]), min_size=n, max_size=n)
    words = st.lists(st.sampled_from([None, "a", "b", "é c"]), min_size=n, max_size=n)
    table = {"x": data.draw(numbers), "w": data.draw(words), "z": data.draw(numbers)}
    frame = pd.DataFrame(
        {name: pd.Series(cells, dtype=object if name == "w" else float) for name, cells in table.items()}
    )
    y = data.draw(st.lists(st.sampled_from(["u", "v"]), min_size=n, max_size=n))
    how = SETTINGS[data.draw(st.sampled_from(["plain", "calibrated", "columns", "pairs"]))]
    model = fit(frame, y, compute_loo=False, **how)
    assert_same(model, frame)


def test_a_model_from_a_file_and_one_that_learned_on() -> None:
    import candide

    model = fit(FRAME[:120], LABELS[:120])
    model.partial_fit(FRAME[120:], LABELS[120:])
    again = candide.from_json(model.to_json())
    assert_same(model, FRAME, CLOSE_WAVES)
    assert_same(again, FRAME, CLOSE_WAVES)


def test_what_has_no_graph_is_refused() -> None:
    texts = [f"the {word} is at noon and we all meet there again" for word in "abcdefghij"] * 6
    frame = pd.DataFrame({"x": np.arange(60.0), "t": texts})
    with pytest.raises(ParameterError, match=r"'t' contains texts.*ignore"):
        fit(frame, np.arange(60) % 2, columns={"t": "text"}, **PLAIN).to_onnx()
    with pytest.raises(ParameterError, match="'t' contains texts"):
        fit(frame, np.arange(60) % 10 < 5, columns={"t": "text"}).to_onnx()


def test_no_rows_at_all() -> None:
    proto = fit(FRAME, LABELS).to_onnx()
    label, probabilities = session_of(proto).run(None, feeds_of(proto, FRAME[:0]))
    assert label.shape == (0,)
    assert probabilities.shape == (0, 3)


def test_corrections_of_cells() -> None:
    model, rows = NaiveBayes().fit(*repeated_values()), repeated_values(60, seed=2)[0]
    assert isinstance(model.model_.classifier.fitted.views.views[-1], CellRegression)
    rows.loc[0, "job"] = "pilot"
    rows.loc[1, ["age", "gain"]] = 1e6, -1e6
    assert_same(model, rows, CLOSE_WAVES)
