"""What the requester wrote about an item protects its words; examples in docs hold."""

import doctest
import importlib
import pkgutil
import unicodedata
from dataclasses import replace

import pytest

from piecework import postprocess
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.postprocess.apply import clean_text
from piecework.postprocess.language.tokens import folded, protected_words, words


def test_all_columns_protect_their_words() -> None:
    """Ids and addresses too: harmless, and a brand may stand in a file name."""
    item = Item(
        item_id=ItemId("7"),
        columns={"label": "Gevalia, K\u00f6lsch", "url": "/pictures/tassimo_2.jpg"},
    )
    protected = protected_words(item)
    assert {"gevalia", "k\u00f6lsch", "tassimo"} <= protected
    assert "2" not in protected


def test_words_with_an_apostrophe_are_protected_whole_and_in_parts() -> None:
    """By the same key as the words of a text have, whatever the apostrophe."""
    item = Item(item_id=ItemId("7"), columns={"label": "Kohl\u2019s and macy's"})
    assert {"kohl", "s", "kohl's", "macy's"} <= protected_words(item)
    assert {word.word for word in words("KOHL'S and Macy\u2019s")} <= protected_words(item)


@pytest.mark.parametrize(
    "text",
    [
        "a jar of jalape\u00f1o peppers on a tabel",
        "a jar of \u2018piment\u00e9\u2019s on Andr\u00e9's tabel",
        "a cr\u00e8me-br\u00fbl\u00e9e on a tabel",
        "at the caf\u00e9' on a tabel'",
    ],
)
def test_a_letter_with_its_accent_is_one_in_both_forms(text: str) -> None:
    """Composed and decomposed: the same words, the same edits, and no mark moves."""
    apart = unicodedata.normalize("NFD", text)
    assert [word.word for word in words(apart)] == [word.word for word in words(text)]
    assert folded(apart) == folded(text)
    cleaned = clean_text(text).text
    assert cleaned == text.replace("tabel", "table")
    assert clean_text(apart).text == unicodedata.normalize("NFD", cleaned)
    item = Item(item_id=ItemId("7"), columns={"label": apart})
    assert protected_words(item) == protected_words(replace(item, columns={"label": text}))


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d"])
def test_a_part_of_a_joined_word_stays(joiner: str) -> None:
    """Joiners are invisible, but the parts are no words of their own."""
    text = f"a jala{joiner}penno on a tabel"
    assert clean_text(text).text == text.replace("tabel", "table")


def test_examples_in_docstrings_hold() -> None:
    """Every `>>>` in this package does what it says."""
    names = [
        module.name
        for module in pkgutil.walk_packages(postprocess.__path__, "piecework.postprocess.")
        if ".report" not in module.name
    ]
    results = [doctest.testmod(importlib.import_module(name)) for name in names]
    assert sum(result.attempted for result in results) > 10
    assert sum(result.failed for result in results) == 0
