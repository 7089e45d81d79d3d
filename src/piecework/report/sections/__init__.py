"""The questions that the report answers, a section for each, in reading order."""

from collections.abc import Callable
from dataclasses import dataclass

from piecework.report.components import Part, Section
from piecework.report.model import ReportModel
from piecework.report.sections import (
    answers_and_agreement,
    comparisons,
    condition_texts,
    conditions,
    experiment,
    flags,
    items,
    known_answers,
    money,
    other_sources,
    outcomes,
    overview,
    provenance,
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
            answers_and_agreement.fields_section,
            texts.texts_section,
            experiment.experiment_section,
            conditions.conditions_section,
            items.difficulty_section,
            comparisons.order_effects_section,
            comparisons.systems_section,
            condition_texts.corrections_section,
        ),
    ),
    _Planned(
        "outcomes",
        "What became of the answers",
        "From the answers wanted to the answers kept, and every reason on the way.",
        (
            outcomes.funnel_section,
            outcomes.as_needed_section,
            other_sources.machine_section,
            other_sources.imported_section,
            outcomes.decisions_section,
            texts.cleaning_section,
        ),
    ),
    _Planned(
        "checks",
        "How the work was checked",
        "Heuristics and their evidence, known answers, tests and reviews.",
        (
            overview.checks_section,
            known_answers.planted_section,
            workers.before_work_section,
            flags.flags_section,
            known_answers.gold_section,
            workers.earned_section,
            flags.reviews_section,
            other_sources.other_rules_section,
        ),
    ),
    _Planned(
        "people",
        "Money, time and workers",
        "The ledger, hourly wages, rounds, and a row for each worker.",
        (
            money.money_section,
            money.markets_section,
            timeline.growth_section,
            timeline.timeline_section,
            workers.workers_section,
        ),
        unpaid=("Time and workers", "When the work was done, and by whom."),
    ),
    _Planned(
        "origin",
        "Origin and terms",
        "Versions, hashes, counts that must agree, and a glossary.",
        (provenance.provenance_section, provenance.terms_section),
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
