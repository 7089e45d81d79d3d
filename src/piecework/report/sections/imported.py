"""What came from other tools: the files, and what was decided there, beside ours.

What others decided is shown so that it can be compared. Nothing here is judged by it.
"""

import pandas as pd

from piecework.domain.counts import count, plural
from piecework.report.components import Section, Table, number, text
from piecework.report.facts import ImportedFacts
from piecework.report.formatting import excerpt, part_of
from piecework.report.model import ReportModel

_MOST_OUTCOMES = 30


def build(model: ReportModel) -> Section | None:
    """Files and outcomes; None where answers were collected here."""
    imported = model.facts.imported
    if imported is None:
        return None
    return Section(
        key="imported",
        title="Where the answers come from",
        lead=(
            (
                "Another tool collected these answers. Nothing was posted or paid from "
                "here, and what was approved or rejected there is no evidence: "
                "heuristics do not see it."
            ),
            *_of_workers(model, imported),
            *_of_pay(imported),
        ),
        tables=(_files(imported), *_outcomes(model, imported)),
    )


def _of_workers(model: ReportModel, imported: ImportedFacts) -> tuple[str, ...]:
    if not imported.unnamed_workers:
        return ()
    assignments = plural(imported.unnamed_workers, "assignment")
    if not model.named_workers:
        sentence = (
            f"The files name no worker. Each of {assignments} counts as another "
            "person's, and nothing can be said of how one worker answers."
        )
        return (sentence,)
    sentence = (
        f"Of {assignments} the files name no worker: each counts as another person's, "
        "and nothing can be said of how that person answers elsewhere."
    )
    return (sentence,)


def _of_pay(imported: ImportedFacts) -> tuple[str, ...]:
    wages = imported.wages_cents_per_hour
    if wages.empty:
        return ()
    sentence = (
        "By the rewards and times that the files state, half of "
        f"{plural(len(wages), 'worker')} earned ${wages.median() / 100:.2f} an hour or "
        "more, if all was paid."
    )
    return (sentence,)


def _files(imported: ImportedFacts) -> Table:
    return Table(
        caption="Files",
        columns=(
            text("File"),
            text("Format"),
            number("Assignments"),
            number("Known before"),
            number("Never sent"),
            number("Unreadable rows"),
        ),
        rows=tuple(
            (
                excerpt(file.name),
                file.format_name,
                count(file.assignments),
                count(file.known),
                count(file.not_sent),
                count(file.unreadable),
            )
            for file in imported.files
        ),
        note="Known before: read from this file or another already, and not counted "
        "twice. Unreadable rows are kept aside in the store.",
        is_wide=True,
    )


def _outcomes(model: ReportModel, imported: ImportedFacts) -> tuple[Table, ...]:
    elsewhere = imported.outcomes.reindex(model.came.index).fillna("")
    if not elsewhere.map(bool).any():
        return ()
    here = model.outcomes.reindex(elsewhere.index)
    table = pd.DataFrame(
        {
            "elsewhere": elsewhere,
            "flagged": model.is_flagged,
            "out": here.isin(["dropped", "rejected"]),
            "waits": here.isna(),
        }
    )
    counts = table.groupby("elsewhere").agg(
        answers=("flagged", "size"),
        flagged=("flagged", "sum"),
        out=("out", "sum"),
        waits=("waits", "sum"),
    )
    ranked = counts.sort_values("answers", ascending=False, kind="stable")
    return (
        Table(
            caption="What was decided elsewhere, and here",
            columns=(
                text("Elsewhere"),
                number("Answers"),
                number("Flagged here"),
                number("Dropped here"),
                number("Not decided here"),
            ),
            rows=tuple(
                (
                    excerpt(str(outcome)) or "nothing",
                    count(row["answers"]),
                    part_of(int(row["flagged"]), int(row["answers"])),
                    part_of(int(row["out"]), int(row["answers"])),
                    count(row["waits"]),
                )
                for outcome, row in ranked.head(_MOST_OUTCOMES).iterrows()
            ),
            note=(
                f"{count(len(ranked) - _MOST_OUTCOMES)} rarer outcomes are left out."
                if len(ranked) > _MOST_OUTCOMES
                else ""
            ),
            is_wide=True,
        ),
    )
