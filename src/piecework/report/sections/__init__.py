"""The questions that the report answers, one module each, in reading order."""

from collections.abc import Callable
from dataclasses import dataclass

from piecework.report.components import Part, Section
from piecework.report.model import ReportModel
from piecework.report.sections import (
    as_needed,
    before_work,
    checked,
    cleaning,
    conditions,
    corrected,
    decisions,
    difficulty,
    earned,
    experiment,
    flags,
    funnel,
    gold,
    growth,
    imported,
    judgements,
    machine,
    markets,
    money,
    order_effects,
    planted,
    provenance,
    reviews,
    systems,
    terms,
    texts,
    timeline,
    workers,
)

Build = Callable[[ReportModel], Section | None]


@dataclass(frozen=True, slots=True)
class _Planned:
    key: str
    title: str
    about: str
    builds: tuple[Build, ...]
    unpaid: tuple[str, str] = ("", "")
    """Title and text for a dataset without a ledger, if they differ."""


_PARTS: tuple[_Planned, ...] = (
    _Planned(
        "results",
        "What the answers say",
        "The answers themselves, how far workers agree, and what was compared.",
        (
            judgements.build,
            texts.build,
            experiment.build,
            conditions.build,
            difficulty.build,
            order_effects.build,
            systems.build,
            corrected.build,
        ),
    ),
    _Planned(
        "outcomes",
        "What became of the answers",
        "From the answers wanted to the answers kept, and every reason on the way.",
        (
            funnel.build,
            as_needed.build,
            machine.build,
            imported.build,
            decisions.build,
            cleaning.build,
        ),
    ),
    _Planned(
        "checks",
        "How the work was checked",
        "Heuristics and their evidence, known answers, tests and reviews.",
        (
            checked.build,
            planted.build,
            before_work.build,
            flags.build,
            gold.build,
            earned.build,
            reviews.build,
        ),
    ),
    _Planned(
        "people",
        "Money, time and workers",
        "The ledger, hourly wages, rounds, and a row for each worker.",
        (money.build, markets.build, growth.build, timeline.build, workers.build),
        unpaid=("Time and workers", "When the work was done, and by whom."),
    ),
    _Planned(
        "origin",
        "Origin and terms",
        "Versions, hashes, counts that must agree, and a glossary.",
        (provenance.build, terms.build),
    ),
)

SECTIONS: tuple[Build, ...] = tuple(build for planned in _PARTS for build in planned.builds)
"""A section that does not apply to a campaign returns None."""


def parts(model: ReportModel) -> tuple[Part, ...]:
    """Return the parts behind the first page, without those that do not apply."""
    made = []
    for planned in _PARTS:
        title, about = planned.title, planned.about
        if model.facts.money is None and planned.unpaid[0]:
            title, about = planned.unpaid
        sections = tuple(section for build in planned.builds if (section := build(model)))
        if sections:
            made.append(Part(key=planned.key, title=title, about=about, sections=sections))
    return tuple(made)
