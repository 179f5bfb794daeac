"""Load thousands of mutated model files: ``python -m tests.storage.mutants 10000``.

Each is refused with one kind of error, or gives probabilities. Prints the outcomes, and the memory used.
"""

from __future__ import annotations

import faulthandler
import inspect
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from candide.exceptions import CandideError, ModelFileError
from candide.specs import spec_class
from candide.storage.models import read_model, write_model

from .example_models import EXAMPLES
from .mutations import mutated
from .storing import content_of, estimator_of

# Small models of all kinds, with and without their rows.
TARGETS = [
    ("gaussian names", True), ("gaussian isotonic", False), ("gaussian beta", False), ("multinomial balanced", True),
    ("multinomial evidence", False), ("complement calibrated", False), ("bernoulli prior", True),
    ("poisson prior", False), ("categorical kept", True), ("categorical codes", False), ("table", False),
    ("table plain", True), ("table block", False), ("table of texts", True), ("text", False),
    ("text three classes", True), ("text refined", False), ("text tfidf", True), ("text pattern", False),
    ("text buckets", False),
]  # fmt: skip
LONGEST = 120


class Target:
    """A model file to change, and rows to ask the model about."""

    def __init__(self, name: str, sample: bool, folder: Path) -> None:
        case = EXAMPLES[name]()
        self.name, self.path, self.rows = f"{name}, sample={sample}", folder / "model.candide", case.more[0]
        write_model(self.path, content_of(case.model, sample=sample))
        self.raw = self.path.read_bytes()

    def fate(self, seed: int) -> str:
        """Return the outcome of a mutation: refused, refused when predicting, or predicted."""
        self.path.write_bytes(mutated(self.raw, np.random.default_rng(seed)))
        try:
            content = read_model(self.path)
            refuse_strange_settings(content)
        except ModelFileError:
            return "refused"
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                answer = estimator_of(content).predict_proba(self.rows)
            except CandideError:
                return "refused when predicting"
        assert np.allclose(answer.sum(axis=1), 1.0), f"{self.name}, seed {seed}: {answer}"
        return "answered"


def refuse_strange_settings(content: Any) -> None:
    known = inspect.signature(spec_class(content.kind)).parameters
    if not content.settings.keys() <= known.keys():
        raise ModelFileError("a setting that is none")


def main(n_mutations: int, first: int = 0) -> None:
    fates: Counter[str] = Counter()
    began, slowest = time.perf_counter(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        targets = [Target(*target, Path(folder)) for target in TARGETS]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for seed in range(first, first + n_mutations):
            faulthandler.dump_traceback_later(LONGEST, exit=True)
            start = time.perf_counter()
            target = targets[seed % len(targets)]
            try:
                fates[target.fate(seed)] += 1
            except Exception as error:
                fates["WRONG"] += 1
                print(f"{target.name}, seed {seed}: {type(error).__name__}: {error}", flush=True)
                if "-v" in sys.argv:
                    raise
            slowest = max(slowest, time.perf_counter() - start)
    faulthandler.cancel_dump_traceback_later()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{dict(fates)}, {time.perf_counter() - began:.0f} s, slowest {slowest:.2f} s, {grown:.0f} MB more memory")
    sys.exit("WRONG" in fates)


if __name__ == "__main__":
    main(*map(int, (argument for argument in sys.argv[1:] if argument.isdecimal())))
