"""The protocol of sources of rows, and the columns that a model reads from them.

A source provides the first rows, which determine the schema, batches of rows, and states of rows. ``train`` and related
functions accept any source. Sources other than rows in memory are in the package ``sources``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from ..data.column_selection import Roles, check_columns, did_you_mean, quote_names, similar_name
from ..exceptions import InputError, ParameterError
from ..specs import Spec
from ..specs.schema import Schema

if TYPE_CHECKING:
    from .accumulator import PartialState
    from .model import Model
    from .train import Summarize

# Bytes of rows that are predicted or scored at once.
BATCH_BYTES = 1 << 24


class Chunk(NamedTuple):
    """Rows in the form that ``fit`` takes."""

    X: Any
    y: Any = None
    weight: Any = None
    groups: Any = None
    n_unlabeled: int = 0  # rows without a label that the source has dropped
    name: str = ""  # in errors: "chunk 3"
    may_be_empty: bool = False  # whether the chunk may have no rows, or none with a positive weight


@dataclass(frozen=True)
class RequestedRoles:
    """Roles of columns as set by the user."""

    label: str | None = None
    text: str | None = None
    columns: tuple[str, ...] | None = None
    weight: str | None = None
    groups: str | None = None

    def check(self, names: Sequence[str]) -> None:
        """Raise an error for unknown columns, and for a column with two roles."""
        for role in ("label", "text", "weight", "groups"):
            _check_name(f"{role}=", getattr(self, role), names)
        for name in self.columns or ():
            _check_name("columns=", name, names)
        if self.text is not None and self.columns is not None:
            raise ParameterError(
                "text= and columns= are both given, but text= selects a single text column; omit one of them"
            )
        for role, others in (("label", ("text", "columns", "weight", "groups")), ("groups", ("text", "columns"))):
            name = getattr(self, role)
            for other in others:
                given = getattr(self, other)
                if name is not None and name in (given if isinstance(given, tuple) else (given,)):
                    raise ParameterError(
                        f"{role}={name!r} is also passed as {other}=; choose a different column for one of them"
                    )


def _check_name(role: str, name: str | None, names: Sequence[str]) -> None:
    if name is None or name in names:
        return
    hint = did_you_mean(name, names, "pass one of these")
    raise InputError(
        f"{role} refers to {name!r}, but the source has no such column; its columns are {quote_names(names)}; {hint}"
    )


def check_names(declared: Iterable[str], names: Sequence[str]) -> None:
    """Raise an error if a type is declared for a column that does not exist."""
    for name in declared:
        _check_name("schema=", name, names)


class Source(ABC):
    """Protocol of sources of rows for training or prediction."""

    #: Names of the columns; None if they have no names, or the names are not known before the rows are read.
    names: Sequence[str] | None = None
    #: Roles set by the user; None if labels and weights were passed separately.
    requested: RequestedRoles | None = None
    #: Roles of the columns, set or inferred; None if there are no names.
    roles: Roles | None = None
    #: Texts that mark missing cells in text formats, as set by the user.
    missing: tuple[str, ...] = ()
    #: Rows that could not be read in the last pass.
    bad_rows: Any = ()
    #: Whether all rows are in memory.
    in_memory: ClassVar[bool] = False
    #: Whether training can resume after a given number of rows.
    can_resume: ClassVar[bool] = False
    #: Whether batches are read and counted in this process.
    is_read_here: ClassVar[bool] = True

    @property
    def n_bytes(self) -> int | None:
        """Size on disk; None if unknown."""
        return None

    @property
    def bytes_read(self) -> int:
        """Approximate number of bytes read in the last pass, at most ``n_bytes``."""
        return 0

    def with_roles(self, roles: Roles) -> Self:
        """Return a source with other roles of columns; the same source if columns have no names."""
        return self

    def with_types(self, schema: Mapping[Any, str], *, of_texts: bool = False, missing: tuple[str, ...] = ()) -> Self:
        """Return a source that reads some columns with the declared types, if they cannot be converted later.

        ``of_texts``: types that only apply to text formats. Names that do not exist in the source are ignored.
        ``missing``: texts that mark missing cells, unless set by the user.
        """
        return self

    @abstractmethod
    def head(self, n: int) -> Chunk:
        """Return about ``n`` first rows with a label, which determine the schema.

        Sources that can read ahead add rows with values of columns that are otherwise empty.
        """

    @abstractmethod
    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        """Yield rows, about ``n_bytes`` at once, after the first ``start`` rows."""

    def summarize(self, task: Summarize, start: int = 0) -> Iterator[PartialState]:
        """Yield the states of rows that are counted by a task."""
        return task.parts(self.batches(task.group_bytes, start))

    def map(self, task: Callable[[Chunk], Any]) -> Iterator[Any]:
        """Yield the result of a task for each batch."""
        return map(task, self.batches(BATCH_BYTES))

    def predict(self, model: Model, method: str) -> Any:
        """Return the results of a prediction method of a model for each row."""
        found = list(model.map_in_order(lambda one, chunk: getattr(one, method)(chunk.X), self.batches(BATCH_BYTES)))
        if not found:
            raise InputError("the source has no rows; pass a source with rows")
        return np.concatenate(found)


class MemorySource(Source):
    """Rows in memory, in any form that ``fit`` accepts."""

    in_memory = True

    def __init__(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> None:
        self._rows = Chunk(X, y, sample_weight, groups)

    def head(self, n: int) -> Chunk:
        return self._rows

    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        yield self._rows

    def summarize(self, task: Summarize, start: int = 0) -> Iterator[PartialState]:
        yield task.part(self._rows)

    def predict(self, model: Model, method: str) -> Any:
        return getattr(model, method)(self._rows.X)


def roles_to_learn(spec: Spec, source: Source) -> Roles | None:
    """Return the roles of the columns of a source for training."""
    roles = source.roles
    if roles is None or not spec.reads_texts:
        return roles if roles is None else roles._replace(text=None)
    text = roles.text or (roles.columns[0] if len(roles.columns) == 1 else None)
    if text is None:
        raise InputError(
            f"{spec.name} needs a single text column, but the source has {', '.join(map(str, roles.columns))}; choose "
            "the text column with text=…, or use NaiveBayes"
        )
    return roles._replace(text=text, columns=(text,))


AnySource = TypeVar("AnySource", bound=Source)


def source_for(model: Model, source: AnySource, *, labeled: bool = False) -> AnySource:
    """Return a source with the roles and types of columns that a model reads; ``labeled``: including labels."""
    roles = roles_for(model, source, labeled=labeled)
    if roles is None:
        return source
    return source.with_roles(roles).with_types(model.text_types(), of_texts=True, missing=model.schema.missing)


def roles_for(model: Model, source: Source, *, labeled: bool = False) -> Roles | None:
    """Return the roles of the columns of a source that a model reads; ``labeled``: including labels and weights.

    Roles set by the user take precedence over those of training, and these over inferred ones.
    """
    if source.names is None:
        return None
    names, trained, requested = list(source.names), model.schema.roles, source.requested
    if requested is None:
        assert source.roles is not None
        label, text, groups = source.roles.label or None, None, None
        weight = source.roles.weight if labeled else None
    else:
        label, text = requested.label or (trained.label if trained else None), requested.text
        weight = requested.weight or (trained.weight if trained else None) if labeled else None
        if weight is not None and weight not in names:
            raise no_column(weight, "weight", trained.weight if trained else None, names)
        known = trained.groups if trained and trained.groups in names else None
        groups = requested.groups or known if labeled else None
        if labeled and label is None and source.roles is not None:
            label = source.roles.label
            learned = model.schema.feature_names or ()
            if label in learned:
                # The name of the column suggests a label, but it was a feature in training.
                others = [name for name in names if name not in learned and name not in (weight, groups)]
                label = others[0] if len(others) == 1 else None
        if labeled and label not in names:
            raise no_column(label, "label", trained.label if trained else None, names)
    others = [name for name in names if name not in (label, weight, groups)]
    found = model.roles_in(others, text, label or "")._replace(weight=weight, groups=groups)
    # Rows to predict need no label, so rows without a label are not dropped.
    return found if labeled or requested is None else found._replace(label="")


def roles_in(spec: Spec, schema: Schema, names: list[str], text: str | None, label: str | None) -> Roles:
    """Return the roles of the named columns for a model; ``text`` and ``label``: columns if not those of training."""
    trained = schema.roles
    if label is None:
        label = trained.label if trained else ""
    if spec.reads_texts:
        known = trained.text if trained else None
        column = _text_column(text or known, known, names, label)
        return Roles(label, column, (column,))
    others = {label, *(trained.others if trained else ())}
    return Roles(label, None, _table_columns(spec, schema, names, others))


def _table_columns(spec: Spec, schema: Schema, names: list[str], others: set[str | None]) -> tuple[str, ...]:
    """Return the columns of training; ``others`` are labels and weights."""
    known, roles = schema.feature_names, schema.roles
    if known is None:
        trained = roles.columns if roles else ()
        found = trained if trained and set(trained) <= set(names) else ()
        return found or tuple(name for name in names if name not in others)
    found = tuple(name for name in known if name in names)
    if not found:
        raise InputError(
            f"the model was trained on the columns {', '.join(known)}, but the source has only {', '.join(names)}; "
            "pass a source with the training columns"
        )
    check_columns(list(known), names, getattr(spec, "absent", None), others)
    return found


def _text_column(wanted: str | None, trained: str | None, names: list[str], label: str | None) -> str:
    if wanted in names:
        return str(wanted)
    others = [name for name in names if name != label]
    if wanted is None and len(others) == 1:
        return others[0]
    raise no_column(wanted, "text", trained, names)


def no_column(name: str | None, role: str, trained: str | None, names: list[str]) -> InputError:
    """Return the error for a missing column of a source: one of training, or one named by the user."""
    found = "no column that can be the label" if name is None else f"no {role} column {name!r}"
    why = ", which the model was trained on" if name is not None and name == trained else ""
    advice = f"choose the {role} column with {role}='…'"
    if role == "label":
        advice += "; evaluating and training need labeled rows; for rows without labels use candide predict"
    meant = None if name is None else similar_name(name, names)
    hint = "" if meant is None else f"did you mean {meant!r}? "
    return InputError(f"the source has {found}{why}; its columns are {quote_names(names)}; {hint}{advice}")
