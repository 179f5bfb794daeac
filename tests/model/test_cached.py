"""Attributes made on demand, by several threads."""

from __future__ import annotations

import threading

from candide.lazy import cached

BOTH = threading.Barrier(2, timeout=10)


class Pair:
    """Each attribute asks for the other once both threads are inside."""

    def __init__(self, first: str) -> None:
        self.first = first

    def _asked(self, name: str, other: str) -> int:
        if self.first != name:
            return 1
        BOTH.wait()
        return int(getattr(self, other)) + 1

    @cached
    def one(self) -> int:
        return self._asked("one", "two")

    @cached
    def two(self) -> int:
        return self._asked("two", "one")


def test_objects_do_not_wait_for_each_other() -> None:
    objects = {name: Pair(name) for name in ("one", "two")}
    threads = [threading.Thread(target=getattr, args=(pair, name), daemon=True) for name, pair in objects.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert not any(thread.is_alive() for thread in threads)
    assert [vars(pair)[name] for name, pair in objects.items()] == [2, 2]


def test_made_once() -> None:
    pair = Pair("")
    assert pair.one == 1
    pair.first = "one"
    assert pair.one == 1
