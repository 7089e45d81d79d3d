"""What Mephisto's own data browser gives of work, read as it gives it."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from piecework.importing.readers.recognise import recognise
from piecework.importing.readers.rows import ImportedRow
from tests.clients.environments import UnavailableError, python_client

pytestmark = pytest.mark.clients

_DRIVER = Path(__file__).with_name("drivers") / "mephisto_results.py"


@pytest.mark.parametrize("blueprint", ["static_task", "remote_procedure"])
def test_units_are_read_as_the_data_browser_gives_them(blueprint: str, tmp_path: Path) -> None:
    """Pages and remote procedures keep data of another shape each."""
    try:
        python = python_client("mephisto", pythons=("3.10",)) / "python"
    except UnavailableError as fault:
        pytest.skip(f"Mephisto is not here: {fault}")
    ran = subprocess.run(
        [str(python), "-W", "ignore", str(_DRIVER), blueprint],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    # Mephisto logs to standard output too, a line at a time before the document.
    units = json.loads(ran.stdout[ran.stdout.rindex("[{") :])
    file = tmp_path / "units.json"
    file.write_text(json.dumps(units))
    (source,) = recognise([file])
    rows = list(source.rows())
    assert source.format_name == "Mephisto"
    answers = [row for row in rows if isinstance(row, ImportedRow)]
    assert answers == rows
    assert [row.shown["text"] for row in answers] == [
        *("Rain", "Rain", 'A dog\nbarks "loudly"', 'A dog\nbarks "loudly"')
    ]
    assert [row.sent for row in answers] == [
        {"stance": "yes", "tags": "a|b", "sure": str(place)} for place in (0, 1, 0, 1)
    ]
    assert [row.outcome for row in answers] == [*("approved", "approved", "completed", "rejected")]
    assert len({row.worker_id for row in answers}) == 2
    assert len({row.assignment_id for row in answers}) == 4
    for row in answers:
        assert row.accepted_at is not None
        assert row.submitted_at is not None
        assert row.accepted_at <= row.submitted_at
    written = datetime.fromtimestamp(file.stat().st_mtime, tz=UTC)
    last = max(row.submitted_at for row in answers if row.submitted_at is not None)
    assert timedelta() < written - last < timedelta(minutes=10)
