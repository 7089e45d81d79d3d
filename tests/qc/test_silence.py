"""Bad input: who can say nothing says why, and flags and warns of nothing."""

import functools
import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from piecework.domain.tables import COLLECTED, task_columns
from piecework.qc import joined
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import HEURISTICS, Heuristic, Settings, params_of
from piecework.qc.silence import silences
from tests.for_each import for_each
from tests.qc.rated import choice, task_of
from tests.qc.tables import NAN, row, table
from tests.typing_records import record

TASK = task_of(choice("fit", "yes", "no"))
NO_TIMES = dict.fromkeys(
    ("shown_seconds", "page_seconds", "market_seconds", "keystrokes", "pastes"), NAN
)

FRAMES: dict[str, list[dict[str, object]]] = {
    "no answer": [],
    "one answer": [row("a")],
    "one worker": [row(f"{n:02}", worker_id="w", text=f"a bird {n}") for n in range(30)],
    "one item": [row(f"{n:02}", item_id="i") for n in range(30)],
    "no times": [row(f"{n:02}", item_id=f"{n % 10}", **NO_TIMES) for n in range(30)],
    "no worker ids": [row(f"{n:02}", item_id=f"{n % 10}", worker_id="") for n in range(30)],
    "one text": [row(f"{n:02}", item_id=f"{n % 10}") for n in range(30)],
    "no text": [row(f"{n:02}", item_id=f"{n % 10}", text="") for n in range(30)],
    "no word": [row(f"{n:02}", item_id=f"{n % 10}", text="?!") for n in range(30)],
    "one went on": [
        row("a", problems=("questioned:x",)),
        *(row(f"{n:02}", item_id=f"{n % 10}") for n in range(30)),
    ],
    "two answers": [row("a", item_id="i"), row("b", item_id="i")],
    "one worker and item": [row("a", item_id="i", worker_id="w")],
    "nothing known": [
        row(f"{n:02}", item_id=f"{n % 10}", worker_id="", text="", **NO_TIMES)
        | {"focus_losses": NAN, "value.fit": ""}
        for n in range(30)
    ],
} | {
    script: [
        row(f"{n:02}", item_id=f"{n % 10}", text=text + str(n % 10) * is_numbered)
        for n in range(30)
    ]
    for script, text, is_numbered in (
        ("Chinese", "桌上有一個紅色的杯子", True),
        ("Arabic", "كوب أحمر على الطاولة", True),
        ("Thai", "แก้วสีแดงบนโต๊ะ", True),
        ("emoji", "😀🐕🏠", False),
        ("emoji of a family", "👨‍👩‍👧‍👦❤️", False),
    )
}
DRAWN = "random_sample"

ON: Settings = {
    **{heuristic.NAME: {} for heuristic in HEURISTICS},
    "canary": {"word": "heliotrope"},
    "like_samples": {"samples": [["", "", f"a picture of a bird {n}"] for n in range(30)]},
}

BY_THEMSELVES = frozenset(
    {
        *("too_fast", "time_in_batch", "time_in_image", "not_typed", "canary", DRAWN),
        *("capitals", "quality_words", "same_sentence", "rule_violation"),
        "answered_before",
    }
)
"""They can say something of an answer without any other: a time below zero, copied
instructions, a word; or, that no other is there."""


@functools.cache
def rated_frame(frame: str) -> pd.DataFrame:
    """The frame as heuristics read it; nobody changes it."""
    answers = table(
        *[{"value.fit": "yes"} | row for row in FRAMES[frame]],
        columns={**COLLECTED, **task_columns(TASK)},
    )
    return with_ratings(answers, TASK, ())


@functools.cache
def silent_in(frame: str) -> Mapping[str, str]:
    """Who says why it says nothing, with everything on."""
    with warnings.catch_warnings(), np.errstate(divide="warn", invalid="warn"):
        warnings.simplefilter("error")
        return silences(rated_frame(frame), ON)


def scores_in(frame: str, heuristic: Heuristic) -> pd.DataFrame:
    """Score a frame; a warning is an error."""
    with warnings.catch_warnings(), np.errstate(divide="warn", invalid="warn"):
        warnings.simplefilter("error")
        return heuristic.score(rated_frame(frame), params_of(heuristic, ON, seed=1))


@pytest.mark.parametrize("frame", FRAMES)
def test_a_poor_frame_is_no_flag_and_no_warning(frame: str) -> None:
    """Numbers that divide by nothing, means of nothing: not even a warning.

    Who says why it is silent has nothing to say, and the joined suspicion neither.
    """
    silent = silent_in(frame)
    of_all = {known.NAME: scores_in(frame, known) for known in HEURISTICS}
    for name, scores in of_all.items():
        assert scores["suspicion"].between(0, 1).all(), name
        assert name == DRAWN or not scores["flag"].any(), name
        assert name not in silent or (scores["suspicion"] == 0).all(), name
    with warnings.catch_warnings(), np.errstate(divide="warn", invalid="warn"):
        warnings.simplefilter("error")
        assert list(joined.findings(rated_frame(frame), of_all)) == []


