"""Peak memory of learning from a generator of texts, beside the model: ``python -m benchmarks.stream``.

Each model learns in a process of its own, from chunks of texts that are made as they are asked for, by the kernel's
high-water mark of resident memory (Linux). What the process held before counts as nothing; the model is what it takes
when it is stored. ``--save`` keeps the table in ``benchmarks/STREAM.md``.
"""

from __future__ import annotations

import argparse
import gc
import pickle
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import candide
from candide.kernels._core import trim_heap

from .data import made_words
from .markdown import heading, line
from .memory import MB, peak_of, resident

RESULTS = Path(__file__).with_name("STREAM.md")
MODELS = ("auto", "multinomial")
_WORDS_OF_A_TEXT = 110


class Measured(NamedTuple):
    """Bytes of text, of memory at the highest point and in the end, of the stored model; and seconds, of which some for
    making the texts.
    """

    text: int
    peak: int
    held: int
    model: int
    seconds: float
    making: float


class Source:
    """Chunks of texts by Zipf's law, two classes; it counts what it has made."""

    def __init__(self, megabytes: float, texts_of_a_chunk: int, n_words: int = 200_000) -> None:
        self.rng = np.random.default_rng(0)
        self.words = np.array(made_words(n_words, self.rng), dtype=object)
        self.most, self.n_texts = int(megabytes * 1e6), texts_of_a_chunk
        self.made, self.seconds = 0, 0.0

    def chunks(self) -> Iterator[tuple[list[str], Any]]:
        while self.made < self.most:
            begin = time.perf_counter()
            labels = self.rng.integers(0, 2, self.n_texts)
            texts = self.texts(labels)
            self.made += sum(map(len, texts))
            self.seconds += time.perf_counter() - begin
            yield texts, labels
            del texts

    def texts(self, labels: Any) -> list[str]:
        """A fifth of the words are of the class alone."""
        half = len(self.words) // 2
        ranks = np.minimum(self.rng.zipf(1.15, (len(labels), _WORDS_OF_A_TEXT)), half) - 1
        own = self.rng.random(ranks.shape) < 0.2
        return [" ".join(row) for row in self.words[ranks + half * labels[:, None] * own].tolist()]


def measure(kind: str, megabytes: float, texts_of_a_chunk: int) -> Measured:
    warm = Source(0.2, 100)
    candide.TextNB(kind).fit(warm.chunks())  # loads libraries
    source = Source(megabytes, texts_of_a_chunk)
    begin, before = time.perf_counter(), resident("VmRSS")
    peak, model = peak_of(lambda: candide.TextNB(kind).fit(source.chunks()))
    seconds = time.perf_counter() - begin
    gc.collect()
    trim_heap()
    held = resident("VmRSS") - before
    return Measured(source.made, peak, held, len(pickle.dumps(model)), seconds, source.seconds)


def in_a_child(*arguments: Any) -> Measured:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(measure, *arguments).result()


def row(kind: str, found: Measured) -> str:
    sizes = found.peak, found.held, found.model, found.peak - found.model
    speed = found.text / 1e6 / (found.seconds - found.making)
    return line(kind, [f"{found.text / 1e6:,.0f}", *(f"{size / MB:.0f}" for size in sizes), f"{speed:.0f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument("--megabytes", type=float, default=2000.0, help="of text (2000)")
    parser.add_argument("--texts", type=int, default=1000, help="in a chunk (1000)")
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    lines = [
        "# Memory of streaming text",
        "",
        f"{date.today()}, candide {candide.__version__}, {arguments.texts:,} texts per batch, two classes. Command: "
        "`python -m benchmarks.stream --save`.",
        *heading("model", ["text MB", "peak MB", "at the end", "stored", "peak minus stored", "MB/s"]),
    ]
    lines += [row(kind, in_a_child(kind, arguments.megabytes, arguments.texts)) for kind in arguments.models]
    print("\n".join(lines))
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
