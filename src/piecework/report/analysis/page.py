"""All analyses of answers, as a page of sections and as plain values for programs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from piecework.domain.text import count, plural
from piecework.report.analysis.agreement import agreement, labels
from piecework.report.analysis.answers import AnalysedAnswers, Analysis, section
from piecework.report.analysis.comparisons import conditions, order_effects, sides
from piecework.report.components import KeyFigure, notes_of_remarks
from piecework.report.page import SectionsPage

_QUESTIONS: tuple[tuple[str, str, Callable[[AnalysedAnswers], Iterator[Analysis]]], ...] = (
    ("agreement", "How far people agree", agreement),
    ("labels", "Labels from all answers", labels),
    ("sides", "Two sides compared", sides),
    ("conditions", "Ratings by condition", conditions),
    ("order", "Effects of the order on the page", order_effects),
)


@dataclass(frozen=True, kw_only=True)
class Analysed:
    """The results, for people and for programs."""

    page: SectionsPage
    results: tuple[Analysis, ...]

    def as_dict(self) -> dict[str, object]:
        """The rows of each analysis as plain values, by its key."""
        return {analysis.key: analysis.rows() for analysis in self.results}


def analyse(source: str, answers: AnalysedAnswers, *, remarks: tuple[str, ...] = ()) -> Analysed:
    """Run every analysis that applies to these answers."""
    table = answers.table
    # Without answers there are no columns of values.
    asked = _QUESTIONS if len(table) else ()
    by_question = [(key, title, [*build(answers)]) for key, title, build in asked]
    return Analysed(
        page=SectionsPage(
            source=source,
            kicker="Analyses of the answers",
            purpose="Computed from all answers that count; "
            "docs/explanation/analyses.md describes each method and its validation.",
            key_figures=(
                KeyFigure(
                    "Answers",
                    count(len(table)),
                    f"about {plural(table['item_id'].nunique(), 'item')}",
                ),
                KeyFigure(
                    "Workers",
                    count(table["worker"].nunique()),
                    plural(table["assignment_id"].nunique(), "assignment"),
                ),
            ),
            notes=notes_of_remarks(remarks),
            sections=[
                section(key, title, results) for key, title, results in by_question if results
            ],
        ),
        results=tuple(analysis for _, _, results in by_question for analysis in results),
    )
