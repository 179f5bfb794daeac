# The native module, as cpp/bind declares it. tests/kernels/test_stubs.py compares the two.

from typing import Any

from .layouts import Array, Dense, Floats, Positions, Sparse
from .scoring import GridCells, PairTable, TripleTable
from .tables import FactoredTable, LinearTerms, LogSums, NormalTable, SmoothedCounts, StudentTable
from .token_bins import TokenBins
from .tokenizer import TokenizerConfig

Table = Array | tuple[Array, ...]
Findings = tuple[bool, bool, bool]  # negative, infinite, missing

CELLS: tuple[str, ...]
unicode_version: str

def tally(
    values: Table,
    classes: Positions,
    weight: Floats | None,
    threshold: float | None,
    n_threads: int,
    total: Floats,
    missing: Floats,
) -> Findings: ...
def tally_rows(
    rows: Sparse,
    classes: Positions,
    weight: Floats | None,
    cell: int,
    threshold: float,
    center: Floats | None,
    n_threads: int,
    total: Floats,
) -> Findings: ...
def tally_rows_sparse(
    rows: Sparse,
    classes: Positions,
    weight: Floats | None,
    cell: int,
    threshold: float,
    n_classes: int,
    n_threads: int,
) -> tuple[Array, Array, Floats, Findings]: ...
def moments(
    values: Table,
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
def hash_rows(values: Table, keys: Array, n_threads: int) -> Array: ...
def scan(values: Table, n_threads: int) -> list[tuple[int, int, int, int, int, int]]: ...
def linear_scores(
    values: Table,
    weights: Floats,
    base: Floats,
    absent: Floats | None,
    threshold: float | None,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def presence_scores(
    values: Table,
    threshold: float,
    bytes: Floats,
    weights: Floats,
    absent: Floats | None,
    base: Floats,
    n_threads: int,
    scores: Floats,
) -> tuple[bool, bool, bool]: ...
def quadratic_scores(
    values: Table, precision: Floats, mean: Floats, constant: Floats, base: Floats, n_threads: int, scores: Floats
) -> Findings: ...
def linear_row_scores(
    rows: Sparse,
    weights: Floats,
    base: Floats,
    absent: Floats | None,
    threshold: float | None,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def factored_row_scores(
    rows: Sparse, table: FactoredTable, base: Floats, threshold: float | None, n_threads: int, scores: Floats
) -> Findings: ...
def own_linear_scores(
    rows: Dense | Sparse,
    classes: Positions,
    terms: LinearTerms,
    threshold: float | None,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def own_normal_scores(
    values: Table,
    classes: Positions,
    weight: Floats | None,
    posterior: NormalTable,
    extra: float,
    floor: float,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def own_student_scores(
    values: Table,
    classes: Positions,
    weight: Floats | None,
    posterior: NormalTable,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def own_rising_scores(
    rows: Dense | Sparse,
    classes: Positions,
    weight: Floats | None,
    counts: SmoothedCounts,
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
    rows: Dense | Sparse,
    classes: Positions,
    weight: Floats | None,
    terms: LinearTerms,
    counts: SmoothedCounts,
    n_threads: int,
    scores: Floats,
    log_sums: LogSums,
) -> Findings: ...
def left_out_linear(
    rows: Dense | Sparse,
    classes: Positions,
    terms: LinearTerms,
    own_terms: LinearTerms,
    threshold: float | None,
    n_threads: int,
    scores: Floats,
    own: Floats,
) -> Findings: ...
def left_out_complement(
    rows: Dense | Sparse,
    classes: Positions,
    weight: Floats | None,
    counts: SmoothedCounts,
    n_threads: int,
    log_sums: LogSums,
) -> Findings: ...
def left_out_shared(
    values: Table,
    classes: Positions,
    weight: Floats | None,
    posterior: NormalTable,
    extra: float,
    floor: float,
    base: Floats,
    n_threads: int,
    scores: Floats,
) -> Findings: ...
def student_scores(values: Table, table: StudentTable, base: Floats, n_threads: int, scores: Floats) -> Findings: ...
def rising_scores(rows: Dense | Sparse, start: Floats, base: Floats, n_threads: int, scores: Floats) -> Findings: ...
def cosine_features(angles: Floats) -> None: ...
def normalize(scores: Floats, logarithm: bool, n_threads: int) -> int: ...
def put_own(
    scores: Floats, classes: Positions, weight: Floats | None, values: Floats, by_class: Floats, n_threads: int
) -> None: ...
def add_own(scores: Floats, classes: Positions, change: Floats, by_class: bool, n_threads: int) -> None: ...
def best(scores: Floats, n_threads: int, out: Array) -> int: ...
def encode_labels(labels: Array, n_threads: int) -> Any: ...
def has_repeats(rows: Sparse, n_threads: int) -> bool: ...
def grid(
    values: Table, classes: Positions, weight: Floats | None, n_classes: int, limit: int, n_threads: int
) -> tuple[Array, Array, Array, Floats, Array, Array, bool]: ...
def cell_codes(values: Table, cuts: Floats, offsets: Array, n_threads: int, codes: Array) -> bool: ...
def joint_counts(
    parents: Positions, slots: Positions, classes: Positions, weight: Floats | None, n_threads: int, joint: Floats
) -> None: ...
def joint_scores(parents: Positions, slots: Positions, table: Floats, n_threads: int, scores: Floats) -> None: ...
def grid_keys(slots: Positions, words: Array, n_threads: int, keys: Array) -> None: ...
def indicator_product(ends: Positions, columns: Positions, factor: Array, n_threads: int, product: Array) -> None: ...
def grid_scores(slots: Positions, words: Array, cells: GridCells, n_threads: int, scores: Floats) -> None: ...
def own_pair_scores(
    slots: Positions,
    classes: Positions,
    weight: Floats,
    table: PairTable,
    strength: float,
    n_threads: int,
    scores: Floats,
) -> None: ...
def own_triple_scores(
    parents: Positions,
    slots: Positions,
    classes: Positions,
    weight: Floats,
    table: TripleTable,
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
    def of_buffers(bytes: Array | memoryview, offsets: Array | memoryview) -> Vocabulary: ...
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

class Tokenizer:
    def __init__(self, config: TokenizerConfig, analyzer: int, accents: int, stop_words: Vocabulary | None) -> None: ...

def token_buckets(tokens: Texts, bits: int) -> Positions: ...
def count_tokens(
    texts: Texts,
    tokenizers: list[Tokenizer],
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
    tokenizers: list[Tokenizer],
    codings: list[Vocabulary | BucketList | int],
    grow: bool,
    n_threads: int,
) -> list[tuple[Vocabulary | BucketList | None, Array, Positions, Floats, Floats]]: ...
def score_tokens(
    texts: Texts,
    tokenizers: list[Tokenizer],
    codings: list[Vocabulary | BucketList | int],
    tables: list[Array | None],
    once_tables: list[Array | None],
    distinct: bool,
    n_threads: int,
) -> list[tuple[Floats | None, Floats | None, Array, Array, Array | None]]: ...
def token_bin_entries(
    indptr: Array, codes: Positions, sums: Floats, n_codes: int
) -> tuple[Positions, Positions, Array, Positions, Floats, Floats, Floats]: ...
def token_bin_scores(rows: Sparse, bins: TokenBins, n_threads: int, scores: Floats) -> None: ...
def token_bin_left_out(
    rows: Sparse, classes: Positions, weight: Floats | None, bins: TokenBins, n_threads: int, scores: Floats
) -> None: ...
def token_bin_fold_scores(
    rows: Sparse,
    classes: Positions,
    weight: Floats | None,
    folds: Positions,
    bins: TokenBins,
    n_threads: int,
    scores: Floats,
) -> None: ...
def set_leak_warnings(on: bool) -> None: ...
def trim_heap() -> None: ...
def set_mmap_threshold(bytes: int) -> None: ...
