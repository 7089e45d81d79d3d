"""The words of a text, in any script, so that texts can be compared.

Case, punctuation and spacing do not count. For scripts that are written without spaces
(Chinese, Japanese, Thai and others), every two neighbouring characters count as a word:
otherwise a whole sentence would be one word that no one else uses.

For comparisons of many texts, words are numbered: one row per different word of each text.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from piecework.domain.late_modules import np, npt, pa, pc, pd

PLAIN, WORD_COUNT = "plain_text", "word_count"
"""Columns of `texts_of`."""

_ASCII_WORDS = (
    bytes(ord(c.lower()) if c.isalnum() else ord(" ") for c in map(chr, range(128)))
    + bytes(127)
    + b"\n"
)
"""By byte: lower-case letters, digits, spaces for all else; a newline ends a text."""

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    "|[\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


def plain(text: str) -> str:
    """Return the words only: no case, no punctuation, single spaces.

    >>> plain("  A very wonderful view,my friend. ")
    'a very wonderful view my friend'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_words().findall(folded))


@functools.cache
def _words() -> Any:  # noqa: ANN401 - a pattern of a library without types
    """Return the pattern of a word; a vowel sign or an accent is a part of it."""
    # Only texts that are not ASCII need the library.
    import regex  # type: ignore[import-untyped] # noqa: PLC0415 - its stubs are not locked

    return regex.compile(r"[\p{L}\p{N}\p{M}]+")


def plain_texts(texts: Sequence[str]) -> list[str]:
    """Apply `plain` to each text; ASCII texts take a tenth of the time.

    >>> plain_texts(["Two  cats.", "Zwölf Äpfel!", ""])
    ['two cats', 'zwölf äpfel', '']
    """
    is_ascii = [text.isascii() for text in texts]
    # The last character of latin-1 separates the texts: no ASCII text contains it.
    joined = "\xff".join(itertools.compress(texts, is_ascii)).encode("latin-1")
    lines = iter(joined.translate(_ASCII_WORDS).decode("ascii").split("\n"))
    return [
        " ".join(next(lines).split()) if simple else plain(text)
        for text, simple in zip(texts, is_ascii, strict=True)
    ]


def with_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Add the columns of `texts_of`, if they are not there."""
    if PLAIN in table.columns:
        return table
    return pd.concat([table, texts_of(table)], axis=1)


def texts_of(table: pd.DataFrame) -> pd.DataFrame:
    """What several heuristics read of the texts: `plain_text` and `word_count`."""
    columns = {PLAIN: plain_column(table), WORD_COUNT: word_counts(table["text"])}
    return pd.DataFrame(columns, index=table.index)


def plain_of(table: pd.DataFrame) -> list[str]:
    """Return the words of each answer's text (`plain`)."""
    return plain_column(table).tolist()


def plain_column(table: pd.DataFrame) -> pd.Series[str]:
    """Return the words of each answer's text as a column."""
    if PLAIN in table.columns:
        return table[PLAIN]
    return pd.Series(plain_texts(table["text"].tolist()), index=table.index, dtype="str")


