"""Mutated model files with a valid checksum: refused, or a model all of whose methods work.

``python -m regressions.model_fuzz 10000`` in ``tests`` prints what became of them.
"""

from __future__ import annotations

import copy
import inspect
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from storage.mutations import mutated_and_sealed

import candide
from candide import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextNB,
    diagnostics,
)
from candide.exceptions import CandideError, ModelFileError

Y = ["a", "b", "a", "b", "b", "a", "b", "a", "a", "b"]
COUNTS = np.array(
    [[0, 2, 1], [3, 0, 1], [0, 1, 1], [2, 0, 0], [3, 1, 0], [0, 3, 1], [1, 0, 2], [0, 2, 0], [1, 2, 2], [2, 0, 1]]
)
NUMBERS = COUNTS + np.linspace(0, 1, 30).reshape(10, 3)
COLOURS = ["red", "blue", None, "blue", "red", "red", "blue", "red", "green", "blue"]
TABLE = {"size": NUMBERS[:, 0].tolist(), "colour": COLOURS, "count": COUNTS[:, 1].tolist()}
TEXTS = ["win cash now", "see you soon", "win a prize", "lunch at noon", "see you at noon", "cash prize", "lunch soon",
         "win now", "a cash prize", "you at lunch"]  # fmt: skip
MIXED = {"size": NUMBERS[:, 0].tolist(), "text": TEXTS}


@dataclass(frozen=True, eq=False)
class Target:
    """The bytes of a small model file, and the rows that the model was trained on."""

    name: str
    raw: bytes
    rows: Any


def _model(make: Callable[[], Any], rows: Any) -> Callable[[], tuple[Any, Any]]:
    return lambda: (make().fit(rows, Y), rows)


def _model_of_numbers() -> tuple[Any, Any]:
    """Labels are numbers, and the class prior is given."""
    return GaussianNB(priors=[0.3, 0.7]).fit(NUMBERS, [float(label == "a") for label in Y]), NUMBERS


MODELS: dict[str, tuple[bool, Callable[[], tuple[Any, Any]]]] = {
    "gaussian": (False, _model(GaussianNB, NUMBERS)),
    "gaussian rows": (True, _model(lambda: GaussianNB(calibrate="platt"), NUMBERS)),
    "multinomial": (False, _model(MultinomialNB, COUNTS)),
    "multinomial rows": (True, _model(lambda: MultinomialNB(alpha="loo"), COUNTS)),
    "bernoulli": (True, _model(lambda: BernoulliNB(calibrate="beta"), COUNTS)),
    "complement": (False, _model(lambda: ComplementNB(calibrate="isotonic"), COUNTS)),
    "poisson": (True, _model(lambda: PoissonNB(subsample=100_000), COUNTS)),
    "categorical": (False, _model(CategoricalNB, COUNTS)),
    "categorical rows": (True, _model(lambda: CategoricalNB(calibrate="temperature"), COUNTS)),
    "table": (False, _model(NaiveBayes, TABLE)),
    "table plain": (False, _model(lambda: NaiveBayes(stacking=None), TABLE)),
    "table rows": (True, _model(lambda: NaiveBayes(stacking=None, subsample=100_000), TABLE)),
    "table texts": (True, _model(lambda: NaiveBayes(columns={"text": "text"}, stacking=None), MIXED)),
    "text": (False, _model(lambda: TextNB(buckets=8), TEXTS)),
    "text rows": (True, _model(lambda: TextNB("multinomial", calibrate="platt"), TEXTS)),
    "text buckets": (False, _model(lambda: TextNB("multinomial", buckets=6), TEXTS)),
    "text tfidf": (True, _model(lambda: TextNB("multinomial", weighting="tfidf", min_df=2), TEXTS)),
    "table block": (False, _model(lambda: NaiveBayes(columns={(0, 1): "multivariate_normal"}, stacking=None), NUMBERS)),
    "gaussian numbers": (False, _model_of_numbers),
    "text bernoulli": (False, _model(lambda: TextNB("bernoulli", buckets=6), TEXTS)),
}


