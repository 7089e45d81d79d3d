"""What the texts of a dataset say about its spelling, and which words are suspect.

A campaign has its own English: `frisbee` may follow `a red`, and a word that people
wrote about many pictures is not a typo. In a small campaign, wordfreq's counts of
general English have more weight. Words are numbered, so that all places of a campaign
can be looked up at once.

Words that are not suspects are never changed: words that are surely right, words in
texts in another language, and words that are not ordinary in their place
(`tokens.Place.is_fixed`).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, count, repeat

import numpy as np
import numpy.typing as npt

from piecework.postprocess.language import lexicon
from piecework.postprocess.language.codes import (
    BASE,
    CodeTally,
    Flags,
    Ints,
    Sieve,
    code_of,
    different_codes,
)
from piecework.postprocess.language.lexicon import is_foreign, may_be_typo
from piecework.postprocess.language.tokens import Place, Text, Word, place, words_at

Floats = npt.NDArray[np.float64]

EDGE = ""
"""Marks the beginning and the end of a text among a word's neighbours."""

_ENGLISH_WEIGHT = 5_000
"""General English counts like this many words of the campaign."""

_DISCOUNT = 0.7
"""Subtracted from every count of neighbours, in favour of unseen pairs. So the more
different words follow a word, the more is left for chance."""

_NEIGHBOUR_WEIGHT = 1.0
"""Chance counts like at least this many occurrences."""

_HALF = 0.5
"""Added to both chance and counts, so that one occurrence has little weight."""

_PAIR_WEIGHT = 0.5
"""What follows one word counts like at least this many occurrences after two."""

_UNMET_ZIPF = 0.5
_MET_ZIPF = 1.5

MET = 2
"""Three words count as seen if they occur in sequence this often."""

_AT_ONCE = 40_000
"""The number of texts counted at once; bounds the tables to about 50 MB."""

_STRANGE = 1
"""The number shared by all words that were never written."""


