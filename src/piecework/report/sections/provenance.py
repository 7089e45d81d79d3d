"""The origin of every number, and the terms of a report.

Hashes, versions, times, and counts that must agree; terms for readers who run no
campaigns.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd

from piecework.domain.text import count
from piecework.report.components import Cell, Code, Section, Table, Tag, number, table, text
from piecework.report.facts import Money, ReportFacts
from piecework.report.formatting import excerpt, listed
from piecework.report.model import ReportModel

_MOST_SOURCES = 10


@dataclass(frozen=True, slots=True)
class Check:
    """The same quantity from two records, formatted for people."""

    quantity: str
    first: str
    second: str
    agrees: bool


def checks(model: ReportModel) -> tuple[Check, ...]:
    """Compare quantities that are recorded twice; a difference means lost data."""
    facts = model.facts
    counted = int(facts.workers["answers"].sum())
    deleted = facts.workers["assignments_deleted"].sum()
    sent = int(facts.batches["assignments_submitted"].sum() - deleted)
    assignments = model.collected["assignment_id"].nunique()
    decided = int((model.verdicts["verdict"] == "reject").sum())
    rejected = int(facts.workers["assignments_rejected"].sum())
    return (
        _same("Answers: collected, and counted by worker", len(model.collected), counted),
        _same("Assignments: collected, and counted by batch", assignments, sent),
        _same("Rejected assignments: decided, and counted by worker", decided, rejected),
        *(_of_money(facts.money, facts.workers) if facts.money else ()),
    )


def _of_money(money: Money, workers: pd.DataFrame) -> Iterator[Check]:
    paid = int(workers["paid_cents"].sum())
    booked = money.cents("paid_rewards") + money.cents("paid_bonuses")
    yield _same("Pay: of all workers, and in the ledger", paid, booked, money.shown)
    committed, budget = money.spent_cents + money.cents("held"), money.cents("budget")
    within = "Spent and held, within the budget"
    yield Check(within, money.shown(committed), money.shown(budget), agrees=committed <= budget)
    if others := money.others:
        quantity = f"Spent: by the marketplace's ledger, and by {others.market}'s"
        yield _same(quantity, others.marketplace, others.outside, money.shown)


def _same(quantity: str, first: int, second: int, shown: Callable[[int], str] = count) -> Check:
    return Check(quantity, shown(first), shown(second), agrees=first == second)


def provenance_section(model: ReportModel) -> Section:
    """Show what a reader needs to reproduce the dataset, or to doubt it."""
    return Section(
        key="provenance",
        title="Provenance",
        lead=(_marketplace(model),),
        tables=(_origin(model), _checks(model), *_also_sent(model)),
    )


def _also_sent(model: ReportModel) -> tuple[Table, ...]:
    """List what workers sent and the task has no field for."""
    if not model.also_sent:
        return ()
    return (
        table(
            "Sent, and no field",
            model.also_sent.items(),
            text("Name", lambda sent: excerpt(sent[0], limit=80) or "no name"),
            number("Answers"),
            is_folded=True,
            note="The data card names the column of each.",
        ),
    )


def _marketplace(model: ReportModel) -> str:
    facts = model.facts
    if facts.imported is not None:
        return "Another tool collected these answers; piecework posted and paid nothing."
    whom = "simulated workers" if facts.is_rehearsal else "workers"
    return (
        "Amazon Mechanical Turk closed to new HITs on 2026-09-30. A marketplace that "
        f"speaks its protocol showed these HITs to {whom}."
    )


def _sources(facts: ReportFacts) -> list[tuple[str, Cell]]:
    """The file by which answers were decided last, those before, and what changed."""
    *earlier, last = facts.sources
    rows: list[tuple[str, Cell]] = [
        ("Campaign file, sha256", Code(excerpt(last.sha256))),
        *(
            (f"Campaign file used from {file.since}, sha256", Code(file.sha256))
            for file in earlier[-_MOST_SOURCES:]
        ),
    ]
    if len(earlier) > _MOST_SOURCES:
        rows.append(("Campaign files before those", count(len(earlier) - _MOST_SOURCES)))
    if earlier:
        rows.append(("The last campaign file was used from", last.since))
    if facts.changed:
        rows.append(("Changed since the last pass", listed(map(excerpt, facts.changed))))
    return rows


def _origin(model: ReportModel) -> Table:
    facts, own = model.facts, model.facts.task.own
    findings = facts.findings.drop_duplicates(["heuristic", "version"])
    heuristics = sorted(zip(findings["heuristic"], findings["version"], strict=True))
    rows: list[tuple[str, Cell]] = [
        ("Campaign", excerpt(facts.campaign)),
        ("Task", f"{excerpt(facts.task.name)}, version {facts.task.version}"),
        # Other tasks come with the code.
        *([] if own is None else [("Files of the task, sha256", Code(own.digest))]),
        *_sources(facts),
        ("Code, commit", Code(excerpt(facts.code_commit) or "unknown")),
        *([] if facts.seed is None else [("Seed", Code(str(facts.seed)))]),
        ("Workers", "simulated" if facts.is_rehearsal else "people"),
        *([("Answers", "drawn at random")] if facts.is_drawn else []),
        ("Time span (UTC)", facts.time_span or "unknown"),
        ("Heuristics", _versions(heuristics)),
        ("Cleaning rules", _versions(sorted(facts.rules.items()))),
    ]
    return table(
        "Origin",
        rows,
        text("Property"),
        text("Value"),
        is_middle=True,
        note="The same code, campaign file and seed give the same rehearsal, byte for byte."
        if facts.is_rehearsal
        else "",
    )


def _versions(pairs: list[tuple[str, int]]) -> str:
    named = [f"{excerpt(name, limit=40)} v{version}" for name, version in pairs]
    return listed(named) or "none recorded"


def _checks(model: ReportModel) -> Table:
    return table(
        "Counts that must agree",
        checks(model),
        text("Quantity", lambda check: check.quantity),
        number("First count", lambda check: check.first),
        number("Second count", lambda check: check.second),
        text(
            "Verdict",
            lambda check: Tag("agree", "fine") if check.agrees else Tag("differ", "problem"),
        ),
    )


_TERMS = (
    ("HIT", "A page of work that a worker accepts and sends as a whole."),
    ("Assignment", "One worker's work on a HIT. It is approved and paid, or rejected."),
    ("Answer", "What one assignment says about one item."),
    ("Batch", "Items that are posted together. Excluded workers see no later batch."),
    ("Round", "0 is a batch's first posting; each later round posts what is missing."),
    ("Free text", "Accepted, and in the worker's own words."),
    ("Canned", "The page's own sentence for pictures that show nothing to describe."),
    ("Dropped", "Paid, but kept out of the dataset, for a stated reason."),
    ("Rejected", "Not paid, and kept out of the dataset, for a stated reason."),
    ("Surplus", "Good and paid, but more than the item needed."),
    ("Excluded", "A worker who gets no more HITs. Their account is not affected."),
    ("Heuristic", "A check for one kind of bad work, run on all answers."),
    ("Flag", "A heuristic's suspicion that passed its limit. It is not a verdict."),
    ("Policy", "The rules in the campaign file that turn flags into verdicts."),
    ("hourly_wage", "The least that an hour should pay; `piecework pay` adds bonuses up to it."),
    ("Split", "The part of the dataset that an item is in: train, val or test."),
    ("Alpha", "Krippendorff's alpha: 1 is full agreement, 0 is chance."),
    ("p-value", "How often chance alone would give a difference at least this large."),
)


_IMPORTED = {
    "Assignment": "One worker's work on one HIT.",
    "Dropped": "Kept out of the dataset, for a stated reason.",
    "Rejected": "Kept out of the dataset with its assignment, for a stated reason.",
    "Surplus": "Good, but its worker's second answer about the item.",
    "Excluded": "A worker whom a rule or a person would give no more work.",
}
"""Meanings if another tool posted and paid."""


def terms_section(model: ReportModel) -> Section:
    """List each term with its meaning; leave out terms that the report cannot use."""
    left_out, meanings = set(), dict(_TERMS)
    if model.facts.imported is not None:
        left_out |= {"Batch", "Round"}
        meanings |= _IMPORTED
    if model.text_noun:
        left_out |= {"Alpha", "p-value"}
    if not model.facts.task.canned_text:
        left_out |= {"Canned", "Free text"}
    if model.facts.money is None:
        left_out.add("hourly_wage")
    return Section(
        key="terms",
        title="Glossary",
        terms=tuple(term for term in meanings.items() if term[0] not in left_out),
    )
