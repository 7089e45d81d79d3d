"""Prints progress, sections of pages and checks: tables for people, JSON for programs."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from piecework.cli.options import ENDPOINT_VARIABLE
from piecework.domain.progress import BY_A_PERSON, Progress, SourceState
from piecework.domain.text import NOTHING, plural, printable, shell_word

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from piecework.campaign.live_changes import LiveChange
    from piecework.campaign.opened import OpenedCampaign
    from piecework.domain.campaign import Campaign
    from piecework.foundation.client.checks import Check
    from piecework.report.components import Code, Link, Quote, Tag
    from piecework.report.components import Table as ReportTable
    from piecework.report.page import SectionsPage

_NAMES_SHOWN = 20


def plain_console() -> "Console":
    """Return a console that shows brackets and colons in people's texts as they are."""
    from rich.console import Console

    return Console(markup=False, emoji=False)


def say_progress(progress: Progress, *, as_json: bool, all_rows: bool = False) -> None:
    """Print how far a campaign is: two sentences and a bar, or the table of all counts."""
    if as_json:
        click.echo(json.dumps(progress.as_dict(), indent=2, sort_keys=True))
        return
    if all_rows:
        from rich.table import Table

        table = Table(title=f"campaign {progress.campaign}", title_justify="left")
        table.add_column("what")
        table.add_column("how much", justify="right")
        for row in progress_rows(progress):
            table.add_row(*map(printable, row))
        plain_console().print(table)
    else:
        for line in progress_lines(progress):
            click.echo(line)
    if progress.too_few_workers:
        click.echo(f"too few workers: {progress.too_few_workers}")


_BAR = 40


def progress_lines(progress: Progress) -> Iterator[str]:
    """Yield what a person wants to know first, in lines for a terminal.

    The second line has the money, the last one a bar of the accepted answers. What
    needs attention comes between them: a cap, a source that cannot be read.
    """
    wanted = progress.accepted + progress.missing
    counts = [f"{progress.accepted:,} of {plural(wanted, 'answer')} accepted"]
    for number, what in (
        (progress.undecided, "not judged yet"),
        (progress.dropped + progress.surplus, "set aside"),
    ):
        counts += [f"{number:,} {what}"] if number else []
    counts += [f"{plural(progress.excluded, 'worker')} excluded"] if progress.excluded else []
    yield _wrapped(f"{progress.campaign}: {_state(progress)}. {', '.join(counts)}.")
    yield _money_line(progress)
    if progress.to_decide:
        times = (
            [f"about {_span(progress.review_seconds)} of work"] if progress.review_seconds else []
        )
        if progress.pays_itself_at:
            times.append(f"the marketplace pays automatically at {_at(progress.pays_itself_at)}")
        if times:
            yield f"{plural(progress.to_decide, 'decision')}: {', '.join(times)}."
    if progress.cap_reached:
        yield _wrapped(f"{progress.beyond_cap} missing: a cap is reached.")
    if progress.source is not None:
        yield from map(_wrapped, _source_lines(progress.source))
    share = progress.accepted / wanted if wanted else 0.0
    full = int(_BAR * share)
    yield f"{'█' * full}{'░' * (_BAR - full)} {int(100 * share)} %"


def _money_line(progress: Progress) -> str:
    shown = progress.shown
    held = f", {shown(progress.held_cents)} held for open HITs" if progress.held_cents else ""
    spent, budget = shown(progress.spent_cents), shown(progress.budget_cents)
    if progress.is_rehearsal:
        return f"It would cost {spent} of {budget}{held}; a rehearsal pays nothing."
    return f"{spent} of {budget} spent{held}."


def _state(progress: Progress) -> str:
    by = f" by {progress.stopped_by}" if progress.stopped_by else ""
    stopped = f"stopped{by}, " if by else ""
    later = f", continues at {_at(progress.goes_on_at)}" if progress.goes_on_at else ""
    match progress.waiting_for:
        case "nobody":
            return f"ended{by}" if progress.missing or progress.cap_reached else "finished"
        case "workers":
            batch = progress.batch_shown
            return f"{stopped}batch {batch} waits for workers, {_open_hits(progress)}"
        case "people":
            decisions = plural(progress.to_decide, "decision")
            return f"waits for a person, {decisions if progress.to_decide else progress.reason}"
        case "the next pass":
            because = f" ({progress.reason})" if progress.reason else ""
            return f"{stopped}waits for the next pass{because}"
        case other:
            return f"waits for {other}{by}{later}"


def _open_hits(progress: Progress) -> str:
    state = "expired and to be collected" if progress.stopped_by == BY_A_PERSON else "open"
    return f"{plural(progress.hits_open, 'HIT')} {state}"


