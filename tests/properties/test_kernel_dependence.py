"""Kernels of columns together: native is reference, at any number of threads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import ReferenceKernels

from candide.kernels import Kernels
from candide.kernels.layouts import Floats, Positions
from candide.kernels.scoring import GridCells, PairTable, TripleTable, padded_classes

REFERENCE = ReferenceKernels()


class Problem(NamedTuple):
    """Rows of slots and of joint slots of some pairs of columns."""

    parents: Positions
    slots: Positions
    classes: Positions
    weight: Floats
    pairs: PairTable
    triples: TripleTable
    n_classes: int


def problem(n_rows: int, n_columns: int, n_classes: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, n_columns)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    codes = rng.integers(0, sizes, (n_rows, n_columns))
    slots = (codes + offsets[:-1]).astype(np.int32)
    columns = np.stack([np.arange(n_columns - 1), np.arange(1, n_columns)], axis=1).astype(np.int32)
    begins = np.concatenate([[0], np.cumsum(sizes[:-1] * sizes[1:])])
    parents = (codes[:, :-1] * sizes[1:] + codes[:, 1:] + begins[:-1]).astype(np.int32)
    classes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weight = rng.choice([0.0, 0.3, 1.0, 2.5], n_rows)
    n_slots, whole = int(offsets[-1]), weight * rng.integers(1, 3, n_rows)
    joint = REFERENCE.joint_counts(slots, slots, classes, whole, (n_classes, n_slots, n_slots))
    table = PairTable(joint, np.bincount(classes, whole, minlength=n_classes).astype(float), 0.5 * (sizes - 1))
    count = REFERENCE.joint_counts(parents, slots, classes, whole, (n_classes, int(begins[-1]), n_slots))
    return Problem(parents, slots, classes, weight, table, TripleTable(table, columns, count), n_classes)


def results(kernels: Any, p: Problem) -> list[Floats]:
    """What every kernel makes of it."""
    table = np.zeros((*p.triples.joint.shape[1:], padded_classes(p.n_classes)))
    table[..., : p.n_classes] = np.log(p.triples.joint + 0.1).transpose(1, 2, 0)
    rng = np.random.default_rng(1)
    words = rng.integers(0, 1 << 32, (5, p.pairs.joint.shape[1]), dtype=np.uint32)
    keys = np.unique(np.append(REFERENCE.grid_keys(p.slots[::2], words), np.array([0, 2**32 - 1], dtype=np.uint32)))
    cells = GridCells.of(keys, rng.normal(size=(len(keys), p.n_classes)).astype(np.float32))
    return [
        kernels.grid_keys(p.slots, words),
        kernels.grid_scores(p.slots, words, cells),
        # Whole numbers, whose sums are exact; slots of a column differ, as cells of a grid do.
        kernels.indicator_product(
            np.arange(len(p.slots) + 1, dtype=np.int32) * p.slots.shape[1],
            p.slots.ravel(),
            rng.integers(-9, 9, (p.pairs.joint.shape[1], 2 * p.n_classes + 7)).astype(np.float32),
        ),
        kernels.joint_counts(p.parents, p.slots, p.classes, p.weight, p.triples.joint.shape),
        kernels.joint_counts(p.slots, p.slots, p.classes, None, p.pairs.joint.shape),
        kernels.joint_scores(p.parents, p.slots, table, p.n_classes),
        kernels.own_pair_scores(p.slots, p.classes, p.weight, p.pairs, 2.0),
        kernels.own_triple_scores(p.parents, p.slots, p.classes, p.weight, p.triples, 4.0),
    ]


@given(
    n_rows=st.integers(0, 8), n_columns=st.integers(2, 20), n_classes=st.integers(1, 11), seed=st.integers(0, 1000)
)  # fmt: skip
def test_native_is_reference(n_rows: int, n_columns: int, n_classes: int, seed: int) -> None:
    made = problem(n_rows, n_columns, n_classes, seed)
    for got, meant in zip(results(Kernels(2), made), results(REFERENCE, made), strict=True):
        np.testing.assert_allclose(got, meant, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 9])
def test_threads_change_nothing(n_classes: int) -> None:
    made = problem(600, 12, n_classes, 0)
    for n_threads in (2, 3, 7):
        for got, meant in zip(results(Kernels(n_threads), made), results(Kernels(1), made), strict=True):
            np.testing.assert_array_equal(got, meant)
    for got, meant in zip(results(Kernels(2), made), results(REFERENCE, made), strict=True):
        np.testing.assert_allclose(got, meant, rtol=1e-11)


def test_more_factors_than_a_product_takes_at_once() -> None:
    n = 8200
    slots, classes, weight = np.zeros((1, n), np.int32), np.zeros(1, np.int32), np.ones(1)
    table = PairTable(np.full((1, 1, 1), 3.0), np.full(1, 4.0), np.ones(n))
    # All columns alike: p(j | class) = 2.5 / 5, p(j | u, class) = (2 + 2.5 / 5) / 3.
    meant = np.log(n) + np.log(2.5 / 5) + (n - 1) * np.log((2 + 2.5 / 5) / 3)
    np.testing.assert_allclose(Kernels(1).own_pair_scores(slots, classes, weight, table, 1.0), meant, rtol=1e-12)
