# The native module, as cpp/bind declares it. tests/kernels/test_stubs.py compares the two.

from typing import Any

from .layouts import Array, Floats, Positions

Table = Array | tuple[Array, ...]
Findings = tuple[bool, bool, bool]  # negative, infinite, missing

CELLS: tuple[str, ...]
unicode_version: str

def tally(
    table: Table,
    classes: Positions,
    weight: Floats | None,
    threshold: float | None,
    n_threads: int,
    total: Floats,
    missing: Floats,
) -> Findings: ...
def tally_rows(
    indptr: Array,
    indices: Array,
    values: Array,
    classes: Positions,
    weight: Floats | None,
    cell: int,
    threshold: float,
    center: Floats | None,
    n_threads: int,
    total: Floats,
) -> Findings: ...
def tally_rows_sparse(
    indptr: Array,
    indices: Array,
    values: Array,
    classes: Positions,
    weight: Floats | None,
    cell: int,
    threshold: float,
    n_classes: int,
    n_columns: int,
    n_threads: int,
) -> tuple[Array, Array, Floats, Findings]: ...
def moments(
    table: Table,
    classes: Positions,
    row_weight: Floats | None,
    n_threads: int,
    weight: Floats,
    mean: Floats,
    scatter: Floats,
) -> None: ...
def count_codes(
    codes: Table, classes: Positions, weight: Floats | None, offsets: Array, n_threads: int, counts: Floats
) -> None: ...
def code_scores(codes: Table, offsets: Array, table: Floats, base: Floats, n_threads: int, scores: Floats) -> None: ...
def own_code_scores(
    codes: Table, classes: Positions, offsets: Array, table: Floats, n_threads: int, scores: Floats
) -> None: ...
def hash_rows(table: Table, keys: Array, n_threads: int) -> Array: ...
def scan(table: Table, n_threads: int) -> list[tuple[int, int, int, int, int, int]]: ...
def linear_scores(
    table: Table,
    weights: Floats,
    base: Floats,
    absent: Floats | None,
    threshold: float | None,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def presence_scores(
    table: Table,
    threshold: float,
    bytes: Floats,
    weights: Floats,
    absent: Floats | None,
    base: Floats,
    n_threads: int,
    scores: Floats,
) -> tuple[bool, bool, bool]: ...
def quadratic_scores(
    table: Table, precision: Floats, mean: Floats, constant: Floats, base: Floats, n_threads: int, scores: Floats
) -> Findings: ...
def linear_row_scores(
    indptr: Array,
    indices: Array,
    values: Array,
    weights: Floats,
    base: Floats,
    absent: Floats | None,
    threshold: float | None,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def factored_row_scores(
    indptr: Array,
    indices: Array,
    values: Array,
    shared: Floats,
    slope: Floats,
    by_column: Array,
    classes: Array,
    stored: Floats,
    base: Floats,
    threshold: float | None,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def own_linear_scores(
    values: Table,
    indptr: Array | None,
    indices: Array | None,
    classes: Positions,
    weights: Floats,
    base: Floats,
    absent: Floats | None,
    threshold: float | None,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def own_normal_scores(
    table: Table,
    classes: Positions,
    weight: Floats | None,
    strength: Floats,
    location: Floats,
    shape: Floats,
    scale: Floats,
    extra: float,
    floor: float,
    student: bool,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def own_rising_scores(
    values: Table,
    indptr: Array | None,
    indices: Array | None,
    classes: Positions,
    weight: Floats | None,
    count: Floats,
    pseudo: float | Floats,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def left_out_code_scores(
    codes: Table,
    classes: Positions,
    offsets: Array,
    table: Floats,
    own_table: Floats,
    base: Floats,
    n_threads: int,
    scores: Floats,
    own: Floats,
) -> None: ...
def left_out_counts(
    values: Table,
    indptr: Array | None,
    indices: Array | None,
    classes: Positions,
    weight: Floats | None,
    weights: Floats,
    base: Floats,
    absent: Floats | None,
    count: Floats,
    pseudo: float | Floats,
    n_threads: int,
    scores: Floats,
    sums: Floats,
    zeros: Floats,
    cells: Floats,
) -> Findings: ...
def left_out_linear(
    values: Table,
    indptr: Array | None,
    indices: Array | None,
    classes: Positions,
    weights: Floats,
    base: Floats,
    absent: Floats | None,
    own_weights: Floats,
    own_base: Floats,
    own_absent: Floats | None,
    threshold: float | None,
    n_threads: int,
    scores: Floats,
    own: Floats,
) -> Findings: ...
def left_out_complement(
    values: Table,
    indptr: Array | None,
    indices: Array | None,
    classes: Positions,
    weight: Floats | None,
    count: Floats,
    pseudo: float | Floats,
    n_threads: int,
    sums: Floats,
    zeros: Floats,
    cells: Floats,
) -> Findings: ...
def left_out_shared(
    table: Table,
    classes: Positions,
    weight: Floats | None,
    location: Floats,
    strength: Floats,
    shape: Floats,
    scale: Floats,
    extra: float,
    floor: float,
    base: Floats,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def student_scores(
    table: Table,
    location: Floats,
    spread: Floats,
    power: Floats,
    constant: Floats,
    base: Floats,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def rising_scores(
    values: Table,
    indptr: Array | None,
    indices: Array | None,
    start: Floats,
    base: Floats,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def normalise(scores: Floats, logarithm: bool, n_threads: int) -> int: ...
def put_own(
    scores: Floats, classes: Positions, weight: Floats | None, values: Floats, by_class: Floats, n_threads: int
) -> None: ...
def add_own(scores: Floats, classes: Positions, change: Floats, by_class: bool, n_threads: int) -> None: ...
def best(scores: Floats, n_threads: int, out: Array) -> int: ...
def encode_labels(labels: Array, n_threads: int) -> Any: ...
def has_repeats(indptr: Array, indices: Array, values: Array, n_columns: int, n_threads: int) -> bool: ...
def grid(
    table: Table, classes: Positions, weight: Floats | None, n_classes: int, limit: int, n_threads: int
) -> tuple[Array, Array, Array, Floats, Array, Array, bool]: ...
def cell_codes(table: Table, cuts: Floats, offsets: Array, n_threads: int, codes: Array) -> bool: ...
def joint_counts(
    parents: Positions, slots: Positions, classes: Positions, weight: Floats | None, n_threads: int, joint: Floats
) -> None: ...
def joint_scores(parents: Positions, slots: Positions, table: Floats, n_threads: int, scores: Floats) -> None: ...
def own_pair_scores(
    slots: Positions,
    classes: Positions,
    weight: Floats,
    joint: Floats,
    rows: Floats,
    spare: Floats,
    strength: float,
    n_threads: int,
    scores: Floats,
) -> None: ...
def own_triple_scores(
    parents: Positions,
    slots: Positions,
    classes: Positions,
    weight: Floats,
    singles: Floats,
    rows: Floats,
    spare: Floats,
    columns: Positions,
    joint: Floats,
    strength: float,
    back_strength: float,
    n_threads: int,
    scores: Floats,
) -> None: ...

class Texts:
    @staticmethod
    def of_list(items: list[Any]) -> tuple[Texts, int]: ...
    @staticmethod
    def of_buffers(data: Array, offsets: Array, valid: Array | None) -> Texts: ...
    @staticmethod
    def joined(parts: list[Texts]) -> Texts: ...
    def __len__(self) -> int: ...
    def units(self) -> int: ...
    def rows(self, begin: int, end: int) -> Texts: ...
    def take(self, rows: Array) -> Texts: ...
    def sizes(self, n_threads: int) -> Array: ...
    def hashes(self, n_threads: int) -> Array: ...
    def packed(self) -> tuple[Array, Array]: ...
    def missing(self) -> Array: ...
    def strings(self) -> list[str | None]: ...

class Vocabulary:
    def __init__(self) -> None: ...
    @staticmethod
    def of_buffers(bytes: Array, offsets: Array) -> Vocabulary: ...
    @staticmethod
    def of_tokens(tokens: Texts) -> Vocabulary: ...
    def __len__(self) -> int: ...
    def arrays(self) -> tuple[Array, Array]: ...
    def codes(self, tokens: Texts) -> Positions: ...
    def merged(self, other: Vocabulary) -> tuple[Vocabulary, Positions]: ...

class BucketList:
    def __init__(self, bits: int, buckets: Positions) -> None: ...
    def __len__(self) -> int: ...
    def bits(self) -> int: ...
    def buckets(self) -> Positions: ...

class Recipe:
    def __init__(
        self,
        analyzer: int,
        low: int,
        high: int,
        lowercase: bool,
        accents: int,
        fold_numbers: bool,
        min_length: int,
        marks: bool,
        ends: bool,
        stop_words: Vocabulary | None,
    ) -> None: ...

def token_buckets(tokens: Texts, bits: int) -> Positions: ...
def count_tokens(
    texts: Texts,
    recipes: list[Recipe],
    codings: list[Vocabulary | BucketList | int],
    grow: bool,
    counts: bool,
    n_threads: int,
) -> list[tuple[Vocabulary | BucketList | None, Array, Positions, Positions, Array]]: ...
def tally_tokens(
    texts: Texts,
    classes: Positions,
    weight: Floats | None,
    n_classes: int,
    recipes: list[Recipe],
    codings: list[Vocabulary | BucketList | int],
    grow: bool,
    n_threads: int,
) -> list[tuple[Vocabulary | BucketList | None, Array, Positions, Floats, Floats]]: ...
def score_tokens(
    texts: Texts,
    recipes: list[Recipe],
    codings: list[Vocabulary | BucketList | int],
    tables: list[Array | None],
    once_tables: list[Array | None],
    distinct: bool,
    n_threads: int,
) -> list[tuple[Floats | None, Floats | None, Array, Array, Array | None]]: ...
def band_entries(
    indptr: Array, codes: Positions, sums: Floats, n_codes: int
) -> tuple[Positions, Positions, Array, Positions, Floats, Floats, Floats]: ...
def band_scores(
    indptr: Array,
    indices: Array,
    values: Array,
    place: Positions,
    by_token: Array,
    held_by: Positions,
    level: Floats,
    logs: Floats,
    log_size: Floats,
    n_threads: int,
    scores: Floats,
) -> None: ...
def band_left_out(
    indptr: Array,
    indices: Array,
    values: Array,
    classes: Positions,
    weight: Floats | None,
    place: Positions,
    by_token: Array,
    held_by: Positions,
    level: Floats,
    logs: Floats,
    log_size: Floats,
    count: Floats,
    token_weight: Floats,
    evidence: Floats,
    size: Floats,
    log_knots: Floats,
    alpha: float,
    n_threads: int,
    scores: Floats,
) -> None: ...
def band_fold_scores(
    indptr: Array,
    indices: Array,
    values: Array,
    classes: Positions,
    weight: Floats | None,
    folds: Positions,
    place: Positions,
    by_token: Array,
    held_by: Positions,
    count: Floats,
    token_weight: Floats,
    size: Floats,
    log_knots: Floats,
    alpha: float,
    spare: float,
    n_threads: int,
    scores: Floats,
) -> None: ...
def release_memory() -> None: ...
def return_blocks_from(bytes: int) -> None: ...
