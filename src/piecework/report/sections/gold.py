"""How often workers gave the known answer, on items that have one."""

from collections.abc import Iterator

from scipy.stats import binomtest

from piecework.domain.counts import count, plural, share
from piecework.report.components import Cell, Code, Section, Table, number, text
from piecework.report.formatting import part_of
from piecework.report.model import ReportModel

_MOST_ROWS = 50
_CONFIDENCE = 0.95


def build(model: ReportModel) -> Section | None:
    """Show each worker's share with its interval; None without known answers."""
    gold = model.facts.gold
    if gold is None:
        return None
    scores = gold.scores
    met, right = int(scores["met"].sum()), int(scores["right"].sum())
    few = int((scores["most"] < gold.least).sum())
    known = f"The right answer is known for {plural(gold.items, model.item_noun)}"
    lead = (
        known
        + (f", {gold.mixed_in} of them added for that purpose" if gold.mixed_in else "")
        + f". {plural(len(scores), 'worker')} answered at least one of them and gave "
        f"the known answer in {part_of(right, met, 'answer')}."
        if met
        else f"{known}, and no worker has answered any of them yet."
    )
    care = (
        f"{part_of(few, len(scores), 'worker')} answered fewer than {gold.least}: too "
        "few to judge by, so `gold_failed` does not flag them. The intervals "
        "(Wilson's, 95 %) show how little a few answers prove. Pay depends on this "
        "only through the campaign's stated policy."
    )
    return Section(
        key="gold",
        title="Items with known answers",
        lead=(lead, *_doubt(model), care) if met else (lead,),
        tables=(_table(model), *_contradicted(model)),
    )


def _doubt(model: ReportModel) -> Iterator[str]:
    gold = model.facts.gold
    if gold is not None and (n_doubtful := len(gold.contradicted)):
        yield (
            f"Most workers contradict {plural(n_doubtful, 'known answer')}: check "
            "whether they are right before anything depends on them."
        )


def _contradicted(model: ReportModel) -> Iterator[Table]:
    gold = model.facts.gold
    if gold is None or gold.contradicted.empty:
        return
    worst = gold.contradicted.head(_MOST_ROWS)
    rest = len(gold.contradicted) - len(worst)
    yield Table(
        caption="Known answers that most workers contradict",
        columns=(
            text(model.item_noun.capitalize()),
            text("Asked"),
            number("Workers"),
            number("Gave another answer"),
            number("Share"),
        ),
        rows=tuple(
            (Code(item), field, count(met), count(off), share(off, met))
            for item, field, off, met in worst.itertuples(index=False)
        ),
        empty="",
        note=f"{plural(rest, 'more known answer')} not shown." if rest else "",
    )


def _table(model: ReportModel) -> Table:
    gold = model.facts.gold
    assert gold is not None  # noqa: S101 - the caller has looked
    scores = gold.scores.assign(part=gold.scores["right"] / gold.scores["met"])
    ordered = scores.sort_values(["part", "met"], ascending=[True, False])
    rest = len(ordered) - _MOST_ROWS
    worst = ordered.head(_MOST_ROWS)
    shown = zip(
        worst.index.tolist(),
        worst["met"].tolist(),
        worst["right"].tolist(),
        (worst["most"] >= gold.least).tolist(),
        strict=True,
    )
    return Table(
        caption="Workers on items with known answers, the worst first",
        columns=(
            text("Worker"),
            number("Answered"),
            number("As known"),
            number("Share"),
            text("95 % interval"),
            text("Enough?"),
        ),
        rows=tuple(
            _row(worker, met, right, is_enough=is_enough) for worker, met, right, is_enough in shown
        ),
        empty="No worker has answered an item with a known answer.",
        note=f"{plural(rest, 'more worker')}, who did better, are not shown." if rest > 0 else "",
    )


def _row(worker: str, met: int, right: int, *, is_enough: bool) -> tuple[Cell, ...]:
    low, high = binomtest(right, met).proportion_ci(_CONFIDENCE, method="wilson")
    return (
        Code(worker),
        count(met),
        count(right),
        share(right, met),
        f"{low:.0%} to {high:.0%}",
        "yes" if is_enough else "too few",
    )
