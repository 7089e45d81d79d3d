"""The rule for words that are words, but not the ones that were meant."""

from collections.abc import Sequence

import pytest

from piecework.domain.edit import Edit
from piecework.postprocess.edits import replay
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.tokens import Text
from piecework.postprocess.rules import real_words

OTHERS = [
    *["a brown dog runs along the beach"] * 30,
    *["a black dog runs along the street"] * 30,
    *["a man jumps from a wall"] * 30,
    *["a boy jumps from a tree"] * 30,
    *["she fills in a form"] * 30,
]


def _texts(text: str, *others: str) -> list[Text]:
    """A text about one item among others, each about an item of its own."""
    return [
        Text(text_id="a", item_id="i", text=text),
        *(Text(text_id=f"b{n}", item_id=f"j{n}", text=other) for n, other in enumerate(others)),
    ]


def _sure(texts: Sequence[Text]) -> list[Edit]:
    corpus = Corpus(texts)
    proposed = real_words.propose(texts, corpus)
    assert proposed.keys() <= {"a"}
    return [e for e in proposed.get("a", ()) if e.probability >= real_words.least_sure(corpus)]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a man jumps form a tree", "a man jumps from a tree"),
        ("a brown dig runs along the beach", "a brown dog runs along the beach"),
        ("A BROWN DIG RUNS ALONG THE BEACH", "A BROWN DOG RUNS ALONG THE BEACH"),
    ],
)
def test_what_others_wrote_there_was_meant(text: str, meant: str) -> None:
    """The campaign's other texts know which word stands between such neighbours."""
    (edit,) = _sure(_texts(text, *OTHERS))
    assert replay(text, [edit]) == meant
    assert edit.reason.startswith("other texts have ")
    assert edit.reason.endswith(f"{edit.probability:.2f}")


@pytest.mark.parametrize(
    "text",
    [
        "she signs a form",
        "a brown Dig runs along the beach",
        'a brown "dig" runs along the beach',
        "a brown dig-runs along the beach",
        "a brown dig2 runs along the beach",
        "",
    ],
)
def test_what_may_be_meant_is_left(text: str) -> None:
    """A word where nobody has another, a name, a quotation, a compound, a code."""
    assert _sure(_texts(text, *OTHERS)) == []


@pytest.mark.parametrize("at_once", [1, 50])
def test_texts_looked_at_some_at_a_time_get_the_same_edits(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evidence from the other text about the item may be in another piece."""
    others = _texts("a man jumps form a tree", *OTHERS)
    texts = [*others, Text(text_id="c", item_id="i", text="a man jumps from a tree")]
    corpus = Corpus(texts)
    whole = real_words.propose(texts, corpus)
    assert whole["a"] != real_words.propose(others, corpus)["a"]
    monkeypatch.setattr("piecework.postprocess.language.confusions._WORDS_AT_ONCE", at_once)
    assert real_words.propose(texts, corpus) == whole


def test_a_text_alone_says_nothing() -> None:
    """Without other texts no word can be told from another."""
    assert _sure(_texts("a woman jumps form a wall")) == []


def test_words_of_the_item_are_left() -> None:
    """What the requester's own columns say is meant."""
    texts = _texts("a brown dig runs along the beach", *OTHERS)
    kept = Text(
        text_id="a",
        item_id="i",
        text="a brown dig runs along the beach",
        protected=frozenset({"dig"}),
    )
    assert _sure(texts)
    assert _sure([kept, *texts[1:]]) == []


def test_what_two_workers_say_of_an_item_is_left() -> None:
    """Two do not hit the same wrong key about one picture."""
    texts = _texts("a brown dig runs along the beach", *OTHERS)
    same = Text(text_id="c", item_id="i", text="an archaeological dig at the sea")
    assert _sure([*texts, same]) == []


def test_british_and_american_words_are_both_right() -> None:
    """Most of a campaign writing `gray` does not make `grey` wrong."""
    others = ["a gray dog runs along the beach"] * 12
    assert _sure(_texts("a grey dog runs along the beach", *others)) == []
