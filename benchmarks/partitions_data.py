"""Partitions of rows, each made anew from its number: see ``benchmarks.partitions``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data import made_words


class Texts:
    """Texts in which new words never cease: their number grows as a power of that of all words, as Heaps found.

    Each partition has two or three of the four topics.
    """

    topics = ("animals", "books", "cities", "engines")
    # The share of words whose rank is above r is (1 + r / 50) ^ -0.6.
    tail, common_ranks = 0.6, 50.0
    words_of_a_text, bytes_of_a_text = 100, 640

    def __init__(self, kilobytes: float) -> None:
        self.n_rows = max(10, int(kilobytes * 1000 / self.bytes_of_a_text))
        self.names = np.array(made_words(200_000, np.random.default_rng(0)), dtype=object)

    def __call__(self, place: int) -> tuple[list[str], Any]:
        rng = np.random.default_rng([1, place])
        labels = rng.choice(rng.permutation(len(self.topics))[: rng.integers(2, 4)], self.n_rows)
        share = rng.random((self.n_rows, self.words_of_a_text))
        ranks = np.minimum(self.common_ranks * (share ** (-1 / self.tail) - 1), 1e15).astype(np.int64)
        # Of all words but the most common, a fifth are of the topic alone.
        own = (ranks > 20) & (rng.random(ranks.shape) < 0.2)
        ranks = np.where(own, (ranks + 1) * len(self.topics) + labels[:, None], ranks)
        return [" ".join(words) for words in self._words(ranks)], np.array(self.topics)[labels]

    def _words(self, ranks: Any) -> list[list[str]]:
        """The rarest are no words of a list, but names and numbers."""
        listed = ranks < len(self.names)
        words = self.names[np.where(listed, ranks, 0)]
        words[~listed] = [f"{self.names[rank % 9973]}{rank:x}" for rank in ranks[~listed].tolist()]
        found: list[list[str]] = words.tolist()
        return found


class Tables:
    """Six columns of numbers, three of counts, three of categories, one of which has new ones in every partition.

    Each partition has two of the three outcomes.
    """

    outcomes = ("left", "returned", "stayed")
    bytes_of_a_row = 100

    def __init__(self, kilobytes: float) -> None:
        self.n_rows = max(10, int(kilobytes * 1000 / self.bytes_of_a_row))

    def __call__(self, place: int) -> tuple[dict[str, Any], Any]:
        rng = np.random.default_rng([2, place])
        outcome = rng.choice(rng.permutation(len(self.outcomes))[:2], self.n_rows)
        columns = {f"number {j}": rng.normal(0.3 * outcome, 1) * 10.0 ** (j - 3) + j for j in range(6)}
        columns |= {f"count {j}": rng.poisson(2 + j + outcome).astype(float) for j in range(3)}
        levels = (20 * (rng.random((3, self.n_rows)) ** (-1 / 1.5) - 1)).astype(np.int64) + outcome
        for j, most in enumerate((10, 100, 100_000)):
            columns[f"category {j}"] = np.char.add("level ", np.minimum(levels[j], most).astype(str)).astype(object)
        columns["number 0"][rng.random(self.n_rows) < 0.04] = np.nan
        return columns, np.array(self.outcomes)[outcome]
