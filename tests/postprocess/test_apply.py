"""Laws of cleaning: it settles, it can be undone, and nothing but the texts counts."""

import os
import random
import subprocess
import sys
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.edit import Edit
from piecework.postprocess.apply import (
    RULES,
    CorpusRule,
    Rule,
    Text,
    _apart,
    clean_and_propose,
    clean_text,
    forget_counts,
    forget_texts,
    tidied,
    undo,
)
from piecework.postprocess.apply import replay as replayed
from piecework.postprocess.language import confusions, features
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.tokens import words
from piecework.postprocess.rules import spelling
from tests.examples import examples
from tests.for_each import for_each

ROOT = Path(__file__).resolve().parents[2]
WORDS = (
    "a", "the", "two", "of", "woman", "dog", "skateboard", "field", "wooden", "table",
    "remote", "with", "standing", "tv", "skatebaord", "wmoan", "feild", "tabel",
    "Stouffers", "countertop", "frisbie", "frisbee", "xyzzq", "withthe", "iPhone",
    "12oz", '"recieve"', "don\u2019t", "\u00a0", "\t", "\x00", "=1+1", "\U0001f600",
    "standign", "QUEIT", ".", "",
)  # fmt: skip
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@st.composite
def texts(draw: st.DrawFn) -> list[Text]:
    """A few texts about a few items, some of them canned."""
    drawn = draw(st.lists(st.tuples(SENTENCES, st.integers(0, 2), st.booleans())))
    return [
        Text(text_id=f"t{n}", item_id=f"i{item}", text=text, is_canned=canned)
        for n, (text, item, canned) in enumerate(drawn)
    ]


def _edits(sample: Sequence[Text], rules: Sequence[Rule] = RULES) -> dict[str, tuple[Edit, ...]]:
    return clean_and_propose(sample, rules).edits


def _cleaned(sample: Sequence[Text]) -> list[Text]:
    edits = _edits(sample)
    return [replace(text, text=replayed(text.text, edits[text.text_id])) for text in sample]


@examples(20)
@given(texts(), st.randoms(use_true_random=False))
def test_the_order_of_texts_never_matters(drawn: list[Text], chance: random.Random) -> None:
    """The same texts in another order get the same edits."""
    shuffled = drawn.copy()
    chance.shuffle(shuffled)
    assert _edits(shuffled) == _edits(drawn)


@examples(20)
@given(texts())
def test_every_change_can_be_taken_back(drawn: list[Text]) -> None:
    """The original comes back from the cleaned text and its edits."""
    edits = _edits(drawn)
    for text, cleaned in zip(drawn, _cleaned(drawn), strict=True):
        assert undo(cleaned.text, edits[text.text_id]) == text.text


@examples(20)
@given(texts())
def test_canned_texts_are_never_touched(drawn: list[Text]) -> None:
    """Not even their spaces: the dataset recognises them by their exact words."""
    edits = _edits(drawn)
    assert not any(edits[text.text_id] for text in drawn if text.is_canned)


def test_both_rules_leave_their_signature() -> None:
    """A slip and a doubled space in one text are two edits by two rules."""
    text = Text(text_id="a", item_id="i", text="a  wooden tabel")
    # Original places: the two spaces at 1:3, `tabel` at 10:15.
    assert [
        (edit.start, edit.end, edit.before, edit.after, edit.rule) for edit in _edits([text])["a"]
    ] == [(1, 3, "  ", " ", "whitespace"), (10, 15, "tabel", "table", "spelling")]


def test_what_is_not_sure_is_proposed_and_not_made() -> None:
    """A proposal points into the original, beside the edits, and changes nothing."""
    text = Text(text_id="a", item_id="i", text="a  wooden tabel beside a sofer chair")
    cleaning = clean_and_propose([text])
    (proposal,) = cleaning.proposals["a"]
    assert text.text[proposal.start : proposal.end] == proposal.before == "sofer"
    assert proposal.probability < spelling.SURE_IN_FEW
    edits = cleaning.edits["a"]
    assert [edit.after for edit in edits] == [" ", "table"]
    assert all(edit.probability >= spelling.SURE_IN_FEW for edit in edits)
    assert clean_text(text.text).proposals == (proposal,)


def test_proposals_never_lie_on_edits_of_the_same_place() -> None:
    """A word that is mended is not asked about as well."""
    cleaned = clean_text("a\u00a0wooden tabel")
    assert cleaned.text == "a wooden table"
    assert cleaned.proposals == ()


def test_no_texts_need_no_cleaning() -> None:
    """An empty campaign is clean."""
    assert _edits([]) == {}


def test_a_text_id_that_occurs_twice_is_refused() -> None:
    """Edits belong to one text each."""
    text = Text(text_id="a", item_id="i", text="x")
    with pytest.raises(ValueError, match="occurs twice"):
        _edits([text, text])


