"""How reviewers judged the flags, what the heuristics miss, and how reviewers agree."""

import math

from piecework.domain.counts import count, plural
from piecework.domain.review import ReviewQuality
from piecework.report.components import Code, Section, Table, number, text
from piecework.report.formatting import excerpt, part_of
from piecework.report.model import ReportModel

_NAME_CHARACTERS = 40


def build(model: ReportModel) -> Section | None:
    """Show how often flags were upheld, missed bad work, and agreement."""
    quality = model.facts.reviews
    if quality is None or not (quality.upheld or quality.sampled or quality.twice):
        return None
    return Section(
        key="reviews",
        title="How reviewers judged the flags",
        lead=tuple(sentences(quality)),
        tables=(_upheld(model, quality),),
    )


def sentences(quality: ReviewQuality) -> list[str]:
    """Say how much bad work is missed and how far reviewers agree, if reviewed."""
    lines = []
    if quality.sampled:
        missed, low, high = quality.missed
        lines.append(
            f"Reviewers dropped {count(quality.sampled_bad)} of "
            f"{plural(quality.sampled, 'randomly drawn answer')} that no heuristic "
            f"flagged. So about {count(missed)} of all "
            f"{plural(quality.unflagged, 'unflagged answer')} are bad (95 % interval: "
            f"{count(low)} to {count(high)})."
        )
    if quality.twice:
        kappa = "" if math.isnan(quality.kappa) else f"; Cohen's kappa {quality.kappa:.2f}"
        lines.append(
            f"Two people reviewed {plural(quality.twice, 'answer')} and gave the same "
            f"verdict on {part_of(quality.agreed, quality.twice)}{kappa}."
        )
    return lines


def _upheld(model: ReportModel, quality: ReviewQuality) -> Table:
    return Table(
        caption="Flags that reviewers upheld",
        columns=(text("Heuristic"), number("Reviewed"), number("Upheld")),
        rows=tuple(
            (
                Code(
                    excerpt(tally.heuristic, limit=_NAME_CHARACTERS),
                    words=model.title_of(tally.heuristic),
                ),
                count(tally.reviewed),
                part_of(tally.upheld, tally.reviewed),
            )
            for tally in quality.upheld
        ),
        note="Upheld: a person dropped, rejected or excluded it; for an assignment or "
        "a worker, also if half of the reviewed answers were dropped. Reviewers saw "
        "the evidence unless the review was blind.",
        empty="No flag has been reviewed.",
    )
