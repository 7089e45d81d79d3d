"""Answers from other tools: their files, and the decisions there beside ours.

Decisions made elsewhere are shown for comparison only. They do not affect any judgement
here.
"""

import pandas as pd

from piecework.domain.counts import count, plural
from piecework.report.components import Section, Table, number, text
from piecework.report.facts import ImportedFacts
from piecework.report.formatting import excerpt, part_of
from piecework.report.model import ReportModel

_MOST_OUTCOMES = 30


def build(model: ReportModel) -> Section | None:
    """Show files and outcomes; None if answers were collected here."""
    imported = model.facts.imported
    if imported is None:
        return None
    return Section(
        key="imported",
        title="Where the answers come from",
        lead=(
            (
                "Another tool collected these answers; piecework posted and paid "
                "nothing. Approvals and rejections there are not evidence: the "
                "heuristics do not see them."
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
            f"The files name no workers. Each of {assignments} counts as a different "
            "person's, so nothing is known about single workers."
        )
        return (sentence,)
    sentence = (
        f"The files name no worker for {assignments}: each counts as a different "
        "person's, so nothing is known about that person's other answers."
    )
    return (sentence,)


def _of_pay(imported: ImportedFacts) -> tuple[str, ...]:
    wages = imported.wages_cents_per_hour
    if wages.empty:
        return ()
    sentence = (
        "According to the rewards and times in the files, half of "
        f"{plural(len(wages), 'worker')} earned ${wages.median() / 100:.2f} an hour or "
        "more, if everything was paid."
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
        note="Known before: already read from this or another file, and not counted "
        "twice. The store keeps unreadable rows.",
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
                f"{count(len(ranked) - _MOST_OUTCOMES)} rarer outcomes are not shown."
                if len(ranked) > _MOST_OUTCOMES
                else ""
            ),
            is_wide=True,
        ),
    )
