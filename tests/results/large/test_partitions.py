"""Answers in files, judged in parts: the same findings, and nothing half done."""

import json
import logging
import os
import pickle
import signal
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.errors import ConfigError
from piecework.domain.tables import COLLECTED, task_columns
from piecework.hit_templates.tasks import load_task
from piecework.postprocess.apply import Text, clean_and_propose, replay
from piecework.postprocess.datasets.file_table import edits_json
from piecework.postprocess.pseudonyms import pseudonyms
from piecework.qc.registry import assess
from piecework.results.large.answer_files import as_frame
from piecework.results.large.assessing import AssessedParts, assess_in_parts
from piecework.results.large.cleaning import clean_files
from piecework.results.large.work_folder import (
    FORM,
    LOCAL,
    Do,
    PartRunner,
    dask_client,
    here,
    on_dask,
)
from tests.bench.many_captions import captions, write
from tests.conftest import in_full

TASK = load_task("caption")
ITEMS = 300
BUCKET_ROWS = 500
"""So that a small campaign has three buckets."""

KEY = ["heuristic", "subject_kind", "subject_id"]

SECRET = b"the key of the pseudonyms"


@pytest.fixture(scope="module")
def answers() -> pa.Table:
    """1,500 captions of 300 items."""
    rows = captions(0, ITEMS, ITEMS)
    table = pa.Table.from_pandas(rows, preserve_index=False)
    place = table.schema.get_field_index("problems")
    return table.set_column(place, "problems", table["problems"].cast(pa.list_(pa.string())))


def cut(table: pa.Table, folder: Path, n: int) -> Path:
    """The rows in n files, dealt in turn."""
    folder.mkdir()
    for number in range(n):
        rows = pa.array(range(number, len(table), n))
        pq.write_table(table.take(rows), folder / f"part-{number:03d}.parquet")
    return folder


def silent(_step: str, _done: int, _of: int) -> None:
    """Nobody watches."""


def judged(source: Path, into: Path, run_parts: PartRunner | None = None) -> AssessedParts:
    """What is found in the files of a folder."""
    return assess_in_parts(
        [source],
        run_parts or here(silent),
        into=into,
        key=SECRET,
        task=TASK,
        settings={},
        seed=3,
        bucket_rows=BUCKET_ROWS,
    )


def findings_in(folder: Path) -> pd.DataFrame:
    """The findings in a folder, in an order of their own."""
    tables = [pq.read_table(path).to_pandas() for path in folder.glob("*.parquet")]
    rows: pd.DataFrame = pd.concat(tables)
    return rows.sort_values(KEY).reset_index(drop=True)


@pytest.fixture(scope="module")
def whole(answers: pa.Table) -> pd.DataFrame:
    """What pandas finds in the table as a whole."""
    offered = {**COLLECTED, **task_columns(TASK)}
    columns = {name: column for name, column in offered.items() if name in answers.schema.names}
    place = answers.schema.get_field_index("problems")
    large = answers["problems"].cast(pa.large_list(pa.large_string()))
    table = as_frame(answers.set_column(place, "problems", large), columns)
    findings = [
        {name: getattr(finding, name) for name in (*KEY, "version", "suspicion", "flag")}
        | {"evidence": finding.evidence}
        for finding in assess(table, {}, seed=3)
    ]
    rows = pd.DataFrame(findings)
    is_worker = rows["subject_kind"] == "worker"
    rows.loc[is_worker, "subject_id"] = pseudonyms(rows["subject_id"][is_worker], SECRET)
    return rows.sort_values(KEY).reset_index(drop=True)


@pytest.mark.parametrize("n", [7, *in_full(1, 100)])
def test_parts_are_judged_as_the_whole(
    answers: pa.Table, whole: pd.DataFrame, tmp_path: Path, n: int
) -> None:
    """However the rows are cut, each finding is that of pandas, to the bit."""
    judged(cut(answers, tmp_path / "answers", n), tmp_path / "findings")
    mine = findings_in(tmp_path / "findings")[whole.columns]
    pd.testing.assert_frame_equal(mine, whole, check_exact=True, check_dtype=False)
    assert whole["heuristic"].nunique() > 10


