"""Shows what files of other tools hold, and brings them into a campaign."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from piecework.config.imported_file import read_reading
from piecework.domain.counts import plural
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.printable import printable
from piecework.importing.importing import Import, keep, look
from piecework.importing.understanding import FileSummary, Understanding
from piecework.store.imports import ImportedFile

_NOWHERE = Path("imported.toml")
_FAULTS_SHOWN = 5
_VALUES_SHOWN = 5
_WIDEST = 40


def bring_in(
    paths: Sequence[Path],
    *,
    into: Path | None,
    columns: Path | None,
    task: str,
    only_map: bool,
    as_json: bool,
) -> None:
    """Understand files, show that, and import them unless that is all."""
    reading = read_reading(columns) if columns else Reading()
    if into is None and not paths:
        raise ConfigError(["no file to look at is given"])
    found = look(paths, into=into or _NOWHERE, reading=reading, task_name=task)
    document: dict[str, object] = {}
    if found.understood is not None:
        if as_json:
            document = _as_dict(found.understood)
        else:
            _say(found.understood)
    if only_map:
        _end(found, document, [], as_json=as_json)
        return
    campaign, kept = keep(found)
    document["campaign"] = str(campaign.path)
    _end(found, document, kept, as_json=as_json)


def _end(
    found: Import,
    document: dict[str, object],
    kept: Sequence[ImportedFile],
    *,
    as_json: bool,
) -> None:
    new, known, aside = (
        sum(getattr(file, name) for file in kept)
        for name in ("assignments", "known", "unreadable")
    )
    if as_json:
        counts = {"imported": new, "known": known, "unreadable": aside}
        click.echo(json.dumps(document | (counts if kept else {}), indent=2))
        return
    if not kept:
        nothing = "nothing was written" if found.understood else "its answers are typed"
        click.echo(nothing)
        return
    said = [f"imported: {plural(new, 'assignment')}"]
    said += [f"{known:,} known before"] * bool(known)
    said += [f"{plural(aside, 'row')} kept aside"] * bool(aside)
    click.echo("; ".join(said))
    if found.campaign is None:
        click.echo(f"written: {found.path}")
    click.echo(f"next: piecework assess {found.path}    (what heuristics find)")
    click.echo(f"      piecework export {found.path}    (the dataset and its report)")


def _say(understood: Understanding) -> None:
    console = Console()
    console.print(_files(understood.files))
    console.print(_columns(understood))
    for file in understood.files:
        for fault in file.first_faults[:_FAULTS_SHOWN]:
            column = f", column {fault.column}" if fault.column else ""
            sentence = f"{file.path}: line {fault.line}{column}: {fault.fault}"
            click.secho(f"kept aside: {printable(sentence)}", fg="yellow", err=True)
        if (more := file.unreadable - _FAULTS_SHOWN) > 0:
            said = f"kept aside: {file.path}: {more:,} more rows"
            click.secho(said, fg="yellow", err=True)


def _files(files: Sequence[FileSummary]) -> Table:
    table = Table(title="files", title_justify="left", box=box.SIMPLE)
    table.add_column("file", overflow="fold")
    table.add_column("what it holds", overflow="fold")
    for file in files:
        table.add_row(Text(printable(file.path.name)), Text(printable(_said(file))))
    return table


def _said(file: FileSummary) -> str:
    """A file in a sentence."""
    who = plural(len(file.workers), "worker") if file.workers else "workers not named"
    outcomes = [
        f"{number:,} {name}"
        for name, number in file.outcomes.most_common(_VALUES_SHOWN)
        if name
    ]
    outcomes += [f"{number:,} {why}" for why, number in file.not_sent.items()]
    days = [f"{at:%Y-%m-%d}" for at in (file.first_at, file.last_at) if at]
    parts = [
        file.format_name,
        f"{plural(file.assignments, 'assignment')}, {who}",
        " to ".join(dict.fromkeys(days)) or "times not said",
        *([f"there {', '.join(outcomes)}"] if outcomes else []),
        *([f"{plural(file.unreadable, 'row')} unreadable"] if file.unreadable else []),
    ]
    return "; ".join(parts)


def _columns(understood: Understanding) -> Table:
    reading = understood.reading
    numbered = (
        f", {len(reading.numbers)} to a row (columns that end in "
        f"{reading.numbers[0]} to {reading.numbers[-1]})"
        if reading.numbers
        else ""
    )
    if reading.item_id:
        told_by = f"an item is named by the column {reading.item_id}"
    elif reading.item:
        told_by = "an item is named by its columns"
    else:
        told_by = "no column names items, so each HIT is one"
    title = (
        f"{plural(understood.answers, 'answer')} about "
        f"{plural(understood.items, 'item')}{numbered}; {told_by}"
        + (
            f"\ntask of the gallery: {understood.task_name}"
            * bool(understood.task_name)
        )
    )
    table = Table(title=printable(title), title_justify="left", box=box.SIMPLE)
    table.add_column("column")
    table.add_column("understood as")
    table.add_column("filled", justify="right")
    table.add_column("for example", overflow="fold")
    for name in reading.item:
        table.add_row(Text(printable(name)), "the item", "", "")
    renamed = {sent: name for name, sent in reading.answers.items()}
    for name, survey in understood.surveys.items():
        guess = understood.fields.get(renamed.get(name, name))
        kind = "a field of the task" if guess is None else _kind(guess.model_dump())
        examples = [value for value, _ in survey.values.most_common(_VALUES_SHOWN)]
        table.add_row(
            Text(printable(name)),
            kind,
            f"{survey.filled:,} of {survey.rows:,}",
            Text(printable("; ".join(one[:_WIDEST] for one in examples))),
        )
    return table


def _kind(guess: dict[str, object]) -> str:
    kind = f"answer: {guess['kind']}"
    if guess["kind"] == "number":
        kind += f" from {guess['minimum']:g} to {guess['maximum']:g}"
    if guess["scope"] == "hit":
        kind += ", once for all items"
    return kind


def _as_dict(understood: Understanding) -> dict[str, object]:
    return {
        "files": [
            {
                "file": str(file.path),
                "format": file.format_name,
                "assignments": file.assignments,
                "workers": len(file.workers),
                "unreadable": file.unreadable,
                "outcomes": dict(file.outcomes),
                "not_sent": dict(file.not_sent),
            }
            for file in understood.files
        ],
        "items": understood.items,
        "answers": understood.answers,
        "task": understood.task_name,
        "numbers": list(understood.reading.numbers),
        "item": list(understood.reading.item),
        "item_id": understood.reading.item_id,
        "fields": {
            name: table.model_dump(exclude_none=True)
            for name, table in understood.fields.items()
        },
    }
