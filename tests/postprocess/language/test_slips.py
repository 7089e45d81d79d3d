"""Slips of one sort, told from what was meant and what was typed."""

from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from piecework.postprocess.language.candidates import one_edit_apart
from piecework.postprocess.language.channel import NAMES, slips
from tests.for_each import for_each

WORDS = st.text(alphabet="abert", min_size=1, max_size=4)
"""So short that a vowel for a vowel, which costs a little less, is never worth a slip
more than the fewest."""


def _named(typed: str, meant: str) -> dict[str, float]:
    return {name: n for name, n in zip(NAMES, slips(typed, meant), strict=True) if n}


@for_each(
    ("typed", "meant", "expected"),
    [
        ("runnning", "running", {"added_double": 1}),
        ("vaste", "vast", {"added_vowel": 1, "added_last_e": 1}),
        ("skatreboard", "skateboard", {"added_near": 1}),
        ("tablz", "tabl", {"added_other": 1, "added_last": 1}),
        ("runing", "running", {"lost_double": 1}),
        ("brds", "birds", {"lost_vowel": 1}),
        ("wite", "white", {"lost_silent": 1}),
        ("ellow", "yellow", {"lost_vowel": 1, "lost_first": 1}),
        ("womn", "women", {"lost_vowel": 1}),
        ("playin", "playing", {"lost_other": 1, "lost_last": 1}),
        ("womin", "women", {"other_vowel": 1}),
        ("nezt", "next", {"other_near": 1}),
        ("kat", "cat", {"other_sound": 1, "other_first": 1}),
        ("dogx", "dogs", {"other_near": 1, "other_last": 1}),
        ("dgo", "dog", {"swapped_kinds": 1}),
        ("whiel", "while", {"swapped_kinds": 1}),
        ("brigth", "bright", {"swapped_alike": 1}),
        ("skaetbord", "skateboard", {"swapped_kinds": 1, "lost_vowel": 1, "more_slips": 1}),
        ("dog", "dog", {}),
    ],
)
def test_each_slip_has_its_sort(typed: str, meant: str, expected: dict[str, float]) -> None:
    """Letters too many, too few, others and swaps, by what stands beside them."""
    assert _named(typed, meant) == expected


@settings(deadline=None)
@given(WORDS, WORDS)
def test_slips_are_as_many_as_edits(typed: str, meant: str) -> None:
    """One for each edit of the shortest way, as another program counts them."""
    counts = _named(typed, meant)
    more = counts.pop("more_slips", 0)
    sorts = [n for name, n in counts.items() if not name.endswith(("_first", "_last", "_e"))]
    assert sum(sorts) == OSA.distance(typed, meant)
    assert more == max(0, sum(sorts) - 1)


@settings(deadline=None)
@given(st.sets(WORDS), st.sets(WORDS))
def test_words_one_edit_apart_are_all_found(words: set[str], others: set[str]) -> None:
    """As many as comparing all with all would find, each once."""
    pairs = list(one_edit_apart(sorted(words), sorted(others)))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == {
        (word, other) for word in words for other in others if OSA.distance(word, other) == 1
    }
