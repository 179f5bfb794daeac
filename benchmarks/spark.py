"""Texts on Spark, beside Spark MLlib: ``python -m benchmarks.spark``.

Parquet files of texts are learned by ``TextNB()``, by ``TextNB("multinomial")`` with and without calibration, and by
MLlib's ``Tokenizer``, ``HashingTF`` or ``CountVectorizer``, and ``NaiveBayes``; then the probabilities of all texts are
predicted, as a data frame that is computed and thrown away. Spark runs two tasks at once. One round to warm up, then
all sides in turn, medians: of seconds, and of the processor seconds of all processes of Spark, which depend less on
other processes of the machine. The ratios are those of MLlib's medians, with ``HashingTF``, to a side's. ``--save``
keeps the tables in ``benchmarks/SPARK.md``.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil

import candide

from . import scale_data, scale_engines
from .markdown import heading, line
from .scale_sides import judge, mllib_log_loss, text_stages

RESULTS = Path(__file__).with_name("SPARK.md")
PACKAGES = ("candide", "pyspark", "pyarrow", "numpy")
MLLIB = "MLlib: HashingTF, NaiveBayes"


class Side(NamedTuple):
    """A model: how it is trained, applied to a data frame, and judged on held-out rows."""

    label: str
    fit: Callable[[Any], Any]
    predict: Callable[[Any, Any], Any]
    log_loss: Callable[[Any], float]


class Took(NamedTuple):
    """Seconds, and processor seconds."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} s ({self.processor:.2f} processor s)"


def sides(session: Any, data: scale_data.Data) -> list[Side]:
    """Return the models, of candide and of MLlib."""
    ours = {
        "TextNB()": candide.TextNB(),
        'TextNB("multinomial")': candide.TextNB("multinomial", compute_loo=False),
        'TextNB("multinomial"), calibrated': candide.TextNB("multinomial", calibrate="temperature", compute_loo=False),
    }
    found = [
        Side(
            name,
            lambda rows, one=one: one.fit(rows, "label"),
            lambda model, rows: model.predict_proba(rows),
            judge(data),
        )
        for name, one in ours.items()
    ]
    for label, counter in ((MLLIB, "HashingTF"), ("MLlib: CountVectorizer, NaiveBayes", "CountVectorizer")):
        found.append(Side(label, _pipeline(counter).fit, lambda model, rows: model.transform(rows),
                          lambda model: mllib_log_loss(model, session, data)))  # fmt: skip
    return found


def _pipeline(counter: str) -> Any:
    from pyspark.ml import Pipeline

    return Pipeline(stages=text_stages(counter))


def run(session: Any, data: scale_data.Data, rounds: int) -> list[str]:
    """Return the lines of both tables."""
    every = sides(session, data)
    fitted: dict[str, list[Took]] = {side.label: [] for side in every}
    predicted: dict[str, list[Took]] = {side.label: [] for side in every}
    losses: dict[str, float] = {}
    for number in range(rounds + 1):
        for side in every:
            model, training = timed(lambda side=side: side.fit(rows(session, data)))
            _, prediction = timed(lambda side=side, model=model: drop(side.predict(model, rows(session, data))))
            print(f"round {number}, {side.label}: {training}, {prediction}", flush=True)
            if number:
                fitted[side.label].append(training)
                predicted[side.label].append(prediction)
            else:
                losses[side.label] = side.log_loss(model)
    return [*table("Training", fitted, losses, data), *table("Probabilities of all texts", predicted, None, data)]


def timed(call: Callable[[], Any]) -> tuple[Any, Took]:
    """Return the result of a call, and what it took."""
    before, begin = processor_seconds(), time.perf_counter()
    found = call()
    return found, Took(time.perf_counter() - begin, processor_seconds() - before)


# Processor seconds by process; Spark ends Python workers that have had nothing to do for a minute.
_SPENT: dict[tuple[int, float], float] = {}


def processor_seconds() -> float:
    """Return the processor seconds of this process and all below it: Spark's, and its Python workers."""
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            _SPENT[process.pid, process.create_time()] = sum(process.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue
    return sum(_SPENT.values())


def rows(session: Any, data: scale_data.Data) -> Any:
    """Return the texts, which are read anew."""
    return session.read.parquet(str(data.folder))


def drop(frame: Any) -> None:
    """Compute a data frame, and keep nothing of it."""
    frame.write.format("noop").mode("overwrite").save()


def table(
    title: str, found: dict[str, list[Took]], losses: dict[str, float] | None, data: scale_data.Data
) -> list[str]:
    """Return a table with a line for each side."""
    columns = ["s", "MLlib's s / s", "processor s", "MLlib's processor s / processor s", "MB per processor s"]
    lines = ["", f"## {title}: {data.n_rows:,} texts, {data.megabytes:,.0f} MB in memory", ""]
    lines += heading("", [*columns, *(["held-out log-loss"] if losses else [])])[1:]
    peer = [median(times) for times in zip(*found[MLLIB], strict=True)]
    for label, each in found.items():
        wall, processor = (median(times) for times in zip(*each, strict=True))
        cells = [f"{wall:.2f}", f"{peer[0] / wall:.2f}", f"{processor:.2f}", f"{peer[1] / processor:.2f}"]
        loss = [f"{losses[label]:.3f}"] if losses else []
        lines.append(line(label, [*cells, f"{data.megabytes / processor:.1f}", *loss]))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument("--scale", type=float, default=1.0, help="of 200 MB of texts (1)")
    parser.add_argument("--rounds", type=int, default=5, help="of which the median is shown (5)")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of PySpark about versions of pandas
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    with tempfile.TemporaryDirectory() as temporary, scale_engines.spark(Path(temporary)) as session:
        data = scale_data.texts(Path(temporary, "texts"), given.scale)
        lines = run(session, data, given.rounds)
    lines = [
        "# Texts on Spark, beside Spark MLlib",
        "",
        f"{date.today()}, {versions}, Python {platform.python_version()}. Spark with two tasks at once (`local[2]`); "
        f"medians of {given.rounds} rounds after one warm-up round, interleaved. Command: `python -m benchmarks.spark "
        f"--scale {given.scale:g} --rounds {given.rounds} --save`; the docstring describes the procedure.",
        *lines,
    ]
    print("\n".join(lines))
    if given.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
