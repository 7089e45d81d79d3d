"""`prolific`: what a person does about an account at Prolific."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from piecework.cli.options import JSON
from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.domain.printable import printable

if TYPE_CHECKING:
    from piecework.prolific.checks import Check
    from piecework.prolific.http.request import Request
    from piecework.prolific.http.token import Token

_COLORS = {"ok": "green", "warn": "yellow", "fail": "red"}


class _Given(TypedDict):
    workspace: str
    currency: str | None
    public_url: str
    url: str
    token_file: Path | None
    as_curl: bool
    as_json: bool


@click.group()
def prolific() -> None:
    """Look at an account at Prolific, where real participants are.

    The account's token is read from PROLIFIC_TOKEN or from a file, and never shown.

    Example:  piecework prolific doctor
    """


@prolific.command()
@click.option(
    "--workspace", default="", help="Its id; needless where the token reaches just one."
)
@click.option(
    "--currency",
    type=click.Choice(["GBP", "USD"], case_sensitive=False),
    help="That of the campaign; a workspace in another one fails.",
)
@click.option(
    "--public-url", default="", help="Where participants will be sent, to be looked at."
)
@click.option(
    "--url",
    envvar="PROLIFIC_URL",
    default="https://api.prolific.com",
    show_default=True,
    help="Of the API (or PROLIFIC_URL); http on this machine only.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file of yours alone (mode 600) with the token, instead of PROLIFIC_TOKEN.",
)
@click.option(
    "--as-curl", is_flag=True, help="Print the calls that were made, as curl commands."
)
@JSON
@click.pass_context
def doctor(ctx: click.Context, /, **given: Unpack[_Given]) -> None:
    """Look whether an account can be worked with; nothing is written or paid.

    Looks at token, workspace, currency, balance, filters, recommended pay and, if it
    is given, the address that participants will open. Ends with 1 if anything fails.

    \b
    Example:  piecework prolific doctor
              piecework prolific doctor --currency GBP
              piecework prolific doctor --public-url https://hits.example.org
    """  # noqa: D301 - click's mark for lines that stay lines
    from piecework.prolific.http.address import api_address  # noqa: PLC0415 - only when asked for
    from piecework.prolific.http.token import token_of  # noqa: PLC0415

    made: list[Request] = []
    with _sentences():
        address = api_address(given["url"])
        token = token_of(os.environ, given["token_file"])
        checks = _checks(address, token, given, made)
    curls = [request.as_curl(address) for request in made]
    is_well = all(check.level != "fail" for check in checks)
    if given["as_json"]:
        document: dict[str, object] = {
            "ok": is_well,
            "checks": [check.as_dict() for check in checks],
        }
        if given["as_curl"]:
            document["requests"] = curls
        click.echo(json.dumps(document, indent=2))
    else:
        _say(checks)
        if given["as_curl"]:
            click.echo("\n".join(["", "the calls that were made:", *curls]))
    ctx.exit(0 if is_well else 1)


def _checks(
    address: str, token: "Token | None", given: _Given, made: "list[Request]"
) -> "list[Check]":
    from piecework.prolific.client import Prolific  # noqa: PLC0415 - only when it is asked for
    from piecework.prolific.doctor import Wanted, examine  # noqa: PLC0415
    from piecework.prolific.http.transport import Patience, Transport  # noqa: PLC0415

    wanted = Wanted(
        workspace_id=given["workspace"],
        currency=(given["currency"] or "").upper(),
        public_url=given["public_url"],
    )
    if token is None:
        return list(examine(None, wanted, address=address))
    # A person waits: two repeats and no more.
    patience = Patience(tries=3, first_seconds=0.5)
    with Transport(address, token, patience=patience, heard=made.append) as transport:
        return list(examine(Prolific(transport), wanted, address=address))


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn what a person gave wrongly into this command's errors."""
    from piecework.prolific.http.errors import Unusable  # noqa: PLC0415 - as above
    from piecework.prolific.http.token import Exposed  # noqa: PLC0415

    try:
        yield
    except Exposed as fault:
        raise RefusedForSafety(str(fault), next_step=fault.next_step) from fault
    except Unusable as fault:
        raise ConfigError([str(fault)], next_step=fault.next_step) from fault


def _say(checks: "list[Check]") -> None:
    for check in checks:
        level = click.style(f"{check.level:4}", fg=_COLORS[check.level])
        click.echo(f"{level}  {check.name:10}  {printable(check.sentence)}")
        if check.next_step:
            click.echo(f"      next: {printable(check.next_step)}")
