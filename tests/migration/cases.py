"""What every estimator answered before the structure of the package changed.

``python -m tests.migration.cases`` records it, and ``test_migration.py`` compares. To be removed when the structure has
settled.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_iris, load_wine

import candide
from candide.kernels.layouts import Array

RECORDED = Path(__file__).parent / "expected.npz"
N_ANSWERS = 12


@cache
def _drawn() -> dict[str, Any]:
    """Rows of each kind, their labels and weights."""
    rng = np.random.default_rng(2026)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 90)]
    place = np.searchsorted(["a", "b", "c"], y)
    counts = rng.poisson(1.0 + 2.0 * (np.arange(6) % 3 == place[:, None])).astype(np.float64)
    numbers = rng.normal(size=(90, 4)) @ rng.normal(size=(4, 4)) + place[:, None]
    holes = np.where(rng.random(numbers.shape) < 0.15, np.nan, numbers)
    words = np.array(["win", "cash", "free", "lunch", "noon", "see", "vote", "storm", "team", "the", "a", "2026"])
    odds = np.where(np.arange(12) // 3 == place[:, None], 4.0, 1.0)
    texts = [" ".join(rng.choice(words, 9, p=own / own.sum())) for own in odds]
    frame = pd.DataFrame(
        {
            "x": numbers[:, 0],
            "y": holes[:, 1],
            "n": counts[:, 0].astype(int),
            "color": np.array(["red", "green", "blue", None], dtype=object)[(place + rng.integers(0, 3, 90)) % 4],
            "late": (rng.random(90) < 0.3 + 0.2 * place),
        }
    )
    weights = rng.integers(1, 5, 90).astype(np.float64)
    return {"y": y, "counts": counts, "numbers": numbers, "holes": holes, "texts": texts, "frame": frame, "w": weights}


def _of(name: str, make: Callable[[], Any], weighted: bool = False) -> tuple[Any, Any, Any]:
    data = _drawn()
    weight = data["w"] if weighted else None
    return make().fit(data[name], data["y"], sample_weight=weight), data[name], weight


def _taken(X: Any, rows: slice) -> Any:
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def _merged(name: str, make: Callable[[], Any]) -> tuple[Any, Any, Any]:
    data = _drawn()
    parts = [make().fit(_taken(data[name], rows), data["y"][rows]) for rows in (slice(0, 50), slice(50, 90))]
    return candide.merge(parts).refit(), data[name], None


def _forgotten(name: str, make: Callable[[], Any]) -> tuple[Any, Any, Any]:
    data = _drawn()
    model = make().fit(data[name], data["y"]).forget(_taken(data[name], slice(0, 20)), data["y"][:20]).refit()
    return model.partial_fit(_taken(data[name], slice(0, 20)), data["y"][:20]).refit(), data[name], None


def _saved(name: str, make: Callable[[], Any]) -> tuple[Any, Any, Any]:
    model, X, weight = _of(name, make)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.candide", sample=True)
        return candide.load(Path(folder) / "model.candide"), X, weight


def _bundled(load: Callable[..., Any], make: Callable[[], Any]) -> tuple[Any, Any, Any]:
    X, y = load(return_X_y=True, as_frame=True)
    keep = np.arange(len(y)) % 3 > 0
    return make().fit(X[keep], y[keep].to_numpy()), X[keep], None


def _sparse(make: Callable[[], Any]) -> tuple[Any, Any, Any]:
    data = _drawn()
    X = sparse.csr_array(data["counts"])
    return make().fit(X, data["y"]), X, None


def _codes() -> Array:
    return _drawn()["counts"].clip(0, 3).astype(int)


def _categorical(**settings: Any) -> tuple[Any, Any, Any]:
    return candide.CategoricalNB(**settings).fit(_codes(), _drawn()["y"]), _codes(), None


NB, T = candide.NaiveBayes, candide.TextNB
CASES: dict[str, Callable[[], tuple[Any, Any, Any]]] = {
    "gaussian": lambda: _of("numbers", candide.GaussianNB),
    "gaussian, missing, weights": lambda: _of("holes", candide.GaussianNB, weighted=True),
    "gaussian, predictive, beta": lambda: _of(
        "holes", lambda: candide.GaussianNB(estimate="predictive", calibrate="beta")
    ),
    "gaussian, shared, merged": lambda: _merged("numbers", lambda: candide.GaussianNB(variance="shared")),
    "gaussian, forgotten": lambda: _forgotten("numbers", lambda: candide.GaussianNB(calibrate="platt")),
    "gaussian, iris": lambda: _bundled(load_iris, candide.GaussianNB),
    "bernoulli": lambda: _of("counts", candide.BernoulliNB),
    "bernoulli, sparse": lambda: _sparse(lambda: candide.BernoulliNB(alpha="evidence")),
    "multinomial, weights": lambda: _of("counts", candide.MultinomialNB, weighted=True),
    "multinomial, sparse, alpha by loo": lambda: _sparse(lambda: candide.MultinomialNB(alpha="loo")),
    "multinomial, mle": lambda: _of("counts", lambda: candide.MultinomialNB(estimate="mle")),
    "complement": lambda: _of("counts", lambda: candide.ComplementNB(norm=True, calibrate="temperature")),
    "complement, saved": lambda: _saved("counts", candide.ComplementNB),
    "poisson": lambda: _of("counts", lambda: candide.PoissonNB(class_weight="balanced")),
    "poisson, merged": lambda: _merged("counts", candide.PoissonNB),
    "categorical": _categorical,
    "categorical, predictive": lambda: _categorical(estimate="predictive", alpha=0.5),
    "table": lambda: _of("frame", NB),
    "table, weights": lambda: _of("frame", NB, weighted=True),
    "table, no stacking": lambda: _of("frame", lambda: NB(stacking=None)),
    "table, merged": lambda: _merged("frame", NB),
    "table, forgotten": lambda: _forgotten("frame", NB),
    "table, saved": lambda: _saved("frame", NB),
    "table, wine": lambda: _bundled(load_wine, NB),
    "table, iris, order 0": lambda: _bundled(load_iris, lambda: NB(order=0)),
    "text": lambda: _of("texts", T),
    "text, weights, refined": lambda: _of("texts", lambda: T(refine=True), weighted=True),
    "text, multinomial": lambda: _of("texts", lambda: T("multinomial")),
    "text, tf-idf": lambda: _of("texts", lambda: T("complement", weighting="tfidf")),
    "text, merged": lambda: _merged("texts", T),
    "text, forgotten": lambda: _forgotten("texts", T),
    "text, saved": lambda: _saved("texts", lambda: T("bernoulli")),
}


def answers(case: str) -> dict[str, Array]:
    """All that is compared, as numbers and texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, X, weight = CASES[case]()
        few = _taken(X, slice(0, N_ANSWERS))
        out = {"predict": np.asarray(model.predict(few)).astype(str), "probability": model.predict_proba(few)}
        y = _drawn()["y"] if len(model.classes_) == 3 and model.classes_.dtype.kind in "UO" else None
        if y is not None and not getattr(model, "refine", False):
            out["leave_one_out"] = model.leave_one_out(X, y, sample_weight=weight)[:N_ANSWERS]
        out |= dict(_columns("parameters", model.parameters()))
        out |= dict(_columns("explain", model.explain(_taken(X, slice(0, 3))).to_table()))
    return out


def _columns(name: str, table: Any) -> Iterator[tuple[str, Array]]:
    """Numbers and texts of a table, the first hundred of each column."""
    for column, values in table.items():
        cells = np.asarray(values)[:100]
        yield f"{name}, {column}", cells if cells.dtype.kind in "fiub" else cells.astype(str)


if __name__ == "__main__":
    np.savez_compressed(
        RECORDED, **{f"{case}: {name}": array for case in CASES for name, array in answers(case).items()}
    )
    print(RECORDED, RECORDED.stat().st_size, "bytes")
