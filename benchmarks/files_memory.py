"""Texts in memory against the same from a file, in a process of its own: see ``benchmarks.files``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import islice
from statistics import median
from typing import Any

import candide
from candide import TextNB


def measure(path: str, model: str, megabytes: float) -> tuple[float, float]:
    """MB of text a second: batches that lie in memory; batches as they are read."""
    source, held, size = candide.read(path, label="label", text="text"), [], 0
    for batch in source.to_batches():
        held.append(batch)
        size += batch.column("text").nbytes
        if size >= megabytes * 1e6:
            break
    times: tuple[list[float], list[float]] = [], []
    for _ in range(3):
        times[0].append(_seconds(model, iter(held)))
        times[1].append(_seconds(model, islice(source.to_batches(), len(held))))
    memory, file = (size / 1e6 / median(each) for each in times)
    return memory, file


def _seconds(model: str, batches: Iterator[Any]) -> float:
    began = time.perf_counter()
    TextNB(model).fit((batch.column("text"), batch.column("label")) for batch in batches)
    return time.perf_counter() - began


if __name__ == "__main__":
    print(*measure(sys.argv[1], sys.argv[2], float(sys.argv[3])))
