"""Tensors of an ONNX graph as Python values, and the cells of a table as inputs, one for each column that is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.dates import DATE_PARTS
from ...exceptions import ParameterError
from ...explain.terms import date_columns
from ...kernels.layouts import Array, Floats

# Operators of these versions are in every onnxruntime since 1.17.
_OPSET, _ML_OPSET, _IR_VERSION = 18, 4, 9
_ML = "ai.onnx.ml"
_OUTPUTS = ("label", "probabilities")
# Size limit of a protocol buffer file, minus space for the nodes.
_MOST_BYTES = (1 << 31) - (1 << 24)

Value = Any  # a Tensor; an array or a float, which is a constant of doubles; or an int


class Graph:
    """Inputs, nodes and constants so far; equal constants are there once."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._inputs: list[tuple[int, Any]] = []
        self._constants: dict[tuple[Any, ...], tuple[Tensor, Any]] = {}
        self._n_bytes = 0

    def input(self, name: str, place: int, width: int | str, *, texts: bool = False) -> Tensor:
        """``(n, width)`` doubles or texts; inputs are listed in the order of their places."""
        from onnx import TensorProto, helper

        if name in ("", *_OUTPUTS, *(info.name for _, info in self._inputs)):
            raise ParameterError(
                f"a column is named {name!r}; the inputs of an ONNX graph need unique names other than "
                f"{' and '.join(_OUTPUTS)}; rename the column and fit again"
            )
        kind = TensorProto.STRING if texts else TensorProto.DOUBLE
        self._inputs.append((place, helper.make_tensor_value_info(name, kind, ["n", width])))
        return Tensor(self, name)

    def op(self, kind: str, *inputs: Value, domain: str = "", n_outputs: int = 1, **attributes: Any) -> Tensor:
        """Return the first output of an operator."""
        from onnx import helper

        names = [self.tensor(value).name for value in inputs]
        out = f"/{kind}/{len(self._nodes)}"
        outs = [out, *(f"{out}/{i}" for i in range(1, n_outputs))]
        self._nodes.append(helper.make_node(kind, names, outs, name=out, domain=domain, **attributes))
        return Tensor(self, out)

    def tensor(self, value: Value) -> Tensor:
        """Return a constant tensor; tensors are returned unchanged."""
        if isinstance(value, Tensor):
            return value
        array = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
        texts = array.dtype.kind in "OU"
        key = array.dtype.str, array.shape, tuple(array.tolist()) if texts else array.tobytes()
        if key not in self._constants:
            self._make_room(0 if texts else array.nbytes)
            self._constants[key] = self._constant(array, texts)
        return self._constants[key][0]

    def _constant(self, array: Array, texts: bool) -> tuple[Tensor, Any]:
        from onnx import TensorProto, helper, numpy_helper

        name = f"/constant/{len(self._constants)}"
        if texts:
            made = helper.make_tensor(name, TensorProto.STRING, array.shape, [text.encode() for text in array.tolist()])
        else:
            made = numpy_helper.from_array(array, name)
        return Tensor(self, name), made

    def _make_room(self, n_bytes: int) -> None:
        self._n_bytes += n_bytes
        if self._n_bytes > _MOST_BYTES:
            raise ParameterError(
                "the tables of this model exceed the 2 GB limit of ONNX files; train a smaller model, with fewer "
                "columns, fewer tokens, or order=0 for NaiveBayes"
            )

    def look_up(self, cells: Tensor, keys: Array, codes: Array, default: int) -> Tensor:
        """Return the code of each cell, a double or string; ``default`` for unknown cells."""
        if keys.dtype.kind == "O":
            named = {"keys_strings": keys.tolist(), "values_int64s": codes.tolist(), "default_int64": default}
            return self.op("LabelEncoder", cells, domain=_ML, **named)
        from onnx import numpy_helper

        tensors = {"keys": keys, "values": codes.astype(np.int64), "default": np.array([default])}
        made = {f"{name}_tensor": numpy_helper.from_array(array, name) for name, array in tensors.items()}
        return self.op("LabelEncoder", cells, domain=_ML, **made)

    def model(self, label: tuple[Tensor, Array], probabilities: tuple[Tensor, int], notes: dict[str, str]) -> Any:
        """The finished graph; ``label`` with the labels there are, ``probabilities`` with how many classes."""
        from onnx import checker, helper

        outputs = dict(zip(_OUTPUTS, (label[0], probabilities[0]), strict=True))
        ends = [helper.make_node("Identity", [made.name], [name]) for name, made in outputs.items()]
        kinds = helper.np_dtype_to_tensor_dtype(_plain(label[1])), helper.np_dtype_to_tensor_dtype(np.dtype(np.float64))
        shapes = ["n"], ["n", probabilities[1]]
        infos = [helper.make_tensor_value_info(*info) for info in zip(outputs, kinds, shapes, strict=True)]
        inputs = [info for _, info in sorted(self._inputs, key=lambda pair: pair[0])]
        constants = [made for _, made in self._constants.values()]
        graph = helper.make_graph([*self._nodes, *ends], "naive_bayes", inputs, infos, constants)
        versions = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_ML, _ML_OPSET)]
        made = helper.make_model(graph, opset_imports=versions, ir_version=_IR_VERSION, producer_name="candide")
        helper.set_model_props(made, notes)
        checker.check_model(made)
        return made


