"""`data clean` and `data assess` with --to FOLDER do to a table what they do in memory."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from piecework.cli.clean import origin_of
from piecework.cli.main import main
from piecework.domain.errors import ConfigError
from piecework.domain.imported import NamedColumns
from piecework.hit_templates.tasks import load_task
from piecework.importing.named_columns import FOR_CLEANING
from piecework.importing.opened_sources import write_answers_of
from piecework.importing.readers import parquet
from piecework.importing.whole_table import TextTables, read_whole
from piecework.postprocess.pseudonyms import is_pseudonym
from piecework.results.large.answer_files import Tables
from piecework.results.large.assessing import assess_in_parts, assess_tables
from piecework.results.large.cleaning import clean_tables
from piecework.results.large.work_folder import Do, PartRunner, here
from tests.bench.many_captions import captions
from tests.cli.test_any_table import done, lines, piecework, read
from tests.importing.batches import row, write
from tests.importing.test_annotation_tools import judgment
from tests.importing.test_annotation_tools import table as csv_table
from tests.importing.test_potato import kept

SILENT = here(lambda *_: None)

TEXTS = ["a dog on teh sofa", "a brown dog", "a bird in teh tree", "two dogs"]


def batch(path: Path, texts: Sequence[str] = TEXTS) -> Path:
    """Batch results of MTurk with captions."""
    rows = [
        row(number, f"W{number}", shown={"picture": f"{number % 2}.jpg"}, sent={"caption": text})
        for number, text in enumerate(texts)
    ]
    return write(path, rows)


def left_in(folder: Path) -> set[str]:
    """The names of files and folders, also hidden ones."""
    return {path.name for path in folder.iterdir()}


def test_the_columns_of_a_tools_file_are_cleaned_to_a_folder_as_to_a_file(tmp_path: Path) -> None:
    """A known tool's file is a table like any other; a column without a plain name is asked for."""
    file, folder = batch(tmp_path / "batch.csv"), tmp_path / "clean"
    refused = piecework("clean", file, "--to", folder)
    assert refused.exit_code == 2
    assert "name the column: --text COLUMN" in refused.output
    assert left_in(tmp_path) == {"batch.csv"}
    words = ("--text", "Answer.caption", "--item", "Input.picture")
    done("clean", file, "--to", tmp_path / "clean.csv", *words)
    assert "Answer.caption holds the texts" in done("clean", file, "--to", folder, *words)
    in_parts = pq.read_table(folder).sort_by("answer_id").to_pylist()
    assert [each["clean_text"] for each in in_parts] == [
        each["clean_text"] for each in read(tmp_path / "clean.csv")
    ]
    assert in_parts[0]["clean_text"] == "a dog on the sofa"
    assert {each["item_id"] for each in in_parts} == {"0.jpg", "1.jpg"}


@pytest.mark.parametrize(
    "content",
    ["image,caption\n1,5\n2,6.5\n", "image,caption\n1,\n2, \n", "image,caption\n"],
    ids=["numbers", "empty", "no rows"],
)
def test_a_column_without_texts_is_refused_for_a_folder_as_for_a_file(
    tmp_path: Path, content: str
) -> None:
    """In the same words, and nothing is left."""
    file = tmp_path / "table.csv"
    file.write_text(content, encoding="utf-8")
    faults = []
    for to in ("clean.csv", "clean"):
        refused = piecework("clean", file, "--to", tmp_path / to)
        assert refused.exit_code == 2
        (fault,) = (line for line in refused.output.splitlines() if "table.csv: " in line)
        faults.append(fault.rpartition("table.csv: ")[2])
    assert faults[0] == faults[1]
    assert left_in(tmp_path) == {"table.csv"}


def test_rows_that_name_no_item_are_about_items_of_their_own(tmp_path: Path) -> None:
    """In memory as in parts, so their words do not vouch for each other."""
    rows: list[dict[str, object]] = [
        {"image": image, "caption": "a dog"} for image in ("", " ", None, "7", "7")
    ]
    file = lines(tmp_path / "table.jsonl", rows)
    whole = read_whole(file, NamedColumns(), FOR_CLEANING).texts()["task"].tolist()
    done("clean", file, "--to", tmp_path / "clean")
    parts = pq.read_table(tmp_path / "clean").sort_by("answer_id")["item_id"].to_pylist()
    for items in (whole, parts):
        assert len(set(items)) == 4
        assert items[3:] == ["7", "7"]


