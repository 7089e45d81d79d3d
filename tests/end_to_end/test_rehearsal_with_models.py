"""A rehearsal with labels of a planted model, to its report."""

import csv
import json
import random
import shutil
from pathlib import Path

import pytest

from piecework.report.sections.other_sources import Machine
from piecework.results.report_facts import report_facts
from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through

CAMPAIGNS = Path(__file__).resolve().parents[2] / "config/campaigns"
OTHER = {"congruent": "incongruent", "incongruent": "congruent"}


@pytest.mark.full
def test_the_report_of_a_rehearsal_states_what_a_planted_model_did(tmp_path: Path) -> None:
    """The model is right about 85 % of the pairs, and people mostly agree with it."""
    text = (CAMPAIGNS / "as_needed.toml").read_text()
    text = text.replace("[posting]", '[machine]\nvotes = "model.jsonl"\n\n[posting]')
    text = text.replace(
        "{ least = 3, most = 7, until = 0.95 }", "{ least = 1, most = 5, until = 0.9 }"
    )
    path = tmp_path / "as_needed.toml"
    path.write_text(text)
    items = shutil.copy(CAMPAIGNS / "congruency.csv", tmp_path)
    draw = random.Random(4)  # noqa: S311 - errors of a planted model
    with Path(items).open(encoding="utf-8") as file:
        truths = {row["pair_id"]: row["truth.congruent"] for row in csv.DictReader(file)}
    lines = [
        {"item": pair, "label": truth if draw.random() < 0.85 else OTHER[truth]}
        for pair, truth in truths.items()
    ]
    (tmp_path / "model.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        write_results(run)
        facts = report_facts(run).of(Machine)
    assert facts is not None
    assert facts.replays is not None
    (model,) = facts.models
    assert model.items == len(truths)
    assert model.as_people > 0.6 * model.with_people
    replayed = facts.replays
    assert replayed.models.is_sure.sum() > replayed.shuffled.is_sure.sum()
    assert "Labels of models" in (tmp_path / "out/as_needed/report.html").read_text()
