"""Sparse matrices and cells that no model can read, by name. Run as a script, passes them to estimators."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import bsr_array, csr_array, dia_array

N_ROWS, N_COLUMNS = 20, 6
ESTIMATORS = "NaiveBayes", "GaussianNB", "MultinomialNB", "BernoulliNB", "ComplementNB", "PoissonNB", "TextNB"
# That an attempt may take.
_SECONDS = 30
VERBS = "fit", "predict", "partial_fit", "forget"


def sound() -> Any:
    rng = np.random.default_rng(0)
    cells = (rng.random((N_ROWS, N_COLUMNS)) < 0.5) * rng.integers(1, 4, (N_ROWS, N_COLUMNS))
    return csr_array(cells.astype(np.float64))


def _compressed(form: str, name: str, change: Callable[[Any], Any]) -> Callable[[], Any]:
    def make() -> Any:
        matrix = bsr_array(sound(), blocksize=(2, 2)) if form == "bsr" else sound().asformat(form)
        setattr(matrix, name, change(getattr(matrix, name).copy()))
        return matrix

    return make


def _put(place: int, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[place] = value
        return array

    return change


def _object(value: Any) -> Callable[[Any], Any]:
    return lambda data: _put(0, value)(data.astype(object))


def _coordinates(axis: int, value: int) -> Callable[[], Any]:
    def make() -> Any:
        matrix = sound().tocoo()
        matrix.coords[axis][3] = value
        return matrix

    return make


def _short_coordinates() -> Any:
    matrix = sound().tocoo()
    matrix.data = matrix.data[:5]
    return matrix


def _list(columns: list[int], values: list[float]) -> Callable[[], Any]:
    def make() -> Any:
        matrix = sound().tolil()
        matrix.rows[2], matrix.data[2] = columns, values
        return matrix

    return make


def _key(key: tuple[int, int]) -> Callable[[], Any]:
    def make() -> Any:
        matrix = sound().todok()
        matrix._dict[key] = 1.0
        return matrix

    return make


def _few_offsets() -> Any:
    matrix = dia_array(sound())
    matrix.offsets = matrix.offsets[:2]
    return matrix


def _wide() -> Any:
    matrix = sound()
    return csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(N_ROWS, 1 << 31))


def _dense(value: Any) -> Callable[[], Any]:
    def make() -> Any:
        cells = sound().toarray().astype(object)
        cells[1, 2] = value
        return cells

    return make


_FAR = 10**8
SPARSE: dict[str, Callable[[], Any]] = {
    "index too high": _compressed("csr", "indices", _put(3, N_COLUMNS)),
    "index far too high": _compressed("csr", "indices", _put(3, _FAR)),
    "negative index": _compressed("csr", "indices", _put(3, -5)),
    "indices of two dimensions": _compressed("csr", "indices", lambda indices: indices[:, None]),
    "short indices": _compressed("csr", "indices", lambda indices: indices[:5]),
    "indptr beyond the data": _compressed("csr", "indptr", _put(-1, _FAR)),
    "indptr far in the middle": _compressed("csr", "indptr", _put(5, _FAR)),
    "falling indptr": _compressed("csr", "indptr", _put(5, 0)),
    "negative indptr": _compressed("csr", "indptr", _put(5, -7)),
    "indptr that begins late": _compressed("csr", "indptr", _put(0, 2)),
    "short indptr": _compressed("csr", "indptr", lambda indptr: indptr[:-3]),
    "indptr of floats": _compressed("csr", "indptr", lambda indptr: indptr.astype(float)),
    "short data": _compressed("csr", "data", lambda data: data[:5]),
    "text among objects": _compressed("csr", "data", _object("abc")),
    "list among objects": _compressed("csr", "data", _object([1])),
    "huge number among objects": _compressed("csr", "data", _object(10**400)),
    "2^31 columns": _wide,
    "csc, index far too high": _compressed("csc", "indices", _put(3, _FAR)),
    "csc, indptr beyond the data": _compressed("csc", "indptr", _put(3, _FAR)),
    "bsr, index far too high": _compressed("bsr", "indices", _put(1, _FAR)),
    "bsr, short data": _compressed("bsr", "data", lambda data: data[:3]),
    "coo, row far too high": _coordinates(0, _FAR),
    "coo, negative column": _coordinates(1, -3),
    "coo, short data": _short_coordinates,
    "lil, index too high": _list([0, 99], [1.0, 2.0]),
    "lil, short data": _list([0, 1, 2], [1.0]),
    "dok, column too high": _key((3, 99)),
    "dok, negative row": _key((-300, 1)),
    "dia, few offsets": _few_offsets,
}
CELLS: dict[str, Callable[[], Any]] = {"huge number": _dense(10**400), "list": _dense([1])}


def outcome(call: Callable[..., Any], *arguments: Any) -> str:
    """How the attempt ends: "refused", or what happened instead."""
    from candide.exceptions import CandideError

    try:
        call(*arguments)
    except CandideError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def attempts(estimator: str) -> Iterator[tuple[str, str, Callable[[], str]]]:
    """Every method with every case: their names, and how the attempt ends."""
    import candide

    y = np.arange(N_ROWS) % 2
    rows: Any = ["a b", "c d"] * (N_ROWS // 2) if estimator == "TextNB" else sound().toarray()
    model = getattr(candide, estimator)(n_threads=1).fit(rows, y)
    for name, make in {**SPARSE, **CELLS}.items():
        for verb in VERBS:
            rest = [] if verb == "predict" else [y]
            yield verb, name, lambda verb=verb, make=make, rest=rest: outcome(getattr(model, verb), make(), *rest)


def main(estimators: list[str]) -> None:
    """Print a line for each attempt. They are made in a copy of this process, and after a crash in another copy."""
    pending = [(name, *attempt) for name in estimators for attempt in attempts(name)]
    while pending:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            for *_, call in pending:
                signal.alarm(_SECONDS)
                os.write(writer, call().replace("\n", " ").encode()[:1000] + b"\n")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            said = pipe.read().decode(errors="replace").splitlines()
        status = os.waitpid(child, 0)[1]
        if status:
            said.append(f"ended by signal {status & 127}")
        for (*names, _), ended in zip(pending, said, strict=False):
            print(*names, ended, sep="\t")
        pending = pending[len(said) :]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