def next_command(
    progress: Progress,
    campaign: "Path",
    *,
    report: "Path | None",
    endpoint: str | None,
    live: bool = False,
) -> str | None:
    """Return the command that a person types next, if any.

    Args:
        progress: of the campaign.
        campaign: its file.
        report: its report, if there is one.
        endpoint: URL of its marketplace; `None` for imported answers, "" for a
            rehearsal whose marketplace no other process serves.
        live: a person has agreed to an amount.
    """
    if progress.to_decide:
        return f"piecework review {shell_word(campaign)}"
    if progress.is_finished:
        return None if report is None else f"open {shell_word(report)}"
    is_rehearsal = progress.is_rehearsal
    if is_rehearsal and not endpoint:
        return f"piecework rehearse {shell_word(campaign)}"
    if endpoint is None:
        return f"piecework data assess {shell_word(campaign)}"
    return run_command(campaign, endpoint, live=live, once=is_rehearsal, rehearsal=is_rehearsal)


def run_command(
    campaign: "Path", endpoint: str, *, live: bool, once: bool = False, rehearsal: bool = False
) -> str:
    """Return the command that makes passes; it names an endpoint that `run` would not take."""
    from piecework.platforms.endpoint import endpoint_beside

    is_usual = endpoint in {os.environ.get(ENDPOINT_VARIABLE), endpoint_beside(os.environ)}
    named = "" if is_usual else f" --endpoint {shell_word(endpoint)}"
    options = " --once" * once + " --rehearsal" * rehearsal
    return f"piecework run {shell_word(campaign)}{options}{named}{' --live' * live}"


