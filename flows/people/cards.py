"""What a reviewer reads of a group of answers, and may do about it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from domain.counts import plural
from domain.errors import ConfigError
from domain.printable import one_line
from domain.verdicts import Decision, Finding, Verdict
from flows.campaign_run import CampaignStore
from flows.people.deciding import Subject
from flows.people.evidence import (
    Parts,
    flags_around,
    joined_suspicion,
    sentence,
)
from flows.people.reviewing import (
    ACTS,
    ActName,
    DecidedMeanwhile,
    Group,
    decided_in,
    plan,
    state_of,
    targets,
)
from flows.people.work import Work
from qc.heuristics.random_sample import NAME as SAMPLE
from qc.policy import REJECTED_WITH
from store import assignments, workers

_MOST_OTHERS = 12
_MOST_HISTORY = 10
_MOST_EVIDENCE = 12
_MOST_TIMED = 60
"""Answers of a group that a page lists with their times."""
_ANY_REASON = "to be written"
"""Stands for a reason while it is only asked what an act would do."""

_MOST_FORESEEN = 1_000
_LATER = "What follows is shown before it is done."
"""Of an act about more than that many: six of them took seconds to foresee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerShown:
    """An answer on a card.

    Attributes:
        fields: what was answered, by name; one without a name is the text.
        verdict: in force; `None` while it waits.
        waits: whether a person is asked about it.
        seconds: it took, in words; "" if that is not known.
    """

    number: int
    answer_id: str
    item_id: str
    worker: str
    fields: Sequence[tuple[str, str]]
    verdict: Verdict | None
    waits: bool
    seconds: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Something that may be done about a card.

    Attributes:
        follows: in money and work, a sentence each.
        proposed: of how many of them the policy proposes it.
        reasons: that may be given, the one to begin with first; empty where none is
            needed.
        fault: why it cannot be done as things are; "" if it can.
        decides: how many subjects the reviewer decides by it.
    """

    act: ActName
    follows: Sequence[str]
    proposed: int
    reasons: Sequence[str]
    decides: int
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerShown:
    """A worker in sentences, and some of the other work."""

    worker: str
    sentences: Sequence[str]
    answers: Sequence[AnswerShown]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """All about a group of answers.

    Attributes:
        state: a fingerprint of what is decided about it.
        answers: of the group; at least one.
        others: of an answer, what others answered about its item.
        evidence: what speaks against it, a sentence each, the strongest first.
        suspicion: of all evidence together, in [0, 1].
        proposed: what the policy proposes, a sentence each.
        decided: what is decided already.
        worker: whose answers they are; `None` of an item's.
    """

    group: Group
    state: str
    answers: Sequence[AnswerShown]
    others: Sequence[AnswerShown]
    evidence: Sequence[str]
    suspicion: float
    proposed: Sequence[str]
    choices: Sequence[Choice]
    decided: Sequence[Decision]
    worker: WorkerShown | None


def card_of(
    run: CampaignStore,
    work: Work,
    group: Group,
    waiting: Mapping[Subject, Decision],
) -> Card:
    """The card of a group.

    Args:
        run: the campaign.
        work: its answers.
        group: what the card is about.
        waiting: all proposals by subject.
    """
    shown = _Shown(run, work, waiting)
    rows = group.rows
    others = work.others(rows[0])[:_MOST_OTHERS] if group.view == "answer" else []
    flags, parts = _evidence(run, work, group)
    proposals = _proposals(run, work, group, waiting)
    return Card(
        group=group,
        state=state_of(run, work, group),
        answers=shown.answers(rows),
        others=shown.answers(others),
        evidence=_in_words(flags, parts),
        suspicion=joined_suspicion(flags),
        proposed=_proposed(proposals),
        choices=_choices(run, work, group, waiting, flags),
        decided=decided_in(run, work, group),
        worker=None if group.view == "item" else _worker(run, work, group, shown),
    )


class _Shown:
    """Makes answers of rows, with their verdicts and times."""

    def __init__(
        self,
        run: CampaignStore,
        work: Work,
        waiting: Mapping[Subject, Decision],
    ) -> None:
        self._run, self._work, self._waiting = run, work, waiting

    def answers(self, rows: Iterable[int]) -> list[AnswerShown]:
        work, rows = self._work, list(rows)
        ids = [work.answer_id(number) for number in rows]
        verdicts = assignments.verdicts_by_answer(self._run.store, ids)
        return [
            AnswerShown(
                number=number,
                answer_id=str(answer_id),
                item_id=work.item_id(number),
                worker=work.pseudonym_of(number),
                fields=work.answered(number),
                verdict=verdicts.get(answer_id),
                waits=("answer", str(answer_id)) in self._waiting,
                seconds=self._took(number) if listed < _MOST_TIMED else "",
            )
            for listed, (number, answer_id) in enumerate(zip(rows, ids, strict=True))
        ]

    def _took(self, number: int) -> str:
        seconds = self._work.seconds(number)
        if np.isnan(seconds):
            return ""
        others = self._work.typical_seconds(self._work.others(number))
        beside = "" if np.isnan(others) else f"; the others {_rounded(others)}"
        everywhere = _rounded(self._work.typical_seconds())
        return f"{_rounded(seconds)}{beside}; all items {everywhere}"


def _rounded(seconds: float) -> str:
    digits = 0 if seconds >= 10 else 1  # noqa: PLR2004 - below, tenths matter
    return f"{seconds:.{digits}f} s"


def _evidence(
    run: CampaignStore, work: Work, group: Group
) -> tuple[list[Finding], Parts]:
    """What is flagged in and around a group; of an item, its answers alone."""
    parts = work.parts(group.rows, is_answer=group.view == "answer")
    if group.view != "item":
        return flags_around(run, parts), parts
    found = flags_around(run, parts)
    own = set(parts.answers)
    return [one for one in found if one.subject_id in own], Parts(
        answers=parts.answers,
        assignments=(),
        worker=parts.worker,
        positions={
            str(work.answer_id(number)): f"by {work.pseudonym_of(number)}"
            for number in group.rows
        },
    )


def _in_words(flags: Sequence[Finding], parts: Parts) -> list[str]:
    """A sentence a flag; of a heuristic that flags several answers, the first says so.

    What a heuristic says of one answer of many is much like what it says of the next.
    """
    alike = Counter(finding.heuristic for finding in flags)
    if not parts.positions:
        return [sentence(finding, {}) for finding in flags[:_MOST_EVIDENCE]]
    first = {finding.heuristic: finding for finding in reversed(flags)}
    return [
        sentence(first[name], parts.positions)
        + (f" (and {number - 1} more of this kind)" * (number > 1))
        for name, number in alike.items()
    ]


def _proposed(proposals: Sequence[Decision]) -> list[str]:
    """Proposals in words, those that are alike in one sentence."""
    alike = Counter((one.verdict, one.subject_kind, one.because) for one in proposals)
    return [
        f"{verdict} {f'the {kind}' if number == 1 else plural(number, kind)}: {because}"
        for (verdict, kind, because), number in alike.items()
    ]


def _proposals(
    run: CampaignStore,
    work: Work,
    group: Group,
    waiting: Mapping[Subject, Decision],
) -> list[Decision]:
    found: dict[Subject, Decision] = {}
    kinds: tuple[ActName, ...] = ("keep", "reject", "stay")
    for act in kinds:
        for one in targets(run, work, group, act, waiting=waiting):
            found[one.subject_kind, one.subject_id] = one
    return list(found.values())


def _choices(
    run: CampaignStore,
    work: Work,
    group: Group,
    waiting: Mapping[Subject, Decision],
    flags: Sequence[Finding],
) -> list[Choice]:
    choices = []
    for act, (_, verdict) in ACTS.items():
        proposals = targets(run, work, group, act, waiting=waiting)
        if not proposals:
            continue
        fault, follows, decides = "", [_LATER], len(proposals)
        try:
            if decides <= _MOST_FORESEEN:
                planned = plan(
                    run, work, group, act, because=_ANY_REASON, by="", waiting=waiting
                )
                follows = planned.follows.sentences(run)
        except (ConfigError, DecidedMeanwhile) as refusal:
            fault = str(refusal)
        choices.append(
            Choice(
                act=act,
                follows=follows,
                # An exclusion may be decided though nothing proposes it.
                proposed=sum(
                    one.verdict == verdict
                    and (one.subject_kind, one.subject_id) in waiting
                    for one in proposals
                ),
                reasons=reasons_for(run, proposals, verdict, flags),
                decides=decides,
                fault=fault,
            )
        )
    return choices


def reasons_for(
    run: CampaignStore,
    proposals: Sequence[Decision],
    verdict: Verdict,
    flags: Sequence[Finding],
) -> list[str]:
    """Reasons to begin with: the policy's with the evidence, and each by itself."""
    if verdict in {"keep", "approve"}:
        return []
    policy = [
        one.because.removeprefix(REJECTED_WITH)
        for one in proposals
        if one.verdict == verdict
    ]
    evidence = list(dict.fromkeys(one.evidence for one in flags))
    made = []
    if policy and evidence:
        own = _evidence_for(run, policy[0], flags)
        # A rule's reason may have its evidence in it already.
        is_told = any(one in policy[0] for one in evidence)
        made.append(policy[0] if is_told else f"{policy[0]} ({own})")
    made += [*policy[:1], *evidence[:5]]
    longest = run.capabilities.longest_reason - 1
    lines = (one_line(text, at_most=longest) for text in made)
    return list(dict.fromkeys(text for text in lines if text))


