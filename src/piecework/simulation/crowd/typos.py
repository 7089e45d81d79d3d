"""Simulate typing errors, in the mix that real captions show.

Of 479 misspelt words found by hand in captions of VizWiz, COCO and Flickr8k, 35 % lack
a letter, 19 % have a wrong one, 19 % have an extra one, 10 % have two letters swapped
and 4 % lack a space. The first letter is wrong in only 4 %, so it is never changed.
"""

from collections.abc import Callable, Mapping
from random import Random

_MIX: Mapping[str, int] = {
    "lost": 35,
    "wrong": 19,
    "doubled": 12,
    "extra": 7,
    "swapped": 10,
    "run_together": 4,
}

_NEIGHBOURS: Mapping[str, str] = {
    "a": "sqwz", "b": "vghn", "c": "xdfv", "d": "serfcx", "e": "wsdr", "f": "drtgvc",
    "g": "ftyhbv", "h": "gyujnb", "i": "ujko", "j": "huikmn", "k": "jiolm", "l": "kop",
    "m": "njk", "n": "bhjm", "o": "iklp", "p": "ol", "q": "wa", "r": "edft",
    "s": "awedxz", "t": "rfgy", "u": "yhji", "v": "cfgb", "w": "qase", "x": "zsdc",
    "y": "tghu", "z": "asx",
}  # fmt: skip
"""The neighbouring keys of each key on an American keyboard."""

_SHORTEST = 4
"""Shorter words are hardly ever misspelt and would turn into other words."""


def mistype(text: str, rng: Random, *, rate: float) -> str:
    """Return a text with typing errors.

    Args:
        text: the intended text.
        rng: the source of randomness.
        rate: the share of words with an error, from 0 to 1.
    """
    typed: list[str] = []
    is_joined = False
    for word in text.split(" "):
        slip = _slip(word, rng, rate)
        sent = word if slip is None else _SLIPS.get(slip, _kept)(word, rng)
        if is_joined:
            typed[-1] += sent
        else:
            typed.append(sent)
        is_joined = slip == "run_together"
    return " ".join(typed)


def _slip(word: str, rng: Random, rate: float) -> str | None:
    if rng.random() >= rate or len(word) < _SHORTEST or not word.isalpha():
        return None
    return rng.choices(list(_MIX), list(_MIX.values()))[0]


def _kept(word: str, _rng: Random) -> str:
    return word


def _lost(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def _wrong(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word))
    return word[:at] + _beside(word[at], rng) + word[at + 1 :]


def _doubled(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word))
    return word[:at] + word[at] + word[at:]


def _extra(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word))
    return word[: at + 1] + _beside(word[at], rng) + word[at + 1 :]


def _swapped(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _beside(letter: str, rng: Random) -> str:
    near = _NEIGHBOURS.get(letter.lower(), letter)
    neighbour = rng.choice(near)
    return neighbour.upper() if letter.isupper() else neighbour


_SLIPS: Mapping[str, Callable[[str, Random], str]] = {
    "lost": _lost,
    "wrong": _wrong,
    "doubled": _doubled,
    "extra": _extra,
    "swapped": _swapped,
}
