"""A model as one module of JavaScript: its data, the functions that read it, and what it exports."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...families.table_likelihood import TableLikelihood
from ...families.text_likelihood import TextLikelihood
from ...kernels.tokenizer import TokenizerConfig
from ...model.classifier import Classifier
from ...model.model import Model
from ...specs.table_schema import TableSchema
from ...stacking.calibration import Chain, Scaling
from ...stacking.calibration_curves import Beta, Isotonic
from ...stacking.token_views import StackedTokenViews
from .arrays import packed
from .tables import plain_label, row_data, table_data
from .texts import plain_data, stacked_data, stacked_tokenizers, tokenizer_data, unicode_data

_TEXTS = ("posterior.js", "terms.js", "texts.js")
_TABLES = ("posterior.js", "terms.js", "tables.js")


def to_js(model: Model, *, approximate: bool = False) -> str:
    """Return the source of the module."""
    classifier = model.classifier.for_export(approximate=approximate)
    if isinstance(classifier.likelihood, TextLikelihood):
        data, scripts = _texts(classifier)
    else:
        data, scripts = _rows(model, classifier)
    # Within a script element of a page, these would end it or begin a comment.
    text = (
        json.dumps({**_classes(classifier), **data}, ensure_ascii=False, allow_nan=False)
        .replace("</", "<\\/")
        .replace("<!--", "\\u003c!--")
    )
    head = f"// {model.spec.name}, exported by candide {version('candide')}.\n"
    return "\n".join([f"{head}const MODEL = {text};\n", *map(_script, scripts)])


@lru_cache
def _script(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _classes(model: Classifier) -> dict[str, Any]:
    """Return the parts that all models have: labels, class prior, calibration."""
    change = model.prior_change
    fitted = model.fitted
    offset = model.scorer.offset
    if fitted is not None and fitted.views is not None:
        # The class prior is part of their biases.
        offset = np.where(np.isfinite(offset), 0.0, -np.inf)
    return {
        "classes": [plain_label(label, "the class") for label in model.classes.labels.tolist()],
        "offset": packed(offset),
        "limits": 0,
        "calibration": None if fitted is None or fitted.calibration is None else _calibration(fitted.calibration),
        "priorChange": packed(change) if change.any() else None,
    }


def _texts(model: Classifier) -> tuple[dict[str, Any], tuple[str, ...]]:
    likelihood, fitted = model.likelihood, model.fitted
    views = None if fitted is None else fitted.views
    if fitted is None or views is None:
        made = plain_data(likelihood)
        unicode = unicode_data([likelihood.known.feature_set.tokenizer])
        return {"plain": made, "limits": len(made["limitTerms"]), "unicode": unicode}, (*_TEXTS, "plain_texts.js")
    assert isinstance(views, StackedTokenViews)
    stacked = stacked_data(views, likelihood, fitted.refinement)
    tokenizers = stacked_tokenizers(views, likelihood, fitted.refinement)
    amount: TokenizerConfig | None = None
    if _grows(fitted.calibration):
        amount = likelihood.family.feature_sets[0].tokenizer
        tokenizers.append(amount)
    made = {"stacked": stacked, "amount": None if amount is None else tokenizer_data(amount)}
    return {**made, "unicode": unicode_data(tokenizers)}, (*_TEXTS, "stacked_texts.js")


def _rows(model: Model, classifier: Classifier) -> tuple[dict[str, Any], tuple[str, ...]]:
    likelihood: Any = classifier.likelihood
    if not isinstance(likelihood, TableLikelihood):
        made = row_data(likelihood, classifier.family, model.column_names())
        return {**made, "limits": len(made["limitTerms"])}, (*_TABLES, "plain_tables.js")
    names, examples = model.spec.table_columns(model.schema)
    fitted = classifier.fitted_without_rows
    views: Any = None if fitted is None else fitted.views
    made = table_data(likelihood, views, classifier.scorer.offset, names, examples, _given_names(model, names))
    return made, (*_TABLES, *(("plain_tables.js",) if views is None else ("views.js", "stacked_tables.js")))


def _given_names(model: Model, names: list[str]) -> list[str]:
    """Return the names of the columns of the user's tables, ignored ones included."""
    schema = model.schema
    given = schema.given if isinstance(schema, TableSchema) else None
    return names if given is None else [str(name) for name in given]


def _grows(calibration: Any) -> bool:
    if isinstance(calibration, Chain):
        return _grows(calibration.first)
    return isinstance(calibration, Scaling) and bool(calibration.growth)


def _calibration(calibration: Any) -> dict[str, Any]:
    if isinstance(calibration, Chain):
        return {"kind": "chain", "first": _calibration(calibration.first), "second": _calibration(calibration.second)}
    if isinstance(calibration, Scaling):
        amounts = [float(end) if np.isfinite(end) else None for end in calibration.amounts]
        numbers = {"typical": calibration.typical, "growth": calibration.growth, "bend": calibration.bend}
        bias = None if calibration.bias is None else calibration.bias.tolist()
        log = calibration.log_temperature
        return {"kind": "scaling", "logTemperature": log, **numbers, "bias": bias, "amounts": amounts}
    if isinstance(calibration, Beta):
        return {"kind": "beta", "curves": calibration.curves.tolist(), "limit": calibration.limit.tolist()}
    if isinstance(calibration, Isotonic):
        curves = [{"odds": one.odds.tolist(), "probability": one.probability.tolist()} for one in calibration.curves]
        return {"kind": "isotonic", "curves": curves}
    raise ParameterError(
        f"{type(calibration).__name__} calibration is not supported in JavaScript; choose calibrate='platt'"
    )
