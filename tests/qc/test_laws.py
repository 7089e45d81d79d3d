"""Laws that every heuristic keeps, on frames that nobody would think of."""

import math
import random
from datetime import timedelta

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qc.registry import HEURISTICS, Heuristic
from tests.qc.tables import CANNED, START, row, table

SECONDS = st.one_of(
    st.just(math.nan),
    st.sampled_from([-5.0, 0.0, 1.0, 4.0, 30.0, 1e7]),
    st.floats(min_value=-1e6, max_value=1e6),
)
COUNTS = st.sampled_from([math.nan, 0.0, 1.0, 60.0])
TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            CANNED,
            "A RED BIRD ON A WIRE",
            "the blurry quality",
            "a wonderful view my friend",
            "imagine how you would describe this image on the phone to a friend",
        ]
    ),
    st.text(max_size=40),
)


@st.composite
def rows(draw: st.DrawFn, prefix: str = "") -> list[dict[str, object]]:
    """Answers of few workers about few items, so that they meet; ids by place."""
    answers = []
    for place in range(draw(st.integers(0, 14))):
        worker = draw(st.sampled_from(["", "u", "v", "w"]))
        worker_id = f"{prefix}{worker}" if worker else ""
        answers.append(
            row(
                f"{prefix}{place}",
                assignment_id=f"{prefix}s{place // 2}",
                batch=len(prefix),
                worker_id=worker_id,
                item_id=prefix + draw(st.sampled_from("ij")),
                n_items=2,
                text=draw(TEXTS),
                shown_seconds=draw(SECONDS),
                page_seconds=draw(SECONDS),
                market_seconds=draw(SECONDS),
                submitted_at=START + timedelta(minutes=draw(st.integers(0, 2))),
                pastes=draw(COUNTS),
                keystrokes=draw(COUNTS),
                problems=draw(st.sampled_from([(), ("too_short",)])),
                **{"value.has_text": draw(st.sampled_from(["yes", "no", ""]))},
            )
        )
    # An assignment is one worker's one go: what belongs to it is the same in its rows.
    for answer in answers:
        own = answer["assignment_id"]
        whole = next(other for other in answers if other["assignment_id"] == own)
        for name in ("worker_id", "market_seconds", "page_seconds", "submitted_at"):
            answer[name] = whole[name]
    return answers


def ids(answers: pd.DataFrame, heuristic: Heuristic) -> set[str]:
    """The subjects that a heuristic must speak of."""
    if heuristic.SUBJECT == "answer":
        return set(answers.index)
    return set(answers[f"{heuristic.SUBJECT}_id"])


every_heuristic = pytest.mark.parametrize(
    "heuristic", HEURISTICS, ids=lambda heuristic: heuristic.NAME
)
short = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@every_heuristic
@short
@given(answers=rows())
def test_every_subject_has_one_row_with_a_sound_verdict(
    heuristic: Heuristic, answers: list[dict[str, object]]
) -> None:
    """Suspicion is in [0, 1], has evidence, and the frame is left as it was."""
    built = table(*answers)
    before = built.copy(deep=True)
    found = heuristic.score(built, heuristic.Params())
    pd.testing.assert_frame_equal(built, before)
    assert found.index.is_unique
    assert set(found.index) == ids(built, heuristic)
    assert found.index.name == f"{heuristic.SUBJECT}_id"
    assert found["suspicion"].between(0, 1).all()
    assert (found["evidence"][found["flag"] | (found["suspicion"] > 0)] != "").all()
    assert found["flag"].dtype == "bool"


@every_heuristic
@short
@given(answers=rows(), chance=st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(
    heuristic: Heuristic,
    answers: list[dict[str, object]],
    chance: random.Random,
) -> None:
    """The same answers in another order are judged the same, to the last bit."""
    shuffled = list(answers)
    chance.shuffle(shuffled)
    one = heuristic.score(table(*answers), heuristic.Params())
    other = heuristic.score(table(*shuffled), heuristic.Params())
    pd.testing.assert_frame_equal(
        one.sort_index(), other.sort_index(), check_exact=True
    )


@every_heuristic
@short
@given(answers=rows("x"), others=rows("yy"))
def test_an_unrelated_batch_changes_nothing(
    heuristic: Heuristic,
    answers: list[dict[str, object]],
    others: list[dict[str, object]],
) -> None:
    """Other workers on other items in another batch are another story."""
    own = table(*answers)
    alone = heuristic.score(own, heuristic.Params())
    together = heuristic.score(table(*answers, *others), heuristic.Params())
    subjects = [subject for subject in alone.index if subject]
    pd.testing.assert_frame_equal(
        alone.loc[subjects], together.loc[subjects], check_exact=True
    )
