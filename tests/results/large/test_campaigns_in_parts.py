"""A campaign's answers in files: judged as the campaign judges them."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.errors import ConfigError
from piecework.domain.tables import COLLECTED
from piecework.hit_templates.tasks import load_task
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.pseudonyms import pseudonyms
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import assess
from piecework.results.large.assessing import assess_in_parts
from piecework.results.large.exporting import export_files
from piecework.results.large.work_folder import here
from tests.bench import many_captions
from tests.importing.batches import row, write
from tests.qc.test_laws import ITEMS, TASK, rated_table
from tests.qc.test_two_phases import EAGER

KEY = ["heuristic", "subject_kind", "subject_id"]


def done(*words: object) -> str:
    """What a command prints that succeeds."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def findings_in(folder: Path) -> pd.DataFrame:
    """The findings in a folder, in an order of their own."""
    whole: pd.DataFrame = pq.read_table(folder).to_pandas()
    return whole.sort_values(KEY).reset_index(drop=True)


def silent(_step: str, _done: int, _of: int) -> None:
    """Nobody watches."""


@pytest.mark.full
def test_gold_and_twins_of_a_campaign_count_in_parts(tmp_path: Path) -> None:
    """What items expect is known in each part, whichever items it has."""
    table = rated_table(TASK, 1)
    items = ITEMS[:3] + ITEMS[8:11]
    findings = assess(with_ratings(table, TASK, items), EAGER, seed=4)
    whole = pd.DataFrame(
        [
            {name: getattr(finding, name) for name in KEY}
            | {"suspicion": finding.suspicion, "evidence": finding.evidence}
            for finding in findings
        ]
    )
    is_worker = (whole["subject_kind"] == "worker") & (whole["subject_id"] != "")
    whole.loc[is_worker, "subject_id"] = pseudonyms(whole["subject_id"][is_worker], b"key")
    rows = table.reset_index()
    for name in rows.columns[rows.dtypes == "object"]:
        rows[name] = [list(cell) for cell in rows[name]]
    source = tmp_path / "answers"
    source.mkdir()
    lists = pa.list_(pa.string())
    for number in range(3):
        part = pa.Table.from_pandas(rows.iloc[number::3], preserve_index=False)
        for place, field in enumerate(part.schema):
            if pa.types.is_list(field.type):
                part = part.set_column(place, field.name, part[place].cast(lists))
        pq.write_table(part, source / f"{number}.parquet")
    into = tmp_path / "findings"
    assess_in_parts(
        [source],
        here(silent),
        into=into,
        key=b"key",
        task=TASK,
        settings=EAGER,
        seed=4,
        items=items,
        bucket_rows=30,
    )
    assert {"gold_failed", "contradiction"} <= set(whole["heuristic"])
    pd.testing.assert_frame_equal(
        findings_in(into)[whole.columns],
        whole.sort_values(KEY).reset_index(drop=True),
        check_exact=True,
        check_dtype=False,
    )


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Twelve assignments of three workers, one of whom always says the same."""
    rows = [
        row(
            number,
            f"W{number % 3}",
            shown={"picture": f"p{number // 3}.jpg"},
            sent={"caption": "SHOUTED LOUD" if number % 3 == 0 else f"a cat, {number}"},
            hit=f"HIT{number // 3}",
            seconds=1 + 17 * (number % 3),
        )
        for number in range(12)
    ]
    batch = write(tmp_path / "batch.csv", rows)
    done("data", "import", batch, "--as", tmp_path / "stance.toml")
    path = tmp_path / "stance.toml"
    path.write_text(path.read_text() + "\n[heuristics.random_sample]\nshare = 0.5\n")
    return path


@pytest.mark.full
def test_a_campaigns_answers_are_assessed_as_files(campaign: Path, tmp_path: Path) -> None:
    """`export --answers` writes what `data assess FILES --as` reads; workers are hashed."""
    answers, into = tmp_path / "answers.parquet", tmp_path / "findings"
    assert "in " in done("export", campaign, "--answers", answers)
    written = pq.read_table(answers)
    assert set(COLLECTED) - set(written.column_names) == {"worker_id"}
    assert not {"W0", "W1", "W2"} & set(written["worker"].to_pylist())
    done("data", "assess", answers, "--to", into, "--as", campaign)
    mine = findings_in(into)
    drawn = mine[mine["heuristic"] == "random_sample"]
    assert len(drawn) >= 3  # of twelve: the campaign's own parameter, not 2 %
    done("data", "assess", campaign, "--parquet", tmp_path / "whole.parquet")
    whole = pq.read_table(tmp_path / "whole.parquet").to_pandas()
    assert len(whole)
    flagged = mine[mine["flag"] & (mine["heuristic"] != "random_sample")]
    assert sorted(zip(flagged["heuristic"], flagged["subject_id"], strict=True)) == (
        sorted(zip(whole["heuristic"], whole["subject_id"], strict=True))
    )


def test_a_campaign_says_its_task_itself(campaign: Path, tmp_path: Path) -> None:
    """`--as` and `--task` together, or `--as` without `--to`, are told apart."""
    into = ["--to", tmp_path / "findings"]
    for words, sentence in (
        ([*into, "--task", "caption"], "leave out --task"),
        ([], "--as needs --to"),
    ):
        asked = ["data", "assess", tmp_path / "a.parquet", "--as", campaign, *words]
        refusal = CliRunner().invoke(main, [str(word) for word in asked])
        assert refusal.exit_code == 2
        assert sentence in refusal.output


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """The tables of an exported folder, in the order of their ids."""
    tables_of = {}
    for path in folder.iterdir():
        if path.is_dir():
            table: pd.DataFrame = pq.read_table(path).to_pandas()
            tables_of[path.name] = table.sort_values(str(table.columns[0]), ignore_index=True)
    return tables_of


def test_a_campaigns_dataset_is_the_same_in_parts(campaign: Path, tmp_path: Path) -> None:
    """But for what all answers say together: the probabilities of labels."""
    answers, into = tmp_path / "answers.parquet", tmp_path / "parts"
    done("export", campaign)
    done("export", campaign, "--answers", answers)
    done("export", answers, "--to", into, "--as", campaign)
    mine = tables(into)
    assert set(mine) == {"captions", "set_aside", "items"}
    for name, table in mine.items():
        (file,) = tmp_path.glob(f"**/dataset/{name}.parquet")
        whole: pd.DataFrame = pq.read_table(file).to_pandas()
        ends = ("_likeliest", "_probability")
        left_out = [name for name in whole.columns if str(name).endswith(ends)]
        whole = whole.drop(columns=left_out).sort_values(str(whole.columns[0]))
        pd.testing.assert_frame_equal(table, whole.reset_index(drop=True), check_exact=True)
    assert min(len(mine["captions"]), len(mine["set_aside"])) > 0


def exported(source: Path, into: Path, **more: object) -> dict[str, pd.DataFrame]:
    """The tables of captions, of which nothing is known but the files."""
    facts = DatasetFacts(
        campaign="",
        purpose="",
        task=load_task("caption"),
        source_hash="",
        code_commit="",
        is_rehearsal=False,
        wanted_per_item="",
        is_part=True,
    )
    export_files(
        [source],
        here(silent),
        into=into,
        facts=facts,
        key=b"key",
        **more,  # type: ignore[arg-type]
    )
    return tables(into)


@pytest.mark.full
def test_tables_are_the_same_however_answers_are_cut(tmp_path: Path) -> None:
    """One file or seven, one bucket or five; a second answer is set aside."""
    for n in (1, 7):
        many_captions.write(tmp_path / f"{n}", 500, n)
    whole = exported(tmp_path / "1", tmp_path / "whole")
    mine = exported(tmp_path / "7", tmp_path / "parts", bucket_rows=100)
    assert mine.keys() == whole.keys()
    for name, table in whole.items():
        pd.testing.assert_frame_equal(mine[name], table, check_exact=True)
    rows = pq.read_table(tmp_path / "1").to_pandas()
    assert len(whole["captions"]) + len(whole["set_aside"]) == len(rows) == 500
    assert set(whole["set_aside"]["set_aside"]) == {"surplus", "canned"}
    assert not set(rows["worker_id"]) & set(whole["captions"]["worker"])
    assert len(whole["items"]) == 100
    assert (whole["captions"]["caption"] != whole["captions"]["caption_original"]).any()
    unknown = {"url", "split", "round", "is_rejected", "flaws", "file_name"}
    assert not unknown & set(whole["captions"])


def test_files_bear_the_warning_of_what_they_were_made_of(tmp_path: Path) -> None:
    """Answers of a rehearsal stay so in every table."""
    many_captions.write(tmp_path / "answers", 50, 1)
    (path,) = (tmp_path / "answers").iterdir()
    rows = pq.read_table(path)
    pq.write_table(rows.replace_schema_metadata({"warning": "REHEARSAL: none."}), path)
    exported(tmp_path / "answers", tmp_path / "parts")
    for written in (tmp_path / "parts").glob("*/*.parquet"):
        assert pq.read_schema(written).metadata[b"warning"] == b"REHEARSAL: none."


def test_the_market_of_each_answer_is_exported(tmp_path: Path) -> None:
    """As in a campaign's own dataset; without the column, none is made up."""
    many_captions.write(tmp_path / "answers", 50, 1)
    without = exported(tmp_path / "answers", tmp_path / "without")
    assert "market" not in without["captions"]
    (path,) = (tmp_path / "answers").iterdir()
    rows = pq.read_table(path)
    markets = ["prolific", "connect"] * (len(rows) // 2)
    pq.write_table(rows.append_column("market", pa.array(markets)), path)
    asked_of = dict(zip(rows["answer_id"].to_pylist(), markets, strict=True))
    written = exported(tmp_path / "answers", tmp_path / "parts", bucket_rows=20)
    seen = 0
    for name in ("captions", "set_aside"):
        for answer_id, market in written[name][["answer_id", "market"]].to_numpy():
            assert market == asked_of[answer_id]
            seen += 1
    assert seen == len(rows)


def test_no_id_in_other_peoples_files_is_published(tmp_path: Path) -> None:
    """In texts, items, answers and names of answers, in whichever part they are."""
    workers = ("A1QQ2WW3EE4RR5", "5f0c1e2d3b4a596877665544", "7", "W90")
    many_captions.write(tmp_path / "answers", 60, 1)
    (path,) = (tmp_path / "answers").iterdir()
    rows = pq.read_table(path).to_pandas()
    own = [workers[n % 4] for n in range(60)]
    names = [f"6A0b1c2d3e4f5a6b7c8d9e{n:02}" for n in range(60)]
    both = list(zip(own, names, strict=True))
    rows = rows.assign(
        worker_id=own,
        assignment_id=names,
        answer_id=[f"{name}.1" for name in names],
        text=[f"a dog by {worker} in {name.upper()}" for worker, name in both],
        item_id=[f"{workers[1]}_{n // 4}" for n in range(60)],
        url=[f"https://a.org/{workers[0]}/{n // 4}.jpg" for n in range(60)],
        also_sent=[json.dumps({w: "x", "workerId": w, "s": s}) for w, s in both],
        **{"value.has_text": own, "value.flaw_other": own},
    )
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), path)
    written = exported(tmp_path / "answers", tmp_path / "parts", bucket_rows=8)
    text = "".join(table.to_csv() for table in written.values())
    alone = "|".join([*workers[:2], workers[3], *names])
    around = f"(?<![0-9A-Za-z])(?:{alone})(?![0-9A-Za-z])"
    assert re.findall(around, text, re.IGNORECASE) == []
    main = pd.concat([written["captions"], written["set_aside"]])
    assert "7" not in set(main["flaw_other"])
    sent = map(json.loads, main["sent_more"])
    assert "7" not in {each["workerId"] for each in sent}
    assert len(set(main["worker"])) == len(workers)


