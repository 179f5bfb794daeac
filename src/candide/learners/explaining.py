"""Why a model answers what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ..exceptions import ParameterError
from .fitted import Fitted
from .settings import whole_number

if TYPE_CHECKING:
    from ..explain.explanation import Explanations
    from ..explain.fractions import Fractions
    from ..explain.what_if import WhatIf
    from ..model.table import Table


class Explains(Fitted):
    """Answers taken apart."""

    @overload
    def explain(self, X: Any, style: Literal["terms"] = "terms") -> Explanations: ...
    @overload
    def explain(self, X: Any, style: Literal["fractions"]) -> list[Fractions]: ...
    def explain(self, X: Any, style: Literal["terms", "fractions"] = "terms") -> Explanations | list[Fractions]:
        """What each answer is the sum of: the prior, every cell or token, the blend, the calibration.

        Parameters
        ----------
        X
            Rows, as in ``predict``.
        style : {"terms", "fractions"}
            Sums of logarithms; or, of models that count, products of fractions as one writes them by hand.

        Returns
        -------
        Explanations
            One ``Explanation`` for each row. Its ``terms`` add up to the model's own log probabilities; ``evidence()``
            puts them in the order of what they say for the answer and against the runner-up, in bits. Or as many
            ``Fractions``.

        Examples
        --------
        >>> from candide import CategoricalNB
        >>> sky = ["sun", "sun", "rain", "rain", "rain"]
        >>> model = CategoricalNB().fit([[one] for one in sky], ["out", "out", "in", "in", "out"])
        >>> model.explain([["sun"]])
        out (0.7826), against in: +1.85 bits
          x0 = sun     +1.26  ████████████████████
          prior        +0.58  █████████
        """
        from ..explain.contributions import explained
        from ..explain.explanation import Explanations
        from ..explain.fractions import worked_out

        if style not in ("terms", "fractions"):
            raise ParameterError(f"style is {style!r}; it must be 'terms' or 'fractions'")
        model, names = self._fitted(), np.zeros(0) if self.reads_texts else self._column_names()
        rows = model, self._read(X), names, self._kernels()
        return list(worked_out(*rows)) if style == "fractions" else Explanations(list(explained(*rows)))

    def what_if(self, X: Any, to: Any = None, most: int = 5) -> list[WhatIf]:
        """The smallest changes of each row after which the answer would be another.

        Single cells first: of numbers the least change that is enough, of categories another value, of texts a word
        less. Where none is enough, several together, those that help most.

        Parameters
        ----------
        X
            Rows, as in ``predict``.
        to : label, optional
            The answer that is wanted; any other than the one given if left out.
        most : int, default 5
            How many changes to tell of.

        Examples
        --------
        >>> from candide import GaussianNB
        >>> model = GaussianNB().fit([[1.0, 5.0], [2.0, 6.0], [8.0, 5.0], [9.0, 7.0]], ["low", "low", "high", "high"])
        >>> model.what_if([[3.0, 6.0]])[0]
        low (1.0000), unless
          x0: 3 → 5.007: high (0.5007)
        """
        from ..explain.what_if import what_if

        model, names = self._fitted(), np.zeros(0) if self.reads_texts else self._column_names()
        return list(what_if(model, self._read(X), names, to, whole_number(most, "most"), self._kernels()))

    def information(self) -> Table:
        """How much each column tells of the class: bits of mutual information under the model, the most first.

        Between 0 (the column says nothing) and the entropy of the classes. Of the words of ``MultinomialNB``, what each
        adds to the information of a single word drawn from a text.

        Examples
        --------
        >>> from candide import BernoulliNB
        >>> model = BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [0, 0], [0, 1]], ["spam", "spam", "ham", "ham"])
        >>> model.information()
        column  bits
        x0         1
        x1         0
        """
        from ..explain.information import information

        return information(self._fitted(), self._column_names())

    def telling(self, n: int = 10) -> Table:
        """The values of columns that identify most of each class's rows, the best first.

        Parameters
        ----------
        n : int
            How many of each class.

        Returns
        -------
        Table
            In the order of ``score``: the share of the class's rows that have the value, times how far it raises the
            probability of the class from its share of all rows (0) towards 1 (1). ``bits``: how much more often rows of
            the class have the value than rows of all other classes.

        Examples
        --------
        >>> from candide import CategoricalNB
        >>> model = CategoricalNB().fit([["sun"], ["sun"], ["rain"], ["fog"]], ["out", "out", "in", "in"])
        >>> model.telling(1)
        class  column  value     score     bits  probability  count
        in     x0      fog    0.133333        1          0.4      1
        out    x0      sun         0.3  1.58496          0.6      2
        """
        from ..explain.information import telling_values

        return telling_values(self._fitted(), self._column_names(), whole_number(n, "n"))
