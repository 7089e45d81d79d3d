"""Numbers in column names that say which of a row's items a column is about.

A number may stand anywhere in a name: `text2`, `image2_url`, `item_2.label`. A number that
does not count through columns is part of the name: `mp3_url`, `sha256`.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_DIGITS = re.compile(r"(?<![0-9])[0-9]{1,3}(?![0-9])")
_WORD = re.compile(r"[^\W\d_]+(?=[\s_.-]*$)")
_SEPARATORS = tuple("_-. ")
_SLOT = "\0"
"""Stands for the number in a name."""


@dataclass(frozen=True, slots=True)
class Place:
    """The item that a column is about, by one number in the column's name.

    Attributes:
        slotted: the name with a slot in place of the number.
        base: the name without the number.
        number: the number as written.
        word: the letters before the number, in small letters.
        is_end: whether the name ends with the number.
    """

    slotted: str
    base: str
    number: str
    word: str
    is_end: bool


def places_in(name: str) -> list[Place]:
    """Return a place for each number in a name.

    >>> [(place.base, place.number) for place in places_in("image_1_url")]
    [('image_url', '1')]
    >>> [place.base for place in places_in("q_2")], places_in("2017"), places_in("sha2560")
    (['q_'], [], [])
    """
    places = []
    for digits in _DIGITS.finditer(name):
        before, after = name[: digits.start()], name[digits.end() :]
        rest = after
        if after.startswith(_SEPARATORS) and (not before or before.endswith(_SEPARATORS)):
            rest = after[1:]
        if before or rest:
            word = _WORD.search(before)
            places.append(
                Place(
                    slotted=f"{before}{_SLOT}{after}",
                    base=before + rest,
                    number=digits[0],
                    word=word[0].casefold() if word else "",
                    is_end=bool(before) and not after,
                )
            )
    return places


def place_of(name: str, numbers: Collection[str], known: Collection[str]) -> Place | None:
    """Return the item that a column is about; `None` if it is about all of the row.

    Args:
        name: the column.
        numbers: the numbers of items.
        known: columns and answers, without the numbers of items.

    >>> place_of("image2_url", ("1", "2"), {"image_url"}).number
    '2'
    >>> place_of("mp3_url", ("1", "2", "3"), {"mp3_url", "image_url"}) is None
    True
    """
    if name in known:
        return None
    places = [place for place in places_in(name) if place.number in numbers]
    for base_of in (_whole, _form):
        for place in places:
            if base_of(place.base) in known:
                return place
    return next((place for place in places if place.is_end and _form(name) not in known), None)


def _whole(name: str) -> str:
    return name


def _form(name: str) -> str:
    """Return the name of a flattened answer: `rating` of `rating.3`."""
    return name.rpartition(".")[0] if not name.endswith(".") else ""


def numbered(
    names: Iterable[str], numbers: Sequence[str], words: Collection[str] = ()
) -> dict[str, Place]:
    """Return the columns that are about one of several items.

    The number of an item takes each of `numbers` in columns that differ in nothing else.
    Of several such numbers in a name, it is the one after a word for an item, else the one
    that never falls from one column to the next: `img1_q1`, `img1_q2`, `img2_q1`.

    Args:
        names: all columns, in the order of the file.
        numbers: the numbers of items.
        words: words for an item, in small letters.
    """
    names = [*names]
    series = _series(names)
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike[_DIGITS.sub(_SLOT, name)].append(name)
    placed: dict[str, Place] = {}
    for members in alike.values():
        ways = [
            way
            for way in zip(*map(places_in, members), strict=False)
            if all(series[place.slotted].keys() == {*numbers} for place in way)
        ]
        way = min(ways, key=lambda way: _rank(way, words), default=())
        placed |= dict(zip(members, way, strict=False))
    # Two columns of an item never get one name.
    taken = dict.fromkeys(names, "") | {
        place.base: place.slotted for place in placed.values() if place.is_end
    }
    for name in names:
        place = placed.get(name)
        if place is None:
            place = next((each for each in places_in(name) if each.is_end), None)
            if place is not None and place.number in numbers:
                placed[name] = place
        elif not place.is_end and taken.setdefault(place.base, place.slotted) != place.slotted:
            del placed[name]
    return placed


def _rank(way: Sequence[Place], words: Collection[str]) -> tuple[bool, int, bool]:
    falls = sum(int(later.number) < int(place.number) for place, later in pairwise(way))
    return way[0].word not in words, falls, not way[0].is_end


def shared_numbers(
    shown: Iterable[str], sent: Iterable[str]
) -> dict[tuple[str, ...], dict[str, dict[str, str]]]:
    """Return numbers that columns of items and answers share, the most numbers first.

    Answers may be numbered for other reasons (`q1`, `q2`), so columns of items must
    have the same numbers.

    Returns:
        The answers' columns by number, by the answer's name, by the numbers.

    >>> shared_numbers(["image1_url", "image2_url"], ["label1", "label2", "mp3"])
    {('1', '2'): {'label': {'1': 'label1', '2': 'label2'}}}
    >>> shared_numbers(["url"], ["q1", "q2"])
    {}
    """
    shown, sent = [*shown], [*sent]
    of_items, of_answers = _series(shown), _series(sent)
    counts = {frozenset(of) for of in of_items.values() if _is_count(of)}
    shared = {}
    for count in sorted(counts, key=lambda each: (-len(each), sorted(each))):
        numbers = tuple(sorted(count, key=int))
        items = _whole_series(numbered(shown, numbers), of_items, count)
        words = {place.word for place in items.values()}
        answers: dict[str, dict[str, str]] = defaultdict(dict)
        placed = _whole_series(numbered(sent, numbers, words), of_answers, count)
        for name, place in sorted(placed.items(), key=lambda each: int(each[1].number)):
            answers[place.base][place.number] = name
        if items and answers:
            shared[numbers] = dict(answers)
    return shared


def _whole_series(
    placed: Mapping[str, Place], series: Mapping[str, Collection[str]], count: Collection[str]
) -> dict[str, Place]:
    """Return those whose series has these numbers and no other."""
    return {name: place for name, place in placed.items() if {*series[place.slotted]} == {*count}}


def _series(names: Iterable[str]) -> dict[str, dict[str, Place]]:
    """Return the places in names by their number, by the name with a slot."""
    series: dict[str, dict[str, Place]] = defaultdict(dict)
    for name in names:
        for place in places_in(name):
            series[place.slotted][place.number] = place
    return series


def _is_count(numbers: Collection[str]) -> bool:
    """Return whether numbers count from 0 or 1 without a gap, up to at least two."""
    values = sorted(map(int, numbers))
    return (
        len(values) > 1
        and values[0] in {0, 1}
        and values == list(range(values[0], values[0] + len(values)))
    )
