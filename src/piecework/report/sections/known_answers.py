"""Work whose truth is known: in a rehearsal planted bad workers, and items with a gold answer.

How many planted workers were found, and how many honest ones wronged; how often workers
gave the known answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from scipy.stats import binomtest

from piecework.domain.text import count, plural, plural_of, share
from piecework.domain.verdicts import RANDOM_SAMPLE
from piecework.report.components import Code, Level, Note, Section, Table, number, table, text
from piecework.report.formatting import excerpt, part_of
from piecework.report.model import ReportModel

_HALF = 0.5
_CONFIDENCE = 0.95
_MANY_WRONGED = _MANY_LEAKED = 0.1


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


def score_planted(model: ReportModel) -> Score:
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


def planted_section(model: ReportModel) -> Section | None:
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
        tables=(_by_trait(model),),
    )


def planted_notes(model: ReportModel, result: Score) -> tuple[Note, ...]:
    """The score in three notes."""
    if not len(model.facts.workers):
        return (Note("fact", "No simulated worker has submitted anything yet."),)
    novel = model.count("novel")
    caught = part_of(result.bad_found, result.bad, "planted bad worker")
    wronged = part_of(result.honest_wronged, result.honest, "honest worker")
    leaked = part_of(result.novel_by_bad, novel, model.accepted_noun)
    level = _level_of_caught(result)
    wronged_much = result.honest_wronged >= _MANY_WRONGED * result.honest
    leaked_much = result.novel_by_bad >= _MANY_LEAKED * novel
    return (
        Note(
            level,
            f"{caught} {_were(result.bad_found, result.bad)} found."
            + "".join(_reasons(model)) * (level != "fine"),
        ),
        Note(
            _level(result.honest_wronged, is_grave=wronged_much),
            f"{wronged} {_were(result.honest_wronged, result.honest)} wronged: "
            "excluded, or work rejected.",
        ),
        Note(
            # The crowd sets this share, not the campaign, unless few were found.
            _level(result.novel_by_bad, is_grave=leaked_much and level == "problem"),
            f"{leaked} {_were(result.novel_by_bad, novel)} written by planted bad workers.",
        ),
    )


def _level_of_caught(result: Score) -> Level:
    """A problem only if chance does not explain that fewer than half were found."""
    if result.bad_found == result.bad:
        return "fine"
    test = binomtest(result.bad_found, result.bad)
    interval = test.proportion_ci(_CONFIDENCE, method="wilson")
    return "problem" if interval.high < _HALF else "watch"


def _level(wrong: int, *, is_grave: bool) -> Level:
    if not wrong:
        return "fine"
    return "problem" if is_grave else "watch"


def _were(part: int, whole: int) -> str:
    return "was" if 1 in {part, whole} else "were"


_PUNISHES = {"reject", "exclude", "block"}


def _reasons(model: ReportModel) -> Iterator[str]:
    """Say why planted bad workers were missed: no rule acts, no flag, or too few flags."""
    workers = model.facts.workers
    missed = workers.index[workers["is_planted_bad"] & ~_is_hit(workers)]
    flags = model.flags.drop(columns=RANDOM_SAMPLE, errors="ignore")
    of_worker = flags.groupby(model.collected["worker"]).any().reindex(missed, fill_value=False)
    rules = [rule for rule in model.facts.policy if rule.then in _PUNISHES]
    named = {name for rule in rules for name in rule.any_of}
    if any(rule.suspicion_above is not None for rule in rules):
        named |= {*flags.columns}
    is_flagged = of_worker.any(axis="columns")
    is_ruled = of_worker[flags.columns.intersection(list(named))].any(axis="columns")
    no_rule = of_worker[is_flagged & ~is_ruled]
    if len(no_rule):
        mostly = model.title_of(str(no_rule.sum().idxmax()))
        yield (
            f" {plural(len(no_rule), 'other')} {_were(len(no_rule), 0)} flagged (mostly by "
            f"“{mostly}”), but no rule rejects or excludes for that; `piecework compare` with "
            "--suggest proposes rules."
        )
    if few := int(is_ruled.sum()):
        yield f" {plural(few, 'other')} {_were(few, 0)} flagged below the thresholds of the rules."
    if not is_flagged.all():
        yield _advice(model)


def _advice(model: ReportModel) -> str:
    """What would tell more about each worker."""
    if model.facts.task.main_text:
        return " More HITs for each worker would tell more about them."
    gold = "" if model.facts.of(Gold) else " or known answers ([gold])"
    return f" More answers for each item{gold} would tell more about each worker."


def _is_hit(workers: pd.DataFrame) -> pd.Series:
    return workers["is_excluded"] | (workers["assignments_rejected"] > 0)


def _by_trait(model: ReportModel) -> Table:
    accepted = plural_of(model.accepted_noun).capitalize()
    groups = [
        (excerpt(str(trait), limit=40) or "(none)", bool(is_bad), workers)
        for (is_bad, trait), workers in model.facts.workers.groupby(["is_planted_bad", "trait"])
    ]
    rows = []
    for trait, is_bad, workers in sorted(groups, key=lambda group: not group[1]):
        outcomes = model.outcomes[model.facts.answers["worker"].isin(workers.index)]
        is_out = outcomes.isin(["dropped", "rejected"])
        hit = _is_hit(workers).sum()
        rows.append(
            (
                trait,
                "bad" if is_bad else "honest",
                len(workers),
                workers["is_excluded"].sum(),
                (workers["assignments_rejected"] > 0).sum(),
                f"{count(hit)} of {count(len(workers))} {'found' if is_bad else 'wronged'}",
                f"{count(is_out.sum())} of {count(len(outcomes))}",
                (outcomes == "novel").sum(),
            )
        )
    return table(
        "Planted workers by trait",
        rows,
        text("Trait"),
        text("Planted as"),
        number("Workers"),
        number("Excluded"),
        number("With rejected work"),
        number("Found or wronged"),
        number("Answers kept out"),
        number(accepted),
        note="Workers who submitted at least one assignment. Kept out: answers "
        f"dropped or rejected. {accepted}: in the dataset.",
        empty="No simulated worker submitted anything.",
    )


_MOST_ROWS = 50


@dataclass(frozen=True, kw_only=True)
class Gold:
    """Workers' answers about items with a known answer.

    Attributes:
        items: how many items have a known answer.
        mixed_in: how many of these were added only to check workers.
        least: how many a worker must have answered before they are judged.
        scores: one row per worker who answered any, index the hashed id: `met`,
            `right`, `most` (int64; from `piecework.qc.gold.gold_scores`).
        contradicted: from `piecework.qc.gold.contradicted`.
    """

    items: int
    mixed_in: int
    least: int
    scores: pd.DataFrame
    contradicted: pd.DataFrame


def gold_section(model: ReportModel) -> Section | None:
    """Show each worker's share with its interval; None without known answers."""
    gold = model.facts.of(Gold)
    if gold is None:
        return None
    known = f"The right answer is known for {plural(gold.items, model.item_noun)}"
    return Section(
        key="gold",
        title="Items with known answers",
        lead=tuple(_gold_lead(gold, known))
        if gold.scores["met"].sum()
        else (f"{known}, and no worker has answered any of them yet.",),
        tables=(_gold_table(gold), *_contradicted(model, gold)),
    )


