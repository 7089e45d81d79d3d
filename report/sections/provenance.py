"""Where every number comes from: hashes, versions, time, and books that must agree."""

from dataclasses import dataclass

from domain.money import dollars
from report.components import Cell, Code, Section, Table, Tag, number, text
from report.formatting import count, excerpt, listed, moment
from report.model import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The same quantity told by two books, as people read it."""

    what: str
    one: str
    other: str
    agrees: bool


def checks(reading: Reading) -> tuple[Check, ...]:
    """Quantities that the facts tell twice; a difference means something is lost."""
    facts = reading.facts
    paid = int(facts.workers["paid_cents"].sum())
    booked = facts.cents("paid_rewards") + facts.cents("paid_bonuses")
    counted = int(facts.workers["answers"].sum())
    sent = int(facts.batches["assignments_submitted"].sum())
    seen = facts.answers["assignment_id"].nunique()
    decided = int((reading.verdicts["verdict"] == "reject").sum())
    done = int(facts.workers["assignments_rejected"].sum())
    committed = facts.spent_cents + facts.cents("held")
    return (
        _same(
            "Answers: in the dataset, and counted by worker",
            len(facts.answers),
            counted,
        ),
        _same("Assignments: in the dataset, and counted by batch", seen, sent),
        _same("Rejected assignments: decided, and counted by worker", decided, done),
        Check(
            what="Pay: of all workers, and in the ledger",
            one=dollars(paid),
            other=dollars(booked),
            agrees=paid == booked,
        ),
        Check(
            what="Spent and held, within the budget",
            one=dollars(committed),
            other=dollars(facts.cents("budget")),
            agrees=committed <= facts.cents("budget"),
        ),
    )


def _same(what: str, one: int, other: int) -> Check:
    return Check(what=what, one=count(one), other=count(other), agrees=one == other)


def build(reading: Reading) -> Section:
    """What somebody needs to make the same dataset again, or to doubt this one."""
    return Section(
        key="provenance",
        title="Provenance",
        tables=(_origin(reading), _checks(reading)),
    )


def _origin(reading: Reading) -> Table:
    facts = reading.facts
    version = f", version {facts.task_version}" if facts.task_version else ""
    findings = facts.findings.drop_duplicates(["heuristic", "version"])
    heuristics = sorted(zip(findings["heuristic"], findings["version"], strict=True))
    rows: list[tuple[Cell, ...]] = [
        ("Campaign", excerpt(facts.campaign)),
        ("Task", f"{excerpt(facts.task)}{version}"),
        ("Campaign file, sha256", Code(excerpt(facts.source_hash))),
        ("Code, commit", Code(excerpt(facts.code_commit) or "unknown")),
        ("Seed", Code(str(facts.seed))),
        ("Workers", "simulated" if facts.is_rehearsal else "people"),
        (
            "Time span (UTC)",
            f"{moment(facts.started_at)} to {moment(facts.finished_at)}",
        ),
        ("Heuristics", _versions(heuristics)),
        ("Cleaning rules", _versions(sorted(facts.rules.items()))),
    ]
    return Table(
        caption="Origin",
        columns=(text("What"), text("Value")),
        rows=tuple(rows),
        is_wide=True,
        note="The same code, campaign file and seed give the same rehearsal, byte for "
        "byte."
        if facts.is_rehearsal
        else "",
    )


def _versions(pairs: list[tuple[str, int]]) -> str:
    named = [f"{excerpt(name, limit=40)} v{version}" for name, version in pairs]
    return listed(named) or "none recorded"


def _checks(reading: Reading) -> Table:
    return Table(
        caption="Books that must agree",
        columns=(
            text("Quantity"),
            number("One book"),
            number("The other"),
            text("Verdict"),
        ),
        rows=tuple(
            (
                check.what,
                check.one,
                check.other,
                Tag("agree", "fine") if check.agrees else Tag("differ", "problem"),
            )
            for check in checks(reading)
        ),
        is_wide=True,
    )
