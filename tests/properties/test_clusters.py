"""Rows that Dask has cut into partitions, whatever these are, make the state that they make together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from tiers import late, tries

from candide import NaiveBayes, TextNB
from candide.exceptions import InputError

from .compare import assert_alike
from .models import KINDS, Kind, by_name
from .spread import assert_same_state, partitions
from .strategies import Rows, orders, rows
from .tables import SETTINGS, assert_predicts_alike, assert_same_table, mixed

dask, da, dd = map(late, ("dask", "dask.array", "dask.dataframe"))
kinds = pytest.mark.parametrize("kind", KINDS, ids=by_name)
pytestmark = pytest.mark.dask


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Dask's tasks are run here, one after the other."""
    with dask.config.set(scheduler="synchronous"):
        yield


# The six classifiers.


def array(kind: Kind, parts: list[Rows]) -> tuple[Any, Any, Any]:
    """Rows, labels and weights as Dask's arrays, of which each part is a block."""
    X = [kind.encode(part.X) for part in parts]
    found = [_blocks(X), _blocks([part.y for part in parts]), _blocks([part.weight for part in parts])]
    return found[0], found[1], found[2]


def _blocks(blocks: list[Any]) -> Any:
    return da.concatenate(
        [da.from_delayed(dask.delayed(block), block.shape, block.dtype) for block in blocks],
        allow_unknown_chunksizes=True,
    )


@kinds
@tries(6)
@given(data=st.data())
def test_arrays_of_dask_are_fit(kind: Kind, data: Any) -> None:
    table = data.draw(rows(kind))
    X, y, weight = array(kind, data.draw(partitions(table)))
    apart = kind.make(subsample=100_000).fit(X, y, weight)
    assert_same_state(apart, kind.fit(table.X, table.y, table.weight, subsample=100_000))


