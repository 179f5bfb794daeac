"""Tables for a terminal, as wide as it is, and evaluations as such tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from ..printable import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from ..model.evaluation import Evaluation
    from ..model.table import Table

_GAP = 2
# The least width of a column of names or of running text before other columns are omitted.
_MIN_FIRST, _MIN_NAME, _MIN_TEXT = 24, 16, 24
_MAX_CLASSES = 30
_MAX_CONFUSION_CLASSES = 12
_MAX_CONFUSIONS = 8
_DEFINITIONS = {
    "contribution": "mean absolute contribution to the log-odds of the prediction against the runner-up, in bits",
    "loss_without": "increase of the leave-one-out log-loss when the column is missing, on at most 500 rows",
    "own_weight": "factor of the column's own score; a column with weight 0 may contribute through views",
    "bits": "information about the class in the column alone",
    "view": "a score of several columns together",
}


class Column(NamedTuple):
    """A column of a terminal table."""

    heading: str
    numeric: bool = False  # right-aligned, never shortened
    wrap: bool = False  # running text, wrapped between words
    optional: bool = False  # omitted, the last first, where the terminal is too narrow


class TerminalTable:
    """A table that fits the terminal: names are shortened in the middle, text is wrapped, optional columns omitted."""

    def __init__(self, title: str | None, columns: Sequence[Column], *, header: bool = True) -> None:
        self.title = None if title is None else printable(title)
        self.columns = [column._replace(heading=printable(column.heading)) for column in columns]
        self.rows: list[list[str]] = []
        self.header = header
        self.note: str | None = None

    def add_row(self, *cells: Any) -> None:
        """Add a row; cells are shown as text without control characters."""
        self.rows.append([printable(str(cell)) for cell in cells])

    def width(self) -> int:
        """Return the width at which nothing is shortened."""
        widths = self._natural(range(len(self.columns)))
        return sum(widths) + _GAP * (len(widths) - 1)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        kept, widths = self._fit(options.max_width)
        if self.title is not None:
            yield Text("")
        if self.title:
            yield Text(self.title, "bold")
        if self.header:
            yield self._line([self.columns[j].heading for j in kept], kept, widths, "dim")
            yield Text("─" * (sum(widths) + _GAP * (len(widths) - 1)), "dim")
        for row in self.rows:
            yield from self._lines([row[j] for j in kept], kept, widths)
        omitted = [column.heading for j, column in enumerate(self.columns) if j not in kept]
        if self.note:
            yield Text(self.note, "dim")
        if omitted:
            yield Text(f"columns omitted at this width: {', '.join(omitted)}", "dim")

    def _fit(self, width: int) -> tuple[list[int], list[int]]:
        """Return the columns that are shown, and their widths."""
        kept = list(range(len(self.columns)))
        while True:
            natural = self._natural(kept)
            least = [min(wide, self._least(j)) for j, wide in zip(kept, natural, strict=True)]
            available = width - _GAP * (len(kept) - 1)
            optional = [j for j in kept if self.columns[j].optional]
            if sum(least) <= available or not optional:
                break
            kept.remove(optional[-1])
        left = max(0, available - sum(least))
        widths = []
        for wide, narrow in zip(natural, least, strict=True):
            more = min(wide - narrow, left)
            widths.append(narrow + more)
            left -= more
        return kept, widths

    def _natural(self, kept: Iterable[int]) -> list[int]:
        heading = cell_len if self.header else (lambda text: 0)
        return [
            max([heading(self.columns[j].heading), *(cell_len(row[j]) for row in self.rows)], default=0) for j in kept
        ]

    def _least(self, j: int) -> int:
        column = self.columns[j]
        return 1 << 30 if column.numeric else _MIN_TEXT if column.wrap else _MIN_NAME if j else _MIN_FIRST

    def _lines(self, cells: list[str], kept: list[int], widths: list[int]) -> Iterable[Text]:
        parts = [
            (textwrap.wrap(cell, wide, break_long_words=False, break_on_hyphens=False) or [""])
            if self.columns[j].wrap
            else [cell]
            for cell, j, wide in zip(cells, kept, widths, strict=True)
        ]
        for number in range(max(map(len, parts), default=1)):
            yield self._line([part[number] if number < len(part) else "" for part in parts], kept, widths)

    def _line(self, cells: list[str], kept: list[int], widths: list[int], style: str = "") -> Text:
        padded = []
        for cell, j, wide in zip(cells, kept, widths, strict=True):
            shown = shorten(cell, wide)
            space = " " * (wide - cell_len(shown))
            padded.append(space + shown if self.columns[j].numeric else shown + space)
        return Text((" " * _GAP).join(padded).rstrip(), style)


def shorten(text: str, width: int) -> str:
    """Return a text without its middle if it is wider than ``width``; names often differ at their ends.

    >>> shorten("covariance of numeric columns, shrunk more", 20)
    'covarianc…runk more'
    """
    if cell_len(text) <= width:
        return text
    head = tail = max(1, (width - 1) // 2)
    while cell_len(text[:head]) + cell_len(text[-tail:]) + 1 > width and tail > 1:
        head, tail = head - (head > 1), tail - 1
    return f"{text[:head]}…{text[-tail:]}"


def name_and_value(title: str | None, rows: dict[str, Any]) -> TerminalTable:
    """Return a table of names and values."""
    table = TerminalTable(title, (Column("name"), Column("value", wrap=True)), header=False)
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def of_table(
    table: Table, title: str | None = None, most: int = 60, *, exact: bool = False, optional: tuple[str, ...] = (),
    wrap: tuple[str, ...] = ("note",),
) -> TerminalTable:  # fmt: skip
    """Return a table of the model for the terminal; ``exact`` shows numbers of different sizes by their digits."""
    kinds = {name: column.dtype.kind in "iuf" for name, column in table.items()}
    shown = TerminalTable(
        title,
        [Column(name, numeric, wrap=name in wrap, optional=name in optional) for name, numeric in kinds.items()],
    )
    formats = [None if exact or not kinds[name] else decimals(column[:most]) for name, column in table.items()]
    for row in list(table.rows())[:most]:
        shown.add_row(*(_cell(value, digits) for value, digits in zip(row, formats, strict=True)))
    if table.n_rows > most:
        shown.note = f"… and {table.n_rows - most:,} more"
    return shown


def of_summary(summary: Table, title: str, most: int = 60) -> list[Any]:
    """Return the summary of columns or token features, and what its headings mean."""
    if "contribution" not in summary:
        return [of_table(summary, title, most)]
    order = np.argsort(-np.nan_to_num(summary["contribution"]), kind="stable")
    ordered = type(summary)({name: column[order] for name, column in summary.items()})
    empty = [name for name, column in ordered.items() if name == "missing" and not np.nan_to_num(column).any()]
    first = ["column", "family", "contribution", "loss_without", "own_weight", "bits"]
    names = [*first, *(name for name in ordered if name not in (*first, *empty))]
    table = of_table(
        type(summary)({name: ordered[name] for name in names}),
        f"{title}, by contribution",
        most,
        optional=("loss_without", "own_weight", "bits", "missing", "parameters", "note"),
        wrap=("column", "note"),
    )
    return [table, name_and_value("", _DEFINITIONS)]


def decimals(numbers: Any) -> int:
    """Return how many decimals show about four digits of the largest of some numbers.

    >>> [decimals(np.array(some)) for some in ([0.25, 0.5], [3.5], [250.0, 1.5], [40000.0, 7.25], [3.0, 4.0])]
    [4, 3, 1, 0, 0]
    """
    known = np.abs(np.asarray(numbers, dtype=np.float64))
    known = known[np.isfinite(known)]
    if not known.size or (known == np.round(known)).all():
        return 0
    return (
        int(np.clip(3 - np.floor(np.log10(known.max())), 0, 4))
        if known.max() < 1
        else max(0, 3 - int(np.floor(np.log10(known.max()))))
    )


def _cell(value: Any, digits: int | None) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if digits is None else f"{value:,.{digits}f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def of_loo(report: Evaluation) -> list[Any]:
    """Return the leave-one-out evaluation of a model."""
    return of_evaluation(report, f"Leave-one-out evaluation ({count(report.n_rows, 'training row')})")


def of_evaluation(report: Evaluation, title: str) -> list[Any]:
    """Return tables of the metrics of the model and of plain naive Bayes, of the classes, and of the confusions."""
    plain = report.plain
    heads = [Column("metric"), Column("model"), *([] if plain is None else [Column("plain naive Bayes")])]
    table = TerminalTable(title, heads, header=plain is not None)
    for name, field in _METRICS.items():
        table.add_row(name, *(_measure(one, field) for one in (report, plain) if one is not None))
    return [table, of_classes(report), *([] if len(report.confusion) < 2 else [_Confusion(report)])]


_METRICS = {
    "accuracy": "accuracy",
    "log-loss": "log_loss",
    "Brier score": "brier",
    "calibration error (ECE)": "ece",
    "ECE by chance": "ece_by_chance",
}


def _measure(report: Evaluation, field: str) -> str:
    error = getattr(report, f"{field}_error", None)
    return f"{getattr(report, field):.4f}" + ("" if error is None or error != error else f" ± {error:.4f}")


def of_classes(report: Evaluation) -> TerminalTable:
    """Return precision, recall, F1 and AUC of each class, the largest first."""
    found = report.per_class
    names = [name for name in ("precision", "recall", "f1", "auc") if name in found]
    heads = {"f1": "F1", "auc": "AUC"}
    table = TerminalTable(
        "Classes", [Column("class"), *(Column(heads.get(name, name), True) for name in names), Column("rows", True)]
    )
    order = report.by_weight().tolist()
    for k in order[:_MAX_CLASSES]:
        shares = [float(found[name][k]) for name in names]
        weight = float(found["weight"][k])
        table.add_row(
            found["class"][k], *("" if one != one else f"{one:.3f}" for one in shares), _weight(weight) or "0"
        )
    if len(order) > _MAX_CLASSES:
        table.note = f"… and {len(order) - _MAX_CLASSES:,} smaller classes (--json has all)"
    return table


class _Confusion:
    """The confusion matrix, or the most frequent confusions where it does not fit."""

    def __init__(self, report: Evaluation) -> None:
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        matrix = self._matrix()
        fits = len(self.report.confusion) <= _MAX_CONFUSION_CLASSES and matrix.width() <= options.max_width
        yield matrix if fits else self._list()

    def _matrix(self) -> TerminalTable:
        order = self.report.by_weight()
        labels = [str(label) for label in self.report.per_class["class"][order].tolist()]
        heads = [Column(shorten(label, 14), True) for label in labels]
        shown = TerminalTable("Confusion matrix", [Column("true ↓ predicted →"), *heads])
        for label, row in zip(labels, self.report.confusion[np.ix_(order, order)], strict=True):
            shown.add_row(shorten(label, 24), *(_weight(weight) or "·" for weight in row))
        return shown

    def _list(self) -> TerminalTable:
        shown = TerminalTable(
            "Most frequent confusions",
            [Column("true class"), Column("predicted"), Column("rows", True), Column("share of class", True)],
        )
        for true, answer, weight, share in self.report.confusions(_MAX_CONFUSIONS).rows():
            shown.add_row(true, answer, _weight(weight), f"{share:.1%}")
        if not shown.rows:
            shown.note = "none"
        return shown


def _weight(weight: float) -> str:
    """Return a weight of rows; those of a sample represent others, so that fractions of a row mean nothing."""
    return "" if not weight else f"{weight:,.0f}" if weight >= 10 else f"{weight:.3g}"


def count(n: float, what: str) -> str:
    """Return a number with its noun.

    >>> count(1, "row"), count(1200, "row"), count(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    plural = what + ("es" if what.endswith("s") else "s")
    return f"{n:,.6g} {what if n == 1 else plural}" if n < 1e6 else f"{n:,.0f} {plural}"