def _wrapped(text: str) -> str:
    """Break a line of a terminal between words, and never inside of a path."""
    width = min(80, get_terminal_size().columns)
    lines = wrap(printable(text), width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def say_changes(opened: "OpenedCampaign") -> None:
    """Tell on standard error which inputs have changed since the last pass."""
    if not opened.changed_inputs:
        return
    from piecework.campaign.rehearsal_folders import endpoint_of

    path = opened.campaign.path
    again = (
        f"piecework data assess {shell_word(path)}"
        if opened.is_imported
        else f"piecework rehearse {shell_word(path)}"
        if opened.is_rehearsal and not endpoint_of(opened.campaign.out)
        else "the next pass uses them"
    )
    changed = ", ".join(opened.changed_inputs)
    click.echo(f"changed since these answers were decided: {changed}", err=True)
    click.echo(f"next: {again}", err=True)


def say_live_changes(changes: "Sequence[LiveChange]", *, err: bool = False) -> None:
    """Say what has changed since the last pass of a live campaign, and what it means."""
    for meaning, alike in groupby(changes, key=attrgetter("means")):
        click.echo(f"changed since the last pass, {meaning.value}:", err=err)
        for change in alike:
            click.echo(f"  {printable(str(change))}", err=err)


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
        (
            "HITs to be collected" if progress.stopped_by == BY_A_PERSON else "HITs still open",
            f"{progress.hits_open}",
        ),
        ("assignments submitted", f"{progress.submitted}"),
        ("answers", f"{progress.answers}"),
        *([("  with more than the fields", f"{progress.with_more}")] if progress.with_more else []),
        ("subjects flagged", f"{progress.flagged}"),
        ("answers accepted", f"{progress.accepted}"),
        ("answers not judged yet", f"{progress.undecided}"),
        ("answers missing", f"{progress.missing}"),
        *([("  for items that are not sure", f"{progress.unsure}")] if progress.unsure else []),
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
        (
            "would cost, of the cap" if progress.is_rehearsal else "spent of the cap",
            f"{shown(progress.spent_cents)} of {shown(progress.budget_cents)}",
        ),
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


def _row_counts(source: SourceState) -> list[tuple[str, int]]:
    """Return the numbers of rows that are not posted as they are now, by what they do."""
    return [
        ("cannot be used", source.quarantined),
        ("changed", source.changed),
        ("disappeared", source.withdrawn),
    ]


def _source_lines(source: SourceState) -> Iterator[str]:
    """Yield what is wrong with a source: rows, with the first reasons, and its end."""
    counts = [f"{plural(number, 'row')} {what}" for what, number in _row_counts(source) if number]
    if counts:
        yield f"source: {', '.join(counts)}."
    yield from (f"  {fault}" for fault in source.faults)
    yield from (f"source: {fault}" for fault in (source.fault, source.unfinished) if fault)


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
    counts = [(f"rows that {what}", number) for what, number in _row_counts(source)]
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


_ROOMY = 7
"""Tables with more columns get no padding, so that 80 characters hold their numbers."""

_LINES_OF_A_ROW = 2
"""A table whose longest texts fill more lines than this is a list, row by row."""

_A_FEW = 4
"""A table shows up to this many more rows rather than leave them out."""


def say_sections(page: "SectionsPage", *, most_rows: int | None = None) -> None:
    """Print a page's figures, notes and tables, with up to `most_rows` rows each."""
    from rich.text import Text

    console = plain_console()
    console.print(Text(page.source, style="bold"))
    for figure in page.key_figures:
        console.print(Text(f"{figure.label}: {figure.value} ({figure.beside})"))
    for note in page.notes:
        style = "yellow" if note.level in {"watch", "problem"} else ""
        console.print(Text(f"{note.word}: {note.text}", style=style))
    for section in page.sections:
        console.print()
        console.rule(Text(section.title), align="left")
        for line in (*section.lead, *(note.text for note in section.notes)):
            console.print(Text(line))
        for table in section.tables:
            _say_table(console, table, most_rows)


def _say_table(console: "Console", table: "ReportTable", most_rows: int | None) -> None:
    from rich.table import Table
    from rich.text import Text

    console.print()
    if not table.rows:
        console.print(Text(f"{table.caption}: {table.empty}"))
        _say_note(console, table)
        return
    # Text, not str: rich reads brackets in a str, which may be a worker's, as a style.
    is_crowded = len(table.columns) > _ROOMY
    shown = Table(
        title=Text(table.caption), title_justify="left", padding=(0, 0 if is_crowded else 1)
    )
    for column in table.columns:
        shown.add_column(
            Text(column.label),
            justify="right" if column.style == "n" else "left",
            no_wrap=is_crowded and column.style == "n",
        )
    if most_rows is not None and len(table.rows) <= most_rows + _A_FEW:
        most_rows = None
    rows = [
        [cell if isinstance(cell, str) else _text(cell) for cell in row]
        for row in table.rows[:most_rows]
    ]
    widths = (max(map(len, cells)) for cells in zip(*rows, strict=True))
    if sum(widths) > _LINES_OF_A_ROW * console.width:
        _say_rows(console, table, rows)
    else:
        for row in rows:
            shown.add_row(*map(Text, row))
        console.print(shown)
    if most_rows is not None and len(table.rows) > most_rows:
        console.print(f"The table shows {most_rows} of {len(table.rows)} rows.")
    _say_note(console, table)


def _say_rows(console: "Console", table: "ReportTable", rows: Sequence[Sequence[str]]) -> None:
    """Print rows of long texts below each other, as columns of a few letters hold no sentence."""
    from rich.padding import Padding
    from rich.text import Text

    console.print(Text(table.caption, style="italic"))
    labels = [column.label for column in table.columns]
    for row in rows:
        console.print(Text(row[0], style="bold"))
        for label, cell in zip(labels[1:], row[1:], strict=True):
            if cell and cell != NOTHING:
                console.print(Padding(Text(f"{label}: {cell}"), (0, 0, 0, 2)))


def _text(cell: "Quote | Code | Tag | Link") -> str:
    """The text of a cell; what a name means comes before it."""
    words = getattr(cell, "words", "")
    return f"{words} ({cell.text})" if words else cell.text


def _say_note(console: "Console", table: "ReportTable") -> None:
    from rich.text import Text

    if table.note:
        console.print(Text(table.note, style="dim"))


_COLORS = {"ok": "green", "warn": "yellow", "fail": "red"}


def say_checks(checks: "Sequence[Check]") -> None:
    """Write a line for each check, and its next step if it has one."""
    for check in checks:
        level = click.style(f"{check.level:4}", fg=_COLORS[check.level])
        click.echo(f"{level}  {check.name:10}  {printable(check.sentence)}")
        if check.next_step:
            click.echo(f"      next: {printable(check.next_step)}")


def say_complete(campaign: "Campaign") -> None:
    """Print the complete file, with variables in place of secrets; the rest is comments."""
    from piecework.campaign.deriving import printed_text

    text, variables = printed_text(campaign)
    for sentence in campaign.unused_rules:
        click.echo(f"# Not used: {sentence}.")
    click.echo(text, nl=False)
    for variable, key in variables.items():
        why = f"{key} states a secret, which is not printed; ${{{variable}}} is in its place"
        click.echo(f"{why}: set the environment variable {variable}", err=True)


def say_derived(campaign: "Campaign") -> None:
    """Print a line for each value that the campaign file leaves out."""
    from piecework.campaign.deriving import derived_values
    from piecework.domain.toml_text import toml_value

    for each in derived_values(campaign):
        key = each.key.removesuffix(".total")
        stated = f"{key} = {toml_value(each.value)}"
        if isinstance(each.value, list):
            stated = f"{plural(len(each.value), 'rule')}, as --full prints them"
        click.echo(f"derived: {stated} ({each.why})")
    for sentence in campaign.unused_rules:
        click.echo(f"Not used: {sentence}.")
