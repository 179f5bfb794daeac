"""Texts that are each larger than the room for training rows: a model is fitted without what needs rows again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import candide
from candide import TextNB
from candide.specs import text as text_spec
from candide.specs.text import TextSpec

TEXTS = [("cash prize win " if i % 2 else "lunch noon see ") * 20 + str(i) for i in range(4)]
LABELS = ["spam" if i % 2 else "ham" for i in range(4)]
ASKED = ["win cash", "see you at noon"]


@pytest.fixture(autouse=True)
def _little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextSpec, "sample_bytes", 100)
    monkeypatch.setattr(text_spec, "_REFINED_BYTES", 100)


@pytest.mark.parametrize(
    "model",
    [TextNB(), TextNB(refine=True), TextNB(calibrate="platt"), TextNB("multinomial", alpha="loo")],
    ids=str,
)
def test_no_text_fits_the_sample(model: Any, tmp_path: Path) -> None:
    """It was a ZeroDivisionError of four texts of 53 MB each."""
    with pytest.warns(UserWarning, match="larger than the limit for kept rows"):
        model.fit(TEXTS, LABELS)
    assert model.predict(ASKED).tolist() == ["spam", "ham"]
    with pytest.raises(AttributeError, match="each row is larger than the limit"):
        model.loo_  # noqa: B018
    for sample in (False, True):
        model.save(tmp_path / "model.candide", sample=sample)
        loaded = candide.load(tmp_path / "model.candide")
        assert np.array_equal(loaded.predict_proba(ASKED), model.predict_proba(ASKED))


def test_three_classes_and_their_shares() -> None:
    texts, labels = [*TEXTS, "tea " * 100, "tea " * 120], [*LABELS, "tea", "tea"]
    with pytest.warns(UserWarning, match="it was not fitted"):
        model = TextNB().fit(texts, labels)
    assert model.predict(["tea", *ASKED]).tolist() == ["tea", "spam", "ham"]
    assert np.allclose(model.predict_proba(["never-seen"]).sum(axis=1), 1)
