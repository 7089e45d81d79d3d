"""Sentences about drawn scenes with one marked word, as cleaning would ask about it.

The writer slipped in most of them. In the others the word is right, and what a program
proposes instead is wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from piecework.simulation.pictures.scenes import Scene
from piecework.simulation.seeded_rng import seeded_rng
from tools.examples.sentences import true_sentence

_SHORTEST = 5
_ROUND = 10
"""Of ten words, the kinds in `_KINDS`."""
_KINDS = ("proposed",) * 5 + ("written",) * 3 + ("other",) * 2
_GOLD_EVERY = 8
_CHANGED_FIRST = {"b": "h", "g": "b", "s": "z", "w": "v", "p": "b", "c": "k", "t": "d"}


def rows(scenes: Sequence[Scene], *, seed: int) -> Iterator[Mapping[str, str]]:
    """Yield a marked word for each scene; some are gold."""
    for number, scene in enumerate(scenes, start=1):
        rng = seeded_rng(seed, scene.item_id, "marked word")
        text = true_sentence(scene).text
        meant = rng.choice([word for word in _words(text) if len(word) >= _SHORTEST])
        right = _KINDS[(number * 3) % _ROUND]
        slip = _slipped(meant, rng)
        written, proposed = {
            "proposed": (slip, meant),
            "written": (meant, _strange(meant)),
            "other": (slip, _strange(meant)),
        }[right]
        before, after = text.split(meant, 1)
        yield {
            "word_id": f"word_{number:02}",
            "before": before,
            "word": written,
            "after": after,
            "proposed": proposed,
            "truth.meant": right,
            "truth.other_word": meant if right == "other" else "",
            "gold.meant": right if number % _GOLD_EVERY == 0 else "",
        }


def _words(text: str) -> list[str]:
    """The words of a sentence that occur once in it and begin with a small letter."""
    words = text.removesuffix(".").split()
    return [word for word in words if word.islower() and text.count(word) == 1]


def _slipped(word: str, rng: Random) -> str:
    """Return the word with two different neighbouring letters in the wrong order."""
    places = [at for at in range(1, len(word) - 1) if word[at] != word[at + 1]]
    at = rng.choice(places)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _strange(word: str) -> str:
    """Return another word that a program might propose."""
    return _CHANGED_FIRST.get(word[0], "m") + word[1:]
