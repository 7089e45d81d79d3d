"""Turn findings into decisions, by the rules of a campaign's policy alone.

How a rule is read:

- Rules are tried in their order; the first that applies to a subject decides. So put an
  exception above the rule that it excepts from.
- A heuristic flags a subject when its finding is about the subject itself, or about its
  origin: a finding on a worker covers everything that they sent, and one on an
  assignment covers its answers.
- For an assignment or a worker, findings on answers count as well, if the share of its
  answers that any of the rule's heuristics flags is at least `share` (and at least one
  answer). For a worker with fewer than `LEAST_ANSWERS`, a `share` above 0 says nothing:
  one flagged answer of two may be chance. A finding on an assignment counts as one on
  each of its answers.
- The rule applies when at least `at_least` different heuristics flag the subject.
- A rule with `suspicion_above` applies if the subject's joined suspicion is at least
  that.
- The rule's reason is filled from what was measured (`piecework.qc.reasons`).
- Every answer and every assignment gets one decision; a worker gets one only when a
  rule applies. Rejecting an assignment drops all its answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import did_you_mean
from piecework.domain.verdicts import (
    BELOW,
    JOINED,
    LEAST_ANSWERS,
    REJECTED_WITH,
    VERDICTS,
    Decision,
    Finding,
    PolicyRule,
    Subject,
    SubjectKind,
    Verdict,
)
from piecework.qc.reasons import faults_of_reason, filled_reason, without_answers
from piecework.qc.registry import BY_NAME

NOTHING_AGAINST = "nothing in the policy speaks against it"

DEFAULTS: dict[SubjectKind, Verdict | None] = {
    "answer": "keep",
    "assignment": "approve",
    "worker": None,
}


Flags: TypeAlias = "npt.NDArray[np.bool_]"
Codes: TypeAlias = "npt.NDArray[np.intp]"
Names = tuple[str, ...]
FlagEvidence = tuple[float, str]
"""A finding's suspicion and evidence."""

_NOTHING: FlagEvidence = (0.0, "")

_ABOVE: dict[SubjectKind, tuple[SubjectKind, ...]] = {
    "answer": ("answer", "assignment", "worker"),
    "assignment": ("assignment", "worker"),
    "worker": ("worker",),
}
"""Findings on these kinds are about the subject itself."""


def decide(
    table: pd.DataFrame,
    findings: Iterable[Finding],
    rules: Sequence[PolicyRule],
    *,
    campaign: str,
    at: datetime,
    longest_reason: int,
) -> list[Decision]:
    """One decision per answer and assignment, and per worker to whom a rule applies.

    Args:
        table: the answers to decide about (`piecework.domain.tables`); only
            `assignment_id` and `worker_id` are read.
        findings: of heuristics about them; those without a flag are ignored.
        rules: the campaign's policy; the module's docstring says how a rule is read.
        campaign: its name, for `decided_by`.
        at: the time of the decision.
        longest_reason: how many characters of a reason the platform accepts.
    """
    flags = _Flags(table, findings)
    verdicts = {kind: _verdicts(kind, flags, rules, longest_reason) for kind in DEFAULTS}
    answers, assignments = verdicts["answer"], verdicts["assignment"]
    for answer_id, assignment_id in zip(
        table.index.tolist(), table["assignment_id"].tolist(), strict=True
    ):
        verdict, because = assignments.get(assignment_id, ("approve", ""))
        if verdict == "reject":
            answers[answer_id] = ("drop", f"{REJECTED_WITH}{because}")
    return [
        Decision(
            subject_kind=kind,
            subject_id=subject_id,
            verdict=verdict,
            decided_by=f"policy:{campaign}",
            decided_at=at,
            because=because,
        )
        for kind, own in verdicts.items()
        for subject_id, (verdict, because) in own.items()
    ]


def applies_to(
    table: pd.DataFrame, findings: Iterable[Finding], rules: Sequence[PolicyRule]
) -> list[frozenset[str]]:
    """By rule, the ids of the subjects to which it alone applies.

    Args:
        table: as for `decide`.
        findings: as for `decide`.
        rules: of any kind of subject; a rule above another takes nothing from it.
    """
    flags = _Flags(table, findings)
    return [
        frozenset(
            subject_id
            for subject_id, applies in zip(
                flags.subject_ids[rule.subject_kind], _applies(rule, flags).tolist(), strict=True
            )
            if applies and subject_id
        )
        for rule in rules
    ]


