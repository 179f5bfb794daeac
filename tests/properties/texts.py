"""Texts to try tokenisers on."""

from __future__ import annotations

from hypothesis import strategies as st

from candide.kernels.tokenizer import TokenizerConfig

# Letters that grow or look at their neighbours in lower case, marks that a sigma does not look at, blanks of many
# kinds, digits of other scripts, characters of one to four bytes.
_ODD = "ΣΣσςİIıß'\u0301\u00ad.·:Aaé\u00c5ﬁ½²٣７한글ｶﾞ日本🎉\u200d_\x00\x1c\u2028\u3000\ufffd\U0001d7d8\U00010400"
_characters = st.one_of(st.sampled_from(_ODD), st.sampled_from("ab cD \n\t1-"), st.characters(exclude_categories=[]))

texts = st.text(_characters, max_size=60)
lists = st.lists(st.one_of(texts, texts, texts, st.none()), max_size=8)

TOKENIZERS = {
    "words": TokenizerConfig(),
    "single letters, case kept": TokenizerConfig(min_length=1, lowercase=False),
    "long words": TokenizerConfig(min_length=4),
    "pairs": TokenizerConfig(ngrams=(1, 2), stop_words=frozenset(["ab", "éa"])),
    "threes alone": TokenizerConfig(ngrams=(3, 3), min_length=1),
    "without accents": TokenizerConfig(strip_accents="unicode"),
    "ascii": TokenizerConfig(strip_accents="ascii", lowercase=False, min_length=1),
    "folded numbers": TokenizerConfig(fold_numbers=True, min_length=1, strip_accents="unicode"),
    "characters": TokenizerConfig("char", ngrams=(1, 3)),
    "characters within words": TokenizerConfig("char_wb", ngrams=(2, 5)),
    "long characters within words": TokenizerConfig("char_wb", ngrams=(4, 4), lowercase=False, fold_numbers=True),
    "words and marks": TokenizerConfig(marks=True, min_length=2, stop_words=frozenset([".", "ab"])),
    "pairs with marks and ends": TokenizerConfig(marks=True, min_length=1, ends=True, ngrams=(2, 2)),
    "twos and threes with ends": TokenizerConfig(ends=True, ngrams=(2, 3), stop_words=frozenset(["ab"])),
    "places": TokenizerConfig("place"),
    "places with marks": TokenizerConfig("place", marks=True, min_length=1),
    "a pattern": TokenizerConfig(pattern=r"[a-z]*", ngrams=(1, 2), stop_words=frozenset(["a"])),
    "a function": TokenizerConfig(tokenizer=str.split, lowercase=False, strip_accents="ascii"),
}
