"""Which answers agree with what was accepted."""

import pandas as pd
import pytest

from piecework.domain.field import Field
from piecework.domain.task import GOLD
from piecework.qc.gold import agreeing
from piecework.qc.ratings import MATTER_OF_FACT, RATED
from tests.qc.rated import box, boxes, ratings, task_of

FIELD = "blur"


def table(
    *rows: tuple[str, str, object], gold: dict[str, object] | None = None, opinion: bool = False
) -> pd.DataFrame:
    """Answers of workers to items, with their ratings."""
    names = [f"{worker}:{item}" for worker, item, _ in rows]
    is_scale = isinstance(rows[0][2], float)
    columns = {
        "worker_id": pd.Series([row[0] for row in rows], index=names, dtype="str"),
        "item_id": pd.Series([row[1] for row in rows], index=names, dtype="str"),
        "submitted_at": pd.Series(
            pd.date_range("2026-01-05", periods=len(rows), tz="UTC"), index=names
        ),
        RATED + FIELD: pd.Series(
            [row[2] if is_scale else (row[2],) for row in rows],
            index=names,
            dtype="float64" if is_scale else "object",
        ),
    }
    frame = pd.DataFrame(columns)
    if not opinion:
        frame[MATTER_OF_FACT + FIELD] = True
    if gold is not None:
        cells = [(gold[row[1]],) if row[1] in gold else () for row in rows]
        frame[GOLD + FIELD] = pd.Series(cells, index=names, dtype="object")
    return frame


def agreed(frame: pd.DataFrame, *dropped: str) -> dict[str, bool]:
    """Whether each answer agrees, if all others but these are kept."""
    verdicts = pd.Series("keep", index=frame.index, dtype="str")
    verdicts[list(dropped)] = "drop"
    return dict(agreeing(frame, verdicts)["agrees"].items())  # type: ignore[arg-type]


def test_an_answer_that_most_others_contradict_does_not_agree() -> None:
    """With two others; the two agree by each other, and half is enough."""
    three = table(("ann", "1", "yes"), ("bob", "1", "yes"), ("cat", "1", "no"))
    assert agreed(three) == {"ann:1": True, "bob:1": True, "cat:1": False}


def test_an_answer_is_no_witness_for_itself() -> None:
    """Of two and two, each has two of three others against it."""
    four = table(("ann", "1", "yes"), ("bob", "1", "yes"), ("cat", "1", "no"), ("dan", "1", "no"))
    assert not any(agreed(four).values())


@pytest.mark.parametrize("low", [0.29, 0.3, 0.41, 0.5])
def test_a_place_at_the_tolerance_agrees(low: float) -> None:
    """Whatever floats make of a quarter."""
    others = [(name, "1", low) for name in ("ann", "bob", "eve")]
    assert all(agreed(table(*others, ("cat", "1", low + 0.25))).values())
    high = (round(low * 100) + 25) / 100
    assert all(agreed(table(*others, ("cat", "1", high))).values())


def test_one_other_cannot_say_who_is_right() -> None:
    """Both agree, as both were kept; a dropped answer agrees with nothing."""
    two = table(("ann", "1", "yes"), ("bob", "1", "no"))
    assert agreed(two) == {"ann:1": True, "bob:1": True}
    assert agreed(two, "bob:1") == {"ann:1": True, "bob:1": False}


def test_dropped_answers_are_no_evidence_against_others() -> None:
    """Cat's two opponents were dropped."""
    three = table(("ann", "1", "yes"), ("bob", "1", "yes"), ("cat", "1", "no"))
    assert agreed(three, "ann:1", "bob:1") == {"ann:1": False, "bob:1": False, "cat:1": True}


def test_a_known_answer_counts_more_than_the_others() -> None:
    """Where most are wrong."""
    rows = (("ann", "1", "yes"), ("bob", "1", "yes"), ("cat", "1", "no"))
    assert agreed(table(*rows, gold={"1": "no"})) == {"ann:1": False, "bob:1": False, "cat:1": True}


@pytest.mark.parametrize(
    ("field", "known", "near", "far"),
    [
        (boxes(FIELD), box(0), box(1), box(20)),
        (
            Field(name=FIELD, kind="text", label="", is_transcript=True),
            *("a dog barks twice", "A dog barks twice!", "rain"),
        ),
    ],
)
def test_marks_and_transcripts_are_compared_with_known_answers(
    field: Field, known: str, near: str, far: str
) -> None:
    """Whatever the others sent; where no answer is known, what was kept agrees."""
    sent = [("ann", far), ("bob", far), ("cat", near)]
    frame = ratings(
        task_of(field),
        [(worker, item, text) for item in ("1", "2") for worker, text in sent],
        items={"1": {GOLD + FIELD: known}, "2": {}},
    )
    assert [*agreed(frame).values()] == [False, False, True, True, True, True]


def test_people_may_differ_in_opinions() -> None:
    """All that was kept agrees."""
    rows = (("ann", "1", "yes"), ("bob", "1", "yes"), ("cat", "1", "no"))
    assert all(agreed(table(*rows, opinion=True)).values())


def test_on_a_scale_near_is_enough() -> None:
    """Within a quarter of the scale, in the median."""
    rows = (("ann", "1", 0.1), ("bob", "1", 0.3), ("cat", "1", 0.9), ("dan", "1", 0.2))
    # Median distances: ann 0.2, bob 0.2, cat 0.7, dan 0.1.
    assert agreed(table(*rows)) == {"ann:1": True, "bob:1": True, "cat:1": False, "dan:1": True}


def test_undecided_answers_do_not_count() -> None:
    """Not even as others."""
    three = table(("ann", "1", "yes"), ("bob", "1", "yes"), ("cat", "1", "no"))
    verdicts = pd.Series({"cat:1": "keep", "ann:1": "keep"}, dtype="str")
    assert agreeing(three, verdicts)["agrees"].to_dict() == {"ann:1": True, "cat:1": True}


@pytest.mark.parametrize("again", ["yes", "no"])
def test_a_second_answer_to_an_item_is_no_second_item(again: str) -> None:
    """The first counts."""
    frame = table(("ann", "1", "yes"), ("ann", "1", again))
    frame.index = pd.Index(["first", "second"])
    assert agreed(frame) == {"first": True}
