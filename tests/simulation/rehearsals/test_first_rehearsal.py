"""The first rehearsal of a campaign that `init` wrote has no problem of its own."""

import csv
import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.pictures import is_portrait_name, picture_name
from piecework.domain.task import GOLD, TRUTH, TWIN
from piecework.hit_templates.tasks import task_names
from piecework.report.model import report_model
from piecework.report.page import render_report
from piecework.report.sections.summary import summary_notes
from piecework.results.report_facts import report_facts
from piecework.simulation.pictures.drawing.picture import draw
from piecework.simulation.pictures.portraits import draw_portrait, portrait_named
from piecework.simulation.pictures.scenes import scenes
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through

EXAMPLES = Path(__file__).resolve().parents[3] / "config/campaigns"
_PICTURES, _SCENES = 30, 120


def _items(task: str, folder: Path) -> str:
    """A user's items: the example's, with pictures, without known answers."""
    source = EXAMPLES / f"{task}.csv"
    pictures = folder / "pictures"
    if (drawn := EXAMPLES / f"{task}_pictures").is_dir():
        shutil.copytree(drawn, pictures)
    else:
        pictures.mkdir()
        for scene in scenes(_seed(task), _SCENES if source.exists() else _PICTURES):
            (pictures / picture_name(scene.item_id)).write_text(draw(scene))
    if not source.exists():
        return "pictures"
    with source.open(newline="") as file:
        rows = list(csv.DictReader(file))
    known = (TRUTH, GOLD, TWIN)
    for url in (row.get("url", "") for row in rows):
        if is_portrait_name(url) and (portrait := portrait_named(url)):
            (pictures / url).write_text(draw_portrait(portrait))
    columns = [name for name in rows[0] if not name.startswith(known)]
    with (folder / "items.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return "items.csv"


def _seed(task: str) -> int:
    path = EXAMPLES / f"{task}.toml"
    tables = tomllib.loads(path.read_text()) if path.exists() else {}
    return int(tables.get("rehearsal", {}).get("seed", 0))


@pytest.mark.full
@pytest.mark.parametrize("task", task_names())
def test_a_first_rehearsal_has_no_problem(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`init` with its defaults, `check` and a rehearsal; the page says so, too."""
    monkeypatch.chdir(tmp_path)
    items = _items(task, tmp_path)
    words = ("init", "own.toml", "--task", task, "--items", items, "--yes")
    for command in (words, ("check", "own.toml")):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
    with rehearsal_of(prepare(Path("own.toml"))) as (run, crowd):
        progress = work_through(run, crowd)
        facts = report_facts(run)
    shown = summary_notes(report_model(facts))
    assert progress.accepted
    assert not [note.text for note in shown if note.level == "problem"]
    assert 'class="problem"' not in render_report(facts)
