"""What the heuristics cost on a table as large as VizWiz-Captions.

Five answers about each of 39,181 items by 1,600 workers, one in forty of whom rushes,
repeats himself or clicks the canned text away. Texts are real captions where
`../shared/data` lies beside the project, repeated; otherwise they are drawn. Seconds
are processor time. Run: `make bench`, or `python -m tests.bench.heuristics 5000`.
"""

import csv
import random
import resource
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.domain.field import Field, Option
from piecework.domain.tables import COLLECTED, build, is_canned, task_columns
from piecework.domain.task import Task
from piecework.qc import joined
from piecework.qc.batches import BatchScores
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import HEURISTICS, OFF_BY_DEFAULT, assess
from piecework.qc.text_fit import with_text_fit
from tests.bench.targets import Figure

ITEMS = 39_181
WORKERS = 1_600
AT_ONCE = 5
"""Items in a HIT, and assignments of each."""

BATCHES = 5
FEW = 50
CANNED = "Quality issues are too severe to recognize visual content."
_SOURCE = Path(__file__).resolve().parents[2] / "../shared/data/vizwiz_val_captions_half.csv"
_PROBLEMS = ((), ("too_short",), ("questioned:prefix",), ("too_short", "questioned:prefix"))
_FLAWS = (("none",), ("blur",), ("blur", "framing"), ("dark", "obscured"))
_FIRST = datetime(2026, 3, 1, tzinfo=UTC)

TASK = Task(
    name="caption",
    version=1,
    title="",
    description="",
    keywords=(),
    columns=("image_id", "url"),
    items_per_hit=AT_ONCE,
    reward_cents=50,
    assignment_duration_seconds=1800,
    fields=(
        Field(name="caption", kind="text", label=""),
        Field(
            name="has_text",
            kind="choice",
            label="",
            options=(Option(value="yes"), Option(value="no")),
        ),
        Field(name="flaws", kind="choices", label=""),
    ),
    rules=(),
    main_text="caption",
    canned_text=CANNED,
    text_present_field="has_text",
)


