"""The command line on files larger than memory should hold: ``python -m benchmarks.files``.

Makes a Parquet file and a CSV file of texts, and a CSV file of a table (``benchmarks.files_data``), and lets each side
go through them in a process of its own, in turn: ``candide train``, scikit-learn's ``partial_fit`` over chunks by
pandas (texts by ``HashingVectorizer``, for a vocabulary cannot grow; tables by codes and numbers), and ``wc -l``.
Seconds, MB of the file a second, and the high-water mark of resident memory. ``--save`` keeps the table in
``benchmarks/FILES.md``; the files are deleted unless they are in a ``--folder``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

from .files_data import make
from .markdown import heading, line

RESULTS = Path(__file__).with_name("FILES.md")
_PEERS = Path(__file__).with_name("files_peers.py")
_MEMORY = Path(__file__).with_name("files_memory.py")


class Case(NamedTuple):
    name: str
    kind: str
    table: bool
    megabytes: float


class Ran(NamedTuple):
    seconds: float
    peak: float  # MB
    cpu: float  # seconds of all cores


def run(*command: str) -> Ran:
    """A process and its children, timed, with its peak of resident memory."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return Ran(time.perf_counter() - began, usage.ru_maxrss * 1024 / 1e6, usage.ru_utime + usage.ru_stime)


def sides(case: Case, path: Path, threads: int) -> dict[str, list[str]]:
    """Commands by name."""
    python, candide = sys.executable, str(Path(sys.executable).with_name("candide"))
    model = str(path.with_suffix(".candide"))
    train = [candide, "train", str(path), "--label", "label", "-o", model, "--quiet", "--threads", str(threads)]
    found = {"candide train": train}
    if not case.table:
        found["candide train --model multinomial"] = [*train, "--model", "multinomial"]
    found["scikit-learn, partial_fit over pandas"] = [python, str(_PEERS), str(path)]
    found["wc -l"] = ["wc", "-l", str(path)]
    return found


def in_memory(path: Path, model: str, megabytes: float) -> tuple[float, float]:
    """MB of text a second, of a part of the file that lies in memory, and straight from the file."""
    done = subprocess.run(
        [sys.executable, str(_MEMORY), str(path), model, str(megabytes)], capture_output=True, text=True, check=True
    )
    memory, file = map(float, done.stdout.split())
    return memory, file


def measured(case: Case, path: Path, rounds: int, threads: int) -> list[str]:
    """Lines of a table: medians, all sides in turn."""
    commands = sides(case, path, threads)
    ran: dict[str, list[Ran]] = {name: [] for name in commands}
    for number in range(rounds):
        for name, command in commands.items():
            # What takes minutes is not asked twice.
            if number == 0 or ran[name][0].seconds < 300:
                ran[name].append(run(*command))
    size = path.stat().st_size / 1e6
    ours = median(one.seconds for one in ran["candide train"])
    lines = heading(f"{case.name}, {size:,.0f} MB", ["seconds", "MB/s", "peak MB", "times candide train"])
    for name, times in ran.items():
        seconds, peak = median(one.seconds for one in times), max(one.peak for one in times)
        lines.append(line(name, [f"{seconds:.1f}", f"{size / seconds:,.0f}", f"{peak:,.0f}", f"{seconds / ours:.2f}"]))
    return lines


def compared(path: Path, megabytes: float) -> list[str]:
    """From a Parquet file against texts in memory."""
    lines = heading(f"{megabytes:,.0f} MB of texts", ["in memory, MB/s", "from Parquet, MB/s", "share"])
    for model in ("auto", "multinomial"):
        memory, file = in_memory(path, model, megabytes)
        lines.append(line(model, [f"{memory:.0f}", f"{file:.0f}", f"{file / memory:.0%}"]))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument("--parquet", type=float, default=5000.0, help="megabytes of the Parquet file (5000)")
    parser.add_argument("--csv", type=float, default=2000.0, help="megabytes of each CSV file (2000)")
    parser.add_argument("--memory", type=float, default=500.0, help="megabytes of texts in memory (500)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, help="where the files are made, and stay")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    cases = [
        Case("texts, Parquet", "parquet", False, arguments.parquet),
        Case("texts, CSV", "csv", False, arguments.csv),
        Case("table, CSV", "csv", True, arguments.csv),
    ]
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("candide", "scikit-learn", "pandas", "pyarrow", "duckdb")
    )
    lines = [
        "# Files",
        "",
        f"{date.today()}, {versions}, {arguments.threads} threads. Command: `python -m benchmarks.files --save`.",
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for case in cases:
            path = folder / f"{'table' if case.table else 'texts'}_{case.megabytes:g}.{case.kind}"
            if not path.exists():
                make(path, kind=case.kind, megabytes=case.megabytes, table=case.table)
            lines += measured(case, path, arguments.rounds, arguments.threads)
            if case.kind == "parquet":
                lines += compared(path, arguments.memory)
    print("\n".join(lines))
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
