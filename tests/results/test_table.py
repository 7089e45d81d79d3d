"""The table of answers: its order, what it says of undecided ones, and what no id leaves by."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.binding import bind_store
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.dataset import Shares
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import MIXED_IN
from piecework.domain.verdicts import Decision, Verdict
from piecework.engine.opening import open_to_look
from piecework.postprocess.answers import answer_columns
from piecework.results.table import (
    answers_table,
    hidden_ids,
    split_of_items,
    surplus,
    worked_seconds,
)
from piecework.store import bound, decisions
from piecework.store.database import open_store
from tests.small_campaign import write_campaign
from tests.store.answered import answered_hits

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
BOB, ANN = WORKERS = ("W2BOBBOBBOB3", "W1ANNANNANN4")


@contextmanager
def collected(folder: Path) -> Iterator[OpenedCampaign]:
    """Two HITs of two items, each answered by bob, and by ann a minute later."""
    campaign = load_campaign(write_campaign(folder))
    with closing(open_store(campaign.store, create=True)) as store:
        with store.db.atomic():
            bind_store(store, campaign, "http://127.0.0.1:1")
            bound.bind(store, "name", "of a test")
            bound.bind(store, "pseudonym_key", "01" * 32)
        hits = {"H1": (1, ["p1", "p2"]), "H2": (1, ["p3", "p4"])}
        answered_hits(store, hits, WORKERS, at=NOON)
    with open_to_look(campaign) as opened:
        yield opened


def _about(answer_id: str, verdict: Verdict) -> Decision:
    return Decision(
        subject_kind="answer",
        subject_id=answer_id,
        verdict=verdict,
        decided_by="ada",
        decided_at=NOON,
        because="So.",
    )


def test_rows_are_in_the_order_of_names_with_the_market_of_their_hit(tmp_path: Path) -> None:
    """Not in that of storing; of a HIT without a market it is "". Nothing names a worker."""
    with collected(tmp_path) as opened:
        pictures = [
            replace(item, columns={**item.columns, "url": f"https://a.org/{BOB}/{item.item_id}"})
            for item in opened.campaign.items
        ]
        named = replace(opened.campaign, items=tuple(pictures))
        table = answers_table(replace(opened, campaign=named))
        backwards = answers_table(opened, name_of=lambda name: name[::-1]).index
        with opened.store.db.atomic():
            opened.store.db.execute("UPDATE hits SET market = 'connect' WHERE hit_id = 'H1'")
        at_markets = answers_table(opened)
        columns = [*answer_columns(opened.campaign.task)]
        assert "H1-" not in hidden_ids(opened).everywhere(f"as in H1-{BOB}")
        assert opened.answers().index[0] == f"H1-{BOB}.1" != table.index[0]
    assert [*table.index] == sorted(table.index)
    assert [*backwards] == sorted(table.index, key=lambda name: name[::-1])
    for name, number in (("clean_text", 8), ("url", 4)):
        assert len({*table[name]}) == number
        assert not any(worker in text for worker in WORKERS for text in table[name])
    assert [*table] == columns
    assert [*at_markets] == [*columns, "market"]
    assert at_markets["market"].tolist() == ["connect"] * 4 + [""] * 4


def test_undecided_answers_are_provisional_and_shown_as_proposed(tmp_path: Path) -> None:
    """A decision in force holds against a proposal; what is undecided displaces nothing."""
    bob, ann = (f"H1-{worker}.{{}}" for worker in WORKERS)
    drop, keep = (_about("", verdict) for verdict in ("drop", "keep"))
    with collected(tmp_path) as opened:
        posting = replace(opened.campaign.posting, assignments=1)
        fewer = replace(opened, campaign=replace(opened.campaign, posting=posting))
        decided = [_about(ann.format(1), "keep"), _about(ann.format(2), "drop")]
        decisions.keep_decisions(opened.store, decided)
        proposed = {ann.format(1): drop, ann.format(2): keep, bob.format(1): drop}
        table = answers_table(fewer, proposed=proposed | {bob.format(2): keep})
        columns = ["is_rejected", "is_provisional", "rejected_because", "is_surplus"]
        rows = table[columns].T.to_dict("list")
        untold = table.loc[table["hit_id"] == "H2", columns].drop_duplicates()
        alone = answers_table(fewer).loc[ann.format(1), "is_surplus"]
        decisions.keep_decisions(opened.store, [_about(bob.format(1), "keep")])
        second = answers_table(fewer).loc[ann.format(1), "is_surplus"]
    assert rows[ann.format(1)] == [False, False, "", False]
    assert rows[ann.format(2)] == [True, False, "So.", False]
    assert rows[bob.format(1)] == [True, True, "not decided yet: So.", False]
    assert rows[bob.format(2)] == [False, True, "", False]
    assert untold.to_numpy().tolist() == [[False, True, "", False]]
    assert (alone, second) == (False, True)


def test_of_two_answers_of_an_assignment_the_first_on_its_page_counts() -> None:
    """The tenth is before the second in the order of their ids."""
    names = ["x.10", "x.2"]
    table = pd.DataFrame(
        {"item_id": "a", "worker_id": "ann", "submitted_at": NOON, "assignment_id": "x"},
        index=names,
    ).assign(position=[10, 2])
    are_kept = pd.Series(data=True, index=names)
    assert surplus(table, are_kept, least=2, wanted={}).tolist() == [True, False]
    # Of those of several workers, each beyond the number is surplus.
    others = table.assign(worker_id=["ann", "bob"])
    assert surplus(others, are_kept, least=0, wanted={}).tolist() == [True, True]


def test_items_that_were_mixed_in_take_no_share_of_the_splits() -> None:
    """Ten of 80, 10 and 10 percent are 8, 1 and 1; the others, in no file, are in the first."""
    own = [Item(item_id=ItemId(f"i{n}"), columns={}) for n in range(10)]
    others = [Item(item_id=ItemId(f"m{n}"), columns={MIXED_IN: "yes"}) for n in range(10)]
    shares = Shares(train_percent=80, val_percent=10)
    splits = split_of_items([*own, *others], shares)
    counts = pd.Series(splits).loc[[item.item_id for item in own]].value_counts()
    assert counts.to_dict() == {"train": 8, "val": 1, "test": 1}
    assert {splits[item.item_id] for item in others} == {"train"}


def test_work_may_take_days_and_parts_of_a_second() -> None:
    """A day, an hour and half a second; without a beginning it is not known.

    A time has six digits of a second, or none.
    """
    times = pd.DataFrame(
        {
            "accepted_at": pd.Series(["2026-01-05T12:00:00.000000+00:00", None], dtype="str"),
            "submitted_at": ["2026-01-06T13:00:00.500000+00:00", "2026-01-06T13:00:00+00:00"],
        }
    )
    expected = [86_400 + 3_600 + 0.5, float("nan")]
    assert worked_seconds(times).tolist() == pytest.approx(expected, abs=0, nan_ok=True)
    assert worked_seconds(times[1:]).isna().all()
