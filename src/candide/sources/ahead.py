"""One item ahead: the next is made while the last is used."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Full, Queue
from threading import Event, Thread
from typing import TypeVar

Item = TypeVar("Item")
# Seconds after which a thread that waits looks whether it is still needed.
_BETWEEN = 0.05


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
        thread.join()


def _make(items: Iterator[Item], ready: Queue[Item | _Failed | None], asked_to_stop: Event) -> None:
    try:
        for item in items:
            _offer(item, ready, asked_to_stop)
            del item
            if asked_to_stop.is_set():
                break
        _close(items)
        _offer(None, ready, asked_to_stop)
    except BaseException as error:  # whatever it is, it belongs to who asked
        _offer(_Failed(error), ready, asked_to_stop)


def _offer(item: Item | _Failed | None, ready: Queue[Item | _Failed | None], asked_to_stop: Event) -> None:
    """Wait until there is a place for an item, or nobody wants it.

    A signal may end ``ready.get`` after it took an item and before it told this thread, which would wait for ever.
    """
    while not asked_to_stop.is_set():
        try:
            ready.put(item, timeout=_BETWEEN)
            return
        except Full:
            continue


def _close(items: Iterator[Item]) -> None:
    close = getattr(items, "close", None)
    if close is not None:
        close()
