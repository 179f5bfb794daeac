"""One row learned, corrected or forgotten, with the next prediction: ``python -m benchmarks.one_row FOLDER [--save]``.

FOLDER has ``tabular/adult.parquet``, ``tabular/letter.parquet`` and ``text/banking77.parquet``, rows with their
``label``. Times are medians of single steps in which no refit falls due: those of the processor, in all threads of the
process, as other work on the machine shall not count. Memory is the largest extra amount of a step, of steps apart that
begin without what earlier ones have left free.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import candide

from .memory import MB, peak_of

RESULTS = Path(__file__).with_name("ONE_ROW.md")
TEXTS = 10_000
# Rows whose memory is measured, beside those that are timed.
MEASURED = 5


def cases(folder: Path) -> Iterator[tuple[str, Any, Any, Callable[[], Any]]]:
    """Rows, labels and what learns them."""
    for name in ("adult", "letter"):
        frame = pd.read_parquet(folder / "tabular" / f"{name}.parquet")
        labels = frame.pop("label")
        yield f"NaiveBayes(), {name}, {len(frame):,} rows", frame, labels, candide.NaiveBayes
    frame = pd.read_parquet(folder / "text" / "banking77.parquet").sample(TEXTS, random_state=0, ignore_index=True)
    for how in ("TextNB()", "TextNB(refine=True)"):
        refine = "refine" in how
        yield (
            f"{how}, banking77, {TEXTS:,} texts, {frame.label.nunique()} classes",
            frame.text, frame.label, lambda refine=refine: candide.TextNB(refine=refine),
        )  # fmt: skip


def steps(X: Any, y: Any, make: Callable[[], Any], n_rows: int) -> dict[str, tuple[float, float]]:
    """Seconds of the processor and bytes of each step of a row, with the first prediction after it."""
    n_all = n_rows + MEASURED
    model = make().fit(X.iloc[n_all:], y.iloc[n_all:])
    other = dict(zip(model.classes_, np.roll(model.classes_, 1), strict=True))
    seconds: dict[str, list[float]] = {}
    n_bytes: dict[str, list[float]] = {}

    def timed(name: str, run: Callable[[], Any], row: Any) -> None:
        def step() -> None:
            run()
            model.predict_proba(row)

        if i < n_rows:
            began = time.process_time()
            step()
            seconds.setdefault(name, []).append(time.process_time() - began)
        else:
            _give_back()
            n_bytes.setdefault(name, []).append(peak_of(step)[0])

    for i in range(n_all):
        row, label = X.iloc[[i]], y.iloc[[i]]
        wrong = label.map(other)
        timed("learn", lambda row=row, wrong=wrong: model.partial_fit(row, wrong), row)
        timed("correct", lambda row=row, a=wrong, b=label: model.forget(row, a).partial_fit(row, b), row)
        timed("forget", lambda row=row, label=label: model.forget(row, label), row)
    return {name: (float(np.median(times)), max(n_bytes[name])) for name, times in seconds.items()}


def _give_back() -> None:
    """Memory that earlier steps have left free, to the system: it would hide what a step takes."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def lines_of(arguments: argparse.Namespace) -> Iterator[str]:
    yield "| model | learn, ms (MB) | correct, ms (MB) | forget, ms (MB) |"
    yield "|---|---:|---:|---:|"
    for name, X, y, make in cases(Path(arguments.folder)):
        found = steps(X, y, make, arguments.rows)
        cells = (f"{1e3 * seconds:.0f} ({n_bytes / MB:.0f})" for seconds, n_bytes in found.values())
        yield f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="of the folders tabular and text")
    parser.add_argument("--rows", type=int, default=20, help="rows, one by one (20)")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [
        "# Updates of one row",
        "",
        f"{date.today()}, candide {candide.__version__}, NumPy {np.__version__}. One row added, corrected (forgotten "
        "with a wrong label and added with the right one) or forgotten, and the next prediction: CPU time in "
        f"milliseconds (median of {arguments.rows} rows), and in parentheses the largest additional memory in MB of "
        f"{MEASURED} others. Command: `python -m benchmarks.one_row FOLDER --save`.",
        "",
    ]
    print("\n".join(lines))
    for text in lines_of(arguments):
        print(text, flush=True)
        lines.append(text)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
