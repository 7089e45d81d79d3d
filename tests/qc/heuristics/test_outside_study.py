"""Laws of leaving a study by what one says of oneself."""

from dataclasses import replace

from piecework.domain.field import Field, Option
from piecework.domain.tables import COLLECTED, task_columns
from piecework.qc.heuristics.outside_study import EVIDENCE, Params, score
from piecework.qc.ratings import with_ratings
from tests.qc.rated import ratings, scale, task_of
from tests.qc.tables import cells, flagged, row, table

VISION = Field(
    name="color_vision",
    kind="choice",
    label="Are you color-blind?",
    scope="hit",
    options=(Option(value="no"), Option(value="yes", excludes=True)),
)


def test_who_names_a_reason_is_flagged_with_all_answers() -> None:
    """Two answers of one assignment leave, those of another stay."""
    answers = table(row("a1"), row("a2"), row("b1"))
    answers["is_outside"] = [True, True, False]
    assert flagged(score(answers, Params())) == {"a1", "a2"}


def test_the_evidence_does_not_say_which_answer_it_was() -> None:
    """Findings are shown in reports; color vision is private."""
    answers = table(row("a"))
    answers["is_outside"] = [True]
    scores = score(answers, Params())
    assert cells(scores, "a") == (1.0, True, EVIDENCE)
    assert "color" not in EVIDENCE


def test_a_task_that_excludes_nobody_flags_nobody() -> None:
    """Without such options the table has no such column."""
    assert flagged(score(table(row("a")), Params())) == set()
    assert score(table(), Params()).empty
    task = task_of(scale("s"), replace(VISION, options=(Option(value="no"),)))
    assert "is_outside" not in ratings(task, [])


def test_the_answers_of_the_hit_say_it() -> None:
    """Of one choice and of several; the column is there even without an answer."""
    several = replace(VISION, name="eyes", kind="choices")
    task = task_of(VISION, several)
    rows = [
        row(name, **{"hit.color_vision": vision, "hit.eyes": eyes})
        for name, vision, eyes in [
            ("in", "no", ("no",)),
            ("one", "yes", ()),
            ("ticked", "", ("no", "yes")),
        ]
    ]
    columns = {**COLLECTED, **task_columns(task)}
    made = with_ratings(table(*rows, columns=columns), task, ())
    assert flagged(score(made, Params())) == {"one", "ticked"}
    empty = with_ratings(table(columns=columns), task, ())
    assert empty["is_outside"].dtype == "bool"
