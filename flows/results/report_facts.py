"""What the report is told: frames made from the store, worker ids hashed."""

from collections import Counter
from datetime import datetime

import pandas as pd

from analyses.condition_scores import compared
from analyses.pairwise_outcomes import comparisons
from domain.ids import WorkerId
from domain.verdicts import Decision, SubjectKind
from flows.provenance import code_version
from flows.results.table import answers_table, decided_answers
from flows.steps.progress import progress
from flows.steps.state import State
from flows.steps.traits import planted
from flows.workplace import Workplace
from postprocess.pseudonyms import pseudonym
from postprocess.registry import RULES
from report.correction_gains import corrections
from report.facts import BeforeWork, Money, ReportFacts
from store import judgements, ledger, scores

_PAID_BEFORE = "the marketplace had approved and paid it before it could be rejected"


def report_facts(place: Workplace, state: State) -> ReportFacts:
    """All that the report shows, as it stands in the store."""
    campaign = place.campaign
    table, task = answers_table(place, state), campaign.task
    answers = decided_answers(table, state)
    started, finished = _span(place, state)
    return ReportFacts(
        campaign=campaign.name,
        purpose=campaign.description,
        task=task,
        source_hash=campaign.source_hash,
        code_commit=code_version(),
        seed=campaign.rehearsal.seed,
        is_rehearsal=place.is_rehearsal,
        started_at=started,
        finished_at=finished,
        wanted_per_item=campaign.posting.assignments,
        items=len(campaign.items),
        is_finished=progress(place).is_finished,
        answers=answers,
        batches=_batches(state),
        findings=_findings(place),
        decisions=_decisions(place, state),
        workers=_workers(place, state),
        money=_money(place),
        rules={rule.NAME: rule.VERSION for rule in RULES},
        corrections=corrections(answers, campaign.items, task),
        comparisons=comparisons(
            answers, campaign.items, task.item_fields, task.arrangements
        ),
        compared=compared(answers, campaign.items, task.fields, task.conditions),
        before_work=_before_work(place),
    )


def _money(place: Workplace) -> Money:
    rewards, balances = place.campaign.rewards, ledger.balances(place.store)
    return Money(
        ledger={
            "budget": rewards.budget_cents,
            "held": balances["held"],
            "paid_rewards": balances["rewards"],
            "paid_bonuses": balances["bonuses"],
            "fees": balances["fees"],
            "released": ledger.released_cents(place.store),
        },
        wage_floor_cents_per_hour=rewards.wage_floor_cents_per_hour,
    )


def _before_work(place: Workplace) -> BeforeWork | None:
    test = place.campaign.qualification
    if test is None:
        return None
    traits = planted(place.store)
    return BeforeWork(
        name=test.name,
        sections=tuple(
            (name, len(items), test.correct_at_least[name])
            for name, items in test.sections.items()
        ),
        scores=tuple(
            (score, traits.get(worker_id, ("", False))[0])
            for worker_id, score in scores.every(place.store).items()
        ),
        least_passing=test.least_passing,
    )


def _span(place: Workplace, state: State) -> tuple[datetime, datetime]:
    """From the first posting to the last thing that happened."""
    moments = [hit.posted_at for hit in state.hits if hit.posted_at]
    moments += [one.submitted_at for one in state.assignments.values()]
    moments += [one.decided_at for one in state.decisions.values()]
    if not moments:
        return place.clock.now(), place.clock.now()
    return min(moments), max(moments)


def _batches(state: State) -> pd.DataFrame:
    hits = state.posted
    round_of = {
        one.assignment_id: (hits[one.hit_id].batch, hits[one.hit_id].round)
        for one in state.assignments.values()
    }
    settled: dict[tuple[int, int], datetime] = {}
    for assignment_id, key in round_of.items():
        decision = state.decisions.get(("assignment", assignment_id))
        if decision is not None:
            settled[key] = max(
                settled.get(key, decision.decided_at), decision.decided_at
            )
    verdicts: Counter[tuple[int, int, str]] = Counter()
    for answer in state.answers.values():
        decision = state.decisions.get(("answer", answer.answer_id))
        if decision is not None:
            verdicts[(*round_of[answer.assignment_id], decision.verdict)] += 1
    excluded = _excluded_by_round(state, settled)
    rows = []
    for key in sorted({(hit.batch, hit.round) for hit in state.hits}):
        mine = [hit for hit in state.hits if (hit.batch, hit.round) == key]
        posted = [hit.posted_at for hit in mine if hit.posted_at]
        came = [
            one.submitted_at
            for one in state.assignments.values()
            if round_of[one.assignment_id] == key
        ]
        rows.append(
            {
                "batch": key[0],
                "round": key[1],
                "hits": len(mine),
                "assignments_wanted": sum(hit.max_assignments for hit in mine),
                "assignments_submitted": len(came),
                "answers_kept": verdicts[(*key, "keep")],
                "answers_dropped": verdicts[(*key, "drop")],
                "posted_at": min(posted, default=None),
                "last_submitted_at": max(came, default=None),
                "settled_at": settled.get(key),
                "workers_excluded": excluded[key],
            }
        )
    # A time that has not come must still be a time: one resolution for all columns.
    times = dict.fromkeys(
        ("posted_at", "last_submitted_at", "settled_at"), "datetime64[us, UTC]"
    )
    return pd.DataFrame(rows).astype(times) if rows else pd.DataFrame()


