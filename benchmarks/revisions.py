"""Time two versions of candide against each other: ``python -m benchmarks.revisions OLD_PYTHON NEW_PYTHON``.

The arguments are the interpreters of two environments, each with its own version of candide. Every round runs each case
once in each of them. The table shows medians, the median ratio of the rounds, and how far results differ.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Run = Callable[[], Any]
_WORKER = "--worker"


def cases(scale: float) -> Iterator[tuple[str, int, Run]]:
    """Yield the name of each case, how often it is repeated within a round, and a function to time."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer, load_iris

    import candide

    from . import data
    from .text import made_corpus

    iris, cancer = load_iris(return_X_y=True), load_breast_cancer(return_X_y=True)
    measured, y = data.measurements(0.3 * scale)
    words, topic = data.words(0.25 * scale)
    frame, label = data.mixed(int(100_000 * scale))
    corpus = made_corpus(16 * scale)

    def shares(model: Any, X: Any) -> Any:
        return lambda: model.predict_proba(X)

    yield "GaussianNB iris fit", 200, lambda: candide.GaussianNB().fit(*iris)
    yield "GaussianNB iris predict", 200, shares(candide.GaussianNB().fit(*iris), iris[0])
    yield "NaiveBayes iris fit", 2, lambda: candide.NaiveBayes().fit(*iris)
    yield "NaiveBayes iris predict_proba", 20, shares(candide.NaiveBayes().fit(*iris), iris[0])
    yield "NaiveBayes breast cancer fit", 1, lambda: candide.NaiveBayes().fit(*cancer)
    yield "NaiveBayes breast cancer loo_", 1, lambda: candide.NaiveBayes().fit(*cancer).loo_.log_loss
    for name in ("GaussianNB", "BernoulliNB"):
        model = getattr(candide, name)().fit(measured, y)
        yield f"{name} dense fit", 1, lambda model=model: model.fit(measured, y)
        yield f"{name} dense predict_proba", 1, shares(model, measured)
        yield f"{name} dense leave_one_out", 1, lambda model=model: model.leave_one_out(measured, y)
    for name in ("MultinomialNB", "ComplementNB"):
        model = getattr(candide, name)().fit(words, topic)
        yield f"{name} sparse fit", 1, lambda model=model: model.fit(words, topic)
        yield f"{name} sparse predict_proba", 1, shares(model, words)
        yield f"{name} sparse leave_one_out", 1, lambda model=model: model.leave_one_out(words, topic)
    table = candide.NaiveBayes().fit(frame, label)
    yield "NaiveBayes table fit", 1, lambda: candide.NaiveBayes().fit(frame, label)
    yield "NaiveBayes table predict_proba", 1, shares(table, frame)
    yield "NaiveBayes table partial_fit of one row", 1, lambda: table.partial_fit(frame[:1], np.asarray(label)[:1])
    for name, model in (("multinomial", candide.TextNB("multinomial")), ("auto", candide.TextNB())):
        model.fit(corpus.texts, corpus.labels)
        yield f"TextNB {name} fit", 1, lambda model=model: model.fit(corpus.texts, corpus.labels)
        yield f"TextNB {name} predict_proba", 1, shares(model, corpus.texts)
    yield from sources(frame, np.asarray(label), corpus)


