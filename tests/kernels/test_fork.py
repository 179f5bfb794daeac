"""No thread outlives a call, so a process may fork between two."""

from __future__ import annotations

import os
import sys
import threading

import numpy as np
import pytest

import candide

RANDOM = np.random.default_rng(0)
X, y = RANDOM.normal(size=(50_000, 8)), RANDOM.integers(0, 3, 50_000)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_computes_as_its_parent() -> None:
    model = candide.GaussianNB(n_threads=2).fit(X, y)
    expected = model.predict_proba(X)
    child = os.fork()
    if child == 0:
        again = candide.GaussianNB(n_threads=2).fit(X, y)
        os._exit(0 if np.array_equal(again.predict_proba(X), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads_may_share_a_model() -> None:
    model = candide.GaussianNB(n_threads=2).fit(X, y)
    expected = candide.GaussianNB(n_threads=1).fit(X, y).predict_proba(X)
    same: list[bool] = []
    callers = [
        threading.Thread(target=lambda: same.append(np.array_equal(model.predict_proba(X), expected))) for _ in range(8)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert same == [True] * 8


def test_no_thread_is_left() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("counts the threads that Linux lists")
    before = len(os.listdir("/proc/self/task"))
    candide.GaussianNB(n_threads=4).fit(X, y).predict_proba(X)
    assert len(os.listdir("/proc/self/task")) <= before
