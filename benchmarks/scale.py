"""The same rows on every engine, beside Spark's and Dask's own naive Bayes: ``python -m benchmarks.scale``.

Parquet files of texts and of a table of numbers are learned on one thread and two, by two Dask workers, by Spark with
two cores, inside DuckDB and PostgreSQL (``candide.fit_sql``), by Spark MLlib's ``NaiveBayes`` (texts by ``Tokenizer``
and ``HashingTF``), and by dask-ml's ``GaussianNB`` where that is installed. ``mapInArrow`` that hands all rows through
Python workers is the floor of whatever Spark does in Python. Every side reads the files anew (PostgreSQL: its table).
One round to warm up, then all sides in turn, medians; and the log-loss of each model on rows that nobody learned from.
``--save`` keeps the tables in ``benchmarks/SCALE.md``.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
import warnings
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import NamedTuple

from . import scale_data, scale_engines
from .markdown import heading, line
from .scale_sides import FLOOR, MLLIB, Side, table_sides, text_sides

RESULTS = Path(__file__).with_name("SCALE.md")
PACKAGES = ("candide", "pyspark", "dask", "dask-ml", "duckdb", "pgserver", "pandas", "pyarrow")


class Ran(NamedTuple):
    """Seconds of each round, and the log-loss on held-out rows."""

    seconds: list[float]
    log_loss: float | None

    @property
    def median(self) -> float:
        return median(self.seconds)


Found = dict[str, Ran]
OURS_OF_TEXTS = ("multinomial, Spark", "multinomial, calibrated, Spark", "TextNB(), Spark")
OURS_OF_ROWS = ("GaussianNB, Spark", "GaussianNB, calibrated, Spark", "NaiveBayes(), Spark")


def run(sides: list[Side], rounds: int) -> Found:
    """All sides in turn; the first round warms up, and its models are judged."""
    taken: dict[str, list[float]] = {side.label: [] for side in sides}
    losses: dict[str, float] = {}
    for number in range(rounds + 1):
        for side in sides:
            if number > side.most_rounds:
                continue
            begin = time.perf_counter()
            model = side.fit()
            seconds = time.perf_counter() - begin
            print(f"round {number}, {side.label}: {seconds:.2f} s", flush=True)
            if number:
                taken[side.label].append(seconds)
            elif side.log_loss is not None:
                losses[side.label] = side.log_loss(model)
    return {label: Ran(seconds, losses.get(label)) for label, seconds in taken.items()}


def table(title: str, found: Found, data: scale_data.Data) -> list[str]:
    """A line for each side."""
    lines = ["", f"## {title}: {data.n_rows:,} rows, {data.megabytes:,.0f} MB in memory"]
    lines += heading("", ["s", "MB/s", "rows/s", "held-out log-loss"])
    for label, one in found.items():
        speeds = f"{data.megabytes / one.median:,.0f}", f"{data.n_rows / one.median:,.0f}"
        loss = "" if one.log_loss is None else f"{one.log_loss:.3f}"
        lines.append(line(label, [f"{one.median:.2f}", *speeds, loss]))
    return lines


def on_spark(found: Found, ours: tuple[str, ...]) -> list[str]:
    """What was to be shown: texts three times as fast as MLlib, tables as fast and near the floor, lower log-losses."""
    if MLLIB not in found:
        return []
    lines = heading("on Spark", ["MLlib's seconds / its seconds", "its seconds / floor", "log-loss", "MLlib's"])
    for label in ours:
        one, losses = found[label], [f"{found[name].log_loss:.3f}" for name in (label, MLLIB)]
        ratios = found[MLLIB].median / one.median, one.median / found[FLOOR].median
        lines.append(line(label, [*(f"{ratio:.2f}" for ratio in ratios), *losses]))
    return lines


def versions() -> str:
    told = []
    for name in PACKAGES:
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            told.append(f"without {name}")
    return ", ".join([*told, f"Python {platform.python_version()}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument("--scale", type=float, default=1.0, help="of 200 MB of texts and 2,000,000 rows (1)")
    parser.add_argument("--rounds", type=int, default=5, help="of which the median is shown (5)")
    parser.add_argument(
        "--engines", nargs="*", default=scale_engines.found(), help="some of dask spark duckdb postgres"
    )
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of PySpark about versions of pandas
    lines = [
        "# Engines: one machine, Dask, Spark and databases",
        "",
        f"{date.today()}, {versions()}. Two cores, two workers; medians of {given.rounds} rounds (2 for slow "
        "cases) after one warm-up round, interleaved. Command: `python -m benchmarks.scale --save`; the docstring "
        "describes the procedure.",
    ]
    with tempfile.TemporaryDirectory() as temporary, scale_engines.begun(given.engines, Path(temporary)) as engines:
        texts, rows = (getattr(scale_data, name)(Path(temporary, name), given.scale) for name in ("texts", "rows"))
        of_texts = run(text_sides(texts, engines), given.rounds)
        lines += table("Texts", of_texts, texts) + on_spark(of_texts, OURS_OF_TEXTS)
        of_rows = run(table_sides(rows, engines), given.rounds)
        lines += table("A table of 20 columns of numbers", of_rows, rows) + on_spark(of_rows, OURS_OF_ROWS)
    print("\n".join(lines))
    if given.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
