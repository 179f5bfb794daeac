"""Tasks on several threads: their results come in order, their errors are raised, and no thread is left."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from candide.kernels.kernels import map_in_order


def test_results_come_in_order() -> None:
    """The second task ends after the third."""
    third_ended = threading.Event()

    def task(item: int, n_threads: int) -> tuple[int, int]:
        if item == 1:
            assert third_ended.wait(10)
        if item == 2:
            third_ended.set()
        return item, n_threads

    assert list(map_in_order(task, range(5), 2)) == [(0, 2), (1, 1), (2, 1), (3, 1), (4, 1)]


def test_one_thread_is_that_of_the_caller() -> None:
    found = map_in_order(lambda _, n_threads: (threading.current_thread(), n_threads), range(3), 1)
    assert list(found) == [(threading.current_thread(), 1)] * 3


def test_few_items_are_read_ahead() -> None:
    read = []

    def items() -> Iterator[int]:
        for item in range(100):
            read.append(item)
            yield item

    results = map_in_order(lambda item, _: item, items(), 2)
    assert [next(results), next(results)] == [0, 1]
    assert len(read) == 4
    results.close()
    assert len(read) == 4


def test_an_error_ends_the_work() -> None:
    before, begun = threading.active_count(), []

    def task(item: int, n_threads: int) -> int:
        begun.append(item)
        if item == 3:
            raise ValueError("item 3")
        return item

    with pytest.raises(ValueError, match="item 3"):
        list(map_in_order(task, range(100), 2))
    assert max(begun) <= 6
    assert threading.active_count() == before
