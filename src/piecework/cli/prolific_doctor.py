"""`prolific doctor`: checks that an account is ready."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.checks_shown import say_checks
from piecework.cli.options import JSON
from piecework.cli.prolific_account import TOKEN_FILE, URL
from piecework.prolific.client import Prolific
from piecework.prolific.doctor import Wanted, examine
from piecework.prolific.token import SERVICE, Token
from piecework.webclient.address import api_address
from piecework.webclient.transport import Patience, Transport

if TYPE_CHECKING:
    from piecework.webclient.request import Request


@click.command("doctor")
@click.option(
    "--workspace", default="", help="Id of the workspace; optional if the token reaches only one."
)
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
def prolific_doctor(
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

    The command checks the token, the workspace, its currency and balance, the filters,
    the recommended pay, and with --public-url the address that participants open. It
    writes and pays nothing. The exit code is 1 if a check fails.

    Examples:
      piecework prolific doctor
      piecework prolific doctor --currency GBP
      piecework prolific doctor --public-url https://hits.example.org
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
    is_well = all(check.level != "fail" for check in checks)
    if as_json:
        document: dict[str, object] = {
            "ok": is_well,
            "checks": [check.as_dict() for check in checks],
        }
        if curls is not None:
            document["requests"] = curls
        click.echo(json.dumps(document, indent=2))
    else:
        say_checks(checks)
        if curls is not None:
            click.echo("\n".join(["", "the calls that were made:", *curls]))
    ctx.exit(0 if is_well else 1)
