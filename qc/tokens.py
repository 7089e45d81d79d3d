"""Texts of a table as numbers: one row per different word of each text."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from piecework.qc.plain_text import different_words, plain_texts

Codes = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
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
    places, different = pd.factorize(table["text"])
    words = different_words(plain_texts(different.tolist()))
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
