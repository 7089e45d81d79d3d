"""Decisions by people, as a CSV out and in, until there is a page for it.

The file names workers by pseudonym only. Reading it back is all or nothing: every fault
is listed with its line, and then nothing is stored.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import pandas as pd
from pandas.api.typing import NaTType

from domain.capabilities import Capabilities
from domain.errors import ConfigError
from domain.ids import AssignmentId, ItemId, WorkerId
from domain.tables import ITEM_VALUE
from domain.verdicts import VERDICTS, Decision, SubjectKind, Verdict
from flows.campaign_run import CampaignStore
from postprocess.datasets.csv_file import plain, to_csv
from postprocess.pseudonyms import pseudonym
from store import assignments, decisions, findings

COLUMNS = (
    "subject_kind",
    "subject_id",
    "worker",
    "submitted_at",
    "item_id",
    "picture",
    "answer",
    "other_answers",
    "evidence",
    "proposed",
    "why_proposed",
    "verdict",
    "because",
)
_MOST_SHOWN = 20
"""Items of a worker's, and answers of others, that a row shows."""
_T = TypeVar("_T", bound=str)
_Read = Mapping[tuple[SubjectKind, str], Decision]
"""Decisions by kind and id of their subject, as the file has the id."""

_NEEDS_REASON = {"drop", "reject", "exclude", "block"}


