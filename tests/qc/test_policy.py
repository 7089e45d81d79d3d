"""Laws of decisions by stated policy."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import cast

import pandas as pd
import pytest

from piecework.domain.hit import MTURK
from piecework.domain.verdicts import Decision, Finding, PolicyRule, SubjectKind, Verdict
from piecework.qc.policy import NOTHING_AGAINST, check_rules, decide
from tests.qc.tables import row, table

AT = datetime(2026, 3, 2, tzinfo=UTC)

decided = partial(decide, campaign="birds", at=AT, longest_reason=MTURK.longest_reason)


def finding(
    heuristic: str, subject: str, kind: SubjectKind = "answer", *, flag: bool = True
) -> Finding:
    """What a heuristic says about a subject."""
    return Finding(
        heuristic=heuristic,
        version=1,
        subject_kind=kind,
        subject_id=subject,
        suspicion=0.9,
        flag=flag,
        evidence="seen",
    )


def rule(
    kind: SubjectKind,
    then: Verdict,
    *any_of: str,
    at_least: int = 1,
    share: float = 0.0,
    because: str = "stated",
) -> PolicyRule:
    """One sentence of a policy."""
    return PolicyRule(
        subject_kind=kind, any_of=any_of, at_least=at_least, share=share, then=then, because=because
    )


def two_hits() -> pd.DataFrame:
    """Worker w did A1 and A2 of two items each, worker v did B1 of two items."""
    owners = {"A1": "w", "A2": "w", "B1": "v"}
    return table(
        *[
            row(f"{name}.{place}", assignment_id=name, worker_id=owner, item_id=f"{place}")
            for name, owner in owners.items()
            for place in (1, 2)
        ]
    )


def verdicts(findings: list[Finding], *rules: PolicyRule) -> dict[str, str]:
    """Everything that is decided about two_hits, by subject."""
    decisions = decided(two_hits(), findings, rules)
    assert len({(d.subject_kind, d.subject_id) for d in decisions}) == len(decisions)
    return {decision.subject_id: decision.verdict for decision in decisions}


def differing(decided: dict[str, str]) -> dict[str, str]:
    """The verdicts that are not the default."""
    return {
        subject: verdict
        for subject, verdict in decided.items()
        if verdict not in {"keep", "approve"}
    }


def test_without_rules_all_is_kept_and_approved_with_a_reason() -> None:
    """Six answers and three assignments get one decision each, workers none."""
    flags = [finding("capitals", "A1.1")]
    decisions = decided(two_hits(), flags, ())
    assert {d.because for d in decisions} == {NOTHING_AGAINST}
    assert [d.verdict for d in decisions] == ["keep"] * 6 + ["approve"] * 3
    assert decisions[0] == Decision(
        subject_kind="answer",
        subject_id="A1.1",
        verdict="keep",
        decided_by="policy:birds",
        decided_at=AT,
        because=NOTHING_AGAINST,
    )


def test_a_flag_on_an_answer_drops_that_answer_alone() -> None:
    """Suspicion without a flag, and other heuristics, change nothing."""
    decided = verdicts(
        [
            finding("capitals", "A1.1"),
            finding("capitals", "A1.2", flag=False),
            finding("not_typed", "A2.1"),
        ],
        rule("answer", "drop", "capitals"),
    )
    assert differing(decided) == {"A1.1": "drop"}


def test_at_least_counts_different_heuristics() -> None:
    """Two of three must flag the same answer."""
    flags = [finding("a", "A1.1"), finding("b", "A1.1"), finding("a", "A1.2"), finding("c", "A2.1")]
    decided = verdicts(flags, rule("answer", "drop", "a", "b", "c", at_least=2))
    assert differing(decided) == {"A1.1": "drop"}


@pytest.mark.parametrize(
    ("share", "excluded"), [(0.0, True), (0.25, True), (0.26, False), (1.0, False)]
)
def test_a_worker_answers_for_a_share_of_his_answers(
    share: float,
    excluded: bool,  # noqa: FBT001 - a case
) -> None:
    """One flagged answer of four is a quarter; a share of 0 asks for one answer."""
    flags = [finding("capitals", "A1.1")]
    decided = verdicts(flags, rule("worker", "exclude", "capitals", share=share))
    assert differing(decided) == ({"w": "exclude"} if excluded else {})


@pytest.mark.parametrize(("answers", "excluded"), [(2, False), (3, False), (4, True)])
def test_a_share_of_few_answers_excludes_nobody(
    answers: int,
    excluded: bool,  # noqa: FBT001 - a case
) -> None:
    """Half of two or three answers may be chance; a share of 0 asks for one answer."""
    own = table(*(row(f"a{number}", worker_id="w") for number in range(answers)))
    flags = [finding("capitals", f"a{number}") for number in range(answers)]
    for share, is_excluded in ((0.5, excluded), (0.0, True)):
        policy = [rule("worker", "exclude", "capitals", share=share)]
        excluded_by = {
            decision.subject_id
            for decision in decided(own, flags, policy)
            if decision.verdict == "exclude"
        }
        assert excluded_by == ({"w"} if is_excluded else set())


def test_a_share_of_zero_still_asks_for_one_answer() -> None:
    """Nobody is excluded for nothing."""
    assert differing(verdicts([], rule("worker", "exclude", "capitals"))) == {}


def test_any_of_the_heuristics_fills_the_share() -> None:
    """Half of the answers by one heuristic and half by another are all of them."""
    flags = [finding("a", "B1.1"), finding("b", "B1.2")]
    whole = rule("assignment", "reject", "a", "b", share=1.0)
    assert differing(verdicts(flags, whole))["B1"] == "reject"


def test_a_rejected_assignment_takes_its_answers_with_it() -> None:
    """Even one that a rule would keep; the reason is passed on."""
    flags = [finding("same_sentence", "B1.1"), finding("same_sentence", "B1.2")]
    rules = [
        rule("answer", "keep", "same_sentence"),
        rule("assignment", "reject", "same_sentence", share=1.0, because="one text"),
    ]
    decisions = decided(two_hits(), flags, rules)
    dropped = {d.subject_id: d.because for d in decisions if d.verdict == "drop"}
    assert dropped == dict.fromkeys(("B1.1", "B1.2"), "its assignment was rejected: one text")


def test_a_finding_on_a_worker_speaks_of_all_that_he_sent() -> None:
    """An answer rule may name a heuristic that looks at workers."""
    flags = [finding("canned_share", "v", "worker")]
    decided = verdicts(flags, rule("answer", "drop", "canned_share"))
    assert differing(decided) == {"B1.1": "drop", "B1.2": "drop"}


def test_a_finding_on_an_assignment_counts_for_its_worker() -> None:
    """One of his two assignments of two items is half of his answers."""
    flags = [finding("time_in_batch", "A1", "assignment")]
    half = rule("worker", "exclude", "time_in_batch", share=0.5)
    more = rule("worker", "exclude", "time_in_batch", share=0.51)
    assert differing(verdicts(flags, half)) == {"w": "exclude"}
    assert differing(verdicts(flags, more)) == {}


def test_a_flag_on_the_subject_itself_needs_no_share() -> None:
    """Share is about findings on answers; a worker's own finding stands."""
    flags = [finding("canned_share", "w", "worker")]
    decided = verdicts(flags, rule("worker", "exclude", "canned_share", share=1.0))
    assert differing(decided) == {"w": "exclude"}


