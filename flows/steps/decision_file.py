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
from domain.ids import WorkerId
from domain.verdicts import VERDICTS, Decision, SubjectKind, Verdict
from flows.steps.decide import waiting_for_people
from flows.steps.state import State, read_state
from flows.workplace import Workplace
from postprocess.datasets.csv_file import plain, to_csv
from postprocess.pseudonyms import pseudonym
from store import judgements

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


def waiting_csv(place: Workplace) -> tuple[bytes, int]:
    """The file to fill in, and how many rows it has; `verdict` starts as proposed."""
    state = read_state(place)
    evidence = _evidence(place)
    rows = [
        (
            decision.subject_kind,
            _shown_id(place, decision),
            _text(place, state, decision),
            " / ".join(evidence.get((decision.subject_kind, decision.subject_id), ())),
            decision.verdict,
            decision.because,
            decision.verdict,
            decision.because if decision.verdict in _NEEDS_REASON else "",
        )
        for decision in waiting_for_people(place, state)
    ]
    columns = {
        name: [row[number] for row in rows] for number, name in enumerate(COLUMNS)
    }
    return to_csv(columns), len(rows)


def read_decisions(place: Workplace, text: str, *, decided_by: str, name: str) -> int:
    """Store the decisions of a filled-in file; how many were new.

    Args:
        place: the campaign at work.
        text: the CSV.
        decided_by: the person who answers for them.
        name: what faults call the file.

    Raises:
        ConfigError: with every fault; then nothing was stored.
    """
    waiting = {
        (decision.subject_kind, _shown_id(place, decision)): decision.subject_id
        for decision in waiting_for_people(place, read_state(place))
    }
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    faults: list[str] = []
    decisions: dict[tuple[SubjectKind, str], Decision] = {}
    try:
        absent = {"subject_kind", "subject_id", "verdict", "because"} - set(
            reader.fieldnames or ()
        )
        if absent:
            raise ConfigError([f"{name}: columns missing: {', '.join(sorted(absent))}"])
        for row in reader:
            found = _decision(place, row, waiting, decided_by)
            if found is None:
                continue  # left open on purpose: it goes on waiting
            if isinstance(found, str):
                faults.append(f"{name}: line {reader.line_num}: {found}")
            elif (key := _key(found)) in decisions:
                faults.append(
                    f"{name}: line {reader.line_num}: {found.subject_kind} "
                    f"{row.get('subject_id')!r} has a verdict in an earlier line"
                )
            else:
                decisions[key] = found
    except csv.Error as fault:
        raise ConfigError([f"{name}: line {reader.line_num}: {fault}"]) from fault
    state = read_state(place)
    faults += _contradictions(state, decisions, name)
    if faults:
        raise ConfigError(faults)
    return judgements.keep_decisions(place.store, decisions.values())


def _key(decision: Decision) -> tuple[SubjectKind, str]:
    return decision.subject_kind, decision.subject_id


def _contradictions(
    state: State, decisions: Mapping[tuple[SubjectKind, str], Decision], name: str
) -> list[str]:
    """Kept answers of a rejected assignment: used, and not paid for."""
    return [
        f"{name}: answer {answer_id!r} is kept although its assignment is rejected; "
        "drop it, or approve the assignment"
        for answer_id, answer in state.answers.items()
        if _verdict(state, decisions, "answer", answer_id) == "keep"
        and _verdict(state, decisions, "assignment", answer.assignment_id) == "reject"
    ]


def _verdict(
    state: State,
    decisions: Mapping[tuple[SubjectKind, str], Decision],
    kind: SubjectKind,
    subject_id: str,
) -> str:
    known = decisions.get((kind, subject_id)) or state.decisions.get((kind, subject_id))
    return "" if known is None else known.verdict


def _decision(
    place: Workplace,
    row: Mapping[str, str | None],
    waiting: Mapping[tuple[SubjectKind, str], str],
    decided_by: str,
) -> Decision | str | None:
    kind = _one_of(VERDICTS, row.get("subject_kind") or "")
    if kind is None:
        return f"subject_kind {row.get('subject_kind')!r} is none of {list(VERDICTS)}"
    written = (row.get("verdict") or "").strip()
    if not written:
        return None
    verdict: Verdict | None = _one_of(VERDICTS[kind], written)
    if verdict is None:
        return f"verdict {written!r} of a {kind} is none of {list(VERDICTS[kind])}"
    subject_id = waiting.get((kind, row.get("subject_id") or ""))
    if subject_id is None:
        return f"no {kind} {row.get('subject_id')!r} waits for a decision"
    because = plain(row.get("because") or "").strip()
    if fault := _fault_of_reason(place.platform.capabilities, verdict, because):
        return fault
    return Decision(
        subject_kind=kind,
        subject_id=subject_id,
        verdict=verdict,
        decided_by=decided_by,
        decided_at=place.clock.now(),
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
    return next((one for one in allowed if one == written), None)


def _shown_id(place: Workplace, decision: Decision) -> str:
    if decision.subject_kind == "worker":
        return pseudonym(WorkerId(decision.subject_id), place.pseudonym_key)
    return decision.subject_id


def _text(place: Workplace, state: State, decision: Decision) -> str:
    """What the reviewer has to read: the answer, or all answers of the assignment."""
    main = place.campaign.task.main_text
    texts = [
        str(answer.values.get(main, ""))
        for answer in state.answers.values()
        if decision.subject_id in {answer.answer_id, answer.assignment_id}
    ]
    return " | ".join(texts)


def _evidence(place: Workplace) -> dict[tuple[SubjectKind, str], list[str]]:
    found: dict[tuple[SubjectKind, str], list[str]] = {}
    for finding in judgements.findings(place.store):
        if finding.flag:
            key = (finding.subject_kind, finding.subject_id)
            found.setdefault(key, []).append(f"{finding.heuristic}: {finding.evidence}")
    return found
