"""Peak extra memory of fit and predict_proba, beside the data and the result: ``python -m benchmarks.memory``.

Reads the kernel's high-water mark of resident memory (Linux). The bound is 10 % of X plus the result.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import random_array

import candide

from . import data

MB = 1 << 20


def resident(field: str) -> int:
    """A figure of this process's memory in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def peak_of(run: Callable[[], Any]) -> tuple[int, Any]:
    """Extra bytes at the highest point of a call, and what it returned."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
    before = resident("VmRSS")
    result = run()
    return max(0, resident("VmHWM") - before), result


def size_of(X: Any) -> int:
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if hasattr(X, "indptr") else X.nbytes


def report(name: str, X: Any, y: Any) -> None:
    model = getattr(candide, name)()
    model.fit(X[:2000], y[:2000]).predict_proba(X[:2000])  # loads libraries and pages
    fit, _ = peak_of(lambda: model.fit(X, y))
    table = sum(
        np.asarray(part).nbytes
        for part in vars(model.model_.classifier.state.statistics).values()
        if hasattr(part, "nbytes")
    )
    use, result = peak_of(lambda: model.predict_proba(X))
    whole = size_of(X)
    print(
        f"| {name} | {whole / MB:.0f} | {fit / MB:.1f} ({(fit - table) / whole:.1%} of X beside the counts) | "
        f"{use / MB:.1f}, result {result.nbytes / MB:.1f} ({(use - result.nbytes) / whole:.1%} of X beside it) |",
        flush=True,
    )


def many_classes() -> None:
    """10,000 classes × 100,000 columns: a dense table would take 8 GB."""
    rng = np.random.default_rng(0)
    X = random_array((200_000, 100_000), density=5e-4, format="csr", rng=rng, data_sampler=lambda size: np.ones(size))
    y = np.arange(200_000) % 10_000
    for name in ("MultinomialNB", "ComplementNB", "BernoulliNB"):
        fit, model = peak_of(lambda name=name: getattr(candide, name)().fit(X, y))
        use, _ = peak_of(lambda model=model: model.predict(X[:2000]))
        stored = model.model_.classifier.state.statistics.total.nnz
        print(f"{name}: {stored:,} cells stored; fit {fit / MB:.0f} MB, predict of 2,000 rows {use / MB:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    scale = parser.parse_args().scale
    print("| model | X MB | fit, extra MB | predict_proba, extra MB |\n|---|---|---|---|")
    X, y = data.measurements(scale)
    for name in ("GaussianNB", "BernoulliNB"):
        report(name, X, y)
    X, y = data.codes(scale)
    report("CategoricalNB", X, y)
    X, y = data.words(scale)
    for name in ("MultinomialNB", "ComplementNB", "BernoulliNB"):
        report(name, X, y)
    print("\n10,000 classes × 100,000 columns, 200,000 rows:")
    many_classes()


if __name__ == "__main__":
    main()
