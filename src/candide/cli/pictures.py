"""Tables and reports as people see them in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from ..printable import printable

if TYPE_CHECKING:
    from ..model.evaluation import Evaluation
    from ..model.table import Table

# More classes than this make a confusion that nobody reads.
_MOST_CLASSES = 12
_MOST_MISTAKES = 8
# What the columns of a summary are.
_TERMS = (
    "contribution: mean absolute contribution to the log-odds of answer against runner-up, in bits, in all views",
    "loss_without: rise of the leave-one-out log-loss when the column is not given",
    "own_weight: factor of the column's own score; a column of weight 0 may matter through views",
    "bits: what the column alone tells about the class; view: a score of several columns together",
    "",
)


class Picture(RichTable):
    """A table whose cells are safe to show, whatever text they hold."""

    def add_row(self, *cells: Any, **more: Any) -> None:
        super().add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells), **more)


def picture(title: str | None = None, *headings: str, right: tuple[str, ...] = ()) -> Picture:
    """An empty table in the style of all."""
    table = Picture(
        title=None if title is None else printable(title),
        box=box.SIMPLE,
        title_justify="left",
        title_style="bold",
        header_style="dim",
        pad_edge=False,
    )
    for heading in headings:
        table.add_column(printable(heading), justify="right" if heading in right else "left", overflow="fold")
    return table


def of_table(table: Table, title: str | None = None, most: int = 60) -> Picture:
    """A table of the model's."""
    numeric = tuple(name for name, column in table.items() if column.dtype.kind in "iuf")
    shown = picture(title, *table, right=numeric)
    for number, row in enumerate(table.rows()):
        if number == most:
            shown.add_row(*["…", *[""] * (len(table) - 1)])
            break
        shown.add_row(*map(_cell, row))
    return shown


def of_summary(summary: Table, title: str) -> list[Any]:
    """A summary of columns, and what its words mean."""
    return [of_table(summary, title), *(_TERMS if "contribution" in summary else ())]


def _cell(value: Any) -> Text:
    return Text(
        "" if value is None or value != value else f"{value:.4g}" if isinstance(value, float) else printable(value)
    )


def of_honest(report: Evaluation) -> list[Any]:
    """How good a model is, by the rows it learned from."""
    return of_report(report, f"honest accuracy: {report.n_rows:,} rows, each by a model that never saw it")


def of_report(report: Evaluation, title: str) -> list[Any]:
    """Accuracy, log-loss and the rest; and what was taken for what."""
    lines = picture(title, "", "")
    lines.show_header = False
    lines.add_row("accuracy", f"{report.accuracy:.4f} ± {report.accuracy_error:.4f}")
    lines.add_row("log-loss", f"{report.log_loss:.4f} ± {report.log_loss_error:.4f}")
    lines.add_row("Brier score", f"{report.brier:.4f}")
    lines.add_row("calibration error", f"{report.ece:.4f}")
    return [lines, of_confusion(report)]


def of_confusion(report: Evaluation) -> Picture:
    """True classes down, answers across; of many classes the most frequent mistakes."""
    labels = [str(label) for label in report.per_class["class"].tolist()]
    if len(labels) > _MOST_CLASSES:
        return _mistakes(report, labels)
    shown = picture("confusion", "true ↓  answered →", *labels, "recall", right=(*labels, "recall"))
    recalls = report.per_class["recall"].tolist()
    for place, (label, row) in enumerate(zip(labels, report.confusion, strict=True)):
        cells = [Text(_weight(weight), "bold" if i == place else "") for i, weight in enumerate(row)]
        shown.add_row(label, *cells, "" if recalls[place] != recalls[place] else f"{recalls[place]:.3f}")
    return shown


def _mistakes(report: Evaluation, labels: list[str]) -> Picture:
    shown = picture("the most frequent mistakes", "true", "answered", "rows", right=("rows",))
    wrong = report.confusion.copy()
    for place in range(len(labels)):
        wrong[place, place] = 0.0
    for cell in wrong.ravel().argsort()[::-1][:_MOST_MISTAKES].tolist():
        true, answered = divmod(cell, len(labels))
        if wrong[true, answered]:
            shown.add_row(labels[true], labels[answered], _weight(wrong[true, answered]))
    return shown


def _weight(weight: float) -> str:
    """Rows; of a sample they stand for more than themselves, and tenths of a row mean nothing."""
    return "·" if not weight else f"{weight:,.0f}" if weight >= 10 else f"{weight:.3g}"
