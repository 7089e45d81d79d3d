"""Judge answers again by other rules, and compare them with the truth.

A batch is judged when its HITs are collected, and again after each round in which
missing answers were posted again. Each time, heuristics see the answers that were known
by then, and the policy decides what is undecided, as the steps `assess` and `decide`
do (`piecework.engine.judge`). A worker who is excluded would not have been in what was
posted later. Their later answers are left out of all that follows, unless a person
decided to keep the worker. Nothing is written.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import Campaign
from piecework.domain.text import plural
from piecework.domain.verdicts import JOINED, Decision, Finding, Subject, SubjectKind
from piecework.engine.judge import proposals_about, split_by_doubt, suspicions_about
from piecework.qc.batches import BatchScores
from piecework.qc.gold import wrong_by_answer
from piecework.qc.heuristics import gold_failed
from piecework.qc.joined import Judged
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import KnownScores
from piecework.store import archive, decisions, reviews, workers
from piecework.store.settlements import ELSEWHERE

FEW = 20
"""Fewer known subjects than this say little (ours)."""

_BAD = frozenset({"drop", "reject", "exclude", "block"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Subjects that are known to be bad or good.

    Attributes:
        source: who knows it, as people read it.
        kind: of the subjects.
        is_bad: by id.
        counts_rejections: whether a rejected assignment also counts against a worker.
        remarks: what to know about it.
    """

    source: str
    kind: Literal["answer", "worker"]
    is_bad: Mapping[str, bool]
    counts_rejections: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What is known, and of what."""
        return f"{self.source}: {self.kind}s"


def truths_of(opened: OpenedCampaign, table: pd.DataFrame) -> tuple[Truth, ...]:
    """Return everything that is known about the answers and workers of a table.

    Args:
        opened: the campaign with its store.
        table: the answers (`piecework.domain.tables`).
    """
    everything = (*_of_people(opened, table), _of_gold(opened, table), *_planted(opened, table))
    return tuple(truth for truth in everything if truth.is_bad)


def _of_people(opened: OpenedCampaign, table: pd.DataFrame) -> Iterator[Truth]:
    verdicts = defaultdict[Subject, set[bool]](set)
    last = dict[Subject, bool]()
    for decision in decisions.all_by_people(opened.store):
        if decision.decided_by != ELSEWHERE:
            subject = (decision.subject_kind, decision.subject_id)
            last[subject] = decision.verdict in _BAD
            verdicts[subject].add(last[subject])
    for review in reviews.reviews_in_force(opened.store):
        verdicts[review.subject].add(review.verdict in _BAD)
    both = {subject for subject in last if subject[0] == "answer" and len(verdicts[subject]) > 1}
    answers = {
        name: is_bad
        for (kind, name), is_bad in last.items()
        if kind == "answer" and ("answer", name) not in both and name in table.index
    }
    remarks = []
    if both:
        remarks.append(
            f"People decided both ways about {plural(len(both), 'answer')}; "
            "what contradicts itself counts for neither."
        )
    if 0 < len(answers) < FEW:
        remarks.append(
            f"People decided about {plural(len(answers), 'answer')} only: too few decisions to say "
            "which rules agree better."
        )
    yield Truth(source="people", kind="answer", is_bad=answers, remarks=tuple(remarks))
    of_workers = {name: is_bad for (kind, name), is_bad in last.items() if kind == "worker"}
    yield Truth(source="people", kind="worker", is_bad=of_workers)


def _of_gold(opened: OpenedCampaign, table: pd.DataFrame) -> Truth:
    campaign = opened.campaign
    settings = campaign.heuristics.get(gold_failed.NAME) or {}
    tolerance = settings.get("tolerance", gold_failed.Params().tolerance)
    rated = with_ratings(table, campaign.task, campaign.items)
    wrong = wrong_by_answer(rated, float(str(tolerance)))
    return Truth(
        source="known answers",
        kind="answer",
        is_bad=dict(zip(wrong.index.astype("str"), wrong.tolist(), strict=True)),
    )


def _planted(opened: OpenedCampaign, table: pd.DataFrame) -> Iterator[Truth]:
    traits = workers.load_traits(opened.store)
    came = table["worker_id"].unique().tolist()
    is_bad = {name: traits[name][1] for name in came if name in traits}
    yield Truth(source="planted workers", kind="worker", is_bad=is_bad, counts_rejections=True)
    of_answers = zip(table.index.tolist(), table["worker_id"].tolist(), strict=True)
    yield Truth(
        source="planted workers",
        kind="answer",
        is_bad={name: is_bad[worker] for name, worker in of_answers if worker in is_bad},
    )


_LAST = datetime.max.replace(tzinfo=UTC)
_OUT = frozenset({"exclude", "block"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time at which a batch was judged.

    Attributes:
        batch: the batch.
        round: its round; 0 for the first.
        decided_at: when the policy decided then; the end of time if it has not yet.
        archived: how many of the first answers were in the archive by then, where passes
            do not see them.
    """

    batch: int
    round: int
    decided_at: datetime
    archived: int = 0


