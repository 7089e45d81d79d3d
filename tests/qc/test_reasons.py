"""Laws of the reasons that workers read: filled from what was measured, and no more."""

from datetime import UTC, datetime

import pandas as pd
import pytest

from piecework.domain.hit import MTURK
from piecework.domain.verdicts import (
    PAID_BEFORE,
    REJECTED_WITH,
    Finding,
    PolicyRule,
    SubjectKind,
    Verdict,
)
from piecework.qc.policy import check_rules, decide
from piecework.qc.reasons import stated
from piecework.qc.registry import HEURISTICS
from tests.for_each import for_each
from tests.qc.tables import row, table

AT = datetime(2026, 3, 2, tzinfo=UTC)
LONGEST = MTURK.longest_reason
SUBJECTS: dict[str, SubjectKind] = {heuristic.NAME: heuristic.SUBJECT for heuristic in HEURISTICS}


def rule(
    because: str,
    *any_of: str,
    on: SubjectKind = "answer",
    then: Verdict = "drop",
    at_least: int = 1,
    share: float = 0.0,
) -> PolicyRule:
    """One sentence of a policy."""
    return PolicyRule(
        subject_kind=on, any_of=any_of, at_least=at_least, share=share, then=then, because=because
    )


def finding(heuristic: str, subject: str, suspicion: float, evidence: str) -> Finding:
    """A flag with its evidence."""
    kind = SUBJECTS[heuristic]
    return Finding(
        heuristic=heuristic,
        version=1,
        subject_kind=kind,
        subject_id=subject,
        suspicion=suspicion,
        flag=True,
        evidence=evidence,
    )


def answers(count: int) -> pd.DataFrame:
    """Answers of one worker, two an assignment."""
    return table(
        *[
            row(f"{n}", assignment_id=f"A{n // 2}", worker_id="w", item_id=f"{n}")
            for n in range(count)
        ]
    )


def reasons(findings: list[Finding], of: PolicyRule, *, count: int = 4) -> dict[str, str]:
    """By subject that the rule decides, the reason."""
    made = decide(answers(count), findings, [of], campaign="birds", at=AT, longest_reason=LONGEST)
    return {
        each.subject_id: each.because
        for each in made
        if each.subject_kind == of.subject_kind and each.verdict == of.then
    }


def test_a_reason_tells_the_evidence_of_its_own_subject() -> None:
    """Each answer its own, the worst first; what another rule looks at is not told."""
    findings = [
        finding("capitals", "0", 0.7, "80% are capitals"),
        finding("quality_words", "0", 0.9, "says blurry"),
        finding("capitals", "1", 0.7, "60% are capitals"),
        finding("random_sample", "1", 0.0, "drawn"),
    ]
    evidence_rule = rule("Set aside: {evidence}.", "capitals", "quality_words")
    assert reasons(findings, evidence_rule) == {
        "0": "Set aside: says blurry; 80% are capitals.",
        "1": "Set aside: 60% are capitals.",
    }


def test_a_reason_counts_the_flagged_answers_of_its_worker() -> None:
    """Two of four; what the rule also needs of the worker is told and flags no answer."""
    findings = [
        finding("capitals", "0", 0.7, "80% are capitals"),
        finding("capitals", "3", 0.7, "80% are capitals"),
        finding("canned_share", "w", 0.9, "used the canned text on 9 of 9 items"),
    ]
    counted = rule(
        "{flagged} of {answers} ({share}): {evidence}",
        *("capitals", "canned_share"),
        on="worker",
        then="exclude",
        at_least=2,
    )
    assert check_rules([counted]) == []
    assert reasons(findings, counted) == {
        "w": "2 of 4 (50.0 %): used the canned text on 9 of 9 items; 80% are capitals"
    }


def test_a_reason_keeps_to_what_the_marketplace_takes() -> None:
    """At most 1,024 characters on one line, whatever a worker typed."""
    findings = [finding("same_sentence", "0", 0.9, "“" + "long\u0007 " * 500 + "”")]
    (reason,) = reasons(findings, rule("Set aside: {evidence}.", "same_sentence")).values()
    assert len(reason) == 1024
    assert reason.isprintable()
    assert reason.endswith("….")


