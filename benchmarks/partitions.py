"""A thousand partitions on one machine, counted and added as on a cluster: ``python -m benchmarks.partitions``.

Each partition is made anew from its number (``partitions_data``): texts in which new words never cease, or a table with
new categories; classes differ from one to the next. It is counted by what Dask and Spark run, a pickled
``Summarize``; its states go as pickles through a tree of ``merge_partial_states``. They arrive in any order,
some late, and one in ten twice, counted again as after a retry; where one comes after its sum was made, that sum is
made again and arrives twice above. The result is compared with one pass over all rows, array by array, and in what it
predicts. ``--save`` keeps the tables in ``benchmarks/PARTITIONS.md``.
"""

from __future__ import annotations

import argparse
import pickle
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import candide
from candide.model.accumulator import PartialState, merge_partial_states
from candide.model.source import Chunk
from candide.model.train import Summarize, train
from candide.sources.engine_source import EngineSource

from .markdown import heading, line
from .partitions_data import Tables, Texts
from .same import differences

RESULTS = Path(__file__).with_name("PARTITIONS.md")
FAN_INS = (8, 16)  # of Dask and of Spark, as candide.sources has them
# One task in so many is run twice; one in so many takes so many times as long.
TWICE, LATE, SLOWNESS = 10, 20, 10.0
HELD_OUT = 300


class Case(NamedTuple):
    name: str
    make: Callable[[], Any]
    partition: Callable[[float], Any]


CASES = [
    Case('TextNB("multinomial")', lambda: candide.TextNB("multinomial"), Texts),
    Case('TextNB("multinomial", compute_loo=False)', lambda: _alone(), Texts),
    Case('TextNB("multinomial", compute_loo=False, buckets=20)', lambda: _alone(buckets=20), Texts),
    Case("TextNB()", candide.TextNB, Texts),
    Case("NaiveBayes()", candide.NaiveBayes, Tables),
]


def _alone(**settings: Any) -> Any:
    """Sums without a sample of the texts."""
    return candide.TextNB("multinomial", compute_loo=False, **settings)


class Level(NamedTuple):
    """A floor of the tree."""

    sizes: list[int]  # bytes of each sum that it makes
    n_arrived: int  # sums from the floor below
    n_twice: int  # of which so many were there already
    seconds: list[float]  # of each task: to read, to add, to write


class Cluster(EngineSource):
    """Rows in many partitions, as a cluster shows them to a learner; sums are files, one for each attempt at them."""

    sent = 0  # bytes of the learner that goes to every worker

    def __init__(self, partition: Any, n_partitions: int, folder: Path) -> None:
        self.partition, self.n_partitions, self.folder = partition, n_partitions, folder
        self.fan_in = FAN_INS[0]
        self.counted: Level | None = None
        self.levels: list[Level] = []

    def _first(self, n: int, having: list[str]) -> Chunk:
        X, y = self.partition(0)
        return Chunk(_first(X, n), y[:n])

    def _empty(self, X: Any) -> list[str]:
        return []

    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        return (Chunk(*self.partition(number)) for number in range(self.n_partitions))

    def summarize(self, task: Summarize, start: int = 0) -> Iterator[PartialState]:
        """All sums as one; partitions are counted when this is first asked."""
        self.rng = np.random.default_rng(3)
        if self.counted is None:
            self._count_all(pickle.dumps(task.for_workers(), protocol=5))
        sums, self.levels = self.leaves, []
        while len(sums) > 1:
            sums = self._add_all([sums[i : i + self.fan_in] for i in range(0, len(sums), self.fan_in)])
        yield pickle.loads(sums[0][0].read_bytes())

    def _count_all(self, learner: bytes) -> None:
        self.sent, sizes, seconds = len(learner), [], []
        self.leaves: list[list[Path]] = []
        for place in range(self.n_partitions):
            attempts = []
            for attempt in range(1 + self._once_in(TWICE)):
                rows = self.partition(place)
                begin = time.process_time()
                content = _counted(learner, place, rows)
                seconds.append(time.process_time() - begin)
                attempts.append(self._written(content, f"leaf {place} {attempt}"))
            sizes.append(len(content))
            self.leaves.append(attempts)
        self.counted = Level(sizes, 0, 0, seconds)

    def _add_all(self, groups: list[list[list[Path]]]) -> list[list[Path]]:
        """The next floor of the tree."""
        level = Level([], sum(len(attempts) for group in groups for attempts in group), 0, [])
        found = [self._meeting(group, f"sum {len(self.levels)} {i}", level) for i, group in enumerate(groups)]
        twice = level.n_arrived - sum(map(len, groups))
        self.levels.append(level._replace(n_twice=twice))
        return found

    def _meeting(self, group: list[list[Path]], name: str, level: Level) -> list[Path]:
        """Adds what has arrived once nothing is missing; if something comes later, everything once more."""
        arrivals = sorted((self._delay(i), j, file) for j, files in enumerate(group) for i, file in enumerate(files))
        places = [j for _, j, _ in arrivals]
        complete = max(places.index(j) for j in range(len(group))) + 1
        made = []
        for attempt, until in enumerate(dict.fromkeys([complete, len(arrivals)])):
            contents = [file.read_bytes() for _, _, file in arrivals[:until]]
            begin = time.process_time()
            content = pickle.dumps(merge_partial_states(map(pickle.loads, contents)), protocol=5)
            level.seconds.append(time.process_time() - begin)
            made.append(self._written(content, f"{name} {attempt}"))
        level.sizes.append(len(content))
        return made

    def _delay(self, attempt: int) -> float:
        """When the result of a task arrives, if tasks take a unit of time; another attempt begins later."""
        slow = SLOWNESS if self._once_in(LATE) else 1.0
        return float(2 * attempt + slow * self.rng.exponential())

    def _once_in(self, n: int) -> bool:
        return bool(self.rng.integers(n) == 0)

    def _written(self, content: bytes, name: str) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path


