"""What is fitted on rows left out depends on the rows learned, not on how they came nor on when somebody predicted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tiers import fast

import candide
from candide import GaussianNB, MultinomialNB, NaiveBayes, TextNB
from candide.model import classifier

RNG = np.random.default_rng(7)
N = 160
KIND = RNG.integers(0, 3, N)
Y = np.array(["ham", "spam", "news"])[KIND]
_WORDS = [f"{stem}{i}" for stem in ("lunch", "cash", "vote") for i in range(12)]


def _table() -> dict[str, Any]:
    color = np.where(RNG.random(N) < 0.7, KIND, RNG.integers(0, 3, N))
    return {
        "size": RNG.normal(KIND, 1.0).round(3),
        "weight": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(2 * (KIND == 1), 1.0).round(2)),
        "count": RNG.poisson(2 + KIND),
        "color": [None if RNG.random() < 0.05 else ["red", "green", "blue"][c] for c in color],
    }


def _text(kind: int) -> str:
    own = [_WORDS[12 * kind + int(i)] for i in RNG.integers(0, 12, 4)]
    return " ".join([*own, *(_WORDS[int(i)] for i in RNG.integers(0, 36, 3))])


TABLE = _table()
TEXTS = [_text(int(kind)) for kind in KIND]
COUNTS = RNG.poisson(1.0 + 2.0 * (np.arange(6) % 3 == KIND[:, None]))
NUMBERS = RNG.normal(KIND[:, None], 1.0, (N, 3)).round(3)

# A model, all rows, and how some of them are taken.
Case = tuple[Callable[[], Any], Any]
CASES: dict[str, Case] = {
    "NaiveBayes": (NaiveBayes, TABLE),
    "NaiveBayes calibrated": (lambda: NaiveBayes(stacking=None), TABLE),
    "TextNB": (TextNB, TEXTS),
    "TextNB multinomial": (lambda: TextNB("multinomial", calibrate="platt", alpha="loo"), TEXTS),
    "TextNB refined": (lambda: TextNB(refine=True, feature_sets=["words"]), TEXTS),
    "GaussianNB": (lambda: GaussianNB(calibrate="platt"), NUMBERS),
    "MultinomialNB": (lambda: MultinomialNB(calibrate="temperature", alpha="loo"), COUNTS),
}


def rows(X: Any, which: Any) -> Any:
    if isinstance(X, dict):
        return {name: [column[i] for i in which] for name, column in X.items()}
    return X[which] if isinstance(X, np.ndarray) else [X[i] for i in which]


def learn(model: Any, X: Any, which: Any) -> Any:
    return model.partial_fit(rows(X, which), Y[which])


def fit(case: str, which: Any) -> Any:
    make, X = CASES[case]
    return make().fit(rows(X, which), Y[which])


def chunks(case: str) -> Any:
    make, X = CASES[case]

    def parts() -> Iterator[Any]:
        for which in np.array_split(np.arange(N), 4):
            yield rows(X, which), Y[which]

    return make().fit(parts())


def in_steps(case: str) -> Any:
    """Learned in parts, with predictions between; the second part is too small for a refit."""
    _, X = CASES[case]
    model = fit(case, np.arange(140))
    model.predict_proba(rows(X, np.arange(5)))
    learn(model, X, np.arange(140, 145))
    model.predict_proba(rows(X, np.arange(140, 145)))
    return learn(model, X, np.arange(145, N))


def merged(case: str) -> Any:
    parts = [fit(case, which) for which in np.array_split(np.arange(N), [100, 108])]
    parts[0].predict(rows(CASES[case][1], np.arange(3)))
    return candide.merge([candide.merge(parts[:2]), parts[2]])


def learned_and_forgotten(case: str) -> Any:
    """Rows that were learned twice, and forgotten again one by one."""
    _, X = CASES[case]
    model = learn(fit(case, np.arange(N)), X, np.arange(6))
    model.predict_proba(rows(X, np.arange(5)))
    for i in range(6):
        model.forget(rows(X, [i]), Y[[i]])
        model.predict_proba(rows(X, [i]))
    return model


def corrected(case: str) -> Any:
    """A row with a wrong label that is forgotten and learned again."""
    _, X = CASES[case]
    make, _ = CASES[case]
    wrong = Y.copy()
    wrong[3] = "news" if Y[3] != "news" else "ham"
    model = make().fit(X, wrong)
    model.forget(rows(X, [3]), wrong[[3]]).predict_proba(rows(X, [3]))
    return learn(model, X, np.array([3]))


PATHS = {path.__name__: path for path in (chunks, in_steps, merged, learned_and_forgotten, corrected)}


@pytest.fixture(scope="module")
def whole() -> Callable[[str], Any]:
    return cache(lambda case: fit(case, np.arange(N)))


# The trees of ``test_refit_paths`` are of these paths too, of fewer rows.
FAST = [*product(["NaiveBayes calibrated", "GaussianNB"], PATHS), *((case, "in_steps") for case in CASES)]


@pytest.mark.parametrize("case_and_path", fast(FAST, product(CASES, PATHS)), ids=" ".join)
def test_every_path_is_one_fit_after_a_refit(case_and_path: tuple[str, str], whole: Callable[[str], Any]) -> None:
    case, path = case_and_path
    expected = whole(case)
    model, X = PATHS[path](case).refit(), CASES[case][1]
    assert model.staleness_ == 0.0
    np.testing.assert_array_equal(model.class_count_, expected.class_count_)
    if hasattr(model, "feature_count_"):
        np.testing.assert_array_equal(model.feature_count_, expected.feature_count_)
    if hasattr(model, "token_count_"):
        assert _tokens(model) == _tokens(expected)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-9)


def _tokens(model: Any) -> dict[str, list[float]]:
    counts = model.token_count_
    table = counts if isinstance(counts, np.ndarray) else counts.toarray()
    return dict(zip(model.vocabulary_, table.T.tolist(), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_a_prediction_between_changes_nothing(case: str) -> None:
    X = CASES[case][1]
    model = fit(case, np.arange(120))
    models = [model, deepcopy(model)]
    models[0].predict_proba(rows(X, np.arange(20)))
    for model in models:
        learn(model, X, np.arange(120, 125))
    models[0].predict_proba(X)
    for model in models:
        learn(model, X, np.arange(125, 129)).forget(rows(X, [0]), Y[[0]])
    np.testing.assert_array_equal(models[0].predict_proba(X), models[1].predict_proba(X))
    assert models[0].staleness_ == models[1].staleness_ == 10 / 120


def test_iris_in_two_parts() -> None:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    model = NaiveBayes().fit(X[:140], y[:140])
    model.predict_proba(X)
    model.partial_fit(X[140:], y[140:]).refit()
    np.testing.assert_allclose(model.predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_predicting_fits_nothing(case: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    X = CASES[case][1]
    model = fit(case, np.arange(120))
    path = tmp_path / "model.candide"
    model.save(path, sample=True)
    loaded = candide.load(path)
    learned = learn(deepcopy(model), X, np.arange(120, 124))
    forgotten = deepcopy(model).forget(rows(X, [0]), Y[[0]])
    joined = candide.merge([model, fit(case, np.arange(120, N))])
    discounted = deepcopy(model).discount(0.9)
    elsewhere = deepcopy(model).with_class_prior([0.2, 0.3, 0.5])

    def refuse(*_: Any) -> Any:
        raise AssertionError("a prediction fitted something")

    monkeypatch.setattr(classifier, "fit_on_sample", refuse)
    for one in (model, loaded, learned, forgotten, joined, discounted, elsewhere):
        assert np.isfinite(one.predict_proba(rows(X, np.arange(5)))).all()


def test_staleness_grows_until_a_tenth_has_changed() -> None:
    model = GaussianNB(calibrate="platt").fit(NUMBERS[:100], Y[:100])
    assert model.staleness_ == 0.0
    model.partial_fit(NUMBERS[100:106], Y[100:106])
    assert model.staleness_ == 0.06
    model.forget(NUMBERS[:4], Y[:4])
    assert model.staleness_ == 0.1
    model.forget(NUMBERS[4:5], Y[4:5])
    assert model.staleness_ == 0.0
    assert GaussianNB().fit(NUMBERS, Y).partial_fit(NUMBERS, Y).staleness_ == 0.0
    assert model.partial_fit(NUMBERS[:1], Y[:1]).refit().staleness_ == 0.0


def test_few_rows_kept_are_too_few_for_weights() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(700, 2)), np.arange(700) % 2
    with pytest.warns(UserWarning, match="fitted on the 50 training rows .* at least 500 rows, or pass subsample=0"):
        NaiveBayes(subsample=50).fit(rows, labels)
    NaiveBayes(subsample=600).fit(rows, labels)  # without a warning
