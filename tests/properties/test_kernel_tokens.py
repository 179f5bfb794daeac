"""Kernels over texts do what their reference says: tokens and counts exactly, scores to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import ReferenceKernels

from candide.data.texts import read_texts
from candide.kernels import Kernels
from candide.kernels.layouts import TextRows
from candide.kernels.tokenizer import TokenizerConfig
from candide.kernels.tokens import TokenFeatures, TokenRows, TokenTables, tally_and_keep
from candide.kernels.vocabulary import Buckets, Coding, SomeBuckets, Vocabulary

from .compare import dense
from .texts import TOKENIZERS, lists

NATIVE, REFERENCE = Kernels(2), ReferenceKernels()
KNOWN = Vocabulary.of(["ab", "c", "cd", "ab c", " a", "日本", "1", "a"])

every_tokenizer = pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
SOME = SomeBuckets(4, buckets=np.array([0, 1, 5, 6, 7, 15], dtype=np.int32))
codings = st.sampled_from([Vocabulary(), KNOWN, Buckets(3), Buckets(22), SOME])


def assert_same_rows(got: TokenRows, meant: TokenRows) -> None:
    """The same tokens with the same codes in the same order."""
    assert got.coding == meant.coding
    for part in ("indptr", "indices", "values"):
        np.testing.assert_array_equal(getattr(got.rows, part), getattr(meant.rows, part))
    np.testing.assert_array_equal(got.unknown, meant.unknown)


def all_feature_sets(coding: Coding) -> list[TokenFeatures]:
    return [TokenFeatures(tokenizer, coding) for tokenizer in TOKENIZERS.values()]


@every_tokenizer
@given(items=lists, coding=codings, grow=st.booleans())
def test_rows(tokenizer: Any, items: list[str | None], coding: Coding, grow: bool) -> None:
    """One recipe at a time."""
    texts, feature_sets = read_texts(items), [TokenFeatures(tokenizer, coding)]
    got, meant = (kernels.count_tokens(texts, feature_sets, grow=grow) for kernels in (NATIVE, REFERENCE))
    assert_same_rows(got[0], meant[0])


@every_tokenizer
@given(items=lists, coding=codings)
def test_presence(tokenizer: Any, items: list[str | None], coding: Coding) -> None:
    """The same tokens, each once."""
    texts, feature_sets = read_texts(items), [TokenFeatures(tokenizer, coding)]
    for kernels in (NATIVE, REFERENCE):
        got = kernels.count_tokens(texts, feature_sets, grow=True, presence=True)[0]
        counted = kernels.count_tokens(texts, feature_sets, grow=True)[0]
        ones = replace(counted.rows, values=np.ones_like(counted.rows.values))
        assert_same_rows(got, counted._replace(rows=ones))


@given(items=lists, coding=codings, grow=st.booleans())
def test_all_recipes_in_one_pass(items: list[str | None], coding: Coding, grow: bool) -> None:
    """Recipes that share a pass do not disturb each other."""
    texts = read_texts(items)
    together = NATIVE.count_tokens(texts, all_feature_sets(coding), grow=grow)
    for got, feature_set in zip(together, all_feature_sets(coding), strict=True):
        assert_same_rows(got, NATIVE.count_tokens(texts, [feature_set], grow=grow)[0])


def groups(n_texts: int, n_classes: int, weights: str) -> tuple[Any, Any, int]:
    """Classes of texts, and weights."""
    rng = np.random.default_rng(n_texts)
    weight = {"none": None, "whole": rng.integers(0, 3, n_texts) * 1.0, "fraction": rng.random(n_texts)}[weights]
    return rng.integers(0, n_classes, n_texts).astype(np.int32), weight, n_classes


@pytest.mark.parametrize("weights", ["none", "whole", "fraction"])
@pytest.mark.parametrize("n_classes", [1, 3, 20])
@given(items=lists, coding=codings, grow=st.booleans())
def test_tallies(n_classes: int, weights: str, items: list[str | None], coding: Coding, grow: bool) -> None:
    """Occurrences and texts by class, exactly where weights are whole."""
    feature_sets = [
        TokenFeatures(tokenizer, Buckets(6) if isinstance(coding, Buckets) else coding)
        for tokenizer in TOKENIZERS.values()
    ]
    arguments = read_texts(items), *groups(len(items), n_classes, weights), feature_sets
    got, meant = (kernels.tally_tokens(*arguments, grow=grow) for kernels in (NATIVE, REFERENCE))
    for mine, theirs in zip(got, meant, strict=True):
        assert mine.coding == theirs.coding
        for part in ("occurrences", "texts"):
            shape = getattr(theirs, part).shape
            np.testing.assert_allclose(
                dense(getattr(mine, part), shape),
                getattr(theirs, part),
                rtol=0,
                atol=1e-12 if weights == "fraction" else 0,
            )


@pytest.mark.parametrize("n_words", [50, pytest.param(400_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_classes", [2, 20])
@pytest.mark.parametrize("coding", [Vocabulary(), Buckets(8), Buckets(22)], ids=str)
def test_tallies_of_texts_short_and_long(coding: Coding, n_classes: int, n_words: int) -> None:
    """Sums are kept in other ways where texts, classes and codes are few or many; all are the sums of the rows."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in rng.zipf(1.3, n_words) % 3000]
    texts = read_texts([" ".join(words[at : at + 40]) for at in range(0, n_words, 40)])
    classes = rng.integers(0, n_classes, len(texts)).astype(np.int32)
    feature_set = TokenFeatures(TOKENIZERS["words"], coding)
    tally = NATIVE.tally_tokens(texts, classes, None, n_classes, [feature_set], grow=True)[0]
    rows = NATIVE.count_tokens(texts, [feature_set], grow=True)[0]
    assert tally.coding == rows.coding
    counts, by_class = rows.rows.matrix(), np.eye(n_classes)[classes].T
    for got, meant in ((tally.occurrences, by_class @ counts), (tally.texts, by_class @ (counts > 0))):
        assert (got != meant).sum() == 0


