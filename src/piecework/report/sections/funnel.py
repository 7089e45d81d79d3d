"""From the answers asked for to the answers that enter the dataset."""

from collections.abc import Mapping

from piecework.domain.counts import count, plural, plural_of, share
from piecework.report import plots
from piecework.report.components import Figure, Section, Table, number, text
from piecework.report.formatting import part_of, with_share
from piecework.report.model import Outcome, ReportModel, tally
from piecework.report.svg import svg

_MEANINGS: Mapping[Outcome, str] = {
    "rejected": "Rejected: the assignment was rejected and not paid",
    "dropped": "Dropped: paid, but kept out of the dataset",
    "surplus": "Surplus: good, but more than the number wanted",
    "canned": "Canned: accepted, with the page's sentence for unrecognisable images",
    "novel": "Novel: accepted, in the worker's own words",
}

_COLOURS: Mapping[Outcome, str] = {
    "rejected": plots.RED,
    "dropped": plots.RED,
    "surplus": plots.GREY,
    "canned": plots.GREY,
    "novel": plots.GREEN,
}


_ALL_LEVELS = 12
"""If more answers are wanted than this, levels without any item are left out."""


def build(model: ReportModel) -> Section:
    """Count the answers by outcome."""
    return Section(
        key="funnel",
        title="What became of the answers",
        lead=(
            _lead(model),
            (f"Every {_those(model)} answer has exactly one outcome and is exported with it."),
        ),
        figures=_figures(model),
        tables=(_coverage(model), _table(model)),
    )


_IMPORTED: dict[Outcome, str] = {
    **_MEANINGS,
    "rejected": "Rejected: set aside here, with all of its assignment",
    "dropped": "Dropped: kept out of the dataset",
    "surplus": "Surplus: good, but its worker's second answer about the item",
}
"""For answers that another tool collected."""


def _lead(model: ReportModel) -> str:
    facts = model.facts
    accepted = count(model.count("canned", "novel"))
    of_these = (
        f", among them {plural(model.count('novel'), model.accepted_noun)}"
        if model.text_noun
        else ""
    )
    if facts.imported is not None:
        return (
            f"{part_of(model.submitted, len(model.came), 'imported answer')} "
            f"about {plural(facts.items, model.item_noun)} are decided; {accepted} "
            f"were accepted{of_these}."
        )
    waits = f" ({count(model.waiting)} not decided yet)" * bool(model.waiting)
    return (
        f"The campaign asks for {model.answers_each} about each "
        f"of {plural(facts.items, model.item_noun)}: {count(model.wanted)} in all. "
        f"{plural(len(model.came), 'answer')} came back{waits}; {accepted} were "
        f"accepted{of_these}."
    )


def _those(model: ReportModel) -> str:
    """The adjective for answers that have an outcome."""
    is_whole = model.facts.imported is None and not model.waiting
    return "submitted" if is_whole else "decided"


def _name(model: ReportModel, outcome: Outcome) -> str:
    """The name of an outcome; without a text, "novel" answers are called "kept"."""
    is_answer = outcome == "novel" and not model.text_noun
    return "kept" if is_answer else outcome


def _meaning(model: ReportModel, outcome: Outcome) -> str:
    if _name(model, outcome) == "kept":
        is_ours = model.facts.imported is None
        return "Kept: accepted" + ", up to the number wanted" * is_ours
    meanings = _MEANINGS if model.facts.imported is None else _IMPORTED
    return meanings[outcome]


def _flagged(model: ReportModel) -> int:
    return int(model.is_flagged[model.outcomes.index].sum())


def _figures(model: ReportModel) -> tuple[Figure, ...]:
    """The plot, unless the first page shows it."""
    return (figure(model),) if model.agreement else ()


def figure(model: ReportModel) -> Figure:
    """Show the answers by outcome as bars."""
    submitted = model.submitted
    flagged = _flagged(model)
    # How many answers another tool wanted is unknown.
    first, whole = "wanted", model.wanted
    if model.facts.imported is not None:
        first, whole = "imported", len(model.came)
    rows = [
        plots.Bar(first, whole, count(whole)),
        plots.Bar(_those(model), submitted, count(submitted)),
        plots.Bar("of these flagged", flagged, with_share(flagged, submitted), plots.AMBER),
        *(
            plots.Bar(
                _name(model, outcome),
                model.count(outcome),
                with_share(model.count(outcome), submitted),
                _COLOURS[outcome],
            )
            for outcome in model.possible_outcomes
            if model.count(outcome)
        ),
    ]
    title = f"Answers from {first} to {_name(model, 'novel')}"
    description = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = svg(plots.bars(rows), key="funnel", title=title, description=description)
    return Figure(title=title, svg=drawing)


def _table(model: ReportModel) -> Table:
    is_flagged = model.is_flagged[model.outcomes.index]
    rows = []
    for outcome in model.possible_outcomes:
        has_outcome = model.outcomes == outcome
        answers = int(has_outcome.sum())
        rows.append(
            (
                _meaning(model, outcome),
                count(answers),
                share(answers, model.submitted),
                part_of(int((has_outcome & is_flagged).sum()), answers),
            )
        )
    total = (
        f"All {_those(model)}",
        count(model.submitted),
        share(model.submitted, model.submitted),
        part_of(_flagged(model), model.submitted),
    )
    return Table(
        caption=f"Outcomes of the {_those(model)} answers",
        columns=(text("Outcome"), number("Answers"), number("Share"), number("Flagged")),
        rows=(*rows, total),
        is_middle=True,
        note="Flagged: a heuristic flagged the answer, its assignment or its worker. "
        "A flag is a suspicion, not a verdict.",
    )


def _coverage(model: ReportModel) -> Table:
    rule, is_ours = model.facts.as_needed, model.facts.imported is None
    wanted = model.facts.wanted_per_item if rule is None else rule.most
    levels = tally(model.accepted_per_item, at_least=wanted)
    levels[0] = model.facts.items - int(levels.sum())
    return Table(
        caption=f"Accepted answers per {model.item_noun}",
        columns=(
            text("Accepted answers"),
            number(plural_of(model.item_noun).capitalize()),
            number("Share"),
        ),
        rows=tuple(
            (
                # How many answers another tool wanted is unknown.
                f"{level} of {wanted}" if is_ours else count(level),
                count(images),
                share(images, model.facts.items),
            )
            for level, images in enumerate(levels)
            if images or (is_ours and wanted <= _ALL_LEVELS)
        )
        if model.facts.items
        else (),
        empty=f"The campaign has no {plural_of(model.item_noun)}.",
    )
