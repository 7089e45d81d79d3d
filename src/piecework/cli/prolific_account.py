"""Options, token and errors of the commands that call Prolific."""

import os
from pathlib import Path

import click

from piecework.domain.errors import ConfigError
from piecework.domain.printable import printable
from piecework.prolific.client import Prolific
from piecework.prolific.token import Token

URL = click.option(
    "--url",
    envvar="PROLIFIC_URL",
    default="https://api.prolific.com",
    show_default=True,
    help="URL of the API (or PROLIFIC_URL); plain http only on this machine.",
)
TOKEN_FILE = click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file with the token that only you can read (mode 600), instead of PROLIFIC_TOKEN.",
)
WORKSPACE = click.option(
    "--workspace", default="", help="Id of the workspace; optional if the token reaches only one."
)


def needed_token(file: Path | None) -> Token:
    """Return the token of a file, or of PROLIFIC_TOKEN.

    Raises:
        ConfigError: there is no token.
        Exposed: others can read the file.
    """
    token = Token.read(os.environ, file)
    if token is None:
        raise ConfigError(
            ["the token of a Prolific account is missing"],
            next_step="export PROLIFIC_TOKEN=..., or give --token-file",
        )
    return token


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
        next_step=f"piecework prolific {command} --workspace ID",
    )
