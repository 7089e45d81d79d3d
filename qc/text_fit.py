"""How well each text fits its item, by what other workers wrote about the same item.

People who describe the same thing share words. For every different word of a text, the
question is whether any other answer about the item uses it, and how likely that would
be if the text were about another item of the batch: the share of answers to other items
that use the word says so. Words differ in how much they tell (*a* stands everywhere,
*dog* nearly only where a dog is), and tasks do (captions share much, wishes nothing):
both are learned from the batch itself, each word without the text that is judged and
its copies (a sentence pasted fifty times would vouch for its own words), and drawn
towards the batch's mean where it is rare. The sum over the words is the logarithm
of how much likelier the text is about this item than about another one (a naive Bayes
classifier of two classes; nothing is fitted to labels).

Nothing is said of a canned or empty text, where no other worker wrote about the item,
or where fewer than `LEAST_ELSEWHERE` answers speak of other items of the batch.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from qc.scores import FIRST_ANSWER, coded, is_first
from qc.words import different_words, plain_texts

COLUMNS = (*FIRST_ANSWER, "batch", "text", "is_canned")
"""What `text_fit` reads of the table of answers."""

FIT = "text_fit"
"""Beginning of the columns that `with_text_fit` adds."""

LEAST_ELSEWHERE = 10
"""Fewer answers about other items tell no chance (ours)."""

_STEADINESS = 3.0
"""A word's own share counts as much as the batch's after so many chances (ours: of 3,
10 and 30 the best on small frames; on large ones they do not differ)."""

_SURE = (0.01, 0.98)
"""No word is certain, whatever it did before."""

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


def with_text_fit(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a column `text_fit.<name>` for each of `text_fit`."""
    if f"{FIT}.log_odds" in table.columns:
        return table
    fits = text_fit(table).add_prefix(f"{FIT}.")
    return pd.concat([table, fits], axis=1)


def text_fit(table: pd.DataFrame) -> pd.DataFrame:
    """One row an answer, in the table's order; all NaN where nothing can be said.

    Of columns that `with_text_fit` added, nothing is computed again.

    Returns:
        Columns, all float64: `log_odds` for this item against another one (natural
        logarithm, more is better), `words` that are different, `shared` words that
        another answer about the item has, `by_chance` how many such words another item
        would give, `others` answers it was compared with.
    """
    names = ["log_odds", "words", "shared", "by_chance", "others"]
    ready = [f"{FIT}.{name}" for name in names]
    if ready[0] in table.columns:
        return table[ready].set_axis(names, axis=1)
    fits = np.full((len(names), len(table)), np.nan)
    # Sums of floats depend on their order; sorted, the order of rows cannot matter.
    order = table.index.argsort()
    ordered = table.iloc[order]
    is_text = ~ordered["is_canned"].to_numpy() & (ordered["text"] != "").to_numpy()
    places = np.flatnonzero(is_text)
    if places.size:
        fits[:, order[places]] = _fits(ordered.iloc[places])
    return pd.DataFrame(dict(zip(names, fits, strict=True)), index=table.index)


class _Tokens(NamedTuple):
    """A row for every different word of every text.

    Attributes:
        row: the text's place.
        item: code of its item in its batch.
        batch: code of the batch.
        word: code of the word in the batch.
        copied: places of the tokens whose text has copies in the batch.
        wording: of those, code of the word in the copies.
    """

    row: Codes
    item: Codes
    batch: Codes
    word: Codes
    copied: Codes
    wording: Codes


def _fits(table: pd.DataFrame) -> Floats:
    """The columns of `text_fit` for texts that are neither canned nor empty."""
    batches, items = _codes_of_rows(table)
    tokens, n_words, copies = _tokens(table, batches, items)
    is_voice = is_first(table).to_numpy()
    voices_of_item = np.bincount(items[is_voice], minlength=items.max() + 1)
    voices_of_batch = np.bincount(batches[is_voice], minlength=batches.max() + 1)
    own = _own_voices(table, items, is_voice)
    others = voices_of_item[items] - own
    row = tokens.row
    copied = _copies_elsewhere(copies, items, is_voice)
    elsewhere = voices_of_batch[batches] - voices_of_item[items] - copied
    using, using_elsewhere = _uses(tokens, table, is_voice)
    using_elsewhere -= copied[row]
    judged = (others > 0) & (elsewhere >= LEAST_ELSEWHERE)
    counted = judged[row]
    chance = using_elsewhere / np.maximum(elsewhere[row], 1)
    # The chance that at least one of as many answers to another item has the word.
    by_chance = np.where(counted, 1 - (1 - chance) ** others[row], 0.0)
    is_shared = (using > 0) & counted
    evidence = _evidence(tokens, is_shared, by_chance, counted & is_voice[row])
    return np.where(
        judged & (n_words > 0),
        np.array(
            [
                np.bincount(row, weights=evidence * counted, minlength=len(table)),
                n_words,
                np.bincount(row, weights=is_shared, minlength=len(table)),
                np.bincount(row, weights=by_chance, minlength=len(table)),
                others,
            ]
        ),
        np.nan,
    )


