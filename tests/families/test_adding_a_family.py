"""A family that is defined and registered as CONTRIBUTING.md describes has everything that others have."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from candide import families
from candide.exceptions import ForgetError
from candide.export.sql.cells import Cells
from candide.export.sql.dialects import dialect_named
from candide.export.sql.lookups import Lookups
from candide.export.sql.query import Query
from candide.export.sql.terms import ColumnReader, family_scores
from candide.families import FAMILIES, Batch
from candide.families.score_terms import REST, Quadratic, ScoreTerms, TermLikelihood
from candide.kernels import Kernels
from candide.kernels.layouts import Dense, Floats
from candide.model.linear_form import linear_scores
from candide.statistics import Counts
from candide.storage import registry
from candide.storage.decoder import Decoder
from candide.storage.encoder import Encoder
from candide.storage.validation.statistics import check_family

from .geometric import Geometric, GeometricLikelihood

KERNELS = Kernels(1)
LOG_PRIOR = np.log([0.5, 0.3, 0.2])
FAMILY = Geometric()


def failures(n_rows: int = 40) -> Batch:
    """Counts of three columns, some of them missing, in three classes."""
    rng = np.random.default_rng(7)
    classes = np.arange(n_rows) % 3
    x = rng.geometric(np.array([0.2, 0.5, 0.8])[classes][:, None], (n_rows, 3)).astype(np.float64) - 1.0
    return Batch(Dense.of(np.where(rng.random(x.shape) < 0.1, np.nan, x)), classes.astype(np.int32), None, 3)


ROWS = failures()
STATISTICS = FAMILY.observe(ROWS, KERNELS)
LIKELIHOOD = FAMILY.likelihood(STATISTICS)


def scores(likelihood: GeometricLikelihood, batch: Batch) -> Floats:
    return likelihood.scores(batch.data, LOG_PRIOR, KERNELS)


def test_scores_are_those_of_the_formula() -> None:
    x, success = ROWS.data.floats()[:, None, :], LIKELIHOOD.success
    cells = np.where(np.isnan(x), 0.0, np.log(success) + x * np.log1p(-success))
    np.testing.assert_allclose(scores(LIKELIHOOD, ROWS), cells.sum(axis=2) + LOG_PRIOR, rtol=1e-12)
    assert (scores(LIKELIHOOD, ROWS).argmax(axis=1) == ROWS.classes).mean() > 0.6


def test_rows_left_out_have_the_scores_of_a_refit() -> None:
    found = FAMILY.left_out(ROWS, STATISTICS, LIKELIHOOD, LOG_PRIOR, KERNELS).finite
    for i in range(len(found)):
        others = ROWS.take(np.delete(np.arange(len(found)), i))
        refit = FAMILY.likelihood(FAMILY.observe(others, KERNELS))
        own = ROWS.classes[i]
        expected = scores(LIKELIHOOD, ROWS.take(np.array([i])))[0]
        expected[own] = scores(refit, ROWS.take(np.array([i])))[0, own]
        np.testing.assert_allclose(found[i], expected, rtol=1e-12)


def test_statistics_merge_and_forget() -> None:
    first, second = (FAMILY.observe(ROWS.take(rows), KERNELS) for rows in (np.arange(25), np.arange(25, 40)))
    merged = first.merge(second)
    np.testing.assert_array_equal(merged.dense(), STATISTICS.dense())
    np.testing.assert_array_equal(merged.forget(second).dense(), first.dense())
    with pytest.raises(ForgetError):
        first.forget(STATISTICS)


def test_linear_form() -> None:
    form = linear_scores(LIKELIHOOD, squares=False).plus(LOG_PRIOR)
    inputs = form.inputs.read(ROWS.data, KERNELS)
    np.testing.assert_array_equal(form.finite.of(inputs, 0.0, KERNELS), scores(LIKELIHOOD, ROWS))
    assert form.inputs.names(np.array(["a", "b", "c"])).inputs.tolist() == ["a", "b", "c"]


def test_sql() -> None:
    dialect = dialect_named("sqlite")
    query, cells = Query(dialect), Cells(["a", "b", "c"], {}, dialect)
    made = family_scores(LIKELIHOOD, LOG_PRIOR, ColumnReader(range(3), cells, Lookups(query)))
    query.start("rows", cells.inputs)
    query.step("scores", {f"s{k}": score for k, score in enumerate(made.finite)})
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE rows (a REAL, b REAL, c REAL)")
    database.executemany("INSERT INTO rows VALUES (?, ?, ?)", ROWS.data.floats().tolist())
    found = np.array(database.execute(query.finish(["s0", "s1", "s2"])).fetchall())
    np.testing.assert_allclose(found, scores(LIKELIHOOD, ROWS), rtol=1e-12)


def test_contributions_add_up_to_the_score() -> None:
    for i in range(len(ROWS.classes)):
        row = ROWS.take(np.array([i]))
        parts = LIKELIHOOD.parts(row.data, KERNELS)
        np.testing.assert_allclose(parts.finite.sum(axis=0) + LOG_PRIOR, scores(LIKELIHOOD, row)[0], rtol=1e-12)
        known = np.flatnonzero(~np.isnan(row.data.floats()[0]))
        assert parts.columns.tolist() == [*known, REST]


def test_sampling_and_expectations() -> None:
    drawn = LIKELIHOOD.sample(np.zeros(20_000, dtype=np.int32), np.random.default_rng(1)).mean(axis=0)
    expected = LIKELIHOOD.expected(ROWS.data, np.array([[1.0, 0.0, 0.0]]))[0]
    np.testing.assert_allclose(drawn, expected, rtol=0.1)
    assert list(LIKELIHOOD.parameters()) == ["class", "column", "count", "success"]


def test_stored_and_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    # A line in FAMILIES has these effects when the registry of model files is imported.
    reference = f"{Geometric.__module__}:Geometric"
    monkeypatch.setitem(registry.COLUMN_FAMILIES, "geometric family", reference)
    monkeypatch.setitem(registry.CLASSES, "geometric family", reference)
    monkeypatch.setitem(registry.NAMES, reference, "geometric family")
    encoder = Encoder()
    tree = encoder.tree({"family": FAMILY, "statistics": STATISTICS}, "model")
    loaded = Decoder(encoder.arrays).value(tree, "model")
    assert loaded["family"] == FAMILY
    assert isinstance(loaded["statistics"], Counts)
    assert check_family(loaded["family"], loaded["statistics"], 3) == 3
    again = loaded["family"].likelihood(loaded["statistics"])
    np.testing.assert_array_equal(scores(again, ROWS), scores(LIKELIHOOD, ROWS))


def test_registered_families_can_be_stored() -> None:
    for name, family in FAMILIES.items():
        assert registry.name_of(getattr(families, family)) == f"{name.replace('_', ' ')} family"


class _Normal(TermLikelihood):
    """Nothing but a description: one class for each of two centers."""

    @property
    def terms(self) -> ScoreTerms:
        center = np.array([[0.0, 1.0], [2.0, 3.0]])
        return ScoreTerms((Quadratic(np.zeros((2, 2)), np.full((2, 2), 0.5), center),))


def test_a_description_alone_gives_scores() -> None:
    x = np.array([[0.0, 1.0], [2.0, np.nan]])
    found = _Normal().scores(Dense.of(x), np.zeros(2), KERNELS)
    np.testing.assert_allclose(found, [[0.0, -4.0], [-2.0, 0.0]])
    np.testing.assert_allclose(_Normal().each(Dense.of(x), KERNELS).finite, [0.0, 0.0])
    assert not _Normal().is_limit


def test_the_page_lists_the_modules_that_exist() -> None:
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
    section = page.split("## Adding a family")[1].split("\n## ")[0]
    source = Path(__file__).parents[2]
    named = [path for path in re.findall(r"`((?:src|tests|docs)/[\w/.]+)`", section) if "geometric" not in path]
    assert named
    assert [path for path in named if not (source / path).exists()] == []