@dataclass(slots=True, kw_only=True)
class JudgedAgain:
    """What one set of rules decides.

    Attributes:
        campaign: the campaign with these rules.
        decisions: by subject: an answer, an assignment, or an excluded worker.
        absent: answers of workers who were already excluded.
        excluded: by worker, when they were excluded.
        waiting: assignments and workers that a person would have to look at; empty if
            the policy decides.
        flags: what flags each subject, as it was when it was decided; if the policy
            decides, only what its rules name.
    """

    campaign: Campaign
    decisions: dict[Subject, Decision] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    excluded: dict[str, Moment] = field(default_factory=dict)
    waiting: set[Subject] = field(default_factory=set)
    flags: dict[Subject, list[Finding]] = field(default_factory=dict)

    def verdict_of(self, answer_id: str) -> str:
        """Return `keep`, `drop`, or `absent` for an answer that would not be there."""
        if answer_id in self.absent:
            return "absent"
        decision = self.decisions.get(("answer", answer_id))
        return "absent" if decision is None else decision.verdict


def judge_again(opened: OpenedCampaign, campaigns: Sequence[Campaign]) -> list[JudgedAgain]:
    """Return what each of these sets of rules decides about all stored answers.

    Args:
        opened: the campaign with its store, which is only read.
        campaigns: the same campaign, with heuristics and policies of their own.
    """
    table = opened.answers()
    by_people = decisions.all_by_people(opened.store)
    replays = [_Replay(opened, campaign, by_people) for campaign in campaigns]
    for moment in _moments(opened, table):
        known, until = _Known(), table[_until(table, moment)].iloc[moment.archived :]
        for replay in replays:
            replay.judge(until, moment, known)
    return [replay.judged for replay in replays]


@dataclass(slots=True)
class _Known:
    """What is known at one moment, by the answers that are left out.

    Attributes:
        findings: by settings as well.
        scores: of single heuristics, and the answers that they judge.
    """

    findings: dict[tuple[str, frozenset[str]], list[Finding]] = field(default_factory=dict)
    scores: dict[frozenset[str], KnownScores] = field(default_factory=dict)