@pytest.mark.parametrize("weights", ["none", "whole", "fraction"])
@pytest.mark.parametrize("kernels", [NATIVE, REFERENCE], ids=["native", "reference"])
@given(items=lists)
def test_few_texts(kernels: Any, weights: str, items: list[str | None]) -> None:
    """The sums of a tally, and rows that need not be counted again, of the same texts in another order too."""
    feature_sets = [TokenFeatures(TOKENIZERS["words"], Vocabulary()), TokenFeatures(TOKENIZERS["pairs"], Buckets(12))]
    data, how = TextRows(read_texts(items)), groups(len(items), 3, weights)
    got, meant = (
        tally_and_keep(data, *how, feature_sets, kernels),
        kernels.tally_tokens(data.texts, *how, feature_sets, grow=True),
    )
    for mine, theirs in zip(got, meant, strict=True):
        assert mine.coding == theirs.coding
        np.testing.assert_allclose(
            dense(mine.texts, theirs.texts.shape), dense(theirs.texts, theirs.texts.shape), 0, 1e-12
        )
    backwards = data.stored(np.arange(len(items))[::-1])
    asked = [feature_set for feature_set, _ in data.counted]
    again = kernels.count_tokens(backwards.texts, asked, grow=False)
    kept = backwards.counted_by(asked)
    assert kept is not None
    assert backwards.counted_by(asked[:1]) is None
    for rows, found in zip(kept, again, strict=True):
        np.testing.assert_array_equal(rows.floats(), found.rows.floats() > 0)


