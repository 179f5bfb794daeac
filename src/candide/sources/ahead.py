"""One item ahead: the next is made while the last is used."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Queue
from threading import Event, Thread
from typing import TypeVar

Item = TypeVar("Item")


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, made in a thread that ends with the iterator, also with one that is left half-way.

    >>> list(one_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    ready: Queue[Item | _Failed | None] = Queue(maxsize=1)
    asked_to_stop = Event()
    thread = Thread(target=_make, args=(items, ready, asked_to_stop), daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, _Failed):
                raise item.error
            yield item
            del item  # not held while the next is waited for
    finally:
        asked_to_stop.set()
        while thread.is_alive():
            _drained(ready)
            thread.join(0.01)


def _make(items: Iterator[Item], ready: Queue[Item | _Failed | None], asked_to_stop: Event) -> None:
    try:
        for item in items:
            ready.put(item)
            del item
            if asked_to_stop.is_set():
                break
        _close(items)
        ready.put(None)
    except BaseException as error:  # whatever it is, it belongs to who asked
        ready.put(_Failed(error))


def _close(items: Iterator[Item]) -> None:
    close = getattr(items, "close", None)
    if close is not None:
        close()


def _drained(ready: Queue[Item | _Failed | None]) -> None:
    while not ready.empty():
        ready.get()
