"""How far transcripts of the same sound or picture agree, and what most of them say.

Texts are compared word for word, without case and punctuation; texts in a script without
spaces are compared letter for letter. A mark, such as a vowel sign or an accent, belongs to
the letter before it. The likeness of two texts is 1 minus their word error
rate: the fewest words to change, leave out or put in, divided by the words of the longer
text, so that neither of two workers is taken for the truth.

The merged text takes at each place what most workers wrote there, as ROVER does for
recognisers of speech (J. Fiscus, "A post-processing system to yield reduced word error
rates", ASRU 1997, doi:10.1109/ASRU.1997.659110). All texts are aligned with the one that is
most like the others; where as many wrote something else, that one decides.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from rapidfuzz.distance import Levenshtein

from piecework.analyses.votes import votes_that_count

MOST_WORDS = 5_000
"""Of a longer text, the rest is not compared: aligning takes the square of the words."""

_SIGNS = frozenset("PSZC")
"""Categories of Unicode whose characters are no part of a word at its edges."""

_MARKS = "M"
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word as it was written, and as it is compared."""

    written: str
    compared: str


def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a transcript as they are compared.

    >>> words_in("The dog, it barks.")
    ('the', 'dog', 'it', 'barks')
    """
    return tuple(word.compared for word in _words(text))


def likeness(first: Sequence[str], second: Sequence[str]) -> float:
    """Return how far the words of two transcripts agree, from 0 to 1; two empty ones agree.

    >>> likeness(words_in("The dog, it barks."), words_in("the dog it barked"))
    0.75
    """
    return Levenshtein.normalized_similarity(first, second)


def merge_transcripts(texts: Sequence[str]) -> tuple[str, float]:
    """Return what most of the transcripts say, and their mean likeness; NaN without two.

    >>> merge_transcripts(["a dog barks at a cat", "A dog barks at a cat."])
    ('a dog barks at a cat', 1.0)
    """
    lines = [_words(text) for text in texts]
    alike = _alike(lines)
    pairs = alike[np.triu_indices(len(lines), 1)]
    return _merged(lines, alike), float(pairs.mean()) if len(pairs) else math.nan


def item_transcripts(votes: pd.DataFrame) -> pd.DataFrame:
    """Merge the transcripts of each item, and measure how far its workers agree.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`);
            values are texts.

    Returns:
        One row per item with votes, index `item_id`, sorted. Columns `merged` (str),
        `likeness` (float64: the mean over pairs of workers; NaN with one worker),
        `workers` (int64).
    """
    by_item = votes_that_count(votes).groupby("item_id", sort=True)["value"]
    rows = {
        item_id: (*merge_transcripts([str(text) for text in texts]), len(texts))
        for item_id, texts in by_item
    }
    table = pd.DataFrame.from_dict(
        rows, orient="index", columns=["merged", "likeness", "workers"]
    ).rename_axis("item_id")
    return table.astype({"merged": "str", "likeness": "float64", "workers": "int64"})


def _words(text: str) -> list[_Word]:
    spaced = _spaced(unicodedata.normalize("NFC", text))
    words = []
    for part in spaced.split()[:MOST_WORDS]:
        compared = _without_signs(part).casefold().replace("\u2019", "'")
        if compared:
            words.append(_Word(part, compared))
        elif words:
            # A sign that stands alone belongs to the word before it.
            words[-1] = _Word(f"{words[-1].written}{part}", words[-1].compared)
    return words


def _category(letter: str) -> str:
    """Return the first letter of a character's category in Unicode."""
    return unicodedata.category(letter)[0]


def _spaced(text: str) -> str:
    """Put spaces around each letter, with its marks, of a script without spaces."""
    if not _NO_SPACES.search(text):
        return text
    spaced, is_apart = "", False
    for letter in text:
        if _category(letter) != _MARKS:
            was_apart, is_apart = is_apart, bool(_NO_SPACES.match(letter))
            spaced += " " if was_apart or is_apart else ""
        spaced += letter
    return spaced


def _without_signs(part: str) -> str:
    """Return a word without the signs at its edges, and without the marks on these."""
    start, end = 0, len(part)
    while start < end and _category(part[start]) in _SIGNS:
        start += 1
        while start < end and _category(part[start]) == _MARKS:
            start += 1
    while end > start:
        base = end - 1
        while base > start and _category(part[base]) == _MARKS:
            base -= 1
        if _category(part[base]) not in _SIGNS:
            break
        end = base
    return part[start:end]


def _alike(lines: Sequence[Sequence[_Word]]) -> npt.NDArray[np.float64]:
    """Return the likeness of each two texts; 0 with itself."""
    compared = [tuple(word.compared for word in line) for line in lines]
    alike = np.zeros((len(lines), len(lines)))
    for i, j in combinations(range(len(lines)), 2):
        alike[i, j] = alike[j, i] = likeness(compared[i], compared[j])
    return alike


def _merged(lines: Sequence[Sequence[_Word]], alike: npt.NDArray[np.float64]) -> str:
    if not lines:
        return ""
    middle = int(alike.sum(axis=1).argmax())
    places: defaultdict[tuple[int, int], list[_Word]] = defaultdict(list)
    order = [middle, *(n for n in range(len(lines)) if n != middle)]
    for n in order:
        for place, word in _aligned(lines[middle], lines[n]):
            places[place].append(word)
    kept = []
    for place in sorted(places):
        words = places[place]
        votes = Counter(word.compared for word in words)
        # Who wrote nothing here votes for leaving the place out.
        none = len(lines) - len(words)
        compared, most = votes.most_common(1)[0]
        is_of_middle = place[1] == 0
        if most > none or (most == none and is_of_middle and words[0].compared == compared):
            spellings = Counter(word.written for word in words if word.compared == compared)
            kept.append(spellings.most_common(1)[0][0])
    return _joined(kept)


def _aligned(
    middle: Sequence[_Word], line: Sequence[_Word]
) -> Iterator[tuple[tuple[int, int], _Word]]:
    """Yield the words of a text with their places among those of the middle one.

    Place `(n, 0)` is that of the middle's word `n`; `(n, k)` the k-th one put in after it.
    """
    own = tuple(word.compared for word in line)
    steps = Levenshtein.opcodes(tuple(word.compared for word in middle), own)
    for step in steps:
        in_middle = step.src_end - step.src_start
        for offset, at in enumerate(range(step.dest_start, step.dest_end)):
            if offset < in_middle:
                yield (step.src_start + offset, 0), line[at]
            else:
                yield (step.src_end - 1, offset - in_middle + 1), line[at]


def _joined(words: Sequence[str]) -> str:
    """Join words with spaces, but not letters of a script without them."""
    text = ""
    for word in words:
        last = next((letter for letter in reversed(text) if _category(letter) != _MARKS), "")
        is_close = bool(_NO_SPACES.match(word)) and bool(_NO_SPACES.match(last))
        text += word if not text or is_close else f" {word}"
    return text
