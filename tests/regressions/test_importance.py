"""How much a column matters to the answers, whichever views use it: in summary, report and model files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import candide
from candide import NaiveBayes


def _pairs(n: int = 600) -> tuple[pd.DataFrame, np.ndarray]:
    """The class is whether two coins agree: alone neither tells anything, together they tell nearly all."""
    rng = np.random.default_rng(0)
    first, second, noise = rng.integers(0, 2, (3, n))
    coin = np.array(["heads", "tails"], dtype=object)
    X = pd.DataFrame({"first": coin[first], "second": coin[second], "noise": coin[noise]})
    return X, np.where((first == second) ^ (rng.random(n) < 0.05), "same", "different")


@pytest.fixture(scope="module")
def model() -> NaiveBayes:
    return NaiveBayes().fit(*_pairs())


def _by_column(model: NaiveBayes, what: str) -> dict[str, float]:
    found = model.summary()
    return dict(zip(found["column"].tolist(), found[what].tolist(), strict=True))


def test_a_column_that_is_used_through_pairs_alone_matters(model: NaiveBayes) -> None:
    contribution = _by_column(model, "contribution")
    assert min(contribution["first"], contribution["second"]) > 0.2
    assert contribution["noise"] < 0.1
    assert _by_column(model, "bits")["first"] < 0.02


def test_the_loss_without_a_column(model: NaiveBayes) -> None:
    loss = _by_column(model, "loss_without")
    assert min(loss["first"], loss["second"]) > 0.3
    assert abs(loss["noise"]) < 0.05


def test_the_loss_without_a_copy_of_a_column_is_none() -> None:
    X, y = _pairs()
    X["told"] = np.where(np.arange(len(y)) % 5 == 0, "same", y)
    X["told again"] = X["told"]
    loss = _by_column(NaiveBayes().fit(X[["told", "told again", "noise"]], y), "loss_without")
    assert abs(loss["told"]) < 0.05


def test_the_contribution_is_that_of_explanations(model: NaiveBayes) -> None:
    X, _ = _pairs()
    found = [one.contributions() for one in model.explain(X[:100])]
    sums = [np.abs(one["bits"][one["column"] == "first"].sum()) for one in found]
    assert _by_column(model, "contribution")["first"] == pytest.approx(np.mean(sums), rel=0.15)


def test_views_are_named_by_their_columns(model: NaiveBayes) -> None:
    found = model.summary()
    views = found["family"] == "view"
    names = " ".join(found["column"][views].tolist())
    assert "pairs of columns" in names
    assert "waves" not in names
    notes = found["note"][views].tolist()
    assert all(note.startswith("of ") and "first" in note for note in notes)
    assert "weight" not in found


def test_the_report_gives_it_and_defines_its_terms(model: NaiveBayes) -> None:
    page = model.report().html()
    assert "Mean absolute contribution to the log-odds" in page
    assert "own weight" in page
    looks = model.report().features
    assert looks.table is not None
    assert set(looks.table["column"][:2].tolist()) == {"first", "second"}


def test_a_model_file_without_rows_knows_it(model: NaiveBayes, tmp_path: Path) -> None:
    model.save(tmp_path / "pairs.candide")
    loaded = candide.load(tmp_path / "pairs.candide")
    assert not loaded.model_.has_training_rows
    before, after = _by_column(model, "contribution"), _by_column(loaded, "contribution")
    assert [after[name] for name in _pairs()[0]] == pytest.approx([before[name] for name in _pairs()[0]])


def test_show_defines_its_terms(model: NaiveBayes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from candide.cli.app import app

    model.save(tmp_path / "pairs.candide")
    with pytest.raises(SystemExit) as ended:
        app(["show", str(tmp_path / "pairs.candide")])
    assert not ended.value.code
    shown = capsys.readouterr().out
    assert "mean absolute contribution" in shown
    assert "pairs of columns" in " ".join(shown.split())


def test_a_model_that_never_kept_rows_says_so() -> None:
    found = NaiveBayes(stacking=None, calibrate=None, subsample=0).fit(*_pairs()).summary()
    assert np.isnan(found["contribution"]).all()
    assert "the model keeps none" in str(found)
    assert "the model keeps none" in found._repr_html_()


def test_a_summary_defines_its_terms(model: NaiveBayes) -> None:
    shown = str(model.summary())
    for term in ("contribution", "loss_without", "own_weight", "bits"):
        assert f"\n{term}: " in shown
    assert "NaN" not in shown