def _gold_lead(gold: Gold, known: str) -> Iterator[str]:
    scores = gold.scores
    met, right = int(scores["met"].sum()), int(scores["right"].sum())
    few = int((scores["most"] < gold.least).sum())
    yield (
        known
        + (f", {gold.mixed_in} of them added for that purpose" if gold.mixed_in else "")
        + f". {plural(len(scores), 'worker')} answered at least one of them and gave "
        f"the known answer in {part_of(right, met, 'answer')}."
    )
    if n_doubtful := len(gold.contradicted):
        yield (
            f"Most workers contradict {plural(n_doubtful, 'known answer')}: check "
            "whether they are right before anything depends on them."
        )
    yield (
        f"{part_of(few, len(scores), 'worker')} answered fewer than {gold.least}: too "
        "few to judge by, so `gold_failed` does not flag them. The intervals "
        "(Wilson's, 95 %) show how little a few answers prove. Pay depends on this "
        "only through the campaign's stated policy."
    )


def _contradicted(model: ReportModel, gold: Gold) -> Iterator[Table]:
    if gold.contradicted.empty:
        return
    worst = gold.contradicted.head(_MOST_ROWS)
    rest = len(gold.contradicted) - len(worst)
    yield table(
        "Known answers that most workers contradict",
        worst.to_dict("records"),
        text(model.item_noun.capitalize(), lambda row: Code(row["item_id"])),
        text("Asked", "field"),
        number("Workers", "met"),
        number("Gave another answer", "off"),
        number("Share", lambda row: share(row["off"], row["met"])),
        empty="",
        note=f"{plural(rest, 'more known answer')} not shown." if rest else "",
    )


def _gold_table(gold: Gold) -> Table:
    scores = gold.scores.assign(part=gold.scores["right"] / gold.scores["met"])
    ordered = scores.sort_values(["part", "met"], ascending=[True, False])
    rest = len(ordered) - _MOST_ROWS
    return table(
        "Workers on items with known answers, the worst first",
        ordered.head(_MOST_ROWS).assign(worker=ordered.index[:_MOST_ROWS]).to_dict("records"),
        text("Worker", lambda row: Code(row["worker"])),
        number("Answered", "met"),
        number("As known", "right"),
        number("Share", lambda row: share(row["right"], row["met"])),
        text("95 % interval", lambda row: _interval(row["right"], row["met"])),
        text("Enough?", lambda row: "yes" if row["most"] >= gold.least else "too few"),
        empty="No worker has answered an item with a known answer.",
        note=f"{plural(rest, 'more worker')}, who did better, are not shown." if rest > 0 else "",
    )


def _interval(right: int, met: int) -> str:
    low, high = binomtest(right, met).proportion_ci(_CONFIDENCE, method="wilson")
    return f"{low:.0%} to {high:.0%}"
