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
    found = model.facts.reviews
    if found is None or not (found.upheld or found.sampled or found.twice):
        return None
    return Section(
        key="reviews",
        title="What people made of the flags",
        lead=tuple(sentences(found)),
        tables=(_upheld(model, found),),
    )


def sentences(found: ReviewQuality) -> list[str]:
    """What is missed, and how far reviewers agree; nothing of what nobody looked at."""
    said = []
    if found.sampled:
        missed, low, high = found.missed
        said.append(
            f"Of {plural(found.sampled, 'answer')} drawn by chance that nothing "
            f"flagged, people dropped {count(found.sampled_bad)}. So among all "
            f"{plural(found.unflagged, 'unflagged answer')} about {count(missed)} are "
            f"bad (95 % interval: {count(low)} to {count(high)})."
        )
    if found.twice:
        kappa = "" if math.isnan(found.kappa) else f"; Cohen's kappa {found.kappa:.2f}"
        said.append(
            f"{plural(found.twice, 'answer')} reviewed by two people: they said the "
            f"same of {part_of(found.agreed, found.twice)}{kappa}."
        )
    return said


def _upheld(model: ReportModel, found: ReviewQuality) -> Table:
    return Table(
        caption="Flags that people upheld",
        columns=(text("Heuristic"), number("Reviewed"), number("Upheld")),
        rows=tuple(
            (
                Code(
                    excerpt(one.heuristic, limit=_NAME_CHARACTERS),
                    words=model.in_words(one.heuristic),
                ),
                count(one.reviewed),
                part_of(one.upheld, one.reviewed),
            )
            for one in found.upheld
        ),
        note="Upheld: dropped, rejected or excluded by a person; of an assignment or a "
        "worker, also that half of the answers looked at were dropped. Reviewers saw "
        "the evidence unless the review was blind.",
        empty="No person has reviewed what is flagged.",
    )
