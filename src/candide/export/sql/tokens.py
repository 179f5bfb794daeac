"""Functions by which databases split texts into words.

Databases differ from Python, and from each other, in which characters are part of words and in their lower case. So
queries contain these characters, and use only functions that do the same in all versions of a database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from typing import ClassVar

from ...exceptions import ParameterError
from ...kernels.layouts import Floats
from ...kernels.tokenizer import TokenizerConfig
from ..characters import all_codes, around_sigma, characters_of, lower_case, runs_of
from .dialects import Dialect, Postgres, Spark

Runs = list[tuple[int, int]]

# Classes of characters: outside of words, white space, and the rest.
_OTHERS, _SPACES, _MARKS = r"\W", r"\s", r"[^\w\s]"
# Lower case that depends on the characters around it, or makes two characters of one.
_SIGMA, _FINAL_SIGMA, _DOTTED_I = "Σ", "ς", "İ"
# Java compares a character with all runs of a class in turn; of other classes, it skips the runs.
_RUNS_TOGETHER = 24


class TextFunctions:
    """Functions of DuckDB, which the others replace."""

    # The key of a text: a number is faster than the text itself, where numbers are the same each time they are read.
    key: ClassVar[str] = "ROW_NUMBER() OVER ()"
    fence: ClassVar[str] = " MATERIALIZED"
    end_of_text: ClassVar[str] = r"\z"
    # Before the number of a group, in a replacement.
    group: ClassVar[str] = "\\"

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def read(self, cell: str) -> str:
        """Return a cell as a text that is compared character by character."""
        return f"CAST({cell} AS {self.dialect.text_type})"

    def spaced_words(self, text: str, config: TokenizerConfig, alphabet: Set[str]) -> str:
        """Return the words of a text with spaces between them. Other characters than the alphabet may be kept as is."""
        text = self._normalized(text, config, alphabet)
        if not config.marks:
            return self._replaced(text, f"{self._one_of(_OTHERS)}+", " ")
        text = self._replaced(text, f"({self._one_of(_MARKS)})", f" {self.group}1 ")
        return self._replaced(text, f"{self._one_of(_SPACES)}+", " ")

    def _normalized(self, text: str, config: TokenizerConfig, alphabet: Set[str]) -> str:
        changes, plain = dict(_changes(config, alphabet)), text
        if config.lowercase:
            if {_SIGMA.lower(), _FINAL_SIGMA} & alphabet:
                text = self._with_final_sigmas(text)
            # The second character is not part of a word, so this can split a word.
            text = f"REPLACE({text}, {self.dialect.text(_DOTTED_I)}, {self.dialect.text(_DOTTED_I.lower())})"
        if not changes:
            return text
        source, target = self.dialect.text("".join(changes)), self.dialect.text("".join(changes.values()))
        translated = f"TRANSLATE({text}, {source}, {target})"
        if config.fold_numbers:
            return translated
        # Of ASCII characters, all databases have the same lower case.
        return f"CASE WHEN BIT_LENGTH({plain}) = 8 * LENGTH({plain}) THEN LOWER({plain}) ELSE {translated} END"

    def characters(self, runs: Runs) -> str:
        """Return a pattern for one of these characters."""
        return f"[{self._listed(runs)}]"

    def words(self, text: str) -> tuple[dict[str, str], str]:
        """Return the columns ``id``, ``word`` and ``place`` of what is between spaces, and where they come from."""
        columns = {"id": "id", "word": "UNNEST(found)", "place": "GENERATE_SUBSCRIPTS(found, 1)"}
        return columns, f"(SELECT id, STRING_SPLIT({text}, ' ') AS found FROM texts) AS found_words"

    def table(self, tokens: list[str], numbers: Mapping[str, Floats]) -> str:
        """Return a query for a table of tokens and doubles; long strings, because many literals are slow to plan."""
        parts = [f"UNNEST(STRING_SPLIT({self._lines(tokens)}, CHR(10))) AS token"]
        parts += [f"UNNEST(CAST('[{_joined(own)}]' AS DOUBLE[])) AS {name}" for name, own in numbers.items()]
        return f"SELECT {', '.join(parts)}"

    def _one_of(self, pattern: str) -> str:
        return self.characters(_class(pattern))

    def _code(self, code: int) -> str:
        return f"\\x{{{code:x}}}"

    def _listed(self, runs: Runs) -> str:
        return "".join(self._code(a) if a == b else f"{self._code(a)}-{self._code(b)}" for a, b in runs)

    def _lines(self, tokens: list[str]) -> str:
        return self.dialect.text("\n".join(tokens))

    def _with_final_sigmas(self, text: str) -> str:
        """Return a text in which a capital sigma at the end of a word is a small one."""
        skip, letter, other = map(self.characters, _around_sigma())
        pattern = f"({letter}{skip}*){_SIGMA}({skip}*(?:{other}|{self.end_of_text}))"
        return self._replaced(text, pattern, f"{self.group}1{_FINAL_SIGMA}{self.group}2")

    def _replaced(self, text: str, pattern: str, by: str) -> str:
        return f"REGEXP_REPLACE({text}, {self.dialect.text(pattern)}, {self.dialect.text(by)}, 'g')"


class PostgresText(TextFunctions):
    """PostgreSQL, whose regular expressions have other escapes."""

    end_of_text = r"\Z"

    def read(self, cell: str) -> str:
        return f'CAST({cell} AS TEXT) COLLATE "C"'

    def words(self, text: str) -> tuple[dict[str, str], str]:
        found = f"UNNEST(STRING_TO_ARRAY({text}, ' ')) WITH ORDINALITY AS found(word, place)"
        return {"id": "id", "word": "word", "place": "place"}, f"texts CROSS JOIN LATERAL {found}"

    def table(self, tokens: list[str], numbers: Mapping[str, Floats]) -> str:
        lists = [f"STRING_TO_ARRAY({self._lines(tokens)}, CHR(10))"]
        lists += [f"CAST('{{{_joined(own)}}}' AS DOUBLE PRECISION[])" for own in numbers.values()]
        return f"SELECT * FROM UNNEST({', '.join(lists)}) AS listed({', '.join(['token', *numbers])})"

    def _code(self, code: int) -> str:
        return f"\\U{code:08x}"


class SparkText(TextFunctions):
    """Spark, in the dialect that sqlglot translates to it; regular expressions are those of Java."""

    key = "text"
    fence = ""
    group = "$"

    def characters(self, runs: Runs) -> str:
        ascii_runs = [(a, min(b, 0x7F)) for a, b in runs if a <= 0x7F]
        rest = [(max(a, 0x80), b) for a, b in runs if b > 0x7F]
        parts = [rest[i : i + _RUNS_TOGETHER] for i in range(0, len(rest), _RUNS_TOGETHER)]
        blocks = [f"[{self._listed([(part[0][0], part[-1][1])])}&&[{self._listed(part)}]]" for part in parts]
        return f"[{self._listed(ascii_runs)}{''.join(blocks)}]"

    def words(self, text: str) -> tuple[dict[str, str], str]:
        found = f"POSEXPLODE(SPLIT({text}, ' ')) found AS place, word"
        return {"id": "id", "word": "word", "place": "place"}, f"texts LATERAL VIEW {found}"

    def table(self, tokens: list[str], numbers: Mapping[str, Floats]) -> str:
        lists = [f"SPLIT({self._lines(tokens)}, CHR(10))"]
        lists += [f"FROM_JSON('[{_joined(own)}]', 'ARRAY<DOUBLE>')" for own in numbers.values()]
        return f"SELECT INLINE(ARRAYS_ZIP({', '.join(lists)})) AS ({', '.join(['token', *numbers])})"

    def _replaced(self, text: str, pattern: str, by: str) -> str:
        return f"REGEXP_REPLACE({text}, {self.dialect.text(pattern)}, {self.dialect.text(by)})"


_FUNCTIONS: dict[str, type[TextFunctions]] = {
    Dialect.name: TextFunctions,
    Postgres.name: PostgresText,
    Spark.name: SparkText,
}


def text_functions(dialect: Dialect) -> TextFunctions:
    """Return the text functions of a dialect."""
    if dialect.name not in _FUNCTIONS:
        raise ParameterError(
            f"this model has text inputs, and the query for {dialect.name} cannot split texts into words as candide "
            f"does; choose one of the dialects {', '.join(_FUNCTIONS)}"
        )
    return _FUNCTIONS[dialect.name](dialect)


@lru_cache(maxsize=3)
def _class(pattern: str) -> Runs:
    return runs_of(characters_of(pattern))


@lru_cache(maxsize=1)
def _around_sigma() -> tuple[Runs, Runs, Runs]:
    """Return the characters that are skipped, letters, and others."""
    skipped, letters = around_sigma()
    return runs_of(skipped), runs_of(letters), runs_of(sorted(set(all_codes()) - {*skipped, *letters}))


def _changes(config: TokenizerConfig, alphabet: Set[str]) -> Iterable[tuple[str, str]]:
    """Yield the characters that normalization changes to characters of an alphabet."""
    if config.lowercase:
        yield from ((chr(code), lower) for code, lower in lower_case().items() if lower in alphabet)
    if config.fold_numbers and "0" in alphabet:
        yield from ((chr(code), "0") for code in characters_of(r"\d") if chr(code) != "0")


def _joined(numbers: Floats) -> str:
    return ",".join(map(repr, numbers.tolist()))
