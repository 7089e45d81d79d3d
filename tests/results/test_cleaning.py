"""What people say of words stands above what cleaning makes of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.edit import Edit
from piecework.postprocess.rules import real_words
from piecework.results.cleaning import clean_answers, decide_word, reopen_word, words_shown
from piecework.store import results
from piecework.store.results import mark_of
from tests.review import stores

UNSURE = "A brown dog lies beside a sofer chair on the grass"
SURE = "Two cups stand on a wooden tabel in the garden"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedCampaign]:
    """Two answers, cleaned: a typo that is surely one, and a word that may be one."""
    with stores.opened(tmp_path, workers=1, items=2, texts=(UNSURE, SURE)) as opened:
        clean_answers(opened)
        yield opened


def _edits(opened: OpenedCampaign) -> list[Edit]:
    return [edit for made in results.load_edits(opened.store).values() for edit in made]


def _proposals(opened: OpenedCampaign) -> list[Edit]:
    return [edit for made in results.load_proposed_edits(opened.store).values() for edit in made]


def test_an_unsure_word_waits_for_a_person(opened: OpenedCampaign) -> None:
    """It is shown among the words, and changes nothing before."""
    (proposal,) = _proposals(opened)
    assert (proposal.before, proposal.probability < 0.7) == ("sofer", True)
    assert [edit.before for edit in _edits(opened)] == ["tabel"]
    assert {change.word for change in words_shown(opened)} == {"sofer", "tabel"}


@pytest.mark.parametrize("typed", ["as proposed", "soft"])
def test_accepting_an_unsure_word_makes_it_an_edit(opened: OpenedCampaign, typed: str) -> None:
    """As it was proposed or typed anew; the edit says that a person is sure."""
    (proposal,) = _proposals(opened)
    meant = proposal.after if typed == "as proposed" else typed
    decide_word(opened, "sofer", meant=meant, by="ada")
    assert clean_answers(opened) == 2
    (edit,) = (edit for edit in _edits(opened) if edit.before == "sofer")
    assert (edit.start, edit.end) == (proposal.start, proposal.end)
    assert (edit.after, edit.probability) == (meant, 1.0)
    assert edit.reason == "a person gave the replacement"
    assert _proposals(opened) == []


def test_a_word_that_is_another_word_is_shown_as_well(opened: OpenedCampaign) -> None:
    """`form` for `from` waits for a person like a typo does."""
    (answer_id, *_), text = opened.answers().index, "Two cups stand on a wooden"
    real_word = Edit(
        start=text.index("cups"),
        end=text.index("cups") + 4,
        before="cups",
        after="cubs",
        rule=real_words.NAME,
        reason="others say so",
        probability=0.5,
    )
    results.replace_edits(opened.store, {}, {answer_id: (real_word,)})
    assert [(change.word, change.after) for change in words_shown(opened)] == [("cups", "cubs")]


def test_a_word_that_is_right_here_is_proposed_no_more(opened: OpenedCampaign) -> None:
    """Nor is it ever an edit; the others stay as they were."""
    decide_word(opened, "sofer", meant=None, by="ada")
    decide_word(opened, "tabel", meant=None, by="ada")
    assert clean_answers(opened) == 0
    assert _edits(opened) == _proposals(opened) == []


def test_an_accepted_word_brings_no_capitals(tmp_path: Path) -> None:
    """A typo that mostly begins captions stays small where it does not."""
    texts = (
        "Tabel with two cups in a garden",
        "Tabel beside a brown chair on the grass",
        "Tabel under a tree behind a house",
        SURE,
    )
    with stores.opened(tmp_path, workers=1, items=4, texts=texts) as run:
        clean_answers(run)
        (shown,) = words_shown(run)
        assert (shown.word, shown.after, shown.times) == ("tabel", "table", 4)
        decide_word(run, shown.word, meant=shown.after, by="ada")
        clean_answers(run)
        assert sorted(edit.after for edit in _edits(run)) == ["Table"] * 3 + ["table"]
        (decided,) = results.load_words(run.store).values()
        decide_word(run, shown.word, meant="TVs", by="ada", seen=mark_of(decided))
        clean_answers(run)
        assert {edit.after for edit in _edits(run)} == {"TVs"}


@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
@pytest.mark.parametrize("meant", [None, "children's"])
def test_a_decision_holds_with_every_apostrophe(
    tmp_path: Path, apostrophe: str, meant: str | None
) -> None:
    """Right here, or replaced: a word is the same word however its apostrophe was typed."""
    texts = (f"A bottle childern{apostrophe}s on a wooden table in the garden", SURE)
    with stores.opened(tmp_path, workers=1, items=2, texts=texts) as run:

        def about_it() -> list[Edit]:
            clean_answers(run)
            both = [*_edits(run), *_proposals(run)]
            return [edit for edit in both if edit.before.startswith("childern")]

        (edit,) = about_it()
        assert "childern's" in {entry.word for entry in words_shown(run)}
        decide_word(run, edit.before, meant=meant, by="ada")
        assert [each.after for each in about_it()] == ([meant] if meant else [])
        (decided,) = results.load_words(run.store).values()
        reopen_word(run, edit.before, by="ada", seen=mark_of(decided), is_requester=False)
        assert about_it() == [edit]
