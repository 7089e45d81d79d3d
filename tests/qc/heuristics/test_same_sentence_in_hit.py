"""Laws of one sentence under every item of a HIT."""

import pytest

from piecework.qc.heuristics.same_sentence_in_hit import Params, score
from tests.qc.tables import CANNED, cells, flagged, row, table


def hit(name: str, *texts: str) -> list[dict[str, object]]:
    """An assignment with these texts."""
    return [
        row(f"{name}.{n}", assignment_id=name, worker_id="w", text=text)
        for n, text in enumerate(texts)
    ]


def test_the_hit_is_flagged_and_no_other_of_the_worker() -> None:
    """What is said of one HIT is true of that HIT."""
    spam = hit("spam", "A nice view!", "a nice view", "a  nice view.")
    good = hit("good", "a nice view", "a red dog runs", "two cups of tea")
    scores = score(table(*spam, *good), Params())
    assert flagged(scores) == {"spam"}
    sentence = cells(scores, "spam")[2]
    assert sentence.endswith("all 3 items of the HIT: “A nice view!”")


@pytest.mark.parametrize(
    "texts",
    [
        ("a nice view", "a nice view"),  # two may be alike
        ("red", "red", "red"),  # a colour was asked for
        ("a nice view", "a nice view", CANNED),
        (CANNED, CANNED, CANNED),
        ("", "", ""),
    ],
)
def test_what_is_no_sentence_under_every_item_is_no_suspicion(texts: tuple[str, ...]) -> None:
    """Few items, few words, the canned text, nothing at all."""
    assert flagged(score(table(*hit("one", *texts)), Params())) == set()


def test_an_empty_table_has_no_assignments() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
