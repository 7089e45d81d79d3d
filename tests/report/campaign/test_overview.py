"""The campaign in plain sentences, against the one counted by hand."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from piecework.domain.verdicts import PolicyRule
from piecework.report.facts import ReportFacts
from piecework.report.model import report_model
from piecework.report.sections import overview
from piecework.report.sections.money import Markets
from tests.report.campaign import by_hand, made_up


def _paragraphs(*, is_rehearsal: bool = False) -> dict[str, str]:
    facts = by_hand.small(is_rehearsal=is_rehearsal)
    return _read(facts)


def _read(facts: ReportFacts) -> dict[str, str]:
    """The whole answer to each question, by the question."""
    return {
        question.name: " ".join(
            (
                question.answer,
                *question.points,
                *(f"{note.level}: {note.text}" for note in question.notes),
            )
        ).strip()
        for question in overview.questions(report_model(facts))
    }


def test_what_was_asked_and_what_came() -> None:
    """Six wanted, eleven came, four captions and two canned answers count."""
    paragraphs = _paragraphs()

    assert "2 answers about each of 3 images" in paragraphs["What was asked"]
    assert "6 answers in all" in paragraphs["What was asked"]
    for fact in ("11 answers by 4 workers", "; 6 count: 4 free-text", "4 free-text captions"):
        assert fact in paragraphs["What came back"]
    assert "2 answers that the picture cannot be recognised" in paragraphs["What came back"]
    assert "3 of 3 images (100.0 %)" in paragraphs["What came back"]


def test_what_does_not_count_has_its_reasons() -> None:
    """Three rejected, one dropped, one surplus; all four for one reason."""
    lost = _paragraphs()["What does not count"]
    for fact in ("5 answers", "3 rejected", "1 dropped", "1 more than"):
        assert fact in lost
    assert "4 answers: off the subject." in lost


def test_a_reason_that_quotes_evidence_says_what_flagged() -> None:
    """Without its evidence it would say nothing: “Set aside: …” (4).

    Each is counted under its strongest flag: of A3's three, all by a worker with a flag
    of 0.6, two were pasted (0.9), as was A2's third.
    """
    small = by_hand.small()
    because = small.answers["rejected_because"].replace("off the subject", "Set by: x.")
    rule = PolicyRule(
        subject_kind="answer",
        any_of=("pasted", "canned_share"),
        then="drop",
        because="Set by: {evidence}.",
    )
    facts = replace(small, policy=(rule,), answers=small.answers.assign(rejected_because=because))
    lost = _read(facts)["What does not count"]
    flagged = "4 answers: Set by, flagged most strongly as “pasted” (3) and "
    assert f"{flagged}“Canned text too often” (1)." in lost
    # A flag that the rule does not name has not decided.
    other = replace(facts, policy=(replace(rule, any_of=("pasted",)),))
    lost = _read(other)["What does not count"]
    assert f"{flagged}no flag on record (1)." in lost
    assert "Canned" not in lost


@pytest.mark.parametrize("flags_each", [1, 2, 9])
def test_each_answer_has_one_reason_and_one_flag(flags_each: int) -> None:
    """Reasons add up to the answers kept out, and a reason's flags to its answers.

    However many flags an answer has, and if its reason is not recorded.
    """
    small = by_hand.small()
    out = small.answers.index[small.answers["is_rejected"]]
    because = small.answers["rejected_because"].replace("off the subject", "Set by: x.")
    because[out[0]] = ""
    names = [f"made_up_{place}" for place in range(flags_each)]
    findings = pd.DataFrame(
        [
            (name, 1, "answer", answer, (place * turn) % 7 / 7, True, "")
            for turn, answer in enumerate(out, start=3)
            for place, name in enumerate(names)
        ],
        columns=small.findings.columns,
    )
    rule = PolicyRule(
        subject_kind="answer", any_of=tuple(names), then="drop", because="Set by: {evidence}."
    )
    facts = replace(
        small,
        findings=findings,
        policy=(rule,),
        answers=small.answers.assign(rejected_because=because),
    )
    (lost,) = (
        question
        for question in overview.questions(report_model(facts))
        if question.name == "What does not count"
    )
    assert "3 rejected without pay" in lost.answer
    outside = replace(facts, of_sections=(Markets(rows=(), is_gold=False),))
    in_words = _read(outside)["What does not count"]
    assert "3 rejected (without pay, unless a market paid the whole visit)" in in_words
    assert "1 dropped but paid" in lost.answer
    of_reasons = [int(point.split()[0]) for point in lost.points]
    assert sum(of_reasons) == 3 + 1
    (quoting,) = (point for point in lost.points if "flagged" in point)
    assert sum(map(int, re.findall(r"\((\d+)\)", quoting))) == max(of_reasons)


def test_answers_that_wait_are_told_beside_those_that_count() -> None:
    """What counts, what does not and what waits is all that came: 11 + 2."""
    small = by_hand.small(is_rehearsal=False)
    waiting = small.answers.iloc[:2].set_axis(["A9.1", "A9.2"])
    waiting = waiting.rename_axis("answer_id")
    lines = _read(replace(small, waiting=waiting, is_finished=False))

    assert "13 answers by 4 workers; 6 count: " in lines["What came back"]
    assert " 2 wait for a decision." in lines["What came back"]
    assert lines["What does not count"].startswith("5 answers do not count")


def test_money_is_told_by_the_answer_and_by_the_hour() -> None:
    """252 cents for four captions; wages of 720, 750 and 900 cents an hour.

    The fourth worker's work was rejected, so it has no wage.
    """
    paragraphs = _paragraphs()

    for fact in ("$2.52", "$10.00", "$0.42 in fees", "$0.63 for each free-text caption"):
        assert fact in paragraphs["What it cost"]
    assert "earned $7.50/h or more." in paragraphs["What it cost"]
    assert "1 of 3 paid workers (33.3 %) earned less" in paragraphs["Be careful of"]


def test_a_rehearsal_paid_nobody() -> None:
    """And its workers are simulated."""
    paragraphs = _paragraphs(is_rehearsal=True)

    assert "4 simulated workers" in paragraphs["What came back"]
    # The cheat was paid nothing, so the median is that of the other three.
    assert "Half of the paid workers earned" in paragraphs["What it cost"]
    assert paragraphs["What it cost"].endswith("this was a rehearsal.")


def test_problems_come_first_in_what_to_be_careful_of() -> None:
    """Half of the workers below the floor is the one problem of the small campaign."""
    cares = _read(by_hand.ill_paid(is_rehearsal=False))["Be careful of"]
    assert cares.startswith("problem: ")
    assert cares.count("problem: ") == cares.count("watch: ") == 1


def test_a_campaign_that_just_began_says_so() -> None:
    """Without an answer, a worker or a wage."""
    paragraphs = _read(made_up.empty())

    assert paragraphs["What came back"] == "Nothing yet."
    assert "earned" not in paragraphs["What it cost"]


def test_a_dataset_without_a_ledger_has_no_money() -> None:
    """Nothing is said of what nobody knows."""
    facts = replace(by_hand.small(), money=None)
    paragraphs = _read(facts)

    assert "What it cost" not in paragraphs