def test_whether_a_rule_needs_other_texts_is_found_out_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not for each text: finding it out takes as long as cleaning a text."""
    asked = []

    class Asked(type):
        def __instancecheck__(cls, rule: object) -> bool:
            asked.append(rule)
            return rule in RULES[:2]

    monkeypatch.setattr("piecework.postprocess.apply.TextRule", Asked("Asked", (), {}))
    texts = [Text(text_id=str(n), item_id="i", text="a  cat") for n in range(50)]
    assert [each.text for each in tidied(texts).texts] == ["a cat"] * 50
    assert len(asked) == len(RULES)


class _Imitating:
    """A rule that writes each word as the one beside it, or in the next text, is."""

    NAME, VERSION = "imitating", 1

    def __init__(self) -> None:
        self.shown: list[tuple[list[str], list[str]]] = []

    def least_sure(self, _corpus: Corpus) -> float:
        return 0.0

    def propose(self, texts: Sequence[Text], corpus: Corpus) -> dict[str, Sequence[Edit]]:
        self.shown.append(([text.text for text in texts], [*corpus.words()]))
        other = {"cat": "dog", "dog": "cat"}
        return {
            text.text_id: [
                Edit(
                    start=word.start,
                    end=word.end,
                    before=word.word,
                    after=other[word.word],
                    rule=self.NAME,
                    reason="of a test",
                )
                for word in words(text.text)
                if word.word in other
            ]
            for text in texts
        }


PLACES = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), max_size=8)


def _changes(places: Sequence[tuple[int, int]]) -> list[Edit]:
    return [
        Edit(start=start, end=start + size, before="", after="", rule=str(n), reason="of a test")
        for n, (start, size) in enumerate(places)
    ]


@examples(200)
@given(PLACES, PLACES)
def test_of_edits_that_overlap_the_first_is_kept(
    drawn: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    """As if each edit was compared with all others, which takes long with many."""
    made, kept = _apart(_changes(others), ()), list[Edit]()
    for edit in _changes(drawn):
        if all(edit.end <= each.start or each.end <= edit.start for each in (*made, *kept)):
            kept.append(edit)
    assert _apart(_changes(drawn), made) == tuple(sorted(kept, key=lambda edit: edit.start))


def test_an_edit_is_no_evidence_for_another() -> None:
    """Every rule is shown once what was written, and the counts of that.

    If the second rule was shown the result of the first, it would swap the words back.
    """
    several = [
        Text(text_id=str(n), item_id="i", text=text) for n, text in enumerate(("a  cat", "a dog"))
    ]
    first, second = _Imitating(), _Imitating()
    edits = _edits(several, [*RULES[:2], first, second])
    cleaned = [replayed(text.text, edits[text.text_id]) for text in several]
    assert cleaned == ["a dog", "a cat"]
    assert first.shown == second.shown == [(["a cat", "a dog"], ["a", "cat", "dog"])]


def test_a_split_word_is_not_split_for_others_too() -> None:
    """What one text became is not among the words that another is compared with."""
    same = "a skatebaord near the door"
    alone = [
        Text(text_id="a", item_id="i", text=same),
        Text(text_id="b", item_id="j", text="a skatebord near the bench"),
    ]
    (edit,) = _edits(alone)["a"]
    among = [alone[0], replace(alone[1], text="a skateboard near the bench")]
    (informed,) = _edits(among)["a"]
    assert edit.after == informed.after == "skateboard"
    assert edit.probability < informed.probability


_PROGRAM = """
from piecework.postprocess.apply import Text, clean_and_propose
words = ["tabel", "stiing", "wmoan", "brwon", "hroses", "plya", "grene", "boook"]
texts = [
    Text(text_id=str(n), item_id=str(n), text=f"A {word} near a {other} tree")
    for n, (word, other) in enumerate(zip(words, words[1:]))
]
print(clean_and_propose(texts))
"""


@pytest.mark.full
def test_the_hash_seed_never_matters() -> None:
    """Two processes with two orders of their sets make the same edits.

    pyspellchecker's own `correction` fails this: it breaks ties by the order of a set.
    """
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "2026")
    }
    (output,) = outputs
    assert "'table'" in output


def test_nothing_of_a_campaigns_texts_is_remembered_when_it_is_cleaned() -> None:
    """Or a process that goes on holds them twice; afterwards it cleans as before."""
    texts = [Text(text_id="1", item_id="1", text="a wodden tabel form above")]
    first = clean_and_propose(texts)
    forget_texts()
    assert features._of_typos.cache_info().currsize == 0
    assert confusions._alike.cache_info().currsize == 0
    assert clean_and_propose(texts) == first


def test_a_corpus_is_let_go_of_when_the_next_is_read() -> None:
    """Or a process that cleans in parts holds the counts of two rounds."""
    texts = [Text(text_id="1", item_id="1", text="a wodden tabel form above")]
    corpus = Corpus(texts)
    for rule in RULES[2:]:
        cast("CorpusRule", rule).propose(texts, corpus)
    gone = weakref.ref(corpus)
    del corpus
    assert gone() is not None
    forget_counts()
    assert gone() is None


@for_each(
    "hostile",
    [
        "ab" * 50_000,
        "." * 100_000 + "a",
        "\u201c" * 100_000,
        "'" * 100_000,
        "/" * 100_000,
        "www." * 30_000,
        "a'" * 50_000,
        "a\u0301" * 50_000,
        "a\u0301'" * 30_000,
        "a\u0301-" * 30_000,
        "a" + "\u0301" * 100_000,
        "A" * 100_000,
        "\u200b" * 100_000,
        " ".join(f"q{chr(97 + n % 26)}{chr(97 + n // 26)}xz" for n in range(676)),
    ],
)
def test_a_huge_answer_takes_no_longer_than_it_is(hostile: str) -> None:
    """What takes a step for every pair of letters would take hours."""
    cleaned = clean_text(f"{hostile} teh dog")
    assert cleaned.text.endswith("the dog") or not cleaned.edits
    assert undo(cleaned.text, cleaned.edits) == f"{hostile} teh dog"
