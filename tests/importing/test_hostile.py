"""What strangers wrote is data: no cell of it acts, and none ends a reading."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.config.shared_files import read_reading
from piecework.domain.errors import ConfigError
from piecework.engine.opening import open_to_look
from piecework.foundation.csv_text import LONGEST_CELL
from piecework.importing.readers.head import MOST_COLUMNS, head_of
from piecework.importing.readers.recognise import recognise
from piecework.importing.readers.rows import ImportedRow, Unreadable
from tests.importing.batches import row, stances, write
from tests.importing.test_importing import done, piecework

MARKUP = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://evil.example","x")'
CONTROLS = "a\x00b\x1b[31mred\x07\u202e"


def imported(tmp_path: Path, *rows: dict[str, str]) -> Path:
    """A campaign of these rows, whose dataset and report are written."""
    batch = write(tmp_path / "batch.csv", rows)
    campaign = tmp_path / "x.toml"
    done("data", "import", batch, "--as", campaign)
    done("data", "assess", campaign)
    done("export", campaign)
    return campaign


@pytest.mark.full
def test_formulas_markup_and_controls_stay_text(tmp_path: Path) -> None:
    """In the store as they stand, in files and pages where they can do nothing."""
    texts = [FORMULA, MARKUP, CONTROLS, "{{ 7*7 }}", "'; DROP TABLE answers; --"]
    rows = [
        row(n, f"W{n}", shown={MARKUP: text}, sent={"note": text})
        for n, text in enumerate(texts, start=1)
    ]
    campaign = imported(tmp_path, *rows)
    with open_to_look(load_campaign(campaign)) as opened:
        assert opened.answers()["value.note"].tolist() == texts
    out = tmp_path / "out/x"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert MARKUP not in page
    for name in ("answers.csv", "set_aside.csv", "items.csv"):
        with (out / "dataset" / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for line in csv.reader(file) for cell in line]
        assert not any(cell.startswith("=") for cell in cells)


def test_a_terminal_is_told_no_control_characters(tmp_path: Path) -> None:
    """Nor is what a fault quotes."""
    rows = [row(1, "W1", shown={"x\x1b[2J": "y"}, sent={"note": CONTROLS})]
    rows.append({**rows[0], "AssignmentId": "A2", "SubmitTime": "\x1b]0;pwned\x07"})
    batch = write(tmp_path / "batch.csv", rows)
    printed = piecework("data", "import", batch, "--dry-run").output
    assert "\x1b" not in printed
    assert "\x07" not in printed


@pytest.mark.full
def test_columns_of_ours_have_no_power_in_a_stranger_s_file(tmp_path: Path) -> None:
    """`practice` or `gold.note` of another tool are words; items all count."""
    shown = {"practice": "yes", "gold.note": "no", "twin": "z", "text": "Rain"}
    campaign = imported(tmp_path, row(1, "W1", shown=shown, sent={"note": "a"}))
    loaded = load_campaign(campaign)
    (item,) = loaded.items
    assert not loaded.practice
    assert {"input_practice", "input_gold.note", "input_twin"} <= item.columns.keys()
    assert not {"practice", "gold.note", "twin"} & item.columns.keys()


def test_a_cell_of_ten_megabytes_is_an_answer(tmp_path: Path) -> None:
    """Csv's own limit, one for the whole process, is as it was afterwards."""
    before = csv.field_size_limit()
    long = "word " * (2 << 20)
    batch = write(tmp_path / "b.csv", [row(1, "W", shown={}, sent={"note": long})])
    (source,) = recognise([batch])
    (long_row,) = source.rows()
    assert isinstance(long_row, ImportedRow)
    assert len(long_row.sent["note"]) == len(long)
    assert csv.field_size_limit() == before


def test_a_quote_that_is_never_closed_ends_no_reading(tmp_path: Path) -> None:
    """What stands before it comes in; the rest is a row that is told."""
    batch = write(tmp_path / "b.csv", stances())
    with batch.open("a") as file:
        file.write('"' + "x" * (LONGEST_CELL + 10))
    (source,) = recognise([batch])
    rows = list(source.rows())
    assert sum(isinstance(read, ImportedRow) for read in rows) == 3
    last = rows[-1]
    assert isinstance(last, Unreadable)
    assert "quote" in last.fault


