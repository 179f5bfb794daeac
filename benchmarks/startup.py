"""Time ``candide classify`` of one text from a cold start: ``python -m benchmarks.startup [--save]``.

Milliseconds of processor time and on the clock, medians of rounds in which every command runs once, next to
``import numpy``. The models are made of random words, and their files hold no training rows.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np

import candide

TEXT = "win a free prize"
RESULTS = Path(__file__).with_name("STARTUP.md")
# Bytes of a file for each new token, approximately.
_PER_TOKEN = 95


def texts(n_tokens: int) -> Iterator[str]:
    """Yield texts of a hundred random words each."""
    rng = np.random.default_rng(0)
    for _ in range(max(4, n_tokens // 100)):
        yield " ".join(f"w{number:x}" for number in rng.integers(0, 1 << 40, 100).tolist())


def write_model(path: Path, megabytes: float) -> float:
    """Write a model to a file of about this size, and return its size in megabytes."""
    rows = list(texts(int(megabytes * 1e6 / _PER_TOKEN)))
    labels = ["spam" if place % 2 else "ham" for place in range(len(rows))]
    candide.TextNB(compute_loo=False).fit(rows, labels).save(path)
    return path.stat().st_size / 1e6


def times(command: list[str]) -> tuple[float, float]:
    """Return seconds of processor time and on the clock."""
    # Modules are compiled once, as after an installation.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    elapsed, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=115.0, help="of the larger model, about (115)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    program = [sys.executable, "-m", "candide.cli"]
    load = os.getloadavg()[0]
    commands = {
        "`import numpy`": [sys.executable, "-c", "import numpy"],
        "`import candide`": [sys.executable, "-c", "import candide"],
        "`candide --help`": [*program, "--help"],
    }
    with tempfile.TemporaryDirectory() as folder:
        for place, megabytes in enumerate((0.0, arguments.megabytes)):
            path = Path(folder) / f"{place}.candide"
            size = write_model(path, megabytes)
            commands[f"`candide classify`, {size:.1f} MB"] = [*program, "classify", str(path), TEXT]
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for done in range(-1, arguments.rounds):
            for name, command in commands.items():
                seconds = times(command)
                if done >= 0:
                    found[name].append(seconds)
    lines = [
        "# Start-up time",
        "",
        f"{date.today()}, candide {candide.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{os.cpu_count()} cores, load average {load:.1f} at the start. Milliseconds of the whole process "
        f'`candide classify MODEL "{TEXT}"`, medians of {arguments.rounds} rounds in which each command runs once. '
        "Command: `python -m benchmarks.startup --save`.",
        "",
        "| command | processor, ms | clock, ms | clock, times `import numpy` |",
        "|---|---:|---:|---:|",
    ]
    least = statistics.median(clock for _, clock in found["`import numpy`"])
    for name, every in found.items():
        own, clock = (statistics.median(part) for part in zip(*every, strict=True))
        lines.append(f"| {name} | {1e3 * own:.0f} | {1e3 * clock:.0f} | {clock / least:.1f} |")
    print("\n".join(lines))
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
