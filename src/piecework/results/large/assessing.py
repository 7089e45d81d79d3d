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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from piecework.domain.hit import Item
from piecework.domain.ids import WorkerId
from piecework.domain.tables import COLLECTED, Column, task_columns
from piecework.domain.task import Task
from piecework.domain.verdicts import Finding
from piecework.postprocess.hidden_ids import HiddenIds
from piecework.postprocess.pseudonyms import is_pseudonym, pseudonym
from piecework.qc.ratings import only_read, with_ratings
from piecework.qc.registry import (
    BY_NAME,
    HEURISTICS,
    Settings,
    columns,
    columns_if_there,
    refuse_faults,
)
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
    MadeAnswers,
    Piece,
    Tables,
    answer_files,
    as_frame,
    columns_of,
    pieces_of,
    read_piece,
    states,
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
    write_buckets,
)
from piecework.results.large.work_folder import PartRunner, WorkFolder, finish, open_work

_ALWAYS = ("assignment_id", "worker_id", "item_id", "batch")
_FINDING = pa.schema(
    [
        ("heuristic", pa.string()),
        ("version", pa.int64()),
        ("subject_kind", pa.string()),
        ("subject_id", pa.string()),
        ("assignment_id", pa.string()),
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


def assess_in_parts(  # noqa: PLR0913 - all that decides about a finding
    paths: Sequence[Path],
    run_parts: PartRunner,
    *,
    into: Path,
    key: bytes,
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
        key: for the pseudonyms of workers.
        task: the task of the answers.
        settings: of heuristics, by name.
        seed: for the random sample.
        items: of a campaign, for gold answers, twins and texts.
        bucket_rows: about this many rows are in memory at a time.

    Raises:
        ConfigError: a file cannot be read, the folder exists, or another command works on it.
    """
    files = answer_files(paths)
    asked = _Asked(task, settings, seed, only_read(items, task))
    answers = _Answers.read_in(files, asked)
    of = {
        "files": states(files),
        "task": [task.name, task.version],
        "heuristics": {name: dict(own or {}) for name, own in settings.items()},
        "off": sorted(name for name, own in settings.items() if own is None),
        "versions": {heuristic.NAME: heuristic.VERSION for heuristic in HEURISTICS},
        "seed": seed,
        "items": [[str(item.item_id), dict(item.columns)] for item in asked.items],
        "bucket_rows": bucket_rows,
    }
    with open_work(into, of) as folder:
        job = answers.job(folder, asked, bucket_rows)
        return _assess(job, asked, run_parts, into=into, key=key)


def assess_tables(
    tables: Tables[MadeAnswers],
    run_parts: PartRunner,
    *,
    into: Path,
    key: bytes,
    say: Callable[[str], None],
    bucket_rows: int = ROWS_COMPARED,
) -> AssessedParts:
    """Run every heuristic on the answers in tables of other tools.

    Args:
        tables: the tables.
        run_parts: as for `assess_in_parts`.
        into: as there.
        key: as there.
        say: gets each remark about the tables.
        bucket_rows: as there.

    Raises:
        ConfigError: a table cannot be read, the folder exists, or another command works on it.
    """
    with open_work(into, {**tables.inputs, "bucket_rows": bucket_rows}) as folder:
        path, made = tables.make_answers(folder)
        for remark in made.remarks:
            say(remark)
        origin = made.origin
        known = only_read(origin.items, origin.task)
        asked = _Asked(origin.task, origin.settings, origin.seed, known)
        job = _Answers.read_in(answer_files([path]), asked).job(folder, asked, bucket_rows)
        assessed = _assess(job, asked, run_parts, into=into, key=key)
        return replace(assessed, files=len(tables.paths))


class _Asked(NamedTuple):
    """How answers are judged, and the items with what `with_ratings` reads."""

    task: Task
    settings: Settings
    seed: int
    items: list[Item]


class _Answers(NamedTuple):
    """The columns and pieces of all files, as their footers say."""

    pieces: list[Piece]
    schema: pa.Schema
    columns: Mapping[str, Column]

    @classmethod
    def read_in(cls, files: Sequence[Path], asked: _Asked) -> "_Answers":
        """Find the columns that heuristics need.

        Raises:
            ConfigError: a setting does not exist, or a file lacks a column.
        """
        task, settings = asked.task, asked.settings
        refuse_faults(settings)
        offered = {**COLLECTED, **task_columns(task)}
        absent = columns_if_there(settings, task) - columns_of(files)
        names = dict.fromkeys([*_ALWAYS, *columns(settings, task)])
        wanted = {name: offered[name] for name in names if name not in absent}
        return cls(*pieces_of(files, wanted), wanted)

    def job(self, folder: WorkFolder, asked: _Asked, bucket_rows: int) -> _Job:
        """Return what processes need to judge them."""
        return _Job(
            folder=folder,
            pieces=tuple(self.pieces),
            schema=self.schema,
            columns=self.columns,
            buckets=bucket_count(sum(piece.rows for piece in self.pieces), bucket_rows),
            task=asked.task,
            settings=asked.settings,
            seed=asked.seed,
        )


def _assess(
    job: _Job, asked: _Asked, run_parts: PartRunner, *, into: Path, key: bytes
) -> AssessedParts:
    folder, buckets = job.folder, range(job.buckets)
    folder.keep("known", lambda: asked.items)
    folder.keep("key", lambda: key)
    pieces_of_files = range(len(job.pieces))
    run_parts("items", partial(_items, job), pieces_of_files)
    folder.keep("places", partial(_places, job))
    folder.keep("workers", partial(_workers, job))
    run_parts("split", partial(_split, job), pieces_of_files)
    run_parts("words", partial(_words, job), buckets)
    folder.keep("uses", lambda: Uses.merged(_all(job, "uses")))
    run_parts("chances", partial(_chances, job), buckets)
    folder.keep("excesses", lambda: Excesses.merged(_all(job, "excesses")))
    run_parts("texts", partial(_texts, job), buckets)
    run_parts("counts", partial(_counts, job), buckets)
    folder.keep("usual", lambda: usual_of(_all(job, "tallies"), job.settings))
    folder.keep("gathered", partial(_score_gathered, job))
    run_parts("judging", partial(_judge, job), buckets)
    return _finished(job, into)


def _items(job: _Job, number: int) -> None:
    """Count the items of a piece, and note its workers."""

    def count() -> tuple[Tally, set[str]]:
        fields = [job.schema.field(name) for name in ("item_id", "batch", "worker_id")]
        tallies, workers = [], set[str]()
        for rows in read_piece(job.pieces[number], pa.schema(fields)):
            tallies.append(item_tally(rows))
            workers.update(pc.unique(rows["worker_id"]).to_pylist())
        return merged(tallies), workers

    job.folder.keep(f"items-{number}", count)


def _places(job: _Job) -> BatchByBatch:
    kept = (job.folder.kept(f"items-{number}")[0] for number in range(len(job.pieces)))
    return BatchByBatch.of(kept, job.buckets)


@dataclass(frozen=True, slots=True)
class _Workers:
    """How findings name workers: with keyed hashes, also in their evidence.

    Attributes:
        are_hashed: the files have pseudonyms already.
    """

    ids: HiddenIds
    key: bytes
    are_hashed: bool

    def name(self, worker_id: str) -> str:
        if self.are_hashed or not worker_id:
            return worker_id
        return pseudonym(WorkerId(worker_id), self.key)


def _workers(job: _Job) -> _Workers:
    kept = (job.folder.kept(f"items-{number}")[1] for number in range(len(job.pieces)))
    ids, key = set[str]().union(*kept), job.folder.kept("key")
    are_hashed = all(piece.names["worker_id"] == "worker" for piece in job.pieces)
    are_hashed &= all(map(is_pseudonym, ids - {""}))
    return _Workers(HiddenIds([] if are_hashed else ids, key), key, are_hashed)


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
        _write_findings(job, f"items-{bucket:05d}.parquet", findings, part)
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
    folder, part = job.folder, _of_workers(job, bucket)
    gathered: Mapping[str, pd.DataFrame] = folder.shared("gathered")
    findings = judge_workers(
        part, job.settings, seed=job.seed, usual=folder.shared("usual"), gathered=gathered
    )
    subjects: Mapping[str, Collection[str]] = {
        "answer": part.index,
        "assignment": set(part["assignment_id"]),
        # Answers without a worker are in all buckets, and judged once.
        "worker": set(part["worker_id"]) - {""} | ({""} if bucket == 0 else set()),
    }
    own = {
        name: rows[rows.index.isin(subjects[BY_NAME[name].SUBJECT])]
        for name, rows in gathered.items()
    }
    several = chain(findings, judge_gathered(own))
    _write_findings(job, f"workers-{bucket:05d}.parquet", several, part)


def _of_workers(job: _Job, bucket: int) -> pd.DataFrame:
    """Read a bucket of workers, with compared texts and ratings."""
    paths = [job.folder.at(f"texts-{n}") for n in range(job.buckets)]
    number = dict.fromkeys(_FIT.values(), Column("float64", ""))
    table = read_bucket(paths, bucket, job.buckets)
    return _rated(job, as_frame(table, {**job.columns, **number}))


def _rated(job: _Job, part: pd.DataFrame) -> pd.DataFrame:
    return with_ratings(part, job.task, job.folder.shared("known"))


def _write_findings(job: _Job, name: str, findings: Iterable[Finding], part: pd.DataFrame) -> None:
    """Write findings about a part; a worker has a pseudonym, and their first assignment."""

    def write(path: Path) -> None:
        workers: _Workers = job.folder.shared("workers")
        first = _firsts(part)
        rows = []
        for finding in findings:
            subject_id = finding.subject_id
            assignment_id, worker_id = first[finding.subject_kind].get(subject_id, ("", ""))
            if finding.subject_kind == "worker":
                subject_id = workers.name(subject_id)
            evidence = workers.ids.of_worker(finding.evidence, worker_id)
            shown = {"subject_id": subject_id, "assignment_id": assignment_id}
            rows.append({**asdict(finding), **shown, "evidence": evidence})
        table = pa.Table.from_pylist(rows, schema=_FINDING)
        pq.write_table(table, path, compression="zstd")

    job.folder.once(job.folder.out(name), write)


def _firsts(part: pd.DataFrame) -> Mapping[str, Mapping[str, tuple[str, str]]]:
    """Return the first assignment and the worker of each subject, by kind and id."""
    names = {"answer": part.index.tolist()}
    names |= {kind: part[f"{kind}_id"].tolist() for kind in ("assignment", "worker")}
    pairs = [*zip(names["assignment"], names["worker"], strict=True)]
    # Of equal keys, the last pair stays in a dict.
    return {
        kind: dict(zip(reversed(ids), reversed(pairs), strict=True)) for kind, ids in names.items()
    }


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