def waiting_csv(run: CampaignStore) -> tuple[bytes, int]:
    """The file to fill in, and how many rows it has; `verdict` and `because` are empty.

    A verdict that is written decides; with the proposed one and no reason of a person's
    own, the reason is the proposed one.
    """
    evidence, shown = _evidence(run), _Shown(run)
    rows = [
        (
            decision.subject_kind,
            _shown_id(run, decision),
            *shown.about(decision),
            " / ".join(evidence.get((decision.subject_kind, decision.subject_id), ())),
            decision.verdict,
            decision.because,
            "",
            "",
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

    To reject an assignment is to drop its answers, unless the file says otherwise of
    one, which is a fault: what is used is paid for.

    Args:
        run: the campaign at work.
        text: the CSV.
        decided_by: the person who answers for them.
        name: what faults call the file.

    Raises:
        ConfigError: with every fault; then nothing was stored.
    """
    waiting = {
        (decision.subject_kind, _shown_id(run, decision)): decision
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
    with run.store.db.atomic():
        decisions.overrule(run.store, _taken_along(run, read))
        return decisions.keep(run.store, read.values())


def _key(decision: Decision) -> tuple[SubjectKind, str]:
    return decision.subject_kind, decision.subject_id


def _rejected(read: _Read) -> dict[AssignmentId, Decision]:
    return {
        AssignmentId(subject_id): decision
        for (kind, subject_id), decision in read.items()
        if kind == "assignment" and decision.verdict == "reject"
    }


def _taken_along(run: CampaignStore, read: _Read) -> list[Decision]:
    """Drops of the answers of rejected assignments of which the file says nothing."""
    rejected = _rejected(read)
    return [
        replace(
            rejected[assignment_id],
            subject_kind="answer",
            subject_id=answer_id,
            verdict="drop",
            because=f"its assignment was rejected: {rejected[assignment_id].because}",
        )
        for answer_id, assignment_id, verdict in assignments.verdicts_of_answers(
            run.store, rejected
        )
        if verdict != "drop" and ("answer", answer_id) not in read
    ]


def _contradictions(run: CampaignStore, read: _Read, name: str) -> list[str]:
    """Answers that the file keeps of a rejected assignment: used, and not paid for."""
    rejected = _rejected(read)
    faults = []
    for answer_id, assignment_id, _ in assignments.verdicts_of_answers(
        run.store, _assignments_of_answers(run, read)
    ):
        decision = read.get(("answer", answer_id))
        is_rejected = assignment_id in rejected or (
            assignments.verdict_and_outcome(run.store, assignment_id)[0] == "reject"
            and ("assignment", assignment_id) not in read
        )
        if decision and decision.verdict == "keep" and is_rejected:
            faults.append(
                f"{name}: answer {answer_id!r} is kept although its assignment is "
                "rejected; drop it, or approve the assignment"
            )
    return faults


def _assignments_of_answers(run: CampaignStore, read: _Read) -> set[AssignmentId]:
    parents = {
        assignments.assignment_of(run.store, subject_id)
        for kind, subject_id in read
        if kind == "answer"
    }
    return {parent for parent in parents if parent is not None}


def _decision(
    run: CampaignStore,
    row: Mapping[str, str | None],
    waiting: _Read,
    decided_by: str,
) -> Decision | None:
    """The decision of a row; `None` if it leaves the verdict open.

    Raises:
        ValueError: what is wrong with the row, in a sentence.
    """
    kind = _one_of(VERDICTS, (row.get("subject_kind") or "").strip().lower())
    if kind is None:
        raise ValueError(
            f"subject_kind {row.get('subject_kind')!r} is none of {list(VERDICTS)}"
        )
    written = (row.get("verdict") or "").strip().lower()
    if not written:
        return None
    verdict: Verdict | None = _one_of(VERDICTS[kind], written)
    if verdict is None:
        raise ValueError(
            f"verdict {written!r} is none of {list(VERDICTS[kind])}, which a row about "
            f"the {kind} may have"
        )
    proposed = waiting.get((kind, (row.get("subject_id") or "").strip()))
    if proposed is None:
        raise ValueError(f"no {kind} {row.get('subject_id')!r} waits for a decision")
    because = plain(row.get("because") or "").strip()
    if verdict == proposed.verdict and verdict in _NEEDS_REASON:
        because = because or proposed.because
    if fault := _fault_of_reason(run.capabilities, verdict, because):
        raise ValueError(fault)
    return Decision(
        subject_kind=kind,
        subject_id=proposed.subject_id,
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


class _Shown:
    """What a reviewer sees of a subject: whose it is, when it came, on which items."""

    def __init__(self, run: CampaignStore) -> None:
        self._run, self._table = run, run.answers()
        self._values = [
            name for name in self._table.columns if name.startswith(ITEM_VALUE)
        ]
        self._urls = {item.item_id: item.picture for item in run.campaign.items}
        self._of_answer = {name: n for n, name in enumerate(self._table.index)}
        self._of_item = self._table.groupby("item_id", sort=False).indices
        self._of_worker = self._table.groupby("worker_id", sort=False).indices
        self._of_assignment = self._table.groupby("assignment_id", sort=False).indices

    def about(self, decision: Decision) -> tuple[str, str, str, str, str, str]:
        """The columns from `worker` to `other_answers`."""
        numbers = self._numbers(decision)
        rows = self._table.iloc[list(numbers[:_MOST_SHOWN])]
        if rows.empty:
            return "", "", "", "", "", ""
        items = [str(item) for item in rows["item_id"]]
        return (
            pseudonym(WorkerId(rows["worker_id"].iloc[0]), self._run.pseudonym_key),
            _time(rows["submitted_at"].max()),
            " | ".join(items),
            " | ".join(self._urls[ItemId(item)] for item in items),
            " | ".join(self._answer(number) for number in numbers[:_MOST_SHOWN]),
            self._others(numbers) if decision.subject_kind == "answer" else "",
        )

    def _numbers(self, decision: Decision) -> Sequence[int]:
        """Places in the table of the answers that a decision is about."""
        if decision.subject_kind == "answer":
            return [self._of_answer[decision.subject_id]]
        groups = {"worker": self._of_worker, "assignment": self._of_assignment}
        found = groups[decision.subject_kind].get(decision.subject_id, ())
        return [int(number) for number in found]

    def _others(self, numbers: Sequence[int]) -> str:
        """What other workers answered about the same item."""
        item = self._table["item_id"].iloc[numbers[0]]
        others = [number for number in self._of_item[item] if number not in numbers]
        return " | ".join(self._answer(number) for number in others[:_MOST_SHOWN])

    def _answer(self, number: int) -> str:
        """An answer in a line: its text, or each field with what was chosen."""
        row = self._table.iloc[number]
        if row["text"]:
            return str(row["text"])
        said = {name.removeprefix(ITEM_VALUE): row[name] for name in self._values}
        return "; ".join(
            f"{name} {', '.join(value) if isinstance(value, tuple) else value}"
            for name, value in said.items()
        )


def _time(moment: pd.Timestamp | NaTType) -> str:
    return "" if pd.isna(moment) else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _evidence(run: CampaignStore) -> dict[tuple[SubjectKind, str], list[str]]:
    evidence: dict[tuple[SubjectKind, str], list[str]] = {}
    for finding in findings.load(run.store, only_flags=True):
        key = (finding.subject_kind, finding.subject_id)
        evidence.setdefault(key, []).append(f"{finding.heuristic}: {finding.evidence}")
    return evidence
