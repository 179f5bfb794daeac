"""Codes merge_codes to fewer."""

from __future__ import annotations

import numpy as np
import pytest

from candide.stacking.binning import merge_codes


def test_few_codes_stay() -> None:
    numbers, levels = merge_codes([np.ones(6), np.ones(30)], [True, False], 6)
    np.testing.assert_array_equal(numbers, np.arange(8))
    np.testing.assert_array_equal(levels, np.arange(32))


@pytest.mark.parametrize("bins", [2, 6, 10])
def test_bins_are_of_equal_weight_and_rise(bins: int) -> None:
    (codes,) = merge_codes([np.ones(60)], [True], bins)
    assert (np.diff(codes) >= 0).all()
    assert np.bincount(codes)[:-2].tolist() == [60 / bins] * bins


def test_a_heavy_code_leaves_no_empty_bin() -> None:
    (codes,) = merge_codes([np.array([1.0, 1, 1, 100, 1, 1, 1, 1])], [True], 4)
    assert np.unique(codes).tolist() == list(range(codes.max() + 1))


def test_rare_levels_are_one() -> None:
    (codes,) = merge_codes([np.array([5.0, 1, 7, 1, 3])], [False], 6, levels=3)
    assert codes.tolist() == [0, 2, 1, 2, 2, 3, 4]


def test_a_column_without_codes_is_missing_or_unseen() -> None:
    maps = merge_codes([np.zeros(0), np.zeros(0)], [True, False], 6)
    assert [codes.tolist() for codes in maps] == [[0, 1], [0, 1]]


def test_weights_of_zero_are_merged_too() -> None:
    (codes,) = merge_codes([np.zeros(9)], [True], 3)
    assert codes.tolist() == [0] * 9 + [1, 2]
