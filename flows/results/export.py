"""Write dataset, data card and report; each file whole or not at all."""

import os
from pathlib import Path

from flows.campaign_run import CampaignStore
from flows.progress import read_progress as progress
from flows.provenance import code_version
from flows.results.old_state import State, read_state
from flows.results.provisional import as_if_decided
from flows.results.report_facts import report_facts
from flows.results.table import answers_frame
from hit_templates.answers import ordered_names
from postprocess.datasets.export import files
from postprocess.datasets.facts import DatasetFacts
from report.page import render

REPORT = "report.html"
DATASET = "dataset"


def export(run: CampaignStore) -> Path:
    """Write everything into the campaign's folder; the path of the report."""
    campaign, state = run.campaign, read_state(run)
    shown = as_if_decided(run, state)
    facts = DatasetFacts(
        campaign=campaign.name,
        purpose=campaign.description,
        task=campaign.task.name,
        task_version=campaign.task.version,
        source_hash=campaign.source_hash,
        code_commit=code_version(),
        is_rehearsal=run.is_rehearsal,
        wanted_per_item=campaign.posting.assignments,
        canned_text=campaign.task.canned_text,
        dataset=campaign.task.dataset,
        fields=campaign.task.fields,
        aggregates=campaign.task.aggregates,
        conditions=campaign.task.conditions,
        ordered=tuple(ordered_names(campaign.task)),
        main_text=campaign.task.main_text,
        unfinished=_unfinished(run, state, shown),
    )
    frame = answers_frame(run, shown, decided=state.decisions)
    made = files(frame, campaign.items, facts, campaign.formats)
    for name, content in made.items():
        _write(campaign.out / DATASET / name, content)
    return write_report(run)


def _unfinished(run: CampaignStore, state: State, shown: State) -> str:
    """What is still to come, in a sentence; nothing once the campaign is finished."""
    reached = progress(run)
    if reached.is_finished:
        return ""
    provisional = len(shown.decisions) - len(state.decisions)
    return (
        f"NOT FINISHED: {reached.missing} accepted answers are still wanted, "
        f"{reached.hits_open} HITs are open, and {provisional} answers are not decided "
        "yet (is_provisional)."
    )


def write_report(run: CampaignStore) -> Path:
    """Write the report alone; its path."""
    report = run.campaign.out / REPORT
    _write(report, render(report_facts(run, read_state(run))).encode())
    return report


def _write(path: Path, content: bytes) -> None:
    # A reader never meets half a file, and a full disk leaves the old one.
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
