"""The native module refuses arrays that do not fit each other: an error, never a read outside of an array."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tiers import every

from candide.kernels import _core

N_ROWS, N_COLUMNS, N_CLASSES = 5, 3, 2
VALUE, DEVIATION = _core.CELLS.index("value"), _core.CELLS.index("deviation")


def _sparse() -> dict[str, Any]:
    return {
        "indptr": np.arange(N_ROWS + 1, dtype=np.int32),
        "indices": np.arange(N_ROWS, dtype=np.int32) % N_COLUMNS,
        "values": np.ones(N_ROWS),
    }


def _groups() -> dict[str, Any]:
    return {"classes": np.arange(N_ROWS, dtype=np.int32) % N_CLASSES}


def _zeros(*shape: int) -> Any:
    return np.zeros(shape)


def _table(name: str = "values") -> dict[str, Any]:
    return {name: np.ones((N_ROWS, N_COLUMNS))}


def _sums(*names: str) -> dict[str, Any]:
    return {name: _zeros(N_CLASSES, N_COLUMNS) for name in names}


def _totals() -> dict[str, Any]:
    return _sums("count", "pseudo")


def _scores() -> dict[str, Any]:
    return {"base": _zeros(N_CLASSES), "scores": _zeros(N_ROWS, N_CLASSES)}


def _padded(*names: str) -> dict[str, Any]:
    return {name: _zeros(N_COLUMNS, 4) for name in names}


def _slots() -> dict[str, Any]:
    return {"offsets": np.array([0, 2, 4, 6])}


def _factored() -> dict[str, Any]:
    stored = {"by_column": np.array([0, 1, 2, 2]), "stored_classes": np.array([0, 1]), "stored": _zeros(2)}
    return {"shared": _zeros(N_COLUMNS), "slope": _zeros(N_CLASSES), **stored}


def _dense() -> dict[str, Any]:
    return {**_table(), "indptr": None, "indices": None}


def _rows(*names: str) -> dict[str, Any]:
    return {name: _zeros(N_ROWS) for name in names}


def _both(*names: str) -> dict[str, Any]:
    return {name: _zeros(N_ROWS, N_CLASSES) for name in names}


def _members() -> dict[str, Any]:
    return {**_groups(), "weight": np.ones(N_ROWS)}


def _own_linear() -> dict[str, Any]:
    return {**_groups(), **_sums("weights", "absent"), "base": _zeros(N_CLASSES), "threshold": None, **_rows("scores")}


def _joint_slots() -> dict[str, Any]:
    """Slots of three columns of two codes, and joint slots of two of them."""
    codes = np.arange(N_ROWS, dtype=np.int32)[:, None]
    return {"parents": codes % 4, "slots": codes % 2 + np.array([0, 2, 4], dtype=np.int32)}


def _pair_sums() -> dict[str, Any]:
    return {"rows": np.ones(N_CLASSES), "spare": np.ones(N_COLUMNS), "strength": 1.0}


def _token_bins() -> dict[str, Any]:
    """Two of three codes are tokens, with two entries and with one; four bins of both kinds."""
    positions = {"place": [1, -1, 0], "entry_classes": [0, 1, 1]}
    return {
        **{name: np.array(values, dtype=np.int32) for name, values in positions.items()},
        "entry_indptr": np.array([0, 2, 3]), "level": np.array([2.5, 0.0]), "logs": _zeros(3, 2),
        "log_size": _zeros(2, N_CLASSES), "scores": _zeros(8, N_ROWS, N_CLASSES),
    }  # fmt: skip


def _token_bin_sums() -> dict[str, Any]:
    tokens = {"count": np.ones(3), "token_weight": np.array([3.0, 2.0]), "evidence": _zeros(2)}
    return {**tokens, "size": np.ones(N_CLASSES), "log_knots": np.arange(4.0), "alpha": 1.0}


def _token_bin_folds() -> dict[str, Any]:
    """Before anything is left out."""
    made = ("level", "logs", "log_size", "evidence")
    return {name: value for name, value in {**_token_bins(), **_token_bin_sums()}.items() if name not in made}


VARIANCE = {"extra": 0.0, "floor": 1.0}
CELL = {"cell": VALUE, "threshold": 0.0}
SIZES = {"n_classes": N_CLASSES}

# A call of every kernel in which all arrays fit; after a space, of what kind.
# fmt: off
CALLS: dict[str, Callable[[], dict[str, Any]]] = {
    "tally": lambda: {**_table(), **_groups(), "weight": None, "threshold": None, **_sums("total", "missing")},
    "tally_rows": lambda: {**_sparse(), **_groups(), "weight": None, **CELL, "center": None, **_sums("total")},
    "tally_rows_sparse": lambda: {**_sparse(), **_groups(), "weight": None, **CELL, **SIZES},
    "moments": lambda: {**_table(), **_groups(), "row_weight": None, **_sums("weight", "mean", "scatter")},
    "count_codes": lambda: {**_table("codes"), **_groups(), "weight": None, **_slots(), "counts": _zeros(N_CLASSES, 6)},
    "code_scores": lambda: {**_table("codes"), **_slots(), "table": _zeros(6, 4), **_scores()},
    "linear_scores": lambda: {**_table(), **_sums("weights", "absent"), "threshold": None, **_scores()},
    "quadratic_scores": lambda: {**_table(), **_sums("precision", "mean", "constant"), **_scores()},
    "linear_row_scores": lambda: {**_sparse(), **_padded("weights", "absent"), "threshold": None, **_scores()},
    "factored_row_scores": lambda: {**_sparse(), **_factored(), "threshold": None, **_scores()},
    "own_code_scores": lambda: {**_table("codes"), **_groups(), **_slots(), "table": _zeros(6, 2), **_rows("scores")},
    "own_linear_scores": lambda: {**_dense(), **_own_linear()},
    "own_linear_scores sparse": lambda: {**_sparse(), **_own_linear()},
    "left_out_code_scores": lambda: {
        **_table("codes"), **_groups(), **_slots(), "table": _zeros(6, 4), "own_table": _zeros(6, 4), **_scores(),
        **_rows("own"),
    },
    "left_out_counts": lambda: {
        **_dense(), **_members(), **_sums("weights", "absent"), **_totals(), **_scores(),
        **_rows("sums", "zeros", "cells"),
    },
    "left_out_counts sparse": lambda: {
        **_sparse(), **_members(), **_padded("weights", "absent"), **_totals(), **_scores(),
        **_rows("sums", "zeros", "cells"),
    },
    "left_out_linear": lambda: {
        **_dense(), **_groups(), **_sums("weights", "absent", "own_weights", "own_absent"), "threshold": None,
        "own_base": _zeros(N_CLASSES), **_scores(), **_rows("own"),
    },
    "left_out_linear sparse": lambda: {
        **_sparse(), **_groups(), **_padded("weights", "absent"), **_sums("own_weights", "own_absent"),
        "own_base": _zeros(N_CLASSES), "threshold": None, **_scores(), **_rows("own"),
    },
    "own_normal_scores": lambda: {
        **_table(), **_members(), **_sums("strength", "location", "shape", "scale"), **VARIANCE, **_rows("scores"),
    },
    "own_student_scores": lambda: {
        **_table(), **_members(), **_sums("strength", "location", "shape", "scale"), **_rows("scores"),
    },
    "own_rising_scores": lambda: {**_dense(), **_members(), **_totals(), **_rows("scores")},
    "own_rising_scores sparse": lambda: {**_sparse(), **_members(), **_totals(), **_rows("scores")},
    "rising_scores": lambda: {**_dense(), **_sums("start"), **_scores()},
    "rising_scores sparse": lambda: {**_sparse(), **_sums("start"), **_scores()},
    "student_scores": lambda: {**_table(), **_sums("location", "spread", "power", "constant"), **_scores()},
    "left_out_complement": lambda: {
        **_dense(), **_members(), **_totals(), **_both("sums", "zeros"), **_rows("cells"),
    },
    "left_out_complement sparse": lambda: {
        **_sparse(), **_members(), **_totals(), **_both("sums", "zeros"), **_rows("cells"),
    },
    "left_out_shared": lambda: {
        **_table(), **_members(), **_sums("location", "strength"), "shape": _zeros(N_COLUMNS),
        "scale": _zeros(N_COLUMNS), **VARIANCE, **_scores(),
    },
    "put_own": lambda: {
        **_both("scores"), **_members(), **_rows("values"), "by_class": _zeros(N_CLASSES),
    },
    "add_own": lambda: {**_both("scores"), **_groups(), **_rows("change"), "by_class": False},
    "normalize": lambda: {"scores": _zeros(N_ROWS, N_CLASSES), "logarithm": True},
    "best": lambda: {"scores": _zeros(N_ROWS, N_CLASSES), "out": np.zeros(N_ROWS, dtype=np.int64)},
    "grid": lambda: {**_table(), **_members(), "n_classes": N_CLASSES, "limit": 4},
    "cell_codes": lambda: {
        **_table(), "cuts": _zeros(6), **_slots(), "codes": np.zeros((N_ROWS, N_COLUMNS), dtype=np.int32),
    },
    "joint_counts": lambda: {**_joint_slots(), **_members(), "joint": _zeros(N_CLASSES, 4, 6)},
    "joint_scores": lambda: {**_joint_slots(), "table": _zeros(4, 6, 2), **_both("scores")},
    "grid_keys": lambda: {
        "slots": _joint_slots()["slots"], "words": np.zeros((2, 6), dtype=np.uint32),
        "keys": np.zeros((N_ROWS, 2), dtype=np.uint32),
    },
    "indicator_product": lambda: {
        "ends": np.array([0, 1, 3, 4], dtype=np.int32), "columns": np.array([1, 0, 1, 2], dtype=np.int32),
        "factor": np.zeros((3, 5), dtype=np.float32), "product": np.zeros((3, 5), dtype=np.float32),
    },
    "grid_scores": lambda: {
        "slots": _joint_slots()["slots"], "words": np.zeros((2, 6), dtype=np.uint32),
        "keys": np.arange(4, dtype=np.uint32), "starts": np.array([0, 4, 4, 4, 4], dtype=np.int32),
        "weights": np.zeros((4, N_CLASSES), dtype=np.float32), **_both("scores"),
    },
    "own_pair_scores": lambda: {
        "slots": _joint_slots()["slots"], **_members(), "joint": _zeros(N_CLASSES, 6, 6), **_pair_sums(),
        **_rows("scores"),
    },
    "own_triple_scores": lambda: {
        **_joint_slots(), **_members(), "singles": _zeros(N_CLASSES, 6, 6), **_pair_sums(), "back_strength": 2.0,
        "columns": np.array([[0, 2]], dtype=np.int32), "joint": _zeros(N_CLASSES, 4, 6), **_rows("scores"),
    },
    "token_bin_scores": lambda: {**_sparse(), **_token_bins()},
    "token_bin_left_out": lambda: {**_sparse(), **_members(), **_token_bins(), **_token_bin_sums()},
    "token_bin_fold_scores": lambda: {
        **_sparse(), **_members(), "folds": np.zeros(N_ROWS, dtype=np.int32), **_token_bin_folds(), "spare": 1.0,
    },
    "encode_labels": lambda: {"labels": np.arange(N_ROWS)},
    "scan": _table,
    "hash_rows": lambda: {**_table(), "keys": np.zeros(N_COLUMNS, dtype=np.uint64)},
}
# fmt: on


# Arguments that are structs, and the names of their fields in the calls above where these differ.
ROWS = {"rows": {name: name for name in ("indptr", "indices", "values")}}
TERMS = {"terms": {name: name for name in ("weights", "absent", "base")}}
OWN_TERMS = {"own_terms": {name: f"own_{name}" for name in ("weights", "absent", "base")}}
COUNTS = {"counts": {"counts": "count", "pseudo": "pseudo"}}
LOG_SUMS = {"log_sums": {name: name for name in ("sums", "zeros", "cells")}}
NORMAL = {"posterior": {name: name for name in ("strength", "location", "shape", "scale")}}
PAIRS = {name: name for name in ("joint", "rows", "spare")}
ENTRIES = {"place": "place", "indptr": "entry_indptr", "classes": "entry_classes"}
SCORES = {name: name for name in ("level", "logs", "log_size")}
SUMS = {"weight": "token_weight", **{name: name for name in ("count", "size", "log_knots", "alpha")}}
STRUCTS: dict[str, dict[str, dict[str, str]]] = {
    "tally_rows": ROWS,
    "tally_rows_sparse": ROWS,
    "linear_row_scores": ROWS,
    "factored_row_scores": {**ROWS, "table": {"shared": "shared", "slope": "slope"}},
    "own_linear_scores": {**ROWS, **TERMS},
    "left_out_counts": {**ROWS, **TERMS, **COUNTS, **LOG_SUMS},
    "left_out_linear": {**ROWS, **OWN_TERMS, **TERMS},
    "own_normal_scores": NORMAL,
    "own_student_scores": NORMAL,
    "own_rising_scores": {**ROWS, **COUNTS},
    "rising_scores": ROWS,
    "student_scores": {"table": {name: name for name in ("location", "spread", "power", "constant")}},
    "left_out_complement": {**ROWS, **COUNTS, **LOG_SUMS},
    "left_out_shared": NORMAL,
    "grid_scores": {"cells": {name: name for name in ("keys", "starts", "weights")}},
    "own_pair_scores": {"table": PAIRS},
    "own_triple_scores": {"table": {"columns": "columns", "joint": "joint"}},
    "token_bin_scores": {**ROWS, "bins": {**ENTRIES, **SCORES}},
    "token_bin_left_out": {**ROWS, "bins": {**ENTRIES, **SCORES, **SUMS, "evidence": "evidence"}},
    "token_bin_fold_scores": {**ROWS, "bins": {**ENTRIES, **SUMS, "spare": "spare"}},
}


def call(kernel: str, **changed: Any) -> Any:
    name = kernel.split()[0]
    arguments = {**CALLS[kernel](), "n_threads": 2, **changed}
    structs = {}
    if name == "factored_row_scores":
        stored = {"indptr": "by_column", "indices": "stored_classes", "data": "stored"}
        structs["stored"] = SimpleNamespace(**{field: arguments.pop(own) for field, own in stored.items()})
    if name == "own_triple_scores":
        pairs = {"joint": "singles", "rows": "rows", "spare": "spare"}
        structs["singles"] = SimpleNamespace(**{field: arguments.pop(own) for field, own in pairs.items()})
    for struct, fields in STRUCTS.get(name, {}).items():
        parts = {field: arguments.pop(own) for field, own in fields.items()}
        if struct == "rows":
            parts |= {"is_sparse": parts["indptr"] is not None, "n_columns": N_COLUMNS}
        arguments[struct] = SimpleNamespace(**parts, **(structs if struct == "table" else {}))
    return getattr(_core, name)(**arguments)


ARRAYS = [(kernel, name) for kernel, made in CALLS.items() for name, a in made().items() if isinstance(a, np.ndarray)]
# Arrays that stand alone, those that say how wide the others are, and those that may have a class without rows.
ALONE = {("encode_labels", "labels"), ("scan", "values"), ("hash_rows", "values")}
ANY_WIDTH = {
    ("normalize", "scores"),
    ("best", "scores"),
    ("add_own", "scores"),
    ("tally_rows", "total"),
    ("own_code_scores", "table"),
    ("rising_scores sparse", "start"),
    ("grid", "values"),
    ("joint_counts", "joint"),
    ("joint_counts", "parents"),
    ("joint_counts", "slots"),
    ("grid_keys", "slots"),
    ("grid_keys", "words"),
    ("grid_scores", "slots"),
    ("grid_scores", "words"),
    ("joint_scores", "parents"),
    ("joint_scores", "slots"),
    ("token_bin_scores", "place"),
    ("token_bin_left_out", "place"),
    ("token_bin_fold_scores", "place"),
}
ANY_HEIGHT = {
    ("normalize", "scores"),
    ("tally_rows", "total"),
    ("count_codes", "counts"),
    ("grid_scores", "words"),
    ("token_bin_scores", "place"),
    ("token_bin_left_out", "place"),
    ("token_bin_fold_scores", "place"),
}
# Those whose rows belong to classes, and of them those that ask for no weight.
MEMBERS = [kernel for kernel, name in ARRAYS if name == "classes"]
WEIGHTLESS = {
    "own_code_scores", "own_linear_scores", "own_linear_scores sparse", "left_out_linear", "left_out_linear sparse",
    "add_own", "left_out_code_scores",
}  # fmt: skip
BOUND = [pair for pair in ARRAYS if pair not in ALONE]


@every("kernel", CALLS)
def test_what_fits_is_taken(kernel: str) -> None:
    """The calls from which the others here depart."""
    call(kernel)


@every("kernel, name", [pair for pair in BOUND if pair not in ANY_HEIGHT])
def test_another_length_is_refused(kernel: str, name: str) -> None:
    """One row less than the other arrays have."""
    with pytest.raises(ValueError, match="must"):
        call(kernel, **{name: CALLS[kernel]()[name][:-1]})


@every("kernel, name", [pair for pair in BOUND if pair not in ANY_WIDTH])
def test_another_width_is_refused(kernel: str, name: str) -> None:
    """One column more than the other arrays have."""
    array = CALLS[kernel]()[name]
    wider = np.concatenate([array, array[..., :1]], axis=-1)
    with pytest.raises(ValueError, match="must"):
        call(kernel, **{name: wider})


@every("kernel, name", BOUND)
def test_another_number_of_dimensions_is_refused(kernel: str, name: str) -> None:
    """A row for a table, and a table for a row."""
    array = CALLS[kernel]()[name]
    with pytest.raises(ValueError, match="must"):
        call(kernel, **{name: array.ravel() if array.ndim == 2 else np.stack([array, array])})


@every("kernel, name", [p for p in BOUND if p[1] not in {"base", "values", "codes"}])
def test_another_type_is_not_copied(kernel: str, name: str) -> None:
    """A silent copy would cost more than the kernel; an output would be lost in it."""
    with pytest.raises(TypeError):
        call(kernel, **{name: CALLS[kernel]()[name].astype(np.int16)})


@every("kernel", MEMBERS)
@every("position", [-1, N_CLASSES, 40_000_000, -(2**31)])
def test_classes_that_do_not_exist_are_refused(kernel: str, position: int) -> None:
    """A position beyond the table of sums."""
    classes = _groups()["classes"]
    classes[-1] = position
    with pytest.raises(ValueError, match="classes must lie in"):
        call(kernel, classes=classes)


@every("kernel", [kernel for kernel in MEMBERS if kernel not in WEIGHTLESS])
@every("length", [0, N_ROWS - 1, N_ROWS + 1])
def test_row_weights_are_as_many_as_rows(kernel: str, length: int) -> None:
    name = "row_weight" if kernel == "moments" else "weight"
    with pytest.raises(ValueError, match="must"):
        call(kernel, **{name: np.ones(length)})


@every("offsets", [[0, 4, 2, 6], [-1, 2, 4, 6], [0, 2, 4, 7], [0, 2, 4, 2**62], [0, 2**63 - 1, 4, 6]])
@every("kernel", ["count_codes", "code_scores", "own_code_scores"])
def test_offsets_must_rise_to_the_number_of_slots(kernel: str, offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="offsets must rise"):
        call(kernel, offsets=np.array(offsets))


@every("width", [1, 3, 5, 6])
def test_padded_tables_are_whole_vectors(width: int) -> None:
    """A multiple of four, and no less than the classes."""
    with pytest.raises(ValueError, match="multiple of four"):
        call("code_scores", table=_zeros(6, width))
    with pytest.raises(ValueError, match="multiple of four"):
        call("linear_row_scores", weights=_zeros(N_COLUMNS, width), absent=None)


@pytest.mark.parametrize("kernel", ["tally_rows", "tally_rows_sparse"])
def test_kinds_of_cells_are_known(kernel: str) -> None:
    """No such kind, and one that lacks the center it needs."""
    for cell in (-1, 100):
        with pytest.raises(ValueError, match="no such kind"):
            call(kernel, cell=cell)
    with pytest.raises(ValueError, match="needs a center"):
        call(kernel, cell=DEVIATION)


def test_a_center_has_the_shape_of_the_sums() -> None:
    with pytest.raises(ValueError, match="center must be of shape"):
        call("tally_rows", cell=DEVIATION, center=_zeros(N_CLASSES, N_COLUMNS - 1))


@every(
    "changed",
    [
        {"by_column": np.array([0, 1, 2, 3])},
        {"by_column": np.array([-1, 1, 2, 2])},
        {"by_column": np.array([0, 2, 1, 2])},
        {"stored_classes": np.array([0, N_CLASSES])},
        {"stored_classes": np.array([-1, 0])},
    ],
)
def test_factored_weights_stay_in_their_table(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="outside their table"):
        call("factored_row_scores", **changed)


@every("kernel", ["token_bin_scores", "token_bin_left_out", "token_bin_fold_scores"])
@every(
    "name, values",
    [
        ("place", [2, -1, 0]),
        ("entry_indptr", [-1, 2, 3]),
        ("entry_indptr", [0, 4, 3]),
        ("entry_indptr", [0, 2, 4]),
        ("entry_classes", [0, 1, N_CLASSES]),
        ("entry_classes", [0, 1, -1]),
    ],
)
def test_tokens_stay_in_their_table(kernel: str, name: str, values: list[int]) -> None:
    with pytest.raises(ValueError, match="tokens and their entries must lie"):
        call(kernel, **{name: np.array(values, dtype=_token_bins()[name].dtype)})


@every(
    "changed",
    [
        {"indptr": np.array([0, 2, 4])},
        {"indptr": np.array([1, 2, 3])},
        {"indptr": np.array([0, 3, 2, 3])},
        {"indptr": np.zeros(0, dtype=np.int64)},
        {"codes": np.array([0, 1], dtype=np.int32)},
        {"codes": np.array([0, 1, 3], dtype=np.int32)},
        {"codes": np.array([0, -1, 2], dtype=np.int32)},
    ],
)
def test_sums_of_tokens_fit(changed: dict[str, Any]) -> None:
    fit = {"indptr": np.array([0, 2, 3]), "codes": np.array([0, 1, 2], dtype=np.int32), "sums": np.ones(3)}
    _core.token_bin_entries(**fit, n_codes=3)
    with pytest.raises(ValueError, match="must"):
        _core.token_bin_entries(**{**fit, **changed}, n_codes=3)


@every("level", [-1.0, 3.5, np.nan])
def test_token_bins_of_tokens_exist(level: float) -> None:
    """Rows of weight 0, which are scored as new ones, read them too."""
    levels = np.array([level, 0.0])
    for kernel, weight in (("token_bin_scores", {}), ("token_bin_left_out", {"weight": np.zeros(N_ROWS)})):
        with pytest.raises(ValueError, match="tokens and their entries must lie"):
            call(kernel, level=levels, **weight)


@pytest.mark.parametrize("fold", [-1, N_ROWS])
def test_folds_are_no_more_than_rows(fold: int) -> None:
    with pytest.raises(ValueError, match="folds must lie in"):
        call("token_bin_fold_scores", folds=np.full(N_ROWS, fold, dtype=np.int32))


@every("kernel", [kernel for kernel, name in ARRAYS if name == "indptr"])
def test_row_pointers_have_a_beginning(kernel: str) -> None:
    """Even no rows have one pointer."""
    with pytest.raises(ValueError, match="indptr"):
        call(kernel, indptr=np.zeros(0, dtype=np.int32))


def test_a_grid_allows_for_some_cells() -> None:
    with pytest.raises(ValueError, match="limit must be above 0"):
        call("grid", limit=0)


@every("kernel, name", [p for p in ARRAYS if p[1] in {"parents", "slots", "columns"}])
@every("position", [-2, 6, 2**31 - 1])
def test_slots_lie_in_their_tables(kernel: str, name: str, position: int) -> None:
    """Of a column that is not given, the slot is -1."""
    array = CALLS[kernel]()[name]
    array.flat[-1] = position
    with pytest.raises(ValueError, match="must lie in"):
        call(kernel, **{name: array})


def test_scores_need_a_class() -> None:
    """There is no best of nothing."""
    for kernel in ("normalize", "best"):
        with pytest.raises(ValueError, match="must have a class"):
            call(kernel, scores=_zeros(N_ROWS, 0))


def test_labels_are_one_column_of_whole_numbers() -> None:
    """Others are left to a sort."""
    with pytest.raises(ValueError, match="one column"):
        call("encode_labels", labels=np.zeros((3, 2), dtype=np.int64))
    for label in (np.nan, np.inf, 0.5, 1e300):
        assert call("encode_labels", labels=np.array([1.0, label])) is None


def test_no_columns_are_no_error() -> None:
    """A table of nothing sums to nothing."""
    nothing = {name: _zeros(N_CLASSES, 0) for name in ("total", "missing")}
    assert call("tally", values=_zeros(N_ROWS, 0), **nothing) == (False, False, False)


def test_codes_of_any_size_take_the_last_slot() -> None:
    """The largest 64-bit code is not added to an offset first."""
    table, scores = np.zeros((6, 4)), _zeros(1, N_CLASSES)
    table[5, :N_CLASSES] = 1.0, 2.0
    codes = np.array([[-1, -(2**63), 2**63 - 1]])
    call("code_scores", codes=codes, table=table, scores=scores)
    np.testing.assert_array_equal(scores, [[1.0, 2.0]])


def test_huge_negative_numbers_are_negative() -> None:
    """Too large for a code, and below 0 all the same."""
    low, _, _, _, _, first_huge = call("scan", values=np.array([[3.0], [-1e300]]))[0]
    assert (low, first_huge) == (-(2**63), 1)
