"""Two rehearsals beside each other: what differs, what that did, and what chance does."""

import json
import tempfile
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import load_with_results
from piecework.campaign.rehearsal_folders import at_number, begin_rehearsal
from piecework.cli.main import main
from piecework.config.campaign_file import parse
from piecework.domain.errors import ConfigError
from piecework.engine.run_pass import run_pass
from piecework.simulation.forecast.choices import Choice
from piecework.simulation.forecast.compared_rehearsals import compare_rehearsals
from piecework.simulation.forecast.forecasts import rehearse_once
from piecework.simulation.rehearsals.campaign import prepare_rehearsal
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from tests.simulation.rehearsals.test_numbered import CAMPAIGN, RULES

IMPORTED = """name = "moods"
description = "Moods"
reward = "0.01"
budget = "0.00"
hourly_wage = "0.00"
[imported]
columns = "moods.columns.toml"
"""
COLUMNS = """[fields.mood]
kind = "choice"
options = ["good", "bad"]
"""


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a campaign that was rehearsed, changed and rehearsed."""
    path = tmp_path_factory.mktemp("twice") / "birds.toml"
    for text in (CAMPAIGN, CAMPAIGN.replace('"0.40"', '"0.60"') + RULES):
        path.write_text(text)
        prepared, _ = prepare_rehearsal(path)
        with rehearsal_of(prepared) as (run, crowd):
            work_through(run, crowd)
    return path


def test_the_last_two_are_compared_by_key_and_by_figure(twice: Path) -> None:
    """With old and new values, and the second minus the first."""
    compared = compare_rehearsals(twice)
    assert compared.numbers == (1, 2)
    assert str(compared.differences[0]) == 'reward was "0.40" and is "0.60"'
    costs = [row.estimates["cost_cents"].mean for row in compared.figures.rows]
    assert compared.change["cost_cents"].mean == costs[1] - costs[0] > 0
    rules = next(each for each in compared.differences if each.key == "decisions.rule")
    # The file of the first states none, and the derived ones judged its answers.
    assert rules.before.startswith("# derived\n[[decisions.rule]]\n")
    policy = load_with_results(twice, rehearsal=1).policy
    derived = tomllib.loads(rules.before)["decisions"]["rule"]
    assert derived == [rule.as_table() for rule in policy] != []
    assert (
        tomllib.loads(rules.now)["decisions"]["rule"] == tomllib.loads(RULES)["decisions"]["rule"]
    )
    turned = compare_rehearsals(twice, (2, 1))
    assert turned.change["cost_cents"].mean == costs[0] - costs[1]
    same = compare_rehearsals(twice, (2, 2))
    assert same.differences == ()
    assert same.change["cost_cents"].mean == 0


def test_the_command_shows_both_side_by_side(twice: Path, tmp_path: Path) -> None:
    """In a terminal, on a page, and as a document; the watch word is about chance."""
    page = tmp_path / "compared.html"
    shown = CliRunner().invoke(main, ["compare", str(twice), "--html", str(page)])
    assert shown.exit_code == 0, shown.output
    for word in ("Rehearsal 1", "Rehearsal 2", "Difference", "chance alone", '"0.60"'):
        assert word in shown.stdout
        assert word in page.read_text().replace("&#34;", '"')
    document = json.loads(
        CliRunner().invoke(main, ["compare", str(twice), "--rehearsals", "2", "1", "--json"]).stdout
    )
    assert "[[decisions.rule]]" in shown.stdout
    assert document["rehearsals"] == [2, 1]
    assert document["figures"]["change"]["cost_cents"]["mean"] < 0


def test_with_more_seeds_chance_shows(twice: Path) -> None:
    """A dearer answer costs more in every pair; the numbers of both are over the seeds."""
    done: list[int] = []
    compared = compare_rehearsals(
        twice, seeds=2, processes=2, on_progress=lambda finished, _total: done.append(finished)
    )
    assert (compared.figures.seeds, done[-1]) == (2, 4)
    assert compared.change["cost_cents"].low > 0


def test_rehearsals_beside_each_other_are_no_concern_of_each_other_s(
    twice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another of the same file may still run, or was killed: its store is in a folder beside."""
    (tmp_path / "forecasts").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "forecasts"))
    stated = at_number(parse(twice), 1)
    kept: list[tempfile.TemporaryDirectory[str]] = []

    class Kept(tempfile.TemporaryDirectory[str]):
        def cleanup(self) -> None:
            kept.append(self)

    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryDirectory", Kept)
        first = rehearse_once(stated, Choice(), 1, None)
    assert Path(kept[0].name, "piecework.db").is_file()
    assert rehearse_once(stated, Choice(), 1, None) == first
    tempfile.TemporaryDirectory.cleanup(kept[0])


def test_what_cannot_be_compared_is_a_sentence(twice: Path, tmp_path: Path) -> None:
    """One rehearsal, a number that is not there, one that was interrupted."""
    path = tmp_path / "birds.toml"
    path.write_text(CAMPAIGN)
    with pytest.raises(ConfigError, match="no two rehearsals"):
        compare_rehearsals(path)
    begin_rehearsal(parse(path))
    with pytest.raises(ConfigError, match="no two rehearsals") as refused:
        compare_rehearsals(path)
    assert "piecework rehearse" in refused.value.next_step
    imported = tmp_path / "imported.toml"
    imported.write_text(IMPORTED)
    imported.with_name("moods.columns.toml").write_text(COLUMNS)
    with pytest.raises(ConfigError, match="no two rehearsals") as refused:
        compare_rehearsals(imported)
    assert "--rules" in refused.value.next_step
    with pytest.raises(ConfigError, match="no rehearsal 9; there are 1, 2"):
        compare_rehearsals(twice, (1, 9))
    for reward in ("0.50", "0.70"):
        path.write_text(CAMPAIGN.replace('"0.40"', f'"{reward}"'))
        prepared, _ = prepare_rehearsal(path)
        with rehearsal_of(prepared) as (run, _):
            run_pass(run)
    with pytest.raises(ConfigError, match="rehearsal 2 is not finished"):
        compare_rehearsals(path, (2, 3))
    shown = CliRunner().invoke(main, ["compare", str(twice), "--rules", str(path), "--seeds", "5"])
    assert "leave out --rules" in shown.stderr


def test_the_file_that_was_changed_is_compared_with_the_rehearsal_s_own(twice: Path) -> None:
    """The rules in it now are others than those that the rehearsal keeps."""
    changed = twice.read_text().replace('"too_fast", ', "", 1)
    assert changed != twice.read_text()
    try:
        twice.write_text(changed)
        shown = CliRunner().invoke(main, ["compare", str(twice), "--rules", str(twice), "--json"])
        assert json.loads(shown.stdout)["changed_keys"] == ["decisions.rule"]
    finally:
        twice.write_text(changed.replace("any_of = [", 'any_of = ["too_fast", ', 1))
