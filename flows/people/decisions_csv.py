"""Decisions by people, as a CSV out and in, until there is a page for it.

The file names workers by pseudonym only. Reading it back is all or nothing: every fault
is listed with its line, and then nothing is stored.
"""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import TypeVar

from domain.capabilities import Capabilities
from domain.errors import ConfigError
from domain.ids import AssignmentId, WorkerId
from domain.verdicts import VERDICTS, Decision, SubjectKind, Verdict
from flows.campaign_run import CampaignStore
from postprocess.datasets.csv_file import plain, to_csv
from postprocess.pseudonyms import pseudonym
from store import assignments, decisions, findings

COLUMNS = (
    "subject_kind",
    "subject_id",
    "text",
    "evidence",
    "proposed",
    "why_proposed",
    "verdict",
    "because",
)
_T = TypeVar("_T", bound=str)
_NEEDS_REASON = {"drop", "reject", "exclude", "block"}


def waiting_csv(run: CampaignStore) -> tuple[bytes, int]:
    """The file to fill in, and how many rows it has; `verdict` starts as proposed."""
    evidence = _evidence(run)
    texts = _texts(run)
    rows = [
        (
            decision.subject_kind,
            _shown_id(run, decision),
            texts.get(decision.subject_id, ""),
            " / ".join(evidence.get((decision.subject_kind, decision.subject_id), ())),
            decision.verdict,
            decision.because,
            decision.verdict,
            decision.because if decision.verdict in _NEEDS_REASON else "",
        )
        for decision in waiting_for_people(run)
    ]
    columns = {
        name: [row[number] for row in rows] for number, name in enumerate(COLUMNS)
    }
    return to_csv(columns), len(rows)


def waiting_for_people(run: CampaignStore) -> list[Decision]:
    """Proposals that a person has to look at; empty where the policy decides."""
    if run.campaign.decided_by == "policy":
        return []
    return decisions.proposals(
        run.store, decided_by=f"policy:{run.campaign.name}", at=run.clock.now()
    )


def read_decisions(run: CampaignStore, text: str, *, decided_by: str, name: str) -> int:
    """Store the decisions of a filled-in file; how many were new.

    Args:
        run: the campaign at work.
        text: the CSV.
        decided_by: the person who answers for them.
        name: what faults call the file.

    Raises:
        ConfigError: with every fault; then nothing was stored.
    """
    waiting = {
        (decision.subject_kind, _shown_id(run, decision)): decision.subject_id
        for decision in waiting_for_people(run)
    }
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    faults: list[str] = []
    read: dict[tuple[SubjectKind, str], Decision] = {}
    try:
        absent = {"subject_kind", "subject_id", "verdict", "because"} - set(
            reader.fieldnames or ()
        )
        if absent:
            raise ConfigError([f"{name}: columns missing: {', '.join(sorted(absent))}"])
        for row in reader:
            line = f"{name}: line {reader.line_num}"
            try:
                decision = _decision(run, row, waiting, decided_by)
            except ValueError as fault:
                faults.append(f"{line}: {fault}")
                continue
            if decision is None:
                continue  # left open on purpose: it goes on waiting
            if (key := _key(decision)) in read:
                faults.append(
                    f"{line}: {decision.subject_kind} "
                    f"{row.get('subject_id')!r} has a verdict in an earlier line"
                )
            else:
                read[key] = decision
    except csv.Error as fault:
        raise ConfigError([f"{name}: line {reader.line_num}: {fault}"]) from fault
    faults += _contradictions(run, read, name)
    if faults:
        raise ConfigError(faults)
    return decisions.keep(run.store, read.values())


def _key(decision: Decision) -> tuple[SubjectKind, str]:
    return decision.subject_kind, decision.subject_id


