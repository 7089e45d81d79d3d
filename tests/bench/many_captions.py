"""Captions of a campaign that outgrows memory, drawn straight into Parquet files.

Items come in blocks, each drawn from a seed of its own, so any number is made in the
memory of one block. Words are drawn as people use them (few often, most seldom, and
after most words the same few), and each item has words of its own, so that its texts
agree; one worker in forty rushes and repeats himself, one takes the canned text, and
some words are mistyped.
Run: `python -m tests.bench.many_captions FOLDER ROWS [FILES]`.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from wordfreq import top_n_list

from tests.bench.heuristics import AT_ONCE, CANNED

WORKERS = 80_000
BATCHES = 20
_BLOCK = 20_000
"""Items that are drawn at a time."""

_DRAWN = 1_000
"""Items that are drawn from one seed, and assignments about them."""

_WORDS = 12_000
_LENGTH = 11
_OWN = 4
"""Words of its own that an item has."""

_FOLLOWS, _OF_ITEM = 0.8, 0.15
"""The shares of words that follow from the word before, and that are the item's own.

So 40,000 captions have as many different pairs and threes of words as 42,036 real ones
(docs/internals/measurements/benchmarks.md).
"""
_FIRST = pd.Timestamp("2026-03-01", tz="UTC")
_TEXTS = pa.list_(pa.string())


def write(folder: Path, rows: int, files: int) -> None:
    """Write so many rows in so many files."""
    folder.mkdir(parents=True, exist_ok=True)
    items = rows // AT_ONCE
    starts = np.linspace(0, items, files + 1).astype("int64").tolist()
    for number, (start, end) in enumerate(pairwise(starts)):
        writer = None
        for first in range(start, end, _BLOCK):
            block = pa.Table.from_pandas(
                captions(first, min(first + _BLOCK, end), items), preserve_index=False
            )
            block = block.set_column(
                block.schema.get_field_index("problems"), "problems", block["problems"].cast(_TEXTS)
            )
            path = folder / f"answers-{number:04d}.parquet"
            writer = writer or pq.ParquetWriter(path, block.schema, compression="zstd")
            writer.write_table(block)
        if writer is not None:
            writer.close()


def captions(first: int, last: int, items: int) -> pd.DataFrame:
    """The answers about items `first` to `last`, without the last, of so many."""
    # A thousand items are drawn together, so that how files are cut changes nothing.
    draws = range(first // _DRAWN, -(-last // _DRAWN))
    rows = pd.concat([_drawn(n, items) for n in draws], ignore_index=True)
    number = rows["item_id"].str.slice(1).astype("int64")
    return rows[(number >= first) & (number < last)].reset_index(drop=True)


def _drawn(number: int, items: int) -> pd.DataFrame:
    """Five answers about each of a thousand items, in HITs of five."""
    draw = np.random.default_rng(number)
    n_workers = min(WORKERS, max(items // 4, 2 * AT_ONCE))
    worker = (n_workers * draw.random(_DRAWN) ** 2).astype("int64")
    pace = np.where(worker % 40 == 7, 4.0, 40.0) * draw.lognormal(0, 0.4, _DRAWN)
    taken = np.round(pace * AT_ONCE * draw.lognormal(0.2, 0.6, _DRAWN))
    assignment = np.repeat(np.arange(_DRAWN), AT_ONCE)
    position = np.tile(np.arange(AT_ONCE), _DRAWN)
    item = assignment // AT_ONCE * AT_ONCE + position
    n = len(assignment)
    worker = worker[assignment]
    texts = _texts(draw, item, worker)
    shown = np.round(pace[assignment] * draw.lognormal(0, 0.5, n), 1)
    page = shown.reshape(-1, AT_ONCE).mean(axis=1).repeat(AT_ONCE)
    name = [f"A{number:06d}{assignment_number:04d}" for assignment_number in assignment.tolist()]
    accepted = _FIRST + pd.to_timedelta(draw.integers(0, 10**6, _DRAWN), unit="s")
    is_asked = draw.random(n) < np.where(worker % 40 == 3, 0.8, 0.02)
    problems = np.empty(n, dtype="object")
    problems[:] = [["questioned:prefix"] if asked else [] for asked in is_asked]
    return pd.DataFrame(
        {
            "answer_id": [f"{a}.{p}" for a, p in zip(name, position, strict=True)],
            "assignment_id": name,
            "worker_id": [f"W{worker_number:06d}" for worker_number in worker.tolist()],
            "item_id": [f"i{_DRAWN * number + item_number:08d}" for item_number in item.tolist()],
            "batch": 1 + (_DRAWN * number) * BATCHES // max(items, _DRAWN),
            "text": texts,
            "is_canned": texts == CANNED,
            "shown_seconds": shown,
            "page_seconds": page,
            "market_seconds": (taken / AT_ONCE)[assignment],
            "submitted_at": (accepted + pd.to_timedelta(taken, unit="s"))[assignment],
            "pastes": (draw.random(n) < 0.03).astype("float64"),
            "keystrokes": draw.integers(0, 150, n).astype("float64"),
            "focus_losses": np.zeros(n),
            "typing": np.full(n, ""),
            "problems": problems,
            "value.has_text": np.where(
                draw.random(n) < np.where(item % 3, 0.05, 0.95), "yes", "no"
            ),
        }
    )


def _texts(
    draw: np.random.Generator, item: npt.NDArray[np.int64], worker: npt.NDArray[np.int64]
) -> npt.NDArray[np.object_]:
    """Captions: most words are among the few that often follow the one before."""
    words = np.array(top_n_list("en", _WORDS, wordlist="small"), dtype="object")
    often = 1 / np.arange(1, len(words) + 1)
    shares = np.cumsum(often) / often.sum()
    of_item = 0.4 + 0.6 * draw.random((_DRAWN, _OWN))
    lengths = draw.integers(6, 2 * _LENGTH - 5, len(item))
    codes = np.empty((len(item), lengths.max()), dtype=np.int64)
    before = np.full(len(item), len(words))
    for place in range(codes.shape[1]):
        # The rank of the follower: half have the first, a sixth the second.
        rank = np.minimum(1 / (1 - draw.random(len(item))), len(words))
        why, own = draw.random(len(item)), draw.integers(0, _OWN, len(item))
        at = np.where(why < _FOLLOWS, _spread(before, rank), draw.random(len(item)))
        at = np.where(why > 1 - _OF_ITEM, of_item[item, own], at)
        before = np.minimum(np.searchsorted(shares, at), len(words) - 1)
        codes[:, place] = before
    is_in_text = np.arange(codes.shape[1]) < lengths[:, None]
    line = words[codes[is_in_text]].tolist()
    for place in np.flatnonzero(draw.random(len(line)) < 0.005).tolist():
        line[place] = _mistyped(draw, line[place])
    ends = np.cumsum(lengths)
    starts = (ends - lengths).tolist()
    texts = np.array(
        [" ".join(line[a:b]) for a, b in zip(starts, ends.tolist(), strict=True)], dtype="object"
    )
    repeats = (worker % 40 == 7) & (draw.random(len(item)) < 0.6)
    texts[repeats] = [
        f"a nice view of the {words[100 + worker_number % 900]}"
        for worker_number in worker[repeats]
    ]
    texts[(worker % 40 == 11) & (draw.random(len(item)) < 0.7)] = CANNED
    return texts


def _spread(
    before: npt.NDArray[np.int64], rank: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Between 0 and 1, always the same for a word and the rank of its follower."""
    mixed = (before * 1_000_003 + rank.astype("int64") + 1).astype("uint64")
    for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9):  # as SplitMix64 does
        mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    spread: npt.NDArray[np.float64] = (mixed >> np.uint64(11)) / 2.0**53
    return spread


def _mistyped(draw: np.random.Generator, word: str) -> str:
    """Two neighbouring letters swapped."""
    if len(word) < 4:
        return word
    at = int(draw.integers(0, len(word) - 1))
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 10)
