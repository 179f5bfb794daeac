"""What a set of kernels can do. ``native`` does it fast; ``reference`` says in NumPy what is meant."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..lazy_dataclass import dataclass
from ._core import Texts
from .bands import BandTable
from .binades import GridTable
from .layouts import Array, Data, Dense, Floats, Positions, Sparse
from .mixing import Hashes
from .tokens import Look, TokenRows, TokenScores, TokenTables, TokenTally

# The strength of what a column says given one other, where a pair of columns backs off to it.
BACK_STRENGTH = 2.0


class Findings(NamedTuple):
    """What a kernel met on the way; it does not judge."""

    negative: bool  # some cell was below 0
    infinite: bool
    missing: bool


class Tally(NamedTuple):
    """Weighted sums of cells: ``(classes, columns)``, dense or, where most cells are empty, a scipy ``csr_array``."""

    total: Any
    missing: Any | None  # weight of missing cells, None if there were none
    negative: bool  # some cell was below 0
    infinite: bool  # some cell was infinite (and was left out)


class MomentTable(NamedTuple):
    """Weight, mean and scatter of cells: ``(classes, columns)`` each."""

    weight: Floats
    mean: Floats
    scatter: Floats


class Extent(NamedTuple):
    """What a column of numbers holds; rows are -1 where there is none."""

    low: int
    high: int
    missing: int
    first_fraction: int
    first_infinite: int
    first_huge: int


@dataclass(frozen=True)
class PickTable:
    """Rows of scores, ``(positions, classes)``, of which some are picked and added up."""

    rows: Floats

    @cached_property
    def padded(self) -> Floats:
        """The rows with zeros up to a multiple of four: whole vectors for the native kernels."""
        out = np.zeros((len(self.rows), -(-self.rows.shape[1] // 4) * 4))
        out[:, : self.rows.shape[1]] = self.rows
        return out


@dataclass(frozen=True)
class LinearTable:
    """Scores that are linear in the cells: ``weights`` times the cell, or ``absent`` where it is missing.

    Without a threshold the cells are counts, and negative ones are refused, unless they are ``signed``.
    """

    weights: Floats  # (classes, columns)
    absent: Floats | None = None
    signed: bool = False

    @cached_property
    def by_column(self) -> tuple[PickTable, PickTable | None]:
        """Both tables as (columns, classes): sparse rows want the classes of a column side by side."""
        return PickTable(self.weights.T), None if self.absent is None else PickTable(self.absent.T)

    @cached_property
    def by_byte(self) -> PickTable:
        """For columns that are on or off: the sum of those that are on, for every byte that eight columns can make."""
        n_classes, n_columns = self.weights.shape
        columns = np.zeros((-(-n_columns // 8), 8, n_classes))
        columns.reshape(-1, n_classes)[:n_columns] = self.weights.T
        on = np.arange(256)[:, None] >> np.arange(8) & 1
        sums = np.zeros((len(columns), 256, n_classes))
        for place in range(8):
            sums += on[:, place, None] * columns[:, None, place]
        return PickTable(sums.reshape(-1, n_classes))


class FactoredTable(NamedTuple):
    """Linear weights of very many classes: ``shared[j] + slope[c]`` plus a sparse ``(columns, classes)`` remainder."""

    shared: Floats
    slope: Floats
    stored: Any


class NormalTable(NamedTuple):
    """A normal-inverse-gamma distribution per class and column: ``(classes, columns)`` each."""

    strength: Floats  # of the location, as a number of rows; NaN locations stand for columns that nobody observed
    location: Floats
    shape: Floats
    scale: Floats


class StudentTable(NamedTuple):
    """``constant - power · log1p(spread · (x - location)²)`` per class and column: ``(classes, columns)`` each."""

    location: Floats
    spread: Floats
    power: Floats
    constant: Floats


class LogSums(NamedTuple):
    """Sums of cells times logarithms. What meets the logarithm of 0 is kept apart: its sum of cells is a power of 0."""

    sums: Floats
    zeros: Floats
    cells: Floats  # the sum of each row


class PairTable(NamedTuple):
    """Weights of rows by two slots at a time; a slot is one code of one column."""

    joint: Floats  # (classes, slots, slots); of a slot with itself the weight of its rows
    rows: Floats  # (classes,)
    spare: Floats  # (columns,) pseudo-counts of a column's codes in all, ½ each

    def __reduce__(self) -> Any:
        return _stored_pairs, (packed(self.joint), self.rows, self.spare)


class TripleTable(NamedTuple):
    """Weights of rows by the slots of two columns together, and by those of a third."""

    singles: PairTable
    columns: Positions  # (pairs, 2) which two columns a pair joins
    joint: Floats  # (classes, joint slots, slots)

    def __reduce__(self) -> Any:
        return _stored_triples, (self.singles, self.columns, packed(self.joint))


def packed(counts: Floats) -> Array:
    """Counts in the smallest type that holds them exactly, for storing."""
    small = (counts.astype(kind) for kind in (np.uint8, np.uint16) if counts.max(initial=0.0) <= np.iinfo(kind).max)
    return next((part for part in small if (part == counts).all()), counts)


def _stored_pairs(joint: Array, rows: Floats, spare: Floats) -> PairTable:
    return PairTable(joint.astype(np.float64, copy=False), rows, spare)


def _stored_triples(singles: PairTable, columns: Positions, joint: Array) -> TripleTable:
    return TripleTable(singles, columns, joint.astype(np.float64, copy=False))


def room_for(n_classes: int) -> int:
    """How many classes a table of joint scores has room for: zeros fill up whole vectors."""
    return 2 if n_classes <= 2 else -(-n_classes // 4) * 4


class Kernels(Protocol):
    """The loops over rows. Missing cells are NaN (codes: below 0); classes are positions of type int32."""

    def encode_labels(self, values: Array) -> tuple[Array, Positions] | None: ...

    def scan(self, data: Dense) -> list[Extent]: ...

    def hash_rows(self, data: Dense, keys: Hashes) -> Hashes:
        """Of each row, the sum of a hash of each cell's bits and its column's key; there is one 0, and one NaN."""

    def has_repeats(self, data: Sparse) -> bool: ...

    def tally(
        self, data: Data, classes: Positions, weight: Floats | None, n_classes: int, threshold: float | None
    ) -> Tally: ...

    def moments(self, data: Data, classes: Positions, weight: Floats | None, n_classes: int) -> MomentTable: ...

    def count_codes(
        self, codes: Dense, classes: Positions, weight: Floats | None, n_classes: int, offsets: Array
    ) -> Floats: ...

    def grid(self, data: Dense, classes: Positions, weight: Floats | None, n_classes: int, limit: int) -> GridTable:
        """Numbers by cells, of which at most ``limit`` in a binade are occupied."""

    def cell_codes(self, data: Dense, cuts: Sequence[Floats]) -> Positions:
        """How many of its column's cuts, which ascend, are at most the cell: ``(rows, columns)``; missing is -1."""

    def linear_scores(self, data: Data, table: LinearTable, base: Floats, threshold: float | None) -> Floats: ...

    def factored_scores(self, data: Data, table: FactoredTable, base: Floats, threshold: float | None) -> Floats: ...

    def quadratic_scores(
        self, data: Data, precision: Floats, mean: Floats, constant: Floats, base: Floats
    ) -> Floats: ...

    def code_scores(self, codes: Dense, offsets: Array, table: PickTable, base: Floats) -> Floats: ...

    def student_scores(self, data: Data, table: StudentTable, base: Floats) -> Floats: ...

    def rising_scores(self, data: Data, start: Floats, base: Floats) -> Floats: ...

    # Scores of rows that the tables contain, each under its own class; but for the first two, with the row taken out.
    # Pseudo-counts, one for all cells or what broadcasts to the counts, are added when the row is out.

    def own_linear_scores(
        self, data: Data, classes: Positions, table: LinearTable, base: Floats, threshold: float | None
    ) -> Floats: ...

    def own_code_scores(self, codes: Dense, classes: Positions, offsets: Array, table: PickTable) -> Floats: ...

    def own_normal_scores(
        self, data: Data, classes: Positions, weight: Floats | None, posterior: NormalTable, extra: float, floor: float,
        *, student: bool,
    ) -> Floats: ...  # fmt: skip

    def own_rising_scores(
        self, data: Data, classes: Positions, weight: Floats | None, count: Floats, pseudo: float | Floats
    ) -> Floats: ...

    # Scores under every class and, under the own class, sums of x log(count - weight x + pseudo), or linear
    # scores by another table.

    def left_out_counts(
        self, data: Data, classes: Positions, weight: Floats | None, table: LinearTable, base: Floats, count: Floats,
        pseudo: float | Floats,
    ) -> tuple[Floats, LogSums]: ...  # fmt: skip

    def left_out_linear(
        self, data: Data, classes: Positions, table: LinearTable, base: Floats, own_table: LinearTable,
        own_base: Floats, threshold: float | None,
    ) -> tuple[Floats, Floats]: ...  # fmt: skip

    def left_out_code_scores(
        self, codes: Dense, classes: Positions, offsets: Array, table: PickTable, own_table: PickTable, base: Floats
    ) -> tuple[Floats, Floats]: ...

    # Scores under every class, where leaving a row out changes them all.

    def left_out_complement(
        self, data: Data, classes: Positions, weight: Floats | None, others: Floats, pseudo: float | Floats
    ) -> LogSums: ...

    def left_out_shared(
        self, data: Data, classes: Positions, weight: Floats | None, location: Floats, strength: Floats, shape: Floats,
        scale: Floats, extra: float, floor: float, base: Floats,
    ) -> Floats: ...  # fmt: skip

    # Columns together. Rows are ``(rows, columns)`` of slots; parents are slots too, or those of pairs of columns.
    # Slots of -1 are passed over: their columns are not given. Sums over no parent at all are 0.

    def joint_counts(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats | None,
        shape: tuple[int, int, int],
    ) -> Floats:  # fmt: skip
        """The weight of rows by class, parent and slot."""

    def joint_scores(self, parents: Positions, slots: Positions, table: Floats, n_classes: int) -> Floats:
        """log Σ over parents exp Σ over slots of ``table``, (parents, slots, classes), padded by ``room_for``."""

    def own_pair_scores(
        self, slots: Positions, classes: Positions, weight: Floats, table: PairTable, strength: float
    ) -> Floats:
        """log Σ_u p(u | class) Π_j p(j | u, class) over columns u and j, without the row's weight in the counts.

        p(j | class) = (count + ½) / (rows + spare), rows as they are with the row, since a class that is smaller would
        tell which the row is taken from; p(j | u, class) = (count + strength · p(j | class)) / (count of u + strength).
        """

    def own_triple_scores(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats, table: TripleTable,
        strength: float,
    ) -> Floats:  # fmt: skip
        """The same over pairs of columns u = (s, t). There p(j | u, class) backs off to the mean of p(j | s, class) and
        p(j | t, class), which have BACK_STRENGTH, and p(u | class) to the product of p(s | class) and p(t | class).
        """

    # Texts, looked at in several ways in one pass. A vocabulary that may grow comes back grown.

    def count_tokens(
        self, texts: Texts, looks: Sequence[Look], *, grow: bool, presence: bool = False
    ) -> list[TokenRows]:
        """``presence``: one of each token of a text, however often it stands there; for codings that grow."""

    def tally_tokens(
        self, texts: Texts, classes: Positions, weight: Floats | None, n_classes: int, looks: Sequence[Look],
        *, grow: bool,
    ) -> list[TokenTally]: ...  # fmt: skip

    def score_tokens(
        self, texts: Texts, looks: Sequence[Look], tables: Sequence[TokenTables], *, distinct: bool = False
    ) -> list[TokenScores]: ...

    # Texts as rows of token codes, each code once and whatever its value. Scores are ``(views, rows, classes)``: a view
    # for every band of evidence, then, if the table has the complement, as many by all other classes.

    def band_scores(self, rows: Sparse, table: BandTable) -> Floats:
        """Sums over the tokens of a band of log p(token | class), over √(1 + tokens of the text). A token between two
        bands is shared out to them.

        p is (count + alpha) / (size + alpha · tokens), but for a factor that all classes share. By all other classes it
        is -log of the same with their counts and size. Tokens that no text of training holds are passed over.
        """

    def band_left_out(self, rows: Sparse, classes: Positions, weight: Floats | None, table: BandTable) -> Floats:
        """The same without the row's weight in the counts of its tokens, also in their bands; sizes stay.

        Rows of weight 0 are scored as new ones.
        """

    def band_fold_scores(
        self, rows: Sparse, classes: Positions, weight: Floats | None, folds: Positions, table: BandTable
    ) -> Floats:
        """The same without all rows of the row's fold, also in the sizes; ``folds`` are below the number of rows.

        Tokens that no other row holds are passed over, but still are among those that p is shared out to.
        """

    # Changes of such scores in their places, ``(rows, classes)``.

    def put_own(
        self, scores: Floats, classes: Positions, weight: Floats | None, values: Floats, by_class: Floats
    ) -> None:
        """To ``values`` of the row plus ``by_class`` of its class; rows of weight 0 keep theirs."""

    def add_own(self, scores: Floats, classes: Positions, change: Floats, *, by_class: bool) -> None:
        """By the change of the row, or of its class."""

    def normalise(self, scores: Floats, *, logarithm: bool) -> int: ...

    def best(self, scores: Floats) -> tuple[Array, int]: ...
