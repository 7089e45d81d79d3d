"""Texts of a table as numbers: a row for every different word of every text."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from qc.words import different_words, plain_texts

Codes = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
"""Of what there is much."""


class Keys(NamedTuple):
    """What codes of a part stand for: frames, a row a code."""

    batches: pd.DataFrame
    words: pd.DataFrame
    copies: pd.DataFrame


class Tokens(NamedTuple):
    """A row for every different word of every text.

    Attributes:
        row: by token, the text's place.
        word: by token, code of the word in the batch.
        n_words: by text, how many tokens it has.
        copies: by text, code of its words in the batch.
    """

    row: Small
    word: Small
    n_words: Codes
    copies: Codes
    keys: Keys


def tokens_of(table: pd.DataFrame, batches: Codes) -> Tokens:
    """The words of all texts."""
    places, different = pd.factorize(table["text"])
    alike: dict[str, int] = {}
    flat: list[str] = []
    lengths = np.zeros(len(different), dtype="int64")
    wordings = np.zeros(len(different), dtype="int64")
    for place, text in enumerate(plain_texts(different.tolist())):
        words = different_words(text)
        flat += words
        lengths[place] = len(words)
        wordings[place] = alike.setdefault(" ".join(words), len(alike))
    coded_words, vocabulary = pd.factorize(np.array(flat, dtype="object"))
    size = max(len(vocabulary), 1)
    starts = np.cumsum(lengths) - lengths
    n_words = lengths[places]
    row = np.repeat(np.arange(len(table)), n_words)
    inside = np.arange(len(row)) - np.repeat(np.cumsum(n_words) - n_words, n_words)
    own = coded_words[starts[places][row] + inside]
    word, used = pd.factorize(batches[row] * size + own)
    copies, worded = pd.factorize(batches * max(len(alike), 1) + wordings[places])
    numbers = pd.factorize(table["batch"])[1]
    hashes = pd.util.hash_array(np.array([*alike], dtype="object"), categorize=False)
    keys = Keys(
        batches=pd.DataFrame({"batch": np.asarray(numbers, dtype="int64")}),
        words=pd.DataFrame(
            {
                "batch": np.asarray(numbers[used // size]),
                "word": pd.array(vocabulary[used % size], dtype="str"),
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
