"""Rows dealt by item: whole items, few batches a bucket, buckets of one size."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from piecework.results.large.cleaning import (
    BatchByBatch,
    deal,
    item_tally,
    read_bucket,
    write_buckets,
)


def rows(*answers: tuple[str, int]) -> pa.Table:
    """Answers of an item and a batch."""
    items, batches = zip(*answers, strict=True)
    return pa.table({"item_id": list(items), "batch": list(batches)})


def dealt(table: pa.Table, n: int, parts: Sequence[pa.Table] = ()) -> pd.DataFrame:
    """The rows with the bucket of each."""
    places = BatchByBatch.of(map(item_tally, parts or [table]), n)
    frame: pd.DataFrame = table.to_pandas()
    return frame.assign(bucket=places.buckets(table))


def campaign() -> pa.Table:
    """Five answers about each of 2,000 items in 20 batches, in no order."""
    numbers = np.random.default_rng(1).permutation(10_000) // 5
    return rows(*((f"i{number}", 1 + number // 100) for number in numbers.tolist()))


def test_a_bucket_has_few_batches_and_its_share_of_the_rows() -> None:
    """7 buckets of 20 batches: three batches, and the ends of one more or two."""
    by_bucket = dealt(campaign(), 7).groupby("bucket")
    assert by_bucket["batch"].nunique().max() <= 4
    assert by_bucket.size().between(10_000 // 7 - 5, 10_000 // 7 + 5).all()
    assert by_bucket.ngroups == 7


def test_all_answers_about_an_item_stand_in_one_bucket() -> None:
    """Also those of later batches, which may be about any item."""
    first = campaign()
    again = rows(*((f"i{number}", 21) for number in range(0, 2_000, 3)))
    table = pa.concat_tables([first, again])
    by_item = dealt(table, 7, [again, first]).groupby("item_id")
    assert by_item["bucket"].nunique().max() == 1


def test_how_rows_are_cut_changes_no_bucket() -> None:
    """One part or three, in another order."""
    table = campaign()
    parts = [table.slice(start, 4_000) for start in (8_000, 0, 4_000)]
    pd.testing.assert_frame_equal(dealt(table, 7), dealt(table, 7, parts))


@pytest.mark.parametrize("n", [1, 3, 5])
def test_an_item_of_more_than_a_share_leaves_buckets_empty(n: int) -> None:
    """All of them are in a bucket that is there."""
    table = rows(*[("a", 1)] * 9, ("b", 1), ("c", 2))
    assert dealt(table, n)["bucket"].between(0, n - 1).all()


def test_an_empty_bucket_takes_no_room(tmp_path: Path) -> None:
    """All rows in one of a hundred: each text is written once, and read again."""
    texts = pa.table({"text": pa.array(map(str, range(20_000)), pa.large_string())})
    path = tmp_path / "buckets"
    batches = deal(texts, np.full(len(texts), 42), 100)
    write_buckets(path, texts.schema, batches)
    assert path.stat().st_size < 2 * texts.nbytes
    assert read_bucket([path], 42, 100).equals(texts)
    assert read_bucket([path], 41, 100).num_rows == 0
