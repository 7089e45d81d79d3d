"""The tagger finds what kind of word a token is, as often as the documentation says."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from piecework.analyses.corpus.captions import tagged

_CAPTIONS = Path(__file__).resolve().parents[3] / "../shared/data/vizwiz_val_captions_half.csv"
_LABELS = Path(__file__).with_name("labels.csv")
_LETTERS = {"noun": "N", "verb": "V", "adjective": "J", "preposition": "P", "other": "O"}


@pytest.mark.shared
def test_272_of_277_tokens_labelled_by_hand_are_tagged_right() -> None:
    """24 captions drawn by chance, labelled before the tagger had seen them.

    `labels.csv` names their rows and has one letter a token (N noun, V verb, J
    adjective, P preposition, O other). The five others, by (right, found): "many" and
    "several" are adjectives in the Treebank but not in the tagger's corpus.
    """
    if not _CAPTIONS.exists():
        pytest.skip("the captions of VizWiz are not beside this repository")
    with _CAPTIONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with _LABELS.open(encoding="utf-8", newline="") as file:
        gold = list(csv.DictReader(file))
    captions = [rows[int(entry["row"])] for entry in gold]
    assert [caption["image_id"] for caption in captions] == [entry["image_id"] for entry in gold]

    tags = tagged(caption["caption"] for caption in captions)
    pairs = Counter(
        (right, _LETTERS[kind])
        for entry, words in zip(gold, tags, strict=True)
        for right, (_, kind) in zip(entry["labels"], words, strict=True)
    )

    assert pairs.total() == 277
    wrong = {pair: many for pair, many in pairs.items() if len({*pair}) > 1}
    assert wrong == {("J", "O"): 2, ("N", "V"): 1, ("N", "J"): 1, ("P", "O"): 1}


def test_capitals_throughout_say_nothing() -> None:
    """A shouted caption has the kinds of the same caption in a normal voice."""
    loud, quiet = tagged(["A RED CUP ON A TABLE", "a red cup on a table"])
    assert loud == quiet


def test_being_is_no_action() -> None:
    """No "is" is counted as a verb; "holding" and "has" are."""
    (words,) = tagged(["A man is holding a box that has a label"])
    assert [word for word, kind in words if kind == "verb"] == ["holding", "has"]


def test_a_text_without_words_has_no_tags() -> None:
    """Nothing is asked of the tagger."""
    assert list(tagged(["", "?!"])) == [(), ()]


def test_a_word_like_a_book_keeps_nobody_waiting() -> None:
    """The tagger sees forty of 2,000 letters, which took it twelve seconds."""
    (words,) = tagged(["x" * 2000])
    assert [word for word, _ in words] == ["x" * 2000]
