"""Graphs in onnxruntime, and their answers beside those of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from tiers import late

from candide.kernels.layouts import Array, Floats

# Sums in another order. Random Fourier features alone are in single precision.
CLOSE, CLOSE_WAVES = 1e-9, 1e-5
onnx, onnxruntime = late("onnx"), late("onnxruntime")


def session_of(proto: Any) -> Any:
    return onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])


def cells_for(info: Any, column: Any) -> Array:
    """A column as its input takes it."""
    column = pd.Series(column)
    if info.type.tensor_type.elem_type == onnx.TensorProto.STRING:
        return column.astype(object).where(column.notna(), "").to_numpy(dtype=object)[:, None]
    if column.dtype.kind == "M":
        return ((column.to_numpy() - np.datetime64(0, "D")) / np.timedelta64(1, "D"))[:, None]
    # Texts in a column of which no value was ever seen say nothing.
    return pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)[:, None]


def feeds_of(proto: Any, X: Any) -> dict[str, Array]:
    """Rows as the graph takes them: one matrix, or one input a column."""
    inputs = list(proto.graph.input)
    if [info.name for info in inputs] == ["X"]:
        return {"X": np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)}
    if not isinstance(X, (pd.DataFrame, Mapping)):
        X = {name: column for j, column in enumerate(np.asarray(X, dtype=object).T) for name in (f"x{j}", str(j))}
    return {info.name: cells_for(info, X[info.name]) for info in inputs}


def answers(model: Any, X: Any) -> tuple[Array, Floats]:
    """Labels and probabilities by the graph."""
    proto = model.to_onnx()
    label, probabilities = session_of(proto).run(["label", "probabilities"], feeds_of(proto, X))
    return label, probabilities


def assert_same(model: Any, X: Any, close: float = CLOSE) -> None:
    """The graph gives the model's probabilities, and its labels but for ties."""
    label, probabilities = answers(model, X)
    assert_agree(model, X, label, probabilities, close)


def assert_agree(model: Any, X: Any, label: Array, probabilities: Floats, close: float = CLOSE) -> None:
    expected = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=close)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    others = np.sort(np.column_stack([expected, np.zeros(len(expected))]), axis=1)
    clear = others[:, -1] - others[:, -2] > 10 * close
    np.testing.assert_array_equal(label[clear], model.predict(X)[clear])
    assert set(label.tolist()) <= set(model.classes_.tolist())
