"""Bad input: who can say nothing says why, and flags and warns of nothing."""

import warnings

import numpy as np
import pytest

from domain.tables import COLLECTED, task_columns
from qc import joined
from qc.ratings import with_ratings
from qc.registry import HEURISTICS, scores
from qc.silence import silences
from tests.qc.rated import choice, task_of
from tests.qc.tables import NAN, row, table

TASK = task_of(choice("fit", "yes", "no"))
NO_TIMES = dict.fromkeys(
    ("shown_seconds", "page_seconds", "market_seconds", "keystrokes", "pastes"), NAN
)

FRAMES: dict[str, list[dict[str, object]]] = {
    "no answer": [],
    "one answer": [row("a")],
    "one worker": [
        row(f"{n:02}", worker_id="w", text=f"a bird {n}") for n in range(30)
    ],
    "one item": [row(f"{n:02}", item_id="i") for n in range(30)],
    "no times": [row(f"{n:02}", item_id=f"{n % 10}", **NO_TIMES) for n in range(30)],
    "no worker ids": [
        row(f"{n:02}", item_id=f"{n % 10}", worker_id="") for n in range(30)
    ],
    "one text": [row(f"{n:02}", item_id=f"{n % 10}") for n in range(30)],
    "no text": [row(f"{n:02}", item_id=f"{n % 10}", text="") for n in range(30)],
    "no word": [row(f"{n:02}", item_id=f"{n % 10}", text="?!") for n in range(30)],
    "Chinese": [
        row(f"{n:02}", item_id=f"{n % 10}", text=f"桌上有一個紅色的杯子{n % 10}")
        for n in range(30)
    ],
    "Arabic": [
        row(f"{n:02}", item_id=f"{n % 10}", text=f"كوب أحمر على الطاولة {n % 10}")
        for n in range(30)
    ],
}
DRAWN = "random_sample"


@pytest.mark.parametrize("frame", FRAMES)
def test_a_poor_frame_is_no_flag_and_no_warning(frame: str) -> None:
    """Numbers that divide by nothing, means of nothing: not even a warning."""
    answers = table(
        *[one | {"value.fit": "yes"} for one in FRAMES[frame]],
        columns={**COLLECTED, **task_columns(TASK)},
    )
    rated = with_ratings(answers, TASK, ())
    for heuristic in HEURISTICS:
        with warnings.catch_warnings(), np.errstate(divide="warn", invalid="warn"):
            warnings.simplefilter("error")
            found = heuristic.score(rated, heuristic.Params())
        assert found["suspicion"].between(0, 1).all(), heuristic.NAME
        if heuristic.NAME != DRAWN:
            assert not found["flag"].any(), heuristic.NAME


@pytest.mark.parametrize("frame", FRAMES)
def test_the_joined_suspicion_needs_no_more(frame: str) -> None:
    """Nor does it warn or suspect."""
    answers = table(*FRAMES[frame])
    with warnings.catch_warnings(), np.errstate(divide="warn", invalid="warn"):
        warnings.simplefilter("error")
        assert list(joined.findings(answers, scores(answers, {}, seed=1))) == []


@pytest.mark.parametrize(
    ("frame", "name", "why"),
    [
        ("no answer", "capitals", "there are no answers"),
        ("one worker", "text_off_item", "no two answers are about one item"),
        ("one item", "text_off_item", "all answers are about one item"),
        ("no times", "rushed", "no time is known"),
        ("no times", "not_typed", "no keystrokes are known"),
        ("no worker ids", "canned_share", "no worker is known"),
        ("no worker ids", "texts_off_items", "no worker is known"),
        ("no text", "capitals", "no answer has a text"),
        ("one text", "gold_failed", "no item has a known answer"),
        ("one text", "canary", "no word is planted on the page"),
        ("one text", "time_in_batch", "it is switched off"),
        ("one text", "capitals", ""),
        ("one text", "text_off_item", ""),
    ],
)
def test_silence_has_a_reason(frame: str, name: str, why: str) -> None:
    """By what the heuristic reads; one that can speak has none."""
    rated = with_ratings(
        table(
            *[one | {"value.fit": "yes"} for one in FRAMES[frame]],
            columns={**COLLECTED, **task_columns(TASK)},
        ),
        TASK,
        (),
    )
    assert silences(rated, {}).get(name, "") == why
