"""Who did the work, who passed the qualification test, and what workers earned by their work.

How much each worker did, at what wage, and who was excluded; which qualifications they
earned, and which they lost.
"""

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from piecework.domain.qualifications import EarnedRule, QualificationTest, RecordedChange
from piecework.domain.text import NOTHING, count, plural, plural_of, share
from piecework.report import plots
from piecework.report.components import Cell, Code, Figure, Section, Table, Tag, number, table, text
from piecework.report.facts import Money
from piecework.report.formatting import duration, excerpt, moment, part_of
from piecework.report.model import ROUNDING_CENTS, ReportModel

_MOST_ROWS = 20
"""The dataset and the store have every worker; few people read a longer list."""

_MOST_COLUMNS = 24

_HASH = 12


def workers_section(model: ReportModel) -> Section | None:
    """Show how the work is spread, and a row per worker; None if no file names any."""
    workers = model.facts.workers
    if workers.empty:
        lead = "No worker has submitted anything yet."
        return Section(key="workers", title="The workers", lead=(lead,))
    if not model.named_workers:
        return None
    excluded = int(workers["is_excluded"].sum())
    lead = (
        f"{model.workers} took part, {count(excluded)} of them excluded by the end. "
        f"{_spread(model)} Ids are keyed hashes: a worker has the same hash in the "
        "dataset, and no name can be recovered from it."
    )
    return Section(
        key="workers",
        title="The workers",
        lead=(lead,),
        figures=(_figure(workers["answers"]),),
        tables=(_table(model), *_published(model)),
    )