def test_a_thousand_columns_are_read(tmp_path: Path) -> None:
    """Each is an answer; of more than five thousand the file is refused."""
    sent = {f"q_{n}x": "yes" for n in range(1000)}
    batch = write(tmp_path / "b.csv", [row(1, "W", shown={"a": "b"}, sent=sent)])
    document = json.loads(done("data", "import", batch, "--dry-run", "--json"))
    assert len(document["fields"]) == 1000
    header = ",".join(f"c{n}" for n in range(MOST_COLUMNS + 1))
    batch.write_text(f"HITId,AssignmentId,WorkerId,Answer.x,{header}\n")
    result = piecework("data", "import", batch, "--dry-run")
    assert result.exit_code == 2
    assert "at most 5000" in result.output


@pytest.mark.parametrize(
    "content",
    [b"", b"  \n", b"\x89PNG\r\n\x1a\n\x00\x00\x00", b"PAR1 and no more", b"[[[["],
    ids=["empty", "blank", "picture", "parquet", "brackets"],
)
def test_what_is_no_file_of_results_is_a_sentence(content: bytes, tmp_path: Path) -> None:
    """Never a traceback, and nothing is written."""
    file = tmp_path / "file.csv"
    file.write_bytes(content)
    result = piecework("data", "import", file, "--as", tmp_path / "x.toml")
    assert result.exit_code == 2, result.output
    assert str(file) in result.output
    assert not (tmp_path / "x.toml").exists()


MTURK = "HITId,AssignmentId,WorkerId,AcceptTime,SubmitTime,WorkTimeInSeconds,Answer.x\n" + "".join(
    f"H,A{n},W,,Mon Apr 03 08:00:00 PDT 2017,{took},yes\n" for n, took in enumerate(("%s", 60))
)
PROLIFIC = "Submission id,Participant id,Status,Started at,Completed at,Time taken\n" + "".join(
    f"s{n},p,APPROVED,2019-04-20T11:59:00Z,,{took}\n" for n, took in enumerate(("%s", 60))
)
LABEL_STUDIO = "annotation_id,annotator,lead_time,created_at,id,image,kind\n" + "".join(
    f"{n},w,{took},2024-03-09T22:16:08Z,{n},i,cat\n" for n, took in enumerate(("%s", 60))
)
POTATO = "\n".join(
    json.dumps(
        {
            "user_id": f"u{n}",
            "instance_id_to_behavioral_data": {
                "i1": {"session_end": 1555761600.0, "total_time_ms": took}
            },
            "instance_id_to_label_to_value": {"i1": [[{"schema": "x", "name": "a"}, "a"]]},
        }
    )
    for n, took in enumerate(("%s", 60))
)
MAPPED = "item,who,when,took,said\n" + "".join(
    f"i,w{n},2019-04-20 12:00:00,{took},wet\n" for n, took in enumerate(("%s", 60))
)
COLUMNS = 'item = "item"\nanswers = { x = "said" }\n[columns]\nworker = "who"\nseconds = "took"\n'


