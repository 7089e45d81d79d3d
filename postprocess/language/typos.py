"""What kind of typo leads from one word to another.

Fingers swap neighbours, double or drop letters and hit the next key; ears write `i` for
`y` and `s` for `c`. Each kind is counted by itself, so that a likely typo costs less
than an odd one. Kinds follow Kukich, "Techniques for Automatically Correcting Words in
Text" (ACM Computing Surveys 24, 1992), sections 1.3 and 2.
"""

from collections.abc import Iterator

from rapidfuzz.distance import Levenshtein

KINDS = (
    "swap",
    "drop_double",
    "drop_vowel",
    "drop_other",
    "add_double",
    "add_near",
    "add_other",
    "for_vowel",
    "for_near",
    "for_alike",
    "for_other",
    "apostrophe",
)
"""`drop`: a letter is missing, `add`: one too many, `for`: one instead of another."""

PLACES = ("at_start", "at_end", "inflection")
"""Where it happened: typos are rare at the start, endings may be meant."""

_VOWELS = frozenset("aeiouy")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ALIKE = (
    "sc", "sz", "ck", "kq", "fv", "mn", "dt", "gj", "bp", "xs", "wv", "uw",
)  # fmt: skip
_ENDINGS = frozenset({"s", "es", "d", "ed", "r", "er", "y", "ing", "ly", "n", "'s"})


def typos(word: str, meant: str) -> dict[str, int]:
    """How many typos of each kind make `word` of `meant`, and how many at each place.

    What did not happen is absent.

    >>> typos("wmoan", "woman"), typos("skiis", "skis")
    ({'swap': 1}, {'add_double': 1})
    """
    counts: dict[str, int] = {}
    for kind in _kinds(word, meant):
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def _kinds(word: str, meant: str) -> Iterator[str]:
    swapped = _unswapped(word, meant)
    if swapped != word:
        yield "swap"
        yield from ["at_start"] * (word[0] != swapped[0])
    for edit in Levenshtein.editops(swapped, meant):
        if edit.tag == "insert":
            yield _dropped(meant, edit.dest_pos)
        elif edit.tag == "delete":
            yield _added(swapped, edit.src_pos)
        else:
            yield _replaced(swapped[edit.src_pos], meant[edit.dest_pos])
        yield from ["at_start"] * (edit.src_pos == 0)
        yield from ["at_end"] * (edit.src_pos >= len(swapped) - 1)
    if _is_inflection(word, meant) or _is_inflection(meant, word):
        yield "inflection"


def _unswapped(word: str, meant: str) -> str:
    """`word` with two neighbours swapped where that brings it two steps closer."""
    distance = Levenshtein.distance(word, meant)
    for at in range(len(word) - 1):
        if word[at] != word[at + 1] and word[at] in meant and word[at + 1] in meant:
            swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            if Levenshtein.distance(swapped, meant) <= distance - 2:
                return swapped
    return word


def _dropped(meant: str, at: int) -> str:
    letter = meant[at]
    if letter == "'":
        return "apostrophe"
    if letter in meant[max(0, at - 1) : at] + meant[at + 1 : at + 2]:
        return "drop_double"
    return "drop_vowel" if letter in _VOWELS else "drop_other"


def _added(word: str, at: int) -> str:
    letter, around = word[at], word[max(0, at - 1) : at] + word[at + 1 : at + 2]
    if letter in around:
        return "add_double"
    is_near = any(_are_near(letter, neighbour) for neighbour in around)
    return "add_near" if is_near else "add_other"


def _replaced(typed: str, meant: str) -> str:
    if typed in _VOWELS and meant in _VOWELS:
        return "for_vowel"
    if _are_near(typed, meant):
        return "for_near"
    alike = typed + meant in _ALIKE or meant + typed in _ALIKE
    return "for_alike" if alike else "for_other"


def _are_near(letter: str, other: str) -> bool:
    key, other_key = _key(letter), _key(other)
    if key is None or other_key is None:
        return False
    # Each row of a keyboard is shifted by about half a key to the right.
    across = (key[1] + key[0] / 2) - (other_key[1] + other_key[0] / 2)
    return abs(key[0] - other_key[0]) <= 1 and abs(across) <= 1


def _key(letter: str) -> tuple[int, int] | None:
    for row, keys in enumerate(_ROWS):
        if letter in keys:
            return row, keys.index(letter)
    return None


def _is_inflection(longer: str, shorter: str) -> bool:
    return longer.startswith(shorter) and longer[len(shorter) :] in _ENDINGS
