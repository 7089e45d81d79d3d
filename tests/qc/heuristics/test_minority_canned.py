"""Laws of being the only one with, or without, the canned text."""

import pytest

from piecework.qc.heuristics.minority_canned import Params, score
from tests.qc.tables import CANNED, evidence, flagged, row, table


def answers(pattern: str) -> list[dict[str, object]]:
    """One answer a letter about the same item: `c` canned, `t` a text; ids by place."""
    return [
        row(str(place), item_id="i", text=CANNED if letter == "c" else "a bird on a wire")
        for place, letter in enumerate(pattern)
    ]


@pytest.mark.parametrize(
    ("pattern", "alone"),
    [
        ("ctttt", {"0"}),
        ("cccct", {"4"}),
        ("ccttt", set()),
        ("ttttt", set()),
        ("ccccc", set()),
        ("cttt", set()),  # four answers are fewer than five
        ("tttttc", {"5"}),
    ],
)
def test_the_only_one_is_flagged(pattern: str, alone: set[str]) -> None:
    """Exactly one against all others, of at least five."""
    assert flagged(score(table(*answers(pattern)), Params())) == alone


def test_of_two_nobody_is_the_only_one() -> None:
    """With two answers each would be alone, so three is the least that counts."""
    params = Params(min_answers=1)
    assert flagged(score(table(*answers("ct")), params)) == set()
    assert flagged(score(table(*answers("ctt")), params)) == {"0"}


def test_evidence_says_which_way() -> None:
    """Use and no use are told apart."""
    used = evidence(score(table(*answers("ctttt")), Params()), "0")
    other = evidence(score(table(*answers("cccct")), Params()), "4")
    assert "the only one of 5 to use" in used
    assert "the only one of 5 not to use" in other


def test_a_second_answer_does_not_keep_the_first_company() -> None:
    """One worker who says it twice is still the only one."""
    rows = answers("ctttt")
    rows.append(row("z", item_id="i", worker_id="worker-0", text=CANNED))
    assert flagged(score(table(*rows), Params())) == {"0"}


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
