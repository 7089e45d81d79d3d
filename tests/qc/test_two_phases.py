"""A table that is cut is judged as the whole is, to the bit."""

from collections.abc import Iterator

import pandas as pd
import pytest

from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.tables import COLLECTED, task_columns
from piecework.domain.task import Task
from piecework.domain.verdicts import JOINED, Finding
from piecework.hit_templates.tasks import load_task
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import HEURISTICS, Settings, assess, plan
from piecework.qc.text_fit import FIT, Excesses, Uses, Worded
from piecework.qc.two_phases import (
    judge_gathered,
    judge_items,
    judge_workers,
    score_gathered,
    tallies,
    to_gather,
    usual_of,
)
from tests.conftest import in_full
from tests.qc.rated import box, boxes, scale, task_of
from tests.qc.tables import row, table
from tests.qc.test_laws import ITEMS, TASK, rated_table

EAGER: Settings = {
    "time_in_batch": {"outlier_sds": 0.5, "min_assignments": 2},
    "time_in_image": {"outlier_sds": 0.5},
    "answered_before": {},
    "rushed": {"min_assignments": 2, "times_faster": 1.0, "errors": 0.1},
    "low_agreement": {"min_items": 2, "min_others": 1, "min_agreement": 0.9},
    "straight_line": {"min_items": 2, "min_share": 0.3, "rarer_than": 0.1},
    "low_scale_variance": {"min_items": 2, "max_width": 0.9},
    "ignored_page_warnings": {"min_items": 1, "min_share": 0.01, "others_share": 1},
    "sentence_off_items": {"min_items": 2, "min_errors": 0.1},
    "left_empty": {"min_assignments": 1, "min_share": 0.1, "rarer_than": 0.99},
    "text_off_item": {"min_odds": 1.0},
    "like_samples": {
        "flag_from": 0.3,
        "samples": [["", "", f"a bird sits on a wire {n}"] for n in range(30)],
    },
    "texts_off_items": {"min_texts": 1, "min_odds": 1.0},
}
"""So that most heuristics find something in a small table."""


def in_parts(table: pd.DataFrame, n: int) -> Iterator[Finding]:
    """What is found if the table is cut, by item and then by worker, in n parts."""
    parts = cut(table, "item_id", n)
    worded = [Worded(part) for part in parts]
    uses = Uses.merged(part.uses() for part in worded)
    excesses = Excesses.merged(part.excesses(uses) for part in worded)
    fits = [part.fits(uses, excesses).add_prefix(f"{FIT}.") for part in worded]
    for part in parts:
        yield from judge_items(part, EAGER)
    fitted = pd.concat([pd.concat(pair, axis=1) for pair in zip(parts, fits, strict=True)])
    parts = cut(fitted, "worker_id", n)
    known = usual_of((tallies(part, EAGER) for part in parts), EAGER)
    rows: dict[str, list[pd.DataFrame]] = {}
    for part in parts:
        for name, own in to_gather(part, EAGER).items():
            rows.setdefault(name, []).append(own)
    gathered = score_gathered({name: pd.concat(own) for name, own in rows.items()}, EAGER)
    yield from judge_gathered(gathered)
    for part in parts:
        yield from judge_workers(part, EAGER, seed=1, usual=known, gathered=gathered)


def cut(table: pd.DataFrame, column: str, n: int) -> list[pd.DataFrame]:
    """At most n parts, each with all rows of what stands in a column."""
    codes = pd.factorize(table[column], sort=True)[0] % n
    return [part.sort_index() for _, part in table.groupby(codes)]


def sorted_by_subject(findings: list[Finding]) -> list[Finding]:
    """In an order that no cut changes."""
    return sorted(
        findings, key=lambda finding: (finding.heuristic, finding.subject_kind, finding.subject_id)
    )


@pytest.mark.parametrize("n", [2, *in_full(1, 7)])
def test_parts_have_the_findings_of_the_whole(n: int) -> None:
    """Ratings, texts and times, with and without names, in three batches."""
    table = with_ratings(rated_table(TASK, 3), TASK, ITEMS).sort_index()
    whole = sorted_by_subject(assess(table, EAGER, seed=1))
    assert sorted_by_subject(list(in_parts(table, n))) == whole
    names = {finding.heuristic for finding in whole}
    # Those that a table without ratings of its own kind, or without pastes, leaves out.
    assert len(names) >= len(HEURISTICS) // 2
    assert {"low_agreement", "rushed", "text_off_item", JOINED} <= names


@pytest.mark.parametrize("n", [2, *in_full(7)])
def test_parts_of_each_kind_of_rating_alone_have_the_findings_of_the_whole(n: int) -> None:
    """Every heuristic that is gathered, for a task with no other derived columns than its own."""
    only: dict[str, Task] = {
        "drafts": load_task("correction"),
        "marks": task_of(boxes("boxes")),
        "words": task_of(Field(name="spoken", kind="text", label="s", is_transcript=True)),
        "scales": task_of(scale("worth")),
    }
    whole = set[str]()
    for name, task in only.items():
        rated = with_ratings(answered(task), task, DRAFTS)
        of_parts = sorted_by_subject(list(in_parts(rated.sort_index(), n)))
        assert of_parts == sorted_by_subject(assess(rated, EAGER, seed=1)), name
        whole |= {finding.heuristic for finding in of_parts}
    assert {"drafts_kept", "low_agreement", "straight_line"} <= whole


DRAFTS = [
    Item(item_id=ItemId(f"i{number}"), columns={"description": "a red bird"})
    for number in range(16)
]


def answered(task: Task) -> pd.DataFrame:
    """Six workers answer 16 items; the first leaves every draft, box and number as it is."""
    rows = []
    for number in range(96):
        worker, item = number % 6, number // 6
        is_lazy = worker == 0
        cells = {
            "value.outcome": "corrected",
            "value.correction": "a red bird" if is_lazy else f"a red hen {item}",
            "value.boxes": box(0.0 if is_lazy else 20.0 * (1 + item % 4)),
            "value.spoken": "rain" if is_lazy else f"a dog barks {item}",
            "value.worth": 50.0 if is_lazy else float(item * 6),
        }
        own = {name: cells[name] for name in task_columns(task)}
        rows.append(row(f"{number:03}", worker_id=f"w{worker}", item_id=f"i{item}", **own))
    return table(*rows, columns={**COLLECTED, **task_columns(task)})


def test_every_heuristic_says_how_it_is_cut() -> None:
    """What compares with a batch or a campaign has two phases, or is gathered."""
    plans = {heuristic.NAME: plan(heuristic) for heuristic in HEURISTICS}
    assert {name for name, how in plans.items() if how == "gather"} == {
        *("drafts_kept", "low_agreement", "low_scale_variance"),
        *("sentence_off_items", "straight_line"),
    }
    assert {name for name, how in plans.items() if how == "tally"} == {
        *("ignored_page_warnings", "left_empty", "like_samples", "not_typed"),
        "rushed",
        *("time_in_batch", "too_fast"),
    }
    assert {name for name, how in plans.items() if how == "item"} == {
        *("answered_before", "minority_canned", "text_disagreement", "time_in_image")
    }
