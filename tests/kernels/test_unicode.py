"""Case and kinds of characters agree with Python's ``str`` and ``re`` on all of Unicode."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.tokenizer import analyze

from candide.data.texts import read_texts
from candide.kernels import Kernels, _core
from candide.kernels.tokenizer import TokenizerConfig
from candide.kernels.tokens import TokenFeatures
from candide.kernels.vocabulary import Vocabulary

# Every character alone, between letters, and next to a sigma.
CONTEXTS = {
    "lower case": (TokenizerConfig(min_length=1), "{0} a{0}b A{0}Σ {0}Σ AΣ{0}B"),
    "without accents": (TokenizerConfig(lowercase=False, strip_accents="unicode", fold_numbers=True), "a{0}b"),
    "ascii": (TokenizerConfig(strip_accents="ascii"), "a{0}b"),
    "white space": (TokenizerConfig("char_wb", ngrams=(4, 4)), "a{0}b"),
    "white spaces": (TokenizerConfig("char", ngrams=(2, 2)), "{0}{0}"),
}


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("most", [0x2FFF, pytest.param(sys.maxunicode, marks=pytest.mark.slow)], ids=["some", "all"])
def test_all_of_unicode(context: str, most: int) -> None:
    """The same tokens, as many times; half surrogate pairs are read as U+FFFD."""
    tokenizer, frame = CONTEXTS[context]
    known = [chr(0xFFFD if 0xD800 <= code < 0xE000 else code) for code in range(most + 1)]
    stretches = [" ".join(map(frame.format, known[at : at + 512])) for at in range(0, len(known), 512)]
    meant = Counter(token for text in stretches for token in analyze(text, tokenizer))
    tally = Kernels(2).tally_tokens(
        read_texts(stretches),
        np.zeros(len(stretches), dtype=np.int32),
        None,
        1,
        [TokenFeatures(tokenizer, Vocabulary())],
        grow=True,
    )[0]
    assert dict(zip(tally.coding.tokens(), tally.occurrences[0].tolist(), strict=True)) == meant


def tokens_of(text: str, tokenizer: TokenizerConfig) -> list[str]:
    """Distinct tokens in the order of the core."""
    return (
        Kernels(1)
        .count_tokens(read_texts([text]), [TokenFeatures(tokenizer, Vocabulary())], grow=True)[0]
        .coding.tokens()
    )


@given(st.text("ΣΣΣaÅ.'\u0301\u00ad:1 _-İ\u0345", max_size=12))
def test_sigmas(text: str) -> None:
    """A capital sigma looks past marks for letters, on both sides."""
    tokenizer = TokenizerConfig("char", ngrams=(1, 12))
    assert tokens_of(text, tokenizer) == list(dict.fromkeys(analyze(text, tokenizer)))


@given(st.binary(max_size=24))
def test_bytes_that_are_no_text(data: bytes) -> None:
    """Each is replaced where Python replaces it."""
    utf8, offsets = np.frombuffer(data, dtype=np.uint8), np.array([0, len(data)])
    texts, tokenizer = _core.Texts.of_buffers(utf8, offsets, None), TokenizerConfig("char", ngrams=(1, 3))
    got = Kernels(1).count_tokens(texts, [TokenFeatures(tokenizer, Vocabulary())], grow=True)[0].coding
    assert got == Vocabulary.of(analyze(data.decode("utf-8", "replace"), tokenizer))


def test_version() -> None:
    """The tables are those of the interpreter that the core was built for."""
    assert _core.unicode_version == unicodedata.unidata_version