class _Replay:
    """One set of rules, on its way from batch to batch."""

    def __init__(
        self, opened: OpenedCampaign, campaign: Campaign, by_people: Sequence[Decision]
    ) -> None:
        self.judged = JudgedAgain(campaign=campaign)
        self._opened = replace(opened, campaign=campaign, batches=BatchScores())
        self._by_people = by_people
        self._only = _named(campaign)
        self._settings = repr((sorted(campaign.heuristics.items()), self._only))
        self._kept_by_people = _kept_workers(by_people)

    def judge(self, now: pd.DataFrame, moment: Moment, known: _Known) -> None:
        """Judge what is due at a moment, given the answers that were known."""
        judged = self.judged
        if out := set(judged.excluded) - self._kept_by_people:
            is_new = (now["batch"] == moment.batch) & (now["round"] == moment.round)
            judged.absent.update(now.index[is_new & now["worker_id"].isin(out)])
        if judged.absent:
            now = now[~now.index.isin(judged.absent)]
        batch = now[now["batch"] == moment.batch]
        due = batch[batch["round"] == moment.round]
        if due.empty:
            return
        absent = frozenset(judged.absent)
        key = (self._settings, absent)
        if key not in known.findings:
            by_then = judged_by_then(self._by_people, moment.decided_at)
            scores = known.scores.setdefault(absent, KnownScores())
            known.findings[key] = suspicions_about(
                self._opened,
                now,
                judged=by_then,
                batch=moment.batch,
                known=scores,
                only=self._only,
            )
        suspicions = self._findings(known.findings[key], batch, due)
        self._decide(batch, due, suspicions, moment)

    def _findings(
        self, suspicions: Iterable[Finding], batch: pd.DataFrame, due: pd.DataFrame
    ) -> list[Finding]:
        """Keep new findings about what is due; return all about the batch."""
        subjects: dict[SubjectKind, set[str]] = {
            "answer": set(due.index.tolist()),
            "assignment": set(due["assignment_id"].tolist()),
            "worker": set(batch["worker_id"].tolist()),
        }
        flags = self.judged.flags
        for worker in subjects["worker"]:
            flags.pop(("worker", worker), None)
        for finding in suspicions:
            if not (finding.flag or finding.heuristic == JOINED):
                continue
            if finding.subject_id in subjects[finding.subject_kind]:
                subject = (finding.subject_kind, finding.subject_id)
                flags.setdefault(subject, []).append(finding)
        about: list[tuple[SubjectKind, Iterable[str]]] = [
            ("answer", batch.index.tolist()),
            ("assignment", batch["assignment_id"].unique().tolist()),
            ("worker", subjects["worker"]),
        ]
        return [
            finding
            for kind, names in about
            for name in names
            for finding in flags.get((kind, name), ())
        ]

    def _decide(
        self, batch: pd.DataFrame, due: pd.DataFrame, suspicions: list[Finding], moment: Moment
    ) -> None:
        judged = self.judged
        open_ids = {*due.index.tolist(), *due["assignment_id"].tolist()}
        proposed = [
            decision
            for decision in proposals_about(self._opened, batch, suspicions)
            if (
                decision.subject_id not in judged.excluded
                if decision.subject_kind == "worker"
                else decision.subject_id in open_ids
            )
        ]
        if judged.campaign.decided_by == "person":
            _, doubtful = split_by_doubt(batch, proposed, suspicions)
            judged.waiting.update(
                (each.subject_kind, each.subject_id)
                for each in doubtful
                if each.subject_kind != "answer"
            )
        for decision in proposed:
            judged.decisions[decision.subject_kind, decision.subject_id] = decision
            if decision.verdict in _OUT:
                judged.excluded[decision.subject_id] = moment


def _named(campaign: Campaign) -> frozenset[str] | None:
    """Return the heuristics that verdicts depend on; `None`: all.

    If people decide, any flag lets an assignment wait for them.
    """
    if campaign.decided_by == "person":
        return None
    if any(rule.suspicion_above is not None for rule in campaign.policy):
        return None
    return frozenset(name for rule in campaign.policy for name in rule.any_of)


def judged_by_then(by_people: Iterable[Decision], moment: datetime) -> Judged:
    """Return which answers and workers people had judged bad or good by a moment."""
    known: dict[SubjectKind, dict[str, bool]] = {"answer": {}, "worker": {}}
    for decision in by_people:
        if decision.decided_at < moment and decision.subject_kind in known:
            known[decision.subject_kind][decision.subject_id] = decision.verdict in _BAD
    return known


def _kept_workers(by_people: Iterable[Decision]) -> set[str]:
    """Return workers whom a person decided last to keep."""
    last = {
        decision.subject_id: decision.verdict
        for decision in by_people
        if decision.subject_kind == "worker"
    }
    return {worker for worker, verdict in last.items() if verdict not in _OUT}


def _until(table: pd.DataFrame, moment: Moment) -> "pd.Series[bool]":
    is_before = table["batch"] < moment.batch
    return is_before | ((table["batch"] == moment.batch) & (table["round"] <= moment.round))


def _moments(opened: OpenedCampaign, table: pd.DataFrame) -> Iterator[Moment]:
    decided = decisions.times_of_policy(opened.store)
    steps = archive.steps(opened.store)
    for (batch, number), rows in table.groupby(["batch", "round"], sort=True)["assignment_id"]:
        moments = [decided[name] for name in rows.unique() if name in decided]
        decided_at = max(moments, default=_LAST)
        # Only what was decided is archived, so its own archiving came later in any case;
        # the time of a decision without a row of its own is not known.
        first = int(table.index.get_indexer(rows.index).min())
        archived = [answers for at, answers in steps if at <= decided_at and answers <= first]
        yield Moment(
            batch=int(str(batch)),
            round=int(str(number)),
            decided_at=decided_at,
            archived=max(archived, default=0),
        )