def check_rules(rules: Sequence[PolicyRule]) -> list[str]:
    """List every fault of a policy, one sentence each; rules are numbered from 1."""
    return [
        f"policy rule {number}: {fault}"
        for number, rule in enumerate(rules, start=1)
        for fault in _faults(rule)
    ]


def _faults(rule: PolicyRule) -> Iterable[str]:
    yield from _faults_of_verdict(rule)
    for name in rule.any_of:
        if name not in BY_NAME:
            names = ", ".join(sorted(BY_NAME))
            yield (
                f"any_of names {name!r}, which is not a heuristic"
                f"{did_you_mean(name, BY_NAME, then=f'allowed are {names}.')}"
            )
    most = len(set(rule.any_of))
    if rule.suspicion_above is not None:
        if rule.subject_kind == "assignment":
            yield "suspicion_above applies to answers and workers, not to assignments."
        if rule.share or rule.at_least != 1:
            yield "at_least and share have no effect beside suspicion_above; leave them out."
    elif not 1 <= rule.at_least <= most:
        yield f"at_least is {rule.at_least}; allowed is 1 to {most} (size of any_of)."
    yield from faults_of_reason(rule)


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
        yield "share is set for answers; it applies to assignments and workers only."
    elif rule.share and rule.any_of and {*rule.any_of} == {*without_answers(rule)}:
        yield (
            f"share has no effect: {' or '.join(without_answers(rule))} flags no answer of the "
            f"{rule.subject_kind}; leave it out."
        )


class _Flags:
    """The heuristics that flag each subject, by row of the table."""

    def __init__(self, table: pd.DataFrame, findings: Iterable[Finding]) -> None:
        self._codes: dict[SubjectKind, Codes] = {}
        self.subject_ids: dict[SubjectKind, list[str]] = {}
        ids: dict[SubjectKind, pd.Index[str]] = {
            "answer": table.index,
            "assignment": pd.Index(table["assignment_id"]),
            "worker": pd.Index(table["worker_id"]),
        }
        for kind, names in ids.items():
            codes, different = pd.factorize(names, sort=True)
            self._codes[kind] = codes
            self.subject_ids[kind] = different.tolist()
        self._rows: dict[SubjectKind, tuple[Codes, Codes]] = {}
        self._by_row: dict[tuple[tuple[SubjectKind, ...], str], Flags] = {}
        self._flagged: dict[Subject, dict[str, FlagEvidence]] = defaultdict(dict)
        for finding in findings:
            # Rules state their own limit for the joined suspicion.
            if finding.flag or finding.heuristic == JOINED:
                key = (finding.subject_kind, finding.heuristic)
                suspicion_and_evidence = (finding.suspicion, finding.evidence)
                self._flagged[key][finding.subject_id] = suspicion_and_evidence

    def rows(self, kinds: tuple[SubjectKind, ...], heuristic: str) -> Flags:
        """By row, whether the heuristic flags one of the row's subjects."""
        if (kinds, heuristic) not in self._by_row:
            self._by_row[kinds, heuristic] = self._looked_up(kinds, heuristic)
        return self._by_row[kinds, heuristic]

    def _looked_up(self, kinds: tuple[SubjectKind, ...], heuristic: str) -> Flags:
        rows = np.zeros(len(self._codes["answer"]), dtype="bool")
        for kind in kinds:
            if flagged := self._flagged.get((kind, heuristic)):
                ids = self.subject_ids[kind]
                is_flagged = np.fromiter((i in flagged for i in ids), "bool", len(ids))
                rows |= is_flagged[self._codes[kind]]
        return rows

    def suspected(self, kind: SubjectKind, above: float) -> Flags:
        """By subject, whether its joined suspicion is at least this."""
        joined = self._flagged.get((kind, JOINED), {})
        return np.array(
            [joined.get(name, _NOTHING)[0] >= above for name in self.subject_ids[kind]],
            dtype="bool",
        )

    def flag_evidence(
        self, kind: SubjectKind, subject: int, heuristics: Names
    ) -> set[FlagEvidence]:
        """Suspicion and evidence of all flags about a subject and its related kinds."""
        rows = self.rows_of(kind, subject)
        if not heuristics:
            own = self.subject_ids[kind][subject]
            return {self._flagged[kind, JOINED][own]}
        return {
            self._flagged[about, name][subject_id]
            for about in {*_ABOVE[kind], *BELOW[kind]}
            for name in heuristics
            if self._flagged.get((about, name))
            for subject_id in {self.subject_ids[about][code] for code in self._codes[about][rows]}
            if subject_id in self._flagged[about, name]
        }

    def rows_of(self, kind: SubjectKind, subject: int) -> Codes:
        """The rows of a subject, by its code."""
        if kind not in self._rows:
            codes = self._codes[kind]
            order = np.argsort(codes, kind="stable")
            ends = np.cumsum(np.bincount(codes, minlength=len(self.subject_ids[kind])))
            self._rows[kind] = (order, ends)
        order, ends = self._rows[kind]
        return order[(ends[subject - 1] if subject else 0) : ends[subject]]

    def sizes(self, kind: SubjectKind) -> npt.NDArray[np.int64]:
        """By subject of a kind, how many rows it has."""
        return np.bincount(self._codes[kind])

    def counts(self, kind: SubjectKind, rows: Flags) -> npt.NDArray[np.int64]:
        """By subject of a kind, how many of its rows are true."""
        n_subjects = len(self.subject_ids[kind])
        return np.bincount(self._codes[kind][rows], minlength=n_subjects)


