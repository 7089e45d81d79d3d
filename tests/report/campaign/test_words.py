"""Numbers and excerpts keep their promises, for every value."""

import doctest
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from piecework.domain import text
from piecework.domain.text import plural_of, share, with_article
from piecework.report import formatting, plots
from tests.for_each import for_each


def test_the_examples_in_the_docstrings_run() -> None:
    """What the documentation shows is what happens."""
    results = [doctest.testmod(module) for module in (text, formatting, plots)]

    assert sum(result.attempted for result in results) >= 8
    assert sum(result.failed for result in results) == 0


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_a_share_says_all_or_nothing_only_where_it_is_so(part: int, whole: int) -> None:
    """So "100.0 %" means every one, "0.0 %" means none."""
    part = min(part, whole)

    assert (share(part, whole) == "100.0 %") == (part == whole)
    assert (share(part, whole) == "0.0 %") == (part == 0)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_wage_below_a_floor_never_looks_as_if_it_met_it(cents: int, hours: int) -> None:
    """Rounded down: a wage under a whole number of cents shows fewer cents."""
    earned = cents / hours
    dollars, _, rest = formatting.wage(earned, "USD")[1:-2].replace(",", "").partition(".")

    assert int(dollars) * 100 + int(rest) <= earned + 1e-6


@given(st.text(max_size=400), st.integers(1, 300))
def test_an_excerpt_is_one_visible_line(text: str, limit: int) -> None:
    """No control character, no direction mark, no line break gets through."""
    shown = formatting.excerpt(text, limit=limit)
    hidden = {
        character for character in shown if unicodedata.category(character) in {"Cc", "Cs", "Zl"}
    }

    assert not hidden
    assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200e")
    assert shown.encode().decode() == shown


@for_each(
    ("single", "several"),
    [
        ("a glass", "glasses"),
        ("a box", "boxes"),
        ("a series", "series"),
        ("an hour", "hours"),
        ("an honest worker", "honest workers"),
        ("a person", "people"),
        ("an analysis", "analyses"),
        ("a photo", "photos"),
        ("a child", "children"),
        ("a young child", "young children"),
        ("a HIT", "HITs"),
        ("a summary", "summaries"),
        ("a survey", "surveys"),
        ("a unit", "units"),
        ("a European", "Europeans"),
        ("an image", "images"),
    ],
)
def test_nouns_agree_in_number_and_article(single: str, several: str) -> None:
    """Regular and irregular nouns; an article goes by the first sound."""
    _, noun = single.split(" ", 1)
    assert (with_article(noun), plural_of(noun)) == (single, several)
