"""What a reviewer sees about a group of answers, and may do about it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.text import count, one_line, plural
from piecework.domain.verdicts import (
    RANDOM_SAMPLE,
    REJECTED_WITH,
    Decision,
    Finding,
    Subject,
    SubjectKind,
    Verdict,
)
from piecework.qc.registry import TITLES
from piecework.results.answers_shown import Work, flags_around, joined_suspicion, subject_of
from piecework.review.model.marks import Drawing, drawing_of
from piecework.review.model.reviewing import (
    ACTS,
    ActName,
    DecidedMeanwhile,
    Group,
    decided_in,
    may_decide,
    plan,
    targets,
    waiting_in,
)
from piecework.store import assignments, findings, workers

_MOST_OTHERS = 12
_MOST_HISTORY = 10
_MOST_EVIDENCE = 12
_MOST_PROPOSED = 12
_MOST_SENT = 20
_MOST_CHARACTERS = 10_000
"""Characters of a text on a page; other tools' files may hold megabytes."""
MOST_LISTED = 60
"""Answers of a group that a page lists."""
_END_OF_CLAUSE = re.compile(r"[;(]|: |, where ")
_LONGEST_CLAUSE = 110
_ANY_REASON = "to be written"
"""A placeholder for the reason while the page only shows what an act would do."""

_Waiting = Mapping[Subject, Decision]
"""The proposals that wait for a person, by subject."""
_Flags = Sequence[tuple[Finding, int]]
"""Findings that flag a group, each with the number of subjects that it flags."""

