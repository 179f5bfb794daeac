"""Every estimator answers what it answered before the structure of the package changed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from candide.kernels.layouts import Array

from .cases import CASES, RECORDED, answers


@cache
def _recorded() -> dict[str, Array]:
    with np.load(RECORDED) as found:
        return {name: found[name] for name in found.files}


@pytest.mark.parametrize("case", list(CASES))
def test_answers_are_the_same(case: str) -> None:
    expected = {name: array for name, array in _recorded().items() if name.startswith(f"{case}: ")}
    found = {f"{case}: {name}": array for name, array in answers(case).items()}
    assert found.keys() == expected.keys()
    for name, array in found.items():
        if array.dtype.kind == "f":
            np.testing.assert_allclose(array, expected[name], rtol=1e-9, atol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(array, expected[name], err_msg=name)
