"""Megabytes a second from raw texts to a trained model and to predictions: ``python -m benchmarks.text``.

On texts made of words by Zipf's law, lower-case, two classes; with ``--data``, on those of a Parquet file with columns
``text`` and ``label`` too, such as 20 Newsgroups. All sides in turn, several rounds, medians. fastText and Vowpal
Wabbit take part where they are installed. ``--save`` keeps the tables in ``benchmarks/TEXT.md``.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import candide
from candide import TextNB

from .data import made_words
from .text_peers import FastText, VowpalWabbit

RESULTS = Path(__file__).with_name("TEXT.md")


class Side(NamedTuple):
    """Something that is timed."""

    label: str
    run: Callable[[], Any]
    most_rounds: int = 99  # of what takes long


class Corpus(NamedTuple):
    """Texts as strings and as Arrow's, with labels."""

    name: str
    texts: list[str]
    arrow: Any
    labels: Any

    @property
    def megabytes(self) -> float:
        return self.arrow.nbytes / 1e6

    @property
    def described(self) -> str:
        n_classes = len(np.unique(self.labels))
        return f"{self.name}, {self.megabytes:.0f} MB in {len(self.texts):,} texts, {n_classes} classes"


def made_corpus(megabytes: float, seed: int = 0) -> Corpus:
    """Words of English lengths, their frequencies by Zipf's law, some more frequent in one class."""
    rng = np.random.default_rng(seed)
    words = made_words(50_000, rng)
    n_texts = max(10, int(megabytes * 1e6 / 600))
    labels = rng.integers(0, 2, n_texts)
    ranks = np.minimum(rng.zipf(1.15, (n_texts, 110)), 25_000) - 1
    ranks = np.where(rng.random(ranks.shape) < 0.2, ranks + 25_000 * labels[:, None], ranks)
    table = np.array(words, dtype=object)
    texts = [" ".join(row) for row in table[ranks]]
    return Corpus("made of words", texts, pa.array(texts), np.array(["ham", "spam"])[labels])


def corpus_of(path: Path) -> Corpus:
    """The texts of a file, without those of rows that lack a text or a label."""
    table = pq.read_table(path, columns=["text", "label"]).drop_null()
    texts = table["text"].combine_chunks()
    return Corpus(path.stem, texts.to_pylist(), texts, np.array(table["label"].to_pylist()))


def training(corpus: Corpus, threads: int) -> list[Side]:
    texts, labels = corpus.texts, corpus.labels
    sides = [
        Side(f"candide, {threads} threads", lambda: multinomial(threads).fit(texts, labels)),
        Side(f"candide, {threads} threads, Arrow", lambda: multinomial(threads).fit(corpus.arrow, labels)),
        Side("candide, 1 thread", lambda: multinomial(1).fit(texts, labels)),
        Side("candide, 1 thread, texts kept", lambda: TextNB("multinomial", n_threads=1).fit(texts, labels)),
        Side(f"candide, auto, {threads} threads", lambda: TextNB(n_threads=threads).fit(texts, labels), 3),
        Side("CountVectorizer + MultinomialNB", lambda: counted().fit(texts, labels), 3),
        Side("HashingVectorizer + MultinomialNB", lambda: hashed().fit(texts, labels), 3),
        Side("polars, extract_all and group_by", lambda: by_polars(corpus), 3),
    ]
    for label, make in peers():
        sides.append(Side(label, lambda make=make: make().fit(texts, labels), 1))
    return sides


def peers() -> list[tuple[str, Callable[[], Any]]]:
    """Those of other makers that are installed."""
    made = []
    if find_spec("fasttext"):
        made.append(("fastText, 5 rounds", FastText))
        made.append(("fastText, 25 rounds, pairs", lambda: FastText(epoch=25, lr=0.5, wordNgrams=2)))
    if find_spec("vowpalwabbit"):
        made.append(("Vowpal Wabbit, 1 round", VowpalWabbit))
    return made


def predicting(corpus: Corpus, threads: int) -> list[Side]:
    texts = corpus.texts
    model, one = (multinomial(n).fit(texts, corpus.labels) for n in (threads, 1))
    auto = TextNB(n_threads=threads).fit(texts[:20_000], corpus.labels[:20_000])
    pipelines = [make().fit(texts[:20_000], corpus.labels[:20_000]) for make in (counted, hashed)]
    sides = [
        Side(f"candide, {threads} threads", lambda: model.predict_proba(texts)),
        Side(f"candide, {threads} threads, Arrow", lambda: model.predict_proba(corpus.arrow)),
        Side("candide, 1 thread", lambda: one.predict_proba(texts)),
        Side(f"candide, auto, {threads} threads", lambda: auto.predict_proba(texts), 3),
        Side("CountVectorizer + MultinomialNB", lambda: pipelines[0].predict_proba(texts), 3),
        Side("HashingVectorizer + MultinomialNB", lambda: pipelines[1].predict_proba(texts), 3),
    ]
    for label, make in peers():
        peer = make().fit(texts[:20_000], corpus.labels[:20_000])
        sides.append(Side(label, lambda peer=peer: peer.predict_proba(texts), 1))
    return sides


def multinomial(threads: int) -> TextNB:
    return TextNB("multinomial", compute_loo=False, n_threads=threads)


def counted() -> Any:
    return make_pipeline(CountVectorizer(), MultinomialNB())


def hashed() -> Any:
    return make_pipeline(HashingVectorizer(alternate_sign=False, norm=None), MultinomialNB())


def by_polars(corpus: Corpus) -> Any:
    frame = pl.DataFrame({"text": corpus.arrow, "label": corpus.labels})
    tokens = frame.select("label", pl.col("text").str.to_lowercase().str.extract_all(r"\b\w\w+\b").alias("token"))
    return tokens.explode("token").group_by("token", "label").len()


def seconds(sides: list[Side], rounds: int) -> dict[str, float]:
    """The median of each, the sides in turn."""
    taken: dict[str, list[float]] = {side.label: [] for side in sides}
    for i in range(rounds):
        for side in sides:
            if i < side.most_rounds:
                begin = time.perf_counter()
                side.run()
                taken[side.label].append(time.perf_counter() - begin)
    return {label: float(np.median(times)) for label, times in taken.items()}


def table(title: str, taken: dict[str, float], megabytes: float) -> list[str]:
    ours = next(iter(taken.values()))
    lines = ["", f"## {title}", "", "| | s | MB/s | times candide's |", "|---|---|---|---|"]
    lines += [f"| {name} | {s:.2f} | {megabytes / s:.0f} | {s / ours:.1f} |" for name, s in taken.items()]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument("--megabytes", type=float, default=45.0, help="of text (45)")
    parser.add_argument("--data", type=Path, help="Parquet file of texts and labels")
    parser.add_argument("--rounds", type=int, default=7, help="of which the median is shown (7)")
    parser.add_argument("--threads", type=int, default=2, help="of candide (2)")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    lines = [
        "# Speed on text",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {version('scikit-learn')}, polars "
        f"{pl.__version__}, Python {platform.python_version()}. Medians of {arguments.rounds} rounds, of 3 for what "
        f"takes long. Command: `python -m benchmarks.text {'--data FILE ' if arguments.data else ''}--save`.",
    ]
    for corpus in [made_corpus(arguments.megabytes), *([corpus_of(arguments.data)] if arguments.data else [])]:
        for title, sides in (("Training", training), ("Predicting", predicting)):
            taken = seconds(sides(corpus, arguments.threads), arguments.rounds)
            lines += table(f"{title}: {corpus.described}", taken, corpus.megabytes)
    print("\n".join(lines))
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
