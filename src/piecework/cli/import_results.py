"""`import`: makes a campaign from results that other tools collected."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.table import Table

from piecework.cli.options import COLUMNS, DRY_RUN, JSON, TASK
from piecework.cli.output import plain_console
from piecework.domain.errors import ConfigError
from piecework.domain.imported import ImportedFile, Reading
from piecework.domain.text import plural, printable, shell_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from piecework.importing.importing import Import
    from piecework.importing.understanding import FileSummary, Understanding

_NOWHERE = Path("imported.toml")
_FAULTS_SHOWN = 5
_NAMES_SHOWN = 20
_VALUES_SHOWN = 5
_WIDEST = 40
_GUESSES_SHOWN = 40


@click.command("import")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--as",
    "campaign",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The campaign file to write, or to add to if it exists.",
)
@DRY_RUN
@COLUMNS
@TASK
@JSON
def import_results(
    files: tuple[Path, ...],
    *,
    campaign: Path | None,
    dry_run: bool,
    columns: Path | None,
    task: str | None,
    as_json: bool,
) -> None:
    """Import results from another tool.

    MTurk's results and the exports of other tools are recognised; of any other CSV or
    JSON Lines file, --columns names the columns. An imported campaign posts and pays
    nothing. No answer is added twice.

    After you change fields in the campaign file, give --as without FILES to read the same
    answers again.

    Examples:
      piecework data import Batch_*.csv --as stance.toml
      piecework data import answers.csv --columns columns.toml --dry-run
    """
    if campaign is None and not dry_run:
        raise click.UsageError("give --as CAMPAIGN.toml, or --dry-run to write nothing")
    if campaign is not None and campaign.suffix != ".toml":
        raise click.UsageError(f"--as {campaign}: a campaign file ends in .toml")
    if campaign is None and not files:
        raise ConfigError(["--dry-run needs a file: piecework data import FILES --dry-run"])
    from piecework.config.shared_files import read_reading
    from piecework.importing.importing import import_files, understand_files

    seen = understand_files(
        files,
        into=campaign or _NOWHERE,
        reading=read_reading(columns) if columns else Reading(),
        task_name=task or "",
    )
    document: dict[str, object] = {}
    if seen.understood is not None and as_json:
        document = _as_dict(seen.understood)
    elif seen.understood is not None:
        _say(seen.understood)
    if dry_run:
        _end(seen, document, [], as_json=as_json)
        return
    imported, kept = import_files(seen)
    renamed = {
        field.sent_as: field.name
        for field in imported.task.fields
        if field.sent_as not in {"", field.name}
    }
    document |= {"campaign": str(imported.path), "renamed": renamed}
    if not as_json:
        _say_renamed(renamed)
    _end(seen, document, kept, as_json=as_json)


def _end(
    seen: "Import", document: dict[str, object], kept: "Sequence[ImportedFile]", *, as_json: bool
) -> None:
    new, known, aside = (
        sum(getattr(file, name) for file in kept) for name in ("assignments", "known", "unreadable")
    )
    if as_json:
        counts = {"imported": new, "known": known, "unreadable": aside}
        click.echo(json.dumps(document | (counts if kept else {}), indent=2))
        return
    if not kept:
        nothing = "nothing was written" if seen.understood else "its answers were read again"
        click.echo(nothing)
        return
    counted = [f"imported: {plural(new, 'assignment')}"]
    counted += [f"{known:,} known before"] * bool(known)
    counted += [f"{plural(aside, 'row')} kept aside"] * bool(aside)
    click.echo("; ".join(counted))
    for file in kept:
        if file.conflict:
            sentence = f"{file.file}: {file.conflict}"
            click.secho(f"kept aside: {printable(sentence)}", fg="yellow", err=True)
    if seen.campaign is None:
        click.echo(f"written: {seen.path}")
    click.echo(f"next: piecework data assess {shell_word(seen.path)}    (what heuristics find)")
    click.echo(f"      piecework export {shell_word(seen.path)}    (the dataset and its report)")


def _say_renamed(renamed: "Mapping[str, str]") -> None:
    """Print which answers have a column of another name."""
    for name in list(renamed)[:_NAMES_SHOWN]:
        words = f"column of the dataset: {renamed[name]} holds the answers {name!r}"
        click.echo(printable(words))
    if (more := len(renamed) - _NAMES_SHOWN) > 0:
        click.echo(f"{more:,} more have other names, which the dataset's card lists")


def _say(understood: "Understanding") -> None:
    console = plain_console()
    console.print(_files(understood.files))
    console.print(_columns(understood))
    if understood.guesses:
        console.print(_guesses(understood.guesses))
    for file in understood.files:
        for fault in file.first_faults[:_FAULTS_SHOWN]:
            column = f", column {fault.column}" if fault.column else ""
            sentence = f"{file.path}: line {fault.line}{column}: {fault.fault}"
            click.secho(f"kept aside: {printable(sentence)}", fg="yellow", err=True)
        if (more := file.unreadable - _FAULTS_SHOWN) > 0:
            rest = f"kept aside: {file.path}: {more:,} more rows"
            click.secho(rest, fg="yellow", err=True)


def _files(files: "Sequence[FileSummary]") -> Table:
    table = Table(title="files", title_justify="left", box=box.SIMPLE)
    table.add_column("file", overflow="fold")
    table.add_column("what it holds", overflow="fold")
    for file in files:
        table.add_row(printable(file.path.name), printable(_sentence(file)))
    return table


def _sentence(file: "FileSummary") -> str:
    """Describe a file in one line."""
    who = plural(len(file.workers), "worker") if file.workers else "no worker ids"
    outcomes = [
        f"{number:,} {name}" for name, number in file.outcomes.most_common(_VALUES_SHOWN) if name
    ]
    outcomes += [f"{number:,} {why}" for why, number in file.not_sent.items()]
    days = [f"{at:%Y-%m-%d}" for at in (file.first_at, file.last_at) if at]
    parts = [
        file.format_name,
        f"{plural(file.assignments, 'assignment')}, {who}",
        " to ".join(dict.fromkeys(days)) or "no times",
        *([f"outcomes there: {', '.join(outcomes)}"] if outcomes else []),
        *([f"{plural(file.unreadable, 'row')} unreadable"] if file.unreadable else []),
    ]
    return "; ".join(parts)


def _columns(understood: "Understanding") -> Table:
    reading = understood.reading
    numbered = (
        f", {len(reading.numbers)} in each row (columns with the numbers "
        f"{reading.numbers[0]} to {reading.numbers[-1]})"
        if reading.numbers
        else ""
    )
    if reading.item_id:
        named_by = f"the column {reading.item_id} names each item"
    elif reading.item:
        named_by = "the item columns together name each item"
    else:
        named_by = "no column names items, so each HIT is an item"
    title = (
        f"{plural(understood.answers, 'answer')} about "
        f"{plural(understood.items, 'item')}{numbered}; {named_by}"
        + (f"\ntask of the gallery: {understood.task_name}" * bool(understood.task_name))
    )
    table = Table(title=printable(title), title_justify="left", box=box.SIMPLE)
    table.add_column("column")
    table.add_column("read as")
    table.add_column("filled", justify="right")
    table.add_column("for example", overflow="fold")
    for name in reading.item:
        table.add_row(printable(name), "the item", "", "")
    renamed = {sent: name for name, sent in reading.answers.items()}
    for name, survey in understood.surveys.items():
        guess = understood.fields.get(renamed.get(name, name))
        kind = "a field of the task" if guess is None else _kind(guess.model_dump())
        examples = [value for value, _ in survey.values.most_common(_VALUES_SHOWN)]
        table.add_row(
            printable(name),
            kind,
            f"{survey.filled:,} of {survey.rows:,}",
            printable("; ".join(value[:_WIDEST] for value in examples)),
        )
    return table


def _guesses(guesses: "Sequence[tuple[str, str]]") -> Table:
    """Return what was guessed, with the line that states otherwise."""
    title = "guessed; a line of the right column in a file for --columns states otherwise"
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("guess", overflow="fold")
    table.add_column("otherwise", overflow="fold")
    for guess, otherwise in guesses[:_GUESSES_SHOWN]:
        table.add_row(printable(guess), printable(otherwise))
    if len(guesses) > _GUESSES_SHOWN:
        table.add_row(f"{len(guesses) - _GUESSES_SHOWN} more (--json lists all)", "")
    return table


def _kind(guess: dict[str, object]) -> str:
    kind = f"answer: {guess['marks'] or guess['kind']}"
    if guess["kind"] == "number":
        kind += f" from {guess['minimum']:g} to {guess['maximum']:g}"
    if guess["scope"] == "hit":
        kind += ", once for all items"
    return kind


def _as_dict(understood: "Understanding") -> dict[str, object]:
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
        "numbers": list(understood.reading.numbers or ()),
        "guesses": [
            {"guess": guess, "otherwise": otherwise} for guess, otherwise in understood.guesses
        ],
        "item": list(understood.reading.item),
        "item_id": understood.reading.item_id,
        "fields": {
            name: table.model_dump(exclude_none=True) for name, table in understood.fields.items()
        },
    }