def test_ids_of_prolific_are_no_pseudonyms(tmp_path: Path) -> None:
    """They are written in the same digits."""
    many_captions.write(tmp_path / "answers", 50, 1)
    (path,) = (tmp_path / "answers").iterdir()
    rows = with_strange_workers(pq.read_table(path)).drop_columns(["worker"])
    ids = pa.array(["5f0c1e2d3b4a596877665544"] * len(rows))
    pq.write_table(rows.append_column("worker", ids), path)
    with pytest.raises(ConfigError, match="are not keyed hashes"):
        exported(tmp_path / "answers", tmp_path / "parts")


def with_strange_workers(table: pa.Table) -> pa.Table:
    """With ids under the name of pseudonyms."""
    names = ["worker" if name == "worker_id" else name for name in table.column_names]
    return table.rename_columns(names)


def with_edits_of_another_text(table: pa.Table) -> pa.Table:
    """With edits that do not fit."""
    edit = '[{"start":0,"end":3,"before":"???","after":"","rule":"r","reason":"r"}]'
    table = table.append_column("clean_text", table["text"])
    return table.append_column("edits", pa.array([edit] * len(table)))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (with_strange_workers, "'worker' has values that are not keyed hashes"),
        (with_edits_of_another_text, "edits do not fit their text"),
        (lambda table: table.drop_columns(["batch"]), "the column 'batch' is missing"),
    ],
)
def test_what_cannot_be_exported_is_told(
    tmp_path: Path, spoil: Callable[[pa.Table], pa.Table], sentence: str
) -> None:
    """A sentence, and no folder that passes for finished."""
    many_captions.write(tmp_path / "answers", 50, 1)
    (path,) = (tmp_path / "answers").iterdir()
    pq.write_table(spoil(pq.read_table(path)), path)
    with pytest.raises(ConfigError, match=sentence):
        exported(tmp_path / "answers", tmp_path / "parts")
    assert not (tmp_path / "parts").exists()
