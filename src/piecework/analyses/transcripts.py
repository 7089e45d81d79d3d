"""How far transcripts of the same sound or picture agree, and what most of them say.

Texts are compared word for word, without case and punctuation; texts in a script without
spaces are compared letter for letter. A mark, such as a vowel sign or an accent, belongs to
the letter before it. The likeness of two texts is 1 minus their word error
rate: the fewest words to change, leave out or put in, divided by the words of the longer
text, so that neither of two workers is taken for the truth.

The merged text takes at each place what most workers wrote there, as ROVER does for
recognisers of speech (J. Fiscus, "A post-processing system to yield reduced word error
rates", ASRU 1997, doi:10.1109/ASRU.1997.659110). All texts are aligned with the one that is
most like the others; where as many wrote something else, that one decides. Signs and
spaces belong to the words beside them, so that they stay as most wrote them.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

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
_OPENING = frozenset({"Ps", "Pi"})
_LEADING = frozenset({"Pd", "Sc", "Sk", "Sm", "So"}) | _OPENING
"""Categories of signs that belong to the word after them if spaces are on both sides."""

_NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u3400-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a text.

    The words of a text, each after its space, are the whole text.

    Attributes:
        space: the white space before it; `None` if it is the first.
        written: as it was written, with the signs that belong to it.
        compared: as it is compared.
    """

    space: str | None
    written: str
    compared: str


def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a transcript as they are compared.

    >>> words_in("The dog, it barks.")
    ('the', 'dog', 'it', 'barks')
    """
    parts = _parts(unicodedata.normalize("NFC", text))
    compared = (_folded(part, *_without_signs(part)) for _, part in parts)
    return tuple(islice(filter(None, compared), MOST_WORDS))


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
    without_words = Counter(
        unicodedata.normalize("NFC", text).strip()
        for text, line in zip(texts, lines, strict=True)
        if not line
    )
    merged = _merged(lines, alike) or next((text for text, _ in without_words.most_common(1)), "")
    return merged, float(pairs.mean()) if len(pairs) else math.nan


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
    parts = [*_parts(unicodedata.normalize("NFC", text).strip())]
    next_gaps = [*(gap for gap, _ in parts[1:]), " "]
    words: list[_Word] = []
    space, signs = "", ""  # before the next word
    for (gap, part), next_gap in zip(parts, next_gaps, strict=False):
        start, end = _without_signs(part)
        compared = _folded(part, start, end)
        if words and not signs and (closing := _closing(part, start, gap, next_gap)):
            last = words[-1]
            words[-1] = replace(last, written=f"{last.written}{gap}{part[:closing]}")
            gap, part = "", part[closing:]  # noqa: PLW2901 - the rest of it
        space, signs = (space, f"{signs}{gap}{part}") if signs else (gap, part)
        if compared:
            words.append(_Word(space if words else None, signs, compared))
            signs = ""
    if words and signs:
        words[-1] = replace(words[-1], written=f"{words[-1].written}{space}{signs}")
    return words


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands between spaces, with the space before it.

    Of a script without spaces, that is each letter with its marks.
    """
    # A pattern of a gap and a word would read a long gap at the end from each of its spaces.
    end = 0
    for match in re.finditer(r"\S+", text):
        gap, unbroken = text[end : match.start()], match[0]
        end = match.end()
        if not _NO_SPACES.search(unbroken):
            yield gap, unbroken
            continue
        part, is_apart = "", False
        for letter in unbroken:
            if _category(letter) != _MARKS:
                was_apart, is_apart = is_apart, _is_apart(letter)
                if part and (was_apart or is_apart):
                    yield gap, part
                    gap, part = "", ""
            part += letter
        yield gap, part


def _is_apart(letter: str) -> bool:
    """Return whether a character is a word of its own, as its script has no spaces."""
    return bool(_NO_SPACES.match(letter)) and _category(letter) not in _SIGNS | {_MARKS}


def _folded(part: str, start: int, end: int) -> str:
    """Return a word as it is compared, from where it begins and ends in a part."""
    return part[start:end].casefold().replace("\u2019", "'")