def answers(path: Path, rows: pd.DataFrame, *, has_groups: bool = True) -> Path:
    """A file of answers, perhaps without any row group."""
    lists = [[*cell] for cell in rows["problems"]]
    table = pa.Table.from_pandas(rows.drop(columns="problems"), preserve_index=False)
    table = table.append_column("problems", pa.array(lists, pa.list_(pa.string())))
    with pq.ParquetWriter(path, table.schema) as writer:
        if has_groups:
            writer.write_table(table)
    return path


@pytest.mark.parametrize("has_groups", [False, True])
def test_a_file_without_answers_has_no_edits_and_no_findings(
    tmp_path: Path, *, has_groups: bool
) -> None:
    """Neither alone nor beside a file with answers; a dataset of it has no rows."""

    def counted(*words: object) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(piecework("assess", *words, "--json").stdout)
        return document

    some = captions(0, 20, 20)
    nothing = answers(tmp_path / "nothing.parquet", some.head(0), has_groups=has_groups)
    assert "0 edits in 0 of 0 answers" in done("clean", nothing, "--to", tmp_path / "clean")
    assert pq.read_table(tmp_path / "clean").num_rows == 0
    alone = counted(nothing, "--to", tmp_path / "none", "--task", "caption")
    assert (alone["answers"], alone["findings"]) == (0, 0)
    both = (nothing, answers(tmp_path / "some.parquet", some))
    assert counted(*both, "--to", tmp_path / "some", "--task", "caption")["answers"] == 100
    words = ("export", nothing, "--to", tmp_path / "dataset", "--task", "caption")
    exported = CliRunner().invoke(main, [*map(str, words)], catch_exceptions=False)
    assert "from 0 answers" in exported.output


def flags_in_memory(*words: object) -> Counter[tuple[str, str, str]]:
    """What `assess` finds in memory: heuristic, kind and suspicion of each flag."""
    findings = json.loads(done("assess", *words, "--json"))["findings"]
    return Counter(
        (each["heuristic"], each["subject_kind"], f"{each['suspicion']:.9f}") for each in findings
    )


def flags_in(folder: Path) -> pd.DataFrame:
    """The flags in a folder of findings, without the random sample."""
    rows: pd.DataFrame = pq.read_table(folder).to_pandas()
    return rows[rows["flag"] & (rows["heuristic"] != "random_sample")]


def flags_in_parts(into: Path, *words: object) -> Counter[tuple[str, str, str]]:
    """The same, found in parts."""
    done("assess", *words, "--to", into)
    return Counter(
        (each["heuristic"], each["subject_kind"], f"{each['suspicion']:.9f}")
        for each in flags_in(into).to_dict("records")
    )


def captions_csv(path: Path) -> Path:
    """Captions of which one is about the photo; two workers are named by long ids."""
    texts = ["a blurry photo of low quality", *(f"a dog and {n} cats on a sofa" for n in range(29))]
    rows = [f"{n // 3}.jpg,{WORKERS[n % 3]},{text}" for n, text in enumerate(texts)]
    path.write_text("\n".join(["image,worker,caption", *rows, ""]), encoding="utf-8")
    return path


WORKERS = ("A1QQ2WW3EE4RR5", "5f0c1e2d3b4a596877665544", "7")


def gold_csv(path: Path) -> Path:
    """A report of Figure Eight with four gold units, of which one contributor fails all."""
    rows: list[dict[str, object]] = []
    for number in range(40):
        is_gold, is_bad = number < 16, number % 4 == 2
        rows.append(
            judgment(number, a_colour="red" if is_bad else "blue")
            | {"_golden": str(is_gold).lower(), "a_colour_gold": "blue" if is_gold else ""}
            | {"b_sure": "yes" if number % 5 else "no"}
        )
    return csv_table(path, rows)