@for_each("frame", ("one answer", "two answers", "one worker and item"))
def test_who_needs_more_than_an_answer_says_so(frame: str) -> None:
    """A new heuristic says why it is silent, or is one that needs no other answer."""
    for heuristic in HEURISTICS:
        is_silent = heuristic.NAME in silent_in(frame)
        assert is_silent == (heuristic.NAME not in BY_THEMSELVES), heuristic.NAME


def test_who_knows_nothing_says_so() -> None:
    """Only what the page found amiss is known, and the draw needs no more."""
    silent = silent_in("nothing known")
    assert {heuristic.NAME for heuristic in HEURISTICS} - {*silent} == {"rule_violation", DRAWN}


@for_each(
    ("frame", "name", "why"),
    [
        ("no answer", "capitals", "there are no answers"),
        ("one worker", "text_off_item", "no two answers are about one item"),
        ("one item", "text_off_item", "all answers are about one item"),
        ("no times", "rushed", "no time is known"),
        ("no times", "time_in_image", "no time is known"),
        ("no worker ids", "answered_before", "no worker is known"),
        ("one text", "contradiction", "no item is asked twice"),
        ("one text", "low_scale_variance", "the task has no scale"),
        ("one text", "minority_canned", "no answer is the canned text"),
        ("one text", "text_disagreement", "the task has no field has_text"),
        ("one text", "same_place", "the order in which the page showed the options is not known"),
        ("one text", "straight_line", "it needs 10 items of one worker; there are at most 1"),
        ("one worker", "straight_line", "there is only one worker, so no other to compare with"),
        ("two answers", "rushed", "it needs 10 assignments of one batch; there are at most 2"),
        ("no times", "not_typed", "no keystrokes are known"),
        ("no worker ids", "canned_share", "no worker is known"),
        ("no worker ids", "texts_off_items", "no worker is known"),
        ("no text", "capitals", "no answer has a text"),
        (
            *("one text", "ignored_page_warnings"),
            "the page is not known to have questioned any answer",
        ),
        (
            *("one went on", "ignored_page_warnings"),
            "it needs 5 items of one worker; there are at most 1",
        ),
        ("one text", "gold_failed", "no item has a known answer"),
        ("one text", "canary", "the campaign names no word for programs to write"),
        ("one text", "time_in_batch", "it is switched off"),
        ("one text", "capitals", ""),
        ("one text", "text_off_item", ""),
    ],
)
def test_silence_has_a_reason(frame: str, name: str, why: str) -> None:
    """By what the heuristic reads; one that can speak has none."""
    settings = {} if why.endswith(("switched off", "programs to write")) else ON
    assert silences(rated_frame(frame), settings).get(name, "") == why


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ("value.has_text", "no answer fills in has_text"),
        ("hit.has_text", "has_text is asked once per HIT and not for each item"),
    ],
)
def test_a_field_that_is_there_is_not_called_absent(column: str, reason: str) -> None:
    """Nobody may have answered it, or it may be asked of no item."""
    answers = rated_frame("one text")
    assert silences(answers.assign(**{column: ""}), ON)["text_disagreement"] == reason


def test_whom_a_file_does_not_name_is_no_worker_with_few_items() -> None:
    """One named worker among them, and there is somebody to count items of."""
    answers = rated_frame("one text")
    unnamed = answers.assign(worker_id="unnamed:" + answers["worker_id"])
    assert silences(unnamed, ON)["canned_share"] == "no answer is the canned text"
    for name in ("same_sentence_in_hit", "straight_line", "texts_off_items"):
        reason = silences(unnamed, ON)[name]
        assert (reason == "no worker is known") == (name != "same_sentence_in_hit")
    unnamed.loc[unnamed.index[0], "worker_id"] = "w"
    few = "it needs 10 items of one worker; there are at most 1"
    assert silences(unnamed, ON)["straight_line"] == few


@pytest.mark.parametrize("shown", ["order", "sides"])
def test_places_are_looked_at_where_options_or_sides_change(shown: str) -> None:
    """Either is enough; a task that only shuffles its options has no turned scale."""
    answers = rated_frame("one worker").drop(columns=["rated.fit"], errors="ignore")
    answers["rated.fit"] = [("yes",)] * len(answers)
    answers[f"{shown}.fit"] = [("yes", "no")] * len(answers) if shown == "order" else "first"
    assert "same_place" not in silences(answers, ON)


def test_a_record_of_typing_needs_no_keystrokes() -> None:
    """One answer with a record is enough to say something."""
    answers = rated_frame("no times")
    assert "not_typed" in silences(answers, {})
    answers = answers.assign(typing=["", *[record().as_json()] * (len(answers) - 1)])
    assert "not_typed" not in silences(answers, {})


def test_times_of_zero_are_known() -> None:
    """Nothing can be rushed among them, though each is too short to be true."""
    zero = NO_TIMES | {"market_seconds": 0.0}
    answers = [
        row(f"{n:02}", item_id=f"{n % 10}", **zero) | {"value.fit": "yes"} for n in range(30)
    ]
    columns = {**COLLECTED, **task_columns(TASK)}
    rated = with_ratings(table(*answers, columns=columns), TASK, ())
    assert silences(rated, {})["rushed"] == "all times are zero"
