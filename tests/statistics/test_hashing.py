"""The hash of a row is fixed for all time, and is that of its values, in whatever types and classes they come."""

from __future__ import annotations

import struct
from enum import Enum
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from tiers import every

from candide.kernels.layouts import Dense, Sparse
from candide.statistics.hashing import ABOVE_ALL, row_hashes

ALL_BITS = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


class Tree(str, Enum):  # noqa: UP042
    ASH = "ash"


def mix(bits: int) -> int:
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & ALL_BITS
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & ALL_BITS
    return bits ^ (bits >> 31)


def cell_bits(cell: float | str) -> int:
    if isinstance(cell, float):
        return int(struct.unpack("<Q", struct.pack("<d", cell))[0])
    return int.from_bytes(blake2b(f"str\0{cell}".encode(), digest_size=8).digest(), "little")


def plain_hash(row: list[float | str]) -> int:
    """The formula, one cell after the other."""
    keys = [mix((j + 1) * GOLDEN & ALL_BITS) for j in range(len(row))]
    cells = [mix(cell_bits(cell) ^ key) - mix(key) for cell, key in zip(row, keys, strict=True)]
    return mix((sum(cells) + GOLDEN) & ALL_BITS) >> 1


def hash_of(*cells: Any) -> int:
    """The hash of one row of labels."""
    columns = tuple(np.array([None], dtype=object) for _ in cells)
    for column, cell in zip(columns, cells, strict=True):
        column[0] = cell
    return int(row_hashes(Dense.of(columns))[0])


def test_the_hash_is_the_formula() -> None:
    rows: list[list[float | str]] = [[1.5, -2.0, 0.0], [0.0, float("nan"), 1e300], ["ash", 3.0, "Übergröße 🌳"]]
    assert [hash_of(*row) for row in rows] == [plain_hash(row) for row in rows]


def test_the_hash_never_changes() -> None:
    """Samples made years apart must merge."""
    numbers = row_hashes(Dense.of(np.array([[0.0, 0.0], [0.0, 1.5], [2.0, np.nan]])))
    assert numbers.tolist() == [8147104208329303767, 3207515029051476011, 6152199355507115244]
    labels = [hash_of("ash", 1), hash_of(None, 2**60 + 1), hash_of(b"ash", "1")]
    assert labels == [5460926569003034036, 3354418798250439809, 4259023466813629970]


def test_every_hash_is_below_the_highest_threshold() -> None:
    values = np.random.default_rng(0).normal(size=(1000, 2))
    assert (row_hashes(Dense.of(values)) < ABOVE_ALL).all()


@every(
    "alike",
    [
        [1, 1.0, True, np.bool_(True), np.int8(1), np.float32(1), np.uint64(1)],
        [0, 0.0, -0.0, False, np.float16(-0.0)],
        [None, np.nan, float("nan"), np.float32("nan"), pd.NA, pd.NaT],
        ["ash", np.str_("ash"), Tree.ASH, pd.Series(["ash"], dtype="string")[0]],
        [2**60, 2.0**60, np.int64(2**60)],
        [2**60 + 1, np.int64(2**60 + 1), np.uint64(2**60 + 1)],
        [b"ash", np.bytes_(b"ash")],
    ],
)
def test_equal_labels_have_equal_hashes(alike: list[Any]) -> None:
    assert len({hash_of("x", label) for label in alike}) == 1


def test_different_labels_have_different_hashes() -> None:
    labels = [0, 1, 1.5, "1", "1.0", b"1", None, "", "None", "nan", np.inf, -np.inf, 2**60, 2**60 + 1, (1, 2), "(1, 2)"]
    assert len({hash_of(label) for label in labels}) == len(labels)
    assert hash_of("a", "b") != hash_of("b", "a")
    assert hash_of("\ud800") != hash_of("\ud801")


@every("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "O"])
def test_the_type_of_a_column_does_not_matter(dtype: str) -> None:
    values = np.array([[0, 1, 1], [1, 0, 1]])
    expected = row_hashes(Dense.of(values.astype(np.float64)))
    np.testing.assert_array_equal(row_hashes(Dense.of(values.astype(dtype))), expected)
    np.testing.assert_array_equal(row_hashes(Dense.of(tuple(values.astype(dtype).T))), expected)


def test_whole_numbers_beyond_doubles_stay_apart() -> None:
    values = np.array([[2**60], [2**60 + 1], [3]])
    hashes = row_hashes(Dense.of(values))
    assert len(set(hashes.tolist())) == len(set(row_hashes(Dense.of(-values)).tolist())) == 3
    np.testing.assert_array_equal(hashes, row_hashes(Dense.of((values[:, 0].astype(np.uint64),))))
    np.testing.assert_array_equal(hashes[[0, 2]], row_hashes(Dense.of(values[[0, 2]].astype(np.float64))))


def test_every_nan_is_one() -> None:
    """Quiet or signalling, of either sign, in single and double precision."""
    double = np.array([0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8000000000123], dtype=np.uint64).view("f8")
    single = np.array([0x7FC00000, 0x7F800001, 0xFFC00123], dtype=np.uint32).view("f4")
    hashes = [row_hashes(Dense.of(values[:, None])).tolist() for values in (double, single)]
    assert hashes == [[hash_of(None)] * 3] * 2


def test_zeros_that_are_stored_do_not_count() -> None:
    stored = Sparse(np.array([0, 3, 3, 5]), np.array([2, 0, 1, 1, 0]), np.array([5.0, 0.0, -0.0, 7.0, np.nan]), 3)
    dense = np.array([[0, 0, 5.0], [0, 0, 0], [np.nan, 7.0, 0]])
    expected = row_hashes(Dense.of(dense))
    np.testing.assert_array_equal(row_hashes(stored), expected)
    np.testing.assert_array_equal(row_hashes(Sparse.of(csr_array(dense))), expected)


@every("shape", [(0, 3), (1, 1), (3, 40_000), (40_000, 1)])
def test_any_shape(shape: tuple[int, int]) -> None:
    """Also rows wider than a block, and more rows than one holds."""
    values = np.random.default_rng(0).integers(0, 1000, shape).astype(np.float64)
    hashes = row_hashes(Dense.of(values))
    assert hashes.shape == shape[:1]
    np.testing.assert_array_equal(hashes, row_hashes(Sparse.of(csr_array(values))))
    for row in {0, shape[0] // 2, shape[0] - 1} if shape[0] else ():
        np.testing.assert_array_equal(hashes[row], row_hashes(Dense.of(values[row : row + 1]))[0])


def test_small_whole_numbers_spread_evenly() -> None:
    """Rows that differ in few bits: none alike, and every stretch of hashes has its share, to five deviations."""
    grid = np.stack(np.meshgrid(*[np.arange(16.0)] * 4), axis=-1).reshape(-1, 4)
    hashes = row_hashes(Dense.of(grid))
    assert len(np.unique(hashes)) == len(grid)
    share = np.bincount((hashes >> np.uint64(57)).astype(np.int64), minlength=64) / len(grid)
    assert np.abs(share - 1 / 64).max() < 5 * np.sqrt(1 / 64 / len(grid))