@pytest.mark.parametrize(
    ("make", "words", "heuristic"),
    [
        (captions_csv, ("--task", "caption"), "quality_words"),
        (gold_csv, (), "gold_failed"),
    ],
    ids=["task", "gold"],
)
def test_a_table_is_judged_in_parts_as_in_memory(
    tmp_path: Path, make: Callable[[Path], Path], words: Sequence[str], heuristic: str
) -> None:
    """With the heuristics of the task, and the known answers that the table has."""
    file = make(tmp_path / "table.csv")
    in_memory = flags_in_memory(file, *words)
    assert heuristic in {name for name, *_ in in_memory}
    assert flags_in_parts(tmp_path / "findings", file, *words) == in_memory


def test_answers_are_judged_by_the_heuristics_of_their_task() -> None:
    """`--task caption` switches on what the task names, as in every campaign of it."""
    task = load_task("caption")
    assert origin_of(campaign=None, task_name="caption").settings == task.heuristics != {}


def test_rows_that_cannot_be_read_are_said_in_parts_too(tmp_path: Path) -> None:
    """With the first line; also what was guessed."""
    file = tmp_path / "table.csv"
    file.write_text(
        "image;worker;caption\n1;a;a dog\n1;b;a dog;;or a cat\n2;a;a bird\n2;b;a tree\n",
        encoding="utf-8",
    )
    for words in ((), ("--to", tmp_path / "findings")):
        printed = " ".join(done("assess", file, *words).split())
        assert "1 row could not be read; the first: line 3" in printed
        assert "Semicolons separate the cells" in printed


def test_a_folder_of_a_tool_is_judged_in_parts(tmp_path: Path) -> None:
    """As it is in memory."""
    for user in ("ann", "bob"):
        (tmp_path / "out" / user).mkdir(parents=True)
        (tmp_path / "out" / user / "user_state.json").write_text(json.dumps(kept(user)))
    folder = tmp_path / "out"
    assert flags_in_parts(tmp_path / "findings", folder) == flags_in_memory(folder)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "the folder does not contain" in piecework("assess", empty, "--to", "x").output


def test_no_worker_id_is_in_a_folder_of_findings(tmp_path: Path) -> None:
    """A worker has a pseudonym, and an assignment that leads back to the table."""
    file = tmp_path / "table.csv"
    texts = {WORKERS[0]: "THE SAME SHOUTED TEXT", WORKERS[1]: f"i am {WORKERS[1]} SHOUTING LOUD"}
    rows = [(n, worker, texts.get(worker, f"a dog {n}")) for n in range(30) for worker in WORKERS]
    cells = "\n".join(f"{image},{worker},{text}" for image, worker, text in rows)
    file.write_text(f"image,worker,caption\n{cells}\n", encoding="utf-8")
    done("assess", file, "--to", tmp_path / "findings")
    findings = pq.read_table(tmp_path / "findings").to_pandas()
    written = findings.to_csv()
    assert not [worker for worker in WORKERS[:2] if worker.lower() in written.lower()]
    of_workers = findings[findings["subject_kind"] == "worker"]
    assert len(of_workers)
    assert all(map(is_pseudonym, of_workers["subject_id"]))
    lines_of = {f"line{number}": worker for number, (_, worker, _) in enumerate(rows, start=2)}
    names = {(each.subject_id, lines_of[each.assignment_id]) for each in of_workers.itertuples()}
    assert len({name for name, _ in names}) == len(names)


def test_pseudonyms_of_answers_stay_and_other_names_do_not(tmp_path: Path) -> None:
    """A column `worker` may hold ids all the same."""
    rows = captions(0, 40, 40)
    hashed = rows["worker_id"].map(lambda worker: f"{hash(worker) & (1 << 64) - 1:016x}")
    judge = partial(assess_in_parts, task=load_task("caption"), settings={}, key=b"key")
    for name, workers in (("hashed", hashed), ("raw", rows["worker_id"])):
        own = rows.drop(columns="worker_id").assign(worker=workers)
        file = answers(tmp_path / f"{name}.parquet", own)
        judge([file], SILENT, into=tmp_path / name)
        findings = pq.read_table(tmp_path / name).to_pandas()
        subjects = set(findings.loc[findings["subject_kind"] == "worker", "subject_id"])
        assert subjects
        assert (subjects <= set(workers)) == (name == "hashed")


