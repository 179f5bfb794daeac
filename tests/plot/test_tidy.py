"""Every picture, with 2, 3 and 20 classes and long names: nothing overlaps, nothing is cut off, axes are named."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tiers import fast, late

from candide import GaussianNB, NaiveBayes
from candide.priors import Beta, Gamma, NormalInverseGamma

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.text import Text

    from candide.plot import Display

from .rows import names, numbers, table, table_model, text_model, texts

plot = late("candide.plot")


def bayes(n: int) -> Display:
    share = {name: 1.0 + k for k, name in enumerate(names(n))}
    return plot.bayes_theorem(share, {name: 0.9 / (1 + k) for k, name in enumerate(share)}, evidence="a positive test")


def independence(n: int) -> Display:
    rng, y = np.random.default_rng(0), numbers(n)[1]
    a, b = (np.where(rng.random(len(y)) < 0.4, "yes", "no") for _ in "ab")
    return plot.independence(a, b, y, names=("holds 'win'", "holds 'free'", "class"))


def gaussian(n: int) -> GaussianNB:
    return GaussianNB(compute_loo=True, calibrate="platt").fit(*numbers(n))


def many_columns(n: int) -> tuple[np.ndarray, np.ndarray]:
    return numbers(n, 200)


def wide(n: int) -> GaussianNB:
    return GaussianNB().fit(*many_columns(n))


def planes(n: int) -> Display:
    X, y = numbers(n, 2)
    return plot.decision_regions(
        {"naive": GaussianNB().fit(X, y), "alike": GaussianNB(variance="shared").fit(X, y)}, X, y
    )


def stacked(n: int) -> NaiveBayes:
    """Of many classes without views of several columns, which take long to fit."""
    return table_model(n) if n <= 3 else table_model(n, order=0)


PICTURES: dict[str, Callable[[int], Display]] = {
    "bayes_theorem": bayes,
    "column_weights": lambda n: plot.column_weights(stacked(n)),
    "confusion": lambda n: plot.confusion(gaussian(n)),
    "decision_regions": planes,
    "densities": lambda n: plot.densities(table_model(n, stacking=None, calibrate=None), "size"),
    "densities of all columns": lambda n: plot.densities(table_model(n, stacking=None, calibrate=None)),
    "densities of many columns": lambda n: plot.densities(wide(n)),
    "densities of names": lambda n: plot.densities(stacked(n), "a column with a name of forty characters"),
    "independence": independence,
    "learning_curve": lambda n: plot.learning_curve(gaussian(n), *numbers(n), n_blocks=3),
    "nomogram": lambda n: plot.nomogram(table_model(n, stacking=None, calibrate=None), *names(n)[:2]),
    "nomogram of many columns": lambda n: plot.nomogram(wide(n)),
    "nomogram against all": lambda n: plot.nomogram(gaussian(n), names(n)[0]),
    "posterior": lambda n: plot.posterior(Beta(1, 1), Beta(1, 1).posterior(on=n, off=1)),
    "posterior of a rate": lambda n: plot.posterior(Gamma(1, 1), Gamma(1, 1).learn([n, 0])),
    "posterior of a variance": lambda n: plot.posterior(
        NormalInverseGamma(), NormalInverseGamma().learn(np.arange(n)), of="variance"
    ),
    "reliability": lambda n: plot.reliability(gaussian(n)),
    "risk_coverage": lambda n: plot.risk_coverage(gaussian(n)),
    "smoothing": lambda n: plot.smoothing({name: float(k) for k, name in enumerate(names(n))}, alpha=1.0),
    "token_scatter": lambda n: plot.token_scatter(text_model(n), names(n)[0]),
    "decision_regions of many columns": lambda n: plot.decision_regions(wide(n), *many_columns(n)),
    "waterfall of many columns": lambda n: plot.waterfall(wide(n), many_columns(n)[0][0]),
    "waterfall": lambda n: plot.waterfall(
        stacked(n).explain({k: v[:1] for k, v in table(n).items() if k != "class"})[0]
    ),
    "waterfall of words": lambda n: plot.waterfall(text_model(n).explain(texts(n)[0][:1])[0], by="word"),
    "word_shift": lambda n: plot.word_shift(text_model(n), *names(n)[:2]),
}


def texts_of(ax: Axes) -> list[Text]:
    """All that is written: names, marks, titles, and what belongs to the axes that are shown."""
    found = [*ax.texts, ax.title]
    if ax.axison:
        found += [ax.xaxis.label, ax.yaxis.label, *tick_names(ax.xaxis), *tick_names(ax.yaxis)]
    return [text for text in found if text.get_text().strip() and text.get_visible()]


def tick_names(axis: Axis) -> list[Text]:
    """Of the ticks that are in view: others are there too, but not drawn."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


# Long names of many classes are what does not fit. Of two classes, numbers are written into a confusion, and one class
# is compared with the other one; the rest are some of those that are drawn of any number of classes.
FEW = [
    "confusion",
    "decision_regions",
    "densities of names",
    "nomogram",
    "nomogram against all",
    "token_scatter",
    "waterfall",
    "word_shift",
]
# As those of numbers, and the slowest.
MANY = [picture for picture in PICTURES if picture != "densities of names"]
FAST = [*((picture, 2) for picture in FEW), *((picture, 20) for picture in MANY[::2])]


@pytest.mark.parametrize("case", fast(FAST, product(PICTURES, [2, 3, 20])), ids="{0[0]}-{0[1]}".format)
def test_nothing_overlaps_and_nothing_is_cut_off(case: tuple[str, int]) -> None:
    picture, n_classes = case
    shown = PICTURES[picture](n_classes)
    shown.figure.draw_without_rendering()
    page, written = shown.figure.bbox.padded(1.0), []
    for ax in shown.axes:
        written += [(text, text.get_window_extent()) for text in texts_of(ax)]
        legend = ax.get_legend()
        if legend is not None:
            written += [(text, text.get_window_extent()) for text in legend.get_texts()]
    outside = [text.get_text() for text, box in written if not (page.contains(*box.min) and page.contains(*box.max))]
    # A box around a slanted text is larger than the text.
    upright = [(text, box.padded(-1.0)) for text, box in written if text.get_rotation() in (0.0, 90.0)]
    clashes = [
        (a.get_text(), b.get_text()) for (a, first), (b, second) in combinations(upright, 2) if first.overlaps(second)
    ]
    assert (outside, clashes) == ([], [])
    assert_axes_are_named(picture, shown)


def assert_axes_are_named(picture: str, shown: Display) -> None:
    bare = [i for i, ax in enumerate(shown.axes) if ax.axison and not ax.get_xlabel()]
    # Rows of panels for classes share the name of the x axis below the last one.
    assert bare == (list(range(len(shown.axes) - 4)) if picture in ("densities", "densities of names") else [])
    # Lines of a nomogram and bars of terms and words have their names beside them.
    if not picture.startswith(("nomogram", "waterfall", "word_shift", "column_weights")):
        assert shown.ax.get_ylabel()


def test_every_picture_is_here() -> None:
    public = {name for name in importlib.import_module("candide.plot").__all__ if name != "Display"}
    assert public == {picture.split()[0] for picture in PICTURES}
