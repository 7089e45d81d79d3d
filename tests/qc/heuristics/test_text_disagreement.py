"""Laws of one against a strong majority."""

import pytest

from piecework.qc.heuristics.text_disagreement import Params, score
from piecework.qc.silence import silences
from tests.qc.tables import evidence, flagged, row, table

VALUES = {"y": "yes", "n": "no", "-": ""}


def votes(pattern: str) -> list[dict[str, object]]:
    """One answer a letter about the same item; ids by place."""
    return [
        row(str(place), item_id="i", **{"value.has_text": VALUES[letter]})
        for place, letter in enumerate(pattern)
    ]


@pytest.mark.parametrize(
    ("pattern", "against"),
    [
        ("yyyyn", {"4"}),
        ("nyyyyy", {"0"}),
        ("yyynn", set()),  # three are not four
        ("yyyynn", set()),  # two of six are not one against all
        ("nnnny", set()),  # who sees text alone may have the sharper eye
        ("yyyyy", set()),
        ("yyyy-", set()),  # no value is no vote
        ("yyn", set()),
    ],
)
def test_who_sees_no_text_against_four_is_flagged(pattern: str, against: set[str]) -> None:
    """At least four say yes, and they are at least four fifths."""
    assert flagged(score(table(*votes(pattern)), Params())) == against


def test_any_majority_can_be_made_to_count() -> None:
    """An empty majority value takes both directions."""
    params = Params(majority_value="")
    assert flagged(score(table(*votes("nnnny")), params)) == {"4"}
    assert flagged(score(table(*votes("yyyyn")), params)) == {"4"}


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("value.flaws", [("blur",), ("blur",), ("blur",), ("blur",), ()]),
        ("pastes", [1.0, 1.0, 1.0, 1.0, 0.0]),
    ],
)
def test_ticks_and_numbers_are_no_choice(column: str, cells: list[object]) -> None:
    """Four are alike and one differs; nothing is flagged, and the reason is named."""
    rows = [row(str(n), item_id="i", **{column: cell}) for n, cell in enumerate(cells)]
    answers = table(*rows).rename(columns={column: "value.named"})
    params = Params(field="named", majority_value="")
    assert flagged(score(answers, params)) == set()
    settings = {"text_disagreement": {"field": "named"}}
    assert silences(answers, settings)["text_disagreement"] == "named is not a choice"


def test_ties_are_no_majority() -> None:
    """Four against four, with a share that would allow it, is nobody's majority."""
    params = Params(majority_value="", min_share=0.5)
    assert flagged(score(table(*votes("yyyynnnn")), params)) == set()


def test_evidence_counts_the_votes() -> None:
    """A reviewer sees who said what."""
    scores = score(table(*votes("yyyyn")), Params())
    sentence = evidence(scores, "4")
    assert "“no” to has_text" in sentence
    assert "4 of 5 answers say “yes”" in sentence
    assert scores.loc["4", "suspicion"] == pytest.approx(0.8)


def test_a_second_answer_is_no_second_vote() -> None:
    """Three yes, and one of them again, are not four."""
    rows = votes("yyyn")
    again = {"worker_id": "worker-0", "value.has_text": "yes"}
    rows.append(row("z", item_id="i", **again))
    assert flagged(score(table(*rows), Params())) == set()


def test_a_task_without_the_field_is_no_suspicion() -> None:
    """Other tasks have other fields; nothing fails."""
    scores = score(table(*votes("yyyyn")), Params(field="unheard_of"))
    assert flagged(scores) == set()
    assert len(scores) == 5


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