def main(n_items: int) -> dict[str, Figure]:
    """Print what each heuristic costs and how many subjects it flags; return the figures."""
    table = captions(n_items)
    print(f"| {len(table):,} answers | CPU seconds | flagged |\n|---|---:|---:|")
    started = time.process_time()
    rated = with_ratings(table, TASK, ())
    print(f"| with_ratings | {time.process_time() - started:.2f} | |")
    started = time.process_time()
    rated = with_text_fit(rated)
    total = time.process_time() - started
    print(f"| with_text_fit | {total:.2f} | |")
    for heuristic in HEURISTICS:
        if heuristic.NAME in OFF_BY_DEFAULT:
            continue
        started = time.process_time()
        scored = heuristic.score(rated, heuristic.Params())
        seconds = time.process_time() - started
        total += seconds
        print(f"| {heuristic.NAME} | {seconds:.2f} | {scored['flag'].sum():,} |")
    started = time.process_time()
    n_findings = len(list(joined.findings(rated, {})))
    seconds = time.process_time() - started
    total += seconds
    print(f"| joined suspicion | {seconds:.2f} | {n_findings:,} |")
    print(f"| all heuristics | {total:.2f} | |")
    started = time.process_time()
    findings = assess(rated.iloc[:FEW], {}, seed=1)
    seconds = time.process_time() - started
    print(f"| all heuristics, of {FEW} answers alone | {seconds:.3f} | {len(findings)} |")
    last_against_first = _later_batches(with_ratings(table, TASK, ()))
    return {
        "heuristics, s": Figure(total),
        "heuristics, MiB": Figure(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "judging, batch five times batch one": Figure(last_against_first),
    }


def _later_batches(rated: pd.DataFrame) -> float:
    """Print the seconds of each batch when it comes; return the last divided by the first."""
    scores, seconds = BatchScores(), []
    for batch in range(1, BATCHES + 1):
        so_far = rated[rated["batch"] <= batch]
        started = time.process_time()
        assess(so_far, {}, seed=1, batches=scores, about=batch)
        seconds.append(time.process_time() - started)
    print(f"| batches one to five | {', '.join(f'{each:.2f}' for each in seconds)} | |")
    return seconds[-1] / seconds[0]


def captions(n_items: int, *, seed: int = 1) -> pd.DataFrame:
    """The table of answers of a caption campaign, in the order of their ids."""
    draw = np.random.default_rng(seed)
    assignments = _assignments(n_items, draw)
    rows = assignments.loc[assignments.index.repeat(AT_ONCE)].reset_index(drop=True)
    rows["position"] = np.tile(np.arange(1, AT_ONCE + 1), len(assignments))
    rows["item"] = rows["hit"] * AT_ONCE + rows["position"] - 1
    rows = rows[rows["item"] < n_items].reset_index(drop=True)
    texts = _texts(rows, draw)
    shown = np.where(
        draw.random(len(rows)) < 0.02,
        np.nan,
        np.round(rows["pace"] * draw.lognormal(0, 0.5, len(rows)), 3),
    )
    page = pd.Series(shown).groupby(rows["assignment"]).transform("sum", min_count=1)
    n_in_hit = rows.groupby("assignment")["item"].transform("size")
    accepted = pd.Timestamp(_FIRST) + pd.to_timedelta(rows["accepted"], unit="s")
    taken = np.round(rows["taken"])
    cells = {
        "assignment_id": _ids("A", rows["assignment"]),
        "hit_id": _ids("H", rows["hit"]),
        "worker_id": _ids("W", rows["worker"]),
        "item_id": _ids("i", rows["item"]),
        "batch": 1 + rows["hit"] * BATCHES // (rows["hit"].max() + 1),
        "round": np.zeros(len(rows), dtype="int64"),
        "position": rows["position"],
        "place": rows["position"],
        "n_items": n_in_hit,
        "text": texts,
        "is_canned": [is_canned(text, CANNED) for text in texts],
        "shown_seconds": shown,
        "page_seconds": page / n_in_hit,
        "market_seconds": taken / n_in_hit,
        "accepted_at": accepted,
        "submitted_at": accepted + pd.to_timedelta(taken, unit="s"),
        "pastes": (draw.random(len(rows)) < 0.03).astype("float64"),
        "keystrokes": draw.integers(0, 150, len(rows)).astype("float64"),
        "focus_losses": np.zeros(len(rows)),
        "played_part": np.full(len(rows), np.nan),
        "typing": np.full(len(rows), ""),
        "problems": _problems(rows, draw),
        "also_sent": np.full(len(rows), ""),
        "value.caption": texts,
        "value.has_text": np.where(
            draw.random(len(rows)) < np.where(rows["item"] % 3, 0.95, 0.05), "yes", "no"
        ),
        "value.flaws": _tuples(_FLAWS, draw.integers(0, len(_FLAWS), len(rows))),
    }
    answer_ids = cells["assignment_id"] + "." + rows["position"].astype("str")
    return build(
        answer_ids.tolist(),
        {name: np.asarray(column) for name, column in cells.items()},
        {**COLLECTED, **task_columns(TASK)},
    ).sort_index()


def _assignments(n_items: int, draw: np.random.Generator) -> pd.DataFrame:
    """One row an assignment: `hit`, `worker`, its time and whether the worker is bad.

    Now and then a worker meets a HIT again, as he may after a replacement.
    """
    n_hits = -(-n_items // AT_ONCE)
    n_workers = min(WORKERS, max(n_items // 4, 2 * AT_ONCE))
    busy = draw.pareto(1.2, n_workers) + 0.05  # a few workers do most of the work
    hits = np.repeat(np.arange(n_hits), AT_ONCE)
    workers = draw.choice(n_workers, len(hits), p=busy / busy.sum())
    is_bad = workers % 40 == 7
    pace = np.where(is_bad, 4.0, 40.0) * draw.lognormal(0, 0.4, len(hits))
    taken = pace * AT_ONCE * draw.lognormal(0.2, 0.6, len(hits))
    return pd.DataFrame(
        {
            "assignment": np.arange(len(hits)),
            "hit": hits,
            "worker": workers,
            "is_bad": is_bad,
            "pace": pace,
            "taken": np.where(draw.random(len(hits)) < 0.0005, -60.0, taken),
            "accepted": draw.integers(0, 14 * 24 * 3600, len(hits)),
        }
    )


def _texts(rows: pd.DataFrame, draw: np.random.Generator) -> npt.NDArray[np.object_]:
    """A caption a row; bad workers repeat a few sentences or take the canned text."""
    captions = np.array(_sentences(), dtype="object")
    texts = captions[np.arange(len(rows)) % len(captions)]
    repeats = rows["is_bad"].to_numpy() & (draw.random(len(rows)) < 0.6)
    texts[repeats] = captions[rows["worker"].to_numpy()[repeats] % len(captions)]
    shouts = draw.random(len(rows)) < 0.002
    texts[shouts] = [text.upper() for text in texts[shouts]]
    is_lazy = (rows["worker"].to_numpy() % 40 == 11) & (draw.random(len(rows)) < 0.7)
    texts[is_lazy] = CANNED
    return texts


def _sentences() -> list[str]:
    """Captions that people wrote, or as many that are drawn from a few words."""
    if _SOURCE.is_file():
        with _SOURCE.open(encoding="utf-8", newline="") as lines:
            return [line["caption"] for line in csv.DictReader(lines)]
    words = ("a", "the", "red", "blurry", "can", "of", "soup", "on", "table", "dog")
    chance = random.Random(1)  # noqa: S311 - texts, no secrets
    return [" ".join(chance.choices(words, k=10)) for _ in range(20_000)]


def _problems(rows: pd.DataFrame, draw: np.random.Generator) -> npt.NDArray[np.object_]:
    asked = np.where(rows["worker"] % 40 == 3, 0.8, 0.04)
    broken = draw.random(len(rows)) < asked
    return _tuples(_PROBLEMS, np.where(broken, draw.integers(1, 4, len(rows)), 0))


def _tuples(
    cells: Sequence[tuple[str, ...]], places: npt.NDArray[np.int64]
) -> npt.NDArray[np.object_]:
    """These cells in these places; a list of tuples would become a square array."""
    return np.fromiter(cells, "object", len(cells))[places]


def _ids(prefix: str, numbers: "pd.Series[int]") -> "pd.Series[str]":
    return prefix + numbers.astype("str").str.zfill(6)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else ITEMS)