def targets() -> Iterator[Target]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.candide"
        for name, (sample, make) in MODELS.items():
            model, rows = make()
            model.save(path, sample=sample)
            yield Target(name, path.read_bytes(), rows)


def _some(rows: Any) -> Any:
    return {name: cells[:2] for name, cells in rows.items()} if isinstance(rows, dict) else rows[:2]


# Quick ones, which are all tried on every model.
ASK: dict[str, Callable[[Any, Any], Any]] = {
    "predict_proba": lambda model, rows: _sums_to_one(model.predict_proba(rows)),
    "predict": lambda model, rows: model.predict(rows),
    "predict_log_proba": lambda model, rows: model.predict_log_proba(rows),
    "predict_joint_log_proba": lambda model, rows: model.predict_joint_log_proba(rows),
    "decide": lambda model, rows: model.decide(rows, abstain=0.6),
    "score": lambda model, rows: model.score(rows, Y[:2]),
    "parameters": lambda model, _: model.parameters(),
    # Some are there for some settings alone, and say so as attributes do.
    "attributes": lambda model, _: [getattr(model, name, None) for name in dir(type(model)) if _is_learned(name)],
    "repr": lambda model, _: repr(model),
}
# The others, some of which are tried on each.
MORE: dict[str, Callable[[Any, Any], Any]] = {
    "to_json": lambda model, _: candide.from_json(model.to_json(sample=model.model_.has_training_rows)),
    "to_js": lambda model, _: model.to_js(),
    "save": lambda model, _: _saved(model),
    "partial_fit": lambda model, rows: model.partial_fit(rows, Y[:2]).predict_proba(rows),
    "forget": lambda model, rows: model.forget(rows, Y[:2]).predict_proba(rows),
    "merge": lambda model, rows: model.merge(copy.deepcopy(model)).predict_proba(rows),
    "discount": lambda model, rows: model.discount(0.5).predict_proba(rows),
    "refit": lambda model, rows: model.refit().predict_proba(rows),
    "sample": lambda model, _: model.sample(2, random_state=0),
    "log_density": lambda model, rows: diagnostics.log_density(model, rows),
    "log_likelihood": lambda model, rows: diagnostics.log_likelihood(model, rows, Y[:2]),
    "predict_set": lambda model, rows: model.predict_set(rows),
    "typicality": lambda model, rows: diagnostics.typicality(model, rows),
    "impute": lambda model, rows: diagnostics.impute(model, rows),
    "with_class_prior": lambda model, rows: model.with_class_prior([0.3, 0.7]).predict_proba(rows),
    "adapt_class_prior": lambda model, rows: model.adapt_class_prior(rows),
    "leave_one_out": lambda model, rows: model.leave_one_out(rows, Y[:2]),
    "log_marginal_likelihood": lambda model, _: diagnostics.log_marginal_likelihood(model),
    "intervals": lambda model, _: diagnostics.intervals(model),
    "log_odds": lambda model, rows: diagnostics.log_odds(model, rows),
    "as_linear": lambda model, _: diagnostics.as_linear(model),
    "explain": lambda model, rows: str(model.explain(rows)),
    "what_if": lambda model, rows: model.what_if(rows),
    "information": lambda model, _: diagnostics.information(model),
    "top_features": lambda model, _: (
        model.top_features() if hasattr(model, "top_features") else diagnostics.top_features(model)
    ),
    "summary": lambda model, _: model.summary() if hasattr(model, "summary") else None,
    "loo_": lambda model, _: model.loo_ if model.model_.has_loo else None,
    "to_sklearn": lambda model, _: model.to_sklearn(),
    "to_sql": lambda model, _: model.to_sql("rows"),
    "to_onnx": lambda model, _: model.to_onnx(),
    "report": lambda model, rows: model.report(X=rows, y=Y[:2]).html(),
    "evaluate": lambda model, rows: model.evaluate(rows, Y[:2]),
    "cross_val_log_proba": lambda model, rows: model.cross_val_log_proba(rows, Y[:2], n_folds=2),
    "bayes_factors": lambda model, _: diagnostics.bayes_factors(model),
    "fit": lambda model, rows: model.fit(rows, Y[:2]).predict(rows),
    "get_params": lambda model, _: model.set_params(**model.get_params()),
    "clone": lambda model, _: repr(clone(model)),
    # Of texts or of tables alone.
    "compact": lambda model, rows: model.compact().predict(rows) if hasattr(model, "compact") else None,
    "prune": lambda model, rows: model.prune(max_tokens=5).predict(rows) if hasattr(model, "prune") else None,
    "unseen_categories": lambda model, rows: diagnostics.unseen_categories(model, rows),
}
# scikit-learn's own.
PLUMBING = {"get_metadata_routing", "set_params"}
# Of each model that is accepted so many of the others are tried; of one in so many, all.
_TRIED, _ALL_OF = 3, 12


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_") and name not in ("loo_",)


