"""Columns and cells that are not given at prediction: the log-loss beside a model that was trained without them.

``python -m benchmarks.absent FOLDER [--other SOURCE] [--save]``: FOLDER has ``tabular``, with Parquet files of rows and
their ``label``. Half of the rows are learned with all columns; the others are predicted without random sets of columns,
without a copy of a column, without random cells, and without any. SOURCE is the ``src`` of another version of candide:
complete rows are predicted with it too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.model_selection import train_test_split

import candide

from .halves import LEAST, Table, is_number, tables
from .peers import METHODS

RESULTS = Path(__file__).with_name("ABSENT.md")
TABLES = (
    "adult", "car", "credit_approval", "german_credit", "heart_cleveland", "mushroom", "page_blocks",
    "pima_diabetes", "segment", "vehicle",
)  # fmt: skip
# Further tables, and sets of columns for each and fraction.
OTHERS = (
    "breast_cancer_wisconsin", "glass", "house_votes_84", "ionosphere", "kr_vs_kp", "pendigits", "spambase", "waveform",
)  # fmt: skip
OTHER_SUBSETS = 4
# Tables with enough rows for the views of large tables.
LARGE, LARGE_ROWS = ("adult", "covertype", "letter", "mushroom", "pendigits"), 12_000
FRACTIONS = 0.1, 0.3, 0.6, 0.9
# Columns of each table that are copied.
N_COPIED = 3
ADULT_ROWS = 6_000
SEED = 0


class Halves:
    """A table, half of it to learn from; and its models, each fitted when it is first needed."""

    def __init__(self, table: Table) -> None:
        self.name, self.columns, self.n_rows = table.name, list(table.frame), len(table.labels)
        self.X, self.X_new, self.y, self.y_new = train_test_split(
            table.frame, table.labels, test_size=0.5, random_state=SEED, stratify=table.labels
        )
        self.own = np.searchsorted(np.unique(self.y), self.y_new.to_numpy())
        self._alone: dict[tuple[Any, ...], float] = {}

    @cached_property
    def kept(self) -> Any:
        return self.fitted(absent="missing")

    @cached_property
    def not_kept(self) -> Any:
        return self.fitted(absent="missing", subsample=0)

    @cached_property
    def boosting(self) -> Any:
        return METHODS["boosting_early"].make(self.X).fit(self.X, self.y)

    def fitted(self, columns: list[Any] | None = None, **settings: Any) -> Any:
        model = candide.NaiveBayes(**settings)
        return model.fit(self.X if columns is None else self.X[columns], self.y)

    def alone(self, columns: list[Any]) -> float:
        """The log-loss of a model that was trained on these columns alone."""
        key = tuple(columns)
        if key not in self._alone:
            self._alone[key] = self.loss(self.fitted(columns).predict_proba(self.X_new[columns]))
        return self._alone[key]

    def loss(self, probability: Any) -> float:
        return float(-np.log(np.maximum(probability[np.arange(len(self.own)), self.own], LEAST)).mean())

    @cached_property
    def prior(self) -> Any:
        return self.y.value_counts(normalize=True).sort_index().to_numpy()

    @property
    def prior_loss(self) -> float:
        """Of the class shares as they were learned."""
        return self.loss(np.tile(self.prior, (len(self.own), 1)))


def subsets(columns: list[Any], fraction: float, n_subsets: int) -> list[list[Any]]:
    """Random sets of columns that are given; at least one is, and one is not."""
    n_absent = int(np.clip(round(fraction * len(columns)), 1, len(columns) - 1))
    rng = np.random.default_rng([SEED, round(100 * fraction)])
    drawn = (set(rng.permutation(len(columns))[n_absent:].tolist()) for _ in range(n_subsets))
    return [[column for j, column in enumerate(columns) if j in given] for given in drawn]


def _head(first: str, columns: list[str]) -> Iterator[str]:
    yield ""
    yield f"| {first} | {' | '.join(columns)} |"
    yield f"|---|{'---:|' * len(columns)}"


def _percent(fraction: float) -> str:
    return f"{fraction:.0%}"


def without_columns(sets: list[Halves], n_subsets: int) -> Iterator[str]:
    """Excess log-loss over models that were trained on the columns that are given."""
    yield "## Missing columns"
    yield ""
    yield (
        f"Test log-loss minus that of a `NaiveBayes()` trained on only the given columns, mean of {n_subsets} random "
        "sets of columns: for a model that keeps training rows, and in parentheses for one that does not "
        "(`subsample=0`). The last columns are the log-loss with all columns and that of the class shares."
    )
    yield from excesses(sets, n_subsets)


def without_columns_elsewhere(sets: list[Halves]) -> Iterator[str]:
    yield ""
    yield "## Missing columns, other tables"
    yield ""
    yield (f"The same for other tables, with {OTHER_SUBSETS} sets of columns per table.")
    yield from excesses(sets, OTHER_SUBSETS)


def without_columns_of_large_tables(sets: list[Halves]) -> Iterator[str]:
    yield ""
    yield "## Missing columns, large tables"
    yield ""
    yield (
        f"The same with up to {LARGE_ROWS:,} rows per table, half of them for training, which is enough for refitted "
        f"cells and random grids; {OTHER_SUBSETS} sets of columns per table."
    )
    yield from excesses(sets, OTHER_SUBSETS)


def excesses(sets: list[Halves], n_subsets: int) -> Iterator[str]:
    yield from _head("excess", [*(f"{_percent(f)} absent" for f in FRACTIONS), "all columns", "class shares"])
    excess = np.empty((len(sets), len(FRACTIONS), 2))
    single = []
    for s, halves in enumerate(sets):
        for f, fraction in enumerate(FRACTIONS):
            found = [_excess(halves, given) for given in subsets(halves.columns, fraction, n_subsets)]
            excess[s, f] = np.mean(found, axis=0)
            single += found
        cells = [f"{kept:+.4f} ({not_kept:+.4f})" for kept, not_kept in excess[s]]
        whole = halves.loss(halves.kept.predict_proba(halves.X_new))
        yield f"| {_size(halves)} | {' | '.join(cells)} | {whole:.4f} | {halves.prior_loss:.4f} |"
    cells = [f"{kept:+.4f} ({not_kept:+.4f})" for kept, not_kept in excess.mean(axis=0)]
    yield f"| mean | {' | '.join(cells)} | | |"
    yield ""
    for i, (name, goal) in enumerate((("rows kept", 0.003), ("rows not kept", 0.012))):
        own, ones = excess[..., i], np.array(single)[:, i]
        s, f = np.unravel_index(own.argmax(), own.shape)
        yield (
            f"- {name}: mean {own.mean():+.4f} (goal: at most {goal}); largest mean of a table and fraction "
            f"{own.max():+.4f} ({sets[s].name}, {_percent(FRACTIONS[f])}; "
            + ("goal: at most .02" if i == 0 else "no goal")
            + f"); of single sets of columns {ones.min():+.4f} to {ones.max():+.4f}."
        )


def _excess(halves: Halves, given: list[Any]) -> tuple[float, float]:
    rows, alone = halves.X_new[given], halves.alone(given)
    kept, not_kept = (halves.loss(model.predict_proba(rows)) for model in (halves.kept, halves.not_kept))
    return kept - alone, not_kept - alone


def _size(halves: Halves) -> str:
    return f"{halves.name}, {halves.n_rows:,} × {len(halves.columns)}"


def without_copies(sets: list[Halves]) -> Iterator[str]:
    """A column twice in training, once in prediction."""
    yield ""
    yield "## A missing copy of a column"
    yield ""
    yield (
        "The model is trained with a copy of a column, and the copy is absent at prediction. Largest differences from "
        f"the model that was trained without the copy, for {N_COPIED} random columns of each table (constant columns "
        "excluded)."
    )
    yield from _head("absent copy", ["largest difference in a probability", "in the mean log-loss"])
    for halves in sets:
        rng, whole = np.random.default_rng(SEED), halves.kept.predict_proba(halves.X_new)
        apart, losses = 0.0, []
        vary = [name for name in halves.columns if halves.X[name].nunique(dropna=False) > 1]
        for j in rng.permutation(len(vary))[:N_COPIED]:
            again = halves.X.assign(again=halves.X[vary[j]])
            model = candide.NaiveBayes(compute_loo=False, absent="missing").fit(again, halves.y)
            found = model.predict_proba(halves.X_new)
            apart = max(apart, float(np.abs(found - whole).max()))
            losses.append(halves.loss(found) - halves.loss(whole))
        yield f"| {halves.name} | {apart:.1e} | {max(losses, key=abs):+.1e} |"


def without_cells(sets: list[Halves]) -> Iterator[str]:
    """Cells of rows at random, each row its own."""
    yield ""
    yield "## Missing cells"
    yield ""
    yield (
        "Test log-loss when random cells, different in each row, are absent: in records that omit the cells / as "
        "nulls in a data frame / for gradient boosting with its handling of missing values (scikit-learn, native "
        "categories, early stopping). All models are trained on the complete table. In columns that had nulls in "
        "training, nulls keep the meaning they had there, so random nulls are misleading; *with nulls* is the number "
        "of these columns."
    )
    titles = [f"{_percent(f)}: omitted / null / boosting" for f in FRACTIONS]
    yield from _head("cells absent", [*titles, "class shares", "with nulls"])
    worse = {"omitted": 0, "null": 0, "boosting": 0}
    for halves in sets:
        cells = []
        for fraction in FRACTIONS:
            found = _cells(halves, fraction)
            for name, loss in found.items():
                worse[name] += loss > halves.prior_loss
            cells.append(" / ".join(f"{loss:.4f}" for loss in found.values()))
        nulls = int(halves.X.isna().any().sum())
        yield f"| {halves.name} | {' | '.join(cells)} | {halves.prior_loss:.4f} | {nulls} |"
    yield ""
    n_cases = len(sets) * len(FRACTIONS)
    told = ", ".join(f"{name} {count}" for name, count in worse.items())
    yield f"Cases (of {n_cases}) with a higher log-loss than the class shares: {told} (goal for omitted cells: 0)."


def _cells(halves: Halves, fraction: float) -> dict[str, float]:
    rng = np.random.default_rng([SEED, round(100 * fraction), 1])
    out = rng.random(halves.X_new.shape) < fraction
    null = halves.X_new.assign(**{name: _masked(halves.X_new[name], out[:, j]) for j, name in enumerate(halves.X_new)})
    found = {"omitted": halves.kept.predict_proba(omitting(halves.X_new, out))}
    found["null"] = halves.kept.predict_proba(null)
    found["boosting"] = halves.boosting.predict_proba(null)
    return {name: halves.loss(probability) for name, probability in found.items()}


def _masked(column: Any, out: Any) -> Any:
    """NaN for numbers, None for texts."""
    return column.astype(float).mask(out) if is_number(column) else column.astype(object).where(~out, None)


def omitting(frame: Any, out: Any) -> Any:
    """Records of a frame without the cells where ``out`` is true, as from JSON."""
    from candide.data.columns import Records

    omitted = {name: out[:, j] for j, name in enumerate(frame)}
    cells = {
        name: [None if o or v != v else v for v, o in zip(frame[name].tolist(), omitted[name], strict=True)]
        for name in frame
    }
    return Records(cells, omitted)


def without_any(sets: list[Halves]) -> Iterator[str]:
    apart = 0.0
    for halves in sets:
        none = omitting(halves.X_new[:1], np.ones((1, len(halves.columns)), dtype=bool))
        for model in (halves.kept, halves.not_kept):
            apart = max(apart, float(np.abs(model.predict_proba(none)[0] - halves.prior).max()))
    yield ""
    yield "## No cells"
    yield ""
    yield (
        f"A record without any cell gets the class shares: largest difference of a probability {apart:.1e}, both kinds "
        "of models, all tables (goal: at most 1e-12)."
    )


def adult(folder: str) -> Iterator[str]:
    """The table of the report that led to this."""
    halves = Halves(next(iter(tables(str(Path(folder) / "tabular"), 2 * ADULT_ROWS, "adult"))))
    yield ""
    yield f"## adult, {len(halves.y):,} training rows, {len(halves.y_new):,} test rows"
    yield ""
    yield f"Log-loss, and mean probability of `>50K`, whose share is {(halves.y_new == '>50K').mean():.3f}."
    yield from _head("given at prediction", ["rows kept", "rows not kept", "trained on these alone", "class shares"])
    others = [name for name in halves.columns if name != "fnlwgt"]
    for name, given in {"all columns": halves.columns, "only age": ["age"], "all but fnlwgt": others}.items():
        models = halves.kept, halves.not_kept, halves.fitted(given)
        found = [model.predict_proba(halves.X_new[given]) for model in models]
        cells = " | ".join(f"{halves.loss(own):.4f}, {own[:, 1].mean():.3f}" for own in found)
        yield f"| {name} | {cells} | {halves.prior_loss:.4f}, {halves.prior[1]:.3f} |"


def complete(folder: str, most_rows: int) -> dict[str, float]:
    """Log-loss on complete rows."""
    halves = (Halves(table) for name in TABLES for table in _named(folder, most_rows, name))
    return {own.name: own.loss(own.fitted().predict_proba(own.X_new)) for own in halves}


def _named(folder: str, most_rows: int, name: str) -> Iterator[Table]:
    return tables(str(Path(folder) / "tabular"), most_rows, name)


def compared(arguments: argparse.Namespace) -> Iterator[str]:
    """Complete rows by two versions."""
    asked = [sys.executable, "-m", "benchmarks.absent", arguments.folder, "--rows", str(arguments.rows), "--complete"]
    other = subprocess.run(
        asked, env=os.environ | {"PYTHONPATH": arguments.other}, check=True, capture_output=True, text=True
    )
    earlier, now = json.loads(other.stdout), complete(arguments.folder, arguments.rows)
    yield ""
    yield "## Complete rows"
    yield from _head("test log-loss, all columns given", [f"candide {earlier.pop('version')}", "now", "change"])
    for name, loss in now.items():
        yield f"| {name} | {earlier[name]:.4f} | {loss:.4f} | {loss - earlier[name]:+.4f} |"
    before, after = np.mean(list(earlier.values())), np.mean(list(now.values()))
    yield f"| mean | {before:.4f} | {after:.4f} | {after - before:+.4f} |"


def parts_of(arguments: argparse.Namespace) -> Iterator[Callable[[], Iterator[str]]]:
    sets = [Halves(table) for name in TABLES for table in _named(arguments.folder, arguments.rows, name)]
    others = [Halves(table) for name in OTHERS for table in _named(arguments.folder, arguments.rows, name)]
    yield lambda: without_columns(sets, arguments.subsets)
    yield lambda: without_columns_elsewhere(others)
    large = [Halves(table) for name in LARGE for table in _named(arguments.folder, LARGE_ROWS, name)]
    yield lambda: without_columns_of_large_tables(large)
    yield lambda: without_copies(sets)
    yield lambda: without_cells(sets)
    yield lambda: without_any(sets)
    yield lambda: adult(arguments.folder)
    if arguments.other:
        yield lambda: compared(arguments)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="of the folder tabular")
    parser.add_argument("--rows", type=int, default=2_000, help="most rows of a table (2000)")
    parser.add_argument("--subsets", type=int, default=20, help="sets of columns for each table and fraction (20)")
    parser.add_argument("--other", help="the src of another version of candide")
    parser.add_argument("--complete", action="store_true", help="print figures of complete rows alone, as JSON")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of classes with few rows
    if arguments.complete:
        print(json.dumps({"version": candide.__version__, **complete(arguments.folder, arguments.rows)}))
        return
    lines = [
        "# Missing columns and cells",
        "",
        f"{date.today()}, candide {candide.__version__}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}, "
        f"up to {arguments.rows:,} rows per table, half of them for training. Command: `python -m benchmarks.absent "
        "FOLDER "
        f"--rows {arguments.rows} --subsets {arguments.subsets}{' --other SOURCE' if arguments.other else ''} --save`.",
        "",
    ]
    print("\n".join(lines))
    for part in parts_of(arguments):
        for text in part():
            print(text, flush=True)
            lines.append(text)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
