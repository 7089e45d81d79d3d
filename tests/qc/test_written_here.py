"""Laws of the probability that a text was not written on the page by a person."""

import math

import pandas as pd
import pytest

from piecework.domain.verdicts import NOT_WRITTEN_HERE, Finding
from piecework.qc.policy import check_rules
from piecework.qc.registry import BY_NAME, assess
from piecework.qc.written_here import MOST, WEIGHTS, Parts, findings
from tests.qc.tables import row, table
from tests.qc.test_reasons import rule
from tests.typing_records import record

TEXT = "x" * 50
PASTED = record({"insertFromPaste": (1, 50)}, outside=50).as_json()
KEYED = record().as_json()
START = math.log((1 / 6) / (5 / 6))


def scores(**suspicion: float) -> dict[str, pd.DataFrame]:
    """Scores of one answer by heuristic."""
    return {
        name: pd.DataFrame({"suspicion": [amount]}, index=["a"])
        for name, amount in suspicion.items()
    }


def findings_of(typing: str, **suspicion: float) -> list[Finding]:
    """The findings about one answer."""
    return list(findings(table(row("a", text=TEXT, typing=typing)), scores(**suspicion)))


def test_silent_parts_add_nothing() -> None:
    """Without any part, one text in six remains; a part at one in six says nothing."""
    assert Parts(None, None, None).probability() == pytest.approx(1 / 6)
    assert Parts(1 / 6, 1 / 6, 1 / 6).probability() == pytest.approx(1 / 6)


def test_parts_add_log_odds_within_bounds() -> None:
    """By hand: the logarithm of odds, less that of one in six, times the weight."""
    added = Parts(0.8, 0.0001, 0.99999).log_odds()
    assert added["typing"] == pytest.approx(WEIGHTS.typing * (math.log(4) - START))
    assert added["samples"] == -1.0
    assert added["word"] == MOST


def test_a_typed_text_that_reads_like_samples_is_seldom_flagged() -> None:
    """A person may have retyped it; the record speaks against it, but not much."""
    (finding,) = findings_of(KEYED, not_typed=0.0, like_samples=0.99)
    assert 0.5 < finding.suspicion < 0.9
    assert not finding.flag


def test_both_parts_together_flag() -> None:
    """The evidence says what each adds, and what cannot be known."""
    (finding,) = findings_of(PASTED, not_typed=0.97, like_samples=0.9)
    assert finding.flag
    assert finding.heuristic == NOT_WRITTEN_HERE
    for words in ("how it was entered +", "samples +", "retyped texts", "own text"):
        assert words in finding.evidence
    assert "no record" not in finding.evidence


def test_what_is_silent_is_named() -> None:
    """A record alone; samples alone."""
    (finding,) = findings_of(PASTED, not_typed=0.97)
    assert "no samples to compare with" in finding.evidence
    (finding,) = findings_of("", not_typed=0.0, like_samples=0.999)
    assert "no record of typing" in finding.evidence


@pytest.mark.parametrize(
    ("typing", "suspicion"),
    [
        (KEYED, {"not_typed": 0.0, "like_samples": 0.4}),
        ("", {"not_typed": 1.0}),  # by counts, which have no probability
        (PASTED, {}),
    ],
)
def test_little_against_it_is_no_finding(typing: str, suspicion: dict[str, float]) -> None:
    """Nor is a heuristic that is off."""
    assert findings_of(typing, **suspicion) == []


def test_no_rule_can_name_it() -> None:
    """So it rejects nothing; people see it."""
    assert NOT_WRITTEN_HERE not in BY_NAME
    (fault,) = check_rules([rule("Not written here.", NOT_WRITTEN_HERE)])
    assert "which is not a heuristic" in fault


def test_it_is_found_with_the_heuristics() -> None:
    """In a table of answers, with the campaign's settings."""
    answers = table(row("a", text=TEXT, typing=PASTED), row("b", typing=KEYED))
    names = {each.heuristic: each.subject_id for each in assess(answers, {}, seed=1)}
    assert names[NOT_WRITTEN_HERE] == "a"
