"""Models of texts that can be made smaller."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from ..exceptions import MergeError, ParameterError
from ..model.plan import Plan
from ..model.text_size import compact, prune
from ..statistics.token_counts import Dropped
from .base import BaseNB
from .guard import all_or_nothing
from .settings import whole_number


class Smaller(BaseNB):
    """Without the rarest tokens, or without looks at the texts that are not heard."""

    @all_or_nothing
    def prune(self, *, max_tokens: int | None = None, max_bytes: int | None = None) -> Self:
        """Drop the rarest tokens, of all looks at the texts, until the others fit. Changes this model.

        Unlike ``min_df`` and ``max_features`` this loses what was counted, and ``pruned_`` says how much. The model
        goes on to learn, merge and forget, no longer exactly: a token that comes back begins anew, and forgetting
        passes over what is gone already. Weights of looks and bands stay until they are fitted again (``refit``).

        Parameters
        ----------
        max_tokens : int, optional
            Different tokens that stay, of all looks together. Among equals the first in order stay.
        max_bytes : int, optional
            Bytes of their names and sums. Training texts that the model keeps (``keep_sample``) and a regression
            (``refine``) come on top.

        Examples
        --------
        >>> from candide import TextNB
        >>> model = TextNB("multinomial").fit(["win cash", "win now", "see you"], ["spam", "spam", "ham"])
        >>> sorted(model.prune(max_tokens=3).vocabulary_), model.pruned_
        (['cash', 'now', 'win'], Dropped(tokens=2, weight=2.0))
        """
        model = self._fitted()
        if (max_tokens is None) == (max_bytes is None):
            raise ParameterError(
                f"max_tokens is {max_tokens!r} and max_bytes {max_bytes!r}; a model is pruned to one of them; pass one"
            )
        if model.state.statistics.looks[0].fixed:
            raise ParameterError("a vocabulary that was given keeps its tokens; pass a shorter one, and fit again")
        if max_bytes is None:
            return self._become(prune(model, whole_number(max_tokens, "max_tokens"), "tokens"))
        return self._become(prune(model, whole_number(max_bytes, "max_bytes"), "bytes"))

    @all_or_nothing
    def compact(self) -> Self:
        """Drop looks at the texts whose weights are all 0 ("auto"): predictions stay as they are. Changes this model.

        From now on the model learns from the looks that are left, and merges with models that have the same ones;
        ``compacted_`` names those that are gone. Words stay in any case. ``fit`` begins anew, with all looks.

        Examples
        --------
        >>> from candide import TextNB
        >>> texts = ["free entry, win cash", "see you at lunch", "win a free prize", "lunch is at noon"]
        >>> model = TextNB().fit(texts, ["spam", "ham", "spam", "ham"]).compact()
        >>> set(model.summary()["look"]).isdisjoint(model.compacted_)
        True
        """
        return self._become(compact(self._fitted()))

    def _plan(self, n_features: int, *, first: bool) -> Plan:
        plan = super()._plan(n_features, first=first)
        family: Any = plan.family
        return plan if first else replace(plan, family=family.without_looks(self.compacted_))

    def _check_mergeable(self, other: Self) -> None:
        gone, gone_there = sorted(self.compacted_), sorted(other.compacted_)
        if gone != gone_there:
            raise MergeError(
                f"compact() has dropped {gone or 'nothing'} from one model and {gone_there or 'nothing'} from the "
                "other, so they counted different things; merge first, and compact what comes out"
            )
        super()._check_mergeable(other)

    @property
    def pruned_(self) -> Dropped:
        """How many tokens ``prune`` has dropped, and what they weighed."""
        dropped: Dropped = self._fitted().state.statistics.dropped
        return dropped

    @property
    def compacted_(self) -> tuple[str, ...]:
        """Looks at the texts that ``compact`` has dropped."""
        family: Any = self._fitted().plan.family
        dropped: tuple[str, ...] = family.dropped
        return dropped
