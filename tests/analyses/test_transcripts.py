"""Transcripts of several workers: how far they agree, and what most of them say."""

import math
import unicodedata
from time import process_time

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from piecework.analyses.transcripts import (
    MOST_WORDS,
    item_transcripts,
    likeness,
    merge_transcripts,
    words_in,
)
from piecework.simulation.crowd.item_knowledge import misheard
from piecework.simulation.seeded_rng import seeded_rng


def _merged(texts: list[str]) -> str:
    return merge_transcripts(texts)[0]


def _alike(first: str, second: str) -> float:
    return likeness(words_in(first), words_in(second))


def _is_of_a_script_without_spaces(letter: str) -> bool:
    scripts = ("THAI", "LAO", "MYANMAR", "KHMER", "HIRAGANA", "KATAKANA", "CJK")
    return unicodedata.name(letter, "").startswith(scripts)


SPOKEN = (
    "a paper boat is older than the kitchen table as far as one sees and it follows the last "
    "train in the morning"
)
HINDI, THAI = "\u0915\u093f", "\u0e01\u0e34"
TEXTS = st.text(st.sampled_from(f"aB c.,'\u2019\n\u597d\U0001f600{HINDI}{THAI}"), max_size=30)
WORDS = st.from_regex(r"\A[^\W\d_]", fullmatch=True).flatmap(
    lambda first: st.text(st.characters(categories=["L", "M", "N"]), max_size=8).map(
        lambda rest: unicodedata.normalize("NFC", first + rest)
    )
)
SIGNS = st.text(st.characters(categories=["P", "S", "Z", "Cc", "Cf"]), max_size=4)


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (["Hello, my name is Ann.", "hello my name is an", "Hello, my name's Ann."], None),
        (["a dog barks", "a dog barks", "the dog barks loudly"], "a dog barks"),
        (["barks", "a dog barks", "a dog barks"], "a dog barks"),
        (["a dog barks -", "a dog barks", "a dog barks"], "a dog barks"),
        (["\u4eca\u5929\u5929\u6c14\u597d", "\u4eca\u5929\u5929\u6c7d\u597d"] * 2, None),
        (["\u4eca\u5929\u597d", "\u4eca\u597d", "\u4eca\u5929\u597d"], "\u4eca\u5929\u597d"),
        (["", "", "a dog"], ""),
        (["one", "two"], "one"),
        ([], ""),
    ],
)
def test_each_place_has_what_most_wrote(texts: list[str], whole: str | None) -> None:
    """In its most frequent spelling; where votes are equal, the text in the middle decides."""
    assert _merged(texts) == (texts[0] if whole is None and texts else whole)


@given(st.lists(TEXTS, max_size=5))
def test_merging_takes_any_text_and_adds_no_word(texts: list[str]) -> None:
    """Each letter of the whole is in a transcript, and agreement is a share."""
    whole = _merged(texts)
    assert {*whole} - {" "} <= {*"".join(texts)}
    assert all(0 <= _alike(whole, text) <= 1 for text in texts)


@given(SIGNS, WORDS, SIGNS)
def test_signs_around_a_word_do_not_count_and_its_marks_do(
    before: str, word: str, after: str
) -> None:
    """In every script: two words that differ in a vowel sign are two words."""
    words = words_in(f"{before}{word}{after}")
    assert "".join(words) == word.casefold()
    assert len(words) == 1 or any(map(_is_of_a_script_without_spaces, word))


def test_words_that_differ_in_a_vowel_sign_are_different() -> None:
    """Hindi's postpositions of the two genders, and its verb's two numbers."""
    book = "\u0930\u093e\u092e %s \u0915\u093f\u0924\u093e\u092c %s"
    first = book % ("\u0915\u0940", "\u0939\u0948")
    assert _alike(first, book % ("\u0915\u093e", "\u0939\u0948\u0902")) == 0.5
    assert _alike(first, f"\u00ab{first}\u0964\u00bb \u2764\ufe0f") == 1
    assert _merged([first, first]) == first


@given(st.data())
def test_a_mark_goes_with_its_letter_in_scripts_without_spaces(data: st.DataObject) -> None:
    """Thai, Lao, Burmese and Khmer: nothing is lost, and no word begins with a mark."""
    block = data.draw(
        st.sampled_from(["\u0e00\u0e7f", "\u0e80\u0eff", "\u1000\u109f", "\u1780\u17ff"])
    )
    letters = st.characters(
        min_codepoint=ord(block[0]), max_codepoint=ord(block[1]), categories=["L", "M"]
    )
    text = unicodedata.normalize("NFC", data.draw(st.text(letters, min_size=1)))
    assume(not unicodedata.category(text[0]).startswith("M"))
    words = words_in(text)
    assert "".join(words) == text.casefold()
    assert not any(unicodedata.category(word[0]).startswith("M") for word in words)
    assert all(
        not unicodedata.category(letter).startswith("L") for word in words for letter in word[1:]
    )
    assert _merged([text, text]) == text


