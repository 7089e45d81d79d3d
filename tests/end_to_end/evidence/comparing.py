"""How texts compare with others about their items, reckoned word by word."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.end_to_end.evidence.raw_answers import RawAnswer, firsts, words

_LEAST_ELSEWHERE = 10
_STEADINESS = 3

Sharing = Mapping[str, tuple[bool, float]]
"""By different word of a text: whether another about the item has it; the chance."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How a text compares with what others wrote about its item.

    Attributes:
        against: logarithm of the odds for another item, as docs/reference/heuristics.md
        says.
    """

    words: int
    shared: int
    by_chance: float
    others: int
    against: float


def compare(texts: Sequence[RawAnswer], text: Callable[[RawAnswer], str]) -> dict[str, Comparison]:
    """By answer, the comparison; texts that cannot be compared are absent.

    Args:
        texts: of one batch, neither empty nor canned.
        text: of an answer.
    """
    own = {answer.answer_id: frozenset(words(text(answer))) for answer in texts}
    voices = firsts(texts)
    others, shared = _shared(texts, voices, own)
    odds = _Odds([answer.answer_id for answer in voices], own, shared)
    return {
        name: Comparison(
            words=len(own[name]),
            shared=sum(is_shared for is_shared, _ in sharing.values()),
            by_chance=sum(chance for _, chance in sharing.values()),
            others=others[name],
            against=odds.against(name),
        )
        for name, sharing in shared.items()
    }


def _shared(
    texts: Sequence[RawAnswer], voices: Sequence[RawAnswer], own: Mapping[str, frozenset[str]]
) -> tuple[dict[str, int], dict[str, Sharing]]:
    """By answer that can be compared, with how many others, and what it shares."""
    on_item = defaultdict[str, list[RawAnswer]](list)
    for answer in voices:
        on_item[answer.item_id].append(answer)
    using = Counter(word for answer in voices for word in own[answer.answer_id])
    alike = Counter(own[answer.answer_id] for answer in voices)
    n_others: dict[str, int] = {}
    shared: dict[str, Sharing] = {}
    for answer in texts:
        mine, same = own[answer.answer_id], on_item[answer.item_id]
        here = [own[other.answer_id] for other in same]
        others = [own[o.answer_id] for o in same if o.worker_id != answer.worker_id]
        # Copies of the text under other items would vouch for its words by chance.
        copies = alike[mine] - here.count(mine)
        elsewhere = len(voices) - len(same) - copies
        if not mine or not others or elsewhere < _LEAST_ELSEWHERE:
            continue
        sharing = {}
        for word in mine:
            using_elsewhere = using[word] - sum(word in each for each in here) - copies
            chance = 1 - (1 - using_elsewhere / elsewhere) ** len(others)
            sharing[word] = any(word in each for each in others), chance
        n_others[answer.answer_id], shared[answer.answer_id] = len(others), sharing
    return n_others, shared


class _Odds:
    """How much oftener than by chance each word of a batch is shared."""

    def __init__(
        self,
        voices: Sequence[str],
        own: Mapping[str, frozenset[str]],
        shared: Mapping[str, Sharing],
    ) -> None:
        self._own, self._shared = own, shared
        self._of_word = defaultdict[str, float](float)
        self._room = defaultdict[str, float](float)
        self._of_copies = defaultdict[tuple[frozenset[str], str], float](float)
        self._room_of_copies = defaultdict[tuple[frozenset[str], str], float](float)
        for name in voices:
            for word, (is_shared, chance) in shared.get(name, {}).items():
                self._of_word[word] += is_shared - chance
                self._room[word] += 1 - chance
                self._of_copies[own[name], word] += is_shared - chance
                self._room_of_copies[own[name], word] += 1 - chance
        whole = sum(self._of_word.values()) / max(sum(self._room.values()), 1.0)
        self._mean = min(max(whole, 0.01), 0.98)

    def against(self, name: str) -> float:
        """The logarithm of the odds that the text is about another item."""
        return sum(
            self._against(word, self._own[name], is_shared=is_shared, chance=chance)
            for word, (is_shared, chance) in self._shared[name].items()
        )

    def _against(self, word: str, text: frozenset[str], *, is_shared: bool, chance: float) -> float:
        # The text itself and its copies have no part.
        excess = self._of_word[word] - self._of_copies[text, word]
        room = self._room[word] - self._room_of_copies[text, word]
        because = (excess + _STEADINESS * self._mean) / (room + _STEADINESS)
        because = min(max(because, 0.01), 0.98)
        other = min(max(chance, 0.001), 0.999)
        fits = other + (1 - other) * because
        return math.log(other / fits if is_shared else (1 - other) / (1 - fits))