@for_each(
    ("refused", "word"),
    [
        (
            rule(
                "The same sentence under every picture: {evidence}.",
                "same_sentence",
                on="assignment",
                then="reject",
                share=1.0,
            ),
            "'every'",
        ),
        (rule("Called most pictures unreadable.", "canned_share"), "'most'"),
        (rule("Nobody else wrote this.", "text_off_item"), "'Nobody else'"),
        (
            rule(
                "Two in five answers are in capitals.",
                "capitals",
                on="worker",
                then="exclude",
                share=0.3,
            ),
            "'Two in five'",
        ),
        (rule("Over 50 % capitals.", "capitals"), "'50 %'"),
        (rule("From a worker who does not look.", "low_agreement"), "does not look"),
        (rule("This is spam.", "sentence_off_items"), "'spam'"),
        (rule("This HIT was not worked on.", "same_sentence"), "the HIT"),
        (rule("{worker} wrote this.", "capitals"), "{worker}; allowed are {evidence}"),
        (rule("{flagged} are in capitals.", "capitals"), "only {evidence}"),
        (
            rule("{flagged} of {answers}: {evidence}.", "gold_failed", on="worker", then="exclude"),
            "gold_failed may flag none; write {evidence}.",
        ),
        (
            rule(
                "{share} of the answers: {evidence}.",
                *("capitals", "canned_share"),
                on="worker",
                then="exclude",
            ),
            "capitals or canned_share may flag none",
        ),
        (
            rule("Most answers: {evidence}.", "gold_failed", on="worker", then="exclude"),
            "for every subject; write {evidence}.",
        ),
        (
            rule("Most answers: {evidence}.", "capitals", on="worker", then="exclude"),
            "for every subject; write {evidence}, or {flagged} of {answers}.",
        ),
        (rule("An open { brace.", "capitals"), "a brace too many"),
        (
            rule("Capitals.", "capitals", on="assignment", then="reject"),
            "without saying what was measured",
        ),
        (
            rule("It was pasted: {evidence}.", "not_typed", on="assignment", then="reject"),
            "not_typed alone must not refuse pay",
        ),
        (
            rule(
                "Pasted, and like a sample: {evidence}.",
                *("not_typed", "like_samples"),
                on="assignment",
                then="reject",
                at_least=2,
            ),
            "like_samples and not_typed together must not refuse pay",
        ),
    ],
)
def test_a_reason_that_claims_more_than_is_measured_is_refused(
    refused: PolicyRule, word: str
) -> None:
    """One fault, which names the words."""
    (fault,) = check_rules([refused])
    assert word in fault


@pytest.mark.parametrize(
    "allowed",
    [
        rule(
            "Every item of the HIT has one sentence: {evidence}.",
            "same_sentence_in_hit",
            on="assignment",
            then="reject",
        ),
        rule(
            "Two in five answers or more were flagged.",
            "capitals",
            on="worker",
            then="exclude",
            share=0.4,
        ),
        rule(
            "All answers were flagged: {evidence}",
            "capitals",
            on="assignment",
            then="reject",
            share=1.0,
        ),
        rule("The only one of its item: {evidence}.", "minority_canned"),
        rule("It breaks a rule of the page.", "rule_violation"),
        rule("The study is about others; it is paid all the same.", "outside_study"),
        rule(
            "Pasted and off: {evidence}.",
            *("not_typed", "text_off_item"),
            on="assignment",
            then="reject",
            at_least=2,
        ),
    ],
)
def test_what_the_rule_or_its_heuristic_holds_may_be_said(allowed: PolicyRule) -> None:
    """A share that the rule demands, an amount that the heuristic measures."""
    assert check_rules([allowed]) == []


def test_reasons_are_counted_as_they_are_stated() -> None:
    """What each one quotes is left out; a person's reason stays."""
    rules = [
        rule("Set aside: {evidence}.", "capitals"),
        rule("Fixed.", "capitals"),
        rule("Refused: {evidence}.", "capitals", on="assignment", then="reject"),
    ]
    for because, shown in (
        ("Set aside: 80% are capitals.", "Set aside: …."),
        (f"{REJECTED_WITH}Refused: x.", f"{REJECTED_WITH}Refused: …."),
        ("Refused: x.", "Refused: x."),
        ("Shouted throughout.", "Shouted throughout."),
    ):
        assert stated(because, rules, "answer", "drop") == shown
    late = f"{PAID_BEFORE}Refused: x."
    assert stated(late, rules, "assignment", "approve") == f"{PAID_BEFORE}Refused: …."


def test_a_rule_that_only_quotes_swallows_no_other_reason() -> None:
    """It takes what no rule with words of its own takes, and only of its kind and verdict."""
    rules = [
        rule("{evidence}", "capitals"),
        rule("Off: {evidence}", "text_off_item"),
        rule("Off: {evidence} ({flagged})", "text_off_item", on="worker", then="exclude"),
        rule("It breaks a rule of the page.", "rule_violation"),
    ]
    cases: list[tuple[SubjectKind, Verdict, str, str]] = [
        ("answer", "drop", "80 % are capitals", "…"),
        ("answer", "drop", "Off: shares nothing", "Off: …"),
        ("answer", "drop", "It breaks a rule of the page.", "It breaks a rule of the page."),
        ("answer", "keep", "nothing against it", "nothing against it"),
        ("worker", "exclude", "Off: shares nothing (3)", "Off: … (…)"),
        ("worker", "exclude", "80 % are capitals", "80 % are capitals"),
        ("assignment", "reject", "80 % are capitals", "80 % are capitals"),
    ]
    for kind, verdict, because, shown in cases:
        assert stated(because, rules, kind, verdict) == shown