class Corpus:
    """Counts over texts.

    Words are identified by number (`number`), which indexes the arrays of counts.

    Attributes:
        counts: how often a word occurs.
        items: the approximate number of items with the word.
        capitals: how often it has a capital inside a text.
        n_texts: the number of texts.
        n_with_names: the texts with an unknown word that looks like a name
            (`has_name`).
        n_foreign: the texts with a possible typo that are in another language.
    """

    def __init__(self, texts: Iterable[Text] = ()) -> None:
        """Count texts; items may come in any order."""
        self._numbers = {EDGE: 0}
        self._at_large = np.array([_share_at_large(EDGE)] * 2)
        self._may_be_typo = self._is_met = np.zeros(2, dtype=bool)
        # There is an edge before the first text too.
        self.counts = np.array([1], dtype=np.int64)
        self.items = self.capitals = np.zeros(1, dtype=np.int64)
        self.n_texts = self.n_with_names = self.n_foreign = 0
        self._texts = self._with_names = np.zeros(1, dtype=np.int64)
        self._pairs, self._triples, self._over_one = (CodeTally() for _ in range(3))
        self._last_sieves: _Sieves | None = None
        items: dict[str, int] = {}
        different = [np.zeros(0, dtype=np.int64)]
        counted = [*texts]
        for start in range(0, max(1, len(counted)), _AT_ONCE):
            some = counted[start : start + _AT_ONCE]
            stream = self._count(some, 1)
            if start:
                self._count((), -1)  # the edges before the first text are already counted
            different.append(different_codes(code_of(_item_numbers(some, items), stream)))
        self.items = np.bincount(
            different_codes(np.concatenate(different)) % BASE, minlength=len(self._at_large)
        )
        self.items[0] = 0  # not a word, but the edges

    def join(self, other: "Corpus") -> None:
        """Add the counts of another corpus with texts about other items."""
        words = other.numbered()
        self._number(words)
        numbers = np.arange(len(words) + 1)
        numbers[other.numbers(words)] = self.numbers(words)
        self._count((), -1)  # the edges before the first text are already counted
        for name in ("counts", "items", "capitals", "_texts", "_with_names"):
            counts = _longer(getattr(self, name), len(self._at_large))
            counts[numbers] += _longer(getattr(other, name), len(numbers))
            setattr(self, name, counts)
        self.counts[0] -= 1
        for name in ("_pairs", "_triples", "_over_one"):
            getattr(self, name).join(getattr(other, name), numbers)
        self.n_texts += other.n_texts
        self.n_with_names += other.n_with_names
        self.n_foreign += other.n_foreign
        self._changed()

    def _count(self, texts: Sequence[Text], times: int) -> Ints:
        """Add texts `times` times; return the numbers of their words in order."""
        # Two edges after each text, so that no three neighbours span two texts.
        with_edges = ((*text.words, EDGE, EDGE) for text in texts)
        line = [EDGE] * 3 + list(chain.from_iterable(with_edges))
        self._number(dict.fromkeys(line))
        size = len(self._at_large)
        stream = self.numbers(line)
        counts = np.bincount(stream, minlength=size)
        counts[0] = len(texts)
        by_text = [[*text.capitals] for text in texts]
        with_capitals = self.numbers([*chain.from_iterable(by_text)])
        capitals = np.bincount(with_capitals, minlength=size)
        has_strange_capital = np.zeros(len(texts), dtype=bool)
        of_text = np.repeat(np.arange(len(texts)), [*map(len, by_text)])
        has_strange_capital[of_text[self._may_be_typo[with_capitals]]] = True
        self.counts = _longer(self.counts, size) + times * counts
        self.capitals = _longer(self.capitals, size) + times * capitals
        self._pairs.add(code_of(stream[:-1], stream[1:]), times)
        self._triples.add(code_of(stream[:-2], stream[1:-1], stream[2:]), times)
        self._over_one.add(code_of(stream[:-2], stream[2:]), times)
        self._count_texts(texts, stream[3:], has_strange_capital, times)
        self._changed()
        return stream

    def _number(self, words: Iterable[str]) -> None:
        """Assign numbers to new words among some different ones."""
        fresh = [word for word in words if word not in self._numbers]
        self._numbers.update(zip(fresh, count(len(self._at_large)), strict=False))
        self._at_large = np.append(self._at_large, [*map(_share_at_large, fresh)])
        typos = np.array([may_be_typo(word) for word in fresh], dtype=bool)
        met = np.array([lexicon.zipf(word) >= _MET_ZIPF for word in fresh], dtype=bool)
        self._may_be_typo = np.append(self._may_be_typo, typos)
        self._is_met = np.append(self._is_met, typos & met)
        if len(self._at_large) > BASE:
            raise ValueError(f"these texts have more than {BASE:,} different words")

    def _changed(self) -> None:
        """Clear what was derived from earlier counts."""
        self._total = _ENGLISH_WEIGHT + int(self.counts.sum())
        self._log_shares: dict[str, float] = {}
        self._last_sieves = None

    def _count_texts(
        self, texts: Sequence[Text], stream: Ints, has_strange_capital: Flags, times: int
    ) -> None:
        """Count the texts with each word, and those of them with names.

        Args:
            texts: the texts to count.
            stream: the numbers of their words, with two edges after each text.
            has_strange_capital: for each text, whether an unknown word has a capital.
            times: how many times to count them.
        """
        size = len(self._at_large)
        lengths = [len(text.words) + 2 for text in texts]
        own = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
        unknown = np.unique(own[self._may_be_typo[stream]])
        named = has_strange_capital.copy()
        named[own[self._is_met[stream]]] = True  # like `has_name` for a single text
        different = different_codes(code_of(own, stream))
        numbers, owner = different % BASE, different // BASE
        text_counts = np.bincount(numbers, minlength=size)
        text_counts[0] = 0  # not a word, but the edges
        self._texts = _longer(self._texts, size) + times * text_counts
        named_counts = np.bincount(numbers[named[owner]], minlength=size)
        named_counts[0] = 0
        self._with_names = _longer(self._with_names, size) + times * named_counts
        self.n_texts += times * len(texts)
        self.n_with_names += times * int(named.sum())
        self.n_foreign += times * sum(is_foreign(texts[place].words) for place in unknown.tolist())

    def texts_with(self, word: str) -> tuple[int, int]:
        """Return the number of texts with a word, and of those that also have names."""
        number = self.number(word)
        return int(self._texts[number]), int(self._with_names[number])

    def words(self) -> Iterable[str]:
        """Return each written word once."""
        return (word for word, n in self._numbers.items() if word and self.counts[n])

    def numbered(self) -> Sequence[str]:
        """Return all numbered words: the edge and every word ever written."""
        return [*self._numbers]

    def number(self, word: str) -> int:
        """Return the number of a word; all unwritten words share one."""
        return self._numbers.get(word, _STRANGE)

    def numbers(self, words: Sequence[str]) -> Ints:
        """Return the numbers of words, in order."""
        numbers = map(self._numbers.get, words, repeat(_STRANGE))
        return np.fromiter(numbers, dtype=np.int64, count=len(words))

    def about(self, word: str) -> int:
        """Return the approximate number of items with a word."""
        return int(self.items[self.number(word)])

    def capital_share(self, word: str) -> float:
        """Return the share of a word's occurrences with a capital inside a text."""
        number = self.number(word)
        return float(self.capitals[number] / max(1, int(self.counts[number])))

    def log_share(self, word: str) -> float:
        """Return the log of a word's share, here and in general English."""
        known = self._log_shares.get(word)
        if known is None:
            count_and_more = int(self.counts[self.number(word)]) + _share_at_large(word)
            known = self._log_shares[word] = math.log(count_and_more / self._total)
        return known

    def shares(self, words: Ints) -> Floats:
        """Return the share of each campaign word, here and in general English."""
        shares: Floats = (self.counts[words] + self._at_large[words]) / self._total
        return shares

    def pairs(self, left: Ints, right: Ints) -> Ints:
        """Return how often two words occur in sequence."""
        return self._pairs.of(code_of(left, right))

    def may_be_pairs(self, left: Ints, right: Ints) -> Flags:
        """Return whether two words may occur in sequence, with a few false positives.

        This takes a tenth of the time of counting.
        """
        return self._sieves().pairs.may_have(code_of(left, right))

    def may_be_met(self, left: Ints, middle: Ints, right: Ints) -> Flags:
        """Return whether three words may occur in sequence at least twice (`MET`)."""
        return self._sieves().triples.may_have(code_of(left, middle, right))

    def _sieves(self) -> "_Sieves":
        """Build the sieves once after each change."""
        if self._last_sieves is None:
            self._last_sieves = _Sieves(
                pairs=Sieve(self._pairs.codes), triples=Sieve(self._triples.present(MET))
            )
        return self._last_sieves

    def triples(self, left: Ints, middle: Ints, right: Ints) -> Ints:
        """Return how often three words occur in sequence."""
        return self._triples.of(code_of(left, middle, right))

    def over_one(self, left: Ints, right: Ints) -> Floats:
        """Return how much likelier than chance words are two places apart, in nats.

        It is 0 if the text ends before that.
        """
        chance = self.counts[left] / self._total * self.counts[right]
        together = self._over_one.of(code_of(left, right))
        nats = np.log((together + _HALF) / (chance + _HALF))
        result: Floats = np.where((left == 0) | (right == 0), 0, nats)
        return result

    def follows(self, before: Ints, word: Ints, log_share: Floats) -> Floats:
        """Return the probability of words after one other.

        Args:
            before: the word before each.
            word: the words.
            log_share: the `log_share` of the words, which gives the chance level.
        """
        followers = self._pairs.followers(before)
        by_chance = (_DISCOUNT * followers + _NEIGHBOUR_WEIGHT) * np.exp(log_share)
        together = np.maximum(self.pairs(before, word) - _DISCOUNT, 0) + by_chance
        result: Floats = together / (self.counts[before] + _NEIGHBOUR_WEIGHT)
        return result

    def follows_two(self, far: Ints, before: Ints, word: Ints, log_share: Floats) -> Floats:
        """Return the probability of words after two others; `far` precedes `before`."""
        pair = code_of(far, before)
        followers = self._triples.followers(pair)
        by_chance = self.follows(before, word, log_share)
        by_chance *= _DISCOUNT * followers + _PAIR_WEIGHT
        together = np.maximum(self.triples(far, before, word) - _DISCOUNT, 0)
        result: Floats = (together + by_chance) / (self._pairs.of(pair) + _PAIR_WEIGHT)
        return result


