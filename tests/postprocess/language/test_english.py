"""How well words fit their neighbours in English at large, asked of the real model."""

import math

import pytest

from piecework.postprocess.language import features
from piecework.postprocess.language.corpus import EDGE

_ALONE = (EDGE, EDGE)


def _fits(
    meant: str, before: tuple[str, str] = _ALONE, after: tuple[str, str] = _ALONE
) -> dict[str, float]:
    return dict(zip(features.ENGLISH_NAMES, features.fits(before, meant, after), strict=True))


def test_a_word_fits_where_english_has_it() -> None:
    """`jumps from the wall`, not `jumps form the wall`."""
    place = {"before": ("man", "jumps"), "after": ("the", "wall")}
    fits, slip = _fits("from", **place), _fits("form", **place)
    assert fits["english_after"] > slip["english_after"]
    assert fits["english_before"] > slip["english_before"]


def test_of_an_unknown_word_nothing_else_is_said() -> None:
    """Nor of two words of which one is unknown."""
    nothing = {**dict.fromkeys(features.ENGLISH_NAMES, 0.0), "english_unknown": 1.0}
    assert _fits("kiteboarding", ("a", "man"), ("on", "water")) == nothing
    assert _fits("a kiteboarding", ("a", "man"), ("on", "water")) == nothing


def test_a_share_is_a_logarithm_of_a_probability() -> None:
    """Of two words, it is that of the rarer one."""
    the, wall = _fits("the")["english_share"], _fits("wall")["english_share"]
    assert math.exp(the) == pytest.approx(0.04, abs=0.01)
    assert wall < the
    assert _fits("the wall")["english_share"] == wall


def test_two_words_are_asked_about_each_other_too() -> None:
    """One word has no inside."""
    assert _fits("in front")["english_inside"] > _fits("front in")["english_inside"]
    assert _fits("front")["english_inside"] == 0


def test_unknown_neighbours_say_nothing() -> None:
    """What follows is asked for only as far as it is known."""
    fits = _fits("dog", ("a", "brown"), ("kiteboarding", "today"))
    assert fits["english_before"] == 0
    assert fits["english_after"] > 0
    assert _fits("dog", after=("runs", "kiteboarding"))["english_far_after"] == 0


def test_nothing_is_said_of_what_comes_after_the_end() -> None:
    """A text's end is looked at once, as what follows its last word."""
    last, inner = _fits("water"), _fits("water", after=("of", "the"))
    assert last["english_far_after"] == 0
    assert last["english_before"] != 0
    assert inner["english_far_after"] != 0
