"""What people's reviews say of the heuristics, of what these miss, of each other."""

import math

from piecework.domain.counts import count, plural
from piecework.domain.review import ReviewQuality
from piecework.report.components import Code, Section, Table, number, text
from piecework.report.formatting import excerpt, part_of
from piecework.report.model import ReportModel

_NAME_CHARACTERS = 40


def build(model: ReportModel) -> Section | None:
    """How often flags were upheld, bad work that nothing flagged, and agreement."""
    quality = model.facts.reviews
    if quality is None or not (quality.upheld or quality.sampled or quality.twice):
        return None
    return Section(
        key="reviews",
        title="What people made of the flags",
        lead=tuple(sentences(quality)),
        tables=(_upheld(model, quality),),
    )


def sentences(quality: ReviewQuality) -> list[str]:
    """What is missed, and how far reviewers agree; nothing of what nobody looked at."""
    lines = []
    if quality.sampled:
        missed, low, high = quality.missed
        lines.append(
            f"Of {plural(quality.sampled, 'answer')} drawn by chance that nothing "
            f"flagged, people dropped {count(quality.sampled_bad)}. So among all "
            f"{plural(quality.unflagged, 'unflagged answer')} about {count(missed)} "
            f"are bad (95 % interval: {count(low)} to {count(high)})."
        )
    if quality.twice:
        kappa = (
            "" if math.isnan(quality.kappa) else f"; Cohen's kappa {quality.kappa:.2f}"
        )
        lines.append(
            f"{plural(quality.twice, 'answer')} reviewed by two people: they said the "
            f"same of {part_of(quality.agreed, quality.twice)}{kappa}."
        )
    return lines


def _upheld(model: ReportModel, quality: ReviewQuality) -> Table:
    return Table(
        caption="Flags that people upheld",
        columns=(text("Heuristic"), number("Reviewed"), number("Upheld")),
        rows=tuple(
            (
                Code(
                    excerpt(tally.heuristic, limit=_NAME_CHARACTERS),
                    words=model.in_words(tally.heuristic),
                ),
                count(tally.reviewed),
                part_of(tally.upheld, tally.reviewed),
            )
            for tally in quality.upheld
        ),
        note="Upheld: dropped, rejected or excluded by a person; of an assignment or a "
        "worker, also that half of the answers looked at were dropped. Reviewers saw "
        "the evidence unless the review was blind.",
        empty="No person has reviewed what is flagged.",
    )
