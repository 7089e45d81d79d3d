"""Write dataset, data card and report; each file completely or not at all."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.campaign.provenance import code_version
from piecework.domain.hit import Item
from piecework.domain.text import plural
from piecework.engine.judge import proposed_verdicts
from piecework.engine.progress import read_progress
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.files import PICTURES, dataset_files
from piecework.postprocess.datasets.layouts import sent_columns
from piecework.postprocess.hidden_ids import (
    held_columns,
    hide_assignments,
    hide_in_items,
    hide_in_task,
)
from piecework.postprocess.splits import splits
from piecework.report.model import report_model
from piecework.report.page import render_markdown, render_report
from piecework.results import releases
from piecework.results.comparing.alternatives import write_other_rules
from piecework.results.delivery import deliver
from piecework.results.pictures import copy_pictures, picture_sizes
from piecework.results.report_facts import report_facts
from piecework.results.table import answers_table, hidden_ids
from piecework.results.unused_memory import give_back
from piecework.store import hits, results
from piecework.store.files import write_whole, write_whole_text

_LOG = logging.getLogger(__name__)

REPORT = "report.html"
SUMMARY = "report.md"
DATASET = "dataset"


def export(opened: OpenedCampaign, *, with_other_rules: bool = True) -> Path:
    """Write everything into the campaign's folder; return the report's path.

    Args:
        opened: the campaign.
        with_other_rules: whether the report shows what other rules would have done.

    Raises:
        SinkFailed: a sink failed; everything else is written.
    """
    # One after the other: each holds a table of all answers, and memory fits one.
    facts = _write_dataset(opened)
    give_back()
    if opened.campaign.has_releases:
        _release(opened, facts)
        give_back()
    report = write_report(opened, with_other_rules=with_other_rules)
    if not opened.is_rehearsal:  # simulated answers stay here
        deliver(opened.campaign)
    return report


def _write_dataset(opened: OpenedCampaign) -> DatasetFacts:
    campaign = opened.campaign
    proposed = proposed_verdicts(opened)
    table = answers_table(opened, proposed=proposed)
    items: Sequence[Item] = campaign.own_items
    is_shown = ~table["is_provisional"] | table.index.isin(proposed)
    is_shown &= table["item_id"].isin([str(item.item_id) for item in items])
    if not is_shown.all():  # most campaigns show all, and a copy doubles the memory
        table = table[is_shown]
    facts = replace(
        dataset_facts(opened, provisional=len(proposed)),
        sent_columns=sent_columns(table, campaign.task),
    )
    table, hidden, facts = _without_ids(opened, table, items, facts)
    files = dataset_files(table, hidden, facts, campaign.formats)
    folder = campaign.out / DATASET
    for name, write in files.items():
        write_whole(folder / name, write)
    if campaign.dataset.pictures == "files":
        shown_as = {str(item.item_id): shown for item, shown in zip(items, hidden, strict=True)}
        copy_pictures(campaign, folder / PICTURES, shown_as)
    return facts


def _without_ids(
    opened: OpenedCampaign, table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts
) -> tuple[pd.DataFrame, Sequence[Item], DatasetFacts]:
    """Return the same without ids in items, options and ids of items and answers."""
    ids, answers = hidden_ids(opened), opened.answers()
    hidden = hide_in_items(items, answers, ids)
    facts = replace(facts, task=hide_in_task(facts.task, held_columns(answers), ids))
    table = hide_assignments(table, ids)
    if hidden == list(items):
        return table, hidden, facts
    names = {str(old.item_id): str(new.item_id) for old, new in zip(items, hidden, strict=True)}
    item_ids = table["item_id"].map(names).astype("str")
    urls = {str(item.item_id): item.picture for item in hidden}
    # Items are grouped by their pictures and ids, which have changed.
    split_of = splits(hidden, facts.shares)
    table = table.assign(
        item_id=item_ids,
        url=item_ids.map(urls).astype("str"),
        split=item_ids.map(split_of).astype("str"),
    )
    facts = replace(
        facts,
        sizes={names.get(name, name): size for name, size in facts.sizes.items()},
        settled={
            (names.get(item, item), field): label for (item, field), label in facts.settled.items()
        },
    )
    return table, hidden, facts


def _release(opened: OpenedCampaign, facts: DatasetFacts) -> None:
    """Release what changed in the dataset since the last release."""
    out = opened.campaign.out
    made = releases.release(
        out / DATASET,
        out / releases.FOLDER,
        campaign=facts.campaign,
        at=opened.clock.now(),
        unfinished=facts.unfinished,
    )
    if made is not None:
        _LOG.info("made release %d in %s", made.number, made.folder)


def dataset_facts(opened: OpenedCampaign, *, provisional: int) -> DatasetFacts:
    """The facts that the dataset states about itself.

    Args:
        opened: the campaign.
        provisional: how many answers are not decided yet.
    """
    campaign = opened.campaign
    return DatasetFacts(
        campaign=campaign.name,
        purpose=campaign.description,
        task=campaign.task,
        source_hash=opened.used_inputs[-1].inputs.source_hash,
        code_commit=code_version(),
        is_rehearsal=opened.is_rehearsal,
        is_imported=opened.is_imported,
        has_markets=bool(hits.markets(opened.store)),
        is_drawn=opened.is_rehearsal and campaign.has_drawn_truth,
        # How many answers another tool wanted is unknown.
        wanted_per_item="" if opened.is_imported else campaign.posting.asked,
        machine=campaign.machine,
        mixed_in=len(campaign.items) - len(campaign.own_items),
        unfinished=_unfinished(opened, provisional=provisional),
        publication=campaign.dataset,
        sizes=picture_sizes(campaign),
        settled={key: label.value for key, label in results.load_labels(opened.store).items()},
    )


def write_report(opened: OpenedCampaign, *, with_other_rules: bool = True) -> Path:
    """Write the report, and its first page as Markdown; return the report's path."""
    out = opened.campaign.out
    facts = report_facts(opened)
    if with_other_rules and (others := write_other_rules(opened, report_model(facts))):
        facts = replace(facts, of_sections=(*facts.of_sections, others))
    ids = hidden_ids(opened)
    write_whole_text(out / REPORT, ids.everywhere(render_report(facts)))
    write_whole_text(out / SUMMARY, ids.everywhere(render_markdown(facts)))
    return out / REPORT


def _unfinished(opened: OpenedCampaign, *, provisional: int) -> str:
    """What is still missing, as a sentence; "" once all rows so far are answered."""
    progress = read_progress(opened)
    waiting = 0 if progress.source is None else progress.source.waiting
    is_missing = progress.missing or progress.hits_open or provisional or waiting
    if progress.is_finished or (progress.waiting_for == "new rows" and not is_missing):
        return ""
    rows = f", {plural(waiting, 'row')} waiting for their batch" if waiting else ""
    return (
        f"NOT FINISHED: {plural(progress.missing, 'accepted answer')} still wanted, "
        f"{plural(progress.hits_open, 'HIT')} still open, "
        f"{plural(provisional, 'answer')} not decided yet (is_provisional){rows}."
    )