def _sums_to_one(probability: Any) -> None:
    assert np.allclose(probability.sum(axis=1), 1.0), probability


def _saved(model: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.candide"
        model.save(path)
        candide.load(path)


def methods() -> set[str]:
    """All public methods of all learners."""
    kinds = {type(make()[0]) for _, make in MODELS.values()}
    return {
        name
        for kind in kinds
        for name in dir(kind)
        if not name.startswith("_") and inspect.isfunction(inspect.getattr_static(kind, name))
    }


def complaint(name: str, model: Any, rows: Any) -> str | None:
    """What candide says against a method; another error than candide's is raised."""
    try:
        (ASK.get(name) or MORE[name])(model if name in ASK else copy.copy(model), rows)
    except CandideError as error:
        return f"{type(error).__name__}: {error}"
    return None


@cache
def refused_by_nature(target: Target) -> frozenset[str]:
    """What the model that was not changed cannot do either."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.candide"
        path.write_bytes(target.raw)
        model, rows = candide.load(path), _some(target.rows)
        return frozenset(name for name in (*ASK, *MORE) if complaint(name, model, rows) is not None)


def fate(target: Target, seed: int, path: Path, said: Callable[[str, str], None] | None = None) -> str:
    """What becomes of a mutant; a method that fails with another error than candide's raises it.

    ``said`` is told of methods that complain of a mutant, and not of the model that was not changed.
    """
    rng = np.random.default_rng(seed)
    path.write_bytes(mutated_and_sealed(target.raw, rng))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = candide.load(path)
        except ModelFileError:
            return "refused"
        rows, names = _some(target.rows), list(MORE)
        n_tried = len(names) if rng.random() < 1 / _ALL_OF else _TRIED
        for name in [*ASK, *(names[i] for i in rng.choice(len(names), n_tried, replace=False))]:
            try:
                found = complaint(name, model, rows)
            except Exception as error:
                error.add_note(f"{target.name}, seed {seed}, {name}")
                raise
            if found is not None and name not in refused_by_nature(target) and said is not None:
                said(f"{target.name}, seed {seed}, {name}", found)
    return "works"


def main(n_mutants: int, first: int = 0) -> None:
    fates: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    complaints: Counter[str] = Counter()

    def said(where: str, what: str) -> None:
        kind = re.sub(r"[0-9.e+-]+|'[^']*'", "#", what)[:110]
        if not complaints[kind]:
            print("complaint", what[:200], "|", where, flush=True)
        complaints[kind] += 1

    began, every = time.process_time(), list(targets())
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + n_mutants):
            try:
                fates[fate(every[seed % len(every)], seed, Path(folder) / "model.candide", said)] += 1
            except Exception as error:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                where = [f for f in traceback.extract_tb(error.__traceback__) if "/candide/" in f.filename][-1:]
                place = f"{Path((where or [frame])[0].filename).name}:{(where or [frame])[0].lineno}"
                kind = f"{type(error).__name__} at {place}: {error!s:.90}"
                if not failures[kind]:
                    print(kind, "|", *getattr(error, "__notes__", [f"seed {seed}"]), flush=True)
                failures[kind] += 1
    print(
        dict(fates),
        f"{sum(failures.values())} failures of {len(failures)} kinds, {time.process_time() - began:.0f} s",
        f"{sum(complaints.values())} complaints",
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
