"""The spelling rule on sentences of our own, and each thing it refuses to touch.

Cases lie in `tests/cases/spelling`: text, wrong word, right word; the negative ones:
text, why it must stay. Every case is cleaned alone, which is the hardest: no other
caption helps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.domain.edit import Edit
from piecework.postprocess.edits import replay as replayed
from piecework.postprocess.language import channel
from piecework.postprocess.language.candidates import candidates
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.tokens import Text
from piecework.postprocess.rules import spelling
from tests.for_each import for_each

CASES = Path(__file__).resolve().parents[2] / "cases" / "spelling"


def _proposed(texts: Sequence[Text]) -> Mapping[str, Sequence[Edit]]:
    """What the rule is sure of."""
    corpus = Corpus(texts)
    proposed = spelling.propose(texts, corpus)
    sure = {
        text_id: [edit for edit in edits if edit.probability >= spelling.least_sure(corpus)]
        for text_id, edits in proposed.items()
    }
    return {text_id: edits for text_id, edits in sure.items() if edits}


def _rows(name: str) -> list[list[str]]:
    lines = (CASES / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


def _spelled(text: str, *others: str, protected: frozenset[str] = frozenset()) -> str:
    """`text` about one item, spelled among `others`, each about an item of its own."""
    among = [
        Text(text_id="a", item_id="i", text=text, protected=protected),
        *(Text(text_id=f"b{n}", item_id=f"j{n}", text=other) for n, other in enumerate(others)),
    ]
    return replayed(text, _proposed(among).get("a", ()))


@for_each(("text", "wrong", "right"), [*_rows("in_the_wild"), *_rows("synthetic")])
def test_a_slip_in_a_caption_is_mended(text: str, wrong: str, right: str) -> None:
    """The typo and nothing else is replaced by the word that was meant."""
    assert wrong in text
    assert _spelled(text) == text.replace(wrong, right, 1)


@for_each(("frame", "wrong", "right"), _rows("per_word"))
def test_a_known_slip_is_mended(frame: str, wrong: str, right: str) -> None:
    """A frame that fits many words leaves the choice to the word itself."""
    assert _spelled(frame.format(wrong)) == frame.format(right)


@for_each(("text", "why"), _rows("negative"))
def test_what_is_right_is_left(text: str, why: str) -> None:
    """Nothing is changed, and each case says what makes it tempting."""
    assert _spelled(text) == text, why


@pytest.mark.xfail(strict=True, reason="known; docs/explanation/cleaning.md says what to expect")
@pytest.mark.parametrize(("text", "wrong", "right"), _rows("known_failures"))
def test_a_failure_that_is_known(text: str, wrong: str, right: str) -> None:
    """What the rule cannot do; a case that begins to pass has to move."""
    assert _spelled(text) == text.replace(wrong, right, 1)


def test_there_are_at_least_as_many_negative_cases() -> None:
    """A wrong correction costs more than a missed one."""
    positive = ("in_the_wild", "synthetic", "per_word")
    assert len(_rows("negative")) >= sum(len(_rows(name)) for name in positive)


def test_words_of_the_item_are_left() -> None:
    """What the requester's own columns say is no typo."""
    text = "a wooden tabel near the door"
    assert _spelled(text) == "a wooden table near the door"
    assert _spelled(text, protected=frozenset({"tabel"})) == text


def test_a_word_of_the_crowd_is_left() -> None:
    """What was written about a dozen items is no typo, however it looks."""
    text = "a wooden skatebord near the door"
    assert _spelled(text) == "a wooden skateboard near the door"
    # Twelve items in all: the text's own and eleven more.
    assert _spelled(text, *[f"a skatebord number {n}" for n in range(11)]) == text


def test_another_caption_of_the_item_can_tip_the_scales() -> None:
    """A word that somebody else wrote about the same item is likelier to be meant."""
    text = Text(text_id="a", item_id="i", text="A rusty bycicle is chained to a lamp post")
    other = Text(text_id="b", item_id="i", text="a post with a bicycle")
    probable = []
    for among in ([text], [text, replace(other, item_id="j")], [text, other]):
        (edit,) = spelling.propose(among, Corpus(among))["a"]
        assert (edit.before, edit.after) == ("bycicle", "bicycle")
        probable.append(edit.probability)
    # Its being written about another item tells a little; about this one, much.
    assert probable[0] < probable[1] < probable[2]
    assert probable[0] < spelling.SURE_IN_FEW < probable[2]


def test_an_echo_is_no_typo() -> None:
    """The likeliest word for one half of `tick-tocking` would break the pair."""
    echoes = "A tick-tocking clock and clip-clopping hooves of a choo-chooing train"
    assert (
        spelling.propose([each := Text(text_id="a", item_id="i", text=echoes)], Corpus([each]))
        == {}
    )
    assert _spelled("a well-knwon brand") == "a well-known brand"


def test_many_texts_need_less_evidence_in_each() -> None:
    """In a large campaign the other texts speak for the word that was meant."""
    few = [Text(text_id=f"{n}", item_id=f"{n}", text="a red bus") for n in range(spelling.MANY - 1)]
    many = [*few, Text(text_id="last", item_id="last", text="a red bus")]
    assert spelling.least_sure(Corpus(few)) == spelling.SURE_IN_FEW > spelling.SURE
    assert spelling.least_sure(Corpus(many)) == spelling.SURE


def test_capitals_at_the_start_are_kept() -> None:
    """The first word of a caption keeps its capital."""
    assert _spelled("Anoter boat is on the lake") == "Another boat is on the lake"


def test_the_reason_says_how_sure_the_rule_is() -> None:
    """A reviewer reads what was meant and with which probability."""
    text = Text(text_id="a", item_id="i", text="a wooden tabel")
    ((edit,),) = _proposed([text]).values()
    assert edit.reason.startswith("not in any word list; the probability of 'table' is ")
    assert spelling.SURE_IN_FEW <= edit.probability <= 1
    assert edit.reason.endswith(f"{edit.probability:.2f}")


@pytest.mark.parametrize("text", ["", " ", "...", "\x00", "''", "-", "zzzzzzzzzz" * 50])
def test_texts_without_a_word_it_could_mend_are_left(text: str) -> None:
    """Nothing to mend is no fault."""
    assert _spelled(text) == text


def test_a_word_without_end_is_left() -> None:
    """Two thousand letters twice, one apart: neither is worth a look at each letter."""
    endless = "zq" * 1_000
    assert _spelled(f"a {endless}", f"a {endless}x", f"two {endless}x").endswith("zq")


def test_two_words_without_their_space_may_have_a_slip_too() -> None:
    """Others show that the two words belong together."""
    ships = ["a big cruise ship in the harbor", "a white cruise ship at sea"] * 6
    balls = ["a soccer ball on grass", "a boy kicks a soccer ball"] * 6
    assert _spelled("a big cruisship at sea", *ships) == "a big cruise ship at sea"
    assert _spelled("he kicks a soocerball", *balls) == "he kicks a soccer ball"
    assert _spelled("a big cruisship at sea") == "a big cruisship at sea"


def test_a_compound_is_split_only_if_the_campaign_has_the_pair() -> None:
    """English has `policeman` and `chairperson`, so it may have `policeperson`."""

    def proposed(*others: str) -> bool:
        texts = [
            Text(text_id=str(n), item_id=str(n), text=text)
            for n, text in enumerate(["a policeperson", *others])
        ]
        corpus = Corpus(texts)
        (several,) = candidates(["policeperson"], corpus, channel.shipped()).values()
        return "police person" in [each.meant for each in several]

    assert not proposed("the police and a person")
    assert proposed("a police person")