def _tokens(
    table: pd.DataFrame, batches: Codes, items: Codes
) -> tuple[_Tokens, Codes, Codes]:
    """The words of all texts, how many each has, and a code of the same in a batch."""
    places, different = pd.factorize(table["text"])
    known: dict[str, int] = {}
    alike: dict[tuple[int, ...], int] = {}
    words = [
        tuple([known.setdefault(word, len(known)) for word in different_words(text)])
        for text in plain_texts(different.tolist())
    ]
    sets = np.array([alike.setdefault(one, len(alike)) for one in words])[places]
    copies, _ = pd.factorize(batches * len(alike) + sets)
    lengths = np.array([len(one) for one in words], dtype="int64")
    flat = np.fromiter((code for one in words for code in one), "int64", lengths.sum())
    starts = np.cumsum(lengths) - lengths
    n_words = lengths[places]
    row = np.repeat(np.arange(len(table)), n_words)
    inside = np.arange(len(row)) - np.repeat(np.cumsum(n_words) - n_words, n_words)
    size = max(len(known), 1)
    own = flat[starts[places][row] + inside]
    word = batches[row] * size + own
    has_copies = np.bincount(copies)[copies] > 1
    copied = np.flatnonzero(has_copies[row])
    wording, _ = pd.factorize(copies[row[copied]] * size + own[copied])
    tokens = _Tokens(row, items[row], batches[row], word, copied, wording)
    return tokens, n_words, copies


def _copies_elsewhere(
    copies: Codes, items: Codes, is_voice: npt.NDArray[np.bool_]
) -> Codes:
    """By row, how many voices about other items of the batch have the same words."""
    in_batch = np.bincount(copies[is_voice], minlength=copies.max() + 1)[copies]
    pairs, different = pd.factorize(copies * (items.max() + 1) + items)
    on_item = np.bincount(pairs[is_voice], minlength=len(different))[pairs]
    return in_batch - on_item


def _codes_of_rows(table: pd.DataFrame) -> tuple[Codes, Codes]:
    """By row, its batch and its item in the batch, as numbers from 0."""
    batches, _ = coded(table["batch"])
    items, n_items = coded(table["item_id"])
    return batches, pd.factorize(batches * n_items + items)[0]


def _pairs(table: pd.DataFrame, items: Codes) -> Codes:
    """By row, a number for its worker and item; unknown workers are all different."""
    workers, n_workers = coded(table["worker_id"])
    is_known = (table["worker_id"] != "").to_numpy()
    pairs = items * n_workers + workers
    return np.where(is_known, pairs, pairs.max() + 1 + np.arange(len(table)))


def _own_voices(
    table: pd.DataFrame, items: Codes, is_voice: npt.NDArray[np.bool_]
) -> Codes:
    """By row, how many voices about its item are the worker's own: 0 or 1."""
    pairs, different = pd.factorize(_pairs(table, items))
    return np.bincount(pairs[is_voice], minlength=len(different))[pairs]


def _uses(
    tokens: _Tokens, table: pd.DataFrame, is_voice: npt.NDArray[np.bool_]
) -> tuple[Codes, Codes]:
    """By token, voices of other workers on the item, and elsewhere, with the word."""
    voice = is_voice[tokens.row]
    size = int(tokens.word.max(initial=0)) + 1
    on_item, different = pd.factorize(tokens.item * size + tokens.word)
    using = np.bincount(on_item[voice], minlength=len(different))[on_item]
    in_batch = np.bincount(tokens.word[voice], minlength=size)[tokens.word]
    own = voice.astype("int64")
    if not voice.all():  # a second answer is not compared with the same worker's first
        pairs = pd.factorize(_pairs(table, _codes_of_rows(table)[1]))[0]
        has_second = np.bincount(pairs[~is_voice], minlength=len(table))[pairs] > 0
        places = np.flatnonzero(has_second[tokens.row])
        wordings = pairs[tokens.row[places]] * size + tokens.word[places]
        own[places] = np.isin(wordings, wordings[voice[places]])
    return using - own, in_batch - using


def _evidence(
    tokens: _Tokens,
    is_shared: npt.NDArray[np.bool_],
    by_chance: Floats,
    counts: npt.NDArray[np.bool_],
) -> Floats:
    """By token, what sharing or not sharing the word says for the item.

    A word is shared by chance, or because the texts are about the same thing. How often
    the latter happens is each word's excess over chance, divided by the room that
    chance leaves.
    """
    excess = np.where(counts, is_shared - by_chance, 0.0)
    room = np.where(counts, 1 - by_chance, 0.0)
    excess_of_batch = np.bincount(tokens.batch, weights=excess)
    room_of_batch = np.bincount(tokens.batch, weights=room)
    mean = np.clip(excess_of_batch / np.maximum(room_of_batch, 1.0), *_SURE)
    mean = mean[tokens.batch]
    excess_of_word = _of_others(tokens, excess)
    room_of_word = _of_others(tokens, room)
    because = (excess_of_word + _STEADINESS * mean) / (room_of_word + _STEADINESS)
    because = np.clip(because, *_SURE)
    if_other = np.clip(by_chance, 0.001, 0.999)
    if_fits = if_other + (1 - if_other) * because
    return np.where(
        is_shared, np.log(if_fits / if_other), np.log((1 - if_fits) / (1 - if_other))
    )


def _of_others(tokens: _Tokens, amounts: Floats) -> Floats:
    """By token, the sum of its word's amounts without those of the text's copies."""
    of_word = np.bincount(tokens.word, weights=amounts)[tokens.word]
    of_copies = amounts.copy()
    in_copies = np.bincount(tokens.wording, weights=amounts[tokens.copied])
    of_copies[tokens.copied] = in_copies[tokens.wording]
    return np.asarray(of_word - of_copies)