def sources(frame: Any, label: Any, corpus: Any) -> Iterator[tuple[str, int, Run]]:
    """Yield the cases in which rows come from files, chunks and partitions."""
    import dask
    import dask.dataframe as dd
    import pandas as pd

    import candide

    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    table, texts = frame.assign(label=label), pd.DataFrame({"text": corpus.texts, "label": corpus.labels})
    for name, data, make in (
        ("table", table, candide.NaiveBayes), ("texts", texts, lambda: candide.TextNB("multinomial")),
    ):  # fmt: skip
        for kind in ("csv", "parquet"):
            path = folder / f"{name}.{kind}"
            getattr(data, f"to_{kind}")(path, index=False)
            yield f"{name} from {kind}", 1, lambda path=path, make=make: make().fit(candide.read(path, label="label"))

    def chunks(X: Any, y: Any) -> Iterator[Any]:
        size = -(-len(y) // 20)
        return ((X[begin : begin + size], y[begin : begin + size]) for begin in range(0, len(y), size))

    yield "table in 20 chunks", 1, lambda: candide.NaiveBayes().fit(chunks(frame, label))
    yield "texts in 20 chunks", 1, lambda: candide.TextNB("multinomial").fit(chunks(corpus.texts, corpus.labels))
    dask.config.set(scheduler="threads")
    parts = dd.from_pandas(table, npartitions=20)
    yield "table in 20 Dask partitions", 1, lambda: candide.NaiveBayes().fit(parts, y="label")


def work(scale: float) -> None:
    """Run cases on request: a name on standard input, seconds and the sum of the squared results on standard output."""
    import numpy as np

    runs = {name: (repeat, run) for name, repeat, run in cases(scale)}
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a case prints is not an answer
    print(json.dumps(list(runs)), file=answers)
    for line in sys.stdin:
        repeat, run = runs[json.loads(line)]
        begin = time.perf_counter()
        for _ in range(repeat):
            result = run()
        elapsed = (time.perf_counter() - begin) / repeat
        is_number = isinstance(result, float | np.ndarray)
        print(json.dumps([elapsed, float(np.square(np.exp(result)).mean()) if is_number else None]), file=answers)


class Worker:
    """A process of one version of candide."""

    def __init__(self, python: str, scale: float) -> None:
        command = [python, "-m", "benchmarks.revisions", _WORKER, "--scale", str(scale)]
        root = Path(__file__).resolve().parents[1]
        self._process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.names: list[str] = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def run(self, name: str) -> tuple[float, float | None]:
        """Return seconds, and a number that tells the results of two versions apart."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(name) + "\n")
        self._process.stdin.flush()
        seconds, result = self._answer()
        return seconds, result


def process_seconds(python: str, arguments: list[str]) -> float:
    """Return the seconds that a whole process takes."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    subprocess.run([python, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - begin


def compare(pythons: tuple[str, str], arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| case | old ms | new ms | new / old | difference of results |"
    yield "|---|---:|---:|---:|---:|"
    for name, command in (
        ("`import candide`", ["-c", "import candide"]),
        ("`candide --help`", ["-m", "candide.cli", "--help"]),
    ):
        taken = [[process_seconds(python, command) for python in pythons] for _ in range(arguments.rounds + 1)]
        yield line(name, taken[1:], None)
    workers = [Worker(python, arguments.scale) for python in pythons]
    for name in workers[0].names:
        if arguments.only in name:
            found = [[worker.run(name) for worker in workers] for _ in range(arguments.rounds + 1)]
            (_, old), (_, new) = found[0]
            different = None if old is None or new is None else abs(old - new)
            yield line(name, [[seconds for seconds, _ in pair] for pair in found[1:]], different)


def line(name: str, taken: list[list[float]], difference: float | None) -> str:
    """Return a line of the table, given the seconds of both versions in each round."""
    old, new = (statistics.median(times) for times in zip(*taken, strict=True))
    ratio = statistics.median(new / old for old, new in taken)
    last = "" if difference is None else f"{difference:.1e}"
    return f"| {name} | {1e3 * old:.3f} | {1e3 * new:.3f} | {ratio:.2f} | {last} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="interpreters: of the old version, of the new one")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full sizes (1)")
    parser.add_argument("--only", default="", help="run cases whose name contains this")
    parser.add_argument(_WORKER, action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.scale)
        return
    if len(arguments.pythons) != 2:
        parser.error("expected two interpreters, of the old version and of the new one")
    for text in compare(tuple(arguments.pythons), arguments):
        print(text, flush=True)


if __name__ == "__main__":
    main()
