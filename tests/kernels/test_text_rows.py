"""Texts as rows: what a sample keeps of them depends on nothing but the texts."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from storage.storing import decoded
from tiers import every

from candide.data.texts import read_texts
from candide.kernels.layouts import TextRows
from candide.statistics import Sample
from candide.statistics.base import Budget

TEXTS = ["", "a", "eight by", "nine byte", "naïve", "日本語のテキスト", "😀 half", None, "x" * 1000]
CONTAINERS: dict[str, Any] = {
    "arrow": pa.array,
    "large arrow": lambda texts: pa.array(texts, pa.large_string()),
    "objects": lambda texts: np.array(texts, dtype=object),
}


def rows(texts: Any) -> TextRows:
    return TextRows(read_texts(texts))


def test_hashes_are_fixed_for_all_time() -> None:
    """Samples that were kept depend on them."""
    assert rows(["", "a", "nine byte", None]).hashes().tolist() == [
        8124992281922888664,
        4161367346097680896,
        2518329975037653001,
        1098379754931887143,
    ]


def test_travellers_leave_behind_what_was_kept_for_a_while() -> None:
    kept = replace(rows(TEXTS), asked_again=True)
    back = pickle.loads(pickle.dumps(kept))
    assert (back.asked_again, back.counted, back.n_rows) == (False, [], len(TEXTS))
    assert "asked_again=False" in repr(back)


@every("make", CONTAINERS.values())
def test_hashes_and_sizes_do_not_depend_on_how_texts_lie(make: Any) -> None:
    one, other = rows(TEXTS), rows(make(TEXTS))
    np.testing.assert_array_equal(one.hashes(), other.hashes())
    np.testing.assert_array_equal(one.sizes(), other.sizes())
    assert one.sizes().tolist() == [len((text or "").encode()) for text in TEXTS]
    assert len(np.unique(one.hashes())) == len(TEXTS)


def test_what_is_no_utf8_is_kept_as_it_is_read() -> None:
    wrong = TextRows.packed(np.frombuffer(b"a\xffb\xed\xa0\x80", np.uint8), np.array([0, 6]), np.zeros(1, dtype=bool))
    right = rows([b"a\xffb\xed\xa0\x80".decode("utf-8", "replace")])
    np.testing.assert_array_equal(wrong.hashes(), right.hashes())
    assert wrong.stored(np.array([0])).texts.strings() == right.texts.strings()
    assert rows(["\ud800"]).hashes() == rows(["\ufffd"]).hashes()


@every("place", range(20))
def test_what_is_no_utf8_is_found_anywhere(place: int) -> None:
    """Between ASCII, of which eight bytes are checked at a time."""
    made = [b"a" * place + odd + b"b" * 19 for odd in (b"\xff", b"\xe6\x97", "é".encode())]
    offsets = np.cumsum([0, *map(len, made)])
    wrong = TextRows.packed(np.frombuffer(b"".join(made), dtype=np.uint8), offsets, np.zeros(len(made), dtype=bool))
    right = rows([text.decode("utf-8", "replace") for text in made])
    np.testing.assert_array_equal(wrong.hashes(), right.hashes())
    np.testing.assert_array_equal(wrong.sizes(), right.sizes())


def test_stored_rows_and_pickles_need_nothing_else() -> None:
    some = rows(TEXTS).stored(np.array([7, 5, 0]))
    for copy in (some, pickle.loads(pickle.dumps(some)), TextRows.packed(**some.arrays())):
        assert copy.texts.strings() == [None, TEXTS[5], ""]


def test_a_sample_of_texts_does_not_depend_on_parts() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["a", "bb", "ccc"], 5)) for _ in range(300)]
    classes = rng.integers(0, 2, 300).astype(np.int32)
    whole = Sample.of(rows(texts), classes, None, 2, Budget(1200))
    parts = [Sample.of(rows(texts[i::3]), classes[i::3], None, 2, Budget(1200)) for i in range(3)]
    merged = parts[2].merge(parts[0]).merge(parts[1])
    again = decoded(merged)
    for sample in (merged, again):
        assert sample.data.texts.strings() == whole.data.texts.strings()
        np.testing.assert_array_equal(sample.multiplicity, whole.multiplicity)
    assert 0 < len(whole.multiplicity) < len(set(texts)) * 2
