"""MTurk's batch results of a campaign: what old scripts read, and we read back."""

import csv
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.assignment import Assignment
from piecework.domain.ids import AssignmentId
from piecework.importing.readers.recognise import recognise
from piecework.importing.readers.rows import ImportedRow
from piecework.results.export import write_batch_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store.assignments import load_assignments
from tests.campaign.test_own_page import HTML, written
from tests.small_campaign import write_campaign


def rehearsed(path: Path) -> tuple[list[dict[str, str]], list[Assignment]]:
    """The rows of the campaign's batch results, and its assignments."""
    file = path.with_name("batch_results.csv")
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        number = write_batch_results(run, file)
        work = list(load_assignments(run.store))
    with file.open(newline="") as text:
        rows = list(csv.DictReader(text))
    assert len(rows) == number > 0
    return rows, work


def test_inputs_stand_beside_answers(tmp_path: Path) -> None:
    """The file has the items' columns, the page's names and whole seconds, but no worker id."""
    page = HTML.replace("Is there", "${question}: is there") + "<p>`${other}`</p>"
    path = written(tmp_path, html=page, rows=4)
    (tmp_path / "birds.csv").write_text(
        "image_url,question,other\n"
        + "".join(f"https://a.org/{n}.jpg,=Q{n},o{n}\n" for n in range(4))
    )
    rows, work = rehearsed(path)
    inputs = {row["Input.image_url"]: row["Input.question"] for row in rows}
    assert inputs == {f"https://a.org/{n}.jpg": f"'=Q{n}" for n in range(4)}
    assert {row["Answer.Bird"] for row in rows} == {"Yes it is", "No"}
    assert all(row["Answer.how-many"].isdigit() for row in rows)
    assert "Answer.shown_ms.1" not in rows[0]
    assert rows[0]["Reward"] == "$0.10"
    assert {row["AssignmentStatus"] for row in rows} <= {"Approved", "Rejected"}
    assert {each.worker_id for each in work}.isdisjoint(row["WorkerId"] for row in rows)
    # Times have milliseconds, and most fractions of a second are not 0.
    durations = {each.assignment_id: each.submitted_at - each.accepted_at for each in work}
    for row in rows:
        seconds, worked = (
            int(row["WorkTimeInSeconds"]),
            durations[AssignmentId(row["AssignmentId"])],
        )
        assert abs(timedelta(seconds=seconds) - worked) <= timedelta(seconds=0.5)
    (source,) = recognise([path.with_name("batch_results.csv")])
    read = list(source.rows())
    assert all(isinstance(row, ImportedRow) and row.accepted_at for row in read)
    assert [row.line for row in read] == list(range(2, len(rows) + 2))


@pytest.mark.full
def test_items_of_one_hit_are_numbered_as_answers_are(tmp_path: Path) -> None:
    """`Input.url.2` is what `Answer.caption.2` is about."""
    rows, _work = rehearsed(write_campaign(tmp_path))
    for row in rows:
        for name in row:
            if name.startswith("Answer.caption."):
                assert row[f"Input.url.{name.rpartition('.')[2]}"]


def test_the_command_writes_one_file(tmp_path: Path) -> None:
    """Beside the folder of a campaign, or not at all."""
    path = written(tmp_path, rows=2)
    words = ["export", str(path), "--answers", "b.csv", "--report-only"]
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 2
    assert "--answers and --report-only: give only one of them" in refused.output
    refused = CliRunner().invoke(main, ["export", str(path), "--answers", "b.xlsx"])
    assert refused.exit_code == 2
    assert "ends in .parquet or .csv" in refused.output