_MOST_FORESEEN = 500
_LATER = "The next page shows what follows."
"""Shown for larger acts: computing the results of six such acts takes too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerShown:
    """An answer on a card.

    Attributes:
        fields: names and values of the answer; a value without a name is the text.
        also_sent: what came under names that are no fields; the first ones.
        more_sent: how many more names came.
        verdict: the verdict in force; `None` while the answer waits.
        waits: whether it waits for a person.
        seconds: the time it took, as text; "" if not known.
    """

    number: int
    answer_id: str
    item_id: str
    worker: str
    fields: Sequence[tuple[str, str]]
    verdict: Verdict | None
    waits: bool
    seconds: str = ""
    also_sent: Sequence[tuple[str, str]] = ()
    more_sent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a heuristic flags a group.

    Attributes:
        about: what it flags, if that is not clear: "its worker", "item 7"; else "".
        title: what people call the heuristic.
        evidence: what it has seen.
        suspicion: in [0, 1].
        more: how many more findings of the heuristic flag the group.
    """

    about: str
    title: str
    evidence: str
    suspicion: float
    more: int = 0

    @property
    def clause(self) -> str:
        """The first clause of the evidence, to be read at a glance.

        >>> evidence = "repeats one sentence on all 5 items: “A photo.”"
        >>> Reason(about="", title="", evidence=evidence, suspicion=1).clause
        'repeats one sentence on all 5 items'
        """
        first = _END_OF_CLAUSE.split(self.evidence, maxsplit=1)[0]
        return one_line(first, at_most=_LONGEST_CLAUSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An act that a reviewer may choose on a card.

    Attributes:
        follows: its results in money and work, as sentences.
        proposed: the number of subjects for which the policy proposes it.
        reasons: suggested reasons, the best first; empty if no reason is needed.
        fault: why it cannot be done now; "" if it can.
        decides: the number of subjects that it decides.
    """

    act: ActName
    follows: Sequence[str]
    proposed: int
    reasons: Sequence[str]
    decides: int
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerShown:
    """Sentences about a worker, and some of their other answers.

    Attributes:
        name: the requester's own name for the person; "" if it is not shown.
    """

    worker: str
    sentences: Sequence[str]
    answers: Sequence[AnswerShown]
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Everything that the page shows about a group of answers.

    Attributes:
        state: a fingerprint of the decisions about the group.
        answers: answers of the group, from one to as many as a page lists.
        others: for a single answer, other workers' answers about its item.
        drawing: the marks of these answers and the others, if they are about one item.
        evidence: what speaks against the group, the strongest first.
        suspicion: the suspicion from all evidence together, in [0, 1].
        proposed: what the policy proposes, as sentences.
        decided: the decisions so far, equal ones once with their number; empty while
            any part of the group waits.
        worker: the worker of the answers; `None` for an item.
    """

    group: Group
    state: str
    answers: Sequence[AnswerShown]
    others: Sequence[AnswerShown]
    drawing: Drawing | None
    evidence: Sequence[Reason]
    suspicion: float
    proposed: Sequence[str]
    choices: Sequence[Choice]
    decided: Sequence[tuple[Decision, int]]
    worker: WorkerShown | None

    @property
    def size(self) -> int:
        """The number of answers in the group."""
        return len(self.group.rows)


def card_of(group: Group, *, state: str, waiting: _Waiting) -> Card:
    """Return the card of a group.

    Args:
        group: the group on the card.
        state: `state_of` the group, read before the rest of the card: a reviewer then
            learns of decisions that were made while the card was built.
        waiting: all proposals by subject.
    """
    work, rows, touched = group.work, group.rows, waiting_in(group, waiting)
    others = work.others(rows[0])[:_MOST_OTHERS] if group.view == "answer" else []
    flags = _flags(group)
    kinds = {kind for kind in group.subjects if may_decide(group, kind)}
    asked = [proposal for proposal in touched.values() if proposal.subject_kind in kinds]
    return Card(
        group=group,
        state=state,
        answers=answers_shown(work, rows[:MOST_LISTED], waiting),
        others=answers_shown(work, others, waiting),
        drawing=drawing_of(work, [*rows[:MOST_LISTED], *others])
        if group.view in {"answer", "item"}
        else None,
        evidence=_in_words(group, flags),
        suspicion=joined_suspicion(finding for finding, _ in flags),
        proposed=_proposed(asked),
        choices=_choices(group, touched, flags, asked),
        decided=() if asked else decided_in(group),
        worker=None if group.view == "item" else _worker(group, waiting),
    )


def main_reason(group: Group) -> Reason | None:
    """Return the strongest of the reasons that a group's card shows; `None` without."""
    return next(iter(_in_words(group, _flags(group)[:1])), None)


def answers_shown(work: Work, rows: Sequence[int], waiting: _Waiting) -> list[AnswerShown]:
    """Return the answers of rows, with their verdicts and times."""
    ids = [work.answer_id(number) for number in rows]
    verdicts = assignments.verdicts_by_answer(work.opened.store, ids)
    return [
        AnswerShown(
            number=number,
            answer_id=str(answer_id),
            item_id=work.item_id(number),
            worker=work.pseudonym_of(number),
            fields=cut(work.answered(number)),
            verdict=verdicts.get(answer_id),
            waits=("answer", str(answer_id)) in waiting,
            seconds=_took(work, number),
            also_sent=cut(also_sent[:_MOST_SENT]),
            more_sent=max(0, len(also_sent) - _MOST_SENT),
        )
        for number, answer_id in zip(rows, ids, strict=True)
        for also_sent in [work.also_sent(number)]
    ]


def cut(fields: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return fields with long texts cut, and the number of characters left out."""
    most = _MOST_CHARACTERS
    return [(name, text[:most] + _rest(len(text) - most)) for name, text in fields]


def _rest(more: int) -> str:
    return f"… (and {count(more)} more characters)" if more > 0 else ""


def _took(work: Work, number: int) -> str:
    seconds = work.seconds(number)
    if np.isnan(seconds):
        return ""
    others = work.typical_seconds(work.others(number))
    beside = "" if np.isnan(others) else f"; the others {_rounded(others)}"
    everywhere = _rounded(work.typical_seconds())
    return f"{_rounded(seconds)}{beside}; all items {everywhere}"


def _rounded(seconds: float) -> str:
    digits = 0 if seconds >= 10 else 1  # noqa: PLR2004 - below, tenths matter
    return f"{seconds:.{digits}f} s"


def _flags(group: Group) -> list[tuple[Finding, int]]:
    """Return what flags a group, the strongest first, and how many subjects each flags.

    In a group of several answers, the strongest finding of a heuristic stands for all
    of its findings, which are much alike. For an item, only its answers count.
    """
    if group.view == "answer":
        parts = group.work.parts(group.rows, is_answer=True)
        return [(finding, 1) for finding in flags_around(group.opened, parts)[:_MOST_EVIDENCE]]
    asked = {kind: ids for kind, ids in group.subjects.items() if may_decide(group, kind)}
    return findings.strongest_of_each(group.opened.store, asked, but=RANDOM_SAMPLE)


def _in_words(group: Group, flags: _Flags) -> list[Reason]:
    """Return a reason for each flag; in a larger group it names the answer."""
    work = group.work
    names: dict[str, str] = {}
    if group.view != "answer":
        numbers = [group.rows[0]]
        for finding, _ in flags:
            if finding.subject_kind == "answer":
                numbers += work.rows("answer", finding.subject_id)
        names = {
            str(work.answer_id(number)): f"by {work.pseudonym_of(number)}"
            if group.view == "item"
            else f"item {work.item_id(number)}"
            for number in numbers
        }
    return [
        Reason(
            about=subject_of(finding, names),
            title=TITLES.get(finding.heuristic, finding.heuristic),
            evidence=finding.evidence,
            suspicion=finding.suspicion,
            more=number - 1,
        )
        for finding, number in flags
    ]


def _proposed(asked: Sequence[Decision]) -> list[str]:
    """Return proposals as sentences, equal ones in one sentence."""
    alike = Counter(
        (proposal.subject_kind, proposal.verdict, proposal.because) for proposal in asked
    )
    sentences = [
        f"{verdict} {f'the {kind}' if many == 1 else plural(many, kind)}: {because}"
        for (kind, verdict, because), many in islice(alike.items(), _MOST_PROPOSED)
    ]
    more = len(alike) - len(sentences)
    return sentences + [f"and {more} more with other reasons"] * bool(more)


def _choices(
    group: Group, waiting: _Waiting, flags: _Flags, asked: Sequence[Decision]
) -> list[Choice]:
    choices = []
    by_kind: dict[SubjectKind, list[Decision]] = {}
    for proposal in asked:
        by_kind.setdefault(proposal.subject_kind, []).append(proposal)
    for act, (kind, verdict) in ACTS.items():
        of_kind = by_kind.get(kind, [])
        proposed = [proposal for proposal in of_kind if proposal.verdict == verdict]
        decides = len(of_kind)
        if not decides:
            # A reviewer may exclude a worker without a proposal.
            decides = len(targets(group, act, waiting=waiting))
        if not decides:
            continue
        fault, follows = "", [_LATER]
        try:
            if decides <= _MOST_FORESEEN:
                planned = plan(group, act, because=_ANY_REASON, by="", waiting=waiting)
                follows = planned.follows.sentences(group.opened)
        except (ConfigError, DecidedMeanwhile) as refusal:
            fault = str(refusal)
        first = proposed[0] if proposed else None
        choices.append(
            Choice(
                act=act,
                follows=follows,
                proposed=len(proposed),
                reasons=_reasons(group, verdict, first, flags),
                decides=decides,
                fault=fault,
            )
        )
    return choices


def _reasons(group: Group, verdict: Verdict, proposal: Decision | None, flags: _Flags) -> list[str]:
    """Return suggested reasons: the policy's with evidence, and each alone."""
    if verdict in {"keep", "approve"}:
        return []
    made = []
    if proposal is not None:
        because = proposal.because.removeprefix(REJECTED_WITH)
        own = _flags_of(group, proposal, flags)
        # A rule's reason may contain its evidence already.
        if own and not any(finding.evidence in because for finding in own):
            made.append(f"{because} ({_evidence_for(group.opened, because, own)})")
        made.append(because)
    made += [finding.evidence for finding, _ in flags[:5]]
    longest = group.opened.capabilities.longest_reason - 1
    lines = (one_line(text, at_most=longest) for text in made)
    return list(dict.fromkeys(text for text in lines if text))


def _flags_of(group: Group, proposal: Decision, flags: _Flags) -> list[Finding]:
    """Return the findings about a proposal's subject, not about its whole group."""
    kind, subject_id = proposal.subject_kind, proposal.subject_id
    if kind == "worker" or group.view == "answer":
        return [finding for finding, _ in flags]
    rows = group.work.rows(kind, subject_id)
    around = group.work.parts(rows, is_answer=kind == "answer")
    return flags_around(group.opened, around)


def _worker(group: Group, waiting: _Waiting) -> WorkerShown:
    opened, work = group.opened, group.work
    worker_id, own = work.worker_id(group.rows[0]), set(group.rows)
    rows = work.rows("worker", worker_id)
    rest = [number for number in reversed(rows) if number not in own]
    totals = workers.totals_of(opened.store, worker_id, but=RANDOM_SAMPLE)
    open_ = totals.answers - totals.kept - totals.dropped
    sent = f"Submitted {plural(totals.assignments, 'assignment')} with "
    counts = f"{totals.kept} kept, {totals.dropped} set aside, {open_} not decided."
    sentences = [f"{sent}{plural(totals.answers, 'answer')}: {counts}"]
    if totals.rejected:
        sentences.append(f"{plural(totals.rejected, 'assignment')} rejected.")
    flags = ", ".join(
        f"{TITLES.get(name, name)} ({plural(times, 'time')})"
        for name, times in totals.flags.items()
    )
    sentences.append(f"Flagged by {flags}." if flags else "Never flagged.")
    typical = work.typical_seconds(rows)
    if not np.isnan(typical):
        sentences.append(
            f"Takes {_rounded(typical)} for an item; all workers "
            f"{_rounded(work.typical_seconds())} (medians)."
        )
    return WorkerShown(
        worker=opened.pseudonym(worker_id),
        sentences=sentences,
        answers=answers_shown(work, rest[:_MOST_HISTORY], waiting),
    )


def _evidence_for(opened: OpenedCampaign, because: str, flags: Sequence[Finding]) -> str:
    """Return the evidence of a rule's own heuristics, otherwise the strongest."""
    named = {
        name for rule in opened.campaign.policy if rule.because == because for name in rule.any_of
    }
    own = (finding.evidence for finding in flags if finding.heuristic in named)
    return next(own, flags[0].evidence)
