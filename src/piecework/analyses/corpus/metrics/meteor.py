"""METEOR 1.5 with two of its four matchers: same word, same stem.

Formula and parameters are those for English (Denkowski and Lavie 2014): function words
weigh a third of content words, recall weighs far more than precision, and matches
scattered over many chunks are penalised. METEOR's synonyms need WordNet and its
paraphrases a table of 60 MB; both are left out, so scores are lower than those of the
full program, and are called "METEOR, exact and stem".
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache

from wordfreq import word_frequency

from piecework.analyses.corpus.metrics.alignment import align
from piecework.analyses.corpus.metrics.pairs import Pair, Tokens

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
STEM_WEIGHT = 0.6

FUNCTION_WORD_FREQUENCY = 1e-3
"""As in METEOR: a word with a larger share of running text is a function word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The components of a score, which add up over captions.

    Attributes:
        candidate_weight: words of the caption, content words at 0.75, others at 0.25.
        reference_weight: the same for the reference.
        candidate_matched: the part of `candidate_weight` with a partner; stems at 0.6.
        reference_matched: the same part of `reference_weight`.
        matches: number of partners.
        words: number of words of both captions.
    """

    candidate_weight: float = 0.0
    reference_weight: float = 0.0
    candidate_matched: float = 0.0
    reference_matched: float = 0.0
    matches: int = 0
    chunks: int = 0
    words: int = 0

    def __add__(self, other: "Stats") -> "Stats":
        names = [field.name for field in fields(self)]
        return Stats(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def score(self) -> float:
        """METEOR, from 0 to 1."""
        if not self.matches:
            return 0.0
        precision = self.candidate_matched / self.candidate_weight
        recall = self.reference_matched / self.reference_weight
        mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
        is_whole = self.chunks == 1 and 2 * self.matches == self.words
        scattered = 0.0 if is_whole else self.chunks / self.matches
        return float(mean * (1 - GAMMA * scattered**BETA))


def meteor(pairs: Sequence[Pair]) -> float:
    """Return METEOR over the corpus, from the summed stats with the best references."""
    return sum(map(best_stats, pairs), Stats()).score


def best_stats(pair: Pair) -> Stats:
    """Return the stats against the best-scoring reference; in a tie, the first."""
    candidate = _normalised(pair.candidate)
    by_reference = [stats(candidate, _normalised(reference)) for reference in pair.references]
    return max(by_reference, key=lambda of_reference: of_reference.score)


def stats(candidate: Tokens, reference: Tokens) -> Stats:
    """Compute the stats of one caption against one reference."""
    alignment = align(candidate, reference)
    candidate_matched = reference_matched = 0.0
    for place, partner in alignment.partners:
        is_exact = candidate[place] == reference[partner]
        kind = 1.0 if is_exact else STEM_WEIGHT
        candidate_matched += kind * _weight(candidate[place])
        reference_matched += kind * _weight(reference[partner])
    return Stats(
        candidate_weight=sum(map(_weight, candidate)),
        reference_weight=sum(map(_weight, reference)),
        candidate_matched=candidate_matched,
        reference_matched=reference_matched,
        matches=len(alignment.partners),
        chunks=alignment.chunks,
        words=len(candidate) + len(reference),
    )


def _normalised(words: Tokens) -> Tokens:
    """As METEOR's option -norm: hyphenated words count as several."""
    return [part for word in words for part in word.split("-") if part] or words


@cache
def _weight(word: str) -> float:
    # Frequency lists do not contain "'s" and "n't".
    if "'" in word or word_frequency(word, "en") > FUNCTION_WORD_FREQUENCY:
        return 1 - DELTA
    return DELTA