def _verdicts(
    kind: SubjectKind, flags: _Flags, rules: Sequence[PolicyRule], longest: int
) -> dict[str, tuple[Verdict, str]]:
    """By subject, in the order of their ids, the verdict and its reason."""
    subject_ids = flags.subject_ids[kind]
    decided_by = np.full(len(subject_ids), -1)
    for number, rule in enumerate(rules):
        if rule.subject_kind == kind:
            decided_by[(decided_by < 0) & _applies(rule, flags)] = number
    verdicts: dict[str, tuple[Verdict, str]] = {}
    for code, (subject_id, number) in enumerate(zip(subject_ids, decided_by.tolist(), strict=True)):
        default = DEFAULTS[kind]
        if not subject_id:  # an importer may not know the worker
            continue
        if number >= 0:
            reason = _reason(rules[number], flags, code, longest)
            verdicts[subject_id] = (rules[number].then, reason)
        elif default is not None:
            verdicts[subject_id] = (default, NOTHING_AGAINST)
    return verdicts


def _reason(rule: PolicyRule, flags: _Flags, subject: int, longest: int) -> str:
    """The rule's reason about one of its subjects, by the subject's code."""
    kind = rule.subject_kind
    rows = flags.rows_of(kind, subject)
    is_flagged = np.zeros(len(rows), dtype="bool")
    for name in rule.any_of:
        is_flagged |= flags.rows(BELOW[kind], name)[rows]
    return filled_reason(
        rule,
        flags.flag_evidence(kind, subject, rule.any_of),
        flagged=int(is_flagged.sum()),
        answers=len(rows),
        longest=longest,
    )


def _applies(rule: PolicyRule, flags: _Flags) -> Flags:
    """By subject of the rule's kind, whether the rule applies."""
    kind = rule.subject_kind
    if rule.suspicion_above is not None:
        return flags.suspected(kind, rule.suspicion_above)
    names = tuple(dict.fromkeys(rule.any_of))
    below = [flags.rows(BELOW[kind], name) for name in names]
    size = flags.sizes(kind)
    flagged = flags.counts(kind, np.logical_or.reduce(below))
    counts_below = (flagged > 0) & (flagged / size >= rule.share)
    if kind == "worker" and rule.share:
        counts_below &= size >= LEAST_ANSWERS
    flagged_by = np.zeros(len(size), dtype="int64")
    for name, rows in zip(names, below, strict=True):
        own = flags.counts(kind, flags.rows(_ABOVE[kind], name)) > 0
        flagged_by += own | (counts_below & (flags.counts(kind, rows) > 0))
    return flagged_by >= rule.at_least
