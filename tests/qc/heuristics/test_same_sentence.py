"""Laws of repeated sentences and copied instructions."""

import pytest

from piecework.qc.heuristics.same_sentence import Params, score
from tests.qc.tables import CANNED, evidence, flagged, row, table

SPAM = "A very wonderful view, my friend."


def worker(name: str, *texts: str) -> list[dict[str, object]]:
    """Answers of one worker, each about an image of its own."""
    return [
        row(f"{name}{place}", worker_id=name, item_id=f"i{place}", text=text)
        for place, text in enumerate(texts)
    ]


def test_a_sentence_on_three_images_is_flagged_on_each() -> None:
    """Three of four texts are one sentence; the fourth is not touched."""
    scores = score(table(*worker("w", SPAM, SPAM, "a bird", SPAM)), Params())
    assert flagged(scores) == {"w0", "w1", "w3"}
    sentence = evidence(scores, "w0")
    assert "3 items" in sentence
    assert "75.0 %" in sentence


def test_case_spacing_and_punctuation_make_no_difference() -> None:
    """A spammer who moves a comma says the same."""
    texts = (SPAM, SPAM.upper(), "a  very wonderful view my friend")
    assert len(flagged(score(table(*worker("w", *texts)), Params()))) == 3


def test_honest_repeats_among_many_texts_pass() -> None:
    """3 of 11 is 27 %, below 30 %; 3 of 10 is exactly 30 % and flagged."""
    others = [f"picture number {place}" for place in range(8)]
    assert not flagged(score(table(*worker("w", *[SPAM] * 3, *others)), Params()))
    assert flagged(score(table(*worker("w", *[SPAM] * 3, *others[:7])), Params()))


def test_rotating_sentences_are_found_together() -> None:
    """Each of four sentences is 15 % of twenty texts, all of them 60 %."""
    rotated = [f"wonderful sentence {letter}" for letter in "abcd"] * 3
    others = [f"picture number {place}" for place in range(8)]
    scores = score(table(*worker("w", *rotated, *others)), Params())
    assert len(flagged(scores)) == 12


def test_different_workers_may_write_the_same() -> None:
    """A sentence counts within one worker only, and unknown ones are not one worker."""
    apart = [row(name, text=SPAM) for name in "abc"]
    assert not flagged(score(table(*apart), Params()))
    unknown = [row(name, text=SPAM, worker_id="") for name in "abc"]
    assert not flagged(score(table(*unknown), Params()))


def test_canned_and_empty_texts_are_no_repetitions() -> None:
    """They have their own rules, and do not thin out the share of the others."""
    texts = [*[CANNED] * 10, *[""] * 10, SPAM, SPAM, SPAM]
    scores = score(table(*worker("w", *texts)), Params())
    assert flagged(scores) == {"w20", "w21", "w22"}


def test_a_second_answer_about_an_image_counts_once() -> None:
    """Twice about one image and once about another are two images."""
    rows = worker("w", SPAM, SPAM)
    rows.append(row("z", worker_id="w", item_id="i0", text=SPAM))
    assert not flagged(score(table(*rows), Params()))


@pytest.mark.parametrize("name", ["w", ""])
def test_copied_instructions_are_flagged_once_written(name: str) -> None:
    """Nobody writes the page's own sentence; the worker need not be known."""
    text = "Imagine how you would describe this image on the phone to a friend!"
    scores = score(table(row("a", worker_id=name, text=text)), Params())
    assert scores.loc["a", "suspicion"] == 1.0
    assert evidence(scores, "a").startswith("copies the instructions")


def test_the_campaign_chooses_the_phrases() -> None:
    """No phrases, no copies; another page has other ones."""
    rows = table(row("a", text="Write one sentence, please: a bird"))
    assert flagged(score(rows, Params(instructions=("write one sentence",)))) == {"a"}
    assert not flagged(score(rows, Params(instructions=())))


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
