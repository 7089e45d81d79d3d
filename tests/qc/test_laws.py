"""Laws that every heuristic keeps, on frames that nobody would think of."""

import functools
import math
import random
import warnings
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.field import Aggregate, Arrangement, Field, Option
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.tables import COLLECTED, task_columns
from piecework.domain.task import Task
from piecework.qc.ratings import sources, with_ratings
from piecework.qc.registry import HEURISTICS, Heuristic, columns, scores
from piecework.qc.scores import SHOWN_FROM
from tests.examples import examples
from tests.qc.rated import box, boxes, choice, scale, task_of
from tests.qc.tables import CANNED, NAN, START, row, table
from tests.typing_records import record

SECONDS = st.one_of(
    st.just(math.nan),
    st.sampled_from([-5.0, 0.0, 1.0, 4.0, 30.0, 1e7]),
    st.floats(min_value=-1e6, max_value=1e6),
)
RECORDS = ("", record().as_json(), record(kinds={"insertFromPaste": (1, 50)}, outside=50).as_json())
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
                typing=draw(st.sampled_from(RECORDS)),
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


@examples(12)
@given(answers=rows())
def test_every_subject_has_one_row_with_a_sound_verdict(answers: list[dict[str, object]]) -> None:
    """Suspicion is in [0, 1], has evidence, and the frame is left as it was."""
    built = table(*answers)
    before = built.copy(deep=True)
    for heuristic in HEURISTICS:
        name = heuristic.NAME
        scores = heuristic.score(built, heuristic.Params())
        assert scores.index.is_unique, name
        assert set(scores.index) == ids(built, heuristic), name
        assert scores.index.name == f"{heuristic.SUBJECT}_id", name
        assert scores["suspicion"].between(0, 1).all(), name
        is_shown = scores["flag"] | (scores["suspicion"] >= SHOWN_FROM)
        assert (scores["evidence"][is_shown] != "").all(), name
        assert scores["flag"].dtype == "bool", name
        pd.testing.assert_frame_equal(built, before, obj=f"the frame after {name}")


