"""Texts in many scripts, with the characters that databases and Python treat differently."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide import TextNB

TEXTS = [
    "Win a FREE prize now, win CASH!",
    "see you at lunch; a  b lunch",
    "don't stop — it's 3.14 or 1,000 or snake_case",
    "ΟΔΥΣΣΕΥΣ ΚΑΙ ΣΟΦΟΣ Σ ΣΑΣ.ΑΣ ΑΣ. ΑΣ'Α ΑΣ' σίγμα",
    "Ὀδυσσεύς, σοφός· ΛΟΓΟΣ̈ ΛΟΓΟΣ̈Α",
    "İSTANBUL ve İzmir, ISPARTA, ılık",
    "STRASSE Straße ẞ GROẞ weiß",
    "Привет, МИР! Ёлка и ёлка",
    "ՀԱՅԱՍՏԱՆ Հայաստան",
    "საქართველო ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ",
    "שָׁלוֹם עולם",
    "السَّلامُ عليكم ١٢٣",
    "नमस्ते दुनिया हिन्दी",
    "สวัสดีชาวโลก",
    "你好 世界，再见",
    "こんにちは カタカナ ｶﾀｶﾅ",
    "안녕하세요 세계",
    "ᏣᎳᎩ ꮳꮃꭹ",
    "𐐔𐐇𐐝𐐇𐐡𐐇𐐓 𐐼𐐯𐑅𐐨𐑉𐐯𐐻",
    "ＦＵＬＬ ｗｉｄｔｈ ４２",
    "K kelvin Å ångström Ω",
    "Ǆ ǅ ǆ ǅungla",
    "½ ² Ⅻ ⅻ ⓐ Ⓐ №",
    "👍🏽 ok 🇫🇷 família\u200d zwj\u200cnj",
    "nbsp\u00a0tab\tline\nbreak\r\nend\u2028sep",
    "naïve CAFÉ cafe\u0301 CAFE\u0301 ﬁn",
    "ᾼ ᾳ ῼ Ὼ ŉ ǰ",
    "ꞵ ꞴX ⱯⱯ ɐɐ Ꟃ",
    "a",
    "aa aa aa bb",
    "",
    "  ...  ",
]
LABELS = ["one", "two", "it's three"]
# Characters of newer versions of Unicode than Python's, and unassigned ones.
NEWER = ["a\u1c89b \ua7cbaa \ua7dcb", "x\u0378y aa\U0010fffdbb", "\U00016d40\U00016d41 \U0001c000z"]


def fitted(settings: dict[str, Any]) -> TextNB:
    """A model of texts that are repeated with other words."""
    texts = [f"{text} {'again ' * (i % 3)}{'ΤΕΛΟΣ lunch' * (i % 2)}" for i, text in enumerate(TEXTS * 3)]
    return TextNB(**settings).fit(texts, np.resize(LABELS, len(texts)).tolist())


# Texts that are scored.
ASKED = [*TEXTS, *NEWER, *(text.upper() for text in TEXTS), *(text.swapcase() for text in TEXTS), None, "quux", "aa"]

SETTINGS: list[dict[str, Any]] = [
    {"family": "multinomial"},
    {"family": "complement", "min_length": 1, "weighting": "tfidf", "min_df": 2},
    {"family": "bernoulli", "fold_numbers": True},
    {"family": "multinomial", "alpha": 0, "lowercase": False, "weighting": "binary"},
    {"family": "multinomial", "ngrams": (1, 3), "stop_words": ["again", "win", "ΣΑΣ"], "weighting": "log"},
    {"family": "multinomial", "ngrams": (2, 2), "calibrate": "platt"},
    {"family": "complement", "calibrate": "isotonic", "max_features": 30, "class_prior": [0.2, 0.3, 0.5]},
    {"feature_sets": ["words"], "calibrate": "platt"},
    {
        "family": "multinomial",
        "vocabulary": ["lunch", "a", "win cash", "ab\tc", "σοφός", "λογοσ"],
        "calibrate": "temperature",
    },
]
