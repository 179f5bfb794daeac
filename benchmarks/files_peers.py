"""scikit-learn's ``partial_fit`` over chunks of a file by pandas, in a process of its own: see ``benchmarks.files``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import GaussianNB, MultinomialNB

_ROWS = 20_000


def chunks(path: str) -> Iterator[Any]:
    if path.endswith(".parquet"):
        for batch in pq.ParquetFile(path).iter_batches(_ROWS):
            yield batch.to_pandas()
    else:
        yield from pd.read_csv(path, chunksize=_ROWS)


def learn_texts(path: str) -> None:
    model, hashed = MultinomialNB(), HashingVectorizer(alternate_sign=False, norm=None)
    classes = pd.unique(next(chunks(path))["label"])
    for chunk in chunks(path):
        model.partial_fit(hashed.transform(chunk["text"]), chunk["label"], classes=np.sort(classes))


def learn_table(path: str) -> None:
    """Numbers by their mean where they are missing; categories cannot be mixed in, so they are left out."""
    model = GaussianNB()
    classes = pd.unique(next(chunks(path))["label"])
    for chunk in chunks(path):
        numbers = chunk.select_dtypes("number")
        model.partial_fit(numbers.fillna(numbers.mean()), chunk["label"], classes=np.sort(classes))


if __name__ == "__main__":
    (learn_texts if "text" in next(chunks(sys.argv[1])).columns else learn_table)(sys.argv[1])