@examples(12)
@given(answers=rows(), chance=st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(
    answers: list[dict[str, object]], chance: random.Random
) -> None:
    """The same answers in another order are judged the same, to the last bit."""
    shuffled = list(answers)
    chance.shuffle(shuffled)
    first, second = table(*answers), table(*shuffled)
    for heuristic in HEURISTICS:
        params = heuristic.Params()
        pd.testing.assert_frame_equal(
            heuristic.score(first, params).sort_index(),
            heuristic.score(second, params).sort_index(),
            check_exact=True,
            obj=heuristic.NAME,
        )


@examples(12)
@given(answers=rows("x"), others=rows("yy"))
def test_an_unrelated_batch_changes_nothing(
    answers: list[dict[str, object]], others: list[dict[str, object]]
) -> None:
    """Other workers on other items in another batch are another story."""
    own, both = table(*answers), table(*answers, *others)
    for heuristic in HEURISTICS:
        alone = heuristic.score(own, heuristic.Params())
        together = heuristic.score(both, heuristic.Params())
        subjects = [subject for subject in alone.index if subject]
        pd.testing.assert_frame_equal(
            alone.loc[subjects], together.loc[subjects], check_exact=True, obj=heuristic.NAME
        )


def rated_table(task: Task, seed: int) -> pd.DataFrame:
    """Answers of six workers to 16 items, all rated columns there, before ratings."""
    chance = random.Random(seed)  # noqa: S311 - answers, no secrets
    answers = []
    for number in range(96):
        worker, item = f"w{number % 6}", f"i{number // 6}"
        order = tuple(chance.sample(["a", "b", "c"], 3))
        answers.append(
            row(
                f"{number:03}",
                assignment_id=f"s{number % 6}.{number // 24}",
                batch=1 + number // 48,
                worker_id=worker,
                item_id=item,
                text=chance.choice([CANNED, "A RED BIRD", "blurry", f"a bird {item}"]),
                shown_seconds=float(chance.choice([1, 30, 40])),
                pastes=float(chance.choice([0, 1])),
                keystrokes=1.0,
                typing=RECORDS[number % len(RECORDS)],
                problems=chance.choice([(), ("questioned:x",), ("too_short",)]),
                **{
                    "value.best": order[0] if worker == "w1" else chance.choice("abc"),
                    "value.better": chance.choice("123"),
                    "value.boxes": box(25.0 * (number % 5 // 2)),
                    "value.spoken": ("A dog barks.", "a dog parks", "rain")[number % 3],
                    "value.correction": "qqq qqq" if number % 3 else "qq",
                    "value.worth": float(chance.choice([50, 50, 0, 100])),
                    "value.has_text": chance.choice(["yes", "yes", "no"]),
                    "hit.vision": "no" if worker == "w2" else "yes",
                    "order.best": order,
                    "order.sides": chance.choice([("l", "r"), ("r", "l")]),
                },
            )
        )
    answers[0] |= {"text": "a bird", "is_canned": False}  # comes twice, and is compared
    answers.append({**answers[0], "answer_id": "again"})
    return table(*answers, columns={**COLLECTED, **task_columns(task)})


TASK = task_of(
    choice("best", "a", "b", "c", shuffled=True),
    choice("better", "1", "2", "3", mirrored_by="sides"),
    scale("worth"),
    boxes("boxes"),
    Field(name="spoken", kind="text", label="spoken", is_transcript=True),
    Field(name="correction", kind="text", label="correction"),
    Field(name="has_text", kind="choice", label="text"),
    Field(
        name="vision",
        kind="choice",
        label="vision",
        scope="hit",
        options=(Option(value="yes"), Option(value="no", excludes=True)),
    ),
    arrangements=(Arrangement(name="sides", columns=("l", "r")),),
    main_text="note",
    optional_columns=("hint", "draft"),
    aggregates=(Aggregate(field="correction", kind="best_edit", column="draft"),),
)
ITEMS = [
    Item(
        item_id=ItemId(f"i{number}"),
        columns={
            "gold.best": "a",
            "gold.boxes": box(0),
            "gold.spoken": "a dog barks",
            "section": "one",
            "twin": f"i{number ^ 1}",
            "twin_reversed": "",
            "hint": "a red bird" if number % 2 else "xyz xyz xyz",
            "draft": "qqq qqq",
        },
    )
    for number in range(16)
]


@functools.cache
def _rated_answers(seed: int) -> pd.DataFrame:
    """`rated_table` with ratings; no test changes it."""
    return with_ratings(rated_table(TASK, seed), TASK, ITEMS)


@every_heuristic
def test_a_heuristic_reads_what_it_declares_and_no_more(heuristic: Heuristic) -> None:
    """Without the other columns the scores are the same; each declared one is read."""
    rated = _rated_answers(1)
    params = heuristic.Params()
    whole = heuristic.score(rated, params)
    names = [name.format(**asdict(params)) for name in heuristic.COLUMNS]

    def having(names: list[str]) -> pd.DataFrame:
        beginnings = tuple(name for name in names if name.endswith("."))
        return rated[[c for c in rated.columns if c in names or c.startswith(beginnings)]]

    own = heuristic.score(having(names), params)
    pd.testing.assert_frame_equal(own, whole, check_exact=True)
    read: set[str] = set()

    class Recording(pd.DataFrame):
        """A table that knows which of its columns were asked for."""

        def __getitem__(self, key: Any) -> Any:  # noqa: ANN401 - as pandas has it
            read.update([key] if isinstance(key, str) else [])
            return super().__getitem__(key)

        def get(self, key: Any, default: Any = None) -> Any:  # noqa: ANN401 - as pandas
            read.update([key] if isinstance(key, str) else [])
            return super().get(key, default)

        @property
        def _constructor(self) -> type[pd.DataFrame]:
            return Recording

    heuristic.score(Recording(rated), params)
    for name in names:
        beginning = name if name.endswith(".") else None
        asked = name in read or any(c.startswith(beginning or "-") for c in read)
        assert asked, f"{name} is declared and never read"


@every_heuristic
def test_scores_of_a_part_are_those_of_the_whole(heuristic: Heuristic) -> None:
    """Where the scope says which rows belong together, others make no difference."""
    rated = _rated_answers(2)
    params = heuristic.Params()
    whole = heuristic.score(rated, params)
    key = {
        "row": pd.Series(rated.index, index=rated.index),
        "item": rated["item_id"],
        "worker": rated["worker_id"],
        "batch": rated["batch"],
        "campaign": pd.Series(1, index=rated.index),
    }[heuristic.SCOPE]
    parts = [heuristic.score(part, params) for _, part in rated.groupby(key)]
    pd.testing.assert_frame_equal(
        pd.concat(parts).sort_index(), whole.sort_index(), check_exact=True
    )


def test_the_columns_that_settings_need_give_the_scores_of_all() -> None:
    """A loader may fetch these alone; what is switched off is not fetched."""
    answers = rated_table(TASK, 3)
    wanted = columns({}, TASK)
    assert set(wanted) < set(answers.columns)
    assert "hit_id" not in wanted
    narrow = with_ratings(answers[wanted], TASK, ITEMS)
    whole = with_ratings(answers, TASK, ITEMS)
    of_all = scores(whole, {}, seed=1)
    for name, own in scores(narrow, {}, seed=1).items():
        pd.testing.assert_frame_equal(own, of_all[name])
    off = {name.NAME: None for name in HEURISTICS if name.NAME != "rule_violation"}
    assert columns(off, TASK) == sorted({*sources(TASK), "problems"})


POOR: dict[str, dict[str, object]] = {
    "one worker": {"worker_id": "w"},
    "one item": {"item_id": "i0"},
    "no worker ids": {"worker_id": ""},
    "no times": dict.fromkeys(("shown_seconds", "page_seconds", "market_seconds"), NAN),
    "no time passed": dict.fromkeys(("shown_seconds", "page_seconds"), 0.0),
    "no keys": dict.fromkeys(("keystrokes", "pastes", "focus_losses"), NAN),
    "one text": {"text": "a bird on a wire"},
    "no text": {"text": ""},
    "no word": {"text": "?! \u200b\u202e"},
    "Thai": {"text": "นกสีแดงบนสายไฟ"},
    "Hebrew and emoji": {"text": "ציפור אדומה 🐦🏽"},
    "all canned": {"text": CANNED, "is_canned": True},
    "one rating": {"value.best": "a", "value.worth": 50.0, "value.better": "2"},
    "no ratings": {"value.best": "", "value.worth": NAN, "value.better": ""},
    "no order": {"order.best": (), "order.sides": ()},
}
"""What may be poor about a frame, alone and together."""


@examples(12)
@given(
    faults=st.sets(st.sampled_from(sorted(POOR)), min_size=1),
    size=st.sampled_from([0, 1, 2, 5, 97]),
    seed=st.integers(0, 3),
)
def test_a_poor_frame_divides_by_nothing_and_accuses_nobody_unknown(
    faults: set[str], size: int, seed: int
) -> None:
    """No warning of numpy or pandas; who is not known, or alone, is not flagged."""
    poor = rated_table(TASK, seed).iloc[:size].copy()
    for fault in sorted(faults):
        for column, cell in POOR[fault].items():
            cells = [cell] * len(poor)
            poor[column] = pd.Series(cells, index=poor.index, dtype=poor[column].dtype)
    rated = with_ratings(poor, TASK, ITEMS)
    for heuristic in HEURISTICS:
        with warnings.catch_warnings(), np.errstate(divide="warn", invalid="warn"):
            warnings.simplefilter("error")
            scores = heuristic.score(rated, heuristic.Params())
        assert scores["suspicion"].between(0, 1).all(), heuristic.NAME
        flagged = scores.index[scores["flag"]]
        assert (scores.loc[flagged, "evidence"] != "").all(), heuristic.NAME
        if heuristic.SUBJECT == "worker":
            assert "" not in flagged, heuristic.NAME
            assert size > 1 or flagged.empty, heuristic.NAME