def _contradictions(
    run: CampaignStore, read: Mapping[tuple[SubjectKind, str], Decision], name: str
) -> list[str]:
    """Kept answers of a rejected assignment: used, and not paid for."""
    rejected = {
        AssignmentId(subject_id)
        for (kind, subject_id), decision in read.items()
        if kind == "assignment" and decision.verdict == "reject"
    }
    faults = []
    for answer_id, assignment_id, verdict in assignments.verdicts_of_answers(
        run.store, {*rejected, *_assignments_of_answers(run, read)}
    ):
        decision = read.get(("answer", answer_id))
        is_kept = (decision.verdict if decision else verdict) == "keep"
        is_rejected = assignment_id in rejected or (
            assignments.verdict_and_outcome(run.store, assignment_id)[0] == "reject"
            and ("assignment", assignment_id) not in read
        )
        if is_kept and is_rejected:
            faults.append(
                f"{name}: answer {answer_id!r} is kept although its assignment is "
                "rejected; drop it, or approve the assignment"
            )
    return faults


def _assignments_of_answers(
    run: CampaignStore, read: Mapping[tuple[SubjectKind, str], Decision]
) -> set[AssignmentId]:
    parents = {
        assignments.assignment_of(run.store, subject_id)
        for kind, subject_id in read
        if kind == "answer"
    }
    return {parent for parent in parents if parent is not None}


def _decision(
    run: CampaignStore,
    row: Mapping[str, str | None],
    waiting: Mapping[tuple[SubjectKind, str], str],
    decided_by: str,
) -> Decision | None:
    """The decision of a row; `None` if it leaves the verdict open.

    Raises:
        ValueError: what is wrong with the row, in a sentence.
    """
    kind = _one_of(VERDICTS, row.get("subject_kind") or "")
    if kind is None:
        raise ValueError(
            f"subject_kind {row.get('subject_kind')!r} is none of {list(VERDICTS)}"
        )
    written = (row.get("verdict") or "").strip()
    if not written:
        return None
    verdict: Verdict | None = _one_of(VERDICTS[kind], written)
    if verdict is None:
        raise ValueError(
            f"verdict {written!r} of a {kind} is none of {list(VERDICTS[kind])}"
        )
    subject_id = waiting.get((kind, row.get("subject_id") or ""))
    if subject_id is None:
        raise ValueError(f"no {kind} {row.get('subject_id')!r} waits for a decision")
    because = plain(row.get("because") or "").strip()
    if fault := _fault_of_reason(run.capabilities, verdict, because):
        raise ValueError(fault)
    return Decision(
        subject_kind=kind,
        subject_id=subject_id,
        verdict=verdict,
        decided_by=decided_by,
        decided_at=run.clock.now(),
        because=because or "looked at, and good",
    )


def _fault_of_reason(able: Capabilities, verdict: Verdict, because: str) -> str:
    """What is wrong with a reason: the platform refuses such a one for ever."""
    if verdict in _NEEDS_REASON and not because:
        return f"because is empty; to {verdict} needs a reason"
    if because and not able.allows_reason(because):
        return (
            f"because has {len(because)} characters; allowed are "
            f"{able.longest_reason} on one line, without control characters, since "
            "the worker reads it"
        )
    return ""


def _one_of(allowed: Iterable[_T], written: str) -> _T | None:
    return next((name for name in allowed if name == written), None)


def _shown_id(run: CampaignStore, decision: Decision) -> str:
    if decision.subject_kind == "worker":
        return pseudonym(WorkerId(decision.subject_id), run.pseudonym_key)
    return decision.subject_id


def _texts(run: CampaignStore) -> dict[str, str]:
    """What a reviewer reads: the text of an answer, or all texts of an assignment."""
    table = run.answers()
    texts = dict(zip(table.index, table["text"], strict=True))
    joined = table.groupby("assignment_id", sort=False)["text"].agg(" | ".join)
    return {**texts, **joined.to_dict()}


def _evidence(run: CampaignStore) -> dict[tuple[SubjectKind, str], list[str]]:
    evidence: dict[tuple[SubjectKind, str], list[str]] = {}
    for finding in findings.load(run.store, only_flags=True):
        key = (finding.subject_kind, finding.subject_id)
        evidence.setdefault(key, []).append(f"{finding.heuristic}: {finding.evidence}")
    return evidence
