"""Leaving rows out of a column's model in closed form is what a model made again without them gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from candide.families.columns import candidates_for_categories, candidates_for_numbers, choose, named_column
from candide.families.columns.bins import FoldedBins
from candide.families.columns.choose import class_losses

from .rows import Rows, brute_loss, names, numbers

TABLES = {
    "numbers": numbers(1, n_rows=24),
    "two classes": numbers(2, n_rows=24, n_classes=2),
    "with holes": numbers(3, n_rows=24, holes=True),
    "few values": numbers(4, n_rows=24, distinct=6, holes=True),
    "two values": numbers(5, n_rows=24, distinct=2),
    "names": names(6),
    "one row in a class": numbers(7, n_rows=12, n_classes=6),
}


NAMED: list[tuple[str, dict[str, Any]]] = [
    ("bins", {"method": "proportional", "strength": 1.0}),
    ("bins", {"n_bins": 7, "strength": 5.0}),
    ("kernel", {"width": 0.03, "strength": 1.0}),
    ("gaussian", {"var_smoothing": 1e-3}),
    ("student", {}),
    ("lognormal", {}),
    ("power", {}),
    ("poisson", {}),
]


def candidates(rows: Rows, **options: Any) -> list[Any]:
    """All that ``choose`` tries, and of numbers all families by name, holes ignored and as a value."""
    if rows.labels is not None:
        return candidates_for_categories(**rows.parts(), **options)
    models: list[Any] = list(candidates_for_numbers(**rows.parts(), **options))
    known = rows.values[~np.isnan(rows.values)]
    fits = {"lognormal": (known > 0).all(), "poisson": ((known >= 0) & (known == np.trunc(known))).all()}
    for family, settings in NAMED:
        if fits.get(family, True):
            models += [
                named_column(family, **rows.parts(), treat_missing=treat, **settings)
                for treat in ("ignore", "category")
            ]
    return models


def prior_of(rows: Rows) -> np.ndarray[Any, Any]:
    weight = np.bincount(rows.classes, rows.weight, rows.n_classes)
    return np.log((weight + 1) / (weight.sum() + rows.n_classes))


@pytest.mark.parametrize("name", TABLES)
def test_class_loss_is_that_of_refits(name: str) -> None:
    rows = TABLES[name]
    models = candidates(rows)
    losses = class_losses(models, prior_of(rows))
    for model, loss in zip(models, losses, strict=True):
        expected = brute_loss(model, rows, prior_of(rows))
        # Where the rest of a class is one point, its variance is the floor, and scores are of the size of its inverse.
        near = pytest.approx(expected, rel=1e-9 if expected < 1e3 else 1e-6)
        assert loss == near, (model.family, model.describe())
        assert model.class_loss(prior_of(rows)) == near, (model.family, model.describe())


@pytest.mark.parametrize("weight", [1.0, 3.0])
@pytest.mark.parametrize("name", TABLES)
def test_scores_left_out_have_the_loss_that_choices_are_made_by(name: str, weight: float) -> None:
    """Rows one by one, all of one weight and each leaving with all of it, their classes keeping their sizes."""
    rows = TABLES[name]
    rows = rows._replace(weight=np.full(len(rows.weight), weight))
    log_prior, every = prior_of(rows), np.arange(len(rows.weight))
    for model in candidates(rows):
        if isinstance(model, FoldedBins):
            continue  # judged by folds
        joint = model.scores(rows.column()) + log_prior
        own = model.left_out(rows.column(), rows.classes, rows.weight, keep_size=True)
        joint[every, rows.classes] = own + log_prior[rows.classes]
        loss = (np.logaddexp.reduce(joint, axis=1) - joint[every, rows.classes]).mean()
        near = pytest.approx(loss, rel=1e-9 if loss < 1e3 else 1e-6)
        assert model.class_loss(log_prior, np.full(rows.n_classes, weight)) == near, (model.family, model.describe())


@pytest.mark.parametrize("name", TABLES)
def test_left_out_is_a_refit(name: str) -> None:
    """With weights that are no whole numbers, and all of a row's weight taken out."""
    rows = TABLES[name]
    rows = rows._replace(weight=rows.weight * np.linspace(0.5, 1.5, len(rows.weight)))
    for model in candidates(rows):
        own = model.left_out(rows.column(), rows.classes, rows.weight)
        for i in range(0, len(own), 7):
            left = model.again(**rows.without(i, rows.weight[i]).parts())
            expected = left.scores(rows.column())[i, rows.classes[i]]
            assert own[i] == pytest.approx(expected, rel=1e-9, abs=1e-9), (model.family, model.describe())


@pytest.mark.parametrize("name", TABLES)
def test_made_again_from_the_same_is_the_same(name: str) -> None:
    rows = TABLES[name]
    for model in candidates(rows):
        np.testing.assert_allclose(
            model.again(**rows.parts()).scores(rows.column()), model.scores(rows.column()), rtol=1e-12, atol=1e-12
        )


def test_the_winner_has_the_least_loss() -> None:
    rows = TABLES["with holes"]
    models = candidates(rows)
    model, losses = choose(models, prior_of(rows))
    alone = [candidate.class_loss(prior_of(rows)) for candidate in models]
    assert model is models[int(np.argmin(alone))]
    assert min(losses.values()) == pytest.approx(min(alone), abs=1e-12)
