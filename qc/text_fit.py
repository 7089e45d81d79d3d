"""How well each text fits its item, by what other workers wrote about the same item.

People who describe the same thing share words. For every different word of a text, the
question is whether any other answer about the item uses it, and how likely that would
be if the text were about another item of the batch: the share of answers to other items
that use the word estimates that. Words differ in how much they tell (*a* is everywhere,
*dog* nearly only where a dog is), and so do tasks (captions share much, wishes
nothing). Both are learned from the batch itself, each word without the judged text and
its copies (a sentence pasted fifty times would vouch for its own words), and drawn
towards the batch's mean if the word is rare. The sum over the words is the logarithm of
how much likelier the text is about this item than about another one (a naive Bayes
classifier of two classes; nothing is fitted to labels).

A text is not judged if it is canned or empty, if no other worker wrote about its item,
or if fewer than `LEAST_ELSEWHERE` answers are about other items of the batch.

Other items are known from two tallies: who uses which word (`Worded.uses`), and then
how much oftener than by chance each word is shared (`Worded.excesses`). So a part of
the table that has all answers about its items, together with the tallies of all parts,
gives the same result to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, Self, TypeAlias

from piecework.domain.late_modules import np, npt, pd
from piecework.qc.batches import rows_at
from piecework.qc.plain_text import PLAIN, Small, Tokens, tokens_of, with_texts
from piecework.qc.scores import FIRST_ANSWER, Tally, coded, is_first, looked_up, merged, tally

COLUMNS = (*FIRST_ANSWER, "batch", "text", "is_canned")
"""What `text_fit` reads of the table of answers."""

FIT = "text_fit"
"""Prefix of the columns that `with_text_fit` adds."""

_ROWS_AT_ONCE = 40_000
"""About as many are compared at a time, always whole batches."""

LEAST_ELSEWHERE = 10
"""With fewer answers about other items, chance cannot be estimated (ours)."""

_STEADINESS = 3.0
"""A word's own share counts as much as the batch's after this many chances (ours: of 3,
10 and 30 the best on small frames; on large ones they do not differ)."""

_SURE = (0.01, 0.98)
"""The bounds of how often a word is shared: no word is certain."""

_UNIT = 2.0**-32
"""Chances are summed in whole numbers of this, so that their order does not matter."""

Floats: TypeAlias = "npt.NDArray[np.float64]"
Codes: TypeAlias = "npt.NDArray[np.int64]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"

_HASH_BITS = 53
"""As many bits of a wording's hash as a float64 holds."""

NAMES = ("log_odds", "words", "shared", "by_chance", "others", "copies", "wording")
"""The columns of `text_fit`."""


def odds_for(log_odds: float) -> str:
    """Format log odds as odds, capped at a million.

    >>> odds_for(math.log(25)), odds_for(40.0)
    ('odds of 25 to 1', 'odds of more than 1,000,000 to 1')
    """
    most = 1_000_000
    if log_odds > math.log(most):
        return f"odds of more than {most:,} to 1"
    return f"odds of {math.exp(log_odds):,.0f} to 1"


def with_text_fit(table: pd.DataFrame, fits: pd.DataFrame | None = None) -> pd.DataFrame:
    """Add a column `text_fit.<name>` to the table for each column of `text_fit`.

    And those of `piecework.qc.plain_text.with_texts`, which heuristics read as well.

    Args:
        table: the answers.
        fits: of `text_fit`, if already computed.
    """
    if f"{FIT}.log_odds" in table.columns:
        return table
    table = with_texts(table)
    fits = _by_batches(table) if fits is None else fits
    return pd.concat([table, fits.add_prefix(f"{FIT}.")], axis=1)


def _by_batches(table: pd.DataFrame) -> pd.DataFrame:
    """Return `text_fit`, of some batches at a time, so that fewer words are in memory.

    Only `copies` are then those in these batches. If an item has answers in several parts,
    they are compared with each other, so all batches are taken at once.
    """
    rows = table["batch"].value_counts(sort=False).sort_index()
    parts = rows.cumsum() // _ROWS_AT_ONCE
    of_row = parts.reindex(table["batch"]).to_numpy()
    if parts.nunique() <= 1:
        return text_fit(table)
    places = pd.DataFrame({"item": pd.factorize(table["item_id"])[0], "part": of_row})
    if places.drop_duplicates()["item"].duplicated().any():
        return text_fit(table)
    read = table[[name for name in (*COLUMNS, PLAIN) if name in table.columns]]
    fits = np.full((len(NAMES), len(table)), np.nan)
    for part in parts.unique():
        own = np.flatnonzero(of_row == part)
        fits[:, own] = text_fit(rows_at(read, own)).to_numpy().T
    return pd.DataFrame(dict(zip(NAMES, fits, strict=True)), index=table.index)