def tables(
    feature_sets: Sequence[TokenFeatures], dtype: str, *, each: bool = True, once: bool = True
) -> list[TokenTables]:
    """Numbers for every token."""
    rng = np.random.default_rng(0)
    made = [
        [rng.normal(size=(len(feature_set.coding), width)).astype(dtype) for width in (3, 1)]
        for feature_set in feature_sets
    ]
    return [TokenTables(a if each else None, b if once else None) for a, b in made]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("each", "once", "distinct"), [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
@given(items=lists, coding=st.sampled_from([Vocabulary(), KNOWN, Buckets(3), Buckets(10), SOME]))
def test_scores(dtype: str, each: int, once: int, distinct: int, items: list[str | None], coding: Coding) -> None:
    """Sums over the tokens of a text."""
    feature_sets = all_feature_sets(coding)
    arguments = read_texts(items), feature_sets, tables(feature_sets, dtype, each=bool(each), once=bool(once))
    got, meant = (kernels.score_tokens(*arguments, distinct=bool(distinct)) for kernels in (NATIVE, REFERENCE))
    for mine, theirs in zip(got, meant, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            assert (a is None) == (b is None)
            if a is not None and b is not None:
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 if dtype == "f4" else 1e-11)


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_long_tokens(analyzer: Any) -> None:
    """Tokens that are known by more than their first bytes, many in a text."""
    texts = read_texts([" ".join(f"{i}longer{j}words{i * j}" for j in range(40)) for i in range(5)])
    feature_set = TokenFeatures(TokenizerConfig(analyzer, ngrams=(8, 12)), Vocabulary())
    rows, meant = (kernels.count_tokens(texts, [feature_set], grow=True)[0] for kernels in (NATIVE, REFERENCE))
    assert_same_rows(rows, meant)
    scores = NATIVE.score_tokens(texts, [TokenFeatures(feature_set.tokenizer, rows.coding)], [TokenTables()])[0]
    np.testing.assert_array_equal(scores.known, rows.rows.floats().sum(axis=1))


def many_texts() -> list[str]:
    """Enough for several shards, with tokens that first appear everywhere."""
    rng = np.random.default_rng(4)
    words = np.array([f"w{i}é" if i % 7 == 0 else f"word{i}" for i in range(50_000)], dtype=object)
    rank = rng.zipf(1.3, size=(9000, 80)) % len(words)
    return [" ".join(words[row]) for row in rank]


def test_threads_do_not_matter() -> None:
    """Bit for bit: codes, rows, sums with weights, and scores."""
    texts = read_texts(many_texts())
    assert texts.units() > 4 << 20
    feature_sets = [TokenFeatures(TOKENIZERS["words"], Vocabulary()), TokenFeatures(TOKENIZERS["pairs"], Buckets(16))]
    one, *several = (Kernels(n_threads) for n_threads in (1, 3))
    rows = one.count_tokens(texts, feature_sets, grow=True)
    for more in several:
        for got, meant in zip(more.count_tokens(texts, feature_sets, grow=True), rows, strict=True):
            assert_same_rows(got, meant)
    for weights, n_classes in (("none", 3), ("fraction", 3), ("none", 20)):
        arguments = texts, *groups(len(texts), n_classes, weights), feature_sets
        alone = one.tally_tokens(*arguments, grow=True)
        for more in several:
            for mine, theirs in zip(more.tally_tokens(*arguments, grow=True), alone, strict=True):
                assert mine.coding == theirs.coding
                for a, b in ((mine.occurrences, theirs.occurrences), (mine.texts, theirs.texts)):
                    np.testing.assert_array_equal(dense(a, a.shape), dense(b, b.shape))
    known = [TokenFeatures(tokenizer, got.coding) for (tokenizer, _), got in zip(feature_sets, rows, strict=True)]
    weighted = tables(known, "f4")
    scores = one.score_tokens(texts, known, weighted, distinct=True)
    for more in several:
        for mine, theirs in zip(more.score_tokens(texts, known, weighted, distinct=True), scores, strict=True):
            for a, b in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(a, b)


def test_chunks_equal_one_pass() -> None:
    """A vocabulary that grows chunk by chunk gives the codes of one pass, and old ones stay as they were."""
    texts, kernels = read_texts(many_texts()), Kernels(2)
    whole = kernels.count_tokens(texts, [TokenFeatures(TOKENIZERS["words"], Vocabulary())], grow=True)[0]
    coding: Coding = Vocabulary()
    parts, sizes, codings = [], [], []
    for begin in range(0, len(texts), 1000):
        codings.append(coding)
        sizes.append(len(coding))
        part = kernels.count_tokens(
            texts.rows(begin, begin + 1000), [TokenFeatures(TOKENIZERS["words"], coding)], grow=True
        )[0]
        coding = part.coding
        parts.append(part.rows.indices)
    assert coding == whole.coding
    np.testing.assert_array_equal(np.concatenate(parts), whole.rows.indices)
    assert [len(old) for old in codings] == sizes
