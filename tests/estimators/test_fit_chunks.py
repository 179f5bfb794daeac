"""Rows that come in chunks: the model of all rows, no chunk held for long, and errors that name their chunk."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tiers import every

from candide import GaussianNB, MultinomialNB, NaiveBayes, TextNB
from candide.exceptions import InputError, ParameterError
from candide.specs.text import TextSpec

TEXTS = ["win a free prize", "lunch at noon", "free cash", "late for lunch", "a prize for you", "see you", "win"] * 6
LABELS = np.array(["spam", "ham", "spam", "ham", "spam", "ham", "spam"] * 6)
COUNTS = np.random.default_rng(0).integers(0, 4, (60, 3))
CLASSES = np.array([0, 1, 2] * 20)


def dealt(X: Any, *rest: Any, size: int = 5) -> Iterator[tuple[Any, ...]]:
    """Stretches of ``size`` rows."""
    for begin in range(0, len(X), size):
        yield tuple(part[begin : begin + size] for part in (X, *rest))


@pytest.mark.parametrize(
    "how",
    [{}, pytest.param({"refine": True}, marks=pytest.mark.slow), {"family": "multinomial"}, {"family": "bernoulli"}],
    ids=str,
)
@pytest.mark.parametrize("weight", [None, np.arange(42) % 3 + 1.0], ids=["plain", "weighted"])
def test_texts(how: dict[str, Any], weight: Any) -> None:
    rest = (LABELS,) if weight is None else (LABELS, weight)
    model, whole = TextNB(**how).fit(dealt(TEXTS, *rest)), TextNB(**how).fit(TEXTS, LABELS, weight)
    assert model.vocabulary_ == whole.vocabulary_
    np.testing.assert_array_equal(model.token_count_, whole.token_count_)
    np.testing.assert_array_equal(model.predict_proba(TEXTS), whole.predict_proba(TEXTS))
    assert model.loo_.log_loss == whole.loo_.log_loss


@pytest.mark.parametrize("model", [MultinomialNB(), NaiveBayes(stacking=None)], ids=str)
def test_arrays_may_be_filled_again(model: Any) -> None:
    """Who yields chunks may write the next one over the last."""
    X, y, weight = np.empty((5, 3)), np.empty(5, dtype=int), np.empty(5)

    def chunks() -> Iterator[tuple[Any, ...]]:
        for cells, labels in dealt(COUNTS, CLASSES):
            X[:], y[:], weight[:] = cells, labels, labels + 1
            yield X, y, weight

    probability = model.fit(chunks()).predict_proba(COUNTS)
    np.testing.assert_allclose(probability, model.fit(COUNTS, CLASSES, CLASSES + 1.0).predict_proba(COUNTS))


class Text(str):
    """A string whose end can be seen."""


def test_a_large_chunk_goes_before_the_next_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextSpec, "group_bytes", 0)
    before: list[Any] = []

    def chunks() -> Iterator[tuple[Any, ...]]:
        for i in range(5):
            assert not any(text() for text in before)
            text = Text(f"word{i}")
            before.append(weakref.ref(text))
            chunk = [text], [i % 2]
            del text
            yield chunk
            del chunk

    TextNB("multinomial").fit(chunks())


def test_chunks_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside those that wait, one that is made."""
    monkeypatch.setattr(TextSpec, "group_bytes", 2000)
    alive: list[Any] = []
    most = 0

    def chunks() -> Iterator[tuple[Any, ...]]:
        nonlocal most
        for i in range(200):
            texts = [Text(f"word{i} and{j}") for j in range(3)]
            alive.extend(weakref.ref(text) for text in texts)
            yield texts, [0, 1, 1]
            del texts
            most = max(most, sum(text() is not None for text in alive))

    TextNB("multinomial").fit(chunks())
    gc.collect()
    assert 3 < most <= 2000 // 64
    assert not any(text() for text in alive)


