"""The check of sparse matrices alone: no kernel and no conversion of scipy's reads what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, dia_array

from candide.data.sparse import checked_rows
from candide.exceptions import InputError

from .malformed import SPARSE, sound


@pytest.mark.parametrize("name", SPARSE)
def test_the_check_finds_it(name: str) -> None:
    with pytest.raises(InputError):
        checked_rows(SPARSE[name]())


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
def test_sound_matrices_pass(form: str) -> None:
    matrix = sound().asformat(form)
    assert checked_rows(matrix).toarray().tolist() == matrix.toarray().tolist()


def test_room_for_more_cells_is_no_mistake() -> None:
    matrix = sound()
    roomy = csr_array((np.append(matrix.data, 7.0), np.append(matrix.indices, 0), matrix.indptr), shape=matrix.shape)
    assert checked_rows(roomy).toarray().tolist() == matrix.toarray().tolist()


def test_diagonals_outside_the_shape_hold_nothing() -> None:
    matrix = dia_array((np.ones((2, 3)), np.array([0, 100])), shape=(3, 3))
    assert checked_rows(matrix).toarray().tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("form", ["csr", "coo", "lil", "dok"])
def test_objects_that_are_numbers_are_numbers(form: str) -> None:
    matrix = sound().asformat(form)
    if form in ("lil", "dok"):
        matrix.dtype = np.dtype(object)
    else:
        matrix.data = matrix.data.astype(object)
    assert checked_rows(matrix).toarray().tolist() == sound().toarray().tolist()
