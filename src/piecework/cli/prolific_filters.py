"""`prolific filters`: finds Prolific's filters, for a campaign file."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.options import JSON
from piecework.cli.prolific_account import TOKEN_FILE, URL, WORKSPACE, needed_token, only_workspace
from piecework.domain.counts import plural
from piecework.domain.errors import ConfigError
from piecework.domain.printable import printable
from piecework.prolific.client import Prolific
from piecework.prolific.resources.recruiting import FilterKind
from piecework.prolific.token import SERVICE
from piecework.webclient.address import api_address
from piecework.webclient.transport import Patience, Transport

_MOST_CHOICES = 12
"""Choices that are shown if several filters fit."""


@click.command("filters")
@click.argument("words", nargs=-1)
@WORKSPACE
@URL
@TOKEN_FILE
@JSON
def prolific_filters(
    words: tuple[str, ...], *, workspace: str, url: str, token_file: Path | None, as_json: bool
) -> None:
    """Find filters that a campaign can ask for.

    WORDS are looked for in ids, titles and choices. The command prints each filter as
    [requirements.prolific] takes it. It changes nothing.

    Examples:
      piecework prolific filters
      piecework prolific filters language
      piecework prolific filters first-language
    """
    with api_faults():
        token = needed_token(token_file)
        # A person is waiting, so it repeats a call only twice.
        patience = Patience(tries=3, first_seconds=0.5)
        with Transport(api_address(url, SERVICE), token, patience=patience) as transport:
            prolific = Prolific(transport)
            known = workspace or only_workspace(prolific, command="filters")
            kinds = [*prolific.recruiting.filter_kinds(known)]
    fitting = [kind for kind in kinds if _fits(kind, words)]
    if as_json:
        documents = [kind.model_dump(mode="json") for kind in fitting]
        click.echo(json.dumps({"filters": documents}, indent=2))
        return
    if not fitting:
        raise ConfigError(
            [f"none of Prolific's {len(kinds)} filters has {' '.join(words)!r}"],
            next_step="piecework prolific filters lists all",
        )
    for kind in fitting:
        for line in _lines(kind, shows_all=len(fitting) == 1):
            click.echo(printable(line))
    if words:
        click.echo(f"{plural(len(fitting), 'filter')} of {len(kinds)}")


def _fits(kind: FilterKind, words: tuple[str, ...]) -> bool:
    texts = [kind.id, kind.title, *map(str, kind.choices.values())]
    folded = "\n".join(texts).casefold()
    return kind.id in words or all(word.casefold() in folded for word in words)


def _lines(kind: FilterKind, *, shows_all: bool) -> Iterator[str]:
    """Yield a filter as a campaign file takes it, with its choices as comments."""
    if kind.type == "range":
        ends = {"at_least": kind.least, "at_most": kind.most}
        table = ", ".join(
            f"{name} = {end:g}" for name, end in ends.items() if isinstance(end, float)
        )
        yield f"{kind.id} = {{ {table} }}   # {kind.title}"
        return
    choices = [f"{number} {name}" for number, name in kind.choices.items()]
    if kind.data_type == "ParticipantID":
        yield f'# {kind.id}: {kind.title}; write {{ file = "ids.txt" }}'
        return
    if kind.data_type != "ChoiceID":
        yield f"# {kind.id}: {kind.title}; a list that piecework manages itself"
        return
    first = next(iter(kind.choices), "0")
    yield f"{kind.id} = [{first}]   # {kind.title}"
    shown = choices if shows_all else choices[:_MOST_CHOICES]
    for choice in shown:
        yield f"#   {choice}"
    if len(choices) > len(shown):
        more = len(choices) - len(shown)
        yield f"#   … {more} more: piecework prolific filters {kind.id}"
