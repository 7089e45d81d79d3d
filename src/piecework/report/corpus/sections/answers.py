"""How often captions answer the question that came with the image: Table 2."""

from piecework.analyses.corpus.answered import Answered
from piecework.domain.counts import NOTHING, count, plural, share
from piecework.report.components import Quote, Section, Table, number, text
from piecework.report.corpus.description import Description
from piecework.report.corpus.published import ANSWERED_PERCENT
from piecework.report.formatting import excerpt

_NAME_CHARACTERS = 40


def build(description: Description) -> Section | None:
    """Show the share of answered questions by kind and text; None without questions."""
    if not description.answered:
        return None
    whole = description.answered[0]
    lead = (
        f"For {share(whole.answered, whole.questions)} of "
        f"{plural(whole.questions, 'question')}, at least one caption of the image has "
        "the most popular answer in it."
    )
    return Section(
        key="answers",
        title="Do the captions answer people's questions",
        lead=(lead,),
        tables=(_table(description),),
    )


def _table(description: Description) -> Table:
    return Table(
        caption="Questions whose answer is in a caption",
        columns=(
            text("Images"),
            text("Kind of answer"),
            number("Questions"),
            number("Answered"),
            number("Share"),
            number("VizWiz-Captions"),
        ),
        rows=tuple(
            (
                row.images,
                Quote(excerpt(row.kind, limit=_NAME_CHARACTERS)),
                count(row.questions),
                count(row.answered),
                share(row.answered, row.questions),
                _published(row),
            )
            for row in description.answered
        ),
        note=(
            "An answer must occur as whole words, in any case. The paper's other row, "
            "32 % of a sample of 300, is a person's judgement of what the captions say "
            "and is not computed."
        ),
        is_wide=True,
    )


def _published(row: Answered) -> str:
    percent = ANSWERED_PERCENT.get(row.images, {}).get(row.kind)
    return NOTHING if percent is None else f"{percent} %"
