"""Where a campaign stands, read from its store: what is open, missing, undecided."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from domain.assignment import Answer, Assignment, FieldValue
from domain.hit import PlannedHit
from domain.ids import AnswerId, AssignmentId, HitId, ItemId, WorkerId
from domain.verdicts import Decision, SubjectKind, Verdict
from flows.campaign_run import CampaignStore
from store import assignments, decisions, hits, intents

SETTLEMENTS: dict[str, str] = {
    "approve": "approve",
    "reject": "reject",
    "exclude": "exclude",
    "block": "block",
}
"""Verdicts that are acted on outside, and the operation that does it."""

DONE = "done"
PAID_ALREADY = "approved by the platform before"
REJECTED_ALREADY = "rejected elsewhere before"
"""Outcomes of settlements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that is known of a campaign's work, in memory and by id.

    Attributes:
        hits: in the order they were planned.
        posted: those that have the platform's id.
        settled: keys of the intents that carried decisions out.
        paid_before: those of rejections that came too late: the platform had paid.
    """

    hits: tuple[PlannedHit, ...]
    posted: dict[HitId, PlannedHit]
    assignments: dict[AssignmentId, Assignment]
    answers: dict[AnswerId, Answer]
    decisions: dict[tuple[SubjectKind, str], Decision]
    settled: frozenset[str]
    paid_before: frozenset[str]

    @property
    def batch(self) -> int:
        """The batch at work, of the HITs that were planned last; 0 before the first."""
        return self.hits[-1].batch if self.hits else 0

    def hits_of(self, batch: int) -> list[PlannedHit]:
        """The HITs of a batch."""
        return [hit for hit in self.hits if hit.batch == batch]

    def is_collected(self, batch: int) -> bool:
        """Whether all posted HITs of a batch, and there are some, are collected."""
        mine = self.hits_of(batch)
        return bool(mine) and all(hit.collected_at for hit in mine)

    def has_undecided(self) -> bool:
        """Whether an assignment or an answer has no verdict yet."""
        subjects = [("assignment", str(one)) for one in self.assignments]
        subjects += [("answer", str(one)) for one in self.answers]
        return any(subject not in self.decisions for subject in subjects)

    def is_open(self, decision: Decision) -> bool:
        """Whether nobody has decided about this decision's subject yet."""
        earlier = self.decisions.get((decision.subject_kind, decision.subject_id))
        if earlier is None:
            return True
        # `keep` of a worker was said about an earlier batch if this one came after it.
        collected = [hit.collected_at for hit in self.hits_of(self.batch)]
        return (decision.subject_kind, earlier.verdict) == ("worker", "keep") and any(
            at is not None and at > earlier.decided_at for at in collected
        )

    def unsettled(self) -> list[Decision]:
        """Decisions that still have to be carried out."""
        return [
            decision
            for decision in self.decisions.values()
            if decision.verdict in SETTLEMENTS
            # An approval that follows a rejection was carried out by taking it back.
            and self.settled.isdisjoint(
                {settlement_key(decision), f"unreject:{decision.subject_id}"}
            )
        ]

    def what_became_of(self, decision: Decision) -> Verdict:
        """The verdict as it turned out: what was to be rejected may have been paid."""
        if (
            decision.verdict == "reject"
            and settlement_key(decision) in self.paid_before
        ):
            return "approve"
        return decision.verdict


def read_state(run: CampaignStore) -> State:
    """The state as the store holds it now."""
    store = run.store
    planned = tuple(hits.load(store))
    return State(
        hits=planned,
        posted={hit.hit_id: hit for hit in planned if hit.hit_id},
        assignments={one.assignment_id: one for one in assignments.load(store)},
        answers={one.answer_id: one for one in _answers(store)},
        decisions={
            (one.subject_kind, one.subject_id): one for one in decisions.load(store)
        },
        settled=frozenset().union(
            *(
                intents.done(store, operation)
                for operation in (*SETTLEMENTS.values(), "unreject")
            )
        ),
        paid_before=frozenset(
            row["intent_key"]
            for row in store.db.query(
                "SELECT intent_key FROM intents WHERE outcome = ?", [PAID_ALREADY]
            )
        ),
    )


def settlement_key(decision: Decision) -> str:
    """The key of the intent that carries a decision out."""
    return f"{SETTLEMENTS[decision.verdict]}:{decision.subject_id}"


def counted(state: State, wanted: int) -> tuple[set[AnswerId], set[AnswerId]]:
    """Kept answers that count, and the surplus.

    An item takes one kept answer of each worker, and no more than `wanted` in all, the
    earliest first; what is beyond is surplus: paid for, and set aside.
    """
    counting: set[AnswerId] = set()
    surplus: set[AnswerId] = set()
    workers: set[tuple[ItemId, WorkerId]] = set()
    totals: Counter[ItemId] = Counter()
    for answer in _kept(state):
        worker_id = state.assignments[answer.assignment_id].worker_id
        is_second = (answer.item_id, worker_id) in workers
        if is_second or totals[answer.item_id] >= wanted:
            surplus.add(answer.answer_id)
            continue
        workers.add((answer.item_id, worker_id))
        totals[answer.item_id] += 1
        counting.add(answer.answer_id)
    return counting, surplus


def missing(state: State, item_ids: Iterable[ItemId], wanted: int) -> dict[ItemId, int]:
    """How many accepted answers each of these items still misses."""
    counting, _ = counted(state, wanted)
    have = Counter(state.answers[answer_id].item_id for answer_id in counting)
    return {
        item_id: wanted - have[item_id]
        for item_id in item_ids
        if have[item_id] < wanted
    }


def _kept(state: State) -> list[Answer]:
    def is_kept(answer: Answer) -> bool:
        decision = state.decisions.get(("answer", answer.answer_id))
        return decision is not None and decision.verdict == "keep"

    return [answer for answer in state.answers.values() if is_kept(answer)]


def _answers(store):
    return [
        _answer(row)
        for row in store.db.query(
            "SELECT answers.* FROM answers JOIN assignments USING (assignment_id) "
            "ORDER BY submitted_at, assignment_id, position"
        )
    ]


def _values(found: dict[str, Any]) -> dict[str, FieldValue]:
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in found.items()
    }


def _answer(row: dict[str, Any]) -> Answer:
    fields = json.loads(row["fields"])
    return Answer(
        answer_id=AnswerId(row["answer_id"]),
        assignment_id=AssignmentId(row["assignment_id"]),
        item_id=ItemId(row["item_id"]),
        position=row["position"],
        values=_values(fields["values"]),
        place=fields.get("place"),
        orders={name: tuple(order) for name, order in fields.get("orders", {}).items()},
        hit_values=_values(fields.get("hit_values", {})),
        problems=tuple(json.loads(row["problems"])),
        **{
            name: fields[name]
            for name in ("shown_ms", "pastes", "keystrokes", "focus_losses")
        },
    )
