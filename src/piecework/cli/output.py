"""Prints progress: a table for people, one JSON document for programs."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from piecework.domain.counts import plural
from piecework.domain.printable import printable
from piecework.domain.progress import Progress, SourceState

if TYPE_CHECKING:
    from piecework.campaign.opened import OpenedCampaign

_NAMES_SHOWN = 20


def say_progress(progress: Progress, *, as_json: bool) -> None:
    """Print the progress of a campaign."""
    if as_json:
        click.echo(json.dumps(progress.as_dict(), indent=2, sort_keys=True))
        return
    table = Table(title=f"campaign {progress.campaign}", title_justify="left")
    table.add_column("what")
    table.add_column("how much", justify="right")
    for name, value in progress_rows(progress):
        table.add_row(name, value)
    Console().print(table)
    if progress.too_few_workers:
        click.echo(f"too few workers: {progress.too_few_workers}")


def say_changes(opened: "OpenedCampaign") -> None:
    """Tell on standard error which inputs have changed since the last pass."""
    if not opened.changed_inputs:
        return
    path = opened.campaign.path
    again = (
        f"piecework assess {path}"
        if opened.is_imported
        else f"piecework rehearse {path}"
        if opened.is_rehearsal
        else "the next pass uses them"
    )
    changed = ", ".join(opened.changed_inputs)
    click.echo(f"changed since these answers were decided: {changed}", err=True)
    click.echo(f"next: {again}", err=True)


def also_sent_lines(names: Mapping[str, int]) -> Iterator[str]:
    """Yield what to print about names that were sent and are no fields.

    Args:
        names: the number of answers with each.
    """
    if not names:
        return
    yield "sent by workers, and no fields (columns sent_... of the dataset):"
    for name in list(names)[:_NAMES_SHOWN]:
        yield printable(f"  {name!r}: {plural(names[name], 'answer')}")
    if (more := len(names) - _NAMES_SHOWN) > 0:
        yield f"  and {more:,} more; --json has all"


def progress_rows(progress: Progress) -> list[tuple[str, str]]:
    """Return the rows of the table, as plain text."""
    shown = progress.shown
    return [
        ("batch", progress.batch_shown),
        *_source(progress.source),
        ("HITs posted", f"{progress.hits_posted}"),
        ("HITs posted again or extended", f"{progress.replaced}"),
        ("HITs still open", f"{progress.hits_open}"),
        ("assignments submitted", f"{progress.submitted}"),
        ("answers", f"{progress.answers}"),
        *([("  with more than the fields", f"{progress.with_more}")] if progress.with_more else []),
        ("subjects flagged", f"{progress.flagged}"),
        ("answers accepted", f"{progress.accepted}"),
        ("answers not judged yet", f"{progress.undecided}"),
        ("answers missing", f"{progress.missing}"),
        *([("  for labels that are not sure", f"{progress.unsure}")] if progress.unsure else []),
        ("answers dropped", f"{progress.dropped}"),
        ("answers surplus", f"{progress.surplus}"),
        ("assignments rejected", f"{progress.rejected}"),
        ("workers excluded", f"{progress.excluded}"),
        ("waiting for a person", f"{progress.to_decide}"),
        *(
            [("  for one person, at this pace", _span(progress.review_seconds))]
            if progress.review_seconds
            else []
        ),
        *(
            [("  the marketplace pays automatically at", _at(progress.pays_itself_at))]
            if progress.pays_itself_at
            else []
        ),
        ("rewards paid", shown(progress.rewards_cents)),
        ("bonuses paid", shown(progress.bonuses_cents)),
        *_compensations(progress),
        ("fees", shown(progress.fees_cents)),
        ("spent of the cap", f"{shown(progress.spent_cents)} of {shown(progress.budget_cents)}"),
        ("held for open HITs", shown(progress.held_cents)),
        ("waiting for", progress.waiting_for),
        *([("  because", progress.reason)] if progress.reason else []),
        *([("HITs that a market refused", f"{progress.refused}")] if progress.refused else []),
        *([("continues at", _at(progress.goes_on_at))] if progress.goes_on_at else []),
        ("cap reached", "yes" if progress.cap_reached else "no"),
        *([("stopped by", progress.stopped_by)] if progress.stopped_by else []),
    ]


def _compensations(progress: Progress) -> list[tuple[str, str]]:
    """Return what people were paid whom faults hurt, if any."""
    if not progress.compensations:
        return []
    payments = plural(progress.compensations, "payment")
    reasons = plural(progress.compensation_reasons, "reason")
    amount = progress.shown(progress.compensations_cents)
    return [("compensation paid", f"{amount} ({payments}, {reasons})")]


def _source(source: SourceState | None) -> list[tuple[str, str]]:
    """Return how a source of items grows."""
    if source is None:
        return []
    rows = [
        ("rows waiting for their batch", f"{source.waiting:,}"),
        ("rows a day", f"{source.rows_in:.1f} arrive, {source.rows_out:.1f} are dealt"),
    ]
    if source.behind_days:
        words = f"more arrive than are dealt: {source.behind_days:.1f} days wait"
        rows.append(("  the budget does not keep up", words))
    counts = (
        ("rows that changed", source.changed),
        ("rows that disappeared", source.withdrawn),
        ("rows that cannot be used", source.quarantined),
    )
    rows += [(name, f"{number:,}") for name, number in counts if number]
    rows += [("  because", fault) for fault in source.faults]
    for name, fault in (("source", source.fault), ("  its end", source.unfinished)):
        if fault:
            rows.append((name, fault))
    return rows


def _at(moment: str) -> str:
    return f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M} UTC"


def _span(seconds: int) -> str:
    minute, hour = 60, 3600
    if seconds < 2 * hour:
        return f"{max(1, round(seconds / minute))} min"
    return f"{seconds / hour:.1f} h"