def has_name(text: Text) -> bool:
    """Return whether a text has an unknown word that recurs or has a capital.

    This applies to names and brands, but to few typos.
    """
    unknown = {word for word in text.words if may_be_typo(word)}
    return any(lexicon.zipf(word) >= _MET_ZIPF for word in unknown) or (
        bool(unknown) and not unknown.isdisjoint(text.capitals)
    )


def word_counts_by_item(
    item_ids: AbstractSet[str], texts: Iterable[Text]
) -> Mapping[str, Counter[str]]:
    """Return the number of texts with a word, by item and word."""
    of_item: defaultdict[str, list[Text]] = defaultdict(list)
    for text in texts:
        if text.item_id in item_ids:
            of_item[text.item_id].append(text)
    return {
        item_id: Counter(chain.from_iterable(set(text.words) for text in about))
        for item_id, about in of_item.items()
    }


def _item_numbers(texts: Sequence[Text], numbers: dict[str, int]) -> Ints:
    """Return a number for the item of each word, and of the edges around it.

    `numbers` has those of earlier items, and gets the others.
    """
    items = [numbers.setdefault(text.item_id, len(numbers) + 1) for text in texts]
    return np.repeat([0, *items], [3, *(len(text.words) + 2 for text in texts)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sieves:
    """Sieves of all pairs, and of the triples seen at least twice."""

    pairs: Sieve
    triples: Sieve


def _share_at_large(word: str) -> float:
    """Return a word's share of general English, as a count of campaign words."""
    zipf = lexicon.zipf(word) or _UNMET_ZIPF
    return float(_ENGLISH_WEIGHT * 10 ** (zipf - lexicon.CERTAIN_ZIPF))


def _longer(counts: Ints, size: int) -> Ints:
    return np.append(counts, np.zeros(size - len(counts), dtype=np.int64))


_MOSTLY = 0.5
_USUAL = 20
"""The average rate counts like this many texts: a word seen less often says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """One occurrence of a word that is in no list.

    Attributes:
        surface: the word as written; `word` is casefolded.
        before: the two words before, casefolded, the farther first; `corpus.EDGE` at
            the text's end.
        after: the two words after.
        company: how much more often than usual names occur with the text's known words,
            as a logarithm: above 0 in texts that read out brands.
        about: the number of texts about the item with a word, by word.
    """

    text_id: str
    start: int
    end: int
    surface: str
    word: str
    before: tuple[str, str]
    after: tuple[str, str]
    place: Place
    company: float = 0.0
    about: Mapping[str, int] = field(compare=False)


def find_suspects(texts: Sequence[Text], corpus: Corpus) -> list[Suspect]:
    """Return the suspects in order of texts and places; none in foreign texts.

    Args:
        texts: all texts about each of their items.
        corpus: the counts of these texts, and of all others of the campaign.
    """
    if corpus.n_foreign > _MOSTLY * corpus.n_texts:
        return []
    with_any = [text for text in texts if any(map(may_be_typo, text.words))]
    english = [text for text in with_any if not is_foreign(text.words)]
    with_places = ((text, _places(text)) for text in english)
    places = [(text, of_text) for text, of_text in with_places if of_text]
    about = word_counts_by_item({text.item_id for text, _ in places}, texts)
    company = _Company(corpus)
    return [
        suspect
        for text, of_text in places
        for suspect in _suspects(
            text,
            of_text,
            company=company.of(frozenset(text.words), own=has_name(text)),
            about=about[text.item_id],
        )
    ]


class _Company:
    """How often names occur with each known word."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._usual = (corpus.n_with_names + 1) / (corpus.n_texts + _USUAL)
        self._of_word: dict[tuple[str, bool], float] = {}

    def of(self, line: AbstractSet[str], *, own: bool) -> float:
        """Return the value for a text's known words, excluding the text itself.

        Args:
            line: the words.
            own: whether the text itself has a name.
        """
        known = [word for word in line if not may_be_typo(word)]
        return math.fsum(self._log_ratio(word, own) for word in known) / max(1, len(known))

    def _log_ratio(self, word: str, own: bool) -> float:  # noqa: FBT001 - private
        log_ratio = self._of_word.get((word, own))
        if log_ratio is None:
            texts, with_names = self._corpus.texts_with(word)
            together = with_names - own + _USUAL * self._usual
            usual = (texts - 1 + _USUAL) * self._usual
            log_ratio = self._of_word[word, own] = math.log(together / usual)
        return log_ratio


def _places(text: Text) -> list[tuple[int, Word, Place]]:
    """Return the places of a text's suspects: number of the word, word and context."""
    doubted = [
        at for at, word in enumerate(text.words) if may_be_typo(word) and word not in text.protected
    ]
    words_there = zip(doubted, words_at(text.text, doubted), strict=True)
    contexts = ((at, word, place(text.text, word)) for at, word in words_there)
    return [(at, word, where) for at, word, where in contexts if not where.is_fixed]


def _suspects(
    text: Text,
    places: Iterable[tuple[int, Word, Place]],
    *,
    company: float,
    about: Mapping[str, int],
) -> Iterator[Suspect]:
    line = (EDGE, EDGE, *text.words, EDGE, EDGE)
    for at, word, where in places:
        yield Suspect(
            text_id=text.text_id,
            start=word.start,
            end=word.end,
            surface=text.text[word.start : word.end],
            word=line[at + 2],
            before=(line[at], line[at + 1]),
            after=(line[at + 3], line[at + 4]),
            place=where,
            company=company,
            about=about,
        )