def stops_at(stop: str) -> PartRunner:
    """Run in this process until a step, which is cut off."""

    def run_parts(step: str, do: Do, parts: Sequence[int]) -> None:
        if step == stop:
            raise KeyboardInterrupt
        for part in parts:
            do(part)

    return run_parts


@pytest.mark.parametrize("command", ["clean", "assess"])
def test_a_table_is_read_once_however_often_its_command_is_cut_off(
    tmp_path: Path, command: str
) -> None:
    """The command continues after it, begins again with other columns, and leaves nothing."""
    file, into = batch(tmp_path / "batch.csv"), tmp_path / "out"
    times: list[Path] = []

    def tables(text: str) -> Tables[Any]:
        stated = NamedColumns(text=text, item="Input.picture")

        def write_texts(folder: Path) -> object:
            times.append(folder)
            if command == "assess":
                return write_answers_of([file], NamedColumns(), "", folder)
            TextTables.of([file], stated).write(folder)
            return None

        return Tables(paths=[file], read_as={"text": text}, write=write_texts)

    def run(run_parts: PartRunner, text: str) -> None:
        if command == "clean":
            clean_tables(tables(text), run_parts, into=into)
        else:
            assess_tables(tables(text), run_parts, into=into, key=b"key", say=lambda _: None)

    last = {"clean": "writing", "assess": "judging"}[command]
    for text, reads in (("Answer.caption", 1), ("Answer.caption", 1), ("HITId", 2)):
        with pytest.raises(KeyboardInterrupt):
            run(stops_at(last), text)
        assert len(times) == reads
        assert left_in(tmp_path) == {"batch.csv", "out.unfinished"}
    run(SILENT, "HITId")
    assert len(times) == 2
    assert left_in(tmp_path) == {"batch.csv", "out"}


def test_a_table_that_cannot_be_read_leaves_no_work_behind(tmp_path: Path) -> None:
    """So the next run begins with the mended file."""
    file = tmp_path / "table.csv"
    file.write_text("image,caption\n1,a dog\n2,b,c\n", encoding="utf-8")
    refused = piecework("clean", file, "--to", tmp_path / "clean")
    assert refused.exit_code == 2
    assert "line 3" in refused.output
    assert left_in(tmp_path) == {"table.csv"}


def test_parquet_of_any_size_is_cleaned_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows together may be larger than the limit, a row group may not."""
    file = tmp_path / "table.parquet"
    table = pa.table({"image": [str(n) for n in range(60)], "caption": ["a dog on teh sofa"] * 60})
    pq.write_table(table, file, row_group_size=10)
    monkeypatch.setattr(parquet, "MOST_BYTES", 1_000)
    with pq.ParquetFile(file) as opened:
        parquet.check_size(file, opened.metadata, most_bytes=None)
        with pytest.raises(ConfigError, match=r"the limit is 0\.0 GB"):
            parquet.check_size(file, opened.metadata, most_bytes=1_000)
    done("clean", file, "--to", tmp_path / "clean")
    assert pq.read_table(tmp_path / "clean").num_rows == 60
    pq.write_table(table, file)
    refused = piecework("clean", file, "--to", tmp_path / "again")
    assert refused.exit_code == 2
    assert "write the file with smaller row groups" in refused.output


def test_a_dataset_of_piecework_is_a_table_too(tmp_path: Path) -> None:
    """Its answers have ids, but it is no table of answers."""
    rows: Mapping[str, list[str]] = {
        "answer_id": ["A1.1", "A2.1"],
        "item_id": ["1", "2"],
        "worker": ["0123456789abcdef", "1123456789abcdef"],
        "caption": ["a dog on teh sofa", "a bird"],
    }
    pq.write_table(pa.table(rows), tmp_path / "captions.parquet")
    done("clean", tmp_path / "captions.parquet", "--to", tmp_path / "clean")
    assert "a dog on the sofa" in pq.read_table(tmp_path / "clean")["clean_text"].to_pylist()
    done("assess", tmp_path / "captions.parquet", "--to", tmp_path / "findings")
