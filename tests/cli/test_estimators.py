"""``candide train --estimator``: every estimator on a table, and every command on its model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest

import candide
from candide.specs import SPECS

from .terminal import done, run

RANDOM = np.random.default_rng(7)
N = 200
HIGH = RANDOM.integers(0, 2, N)
COLUMNS = {
    "numbers": {"a": RANDOM.normal(HIGH, 1.0).round(3), "b": RANDOM.normal(-HIGH, 2.0).round(3)},
    "counts": {"a": RANDOM.poisson(2 + HIGH), "b": RANDOM.poisson(3 - HIGH)},
    "flags": {"a": (RANDOM.random(N) < 0.3 + 0.4 * HIGH) * 1, "b": (RANDOM.random(N) < 0.5) * 1},
    "categories": {"a": np.where(HIGH, "red", "blue"), "b": RANDOM.choice(["x", "y"], N)},
}
# An estimator, the columns that it takes, and one of its settings.
CASES = {
    "GaussianNB": ("numbers", "variance=shared"),
    "BernoulliNB": ("flags", "alpha=0.5"),
    "CategoricalNB": ("categories", "alpha=0.5"),
    "ComplementNB": ("counts", "norm=true"),
    "MultinomialNB": ("counts", "alpha=0.5"),
    "PoissonNB": ("counts", "alpha=0.5"),
    "NaiveBayes": ("numbers", "stacking=null"),
}


def write_table(folder: Path, kind: str, begin: int = 0, end: int = N) -> Path:
    path = folder / f"{kind}{begin}_{end}.csv"
    table = pyarrow.table({**COLUMNS[kind], "pay": np.where(HIGH, "high", "low")}).slice(begin, end - begin)
    pyarrow.csv.write_csv(table, path)
    return path


@pytest.mark.parametrize("name", CASES)
def test_every_estimator_and_command(name: str, tmp_path: Path) -> None:
    kind, setting = CASES[name]
    rows, first, second = (write_table(tmp_path, kind, *part) for part in ((0, N), (0, 150), (150, N)))
    model = tmp_path / "m.candide"
    train = "--label", "pay", "--estimator", name, "--set", setting, "-o", model
    told = json.loads(done("train", rows, *train, "--json", "-q").out)
    assert (told["kind"], told["columns"], told["rows"]) == (name, ["a", "b"], N)
    assert told["leave_one_out"]["accuracy"] > 0.5
    loaded = candide.load(model)
    assert type(loaded).__name__ == name
    key, value = setting.split("=")
    assert getattr(loaded, key) == {"shared": "shared", "0.5": 0.5, "true": True, "null": None}[value]
    table = pyarrow.csv.read_csv(rows)
    X, y = table.select(["a", "b"]).to_pandas(), table["pay"].to_pylist()
    fitted = type(loaded)(**{key: getattr(loaded, key)}).fit(X, y)
    np.testing.assert_allclose(loaded.predict_proba(X), fitted.predict_proba(X))

    assert name in done("show", model, "--parameters").out
    assert json.loads(done("evaluate", model, rows, "--json", "-q").out)["accuracy"] == fitted.score(X, y)
    predicted = [
        json.loads(line)["prediction"] for line in done("predict", model, rows, "--json", "-q").out.split("\n")[:-1]
    ]
    assert predicted == fitted.predict(X).tolist()
    record = json.dumps({column: X[column].tolist()[0] for column in ("a", "b")})
    assert done("classify", model, record).out.split("\t")[0] == predicted[0]
    assert "prior" in done("explain", model, record).out
    assert "prior" in done("explain", model, rows, "--row", "2").out
    done("report", model, "--data", rows, "-o", tmp_path / "m.html", "-q")

    done("train", first, "--label", "pay", "--estimator", name, "--set", setting, "-o", model, "-q")
    done("update", model, second, "-q")
    if name != "NaiveBayes":  # what it fits is not fitted again without training rows
        np.testing.assert_allclose(candide.load(model).predict_proba(X), fitted.predict_proba(X))
    done("forget", model, second, "-q")
    assert candide.load(model).class_count_.sum() == 150


def test_all_estimators_are_listed() -> None:
    assert {*CASES, "TextNB"} == set(SPECS)
    shown = done("train", "--help").out
    assert all(name in shown for name in SPECS)


def test_a_text_column_and_the_estimators_for_tables(few: Path, tmp_path: Path) -> None:
    """A single text column is one column of a table to ``NaiveBayes``; the other way round, one is chosen."""
    done("train", few, "--estimator", "NaiveBayes", "-o", tmp_path / "m.candide", "-q")
    assert candide.load(tmp_path / "m.candide").feature_names_in_.tolist() == ["text"]
    done("train", few, "--estimator", "TextNB", "--model", "multinomial", "-o", tmp_path / "m.candide", "-q")
    assert candide.load(tmp_path / "m.candide").family == "multinomial"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--estimator", "GausianNB"], "--estimator is 'GausianNB'; expected one of BernoulliNB"),
        (["--estimator", "GausianNB"], "did you mean 'GaussianNB'?"),
        (["--estimator", "GaussianNB"], "job"),
        (["--estimator", "GaussianNB", "--columns", "age", "--set", "alpha=1"], "GaussianNB has no parameter 'alpha'"),
        (["--estimator", "GaussianNB", "--columns", "age=poisson"], "GaussianNB has one family for all columns"),
        (["--estimator", "GaussianNB", "--model", "bernoulli"], "but the estimator is GaussianNB; omit --model"),
        (["--estimator", "GaussianNB", "--columns", "age", "--refine"], "GaussianNB has no parameter 'refine'"),
        (["--estimator", "MultinomialNB", "--columns", "job"], "job"),
        (["--estimator", "TextNB"], "TextNB needs a single text column"),
    ],
)
def test_what_does_not_fit(people: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    ran = run("train", people, "--label", "pay", "-o", tmp_path / "m.candide", *arguments)
    assert ran.code == 1
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "m.candide").exists()
