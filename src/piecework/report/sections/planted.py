"""In a rehearsal: how many planted bad workers were found, and how many honest wronged.

Only a rehearsal knows the truth about its workers, so only here can the checks be
checked. Counts come before percentages, because there are few workers.
"""

from dataclasses import dataclass

import pandas as pd

from piecework.domain.counts import count, plural_of
from piecework.report.components import Cell, Level, Note, Section, Table, number, text
from piecework.report.formatting import excerpt, part_of
from piecework.report.model import ReportModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How well the checks told planted bad workers from honest ones; counts of workers.

    Found or wronged: excluded, or with a rejected assignment.
    """

    bad: int
    bad_found: int
    honest: int
    honest_wronged: int
    novel_by_bad: int


def score(model: ReportModel) -> Score:
    """Count the bad workers found and the honest workers wronged."""
    workers = model.facts.workers
    is_bad = workers["is_planted_bad"]
    is_hit = _is_hit(workers)
    bad_ids = workers.index[is_bad]
    return Score(
        bad=int(is_bad.sum()),
        bad_found=int((is_bad & is_hit).sum()),
        honest=int((~is_bad).sum()),
        honest_wronged=int((~is_bad & is_hit).sum()),
        novel_by_bad=int(model.column("worker", "novel").isin(bad_ids).sum()),
    )


def build(model: ReportModel) -> Section | None:
    """Show the truth about the rehearsal's workers; None for a real campaign."""
    if not model.facts.is_rehearsal:
        return None
    lead = (
        "This rehearsal planted workers who cheat or are careless in known ways. A bad "
        "worker counts as found if they were excluded or had an assignment rejected. "
        "An honest worker to whom the same happened counts as wronged."
    )
    return Section(
        key="planted",
        title="Did the checks find the planted bad workers?",
        lead=(lead,),
        tables=(_table(model),),
    )


def notes(model: ReportModel, result: Score) -> tuple[Note, ...]:
    """The score in three sentences."""
    if not len(model.facts.workers):
        return (Note("fact", "No simulated worker has submitted anything yet."),)
    novel = model.count("novel")
    caught = part_of(result.bad_found, result.bad, "planted bad worker")
    wronged = part_of(result.honest_wronged, result.honest, "honest worker")
    leaked = part_of(result.novel_by_bad, novel, model.accepted_noun)
    return (
        Note(
            _level(result.bad - result.bad_found, result.bad, problem_from=0.5),
            f"{caught} were found.",
        ),
        Note(
            _level(result.honest_wronged, result.honest, problem_from=0.1),
            f"{wronged} were wronged: excluded, or work rejected.",
        ),
        Note(
            _level(result.novel_by_bad, novel, problem_from=0.1),
            f"{leaked} were written by planted bad workers.",
        ),
    )


def _level(wrong: int, of: int, *, problem_from: float) -> Level:
    """Fine if nothing is wrong, a problem from this share on, else a warning."""
    if not wrong:
        return "fine"
    return "problem" if wrong >= problem_from * of else "watch"


def _is_hit(workers: pd.DataFrame) -> pd.Series:
    return workers["is_excluded"] | (workers["assignments_rejected"] > 0)


def _table(model: ReportModel) -> Table:
    workers = model.facts.workers
    rows = tuple(
        _row(model, str(trait), group, is_bad=bool(is_bad))
        for (is_bad, trait), group in workers.groupby(
            ["is_planted_bad", "trait"], sort=True
        )
    )
    return Table(
        caption="Planted workers by trait",
        columns=(
            text("Trait"),
            text("Planted as"),
            number("Workers"),
            number("Excluded"),
            number("With rejected work"),
            number("Found or wronged"),
            number("Answers kept out"),
            number(plural_of(model.accepted_noun).capitalize()),
        ),
        rows=tuple(sorted(rows, key=lambda row: row[1] != "bad")),
        note="Workers who submitted at least one assignment. Kept out: answers "
        "dropped or rejected. "
        f"{plural_of(model.accepted_noun).capitalize()}: in the dataset.",
        empty="No simulated worker submitted anything.",
    )


def _row(
    model: ReportModel, trait: str, group: pd.DataFrame, *, is_bad: bool
) -> tuple[Cell, ...]:
    outcomes = model.outcomes[model.facts.answers["worker"].isin(group.index)]
    is_out = outcomes.isin(["dropped", "rejected"])
    hit = int(_is_hit(group).sum())
    return (
        excerpt(trait, limit=40) or "(none)",
        "bad" if is_bad else "honest",
        count(len(group)),
        count(group["is_excluded"].sum()),
        count((group["assignments_rejected"] > 0).sum()),
        f"{count(hit)} of {count(len(group))} {'found' if is_bad else 'wronged'}",
        f"{count(is_out.sum())} of {count(len(outcomes))}",
        count((outcomes == "novel").sum()),
    )