@dataclass(frozen=True)
class DiesOnce:
    """Does a part, in a process that is killed the first time."""

    do: Do
    part: int
    marker: Path

    def __call__(self, part: int) -> None:
        """Do it, or die."""
        if part == self.part and not self.marker.exists():
            self.marker.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        self.do(part)


@pytest.mark.full
def test_a_local_cluster_logs_nothing_beside_the_output(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Its heartbeats may fail while it closes, after work that was done well."""
    with dask_client(LOCAL, processes=1) as client:
        client.run(lambda: logging.getLogger("distributed.worker").error("no heartbeat"))
    assert "heartbeat" not in capfd.readouterr().err


@pytest.mark.full
def test_a_dask_worker_that_is_killed_costs_its_part_again(
    answers: pa.Table, whole: pd.DataFrame, tmp_path: Path
) -> None:
    """Two processes, one of which dies in the middle: the same findings."""
    marker = tmp_path / "died"
    with on_dask(LOCAL, silent) as run_parts:

        def deadly(step: str, do: Do, parts: Sequence[int]) -> None:
            run_parts(step, DiesOnce(do, 1, marker) if step == "texts" else do, parts)

        judged(cut(answers, tmp_path / "answers", 4), tmp_path / "findings", deadly)
    assert int(marker.read_text()) != os.getpid()
    mine = findings_in(tmp_path / "findings")[whole.columns]
    pd.testing.assert_frame_equal(mine, whole, check_exact=True, check_dtype=False)


@pytest.mark.full
def test_a_run_that_was_cut_off_goes_on(answers: pa.Table, tmp_path: Path) -> None:
    """Nothing passes for finished before the end, and what is whole is not redone."""
    source = cut(answers, tmp_path / "answers", 3)
    into, work = tmp_path / "findings", tmp_path / "findings.unfinished"
    done: list[str] = []

    def stops_at(stop: str) -> PartRunner:
        def run_parts(step: str, do: Do, parts: Sequence[int]) -> None:
            done.append(step)
            if step == stop:
                raise KeyboardInterrupt
            for part in parts:
                do(part)

        return run_parts

    with pytest.raises(KeyboardInterrupt):
        judged(source, into, stops_at("judging"))
    assert not into.exists()
    before = {path: path.stat().st_mtime_ns for path in work.rglob("*-0")}
    assert {path.name for path in before} >= {"split-0", "worded-0", "tallies-0"}
    with pytest.raises(KeyboardInterrupt):
        judged(source, into, stops_at("judging"))
    assert before == {path: path.stat().st_mtime_ns for path in work.rglob("*-0")}
    resumed = judged(source, into)
    assert not work.exists()
    document = json.loads((into / "_SUCCESS").read_text())
    assert document["answers"] == resumed.answers == len(answers)
    names = {path.name for path in into.glob("*.parquet")}
    assert set(document["findings"]) == names
    judged(source, tmp_path / "again")
    pd.testing.assert_frame_equal(findings_in(into), findings_in(tmp_path / "again"))


def clean_again(source: Path, into: Path) -> None:
    """Clean all texts of a folder in this process."""
    clean_files([source], here(silent), into=into)


def test_a_folder_that_no_run_began_is_left_alone(answers: pa.Table, tmp_path: Path) -> None:
    """Also one with a file of the name that a run's inputs have; an empty one may be used."""
    source, into = cut(answers.slice(0, 20), tmp_path / "answers", 1), tmp_path / "mine"
    own = tmp_path / "mine.unfinished"
    own.mkdir()
    for name, text in (("thesis.txt", "all of it"), ("of.json", "[1]")):
        (own / name).write_text(text)
        with pytest.raises(ConfigError, match=rf"{own}: no interrupted run left it"):
            clean_again(source, into)
        assert (own / name).read_text() == text
    for path in own.iterdir():
        path.unlink()
    clean_again(source, into)
    assert into.is_dir()
    assert not own.exists()


@pytest.mark.parametrize("is_same", [True, False])
def test_two_commands_never_work_in_one_folder(
    answers: pa.Table, tmp_path: Path, *, is_same: bool
) -> None:
    """The second is refused, with these files or with others, and the first goes on."""
    into, source = tmp_path / "clean", cut(answers.slice(0, 40), tmp_path / "answers", 2)
    other = source if is_same else cut(answers.slice(40, 20), tmp_path / "others", 1)
    steps: list[str] = []

    def run(step: str, do: Do, parts: Sequence[int]) -> None:
        steps.append(step)
        with pytest.raises(ConfigError, match=r"clean\.unfinished: another command works in it"):
            clean_again(other, into)
        for part in parts:
            do(part)

    cleaned = clean_files([source], run, into=into)
    assert cleaned.answers == 40
    assert {"split", "writing"} < {*steps}
    with pytest.raises(ConfigError, match="already exists"):
        clean_again(other, into)


def leave_stale_work(source: Path, into: Path) -> None:
    """Stop before anything is done, with a part that could not be gone on with."""

    def stop(step: str, _do: Do, _parts: Sequence[int]) -> None:
        raise KeyboardInterrupt(step)

    with pytest.raises(KeyboardInterrupt):
        judged(source, into, stop)
    into.with_name(f"{into.name}.unfinished").joinpath("split-0").write_bytes(b"stale")


def test_work_on_other_files_is_not_gone_on_with(answers: pa.Table, tmp_path: Path) -> None:
    """A run that was cut off is started over where a file has changed since."""
    source = cut(answers, tmp_path / "answers", 2)
    leave_stale_work(source, tmp_path / "findings")
    path = source / "part-000.parquet"
    pq.write_table(pq.read_table(path).slice(0, 100), path)
    fewer = len(answers) // 2 + 100
    assert judged(source, tmp_path / "findings").answers == fewer


@pytest.mark.full
def test_work_of_an_earlier_version_is_not_gone_on_with(
    answers: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its parts may be kept in another way."""
    source = cut(answers, tmp_path / "answers", 2)
    leave_stale_work(source, tmp_path / "findings")
    monkeypatch.setattr("piecework.results.large.work_folder.FORM", FORM + 1)
    assert judged(source, tmp_path / "findings").answers == len(answers)


@pytest.mark.full
def test_nothing_that_was_read_of_other_files_is_remembered(
    answers: pa.Table, tmp_path: Path
) -> None:
    """A process may do parts of both runs, as a worker of a cluster does."""
    source = cut(answers, tmp_path / "answers", 2)

    def stops(step: str, do: Do, parts: Sequence[int]) -> None:
        if step == "texts":
            raise KeyboardInterrupt
        for part in parts:
            do(part)

    with pytest.raises(KeyboardInterrupt):
        judged(source, tmp_path / "findings", stops)
    path = source / "part-000.parquet"
    pq.write_table(pq.read_table(path).slice(0, 100), path)
    judged(source, tmp_path / "findings")
    judged(source, tmp_path / "elsewhere")
    pd.testing.assert_frame_equal(
        findings_in(tmp_path / "findings"), findings_in(tmp_path / "elsewhere")
    )


def without_text(table: pa.Table) -> pa.Table:
    """Without a column."""
    return table.drop_columns(["text"])


def with_named_batches(table: pa.Table) -> pa.Table:
    """With another schema."""
    place = table.schema.get_field_index("batch")
    return table.set_column(place, "batch", table["batch"].cast(pa.string()))


def with_times_of_nowhere(table: pa.Table) -> pa.Table:
    """With times without a zone."""
    place = table.schema.get_field_index("submitted_at")
    cells = table["submitted_at"].cast(pa.timestamp("us"))
    return table.set_column(place, "submitted_at", cells)


def with_an_empty_item(table: pa.Table) -> pa.Table:
    """With an answer about nothing."""
    place = table.schema.get_field_index("item_id")
    cells = pa.array([None, *table["item_id"].to_pylist()[1:]])
    return table.set_column(place, "item_id", cells)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (without_text, "part-042.parquet: the column 'text' is missing"),
        (
            with_named_batches,
            "part-042.parquet: the column 'batch' holds string, "  # noqa: ISC004 - one
            "but must hold whole numbers",
        ),
        (
            with_times_of_nowhere,
            "part-042.parquet: the column 'submitted_at' holds timestamp[us], "  # noqa: ISC004 - one
            "but must hold times with a zone",
        ),
        (with_an_empty_item, "part-042.parquet, row group 1: 1 cells of 'item_id' are empty"),
    ],
)
def test_one_file_of_a_hundred_that_is_different_is_named(
    answers: pa.Table, tmp_path: Path, spoil: Callable[[pa.Table], pa.Table], sentence: str
) -> None:
    """The sentence names the file and the column, and nothing is written."""
    source = cut(answers, tmp_path / "answers", 100)
    path = source / "part-042.parquet"
    pq.write_table(spoil(pq.read_table(path)), path)
    with pytest.raises(ConfigError) as fault:
        judged(source, tmp_path / "findings")
    assert fault.value.faults == [f"{source}/{sentence}"]
    assert not (tmp_path / "findings").exists()


def test_a_file_that_is_cut_off_is_named(answers: pa.Table, tmp_path: Path) -> None:
    """Half a Parquet has no foot; all such are named at once."""
    source = cut(answers, tmp_path / "answers", 5)
    for number in (1, 3):
        path = source / f"part-{number:03d}.parquet"
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ConfigError) as fault:
        judged(source, tmp_path / "findings")
    first, second = fault.value.faults
    assert "part-001.parquet: not valid Parquet, or truncated" in first
    assert "part-003.parquet: not valid Parquet, or truncated" in second


def test_a_file_that_rotted_in_the_middle_is_named(answers: pa.Table, tmp_path: Path) -> None:
    """Its foot is whole, its pages are not."""
    source = cut(answers, tmp_path / "answers", 3)
    path = source / "part-001.parquet"
    whole = bytearray(path.read_bytes())
    whole[4 : len(whole) // 2] = b"\xff" * (len(whole) // 2 - 4)
    path.write_bytes(whole)
    with pytest.raises(ConfigError, match=r"part-001.parquet, row group 1: cannot be"):
        judged(source, tmp_path / "findings")
    assert not (tmp_path / "findings").exists()


def test_the_same_answer_in_two_files_is_refused(answers: pa.Table, tmp_path: Path) -> None:
    """A worker's answer would count twice."""
    source = cut(answers, tmp_path / "answers", 2)
    pq.write_table(answers.slice(0, 1), source / "again.parquet")
    twice = answers["answer_id"][0].as_py()
    with pytest.raises(ConfigError, match=f"{twice}' is in the files more than once"):
        judged(source, tmp_path / "findings")


def test_results_are_never_written_over(answers: pa.Table, tmp_path: Path) -> None:
    """A folder that is there is left alone."""
    source = cut(answers, tmp_path / "answers", 1)
    (tmp_path / "findings").mkdir()
    with pytest.raises(ConfigError, match="already exists"):
        judged(source, tmp_path / "findings")


def test_a_fault_of_another_process_says_the_same_here() -> None:
    """Faults and next step survive the way between processes."""
    fault = ConfigError(["one", "two"], next_step="mend them")
    back = pickle.loads(pickle.dumps(fault))  # noqa: S301 - our own
    assert (str(back), back.faults, back.next_step) == ("one\ntwo", ["one", "two"], "mend them")


@pytest.fixture
def piecework() -> Callable[..., Any]:
    """The command, in this process."""
    runner = CliRunner()
    return lambda *words: runner.invoke(main, [str(word) for word in words])


def test_the_command_writes_findings_of_files(
    answers: pa.Table, tmp_path: Path, piecework: Callable[..., Any]
) -> None:
    """`data assess FILES --to FOLDER` judges all files together."""
    source = cut(answers, tmp_path / "answers", 3)
    files = sorted(source.iterdir())
    into = tmp_path / "findings"
    result = piecework("data", "assess", *files, "--to", into, "--task", "caption", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["answers"] == len(answers)
    assert document["flagged"]["too_fast"] > 0
    assert (into / "_SUCCESS").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a.toml", "b.csv"], "give one CAMPAIGN and no FILES"),
        (["a.parquet", "--dask"], "--dask needs --to FOLDER"),
        (["a.parquet", "--to", "x", "--html", "y"], "do not go with --to"),
        (["a.parquet", "--to", "x"], "a.parquet: there is no such file"),
    ],
)
def test_what_cannot_be_meant_is_said(
    piecework: Callable[..., Any], words: list[str], sentence: str
) -> None:
    """A sentence, and exit code 2."""
    result = piecework("data", "assess", *words)
    assert result.exit_code == 2
    assert sentence in result.output


@pytest.mark.parametrize("n", [1, 7])
def test_parts_are_cleaned_as_the_whole(answers: pa.Table, tmp_path: Path, n: int) -> None:
    """Each edit and proposal is that of all texts cleaned together."""
    rows = answers.to_pandas()
    some = answers.slice(0, 500)
    texts = [
        Text(text_id=row.answer_id, item_id=row.item_id, text=row.text)
        for row in rows.head(500).itertuples()
        if not row.is_canned
    ]
    whole = clean_and_propose(texts)
    cleaned = clean_files(
        [cut(some, tmp_path / "answers", n)], here(silent), into=tmp_path / "clean", bucket_rows=200
    )
    tables = [pq.read_table(path) for path in (tmp_path / "clean").glob("*.parquet")]
    mine = pa.concat_tables(tables).to_pandas().set_index("answer_id")
    assert len(mine) == cleaned.answers == 500
    assert cleaned.edits == sum(map(len, whole.edits.values())) > 0
    for text in texts:
        row = mine.loc[text.text_id]
        assert row["edits"] == edits_json(whole.edits[text.text_id])
        assert row["edit_proposals"] == edits_json(whole.proposals[text.text_id])
        assert row["clean_text"] == replay(text.text, whole.edits[text.text_id])


def test_cleaning_that_is_cut_off_in_every_step_goes_on(answers: pa.Table, tmp_path: Path) -> None:
    """After the first part of each; in the end the texts are the same."""
    source = cut(answers.slice(0, 400), tmp_path / "answers", 2)
    cut_off: list[str] = []

    def run(step: str, do: Do, parts: Sequence[int]) -> None:
        first, *others = parts
        do(first)
        if step not in cut_off:
            cut_off.append(step)
            raise KeyboardInterrupt
        for part in others:
            do(part)

    whole = clean_files([source], here(silent), into=tmp_path / "a", bucket_rows=150)
    mine = None
    while mine is None:
        assert not (tmp_path / "b").exists()
        with suppress(KeyboardInterrupt):
            mine = clean_files([source], run, into=tmp_path / "b", bucket_rows=150)
    assert cut_off == ["split", "reading", "counting", "judging", "writing"]
    assert replace(mine, folder=whole.folder) == whole
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_the_command_cleans_files(
    answers: pa.Table, tmp_path: Path, piecework: Callable[..., Any]
) -> None:
    """`data clean FILES --to FOLDER` says how many edits there are, and where."""
    source = cut(answers.slice(0, 200), tmp_path / "answers", 2)
    result = piecework("data", "clean", source, "--to", tmp_path / "clean")
    assert result.exit_code == 0, result.output
    assert "of 200 answers" in result.output
    assert json.loads((tmp_path / "clean" / "_SUCCESS").read_text())["answers"] == 200


@pytest.mark.full(weeks=3)
def test_a_million_rows_are_judged_the_same_however_they_are_cut(tmp_path: Path) -> None:
    """1, 7 and 100 files: the same findings, to the bit."""
    before = None
    for n in (1, 7, 100):
        write(tmp_path / f"{n}", 1_000_000, n)
        into = tmp_path / f"findings-{n}"
        assess_in_parts(
            [tmp_path / f"{n}"], here(silent), into=into, key=SECRET, task=TASK, settings={}
        )
        mine = findings_in(into)
        before = mine if before is None else before
        pd.testing.assert_frame_equal(mine, before, check_exact=True)


@pytest.mark.full
def test_a_hundred_thousand_texts_are_cleaned_the_same_however_they_are_cut(tmp_path: Path) -> None:
    """In 1, 7 and 100 files, by one process and by two: the same texts and edits."""
    before = None
    for n in (1, 7, 100):
        source, into = tmp_path / "answers", tmp_path / "clean"
        write(source, 100_000, n)
        with nullcontext(here(silent)) if n == 1 else on_dask(LOCAL, silent) as run_parts:
            clean_files([source], run_parts, into=into)
        mine = pa.concat_tables(pq.read_table(path) for path in into.glob("*.parquet"))
        mine = mine.sort_by("answer_id").combine_chunks()
        before = mine if before is None else before
        assert mine.equals(before)
        rmtree(source)
        rmtree(into)
    assert before is not None
    assert len(before) == 100_000
    assert pc.sum(pc.not_equal(before["edits"], "[]")).as_py() > 2_500
