"""What people say of words stands above what cleaning makes of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.edit import Edit
from piecework.postprocess.rules import real_words
from piecework.results.cleaning import clean_answers, decide_word, words_shown
from piecework.store import results
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
