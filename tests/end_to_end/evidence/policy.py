"""What a campaign's policy says about a subject, and whether its reason is so.

The rules are read again here as docs/reference/campaign-file.md has them, from flags
alone; whose evidence is true is checked beside (`claims`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter

from piecework.domain.verdicts import JOINED, Decision, PolicyRule, SubjectKind
from tests.end_to_end.evidence.ratings import is_outside
from tests.end_to_end.evidence.raw_answers import RawAnswer
from tests.end_to_end.evidence.world import FlagEvidence, Flags, World, is_share

REJECTED = "its assignment was rejected: "
NOTHING = "nothing in the policy speaks against it"
OF_PERSONS = (
    "The study is about readers with full color vision who are no beginners in its "
    "language; taking part is paid all the same."
)
_MOST_QUOTED = 3


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A subject as a rule sees it.

    Attributes:
        above: flags about it, and about whom and what it came from.
        below: by answer of it that is judged, flags about the answer or its assignment.
    """

    above: Sequence[Mapping[str, FlagEvidence]]
    below: Mapping[str, Sequence[Mapping[str, FlagEvidence]]]

    def flagged(self, rule: PolicyRule) -> list[str]:
        """The answers that any of the rule's heuristics flags."""
        return [
            name
            for name, flags in self.below.items()
            if any(heuristic in flag for flag in flags for heuristic in rule.any_of)
        ]

    def applies(self, rule: PolicyRule) -> bool:
        """Whether enough of its heuristics flag it, or it is suspicious enough."""
        if rule.suspicion_above is not None:
            suspicion, _ = self.above[0].get(JOINED, (0.0, ""))
            return suspicion >= rule.suspicion_above
        flagged = self.flagged(rule)
        is_enough = bool(flagged) and len(flagged) / len(self.below) >= rule.share
        by = {
            name
            for name in rule.any_of
            if any(name in flag for flag in self.above)
            or (
                is_enough
                and any(name in flag for answer_id in flagged for flag in self.below[answer_id])
            )
        }
        return len(by) >= rule.at_least

    def evidence(self, rule: PolicyRule) -> list[str]:
        """What the rule's heuristics say, the most suspicious first."""
        if rule.suspicion_above is not None:
            return [self.above[0][JOINED][1]]
        flags = [*self.above, *(flag for own in self.below.values() for flag in own)]
        reasons = {flag[name] for flag in flags for name in rule.any_of if name in flag}
        worst = sorted(reasons, key=lambda reason: (-reason[0], reason[1]))
        return list(dict.fromkeys(sentence for _, sentence in worst))


def judged(kind: SubjectKind, own: Sequence[RawAnswer], flags: Flags, *, batch: int) -> Judged:
    """A subject of some answers, in a batch."""
    first = own[0]
    ids = {"answer": first.answer_id, "assignment": first.assignment_id, "worker": first.worker_id}
    kinds = {
        "answer": ("answer", "assignment", "worker"),
        "assignment": ("assignment", "worker"),
        "worker": ("worker",),
    }[kind]
    below: dict[str, Sequence[Mapping[str, FlagEvidence]]] = {}
    for answer in own:
        if answer.batch == batch and kind != "answer":
            below[answer.answer_id] = [flags.get(("answer", answer.answer_id), {})]
            if kind == "worker":
                of_hit = flags.get(("assignment", answer.assignment_id), {})
                below[answer.answer_id] = [*below[answer.answer_id], of_hit]
    return Judged(above=[flags.get((k, ids[k]), {}) for k in kinds], below=below)


def fault_of_decision(
    decision: Decision,
    own: Sequence[RawAnswer],
    flags: Flags,
    world: World,
    *,
    rejected: Mapping[str, str],
) -> str:
    """What is untrue about a decision's reason; "" where nothing is.

    Args:
        decision: by the policy.
        own: the answers of its subject.
        flags: that stood when it was made.
        world: what was known.
        rejected: reasons by assignment that was rejected.
    """
    reason = decision.because
    assignment = own[0].assignment_id
    if decision.subject_kind == "answer" and assignment in rejected:
        is_so = reason == REJECTED + rejected[assignment] and decision.verdict == "drop"
        return "" if is_so else f"untrue of a rejected assignment: {reason}"
    batch = max(answer.batch for answer in world.answers)
    subject = judged(decision.subject_kind, own, flags, batch=batch)
    for rule in world.campaign.policy:
        if rule.subject_kind == decision.subject_kind and subject.applies(rule):
            if decision.verdict != rule.then:
                return f"{decision.verdict}, and not {rule.then}: {reason}"
            return _fault_of_reason(reason, rule, subject, own, world)
    return "" if reason == NOTHING else f"no rule applies: {reason}"


def _fault_of_reason(
    reason: str, rule: PolicyRule, subject: Judged, own: Sequence[RawAnswer], world: World
) -> str:
    if reason == OF_PERSONS == rule.because:
        return "" if is_outside(own[0], world) else f"untrue of the person: {reason}"
    match = re.fullmatch(_pattern(rule.because), reason)
    if match is None:
        return f"not what the rule says ({rule.because}): {reason}"
    filled = match.groupdict()
    flagged, answers = len(subject.flagged(rule)), len(subject.below)
    expected = "; ".join(subject.evidence(rule)[:_MOST_QUOTED])
    is_so = (
        int(filled.get("flagged") or flagged) == flagged
        and int(filled.get("answers") or answers) == answers
        and ("share" not in filled or is_share(filled["share"], flagged, answers))
        and filled.get("evidence", expected) == expected
    )
    return "" if is_so else f"{flagged} of {answers} ({expected}): {reason}"


def _pattern(because: str) -> str:
    parts: Iterable[str] = (
        re.escape(text) + (f"(?P<{field}>.*)" if field else "")
        for text, field, *_ in Formatter().parse(because)
    )
    return "".join(parts)