STREAM = """
import resource, sys
from candide import TextNB

def chunks(megabytes):
    for i in range(20 * megabytes):
        yield [f"{i} word{j % 997} and word{i % 991} " + "of a text " * 98 for j in range(50)], [0, 1] * 25

TextNB(sys.argv[1]).fit(chunks(int(sys.argv[2])))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is in other units elsewhere")
@pytest.mark.parametrize("model", ["auto", "multinomial"])
def test_memory_does_not_grow_with_the_stream(model: str) -> None:
    """Megabytes at the highest point, of streams that are several times what is counted at once."""
    peaks = [
        int(subprocess.run([sys.executable, "-c", STREAM, model, size], capture_output=True, check=True).stdout)
        for size in ("30", "80")
    ]
    assert peaks[1] - peaks[0] < 25


def test_what_was_learned_before_is_forgotten() -> None:
    model = MultinomialNB().fit(COUNTS, CLASSES + 7)
    assert model.fit(dealt(COUNTS, CLASSES)).classes_.tolist() == [0, 1, 2]


def test_beliefs_may_speak_of_classes_to_come() -> None:
    order = np.argsort(CLASSES, kind="stable")
    model = MultinomialNB(class_prior=[0.2, 0.3, 0.5], class_weight={2: 2.0})
    probability = model.fit(dealt(COUNTS[order], CLASSES[order])).predict_proba(COUNTS)
    np.testing.assert_array_equal(probability, model.fit(COUNTS, CLASSES).predict_proba(COUNTS))
    with pytest.raises(ParameterError, match="got 2 priors for 3 classes"):
        MultinomialNB(class_prior=[0.5, 0.5]).fit(dealt(COUNTS[order], CLASSES[order]))
    with pytest.raises(ParameterError, match="class_weight has the key 9"):
        MultinomialNB(class_weight={9: 2.0}).fit(dealt(COUNTS, CLASSES))


def test_rows_that_are_not_kept_are_looked_at_first() -> None:
    how: dict[str, Any] = {"calibrate": "temperature", "subsample": 0, "compute_loo": True}
    model, whole = MultinomialNB(**how).fit(dealt(COUNTS, CLASSES)), MultinomialNB(**how).fit(COUNTS, CLASSES)
    np.testing.assert_array_equal(model.predict_proba(COUNTS), whole.predict_proba(COUNTS))
    assert model.loo_.log_loss == whole.loo_.log_loss


def test_a_column_may_begin_with_holes() -> None:
    """What is asked of numbers holds for a column whose first number comes late."""
    frame = pd.DataFrame({"size": [None] * 10 + [1.0, 2.5] * 10, "kind": list("abc") * 10, "y": [0, 1] * 15})
    model = NaiveBayes({"numbers": "gaussian"}, stacking=None)
    chunks = ((frame[begin : begin + 5], "y") for begin in range(0, 30, 5))
    streamed, whole = (model.fit(*rows).summary() for rows in ((chunks,), (frame, "y")))
    assert str(streamed) == str(whole)


def test_an_iterable_that_can_be_gone_through_again() -> None:
    class Days:
        def __iter__(self) -> Iterator[tuple[Any, ...]]:
            return dealt(COUNTS, CLASSES)

    assert GaussianNB().fit(Days()).class_count_.tolist() == [20, 20, 20]


def test_texts_one_by_one_have_labels_beside_them() -> None:
    model = TextNB("multinomial").fit((text for text in TEXTS), LABELS)
    assert model.class_count_.sum() == len(TEXTS)
    with pytest.raises(InputError, match=r"chunk 0 is a str; .* pass the labels of all rows as y"):
        TextNB().fit(text for text in TEXTS)


def broken(X: Any, at: int, row: int) -> Iterator[tuple[Any, Any]]:
    for i, (cells, labels) in enumerate(dealt(X, CLASSES)):
        cells = cells.copy()
        if i == at:
            cells[row] = -1
        yield cells, labels


def no_longer_readable() -> Iterator[tuple[Any, Any]]:
    yield COUNTS, CLASSES
    raise OSError("the disk is gone")


ERRORS: dict[str, tuple[Any, Any, Any, str]] = {
    "nothing": (MultinomialNB(), lambda: iter([]), InputError, "found no chunks"),
    "no tuple": (MultinomialNB(), lambda: iter([COUNTS]), InputError, "chunk 0 is a ndarray; .* such tuples"),
    "too many parts": (MultinomialNB(), lambda: iter([(1, 2, 3, 4, 5)]), InputError, "chunk 0 is a tuple of 5"),
    "no rows": (TextNB(), lambda: iter([(TEXTS, LABELS), ([], [])]), InputError, "chunk 1: found no texts"),
    "no label": (TextNB(), lambda: iter([(["a"], [None])]), InputError, "contains NaN .* none of the"),
    "a label too few": (
        MultinomialNB(), lambda: dealt(COUNTS, CLASSES[:48]), InputError, r"chunk 9: .* X has 5 rows, y has 3",
    ),
    "a negative count": (
        MultinomialNB(), lambda: broken(COUNTS, 7, 2), InputError, r"chunk 7: .*row 2",
    ),
    "a column too few": (
        MultinomialNB(), lambda: iter([(COUNTS, CLASSES), (COUNTS[:, :2], CLASSES)]), ValueError,
        "chunk 1: X has 2 features",
    ),
    "another kind of label": (
        MultinomialNB(), lambda: iter([(COUNTS, CLASSES)] * 3 + [(COUNTS, ["spam"] * 60)]), InputError,
        "chunk 3: y contains .spam. at row 0.* different types",
    ),
    "another kind of column": (
        NaiveBayes(), lambda: iter([([[1.5]], [0]), ([["red"]], [1])]), InputError, "chunk 1: .*column 0",
    ),
    "the source": (MultinomialNB(), no_longer_readable, OSError, "^the disk is gone$"),
}  # fmt: skip


@every("case", ERRORS.values())
def test_errors_name_the_chunk_and_change_nothing(case: tuple[Any, Any, Any, str]) -> None:
    model, chunks, error, message = case
    X = TEXTS if isinstance(model, TextNB) else COUNTS[: len(TEXTS)]
    model.fit(X, LABELS)
    before = dict(vars(model))
    with pytest.raises(error, match=message):
        model.fit(chunks())
    assert vars(model) == before


def test_weights_belong_into_the_chunks() -> None:
    with pytest.raises(InputError, match=r"yield \(X, y, sample_weight\)"):
        MultinomialNB().fit(dealt(COUNTS, CLASSES), sample_weight=np.ones(60))


@every("X", [COUNTS, COUNTS.tolist(), pd.DataFrame(COUNTS)])
def test_a_forgotten_y_is_no_stream(X: Any) -> None:
    with pytest.raises(InputError, match="requires y to be passed"):
        GaussianNB().fit(X)


def test_tables_with_texts() -> None:
    frame = pd.DataFrame({"text": TEXTS, "size": np.arange(42) % 5, "y": LABELS})
    how: dict[str, Any] = {"columns": {"text": "text"}}
    streamed = NaiveBayes(**how).fit((frame[begin : begin + 5], "y") for begin in range(0, 42, 5))
    whole = NaiveBayes(**how).fit(frame, "y")
    np.testing.assert_allclose(streamed.predict_proba(frame), whole.predict_proba(frame), atol=1e-9)