def _counted(learner: bytes, place: int, rows: tuple[Any, Any]) -> bytes:
    """What a worker does with a partition."""
    return pickle.dumps(pickle.loads(learner).whole([Chunk(*rows)], place), protocol=5)


def _first(X: Any, n: int) -> Any:
    return {name: column[:n] for name, column in X.items()} if isinstance(X, dict) else X[:n]


def fitted(learner: Any, cluster: Cluster) -> Any:
    """As ``fit`` does with rows that are elsewhere."""
    learner.model_ = train(learner._spec(), cluster)
    return learner


def in_one_pass(case: Case, partition: Any, n_partitions: int) -> Any:
    return case.make().fit(partition(place) for place in range(n_partitions))


def told(case: Case, n_partitions: int, kilobytes: float, fan_ins: list[int]) -> list[str]:
    """The tables of a case."""
    partition = case.partition(kilobytes)
    whole = in_one_pass(case, partition, n_partitions)
    held_out = _first(partition(n_partitions)[0], HELD_OUT)
    expected = whole.predict_proba(held_out)
    lines = ["", f"## {case.name}"]
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(partition, n_partitions, Path(folder))
        for fan_in in fan_ins:
            cluster.fan_in = fan_in
            model = fitted(case.make(), cluster)
            lines += floors(cluster)
            unlike = differences(_state(whole), _state(model))
            off = float(np.abs(model.predict_proba(held_out) - expected).max())
            lines += [
                "",
                f"Compared with one pass over all rows: {_said(unlike)}; probabilities differ by {off:.1g} at most.",
            ]
    lines.append(f"A model of {cluster.sent / 1000:,.0f} kB is sent to each worker.")
    return lines


def _state(model: Any) -> Any:
    return model.model_.classifier.state


def _said(unlike: dict[str, float]) -> str:
    if not unlike:
        return "all arrays are identical"
    return "identical except " + ", ".join(f"{name} (to {size:.1g})" for name, size in unlike.items())


def floors(cluster: Cluster) -> list[str]:
    """A line for each floor of the tree."""
    assert cluster.counted is not None
    columns = [
        "states received",
        "duplicates",
        "MB received",
        "states produced",
        "MB each",
        "largest MB",
        "s each",
        "longest s",
    ]
    lines = heading(f"fan-in {cluster.fan_in}", columns)
    arrived = 0
    for name, level in zip(_names(cluster), [cluster.counted, *cluster.levels], strict=True):
        sizes, seconds = np.array(level.sizes) / 1e6, np.array(level.seconds)
        counts = [f"{level.n_arrived:,}", str(level.n_twice), f"{arrived:,.1f}", f"{len(sizes):,}"]
        figures = [sizes.mean(), sizes.max(), seconds.mean(), seconds.max()]
        lines.append(line(name, [*counts, *(f"{number:.3g}" for number in figures)]))
        arrived = sizes.sum()
    return lines


def _names(cluster: Cluster) -> list[str]:
    return ["partitions", *(f"level {i}" for i in range(1, len(cluster.levels) + 1))]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument("--partitions", type=int, default=1000)
    parser.add_argument("--kilobytes", type=float, default=250.0, help="of a partition (250)")
    parser.add_argument("--fan-in", type=int, nargs="+", default=list(FAN_INS), help="sums that one task adds (8 16)")
    parser.add_argument("--only", nargs="+", help="words in the names of the cases to run")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("candide", "numpy", "scipy"))
    lines = [
        "# A thousand partitions",
        "",
        f"{date.today()}, {versions}, Python {platform.python_version()}. {given.partitions:,} partitions of "
        f"{given.kilobytes:g} kB. Command: `python -m benchmarks.partitions --save`; the docstring describes the "
        "procedure.",
        "",
        "Seconds on one core for one task: unpickle the states, merge them, pickle the "
        "result; for partitions, unpickle the model, count, pickle. The tasks of a level run in parallel, so "
        "a level takes as long as its longest task.",
    ]
    print("\n".join(lines))
    for case in CASES:
        if given.only is None or any(word in case.name for word in given.only):
            found = told(case, given.partitions, given.kilobytes, given.fan_in)
            print("\n".join(found), flush=True)
            lines += found
    if given.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