@pytest.mark.parametrize(
    "took", ["1555761600", "1555761600000", "99999999999999", "1e300", "inf", "nan", "soon"]
)
@pytest.mark.parametrize(
    ("table", "column", "stated"),
    [
        (MTURK, "WorkTimeInSeconds", ""),
        (PROLIFIC, "Time taken", ""),
        (LABEL_STUDIO, "lead_time", ""),
        (POTATO, "total_time_ms", ""),
        (MAPPED, "took", f'{COLUMNS}submitted = "when"\n'),
        (MAPPED, "took", f'{COLUMNS}accepted = "when"\n'),
    ],
    ids=["mturk", "prolific", "label studio", "potato", "submitted", "accepted"],
)
def test_a_time_taken_of_more_than_a_year_is_a_fault_of_its_cell(
    table: str, column: str, stated: str, took: str, tmp_path: Path
) -> None:
    """Such as milliseconds, or a time since 1970, in a column of seconds."""
    (tmp_path / "columns.toml").write_text(stated)
    path = tmp_path / "file"
    path.write_text(table % (f"{took}000" if column == "total_time_ms" else took))
    reading = read_reading(tmp_path / "columns.toml") if stated else None
    (source,) = recognise([path], reading)
    aside, whole = source.rows()
    if table in {MTURK, PROLIFIC} and not took.isdecimal():
        # What a market's own file does not say in figures costs no answer.
        assert isinstance(aside, ImportedRow)
        assert None in {aside.accepted_at, aside.submitted_at}
    else:
        assert isinstance(aside, Unreadable)
        assert (aside.column, took in aside.fault) == (column, True)
    assert isinstance(whole, ImportedRow)
    assert whole.accepted_at is not None
    assert whole.submitted_at is not None
    assert whole.accepted_at < whole.submitted_at


@pytest.mark.parametrize("name", ["missing.csv", "/dev/null"])
def test_what_is_not_there_is_a_sentence(name: str, tmp_path: Path) -> None:
    """Also a device, which would be waited for."""
    with pytest.raises(ConfigError, match="no such file or folder"):
        head_of(tmp_path / name)


def test_a_header_alone_is_no_answer(tmp_path: Path) -> None:
    """A batch of which nothing came in yet."""
    batch = write(tmp_path / "b.csv", stances())
    batch.write_text(batch.read_text().split("\n")[0] + "\n")
    result = piecework("data", "import", batch, "--as", tmp_path / "x.toml")
    assert result.exit_code == 2
    assert "contains no answers" in result.output


def test_deep_json_is_a_row_that_is_told(tmp_path: Path) -> None:
    """Deeper than Python's stack, in a line and in a cell."""
    deep = "[" * 100_000
    line = '{"assignment_id": "A", "hit_id": "H", "worker_id": "W", "output": []}'
    file = tmp_path / "results.txt"
    file.write_text(f'{line}\n{{"assignment_id": {deep}\n')
    (source,) = recognise([file])
    first, second = source.rows()
    assert isinstance(first, ImportedRow)
    assert isinstance(second, Unreadable)
    batch = write(tmp_path / "b.csv", [row(1, "W", shown={}, sent={"taskAnswers": deep})])
    (source,) = recognise([batch])
    (unreadable,) = source.rows()
    assert isinstance(unreadable, Unreadable)
    assert unreadable.column == "Answer.taskAnswers"


def test_two_files_of_one_batch_overlap(tmp_path: Path) -> None:
    """An assignment that both hold is one."""
    rows = stances()
    first = write(tmp_path / "first.csv", rows[:2])
    second = write(tmp_path / "second.csv", rows[1:])
    campaign = tmp_path / "x.toml"
    printed = done("data", "import", first, second, "--as", campaign)
    assert "imported: 3 assignments; 1 known before" in printed


@pytest.mark.full
def test_equal_rows_without_ids_are_different_people(tmp_path: Path) -> None:
    """Read again they are the same rows, and nothing is added."""
    columns = tmp_path / "columns.toml"
    columns.write_text('item = "text"\nanswers = { mood = "said" }\n')
    table = tmp_path / "t.csv"
    table.write_text("text,said\nRain,wet\nRain,wet\nSun,dry\nSun,dry\n")
    campaign = tmp_path / "x.toml"
    printed = done("data", "import", table, "--columns", columns, "--as", campaign)
    assert "imported: 4 assignments" in printed
    printed = done("data", "import", table, "--as", campaign)
    assert "imported: 0 assignments; 4 known before" in printed
    with open_to_look(load_campaign(campaign)) as opened:
        answers = opened.answers()
    assert answers["worker_id"].nunique() == 4
    assert answers["submitted_at"].isna().all()
    assert answers["market_seconds"].isna().all()
    done("data", "assess", campaign)
    done("export", campaign)
    folder = tmp_path / "out/x/dataset"
    parts = [pd.read_csv(folder / f"{name}.csv") for name in ("answers", "set_aside")]
    assert sum(map(len, parts)) == 4
