"""A campaign's answers in files: judged as the campaign judges them."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from cli.main import main
from domain.tables import COLLECTED
from flows.partitions.assessing import assess_files
from flows.partitions.running import here
from qc.ratings import with_ratings
from qc.registry import assess
from tests.imports.batches import row, write
from tests.qc.test_laws import ITEMS, TASK, rated_table
from tests.qc.test_two_phases import EAGER

KEY = ["heuristic", "subject_kind", "subject_id"]


def done(*words: object) -> str:
    """What a command prints that succeeds."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def found(folder: Path) -> pd.DataFrame:
    """The findings in a folder, in an order of their own."""
    whole: pd.DataFrame = pq.read_table(folder).to_pandas()
    return whole.sort_values(KEY).reset_index(drop=True)


def silent(_step: str, _done: int, _of: int) -> None:
    """Nobody watches."""


def test_gold_and_twins_of_a_campaign_count_in_parts(tmp_path: Path) -> None:
    """What items expect is known in each part, whichever items it has."""
    table = rated_table(TASK, 1)
    items = ITEMS[:3] + ITEMS[8:11]
    findings = assess(with_ratings(table, TASK, items), EAGER, seed=4)
    whole = pd.DataFrame(
        [
            {name: getattr(one, name) for name in KEY}
            | {"suspicion": one.suspicion, "evidence": one.evidence}
            for one in findings
        ]
    )
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
    assess_files(
        [source],
        here(silent),
        into=into,
        task=TASK,
        settings=EAGER,
        seed=4,
        items=items,
        bucket_rows=30,
    )
    assert {"gold_failed", "contradiction"} <= set(whole["heuristic"])
    pd.testing.assert_frame_equal(
        found(into)[whole.columns],
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
    done("import", batch, "--as", tmp_path / "stance.toml")
    path = tmp_path / "stance.toml"
    path.write_text(path.read_text() + "\n[heuristics.random_sample]\nshare = 1.0\n")
    return path


def test_a_campaigns_answers_are_assessed_as_files(
    campaign: Path, tmp_path: Path
) -> None:
    """`export --answers` writes what `assess FILES --as` reads; workers are hashed."""
    answers, into = tmp_path / "answers.parquet", tmp_path / "findings"
    assert "in " in done("export", campaign, "--answers", answers)
    written = pq.read_table(answers)
    assert set(COLLECTED) - set(written.column_names) == {"worker_id"}
    assert not {"W0", "W1", "W2"} & set(written["worker"].to_pylist())
    done("assess", answers, "--to", into, "--as", campaign)
    mine = found(into)
    drawn = mine[mine["heuristic"] == "random_sample"]
    assert len(drawn) == len(written)  # the campaign's own parameter
    done("assess", campaign, "--parquet", tmp_path / "whole.parquet")
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
        asked = ["assess", tmp_path / "a.parquet", "--as", campaign, *words]
        said = CliRunner().invoke(main, [str(word) for word in asked])
        assert said.exit_code == 2
        assert sentence in said.output
