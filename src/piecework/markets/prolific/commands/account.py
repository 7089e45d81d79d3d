"""`prolific`: commands about an account at Prolific: is it ready, which filters it has."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.errors import api_faults
from piecework.cli.market_accounts import TOKEN_FILE, end_with, needed_token, url_option
from piecework.cli.options import JSON
from piecework.domain.errors import ConfigError
from piecework.domain.text import plural, printable
from piecework.foundation.client.token import api_address
from piecework.foundation.client.transport import Patience, Transport
from piecework.markets.prolific.calling import SERVICE, Token
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.doctor import Wanted, examine
from piecework.markets.prolific.resources.recruiting import FilterKind, filters_meant

if TYPE_CHECKING:
    from piecework.foundation.client.calls import Request


URL = url_option(SERVICE)
WORKSPACE = click.option(
    "--workspace", default="", help="Id of the workspace; optional if the token reaches only one."
)


def token_of(file: Path | None) -> Token:
    """Return the token of a file, or of PROLIFIC_TOKEN; see `needed_token`."""
    return needed_token(Token, file, "token")


def only_workspace(prolific: Prolific, *, command: str) -> str:
    """Return the workspace of a token that reaches only one.

    Raises:
        ConfigError: it reaches several, or none; the next step names `command`.
    """
    workspaces = [*prolific.account.workspaces()]
    if len(workspaces) == 1:
        return workspaces[0].id
    listed = "; ".join(f"{each.title} ({each.id})" for each in workspaces)
    raise ConfigError(
        [f"the token has access to {printable(listed) or 'no workspace'}"],
        next_step=f"piecework market prolific {command} --workspace ID",
    )


@click.command("doctor")
@WORKSPACE
@click.option(
    "--currency",
    type=click.Choice(["GBP", "USD"], case_sensitive=False),
    help="Currency of the campaign; the workspace must have the same.",
)
@click.option(
    "--public-url", default="", help="Also check this URL, to which Prolific sends participants."
)
@URL
@TOKEN_FILE
@click.option("--as-curl", is_flag=True, help="Also print the calls as curl commands.")
@JSON
@click.pass_context
def doctor(
    ctx: click.Context,
    *,
    workspace: str,
    currency: str | None,
    public_url: str,
    url: str,
    token_file: Path | None,
    as_curl: bool,
    as_json: bool,
) -> None:
    """Check that an account is ready.

    The command checks token, workspace, currency, balance, filters, recommended pay and,
    with --public-url, the address that participants open. The exit code is 1 if a check
    fails.

    Examples:
      piecework market prolific doctor
      piecework market prolific doctor --currency GBP
      piecework market prolific doctor --public-url https://hits.example.org
    """
    wanted = Wanted(
        workspace_id=workspace, currency=(currency or "").upper(), public_url=public_url
    )
    requests: list[Request] = []
    with api_faults():
        address = api_address(url, SERVICE)
        token = Token.read(os.environ, token_file)
        if token is None:
            checks = list(examine(None, wanted, address=address))
        else:
            # A person is waiting, so it repeats a call only twice.
            patience = Patience(tries=3, first_seconds=0.5)
            with Transport(address, token, patience=patience, heard=requests.append) as transport:
                checks = list(examine(Prolific(transport), wanted, address=address))
    curls = [request.as_curl(address, SERVICE) for request in requests] if as_curl else None
    end_with(ctx, checks, as_json=as_json, calls=curls)


_MOST_CHOICES = 12
"""Choices that are shown if several filters fit."""


@click.command("filters")
@click.argument("words", nargs=-1)
@WORKSPACE
@URL
@TOKEN_FILE
@JSON
def filters(
    words: tuple[str, ...], *, workspace: str, url: str, token_file: Path | None, as_json: bool
) -> None:
    """Find filters that a campaign can ask for.

    WORDS are looked for in ids, titles, descriptions and choices. The command prints each filter as
    [prolific] takes it. It changes nothing.

    Examples:
      piecework market prolific filters
      piecework market prolific filters language
      piecework market prolific filters first-language
    """
    with api_faults():
        token = token_of(token_file)
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
        fault = f"none of Prolific's {len(kinds)} filters has {' '.join(words)!r}"
        raise ConfigError(
            [fault + filters_meant(words, kinds)],
            next_step="piecework market prolific filters lists all",
        )
    for kind in fitting:
        for line in _lines(kind, shows_all=len(fitting) == 1):
            click.echo(printable(line))
    if words:
        click.echo(f"{plural(len(fitting), 'filter')} of {len(kinds)}")


def _fits(kind: FilterKind, words: tuple[str, ...]) -> bool:
    texts = [kind.id, kind.title, kind.description or "", *map(str, kind.choices.values())]
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
        yield f"#   … {more} more: piecework market prolific filters {kind.id}"