@kinds
def test_further_rows_and_rows_forgotten(kind: Kind) -> None:
    """partial_fit and forget on a cluster are partial_fit and forget."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (60, 3)).astype(float), np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    parts = [Rows(X[i : i + 10], y[i : i + 10], np.ones(10)) for i in range(0, 60, 10)]
    model = kind.make(subsample=100_000)
    model.partial_fit(*array(kind, parts[:2])[:2]).partial_fit(*array(kind, parts[2:])[:2])
    assert_same_state(model, kind.fit(X, y, subsample=100_000))
    model.forget(*array(kind, parts[3:])[:2])
    assert_same_state(model, kind.fit(X[:30], y[:30], subsample=100_000))


# Tables.

# A state is the same whatever is made of it.
PLAIN: dict[str, Any] = {"n_threads": 1, "stacking": None, "calibrate": None}
_WORDS = ["sun", "rain", "wind", "snow", "fog", "ice", "sea", "lake", "road", "hill", "wood", "town"]


def sundry(n: int, seed: int = 0) -> pd.DataFrame:
    """Numbers, counts, flags, names, dates with times, and texts, with holes; the label and a weight beside them."""
    frame, label = mixed(n, seed)
    rng = np.random.default_rng(seed)
    seen = pd.Series(np.datetime64("2024-01-01") + rng.integers(0, 10**7, n) * np.timedelta64(1, "s"))
    seen[rng.random(n) < 0.1] = pd.NaT
    note = np.array([" ".join(rng.choice(_WORDS, 7)) + f" {i}" for i in range(n)], dtype=object)
    note[rng.random(n) < 0.1] = None
    return frame.assign(seen=seen, note=note, label=label, weight=rng.integers(0, 3, n).astype(float))


def dealt(frame: pd.DataFrame, places: Any, n_places: int) -> Any:
    """A data frame of Dask, whose partitions may be empty."""
    parts = [frame[places == place] for place in range(n_places)]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=frame.iloc[:0], verify_meta=False)


def by_token(statistics: Any) -> list[dict[Any, float]]:
    """For each look at texts the sums of each token and class; codes are in the order of appearance, unless hashed."""
    return [_sums(coo_array(feature_set.counts.total), feature_set.coding) for feature_set in statistics.feature_sets]


def _sums(total: coo_array, coding: Any) -> dict[Any, float]:
    names = coding.tokens() if hasattr(coding, "tokens") else range(len(coding))
    cells = zip(total.coords[1].tolist(), total.coords[0].tolist(), total.data.tolist(), strict=True)
    return {(names[code], label): weight for code, label, weight in cells if weight}


def assert_same_sundry(a: Any, b: Any) -> None:
    """As tables are compared, and their texts token by token."""
    assert_same_table(a, b)
    mine, theirs = (model.model_.classifier.state.statistics.texts for model in (a, b))
    assert [*map(by_token, mine)] == [*map(by_token, theirs)]


@tries(6)
@given(data=st.data())
def test_tables_in_any_partitions(data: Any) -> None:
    frame = sundry(60, data.draw(st.integers(0, 3)))
    places = np.random.default_rng(data.draw(st.integers(0, 100))).integers(0, data.draw(st.integers(1, 9)), len(frame))
    weight = data.draw(st.sampled_from([None, "weight"]))
    if weight is None:
        frame = frame.drop(columns="weight")
    shuffled = frame.iloc[data.draw(orders(len(frame)))]
    whole = NaiveBayes(**PLAIN).fit(
        frame.drop(columns=["label", "weight"], errors="ignore"), frame["label"], weight and frame[weight]
    )
    apart = NaiveBayes(**PLAIN).fit(dealt(shuffled, places, 9), "label", weight)
    assert whole.model_.classifier.state.statistics.kinds.count("text") == 1
    assert_same_sundry(apart, whole)


@pytest.mark.parametrize("how", [SETTINGS["calibrated"], SETTINGS["all"]], ids=["calibrated", "all"])
def test_the_same_weights_and_answers(how: dict[str, Any]) -> None:
    frame = sundry(200).drop(columns="weight")
    apart = NaiveBayes(n_threads=1, **how).fit(dd.from_pandas(frame, npartitions=7), "label")
    whole = NaiveBayes(n_threads=1, **how).fit(frame, "label")
    assert_predicts_alike(apart, whole, frame)
    assert apart.loo_.accuracy == whole.loo_.accuracy


def test_partitions_of_one_kind_each() -> None:
    """One class, one category, one month, no number, no text: here this, there that."""
    frame = sundry(180).drop(columns="weight").sort_values(["label", "job", "seen"])
    frame.iloc[:40, frame.columns.get_indexer(["age", "note", "job", "seen"])] = None
    places = np.arange(180) // 20
    whole = NaiveBayes(**PLAIN).fit(frame, "label")
    for deal in (places, 8 - places):
        assert_same_sundry(NaiveBayes(**PLAIN).fit(dealt(frame, deal, 9), "label"), whole)


def test_columns_that_the_first_rows_do_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they are names or texts, and dates with times of day, is told by other rows to all partitions alike."""
    monkeypatch.setattr("candide.model.train._HEAD", 60)
    frame = sundry(180).drop(columns="weight")
    frame.iloc[:100, frame.columns.get_indexer(["note", "seen", "job"])] = None
    apart = NaiveBayes(**PLAIN).fit(dealt(frame, np.arange(180) // 30, 6), "label")
    assert_same_sundry(apart, NaiveBayes(**PLAIN).fit(frame, "label"))


def test_a_column_without_any_value() -> None:
    frame = sundry(60).assign(nothing=np.full(60, None, dtype=object)).drop(columns="weight")
    apart = NaiveBayes(**PLAIN).fit(dealt(frame, np.arange(60) % 4, 4), "label")
    assert_same_sundry(apart, NaiveBayes(**PLAIN).fit(frame, "label"))


def test_a_column_of_numbers_here_and_names_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("candide.model.train._HEAD", 2)
    frames = [pd.DataFrame({"a": cells, "y": ["u", "v"]}) for cells in ([1, 2], ["x", "z"])]
    spread = dd.from_delayed([dask.delayed(frame) for frame in frames], meta=frames[0].iloc[:0], verify_meta=False)
    with pytest.raises(InputError, match="partition 1: column 'a'"):
        NaiveBayes().fit(spread, "y")


# Texts.

TEXTS = [
    f"{a} {b} {c}, {i}" for i, (a, b, c) in enumerate(zip(_WORDS * 9, _WORDS[3:] * 12, _WORDS[7:] * 22, strict=False))
]
CLASSES = np.array(["land", "water", "air"])[np.arange(len(TEXTS)) % 3]


@pytest.mark.parametrize("model", ["auto", "multinomial", "bernoulli", "complement", "polya"])
def test_texts_in_any_partitions(model: str) -> None:
    """Vocabularies differ from partition to partition."""
    frame = pd.DataFrame({"text": TEXTS, "label": CLASSES}).sort_values("text")
    whole = TextNB(model, subsample=100_000).fit(frame["text"], frame["label"])
    spread = dealt(frame, np.arange(len(TEXTS)) // 17, 9)
    for X, y in ((spread, "label"), (spread["text"], spread["label"])):
        apart = TextNB(model, subsample=100_000).fit(X, y)
        assert by_token(apart.model_.classifier.state.statistics) == by_token(whole.model_.classifier.state.statistics)
        assert_alike(apart.model_.classifier.state.sample, whole.model_.classifier.state.sample)
    np.testing.assert_allclose(apart.predict_proba(TEXTS), whole.predict_proba(TEXTS), rtol=0, atol=1e-7)
