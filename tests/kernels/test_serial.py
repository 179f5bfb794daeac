"""Linear algebra on one thread: set back when the last stretch of work ends, whoever runs them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  # brings a library of its own
from threadpoolctl import threadpool_info, threadpool_limits

from candide import NaiveBayes
from candide.kernels.kernels import single_threaded_blas


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with threadpool_limits(2, user_api="blas"):
        yield


def threads() -> set[int]:
    """Of the libraries of linear algebra."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_one_thread_and_back() -> None:
    before = threads()
    with single_threaded_blas():
        with single_threaded_blas():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == before


def test_an_error_sets_it_back() -> None:
    before = threads()
    with pytest.raises(ZeroDivisionError), single_threaded_blas():
        _ = 1 / 0
    assert threads() == before


def test_stretches_that_overlap() -> None:
    """The one that began first ends first; the other has one thread to its end."""
    before, begun, go_on = threads(), Event(), Event()

    @single_threaded_blas()
    def other() -> set[int]:
        begun.set()
        assert go_on.wait(60)
        return threads()

    with ThreadPoolExecutor(1) as pool:
        with single_threaded_blas():
            found = pool.submit(other)
            assert begun.wait(60)
        go_on.set()
        assert found.result() == {1}
    assert threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_does_not_wait_for_stretches_of_its_parent() -> None:
    before = threads()
    with single_threaded_blas():
        child = os.fork()
        if not child:
            os._exit(int(threads() != before))
        assert os.waitpid(child, 0)[1] == 0


def test_fitting_and_predicting_set_it_back() -> None:
    before, rng = threads(), np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    NaiveBayes().fit(X, y).predict_proba(X)
    assert threads() == before
