"""Answers for analyses: those that count in a campaign, or all in a file."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from piecework.analyses.votes import answers_that_count
from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.text import plural
from piecework.engine.judge import proposed_verdicts
from piecework.engine.opening import open_to_look
from piecework.importing.readers.recognise import recognise
from piecework.importing.temporary import opened_sources
from piecework.postprocess.pseudonyms import pseudonyms
from piecework.report.analysis.answers import AnalysedAnswers
from piecework.report.analysis.page import Analysed, analyse
from piecework.results.table import answers_table


class Wanted(NamedTuple):
    """How to compare answers; see `AnalysedAnswers`."""

    condition: str = ""
    unit: str = ""
    margin: float | None = None
    seed: int = 1


def analyse_file(path: Path, reading: Reading, *, task_name: str = "", wanted: Wanted) -> Analysed:
    """Analyse a file from another tool, without storing anything.

    Args:
        path: the file.
        reading: what is known about its columns.
        task_name: a task of the gallery, if known.
        wanted: how to compare answers.

    Raises:
        ConfigError: it cannot be read, or items lack the wanted column.
    """
    sources = recognise([path], reading)
    with opened_sources(sources, reading, task_name=task_name) as sources_read:
        opened = sources_read.opened
        table = opened.answers()
        workers = pseudonyms(table["worker_id"], opened.pseudonym_key)
        answers = AnalysedAnswers(
            table=table.assign(worker=workers),
            task=opened.campaign.task,
            items=opened.campaign.items,
            condition=wanted.condition,
            unit=wanted.unit,
            margin=wanted.margin,
            seed=wanted.seed,
        )
    _check(answers, wanted, stated_in="the file of --columns")
    return analyse(path.name, answers)


def analyse_campaign(path: Path, wanted: Wanted) -> Analysed:
    """Analyse the answers of a campaign that count, as in its dataset.

    Raises:
        ConfigError: items lack the wanted column.
        StoreError: the campaign has no store yet.
    """
    with open_to_look(load_campaign(path)) as opened:
        campaign = opened.campaign
        table, waiting = _counted(opened)
        known = campaign.task.conditions
        answers = AnalysedAnswers(
            table=table,
            task=campaign.task,
            items=campaign.items,
            condition=wanted.condition or (known[0].column if known else ""),
            unit=wanted.unit,
            margin=wanted.margin,
            seed=wanted.seed,
        )
        _check(answers, wanted, stated_in=str(path))
        return analyse(campaign.name, answers, remarks=_left_out(waiting))


def _counted(opened: OpenedCampaign) -> tuple[pd.DataFrame, int]:
    """Return the answers that count, and how many wait for a decision."""
    proposed = proposed_verdicts(opened)
    table = answers_table(opened, proposed=proposed)
    is_known = ~table["is_provisional"] | table.index.isin(proposed)
    kept = answers_that_count(table[is_known])
    waits = table["is_provisional"] & ~table.index.isin(kept.index)
    return kept, int((waits & ~table["is_surplus"]).sum())


def _left_out(waiting: int) -> tuple[str, ...]:
    if not waiting:
        return ()
    more = plural(waiting, "answer")
    return (f"This leaves out {more} that no person has decided about.",)


def _check(answers: AnalysedAnswers, wanted: Wanted, *, stated_in: str) -> None:
    known = dict.fromkeys(name for item in answers.items for name in item.columns)
    faults = [
        f"items have no column {name!r}; the columns are {', '.join(known)}"
        for name in (answers.condition, answers.unit)
        if name and name not in known
    ]
    if wanted.condition and not faults and not answers.rated_fields():
        fields = ", ".join(f"{field.name} ({field.kind})" for field in answers.task.item_fields)
        faults.append(
            f"--condition {wanted.condition}: only numbers and grades can be compared, "
            f"and no field has them: {fields}. If a field holds numbers, set "
            f'[fields.NAME] kind = "number" in {stated_in}. If words stand for '
            'numbers, set values = { good = "3" }'
        )
    if wanted.condition and not faults:
        values = set(answers.column(wanted.condition)) - {""}
        if len(values) < 2:  # noqa: PLR2004 - two conditions are needed to compare
            named = f"only {values.pop()!r}" if values else "nothing"
            faults.append(
                f"--condition {wanted.condition}: the items with answers have {named} "
                "in this column, so there is nothing to compare"
            )
    if answers.margin is not None and answers.margin <= 0:
        faults.append("the margin must be above 0")
    if faults:
        raise ConfigError(faults)