def test_his_own_flag_and_his_answers_are_two_heuristics() -> None:
    """A worker flagged by one and answers flagged by another make two."""
    flags = [finding("canned_share", "w", "worker"), finding("capitals", "A1.1")]
    both = ("canned_share", "capitals")
    near = rule("worker", "block", *both, at_least=2, share=0.25)
    far = rule("worker", "block", *both, at_least=2, share=0.5)
    assert differing(verdicts(flags, near)) == {"w": "block"}
    assert differing(verdicts(flags, far)) == {}


def test_the_first_rule_that_applies_decides() -> None:
    """An exception stands above its rule, and a later, harsher rule is not reached."""
    flags = [finding("a", "A1.1"), finding("b", "A1.1"), finding("a", "A1.2")]
    decided = verdicts(flags, rule("answer", "keep", "b"), rule("answer", "drop", "a"))
    assert differing(decided) == {"A1.2": "drop"}


def test_nobody_without_an_id_is_excluded() -> None:
    """Answers of unknown workers belong to no worker."""
    answers = table(row("a", worker_id=""))
    rules = [rule("worker", "exclude", "capitals")]
    flags = [finding("capitals", "a")]
    decisions = decided(answers, flags, rules)
    assert {d.subject_kind for d in decisions} == {"answer", "assignment"}


def test_an_empty_table_needs_no_decision() -> None:
    """No answers, nothing to decide."""
    assert decided(table(), [], ()) == []


def test_all_faults_of_a_policy_are_named_at_once() -> None:
    """Each with the rule's number, what was found and what is allowed."""
    suspected = replace(rule("worker", "exclude"), suspicion_above=0.9)
    rules = [
        rule("answer", "drop", "capitals"),
        rule("answer", "reject", "capitalls", share=0.5, because=" "),
        rule("worker", "exclude", "capitals", at_least=2, share=1.5),
        rule(cast("SubjectKind", "hit"), "drop", "capitals"),
        rule("worker", "exclude", "straight_line", "gold_failed", share=0.5),
        rule("assignment", "reject", "rushed", "capitals", share=0.5, because="{evidence}"),
        replace(suspected, share=0.5),
        replace(suspected, at_least=2),
        suspected,
    ]
    faults = check_rules(rules)
    expected = [
        ("2: then is 'reject'", "allowed for answer are keep, drop."),
        ("2: share is set for answers", "assignments and workers only."),
        ("2: any_of names 'capitalls'", "too_fast."),
        ("2: because is empty", "with each decision."),
        ("3: share is 1.5", "allowed is from 0 to 1."),
        ("3: at_least is 2", "allowed is 1 to 1 (size of any_of)."),
        ("4: subject_kind is 'hit'", "allowed are answer, assignment, worker."),
        ("5: share has no effect: gold_failed or straight_line flags no answer", "leave it out."),
        ("7: at_least and share have no effect beside suspicion_above", "leave them out."),
        ("8: at_least and share have no effect beside suspicion_above", "leave them out."),
    ]
    assert len(faults) == len(expected)
    for fault, (problem, allowed) in zip(faults, expected, strict=True):
        assert fault.startswith(f"policy rule {problem}")
        assert fault.endswith(allowed)