def text_fit(table: pd.DataFrame) -> pd.DataFrame:
    """One row per answer, in the table's order; all NaN if the text is not judged.

    Columns that `with_text_fit` added are not computed again.

    Returns:
        Columns, all float64: `log_odds` for this item against another one (natural
            logarithm, higher is better), `words` (how many different ones), `shared`
            (words that another answer about the item has), `by_chance` (how many such
            words another item would give), `others` (answers it was compared with),
            `copies` (texts of the table with the same words, including itself),
            `wording` (a whole number, the same for texts with the same words).
    """
    ready = [f"{FIT}.{name}" for name in NAMES]
    if ready[0] in table.columns:
        return table[ready].set_axis(NAMES, axis=1)
    worded = Worded(table)
    uses = worded.uses()
    return worded.fits(uses, worded.excesses(uses))


class Uses(NamedTuple):
    """How many use which word; a voice is a worker's first text about an item.

    Attributes:
        batches: by `batch`, `n_voices`.
        words: by `batch` and `word`, `n_voices` that use it.
        copies: by `batch` and `wording`, a hash of a text's different words, `n_texts`
            and `n_voices` with these words; `merged` keeps only wordings of several
            texts of all batches.
    """

    batches: Tally
    words: Tally
    copies: Tally

    @classmethod
    def merged(cls, parts: Iterable[Self]) -> Self:
        """Add up the uses of all parts."""
        batches, words, copies = zip(*parts, strict=True)
        # A part knows all about wordings of a single text, the most in a large
        # campaign.
        rows = pd.concat(copies, ignore_index=True)
        is_several = (rows["n_texts"] > 1) | rows["wording"].duplicated(keep=False)
        return cls(merged(batches), merged(words), merged([rows[is_several]]))


class Excesses(NamedTuple):
    """How much oftener than by chance words are shared, in `_UNIT`.

    Attributes:
        batches: by `batch`, `n_excess` and the `n_room` that chance leaves.
        words: the same by `batch` and `word`.
        copied: the same by `batch`, `wording` and `word`, for texts with copies.
    """

    batches: Tally
    words: Tally
    copied: Tally

    @classmethod
    def merged(cls, parts: Iterable[Self]) -> Self:
        """Add up the excesses of all parts."""
        batches, words, copied = zip(*parts, strict=True)
        return cls(merged(batches), merged(words), merged(copied))