def _excluded_by_round(
    state: State, settled: dict[tuple[int, int], datetime]
) -> Counter[tuple[int, int]]:
    """A worker is excluded with the first round that is settled at or after it."""
    order = sorted(settled.items(), key=lambda pair: pair[1])
    found: Counter[tuple[int, int]] = Counter()
    for decision in state.decisions.values():
        if decision.verdict in {"exclude", "block"}:
            later = [key for key, at in order if at >= decision.decided_at]
            found[next(iter(later), _round_at_work(state))] += 1
    return found


def _round_at_work(state: State) -> tuple[int, int]:
    """Batch and round at work; no worker can be excluded before there is one."""
    last = state.hits[-1]
    return last.batch, last.round


def _findings(place: Workplace) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "heuristic": finding.heuristic,
            "version": finding.version,
            "subject_kind": finding.subject_kind,
            "subject_id": _shown(place, finding.subject_kind, finding.subject_id),
            "suspicion": finding.suspicion,
            "flag": finding.flag,
            "evidence": finding.evidence,
        }
        for finding in judgements.findings(place.store)
    )


def _decisions(place: Workplace, state: State) -> pd.DataFrame:
    def row(decision: Decision) -> dict[str, object]:
        kind, verdict = decision.subject_kind, state.what_became_of(decision)
        because = decision.because
        if verdict != decision.verdict:
            because = f"{_PAID_BEFORE}: {because}"
        return {
            "subject_kind": kind,
            "subject_id": _shown(place, kind, decision.subject_id),
            "verdict": verdict,
            "decided_by": decision.decided_by,
            "decided_at": decision.decided_at,
            "because": because,
        }

    return pd.DataFrame(row(decision) for decision in state.decisions.values())


def _workers(place: Workplace, state: State) -> pd.DataFrame:
    traits = planted(place.store)
    paid = ledger.paid_cents(place.store, "rewards", "bonuses")
    worker_of = {one.assignment_id: one.worker_id for one in state.assignments.values()}
    totals: dict[WorkerId, Counter[str]] = {
        worker_id: Counter() for worker_id in sorted(set(worker_of.values()))
    }
    for assignment_id, assignment in state.assignments.items():
        total = totals[assignment.worker_id]
        total["assignments"] += 1
        total["seconds"] += round(
            (assignment.submitted_at - assignment.accepted_at).total_seconds()
        )
        total[_verdict(state, "assignment", assignment_id)] += 1
        total["paid"] += paid.get(assignment_id, 0)
    for answer_id, answer in state.answers.items():
        total = totals[worker_of[answer.assignment_id]]
        total["answers"] += 1
        total[_verdict(state, "answer", answer_id)] += 1
    rows = {
        pseudonym(worker_id, place.pseudonym_key): {
            "assignments": total["assignments"],
            "answers": total["answers"],
            "answers_dropped": total["drop"],
            "assignments_rejected": total["reject"],
            "paid_cents": total["paid"],
            "seconds_worked": float(total["seconds"]),
            "is_excluded": _verdict(state, "worker", worker_id) in {"exclude", "block"},
            "trait": traits.get(worker_id, ("", False))[0],
            "is_planted_bad": traits.get(worker_id, ("", False))[1],
        }
        for worker_id, total in totals.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _verdict(state: State, kind: SubjectKind, subject_id: str) -> str:
    decision = state.decisions.get((kind, subject_id))
    return "undecided" if decision is None else state.what_became_of(decision)


def _shown(place: Workplace, kind: str, subject_id: str) -> str:
    if kind == "worker":
        return pseudonym(WorkerId(subject_id), place.pseudonym_key)
    return subject_id
