"""A model on one page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from .chunks import Chunks
from .configured import Configured
from .explaining import Explains
from .storing import Stored

if TYPE_CHECKING:
    from ..report.findings import Findings


class Reports(Explains, Chunks, Stored, Configured):
    """What there is to know about a model, for people."""

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        title: str | None = None,
        notes: dict[str, str] | None = None,
    ) -> Findings:
        """Write a page about the model: what it is, how good it honestly is, what it looks at, what to be wary of.

        One HTML file without scripts, which needs no other file and no network; light, dark and for paper.

        Parameters
        ----------
        path : str or Path, optional
            Where; the usual ending is ``.html``. Without it nothing is written.
        X, y, sample_weight
            Rows with labels, as in ``measure``, which the model should not have learned from: they are measured too.
            Where the model keeps no training rows, examples come from them.
        title : str, optional
            Of the page; by default the name of the class.
        notes : dict of str to str, optional
            What the page should say about how the model was trained.

        Returns
        -------
        Findings
            All that the page says: ``as_dict()`` as numbers, ``html()`` as the page.

        Examples
        --------
        >>> import candide, tempfile
        >>> mail = ["win cash now", "win a prize", "see you at noon", "lunch at noon"]
        >>> model = candide.TextNB().fit(mail, ["spam", "spam", "ham", "ham"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = model.report(f"{folder}/mail.html")
        >>> found.as_dict()["classes"]
        {'ham': 2.0, 'spam': 2.0}
        """
        from ..report.findings import find
        from ..report.subject import Subject
        from ..storage.atomic_write import write_atomically

        subject = Subject(
            kind=type(self).__name__,
            described=Configured.__repr__(self),
            model=self._fitted(),
            names=np.zeros(0) if self.reads_texts else self._column_names(),
            kernels=self._kernels(),
            evaluate=bool(self.evaluate),
            provenance=self.provenance_,
            roles=self.roles_,
        )
        rows = None if X is None else self._batches(X, y, sample_weight)
        found = find(subject, rows, title, notes or {})
        if path is not None:
            write_atomically(path, [found.html().encode()])
        return found
