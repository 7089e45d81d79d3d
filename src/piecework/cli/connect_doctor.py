"""`connect doctor`: checks that an account is ready, and what it confirms."""

import json
import os
from pathlib import Path

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.checks_shown import say_checks
from piecework.cli.connect_account import KEY_FILE, URL
from piecework.cli.options import JSON
from piecework.connect.client import Connect
from piecework.connect.doctor import Doctor
from piecework.connect.token import SERVICE, ApiKey
from piecework.webclient.address import api_address
from piecework.webclient.transport import Patience, Transport


@click.command("doctor")
@click.option(
    "--project", "project_id", default="", help="Also read the assignments of this project."
)
@click.option(
    "--write",
    "writes",
    is_flag=True,
    help="Also create a project, without publishing it, and archive it.",
)
@URL
@KEY_FILE
@JSON
@click.pass_context
def connect_doctor(
    ctx: click.Context,
    *,
    project_id: str,
    writes: bool,
    url: str,
    key_file: Path | None,
    as_json: bool,
) -> None:
    """Check an account, and what is assumed.

    Connect's document was not read, so some of what piecework does there is assumed.
    The command checks the key and the balance, and tries each assumption that can be
    tried without money. It says what the others would cause if they are wrong. The
    exit code is 1 if a check fails.

    Examples:
      piecework connect doctor
      piecework connect doctor --write
      piecework connect doctor --project 04a3e4cd0589d3441828c072dde7af23
    """
    with api_faults():
        address = api_address(url, SERVICE)
        key = ApiKey.read(os.environ, key_file)
        if key is None:
            checks = list(Doctor(None, address).examine())
        else:
            patience = Patience(tries=3, first_seconds=0.5)
            with Transport(address, key, patience=patience) as transport:
                doctor = Doctor(Connect(transport), address, project_id, writes)
                checks = list(doctor.examine())
    is_well = all(check.level != "fail" for check in checks)
    if as_json:
        shown = [check.as_dict() for check in checks]
        click.echo(json.dumps({"ok": is_well, "checks": shown}, indent=2))
    else:
        say_checks(checks)
    ctx.exit(0 if is_well else 1)