def _worker(run: CampaignStore, work: Work, group: Group, shown: _Shown) -> WorkerShown:
    worker_id, own = work.worker_id(group.rows[0]), set(group.rows)
    rows = work.rows("worker", worker_id)
    rest = [number for number in reversed(rows) if number not in own]
    totals = workers.totals_of(run.store, worker_id, but=SAMPLE)
    open_ = totals.answers - totals.kept - totals.dropped
    sent = f"Sent {plural(totals.assignments, 'assignment')} with "
    counts = f"{totals.kept} kept, {totals.dropped} set aside, {open_} not decided."
    said = [f"{sent}{plural(totals.answers, 'answer')}: {counts}"]
    if totals.rejected:
        said.append(f"{plural(totals.rejected, 'assignment')} rejected.")
    flags = ", ".join(
        f"{name} {plural(times, 'time')}" for name, times in totals.flags.items()
    )
    said.append(f"Flagged by {flags}." if flags else "Never flagged.")
    typical = work.typical_seconds(rows)
    if not np.isnan(typical):
        said.append(
            f"Takes {_rounded(typical)} an item; all workers "
            f"{_rounded(work.typical_seconds())} (medians)."
        )
    return WorkerShown(
        worker=work.pseudonym(worker_id),
        sentences=said,
        answers=shown.answers(rest[:_MOST_HISTORY]),
    )


def _evidence_for(run: CampaignStore, because: str, flags: Sequence[Finding]) -> str:
    """The evidence of a rule's own heuristics, else the strongest."""
    named = {
        name
        for rule in run.campaign.policy
        if rule.because == because
        for name in rule.any_of
    }
    own = (one.evidence for one in flags if one.heuristic in named)
    return next(own, flags[0].evidence)