def _closing(part: str, start: int, gap: str, next_gap: str) -> int:
    """Return how many of a part's first characters belong to the word before it.

    Args:
        part: what stands between two spaces.
        start: where its word begins; its end if it has none.
        gap: the white space before it.
        next_gap: the white space after it.
    """
    is_of_signs = start == len(part)
    if gap:
        is_leading = not next_gap or unicodedata.category(part[0]) in _LEADING
        return start if is_of_signs and not is_leading else 0
    if is_of_signs and next_gap:
        return start
    opening = (n for n in range(start) if unicodedata.category(part[n]) in _OPENING)
    return next(opening, start)


def _compared(words: Sequence[_Word]) -> tuple[str, ...]:
    return tuple(word.compared for word in words[:MOST_WORDS])


def _category(letter: str) -> str:
    """Return the first letter of a character's category in Unicode."""
    return unicodedata.category(letter)[0]


def _without_signs(part: str) -> tuple[int, int]:
    """Return where a word begins and ends without the signs at its edges and their marks."""
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
    return start, end


def _alike(lines: Sequence[Sequence[_Word]]) -> npt.NDArray[np.float64]:
    """Return the likeness of each two texts; 0 with itself."""
    compared = [_compared(line) for line in lines]
    alike = np.zeros((len(lines), len(lines)))
    for i, j in combinations(range(len(lines)), 2):
        alike[i, j] = alike[j, i] = likeness(compared[i], compared[j])
    return alike


def _merged(lines: Sequence[Sequence[_Word]], alike: npt.NDArray[np.float64]) -> str:
    if not any(lines):
        return ""
    middle = int(alike.sum(axis=1).argmax())
    places: defaultdict[tuple[int, int], list[_Word]] = defaultdict(list)
    order = [middle, *(n for n in range(len(lines)) if n != middle)]
    for n in order:
        for place, word in _aligned(lines[middle], lines[n]):
            places[place].append(word)
    kept: list[_Word] = []
    # The last place where most have the word of the middle: how many words are kept, and
    # how many the middle has.
    shared = (0, 0)
    for place in sorted(places):
        words = places[place]
        votes = Counter(word.compared for word in words)
        # Who wrote nothing here votes for leaving the place out.
        none = len(lines) - len(words)
        compared, most = votes.most_common(1)[0]
        is_of_middle = place[1] == 0 and words[0].compared == compared
        if most > none or (most == none and is_of_middle):
            kept.append(_most_written([word for word in words if word.compared == compared]))
            if is_of_middle and 2 * most >= len(lines):
                shared = len(kept), place[0] + 1
    if 2 * sum(len(line) > MOST_WORDS for line in lines) < len(lines):
        return _joined(kept)
    # What most wrote behind the limit was not compared; it is that of the middle.
    rest = "".join(f"{word.space or ''}{word.written}" for word in lines[middle][shared[1] :])
    return (_joined(kept[: shared[0]]) + rest).strip()


def _most_written(words: Sequence[_Word]) -> _Word:
    """Return one word as most wrote it, after the space that most wrote."""
    written = Counter(word.written for word in words).most_common(1)[0][0]
    spaces = Counter(word.space for word in words if word.space is not None).most_common(1)
    return replace(words[0], space=spaces[0][0] if spaces else None, written=written)


def _aligned(
    middle: Sequence[_Word], line: Sequence[_Word]
) -> Iterator[tuple[tuple[int, int], _Word]]:
    """Yield the words of a text with their places among those of the middle one.

    Place `(n, 0)` is that of the middle's word `n`; `(n, k)` the k-th one put in after it.
    """
    for step in Levenshtein.opcodes(_compared(middle), _compared(line)):
        in_middle = step.src_end - step.src_start
        for offset, at in enumerate(range(step.dest_start, step.dest_end)):
            if offset < in_middle:
                yield (step.src_start + offset, 0), line[at]
            else:
                yield (step.src_end - 1, offset - in_middle + 1), line[at]


def _joined(words: Sequence[_Word]) -> str:
    """Join words by the spaces before them.

    A word that began its text has a space before it, and so have words that were not beside
    each other. Letters of a script without spaces have none.
    """
    text, was_apart = "", False
    for word in words:
        is_apart, space = _is_apart(word.compared[0]), word.space
        if space is None or not (space or is_apart or was_apart):
            space = "" if is_apart and was_apart else " "
        text += f"{space}{word.written}" if text else word.written
        letters = (letter for letter in reversed(word.compared) if _category(letter) != _MARKS)
        was_apart = _is_apart(next(letters, ""))
    return text
