"""What was decided about answers, assignments and workers, by whom and why."""

import pandas as pd

from piecework.domain.counts import count, plural
from piecework.qc.reasons import GAP
from piecework.report.components import Cell, Quote, Section, Table, number, text
from piecework.report.formatting import excerpt
from piecework.report.model import ReportModel

_MOST_REASONS = 25
_REASON_CHARACTERS = 300
_POLICY = "policy:"

_ORDER = (
    ("answer", "keep"),
    ("answer", "drop"),
    ("assignment", "approve"),
    ("assignment", "reject"),
    ("worker", "exclude"),
    ("worker", "block"),
    ("worker", "include"),
)


def build(model: ReportModel) -> Section:
    """Show the verdicts by who decided, and their reasons."""
    verdicts = model.verdicts
    by_policy = verdicts["decided_by"].str.startswith(_POLICY)
    return Section(
        key="decisions",
        title="What was decided, and why",
        lead=(_lead(model, by_policy),),
        tables=(
            _table(verdicts, by_policy, is_paid=model.facts.imported is None),
            _reasons(verdicts.assign(because=model.as_stated(verdicts["because"])), by_policy),
        ),
    )


def _lead(model: ReportModel, by_policy: pd.Series) -> str:
    verdicts = model.verdicts
    people = verdicts.loc[~by_policy, "decided_by"].nunique()
    by_people = (
        f"{count((~by_policy).sum())} by {plural(people, 'person')}"
        if people
        else "none by a person"
    )
    overruled = len(model.facts.decisions) - len(verdicts)
    return (
        f"{plural(len(verdicts), 'decision')} in force: {count(by_policy.sum())} by "
        f"the policy in the campaign file, {by_people}. "
        + f"{plural(overruled, 'earlier decision')} about the same subjects overruled, "
        f"but kept on record." * bool(overruled)
    )


def _table(verdicts: pd.DataFrame, by_policy: pd.Series, *, is_paid: bool) -> Table:
    rows = []
    for kind, verdict in _ORDER:
        has_verdict = (verdicts["subject_kind"] == kind) & (verdicts["verdict"] == verdict)
        if has_verdict.any():
            rows.append(
                (
                    f"{verdict} {kind}",
                    count((has_verdict & by_policy).sum()),
                    count((has_verdict & ~by_policy).sum()),
                    count(has_verdict.sum()),
                )
            )
    return Table(
        caption="Verdicts",
        columns=(text("Verdict"), number("By policy"), number("By a person"), number("All")),
        rows=tuple(rows),
        note="Dropped answers are paid for; rejected assignments are not. Excluded "
        "workers get no more HITs of this campaign; their accounts are not affected."
        if is_paid
        else "These verdicts do not affect pay: the work was done elsewhere.",
        empty="Nothing has been decided.",
    )


def _reasons(verdicts: pd.DataFrame, by_policy: pd.Series) -> Table:
    decider = by_policy.map({True: "policy", False: "person"})
    sizes = (
        verdicts.assign(decider=decider)
        .groupby(["subject_kind", "verdict", "because", "decider"])
        .size()
        .reset_index(name="times")
        .sort_values(
            ["times", "subject_kind", "verdict", "because"], ascending=[False, True, True, True]
        )
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{row['verdict']} {row['subject_kind']}",
            Quote(excerpt(row["because"], limit=_REASON_CHARACTERS)),
            row["decider"],
            count(row["times"]),
        )
        for row in sizes.head(_MOST_REASONS).to_dict("records")
    )
    hidden = sizes.iloc[_MOST_REASONS:]
    return Table(
        caption="Reasons, the most frequent first",
        columns=(text("Verdict"), text("Because"), text("Decided by"), number("Times")),
        rows=rows,
        note=_note(verdicts["because"], hidden),
        is_middle=True,
        empty="Nothing has been decided.",
    )


def _note(reasons: "pd.Series[str]", hidden: pd.DataFrame) -> str:
    """What `…` stands for, and what is not shown."""
    has_gaps = bool(reasons.str.contains(GAP, regex=False).any())
    gaps = f"“{GAP}” stands for the evidence, which differs from case to case."
    rest = (
        f"{plural(len(hidden), 'rarer reason')} not shown, given "
        f"{plural(int(hidden['times'].sum()), 'time')}."
    )
    return " ".join([gaps] * has_gaps + [rest] * bool(len(hidden)))
