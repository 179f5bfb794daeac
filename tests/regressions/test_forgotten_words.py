"""What a file holds of a refined model that has forgotten texts: nothing of these, and what the model predicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import candide
from candide import TextNB

LABELS = ["spam", "ham"] * 60
WORDS = {"spam": "cash prize win free click", "ham": "lunch noon see tomorrow walk"}
TEXTS = [f"{' '.join(WORDS[label].split()[i % 4 :])} the of {label} {i % 9}" for i, label in enumerate(LABELS)]
SECRET = ["zebrafish quokka cash zebrafish", "zebrafish quokka prize"]
ASKED = ["zebrafish quokka", "win cash", "see you at noon"]


def unfitted() -> TextNB:
    return TextNB(refine=True, subsample=100_000, compute_loo=False, feature_sets=["words"])


@pytest.fixture
def model() -> TextNB:
    return unfitted().fit(TEXTS + SECRET, [*LABELS, "spam", "spam"])


@pytest.mark.parametrize("sample", [False, True])
def test_no_word_of_a_forgotten_text_is_written(model: TextNB, sample: bool, tmp_path: Path) -> None:
    """The refinement, which is no sum, was written as it was before: with names and weights of their words."""
    path = tmp_path / "model.candide"
    model.save(path, sample=True)
    assert b"zebrafish" in path.read_bytes()
    model.forget(SECRET, ["spam", "spam"])
    assert model.staleness_ > 0
    model.save(path, sample=sample)
    written = path.read_bytes()
    assert b"zebrafish" not in written
    assert b"quokka" not in written
    assert "zebrafish" not in model.to_json(sample=sample)
    loaded = candide.load(path)
    assert np.array_equal(loaded.predict_proba(ASKED), model.predict_proba(ASKED))
    assert loaded.staleness_ == model.staleness_ == 0
    assert loaded.class_count_.tolist() == [60, 60]
    never = unfitted().fit(TEXTS, LABELS)
    assert np.allclose(model.predict_proba(ASKED), never.predict_proba(ASKED), atol=1e-6)


@pytest.mark.parametrize("sample", [False, True])
def test_texts_that_were_learned_since_wait_for_the_next_refit(model: TextNB, sample: bool, tmp_path: Path) -> None:
    model.partial_fit(["a new prize"], ["spam"])
    before, staleness = model.predict_proba(ASKED), model.staleness_
    model.save(tmp_path / "model.candide", sample=sample)
    loaded = candide.load(tmp_path / "model.candide")
    assert np.array_equal(model.predict_proba(ASKED), before)
    assert np.array_equal(loaded.predict_proba(ASKED), before)
    assert loaded.staleness_ == model.staleness_ == staleness > 0
