"""Model files after a few rows: nothing forgotten is left in them, and nothing is made that nobody asked for."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.terminal import MESSAGES, done

import candide
from candide.model import out_of_fold


def lines() -> list[list[str]]:
    with MESSAGES.open(newline="") as file:
        return list(csv.reader(file))[:151]


def written(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([lines()[0], *rows])
    return path


@pytest.mark.parametrize("how", [[], pytest.param(["--refine"], marks=pytest.mark.slow)], ids=["auto", "refined"])
def test_forget_refits_before_it_writes(how: list[str], tmp_path: Path) -> None:
    """Three of 150 rows are too few for a refit by themselves."""
    rows = lines()[1:]
    everything = written(tmp_path / "all.csv", rows)
    some, others = written(tmp_path / "some.csv", rows[:3]), written(tmp_path / "others.csv", rows[3:])
    texts = [row[lines()[0].index("text")] for row in rows[:50]]
    model, never = tmp_path / "model.candide", tmp_path / "never.candide"
    done("train", everything, "-o", model, "--with-rows", "-q", *how)
    done("train", others, "-o", never, "--with-rows", "-q", *how)
    done("forget", model, some, "-q")
    left, expected = candide.load(model), candide.load(never)
    np.testing.assert_allclose(left.predict_proba(texts), expected.predict_proba(texts), rtol=0, atol=1e-9)
    assert left.staleness_ == 0.0
    assert left.loo_.log_loss == pytest.approx(expected.loo_.log_loss, abs=1e-9)


def test_forget_refits_a_table_before_it_writes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 200)
    rows = [
        f"{a:.3f},{b:.3f},{'yes' if k else 'no'}"
        for k, a, b in zip(kind, *rng.normal(kind, 1.0, (2, 200)), strict=True)
    ]
    files = {"all": rows, "some": rows[:5], "others": rows[5:]}
    for name, part in files.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,label", *part]) + "\n")
    for name in ("all", "others"):
        where = "-o", tmp_path / f"{name}.candide"
        done("train", tmp_path / f"{name}.csv", *where, "--with-rows", "--set", "compute_loo=false", "-q")
    done("forget", tmp_path / "all.candide", tmp_path / "some.csv", "-q")
    left, expected = (candide.load(tmp_path / f"{name}.candide") for name in ("all", "others"))
    X = {"a": rng.normal(0, 1, 40).tolist(), "b": rng.normal(0, 1, 40).tolist()}
    np.testing.assert_allclose(left.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-9)
    assert left.staleness_ == 0.0


def test_an_update_makes_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes as long as a refit; whoever asks has it made, from the rows in the file."""
    rows = lines()[1:]
    model, some = tmp_path / "model.candide", written(tmp_path / "some.csv", rows[:1])
    done("train", written(tmp_path / "all.csv", rows), "-o", model, "--with-rows", "-q")
    stored = candide.load(model)

    def refuse(*_: Any) -> Any:
        raise AssertionError("rows were scored left out")

    with monkeypatch.context() as patch:
        patch.setattr(out_of_fold, "score_out_of_fold", refuse)
        assert stored.loo_.n_rows > 0  # of a model that has not changed it is in the file
        done("update", model, some, "-q")
        changed = candide.load(model)
        assert changed.staleness_ > 0.0
        with pytest.raises(AssertionError, match="left out"):
            _ = changed.loo_
    column = {name: i for i, name in enumerate(lines()[0])}
    expected = stored.partial_fit([rows[0][column["text"]]], [rows[0][column["label"]]])
    assert candide.load(model).loo_.log_loss == pytest.approx(expected.loo_.log_loss, rel=1e-12)


def test_after_a_refit_the_report_in_a_file_is_that_of_now(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 120)
    texts = [
        " ".join([*rng.choice(["a b", "c d", "e f"], 3), f"topic{k}" if rng.random() < 0.7 else "none"]) for k in y
    ]
    model = candide.TextNB().fit(texts[:115], y[:115])
    before = model.loo_.log_loss
    model.partial_fit(texts[115:], y[115:]).refit().save(tmp_path / "model.candide", sample=True)
    loaded, whole = candide.load(tmp_path / "model.candide"), candide.TextNB().fit(texts, y)
    assert loaded.model_.classifier.parts()["report"] is not None
    assert loaded.loo_.log_loss == pytest.approx(whole.loo_.log_loss, rel=1e-9)
    assert loaded.loo_.log_loss != before
    # Without rows the report cannot wait.
    model.partial_fit(texts[:1], y[:1]).save(tmp_path / "bare.candide")
    bare = candide.load(tmp_path / "bare.candide")
    assert bare.staleness_ > 0.0
    assert bare.loo_.log_loss == pytest.approx(model.loo_.log_loss, rel=1e-12)
    bare.save(tmp_path / "again.candide", sample=True)
    assert candide.load(tmp_path / "again.candide").loo_.log_loss == bare.loo_.log_loss