def _plain(labels: Array) -> np.dtype[Any]:
    return np.dtype(object) if labels.dtype.kind in "OU" else labels.dtype


def _unary(kind: str) -> Callable[[Tensor], Tensor]:
    return lambda x: x.graph.op(kind, x)


def _binary(kind: str) -> Callable[[Tensor, Value], Tensor]:
    return lambda x, other: x.graph.op(kind, x, other)


def _reflected(kind: str) -> Callable[[Tensor, Value], Tensor]:
    return lambda x, other: x.graph.op(kind, other, x)


@dataclass(frozen=True, eq=False)
class Tensor:
    """The output of a node, a constant, or an input."""

    graph: Graph
    name: str

    __add__, __radd__ = _binary("Add"), _reflected("Add")
    __sub__, __rsub__ = _binary("Sub"), _reflected("Sub")
    __mul__, __rmul__ = _binary("Mul"), _reflected("Mul")
    __truediv__, __rtruediv__ = _binary("Div"), _reflected("Div")
    __matmul__, __and__, equals = _binary("MatMul"), _binary("And"), _binary("Equal")
    __gt__, __ge__, __lt__ = _binary("Greater"), _binary("GreaterOrEqual"), _binary("Less")
    at_least, at_most = _binary("Max"), _binary("Min")
    __neg__, exp, log, abs, floor = _unary("Neg"), _unary("Exp"), _unary("Log"), _unary("Abs"), _unary("Floor")
    is_nan, is_infinite = _unary("IsNaN"), _unary("IsInf")

    # Otherwise NumPy would apply its operators to each cell.
    __array_ufunc__ = None

    def square(self) -> Tensor:
        return self * self

    def where(self, yes: Value, no: Value) -> Tensor:
        """Return ``yes`` where a boolean tensor is true, else ``no``."""
        return self.graph.op("Where", self, yes, no)

    def of_type(self, dtype: Any) -> Tensor:
        from onnx import helper

        return self.graph.op("Cast", self, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def sum(self, axis: int, *, keep: bool = False) -> Tensor:
        return self.graph.op("ReduceSum", self, np.array([axis]), keepdims=int(keep))

    def max(self, axis: int, *, keep: bool = False) -> Tensor:
        return self.graph.op("ReduceMax", self, np.array([axis]), keepdims=int(keep))

    def mean(self, axis: int) -> Tensor:
        """Return the mean along an axis, which is kept."""
        return self.graph.op("ReduceMean", self, np.array([axis]), keepdims=1)

    def best(self) -> Tensor:
        """Return the position of the largest value along the second axis, the first of equals."""
        return self.graph.op("ArgMax", self, axis=1, keepdims=0)

    def with_axis(self, axis: int) -> Tensor:
        return self.graph.op("Unsqueeze", self, np.array([axis]))

    def transposed(self) -> Tensor:
        """Return the transpose of a tensor with two axes."""
        return self.graph.op("Transpose", self, perm=[1, 0])

    def picks(self, table: Value) -> Tensor:
        """Return the rows of a table at integer positions."""
        return self.graph.op("Gather", table, self, axis=0)

    def columns(self, places: Array, axis: int = 1) -> Tensor:
        """Return some columns along an axis, which is dropped if ``places`` is a single number."""
        return self.graph.op("Gather", self, places.astype(np.int64), axis=axis)


def concatenated(parts: list[Tensor]) -> Tensor:
    """Return the concatenation of tensors."""
    return parts[0] if len(parts) == 1 else parts[0].graph.op("Concat", *parts, axis=1)


def added(parts: list[Tensor]) -> Tensor:
    """Return the sum of tensors of equal shape."""
    return sum(parts[1:], parts[0])


def log_sum(scores: Tensor, axis: int) -> Tensor:
    """log Σ exp along an axis, which is kept; -inf where all are."""
    top = scores.max(axis, keep=True)
    safe = top.is_infinite().where(0.0, top)
    return safe + (scores - safe).exp().sum(axis, keep=True).log()


def log_one_plus_exp(x: Tensor) -> Tensor:
    """log(1 + e^x), which does not overflow."""
    return x.at_least(0.0) + ((-x.abs()).exp() + 1.0).log()


def filled(x: Tensor, value: Value = 0.0) -> Tensor:
    """Return a tensor with NaN replaced by another number."""
    return x.is_nan().where(value, x)


class Cells:
    """One input for each column; ``names`` are those of all columns, ``given`` those that the user's tables have."""

    def __init__(self, graph: Graph, names: Array, given: Array | None = None) -> None:
        self._graph, self._names = graph, [str(name) for name in names.tolist()]
        parts = date_columns(self._names)
        # A date adds further columns, but the table may have columns of these names too.
        own = set() if given is None else set(map(str, given.tolist()))
        self._dates = {
            j: (date, part) for date, made in parts.items() for j, part in made.items() if self._names[j] not in own
        }
        self._inputs: dict[int, Tensor] = {}

    def numbers(self, j: int) -> Tensor:
        """``(rows, 1)``, NaN where a cell is missing."""
        return self._input(j, texts=False)

    def _input(self, j: int, *, texts: bool) -> Tensor:
        if j not in self._inputs:
            self._inputs[j] = self._graph.input(self._names[j], j, 1, texts=texts)
        return self._inputs[j]

    def several(self, columns: Sequence[int]) -> Tensor:
        """``(rows, columns)`` of numbers."""
        return concatenated([self.numbers(j) for j in columns])

    def places(self, j: int, labels: Array) -> Tensor:
        """Of each cell the place of its label, ``(rows, 1)``; after the last those of missing and of unseen cells."""
        missing, unseen = len(labels), len(labels) + 1
        if j in self._dates:
            return self._date_places(*self._dates[j], labels)
        keys = label_keys(labels, f"column {self._names[j]!r}")
        cells, codes = self._input(j, texts=keys.dtype.kind == "O"), np.arange(len(labels))
        if keys.dtype.kind != "O":
            return number_places(cells, keys, codes, missing, unseen)
        if "" not in keys.tolist():
            keys, codes = np.append(keys, ""), np.append(codes, missing)
        return self._graph.look_up(cells, keys, codes, unseen)

    def nothing(self, j: int, labels: Array | None, n_classes: int) -> Tensor:
        """Return zeros with one row per cell of a column, for models in which no column contributes."""
        if labels is None:
            return self.numbers(j).is_nan().of_type(np.float64) * np.zeros(n_classes)
        return self.places(j, labels).of_type(np.float64) * np.zeros(n_classes)

    def _date_places(self, date: int, part: str, labels: Array) -> Tensor:
        days = self.numbers(date)
        place = {label: i for i, label in enumerate(labels.tolist())}
        known = np.array([place.get(label, len(labels) + 1) for label in DATE_PARTS[part][2]])
        absent = days.is_nan()
        found = _date_part(absent.where(0.0, days), part).of_type(np.int64).picks(known)
        return absent.where(len(labels), found)


def label_keys(labels: Array, where: str) -> Array:
    """Return labels as an input can represent them: doubles, or strings (as objects)."""
    items = labels.tolist()
    if items and all(isinstance(item, str) for item in items):
        return np.array(items, dtype=object)
    if all(isinstance(item, (bool, int, float)) for item in items):
        return _distinct(np.array(items, dtype=np.float64), where)
    odd = next(item for item in items if not isinstance(item, str))
    raise ParameterError(
        f"{where} contains {odd!r} among other values, but an ONNX input contains either numbers or strings; convert "
        "all values to strings, and fit again"
    )


def _distinct(keys: Floats, where: str) -> Floats:
    if len(np.unique(keys)) < len(keys):
        raise ParameterError(
            f"{where} contains integers beyond 2^53, which cannot be represented exactly as doubles; convert its "
            "values to strings, and fit again"
        )
    return keys


def number_places(cells: Tensor, keys: Floats, codes: Array, missing: int, unseen: int) -> Tensor:
    """Return the codes of known numbers."""
    absent = cells.is_nan()
    if not len(keys):
        return absent.where(missing, unseen)
    return absent.where(missing, cells.graph.look_up(absent.where(0.0, cells), keys, codes, unseen))


def cut_places(numbers: Tensor, cuts: Sequence[Floats], missing: Sequence[int]) -> Tensor:
    """Return the number of cuts at or below each number, ``(rows, columns)``; ``missing`` for missing numbers."""
    padded = np.full((len(cuts), max(1, *map(len, cuts))), np.inf)
    for row, own in zip(padded, cuts, strict=True):
        row[: len(own)] = own
    passed = (numbers.with_axis(2) >= padded).of_type(np.int32).sum(2).of_type(np.int64)
    return numbers.is_nan().where(np.array(missing, dtype=np.int64), passed)


def _date_part(days: Tensor, part: str) -> Tensor:
    """Return the position of the month, weekday or hour of a date."""
    # Days are doubles, so a full hour may be slightly too small.
    hours = ((days * 86_400e6 + 0.5).floor() / 3_600e6).floor()
    day = (hours / 24.0).floor()
    if part == "hour":
        return hours - day * 24.0
    return _rest(day + 3.0, 7.0) if part == "weekday" else _month(day)


def _month(day: Tensor) -> Tensor:
    """Counted from March, in years of the 400 that repeat (Hinnant, "chrono-compatible low-level date algorithms")."""
    within = _rest(day + 719_468.0, 146_097.0)
    leaps = (within / 1_460.0).floor() - (within / 36_524.0).floor() + (within / 146_096.0).floor()
    year = ((within - leaps) / 365.0).floor()
    of_year = within - (year * 365.0 + (year / 4.0).floor() - (year / 100.0).floor())
    return _rest(((of_year * 5.0 + 2.0) / 153.0).floor() + 2.0, 12.0)


def _rest(number: Tensor, divisor: float) -> Tensor:
    return number - (number / divisor).floor() * divisor
