"""Who took the qualification test, and who passed it."""

from collections import Counter

from piecework.domain.counts import count, plural, share
from piecework.report.components import Section, Table, number, text
from piecework.report.facts import BeforeWork
from piecework.report.formatting import excerpt, part_of
from piecework.report.model import ReportModel

_LABEL_CHARACTERS = 60


def build(model: ReportModel) -> Section | None:
    """Count the workers who took and passed it; None for a campaign without a test."""
    test = model.facts.before_work
    if test is None:
        return None
    passed = sum(score >= test.least_passing for score, _ in test.scores)
    taken = len(test.scores)
    lead = (
        f"{plural(taken, 'worker')} took the test, and {part_of(passed, taken)} passed "
        "it; only these could accept a HIT. "
        f"{plural(len(model.facts.workers), 'worker')} then took part."
        if taken
        else "No worker has taken the test yet, so no worker could accept a HIT."
    )
    tables = (_sections(test), *_traits(test))
    return Section(key="before-work", title="The test before the work", lead=(lead,), tables=tables)


def _sections(test: BeforeWork) -> Table:
    return Table(
        caption=f"Pass marks: {excerpt(test.name, limit=_LABEL_CHARACTERS)}",
        columns=(text("Section"), number("Questions"), number("Right answers needed")),
        rows=tuple(
            (excerpt(name, limit=_LABEL_CHARACTERS), count(questions), count(needed))
            for name, questions, needed in test.sections
        ),
        note="A worker must pass every section. The score is then the number of right "
        "answers, and otherwise 0.",
    )


def _traits(test: BeforeWork) -> tuple[Table, ...]:
    taken = Counter(trait for _, trait in test.scores if trait)
    passed = Counter(t for score, t in test.scores if t and score >= test.least_passing)
    if not taken:
        return ()
    rows = tuple(
        (trait, count(taken[trait]), count(passed[trait]), _share(test, trait))
        for trait in sorted(taken)
    )
    return (
        Table(
            caption="Simulated workers at the test",
            columns=(text("Trait"), number("Took it"), number("Passed"), number("Share")),
            rows=rows,
        ),
    )


def _share(test: BeforeWork, trait: str) -> str:
    is_passing = [
        score >= test.least_passing for score, of_trait in test.scores if of_trait == trait
    ]
    return share(sum(is_passing), len(is_passing))
