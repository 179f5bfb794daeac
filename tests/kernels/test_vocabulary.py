"""Vocabularies and buckets."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import every

from candide.exceptions import ParameterError
from candide.kernels.vocabulary import Buckets, SomeBuckets, Vocabulary

words = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=40)


@given(words)
def test_a_vocabulary_is_a_dictionary(tokens: list[str]) -> None:
    """Codes by first appearance, whatever the tokens are."""
    place = {token: code for code, token in enumerate(dict.fromkeys(tokens))}
    vocabulary = Vocabulary.of(tokens)
    assert vocabulary.tokens() == list(place)
    assert vocabulary.codes([*tokens, "never seen before"]).tolist() == [*(place[t] for t in tokens), -1]


@given(words, words)
def test_merging(mine: list[str], theirs: list[str]) -> None:
    """Both in one; the two stay as they were."""
    a, b = Vocabulary.of(mine), Vocabulary.of(theirs)
    both, codes = a.merge(b)
    assert both == Vocabulary.of([*mine, *theirs])
    assert both.codes(b.tokens()).tolist() == codes.tolist()
    assert a == Vocabulary.of(mine)
    assert b == Vocabulary.of(theirs)


def test_two_that_grow_from_one_part_ways() -> None:
    """Neither sees the tokens of the other."""
    root = Vocabulary.of(["a"])
    left, right = root.merge(Vocabulary.of(["b"]))[0], root.merge(Vocabulary.of(["c"]))[0]
    assert (root.tokens(), left.tokens(), right.tokens()) == (["a"], ["a", "b"], ["a", "c"])
    assert root.codes(["b", "c"]).tolist() == left.codes(["c", "c"]).tolist() == [-1, -1]
    itself, codes = left.merge(left)
    assert (itself, codes.tolist()) == (left, [0, 1])


def test_threads_that_grow_from_one() -> None:
    """Each gets its own tokens, and the root keeps its own."""
    root = Vocabulary.of(["root"])
    parts = [[f"{part}.{i}" for i in range(500)] for part in range(8)]
    with ThreadPoolExecutor(4) as pool:
        grown = list(pool.map(lambda part: root.merge(Vocabulary.of(part))[0], parts))
    assert [one.tokens() for one in grown] == [["root", *part] for part in parts]
    assert root.tokens() == ["root"]


@given(words)
def test_stored_and_read_again(tokens: list[str]) -> None:
    """By its arrays, and by pickle."""
    vocabulary = Vocabulary.of(tokens)
    assert Vocabulary.from_arrays(*vocabulary.arrays()) == vocabulary
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary


def test_bad_tokens_and_arrays() -> None:
    """What is no token is refused."""
    with pytest.raises(ParameterError, match="token 1 is 3"):
        Vocabulary.of(["a", 3])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="token 0 is None"):
        Vocabulary().codes([None])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="only 1 of 2 tokens are valid and distinct"):
        Vocabulary.from_arrays(np.frombuffer(b"aa", dtype=np.uint8), np.array([0, 1, 2]))
    with pytest.raises(ParameterError, match="bits is 31"):
        Buckets(31)


def slow_hash(token: str) -> int:
    """As cpp/core/token_hash.hpp describes it."""
    k0, k1, k2, mask = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 2**64 - 1
    data = token.encode()
    h = (len(data) + 1) * k0 & mask
    for at in range(0, max(len(data), 1), 8):
        product = (h ^ int.from_bytes(data[at : at + 8], "little")) * k1
        h = product >> 64 ^ product & mask
    product = (h ^ k2) * k0
    return product >> 64 ^ product & mask


@given(words, st.integers(1, 30))
def test_buckets_are_the_first_bits_of_the_hash(tokens: list[str], bits: int) -> None:
    """Part of what a model is: other machines and later versions must agree."""
    assert Buckets(bits).codes(tokens).tolist() == [slow_hash(token) >> (64 - bits) for token in tokens]


def test_buckets_are_as_good_as_drawn() -> None:
    """As few tokens share a bucket as if buckets were drawn by lot, for tokens that differ in few bits too."""
    tokens = [f"{a}{b}" for a in ("", "x", "word ", "a longer beginning ") for b in range(50_000)]
    filled = len(np.unique(Buckets(18).codes(tokens)))
    expected = 2**18 * (1 - np.exp(-len(tokens) / 2**18))
    assert abs(filled - expected) < 6 * np.sqrt(2**18 * 0.25)


@given(words, words, st.integers(1, 30))
def test_some_buckets_have_codes_of_their_own(seen: list[str], tokens: list[str], bits: int) -> None:
    """Ascending; tokens that fall into another bucket have none."""
    every = Buckets(bits)
    some = SomeBuckets(bits, buckets=np.unique(every.codes(seen)))
    place = {bucket: code for code, bucket in enumerate(some.buckets.tolist())}
    assert some.codes([*seen, *tokens]).tolist() == [place.get(b, -1) for b in every.codes([*seen, *tokens]).tolist()]
    assert (len(some), some == SomeBuckets.of(some.native), some == every) == (len(place), True, False)


@every("buckets,message", [([2, 1], "ascending"), ([1, 1], "ascending"), ([8], "lie in")])
def test_buckets_that_are_none(buckets: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _ = SomeBuckets(3, buckets=np.array(buckets, dtype=np.int32)).native