class Worded:
    """The texts of a table that are neither canned nor empty, word by word."""

    def __init__(self, table: pd.DataFrame) -> None:
        """Read the words.

        Args:
            table: with `COLUMNS`, and all answers about each of its items.
        """
        self._index = table.index
        self._shared: tuple[Uses, _Sharing] | None = None
        # Sums of floats depend on their order; sorting removes the order of rows.
        order = table.index.argsort()
        is_text = ~table["is_canned"].to_numpy() & (table["text"] != "").to_numpy()
        self._places = order[is_text[order]]
        read = [name for name in (*COLUMNS, PLAIN) if name in table.columns]
        texts = table[read].iloc[self._places]
        self._is_voice = is_first(texts).to_numpy()
        self._batches, self._items = _codes_of_rows(texts)
        self._tokens = tokens_of(texts, self._batches)
        self._pairs, self._own = _pairs(texts, self._items, self._is_voice)
        items = self._items[self._is_voice]
        self._using = _using(self._tokens, self._items, self._pairs, self._is_voice)
        of_copies = self._tokens.copies * (len(texts) + 1) + self._items
        pairs, different = pd.factorize(of_copies)
        voices = np.bincount(pairs[self._is_voice], minlength=len(different))
        self._copies_on_item = voices[pairs]
        self._of_item = np.bincount(items, minlength=len(texts) + 1)[self._items]

    def uses(self) -> Uses:
        """Return what this part adds to the tally of uses."""
        tokens, voice = self._tokens, self._is_voice.astype("int64")
        keys = tokens.keys
        return Uses(
            batches=tally(keys.batches.take(self._batches), n_voices=voice),
            words=keys.words.assign(
                n_voices=_counted(tokens.word, voice[tokens.row], len(keys.words))
            ),
            copies=pd.concat([keys.copies, self._copies()], axis=1),
        )

    def excesses(self, uses: Uses) -> Excesses:
        """Return what this part adds to the excesses, given the uses of all parts."""
        tokens = self._tokens
        sharing = self._sharing(uses)
        n_excess, n_room = sharing.excess.T
        amounts = {"n_excess": n_excess, "n_room": n_room}
        copied, codes, keys = sharing.copied
        of_copied = {name: cells[copied] for name, cells in amounts.items()}
        return Excesses(
            batches=tally(tokens.keys.batches.take(self._batches[tokens.row]), **amounts),
            words=_tallied(tokens.keys.words, tokens.word, amounts),
            copied=_tallied(keys, codes, of_copied),
        )

    def fits(self, uses: Uses, excesses: Excesses) -> pd.DataFrame:
        """Return the columns of `text_fit`, given the sums of all parts."""
        tokens, n_texts = self._tokens, len(self._places)
        sharing = self._sharing(uses)
        judged = sharing.judged
        evidence = self._evidence(sharing, excesses) * judged[tokens.row]
        fits = np.full((len(NAMES), len(self._index)), np.nan)
        measures = [
            np.bincount(tokens.row, weights=evidence, minlength=n_texts),
            tokens.n_words,
            np.bincount(tokens.row, weights=sharing.is_shared, minlength=n_texts),
            np.bincount(tokens.row, weights=sharing.by_chance, minlength=n_texts),
            sharing.others,
        ]
        fits[:-2, self._places] = np.where(judged & (tokens.n_words > 0), measures, np.nan)
        copies, wordings = self._in_all_batches(uses)
        fits[-2, self._places] = copies
        fits[-1, self._places] = wordings
        return pd.DataFrame(dict(zip(NAMES, fits, strict=True)), index=self._index)

    def _sharing(self, uses: Uses) -> _Sharing:
        """Compute what both phases need; kept because a whole table needs it twice."""
        if self._shared is None or self._shared[0] is not uses:
            self._shared = (uses, self._new_sharing(uses))
        return self._shared[1]

    def _new_sharing(self, uses: Uses) -> _Sharing:
        tokens, row = self._tokens, self._tokens.row
        known = looked_up(tokens.keys.copies, uses.copies)
        own = self._copies()
        copies = known.where(known["n_texts"] > 0, own).iloc[tokens.copies]
        copied = copies["n_voices"].to_numpy() - self._copies_on_item
        voices = looked_up(tokens.keys.batches, uses.batches)["n_voices"].to_numpy()
        others = self._of_item - self._own
        elsewhere = voices[self._batches] - self._of_item - copied
        using, in_item = self._using
        in_batch = looked_up(tokens.keys.words, uses.words)["n_voices"].to_numpy()
        using_elsewhere = in_batch[tokens.word] - in_item - copied[row]
        judged = (others > 0) & (elsewhere >= LEAST_ELSEWHERE)
        chance = using_elsewhere / np.maximum(elsewhere[row], 1)
        # The chance that at least one of as many answers to another item has the word.
        by_chance = np.where(judged[row], 1 - (1 - chance) ** others[row], 0.0)
        texts, is_shared = copies["n_texts"].to_numpy(), (using > 0) & judged[row]
        return _Sharing(
            judged=judged,
            others=others,
            texts=texts,
            is_shared=is_shared,
            by_chance=by_chance,
            excess=self._excess(judged, is_shared, by_chance),
            copied=self._copied(texts),
        )

    def _copied(self, texts: Codes) -> tuple[Codes, Codes, pd.DataFrame]:
        """Positions of the tokens of texts with copies, and their codes and keys.

        Copies share the codes of `batch`, `wording` and `word`.
        """
        tokens = self._tokens
        size = max(len(tokens.keys.words), 1)
        places = np.flatnonzero((texts > 1)[tokens.row])
        wordings = tokens.copies[tokens.row[places]] * size + tokens.word[places]
        codes, different = pd.factorize(wordings)
        words = tokens.keys.words["word"].take(different % size)
        copies = tokens.keys.copies.take(different // size).reset_index(drop=True)
        return places, codes, copies.assign(word=words.reset_index(drop=True))

    def _in_all_batches(self, uses: Uses) -> tuple[Codes, Floats]:
        """By text, how many have its wording in any batch, and its number."""
        hashes = self._tokens.keys.copies["wording"].to_numpy(dtype="uint64")
        known = uses.copies[uses.copies["wording"].isin(hashes)]
        texts = known.groupby("wording")["n_texts"].sum()
        # A merged tally leaves out wordings of a single text.
        copies = texts.reindex(hashes).fillna(1).to_numpy("int64")
        numbers = (hashes >> np.uint64(64 - _HASH_BITS)).astype("float64")
        codes = self._tokens.copies
        return copies[codes], numbers[codes]

    def _copies(self) -> pd.DataFrame:
        """By code of a text's wording, `n_texts` and `n_voices` of this part."""
        codes, size = self._tokens.copies, len(self._tokens.keys.copies)
        voices = _counted(codes, self._is_voice.astype("int64"), size)
        texts = np.bincount(codes, minlength=size)
        return pd.DataFrame({"n_texts": texts, "n_voices": voices})

    def _excess(self, judged: Flags, is_shared: Flags, by_chance: Floats) -> Codes:
        """By token, excess and room in `_UNIT`; 0 unless it is of a judged voice."""
        row = self._tokens.row
        counts = judged[row] & self._is_voice[row]
        excess = np.where(counts, is_shared - by_chance, 0.0)
        room = np.where(counts, 1 - by_chance, 0.0)
        return np.rint(np.column_stack([excess, room]) / _UNIT).astype("int64")

    def _evidence(self, sharing: _Sharing, excesses: Excesses) -> Floats:
        """By token, how much sharing or not sharing the word speaks for the item.

        A word is shared by chance, or because the texts are about the same thing. The
        frequency of the latter is each word's excess over chance, divided by the room
        that chance leaves.
        """
        tokens = self._tokens
        of_batch = looked_up(tokens.keys.batches, excesses.batches) * _UNIT
        room = np.maximum(of_batch["n_room"].to_numpy(), 1.0)
        mean = np.clip(of_batch["n_excess"].to_numpy() / room, *_SURE)
        mean = mean[self._batches[tokens.row]]
        of_word = looked_up(tokens.keys.words, excesses.words).to_numpy()[tokens.word]
        # Leave out the text and its copies: it must not vouch for its own words.
        copied, codes, keys = sharing.copied
        own = sharing.excess.copy()
        own[copied] = looked_up(keys, excesses.copied).to_numpy()[codes]
        of_word -= own
        because = (of_word[:, 0] * _UNIT + _STEADINESS * mean) / (
            of_word[:, 1] * _UNIT + _STEADINESS
        )
        because = np.clip(because, *_SURE)
        if_other = np.clip(sharing.by_chance, 0.001, 0.999)
        if_fits = if_other + (1 - if_other) * because
        return np.asarray(
            np.where(
                sharing.is_shared,
                np.log(if_fits / if_other),
                np.log((1 - if_fits) / (1 - if_other)),
            )
        )


class _Sharing(NamedTuple):
    """The words that are shared, and those that would be by chance.

    Attributes:
        judged: by text, whether it is judged.
        others: by text, voices of other workers about its item.
        texts: by text, how many in its batch have the same words.
        is_shared: by token, whether another worker's voice about the item has it.
        by_chance: by token, how probable that is on another item.
        excess: by token, excess and room in `_UNIT`.
        copied: positions of the tokens of texts with copies, their codes, and the keys
            of these.
    """

    judged: Flags
    others: Codes
    texts: Codes
    is_shared: Flags
    by_chance: Floats
    excess: Codes
    copied: tuple[Codes, Codes, pd.DataFrame]


def _codes_of_rows(table: pd.DataFrame) -> tuple[Codes, Codes]:
    """By row, the codes of its batch and of its item in the batch, from 0."""
    batches, _ = coded(table["batch"])
    items, n_items = coded(table["item_id"])
    return batches, pd.factorize(batches * n_items + items)[0]


def _pairs(table: pd.DataFrame, items: Codes, is_voice: Flags) -> tuple[Codes, Codes]:
    """By row, a code for its worker and item, and how many voices these have: 0 or 1.

    Each unknown worker counts as a different person.
    """
    workers, n_workers = coded(table["worker_id"])
    is_known = (table["worker_id"] != "").to_numpy()
    pairs = items * n_workers + workers
    after = pairs.max(initial=0) + 1 + np.arange(len(table))
    codes, different = pd.factorize(np.where(is_known, pairs, after))
    return codes, np.bincount(codes[is_voice], minlength=len(different))[codes]


def _using(tokens: Tokens, items: Codes, pairs: Codes, is_voice: Flags) -> tuple[Codes, Codes]:
    """By token, voices on the item with the word: of other workers, and of all."""
    voice = is_voice[tokens.row]
    size = len(tokens.keys.words) + 1
    on_item, different = pd.factorize(items[tokens.row] * size + tokens.word)
    in_item = np.bincount(on_item[voice], minlength=len(different))[on_item]
    own = voice.astype("int64")
    if not voice.all():  # a second answer is not compared with the worker's first
        has_second = np.isin(pairs, pairs[~is_voice])
        places = np.flatnonzero(has_second[tokens.row])
        wordings = pairs[tokens.row[places]] * size + tokens.word[places]
        own[places] = np.isin(wordings, wordings[voice[places]])
    return (in_item - own).astype("int32"), in_item.astype("int32")


def _counted(codes: Codes | Small, amounts: Codes, size: int) -> Codes:
    """Sum whole numbers by code; exact, as they stay below 2^53."""
    return np.bincount(codes, weights=amounts, minlength=size).astype("int64")


def _tallied(keys: pd.DataFrame, codes: Codes | Small, amounts: dict[str, Codes]) -> Tally:
    """Sum the amounts by key, given the code of each amount's key."""
    sums = pd.DataFrame(amounts).groupby(codes).sum()
    own = keys.take(sums.index.to_numpy()).reset_index(drop=True)
    return own.assign(**{str(name): sums[name].to_numpy() for name in sums})
