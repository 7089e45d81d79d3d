"""From findings to decisions, by the sentences of a campaign's policy alone.

How a rule is read:

- Rules are tried in their order; the first that applies to a subject decides. So an
  exception stands above the rule that it excepts from.
- A heuristic flags a subject when its finding is about the subject itself, or about
  whom or what the subject came from: a finding on a worker speaks of all that he sent,
  one on an assignment of its answers.
- For an assignment or a worker, findings on answers count as well, as soon as the share
  of its answers that any of the rule's heuristics flags is at least `share` (and one
  answer at the least). A finding on an assignment counts as one on each of its answers.
- The rule applies when at least `at_least` different heuristics flag the subject so.
- Every answer and every assignment gets one decision; a worker only when a rule
  applies. An assignment that is rejected takes all its answers with it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from domain.verdicts import (
    VERDICTS,
    Decision,
    Finding,
    PolicyRule,
    SubjectKind,
    Verdict,
)

NOTHING_AGAINST = "nothing in the policy speaks against it"

DEFAULTS: dict[SubjectKind, Verdict | None] = {
    "assignment": "approve",
    "answer": "keep",
    "worker": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """One answer, assignment or worker, and the answers that belong to it.

    Attributes:
        sources: keys of findings that speak of it: its own and those above it.
        answers: its answers, each with the keys of findings that speak of it.
    """

    kind: SubjectKind
    subject_id: str
    sources: tuple[tuple[SubjectKind, str], ...]
    answers: tuple[tuple[tuple[SubjectKind, str], ...], ...]


_Flags = Mapping[tuple[SubjectKind, str], frozenset[str]]


def decide(
    frame: pd.DataFrame,
    findings: Iterable[Finding],
    rules: Sequence[PolicyRule],
    *,
    campaign: str,
    at: datetime,
) -> list[Decision]:
    """One decision an answer and an assignment, and those workers a rule speaks of.

    Args:
        frame: the answers to decide about (`qc.frame`).
        findings: what heuristics said about them; those without a flag are ignored.
        rules: the campaign's policy; see the module's words for how a rule is read.
        campaign: its name, for `decided_by`.
        at: the moment of the decision.
    """
    flags = _flags(findings)
    assignments = _decide_kind("assignment", frame, flags, rules)
    answers = _decide_kind("answer", frame, flags, rules)
    rejected = {
        subject: because
        for subject, (verdict, because) in assignments.items()
        if verdict == "reject"
    }
    for answer_id, assignment_id in zip(
        frame.index, frame["assignment_id"], strict=True
    ):
        if assignment_id in rejected:
            because = f"its assignment was rejected: {rejected[assignment_id]}"
            answers[answer_id] = ("drop", because)
    workers = _decide_kind("worker", frame, flags, rules)
    decided: list[tuple[SubjectKind, Mapping[str, tuple[Verdict, str]]]] = [
        ("answer", answers),
        ("assignment", assignments),
        ("worker", workers),
    ]
    return [
        Decision(
            subject_kind=kind,
            subject_id=subject,
            verdict=verdict,
            decided_by=f"policy:{campaign}",
            decided_at=at,
            because=because,
        )
        for kind, verdicts in decided
        for subject, (verdict, because) in verdicts.items()
    ]


def check_rules(rules: Sequence[PolicyRule], *, heuristics: Iterable[str]) -> list[str]:
    """Every fault of a policy, one sentence each, the rules counted from 1.

    Args:
        rules: the campaign's policy.
        heuristics: names of those that exist.
    """
    known = set(heuristics)
    return [
        f"policy rule {number}: {fault}"
        for number, rule in enumerate(rules, start=1)
        for fault in _faults(rule, known)
    ]


def _faults(rule: PolicyRule, known: set[str]) -> Iterable[str]:
    yield from _faults_of_verdict(rule)
    for name in rule.any_of:
        if name not in known:
            names = ", ".join(sorted(known))
            yield f"any_of names {name!r}, no such heuristic; allowed are {names}."
    most = len(set(rule.any_of))
    if not 1 <= rule.at_least <= most:
        yield f"at_least is {rule.at_least}; allowed is 1 to {most} (size of any_of)."
    if not rule.because.strip():
        yield "because is empty; every decision is logged with its reason."


def _faults_of_verdict(rule: PolicyRule) -> Iterable[str]:
    if rule.subject_kind not in VERDICTS:
        kinds = ", ".join(VERDICTS)
        yield f"subject_kind is {rule.subject_kind!r}; allowed are {kinds}."
    elif rule.then not in VERDICTS[rule.subject_kind]:
        allowed = ", ".join(VERDICTS[rule.subject_kind])
        yield f"then is {rule.then!r}; allowed for {rule.subject_kind} are {allowed}."
    if not 0 <= rule.share <= 1:
        yield f"share is {rule.share}; allowed is from 0 to 1."
    if rule.share and rule.subject_kind == "answer":
        yield "share is given for answers; an answer has no share of answers."


def _flags(findings: Iterable[Finding]) -> _Flags:
    """By subject, the names of the heuristics that flag it."""
    flags: dict[tuple[SubjectKind, str], set[str]] = defaultdict(set)
    for finding in findings:
        if finding.flag:
            flags[finding.subject_kind, finding.subject_id].add(finding.heuristic)
    return {subject: frozenset(names) for subject, names in flags.items()}


def _decide_kind(
    kind: SubjectKind, frame: pd.DataFrame, flags: _Flags, rules: Sequence[PolicyRule]
) -> dict[str, tuple[Verdict, str]]:
    own_rules = [rule for rule in rules if rule.subject_kind == kind]
    verdicts: dict[str, tuple[Verdict, str]] = {}
    for subject in _subjects(kind, frame):
        applies = next((r for r in own_rules if _applies(r, subject, flags)), None)
        default = DEFAULTS[kind]
        if applies is not None:
            verdicts[subject.subject_id] = (applies.then, applies.because)
        elif default is not None:
            verdicts[subject.subject_id] = (default, NOTHING_AGAINST)
    return verdicts


def _applies(rule: PolicyRule, subject: _Subject, flags: _Flags) -> bool:
    wanted = frozenset(rule.any_of)
    flagged_by = _named(subject.sources, flags) & wanted
    if subject.kind != "answer":
        by_answer = [_named(keys, flags) & wanted for keys in subject.answers]
        flagged = sum(1 for names in by_answer if names)
        if flagged and flagged / len(by_answer) >= rule.share:
            flagged_by = flagged_by.union(*by_answer)
    return len(flagged_by) >= rule.at_least


def _named(keys: Iterable[tuple[SubjectKind, str]], flags: _Flags) -> frozenset[str]:
    return frozenset().union(*(flags.get(key, frozenset()) for key in keys))


def _subjects(kind: SubjectKind, frame: pd.DataFrame) -> Iterable[_Subject]:
    """The frame's subjects of one kind, in the order of their ids."""
    answers: dict[str, list[tuple[tuple[SubjectKind, str], ...]]] = defaultdict(list)
    above: dict[str, tuple[tuple[SubjectKind, str], ...]] = {}
    rows = zip(frame.index, frame["assignment_id"], frame["worker_id"], strict=True)
    for answer_id, assignment_id, worker_id in rows:
        chain: tuple[tuple[SubjectKind, str], ...] = (
            ("answer", answer_id),
            ("assignment", assignment_id),
            ("worker", worker_id),
        )
        place = [own for own, _ in chain].index(kind)
        subject_id = chain[place][1]
        if not subject_id:  # an importer may not know the worker
            continue
        above[subject_id] = chain[place:]
        # What flags the subject itself must not pass for a flag on its answers.
        answers[subject_id].append(chain[:place])
    for subject_id in sorted(above):
        yield _Subject(
            kind=kind,
            subject_id=subject_id,
            sources=above[subject_id],
            answers=tuple(answers[subject_id]),
        )
