"""`assess` for answers larger than memory: split by item, then by worker.

1. items: count the items of each batch, so that items of a batch stay together.
2. split: deal the rows of the files by item.
3. words: count the words of each bucket of items; add up.
4. chances: count how much oftener than by chance each word is shared; add up.
5. texts: compare each text; judge items; deal the rows by worker.
6. counts: count each bucket of workers for batches and the campaign; add up. If a few
   rows decide, they are gathered and scored in one place.
7. judging: judge answers, assignments and workers.

A step is a function from a job and a number to a file; existing files are not made
again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from piecework.domain.hit import Item
from piecework.domain.tables import COLLECTED, Column, task_columns
from piecework.domain.task import Task
from piecework.domain.verdicts import Finding
from piecework.qc.ratings import only_read, with_ratings
from piecework.qc.registry import HEURISTICS, Settings, columns, columns_if_there, refuse_faults
from piecework.qc.scores import Tally, merged
from piecework.qc.text_fit import FIT, NAMES, Excesses, Uses, Worded
from piecework.qc.two_phases import (
    judge_gathered,
    judge_items,
    judge_workers,
    score_gathered,
    tallies,
    to_gather,
    usual_of,
)
from piecework.results.large.answer_files import (
    answer_files,
    as_frame,
    columns_of,
    pieces_of,
    read_piece,
)
from piecework.results.large.cleaning import (
    ROWS_COMPARED,
    BatchByBatch,
    Source,
    bucket_count,
    by_worker,
    deal,
    item_tally,
    read_bucket,
    states,
    write_buckets,
)
from piecework.results.large.work_folder import PartRunner, finish, open_work

_ALWAYS = ("assignment_id", "worker_id", "item_id", "batch")
_FINDING = pa.schema(
    [
        ("heuristic", pa.string()),
        ("version", pa.int64()),
        ("subject_kind", pa.string()),
        ("subject_id", pa.string()),
        ("suspicion", pa.float64()),
        ("flag", pa.bool_()),
        ("evidence", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedParts:
    """What was found in files, counted; the findings are in the folder.

    Attributes:
        flagged: subjects by heuristic.
    """

    folder: Path
    files: int
    answers: int
    findings: int
    flagged: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job(Source):
    task: Task
    settings: Settings
    seed: int


def assess_in_parts(
    paths: Sequence[Path],
    run_parts: PartRunner,
    *,
    into: Path,
    task: Task,
    settings: Settings,
    seed: int = 0,
    items: Iterable[Item] = (),
    bucket_rows: int = ROWS_COMPARED,
) -> AssessedParts:
    """Run every heuristic on the answers of all files together.

    Args:
        paths: Parquet files or folders (`piecework.results.large.answer_files`).
        run_parts: runs the parts.
        into: the folder for the findings, which must not exist yet.
        task: the task of the answers.
        settings: of heuristics, by name.
        seed: for the random sample.
        items: of a campaign, for gold answers, twins and texts.
        bucket_rows: about this many rows are in memory at a time.

    Raises:
        ConfigError: a file cannot be read, the folder exists, or another command works on it.
    """
    refuse_faults(settings)
    known = only_read(items, task)
    offered = {**COLLECTED, **task_columns(task)}
    files = answer_files(paths)
    absent = columns_if_there(settings, task) - columns_of(files)
    names = dict.fromkeys([*_ALWAYS, *columns(settings, task)])
    wanted = {name: offered[name] for name in names if name not in absent}
    pieces, schema = pieces_of(files, wanted)
    of = {
        "files": states(files),
        "task": [task.name, task.version],
        "heuristics": {name: dict(own or {}) for name, own in settings.items()},
        "off": sorted(name for name, own in settings.items() if own is None),
        "versions": {heuristic.NAME: heuristic.VERSION for heuristic in HEURISTICS},
        "seed": seed,
        "items": [[str(item.item_id), dict(item.columns)] for item in known],
        "bucket_rows": bucket_rows,
    }
    with open_work(into, of) as folder:
        job = _Job(
            folder=folder,
            pieces=tuple(pieces),
            schema=schema,
            columns=wanted,
            buckets=bucket_count(sum(piece.rows for piece in pieces), bucket_rows),
            task=task,
            settings=settings,
            seed=seed,
        )
        buckets = range(job.buckets)
        folder.keep("known", lambda: known)
        pieces_of_files = range(len(job.pieces))
        run_parts("items", partial(_items, job), pieces_of_files)
        folder.keep("places", partial(_places, job))
        run_parts("split", partial(_split, job), pieces_of_files)
        run_parts("words", partial(_words, job), buckets)
        folder.keep("uses", lambda: Uses.merged(_all(job, "uses")))
        run_parts("chances", partial(_chances, job), buckets)
        folder.keep("excesses", lambda: Excesses.merged(_all(job, "excesses")))
        run_parts("texts", partial(_texts, job), buckets)
        run_parts("counts", partial(_counts, job), buckets)
        folder.keep("usual", lambda: usual_of(_all(job, "tallies"), job.settings))
        folder.keep("gathered", partial(_score_gathered, job))
        findings = judge_gathered(folder.shared("gathered"))
        _write_findings(job, "gathered.parquet", findings)
        run_parts("judging", partial(_judge, job), buckets)
        return _finished(job, into)


def _items(job: _Job, number: int) -> None:
    def count() -> Tally:
        fields = [job.schema.field(name) for name in ("item_id", "batch")]
        rows = read_piece(job.pieces[number], pa.schema(fields))
        return merged(map(item_tally, rows))

    job.folder.keep(f"items-{number}", count)


def _places(job: _Job) -> BatchByBatch:
    kept = (job.folder.kept(f"items-{number}") for number in range(len(job.pieces)))
    return BatchByBatch.of(kept, job.buckets)


def _split(job: _Job, number: int) -> None:
    job.split(number, job.folder.shared("places").buckets)


def _words(job: _Job, bucket: int) -> None:
    def read_words() -> Worded:
        worded = Worded(as_frame(job.about_items(bucket), job.columns))
        job.folder.keep(f"uses-{bucket}", worded.uses)
        return worded

    job.folder.keep(f"worded-{bucket}", read_words)


def _chances(job: _Job, bucket: int) -> None:
    def excesses() -> Excesses:
        worded: Worded = job.folder.kept(f"worded-{bucket}")
        return worded.excesses(job.folder.shared("uses"))

    job.folder.keep(f"excesses-{bucket}", excesses)


def _texts(job: _Job, bucket: int) -> None:
    """Compare the texts of a bucket, judge its items, and deal its rows by worker."""
    folder = job.folder

    def write(path: Path) -> None:
        rows = job.about_items(bucket)
        part = as_frame(rows, job.columns)
        worded: Worded = folder.kept(f"worded-{bucket}")
        fits = worded.fits(folder.shared("uses"), folder.shared("excesses"))
        findings = judge_items(_rated(job, part), job.settings)
        _write_findings(job, f"items-{bucket:05d}.parquet", findings)
        rows = rows.sort_by("answer_id")
        for name in NAMES:
            rows = rows.append_column(_FIT[name], pa.array(fits[name].to_numpy()))
        dealt = deal(rows, by_worker(rows, job.buckets), job.buckets)
        write_buckets(path, rows.schema, dealt)

    folder.once(folder.at(f"texts-{bucket}"), write)


def _counts(job: _Job, bucket: int) -> None:
    def count() -> dict[str, pd.DataFrame]:
        part = _of_workers(job, bucket)
        gathered = to_gather(part, job.settings)
        job.folder.keep(f"gather-{bucket}", lambda: gathered)
        return tallies(part, job.settings)

    job.folder.keep(f"tallies-{bucket}", count)


def _score_gathered(job: _Job) -> dict[str, pd.DataFrame]:
    gathered: dict[str, list[pd.DataFrame]] = {}
    for part in _all(job, "gather"):
        for name, rows in part.items():
            gathered.setdefault(name, []).append(rows)
    whole = {name: pd.concat(rows) for name, rows in gathered.items()}
    return score_gathered(whole, job.settings)


def _judge(job: _Job, bucket: int) -> None:
    folder = job.folder
    findings = judge_workers(
        _of_workers(job, bucket),
        job.settings,
        seed=job.seed,
        usual=folder.shared("usual"),
        gathered=folder.shared("gathered"),
    )
    _write_findings(job, f"workers-{bucket:05d}.parquet", findings)


def _of_workers(job: _Job, bucket: int) -> pd.DataFrame:
    """Read a bucket of workers, with compared texts and ratings."""
    paths = [job.folder.at(f"texts-{n}") for n in range(job.buckets)]
    number = dict.fromkeys(_FIT.values(), Column("float64", ""))
    table = read_bucket(paths, bucket, job.buckets)
    return _rated(job, as_frame(table, {**job.columns, **number}))


def _rated(job: _Job, part: pd.DataFrame) -> pd.DataFrame:
    return with_ratings(part, job.task, job.folder.shared("known"))


def _write_findings(job: _Job, name: str, findings: Iterable[Finding]) -> None:
    def write(path: Path) -> None:
        rows = list(findings)
        cells = {
            field.name: [getattr(finding, field.name) for finding in rows] for field in _FINDING
        }
        pq.write_table(pa.table(cells, schema=_FINDING), path, compression="zstd")

    job.folder.once(job.folder.out(name), write)


def _finished(job: _Job, into: Path) -> AssessedParts:
    flagged: Counter[str] = Counter()
    rows = {}
    for path in sorted(job.folder.out("").glob("*.parquet")):
        findings = pq.read_table(path, columns=["heuristic", "flag"])
        rows[path.name] = findings.num_rows
        names = findings["heuristic"].filter(findings["flag"])
        flagged.update(
            {counted["values"]: counted["counts"] for counted in names.value_counts().to_pylist()}
        )
    answers = job.answers
    finish(job.folder, into, {"answers": answers, "findings": rows, "flagged": dict(flagged)})
    return AssessedParts(
        folder=into,
        files=len({piece.path for piece in job.pieces}),
        answers=answers,
        findings=sum(rows.values()),
        flagged=dict(sorted(flagged.items())),
    )


def _all(job: _Job, name: str) -> Iterator[Any]:
    return (job.folder.kept(f"{name}-{bucket}") for bucket in range(job.buckets))


_FIT = {name: f"{FIT}.{name}" for name in NAMES}
