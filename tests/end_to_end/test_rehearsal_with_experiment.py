"""A rehearsal with pages drawn at random, to its report."""

from pathlib import Path

import pytest

from piecework.report.sections.experiment import PageExperiment
from piecework.results.report_facts import report_facts
from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through

CAMPAIGNS = Path(__file__).resolve().parents[2] / "config/campaigns"
WORDING = "Please write in your own words."
CHANGES = {
    "scenes = 60 ": "scenes = 48 ",
    "batches = 5 ": "batches = 2 ",
    "items_per_hit = 5": "items_per_hit = 2",
    "minutes = 4.45": "minutes = 2.2",
    'budget = "130.00"': 'budget = "500.00"',
    "[posting]": f'[experiment]\nwordings = ["", "{WORDING}"]\n'
    'paste = ["allowed", "blocked"]\n\n[posting]',
}
CROWD = "\n[rehearsal.crowd]\ndiligent = 20\npaster = 8\n"


@pytest.mark.full
def test_the_report_says_what_turning_pasting_off_changed(tmp_path: Path) -> None:
    """Simulated pasters retype where the page refuses, so none of it is flagged."""
    text = (CAMPAIGNS / "demo.toml").read_text()
    for before, after in CHANGES.items():
        assert before in text
        text = text.replace(before, after)
    path = tmp_path / "demo.toml"
    path.write_text(text + CROWD)
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        write_results(run)
        facts = report_facts(run).of(PageExperiment)
    assert facts is not None
    assert facts.wordings == ("", WORDING)
    hits = facts.texts.groupby(["wording", "paste"])["hit"].nunique()
    assert set(hits.tolist()) <= {5, 6, 7}  # 24 HITs, in two batches
    flagged = facts.texts.groupby("paste")["is_flagged"].mean()
    assert flagged["blocked"] == 0
    assert flagged["allowed"] > 0.05
    report = (tmp_path / "out/demo/report.html").read_text()
    assert "The experiment with the page" in report
    assert "With pasting blocked, 0.0 % of the texts" in report
