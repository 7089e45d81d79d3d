"""A rehearsal that is listened to: what each pass said, and what it knew by then."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.verdicts import JOINED, Decision, Finding
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store import decisions, findings
from tests.end_to_end.evidence.claims import fault_of
from tests.end_to_end.evidence.policy import fault_of_decision
from tests.end_to_end.evidence.raw_answers import RawAnswer, read
from tests.end_to_end.evidence.world import FlagEvidence, Flags, World

_T = TypeVar("_T")


@dataclass(kw_only=True)
class Pass:
    """What one pass said, and what it knew.

    Attributes:
        assignments: that had come in.
        findings: that were not said before.
        flags: that stood when it decided, and each joined suspicion.
        decisions: that it made.
    """

    assignments: frozenset[str]
    findings: list[Finding]
    flags: Flags = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)


@dataclass(kw_only=True)
class Listened:
    """A rehearsal that is over."""

    run: CampaignRun
    passes: list[Pass]
    answers: list[RawAnswer]

    @property
    def campaign(self) -> Campaign:
        """What was rehearsed."""
        return self.run.campaign

    @property
    def connection(self) -> sqlite3.Connection:
        """The store's."""
        connection: sqlite3.Connection = self.run.store.db.conn
        return connection

    def world(self, known: Pass) -> World:
        """What a pass knew."""
        return World(
            campaign=self.campaign,
            answers=[o for o in self.answers if o.assignment_id in known.assignments],
            flags=known.flags,
        )


@contextmanager
def listened(
    path: Path, out: Path, change: Callable[[Campaign], Campaign] = lambda campaign: campaign
) -> Iterator[Listened]:
    """Rehearse the campaign of a file, and write down what each of its passes says."""
    campaign = change(replace(prepare(path), out=out))
    passes: list[Pass] = []
    seen: set[Finding] = set()
    with rehearsal_of(campaign) as (run, crowd):

        def call(name: str, step: Callable[[], _T], /) -> _T:
            done = step()
            if name == "assess":
                stood = findings.load_findings(run.store)
                new = [finding for finding in stood if finding not in seen]
                seen.update(new)
                known = run.store.db.execute("SELECT assignment_id FROM assignments")
                passes.append(
                    Pass(
                        assignments=frozenset(name for (name,) in known),
                        findings=new,
                        flags=_flags(stood),
                    )
                )
            if name == "decide" and done:
                made = sum(len(past_pass.decisions) for past_pass in passes)
                passes[-1].decisions = decisions.load_decisions(run.store)[made:]
            return done

        work_through(run, crowd, call=call)
        yield Listened(run=run, passes=passes, answers=read(run.store.db.conn))


def _flags(standing: list[Finding]) -> Flags:
    flags = defaultdict[tuple[str, str], dict[str, FlagEvidence]](dict)
    for finding in standing:
        if finding.flag or finding.heuristic == JOINED:
            own = flags[finding.subject_kind, finding.subject_id]
            own[finding.heuristic] = (finding.suspicion, finding.evidence)
    return flags


def faults_of_findings(heard: Listened) -> Iterator[str]:
    """What is untrue of the evidence that was said."""
    for known in heard.passes:
        world = heard.world(known)
        of_subject = _by_subject(world)
        for finding in known.findings:
            own = of_subject[finding.subject_kind, finding.subject_id]
            yield fault_of(finding.heuristic, finding.evidence, own, world, is_flag=finding.flag)


def faults_of_decisions(heard: Listened) -> Iterator[str]:
    """What is untrue of the reasons that were given."""
    for known in heard.passes:
        world = heard.world(known)
        of_subject = _by_subject(world)
        rejected = {
            decision.subject_id: decision.because
            for decision in known.decisions
            if decision.verdict == "reject"
        }
        for decision in known.decisions:
            own = of_subject[decision.subject_kind, decision.subject_id]
            yield fault_of_decision(decision, own, known.flags, world, rejected=rejected)


def _by_subject(world: World) -> dict[tuple[str, str], list[RawAnswer]]:
    groups = defaultdict[tuple[str, str], list[RawAnswer]](list)
    for answer in world.answers:
        groups["answer", answer.answer_id].append(answer)
        groups["assignment", answer.assignment_id].append(answer)
        groups["worker", answer.worker_id].append(answer)
    return groups


def feedback(run: CampaignRun) -> dict[str, str]:
    """By rejected assignment, what the marketplace tells its worker."""
    client = run.platform._client
    hits = run.store.db.execute("SELECT hit_id FROM hits WHERE hit_id IS NOT NULL").fetchall()
    return {
        assignment["AssignmentId"]: assignment["RequesterFeedback"]
        for (hit,) in hits
        for assignment in client.list_assignments_for_hit(
            HITId=hit, AssignmentStatuses=["Rejected"], MaxResults=100
        )["Assignments"]
    }
