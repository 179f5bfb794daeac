"""Learners in files: what is written of them, and how they come back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.column_selection import Roles
from ..exceptions import InputError, ModelFileError, ParameterError
from ..families.table import TableFamily
from ..model.classifier import Classifier
from .fitted import Fitted
from .schema import Schema
from .settings import DEFAULTS

if TYPE_CHECKING:
    from ..storage import Content
    from ..storage.background_reader import BackgroundReader
    from .base import BaseNB

_LEARNED = ("plan", "state", "blend", "report", "token_names", "importance")


# Errors that a setting of an unexpected type may raise.
_OF_STRANGE_TYPES = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)


class Stored(Fitted):
    """What a model knows of where it comes from, and its way into a file."""

    # Rows, date and version of a model that comes from a file.
    provenance_: dict[str, Any] | None = None
    # The model as it came from there.
    _origin: Classifier | None = None
    # Whether rows were forgotten, be it before the last refit.
    _forgot: bool = False
    evaluate: bool

    def save(self, path: str | os.PathLike[str], sample: bool = False) -> None:
        """Write the model to a file, which ``candide.load`` reads.

        The file is written aside and renamed: whatever happens, there is the old file or the new one.

        Parameters
        ----------
        path : str or Path
            Where; the usual ending is ``.candide``.
        sample : bool, default False
            Whether training rows go into the file. Without them a later ``partial_fit`` or ``merge`` goes on with the
            weights and the calibration that the model has; with them these are fitted again. A ``NaiveBayes`` with
            training rows that has changed since the last refit (``staleness_``) is refitted first, and so is a
            ``TextNB(refine=True)`` that has forgotten texts, whose words its refinement still knows. The others keep
            what they have, and ``loo_`` is made anew by whoever asks the loaded model for it.

        Examples
        --------
        >>> import candide, tempfile
        >>> mail = ["win cash now", "win a prize", "see you at noon", "lunch at noon"]
        >>> model = candide.TextNB().fit(mail, ["spam", "spam", "ham", "ham"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/mail.candide")
        ...     candide.load(f"{folder}/mail.candide").predict(["win cash"]).tolist()
        ['spam']
        """
        from ..storage import write_model

        model = self._for_file()
        if sample:
            model = model.settled(evaluate=self.evaluate)
        write_model(path, content_of(self, model if sample else _without_rows(self, model)))

    def to_json(self, sample: bool = False) -> str:
        """The model as one JSON document, exact to the last digit, which ``candide.from_json`` reads.

        It is what ``candide dump`` writes: the content of a model file, in lines that can be read and diffed.

        Parameters
        ----------
        sample : bool, default False
            Whether training rows go into it, as in ``save``.

        Examples
        --------
        >>> import candide, json
        >>> model = candide.MultinomialNB().fit([[2, 0], [0, 1]], ["spam", "ham"])
        >>> text = model.to_json()
        >>> list(json.loads(text))
        ['format', 'version', 'kind', 'provenance', 'settings', 'parts', 'arrays']
        >>> candide.from_json(text).predict([[3, 1]]).tolist()
        ['spam']
        """
        return "".join(dump_lines(self, sample))

    def as_estimator(self) -> Any:
        """The same model as an estimator of scikit-learn."""
        import candide

        shell = getattr(candide, type(self).__name__)
        estimator = shell.__new__(shell)
        estimator.__dict__.update(vars(self))
        return estimator

    @property
    def can_report(self) -> bool:
        """Whether there is a ``loo_``."""
        return bool(self.evaluate) and self._fitted().can_report

    def _for_file(self) -> Classifier:
        """The model, refitted where a file could not tell all of it: the file predicts what the model does."""
        model = self._fitted()
        written = model.for_file(forgot=self._forgot)
        if written is not model:
            self._model = written.complete()
        return written

    @property
    def can_refit(self) -> bool:
        """Whether ``refit`` has something to do, and training rows to do it with."""
        return self._fitted().can_refit

    @property
    def has_training_rows(self) -> bool:
        """Whether the model holds rows that it was trained on, as they are."""
        return self._fitted().state.sample is not None


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> BaseNB:
    """The model in a file: all its verbs, without scikit-learn (``as_estimator()`` for its pipelines).

    Nothing in a file is ever executed, and everything in it is checked: a file that was cut, changed or made to harm is
    refused with a ``ModelFileError``.

    Parameters
    ----------
    path : str or Path
        The file.
    mmap : bool, default False
        By default the model is read into memory: what happens to the file later does not matter to it. Only training
        rows of more than 4 MB stay in the file, which is kept open, until a method needs them; if they were changed
        there, that method raises a ``ModelFileError``. With ``mmap=True`` the file is mapped into memory, and several
        processes share it: it must not be written to while the model is in use. Whoever shortens it ends the process,
        and whoever overwrites it changes the model. (``save`` does neither: it puts a new file in its place.)
    """
    from ..storage import read_model

    return learner_of(read_model(path, mmap=mmap), path)


def load_from(reader: BackgroundReader) -> BaseNB:
    """Return the model in a file that is being read."""
    from ..storage import content_of as stored_in

    return learner_of(stored_in(reader), reader.path)


def from_json(text: str) -> BaseNB:
    """The model that ``to_json`` or ``candide dump`` wrote, with the checks of ``load``; it needs no scikit-learn.

    >>> from candide import BernoulliNB
    >>> text = BernoulliNB().fit([[1, 0], [0, 1]], ["a", "b"]).to_json()
    >>> from_json(text)
    BernoulliNB()
    """
    return load_lines([text], "the text")


def note_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What was noted beside a model that was not finished."""
    from ..storage import read_model

    note: dict[str, Any] = read_model(path).parts.get("note") or {}
    return note


def save_unfinished(learner: BaseNB, path: str | os.PathLike[str], note: dict[str, Any]) -> None:
    """What was learned so far, with a note; nothing is chosen or weighed for it."""
    from ..storage import write_model

    write_model(path, content_of(learner, learner._fitted(), note))


def dump_lines(learner: Stored, sample: bool) -> Iterator[str]:
    """The model as text, line by line, each with its end."""
    from ..storage import to_json_lines

    model = learner._for_file()
    return iter(to_json_lines(content_of(learner, model if sample else _without_rows(learner, model))))


def load_lines(lines: Iterable[str], name: str) -> BaseNB:
    """The model that was dumped as these lines; ``name`` is that of their file."""
    from ..storage import from_json_lines

    return learner_of(from_json_lines(lines, name), name)


def _without_rows(learner: Any, model: Classifier) -> Classifier:
    """Without training rows; how much columns matter is found before they go."""
    if model.state.sample is None:
        return model
    if isinstance(model.plan.family, TableFamily):
        from ..explain.importance import importance

        importance(model, learner._column_names(), learner._kernels())
    return model.without_sample(evaluate=learner.evaluate)


def content_of(learner: Any, model: Classifier, note: dict[str, Any] | None = None) -> Content:
    """What is stored of a learner."""
    from ..storage import KINDS, Content, Provenance

    names, roles = getattr(learner, "feature_names_in_", None), learner.roles_
    schema: Schema | None = getattr(learner, "_schema", None)
    settings = {name: value for name, value in learner.get_params().items() if value is not DEFAULTS.get(name, learner)}
    if isinstance(settings.get("vocabulary"), os.PathLike):
        settings["vocabulary"] = list(learner.vocabulary_)  # the list that was read will be there, the file may not
    parts = {
        **model.parts(),
        "n_features": learner.n_features_in_,
        "feature_names": None if names is None else tuple(names.tolist()),
        "schema": None if schema is None else schema.parts(),
        "unlabelled": getattr(learner, "unlabeled_", None),
        "given": learner._given is learner._model.state,
        "roles": None if roles is None else dict(roles._asdict()),
        "note": note,
    }
    columns = parts["feature_names"] or (parts["n_features"], parts["roles"])
    kind = next(one.__name__ for one in type(learner).__mro__ if one.__name__ in KINDS)
    if learner._origin is learner._model and learner.provenance_ is not None:
        provenance = Provenance(**learner.provenance_)  # it is still the model that came from a file
    else:
        provenance = Provenance.now(model.state.rows.sum(), columns)
    return Content(kind, settings, parts, provenance)


def learner_of(content: Content, path: Any) -> BaseNB:
    """The learner again."""
    from .. import learners

    learner: BaseNB = getattr(learners, content.kind)()
    settings = _renamed(content.settings)
    unknown = settings.keys() - learner.get_params().keys()
    if unknown:
        raise ModelFileError(
            f"{path}: has a setting {min(unknown)!r}, which {content.kind} does not have; it was altered, or comes "
            "from another version of candide"
        )
    learner.set_params(**settings)
    parts = dict(content.parts)
    learner._model = Classifier(**{name: parts.pop(name, None) for name in _LEARNED})
    _restore(learner, parts)
    _check_settings(learner, path)
    learner.provenance_, learner._origin = content.provenance._asdict(), learner._model
    return learner


def _check_settings(learner: Any, path: Any) -> None:
    """Settings are what a method could use; else it would fail when somebody calls it."""
    try:
        learner._plan(learner.n_features_in_, first=False).prior.check(learner._model.classes)
        learner._check_other_settings()
    except (ParameterError, InputError, *_OF_STRANGE_TYPES) as error:
        raise ModelFileError(f"{path} cannot be used: {error}; it was altered, load the original") from None


def _renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of 0.1.0 under the names that they have now."""
    found = dict(settings)
    if "unlabelled" in found:
        way = found.pop("unlabelled")
        found["unlabeled"] = "drop" if way == "ignore" else way
    return found


def _restore(learner: Any, parts: dict[str, Any]) -> None:
    """What a learner knows beside its model."""
    learner.n_features_in_ = parts["n_features"]
    if parts["feature_names"] is not None:
        learner.feature_names_in_ = np.array(parts["feature_names"], dtype=object)
    if parts["schema"] is not None:
        learner._schema = Schema.of_parts(parts["schema"])
    if parts["unlabelled"] is not None:
        learner.unlabeled_ = parts["unlabelled"]
    if parts["given"]:
        learner._given = learner._model.state
    if parts["roles"] is not None:
        learner.roles_ = Roles(**parts["roles"])
