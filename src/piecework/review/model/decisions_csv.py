"""Write and read people's decisions as a CSV (docs/how-to/review.md), and the audit trail.

The file names workers only by pseudonym. Reading it stores everything or nothing: each
fault is listed with its line, and then nothing is stored. The audit trail is only written
(docs/how-to/sign-in.md).
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import pandas as pd
from pandas.api.typing import NaTType

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId
from piecework.domain.received_files import table_rows
from piecework.domain.text import one_line
from piecework.domain.verdicts import (
    REJECTED_WITH,
    VERDICTS,
    Decision,
    Subject,
    SubjectKind,
    Verdict,
)
from piecework.postprocess.datasets.file_table import plain, to_csv
from piecework.results.answers_shown import Work, evidence_sentence, flags_around
from piecework.review.model.deciding import (
    Chosen,
    by_subject,
    contradictions,
    decided,
    foresee_consequences,
    reasons_as_decided,
    taken_along,
    waiting_for_people,
)
from piecework.store import assignments, decisions, reviews
from piecework.store.database import writing

DECISION_COLUMNS = (
    "subject_kind",
    "subject_id",
    "worker",
    "submitted_at",
    "item_id",
    "item",
    "answer",
    "other_answers",
    "evidence",
    "proposed",
    "why_proposed",
    "money",
    "verdict",
    "because",
)
_MOST_SHOWN = 20
"""The most items, other answers and findings in a row."""
_LONGEST = 500
"""Letters of a text of an item."""
_T = TypeVar("_T", bound=str)


def waiting_csv(opened: OpenedCampaign) -> tuple[bytes, int]:
    """Return the file to fill in, and its number of rows.

    `verdict` and `because` are empty. A row with a verdict is a decision. If it has the
    proposed verdict and no reason, the reason is the proposed one. `money` says what
    the proposed verdict does.
    """
    work = Work(opened)
    rows = [
        (
            decision.subject_kind,
            opened.shown_id(decision.subject_kind, decision.subject_id),
            *_about(work, decision),
            decision.verdict,
            decision.because.removeprefix(REJECTED_WITH),
            " ".join(foresee_consequences(work, [decision]).sentences(opened)),
            "",
            "",
        )
        for decision in waiting_for_people(opened)
    ]
    columns = {name: [row[number] for row in rows] for number, name in enumerate(DECISION_COLUMNS)}
    return to_csv(columns), len(rows)


def read_decisions(opened: OpenedCampaign, text: str, *, decided_by: str, name: str) -> int:
    """Store the decisions of a filled-in file; return how many were new.

    The decisions that follow from them are stored too (`piecework.review.model.
    deciding`), unless the file decides otherwise. It is a fault to keep an answer of an
    assignment that the file rejects: an answer that counts is paid.

    Args:
        opened: the open campaign.
        text: the CSV.
        decided_by: the name of the person who decided.
        name: the file's name in errors.

    Raises:
        ConfigError: it has every fault; nothing was stored.
    """
    with writing(opened.store):
        chosen = _read_rows(opened, text, decided_by=decided_by, name=name)
        along = taken_along(opened, chosen)
        decisions.overrule(opened.store, along)
        return decisions.keep_decisions(opened.store, chosen.values())


def _read_rows(opened: OpenedCampaign, text: str, *, decided_by: str, name: str) -> Chosen:
    waiting, before = (
        {
            (
                decision.subject_kind,
                opened.shown_id(decision.subject_kind, decision.subject_id),
            ): decision
            for decision in made
        }
        for made in (waiting_for_people(opened), decisions.load_decisions(opened.store))
    )
    reader = table_rows(text)
    faults: list[str] = []
    read: dict[Subject, Decision] = {}
    try:
        _check_columns(reader.fieldnames or (), name)
        for row in reader:
            if not any(row.values()):
                continue  # an empty row, as spreadsheets write them
            line = f"{name}: line {reader.line_num}"
            try:
                decision = _decision(opened, row, waiting, before, decided_by)
            except ValueError as fault:
                faults.append(f"{line}: {fault}")
                continue
            if decision is None:
                continue  # no verdict: the subject still waits
            (key,) = by_subject([decision])
            earlier = read.setdefault(key, decision)
            if (earlier.verdict, earlier.because) != (decision.verdict, decision.because):
                faults.append(
                    f"{line}: {decision.subject_kind} {row.get('subject_id')!r} has "
                    "another verdict or reason in an earlier line"
                )
    except csv.Error as fault:
        raise ConfigError([f"{name}: line {reader.line_num}: {fault}"]) from fault
    faults += [f"{name}: {fault}" for fault in contradictions(opened, read)]
    if faults:
        raise ConfigError(faults)
    repeated = set(before.values())
    as_decided = reasons_as_decided(opened, read)
    return {key: made if made in repeated else as_decided[key] for key, made in read.items()}


def _check_columns(columns: Sequence[str], name: str) -> None:
    absent = {"subject_kind", "subject_id", "verdict", "because"} - set(columns)
    if absent:
        there = f"its columns are: {', '.join(columns) or 'none, the file is empty'}"
        raise ConfigError([f"{name}: columns missing: {', '.join(sorted(absent))}; {there}"])


def _decision(
    opened: OpenedCampaign,
    row: Mapping[str, str | None],
    waiting: Mapping[Subject, Decision],
    before: Mapping[Subject, Decision],
    decided_by: str,
) -> Decision | None:
    """Return the decision of a row, or the earlier one that it repeats; `None` if open.

    Raises:
        ValueError: the message says what is wrong with the row.
    """
    kind: SubjectKind | None = _one_of(VERDICTS, (row.get("subject_kind") or "").strip().lower())
    if kind is None:
        raise ValueError(
            f"subject_kind {row.get('subject_kind')!r} is not one of {', '.join(VERDICTS)}"
        )
    written = (row.get("verdict") or "").strip().lower()
    if not written:
        return None
    verdict: Verdict | None = _one_of(VERDICTS[kind], written)
    if verdict is None:
        raise ValueError(
            f"verdict {written!r} is not one of {', '.join(VERDICTS[kind])}; without a "
            f"verdict, the {kind} waits"
        )
    subject = kind, (row.get("subject_id") or "").strip()
    proposed, earlier = waiting.get(subject), before.get(subject)
    if proposed is None and earlier is not None:
        if earlier.verdict == verdict:
            return earlier  # the file was read before with fewer verdicts
        raise ValueError(
            f"{kind} {subject[1]!r} was decided before: {earlier.verdict}, by {earlier.decided_by}"
        )
    if proposed is None:
        raise ValueError(f"no {kind} {subject[1]!r} waits for a decision")
    if verdict == "reject" and (kept := _kept_by_a_person(opened, subject[1])):
        raise ValueError(
            f"{kept.decided_by} has kept answer {kept.subject_id!r} of assignment "
            f"{subject[1]!r}, and a rejection would drop it; approve the assignment, "
            "or reject it on the page of `piecework review`"
        )
    return decided(opened, proposed, verdict, plain(row.get("because") or ""), by=decided_by)


def _kept_by_a_person(opened: OpenedCampaign, assignment_id: str) -> Decision | None:
    """Return an answer of an assignment that a person has kept, if any."""
    kept: list[Subject] = [
        ("answer", name)
        for name in assignments.answers_with(opened.store, AssignmentId(assignment_id), "keep")
    ]
    made = decisions.latest_decisions(opened.store, kept)
    return next(
        (decision for decision in made if not decision.decided_by.startswith("policy:")), None
    )


def _one_of(allowed: Iterable[_T], written: str) -> _T | None:
    return next((name for name in allowed if name == written), None)


def _about(work: Work, decision: Decision) -> tuple[str, str, str, str, str, str, str]:
    """Return the columns from `worker` to `evidence`."""
    numbers = work.rows(decision.subject_kind, decision.subject_id)
    if not numbers:
        return "", "", "", "", "", "", ""
    shown = numbers[:_MOST_SHOWN]
    items = [work.item_id(number) for number in shown]
    is_answer = decision.subject_kind == "answer"
    others = work.others(numbers[0])[:_MOST_SHOWN] if is_answer else []
    parts = work.parts(numbers, is_answer=is_answer)
    return (
        work.opened.pseudonym(parts.worker),
        _time(work.table["submitted_at"].iloc[shown].max()),
        " | ".join(items),
        " | ".join(_shown(work, item) for item in items),
        " | ".join(work.line(number) for number in shown),
        " | ".join(work.line(number) for number in others),
        " / ".join(
            evidence_sentence(finding, parts.positions)
            for finding in flags_around(work.opened, parts)[:_MOST_SHOWN]
        ),
    )


def _shown(work: Work, item_id: str) -> str:
    """Return what workers saw of an item: the picture's address, and texts."""
    texts = (one_line(cell, at_most=_LONGEST) for _, cell in work.columns_shown(item_id))
    return " / ".join(filter(None, (work.items[item_id].picture, *texts)))


def _time(moment: pd.Timestamp | NaTType) -> str:
    return "" if pd.isna(moment) else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


AUDIT_COLUMNS = ("at", "event", "name", "role", "subject", "issuer", "about")


def audit_csv(opened: OpenedCampaign) -> tuple[bytes, int]:
    """Return the file, the oldest entry first, and its number of rows.

    Times are UTC. A decision has the role with which its author had signed in before.
    """
    rows = [
        (
            entry.at.isoformat(timespec="seconds"),
            entry.event,
            entry.identity.name,
            entry.identity.role,
            entry.identity.subject,
            entry.identity.issuer,
            entry.about,
        )
        for entry in reviews.trail(opened.store)
    ]
    columns = {name: [row[number] for row in rows] for number, name in enumerate(AUDIT_COLUMNS)}
    return to_csv(columns), len(rows)
