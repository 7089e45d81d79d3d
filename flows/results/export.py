"""Write dataset, data card and report; each file whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from flows.provenance import code_version
from flows.results.report_facts import report_facts
from flows.results.table import answers_table, decided_answers
from flows.steps.decide import as_if_decided
from flows.steps.progress import progress
from flows.steps.state import State, read_state
from flows.workplace import Workplace
from postprocess.datasets.facts import DatasetFacts
from postprocess.datasets.files import dataset_files
from report.page import render

REPORT = "report.html"
DATASET = "dataset"


def export(place: Workplace) -> Path:
    """Write everything into the campaign's folder; the path of the report."""
    campaign, state = place.campaign, read_state(place)
    shown = as_if_decided(place, state)
    facts = DatasetFacts(
        campaign=campaign.name,
        purpose=campaign.description,
        task=campaign.task,
        source_hash=campaign.source_hash,
        code_commit=code_version(),
        is_rehearsal=place.is_rehearsal,
        wanted_per_item=campaign.posting.assignments,
        unfinished=_unfinished(place, state, shown),
    )
    table = answers_table(place, shown, decided=state.decisions)
    table = decided_answers(table, shown)
    files = dataset_files(table, campaign.items, facts, campaign.formats)
    for name, write in files.items():
        write_whole(campaign.out / DATASET / name, write)
    return write_report(place)


def _unfinished(place: Workplace, state: State, shown: State) -> str:
    """What is still to come, in a sentence; nothing once the campaign is finished."""
    reached = progress(place)
    if reached.is_finished:
        return ""
    provisional = len(shown.decisions) - len(state.decisions)
    return (
        f"NOT FINISHED: {reached.missing} accepted answers are still wanted, "
        f"{reached.hits_open} HITs are open, and {provisional} answers are not decided "
        "yet (is_provisional)."
    )


def write_report(place: Workplace) -> Path:
    """Write the report alone; its path."""
    report = place.campaign.out / REPORT
    page = render(report_facts(place, read_state(place))).encode()
    write_whole(report, lambda file: file.write(page))
    return report


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Make a file of what `write` writes; a fault leaves the old file as it was."""
    # A reader never meets half a file, and a full disk leaves the old one.
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
