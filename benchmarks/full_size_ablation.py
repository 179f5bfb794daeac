"""Parts of ``NaiveBayes()`` on tables of full size: ``python -m benchmarks.full_size_ablation --data FOLDER``.

The splits of ``benchmarks.full_size`` without the regression on random grids, without the refitted cells of single
columns, with other numbers of grids, and with a quarter of the training rows kept for what is estimated from rows.
Results are added to the file given by ``--cache``. Run with OMP_NUM_THREADS=1. ``--save`` keeps the tables in
``benchmarks/FULL_SIZE_ABLATION.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import candide
from candide.stacking import cell_regression, grid_regression

from . import full_size
from .peers import Method

RESULTS = Path(__file__).with_name("FULL_SIZE_ABLATION.md")
SETS = ("adult", "letter", "covertype")


class Patched:
    """A ``NaiveBayes`` that is fitted with other constants of a module, and keeps a share of the training rows."""

    def __init__(self, *constants: tuple[Any, str, Any], share: float | None = None, **settings: Any) -> None:
        self.constants, self.share, self.settings = constants, share, settings

    def fit(self, X: Any, y: Any) -> Any:
        kept = {} if self.share is None else {"subsample": int(self.share * len(y))}
        model = candide.NaiveBayes(**self.settings, **kept)
        patches = [patch.object(*constant) for constant in self.constants]
        for one in patches:
            one.start()
        try:
            return model.fit(X, y)
        finally:
            for one in patches:
                one.stop()


def variant(*constants: tuple[Any, str, Any], **settings: Any) -> Callable[[Any], Any]:
    return lambda frame: Patched(*constants, **settings)


NO_CELLS = (cell_regression, "LEAST_ROWS", float("inf"))
METHODS = {
    "candide": Method("default (200 grids)", variant()),
    "no_grids": Method("without grids", variant(refine=False)),
    "no_cells": Method("without refitted cells", variant(NO_CELLS)),
    "neither": Method("without either", variant(NO_CELLS, refine=False)),
    **{
        f"grids_{n}": Method(f"{n} grids", variant((grid_regression, "_GRIDS", n), refine=True))
        for n in (50, 120, 400, 800)
    },
    "quarter": Method("a quarter of the rows kept", variant(share=0.25)),
}


TITLE = "# Parts of NaiveBayes on tables of full size"
NOTES = (
    "*Default* adds grids only if they lower the log-loss (not on adult); a given number of grids is always added. "
    "Grids of plain counts, without a regression, got no weight next to the regression in a trial and are not "
    "implemented.",
)


def main() -> None:
    with patch.multiple(full_size, METHODS=METHODS, RESULTS=RESULTS, SETS=SETS, NOTES=NOTES, TITLE=TITLE):
        full_size.main(__doc__, "full_size_ablation", n_splits=2)


if __name__ == "__main__":
    main()
