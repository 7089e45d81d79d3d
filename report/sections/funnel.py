"""From the answers asked for to the captions one can learn from."""

from collections.abc import Mapping

from report import plots
from report.components import Figure, Section, Table, number, text
from report.formatting import count, part_of, plural, share
from report.model import Fate, Reading, tally
from report.svg import svg

_MEANINGS: Mapping[Fate, str] = {
    "rejected": "Rejected: the assignment was rejected and not paid",
    "dropped": "Dropped: paid, but kept out of the dataset",
    "surplus": "Surplus: good, but more than the number wanted",
    "canned": "Canned: the page's own sentence for images beyond recognition",
    "novel": "Novel: accepted captions in a worker's own words",
}

_COLOURS: Mapping[Fate, str] = {
    "rejected": plots.RED,
    "dropped": plots.RED,
    "surplus": plots.GREY,
    "canned": plots.GREY,
    "novel": plots.GREEN,
}


_ALL_LEVELS = 12
"""With more answers wanted than this, levels that no image has are left out."""


def build(reading: Reading) -> Section:
    """Counts of the answers by what became of them."""
    return Section(
        key="funnel",
        title="What became of the answers",
        lead=(
            _lead(reading),
            (
                "Every submitted answer has exactly one fate, and all of them are "
                "exported with it: nothing disappears."
            ),
        ),
        figures=(_figure(reading),),
        tables=(_coverage(reading), _table(reading)),
    )


def _lead(reading: Reading) -> str:
    facts = reading.facts
    accepted = count(reading.count("canned", "novel"))
    return (
        f"The campaign asks for {plural(facts.wanted_per_item, 'answer')} about each "
        f"of {plural(facts.items, reading.thing)}: {count(reading.wanted)} in all. "
        f"{plural(reading.submitted, 'answer')} came back; {accepted} were accepted, "
        f"of which {count(reading.count('novel'))} are {reading.kept}s."
    )


def _name(reading: Reading, fate: Fate) -> str:
    """What a fate is called; where nothing is canned, what counts is only kept."""
    is_answer = fate == "novel" and reading.facts.dataset == "answers"
    return "kept" if is_answer else fate


def _meaning(reading: Reading, fate: Fate) -> str:
    if _name(reading, fate) == "kept":
        return "Kept: accepted, and no more than were wanted"
    return _MEANINGS[fate]


def _flagged(reading: Reading) -> int:
    return int(reading.flags.any(axis="columns").sum())


def _figure(reading: Reading) -> Figure:
    submitted = reading.submitted
    flagged = _flagged(reading)
    rows = [
        plots.Bar("wanted", reading.wanted, count(reading.wanted)),
        plots.Bar("submitted", submitted, count(submitted)),
        plots.Bar(
            "of these flagged", flagged, _beside(flagged, submitted), plots.AMBER
        ),
        *(
            plots.Bar(
                _name(reading, fate),
                reading.count(fate),
                _beside(reading.count(fate), submitted),
                _COLOURS[fate],
            )
            for fate in reading.fates_there_are
        ),
    ]
    title = f"Answers from wanted to {_name(reading, 'novel')}"
    description = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = svg(plots.bars(rows), key="funnel", title=title, description=description)
    return Figure(title=title, svg=drawing)


def _beside(part: int, whole: int) -> str:
    return f"{count(part)} ({share(part, whole)})" if whole else count(part)


def _table(reading: Reading) -> Table:
    is_flagged = reading.flags.any(axis="columns")
    rows = []
    for fate in reading.fates_there_are:
        is_here = reading.fates == fate
        here = int(is_here.sum())
        rows.append(
            (
                _meaning(reading, fate),
                count(here),
                share(here, reading.submitted),
                part_of(int((is_here & is_flagged).sum()), here),
            )
        )
    total = (
        "All submitted",
        count(reading.submitted),
        share(reading.submitted, reading.submitted),
        part_of(_flagged(reading), reading.submitted),
    )
    return Table(
        caption="Fates of the submitted answers",
        columns=(
            text("Fate"),
            number("Answers"),
            number("Share"),
            number("Of these flagged"),
        ),
        rows=(*rows, total),
        is_wide=True,
        note="Flagged: some heuristic flagged the answer, its assignment or its "
        "worker. A flag is a suspicion, not a verdict.",
    )


def _coverage(reading: Reading) -> Table:
    wanted = reading.facts.wanted_per_item
    levels = tally(reading.accepted_per_item, at_least=wanted)
    levels[0] = reading.facts.items - int(levels.sum())
    return Table(
        caption=f"Accepted answers of each {reading.thing}",
        columns=(
            text("Accepted answers"),
            number(f"{reading.thing.capitalize()}s"),
            number("Share"),
        ),
        rows=tuple(
            (f"{level} of {wanted}", count(images), share(images, reading.facts.items))
            for level, images in enumerate(levels)
            if images or wanted <= _ALL_LEVELS
        )
        if reading.facts.items
        else (),
        empty=f"The campaign has no {reading.thing}s.",
    )
