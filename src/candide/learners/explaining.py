"""Why a model answers what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .chunks import Chunks

if TYPE_CHECKING:
    from ..explain.explanation import Explanations


class Explains(Chunks):
    """Answers taken apart."""

    def explain(self, X: Any) -> Explanations:
        """What each answer is the sum of: the prior, every cell or token, the blend, the calibration.

        Parameters
        ----------
        X
            Rows, as in ``predict``.

        Returns
        -------
        Explanations
            One ``Explanation`` for each row. Its ``terms`` add up to the model's own log probabilities; ``evidence()``
            puts them in the order of what they say for the answer and against the runner-up, in bits.

        Examples
        --------
        >>> from candide import CategoricalNB
        >>> sky = ["sun", "sun", "rain", "rain", "rain"]
        >>> model = CategoricalNB().fit([[one] for one in sky], ["out", "out", "in", "in", "out"])
        >>> model.explain([["sun"]])
        out (0.7714), against in: +1.75 bits
          x0 = sun     +1.17  ████████████████████
          prior        +0.58  ██████████
        """
        from ..explain.account import explained
        from ..explain.explanation import Explanations

        model, names = self._fitted(), np.zeros(0) if self.reads_texts else self._column_names()
        return Explanations(list(explained(model, self._read(X), names, self._kernels())))
