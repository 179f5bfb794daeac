"""Leaving rows out in closed form is what a refit without them gives, for every family, estimate and history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tiers import tries

from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from candide.families import Batch
from candide.kernels import Kernels
from candide.kernels.layouts import Array, Floats
from candide.model.scorer import Scorer
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma
from candide.statistics import CategoryCounts

from .models import BERNOULLI, CATEGORICAL, GAUSSIAN, MULTINOMIAL, POISSON, TEXTS, Kind
from .strategies import Rows, rows

KERNELS = Kernels(2)


@dataclass(frozen=True)
class Case:
    """An estimator with its settings, and the kind of cells that it reads."""

    name: str
    make: Callable[..., Any]
    kind: Kind


def named(settings: dict[str, Any]) -> str:
    """The settings in short."""
    shown = (type(value).__name__ if name == "parameter_prior" else value for name, value in settings.items())
    return ",".join(map(str, shown)) or "default"


def discrete(prior: Any) -> list[dict[str, Any]]:
    """Settings of a model with pseudo-counts."""
    return [
        {},
        {"alpha": 0.0},
        {"alpha": 0.3},
        {"alpha": 1e-10},
        {"estimate": "mle"},
        {"estimate": "map", "alpha": 2.5},
        {"estimate": "map", "alpha": 1.0},
        {"estimate": "map", "alpha": 0.5},
        {"estimate": "predictive"},
        {"estimate": "predictive", "alpha": 1e-12},
        {"parameter_prior": prior},
        {"parameter_prior": prior, "estimate": "predictive"},
    ]


def gaussian_settings() -> list[dict[str, Any]]:
    """Settings of a normal model: maximum likelihood, priors from the data, priors given; one variance or many."""
    normal, inverse = Normal(0.5, 2.0, 3.0), NormalInverseGamma(0.5, 0.7, 1.5, 2.0)
    plain: list[dict[str, Any]] = [
        {"var_smoothing": 0.01},
        {"var_smoothing": 0.0},
        {"ddof": 1, "var_smoothing": 0.01},
        {"ddof": 1, "estimate": "mle"},
        {"estimate": "mean"},
        {"estimate": "map"},
        {"estimate": "predictive"},
        {"parameter_prior": inverse, "estimate": "predictive"},
        {"parameter_prior": inverse, "estimate": "map"},
    ]
    known = [{"parameter_prior": normal}, {"parameter_prior": normal, "estimate": "predictive"}]
    return [*plain, *known, *({**setting, "variance": "shared"} for setting in plain)]


COUNTED = [("bernoulli", BERNOULLI, BernoulliNB, Beta(0.4, 2.0)), ("poisson", POISSON, PoissonNB, Gamma(0.7, 1.3)),
           ("multinomial", MULTINOMIAL, MultinomialNB, Dirichlet(0.7)),
           ("complement", MULTINOMIAL, ComplementNB, Dirichlet(0.7)),
           ("categorical", CATEGORICAL, CategoricalNB, Dirichlet(0.7))]  # fmt: skip
FURTHER = [
    ("complement", MULTINOMIAL, ComplementNB, {"norm": True}),
    ("complement", MULTINOMIAL, ComplementNB, {"norm": True, "alpha": 0.0}),
    ("poisson", POISSON, PoissonNB, {"alpha": 0.0, "beta": 0.0}),
    ("texts", TEXTS, CategoricalNB, {"unseen": "smooth", "estimate": "map", "alpha": 0.5}),
    ("categorical", CATEGORICAL, CategoricalNB, {"min_categories": 9}),
]
# "balanced" depends on the rows of all classes, and undoes a fitted prior but for its pseudo-counts.
BALANCED: list[tuple[str, Kind, Callable[..., Any], dict[str, Any]]] = [
    ("bernoulli", BERNOULLI, BernoulliNB, {}),
    ("bernoulli", BERNOULLI, BernoulliNB, {"fit_prior": False}),
    ("multinomial", MULTINOMIAL, MultinomialNB, {"class_prior": "smoothed"}),
    ("complement", MULTINOMIAL, ComplementNB, {}),
    ("gaussian", GAUSSIAN, GaussianNB, {"var_smoothing": 0.01, "priors": Dirichlet(0.3)}),
]
SETTINGS = [
    *(("gaussian", GAUSSIAN, GaussianNB, setting) for setting in gaussian_settings()),
    *((name, kind, make, setting) for name, kind, make, prior in COUNTED for setting in discrete(prior)),
    *FURTHER,
    *((name, kind, make, {**setting, "class_weight": "balanced"}) for name, kind, make, setting in BALANCED),
]
CASES = [
    Case(f"{name}-{named(setting)}", partial(make, **setting), kind)
    for name, kind, make, setting in SETTINGS
    if not (name == "complement" and setting.get("estimate") == "predictive")
]
# In the fast tier, of each family what each kind of estimate does with the first of its settings.
_FIRST = ({}, {"estimate": "mle"}, {"estimate": "map", "alpha": 2.5}, {"estimate": "predictive"})
FEW = {f"{name}-{named(setting)}" for name, *_ in COUNTED for setting in _FIRST}
_OTHER = {"ddof", "var_smoothing"}
FEW |= {f"gaussian-{named(setting)}" for setting in gaussian_settings() if not setting.keys() & _OTHER}


def cases(of: list[Case]) -> Any:
    """All, of which most are slow."""
    tiers = [case if case.name in FEW else pytest.param(case, marks=pytest.mark.slow) for case in of]
    return pytest.mark.parametrize("case", tiers, ids=[case.name for case in of])


all_cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def refitted(model: Any, batch: Batch, out: Array, prior: str) -> tuple[Floats, float]:
    """Log posteriors of the rows that are out, by a model made from the others' rows alone, and their rounding error.

    Scores of values that are far off are huge, and their differences lose digits.
    """
    whole, family = model.model_.classifier, model.model_.classifier.family
    rest = family.observe(batch.take(np.flatnonzero(~out)), KERNELS)
    if isinstance(rest, CategoryCounts):
        full = whole.state.statistics
        rest = CategoryCounts(rest.rows, full.labels, rest._spread(full.labels))
    offset = whole.scorer.offset if prior == "fixed" else whole.offset_for(rest.rows)
    data = batch.data.take(np.flatnonzero(out))
    scorer = Scorer(family.likelihood(rest), offset)
    joint = scorer.joint(data, KERNELS)
    rounding = 1e-9 + 1e-15 * float(np.abs(joint[np.isfinite(joint)]).max(initial=0.0))
    return scorer.posterior(data, KERNELS, logarithm=True), rounding


def assert_left_out(model: Any, case: Case, table: Rows, weight: Floats | None, prior: str, X: Any = None) -> None:
    """Every row by itself, against a refit."""
    cells = case.kind.encode(table.X)
    batch = model.model_.batch(cells, table.y, weight)
    got = model.leave_one_out(cells if X is None else X, table.y, weight, class_prior=prior)
    for i in range(len(table.y)):
        out = np.arange(len(table.y)) == i
        if not out.all() and (weight is None or weight[~out].any()):
            expected, rounding = refitted(model, batch, out, prior)
            np.testing.assert_allclose(got[i], expected[0], rtol=1e-9, atol=rounding)


@st.composite
def weighted(draw: Any, case: Case) -> tuple[Rows, Floats | None]:
    """Rows and their weights: none, whole, or fractions; every class has weight."""
    table = draw(rows(case.kind, least=2))
    how = draw(st.sampled_from(["none", "whole", "fraction"]))
    if how == "none":
        return table, None
    weight = table.weight if how == "whole" else table.weight * 0.3 + 0.1
    present = np.isin(table.y, table.y[weight > 0])
    return table.take(np.flatnonzero(present)), weight[present]


@all_cases
@tries(16)
@given(data=st.data(), prior=st.sampled_from(["removed", "fixed"]))
def test_leaving_one_out_is_a_refit(case: Case, data: Any, prior: str) -> None:
    """With weights and missing cells."""
    table, weight = data.draw(weighted(case))
    model = case.make().fit(case.kind.encode(table.X), table.y, weight)
    assert_left_out(model, case, table, weight, prior)


@cases(CASES)
@tries(16)
@given(data=st.data())
def test_leaving_one_out_after_a_life(case: Case, data: Any) -> None:
    """Merged from parts, with rows learned and forgotten again, it is that of the rows that remain."""
    table, weight = data.draw(weighted(case))
    cells = case.kind.encode(table.X)
    half = np.arange(len(table.y)) < len(table.y) // 2
    parts = [rows for rows in (half, ~half) if rows.any() and (weight is None or weight[rows].any())]
    models = [case.make().fit(cells[r], table.y[r], None if weight is None else weight[r]) for r in parts]
    model = models[0] if len(models) == 1 else models[0].merge(models[1])
    model.partial_fit(cells[:1], table.y[:1]).forget(cells[:1], table.y[:1])
    assert_left_out(model, case, table, weight, "removed")


@cases([case for case in CASES if case.kind.sparse])
@tries(16)
@given(data=st.data())
def test_sparse_rows_are_left_out_alike(case: Case, data: Any) -> None:
    table, weight = data.draw(weighted(case))
    X = csr_array(table.X)
    model = case.make().fit(X, table.y, weight)
    assert_left_out(model, case, table, weight, "removed", X)


@cases(CASES)
@tries(16)
@given(data=st.data(), prior=st.sampled_from(["removed", "fixed"]))
def test_blocked_folds_are_refits(case: Case, data: Any, prior: str) -> None:
    table, weight = data.draw(weighted(case))
    groups = np.array(["a", "b", "c"])[data.draw(st.lists(st.integers(0, 2), min_size=10, max_size=10))][: len(table.y)]
    cells = case.kind.encode(table.X)
    model = case.make().fit(cells, table.y, weight)
    batch = model.model_.batch(cells, table.y, weight)
    got = model.cross_val_log_proba(cells, table.y, groups, sample_weight=weight, class_prior=prior)
    for group in np.unique(groups):
        out = groups == group
        if not out.all() and (weight is None or weight[~out].any()):
            expected, _ = refitted(model, batch, out, prior)
            np.testing.assert_allclose(got[out], expected, rtol=1e-9, atol=1e-9)
