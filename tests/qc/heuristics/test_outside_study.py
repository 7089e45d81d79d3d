"""Laws of leaving a study by what one says of oneself."""

from dataclasses import replace

from domain.task import Field, Option
from qc.frame import build
from qc.heuristics.outside_study import EVIDENCE, Params, score
from tests.qc.frames import cells, flagged, frame, row
from tests.qc.judgements import scale, task_of

VISION = Field(
    name="color_vision",
    kind="choice",
    label="Are you color-blind?",
    scope="hit",
    options=(Option(value="no"), Option(value="yes", excludes=True)),
)


def test_who_names_a_reason_is_flagged_with_all_answers() -> None:
    """Two answers of one assignment leave, those of another stay."""
    answers = frame(row("a1", is_outside=True), row("a2", is_outside=True), row("b1"))
    answers["is_outside"] = [True, True, False]
    assert flagged(score(answers, Params())) == {"a1", "a2"}


def test_the_evidence_does_not_say_which_answer_it_was() -> None:
    """Findings are shown in reports; color vision is nobody's business there."""
    answers = frame(row("a"))
    answers["is_outside"] = [True]
    found = score(answers, Params())
    assert cells(found, "a") == (1.0, True, EVIDENCE)
    assert "color" not in EVIDENCE


def test_a_task_that_excludes_nobody_flags_nobody() -> None:
    """Without such options the frame has no such column."""
    assert flagged(score(frame(row("a")), Params())) == set()
    assert score(frame(), Params()).empty
    task = task_of(scale("s"), replace(VISION, options=(Option(value="no"),)))
    assert "is_outside" not in build([], {}, batches={}, task=task)


def test_the_frame_knows_it_from_the_answers_of_the_hit() -> None:
    """Even without answers the column is there once an option excludes."""
    made = build([], {}, batches={}, task=task_of(scale("s"), VISION))
    assert made["is_outside"].dtype == "bool"
