"""The questions that the report answers, one module each, in reading order."""

from collections.abc import Callable

from piecework.report.components import Section
from piecework.report.model import ReportModel
from piecework.report.sections import (
    as_needed,
    before_work,
    cleaning,
    conditions,
    corrected,
    decisions,
    difficulty,
    flags,
    funnel,
    gold,
    imported,
    items,
    judgements,
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

SECTIONS: tuple[Callable[[ReportModel], Section | None], ...] = (
    funnel.build,
    as_needed.build,
    imported.build,
    items.build,
    before_work.build,
    planted.build,
    money.build,
    timeline.build,
    texts.build,
    conditions.build,
    difficulty.build,
    judgements.build,
    order_effects.build,
    systems.build,
    corrected.build,
    flags.build,
    gold.build,
    decisions.build,
    reviews.build,
    workers.build,
    cleaning.build,
    provenance.build,
    terms.build,
)
"""A section that does not apply to a campaign returns None."""