def _spread(model: ReportModel) -> str:
    per_worker = model.column("worker", "novel").value_counts()
    if per_worker.empty:
        return ""
    tenth = -(-len(model.facts.workers) // 10)
    busiest = int(per_worker.head(tenth).sum())
    return (
        f"The busiest wrote {part_of(int(per_worker.iloc[0]), int(per_worker.sum()))} "
        f"of the {plural_of(model.accepted_noun)}, and the busiest tenth "
        f"({plural(tenth, 'worker')}) wrote {share(busiest, int(per_worker.sum()))}."
    )


def _figure(answers: pd.Series) -> Figure:
    most = int(answers.max())
    width = plots.round_step(most, columns=_MOST_COLUMNS)
    starts = range(0, most + 1, width)
    bins = [
        plots.Bin(
            start - 0.5, start + width - 0.5, int(answers.between(start, start + width - 1).sum())
        )
        for start in starts
    ]
    every = max(1, len(bins) // 6)
    ticks = [(float(start), count(start)) for start in [*starts][::every]]
    title = "Answers per worker"
    description = (
        f"Half of the workers gave {answers.median():g} answers or fewer; the least "
        f"busy gave {count(answers.min())}, the busiest {count(most)}."
    )
    plot = plots.histogram(
        bins,
        x_label="answers submitted",
        y_label="workers",
        ticks=ticks,
        mark=(float(answers.median()), f"median {answers.median():g}"),
    )
    return plots.figure(plot, key="busy", title=title, description=description, note=description)


def _table(model: ReportModel) -> Table:
    workers, money = model.facts.workers, model.facts.money
    order = workers.assign(worker=workers.index).sort_values(
        ["is_excluded", "answers", "worker"], ascending=[False, False, True]
    )
    shown = order.head(_MOST_ROWS)
    hidden = len(order) - len(shown)
    left_out = f" {plural(hidden, 'worker')} with fewer answers are not shown." if hidden else ""
    return table(
        "Workers",
        shown.to_dict("records"),
        text("Worker", lambda row: Code(excerpt(row["worker"], limit=_HASH).partition("…")[0])),
        number("Answers", "answers"),
        number("Kept out", "answers_dropped"),
        number("HITs", "assignments", spoken="Assignments submitted"),
        number("Rejected", "assignments_rejected"),
        number("Time", lambda row: duration(float(row["seconds_worked"]))),
        *(
            (
                number("Paid", lambda row: money.shown(int(row["paid_cents"]))),
                number("Wage", lambda row: _wage(model, money, str(row["worker"]))),
            )
            if money
            else ()
        ),
        text("State", lambda row: Tag("excluded", "problem") if row["is_excluded"] else ""),
        text(
            "Trait",
            lambda row: excerpt(str(row["trait"]), limit=40),
            is_shown=model.facts.is_rehearsal,
        ),
        note="Excluded workers first, then the busiest. Kept out: answers dropped or "
        "rejected." + " Wage: the pay divided by the time of the paid work; “below” means below "
        "hourly_wage." * bool(money) + left_out,
        is_folded=True,
        whole=len(order),
        is_middle=True,
    )


def _published(model: ReportModel) -> tuple[Table, ...]:
    """Compare the pace of a caption campaign with the paper's; () for other work."""
    facts = model.facts
    if facts.imported is not None or not facts.task.canned_text:
        return ()
    elapsed = (facts.finished_at - facts.started_at).total_seconds() / 3600
    worked = float(facts.workers["seconds_worked"].sum()) / 3600
    answers = len(model.collected)  # the time is that of all assignments
    pace = f"{worked / elapsed:,.1f}" if elapsed > 0 else NOTHING
    seconds = f"{3600 * worked / answers:,.0f}" if answers else NOTHING
    return (
        table(
            "Beside the collection of VizWiz-Captions",
            (
                ("workers", len(facts.workers), "1,623"),
                ("captions", answers, "195,905"),
                ("person-hours", f"{worked:,.1f}", "3,736"),
                ("hours from start to end", f"{elapsed:,.2f}", "101.52"),
                ("person-hours per hour", pace, "37"),
                ("seconds of work per caption", seconds, "69"),
            ),
            text("What"),
            number("Here"),
            number("VizWiz-Captions"),
            note="Gurari et al. 2020, section 3.1; the last row follows from its figures.",
            is_folded=True,
        ),
    )


def _wage(model: ReportModel, money: Money, worker: str) -> Cell:
    earned = float(model.wages.get(worker, float("nan")))
    is_below = earned < money.wage_floor_cents_per_hour - ROUNDING_CENTS
    wage = money.wage(earned)
    return Tag(f"{wage}, below", "watch") if is_below else wage


_LABEL_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeWork:
    """The qualification test that workers took before the work.

    Attributes:
        scores: the score of each worker who took it, with their trait in a rehearsal;
            the best, if it was changed and they took it before as well.
    """

    test: QualificationTest
    scores: tuple[tuple[int, str], ...]


def before_work_section(model: ReportModel) -> Section | None:
    """Count the workers who took and passed it; None for a campaign without a test."""
    taken_by = model.facts.of(BeforeWork)
    if taken_by is None:
        return None
    test, scores = taken_by.test, taken_by.scores
    passed = sum(test.is_passed(score) for score, _ in scores)
    taken = len(scores)
    lead = (
        f"{plural(taken, 'worker')} took the test, and {part_of(passed, taken)} passed "
        "it; only these could accept a HIT. "
        f"{plural(len(model.facts.workers), 'worker')} then took part."
        if taken
        else "No worker has taken the test yet, so no worker could accept a HIT."
    )
    marks = table(
        f"Pass marks: {excerpt(test.name, limit=_LABEL_CHARACTERS)}",
        test.sections.items(),
        text("Section", lambda section: excerpt(section[0], limit=_LABEL_CHARACTERS)),
        number("Questions", lambda section: len(section[1])),
        number(
            "Value needed" if test.documents else "Right answers needed",
            lambda section: test.correct_at_least[section[0]],
        ),
        note="The test's own answer key makes a value of the answers."
        if test.documents
        else "A worker must pass every section. The score is then the number of right "
        "answers, and otherwise 0.",
    )
    tables = (marks, *_simulated_at_the_test(taken_by))
    return Section(key="before-work", title="The test before the work", lead=(lead,), tables=tables)


def _simulated_at_the_test(taken_by: BeforeWork) -> tuple[Table, ...]:
    taken = Counter(trait for _, trait in taken_by.scores if trait)
    passed = Counter(trait for score, trait in taken_by.scores if taken_by.test.is_passed(score))
    if not taken:
        return ()
    return (
        table(
            "Simulated workers at the test",
            sorted(taken.items()),
            text("Trait"),
            number("Took it"),
            number("Passed", lambda row: passed[row[0]]),
            number("Share", lambda row: share(passed[row[0]], row[1])),
        ),
    )


_MOST_EARNED_ROWS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Earned:
    """A qualification that work of the campaign earns.

    Attributes:
        holders: how many workers hold it now.
        changes: of all campaigns that share it, oldest first; ids of workers are hashed.
    """

    rule: EarnedRule
    holders: int
    changes: tuple[RecordedChange, ...]


@dataclass(frozen=True, slots=True)
class EarnedQualifications:
    """All qualifications that work of the campaign earns."""

    rules: tuple[Earned, ...]


def earned_section(model: ReportModel) -> Section | None:
    """Show each grant and revocation with its evidence; None without any rule."""
    earned = model.facts.of(EarnedQualifications)
    if earned is None:
        return None
    return Section(
        key="earned",
        title="Earned qualifications",
        lead=tuple(map(_lead, earned.rules)),
        tables=tuple(map(_earned_table, earned.rules)),
    )


def _lead(earned: Earned) -> str:
    rule = earned.rule
    granted = sum(change.change == "grant" for change in earned.changes)
    return (
        f"“{excerpt(rule.name, limit=_LABEL_CHARACTERS)}” was granted "
        f"{plural(granted, 'time')} and revoked "
        f"{plural(len(earned.changes) - granted, 'time')}, by all campaigns that share "
        f"it; {plural(earned.holders, 'worker')} now hold it. The rule: "
        f"{rule.agreement:.0%} of the latest {rule.over} items agree; below "
        f"{rule.revoke_below:.0%} it is lost, and items count for "
        f"{plural(rule.forget_days, 'day')}."
    )


def _earned_table(earned: Earned) -> Table:
    shown = earned.changes[-_MOST_EARNED_ROWS:]
    rest = len(earned.changes) - len(shown)
    return table(
        f"Changes: {excerpt(earned.rule.name, limit=_LABEL_CHARACTERS)}",
        reversed(shown),
        text("When", lambda change: moment(change.decided_at)),
        text("Worker", lambda change: Code(change.worker_id[:_HASH])),
        text("Change", lambda change: "granted" if change.change == "grant" else "revoked"),
        number("Items", lambda change: change.share.items),
        number(
            "Agreed",
            lambda change: (
                share(change.share.agreed, change.share.items) if change.share.items else ""
            ),
        ),
        text("Submitted", _dates),
        text("By", lambda change: change.decided_by),
        empty="No work has earned it yet.",
        note="An item agrees if it was kept and contradicts neither a known answer nor "
        "most others." + (f" {plural(rest, 'older change')} not shown." if rest else ""),
        is_folded=True,
    )


def _dates(change: RecordedChange) -> str:
    first, last = change.share.first, change.share.last
    return "" if first is None or last is None else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
