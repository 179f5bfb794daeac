"""Makes the stored models of format version 1: ``python -m tests.storage.v1.make``.

They were made when it was the version of now, and are not made again: a change of the format makes a folder of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from candide import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextNB,
)
from candide.storage.models import write_model

from ..storing import content_of

FOLDER = Path(__file__).parent
_RNG = np.random.default_rng(20260101)
LABELS = np.array(["ham", "news", "spam"])[np.arange(60) % 3]
COUNTS = _RNG.poisson(1.0 + 3.0 * (np.arange(60)[:, None] % 3 == np.arange(4) % 3)).astype(np.float64)
WORDS = [["lunch", "noon", "see"], ["vote", "storm", "team"], ["win", "cash", "free"]]
TEXTS = [" ".join(_RNG.choice(WORDS[i % 3] + ["the", "a", "2026"], 5)) for i in range(60)]
TABLE = {
    "count": COUNTS[:, 0].tolist(),
    "colour": [["red", "green", None][(i + i // 7) % 3] for i in range(60)],
    "late": [i % 3 == 1 or i % 5 == 0 for i in range(60)],
}
# Either column alone tells nothing of the third class.
PAIRS = {"left": [f"l{i % 2}" for i in range(60)], "right": [f"r{(i % 2) ^ (i % 3 == 2)}" for i in range(60)]}

MODELS: dict[str, Callable[[], Any]] = {
    "gaussian": lambda: GaussianNB(calibrate="beta").fit(COUNTS, LABELS),
    "gaussian_rows": lambda: GaussianNB(calibrate="isotonic", keep_sample=True).fit(COUNTS, LABELS),
    "multinomial": lambda: MultinomialNB(alpha="loo").fit(COUNTS, LABELS),
    "complement": lambda: ComplementNB(norm=True, calibrate="temperature").fit(COUNTS, LABELS),
    "bernoulli": lambda: BernoulliNB(binarize=1.5, class_prior=[0.2, 0.3, 0.5]).fit(COUNTS, LABELS),
    "poisson": lambda: PoissonNB(class_weight="balanced").fit(COUNTS, LABELS),
    "categorical": lambda: CategoricalNB().fit(np.column_stack(list(map(_objects, TABLE.values()))), LABELS),
    "table": lambda: NaiveBayes(stacking=None).fit(TABLE, LABELS),
    "table_views": lambda: NaiveBayes(order=1).fit(PAIRS, LABELS),
    "text": lambda: TextNB(looks=["words", "pairs of words"]).fit(TEXTS, LABELS),
    "text_refined": lambda: TextNB(looks=["words"], refine=True).fit(TEXTS, LABELS),
    "text_tfidf": lambda: TextNB("multinomial", weighting="tfidf", min_df=2, stop_words=["the"]).fit(TEXTS, LABELS),
}


def _objects(column: list[Any]) -> Any:
    return np.array(column, dtype=object)


def rows_of(name: str) -> Any:
    """Some rows to ask a model about."""
    if name.startswith("text"):
        return ["see you at noon", "free cash in 2026", "", "the storm"]
    if name == "table_views":
        return {"left": ["l0", None, "l1"], "right": ["r0", "r1", "blue"]}
    if name == "table":
        return {"count": [0.0, 3.0, np.nan], "colour": ["red", None, "blue"], "late": [True, False, True]}
    if name == "categorical":
        return np.array([[1.0, "red", True], [4.0, None, False]], dtype=object)
    return COUNTS[:5]


def main() -> None:
    expected = {}
    for name, make in MODELS.items():
        model = make()
        write_model(FOLDER / f"{name}.candide", content_of(model, sample=name.endswith("_rows")))
        answer = model.predict_proba(rows_of(name))
        expected[name] = {"classes": model.classes_.tolist(), "probability": answer.tolist()}
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