def word_counts_of(table: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return the number of words between spaces of each answer's text; not to be changed."""
    if WORD_COUNT in table.columns:
        return table[WORD_COUNT].to_numpy()
    return word_counts(table["text"])


def word_counts(texts: Iterable[str]) -> npt.NDArray[np.float64]:
    """Return the number of words between spaces, by text.

    >>> word_counts(["Two  cats.", " ", "well-known"])
    array([2., 0., 1.])
    """
    trimmed = pc.utf8_trim_whitespace(pa.array(texts, pa.large_string()))
    words = pc.list_value_length(pc.utf8_split_whitespace(trimmed))
    has_words = pc.not_equal(trimmed, "")
    counts = words.to_numpy() * has_words.to_numpy(zero_copy_only=False)
    return np.asarray(counts, dtype="float64")


def lengths(texts: Iterable[str]) -> npt.NDArray[np.float64]:
    """Return the number of characters without the spaces around them, by text.

    >>> lengths([" two cats ", ""])
    array([8., 0.])
    """
    trimmed = pc.utf8_trim_whitespace(pa.array(texts, pa.large_string()))
    return np.array(pc.utf8_length(trimmed), dtype="float64")


def different_words(plain_texts: Sequence[str]) -> pa.LargeListArray:
    """Return the different words of each plain text, sorted.

    >>> different_words([plain("A cat, a CAT and 黑色的貓"), ""]).to_pylist()
    [['a', 'and', 'cat', '的貓', '色的', '黑色'], []]
    """
    spaced = [
        text if text.isascii() else " ".join(map(_parted, text.split())) for text in plain_texts
    ]
    words = pc.split_pattern(pa.array(spaced, pa.large_string()), " ")
    text = pc.list_parent_indices(words).to_numpy()
    coded = words.flatten().dictionary_encode()
    # Ranks, so that the order of words does not depend on the table.
    order = pc.array_sort_indices(coded.dictionary).to_numpy()
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order), dtype=order.dtype)
    vocabulary = coded.dictionary.take(pa.array(order))
    size = max(len(order), 1)
    tokens = text * size + ranks[coded.indices.to_numpy()].astype("int64")
    # Splitting an empty text returns one empty word.
    is_word = pc.not_equal(words.flatten(), "").to_numpy(zero_copy_only=False)
    tokens = np.sort(tokens[is_word])
    # `np.unique` takes ten times as long (numpy 2.4).
    tokens = tokens[np.diff(tokens, prepend=-1) > 0]
    text, rank = np.divmod(tokens, size)
    starts = np.searchsorted(text, np.arange(len(plain_texts) + 1))
    return pa.LargeListArray.from_arrays(starts, vocabulary.take(pa.array(rank)))


def _parted(word: str) -> str:
    if len(word) <= 2 or not _UNSPACED.search(word):  # noqa: PLR2004 - a pair
        return word
    return " ".join(word[place : place + 2] for place in range(len(word) - 1))


Codes: TypeAlias = "npt.NDArray[np.int64]"
Small: TypeAlias = "npt.NDArray[np.int32]"
"""For the large arrays."""


class Keys(NamedTuple):
    """What the codes of a part stand for: frames with one row per code."""

    batches: pd.DataFrame
    words: pd.DataFrame
    copies: pd.DataFrame


class Tokens(NamedTuple):
    """One row per different word of each text.

    Attributes:
        row: by token, the position of its text.
        word: by token, the code of the word in the batch.
        n_words: by text, how many tokens it has.
        copies: by text, the code of its set of words in the batch.
    """

    row: Small
    word: Small
    n_words: Codes
    copies: Codes
    keys: Keys


def tokens_of(table: pd.DataFrame, batches: Codes) -> Tokens:
    """The words of all texts."""
    places, different = pd.factorize(plain_column(table))
    words = different_words(different.tolist())
    wordings = pc.binary_join(words, pa.scalar(" ", pa.large_string())).dictionary_encode()
    alike = wordings.dictionary.to_numpy(zero_copy_only=False)
    wording = wordings.indices.to_numpy()[places]
    lengths = pc.list_value_length(words).to_numpy()
    flat = words.flatten().dictionary_encode()
    coded_words, vocabulary = flat.indices.to_numpy(), flat.dictionary
    size = max(len(vocabulary), 1)
    starts = np.cumsum(lengths) - lengths
    n_words = lengths[places].astype("int64")
    row = np.repeat(np.arange(len(table)), n_words)
    inside = np.arange(len(row)) - np.repeat(np.cumsum(n_words) - n_words, n_words)
    own = coded_words[starts[places][row] + inside]
    word, used = pd.factorize(batches[row] * size + own)
    copies, worded = pd.factorize(batches * max(len(alike), 1) + wording)
    numbers = pd.factorize(table["batch"])[1]
    hashes = pd.util.hash_array(alike.astype("object"), categorize=False)
    keys = Keys(
        batches=pd.DataFrame({"batch": np.asarray(numbers, dtype="int64")}),
        words=pd.DataFrame(
            {
                "batch": np.asarray(numbers[used // size]),
                "word": pd.array(vocabulary.take(pa.array(used % size)), dtype="str"),
            }
        ),
        copies=pd.DataFrame(
            {
                "batch": np.asarray(numbers[worded // max(len(alike), 1)]),
                "wording": hashes[worded % max(len(alike), 1)],
            }
        ),
    )
    return Tokens(row.astype("int32"), word.astype("int32"), n_words, copies, keys)
