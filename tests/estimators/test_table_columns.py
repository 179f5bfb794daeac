"""What may be asked of the columns of a table, and how what cannot be asked is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tiers import every

from candide import NaiveBayes, diagnostics
from candide.exceptions import ParameterError
from candide.families import Gaussian, Multinomial

N = 60
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
TABLE: dict[str, Any] = {
    "age": RNG.normal(40 + 5 * Y, 10),
    "km": RNG.lognormal(1.0, 1.0, N),
    "visits": RNG.poisson(2 + Y),
    "city": RNG.choice(["Rome", "Oslo", "Lima"], N),
}
NUMBERS = {name: TABLE[name] for name in ("age", "km", "visits")}


def fitted(columns: Any, X: Any = TABLE, **settings: Any) -> NaiveBayes:
    return NaiveBayes(columns, **{"stacking": None, "calibrate": None, **settings}).fit(X, Y)


def families(columns: Any, X: Any = TABLE) -> dict[str, str]:
    summary = fitted(columns, X).summary()
    return dict(zip(summary["column"], summary["family"], strict=True))


def refused(columns: Any, *words: str, X: Any = TABLE, **settings: Any) -> None:
    with pytest.raises(ParameterError, match=".*".join(map(re.escape, words))):
        fitted(columns, X, **settings)


class TestPrecedence:
    def test_names_come_before_kinds(self) -> None:
        found = families({"numbers": "gaussian", "age": "kernel"})
        assert found["age"] == "kernel"
        assert found["km"] == found["visits"] == "gaussian"

    def test_patterns_stand_between(self) -> None:
        asked = {"numbers": "gaussian", re.compile("^(age|km)$"): "bins", ("km",): "lognormal"}
        assert [families(asked)[name] for name in NUMBERS] == ["bins", "lognormal", "gaussian"]

    def test_order_does_not_matter(self) -> None:
        asked = {"age": "kernel", "numbers": "gaussian"}
        assert families(asked) == families(dict(reversed(asked.items())))

    def test_equals_are_refused(self) -> None:
        refused({"age": "kernel", ("age", "km"): "bins"}, "column 'age' matches two keys of columns, 'age' and")

    def test_a_block_goes_without_those_that_are_named(self) -> None:
        model = fitted({"numbers": "multivariate_normal", "visits": "poisson"}, NUMBERS)
        same = fitted({("age", "km"): "multivariate_normal", "visits": "poisson"}, NUMBERS)
        np.testing.assert_array_equal(model.predict_proba(NUMBERS), same.predict_proba(NUMBERS))

    def test_a_tuple_with_a_family_of_single_columns_models_each(self) -> None:
        model, same = fitted({("age", "km"): "gaussian"}), fitted({"age": "gaussian", "km": "gaussian"})
        np.testing.assert_array_equal(model.predict_proba(TABLE), same.predict_proba(TABLE))

    def test_a_block_of_no_column_is_none(self) -> None:
        X = {"city": TABLE["city"]}
        for family in ("multivariate_normal", Gaussian()):
            assert families({"numbers": family}, X) == {"city": "categorical"}


class TestOptions:
    def test_of_categories_by_column(self) -> None:
        X = {"city": TABLE["city"], "town": TABLE["city"]}
        model = fitted({"city": ("categorical", {"alpha": 0.1})}, X, alpha=2.0)
        notes = dict(zip(*(model.summary()[key] for key in ("column", "parameters")), strict=True))
        assert notes == {"city": "3 values, alpha 0.1", "town": "3 values, alpha 2"}

    def test_unseen_by_column(self) -> None:
        X, unseen = {"city": TABLE["city"], "age": TABLE["age"]}, {"city": ["Bonn"], "age": [None]}
        weight = np.repeat([1.0, 3.0], N // 2)
        labels = np.sort(Y)
        ignore, smooth = (
            NaiveBayes({"city": ("categorical", {"unseen": how})}, stacking=None, calibrate=None, missing="ignore")
            .fit(X, labels, weight)
            .predict_proba(unseen)[0]
            for how in ("ignore", "smooth")
        )
        np.testing.assert_allclose(ignore, [0.25, 0.75])
        assert smooth[0] > 0.3

    def test_typicality_is_wary_whatever_the_column_asks(self) -> None:
        X = {"city": TABLE["city"]}
        unseen = {"city": ["Bonn"]}
        by_column = fitted({"city": ("categorical", {"unseen": "ignore", "alpha": 1.0})}, X, unseen="smooth")
        by_table = fitted("categorical", X, alpha=1.0)
        np.testing.assert_array_equal(
            diagnostics.typicality(by_column, unseen), diagnostics.typicality(by_table, unseen)
        )

    @every(
        "asked,words",
        [
            (
                ("kernel", {"width": 2}),
                "column 'age': width of 'kernel' is 2; expected a number above 0 and at most 1",
            ),
            (("bins", {"n_bins": 1}), "column 'age': n_bins of 'bins' is 1; expected an integer of at least 2"),
            (("bins", {"alpha": 1}), "'bins' has no option 'alpha'; its options are method, n_bins, strength"),
            (("gaussian", {"var_smoothing": "a"}), "column 'age': var_smoothing of 'gaussian' is 'a'"),
            (("categorical", {"alpha": 0}), "column 'age': alpha of 'categorical' is 0; expected a positive number"),
            (("categorical", {"unseen": "drop"}), "unseen of 'categorical' is 'drop'; expected one of 'ignore'"),
            (("auto", {"width": 1}), "column 'age': 'auto' has no option 'width'; it has no options"),
        ],
    )
    def test_refused(self, asked: Any, words: str) -> None:
        refused({"age": asked}, words)
        refused({("age", "km"): asked}, words)

    def test_refused_before_any_row_is_learned(self) -> None:
        with pytest.raises(ParameterError, match="width of 'kernel' is -1"):
            NaiveBayes({"age": ("kernel", {"width": -1})}).partial_fit(TABLE, Y)
        refused({"categories": ("kernel", {"width": -1})}, "columns: width of 'kernel' is -1", X=NUMBERS)

    def test_of_blocks(self) -> None:
        block = ("age", "km")
        refused({block: ("multivariate_normal", {"alpha": 1})}, "the block with", "its options are prior, estimate")
        refused(
            {block: ("multinomial", {"prior": 1.0})},
            "prior of 'multinomial' is 1.0; expected a candide.priors.Dirichlet",
        )
        refused({block: ("multinomial", {"estimate": "best"})}, "estimate of 'multinomial' is 'best'")
        refused(
            {"age": "multinomial"}, "columns assigns 'multinomial' to the single column 'age'; it needs at least two"
        )


class TestMalformed:
    @every("columns", [["gaussian", "poisson"], ["ab"], [("age", "bins", {})], [3]])
    def test_lists(self, columns: Any) -> None:
        refused(columns, f"columns is a list that contains {columns[0]!r}; expected pairs such as ('age', 'gaussian')")

    @every(
        "setting",
        [None, 3, "gausian", ("bins",), ("bins", "mdlp"), ("bins", {}, 1), {"bins"}, Gaussian, (Multinomial(), {})],
    )
    def test_settings(self, setting: Any) -> None:
        refused(setting, f"columns contains {setting!r}; expected one of auto, gaussian")
        refused({"age": setting}, f"columns contains {setting!r}; expected one of auto, gaussian")

    def test_settings_of_no_column(self) -> None:
        refused({"categories": "gausian"}, "columns contains 'gausian'", X=NUMBERS)

    def test_keys(self) -> None:
        refused([({"age"}, "bins")], "columns has the key {'age'}, a set; expected a name, a tuple of names")

    def test_pairs(self) -> None:
        assert families([(["age", "km"], "kernel"), ["visits", "poisson"]])["km"] == "kernel"


class TestDataThatAFamilyCannotHave:
    @pytest.mark.parametrize("stacking", ["auto", None])
    def test_one_family_for_a_mixed_table(self, stacking: Any) -> None:
        words = "column 'city' contains categories, but 'gaussian' needs numbers; pass columns={'numbers': 'gaussian'}"
        refused("gaussian", words, stacking=stacking)
        assert families({"numbers": "gaussian"})["city"] == "categorical"

    @every(
        "family,column,words",
        [
            ("lognormal", [-0.5, 1.0], "column 'x' has a minimum of -0.5, but 'lognormal' needs positive numbers"),
            ("poisson", [-1, 1], "column 'x' has a minimum of -1, but 'poisson' needs non-negative integers"),
            (
                "poisson",
                [0.5, 1.0],
                "column 'x' contains decimals (near 0.5), but 'poisson' needs non-negative integers",
            ),
            (
                "power",
                [1e200, 1.0],
                "column 'x' contains numbers whose squares overflow, but 'power' needs magnitudes below",
            ),
        ],
    )
    def test_numbers(self, family: str, column: list[float], words: str) -> None:
        refused({"x": family}, words, X={"x": column * (N // 2), "age": TABLE["age"]})

    def test_nothing_was_learned(self) -> None:
        model = NaiveBayes("gaussian", stacking=None, calibrate=None)
        with pytest.raises(ParameterError):
            model.fit(TABLE, Y)
        assert not hasattr(model, "classes_")


def test_absent_is_checked_when_fitted() -> None:
    refused("auto", "absent is 'drop'; expected one of error, missing", absent="drop")