@given(TEXTS, TEXTS)
def test_likeness_does_not_depend_on_who_is_first(first: str, second: str) -> None:
    """Neither of two workers is taken for the truth."""
    assert _alike(first, second) == _alike(second, first)
    assert _alike(first, first.upper()) == 1 or "\u2019" in first


@pytest.mark.parametrize("workers", [3, 5])
@pytest.mark.parametrize("accuracy", [0.95, 0.9, 0.8])
def test_the_merged_text_has_fewer_errors_than_the_best_worker(
    workers: int, accuracy: float
) -> None:
    """The best worker of each item is known here, because the truth is known."""
    rng = seeded_rng(workers, str(accuracy))
    ours, best = [], []
    for _ in range(60):
        heard = [misheard(SPOKEN, rng, accuracy=accuracy) for _ in range(workers)]
        ours.append(_alike(_merged(heard), SPOKEN))
        best.append(max(_alike(text, SPOKEN) for text in heard))
    assert np.mean(ours) > np.mean(best)


def test_the_table_has_a_row_for_each_item() -> None:
    """With one worker there is no agreement; a worker's second answer does not count."""
    votes = pd.DataFrame(
        [
            ("i1", "a", "a dog barks"),
            ("i1", "b", "A dog parks."),
            ("i1", "b", "nothing"),
            ("i2", "a", "rain"),
        ],
        columns=["item_id", "worker", "value"],
    )
    table = item_transcripts(votes)
    assert table["merged"].to_dict() == {"i1": "a dog barks", "i2": "rain"}
    assert table["workers"].to_dict() == {"i1": 2, "i2": 1}
    assert table["likeness"]["i1"] == pytest.approx(2 / 3)
    assert math.isnan(table["likeness"]["i2"])
    assert item_transcripts(votes[:0]).empty


def test_a_text_without_end_is_compared_up_to_a_limit() -> None:
    """A pasted book takes no longer than the limit does, and is not cut."""
    book = [f"word{number}" for number in range(3 * MOST_WORDS)]
    whole = " ".join(book)
    assert words_in(whole) == (*book[:MOST_WORDS],)
    assert _merged([whole]) == whole
    assert _merged([whole, whole, "word0 word1"]) == whole
    assert _merged([whole, "word0 word1", "word0 word1"]) == "word0 word1"
    for other in (book[3:], ["and", "so", *book]):
        assert _merged([whole, " ".join(other), whole]) == whole


ANY_TEXT = st.text(
    st.sampled_from(
        'aB1 \n\u00a0.,-+=\u00ab\u00bb\u2019"()$\u0e3f\u3000\u3001\u3002\u300c\u300d\u30fb'
        f"\u597d\u3005\u30abe\u0301{HINDI}{THAI}"
    ),
    max_size=30,
)


@given(ANY_TEXT, ANY_TEXT)
@example("\u4eba\u3005\u306f\u30013\u6b73\u3067\u3059\u3002\u306f\u3044", "")
@example("\u300c\u3053\u3093\u306b\u3061\u306f\u300d\u3068\u8a00\u3063\u305f", "")
@example("\u00ab Bonjour \u00bb dit-il", "bonjour")
@example("- 5 degrees", "5 degrees")
@example("10 + 5 = 15", "10 5 15")
@example("\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0e04\u0e23\u0e31\u0e1a", "")
@example("?", "a dog")
def test_a_text_that_most_wrote_is_the_merged_one(text: str, other: str) -> None:
    """With each sign and space, in every script."""
    whole = unicodedata.normalize("NFC", text).strip()
    assert _merged([text]) == whole
    assert _merged([text, text]) == whole
    assert _merged([text, other, text]) == whole


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        # What is put together from two texts keeps the signs of each word.
        (
            [
                "\u00ab Bonjour \u00bb dit-il",
                "\u00ab Bonsoir \u00bb dit-il tous",
                "Bonsoir dit-il tous",
            ],
            "\u00ab Bonsoir \u00bb dit-il tous",
        ),
        (
            [
                "\u300c\u306f\u3044\u300d\u3068\u3001\u8a00\u3046",
                "\u300c\u306f\u300d\u3068\u3001\u8a00\u3046",
                "\u300c\u306f\u3044\u300d\u3068\u8a00",
            ],
            "\u300c\u306f\u3044\u300d\u3068\u3001\u8a00\u3046",
        ),
        (["ok\u597d go", "ok go", "ok go"], "ok go"),
    ],
)
def test_signs_and_spaces_stay_with_their_words(texts: list[str], whole: str) -> None:
    """Also where the words beside them are left out."""
    assert _merged(texts) == whole


def test_spaces_are_read_in_linear_time() -> None:
    """A worker may send a megabyte of them, at the end and between two words."""
    spaces = " \n" * 200_000
    begun = process_time()
    assert words_in(f"a{spaces}dog{spaces}") == ("a", "dog")
    assert _merged([f"a{spaces}dog{spaces}"] * 2) == f"a{spaces}dog"
    assert process_time() - begun < 5
